// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_codec.h - how descriptions of Mooncake's Transfer Engine become text and back.
#ifndef APPS_MOONCAKE_CODEC_H
#define APPS_MOONCAKE_CODEC_H

#include "apps/mooncake_descriptions.h"

SIM_C_BEGIN

// Receives a record: its key, "mooncake/" and a name, and its value of `size` bytes.
typedef void (*app_mooncake_record_fn)(const char *key, const char *value, size_t size, void *ctx);

// Converts descriptions to text and back. This library contains no JSON parser:
// world/mooncake_json.h has a codec, and a program may bring its own. Texts are freed with
// sim_free. A reader refuses text that it does not understand, with a message.
typedef struct app_mooncake_codec {
    char *(*write_segment)(const app_mooncake_segment_desc_t *desc);
    sim_err_t (*read_segment)(const char *text, size_t size, app_mooncake_segment_desc_t **desc,
                              sim_message_t *message);
    char *(*write_handshake)(const app_mooncake_handshake_desc_t *desc);
    sim_err_t (*read_handshake)(const char *text, size_t size, app_mooncake_handshake_desc_t *desc,
                                sim_message_t *message);
    sim_err_t (*read_matrix)(const char *text, app_mooncake_matrix_t *matrix,
                             sim_message_t *message);
    // Reads a file of records and calls fn for each; NULL: this program has no such files.
    sim_err_t (*read_records)(const char *text, size_t size, app_mooncake_record_fn fn, void *ctx,
                              sim_message_t *message);
} app_mooncake_codec_t;

SIM_C_END

#endif // APPS_MOONCAKE_CODEC_H

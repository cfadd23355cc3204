// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_mooncake.c - bytes as descriptions of segments, handshakes, priority matrices and
// traces: refused with a message, or what is written again reads back as the same text.
//
// The first byte chooses which of the four it is.
#include <string.h>

#include "apps/mooncake/engine/peers/endpoint_store.h"
#include "apps/mooncake/engine/slicing.h"
#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/trace.h"
#include "tests/fuzz/fuzz.h"
#include "world/mooncake_json.h"

static void try_segment(const char *text, size_t size)
{
    const app_mooncake_codec_t *const codec = &world_mooncake_codec;
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message = {.text = ""};
    if (codec->read_segment(text, size, &desc, &message) != SIM_OK) {
        SIM_CHECK(message.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < desc->buffer_count; i++) {
        const app_mooncake_buffer_t *const buffer = &desc->buffers[i];
        SIM_CHECK(buffer->rkey_count == desc->device_count);
        SIM_CHECK(buffer->length == 0 ||
                  app__mooncake_buffer_of(desc, buffer->addr, buffer->length) != NULL);
    }
    char *const written = codec->write_segment(desc);
    app_mooncake_segment_desc_t *again = NULL;
    SIM_CHECK(codec->read_segment(written, strlen(written), &again, &message) == SIM_OK);
    char *const rewritten = codec->write_segment(again);
    SIM_CHECK(strcmp(written, rewritten) == 0);
    sim_free(written);
    sim_free(rewritten);
    app_mooncake_segment_desc_destroy(desc);
    app_mooncake_segment_desc_destroy(again);
}

static void try_handshake(const char *text, size_t size)
{
    const app_mooncake_codec_t *const codec = &world_mooncake_codec;
    app_mooncake_handshake_desc_t desc;
    sim_message_t message = {.text = ""};
    if (codec->read_handshake(text, size, &desc, &message) != SIM_OK) {
        SIM_CHECK(message.text[0] != '\0');
        return;
    }
    char *const written = codec->write_handshake(&desc);
    app_mooncake_handshake_desc_t again;
    SIM_CHECK(codec->read_handshake(written, strlen(written), &again, &message) == SIM_OK);
    SIM_CHECK(again.qp_count == desc.qp_count && again.mtu == desc.mtu);
    SIM_CHECK(strcmp(again.local_nic_path, desc.local_nic_path) == 0);
    sim_free(written);
    app_mooncake_handshake_desc_fini(&desc);
    app_mooncake_handshake_desc_fini(&again);
}

static void try_matrix(const char *text)
{
    app_mooncake_matrix_t matrix;
    sim_message_t message = {.text = ""};
    if (world_mooncake_codec.read_matrix(text, &matrix, &message) != SIM_OK) {
        SIM_CHECK(message.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < matrix.count; i++) {
        SIM_CHECK(app__mooncake_priority(&matrix, matrix.items[i].location) == &matrix.items[i]);
    }
    app_mooncake_matrix_fini(&matrix);
}

static void try_trace(const char *text, size_t size)
{
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    if (app__mooncake_trace_read("t", text, size, UINT64_MAX, &trace, &message) != SIM_OK) {
        SIM_CHECK(strncmp(message.text, "t:", 2) == 0);
        return;
    }
    uint64_t ids = 0;
    for (size_t i = 0; i < trace.count; i++) {
        SIM_CHECK(trace.prompts[i].first_id == ids);
        SIM_CHECK(i == 0 || trace.prompts[i].timestamp_ms >= trace.prompts[i - 1].timestamp_ms);
        ids += trace.prompts[i].id_count;
    }
    SIM_CHECK(ids == trace.id_count);
    app__mooncake_trace_fini(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    // The copy ends with a zero byte beyond the size that is passed on.
    char *const text = sim_alloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 4) {
    case 0:
        try_segment(text, size - 1);
        break;
    case 1:
        try_handshake(text, size - 1);
        break;
    case 2:
        try_matrix(text);
        break;
    default:
        try_trace(text, size - 1);
        break;
    }
    sim_free(text);
    return 0;
}

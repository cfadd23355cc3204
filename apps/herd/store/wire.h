// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/wire.h - the encoding of HERD's requests and answers, in memory and on the wire.
//
//     GET        key 16 | opcode 1
//     PUT        key 16 | opcode 1 | length 1 | value         values of at most 46 bytes
//                key 16 | opcode 1 | length 2 | value         longer ones
//     answer     GET that hit: the value; GET that missed, PUT: nothing
//     immediate  worker << 16 | window slot
//
// A slot of the request region has 64 bytes, like the store's operation. If values may be longer
// than 46 bytes it has 1 KiB, or as many lines as the longest PUT needs.
#ifndef APPS_HERD_STORE_WIRE_H
#define APPS_HERD_STORE_WIRE_H

#include "apps/herd/store/city_hash.h"

SIM_C_BEGIN

#define APP_HERD_KEY_BYTES 16u
#define APP_HERD_SLOT_BYTES 64u
#define APP_HERD_LARGE_SLOT_BYTES 1024u
#define APP_HERD_VALUE_MIN 8u // shortest value, where the length depends on the key
#define APP_HERD_SMALL_VALUE_MAX 46u
#define APP_HERD_VALUE_MAX 1024u
#define APP_HERD_REQUEST_MAX (APP_HERD_KEY_BYTES + 3u + APP_HERD_VALUE_MAX)

// Opcodes of the store. Those that clients write are larger, so a worker recognises a request it
// has not seen.
enum { APP_MICA_GET = 111, APP_MICA_PUT = 112, APP_HERD_OPCODE_OFFSET = 10 };
enum {
    APP_HERD_GET = APP_MICA_GET + APP_HERD_OPCODE_OFFSET,
    APP_HERD_PUT = APP_MICA_PUT + APP_HERD_OPCODE_OFFSET,
};

// Returns the key of an index: CityHash128 of its four bytes, little-endian.
app_city128_t app_herd_key(uint32_t index);
// Returns the length of a key's value, where it depends on the key: 8..46 bytes.
uint32_t app_herd_value_length(app_city128_t key);

typedef struct app_herd_request {
    app_city128_t key;
    uint8_t opcode; // as it is in memory
    uint32_t value_bytes;
    const uint8_t *value;
} app_herd_request_t;

// Returns the bytes of a request; large: the length field has two bytes.
static inline uint32_t app_herd_request_bytes(bool put, uint32_t value_bytes, bool large)
{
    return APP_HERD_KEY_BYTES + 1 + (put ? (large ? 2 : 1) + value_bytes : 0);
}
static inline uint32_t app_herd_answer_bytes(bool get, bool hit, uint32_t value_bytes)
{
    return get && hit ? value_bytes : 0;
}
static inline uint32_t app_herd_slot_bytes(uint32_t value_bytes_max)
{
    if (value_bytes_max <= APP_HERD_SMALL_VALUE_MAX) {
        return APP_HERD_SLOT_BYTES;
    }
    const uint32_t bytes = app_herd_request_bytes(true, value_bytes_max, true);
    return bytes <= APP_HERD_LARGE_SLOT_BYTES
               ? APP_HERD_LARGE_SLOT_BYTES
               : (bytes + APP_HERD_SLOT_BYTES - 1) / APP_HERD_SLOT_BYTES * APP_HERD_SLOT_BYTES;
}

// Encodes a request into buffer, which has room for APP_HERD_REQUEST_MAX; returns the bytes
// written.
uint32_t app_herd_encode(const app_herd_request_t *request, bool large, uint8_t *buffer);
// Decodes a request; request->value points into bytes. Returns false if the bytes are no valid
// request.
bool app_herd_decode(const uint8_t *bytes, uint32_t count, bool large, app_herd_request_t *request);

static inline uint32_t app_herd_immediate(uint32_t worker, uint32_t slot)
{
    return worker << 16 | slot;
}

// Makes a value that shows its key and its writer: `stamp` in the first four bytes, mixed with the
// key, then bytes that follow from both. bytes >= 4.
void app_herd_make_value(app_city128_t key, uint32_t stamp, uint8_t *value, uint32_t bytes);
// Returns whether a value belongs to the key, and its stamp.
bool app_herd_check_value(app_city128_t key, const uint8_t *value, uint32_t bytes, uint32_t *stamp);

SIM_C_END

#endif // APPS_HERD_STORE_WIRE_H

// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/wire.c - encodes and decodes requests; makes keys and values.
#include "apps/herd/store/wire.h"

#include <string.h>

#include "kernel/bytes.h"
app_city128_t app_herd_key(uint32_t index)
{
    uint8_t bytes[4];
    sim_put_le(bytes, index, sizeof(bytes));
    return app_city_hash128(bytes, sizeof(bytes));
}

uint32_t app_herd_value_length(app_city128_t key)
{
    const uint64_t mix = key.low ^ (key.high >> 32) ^ (key.high & UINT32_MAX);
    return APP_HERD_VALUE_MIN +
           (uint32_t)(mix % (APP_HERD_SMALL_VALUE_MAX - APP_HERD_VALUE_MIN + 1));
}

uint32_t app_herd_encode(const app_herd_request_t *request, bool large, uint8_t *buffer)
{
    sim_put_le(buffer, request->key.low, 8);
    sim_put_le(buffer + 8, request->key.high, 8);
    buffer[16] = request->opcode;
    const bool is_put = request->opcode == APP_HERD_PUT || request->opcode == APP_MICA_PUT;
    const uint32_t bytes = app_herd_request_bytes(is_put, request->value_bytes, large);
    if (is_put) {
        SIM_CHECK(request->value_bytes <= APP_HERD_VALUE_MAX);
        SIM_CHECK(large || request->value_bytes <= APP_HERD_SMALL_VALUE_MAX);
        sim_put_le(buffer + 17, request->value_bytes, large ? 2 : 1);
        memcpy(buffer + bytes - request->value_bytes, request->value, request->value_bytes);
    }
    return bytes;
}

bool app_herd_decode(const uint8_t *bytes, uint32_t count, bool large, app_herd_request_t *request)
{
    if (count < app_herd_request_bytes(false, 0, large)) {
        return false;
    }
    *request = (app_herd_request_t){
        .key = {sim_get_le(bytes, 8), sim_get_le(bytes + 8, 8)},
        .opcode = bytes[16],
    };
    if (request->opcode == APP_HERD_GET || request->opcode == APP_MICA_GET) {
        return true;
    }
    const uint32_t head = app_herd_request_bytes(true, 0, large);
    if ((request->opcode != APP_HERD_PUT && request->opcode != APP_MICA_PUT) || count < head) {
        return false;
    }
    request->value_bytes = (uint32_t)sim_get_le(bytes + 17, large ? 2 : 1);
    request->value = bytes + head;
    return request->value_bytes <= count - head;
}

// -- values

#define STAMP_BYTES 4u

static uint64_t word_of(app_city128_t key, uint32_t stamp, uint32_t index)
{
    return sim_mix64(key.low ^ sim_mix64(key.high + stamp) ^ ((uint64_t)index << 32));
}

void app_herd_make_value(app_city128_t key, uint32_t stamp, uint8_t *value, uint32_t bytes)
{
    SIM_CHECK(bytes >= STAMP_BYTES);
    sim_put_le(value, stamp ^ (uint32_t)key.low, STAMP_BYTES);
    for (uint32_t at = STAMP_BYTES; at < bytes; at += 8) {
        const uint32_t left = bytes - at;
        sim_put_le(value + at, word_of(key, stamp, at), SIM_MIN(left, 8));
    }
}

bool app_herd_check_value(app_city128_t key, const uint8_t *value, uint32_t bytes, uint32_t *stamp)
{
    if (bytes < STAMP_BYTES) {
        return false;
    }
    *stamp = (uint32_t)sim_get_le(value, STAMP_BYTES) ^ (uint32_t)key.low;
    for (uint32_t at = STAMP_BYTES; at < bytes; at += 8) {
        const uint32_t left = SIM_MIN(bytes - at, 8);
        uint8_t expected[8];
        sim_put_le(expected, word_of(key, *stamp, at), left);
        if (memcmp(expected, value + at, left) != 0) {
            return false;
        }
    }
    return true;
}

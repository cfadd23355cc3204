// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/city_hash.c - CityHash128 of up to 127 bytes, version 1.0 of the function.
//
// Method: murmur-like mixing of 16 bytes at a time over a state of four words; two of them come
// from the seed; shorter input is first folded into one word. The seed is the first 16 bytes of the
// string, or derived from 8, or constants. Source: G. Pike, J. Alakuijala, CityHash, 2011.
#include "apps/herd/store/city_hash.h"

#include "kernel/bytes.h"
static const uint64_t k0 = UINT64_C(0xc3a5c85c97cb3127);
static const uint64_t k1 = UINT64_C(0xb492b66fbe98f273);
static const uint64_t k2 = UINT64_C(0x9ae16a3b2f90404f);
static const uint64_t k3 = UINT64_C(0xc949d7c7509e6557);

static uint64_t fetch64(const uint8_t *bytes)
{
    return sim_get_le(bytes, 8);
}

static uint64_t rotate(uint64_t value, uint64_t by) // 1..63
{
    return value >> by | value << (64 - by);
}

static uint64_t shift_mix(uint64_t value)
{
    return value ^ (value >> 47);
}

static uint64_t hash_pair(uint64_t low, uint64_t high)
{
    const uint64_t factor = UINT64_C(0x9ddfea08eb382d69);
    const uint64_t a = shift_mix((low ^ high) * factor);
    const uint64_t b = shift_mix((high ^ a) * factor);
    return b * factor;
}

static uint64_t hash_up_to_16(const uint8_t *bytes, size_t count)
{
    if (count > 8) {
        const uint64_t a = fetch64(bytes);
        const uint64_t b = fetch64(bytes + count - 8);
        return hash_pair(a, rotate(b + count, count)) ^ b;
    }
    if (count >= 4) {
        return hash_pair(count + (sim_get_le(bytes, 4) << 3), sim_get_le(bytes + count - 4, 4));
    }
    if (count > 0) {
        const uint32_t y = (uint32_t)bytes[0] + ((uint32_t)bytes[count >> 1] << 8);
        const uint32_t z = (uint32_t)count + ((uint32_t)bytes[count - 1] << 2);
        return shift_mix(y * k2 ^ z * k3) * k2;
    }
    return k2;
}

static app_city128_t murmur(const uint8_t *bytes, size_t count, uint64_t low, uint64_t high)
{
    uint64_t a = low;
    uint64_t b = high;
    uint64_t c = 0;
    uint64_t d = 0;
    if (count <= 16) {
        a = shift_mix(a * k1) * k1;
        c = b * k1 + hash_up_to_16(bytes, count);
        d = shift_mix(a + (count >= 8 ? fetch64(bytes) : c));
    } else {
        c = hash_pair(fetch64(bytes + count - 8) + k1, a);
        d = hash_pair(b + count, c + fetch64(bytes + count - 16));
        a += d;
        // The last 1 to 16 bytes are in c and d already.
        for (size_t left = count; left > 16; left -= 16) {
            a ^= shift_mix(fetch64(bytes) * k1) * k1;
            a *= k1;
            b ^= a;
            c ^= shift_mix(fetch64(bytes + 8) * k1) * k1;
            c *= k1;
            d ^= c;
            bytes += 16;
        }
    }
    a = hash_pair(a, c);
    b = hash_pair(d, b);
    return (app_city128_t){a ^ b, hash_pair(b, a)};
}

app_city128_t app_city_hash128(const void *bytes_void, size_t length_bytes)
{
    const uint8_t *const bytes = bytes_void;
    SIM_CHECK(length_bytes <= APP_CITY_BYTES_MAX);
    if (length_bytes >= 16) {
        return murmur(bytes + 16, length_bytes - 16, fetch64(bytes) ^ k3, fetch64(bytes + 8));
    }
    if (length_bytes >= 8) {
        const uint64_t low = fetch64(bytes) ^ (length_bytes * k0);
        return murmur(bytes, 0, low, fetch64(bytes + length_bytes - 8) ^ k1);
    }
    return murmur(bytes, length_bytes, k0, k1);
}

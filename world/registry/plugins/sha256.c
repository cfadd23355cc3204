// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/sha256.c - SHA-256 (FIPS 180-4): names the content of plug-ins.
#include "world/registry/plugins/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 64u

// clang-format off
static const uint32_t constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u,
    0x923f82a4u, 0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u,
    0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u,
    0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u,
    0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u,
    0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au,
    0x5b9cca4fu, 0x682e6ff3u, 0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u,
    0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};
static const uint32_t begin[8] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu,
    0x1f83d9abu, 0x5be0cd19u,
};
// clang-format on

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void take_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t words[64];
    for (size_t i = 0; i < 16; i++) {
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (size_t i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15];
        const uint32_t b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    uint32_t s[8];
    memcpy(s, state, sizeof(s));
    for (size_t i = 0; i < 64; i++) {
        const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        const uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                               choice + constants[i] + words[i];
        const uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void world__sha256(const void *bytes, size_t size, char text[WORLD_SHA256_DIGITS + 1])
{
    uint32_t state[8];
    memcpy(state, begin, sizeof(state));
    const unsigned char *at = bytes;
    size_t rest = size;
    for (; rest >= BLOCK_BYTES; rest -= BLOCK_BYTES, at += BLOCK_BYTES) {
        take_block(state, at);
    }
    unsigned char last[2 * BLOCK_BYTES] = {0};
    if (rest > 0) {
        memcpy(last, at, rest);
    }
    last[rest] = 0x80;
    const size_t end = rest + 9 > BLOCK_BYTES ? sizeof(last) : BLOCK_BYTES;
    for (size_t i = 0; i < 8; i++) {
        last[end - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    }
    for (size_t i = 0; i < end; i += BLOCK_BYTES) {
        take_block(state, last + i);
    }
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(text + 8 * i, 9, "%08x", state[i]);
    }
}

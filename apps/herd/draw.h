// SPDX-License-Identifier: Apache-2.0
// apps/herd/draw.h - random draws of a HERD client: its generator, its permutation of the keys and
// skewed ranks (docs/models/herd.md).
//
// The generator is the benchmark's: seed * 1103515245 + 12345 modulo 2^64, whose upper half is the
// number. All clients begin with the same seed, each at another place of the cycle.
#ifndef APPS_HERD_DRAW_H
#define APPS_HERD_DRAW_H

#include "kernel/base.h"

SIM_C_BEGIN

#define APP_HERD_SEED UINT64_C(0xdeadbeef)

static inline uint32_t app_herd_fastrand(uint64_t *seed)
{
    *seed = *seed * UINT64_C(1103515245) + UINT64_C(12345);
    return (uint32_t)(*seed >> 32);
}
// Advances the seed as if `draws` numbers had been drawn. O(log draws).
void app_herd_fastrand_skip(uint64_t *seed, uint64_t draws);

// Shuffles 0..count-1 like the benchmark: from the last place down, each is exchanged with a random
// one at or before it. Takes count - 1 draws.
void app_herd_permute(uint64_t *seed, uint32_t *order, uint32_t count);
// Replaces each of `places` (below count) by the element that app_herd_permute would put there. For
// few places this is faster than the whole order: it follows the exchanges backwards, from these
// places to their origins.
void app_herd_permute_places(uint64_t *seed, uint32_t *places, uint32_t place_count,
                             uint32_t count);

// Ranks 0..count-1 with probability proportional to (rank + 1)^-skew, computed in integers, so
// equal on every machine. The first ranks are exact to 2^-30 of the whole; further out, groups of
// 1/64 of their rank share their probability evenly.
typedef struct app_herd_zipf app_herd_zipf_t;
// Creates a distribution with skew_permille 1..5000 and count >= 1.
app_herd_zipf_t *app_herd_zipf_create(uint64_t count, uint32_t skew_permille);
void app_herd_zipf_destroy(app_herd_zipf_t *zipf); // NULL is allowed
// Returns the rank for two 32-bit numbers drawn one after the other.
uint64_t app_herd_zipf_rank(const app_herd_zipf_t *zipf, uint32_t high, uint32_t low);

SIM_C_END

#endif // APPS_HERD_DRAW_H

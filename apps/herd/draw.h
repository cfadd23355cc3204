// SPDX-License-Identifier: Apache-2.0
// apps/herd/draw.h - what a HERD client draws: its generator, its permutation of the keys,
// skewed ranks (docs/models/herd.md).
//
// The generator is the benchmark's, seed * 1103515245 + 12345 modulo 2^64, whose upper half is the
// number; all clients begin with the same seed, each somewhere else in the cycle.
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
// As if `draws` numbers had been drawn. O(log draws).
void app_herd_fastrand_skip(uint64_t *seed, uint64_t draws);

// Shuffles 0..count-1 as the benchmark does: from the last place down, each changes with one at or
// before it; count - 1 draws.
void app_herd_permute(uint64_t *seed, uint32_t *order, uint32_t count);
// The same where only some places of that order are asked for: each of `places` (below count)
// becomes what the order has there. Faster than all of it where they are few: the changes are
// followed backwards, from these places to where they come from.
void app_herd_permute_places(uint64_t *seed,
                             uint32_t *places,
                             uint32_t place_count,
                             uint32_t count);

// Ranks 0..count-1 with probability proportional to (rank + 1)^-skew. Integers only: the same on
// every machine. Each of the first ranks is exact to 2^-30 of the whole; further out 1/64 of
// their own number of ranks share what they have together evenly.
typedef struct app_herd_zipf app_herd_zipf_t;
// skew_permille 1..5000; count >= 1.
app_herd_zipf_t *app_herd_zipf_create(uint64_t count, uint32_t skew_permille);
void app_herd_zipf_destroy(app_herd_zipf_t *zipf); // NULL is allowed
// The rank of two numbers of 32 bits drawn one after the other.
uint64_t app_herd_zipf_rank(const app_herd_zipf_t *zipf, uint32_t high, uint32_t low);

SIM_C_END

#endif // APPS_HERD_DRAW_H

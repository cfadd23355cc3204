// SPDX-License-Identifier: Apache-2.0
// apps/zipf.h - draws ranks 0..count - 1 with probabilities that fall as 1 / (rank + 1)^skew.
//
// All arithmetic is in integers, so draws are equal on every machine. Weights are exact to 2^-40 of
// the first one; a draw costs O(log count).
#ifndef APPS_ZIPF_H
#define APPS_ZIPF_H

#include "kernel/random.h"

SIM_C_BEGIN

#define APP_ZIPF_COUNT_MAX (UINT64_C(1) << 22)

typedef struct app_zipf {
    uint64_t *sums; // sum of the weights up to each rank
    uint32_t count;
} app_zipf_t;

// Prepares draws with skew 0 (uniform) to 4 and count 1..APP_ZIPF_COUNT_MAX.
void app_zipf_init(app_zipf_t *zipf, uint32_t count, sim_ratio_t skew);
void app_zipf_fini(app_zipf_t *zipf);
uint32_t app_zipf_draw(const app_zipf_t *zipf, sim_random_t *random);

SIM_C_END

#endif // APPS_ZIPF_H

// SPDX-License-Identifier: Apache-2.0
// apps/zipf.c - computes powers of whole numbers in integers and draws by their sums
// (docs/models/tiered-cache.md).
#include "apps/zipf.h"

#define ONE_BITS 40u // a weight of 1
#define LOG_BITS 40u // fractional bits of logarithms to base 2

// Returns log2(value) x 2^LOG_BITS, rounded down: one bit per step, by squaring the mantissa.
static uint64_t log2_of(uint64_t value)
{
    const uint32_t whole = 63u - (uint32_t)__builtin_clzll(value);
    uint64_t mantissa = value << (63 - whole); // 1.0 is 2^63
    uint64_t log = whole;
    for (uint32_t bit = 0; bit < LOG_BITS; bit++) {
        const sim_wide_t square = (sim_wide_t)mantissa * mantissa;
        const bool above = square >> 127 != 0;
        mantissa = (uint64_t)(square >> (above ? 64 : 63));
        log = log << 1 | above;
    }
    return log;
}

static uint64_t square_root(sim_wide_t value)
{
    sim_wide_t root = 0;
    for (sim_wide_t bit = (sim_wide_t)1 << 126; bit != 0; bit >>= 2) {
        if (value >= root + bit) {
            value -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint64_t)root;
}

// Fills factors[i] with 2^-(2^-(i + 1)) x 2^63.
static void halvings(uint64_t factors[LOG_BITS])
{
    uint64_t factor = UINT64_C(1) << 62; // 1/2
    for (uint32_t i = 0; i < LOG_BITS; i++) {
        factor = square_root((sim_wide_t)factor << 63);
        factors[i] = factor;
    }
}

// Returns 2^-(exponent / 2^LOG_BITS) x 2^ONE_BITS.
static uint64_t power_of_half(sim_wide_t exponent, const uint64_t factors[LOG_BITS])
{
    const sim_wide_t whole = exponent >> LOG_BITS;
    if (whole >= 63) {
        return 0;
    }
    uint64_t power = UINT64_C(1) << 63;
    for (uint32_t i = 0; i < LOG_BITS; i++) {
        if ((exponent >> (LOG_BITS - 1 - i) & 1) != 0) {
            power = (uint64_t)((sim_wide_t)power * factors[i] >> 63);
        }
    }
    return power >> whole >> (63 - ONE_BITS);
}

void app_zipf_init(app_zipf_t *zipf, uint32_t count, sim_ratio_t skew)
{
    SIM_CHECK(count >= 1 && count <= APP_ZIPF_COUNT_MAX && skew.den != 0);
    uint64_t factors[LOG_BITS];
    halvings(factors);
    *zipf = (app_zipf_t){.sums = sim_alloc_array(count, sizeof(*zipf->sums)), .count = count};
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        const sim_wide_t exponent = (sim_wide_t)log2_of(rank + UINT64_C(1)) * skew.num / skew.den;
        sum += power_of_half(exponent, factors);
        zipf->sums[rank] = sum;
    }
}

void app_zipf_fini(app_zipf_t *zipf)
{
    sim_free(zipf->sums);
    zipf->sums = NULL;
}

uint32_t app_zipf_draw(const app_zipf_t *zipf, sim_random_t *random)
{
    const uint64_t lot = sim_random_below(random, zipf->sums[zipf->count - 1]);
    uint32_t low = 0;
    uint32_t high = zipf->count - 1; // the first whose sum is above lot lies in [low, high]
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (zipf->sums[middle] > lot) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// SPDX-License-Identifier: Apache-2.0
// kernel/random.h - named random streams, integer-exact on every machine and compiler.
//
// A stream is a key and a counter: number n of a stream is a hash of (key, n), so streams are
// independent of each other and of the order in which others are used. The key derives from
// (seed, entity, purpose): adding an application does not change what another one draws.
// No libm and no floating point: results are the same bits everywhere.
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct sim_random {
    uint64_t key;
    uint64_t counter;
} sim_random_t;

// A probability or a factor as the user wrote it, exactly: num / den, den > 0.
typedef struct sim_ratio {
    uint64_t num;
    uint64_t den;
} sim_ratio_t;
// Of the same terms: 1/2 and 2/4 are not.
static inline bool sim_ratio_same(sim_ratio_t a, sim_ratio_t b)
{
    return a.num == b.num && a.den == b.den;
}

// purpose is hashed once, here; entity is any number that names who draws (a node index...).
void sim_random_init(sim_random_t *random, uint64_t seed, uint64_t entity, const char *purpose);

static inline uint64_t sim_random_u64(sim_random_t *random)
{
    random->counter += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix64(random->key ^ sim_mix64(random->counter));
}

// What is left of sim_random_below where the number drawn may make some results more frequent.
uint64_t sim__random_below_again(sim_random_t *random, uint64_t limit, uint64_t low, uint64_t high);

// Uniform in [0, limit), limit >= 1, without modulo bias: the high half of number * limit, whose
// low half tells which numbers would make some results more frequent (Lemire, "Fast random integer
// generation in an interval", ACM TOMACS 29(1), 2019).
static inline uint64_t sim_random_below(sim_random_t *random, uint64_t limit)
{
    SIM_CHECK(limit >= 1);
    const sim_wide_t product = (sim_wide_t)sim_random_u64(random) * limit;
    const uint64_t low = (uint64_t)product;
    const uint64_t high = (uint64_t)(product >> 64);
    return SIM_LIKELY(low >= limit) ? high : sim__random_below_again(random, limit, low, high);
}

// True with probability ratio, exactly (num >= den: always; num == 0: never). Draws one number, and
// another with probability below den / 2^64.
bool sim_random_chance(sim_random_t *random, sim_ratio_t ratio);

// Exponentially distributed with the given mean (1 .. 2^56), rounded to the nearest integer:
// -mean * ln(u) by an integer logarithm whose relative error is below 2^-40.
uint64_t sim_random_exponential(sim_random_t *random, uint64_t mean);

// Shuffles 0..count-1 into order (Fisher-Yates).
void sim_random_permutation(sim_random_t *random, uint32_t *order, uint32_t count);

// A permutation without fixed points: order[i] != i for every i; count >= 2. Uniform over all of
// them; takes about e shuffles, and 1000 without success (probability below 10^-176) are a bug.
void sim_random_derangement(sim_random_t *random, uint32_t *order, uint32_t count);

// -- empirical distributions

typedef struct sim_cdf sim_cdf_t;

typedef struct sim_cdf_point {
    uint64_t value;       // strictly increasing
    uint64_t probability; // cumulative, in units of 1 / SIM_CDF_ONE, never decreasing
} sim_cdf_point_t;
#define SIM_CDF_ONE UINT64_C(1000000000000) // 10^12: percents with ten decimals are exact

#define SIM_CDF_VALUE_MAX ((UINT64_C(1) << 48) - 1)

// Copies points (count >= 1; the last probability must be SIM_CDF_ONE; no value is above
// SIM_CDF_VALUE_MAX). Values between points are interpolated linearly; a first point with
// probability above zero is an atom at its value. A step, such as 30 % of 4096 and nothing near, is
// two points: 4095 and 4096. Free with sim_cdf_destroy.
SIM_MUST_CHECK sim_err_t sim_cdf_create(const sim_cdf_point_t *points,
                                        size_t count,
                                        sim_cdf_t **cdf,
                                        sim_message_t *message);
void sim_cdf_destroy(sim_cdf_t *cdf); // NULL is allowed

// The same from text: lines `value cumulative`, the latter in percent or as a fraction, which the
// last line says by being 100 or 1. Blank lines and what follows a # are skipped. Numbers are exact
// decimals; probabilities finer than 1 / SIM_CDF_ONE are rounded to it. On an error the message
// begins "line 3 column 7: ". The format in full: docs/formats/flow-sizes.md.
SIM_MUST_CHECK sim_err_t sim_cdf_parse(const char *text,
                                       size_t size_bytes,
                                       sim_cdf_t **cdf,
                                       sim_message_t *message);

// A whole number, at least 1, of which the part up to each point's value has exactly the point's
// probability; draws as sim_random_below.
uint64_t sim_cdf_draw(const sim_cdf_t *cdf, sim_random_t *random);

// Mean of the numbers drawn, in units of 1 / 2^16, exact but for rounding to that unit. Between two
// points it is half above their middle: (v0, v1] has the whole numbers v0 + 1 to v1.
uint64_t sim_cdf_mean_q16(const sim_cdf_t *cdf);

// Published flow-size distributions (bytes) by name: "websearch", "fbhadoop", "alistorage",
// "googlerpc", "solar". NULL if unknown. Static. Sources: docs/formats/flow-sizes.md.
const sim_cdf_t *sim_cdf_builtin(const char *name);
// Their names from index 0 up; NULL past the last.
const char *sim_cdf_builtin_name(size_t index);

SIM_C_END

#endif // KERNEL_RANDOM_H

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
// Returns whether both ratios have equal terms: 1/2 and 2/4 do not.
static inline bool sim_ratio_same(sim_ratio_t a, sim_ratio_t b)
{
    return a.num == b.num && a.den == b.den;
}

// Starts the stream of (seed, entity, purpose). entity is any number that names who draws, such as
// a node's index; purpose is hashed here and not kept.
void sim_random_init(sim_random_t *random, uint64_t seed, uint64_t entity, const char *purpose);

// Returns the next number of the stream: 64 uniform bits.
static inline uint64_t sim_random_u64(sim_random_t *random)
{
    random->counter += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix64(random->key ^ sim_mix64(random->counter));
}

// Completes sim_random_below where the number drawn might make some results more frequent.
uint64_t sim__random_below_again(sim_random_t *random, uint64_t limit, uint64_t low, uint64_t high);

// Returns a uniform number in [0, limit), limit >= 1, without modulo bias. It is the high half of
// number * limit; the low half says which numbers to reject (Lemire, "Fast random integer
// generation in an interval", ACM TOMACS 29(1), 2019).
static inline uint64_t sim_random_below(sim_random_t *random, uint64_t limit)
{
    SIM_CHECK(limit >= 1);
    const sim_wide_t product = (sim_wide_t)sim_random_u64(random) * limit;
    const uint64_t low = (uint64_t)product;
    const uint64_t high = (uint64_t)(product >> 64);
    return SIM_LIKELY(low >= limit) ? high : sim__random_below_again(random, limit, low, high);
}

// Returns true with exactly the probability `ratio` (num >= den: always; num == 0: never). Draws
// one number, and another with probability below den / 2^64.
bool sim_random_chance(sim_random_t *random, sim_ratio_t ratio);

// Returns an exponentially distributed number with the given mean (1 .. 2^56), rounded to the
// nearest integer: -mean * ln(u), by an integer logarithm whose relative error is below 2^-40.
uint64_t sim_random_exponential(sim_random_t *random, uint64_t mean);

// Fills `order` with a uniform permutation of 0..count-1 (Fisher-Yates).
void sim_random_permutation(sim_random_t *random, uint32_t *order, uint32_t count);

// Fills `order` with a uniform permutation of 0..count-1 without fixed points: order[i] != i for
// every i; count >= 2. Takes about e shuffles; 1000 without success (probability below 10^-176)
// fail a check.
void sim_random_derangement(sim_random_t *random, uint32_t *order, uint32_t count);

// -- empirical distributions

typedef struct sim_cdf sim_cdf_t;

typedef struct sim_cdf_point {
    uint64_t value;       // strictly increasing
    uint64_t probability; // cumulative, in units of 1 / SIM_CDF_ONE, never decreasing
} sim_cdf_point_t;
#define SIM_CDF_ONE UINT64_C(1000000000000) // 10^12: percents with ten decimals are exact

#define SIM_CDF_VALUE_MAX ((UINT64_C(1) << 48) - 1)

// Creates a distribution from a copy of points: count >= 1, the last probability is SIM_CDF_ONE, no
// value is above SIM_CDF_VALUE_MAX. Values between points are interpolated linearly. A first point
// with probability above zero is an atom at its value. A step, such as 30 % at 4096 and nothing
// near, is two points: 4095 and 4096. Free with sim_cdf_destroy.
SIM_MUST_CHECK sim_err_t sim_cdf_create(const sim_cdf_point_t *points, size_t count,
                                        sim_cdf_t **cdf, sim_message_t *message);
void sim_cdf_destroy(sim_cdf_t *cdf); // NULL is allowed

// Creates a distribution from text, of lines `value cumulative`. The last line says whether
// probabilities are percentages (100) or fractions (1). Blank lines and comments from # on are
// skipped. Numbers are exact decimals; probabilities are rounded to 1 / SIM_CDF_ONE. An error's
// message begins "line 3 column 7: ". The whole format: docs/formats/flow-sizes.md.
SIM_MUST_CHECK sim_err_t sim_cdf_parse(const char *text, size_t size_bytes, sim_cdf_t **cdf,
                                       sim_message_t *message);

// Draws a whole number, at least 1. The probability that it is at most a point's value is exactly
// the point's probability. Takes one number of the stream, as sim_random_below does.
uint64_t sim_cdf_draw(const sim_cdf_t *cdf, sim_random_t *random);

// Returns the mean of the numbers drawn, in units of 1 / 2^16, rounded to that unit. Between points
// v0 and v1 the mean is half above their middle, since the whole numbers there are v0 + 1 to v1.
uint64_t sim_cdf_mean_q16(const sim_cdf_t *cdf);

// Returns a published distribution of flow sizes (bytes) by name: "websearch", "fbhadoop",
// "alistorage", "googlerpc", "solar"; NULL if unknown. It is static. Sources:
// docs/formats/flow-sizes.md.
const sim_cdf_t *sim_cdf_builtin(const char *name);
// Returns the name of a published distribution, by index from 0; NULL past the last.
const char *sim_cdf_builtin_name(size_t index);

SIM_C_END

#endif // KERNEL_RANDOM_H

// SPDX-License-Identifier: Apache-2.0
// kernel/random.c - random streams: exact bounded draws, an integer logarithm, shuffles.
//
// All arithmetic is on integers of 64 and 128 bits, so a draw has the same bits with every machine,
// compiler and optimisation level.
#include "kernel/random.h"

void sim_random_init(sim_random_t *random, uint64_t seed, uint64_t entity, const char *purpose)
{
    // FNV-1a (Fowler, Noll, Vo; RFC 9923) of the purpose; the mixing below gives it the avalanche
    // that FNV lacks.
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = purpose; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    // The three are mixed one after the other, so that small numbers do not collide, as they would
    // in seed + entity.
    uint64_t key = sim_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));
    key = sim_mix64(key ^ entity) + UINT64_C(0x9e3779b97f4a7c15);
    random->key = sim_mix64(key ^ hash);
    random->counter = 0;
}

uint64_t sim__random_below_again(sim_random_t *random, uint64_t limit, uint64_t low, uint64_t high)
{
    const uint64_t excess = (0 - limit) % limit; // 2^64 mod limit
    sim_wide_t product = (sim_wide_t)high << 64 | low;
    while ((uint64_t)product < excess) {
        product = (sim_wide_t)sim_random_u64(random) * limit;
    }
    return (uint64_t)(product >> 64);
}

bool sim_random_chance(sim_random_t *random, sim_ratio_t ratio)
{
    SIM_CHECK(ratio.den > 0);
    return sim_random_below(random, ratio.den) < ratio.num;
}

// -- logarithm

#define LN2_Q96 (((sim_wide_t)UINT64_C(0xb17217f7) << 64) | UINT64_C(0xd1cf79abc9e3b398))
#define SQRT_HALF_Q64 UINT64_C(0xb504f333f9de6484)

// Returns atanh(s) / s = 1 + s^2/3 + s^4/5 + ... in units of 2^-63, for s^2 in units of 2^-64.
// Here s < 0.172, so the first term left out, s^28/29, is below 2^-76.
static uint64_t atanh_factor_q63(uint64_t square_q64)
{
    const uint64_t one_q63 = UINT64_C(1) << 63;
    uint64_t sum_q63 = one_q63 / 27;
    for (uint64_t odd = 27; odd > 1; odd -= 2) {
        sum_q63 = one_q63 / (odd - 2) + (uint64_t)(((sim_wide_t)square_q64 * sum_q63) >> 64);
    }
    return sum_q63;
}

// Returns -ln((number + 1) / 2^64) in units of 2^-96: from 0 to 64 ln 2.
//
// With u = m * 2^-n and m in [sqrt(1/2), sqrt(2)): -ln u = n ln 2 - ln m, and ln m is
// 2 atanh((m - 1) / (m + 1)). The quotient is kept as a normalised 64-bit mantissa, so that the
// error stays relative where u is near 1 and nothing but the quotient is left: every operation
// errs by at most 2^-62 of its result, the sum of all by less than 2^-58.
static sim_wide_t minus_ln_q96(uint64_t number)
{
    if (number == UINT64_MAX) {
        return 0; // u = 1
    }
    const uint64_t x = number + 1;
    const int zeros = __builtin_clzll(x);
    const uint64_t m_q64 = x << zeros; // in [1/2, 1)
    const bool below_one = m_q64 > SQRT_HALF_Q64;
    const sim_wide_t one =
        below_one ? (sim_wide_t)1 << 64 : (sim_wide_t)1 << 63; // what m = 1 is in units of m_q64
    const uint64_t distance = (uint64_t)(below_one ? one - m_q64 : m_q64 - one);
    const unsigned n = (unsigned)zeros + (below_one ? 0U : 1U);

    sim_wide_t ln_m_q96 = 0; // |ln m|
    if (distance != 0) {
        const unsigned shift = (unsigned)__builtin_clzll(distance);
        // s = quotient / 2^(64 + shift)
        const uint64_t quotient =
            (uint64_t)(((sim_wide_t)(distance << shift) << 64) / ((sim_wide_t)m_q64 + one));
        const uint64_t square = (uint64_t)(((sim_wide_t)quotient * quotient) >> 64);
        const uint64_t square_q64 = shift < 32 ? square >> (2 * shift) : 0;
        ln_m_q96 = ((sim_wide_t)quotient * atanh_factor_q63(square_q64)) >> (30 + shift);
    }
    return below_one ? n * LN2_Q96 + ln_m_q96 : n * LN2_Q96 - ln_m_q96;
}

uint64_t sim_random_exponential(sim_random_t *random, uint64_t mean)
{
    SIM_CHECKF(mean >= 1 && mean <= UINT64_C(1) << 56, "mean %" PRIu64, mean);
    const sim_wide_t ln_q96 = minus_ln_q96(sim_random_u64(random));
    // mean * ln has up to 158 bits. The low half of ln is multiplied first; the result has 32
    // fraction bits.
    const sim_wide_t low = ((sim_wide_t)mean * (uint64_t)ln_q96) >> 64;
    const sim_wide_t product_q32 = (sim_wide_t)mean * (uint64_t)(ln_q96 >> 64) + low;
    return (uint64_t)((product_q32 + (UINT64_C(1) << 31)) >> 32);
}

// -- shuffles

static void fill_identity(uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
}

// Does one step of Fisher-Yates: settles position i, where positions up to i are still open.
static void settle(sim_random_t *random, uint32_t *order, uint32_t i)
{
    const uint64_t j = sim_random_below(random, (uint64_t)i + 1);
    const uint32_t taken = order[j];
    order[j] = order[i];
    order[i] = taken;
}

void sim_random_permutation(sim_random_t *random, uint32_t *order, uint32_t count)
{
    fill_identity(order, count);
    for (uint32_t i = count; i > 1; --i) {
        settle(random, order, i - 1);
    }
}

// Limits the shuffles for a derangement. A shuffle is given up at its first fixed point; this
// rejection keeps the result uniform over all derangements, which a cyclic shuffle (Sattolo) would
// not do. A shuffle succeeds with probability near 1/e and at least 1/3, so all attempts fail with
// probability below 10^-176.
#define DERANGEMENT_ATTEMPTS_MAX 1000

void sim_random_derangement(sim_random_t *random, uint32_t *order, uint32_t count)
{
    SIM_CHECK(count >= 2);
    for (unsigned attempt = 0; attempt < DERANGEMENT_ATTEMPTS_MAX; ++attempt) {
        fill_identity(order, count);
        uint32_t open = count;
        while (open > 1) {
            settle(random, order, open - 1);
            if (order[open - 1] == open - 1) {
                break;
            }
            --open;
        }
        if (open == 1 && order[0] != 0) {
            return;
        }
    }
    SIM_CHECKF(false, "no derangement of %" PRIu32 " in %d shuffles", count,
               DERANGEMENT_ATTEMPTS_MAX);
}

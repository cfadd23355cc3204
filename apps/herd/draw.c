// SPDX-License-Identifier: Apache-2.0
// apps/herd/draw.c - the benchmark's generator with a jump, permutations, Zipf by integers.
#include "apps/herd/draw.h"

#define FACTOR UINT64_C(1103515245)
#define TERM UINT64_C(12345)
#define INVERSE UINT64_C(17850689345304521573) // inverse of FACTOR, modulo 2^64

// Skips draws: n steps of x -> a x + b are one step of the same form, and those of 2n follow from
// those of n.
void app_herd_fastrand_skip(uint64_t *seed, uint64_t draws)
{
    uint64_t factor = 1;
    uint64_t term = 0;
    uint64_t step_factor = FACTOR;
    uint64_t step_term = TERM;
    for (; draws != 0; draws >>= 1) {
        if ((draws & 1) != 0) {
            factor *= step_factor;
            term = term * step_factor + step_term;
        }
        step_term *= step_factor + 1;
        step_factor *= step_factor;
    }
    *seed = *seed * factor + term;
}

void app_herd_permute(uint64_t *seed, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (uint32_t i = count; i-- > 1;) {
        const uint32_t other = app_herd_fastrand(seed) % (i + 1);
        const uint32_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

// The elements asked for, and their places at some moment of the shuffle.
typedef struct places {
    uint64_t *taken;  // a bit per place
    uint32_t *tokens; // per place; valid where its bit is set
} places_t;

static inline bool is_taken(const places_t *places, uint32_t at)
{
    return (places->taken[at / 64] >> at % 64 & 1) != 0;
}

// Not inlined, so that the loop over all places keeps its values in registers.
static SIM_NOINLINE void change(places_t *places, uint32_t a, uint32_t b)
{
    const uint32_t token = places->tokens[a];
    places->tokens[a] = places->tokens[b];
    places->tokens[b] = token;
    if (is_taken(places, a) != is_taken(places, b)) {
        places->taken[a / 64] ^= UINT64_C(1) << a % 64;
        places->taken[b / 64] ^= UINT64_C(1) << b % 64;
    }
}

// Takes back the exchanges of all places, the first place's first. `state` is the seed behind the
// draw of place 1. Place i is exchanged only with places before it, so until its turn it is taken
// if and only if it was at the beginning.
static void take_back(places_t *places, uint64_t state, uint32_t count)
{
    for (uint32_t base = 0; base < count; base += 64) {
        const uint32_t end = SIM_MIN(base + 64, count);
        const uint32_t first = SIM_MAX(base, 1); // place 0 is exchanged with none
        uint64_t here = places->taken[base / 64] >> (first - base);
        for (uint32_t i = first; i < end; i++) {
            const uint32_t other = (uint32_t)(state >> 32) % (i + 1);
            if (SIM_UNLIKELY((here & 1) != 0 || is_taken(places, other))) {
                change(places, i, other);
            }
            here >>= 1;
            state = (state - TERM) * INVERSE;
        }
    }
}

void app_herd_permute_places(uint64_t *seed, uint32_t *wanted, uint32_t wanted_count,
                             uint32_t count)
{
    places_t places = {
        .taken = sim_alloc_array(count / 64 + 1, sizeof(uint64_t)),
        .tokens = sim_realloc_array(NULL, count, sizeof(uint32_t)), // not cleared
    };
    uint32_t *const token_of = sim_alloc_array(wanted_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < wanted_count; i++) {
        const uint32_t at = wanted[i];
        if (!is_taken(&places, at)) {
            places.taken[at / 64] |= UINT64_C(1) << at % 64;
            places.tokens[at] = i;
        }
        token_of[i] = places.tokens[at];
    }
    app_herd_fastrand_skip(seed, count - 1);
    take_back(&places, *seed, count);
    uint32_t *const origin = sim_alloc_array(wanted_count, sizeof(uint32_t)); // by token
    for (uint32_t w = 0; w <= count / 64; w++) {
        for (uint64_t left = places.taken[w]; left != 0; left &= left - 1) {
            const uint32_t at = w * 64 + (uint32_t)__builtin_ctzll(left);
            origin[places.tokens[at]] = at;
        }
    }
    for (uint32_t i = 0; i < wanted_count; i++) {
        wanted[i] = origin[token_of[i]];
    }
    SIM_FREE_ALL(origin, token_of, places.tokens, places.taken);
}

// -- powers, in fixed point

#define FRACTION_BITS 32u
#define ONE (UINT64_C(1) << FRACTION_BITS)

// Returns log2(x) with 32 fractional bits, x >= 1, by squaring the mantissa: each time it passes 2
// gives a bit.
static uint64_t log2_fixed(uint64_t x)
{
    const uint32_t whole = 63u - (uint32_t)__builtin_clzll(x);
    uint64_t mantissa = x << (63u - whole); // fixed point 1.63
    uint64_t result = whole;
    for (uint32_t bit = 0; bit < FRACTION_BITS; bit++) {
        const sim_wide_t square = (sim_wide_t)mantissa * mantissa >> 63;
        const bool above = square >> 64 != 0;
        result = result << 1 | above;
        mantissa = (uint64_t)(above ? square >> 1 : square);
    }
    return result;
}

static uint64_t root(sim_wide_t square)
{
    uint64_t result = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1) {
        const uint64_t tried = result | bit;
        if ((sim_wide_t)tried * tried <= square) {
            result = tried;
        }
    }
    return result;
}

// Fills 2^(-2^-k) for k = 1..32, with 64 fractional bits.
static void make_roots(uint64_t roots[FRACTION_BITS])
{
    sim_wide_t value = (sim_wide_t)1 << 127; // 1/2 with 128 fractional bits
    for (uint32_t k = 0; k < FRACTION_BITS; k++) {
        roots[k] = root(value);
        value = (sim_wide_t)roots[k] << 64;
    }
}

// Returns 2^-exponent with 63 fractional bits.
static uint64_t exp2_negative(uint64_t exponent, const uint64_t roots[FRACTION_BITS])
{
    const uint64_t whole = exponent >> FRACTION_BITS;
    uint64_t value = UINT64_C(1) << 63;
    for (uint32_t k = 0; k < FRACTION_BITS; k++) {
        if ((exponent >> (FRACTION_BITS - 1 - k) & 1) != 0) {
            value = (uint64_t)((sim_wide_t)value * roots[k] >> 64);
        }
    }
    return whole >= 63 ? 0 : value >> whole;
}

// -- Zipf

#define EXACT_RANKS 64u // ranks with their own probability; then blocks of 1/64 of their first rank
#define BLOCKS_MAX 4096u

struct app_herd_zipf {
    uint64_t count;
    uint32_t blocks;
    uint64_t first[BLOCKS_MAX + 1]; // first rank of each block; after the last one, count
    uint64_t below[BLOCKS_MAX + 1]; // probability of all earlier blocks, times 2^63
};

app_herd_zipf_t *app_herd_zipf_create(uint64_t count, uint32_t skew_permille)
{
    SIM_CHECK(count >= 1 && count <= UINT64_C(1) << 40 && skew_permille <= 5000);
    app_herd_zipf_t *const zipf = sim_alloc(sizeof(*zipf));
    uint64_t roots[FRACTION_BITS];
    make_roots(roots);
    zipf->count = count;
    uint64_t rank = 0;
    sim_wide_t sum = 0;
    sim_wide_t weights[BLOCKS_MAX];
    while (rank < count) {
        SIM_CHECK(zipf->blocks < BLOCKS_MAX);
        uint64_t ranks = rank < EXACT_RANKS ? 1 : rank / EXACT_RANKS;
        ranks = SIM_MIN(ranks, count - rank);
        const uint64_t twice = 2 * rank + ranks + 1; // twice the middle of rank + 1 .. rank + ranks
        const uint64_t log = log2_fixed(twice) - ONE;
        const uint64_t weight =
            exp2_negative((uint64_t)((sim_wide_t)log * skew_permille / 1000), roots);
        weights[zipf->blocks] = (sim_wide_t)weight * ranks;
        sum += weights[zipf->blocks];
        zipf->first[zipf->blocks++] = rank;
        rank += ranks;
    }
    zipf->first[zipf->blocks] = count;
    // The sum has up to 104 bits; it is shifted below 2^63 for the division.
    uint32_t shift = 0;
    while (sum >> shift >> 63 != 0) {
        shift++;
    }
    sim_wide_t below = 0;
    for (uint32_t i = 0; i < zipf->blocks; i++) {
        zipf->below[i] = (uint64_t)(((below >> shift) << 63) / (sum >> shift));
        below += weights[i];
    }
    zipf->below[zipf->blocks] = UINT64_C(1) << 63;
    return zipf;
}

void app_herd_zipf_destroy(app_herd_zipf_t *zipf)
{
    sim_free(zipf);
}

uint64_t app_herd_zipf_rank(const app_herd_zipf_t *zipf, uint32_t high, uint32_t low)
{
    const uint64_t drawn = ((uint64_t)high << 32 | low) >> 1;
    uint32_t block = 0;
    uint32_t end = zipf->blocks;
    while (end - block > 1) {
        const uint32_t middle = block + (end - block) / 2;
        if (zipf->below[middle] <= drawn) {
            block = middle;
        } else {
            end = middle;
        }
    }
    const uint64_t ranks = zipf->first[block + 1] - zipf->first[block];
    const uint64_t width = zipf->below[block + 1] - zipf->below[block];
    const uint64_t within = drawn - zipf->below[block];
    const uint64_t at = width == 0 ? 0 : (uint64_t)((sim_wide_t)within * ranks / width);
    return zipf->first[block] + (at < ranks ? at : ranks - 1);
}

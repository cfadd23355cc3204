// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_random.c - streams and distributions of kernel/random.h.
//
// Goal: streams are the documented hash and independent of each other; bounded draws, chances,
// shuffles and derangements are uniform; the integer logarithm behind the exponential is right.
// Method: numbers of a stream from a second implementation in another language; a stream that is
// made to return a chosen number (the mixer is a bijection) so that the logarithm can be held
// against the long double one at any argument; counts against 5 standard deviations or the far tail
// of chi-square. Seeds are fixed, so a test passes always or never.
// Not pinned: quality of the generator beyond balance and avalanche.
#include "kernel/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/check_main.h"

static_assert(LDBL_MANT_DIG >= 64, "the reference logarithm needs an extended long double");

// Checks as ck_assert does, for inner loops: ck_assert takes a system call even to succeed.
#define REQUIRE(expression)                          \
    do {                                             \
        if (!(expression)) {                         \
            ck_abort_msg("failed: %s", #expression); \
        }                                            \
    } while (0)

static uint64_t unshift(uint64_t y, unsigned shift)
{
    uint64_t x = y;
    for (unsigned known = shift; known < 64; known += shift) {
        x = y ^ (x >> shift);
    }
    return x;
}

// Returns the inverse of an odd number modulo 2^64, by Newton's iteration.
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; ++i) {
        x *= 2 - odd * x;
    }
    return x;
}

static uint64_t unmix64(uint64_t y)
{
    y = unshift(y, 31) * inverse(UINT64_C(0x94d049bb133111eb));
    y = unshift(y, 27) * inverse(UINT64_C(0xbf58476d1ce4e5b9));
    return unshift(y, 30);
}

// Returns a stream whose next number is the given one.
static sim_random_t stream_with_next(uint64_t number)
{
    sim_random_t random = {0, 12345};
    sim_random_t copy = random;
    (void)sim_random_u64(&copy);
    random.key = unmix64(number) ^ sim_mix64(copy.counter);
    return random;
}

START_TEST(a_chosen_number_comes_next)
{
    static const uint64_t numbers[] = {0, 1, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); ++i) {
        sim_random_t random = stream_with_next(numbers[i]);
        ck_assert_uint_eq(sim_random_u64(&random), numbers[i]);
    }
}
END_TEST

// -- streams

START_TEST(streams_are_the_documented_hash)
{
    static const struct {
        uint64_t seed;
        uint64_t entity;
        const char *purpose;
        uint64_t numbers[3];
    } rows[] = {
        {0,
         0,
         "",
         {UINT64_C(0x4966e5cd5a8131fe), UINT64_C(0xcd5dba4aaa4be538),
          UINT64_C(0x3f3a92c36cab5c92)}},
        {1,
         2,
         "arrivals",
         {UINT64_C(0x7acfe0e90097d017), UINT64_C(0xd897ed3d2abebe93),
          UINT64_C(0x0b1df340246bbfc3)}},
        {UINT64_MAX,
         UINT64_MAX,
         "ecn",
         {UINT64_C(0xf3f14c1a063aac74), UINT64_C(0xa848c9f74f1e1660),
          UINT64_C(0xe5b4016aaf9e4b00)}},
        {1,
         1000000,
         "flow sizes",
         {UINT64_C(0x38b2f1add521e773), UINT64_C(0x67a771d87ee85276),
          UINT64_C(0xd0ba34edf995e5a3)}},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        sim_random_t random;
        sim_random_init(&random, rows[i].seed, rows[i].entity, rows[i].purpose);
        for (size_t j = 0; j < SIM_COUNT_OF(rows[i].numbers); ++j) {
            ck_assert_uint_eq(sim_random_u64(&random), rows[i].numbers[j]);
        }
    }
}
END_TEST

static unsigned distance(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

START_TEST(neighbouring_streams_have_nothing_in_common)
{
    enum { PAIRS = 20000 };
    sim_random_t here;
    sim_random_t by_seed;
    sim_random_t by_entity;
    sim_random_t by_purpose;
    double differing[4] = {0};
    for (uint64_t i = 0; i < PAIRS; ++i) {
        sim_random_init(&here, 7, i, "arrivals");
        sim_random_init(&by_seed, 8, i, "arrivals");
        sim_random_init(&by_entity, 7, i + 1, "arrivals");
        sim_random_init(&by_purpose, 7, i, "arrivalt");
        const uint64_t first = sim_random_u64(&here);
        differing[0] += distance(first, sim_random_u64(&by_seed));
        differing[1] += distance(first, sim_random_u64(&by_entity));
        differing[2] += distance(first, sim_random_u64(&by_purpose));
        differing[3] += distance(first, sim_random_u64(&here));
    }
    for (int i = 0; i < 4; ++i) {
        // Each distance is binomial (64, 1/2): mean 32, standard deviation 4.
        ck_assert_double_eq_tol(differing[i] / PAIRS, 32.0, 5.0 * 4.0 / sqrt(PAIRS));
    }
    // Seed and entity are not interchangeable, and their sum does not decide.
    sim_random_init(&here, 1, 2, "x");
    sim_random_init(&by_seed, 2, 1, "x");
    sim_random_init(&by_entity, 0, 3, "x");
    ck_assert_uint_ne(here.key, by_seed.key);
    ck_assert_uint_ne(here.key, by_entity.key);
}
END_TEST

START_TEST(every_bit_is_balanced)
{
    enum { DRAWS = 100000 };
    unsigned ones[64] = {0};
    sim_random_t random;
    sim_random_init(&random, 3, 0, "bits");
    for (int i = 0; i < DRAWS; ++i) {
        const uint64_t number = sim_random_u64(&random);
        for (unsigned bit = 0; bit < 64; ++bit) {
            ones[bit] += (unsigned)(number >> bit & 1);
        }
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
        ck_assert_double_eq_tol(ones[bit], DRAWS / 2.0, 5.0 * sqrt(DRAWS / 4.0));
    }
}
END_TEST

// -- bounded draws

// Returns chi-square of counts against equal expectations.
static double chi_square(const uint64_t *counts, size_t cells, double total)
{
    const double expected = total / (double)cells;
    double sum = 0.0;
    for (size_t i = 0; i < cells; ++i) {
        const double off = (double)counts[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}

// Checks that chi-square, of mean n and variance 2n, is within five standard deviations.
static void assert_uniform(const uint64_t *counts, size_t cells, double total)
{
    const double freedom = (double)(cells - 1);
    ck_assert_double_lt(chi_square(counts, cells, total), freedom + 5.0 * sqrt(2.0 * freedom));
}

START_TEST(below_is_uniform)
{
    static const uint64_t limits[] = {1, 2, 3, 7, 10, 64, 100};
    enum { DRAWS = 200000 };
    for (size_t i = 0; i < SIM_COUNT_OF(limits); ++i) {
        uint64_t counts[100] = {0};
        sim_random_t random;
        sim_random_init(&random, i, 0, "below");
        for (int draw = 0; draw < DRAWS; ++draw) {
            const uint64_t number = sim_random_below(&random, limits[i]);
            REQUIRE(number < limits[i]);
            ++counts[number];
        }
        if (limits[i] > 1) {
            assert_uniform(counts, limits[i], DRAWS);
        }
    }
}
END_TEST

// Below 3/4 of 2^64, a multiply-shift alone would give every third number twice the probability.
START_TEST(below_has_no_bias_near_the_top)
{
    enum { DRAWS = 100000 };
    uint64_t counts[3] = {0};
    sim_random_t random;
    sim_random_init(&random, 5, 0, "bias");
    for (int draw = 0; draw < DRAWS; ++draw) {
        ++counts[sim_random_below(&random, UINT64_C(3) << 62) % 3];
    }
    assert_uniform(counts, 3, DRAWS);
}
END_TEST

START_TEST(below_zero_is_a_bug)
{
    sim_random_t random;
    sim_random_init(&random, 1, 1, "bug");
    (void)sim_random_below(&random, 0);
}
END_TEST

START_TEST(chance_has_its_probability)
{
    enum { DRAWS = 200000 };
    static const sim_ratio_t ratios[] = {
        {1, 2},
        {1, 3},
        {2, 7},
        {1, 1000},
        {UINT64_C(1) << 62, UINT64_MAX},
        {UINT64_MAX / 5 * 4, UINT64_MAX},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(ratios); ++i) {
        sim_random_t random;
        sim_random_init(&random, i, 0, "chance");
        double hits = 0.0;
        for (int draw = 0; draw < DRAWS; ++draw) {
            hits += sim_random_chance(&random, ratios[i]) ? 1.0 : 0.0;
        }
        const double p = (double)ratios[i].num / (double)ratios[i].den;
        ck_assert_double_eq_tol(hits, DRAWS * p, 5.0 * sqrt(DRAWS * p * (1.0 - p)));
    }
}
END_TEST

START_TEST(chance_is_sure_where_it_must_be)
{
    sim_random_t random;
    sim_random_init(&random, 9, 0, "sure");
    for (int draw = 0; draw < 10000; ++draw) {
        const uint64_t before = random.counter;
        REQUIRE(!sim_random_chance(&random, (sim_ratio_t){0, 1}));
        REQUIRE(random.counter != before); // draws, whatever the ratio
        REQUIRE(!sim_random_chance(&random, (sim_ratio_t){0, UINT64_MAX}));
        REQUIRE(sim_random_chance(&random, (sim_ratio_t){1, 1}));
        REQUIRE(sim_random_chance(&random, (sim_ratio_t){UINT64_MAX, UINT64_MAX}));
        REQUIRE(sim_random_chance(&random, (sim_ratio_t){3, 2}));
    }
    // The chance is one in 2^64 - 1, by one single number: multiply-shift sends 1 to 0 and rejects
    // 0.
    random = stream_with_next(1);
    ck_assert(sim_random_chance(&random, (sim_ratio_t){1, UINT64_MAX}));
    random = stream_with_next(2);
    ck_assert(!sim_random_chance(&random, (sim_ratio_t){1, UINT64_MAX}));
}
END_TEST

// -- exponential

static long double minus_ln(uint64_t number)
{
    if (number >= UINT64_C(1) << 63) {
        return -log1pl(-(long double)(UINT64_MAX - number) * 0x1p-64L);
    }
    return 64.0L * 0.6931471805599453094172321214581766L - logl((long double)(number + 1));
}

static void assert_exponential(uint64_t number, uint64_t mean)
{
    sim_random_t random = stream_with_next(number);
    const uint64_t got = sim_random_exponential(&random, mean);
    const long double exact = (long double)mean * minus_ln(number);
    const long double off = fabsl((long double)got - exact);
    // Half a unit of rounding is allowed; the contract is 2^-40, and the arithmetic is far more
    // exact.
    if (off > 0.5L + exact * 0x1p-55L) {
        ck_abort_msg("-%llu ln((%llu + 1) / 2^64) is %.6Lf, got %llu", (unsigned long long)mean,
                     (unsigned long long)number, exact, (unsigned long long)got);
    }
}

static const uint64_t means[] = {
    1, 2, 1000, 999983, 123456789012345, UINT64_C(1) << 55, UINT64_C(1) << 56};

START_TEST(logarithm_is_right_around_every_power_of_two)
{
    for (size_t m = 0; m < SIM_COUNT_OF(means); ++m) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            const uint64_t power = UINT64_C(1) << bit;
            for (uint64_t off = 0; off < 5; ++off) {
                assert_exponential(power + off, means[m]);
                assert_exponential(power - off, means[m]);
                assert_exponential(UINT64_MAX - power - off, means[m]);
                assert_exponential(UINT64_MAX - power + off, means[m]);
                // The arguments lie around powers of two times sqrt(1/2), where the argument is
                // halved.
                assert_exponential((UINT64_C(0xb504f333f9de6484) >> bit) + off - 2, means[m]);
            }
        }
    }
}
END_TEST

START_TEST(logarithm_is_right_anywhere)
{
    sim_random_t random;
    sim_random_init(&random, 11, 0, "arguments");
    for (int i = 0; i < 200000; ++i) {
        const uint64_t wide = sim_random_u64(&random);
        const uint64_t number = wide >> sim_random_below(&random, 64);
        assert_exponential(number, UINT64_C(1) << 56);
        assert_exponential(UINT64_MAX - number, UINT64_C(1) << 56);
    }
}
END_TEST

START_TEST(exponential_has_its_ends)
{
    sim_random_t random = stream_with_next(UINT64_MAX); // u = 1
    ck_assert_uint_eq(sim_random_exponential(&random, UINT64_C(1) << 56), 0);
    random = stream_with_next(0); // u = 2^-64
    // floor(2^62 ln 2 + 1/2): -ln u is 64 ln 2.
    ck_assert_uint_eq(sim_random_exponential(&random, UINT64_C(1) << 56),
                      UINT64_C(3196577161300663915));
}
END_TEST

START_TEST(exponential_has_its_moments)
{
    enum { DRAWS = 400000 };
    const double mean = 1e6;
    sim_random_t random;
    sim_random_init(&random, 12, 0, "moments");
    double sum = 0.0;
    double squares = 0.0;
    double above_mean = 0.0;
    for (int i = 0; i < DRAWS; ++i) {
        const double x = (double)sim_random_exponential(&random, 1000000) / mean;
        sum += x;
        squares += x * x;
        above_mean += x > 1.0 ? 1.0 : 0.0;
    }
    // E[x] = 1 and Var[x] = 1; E[x^2] = 2 and Var[x^2] = 20; P(x > 1) = 1/e.
    ck_assert_double_eq_tol(sum / DRAWS, 1.0, 5.0 / sqrt(DRAWS));
    ck_assert_double_eq_tol(squares / DRAWS, 2.0, 5.0 * sqrt(20.0 / DRAWS));
    const double p = exp(-1.0);
    ck_assert_double_eq_tol(above_mean / DRAWS, p, 5.0 * sqrt(p * (1.0 - p) / DRAWS));
}
END_TEST

START_TEST(exponential_of_mean_zero_is_a_bug)
{
    sim_random_t random = stream_with_next(1);
    (void)sim_random_exponential(&random, 0);
}
END_TEST

START_TEST(exponential_of_too_large_a_mean_is_a_bug)
{
    sim_random_t random = stream_with_next(1);
    (void)sim_random_exponential(&random, (UINT64_C(1) << 56) + 1);
}
END_TEST

// -- shuffles

static void assert_permutation(const uint32_t *order, uint32_t count)
{
    bool *const seen = sim_alloc_array(count, sizeof(*seen));
    for (uint32_t i = 0; i < count; ++i) {
        REQUIRE(order[i] < count && !seen[order[i]]);
        seen[order[i]] = true;
    }
    sim_free(seen);
}

// Returns the permutation as a number in base `count`.
static size_t code_of(const uint32_t *order, uint32_t count)
{
    size_t code = 0;
    for (uint32_t i = 0; i < count; ++i) {
        code = code * count + order[i];
    }
    return code;
}

// Draws of one kind of permutation: how often each came, for those that came. Returns how many did.
static size_t count_orders(void (*draw)(sim_random_t *random, uint32_t *order, uint32_t count),
                           uint32_t count, int draws, uint64_t *counts)
{
    static uint64_t by_code[3125]; // 5^5
    memset(by_code, 0, sizeof(by_code));
    sim_random_t random;
    sim_random_init(&random, 13, count, "orders");
    for (int i = 0; i < draws; ++i) {
        uint32_t order[5];
        draw(&random, order, count);
        assert_permutation(order, count);
        ++by_code[code_of(order, count)];
    }
    size_t kinds = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(by_code); ++i) {
        if (by_code[i] > 0) {
            counts[kinds++] = by_code[i];
        }
    }
    return kinds;
}

START_TEST(permutations_are_uniform)
{
    static const size_t factorials[] = {1, 1, 2, 6, 24, 120};
    uint64_t counts[120];
    for (uint32_t count = 1; count <= 5; ++count) {
        const size_t kinds = count_orders(sim_random_permutation, count, 120000, counts);
        ck_assert_uint_eq(kinds, factorials[count]);
        if (kinds > 1) {
            assert_uniform(counts, kinds, 120000.0);
        }
    }
}
END_TEST

// Cycles alone (Sattolo's shuffle) would be 6 of the 9 derangements of 4.
START_TEST(derangements_are_uniform)
{
    static const size_t subfactorials[] = {1, 0, 1, 2, 9, 44};
    uint64_t counts[120];
    for (uint32_t count = 2; count <= 5; ++count) {
        const size_t kinds = count_orders(sim_random_derangement, count, 120000, counts);
        ck_assert_uint_eq(kinds, subfactorials[count]);
        if (kinds > 1) {
            assert_uniform(counts, kinds, 120000.0);
        }
    }
}
END_TEST

START_TEST(derangements_move_everyone)
{
    static uint32_t order[20000];
    sim_random_t random;
    sim_random_init(&random, 14, 0, "large");
    for (uint32_t count = 2; count <= SIM_COUNT_OF(order); count = count * 3 / 2 + 1) {
        sim_random_derangement(&random, order, count);
        assert_permutation(order, count);
        for (uint32_t i = 0; i < count; ++i) {
            REQUIRE(order[i] != i);
        }
    }
}
END_TEST

START_TEST(nobody_to_shuffle)
{
    sim_random_t random;
    sim_random_init(&random, 15, 0, "none");
    uint32_t order[1] = {77};
    sim_random_permutation(&random, order, 0);
    ck_assert_uint_eq(order[0], 77);
    sim_random_permutation(&random, order, 1);
    ck_assert_uint_eq(order[0], 0);
}
END_TEST

START_TEST(derangement_of_one_is_a_bug)
{
    sim_random_t random;
    sim_random_init(&random, 16, 0, "one");
    uint32_t order[1];
    sim_random_derangement(&random, order, 1);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_chosen_number_comes_next), CHECK_TEST(streams_are_the_documented_hash),
           CHECK_TEST(neighbouring_streams_have_nothing_in_common),
           CHECK_TEST(every_bit_is_balanced), CHECK_TEST(below_is_uniform),
           CHECK_TEST(below_has_no_bias_near_the_top), CHECK_SIGNAL(below_zero_is_a_bug, SIGABRT),
           CHECK_TEST(chance_has_its_probability), CHECK_TEST(chance_is_sure_where_it_must_be),
           CHECK_TEST(logarithm_is_right_around_every_power_of_two),
           CHECK_TEST(logarithm_is_right_anywhere), CHECK_TEST(exponential_has_its_ends),
           CHECK_TEST(exponential_has_its_moments),
           CHECK_SIGNAL(exponential_of_mean_zero_is_a_bug, SIGABRT),
           CHECK_SIGNAL(exponential_of_too_large_a_mean_is_a_bug, SIGABRT),
           CHECK_TEST(permutations_are_uniform), CHECK_TEST(derangements_are_uniform),
           CHECK_TEST(derangements_move_everyone), CHECK_TEST(nobody_to_shuffle),
           CHECK_SIGNAL(derangement_of_one_is_a_bug, SIGABRT))

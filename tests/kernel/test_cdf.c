// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_cdf.c - empirical distributions of kernel/random.h.
//
// Goal: a draw has exactly the distribution of its points, the mean is exactly that of the draws,
// the published tables are what was published, and text is read exactly or refused with its place.
// Method: a stream made to return a chosen number (the mixer is a bijection), so that the draw for
// each of the 10^12 targets can be asked for and held against the definition; means summed value by
// value; published means and points that are not in the table; every refusal by its whole message.
// Not pinned: how the search is done.
#include "kernel/random.h"

#include <math.h>
#include <string.h>

#include "tests/check_main.h"

// -- the draw of a chosen target

static uint64_t unshift(uint64_t y, unsigned shift)
{
    uint64_t x = y;
    for (unsigned known = shift; known < 64; known += shift) {
        x = y ^ (x >> shift);
    }
    return x;
}

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

// Returns the value for target 1 .. SIM_CDF_ONE: the quantile at target / SIM_CDF_ONE.
static uint64_t quantile(const sim_cdf_t *cdf, uint64_t target)
{
    // A bounded draw sends a range of 64-bit numbers to target - 1; this is the middle of that
    // range.
    const sim_wide_t middle = ((sim_wide_t)(2 * target - 1) << 63) / SIM_CDF_ONE;
    sim_random_t random = {0, 99};
    sim_random_t probe = random;
    (void)sim_random_u64(&probe);
    random.key = unmix64((uint64_t)middle) ^ sim_mix64(probe.counter);
    sim_random_t copy = random;
    ck_assert_uint_eq(sim_random_below(&copy, SIM_CDF_ONE), target - 1);
    return sim_cdf_draw(cdf, &random);
}

static sim_cdf_t *make(const sim_cdf_point_t *points, size_t count)
{
    sim_cdf_t *cdf = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(sim_cdf_create(points, count, &cdf, &message) == SIM_OK, "%s", message.text);
    return cdf;
}

// Returns how many of the 10^12 targets give at most `value`, by interpolation between the points.
static uint64_t targets_up_to(const sim_cdf_point_t *points, size_t count, uint64_t value)
{
    if (value < points[0].value) {
        return 0;
    }
    for (size_t i = 1; i < count; ++i) {
        if (value < points[i].value) {
            const sim_cdf_point_t *const from = &points[i - 1];
            const sim_wide_t scaled =
                (sim_wide_t)(value - from->value) * (points[i].probability - from->probability);
            return from->probability + (uint64_t)(scaled / (points[i].value - from->value));
        }
    }
    return SIM_CDF_ONE;
}

// Checks a quantile by its definition: the smallest whole number, at least 1, whose probability
// reaches the target.
static void assert_quantile(const sim_cdf_t *cdf, const sim_cdf_point_t *points, size_t count,
                            uint64_t target)
{
    const uint64_t value = quantile(cdf, target);
    ck_assert_uint_ge(value, 1);
    ck_assert_uint_ge(targets_up_to(points, count, value), target);
    if (value > 1) {
        ck_assert_uint_lt(targets_up_to(points, count, value - 1), target);
    }
}

static const sim_cdf_point_t mixed_points[] = {
    {5, SIM_CDF_ONE / 10}, // an atom
    {6, SIM_CDF_ONE / 10}, // nothing up to here
    {9, SIM_CDF_ONE / 3},
    {1000003, SIM_CDF_ONE / 2},
    {1000004, SIM_CDF_ONE / 2 + 1}, // one target
    {SIM_CDF_VALUE_MAX, SIM_CDF_ONE},
};

START_TEST(draws_are_quantiles)
{
    const size_t count = SIM_COUNT_OF(mixed_points);
    sim_cdf_t *const cdf = make(mixed_points, count);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t at = mixed_points[i].probability;
        for (uint64_t off = 0; off <= 8; ++off) {
            const uint64_t target = at + off - 4;
            assert_quantile(cdf, mixed_points, count, target > SIM_CDF_ONE ? at : target);
        }
    }
    sim_random_t random;
    sim_random_init(&random, 1, 0, "targets");
    for (int i = 0; i < 5000; ++i) {
        const uint64_t target = sim_random_below(&random, SIM_CDF_ONE) + 1;
        assert_quantile(cdf, mixed_points, count, target);
    }
    ck_assert_uint_eq(quantile(cdf, 1), 5);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 10), 5);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 10 + 1), 7);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 2), 1000003);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 2 + 1), 1000004);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE), SIM_CDF_VALUE_MAX);
    sim_cdf_destroy(cdf);
}
END_TEST

START_TEST(draws_are_at_least_one)
{
    static const sim_cdf_point_t zero[] = {{0, SIM_CDF_ONE}};
    static const sim_cdf_point_t half[] = {{0, SIM_CDF_ONE / 2}, {2, SIM_CDF_ONE}};
    sim_cdf_t *cdf = make(zero, 1);
    ck_assert_uint_eq(quantile(cdf, 1), 1);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE), 1);
    ck_assert_uint_eq(sim_cdf_mean_q16(cdf), 1 << 16);
    sim_cdf_destroy(cdf);

    cdf = make(half, 2);
    ck_assert_uint_eq(quantile(cdf, 1), 1);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 4 * 3), 1);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 4 * 3 + 1), 2);
    ck_assert_uint_eq(sim_cdf_mean_q16(cdf), 5 << 14); // 3/4 of 1 and 1/4 of 2
    sim_cdf_destroy(cdf);
}
END_TEST

START_TEST(one_point_is_a_constant)
{
    static const sim_cdf_point_t point[] = {{4096, SIM_CDF_ONE}};
    sim_cdf_t *const cdf = make(point, 1);
    sim_random_t random;
    sim_random_init(&random, 2, 0, "constant");
    for (int i = 0; i < 100; ++i) {
        ck_assert_uint_eq(sim_cdf_draw(cdf, &random), 4096);
    }
    ck_assert_uint_eq(sim_cdf_mean_q16(cdf), 4096 << 16);
    sim_cdf_destroy(cdf);
    sim_cdf_destroy(NULL);
}
END_TEST

// -- means

// Returns the mean in units of 2^-16, rounded to nearest, as a sum over every value.
static uint64_t brute_mean_q16(const sim_cdf_point_t *points, size_t count)
{
    sim_wide_t sum = 0;
    uint64_t below = 0;
    for (uint64_t value = points[0].value; value <= points[count - 1].value; ++value) {
        const uint64_t up_to = targets_up_to(points, count, value);
        sum += (sim_wide_t)(value == 0 ? 1 : value) * (up_to - below);
        below = up_to;
    }
    return (uint64_t)(((sum << 17) + SIM_CDF_ONE) / (2 * SIM_CDF_ONE));
}

START_TEST(means_are_those_of_the_draws)
{
    sim_random_t random;
    sim_random_init(&random, 3, 0, "points");
    for (int round = 0; round < 300; ++round) {
        sim_cdf_point_t points[6] = {{0, 0}};
        const size_t count = 1 + sim_random_below(&random, 6);
        // Coarse probabilities have large common divisors with the widths, fine ones have none.
        const uint64_t grain = round % 2 == 0 ? 1 : SIM_CDF_ONE / 1000;
        uint64_t value = sim_random_below(&random, 3);
        uint64_t probability = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t left = (SIM_CDF_ONE - probability) / grain;
            probability += sim_random_below(&random, left + 1) * grain;
            points[i] = (sim_cdf_point_t){value, i + 1 == count ? SIM_CDF_ONE : probability};
            value += 1 + sim_random_below(&random, round % 3 == 0 ? 3 : 1000);
        }
        sim_cdf_t *const cdf = make(points, count);
        ck_assert_uint_eq(sim_cdf_mean_q16(cdf), brute_mean_q16(points, count));
        sim_cdf_destroy(cdf);
    }
}
END_TEST

START_TEST(largest_mean_fits)
{
    static const sim_cdf_point_t top[] = {{SIM_CDF_VALUE_MAX, SIM_CDF_ONE}};
    static const sim_cdf_point_t wide[] = {{0, 0}, {SIM_CDF_VALUE_MAX, SIM_CDF_ONE}};
    sim_cdf_t *cdf = make(top, 1);
    ck_assert_uint_eq(sim_cdf_mean_q16(cdf), SIM_CDF_VALUE_MAX << 16);
    sim_cdf_destroy(cdf);
    cdf = make(wide, 2);
    // The mean is (w D + w + D - gcd) / 2 D with w = 2^48 - 1, D = 10^12: half of w, and 1/2, and w
    // / 2 D.
    const double expected = (double)SIM_CDF_VALUE_MAX / 2 + 0.5 + (double)SIM_CDF_VALUE_MAX / 2e12;
    ck_assert_double_eq_tol((double)sim_cdf_mean_q16(cdf) / 65536.0, expected, 0.02);
    sim_cdf_destroy(cdf);
}
END_TEST

// Target t gives 100 t: no draw falls between the targets, which the common divisor accounts for.
START_TEST(mean_of_one_value_per_target)
{
    static const sim_cdf_point_t points[] = {{0, 0}, {100 * SIM_CDF_ONE, SIM_CDF_ONE}};
    sim_cdf_t *const cdf = make(points, 2);
    ck_assert_uint_eq(quantile(cdf, 1), 100);
    ck_assert_uint_eq(quantile(cdf, 12345), 1234500);
    ck_assert_uint_eq(sim_cdf_mean_q16(cdf), 50 * (SIM_CDF_ONE + 1) << 16);
    sim_cdf_destroy(cdf);
}
END_TEST

// 15 % are exactly 10, 45 % exactly 70, and 30 % of a step at 0 are 1.
START_TEST(vertical_steps_are_exact)
{
    static const sim_cdf_point_t points[] = {{0, 0},
                                             {0, SIM_CDF_ONE / 10 * 3},
                                             {10, SIM_CDF_ONE / 10 * 3},
                                             {10, SIM_CDF_ONE / 100 * 45},
                                             {70, SIM_CDF_ONE / 100 * 45},
                                             {70, SIM_CDF_ONE / 10 * 9},
                                             {80, SIM_CDF_ONE / 10 * 9},
                                             {80, SIM_CDF_ONE}};
    sim_cdf_t *const cdf = make(points, SIM_COUNT_OF(points));
    ck_assert_uint_eq(quantile(cdf, 1), 1);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 10 * 3), 1);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 10 * 3 + 1), 10);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 100 * 45), 10);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 100 * 45 + 1), 70);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE / 10 * 9), 70);
    ck_assert_uint_eq(quantile(cdf, SIM_CDF_ONE), 80);
    const double mean = 0.3 * 1 + 0.15 * 10 + 0.45 * 70 + 0.1 * 80;
    ck_assert_double_eq_tol((double)sim_cdf_mean_q16(cdf) / 65536.0, mean, 0.001);
    sim_cdf_destroy(cdf);
}
END_TEST

START_TEST(draws_have_the_mean)
{
    enum { DRAWS = 200000 };
    for (size_t i = 0; sim_cdf_builtin_name(i) != NULL; ++i) {
        const sim_cdf_t *const cdf = sim_cdf_builtin(sim_cdf_builtin_name(i));
        sim_random_t random;
        sim_random_init(&random, 4, i, "sizes");
        double sum = 0.0;
        double squares = 0.0;
        for (int draw = 0; draw < DRAWS; ++draw) {
            const double size = (double)sim_cdf_draw(cdf, &random);
            sum += size;
            squares += size * size;
        }
        const double mean = sum / DRAWS;
        const double deviation = sqrt((squares / DRAWS - mean * mean) / DRAWS);
        ck_assert_double_eq_tol(mean, (double)sim_cdf_mean_q16(cdf) / 65536.0, 5.0 * deviation);
    }
}
END_TEST

// -- published tables

static double mean_of(const char *name)
{
    const sim_cdf_t *const cdf = sim_cdf_builtin(name);
    ck_assert_ptr_nonnull(cdf);
    return (double)sim_cdf_mean_q16(cdf) / 65536.0;
}

START_TEST(published_means)
{
    ck_assert_double_eq_tol(mean_of("websearch"), 1.711e6, 0.5e3);
    ck_assert_double_eq_tol(mean_of("fbhadoop"), 120.4e3, 0.05e3);
    // Trapezoids: sum of p (from + to) / 2, and the half that whole numbers are above a middle.
    const double alistorage = 0.2293 * 2e3 + 0.4628 * 6e3 + 0.114 * 12e3 + 0.0986 * 24e3 +
                              0.0306 * 48e3 + 0.0324 * 96e3 + 0.0076 * 192e3 + 0.0247 * 1128e3;
    ck_assert_double_eq_tol(mean_of("alistorage"), alistorage + 0.5, 0.001);
    const double solar = 0.3 * 4096 + 0.2 * 16384 + 0.45 * 65536 + 0.05 * 262144;
    ck_assert_double_eq_tol(mean_of("solar"), solar, 0.001);
    ck_assert_double_eq_tol(mean_of("googlerpc"), 2891.6, 0.013 * 2891.6);
}
END_TEST

START_TEST(published_points)
{
    static const struct {
        const char *name;
        uint64_t value;
        uint64_t permille;
    } rows[] = {
        {"websearch", 10000, 150},     {"websearch", 20000, 200},     {"websearch", 30000, 300},
        {"websearch", 50000, 400},     {"websearch", 80000, 530},     {"websearch", 200000, 600},
        {"websearch", 1000000, 700},   {"websearch", 2000000, 800},   {"websearch", 5000000, 900},
        {"websearch", 10000000, 970},  {"websearch", 30000000, 1000}, {"fbhadoop", 100, 10},
        {"fbhadoop", 300, 50},         {"fbhadoop", 350, 150},        {"fbhadoop", 700, 500},
        {"fbhadoop", 1000, 600},       {"fbhadoop", 2000, 670},       {"fbhadoop", 7000, 700},
        {"fbhadoop", 30000, 720},      {"fbhadoop", 80000, 870},      {"fbhadoop", 300000, 950},
        {"fbhadoop", 1000000, 975},    {"fbhadoop", 10000000, 1000},  {"alistorage", 2000000, 1000},
        {"googlerpc", 15158197, 1000}, {"solar", 4096, 300},          {"solar", 16384, 500},
        {"solar", 65536, 950},         {"solar", 262144, 1000},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        const sim_cdf_t *const cdf = sim_cdf_builtin(rows[i].name);
        const uint64_t target = rows[i].permille * (SIM_CDF_ONE / 1000);
        ck_assert_uint_eq(quantile(cdf, target), rows[i].value);
        if (target < SIM_CDF_ONE) {
            ck_assert_uint_gt(quantile(cdf, target + 1), rows[i].value);
        }
    }
}
END_TEST

// Points of the published table that the reduced one leaves out.
START_TEST(reduced_table_is_near_the_published)
{
    static const struct {
        uint64_t value;
        double percent;
    } rows[] = {
        {32, 9.73239},    {40, 12.0503},    {70, 18.7988},     {128, 35.1573},
        {205, 46.1319},   {375, 68.055},    {433, 73.2736},    {1024, 86.32},
        {1536, 89.3641},  {4884, 94.4424},  {7936, 96.3362},   {15622, 98.37},
        {40018, 99.1436}, {81920, 99.4805}, {147300, 99.7421}, {1185908, 99.9788},
    };
    const sim_cdf_t *const cdf = sim_cdf_builtin("googlerpc");
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        // At most 0.8 % of all flows, and 15 % of those larger, are on the wrong side of a size.
        const double off = fmin(0.8, 0.15 * (100.0 - rows[i].percent));
        const double per_target = (double)SIM_CDF_ONE / 100.0;
        ck_assert_uint_le(quantile(cdf, (uint64_t)((rows[i].percent - off) * per_target)),
                          rows[i].value);
        ck_assert_uint_ge(quantile(cdf, (uint64_t)((rows[i].percent + off) * per_target)),
                          rows[i].value);
    }
}
END_TEST

START_TEST(solar_has_four_sizes)
{
    const sim_cdf_t *const cdf = sim_cdf_builtin("solar");
    sim_random_t random;
    sim_random_init(&random, 5, 0, "solar");
    unsigned seen = 0;
    for (int i = 0; i < 20000; ++i) {
        switch (sim_cdf_draw(cdf, &random)) {
        case 4096:
            seen |= 1U;
            break;
        case 16384:
            seen |= 2U;
            break;
        case 65536:
            seen |= 4U;
            break;
        case 262144:
            seen |= 8U;
            break;
        default:
            ck_abort_msg("a size between the steps");
        }
    }
    ck_assert_uint_eq(seen, 15);
}
END_TEST

START_TEST(builtins_have_names)
{
    size_t count = 0;
    while (sim_cdf_builtin_name(count) != NULL) {
        ck_assert_ptr_nonnull(sim_cdf_builtin(sim_cdf_builtin_name(count)));
        ++count;
    }
    ck_assert_uint_eq(count, 5);
    ck_assert_ptr_null(sim_cdf_builtin_name(1000));
    ck_assert_ptr_null(sim_cdf_builtin("webserach"));
    ck_assert_ptr_null(sim_cdf_builtin(""));
}
END_TEST

START_TEST(destroying_a_builtin_is_a_bug)
{
    union {
        const sim_cdf_t *in;
        sim_cdf_t *out;
    } cast = {sim_cdf_builtin("solar")};
    sim_cdf_destroy(cast.out);
}
END_TEST

START_TEST(wrong_points_are_refused)
{
    static const struct {
        sim_cdf_point_t points[3];
        size_t count;
        sim_err_t error;
        const char *message;
    } rows[] = {
        {{{0, 0}}, 0, SIM_ERR_INVALID, "a distribution needs at least one point"},
        {{{0, 0}, {9, SIM_CDF_ONE - 1}},
         2,
         SIM_ERR_INVALID,
         "the last cumulative probability is not one"},
        {{{0, 0}, {9, SIM_CDF_ONE + 1}},
         2,
         SIM_ERR_INVALID,
         "the last cumulative probability is not one"},
        {{{5, 0}, {4, SIM_CDF_ONE}},
         2,
         SIM_ERR_INVALID,
         "value 4 follows 5: expected no smaller one"},
        {{{5, 7}, {6, 6}, {7, SIM_CDF_ONE}},
         3,
         SIM_ERR_INVALID,
         "the cumulative probability falls at value 6"},
        {{{5, SIM_CDF_ONE + 1}, {6, SIM_CDF_ONE}},
         2,
         SIM_ERR_INVALID,
         "the cumulative probability falls at value 6"},
        {{{SIM_CDF_VALUE_MAX + 1, SIM_CDF_ONE}},
         1,
         SIM_ERR_RANGE,
         "value 281474976710656 is too large: expected at most 281474976710655"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        sim_cdf_t *cdf = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(sim_cdf_create(rows[i].points, rows[i].count, &cdf, &message),
                         rows[i].error);
        ck_assert_str_eq(message.text, rows[i].message);
        ck_assert_ptr_null(cdf);
    }
}
END_TEST

// -- text

static sim_cdf_t *parse(const char *text)
{
    sim_cdf_t *cdf = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(sim_cdf_parse(text, strlen(text), &cdf, &message) == SIM_OK, "%s", message.text);
    return cdf;
}

START_TEST(text_gives_the_same_distribution)
{
    static const char percents[] =
        "4095 0\n4096 30.000\n16383 30\n16384 50\n65535 50\n65536 95\n262143 95\n262144 100\n";
    static const char fractions[] =
        "\xef\xbb\xbf# a storage network\n\n4095.0\t0.0 # nothing\r\n4096 0.3\r\n16383 0.30\r\n"
        " 16384  0.5 \r\n0065535 0.5\n65536 0.9500000000000000000000000\n262143 0.95#\n"
        "262144 1.0";
    static const char *const texts[] = {percents, fractions};
    const sim_cdf_t *const builtin = sim_cdf_builtin("solar");
    for (size_t i = 0; i < SIM_COUNT_OF(texts); ++i) {
        sim_cdf_t *const cdf = parse(texts[i]);
        ck_assert_uint_eq(sim_cdf_mean_q16(cdf), sim_cdf_mean_q16(builtin));
        for (uint64_t target = 1; target <= SIM_CDF_ONE; target += SIM_CDF_ONE / 1000) {
            ck_assert_uint_eq(quantile(cdf, target), quantile(builtin, target));
        }
        sim_cdf_destroy(cdf);
    }
}
END_TEST

// Returns the probability of value 1 in "1 P
// 2 LAST
// ", in units of 1 / SIM_CDF_ONE. It finds the last target that still gives 1 by bisection.
static uint64_t probability_read(const char *written, const char *last)
{
    char text[128];
    snprintf(text, sizeof(text), "1 %s\n2 %s\n", written, last);
    sim_cdf_t *const cdf = parse(text);
    uint64_t low = 0;
    uint64_t high = SIM_CDF_ONE;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (quantile(cdf, middle) == 1) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    sim_cdf_destroy(cdf);
    return low;
}

START_TEST(probabilities_are_read_exactly)
{
    ck_assert_uint_eq(probability_read("12.3456789012", "100"), UINT64_C(123456789012));
    ck_assert_uint_eq(probability_read("0.123456789012", "1"), UINT64_C(123456789012));
    ck_assert_uint_eq(probability_read("0.0000000001", "100"), 1);
    ck_assert_uint_eq(probability_read("0.000000000001", "1"), 1);
    ck_assert_uint_eq(probability_read("99.9999999999", "100.00"), SIM_CDF_ONE - 1);
    // Finer probabilities are rounded to the nearest.
    ck_assert_uint_eq(probability_read("0.1234567890124999999999999999", "1"),
                      UINT64_C(123456789012));
    ck_assert_uint_eq(probability_read("0.1234567890125", "1.0"), UINT64_C(123456789013));
    ck_assert_uint_eq(probability_read("12.34567890124999", "100"), UINT64_C(123456789012));
    ck_assert_uint_eq(probability_read("12.34567890125", "100"), UINT64_C(123456789013));
    ck_assert_uint_eq(probability_read("0.30000000000000004", "1"), UINT64_C(300000000000));
    ck_assert_uint_eq(probability_read("1", "100"), SIM_CDF_ONE / 100);
    ck_assert_uint_eq(probability_read("1", "1"), SIM_CDF_ONE);
}
END_TEST

START_TEST(wrong_text_is_refused_with_its_place)
{
    static const struct {
        sim_err_t error;
        const char *text;
        const char *message;
    } rows[] = {
        {SIM_ERR_INVALID, "",
         "line 1 column 1: there is no point: expected lines such as \"10000 15\""},
        {SIM_ERR_INVALID, "# nothing\n\n",
         "line 2 column 1: there is no point: expected lines such as \"10000 15\""},
        {SIM_ERR_INVALID, "0 0\nsize 15\n",
         "line 2 column 1: \"size\" is not a value: expected a whole number such as 10000"},
        {SIM_ERR_INVALID, "0 0\n  -5 15\n",
         "line 2 column 3: \"-5\" is not a value: expected a whole number such as 10000"},
        {SIM_ERR_INVALID, "0 0\n10KB 15\n",
         "line 2 column 1: \"10KB\" is not a value: expected a whole number such as 10000"},
        {SIM_ERR_INVALID, "0 0\n10.5 15\n",
         "line 2 column 1: \"10.5\" is not whole: expected a whole number such as 10000"},
        {SIM_ERR_RANGE, "0 0\n281474976710656 100\n",
         "line 2 column 1: \"281474976710656\" is too large: expected at most 2^48 - 1"},
        {SIM_ERR_RANGE, "99999999999999999999999999 100\n",
         "line 1 column 1: \"99999999999999999999999999\" is too large: expected at most 2^48 - 1"},
        {SIM_ERR_INVALID, "0 0\n4096 15\n4095 100\n",
         "line 3 column 1: \"4095\" is below the value before it: expected values that do not fall "
         "(a step is the same value twice)"},
        {SIM_ERR_INVALID, "0 0\n10000   fifteen\n",
         "line 2 column 9: \"fifteen\" is not a cumulative probability: expected a percentage such "
         "as 12.5 or a fraction such as 0.125"},
        {SIM_ERR_INVALID, "0 0\n10000 15%\n",
         "line 2 column 7: \"15%\" is not a cumulative probability: expected a percentage such as "
         "12.5 or a fraction such as 0.125"},
        {SIM_ERR_INVALID, "0 0\n10000 1e2\n",
         "line 2 column 7: \"1e2\" is not a cumulative probability: expected a percentage such as "
         "12.5 or a fraction such as 0.125"},
        {SIM_ERR_RANGE, "0 0\n10000 100.0001\n",
         "line 2 column 7: \"100.0001\" is more than 100 %"},
        {SIM_ERR_RANGE, "0 101\n", "line 1 column 3: \"101\" is more than 100 %"},
        {SIM_ERR_INVALID, "0 0\n1 15\n2 14.99\n3 100\n",
         "line 3 column 3: \"14.99\" is below the probability before it: expected cumulative "
         "probabilities"},
        {SIM_ERR_INVALID, "0 0\n\n  77 # 100\n",
         "line 3 column 3: \"77\" stands alone: expected a value and its cumulative probability"},
        {SIM_ERR_INVALID, "0 0\n10000 15 20\n",
         "line 2 column 10: \"20\" is a third word: expected two numbers on a line, a size and its "
         "cumulative "
         "probability (of the three of ns-2, the first and the third)"},
        {SIM_ERR_INVALID, "0 0\n10000 15\n\n# end\n",
         "line 2 column 7: the last cumulative probability is 15: expected 100 (percent) or 1 "
         "(fractions)"},
        {SIM_ERR_INVALID, "0 0\n1 0.99999",
         "line 2 column 3: the last cumulative probability is 0.99999: expected 100 (percent) or 1 "
         "(fractions)"},
        {SIM_ERR_INVALID, "\x01\x02\n",
         "line 1 column 1: \"\\x01\\x02\" is not a value: expected a whole number such as 10000"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        sim_cdf_t *cdf = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(sim_cdf_parse(rows[i].text, strlen(rows[i].text), &cdf, &message),
                         rows[i].error);
        ck_assert_str_eq(message.text, rows[i].message);
        ck_assert_ptr_null(cdf);
    }
}
END_TEST

// Every prefix of a text is parsed in memory that ends where the prefix ends.
START_TEST(no_byte_is_read_past_the_end)
{
    static const char text[] = "# sizes\r\n0 0\r\n4096 30.5 # step\n 65536\t99.25\n262144 100";
    for (size_t size = 0; size < sizeof(text); ++size) {
        char *const copy = sim_alloc(size + 1);
        char *const exact = sim_realloc_array(copy, size, 1);
        memcpy(exact, text, size);
        sim_cdf_t *cdf = NULL;
        sim_message_t message = {.text = ""};
        const sim_err_t error = sim_cdf_parse(exact, size, &cdf, &message);
        ck_assert_int_eq(error == SIM_OK, cdf != NULL);
        ck_assert_int_eq(error == SIM_OK, size == sizeof(text) - 1);
        ck_assert(error == SIM_OK || strncmp(message.text, "line ", 5) == 0);
        sim_cdf_destroy(cdf);
        sim_free(exact);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(draws_are_quantiles), CHECK_TEST(draws_are_at_least_one),
           CHECK_TEST(one_point_is_a_constant), CHECK_TEST(means_are_those_of_the_draws),
           CHECK_TEST(largest_mean_fits), CHECK_TEST(mean_of_one_value_per_target),
           CHECK_TEST(vertical_steps_are_exact), CHECK_TEST(draws_have_the_mean),
           CHECK_TEST(published_means), CHECK_TEST(published_points),
           CHECK_TEST(reduced_table_is_near_the_published), CHECK_TEST(solar_has_four_sizes),
           CHECK_TEST(builtins_have_names), CHECK_SIGNAL(destroying_a_builtin_is_a_bug, SIGABRT),
           CHECK_TEST(wrong_points_are_refused), CHECK_TEST(text_gives_the_same_distribution),
           CHECK_TEST(probabilities_are_read_exactly),
           CHECK_TEST(wrong_text_is_refused_with_its_place),
           CHECK_TEST(no_byte_is_read_past_the_end))

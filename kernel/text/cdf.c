// SPDX-License-Identifier: Apache-2.0
// kernel/text/cdf.c - empirical distributions: exact draws by inversion, exact means, published
// tables.
//
// A draw takes t uniformly from 1 .. SIM_CDF_ONE and returns the smallest whole number whose
// cumulative probability reaches t. Because of this rounding up, a number is at most a point's
// value with exactly the point's probability, and a step of width one is exact. Two points of one
// value are a vertical step: the draws between them are that value.
#include <string.h>

#include "kernel/random.h"

struct sim_cdf {
    const sim_cdf_point_t *points;
    size_t count;
    sim_cdf_point_t *own; // the same points where they were allocated; NULL: a static table
};

// A value and a mean, times 2^16, must fit 64 bits; a doubled sum over all t, times 2^16, 128 bits.
static_assert(SIM_CDF_VALUE_MAX <= UINT64_MAX >> 16, "means fit 64 bits");
static_assert(SIM_CDF_ONE <= UINT64_C(1) << 40, "sums fit 128 bits");

sim_err_t sim_cdf_create(const sim_cdf_point_t *points, size_t count, sim_cdf_t **cdf,
                         sim_message_t *message)
{
    if (count == 0) {
        return sim_fail(message, SIM_ERR_INVALID, "a distribution needs at least one point");
    }
    for (size_t i = 0; i < count; ++i) {
        if (points[i].value > SIM_CDF_VALUE_MAX) {
            return sim_fail(message, SIM_ERR_RANGE,
                            "value %" PRIu64 " is too large: expected at most %" PRIu64,
                            points[i].value, SIM_CDF_VALUE_MAX);
        }
        if (i > 0 && points[i].value < points[i - 1].value) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "value %" PRIu64 " follows %" PRIu64 ": expected no smaller one",
                            points[i].value, points[i - 1].value);
        }
        if (i > 0 && points[i].probability < points[i - 1].probability) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "the cumulative probability falls at value %" PRIu64, points[i].value);
        }
    }
    if (points[count - 1].probability != SIM_CDF_ONE) {
        return sim_fail(message, SIM_ERR_INVALID, "the last cumulative probability is not one");
    }
    sim_cdf_t *const made = sim_alloc(sizeof(*made));
    made->own = sim_alloc_array(count, sizeof(*points));
    memcpy(made->own, points, count * sizeof(*points));
    made->points = made->own;
    made->count = count;
    *cdf = made;
    return SIM_OK;
}

void sim_cdf_destroy(sim_cdf_t *cdf)
{
    if (cdf != NULL) {
        SIM_CHECK(cdf->own != NULL); // else it is one of sim_cdf_builtin's
        sim_free(cdf->own);
        sim_free(cdf);
    }
}

uint64_t sim_cdf_draw(const sim_cdf_t *cdf, sim_random_t *random)
{
    const uint64_t target = sim_random_below(random, SIM_CDF_ONE) + 1;
    size_t low = 0; // the first point that reaches the target is in [low, high]
    size_t high = cdf->count - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cdf->points[middle].probability >= target) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const sim_cdf_point_t *const to = &cdf->points[low];
    if (low == 0) {
        return to->value == 0 ? 1 : to->value;
    }
    const sim_cdf_point_t *const from = to - 1;
    if (to->value == 0) {
        return 1; // a step at 0
    }
    const uint64_t width = to->probability - from->probability;
    const sim_wide_t scaled = (sim_wide_t)(to->value - from->value) * (target - from->probability);
    return from->value + (uint64_t)((scaled + width - 1) / width);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Returns twice the sum of the numbers that all draws between two points return.
static sim_wide_t doubled_segment_sum(const sim_cdf_point_t *from, const sim_cdf_point_t *to)
{
    const uint64_t draws = to->probability - from->probability;
    const uint64_t values = to->value - from->value;
    if (draws == 0) {
        return 0;
    }
    if (to->value == 0) {
        return (sim_wide_t)draws * 2; // each of them is 1
    }
    // The sum over t = 1 .. draws of ceil(values * t / draws), doubled, counts lattice points under
    // a line.
    const sim_wide_t above =
        (sim_wide_t)values * draws + values + draws - greatest_common_divisor(values, draws);
    return (sim_wide_t)from->value * draws * 2 + above;
}

uint64_t sim_cdf_mean_q16(const sim_cdf_t *cdf)
{
    const sim_cdf_point_t *const first = &cdf->points[0];
    sim_wide_t doubled =
        (sim_wide_t)(first->value == 0 ? 1 : first->value) * first->probability * 2;
    for (size_t i = 1; i < cdf->count; ++i) {
        doubled += doubled_segment_sum(&cdf->points[i - 1], &cdf->points[i]);
    }
    return (uint64_t)(((doubled << 16) + SIM_CDF_ONE) / (SIM_CDF_ONE * 2));
}

// -- published distributions, in bytes; docs/formats/flow-sizes.md says whose

#define PERCENT(whole, hundredths) ((UINT64_C(whole) * 100 + (hundredths)) * (SIM_CDF_ONE / 10000))
#define TEN_MILLIONTHS(n) (UINT64_C(n) * (SIM_CDF_ONE / 10000000))

// clang-format off
static const sim_cdf_point_t websearch_points[] = {
    {0, 0},
    {10000, PERCENT(15, 0)},
    {20000, PERCENT(20, 0)},
    {30000, PERCENT(30, 0)},
    {50000, PERCENT(40, 0)},
    {80000, PERCENT(53, 0)},
    {200000, PERCENT(60, 0)},
    {1000000, PERCENT(70, 0)},
    {2000000, PERCENT(80, 0)},
    {5000000, PERCENT(90, 0)},
    {10000000, PERCENT(97, 0)},
    {30000000, PERCENT(100, 0)},
};

static const sim_cdf_point_t fbhadoop_points[] = {
    {0, 0},
    {100, PERCENT(1, 0)},
    {200, PERCENT(2, 0)},
    {300, PERCENT(5, 0)},
    {350, PERCENT(15, 0)},
    {400, PERCENT(20, 0)},
    {500, PERCENT(30, 0)},
    {600, PERCENT(40, 0)},
    {700, PERCENT(50, 0)},
    {1000, PERCENT(60, 0)},
    {2000, PERCENT(67, 0)},
    {7000, PERCENT(70, 0)},
    {30000, PERCENT(72, 0)},
    {50000, PERCENT(82, 0)},
    {80000, PERCENT(87, 0)},
    {120000, PERCENT(90, 0)},
    {300000, PERCENT(95, 0)},
    {1000000, PERCENT(97, 50)},
    {2000000, PERCENT(99, 0)},
    {10000000, PERCENT(100, 0)},
};

static const sim_cdf_point_t alistorage_points[] = {
    {0, 0},
    {4000, PERCENT(22, 93)},
    {8000, PERCENT(69, 21)},
    {16000, PERCENT(80, 61)},
    {32000, PERCENT(90, 47)},
    {64000, PERCENT(93, 53)},
    {128000, PERCENT(96, 77)},
    {256000, PERCENT(97, 53)},
    {2000000, PERCENT(100, 0)},
};

// This table has 40 of the 843 points published.
static const sim_cdf_point_t googlerpc_points[] = {
    {0, 0},
    {3, TEN_MILLIONTHS(648826)},
    {36, TEN_MILLIONTHS(1089130)},
    {64, TEN_MILLIONTHS(1552710)},
    {85, TEN_MILLIONTHS(2534220)},
    {110, TEN_MILLIONTHS(3188560)},
    {171, TEN_MILLIONTHS(4247370)},
    {256, TEN_MILLIONTHS(4979010)},
    {313, TEN_MILLIONTHS(6022720)},
    {402, TEN_MILLIONTHS(7066430)},
    {512, TEN_MILLIONTHS(7849210)},
    {796, TEN_MILLIONTHS(8408340)},
    {1271, TEN_MILLIONTHS(8809570)},
    {1843, TEN_MILLIONTHS(9037880)},
    {2891, TEN_MILLIONTHS(9240830)},
    {5403, TEN_MILLIONTHS(9491580)},
    {7054, TEN_MILLIONTHS(9595740)},
    {9879, TEN_MILLIONTHS(9712700)},
    {12674, TEN_MILLIONTHS(9787280)},
    {16384, TEN_MILLIONTHS(9846940)},
    {23156, TEN_MILLIONTHS(9880330)},
    {32768, TEN_MILLIONTHS(9904020)},
    {45677, TEN_MILLIONTHS(9920150)},
    {94372, TEN_MILLIONTHS(9956230)},
    {131072, TEN_MILLIONTHS(9971290)},
    {169033, TEN_MILLIONTHS(9977240)},
    {216315, TEN_MILLIONTHS(9981730)},
    {320864, TEN_MILLIONTHS(9988360)},
    {409266, TEN_MILLIONTHS(9992050)},
    {524288, TEN_MILLIONTHS(9994980)},
    {749820, TEN_MILLIONTHS(9996550)},
    {1079314, TEN_MILLIONTHS(9997660)},
    {1477805, TEN_MILLIONTHS(9998340)},
    {2073128, TEN_MILLIONTHS(9998870)},
    {2693059, TEN_MILLIONTHS(9999170)},
    {3710020, TEN_MILLIONTHS(9999450)},
    {5114695, TEN_MILLIONTHS(9999650)},
    {7143054, TEN_MILLIONTHS(9999800)},
    {9710291, TEN_MILLIONTHS(9999900)},
    {15158197, TEN_MILLIONTHS(10000000)},
};

// This distribution has four sizes and nothing between them.
static const sim_cdf_point_t solar_points[] = {
    {4095, 0},
    {4096, PERCENT(30, 0)},
    {16383, PERCENT(30, 0)},
    {16384, PERCENT(50, 0)},
    {65535, PERCENT(50, 0)},
    {65536, PERCENT(95, 0)},
    {262143, PERCENT(95, 0)},
    {262144, PERCENT(100, 0)},
};

static const struct builtin {
    const char *name;
    sim_cdf_t cdf;
} builtins[] = {
    {"websearch", {.points = websearch_points, .count = SIM_COUNT_OF(websearch_points)}},
    {"fbhadoop", {.points = fbhadoop_points, .count = SIM_COUNT_OF(fbhadoop_points)}},
    {"alistorage", {.points = alistorage_points, .count = SIM_COUNT_OF(alistorage_points)}},
    {"googlerpc", {.points = googlerpc_points, .count = SIM_COUNT_OF(googlerpc_points)}},
    {"solar", {.points = solar_points, .count = SIM_COUNT_OF(solar_points)}},
};
// clang-format on

const sim_cdf_t *sim_cdf_builtin(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(builtins); ++i) {
        if (strcmp(builtins[i].name, name) == 0) {
            return &builtins[i].cdf;
        }
    }
    return NULL;
}

const char *sim_cdf_builtin_name(size_t index)
{
    return index < SIM_COUNT_OF(builtins) ? builtins[index].name : NULL;
}

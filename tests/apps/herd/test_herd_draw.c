// SPDX-License-Identifier: Apache-2.0
// labels: plain clang
// Goal: what HERD draws and names is what its benchmark draws and names: generator, permutation,
// CityHash128, lengths of values; skewed ranks follow their law.
// Method: vectors of the generator and the hash computed from the public code or published with
// other implementations of it; a jump against steps; counted ranks against sums of powers.
// Does not pin: strings of 128 bytes and more, which keys are not.
#include <math.h>

#include "apps/herd/draw.h"
#include "apps/herd/store/wire.h"
#include "tests/check_main.h"

START_TEST(generator_gives_the_benchmarks_numbers)
{
    static const uint32_t expected[] = {959880212u,  3531117287u, 3366701480u,
                                        2213884999u, 2070774596u, 3557453113u};
    uint64_t seed = APP_HERD_SEED;
    for (size_t i = 0; i < SIM_COUNT_OF(expected); i++) {
        ck_assert_uint_eq(app_herd_fastrand(&seed), expected[i]);
    }
}
END_TEST

START_TEST(a_jump_is_as_many_steps)
{
    static const uint64_t draws[] = {0, 1, 2, 3, 63, 64, 1000, 65537, 3000001};
    for (size_t i = 0; i < SIM_COUNT_OF(draws); i++) {
        uint64_t stepped = APP_HERD_SEED;
        uint64_t jumped = APP_HERD_SEED;
        for (uint64_t k = 0; k < draws[i]; k++) {
            (void)app_herd_fastrand(&stepped);
        }
        app_herd_fastrand_skip(&jumped, draws[i]);
        ck_assert_uint_eq(jumped, stepped);
    }
    // Jumps add up where steps would take years.
    uint64_t once = 7;
    uint64_t twice = 7;
    app_herd_fastrand_skip(&once, UINT64_C(69) * 8388608 * 1000003);
    for (int i = 0; i < 69; i++) {
        app_herd_fastrand_skip(&twice, UINT64_C(8388608) * 1000003);
    }
    ck_assert_uint_eq(once, twice);
}
END_TEST

START_TEST(a_permutation_has_each_key_once)
{
    uint32_t order[1000];
    bool seen[1000] = {false};
    uint64_t seed = APP_HERD_SEED;
    app_herd_permute(&seed, order, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert(order[i] < 1000 && !seen[order[i]]);
        seen[order[i]] = true;
    }
    // After 999 draws the generator must be where 999 steps lead.
    uint64_t stepped = APP_HERD_SEED;
    app_herd_fastrand_skip(&stepped, 999);
    ck_assert_uint_eq(seed, stepped);
    // The first draw, 959880212, chooses the place that the last place is exchanged with.
    ck_assert_uint_eq(959880212u % 1000, 212);
    uint32_t three[3];
    seed = APP_HERD_SEED;
    app_herd_permute(&seed, three, 3); // 959880212 % 3 = 2: stays; 3531117287 % 2 = 1: stays
    ck_assert(three[0] == 0 && three[1] == 1 && three[2] == 2);
}
END_TEST

// Single places of a permutation equal those of the whole permutation, also if asked for twice.
// Each size has a seed of its own.
START_TEST(places_of_a_permutation_are_those_of_all_of_it)
{
    static const uint32_t counts[] = {1, 2, 3, 63, 64, 65, 1000, 100000};
    const uint32_t count = counts[_i];
    uint32_t *const order = sim_alloc_array(count, sizeof(*order));
    uint32_t places[200];
    uint32_t asked[200];
    uint64_t begin = APP_HERD_SEED;
    app_herd_fastrand_skip(&begin, UINT64_C(77777) * count);
    uint64_t seed = begin;
    app_herd_permute(&seed, order, count);
    uint64_t draws = 4711;
    for (uint32_t i = 0; i < SIM_COUNT_OF(places); i++) {
        asked[i] = places[i] = app_herd_fastrand(&draws) % count;
    }
    uint64_t again = begin;
    app_herd_permute_places(&again, places, SIM_COUNT_OF(places), count);
    ck_assert_uint_eq(again, seed);
    for (uint32_t i = 0; i < SIM_COUNT_OF(places); i++) {
        ck_assert_uint_eq(places[i], order[asked[i]]);
    }
    sim_free(order);
}
END_TEST

typedef struct vector {
    const char *text; // NULL: a number of so many bytes, little-endian
    uint32_t bytes;
    uint64_t number;
    uint64_t low;
    uint64_t high;
} vector_t;

static const vector_t vectors[] = {
    {"", 0, 0, UINT64_C(0x3df09dfc64c09a2b), UINT64_C(0x3cb540c392e51e29)},
    {"abc", 3, 0, UINT64_C(0x900ff195577748fe), UINT64_C(0x13a9176355b20d7e)},
    {"Moscow", 6, 0, UINT64_C(0x2edf17bfee3edf6d), UINT64_C(0x22aef305c6409d55)},
    {NULL, 4, 0, UINT64_C(0x03d6af2c1c212f3c), UINT64_C(0x343c8d1e818bc2ec)},
    {NULL, 4, 1, UINT64_C(0xe5f2db160ef95bf8), UINT64_C(0xee98a576a7d1f039)},
    {NULL, 4, 2, UINT64_C(0x3f1c9b29e5438be2), UINT64_C(0x5ba62d74f73a928a)},
    {NULL, 4, 3, UINT64_C(0x1dd43cce7f014404), UINT64_C(0x54fa25bc4712fa6d)},
    {NULL, 4, 255, UINT64_C(0xcd672dc3e6f10e95), UINT64_C(0xcb01856e08cf4728)},
    {NULL, 4, 65535, UINT64_C(0x6042c2f56096e008), UINT64_C(0xa4d70bca96a21515)},
    {NULL, 4, 8388607, UINT64_C(0xe9ce1760184042d8), UINT64_C(0x5c83260fd708dd66)},
    {NULL, 8, 0, UINT64_C(0x0115e8236eb0895a), UINT64_C(0xf7bf48e5ecc9e2d8)},
    {NULL, 8, 1, UINT64_C(0x8f5c0c6824551975), UINT64_C(0xe24dc02a31843167)},
    {NULL, 8, 2, UINT64_C(0x0f8ae86d99780dad), UINT64_C(0xa89a1455d6e41f14)},
    {NULL, 8, 3, UINT64_C(0x15d6da3c207a3aba), UINT64_C(0xff809a2dea68a8c0)},
    {NULL, 8, 255, UINT64_C(0x53ef55f12956f011), UINT64_C(0x71c5fa89513d39e6)},
    {NULL, 8, 8388607, UINT64_C(0xc254795eb7cbabe9), UINT64_C(0xe1623ed3476969d7)},
    {NULL, 8, UINT64_MAX, UINT64_C(0xf0a516f415a4784a), UINT64_C(0xf4dfa548a6736f6c)},
};

START_TEST(city_hash_is_version_1_0)
{
    const vector_t *const vector = &vectors[_i];
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(vector->number >> (8 * i));
    }
    const app_city128_t hash =
        app_city_hash128(vector->text != NULL ? (const void *)vector->text : bytes, vector->bytes);
    ck_assert_uint_eq(hash.low, vector->low);
    ck_assert_uint_eq(hash.high, vector->high);
}
END_TEST

START_TEST(lengths_are_by_the_key)
{
    static const uint32_t first[] = {12, 18, 23, 42, 43, 14, 9, 29, 29, 18};
    uint64_t sum = 0;
    const uint32_t count = 1u << 20;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = app_herd_value_length(app_herd_key(i));
        ck_assert(length >= 8 && length <= 46);
        ck_assert(i >= SIM_COUNT_OF(first) || length == first[i]);
        sum += length;
    }
    ck_assert_double_eq_tol((double)sum / count, 27.006, 0.02);
}
END_TEST

START_TEST(skewed_ranks_follow_their_law)
{
    static const struct {
        uint32_t permille;
        uint64_t count;
    } laws[] = {{990, 1 << 20}, {990, 100}, {500, 5000}, {2000, 1000}, {10, 70}};
    const uint32_t permille = laws[_i].permille;
    const uint64_t count = laws[_i].count;
    app_herd_zipf_t *const zipf = app_herd_zipf_create(count, permille);
    double all = 0;
    for (uint64_t i = 1; i <= count; i++) {
        all += pow((double)i, -(double)permille / 1000.0);
    }
    // Ranks below 1, 8, 64, ... : drawn on a grid, so the share is exact to the grid's step.
    enum { LIMITS = 8 };
    const uint32_t draws = 1u << 18;
    uint32_t below[LIMITS] = {0};
    for (uint32_t i = 0; i < draws; i++) {
        const uint64_t rank = app_herd_zipf_rank(zipf, i << 14, 0);
        ck_assert(rank < count);
        for (unsigned k = 0; k < LIMITS; k++) {
            below[k] += rank < UINT64_C(1) << 3 * k;
        }
    }
    double share = 0;
    for (uint64_t i = 1, limit = 1, k = 0; i <= count && k < LIMITS; i++) {
        share += pow((double)i, -(double)permille / 1000.0) / all;
        if (i == limit) {
            ck_assert_double_eq_tol((double)below[k++] / draws, share, 2e-4);
            limit *= 8;
        }
    }
    app_herd_zipf_destroy(zipf);
}
END_TEST

CHECK_MAIN(CHECK_TEST(generator_gives_the_benchmarks_numbers), CHECK_TEST(a_jump_is_as_many_steps),
           CHECK_TEST(a_permutation_has_each_key_once),
           CHECK_LOOP(places_of_a_permutation_are_those_of_all_of_it, 0, 8),
           CHECK_LOOP(city_hash_is_version_1_0, 0, SIM_COUNT_OF(vectors)),
           CHECK_TEST(lengths_are_by_the_key), CHECK_LOOP(skewed_ranks_follow_their_law, 0, 5))

// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_directory.c - the token directory of the tiered cache as a structure.
//
// Goal: whatever is put in and taken out, in any order, each name is found with its token and no
// other is; buckets double at the load that was set; the buckets that a look-up reads are those of
// probability theory for linear probing of buckets with 4 slots, within 2 %.
// Method: random names against a plain table. The names that go past a bucket are the line of a
// queue: what came past the bucket before, and a Poisson number of the bucket's own, of which 4
// stay. The mean of that line per name is the number of further buckets that a look-up reads.
#include <math.h>
#include <string.h>

#include "nic/store/tiered/directory/buckets.h"
#include "tests/check_main.h"

#define NAMES 400u

START_TEST(names_are_found)
{
    sim_random_t random;
    sim_random_init(&random, 3, 0, "directory");
    nic_directory_t directory;
    nic_directory_init(&directory, (sim_ratio_t){9, 10});
    uint32_t held[NAMES];
    for (uint32_t i = 0; i < NAMES; i++) {
        held[i] = NIC_DIRECTORY_NONE;
    }
    uint32_t count = 0;
    uint32_t doubled = 0;
    for (uint32_t step = 0; step < 60000; step++) {
        const uint32_t i = (uint32_t)sim_random_below(&random, NAMES);
        const uint64_t name = nic_directory_name((nic_token_type_t)(i % 4), 1000 + i);
        ck_assert_uint_eq(nic_directory_find(&directory, name, NULL), held[i]);
        if (held[i] == NIC_DIRECTORY_NONE) {
            held[i] = step;
            count++;
            doubled += nic_directory_put(&directory, name, step) != 0;
        } else {
            held[i] = NIC_DIRECTORY_NONE;
            count--;
            nic_directory_remove(&directory, name);
        }
        ck_assert_uint_eq(directory.used, count);
        ck_assert(step % 100 != 0 || nic_directory_check(&directory));
    }
    ck_assert_uint_ge(doubled, 3);
    ck_assert_uint_eq(nic_directory_bytes(&directory), (uint64_t)directory.count * 64);
    nic_directory_fini(&directory);
}
END_TEST

static double reads_at(uint32_t percent)
{
    nic_directory_t directory;
    nic_directory_init(&directory, (sim_ratio_t){1, 1});
    const uint32_t buckets = 1u << 15;
    const uint32_t names = (uint32_t)((uint64_t)buckets * NIC_DIRECTORY_SLOTS * percent / 100);
    for (uint32_t i = 0; i < names; i++) {
        (void)nic_directory_put(&directory, nic_directory_name(NIC_TOKEN_QP, i), i);
    }
    ck_assert_uint_eq(directory.count, buckets);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < names; i++) {
        uint32_t reads = 0;
        ck_assert_uint_eq(
            nic_directory_find(&directory, nic_directory_name(NIC_TOKEN_QP, i), &reads), i);
        sum += reads;
    }
    nic_directory_fini(&directory);
    return (double)sum / names;
}

#define LINE_MAX 256u
#define OWN_MAX 40u

// Returns the mean number of buckets that a look-up of a held name reads.
static double expected_at(uint32_t percent)
{
    const double own = percent / 100.0 * NIC_DIRECTORY_SLOTS; // names of a bucket
    double chance[OWN_MAX];
    chance[0] = exp(-own);
    for (uint32_t k = 1; k < OWN_MAX; k++) {
        chance[k] = chance[k - 1] * own / k;
    }
    double line[LINE_MAX] = {1};
    for (uint32_t bucket = 0; bucket < 800; bucket++) {
        double next[LINE_MAX] = {0};
        for (uint32_t i = 0; i < LINE_MAX - OWN_MAX; i++) {
            for (uint32_t k = 0; k < OWN_MAX; k++) {
                const uint32_t all = i + k;
                next[all > NIC_DIRECTORY_SLOTS ? all - NIC_DIRECTORY_SLOTS : 0] +=
                    line[i] * chance[k];
            }
        }
        memcpy(line, next, sizeof(line));
    }
    double mean = 0;
    for (uint32_t i = 0; i < LINE_MAX; i++) {
        mean += i * line[i];
    }
    return 1 + mean / own;
}

START_TEST(lookups_read_what_theory_says)
{
    for (uint32_t percent = 55; percent <= 85; percent += 10) {
        const double expected = expected_at(percent);
        const double reads = reads_at(percent);
        ck_assert_msg(reads > 0.98 * expected && reads < 1.02 * expected,
                      "%.4f at %u %%, expected %.4f", reads, percent, expected);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(names_are_found), CHECK_TEST(lookups_read_what_theory_says))

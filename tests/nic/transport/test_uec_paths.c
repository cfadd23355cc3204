// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/nic/transport/test_uec_paths.c - the entropy values of Ultra Ethernet's packets.
//
// Goal: a round takes each value once; a value with a penalty lets as many packets pass as it has
// points, and those take others; values that came back unmarked are used once more, the oldest
// first. Method: the functions alone, with counts of what is drawn. Not pinned: the order in a
// round, and REPS (tests/nic/path/test_reps.c).
#include "nic/transport/uec/paths.h"
#include "tests/check_main.h"

#define COUNT 8u

typedef struct rig {
    nic_reps_config_t reps;
    nic_uec_paths_t paths;
    uint32_t drawn[COUNT];
} rig_t;

static void set_up(rig_t *rig, nic_uec_spray_t spray)
{
    *rig = (rig_t){.reps = {.cache = 4, .entropies = COUNT}};
    nic__uec_paths_init(&rig->paths, spray, COUNT, &rig->reps, 1, 2);
}

static void draw(rig_t *rig, uint32_t count)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        rig->drawn[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t entropy = nic__uec_paths_next(&rig->paths, 0);
        ck_assert_uint_lt(entropy, COUNT);
        rig->drawn[entropy]++;
    }
}

START_TEST(a_round_takes_each_value_once)
{
    static const nic_uec_spray_t sprays[] = {NIC_UEC_OBLIVIOUS, NIC_UEC_BITMAP, NIC_UEC_MIXED};
    rig_t rig;
    set_up(&rig, sprays[_i]);
    for (uint32_t round = 0; round < 3; round++) {
        draw(&rig, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(rig.drawn[i], 1);
        }
    }
    nic__uec_paths_fini(&rig.paths);
}
END_TEST

START_TEST(each_point_lets_one_packet_pass)
{
    static const struct {
        nic_uec_fate_t fate;
        uint32_t points;
    } fates[] = {{NIC_UEC_GOOD, 0}, {NIC_UEC_MARKED, 1}, {NIC_UEC_TRIMMED, 4}, {NIC_UEC_LOST, 15}};
    rig_t rig;
    set_up(&rig, NIC_UEC_BITMAP);
    nic__uec_paths_heard(&rig.paths, 3, fates[_i].fate, 0);
    // A round without the value has a packet less.
    for (uint32_t round = 0; round < fates[_i].points; round++) {
        draw(&rig, COUNT - 1);
        ck_assert_uint_eq(rig.drawn[3], 0);
    }
    draw(&rig, COUNT);
    ck_assert_uint_eq(rig.drawn[3], 1);
    nic__uec_paths_fini(&rig.paths);
}
END_TEST

// A packet leaves even if all values have a penalty.
START_TEST(packets_leave_when_all_are_marked)
{
    rig_t rig;
    set_up(&rig, NIC_UEC_BITMAP);
    for (uint32_t i = 0; i < COUNT; i++) {
        nic__uec_paths_heard(&rig.paths, i, NIC_UEC_LOST, 0);
    }
    draw(&rig, 100);
    nic__uec_paths_fini(&rig.paths);
}
END_TEST

START_TEST(good_values_come_first)
{
    rig_t rig;
    set_up(&rig, NIC_UEC_MIXED);
    for (uint32_t i = 0; i < 40; i++) { // more than the first ring holds
        nic__uec_paths_heard(&rig.paths, i % 3, i % 5 == 4 ? NIC_UEC_MARKED : NIC_UEC_GOOD, 0);
    }
    for (uint32_t i = 0; i < 40; i++) {
        if (i % 5 != 4) {
            ck_assert_uint_eq(nic__uec_paths_next(&rig.paths, 0), i % 3);
        }
    }
    draw(&rig, COUNT - 3); // the three were marked
    ck_assert_uint_eq(rig.drawn[0] + rig.drawn[1] + rig.drawn[2], 0);
    nic__uec_paths_fini(&rig.paths);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(a_round_takes_each_value_once, 0, 3),
           CHECK_LOOP(each_point_lets_one_packet_pass, 0, 4),
           CHECK_TEST(packets_leave_when_all_are_marked), CHECK_TEST(good_values_come_first))

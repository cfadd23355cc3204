// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/nic/transport/test_mrc_evs.c - the states of MRC's entropy values.
//
// Goal: each active value takes packets equally often; a mark or a trim lets one turn pass, or a
// time; a loss takes a value away and a backup of its plane replaces it; probes bring it back;
// denied values are never used; a plane without a usable value has none. Method: the functions
// alone, with counts of what is drawn. Not pinned: the order within a round.
#include <string.h>

#include "nic/transport/mrc/evs.h"
#include "tests/check_main.h"

#define US SIM_PS_PER_US

typedef struct rig {
    nic_evs_config_t config;
    nic_evs_t evs;
    char denied[16];
    uint32_t drawn[64];
} rig_t;

static void set_up(rig_t *rig, uint32_t active, uint32_t backup, uint32_t planes,
                   const char *denied)
{
    *rig = (rig_t){.config = {.active = active,
                              .backup = backup,
                              .skip_ps = SIM_AUTO,
                              .losses = 1,
                              .probe_ps = 100 * US,
                              .probe_max_ps = 500 * US,
                              .probes = 1}};
    snprintf(rig->denied, sizeof(rig->denied), "%s", denied);
    rig->config.denied = rig->denied;
    nic__evs_init(&rig->evs, &rig->config, planes, 1, 2);
}

static void draw(rig_t *rig, uint32_t plane, uint32_t count, sim_time_t now_ps)
{
    memset(rig->drawn, 0, sizeof(rig->drawn));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ev = nic__evs_next(&rig->evs, plane, now_ps);
        ck_assert_uint_lt(ev, 64);
        rig->drawn[ev]++;
    }
}

START_TEST(active_values_take_packets_equally)
{
    rig_t rig;
    set_up(&rig, 12, 4, 2, ""); // 6 and 2 in each plane: 0-5, 6-7; 8-13, 14-15
    draw(&rig, 1, 60, 0);
    for (uint32_t ev = 0; ev < 16; ev++) {
        ck_assert_uint_eq(rig.drawn[ev], ev >= 8 && ev < 14 ? 10 : 0);
    }
    nic__evs_fini(&rig.evs);
}
END_TEST

START_TEST(a_mark_lets_one_turn_pass)
{
    rig_t rig;
    set_up(&rig, 8, 0, 1, "");
    ck_assert(!nic__evs_heard(&rig.evs, 3, NIC_EV_MARKED, 0));
    ck_assert(!nic__evs_heard(&rig.evs, 4, NIC_EV_TRIMMED, 0));
    draw(&rig, 0, 6 + 8, 0); // a round without the two, and a whole one
    for (uint32_t ev = 0; ev < 8; ev++) {
        ck_assert_uint_eq(rig.drawn[ev], ev == 3 || ev == 4 ? 1 : 2);
    }
    nic__evs_fini(&rig.evs);
    set_up(&rig, 8, 0, 1, "");
    rig.config.skip_ps = 10 * US;
    (void)nic__evs_heard(&rig.evs, 3, NIC_EV_MARKED, 0);
    draw(&rig, 0, 70, 9 * US);
    ck_assert_uint_eq(rig.drawn[3], 0);
    draw(&rig, 0, 80, 10 * US);
    ck_assert_uint_ge(rig.drawn[3], 9);
    // If all are to be skipped, packets still leave.
    for (uint32_t ev = 0; ev < 8; ev++) {
        (void)nic__evs_heard(&rig.evs, ev, NIC_EV_MARKED, 20 * US);
    }
    draw(&rig, 0, 8, 21 * US);
    nic__evs_fini(&rig.evs);
}
END_TEST

START_TEST(a_loss_brings_a_backup_and_probes_bring_it_back)
{
    rig_t rig;
    set_up(&rig, 4, 1, 1, "");
    ck_assert(nic__evs_heard(&rig.evs, 2, NIC_EV_LOST, 0));
    ck_assert(!nic__evs_heard(&rig.evs, 2, NIC_EV_LOST, 0)); // it is bad already
    draw(&rig, 0, 40, 0);
    ck_assert_uint_eq(rig.drawn[2], 0);
    ck_assert_uint_eq(rig.drawn[4], 10);
    ck_assert(nic__evs_heard(&rig.evs, 1, NIC_EV_LOST, 50 * US)); // no backup is left
    draw(&rig, 0, 30, 50 * US);
    ck_assert_uint_eq(rig.drawn[0] + rig.drawn[3] + rig.drawn[4], 30);
    ck_assert_uint_eq(nic__evs_probe_due_ps(&rig.evs), 100 * US);
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 100 * US), 2);
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 100 * US), NIC_EV_NONE);
    ck_assert(nic__evs_probed(&rig.evs, 2, false, 110 * US)); // it takes the place of 1
    draw(&rig, 0, 40, 110 * US);
    ck_assert_uint_eq(rig.drawn[2], 10);
    ck_assert_uint_eq(rig.drawn[1], 0);
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 150 * US), 1);
    ck_assert(nic__evs_probed(&rig.evs, 1, false, 160 * US)); // and 1 that of the backup
    draw(&rig, 0, 40, 160 * US);
    ck_assert_uint_eq(rig.drawn[1], 10);
    ck_assert_uint_eq(rig.drawn[4], 0);
    ck_assert_uint_eq(nic__evs_probe_due_ps(&rig.evs), SIM_TIME_NEVER);
    ck_assert(!nic__evs_probed(&rig.evs, 1, false, 170 * US));
    nic__evs_fini(&rig.evs);
}
END_TEST

START_TEST(thresholds_count_in_a_row)
{
    rig_t rig;
    set_up(&rig, 4, 0, 1, "");
    rig.config.losses = 3;
    rig.config.probes = 2;
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0);
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0);
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_ARRIVED, 0);
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0);
    ck_assert(!nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0));
    ck_assert(nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0));
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 100 * US), 0);
    ck_assert(!nic__evs_probed(&rig.evs, 0, false, 101 * US));
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 200 * US), 0);
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 300 * US), 0); // the one before was lost
    ck_assert(!nic__evs_probed(&rig.evs, 0, false, 301 * US));
    ck_assert_uint_eq(nic__evs_probe(&rig.evs, 500 * US), 0);
    ck_assert(nic__evs_probed(&rig.evs, 0, false, 501 * US));
    nic__evs_fini(&rig.evs);
}
END_TEST

// Probes of a peer that is gone become rare.
START_TEST(probes_without_an_answer_back_off)
{
    rig_t rig;
    set_up(&rig, 4, 0, 1, "");
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 0);
    static const uint32_t due_us[] = {100, 200, 400, 800, 1300, 1800};
    for (size_t i = 0; i < SIM_COUNT_OF(due_us); i++) {
        ck_assert_uint_eq(nic__evs_probe_due_ps(&rig.evs), due_us[i] * US);
        ck_assert_uint_eq(nic__evs_probe(&rig.evs, due_us[i] * US), 0);
    }
    ck_assert(nic__evs_probed(&rig.evs, 0, false, 1801 * US));
    (void)nic__evs_heard(&rig.evs, 0, NIC_EV_LOST, 2000 * US);
    ck_assert_uint_eq(nic__evs_probe_due_ps(&rig.evs), 2100 * US);
    nic__evs_fini(&rig.evs);
}
END_TEST

START_TEST(denied_values_are_never_used)
{
    rig_t rig;
    sim_message_t message = {.text = ""};
    set_up(&rig, 6, 2, 1, "0, 2-3");
    ck_assert_int_eq(nic__evs_check(&rig.config, &message), SIM_OK);
    draw(&rig, 0, 50, 0);
    ck_assert_uint_eq(rig.drawn[0] + rig.drawn[2] + rig.drawn[3], 0);
    ck_assert_uint_eq(rig.drawn[6], 10); // backups take their places
    ck_assert(!nic__evs_heard(&rig.evs, 2, NIC_EV_LOST, 0));
    nic__evs_fini(&rig.evs);
    static const char *const wrong[] = {"x", "1-", "5-3", "1;2", "8192", "0-7"};
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        snprintf(rig.denied, sizeof(rig.denied), "%s", wrong[i]);
        ck_assert_msg(nic__evs_check(&rig.config, &message) == SIM_ERR_INVALID, "%s", wrong[i]);
    }
}
END_TEST

START_TEST(a_plane_without_values_has_none)
{
    rig_t rig;
    set_up(&rig, 4, 0, 2, "");
    (void)nic__evs_heard(&rig.evs, 2, NIC_EV_LOST, 0);
    ck_assert(nic__evs_usable(&rig.evs, 1));
    (void)nic__evs_heard(&rig.evs, 3, NIC_EV_LOST, 0);
    ck_assert(!nic__evs_usable(&rig.evs, 1) && nic__evs_usable(&rig.evs, 0));
    ck_assert_uint_eq(nic__evs_next(&rig.evs, 1, 0), NIC_EV_NONE);
    nic__evs_reset(&rig.evs);
    draw(&rig, 1, 2, 0);
    ck_assert_uint_eq(rig.drawn[2] + rig.drawn[3], 2);
    nic__evs_fini(&rig.evs);
}
END_TEST

CHECK_MAIN(CHECK_TEST(active_values_take_packets_equally), CHECK_TEST(a_mark_lets_one_turn_pass),
           CHECK_TEST(a_loss_brings_a_backup_and_probes_bring_it_back),
           CHECK_TEST(thresholds_count_in_a_row), CHECK_TEST(probes_without_an_answer_back_off),
           CHECK_TEST(denied_values_are_never_used), CHECK_TEST(a_plane_without_values_has_none))

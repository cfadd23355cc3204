// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/kernel/test_agenda.c - units of a window are each taken once, by their owner or by helpers.
//
// Goal: whoever takes when, every seat is taken exactly once, the owner's in their order; a window
// that was opened and emptied leaves nothing for helpers.
// Method: sim__agenda_take and _help in a fixed turn for all small numbers of seats; then an owner
// that opens agenda after agenda and two helpers at the same time.
// Not pinned: how many the owner takes at a time.
#include <pthread.h>
#include <sched.h>

#include "tests/check_main.h"

#include "kernel/engine_internal.h"

#define SEATS 300u
#define ROUNDS 2000u

typedef struct table {
    sim__agenda_t agenda;
    const sim_seat_t *order[SEATS];
    sim_seat_t seats[SEATS];
    atomic_uint taken[SEATS];
    atomic_uint left; // of this round
    atomic_bool over;
} table_t;

static table_t *table_create(void)
{
    table_t *const table = sim_alloc_lines(sizeof(*table));
    for (uint32_t i = 0; i < SEATS; i++) {
        table->seats[i].node_index = i;
        table->order[i] = &table->seats[i];
    }
    table->agenda.seats = table->order;
    return table;
}

static void take(table_t *table, const sim_seat_t *seat)
{
    atomic_fetch_add(&table->taken[seat->node_index], 1);
    atomic_fetch_sub(&table->left, 1);
}

START_TEST(each_is_taken_once_in_any_turn)
{
    table_t *const table = table_create();
    ck_assert_ptr_null(sim__agenda_help(&table->agenda)); // never opened
    for (uint32_t count = 0; count < 40; count++) {
        for (uint32_t turn = 1; turn < 12; turn++) { // the owner's, then as many of a helper
            uint32_t own = 0;
            uint32_t helped = 0;
            sim__agenda_open(&table->agenda, count);
            size_t till = sim__agenda_take(&table->agenda, 0);
            while (own < till) {
                own = (uint32_t)till;
                for (uint32_t i = 1; i < turn; i++) {
                    const sim_seat_t *const seat = sim__agenda_help(&table->agenda);
                    if (seat != NULL) {
                        helped++;
                        ck_assert_uint_eq(seat->node_index, count - helped);
                    }
                }
                till = sim__agenda_take(&table->agenda, till);
            }
            ck_assert_uint_eq(own + helped, count);
            for (uint32_t i = 0; i < 2; i++) {
                ck_assert_ptr_null(sim__agenda_help(&table->agenda));
            }
        }
    }
    sim_free(table);
}
END_TEST

static void *helper(void *argument)
{
    table_t *const table = argument;
    while (!atomic_load(&table->over)) {
        const sim_seat_t *const seat = sim__agenda_help(&table->agenda);
        if (seat != NULL) {
            take(table, seat);
        }
    }
    return NULL;
}

START_TEST(each_is_taken_once_by_three_threads)
{
    table_t *const table = table_create();
    pthread_t helpers[2];
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&helpers[i], NULL, helper, table), 0);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = round % SEATS;
        atomic_store(&table->left, count);
        sim__agenda_open(&table->agenda, count);
        size_t begin = 0;
        for (size_t till = sim__agenda_take(&table->agenda, 0); begin < till;
             till = sim__agenda_take(&table->agenda, till)) {
            for (; begin < till; begin++) {
                take(table, table->order[begin]);
            }
        }
        while (atomic_load(&table->left) > 0) { // as all meet before the next window
            (void)sched_yield();
        }
    }
    atomic_store(&table->over, true);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(helpers[i], NULL), 0);
    }
    for (uint32_t i = 0; i < SEATS; i++) {
        uint32_t rounds = 0;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            rounds += i < round % SEATS;
        }
        ck_assert_uint_eq(atomic_load(&table->taken[i]), rounds);
    }
    sim_free(table);
}
END_TEST

CHECK_MAIN(CHECK_TEST(each_is_taken_once_in_any_turn),
           CHECK_TEST(each_is_taken_once_by_three_threads))

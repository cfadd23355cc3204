// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_sort.c - a window's mail of one node comes in order.
//
// Goal: mail is sorted by (time, tie rank), and messages of one channel that arrive at the same
// instant stay in the order in which they were sent, whichever of the sorts is taken: for few, for
// many, for many that tie.
// Method: random mail of few instants and ports, against a sort that finds the next one each time.
// Not pinned: how often which sort is taken.
#include "tests/check_main.h"

#include <string.h>

#include "kernel/engine/sort.h"
#include "kernel/engine/thread.h"
#include "kernel/random.h"

#define MAIL_MAX 600u
#define WINDOW_PS ((sim_time_t)1 << 21)

static sim_t by_hash = {.order = &sim__order_by_hash};
static sim_node_t node = {.sim = &by_hash,
                          .window_start_ps = 12345678,
                          .tie_key = 0x9d2c5680cafef00d};

static sim_time_t time_of(sim_mail_t mail)
{
    return mail.key >> SIM_PORT_BITS;
}

static bool is_before(sim_mail_t a, sim_mail_t b)
{
    if (time_of(a) != time_of(b)) {
        return time_of(a) < time_of(b);
    }
    const sim_time_t time_ps = node.window_start_ps + time_of(a);
    return sim__tie_rank(node.tie_key, time_ps, sim_mail_port(&a)) <
           sim__tie_rank(node.tie_key, time_ps, sim_mail_port(&b));
}

// Takes the first of the least, over and over.
static void sort_slowly(sim_mail_t *mail, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < count; j++) {
            least = is_before(mail[j], mail[least]) ? j : least;
        }
        const sim_mail_t taken = mail[least];
        memmove(mail + i + 1, mail + i, (least - i) * sizeof(*mail));
        mail[i] = taken;
    }
}

// Sorts `count` messages at up to `instants` instants of the window, over `ports` ports, and checks
// the order.
static void check(sim_thread_t *thread, size_t count, uint32_t instants, uint32_t ports)
{
    static char places[MAIL_MAX]; // of the messages, in the order in which they were sent
    sim_mail_t sent[MAIL_MAX];
    sim_mail_t sorted[MAIL_MAX + SIM_MAIL_PAD];
    sim_random_t random;
    sim_random_init(&random, count, instants, "mail");
    for (size_t i = 0; i < count; i++) {
        const uint64_t instant = sim_random_below(&random, instants);
        const uint64_t within_ps = sim_mix64(instant) % WINDOW_PS;
        const uint64_t port = sim_random_below(&random, ports);
        sent[i] = (sim_mail_t){within_ps << SIM_PORT_BITS | port, &places[i]};
    }
    sim__sort_mail(thread, &node, sent, count, sorted);
    sort_slowly(sent, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(sorted[i].key == sent[i].key && sorted[i].message == sent[i].message,
                      "%zu messages, %u instants, %u ports: another one is number %zu", count,
                      instants, ports, i);
    }
}

static sim_thread_t *create_thread(void)
{
    sim_thread_t *const thread = sim_alloc_lines(sizeof(*thread));
    thread->worker.window_ps = WINDOW_PS;
    return thread;
}

static void destroy_thread(sim_thread_t *thread)
{
    sim_free(thread->histogram);
    sim_free(thread);
}

START_TEST(mail_comes_in_order)
{
    static const uint32_t instants[] = {1, 2, 7, 100, 100000};
    static const uint32_t ports[] = {1, 3, 64, 5000};
    sim_thread_t *const thread = create_thread();
    for (size_t i = 0; i < SIM_COUNT_OF(instants); i++) {
        for (size_t p = 0; p < SIM_COUNT_OF(ports); p++) {
            for (size_t count = 1; count <= MAIL_MAX; count += 1 + count / 8) {
                check(thread, count, instants[i], ports[p]);
            }
        }
    }
    destroy_thread(thread);
}
END_TEST

CHECK_MAIN(CHECK_TEST(mail_comes_in_order))

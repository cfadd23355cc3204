// SPDX-License-Identifier: Apache-2.0
// tests/nic/test_invariants.c - the checks that run after each event in builds with dear checks see
// the defects that a review once found.
//
// Goal: a queue pair whose indices are half moved, PSNs and bytes that do not belong together, a
// timer that nobody armed, classes that the scheduler does not know, a completion queue whose core
// has no times, and a switch's sum of shared bytes that has wrapped each end the program.
// Method: after a run in which all holds, one field is made wrong in a child process, and its
// check is called.
// Not pinned: caches (test_cache_parts), transports' own checks (test_adamap_*), that builds with
// dear checks call them (nic/node.c, net/switch_model.h).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/nodes.h"
#include "net/switch_checks.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/verbs/life.h"
#include "nic/verbs/qp_check.h"
#include "tests/nic_pair.h"

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void run(void)
{
    pair_config_init(&config);
    config.middle_bps = UINT64_C(40000000000);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 300000);
    for (int i = 0; i < 3; i++) {
        pair_post_at(pair, 5000, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 3);
}

static net_switch_t *the_switch(void)
{
    for (size_t i = 0; i < net_node_count(pair->net); i++) {
        net_node_t *const node = net_node_at(pair->net, i);
        if (node->kind == NET_NODE_SWITCH) {
            return (net_switch_t *)(void *)node;
        }
    }
    ck_abort_msg("no switch");
    return NULL;
}

static void check(void)
{
    for (int h = 0; h < 2; h++) {
        nic__check(pair->nic[h]);
    }
    net__switch_check(the_switch(), 0);
    net__switch_check_buffer(the_switch());
}

// -- one field wrong each

static void nothing(void)
{
}

// Breaks the indices as if a completion's callback had posted between two moves of the send queue.
static void indices_half_moved(void)
{
    qps.qp[0]->sq_send++;
}

static void acknowledged_beyond_sent(void)
{
    qps.qp[0]->una_psn = qps.qp[0]->next_psn + 1;
}

static void bytes_without_packets(void)
{
    qps.qp[0]->in_flight_bytes = 1;
}

static void paced_without_timer(void)
{
    qps.qp[0]->flags |= NIC_QP_PACING;
}

static void ready_without_work(void)
{
    qps.qp[0]->flags |= NIC_QP_READY;
}

static void classes_without_queue_pairs(void)
{
    pair->nic[0]->ready_classes = 1 << 3;
}

// Removes the times of a completion queue that has a core.
static void core_without_times(void)
{
    static nic_core_t *const some = (nic_core_t *)(void *)&config;
    pair->cq[0]->core = some;
    sim_free(pair->cq[0]->seen_ps);
    pair->cq[0]->seen_ps = NULL;
}

static void more_completions_than_room(void)
{
    pair->cq[0]->count = pair->cq[0]->capacity + 1;
}

// Lets the shared bytes wrap, as if some had been given back twice.
static void shared_bytes_wrapped(void)
{
    the_switch()->shared_bytes -= 1;
}

static void bytes_of_no_packet(void)
{
    the_switch()->held_bytes += 1000;
}

typedef void (*wrong_fn)(void);
static const wrong_fn wrongs[] = {
    nothing,
    indices_half_moved,
    acknowledged_beyond_sent,
    bytes_without_packets,
    paced_without_timer,
    ready_without_work,
    classes_without_queue_pairs,
    core_without_times,
    more_completions_than_room,
    shared_bytes_wrapped,
    bytes_of_no_packet,
};

START_TEST(each_is_seen)
{
    run();
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        (void)dup2(nowhere, STDERR_FILENO);
        wrongs[_i]();
        check();
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (_i == 0) {
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else {
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "not seen");
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(each_is_seen, 0, SIM_COUNT_OF(wrongs)))

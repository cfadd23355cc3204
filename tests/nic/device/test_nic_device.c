// SPDX-License-Identifier: Apache-2.0
// test_nic_device.c - a device of a program's own, between the verbs and the wire.
//
// Goal: a device that only says what it delays (posting, packets) is taken through its table
// without a change to the library; each delay appears where it belongs, to the picosecond, and
// nowhere else; what it leaves out takes no time; queue pairs destroyed meanwhile leave nothing
// behind. Method: two hosts on one link, with the ideal NIC and with a device that holds each work
// request and each packet for a time of its own; completion times are compared.
// Does not pin: the detailed NIC (tests/nic/device/test_rnic.c).
#include "nic/device.h"
#include "tests/nic_pair.h"

#define START_PS (10 * SIM_PS_PER_US)
#define POST_PS (500 * SIM_PS_PER_NS)
#define ARRIVE_PS (1300 * SIM_PS_PER_NS)
#define PACKETS_MAX 64u

// -- the device

typedef struct slow {
    nic_t *nic;
    sim_timer_t timer; // of the packet that came first
    net_packet_t *packets[PACKETS_MAX];
    sim_time_t due_ps[PACKETS_MAX];
    uint32_t first;
    uint32_t count;
    uint32_t posts;
} slow_t;

// The device's state for one queue pair.
typedef struct slow_qp {
    _Alignas(SIM_CACHE_LINE) sim_timer_t timer;
    nic_qp_t *qp;
} slow_qp_t;

static void next_due(sim_node_t *node, sim_timer_t *timer)
{
    slow_t *const slow = SIM_CONTAINER_OF(timer, slow_t, timer);
    net_packet_t *const packet = slow->packets[slow->first % PACKETS_MAX];
    slow->first++;
    slow->count--;
    if (slow->count != 0) {
        sim_timer_arm(node, timer, slow->due_ps[slow->first % PACKETS_MAX]);
    }
    nic_device_receive(slow->nic, packet);
}

static void *create(nic_t *nic, const void *config)
{
    ck_assert_ptr_nonnull(config);
    slow_t *const slow = sim_alloc(sizeof(*slow));
    slow->nic = nic;
    sim_timer_init(&slow->timer, next_due);
    return slow;
}

static void destroy(nic_t *nic)
{
    sim_free(nic_device_state(nic));
}

static void arrive(nic_t *nic, net_packet_t *packet)
{
    slow_t *const slow = nic_device_state(nic);
    sim_node_t *const node = nic_device_node(nic);
    ck_assert_uint_lt(slow->count, PACKETS_MAX);
    const uint32_t place = (slow->first + slow->count) % PACKETS_MAX;
    slow->packets[place] = packet;
    slow->due_ps[place] = node->now_ps + ARRIVE_PS;
    if (slow->count++ == 0) {
        sim_timer_arm(node, &slow->timer, slow->due_ps[place]);
    }
}

static void release(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_device_release(SIM_CONTAINER_OF(timer, slow_qp_t, timer)->qp);
}

static void qp_created(nic_qp_t *qp)
{
    slow_qp_t *const state = nic_device_qp_state(qp);
    state->qp = qp;
    sim_timer_init(&state->timer, release);
}

static void qp_closed(nic_qp_t *qp)
{
    slow_qp_t *const state = nic_device_qp_state(qp);
    sim_timer_cancel(nic_device_node(nic_qp_nic(qp)), &state->timer);
}

static void post(nic_qp_t *qp, uint32_t count, bool doorbell)
{
    (void)doorbell;
    slow_qp_t *const state = nic_device_qp_state(qp);
    slow_t *const slow = nic_device_state(nic_qp_nic(qp));
    sim_node_t *const node = nic_device_node(nic_qp_nic(qp));
    slow->posts += count;
    nic_device_hold(qp);
    sim_timer_arm(node, &state->timer, node->now_ps + POST_PS);
}

static const nic_device_ops_t slow_ops = {
    .name = "slow",
    .qp_state_bytes = sizeof(slow_qp_t),
    .create = create,
    .destroy = destroy,
    .qp_created = qp_created,
    .qp_closed = qp_closed,
    .post = post,
    .arrive = arrive,
};

// -- what it makes of a work request

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(bool slow)
{
    pair_config_init(&config);
    config.nic.custom_device = slow ? &slow_ops : NULL;
    config.nic.custom_device_config = &config;
    config.until_ps = SIM_PS_PER_S;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    sim_message_t message;
    ck_assert(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]));
    ck_assert_msg(net_conservation_ok(pair->net, &message), "%s", message.text);
    pair_destroy(pair);
    pair_config_fini(&config);
}

static sim_time_t completion_ps(bool slow, nic_wr_opcode_t opcode, uint64_t bytes)
{
    set_up(slow);
    nic_send_wr_t wr = pair_wr(pair, opcode, bytes);
    wr.atomic.remote_addr = PAIR_MEMORY;
    wr.atomic.rkey = nic_mr_rkey(pair->mr[1]);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    const sim_time_t time_ps = pair->done[0][0].time_ps;
    tear_down();
    return time_ps;
}

START_TEST(each_delay_appears_once)
{
    static const nic_wr_opcode_t opcodes[] = {
        NIC_WR_RDMA_WRITE,
        NIC_WR_RDMA_READ,
        NIC_WR_ATOMIC_FETCH_AND_ADD,
    };
    const nic_wr_opcode_t opcode = opcodes[_i];
    const uint64_t bytes = opcode == NIC_WR_ATOMIC_FETCH_AND_ADD ? 8 : 20000;
    const sim_time_t ideal_ps = completion_ps(false, opcode, bytes);
    ck_assert_uint_eq(completion_ps(true, opcode, bytes), ideal_ps + POST_PS + 2 * ARRIVE_PS);
}
END_TEST

static void destroy_qp(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_destroy(ctx);
}

START_TEST(queue_pairs_may_go_while_they_are_held)
{
    set_up(true);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 1000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_call_at(pair, 0, START_PS + POST_PS / 2, destroy_qp, qps.qp[0]);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 0);
    ck_assert_uint_eq(pair->wire_count, 0);
    ck_assert_uint_eq(((const slow_t *)nic_device_state(pair->nic[0]))->posts, 1);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(each_delay_appears_once, 0, 3),
           CHECK_TEST(queue_pairs_may_go_while_they_are_held))

// SPDX-License-Identifier: Apache-2.0
// examples/custom_transport.c - your own transport protocol.
//
// Shows a nic_transport_ops_t outside the library: "selective" retransmits only lost packets. The
// receiver keeps packets after a gap and asks for each missing one with a NAK of its PSN. The
// sender retransmits requested packets, and the oldest one when a timer shows that nothing arrives
// any more. One host writes to another over a link that loses a frame in a thousand, once with
// go-back-N and once with "selective"; the program compares times and retransmissions.
//
// It supports WRITEs and SENDs; a READ whose data is lost is requested again as a whole.
#include <stdio.h>

#include "nic/host.h"
#include "nic/transport.h"

// -- the transport

#define WINDOW 1024u // packets in flight at most; a power of two

// Counters that the queue pairs of a NIC share.
typedef struct totals {
    uint64_t asked;
    uint64_t kept_max;
} totals_t;

// State of both sides of one queue pair; its first member is shared with the NIC.
typedef struct selective {
    nic_transport_t transport;
    // sending: PSNs to retransmit, in order of request
    uint64_t queue[WINDOW];
    uint32_t queue_first;
    uint32_t queue_count;
    // receiving: packets after a gap, by PSN
    net_packet_t *kept[WINDOW];
    bool placed[WINDOW];
    uint64_t kept_count;
    uint64_t seen_psn; // first PSN after all that arrived or were requested
} selective_t;

static selective_t *state_of(nic_qp_t *qp)
{
    return (selective_t *)(void *)nic_transport_of(qp);
}

static void open_selective(nic_qp_t *qp)
{
    state_of(qp)->seen_psn = nic_transport_look(qp).expected_psn;
}

static void close_selective(nic_qp_t *qp)
{
    selective_t *const state = state_of(qp);
    for (uint32_t i = 0; i < WINDOW; i++) {
        if (state->kept[i] != NULL) {
            nic_transport_consume(qp, state->kept[i]);
            state->kept[i] = NULL;
        }
    }
    state->queue_count = 0;
}

// -- sending

static bool may_send(const nic_qp_t *qp)
{
    const selective_t *const state = (const selective_t *)(const void *)nic_transport_of_const(qp);
    const nic_transport_view_t view = nic_transport_look(qp);
    return !view.blocked && (state->queue_count != 0 || (view.next_psn - view.una_psn < WINDOW &&
                                                         nic_transport_new_ready(qp)));
}

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    selective_t *const state = state_of(qp);
    const nic_transport_view_t view = nic_transport_look(qp);
    while (state->queue_count != 0) {
        const uint64_t psn = state->queue[state->queue_first % WINDOW];
        state->queue_first++;
        state->queue_count--;
        if (psn >= view.una_psn) { // otherwise it has arrived meanwhile
            return nic_transport_repeat_packet(qp, psn, 0);
        }
    }
    return may_send(qp) ? nic_transport_new_packet(qp, 0) : NULL;
}

static void repeat(nic_qp_t *qp, uint64_t psn)
{
    selective_t *const state = state_of(qp);
    const nic_transport_view_t view = nic_transport_look(qp);
    if (psn >= view.una_psn && psn < view.next_psn && state->queue_count < WINDOW) {
        state->queue[(state->queue_first + state->queue_count) % WINDOW] = psn;
        state->queue_count++;
        nic_transport_schedule(qp);
    }
}

static void acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    const nic_transport_view_t view = nic_transport_look(qp);
    const uint64_t psn = nic_transport_psn(packet->psn, view.una_psn);
    if (view.failed) {
        // Nothing is sent any more.
    } else if (nic_transport_refused(qp, packet)) {
        repeat(qp, psn); // the receiver was not ready, so the sender waits
    } else if (packet->aeth >> 29 != 0) {
        repeat(qp, psn);
    } else if (psn >= view.una_psn && psn < view.next_psn) {
        nic_transport_advance(qp, psn + 1, packet, false);
    }
    nic_transport_consume(qp, packet);
}

static void responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    const nic_transport_view_t view = nic_transport_look(qp);
    const uint64_t psn = nic_transport_psn(packet->psn, view.una_psn);
    if (!view.failed && psn >= view.una_psn && psn < view.next_psn) {
        nic_transport_advance(qp, psn, NULL, false);
        const uint64_t una_psn = nic_transport_look(qp).una_psn;
        if (una_psn == psn && nic_transport_expects_response(qp)) {
            nic_transport_accept(qp, packet, false);
            return;
        }
        repeat(qp, una_psn);
    }
    nic_transport_consume(qp, packet);
}

static void timed_out(nic_qp_t *qp)
{
    const nic_transport_view_t view = nic_transport_look(qp);
    if (view.una_psn == view.next_psn) {
        return; // the next packet arms the timer
    }
    const sim_time_t now_ps = nic_transport_node(qp)->now_ps;
    if (now_ps >= view.since_ps + view.timeout_ps) {
        if (!nic_transport_retry(qp)) {
            return;
        }
        repeat(qp, view.una_psn);
        nic_transport_timer_arm(qp, now_ps + view.timeout_ps);
    } else {
        nic_transport_timer_arm(qp, view.since_ps + view.timeout_ps);
    }
}

// -- receiving

static void ask_for(nic_qp_t *qp, uint64_t psn)
{
    const uint32_t syndrome = (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE;
    nic_transport_send(qp, nic_transport_answer(qp, psn, syndrome, 0, NULL));
    ((totals_t *)state_of(qp)->transport.nic_state)->asked++;
}

// Executes kept packets that are next in order. Returns whether an ACK is due.
static bool execute_kept(nic_qp_t *qp)
{
    selective_t *const state = state_of(qp);
    bool due = false;
    for (;;) {
        const uint64_t psn = nic_transport_look(qp).expected_psn;
        net_packet_t *const packet = state->kept[psn % WINDOW];
        if (packet == NULL) {
            return due;
        }
        state->kept[psn % WINDOW] = NULL;
        state->kept_count--;
        const bool wants_ack = packet->ack_request;
        if (!nic_transport_execute(qp, packet, state->placed[psn % WINDOW])) {
            return false; // refused: an answer was sent
        }
        due |= wants_ack;
    }
}

static void take_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    selective_t *const state = state_of(qp);
    const nic_transport_view_t view = nic_transport_look(qp);
    const uint64_t psn = nic_transport_psn(packet->psn, view.expected_psn);
    if (!view.refused && psn < view.expected_psn) {
        if (!nic_transport_repeat_answer(qp, packet, true)) {
            nic_transport_acknowledge(qp, packet);
        }
    }
    if (view.refused || psn < view.expected_psn || psn >= view.expected_psn + WINDOW ||
        state->kept[psn % WINDOW] != NULL) {
        nic_transport_consume(qp, packet);
        return;
    }
    for (uint64_t missing = state->seen_psn; missing < psn; missing++) {
        ask_for(qp, missing);
    }
    state->kept[psn % WINDOW] = packet;
    state->placed[psn % WINDOW] = psn != view.expected_psn && nic_transport_place(qp, packet);
    state->kept_count++;
    totals_t *const totals = state->transport.nic_state;
    totals->kept_max = state->kept_count > totals->kept_max ? state->kept_count : totals->kept_max;
    const bool due = execute_kept(qp);
    const uint64_t expected_psn = nic_transport_look(qp).expected_psn;
    state->seen_psn = psn >= state->seen_psn ? psn + 1 : state->seen_psn;
    state->seen_psn = expected_psn > state->seen_psn ? expected_psn : state->seen_psn;
    if (due) {
        nic_transport_acknowledge(qp, NULL);
    }
}

static bool explain(const nic_qp_t *qp, sim_message_t *why)
{
    const nic_transport_view_t view = nic_transport_look(qp);
    (void)sim_fail(why, SIM_OK, "selective: %" PRIu64 " packets in flight, at most %u",
                   view.next_psn - view.una_psn, WINDOW);
    return true;
}

static void check(const nic_qp_t *qp)
{
    const selective_t *const state = (const selective_t *)(const void *)nic_transport_of_const(qp);
    SIM_CHECK(state->queue_count <= WINDOW && state->kept_count <= WINDOW);
    SIM_CHECK(state->kept[nic_transport_look(qp).expected_psn % WINDOW] == NULL);
}

static const nic_counter_info_t counters[] = {
    {.name = "asked",
     .help = "number of packets requested again by a NAK of their own",
     .field.offset = offsetof(totals_t, asked)},
    {.name = "kept_max",
     .help = "maximum number of packets kept after a gap",
     .field.offset = offsetof(totals_t, kept_max)},
    {.name = NULL},
};

static const nic_transport_ops_t selective_ops = {
    .name = "selective",
    .state_bytes = sizeof(selective_t),
    .nic_state_bytes = sizeof(totals_t),
    .counters = counters,
    .open = open_selective,
    .close = close_selective,
    .ready = may_send,
    .next_packet = next_packet,
    .acknowledged = acknowledged,
    .responded = responded,
    .timeout = timed_out,
    .request = take_request,
    .explain = explain,
    .check = check,
};

// -- one host writes to another

#define MESSAGES 64u
#define BYTES UINT64_C(1000000)
#define MEMORY 0x100000

typedef struct run {
    sim_t *sim;
    net_t *net;
    net_node_t *hosts[2];
    nic_qp_t *qps[2];
    uint32_t completed;
    sim_time_t done_ps;
} run_t;

static void on_completion(nic_cq_t *cq, void *ctx)
{
    run_t *const run = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        SIM_CHECKF(wc.status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc.status));
        SIM_CHECK(wc.wr_id == run->completed); // in order, whatever the order of packets
        run->completed++;
        run->done_ps = run->hosts[0]->sim.now_ps;
    }
}

static void print_counter(const nic_transport_ops_t *ops, const nic_counter_info_t *info,
                          uint64_t value, void *ctx)
{
    (void)ctx;
    printf("           %s.%s: %" PRIu64 " (%s)\n", ops->name, info->name, value, info->help);
}

static void build(run_t *run, const nic_config_t *config)
{
    net_config_t net_config;
    net_link_config_t link;
    sim_message_t message;
    sim_attrs_default(&net_config_attrs, &net_config);
    sim_attrs_default(&net_link_config_attrs, &link);
    link.delay_ps = 20 * SIM_PS_PER_US;
    link.loss_rate = (sim_ratio_t){1, 1000};
    run->net = net_create(run->sim, &net_config);
    run->hosts[0] = nic_host_create(run->net, "sender", config);
    run->hosts[1] = nic_host_create(run->net, "receiver", config);
    net_link_add(run->net, run->hosts[0], run->hosts[1], &link);
    SIM_CHECKF(net_build(run->net, &message) == SIM_OK, "%s", message.text);
}

static void connect_both(run_t *run, nic_mr_t *regions[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        nic_t *const nic = nic_at(run->hosts[i], 0);
        nic_pd_t *const pd = nic_pd_alloc(nic);
        nic_cq_t *const cq = nic_cq_create(nic, MESSAGES, on_completion, run);
        const nic_qp_init_attr_t attr = {
            .qp_type = NIC_QPT_RC,
            .send_cq = cq,
            .recv_cq = cq,
            .max_send_wr = MESSAGES,
            .sq_sig_all = true,
        };
        const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE;
        SIM_CHECK(nic_qp_create(pd, &attr, &run->qps[i]) == SIM_OK);
        SIM_CHECK(nic_mr_register(pd, MEMORY, BYTES, rights, &regions[i]) == SIM_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nic_qp_nic(run->qps[i]), &attr);
        attr.dest_interface = nic_interface(nic_qp_nic(run->qps[1 - i]));
        attr.dest_qp_num = nic_qp_num(run->qps[1 - i]);
        attr.timeout = 6; // 262 us: then a loss with nothing after it is repaired
        sim_message_t message;
        SIM_CHECKF(nic_qp_connect(run->qps[i], &attr, &message) == SIM_OK, "%s", message.text);
    }
}

// Runs a transport and prints its line of the table and its counters. Returns the number of
// retransmissions.
static uint64_t run_with(const char *name, const nic_config_t *config)
{
    run_t run = {
        .sim = sim_create(&(sim_options_t){.seed = 1,
                                           .threads = 1,
                                           .until_ps = SIM_TIME_NEVER,
                                           .stall_ps = SIM_PS_PER_S}),
    };
    nic_mr_t *regions[2];
    build(&run, config);
    connect_both(&run, regions);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const nic_send_wr_t wr = {
            .wr_id = i,
            .opcode = NIC_WR_RDMA_WRITE,
            .sge = {MEMORY, BYTES, nic_mr_lkey(regions[0])},
            .rdma = {MEMORY, nic_mr_rkey(regions[1])},
        };
        SIM_CHECK(nic_post_send(run.qps[0], &wr) == SIM_OK);
    }
    const sim_ended_t ended = sim_run(run.sim);
    sim_message_t message;
    SIM_CHECK(ended == SIM_ENDED_DONE && run.completed == MESSAGES);
    SIM_CHECKF(net_conservation_ok(run.net, &message), "%s", message.text);
    const uint64_t lost = run.hosts[0]->ports[0].rare->drops[NET_DROP_LINK_LOSS];
    const uint64_t repeated = nic_qp_retransmitted_packets(run.qps[0]);
    printf("%-10s %9.3f ms %8.2f Gbps %8" PRIu64 " %9" PRIu64 "\n", name,
           (double)run.done_ps / (double)SIM_PS_PER_MS,
           (double)(MESSAGES * BYTES * 8) * 1000 / (double)run.done_ps, lost, repeated);
    (void)nic_transport_each_counter(nic_at(run.hosts[1], 0), print_counter, NULL);
    sim_destroy(run.sim);
    net_destroy(run.net);
    return repeated;
}

int main(void)
{
    printf("%u WRITEs of 1 MB at 100 Gbps over 20 us, one frame in a thousand lost\n", MESSAGES);
    printf("%-10s %12s %13s %8s %9s\n", "transport", "done", "goodput", "lost", "repeated");
    nic_config_t config;
    nic_config_init(&config);
    sim_free(config.congestion_control);
    config.congestion_control = sim_strdup("none");
    const uint64_t all = run_with(config.transport, &config);
    config.custom_transport = &selective_ops;
    const uint64_t few = run_with(selective_ops.name, &config);
    nic_config_fini(&config);
    return few * 10 < all ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// test_adamap_chain.c - what the NIC pays for maps that lie in the host's memory.
//
// Goal: k chained maps take k reads, one after the other, and the transfer ends as much later; with
// runs of adjacent blocks they take one read a run. A packet that waits for its map delays others
// only if nothing may wait beside the pipeline. The buffer's bytes are what the NIC uses: a program
// that walks the chain from outside finds the missing packets; a changed byte changes what happens.
// Accesses cross the host's fabric.
// Blocks are taken and returned when the core has done it. Each packet that is dropped for want of
// a block is a refusal.
// Method: two hosts 100 us apart; ten packets, forty apart, are lost the first time, so each of
// them makes a map, and all maps are closed before the first repair comes.
// Not pinned: goodput (test_wan_studies_quick).
#include <signal.h>

#include "net/network_internal.h"
#include "nic/memory.h"
#include "nic/transport.h"
#include "tests/nic_pair.h"

#define MTU UINT64_C(1024)
#define PACKETS 1000u
#define LOST 10u
#define FIRST 20u
#define APART 40u
#define BITS 16u // a map covers so many packets
#define DELAY_PS (100 * SIM_PS_PER_US)
#define LATENCY_PS (10 * SIM_PS_PER_US)
#define START_PS (1 * SIM_PS_PER_US)
// All maps are closed, and no repair has come.
#define BETWEEN_PS (START_PS + DELAY_PS + 95 * SIM_PS_PER_US)
#define BUFFER (UINT64_C(1) << 63) // the buffer of a host's first NIC
#define BLOCK_BYTES 32u

typedef struct setting {
    const char *path;
    const char *value;
} setting_t;

typedef struct outcome {
    sim_time_t end_ps;   // of the transfer
    sim_time_t other_ps; // of a small one on another queue pair
    nic_transport_totals_t totals;
    uint64_t rereads;
    uint64_t no_block_dropped;
    uint64_t late_max;
    uint64_t late_refused;
    uint64_t resend_entries_max;
    uint64_t resend_refused;
} outcome_t;

static void set_own(nic_config_t *config, const char *path, const char *value)
{
    const sim_attr_table_t *const table = nic_transport_adamap.attrs;
    const sim_attr_t *const attr = sim_attr_find(table, path);
    sim_message_t message;
    ck_assert_msg(attr != NULL, "no attribute %s", path);
    ck_assert_int_eq(sim_attr_set(attr, nic_config_part(config, table), value, &message), SIM_OK);
}

static uint32_t apart = APART; // packets from one loss to the next
static uint32_t lose_again;    // of the first so many retransmissions each other one is lost

// Loses the chosen packets the first time that they leave. The first PSN of a queue pair is drawn.
typedef struct loser {
    net_port_t *port;
    uint32_t qp_num;
    uint32_t passed;
    uint32_t again; // retransmissions
    bool losing;
} loser_t;

static void on_sent(const net_trace_t *trace, void *ctx)
{
    loser_t *const loser = ctx;
    net_link_config_t *const link = net_port_own_config(loser->port);
    if (loser->losing) {
        link->loss_rate = (sim_ratio_t){0, 1};
        loser->losing = false;
    }
    if (trace->packet->kind != NET_PACKET_ROCE || trace->packet->payload_bytes != MTU ||
        trace->packet->destination_qp != loser->qp_num) {
        return;
    }
    bool lost = false;
    if (trace->packet->retransmission) {
        lost = loser->again < lose_again && loser->again % 2 == 0;
        loser->again++;
    } else {
        const uint32_t place = loser->passed++;
        lost = place >= FIRST && place < FIRST + LOST * APART && (place - FIRST) % apart == 0;
    }
    if (lost) {
        link->loss_rate = (sim_ratio_t){1, 1};
        loser->losing = true;
    }
}

static void take_counter(const nic_transport_ops_t *ops, const nic_counter_info_t *info,
                         uint64_t value, void *ctx)
{
    (void)ops;
    outcome_t *const outcome = ctx;
    const struct {
        const char *name;
        uint64_t *sum;
    } counters[] = {
        {"rereads", &outcome->rereads},
        {"no_block_dropped", &outcome->no_block_dropped},
        {"late_max", &outcome->late_max},
        {"late_refused", &outcome->late_refused},
        {"resend_entries_max", &outcome->resend_entries_max},
        {"resend_refused", &outcome->resend_refused},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(counters); i++) {
        *counters[i].sum += strcmp(info->name, counters[i].name) == 0 ? value : 0;
    }
}

static pair_fn between;           // called between the losses and the repairs, or NULL
static sim_time_t socket_link_ps; // to the second socket of the hosts; 0: they have one

static uint64_t used_blocks(const pair_t *pair)
{
    const nic_transport_metric_t *metric = nic_transport_metrics;
    while (strcmp(metric->name, "transport.used_blocks") != 0) {
        metric++;
    }
    return nic_transport_metric_read(pair->nic[1], metric);
}

static outcome_t run(const setting_t *settings, sim_time_t other_ps)
{
    outcome_t outcome = {0};
    pair_config_t config;
    pair_config_init(&config);
    sim_free(config.nic.transport);
    config.nic.transport = sim_strdup("adamap");
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = 14;
    config.link.delay_ps = DELAY_PS;
    config.until_ps = SIM_PS_PER_S;
    config.nic.host.sockets = socket_link_ps != 0 ? 2 : 1;
    config.nic.host.socket_link_ps = socket_link_ps;
    set_own(&config.nic, "nic.adamap.cached", "1");
    set_own(&config.nic, "nic.adamap.watermark", "0");
    set_own(&config.nic, "nic.adamap.read-latency", "10us");
    for (; settings != NULL && settings->path != NULL; settings++) {
        set_own(&config.nic, settings->path, settings->value);
    }
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_qp_t others;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair_connect(pair, &others, NIC_QPT_RC, NULL);
    loser_t loser = {.port = pair->port[0], .qp_num = nic_qp_num(qps.qp[1])};
    net_port_listen(pair->port[0], NET_TRACE_TX, on_sent, &loser);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, PACKETS * MTU);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    const nic_send_wr_t small = pair_wr(pair, NIC_WR_RDMA_WRITE, 64);
    if (other_ps != 0) {
        pair_post_at(pair, other_ps, others.qp[0], &small);
    }
    if (between != NULL) {
        pair_call_at(pair, 1, BETWEEN_PS, between, NULL);
    }
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(pair->done_count[0], 1u + (other_ps != 0));
    for (size_t i = 0; i < pair->done_count[0]; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
        if (pair->done[0][i].wc.qp_num == nic_qp_num(qps.qp[0])) {
            outcome.end_ps = pair->done[0][i].time_ps;
        } else {
            outcome.other_ps = pair->done[0][i].time_ps;
        }
    }
    nic_transport_add_totals(pair->nic[1], &outcome.totals);
    ck_assert_uint_eq(used_blocks(pair), 0);
    for (uint32_t h = 0; h < 2; h++) {
        nic_qp_destroy(qps.qp[h]); // its numbers are added to its NIC's
        nic_qp_destroy(others.qp[h]);
        (void)nic_transport_each_counter(pair->nic[h], take_counter, &outcome);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
    between = NULL;
    return outcome;
}

// The time between two lost packets.
static sim_time_t apart_ps(void)
{
    return APART * pair_frame_ps(PAIR_HEADERS + 16 + (uint32_t)MTU);
}

static void near(sim_time_t told_ps, sim_time_t expected_ps)
{
    const sim_time_t off_ps = told_ps > expected_ps ? told_ps - expected_ps : expected_ps - told_ps;
    ck_assert_msg(off_ps < 200 * SIM_PS_PER_NS, "%" PRIu64 " ps, expected %" PRIu64, told_ps,
                  expected_ps);
}

START_TEST(each_map_costs_a_read)
{
    const outcome_t all = run((setting_t[]){{"nic.adamap.cached", "64"}, {0}}, 0);
    ck_assert_uint_eq(all.totals.dma_reads, 0);
    ck_assert_uint_eq(all.totals.prefetch_hits, LOST);
    const outcome_t one = run(NULL, 0);
    // The first map is on the NIC. The others are written first, so that their requests leave a
    // latency later; the second one is read meanwhile. Each further one is read when the one before
    // it is done with.
    ck_assert_uint_eq(one.totals.dma_reads, LOST - 1);
    ck_assert_uint_eq(one.totals.prefetch_stalls, LOST - 2);
    near(one.end_ps - all.end_ps, (LOST - 1) * LATENCY_PS - (LOST - 2) * apart_ps());
    // Two maps on the NIC: still one read after the other.
    const outcome_t two =
        run((setting_t[]){{"nic.adamap.cached", "2"}, {"nic.adamap.watermark", "1"}, {0}}, 0);
    ck_assert_uint_eq(two.totals.dma_reads, LOST - 2);
    near(two.end_ps - all.end_ps, (LOST - 2) * LATENCY_PS - (LOST - 1) * apart_ps());
    // Without a latency nothing waits.
    const outcome_t fast = run((setting_t[]){{"nic.adamap.read-latency", "0s"}, {0}}, 0);
    near(fast.end_ps, all.end_ps);
}
END_TEST

START_TEST(a_run_is_one_read)
{
    const setting_t settings[] = {{"nic.adamap.cached", "4"},
                                  {"nic.adamap.watermark", "0"},
                                  {"nic.adamap.run-blocks", "4"},
                                  {0}};
    const outcome_t runs = run(settings, 0);
    // Four maps stay on the NIC, six are chained: in runs of four and of two.
    ck_assert_uint_eq(runs.totals.dma_reads, 2);
    const outcome_t single = run((setting_t[]){settings[0], settings[1], {0}}, 0);
    ck_assert_uint_eq(single.totals.dma_reads, 6);
    ck_assert_uint_gt(single.end_ps, runs.end_ps + 3 * LATENCY_PS / 2);
}
END_TEST

START_TEST(reads_cross_the_fabric)
{
    const sim_time_t link_ps = 5 * SIM_PS_PER_US;
    const outcome_t alone = run(NULL, 0);
    socket_link_ps = link_ps;
    const outcome_t beside = run(NULL, 0);
    const outcome_t far = run((setting_t[]){{"nic.adamap.location", "far"}, {0}}, 0);
    socket_link_ps = 0;
    near(beside.end_ps, alone.end_ps);
    // The write of the second map, which delays its request, and the reads of eight maps.
    near(far.end_ps, beside.end_ps + (LOST - 1) * link_ps);
}
END_TEST

START_TEST(addresses_may_be_known)
{
    const outcome_t all = run((setting_t[]){{"nic.adamap.cached", "64"}, {0}}, 0);
    const outcome_t known = run((setting_t[]){{"nic.adamap.chain", "known"}, {0}}, 0);
    near(known.end_ps, all.end_ps + LATENCY_PS); // the requests' wait for the write
    ck_assert_uint_gt(known.totals.prefetch_stalls, 0);
}
END_TEST

START_TEST(a_wait_delays_what_is_behind)
{
    // While the third map is being read, whose packet comes 17 us after the first one's, and its
    // read ends after 24 us.
    const sim_time_t other_ps =
        START_PS + 2 * DELAY_PS + (FIRST + BITS) * (apart_ps() / APART) + 19 * SIM_PS_PER_US;
    const outcome_t beside = run((setting_t[]){{0}}, other_ps);
    ck_assert_uint_eq(beside.totals.pipeline_ps, 0);
    const outcome_t behind = run((setting_t[]){{"nic.adamap.wait-packets", "0"}, {0}}, other_ps);
    ck_assert_uint_gt(behind.totals.pipeline_ps, 3 * (LATENCY_PS - apart_ps()));
    ck_assert_uint_gt(behind.other_ps, beside.other_ps + SIM_PS_PER_US);
    ck_assert_uint_lt(beside.other_ps, other_ps + 2 * DELAY_PS + SIM_PS_PER_US);
}
END_TEST

// -- contents

static uint32_t word32(const nic_memory_t *memory, uint64_t address)
{
    return (uint32_t)nic_memory_read64(memory, address);
}

static void walk(pair_t *pair, void *ctx)
{
    (void)ctx;
    const nic_memory_t *const memory = nic_host_memory(pair->node[1]);
    uint64_t address = BUFFER;
    uint32_t last_psn = 0;
    uint32_t maps = 0;
    for (; address != 0; address = nic_memory_read64(memory, address)) {
        ck_assert_uint_eq(address % BLOCK_BYTES, 0);
        const uint32_t psn = word32(memory, address + 8);
        ck_assert_uint_eq(word32(memory, address + 12), BITS);
        ck_assert(maps == 0 || psn - last_psn == APART);
        // The lost packet's bit is 0, the fifteen after it are 1.
        ck_assert_uint_eq(word32(memory, address + 20) & 0xffff, 0xfffe);
        last_psn = psn;
        maps++;
    }
    ck_assert_uint_eq(maps, LOST - 1);
    ck_assert_uint_eq(used_blocks(pair), LOST - 1);
}

// Moves what the third map of the chain covers.
static void change_psn(pair_t *pair, void *ctx)
{
    (void)ctx;
    nic_memory_t *const memory = nic_host_memory(pair->node[1]);
    const uint64_t address = BUFFER + 2 * BLOCK_BYTES + 8;
    const uint64_t word = nic_memory_read64(memory, address);
    nic_memory_write64(memory, address, word + 7);
}

// Writes rubbish over the second block's address of the third.
static void overwrite(pair_t *pair, void *ctx)
{
    (void)ctx;
    nic_memory_write64(nic_host_memory(pair->node[1]), BUFFER + BLOCK_BYTES, BUFFER + 5);
}

START_TEST(the_bytes_are_the_chain)
{
    between = walk;
    const outcome_t whole = run(NULL, 0);
    ck_assert_uint_eq(whole.totals.prefetch_hits + whole.totals.prefetch_stalls, LOST);
    ck_assert_uint_eq(whole.totals.timeouts, 0);
}
END_TEST

START_TEST(a_changed_map_is_used)
{
#ifdef SIM_DEAR_CHECKS
    return; // these builds check after each event that maps say what is missing
#endif
    const setting_t quick[] = {{"nic.adamap.read-latency", "1us"}, {0}};
    ck_assert_uint_eq(run(quick, 0).totals.prefetch_hits, LOST);
    between = change_psn;
    const outcome_t moved = run(quick, 0);
    // No map knows the packet of the map that was moved, which is the expected one then. The next
    // packet waits, since the map before it is still there.
    ck_assert_uint_eq(moved.totals.prefetch_hits, LOST - 2);
    ck_assert_uint_eq(moved.totals.prefetch_stalls, 1);
}
END_TEST

START_TEST(a_wrong_address_is_told)
{
    between = overwrite;
    (void)run(NULL, 0);
}
END_TEST

// -- the core

static uint64_t used_between;
static void note_used(pair_t *pair, void *ctx)
{
    (void)ctx;
    used_between = used_blocks(pair);
}

START_TEST(the_core_takes_blocks_when_it_runs)
{
    between = note_used;
    const outcome_t quick = run(NULL, 0);
    ck_assert_uint_eq(used_between, LOST - 1);
    between = note_used;
    const outcome_t slow = run((setting_t[]){{"nic.adamap.insert-time", "40us"}, {0}}, 0);
    // The second map is closed at 108 us and written at 118 us; by 196 us one is inserted.
    ck_assert_uint_eq(used_between, 1);
    ck_assert_uint_gt(slow.end_ps, quick.end_ps);
    ck_assert_uint_gt(slow.rereads, 0);
    ck_assert_uint_gt(slow.totals.core_ps, quick.totals.core_ps);
    // A core that returns blocks slowly lets the buffer run out.
    const setting_t few[] = {{"nic.adamap.blocks", "9"}, {"nic.adamap.return-time", "1ms"}, {0}};
    const outcome_t returning = run(few, 0);
    ck_assert_uint_eq(returning.totals.host_refused, 0);
    ck_assert_uint_gt(returning.totals.core_ps, 9 * SIM_PS_PER_US * 1000);
}
END_TEST

START_TEST(refusals_are_counted)
{
    const outcome_t outcome = run((setting_t[]){{"nic.adamap.blocks", "3"}, {0}}, 0);
    ck_assert_uint_gt(outcome.no_block_dropped, 0);
    ck_assert_uint_ge(outcome.totals.host_refused, outcome.no_block_dropped);
    ck_assert_uint_ge(outcome.totals.dropped, outcome.no_block_dropped);
    ck_assert_uint_le(outcome.totals.blocks_max, 3);
    // All maps are on the NIC; the table wants blocks for maps whose repairs were lost.
    const setting_t few[] = {{"nic.adamap.blocks", "1"}, {"nic.adamap.cached", "64"}, {0}};
    ck_assert_uint_eq(run(few, 0).totals.host_refused, 0);
    lose_again = LOST;
    const outcome_t table = run(few, 0);
    lose_again = 0;
    ck_assert_uint_gt(table.no_block_dropped, 0);
    // Maps that expire want blocks for their pieces, too.
    ck_assert_uint_gt(table.totals.host_refused, table.no_block_dropped);
}
END_TEST

START_TEST(entries_are_written_back)
{
    apart = 4; // four losses a map, of which two are lost again, and some of those a third time
    lose_again = 15 * LOST;
    const setting_t none[] = {{"nic.adamap.table-cache", "0"}, {"nic.adamap.cached", "64"}, {0}};
    const setting_t some[] = {{"nic.adamap.table-cache", "16"}, {"nic.adamap.cached", "64"}, {0}};
    const outcome_t through = run(none, 0);
    const outcome_t cached = run(some, 0);
    lose_again = 0;
    apart = APART;
    ck_assert_uint_gt(through.totals.table_access, LOST);
    ck_assert_uint_eq(through.totals.table_hits, 0);
    ck_assert_uint_gt(cached.totals.table_hits, 0);
    // Nothing that came is forgotten.
    ck_assert_uint_eq(through.totals.duplicates + cached.totals.duplicates, 0);
    // Of two packets of an entry the first one changes it, the second one ends it.
    ck_assert_uint_ge(through.totals.dma_writes, cached.totals.dma_writes + LOST / 2);
    ck_assert_uint_gt(through.totals.dma_reads, cached.totals.dma_reads);
}
END_TEST

// -- bounds of the NIC's memory

static uint64_t nic_bytes(const setting_t *settings)
{
    return run(settings, 0).totals.nic_bytes_per_qp;
}

START_TEST(what_a_queue_pair_takes_is_bounded)
{
    apart = 4; // four losses a map
    const outcome_t wide = run(NULL, 0);
    ck_assert_uint_gt(wide.resend_entries_max, 1);
    ck_assert_uint_gt(wide.late_max, 2);
    ck_assert_uint_eq(wide.resend_refused + wide.late_refused, 0);
    // A packet that the sender drops is asked for again when its map expires.
    const setting_t one[] = {{"nic.adamap.resend-entries", "1"}, {0}};
    const outcome_t sender = run(one, 0);
    ck_assert_uint_eq(sender.resend_entries_max, 1);
    ck_assert_uint_gt(sender.resend_refused, 0);
    ck_assert_uint_eq(sender.totals.timeouts, 0);
    ck_assert_uint_gt(sender.end_ps, wide.end_ps + 2 * DELAY_PS);
    // So is what the receiver leaves out; or a later retransmission shows that it did not come.
    const setting_t late[] = {{"nic.adamap.late-requests", "2"}, {0}};
    const outcome_t receiver = run(late, 0);
    ck_assert_uint_eq(receiver.late_max, 2);
    ck_assert_uint_gt(receiver.late_refused, 0);
    ck_assert_uint_eq(receiver.totals.timeouts, 0);
    ck_assert_uint_gt(receiver.end_ps, wide.end_ps + DELAY_PS);
    apart = APART;
    // Both take memory: 12 bytes a stretch, 22 a request with its map of 16 bits.
    ck_assert_uint_eq(nic_bytes(NULL), nic_bytes(one) + 31 * 12);
    ck_assert_uint_eq(nic_bytes(NULL), nic_bytes(late) + 6 * 22);
}
END_TEST

CHECK_MAIN(CHECK_TEST(each_map_costs_a_read), CHECK_TEST(a_run_is_one_read),
           CHECK_TEST(reads_cross_the_fabric), CHECK_TEST(addresses_may_be_known),
           CHECK_TEST(a_wait_delays_what_is_behind), CHECK_TEST(the_bytes_are_the_chain),
           CHECK_TEST(a_changed_map_is_used), CHECK_SIGNAL(a_wrong_address_is_told, SIGABRT),
           CHECK_TEST(the_core_takes_blocks_when_it_runs), CHECK_TEST(refusals_are_counted),
           CHECK_TEST(entries_are_written_back), CHECK_TEST(what_a_queue_pair_takes_is_bounded))

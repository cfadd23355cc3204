// SPDX-License-Identifier: Apache-2.0
// test_rnic.c - the detailed NIC step by step: posting, PCIe traffic, cores, a slow
// receiver.
//
// Goal: each way to post, receive and complete makes the PCIe transactions that the paper's figures
// 4 to 6 count; a core's costs add up and its idle polling costs no events; a NIC slower than its
// link pauses the link and loses nothing.
// Method: two hosts on a link (tests/nic_pair.h) and counters by arithmetic; events of two runs
// that differ in idle time only.
// Not pinned: the fitted costs.
#include "net/port_pause.h"
#include "nic/core.h"
#include "tests/nic_pair.h"

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(nic_qp_type_t type)
{
    config.nic.model = NIC_DETAILED;
    pair = pair_create(&config);
    pair_connect(pair, &qps, type, NULL);
}

static void tear_down(void)
{
    ck_assert(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]));
    pair_destroy(pair);
    pair_config_fini(&config);
}

static nic_rnic_counters_t counters_of(uint32_t host)
{
    nic_rnic_counters_t counters;
    ck_assert(nic_get_rnic_counters(pair->nic[host], &counters));
    return counters;
}

static void post_list(pair_t *self, void *ctx)
{
    const nic_send_wr_t *const wr = ctx;
    nic_send_wr_t list[10];
    for (uint32_t i = 0; i < 10; i++) {
        list[i] = *wr;
        list[i].next = i < 9 ? &list[i + 1] : NULL;
    }
    (void)self;
    ck_assert_int_eq(nic_post_send_list(qps.qp[0], list, NULL), SIM_OK);
}

// READs here are limited only by the responder's sending side. Each costs a response, the lines
// that it touches, and more if it comes in several completions, which end at multiples of 128.
START_TEST(payloads_pass_the_sending_side_by_lines)
{
    static const struct {
        uint64_t offset;
        uint64_t bytes;
        uint64_t lines;
        uint64_t more;
    } cases[] = {
        {0, 1, 1, 0},   {0, 64, 1, 0},  {0, 65, 2, 0},  {0, 128, 2, 0}, {0, 129, 3, 1},
        {32, 64, 2, 0}, {64, 64, 1, 0}, {96, 64, 2, 1}, {127, 2, 2, 1}, {64, 256, 4, 1},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        pair_config_init(&config);
        config.nic.detail.tx_response_ps = 300000;
        config.nic.detail.tx_line_ps = 2000000;
        config.nic.detail.tx_long_ps = 7000000;
        set_up(NIC_QPT_RC);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, cases[i].bytes);
        wr.rdma.remote_addr += cases[i].offset;
        for (uint32_t k = 0; k < 8; k++) {
            pair_post_at(pair, 1000, qps.qp[0], &wr);
        }
        pair_run(pair);
        ck_assert_uint_eq(pair->done_count[0], 8);
        const sim_time_t took_ps = pair->done[0][7].time_ps - pair->done[0][3].time_ps;
        const sim_time_t each_ps = 300000 + cases[i].lines * 2000000 + cases[i].more * 7000000;
        ck_assert_uint_eq(took_ps, 4 * each_ps);
        tear_down();
    }
}
END_TEST

// ACKs of WRITEs are limited only by the sending side here: each takes its turn, the first at once.
START_TEST(acks_take_turns_of_the_sending_side)
{
    pair_config_init(&config);
    config.nic.detail.tx_ack_ps = 0;
    set_up(NIC_QPT_RC);
    const nic_send_wr_t first = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    pair_post_at(pair, 1000, qps.qp[0], &first);
    pair_run(pair);
    const sim_time_t alone_ps = pair->done[0][0].time_ps;
    tear_down();
    pair_config_init(&config);
    config.nic.detail.tx_ack_ps = 5000000;
    set_up(NIC_QPT_RC);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t k = 0; k < 8; k++) {
        pair_post_at(pair, 1000, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 8);
    ck_assert_uint_eq(pair->done[0][0].time_ps, alone_ps);
    ck_assert_uint_eq(pair->done[0][7].time_ps - pair->done[0][3].time_ps, 4 * 5000000);
    tear_down();
}
END_TEST

// READs here are limited only by the requester's receiving side. Bytes beyond one PCIe write of 256
// bytes cost a second piece of work, and lines of it.
START_TEST(long_responses_pass_the_receiving_side_twice)
{
    static const struct {
        uint64_t bytes;
        uint64_t lines; // beyond
    } cases[] = {{256, 0}, {257, 1}, {320, 1}, {321, 2}};
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        pair_config_init(&config);
        config.nic.detail.rx_response_ps = 1000000;
        config.nic.detail.rx_long_ps = 7000000;
        config.nic.detail.rx_long_line_ps = 2000000;
        set_up(NIC_QPT_RC);
        const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, cases[i].bytes);
        for (uint32_t k = 0; k < 8; k++) {
            pair_post_at(pair, 1000, qps.qp[0], &wr);
        }
        pair_run(pair);
        const sim_time_t took_ps = pair->done[0][7].time_ps - pair->done[0][3].time_ps;
        const sim_time_t beyond_ps = cases[i].lines == 0 ? 0 : 7000000 + cases[i].lines * 2000000;
        ck_assert_uint_eq(took_ps, 4 * (1000000 + beyond_ps));
        tear_down();
    }
}
END_TEST

// Each READ's CQE occupies the requester's receiving side, as do the CQEs that ACKs complete.
START_TEST(cqes_pass_the_receiving_side)
{
    pair_config_init(&config);
    config.nic.detail.rx_response_ps = 1000000;
    config.nic.detail.rx_ack_ps = 1000000;
    config.nic.detail.rx_cqe_ps = 5000000;
    set_up(NIC_QPT_RC);
    const nic_send_wr_t wr = pair_wr(pair, _i == 0 ? NIC_WR_RDMA_READ : NIC_WR_RDMA_WRITE, 8);
    for (uint32_t k = 0; k < 8; k++) {
        pair_post_at(pair, 1000, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done[0][7].time_ps - pair->done[0][3].time_ps, 4 * 6000000);
    tear_down();
}
END_TEST

// Each line after the first gives 4 of its 64 bytes to a header of its own: a WRITE's edges are 28,
// 88, 148 and 208, a datagram's 60, 120, 180 and 240 (Kalia et al., SIGCOMM 2014, figure 4).
START_TEST(inline_payloads_fill_lines_with_headers)
{
    const bool datagram = _i == 1;
    const uint32_t first = datagram ? 60 : 28;
    for (uint32_t step = 0; step < 4; step++) {
        for (uint32_t over = 0; over < 2; over++) {
            pair_config_init(&config);
            config.nic.detail.block_header_bytes = 4;
            set_up(datagram ? NIC_QPT_UD : NIC_QPT_UC);
            nic_send_wr_t wr =
                pair_wr(pair, datagram ? NIC_WR_SEND : NIC_WR_RDMA_WRITE, first + 60 * step + over);
            wr.send_flags |= NIC_SEND_INLINE;
            wr.ud.remote_interface = nic_interface(pair->nic[1]);
            wr.ud.remote_qpn = nic_qp_num(qps.qp[1]);
            pair_post_at(pair, 1000, qps.qp[0], &wr);
            pair_run(pair);
            ck_assert_uint_eq(counters_of(0).mmio_lines, (datagram ? 2u : 1u) + step + over);
            tear_down();
        }
    }
}
END_TEST

// A WRITE has a header of 36 bytes, so 28 bytes fit in its line and 29 do not; a READ and a payload
// by pointer take one line, whatever their length (table 1, figure 4).
START_TEST(lines_of_a_wqe)
{
    static const struct {
        nic_wr_opcode_t opcode;
        uint64_t bytes;
        uint32_t flags;
        uint64_t lines;
        uint64_t reads; // of payload
    } cases[] = {
        {NIC_WR_RDMA_WRITE, 28, NIC_SEND_INLINE, 1, 0},
        {NIC_WR_RDMA_WRITE, 29, NIC_SEND_INLINE, 2, 0},
        {NIC_WR_RDMA_WRITE, 93, NIC_SEND_INLINE, 3, 0},
        {NIC_WR_RDMA_WRITE, 100, 0, 1, 1},
        {NIC_WR_RDMA_READ, 4000, 0, 1, 0},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        pair_config_init(&config);
        set_up(NIC_QPT_RC);
        nic_send_wr_t wr = pair_wr(pair, cases[i].opcode, cases[i].bytes);
        wr.send_flags |= cases[i].flags;
        pair_post_at(pair, 1000, qps.qp[0], &wr);
        pair_run(pair);
        const nic_rnic_counters_t counters = counters_of(0);
        ck_assert_uint_eq(counters.mmio_lines, cases[i].lines);
        const uint64_t misses =
            counters.context_misses + counters.translation_misses + counters.cq_misses;
        ck_assert_uint_eq(counters.pcie_reads - misses, cases[i].reads);
        ck_assert_uint_eq(counters.doorbells, 0);
        ck_assert_uint_eq(counters.wqe_misses, 0);
        ck_assert_uint_eq(counters.cqes_polled, 1);
        tear_down();
    }
}
END_TEST

// Ten WQEs of 65 bytes are posted, once by MMIO and once by Doorbell (appendix A).
START_TEST(ten_wqes_by_doorbell)
{
    for (uint32_t batch = 0; batch < 2; batch++) {
        pair_config_init(&config);
        set_up(NIC_QPT_RC);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 29);
        wr.send_flags = NIC_SEND_INLINE;
        if (batch != 0) {
            pair_call_at(pair, 0, 1000, post_list, &wr);
        } else {
            for (uint32_t i = 0; i < 10; i++) {
                pair_post_at(pair, 1000, qps.qp[0], &wr);
            }
        }
        pair_run(pair);
        const nic_rnic_counters_t counters = counters_of(0);
        const uint64_t contexts =
            (counters.context_misses + counters.translation_misses) * (64 + 22);
        ck_assert_uint_eq(counters.pcie_down_bytes - contexts, batch != 0 ? 1534 : 1800);
        ck_assert_uint_eq(counters.doorbells, batch);
        ck_assert_uint_eq(counters.mmio_lines, batch != 0 ? 0 : 20);
        tear_down();
    }
}
END_TEST

// A receive writes payload and CQE apart; an inline or empty one writes the CQE alone (figure 6).
START_TEST(writes_of_a_receive)
{
    static const uint64_t bytes[] = {32, 32, 0};
    for (uint32_t i = 0; i < 3; i++) {
        pair_config_init(&config);
        config.nic.detail.recv_inline_bytes = i == 1 ? 64 : 0;
        set_up(NIC_QPT_RC);
        pair_post_recvs(pair, &qps, 1, 64);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND_WITH_IMM, bytes[i]);
        wr.send_flags = NIC_SEND_INLINE; // unsignaled: nothing is written at the sender
        pair_post_at(pair, 1000, qps.qp[0], &wr);
        pair_run(pair);
        ck_assert_uint_eq(counters_of(1).pcie_writes, i == 0 ? 2 : 1);
        ck_assert_uint_eq(counters_of(0).pcie_writes, 0);
        tear_down();
    }
}
END_TEST

START_TEST(inline_has_a_limit)
{
    pair_config_init(&config);
    set_up(NIC_QPT_RC);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 257);
    wr.send_flags = NIC_SEND_INLINE;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_RANGE);
    wr.send_flags = 0;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK);
    pair_run(pair);
    tear_down();
}
END_TEST

// -- cores

#define POSTS 40u

typedef struct loop {
    uint32_t steps;
    uint32_t found;
    sim_time_t found_ps;
    nic_cq_t *cq;
    bool says;        // that it only polls
    bool polls_first; // before it spends anything
    sim_time_t all_found_ps[POSTS];
} loop_t;

static bool poll_once(nic_core_t *core, void *ctx)
{
    loop_t *const loop = ctx;
    nic_wc_t wc;
    loop->steps++;
    nic_core_spend(core, loop->polls_first ? 0 : 25 * SIM_PS_PER_NS);
    const uint32_t count = nic_poll_cq(loop->cq, 1, &wc);
    nic_core_spend(core, loop->polls_first ? 25 * SIM_PS_PER_NS : 0);
    if (count != 0) {
        loop->found_ps = nic_core_now_ps(core);
        loop->all_found_ps[loop->found++ % POSTS] = loop->found_ps;
        if (loop->says) {
            nic_core_only_polls(core);
        }
    }
    return count != 0;
}

// Posts WRITEs from post_ps on, at distances that grow by 1 ns, to a host whose core polls from the
// start.
static uint64_t run_posts(sim_time_t post_ps, uint32_t posts, const loop_t *how, loop_t *loop)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    pair = pair_create(&config);
    *loop = *how;
    nic_core_t *const core = nic_core_create(pair->node[0], poll_once, loop);
    loop->cq = nic_cq_create(pair->nic[0], 16, NULL, NULL);
    nic_cq_set_core(loop->cq, core);
    nic_cq_t *const own = pair->cq[0];
    pair->cq[0] = loop->cq;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair->cq[0] = own;
    nic_core_start(core, 0);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    for (uint32_t i = 0; i < posts; i++) {
        pair_post_at(pair, post_ps, qps.qp[0], &wr);
        post_ps += i * SIM_PS_PER_NS;
    }
    pair_run(pair);
    const uint64_t events = sim_events(pair->sim);
    tear_down();
    return events;
}

static uint64_t run_poller(sim_time_t post_ps, loop_t *loop)
{
    return run_posts(post_ps, 1, &(loop_t){0}, loop);
}

START_TEST(idle_polling_costs_no_events)
{
    loop_t early;
    loop_t late;
    const uint64_t few = run_poller(SIM_PS_PER_US, &early);
    const uint64_t many = run_poller(SIM_PS_PER_S, &late);
    // A second has 40 million polls. A window that ends between two steps costs an event.
    ck_assert_uint_le(few, 8);
    ck_assert_uint_le(many, 8);
    ck_assert_uint_eq(early.steps, late.steps);
    ck_assert_uint_eq(early.found, 1);
    ck_assert_uint_eq(late.found, 1);
    // The first step finds nothing, the second finds the completion, the third finds nothing.
    ck_assert_uint_eq(early.steps, 3);
    // Polls lie on a grid: each costs 25 ns of its own and what looking costs.
    nic_detail_t detail;
    nic_detail_profile(NIC_PROFILE_CONNECT_IB, &detail);
    const sim_time_t turn_ps = 25 * SIM_PS_PER_NS + detail.cpu_poll_ps;
    const sim_time_t in_turn_ps = turn_ps + detail.cpu_cqe_ps + detail.cpu_line_wait_ps;
    ck_assert_uint_eq((early.found_ps - in_turn_ps) % turn_ps, 0);
    ck_assert_uint_eq((late.found_ps - in_turn_ps) % turn_ps, 0);
}
END_TEST

// A program that declares that it only polls finds the same at the same times, in fewer steps.
START_TEST(polls_that_would_find_nothing_are_left_out)
{
    loop_t asked;
    loop_t told;
    const uint64_t events = run_posts(SIM_PS_PER_US, POSTS, &(loop_t){.polls_first = true}, &asked);
    const uint64_t fewer =
        run_posts(SIM_PS_PER_US, POSTS, &(loop_t){.polls_first = true, .says = true}, &told);
    ck_assert_uint_eq(asked.found, POSTS);
    ck_assert_uint_eq(told.found, POSTS);
    for (uint32_t i = 0; i < POSTS; i++) {
        ck_assert_uint_eq(told.all_found_ps[i], asked.all_found_ps[i]);
    }
    // Completions come faster than it polls at first, slower at the end.
    ck_assert_uint_gt(asked.steps, told.steps);
    ck_assert_uint_gt(asked.steps, POSTS + 1);
    ck_assert_uint_eq(told.steps, POSTS + 1);
    ck_assert_uint_ge(events, fewer);
}
END_TEST

typedef struct poster {
    sim_time_t before_ps;
    sim_time_t after_ps;
    sim_time_t listed_ps;
} poster_t;

static bool post_once(nic_core_t *core, void *ctx)
{
    poster_t *const poster = ctx;
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    wr.send_flags = NIC_SEND_INLINE; // 136 bytes: three lines
    poster->before_ps = nic_core_now_ps(core);
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK);
    poster->after_ps = nic_core_now_ps(core);
    post_list(pair, &wr);
    poster->listed_ps = nic_core_now_ps(core);
    nic_core_stop(core);
    return true;
}

START_TEST(posting_costs_its_core)
{
    pair_config_init(&config);
    set_up(NIC_QPT_RC);
    poster_t poster;
    nic_core_t *const core = nic_core_create(pair->node[0], post_once, &poster);
    nic_core_start(core, 5000);
    pair_run(pair);
    nic_detail_t detail;
    nic_detail_profile(NIC_PROFILE_CONNECT_IB, &detail);
    ck_assert_uint_eq(poster.before_ps, 5000);
    const sim_time_t build_ps = detail.cpu_post_ps + 7 * detail.cpu_copy_ps; // 112 bytes
    ck_assert_uint_eq(poster.after_ps - poster.before_ps, build_ps + 3 * detail.cpu_line_ps);
    ck_assert_uint_eq(poster.listed_ps - poster.after_ps, 10 * build_ps + detail.cpu_doorbell_ps);
    ck_assert_uint_eq(nic_core_busy_ps(core), poster.listed_ps - poster.before_ps);
    ck_assert_uint_eq(nic_core_steps(core), 1);
    tear_down();
}
END_TEST

typedef struct batch {
    uint32_t count;
    bool lists; // by Doorbells, of two each
    nic_send_wr_t wr;
} batch_t;

static bool post_batch(nic_core_t *core, void *ctx)
{
    const batch_t *const batch = ctx;
    nic_send_wr_t wr[] = {batch->wr, batch->wr};
    wr[0].next = batch->lists ? &wr[1] : NULL;
    for (uint32_t i = 0; i < batch->count; i += batch->lists ? 2 : 1) {
        ck_assert_int_eq(nic_post_send_list(qps.qp[0], wr, NULL), SIM_OK);
    }
    nic_core_stop(core);
    return true;
}

// Returns when the first of so many SENDs leaves that a core posts in one step.
static sim_time_t first_leaves_ps(uint32_t count, bool lists)
{
    pair_config_init(&config);
    config.nic.profile = NIC_PROFILE_CONNECTX_5;
    set_up(NIC_QPT_RC);
    pair_post_recvs(pair, &qps, count, 64);
    batch_t batch = {count, lists, pair_wr(pair, NIC_WR_SEND, 64)};
    nic_core_start(nic_core_create(pair->node[0], post_batch, &batch), 0);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], count);
    const sim_time_t left_ps = pair->wire[0].time_ps;
    tear_down();
    return left_ps;
}

// A core that posts on while the NIC reads context and payload holds up only what it really does
// before them.
START_TEST(first_of_a_batch_does_not_wait_for_the_last)
{
    for (uint32_t lists = 0; lists < 2; lists++) {
        const sim_time_t few_ps = first_leaves_ps(8, lists != 0);
        const sim_time_t many_ps = first_leaves_ps(128, lists != 0);
        ck_assert_uint_ge(many_ps, few_ps);
        ck_assert_uint_le(many_ps, few_ps + 100 * SIM_PS_PER_NS);
    }
}
END_TEST

// -- caches

// 100 WRITEs go to as many pages of 4 KiB, twice; with pages of 2 MiB all lie in one.
START_TEST(larger_pages_need_fewer_translations)
{
    static const uint64_t pages[] = {4096, UINT64_C(2) << 20};
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t shared = 0; shared < 2; shared++) {
            pair_config_init(&config);
            config.nic.detail.page_bytes = pages[p];
            config.nic.detail.translation_entries = 16;
            config.nic.sram_shared = shared != 0;
            set_up(NIC_QPT_RC);
            for (uint64_t i = 0; i < 200; i++) {
                nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
                wr.send_flags |= NIC_SEND_INLINE;
                wr.rdma.remote_addr = PAIR_MEMORY + i % 100 * 4096;
                pair_post_at(pair, 1000 + i, qps.qp[0], &wr);
            }
            pair_run(pair);
            const nic_rnic_counters_t counters = counters_of(1);
            ck_assert_uint_eq(counters.translation_hits + counters.translation_misses, 200);
            // A shared cache has room for the translations.
            const uint64_t misses = p == 1 ? 1 : (shared != 0 ? 100 : 200);
            ck_assert_uint_ge(counters.translation_misses, misses - misses / 10);
            ck_assert_uint_le(counters.translation_misses, misses);
            tear_down();
        }
    }
}
END_TEST

// -- memory behind PCIe

// Returns the time between the answers to two fetch-and-adds of one queue pair. Two earlier ones
// have fetched the contexts from host memory.
static sim_time_t between_answers(uint64_t cache_bytes)
{
    pair_config_init(&config);
    config.nic.detail.memory_cache_bytes = cache_bytes;
    set_up(NIC_QPT_RC);
    for (uint64_t i = 0; i < 4; i++) {
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_ATOMIC_FETCH_AND_ADD, 8);
        wr.atomic.remote_addr = PAIR_MEMORY + 64 * i;
        wr.atomic.rkey = nic_mr_rkey(pair->mr[1]);
        pair_post_at(pair, 1000 + i, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 4);
    ck_assert_uint_eq(pair->wire_count, 8);
    const sim_time_t between_ps = pair->wire[7].time_ps - pair->wire[6].time_ps;
    tear_down();
    return between_ps;
}

// A word outside the processor's cache arrives later, and so does the line of the previous write,
// which a read does not pass.
START_TEST(words_beyond_the_cache_come_later)
{
    nic_detail_t detail;
    nic_detail_profile(NIC_PROFILE_CONNECT_IB, &detail);
    const sim_time_t near_ps = between_answers(PAIR_MEMORY_BYTES);
    // The time is that of the read, plus the time for which the lock is held besides.
    ck_assert_uint_ge(near_ps, detail.read_latency_ps + detail.atomic_hold_ps);
    ck_assert_uint_lt(near_ps,
                      detail.read_latency_ps + detail.atomic_hold_ps + detail.rx_atomic_ps + 5000);
    const sim_time_t far_ps = between_answers(PAIR_MEMORY_BYTES - 1);
    // The line of the write is fetched while the unit begins with the next operation.
    ck_assert_uint_eq(far_ps - near_ps, 2 * detail.memory_latency_ps - detail.rx_atomic_ps);
}
END_TEST

// -- a slow receiver

START_TEST(slow_nic_pauses_its_link)
{
    pair_config_init(&config);
    config.nic.mtu_bytes = 1024;
    config.nic.detail.rx_put_ps = SIM_PS_PER_US; // a packet per us: 8 Gbps of 100
    config.nic.detail.buffer_bytes = 400000;
    config.nic.detail.pause_bytes = 64000;
    config.nic.detail.resume_bytes = 32000;
    set_up(NIC_QPT_RC);
    for (uint32_t i = 0; i < 40; i++) {
        const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 16384);
        pair_post_at(pair, 1000, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 40);
    const nic_rnic_counters_t counters = counters_of(1);
    ck_assert_uint_gt(counters.pauses_sent, 3);
    ck_assert_uint_ge(counters.buffer_bytes_max, 64000);
    // The rest was in flight when the pause began: a round trip of the link of 1 us, and frames.
    ck_assert_uint_lt(counters.buffer_bytes_max, 64000 + 30000);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->retransmitted_packets, 0);
    ck_assert_uint_gt(net_port_paused_ps(pair->port[0], 3, 0), 400 * SIM_PS_PER_US);
    const sim_time_t end_ps = pair->done[0][39].time_ps;
    ck_assert_uint_ge(end_ps, 640 * SIM_PS_PER_US);
    ck_assert_uint_lt(end_ps, 660 * SIM_PS_PER_US);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_TEST(payloads_pass_the_sending_side_by_lines),
           CHECK_TEST(long_responses_pass_the_receiving_side_twice),
           CHECK_LOOP(inline_payloads_fill_lines_with_headers, 0, 2),
           CHECK_LOOP(cqes_pass_the_receiving_side, 0, 2),
           CHECK_TEST(acks_take_turns_of_the_sending_side), CHECK_TEST(lines_of_a_wqe),
           CHECK_TEST(ten_wqes_by_doorbell), CHECK_TEST(writes_of_a_receive),
           CHECK_TEST(inline_has_a_limit), CHECK_TEST(idle_polling_costs_no_events),
           CHECK_TEST(polls_that_would_find_nothing_are_left_out),
           CHECK_TEST(posting_costs_its_core),
           CHECK_TEST(first_of_a_batch_does_not_wait_for_the_last),
           CHECK_TEST(larger_pages_need_fewer_translations),
           CHECK_TEST(words_beyond_the_cache_come_later), CHECK_TEST(slow_nic_pauses_its_link))

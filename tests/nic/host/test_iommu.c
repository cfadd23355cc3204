// SPDX-License-Identifier: Apache-2.0
// test_iommu.c - the IOMMU of a host: what it refuses, and what its translations cost.
//
// Goal: a WRITE and a READ to a denied page end with a remote operational error, a request
// whose own memory is denied with a local protection error, a context that cannot be fetched with
// its queue pair's error state; memory keeps what it had. A miss of the IOTLB takes a read of
// memory per level, hits take none; domains share no translations; deregistration takes them out;
// few walkers limit the rate of small accesses to many pages. An IOMMU that is off does nothing of
// this. Method: two hosts; counters, times of completions and memory afterwards. Not pinned:
// figures against published measurements (docs/models/rnic.md).
#include "nic/iommu.h"
#include "nic/memory.h"
#include "nic/reports.h"
#include "nic/store/tiered/tiered.h"
#include "nic/trace.h"
#include "tests/nic_pair.h"

#define PAGE UINT64_C(4096)
#define WALK_PS UINT64_C(330000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(nic_iommu_use_t use, sim_name_t model)
{
    pair_config_init(&config);
    config.nic.model = model;
    config.nic.host.iommu = use;
}

static void connect(void)
{
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static nic_iommu_counters_t counters(uint32_t host)
{
    nic_iommu_counters_t counted = {0};
    (void)nic_iommu_get_counters(pair->node[host], &counted);
    return counted;
}

// -- rights

// Posts a request whose remote memory, or own memory, is denied. Returns how it ends.
static nic_wc_status_t status_of(nic_wr_opcode_t opcode, bool own, sim_name_t model)
{
    set_up(NIC_IOMMU_ALL, model);
    connect();
    nic_host_memory(pair->node[1]);
    nic_memory_write(nic_host_memory(pair->node[1]), PAIR_MEMORY + PAGE, "before", 7);
    nic_memory_write(nic_host_memory(pair->node[0]), PAIR_MEMORY, "after", 6);
    nic_iommu_deny(pair->node[own ? 0 : 1], PAIR_MEMORY + (own ? 0 : PAGE), 1);
    nic_send_wr_t wr = pair_wr(pair, opcode, 8);
    wr.rdma.remote_addr = PAIR_MEMORY + PAGE;
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    char here[8];
    nic_memory_read(nic_host_memory(pair->node[1]), PAIR_MEMORY + PAGE, here, 7);
    ck_assert_str_eq(here, "before");
    nic_memory_read(nic_host_memory(pair->node[0]), PAIR_MEMORY, here, 6);
    ck_assert_str_eq(here, "after");
    ck_assert_uint_eq(counters(own ? 0 : 1).faults, 1);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_ERR);
    const nic_wc_status_t status = pair->done[0][0].wc.status;
    tear_down();
    return status;
}

START_TEST(denied_pages_end_requests)
{
    const sim_name_t model = _i == 0 ? NIC_IDEAL : NIC_DETAILED;
    ck_assert_int_eq(status_of(NIC_WR_RDMA_WRITE, false, model), NIC_WC_REM_OP_ERR);
    ck_assert_int_eq(status_of(NIC_WR_RDMA_READ, false, model), NIC_WC_REM_OP_ERR);
    ck_assert_int_eq(status_of(NIC_WR_RDMA_WRITE, true, model), NIC_WC_LOC_PROT_ERR);
    ck_assert_int_eq(status_of(NIC_WR_RDMA_READ, true, model), NIC_WC_LOC_PROT_ERR);
}
END_TEST

// Ranges are rounded to pages, and may be allowed again in part.
START_TEST(ranges_come_and_go)
{
    set_up(NIC_IOMMU_ALL, NIC_DETAILED);
    sim_free(config.nic.host.iommu_deny);
    config.nic.host.iommu_deny = sim_strdup("0x100000+8KiB, 0x200000+1");
    connect();
    const nic_t *const nic = pair->nic[0];
    ck_assert(nic_iommu_denies(nic, 0x100000, 1) && nic_iommu_denies(nic, 0x101fff, 1));
    ck_assert(!nic_iommu_denies(nic, 0x102000, 1) && !nic_iommu_denies(nic, 0xfffff, 1));
    ck_assert(nic_iommu_denies(nic, 0x200fff, 1) && nic_iommu_denies(nic, 0, 0x200001));
    nic_iommu_allow(pair->node[0], 0x100000, 1);
    ck_assert(!nic_iommu_denies(nic, 0x100000, 4096) && nic_iommu_denies(nic, 0x101000, 1));
    nic_iommu_allow(pair->node[0], 0, 1 << 30);
    ck_assert(!nic_iommu_denies(nic, 0, 1 << 30));
    tear_down();
    set_up(NIC_IOMMU_OFF, NIC_DETAILED);
    connect();
    nic_iommu_deny(pair->node[0], 0, 1 << 30);
    ck_assert(!nic_iommu_denies(pair->nic[0], 0, 1 << 30));
    tear_down();
    set_up(NIC_IOMMU_ALL, NIC_DETAILED);
    sim_free(config.nic.host.iommu_deny);
    config.nic.host.iommu_deny = sim_strdup("all of it");
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(nic_config_check(&config.nic, &message), SIM_OK);
    ck_assert_ptr_nonnull(strstr(message.text, "ADDRESS+BYTES"));
    pair_config_fini(&config);
}
END_TEST

// A context in a denied page is not fetched: its queue pair fails, the other one goes on.
START_TEST(denied_contexts_are_not_fetched)
{
    set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup(_i == 0 ? "lru" : "hybrid");
    connect();
    pair_qp_t others = {{NULL, NULL}};
    pair_qp_t last = {{NULL, NULL}};
    for (uint32_t i = 0; i < 40; i++) { // the last of them lies in another page
        pair_connect(pair, &last, NIC_QPT_RC, NULL);
        others = i == 0 ? last : others;
    }
    const uint64_t address =
        nic_iommu_context_address(pair->nic[0], NIC_IOMMU_QP, nic_qp_num(last.qp[0]));
    nic_iommu_deny(pair->node[0], address, 1);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    pair_post_at(pair, 1000, last.qp[0], &wr);
    pair_post_at(pair, 1000, others.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(nic_qp_state(last.qp[0]), NIC_QPS_ERR);
    ck_assert_int_eq(nic_qp_state(others.qp[0]), NIC_QPS_RTS);
    uint32_t failed = 0;
    for (size_t i = 0; i < pair->done_count[0]; i++) {
        failed += pair->done[0][i].wc.status == NIC_WC_WR_FLUSH_ERR;
    }
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_uint_eq(failed, 1);
    const tiered_t *const tiered = (const tiered_t *)(const void *)nic_store_of(pair->nic[0]);
    const uint32_t number = nic__tiered_find(tiered, NIC_TOKEN_QP, nic_qp_num(last.qp[0]));
    ck_assert_uint_eq(tiered->tokens[number].cell.entry.layer, NIC_LAYER_L3);
    ck_assert_uint_ge(tiered->counters.refused[NIC_IOMMU_QP], 1);
    ck_assert_uint_eq(counters(0).faults, tiered->counters.refused[NIC_IOMMU_QP]);
    tear_down();
}
END_TEST

// -- every kind of context

typedef struct told {
    uint32_t count;
    uint64_t kind;
    uint64_t number;
    const nic_qp_t *qp;
} told_t;

static void on_refused(const nic_trace_t *trace, void *ctx)
{
    told_t *const told = ctx;
    if (told->count++ == 0) {
        *told = (told_t){1, trace->value, trace->before, trace->qp};
    }
}

// A context that its NIC may not touch fails the queue pair that needs it, and no other one, and is
// named. Without the denial, everything completes.
START_TEST(each_kind_of_context_is_refused)
{
    static const struct {
        nic_iommu_kind_t kind;
        const char *name;
    } kinds[] = {{NIC_IOMMU_PD, "pd"},
                 {NIC_IOMMU_MR, "mr"},
                 {NIC_IOMMU_CQ, "cq"},
                 {NIC_IOMMU_QP, "qp"},
                 {NIC_IOMMU_MTT, "mtt"}};
    const nic_iommu_kind_t kind = kinds[_i / 2].kind;
    const bool denied = _i % 2 == 0;
    set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup("lru");
    connect();
    nic_t *const nic = pair->nic[0];
    const uint32_t numbers[NIC_IOMMU_KIND_COUNT] = {
        [NIC_IOMMU_PD] = 1,
        [NIC_IOMMU_MR] = nic_mr_lkey(pair->mr[0]),
        [NIC_IOMMU_CQ] = nic_device_context(qps.qp[0]).send_cq_number,
        [NIC_IOMMU_QP] = nic_qp_num(qps.qp[0]),
        [NIC_IOMMU_MTT] = (uint32_t)(PAIR_MEMORY / config.nic.detail.page_bytes / 8),
    };
    told_t told = {0};
    nic_listen(nic, NIC_TRACE_REFUSED, on_refused, &told);
    if (denied) {
        nic_iommu_deny(pair->node[0], nic_iommu_context_address(nic, kind, numbers[kind]), 1);
    }
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    const tiered_t *const tiered = (const tiered_t *)(const void *)nic_store_of(nic);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), denied ? NIC_QPS_ERR : NIC_QPS_RTS);
    ck_assert_str_eq(nic_iommu_kind_name(kind), kinds[_i / 2].name);
    ck_assert_uint_eq(tiered->counters.refused[kind] != 0, denied);
    ck_assert_uint_eq(told.count, counters(0).faults);
    if (denied) {
        char name[24];
        (void)snprintf(name, sizeof(name), "%s:%u", kinds[_i / 2].name, numbers[kind]);
        ck_assert_str_eq(tiered->first_refused, name);
        ck_assert_uint_eq(told.kind, kind);
        ck_assert_uint_eq(told.number, numbers[kind]);
        ck_assert_ptr_eq(told.qp, qps.qp[0]);
    }
    tear_down();
}
END_TEST

// A SEND into a shared receive queue whose context is denied fails the queue pair that received it.
START_TEST(shared_receive_queues_are_refused)
{
    set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup("lru");
    pair = pair_create(&config);
    nic_srq_t *const srq = nic_srq_create(pair->pd[1], 16);
    const nic_qp_init_attr_t init = {.qp_type = NIC_QPT_RC,
                                     .send_cq = pair->cq[1],
                                     .recv_cq = pair->cq[1],
                                     .max_send_wr = 16,
                                     .srq = srq};
    qps.qp[0] = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    ck_assert_int_eq(nic_qp_create(pair->pd[1], &init, &qps.qp[1]), SIM_OK);
    for (uint32_t h = 0; h < 2; h++) {
        nic_qp_attr_t attr;
        pair_attr(pair, &qps, h, &attr);
        pair_connect_end(&qps, h, &attr);
    }
    const nic_recv_wr_t receive = {.sge = {PAIR_MEMORY, 64, nic_mr_lkey(pair->mr[1])}};
    uint32_t posted = 0;
    ck_assert_int_eq(nic_post_srq_recv(srq, &receive, 1, &posted), SIM_OK);
    if (_i == 0) {
        for (uint32_t number = 0; number < 64; number += 16) {
            nic_iommu_deny(pair->node[1],
                           nic_iommu_context_address(pair->nic[1], NIC_IOMMU_SRQ, number), 1);
        }
    }
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 8);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    const tiered_t *const tiered = (const tiered_t *)(const void *)nic_store_of(pair->nic[1]);
    ck_assert_uint_eq(tiered->counters.refused[NIC_IOMMU_SRQ] != 0, _i == 0);
    ck_assert_uint_eq(tiered->counters.refused[NIC_IOMMU_CQ], 0);
    ck_assert_int_eq(strncmp(tiered->first_refused, "srq:", 4) == 0, _i == 0);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), _i == 0 ? NIC_QPS_ERR : NIC_QPS_RTS);
    tear_down();
}
END_TEST

// nic.host.iommu.deny knows contexts by their names.
START_TEST(contexts_are_denied_by_name)
{
    set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
    sim_free(config.nic.host.iommu_deny);
    config.nic.host.iommu_deny = sim_strdup("cq:3, srq:0x20");
    connect();
    const nic_t *const nic = pair->nic[0];
    ck_assert(nic_iommu_denies(nic, nic_iommu_context_address(nic, NIC_IOMMU_CQ, 3), 1));
    ck_assert(!nic_iommu_denies(nic, nic_iommu_context_address(nic, NIC_IOMMU_CQ, 16), 1));
    ck_assert(nic_iommu_denies(nic, nic_iommu_context_address(nic, NIC_IOMMU_SRQ, 32), 1));
    ck_assert(!nic_iommu_denies(nic, nic_iommu_context_address(nic, NIC_IOMMU_QP, 3), 1));
    tear_down();
    static const char *const wrong[] = {"cq:", "cq:x", "cqs:1", "cq:1+2", "cq:4294967296"};
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
        sim_free(config.nic.host.iommu_deny);
        config.nic.host.iommu_deny = sim_strdup(wrong[i]);
        sim_message_t message = {.text = ""};
        ck_assert_int_ne(nic_config_check(&config.nic, &message), SIM_OK);
        ck_assert_ptr_nonnull(strstr(message.text, "cq:3"));
        pair_config_fini(&config);
    }
}
END_TEST

// -- translations

// Returns when each of `count` WRITEs from pages stride_bytes apart completes, posted 20 us apart.
static void writes(uint32_t count, uint64_t stride_bytes, sim_time_t *took_ps)
{
    connect();
    for (uint32_t i = 0; i < count; i++) {
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
        wr.sge.addr += i * stride_bytes;
        wr.rdma.remote_addr += i * stride_bytes;
        pair_post_at(pair, 1000 + i * UINT64_C(20000000), qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], count);
    for (uint32_t i = 0; i < count; i++) {
        took_ps[i] = pair->done[0][i].time_ps - 1000 - i * UINT64_C(20000000);
    }
}

static void near(sim_time_t a_ps, sim_time_t b_ps)
{
    ck_assert_msg(a_ps < b_ps + 5000 && b_ps < a_ps + 5000, "%" PRIu64 " %" PRIu64, a_ps, b_ps);
}

START_TEST(misses_take_a_walk)
{
    sim_time_t off_ps[8];
    sim_time_t took_ps[8];
    set_up(NIC_IOMMU_EXPANDS, NIC_DETAILED);
    writes(8, PAGE, off_ps);
    ck_assert_uint_eq(counters(0).walks, 0);
    tear_down();
    static const uint64_t pages[] = {1 << 12, 1 << 21, 1 << 30};
    for (uint32_t i = 0; i < SIM_COUNT_OF(pages); i++) {
        set_up(NIC_IOMMU_ALL, NIC_DETAILED);
        config.nic.host.iommu_page_bytes = pages[i];
        writes(8, PAGE, took_ps);
        const sim_time_t walk_ps = (4 - i) * UINT64_C(82500);
        near(took_ps[0], off_ps[0] + walk_ps);
        near(took_ps[7], off_ps[7] + (i == 0 ? walk_ps : 0));
        ck_assert_uint_eq(counters(0).walks, i == 0 ? 8 : 1);
        ck_assert_uint_eq(counters(0).hits, i == 0 ? 0 : 7);
        ck_assert_uint_eq(counters(0).reads, counters(0).walks * (4 - i));
        ck_assert_uint_eq(counters(1).walks, i == 0 ? 8 : 1); // where they are written
        tear_down();
    }
}
END_TEST

// As many pages as entries: all accesses but the first hit; one page more: none does (LRU).
START_TEST(the_iotlb_has_so_many_entries)
{
    for (uint32_t more = 0; more < 2; more++) {
        set_up(NIC_IOMMU_ALL, NIC_DETAILED);
        config.nic.host.iommu_entries = 8;
        connect();
        for (uint32_t i = 0; i < 4 * (8 + more); i++) {
            nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
            wr.sge.addr += i % (8 + more) * PAGE;
            pair_post_at(pair, 1000 + i * UINT64_C(20000000), qps.qp[0], &wr);
        }
        pair_run(pair);
        ck_assert_uint_eq(counters(0).walks, more == 0 ? 8 : 4 * 9);
        ck_assert_uint_eq(counters(0).hits, more == 0 ? 24 : 0);
        tear_down();
    }
}
END_TEST

static void deregister(pair_t *self, void *ctx)
{
    (void)self;
    nic_mr_deregister(*(nic_mr_t **)ctx);
}

// Two domains translate the same page each for itself; a region takes its translations along.
START_TEST(domains_are_apart)
{
    set_up(NIC_IOMMU_ALL, NIC_DETAILED);
    connect();
    nic_pd_t *const pd = nic_pd_alloc(pair->nic[0]);
    nic_mr_t *mr;
    ck_assert_int_eq(nic_mr_register(pd, PAIR_MEMORY, 64 * PAGE, NIC_ACCESS_LOCAL_WRITE, &mr),
                     SIM_OK);
    nic_t *const nic = pair->nic[0];
    const uint32_t first = nic_iommu_domain(nic, nic_mr_lkey(pair->mr[0]));
    const uint32_t second = nic_iommu_domain(nic, nic_mr_lkey(mr));
    ck_assert_uint_ne(first, second);
    sim_time_t now_ps = 1000000;
    for (uint32_t i = 0; i < 2; i++) {
        const sim_time_t expected_ps = i == 0 ? WALK_PS : 0;
        ck_assert_uint_eq(nic_iommu_translate(nic, first, PAIR_MEMORY, 8, now_ps),
                          now_ps + expected_ps);
        ck_assert_uint_eq(nic_iommu_translate(nic, second, PAIR_MEMORY, 8, now_ps),
                          now_ps + expected_ps);
        now_ps += 1000000;
    }
    ck_assert_uint_eq(counters(0).walks, 2);
    pair_call_at(pair, 0, 1000, deregister, &mr);
    pair_run(pair);
    ck_assert_uint_eq(counters(0).invalidations, 1);
    ck_assert_uint_eq(nic_iommu_translate(nic, first, PAIR_MEMORY, 8, now_ps), now_ps);
    ck_assert_uint_eq(nic_iommu_translate(nic, second, PAIR_MEMORY, 8, now_ps), now_ps + WALK_PS);
    tear_down();
}
END_TEST

// Walkers do so many walks at a time: 20 misses at one instant.
START_TEST(walkers_are_few)
{
    for (uint32_t walkers = 1; walkers <= 5; walkers += 4) {
        set_up(NIC_IOMMU_ALL, NIC_DETAILED);
        config.nic.host.iommu_walkers = walkers;
        connect();
        sim_time_t last_ps = 0;
        for (uint32_t i = 0; i < 20; i++) {
            last_ps = nic_iommu_translate(pair->nic[0], 1, i * PAGE, 8, 0);
        }
        ck_assert_uint_eq(last_ps, 20 / walkers * WALK_PS);
        ck_assert_uint_eq(counters(0).waits, 20 - walkers);
        // The same page again waits for the walk under way, and books no other.
        ck_assert_uint_eq(nic_iommu_translate(pair->nic[0], 1, 19 * PAGE, 8, 5), last_ps);
        ck_assert_uint_eq(counters(0).walks, 20);
        tear_down();
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(denied_pages_end_requests, 0, 2), CHECK_TEST(ranges_come_and_go),
           CHECK_LOOP(denied_contexts_are_not_fetched, 0, 2),
           CHECK_LOOP(each_kind_of_context_is_refused, 0, 10),
           CHECK_LOOP(shared_receive_queues_are_refused, 0, 2),
           CHECK_TEST(contexts_are_denied_by_name), CHECK_TEST(misses_take_a_walk),
           CHECK_TEST(the_iotlb_has_so_many_entries), CHECK_TEST(domains_are_apart),
           CHECK_TEST(walkers_are_few))

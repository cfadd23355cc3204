// SPDX-License-Identifier: Apache-2.0
// tests/rnic_cluster.c - machines around a switch, and the loops of their cores.
#include "tests/rnic_cluster.h"

#include <stdio.h>
#include <string.h>

#include "kernel/attribute.h"
#include "net/switch.h"

#define MEMORY UINT64_C(0x100000000)
#define MEMORY_BYTES (UINT64_C(1) << 24)
#define POLL_MAX 16u
#define BATCH_MAX 64u
#define RECVS_PER_QP 512u

typedef struct machine {
    net_node_t *node;
    nic_t *nic;
    nic_pd_t *pd;
    nic_mr_t *mr;
} machine_t;

typedef struct cluster {
    const cluster_config_t *config;
    const cluster_load_t *load;
    sim_t *sim;
    net_t *net;
    machine_t *machines;
    struct worker *workers;
    uint64_t counted;
    uint64_t operations;
} cluster_t;

// The work of one core.
typedef struct worker {
    cluster_t *cluster;
    machine_t *machine;
    nic_core_t *core;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t qp_count;
    uint32_t *targets; // UD: interface of each QP's peer
    uint32_t *target_qps;
    nic_send_wr_t wr;
    uint32_t batch;
    bool apart;        // each written by MMIO
    uint32_t to_start; // batches that begin the load
    uint32_t per_turn; // operations a completion stands for
    bool counts;
    bool receives;
    bool any_qp; // chosen at random
    uint32_t words;
    uint64_t random;
    uint64_t counted;
    uint64_t operations;
    uint32_t next_qp;
    struct worker *next;
} worker_t;

// -- set-up

void cluster_config_init(cluster_config_t *config)
{
    memset(config, 0, sizeof(*config));
    nic_config_init(&config->nic);
    cluster_set(config, "nic.congestion-control", "none");
    cluster_set(config, "nic.model", "detailed");
    cluster_set(config, "nic.profile", "connect-ib");
    config->machines = 2;
    config->link_bps = UINT64_C(112000000000);
    config->warm_ps = 50 * SIM_PS_PER_US;
    config->until_ps = 150 * SIM_PS_PER_US;
}

void cluster_config_fini(cluster_config_t *config)
{
    nic_config_fini(&config->nic);
}

void cluster_set(cluster_config_t *config, const char *path, const char *text)
{
    const sim_attr_t *const attr = sim_attr_find(&nic_config_attrs, path);
    SIM_CHECKF(attr != NULL, "no attribute %s", path);
    sim_message_t message;
    SIM_CHECKF(sim_attr_set(attr, &config->nic, text, &message) == SIM_OK, "%s", message.text);
}

static void build(cluster_t *cluster, const cluster_config_t *config)
{
    sim_message_t message;
    SIM_CHECKF(nic_config_check(&config->nic, &message) == SIM_OK, "%s", message.text);
    cluster->config = config;
    cluster->sim =
        sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = config->until_ps});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    cluster->net = net_create(cluster->sim, &net_config);
    sim_attrs_fini(&net_config_attrs, &net_config);
    net_switch_config_t sw;
    sim_attrs_default(&net_switch_config_attrs, &sw);
    sw.pfc_priorities = 0xff;
    net_node_t *const hub = net_switch_create(cluster->net, "hub", &sw);
    sim_attrs_fini(&net_switch_config_attrs, &sw);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = config->link_bps;
    link.delay_ps = 300 * SIM_PS_PER_NS;
    cluster->machines = sim_alloc_array(config->machines, sizeof(*cluster->machines));
    for (uint32_t m = 0; m < config->machines; m++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "m%u", m);
        cluster->machines[m].node = nic_host_create(cluster->net, name, &config->nic);
        (void)net_link_add(cluster->net, cluster->machines[m].node, hub, &link);
    }
    sim_attrs_fini(&net_link_config_attrs, &link);
    SIM_CHECKF(net_build(cluster->net, &message) == SIM_OK, "%s", message.text);
    for (uint32_t m = 0; m < config->machines; m++) {
        machine_t *const machine = &cluster->machines[m];
        machine->nic = nic_at(machine->node, 0);
        machine->pd = nic_pd_alloc(machine->nic);
        const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE |
                                NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC;
        SIM_CHECK(nic_mr_register(machine->pd, MEMORY, MEMORY_BYTES, rights, &machine->mr) ==
                  SIM_OK);
    }
}

static uint32_t next_random(worker_t *worker)
{
    worker->random = worker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(worker->random >> 33);
}

static worker_t *add_worker(cluster_t *cluster, uint32_t machine, nic_core_fn step, uint32_t qps)
{
    worker_t *const worker = sim_alloc(sizeof(*worker));
    worker->cluster = cluster;
    worker->machine = &cluster->machines[machine];
    worker->core = nic_core_create(worker->machine->node, step, worker);
    worker->cq = nic_cq_create(worker->machine->nic, 1u << 20, NULL, NULL);
    nic_cq_set_core(worker->cq, worker->core);
    worker->qps = sim_alloc_array(qps, sizeof(*worker->qps));
    worker->targets = sim_alloc_array(qps, sizeof(*worker->targets));
    worker->target_qps = sim_alloc_array(qps, sizeof(*worker->target_qps));
    worker->batch = 1;
    worker->per_turn = 1;
    worker->next = cluster->workers;
    cluster->workers = worker;
    worker->random = (uint64_t)machine << 32 | qps;
    return worker;
}

static nic_qp_t *add_qp(worker_t *worker, nic_qp_type_t type, uint32_t wrs, uint32_t recvs)
{
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {
        .qp_type = type,
        .send_cq = worker->cq,
        .recv_cq = worker->cq,
        .max_send_wr = wrs,
        .max_recv_wr = recvs,
    };
    SIM_CHECK(nic_qp_create(worker->machine->pd, &attr, &qp) == SIM_OK);
    worker->qps[worker->qp_count++] = qp;
    return qp;
}

static void connect_to(nic_qp_t *qp, nic_qp_t *peer)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic_qp_nic(qp), &attr);
    attr.dest_interface = nic_interface(nic_qp_nic(peer));
    attr.dest_qp_num = nic_qp_num(peer);
    sim_message_t message;
    SIM_CHECKF(nic_qp_connect(qp, &attr, &message) == SIM_OK, "%s", message.text);
}

static void finish(cluster_t *cluster, cluster_result_t *result)
{
    const cluster_config_t *const config = cluster->config;
    (void)sim_run(cluster->sim); // ends at its time
    memset(result, 0, sizeof(*result));
    uint64_t counted = 0;
    while (cluster->workers != NULL) {
        worker_t *const worker = cluster->workers;
        cluster->workers = worker->next;
        counted += worker->counted;
        result->operations += worker->operations;
        sim_free(worker->qps);
        sim_free(worker->targets);
        sim_free(worker->target_qps);
        sim_free(worker);
    }
    const double span_us = (double)(config->until_ps - config->warm_ps) / (double)SIM_PS_PER_US;
    result->mops = (double)counted / span_us;
    result->mops_machine = result->mops / config->machines;
    result->events = sim_events(cluster->sim);
    result->conserved = true;
    for (uint32_t m = 0; m < config->machines; m++) {
        result->conserved &= nic_conserved(cluster->machines[m].nic);
    }
    (void)nic_get_rnic_counters(cluster->machines[0].nic, &result->first);
    const uint64_t received = nic_get_counters(cluster->machines[0].nic)->rx_packets;
    result->received_mops = (double)received * (double)SIM_PS_PER_US / (double)config->until_ps;
    sim_destroy(cluster->sim);
    net_destroy(cluster->net);
    sim_free(cluster->machines);
}

// -- the loops

static void note_done(worker_t *worker, uint32_t count)
{
    worker->operations += count;
    const sim_time_t now_ps = nic_core_now_ps(worker->core);
    const cluster_config_t *const config = worker->cluster->config;
    if (worker->counts && now_ps >= config->warm_ps && now_ps < config->until_ps) {
        worker->counted += count;
    }
}

static void post_batch(worker_t *worker, uint32_t index)
{
    nic_send_wr_t list[BATCH_MAX];
    for (uint32_t i = 0; i < worker->batch; i++) {
        list[i] = worker->wr;
        list[i].wr_id = index;
        list[i].send_flags |= i + 1 == worker->batch ? (uint32_t)NIC_SEND_SIGNALED : 0;
        list[i].next = worker->apart || i + 1 == worker->batch ? NULL : &list[i + 1];
        list[i].ud.remote_interface = worker->targets[index];
        list[i].ud.remote_qpn = worker->target_qps[index];
        if (worker->words != 0) {
            list[i].atomic.remote_addr =
                MEMORY + 8 * (uint64_t)(next_random(worker) % worker->words);
        }
    }
    for (uint32_t i = 0; i < (worker->apart ? worker->batch : 1); i++) {
        SIM_CHECK(nic_post_send_list(worker->qps[index], &list[i], NULL) == SIM_OK);
    }
}

static bool keep_sending(nic_core_t *core, void *ctx)
{
    (void)core;
    worker_t *const worker = ctx;
    for (uint32_t i = 0; i < POLL_MAX && worker->to_start > 0; i++) {
        worker->to_start--;
        const uint32_t index = worker->any_qp ? next_random(worker) % worker->qp_count
                                              : worker->next_qp++ % worker->qp_count;
        post_batch(worker, index);
        if (worker->to_start == 0 || i + 1 == POLL_MAX) {
            return true;
        }
    }
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(worker->cq, POLL_MAX, wc);
    for (uint32_t i = 0; i < count; i++) {
        SIM_CHECKF(wc[i].status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc[i].status));
        note_done(worker, worker->per_turn);
        post_batch(worker,
                   worker->any_qp ? next_random(worker) % worker->qp_count : (uint32_t)wc[i].wr_id);
    }
    return count != 0;
}

static void post_receives(worker_t *worker, nic_qp_t *qp, uint32_t count)
{
    nic_recv_wr_t list[RECVS_PER_QP];
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (nic_recv_wr_t){.wr_id = (uint64_t)(uintptr_t)qp,
                                  .sge = {MEMORY, 256, nic_mr_lkey(worker->machine->mr)}};
    }
    SIM_CHECK(nic_post_recv_list(qp, list, count, NULL) == SIM_OK);
}

static bool keep_receiving(nic_core_t *core, void *ctx)
{
    (void)core;
    worker_t *const worker = ctx;
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(worker->cq, POLL_MAX, wc);
    note_done(worker, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 1;
        while (i + 1 < count && wc[i + 1].wr_id == wc[i].wr_id) {
            i++;
            same++;
        }
        post_receives(worker, (nic_qp_t *)(uintptr_t)wc[i].wr_id, same);
    }
    return count != 0;
}

// -- all to all

void cluster_reads(const cluster_config_t *config, const cluster_reads_t *reads,
                   cluster_result_t *result)
{
    cluster_t cluster = {0};
    build(&cluster, config);
    const uint32_t machines = config->machines;
    const uint32_t qps = (machines - 1) * reads->emulated;
    worker_t **const workers = sim_alloc_array(machines * reads->threads, sizeof(*workers));
    for (uint32_t w = 0; w < machines * reads->threads; w++) {
        workers[w] = add_worker(&cluster, w / reads->threads, keep_sending, qps);
        workers[w]->random += w;
        workers[w]->any_qp = true;
        workers[w]->counts = true;
        workers[w]->to_start = reads->window;
        workers[w]->wr = (nic_send_wr_t){
            .opcode = NIC_WR_RDMA_READ,
            .sge = {MEMORY, reads->bytes, nic_mr_lkey(workers[w]->machine->mr)},
            .rdma = {MEMORY, nic_mr_rkey(workers[w]->machine->mr)},
        };
        for (uint32_t q = 0; q < qps; q++) {
            (void)add_qp(workers[w], NIC_QPT_RC, reads->window, 0);
        }
    }
    // QP q of machine m leads to machine m + 1 + q mod (machines - 1), whose way back has the
    // complementary distance.
    for (uint32_t w = 0; w < machines * reads->threads; w++) {
        for (uint32_t q = 0; q < qps; q++) {
            const uint32_t distance = 1 + q % (machines - 1);
            const uint32_t peer = (w / reads->threads + distance) % machines;
            const uint32_t back = q / (machines - 1) * (machines - 1) + machines - 1 - distance;
            connect_to(workers[w]->qps[q],
                       workers[peer * reads->threads + w % reads->threads]->qps[back]);
        }
        nic_core_start(workers[w]->core, 1000 * (sim_time_t)w);
    }
    sim_free(workers);
    finish(&cluster, result);
}

// -- one server

static void add_load(cluster_t *cluster, uint32_t machine, uint32_t core, uint32_t peer)
{
    const cluster_load_t *const load = cluster->load;
    worker_t *const worker = add_worker(cluster, machine, keep_sending, load->qps);
    const machine_t *const to = &cluster->machines[peer];
    const bool inlined = !load->from_memory && load->opcode < NIC_WR_RDMA_READ;
    worker->random += 1000 * machine + core;
    worker->counts = true;
    worker->batch = load->batch;
    worker->apart = load->apart;
    worker->per_turn = load->batch;
    worker->to_start = load->window * load->qps;
    worker->words = load->words;
    worker->wr = (nic_send_wr_t){
        .opcode = load->opcode,
        .send_flags = inlined ? (uint32_t)NIC_SEND_INLINE : 0,
        .sge = {MEMORY, load->bytes, nic_mr_lkey(worker->machine->mr)},
        .rdma = {MEMORY, nic_mr_rkey(to->mr)},
        .atomic = {MEMORY, 1, 0, nic_mr_rkey(to->mr)},
    };
    // The other end: a core that takes what comes, if anything comes to it.
    worker_t *const other = add_worker(cluster, peer, keep_receiving, load->qps);
    const bool sends = load->opcode == NIC_WR_SEND || load->opcode == NIC_WR_SEND_WITH_IMM;
    for (uint32_t q = 0; q < load->qps; q++) {
        nic_qp_t *const qp = add_qp(worker, load->type, load->batch * load->window * 2, 0);
        nic_qp_t *const back = add_qp(other, load->type, 1, RECVS_PER_QP);
        connect_to(qp, back);
        connect_to(back, qp);
        worker->targets[q] = nic_interface(to->nic);
        worker->target_qps[q] = nic_qp_num(back);
        if (sends) {
            post_receives(other, back, RECVS_PER_QP);
        }
    }
    if (sends && !load->outbound) {
        worker->counts = false;
        other->counts = true;
    }
    nic_core_start(other->core, 0);
    nic_core_start(worker->core, 1000 * (sim_time_t)(machine + 100 * core));
}

void cluster_load(const cluster_config_t *config, const cluster_load_t *load,
                  cluster_result_t *result)
{
    cluster_t cluster = {.load = load};
    build(&cluster, config);
    SIM_CHECK(load->batch >= 1 && load->batch <= BATCH_MAX);
    const uint32_t clients = config->machines - 1;
    if (load->outbound) {
        for (uint32_t c = 0; c < load->cores; c++) {
            add_load(&cluster, 0, c, 1 + c % clients);
        }
    } else {
        for (uint32_t m = 1; m <= clients; m++) {
            for (uint32_t c = 0; c < load->cores; c++) {
                add_load(&cluster, m, c, 0);
            }
        }
    }
    finish(&cluster, result);
}

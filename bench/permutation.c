// SPDX-License-Identifier: Apache-2.0
// bench/permutation.c - packet-hops per second: a permutation of RC WRITEs over a fat-tree.
//
//     permutation [--k 8] [--bytes 8MB] [--threads 1] [--qps 1] [--mtu 4096] [--cc none]
//                 [--talkers 0] [--repeat 1]
//
// Every host, or the given number of first ones, sends to the host half the network away. A
// packet-hop is one packet over one link, ACKs included. Prints one line of JSON per run; wall time
// covers sim_run only, build_s and built_rss_bytes what it takes until the network stands.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kernel/parse.h"
#include "net/nodes.h"
#include "topologies/builders.h"

typedef struct options {
    uint64_t k;
    uint64_t bytes;
    uint64_t threads;
    uint64_t qps;
    uint64_t mtu;
    uint64_t talkers; // 0: all
    uint64_t repeat;
    const char *cc;
} options_t;

typedef struct plan {
    net_switch_config_t switch_config;
    nic_config_t nic_config;
} plan_t;

static const net_switch_config_t *switch_config(const char *name, void *ctx)
{
    (void)name;
    return &((plan_t *)ctx)->switch_config;
}

static const nic_config_t *nic_config(const char *name, void *ctx)
{
    (void)name;
    return &((plan_t *)ctx)->nic_config;
}

static void link_config(const net_node_t *a, const net_node_t *b, net_link_config_t *config,
                        void *ctx)
{
    (void)a;
    (void)b;
    (void)config;
    (void)ctx;
}

static void fail(const sim_message_t *message)
{
    (void)fprintf(stderr, "permutation: %s\n", message->text);
    exit(2);
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void drain(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        if (wc.status != NIC_WC_SUCCESS) {
            (void)fprintf(stderr, "permutation: %s\n", nic_wc_status_text(wc.status));
            exit(1);
        }
        sim_work_end(&nic_node(ctx)->sim, 1);
    }
}

static nic_qp_t *make_qp(nic_t *nic, nic_pd_t *pd, nic_cq_t *cq, uint32_t number)
{
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {.qp_type = NIC_QPT_RC,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .max_send_wr = 1,
                                     .qp_num = number};
    (void)nic;
    if (nic_qp_create(pd, &attr, &qp) != SIM_OK) {
        fail(&(sim_message_t){.text = "no queue pair"});
    }
    return qp;
}

static void connect_pair(net_t *net, uint32_t from, uint32_t to, const options_t *options)
{
    sim_message_t message = {.text = ""};
    nic_t *const nics[2] = {nic_of_interface(net, from), nic_of_interface(net, to)};
    nic_qp_t *qps[2];
    nic_mr_t *mrs[2];
    for (int e = 0; e < 2; e++) {
        nic_pd_t *const pd = nic_pd_alloc(nics[e]);
        const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE;
        if (nic_mr_register(pd, 0, UINT64_C(1) << 40, rights, &mrs[e]) != SIM_OK) {
            fail(&(sim_message_t){.text = "no memory region"});
        }
        qps[e] = make_qp(nics[e], pd, nic_cq_create(nics[e], 16, drain, nics[e]), 0);
    }
    for (int e = 0; e < 2; e++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nics[e], &attr);
        attr.dest_interface = e == 0 ? to : from;
        attr.dest_qp_num = nic_qp_num(qps[1 - e]);
        attr.access = NIC_ACCESS_REMOTE_WRITE;
        if (nic_qp_connect(qps[e], &attr, &message) != SIM_OK) {
            fail(&message);
        }
    }
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {0, options->bytes / options->qps, nic_mr_lkey(mrs[0])},
        .rdma = {0, nic_mr_rkey(mrs[1])},
    };
    sim_work_begin(&nic_node(nics[0])->sim, 1);
    if (nic_post_send(qps[0], &wr) != SIM_OK) {
        fail(&(sim_message_t){.text = "post failed"});
    }
}

static uint64_t count_hops(const net_t *net)
{
    uint64_t hops = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
                hops += node->ports[p].classes[c]->tx_packets;
            }
        }
    }
    return hops;
}

typedef struct qp_sum {
    uint64_t count;
    uint64_t bytes;
} qp_sum_t;

static void add_qp(const nic_qp_t *qp, void *ctx)
{
    qp_sum_t *const sum = ctx;
    sum->count++;
    sum->bytes += nic_qp_memory_bytes(qp);
}

static uint64_t bytes_per_qp(const net_t *net)
{
    qp_sum_t sum = {0};
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        nic_for_each_qp(nic_of_interface(net, i), add_qp, &sum);
    }
    return sum.count == 0 ? 0 : sum.bytes / sum.count;
}

// Returns the bytes of memory that this process has resident now; 0: the system does not say.
static long resident_bytes(void)
{
    char line[128] = "";
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fgets(line, sizeof(line), file) == NULL) {
            line[0] = '\0';
        }
        (void)fclose(file);
    }
    const char *const resident = strchr(line, ' '); // the second number, in pages
    return resident == NULL ? 0 : strtol(resident, NULL, 10) * sysconf(_SC_PAGESIZE);
}

typedef struct spent {
    double build_s;
    long built_bytes;
    double run_s;
} spent_t;

static void report(const options_t *options, const sim_t *sim, const net_t *net,
                   const spent_t *spent)
{
    const double wall_s = spent->run_s;
    const uint64_t hops = count_hops(net);
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf(
        "{\"bench\": \"permutation\", \"k\": %" PRIu64 ", \"hosts\": %zu, \"bytes\": %" PRIu64
        ", \"threads\": %" PRIu64 ", \"qps\": %" PRIu64 ", \"packet_hops\": %" PRIu64
        ", \"events\": %" PRIu64 ", \"wall_s\": %.4f, \"packet_hops_per_s\": %.0f"
        ", \"ns_per_hop\": %.2f, \"sim_time_us\": %.3f, \"packet_memory_bytes\": %" PRIu64
        ", \"bytes_per_packet\": %zu, \"bytes_per_port\": %zu, \"bytes_per_qp\": %" PRIu64
        ", \"build_s\": %.3f, \"built_rss_bytes\": %ld, \"max_rss_bytes\": %ld, "
        "\"digest\": \"%016" PRIx64 "\"}\n",
        options->k, net_interface_count(net), options->bytes, options->threads, options->qps, hops,
        sim_events(sim), wall_s, (double)hops / wall_s, wall_s * 1e9 / (double)hops,
        (double)sim_end_time_ps(sim) / (double)SIM_PS_PER_US, net_packet_memory_bytes(net),
        (size_t)SIM_CACHE_LINE + sizeof(net_packet_aside_t),
        sizeof(net_port_t) + sizeof(net_class_t) + sizeof(net_received_t), bytes_per_qp(net),
        spent->build_s, spent->built_bytes, usage.ru_maxrss * 1024, sim_digest(sim));
}

static void run_once(const options_t *options)
{
    sim_message_t message = {.text = ""};
    spent_t spent;
    const double begin_s = seconds_now();
    plan_t configs;
    sim_attrs_default(&net_switch_config_attrs, &configs.switch_config);
    nic_config_init(&configs.nic_config);
    configs.nic_config.mtu_bytes = options->mtu;
    sim_free(configs.nic_config.congestion_control);
    configs.nic_config.congestion_control = sim_strdup(options->cc);
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1,
                                                   .threads = (unsigned)options->threads,
                                                   .until_ps = SIM_TIME_NEVER});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    const topo_ops_t *const topology = topo_find("fat-tree");
    topo_fat_tree_config_t tree;
    sim_attrs_default(topology->attrs, &tree);
    tree.k = options->k;
    const topo_plan_t plan = {.net = net,
                              .switch_config = switch_config,
                              .nic_config = nic_config,
                              .nic_configs_stay = true,
                              .link_config = link_config,
                              .ctx = &configs};
    if (topology->check(&tree, &message) != SIM_OK ||
        topology->build(&plan, &tree, &message) != SIM_OK || net_build(net, &message) != SIM_OK) {
        fail(&message);
    }
    const uint32_t hosts = (uint32_t)net_interface_count(net);
    const uint64_t talkers = options->talkers == 0 ? hosts : options->talkers;
    spent.build_s = seconds_now() - begin_s;
    spent.built_bytes = resident_bytes();
    for (uint32_t i = 0; i < hosts && i < talkers; i++) {
        for (uint64_t q = 0; q < options->qps; q++) {
            connect_pair(net, i, (i + hosts / 2) % hosts, options);
        }
    }
    const double start_s = seconds_now();
    const sim_ended_t ended = sim_run(sim);
    spent.run_s = seconds_now() - start_s;
    if (ended != SIM_ENDED_DONE || !net_conservation_ok(net, &message)) {
        (void)fprintf(stderr, "permutation: run ended %d %s\n", (int)ended, message.text);
        exit(1);
    }
    report(options, sim, net, &spent);
    sim_destroy(sim);
    net_destroy(net);
    nic_config_fini(&configs.nic_config);
}

int main(int argc, char **argv)
{
    options_t options = {8, 8000000, 1, 1, 4096, 0, 1, "none"};
    for (int i = 1; i < argc; i += 2) {
        sim_message_t message = {.text = "expected a value"};
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        sim_err_t error = SIM_ERR_UNKNOWN;
        if (strcmp(argv[i], "--k") == 0) {
            error = sim_parse_count(value, &options.k, &message);
        } else if (strcmp(argv[i], "--bytes") == 0) {
            error = sim_parse_bytes(value, &options.bytes, &message);
        } else if (strcmp(argv[i], "--threads") == 0) {
            error = sim_parse_count(value, &options.threads, &message);
        } else if (strcmp(argv[i], "--qps") == 0) {
            error = sim_parse_count(value, &options.qps, &message);
        } else if (strcmp(argv[i], "--mtu") == 0) {
            error = sim_parse_count(value, &options.mtu, &message);
        } else if (strcmp(argv[i], "--talkers") == 0) {
            error = sim_parse_count(value, &options.talkers, &message);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            error = sim_parse_count(value, &options.repeat, &message);
        } else if (strcmp(argv[i], "--cc") == 0) {
            options.cc = value;
            error = SIM_OK;
        }
        if (error != SIM_OK) {
            (void)fprintf(stderr, "permutation: %s %s: %s\n", argv[i], value, message.text);
            return 2;
        }
    }
    for (uint64_t r = 0; r < options.repeat; r++) {
        run_once(&options);
    }
    return 0;
}

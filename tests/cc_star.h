// SPDX-License-Identifier: Apache-2.0
// tests/cc_star.h - senders and one receiver around a switch, for tests of congestion control.
//
// Each sender has one RC queue pair and writes messages to the receiver, some posted ahead,
// from start_ps until stop_ps or until message_count are done. Every sample_ps what each sender
// has done, its rate, and the queue of the port to the receiver are noted.
//
//     star_config_t config;                     star_config_init(&config);
//     star_t *star = star_create(&config);      // then star->flows[i] may be changed
//     star_run(star);                           star_mean_bps(star, i, from_ps, to_ps) ...
//     star_destroy(star);                       star_config_fini(&config);
#ifndef TESTS_CC_STAR_H
#define TESTS_CC_STAR_H

#include <string.h>

#include "net/port_metrics.h"
#include "net/switch.h"
#include "nic/host.h"
#include "tests/algorithms.h"
#include "tests/check_main.h"

typedef struct star_config {
    uint32_t sender_count;
    net_link_config_t link; // of every link
    uint64_t receiver_bps;  // rate of the receiver's; 0: as the others
    sim_ratio_t loss_rate;  // of the receiver's link: pauses of the senders are never lost
    nic_config_t nic;       // of every host
    net_switch_config_t sw;
    uint64_t message_bytes;
    sim_time_t sample_ps;
    sim_options_t options;
    // One more host sends this much in a class of its own that the switch serves first, from
    // background_start_ps to background_stop_ps: the others lose that capacity. 0: none.
    uint64_t background_bps;
    sim_time_t background_start_ps;
    sim_time_t background_stop_ps;
} star_config_t;

#define STAR_BACKGROUND_PRIORITY 5

typedef struct star_sample {
    uint64_t done_bytes;
    uint64_t rate_bps;
} star_sample_t;

typedef struct star_hub_sample {
    uint64_t queue_bytes;
    uint64_t sent_packets; // of the senders' class
    uint64_t marked_packets;
} star_hub_sample_t;

typedef struct star star_t;

typedef struct star_flow {
    star_t *star;
    sim_node_t *node;
    nic_qp_t *qp;
    nic_send_wr_t write;
    sim_timer_t start;
    sim_time_t start_ps;
    sim_time_t stop_ps;     // nothing is posted from here on
    uint64_t message_count; // nor more than these
    uint64_t posted;
    uint64_t done;
    uint64_t failed;
    sim_time_t done_ps; // of the last
    star_sample_t *samples;
    size_t sample_count;
} star_flow_t;

struct star {
    star_config_t config;
    sim_t *sim;
    net_t *net;
    net_node_t *hub;
    net_node_t *receiver;
    const net_port_t *bottleneck; // of the hub, to the receiver
    star_flow_t *flows;           // sender_count, and the background's
    star_hub_sample_t *samples;   // of the bottleneck
    size_t sample_count;
    size_t sample_limit;
};

#define STAR_MEMORY UINT64_C(0x100000)
#define STAR_DEPTH 16 // messages posted ahead: more than a round trip's worth

static inline void star_config_init(star_config_t *config)
{
    memset(config, 0, sizeof(*config));
    config->sender_count = 2;
    config->loss_rate = (sim_ratio_t){0, 1};
    sim_attrs_default(&net_link_config_attrs, &config->link);
    sim_attrs_default(&net_switch_config_attrs, &config->sw);
    nic_config_init_with(&config->nic, compat_hpcc_nic_rows, compat_hpcc_nic_row_count);
    config->message_bytes = 32768;
    config->sample_ps = 10 * SIM_PS_PER_US;
    config->options = (sim_options_t){.seed = 1, .threads = 1, .until_ps = 10 * SIM_PS_PER_MS};
}

static inline void star_config_fini(star_config_t *config)
{
    nic_config_fini(&config->nic);
    sim_attrs_fini(&net_switch_config_attrs, &config->sw);
    sim_attrs_fini(&net_link_config_attrs, &config->link);
}

static inline void star_use(star_config_t *config, const char *algorithm)
{
    sim_free(config->nic.congestion_control);
    config->nic.congestion_control = sim_strdup(algorithm);
}

// Returns the config struct of one algorithm, which the caller may change.
static inline void *star_cc_config(star_config_t *config, const nic_cc_ops_t *ops)
{
    void *const part = nic_config_part(&config->nic, ops->attrs);
    SIM_CHECK(part != NULL);
    return part;
}

// -- a flow

static inline void star_post(star_flow_t *flow)
{
    if (flow->node->now_ps < flow->stop_ps && flow->posted < flow->message_count) {
        flow->posted++;
        ck_assert_int_eq(nic_post_send(flow->qp, &flow->write), SIM_OK);
    }
}

static inline void star_started(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    star_flow_t *const flow = SIM_CONTAINER_OF(timer, star_flow_t, start);
    for (int i = 0; i < STAR_DEPTH; i++) {
        star_post(flow);
    }
}

static inline void star_completed(nic_cq_t *cq, void *ctx)
{
    star_flow_t *const flow = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        if (wc.status != NIC_WC_SUCCESS) {
            flow->failed++;
            continue;
        }
        flow->done++;
        flow->done_ps = flow->node->now_ps;
        star_post(flow);
    }
}

static inline uint64_t star_qp_metric(const nic_qp_t *qp, const char *name)
{
    for (const nic_qp_metric_t *metric = nic_qp_metrics; metric->name != NULL; metric++) {
        if (strcmp(metric->name, name) == 0) {
            return nic_qp_metric_read(metric, qp);
        }
    }
    ck_abort_msg("no metric %s", name);
    return 0;
}

static inline void star_sample_flow(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    star_flow_t *const flow = ctx;
    if (flow->sample_count < flow->star->sample_limit) {
        flow->samples[flow->sample_count++] = (star_sample_t){
            .done_bytes = flow->done * flow->star->config.message_bytes,
            .rate_bps = star_qp_metric(flow->qp, "rate_bps"),
        };
    }
}

static inline void star_sample_hub(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    star_t *const star = ctx;
    const uint64_t priority = star->config.nic.priority;
    if (star->sample_count < star->sample_limit) {
        star->samples[star->sample_count++] = (star_hub_sample_t){
            .queue_bytes = net_port_queue_bytes(star->bottleneck),
            .sent_packets = star->bottleneck->classes[priority]->tx_packets,
            .marked_packets = star->bottleneck->rare->ecn_marked[priority],
        };
    }
}

static inline uint32_t star_flow_count(const star_t *star)
{
    return star->config.sender_count + (star->config.background_bps != 0);
}

static inline bool star_is_background(const star_flow_t *flow)
{
    return flow - flow->star->flows == (ptrdiff_t)flow->star->config.sender_count;
}

static inline void star_connect(star_t *star, star_flow_t *flow, nic_t *from, nic_t *to)
{
    const nic_qp_init_attr_t ends[2] = {
        {.send_cq = nic_cq_create(from, STAR_DEPTH, star_completed, flow),
         .recv_cq = nic_cq_create(from, 16, NULL, NULL),
         .max_send_wr = STAR_DEPTH,
         .sq_sig_all = true},
        {.send_cq = nic_cq_create(to, 16, NULL, NULL),
         .recv_cq = nic_cq_create(to, 16, NULL, NULL),
         .max_send_wr = 4},
    };
    nic_t *const nics[2] = {from, to};
    nic_qp_t *qps[2];
    nic_mr_t *regions[2];
    for (int i = 0; i < 2; i++) {
        nic_pd_t *const pd = nic_pd_alloc(nics[i]);
        ck_assert_int_eq(nic_qp_create(pd, &ends[i], &qps[i]), SIM_OK);
        ck_assert_int_eq(nic_mr_register(pd, STAR_MEMORY, star->config.message_bytes,
                                         NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE,
                                         &regions[i]),
                         SIM_OK);
    }
    for (int i = 0; i < 2; i++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nics[i], &attr);
        attr.dest_interface = nic_interface(nics[1 - i]);
        attr.dest_qp_num = nic_qp_num(qps[1 - i]);
        attr.access = NIC_ACCESS_REMOTE_WRITE;
        if (star_is_background(flow)) {
            attr.priority = STAR_BACKGROUND_PRIORITY;
            attr.dscp = STAR_BACKGROUND_PRIORITY * 8;
            attr.rate_max_bps = star->config.background_bps;
        }
        sim_message_t message;
        ck_assert_msg(nic_qp_connect(qps[i], &attr, &message) == SIM_OK, "%s", message.text);
    }
    flow->qp = qps[0];
    flow->write = (nic_send_wr_t){
        .opcode = NIC_WR_RDMA_WRITE,
        .sge = {STAR_MEMORY, star->config.message_bytes, nic_mr_lkey(regions[0])},
        .rdma = {STAR_MEMORY, nic_mr_rkey(regions[1])},
    };
}

// -- the star

static inline net_node_t *star_add_host(star_t *star, const char *name, const nic_config_t *nic,
                                        sim_ratio_t loss_rate)
{
    net_node_t *const host = nic_host_create(star->net, name, nic);
    net_link_config_t link = star->config.link;
    link.loss_rate = loss_rate;
    if (strcmp(name, "receiver") == 0 && star->config.receiver_bps != 0) {
        link.rate_bps = star->config.receiver_bps;
    }
    net_link_add(star->net, host, star->hub, &link);
    return host;
}

// Creates the star; config must outlive it.
static inline star_t *star_create(const star_config_t *config)
{
    star_t *const star = sim_alloc(sizeof(*star));
    star->config = *config;
    star->sim = sim_create(&config->options);
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    star->net = net_create(star->sim, &net_config);
    net_switch_config_t sw = config->sw;
    if (config->background_bps != 0) {
        sw.strict_priorities |= 1u << STAR_BACKGROUND_PRIORITY;
    }
    star->hub = net_switch_create(star->net, "hub", &sw);
    star->receiver = star_add_host(star, "receiver", &config->nic, config->loss_rate);
    star->flows = sim_alloc_array(config->sender_count + 1, sizeof(*star->flows));
    nic_config_t background;
    nic_config_copy(&background, &config->nic);
    sim_free(background.congestion_control);
    background.congestion_control = sim_strdup("none");
    background.bdp_window = NIC_BDP_WINDOW_NONE;
    for (uint32_t i = 0; i < star_flow_count(star); i++) {
        const bool is_background = i == config->sender_count;
        char name[32];
        snprintf(name, sizeof(name), "sender%" PRIu32, i);
        star->flows[i] = (star_flow_t){
            .star = star,
            .node = &star_add_host(star, name, is_background ? &background : &config->nic,
                                   config->link.loss_rate)
                         ->sim,
            .start_ps = is_background ? config->background_start_ps : 0,
            .stop_ps = is_background ? config->background_stop_ps : SIM_TIME_NEVER,
            .message_count = UINT64_MAX,
        };
    }
    nic_config_fini(&background);
    sim_message_t message;
    ck_assert_msg(net_build(star->net, &message) == SIM_OK, "%s", message.text);
    star->bottleneck = nic_count(star->receiver) == 1 ? star->receiver->ports[0].peer : NULL;
    star->sample_limit = (size_t)(config->options.until_ps / config->sample_ps) + 1;
    star->samples = sim_alloc_array(star->sample_limit, sizeof(*star->samples));
    for (uint32_t i = 0; i < star_flow_count(star); i++) {
        star_flow_t *const flow = &star->flows[i];
        flow->samples = sim_alloc_array(star->sample_limit, sizeof(*flow->samples));
        star_connect(star, flow, nic_at((net_node_t *)(void *)flow->node, 0),
                     nic_at(star->receiver, 0));
    }
    return star;
}

// Runs to the end and checks that no packet was lost track of.
static inline sim_ended_t star_run(star_t *star)
{
    for (uint32_t i = 0; i < star_flow_count(star); i++) {
        star_flow_t *const flow = &star->flows[i];
        sim_timer_init(&flow->start, star_started);
        sim_timer_arm(flow->node, &flow->start, flow->start_ps);
        sim_sample(star->sim, flow->node, 0, star->config.sample_ps, star_sample_flow, flow);
    }
    sim_sample(star->sim, &star->hub->sim, 0, star->config.sample_ps, star_sample_hub, star);
    const sim_ended_t ended = sim_run(star->sim);
    sim_message_t message;
    ck_assert_msg(net_conservation_ok(star->net, &message), "%s", message.text);
    for (uint32_t i = 0; i < star_flow_count(star); i++) {
        ck_assert_uint_eq(star->flows[i].failed, 0);
    }
    return ended;
}

static inline void star_destroy(star_t *star)
{
    for (uint32_t i = 0; i < star_flow_count(star); i++) {
        sim_free(star->flows[i].samples);
    }
    sim_free(star->flows);
    sim_free(star->samples);
    sim_destroy(star->sim);
    net_destroy(star->net);
    sim_free(star);
}

// -- what was seen

static inline size_t star_index(const star_t *star, sim_time_t time_ps)
{
    return (size_t)(time_ps / star->config.sample_ps);
}

// Returns the payload that one sender completed per second between two times.
static inline double star_mean_bps(const star_t *star, uint32_t sender, sim_time_t from_ps,
                                   sim_time_t to_ps)
{
    const star_flow_t *const flow = &star->flows[sender];
    const size_t from = star_index(star, from_ps);
    const size_t to = star_index(star, to_ps);
    ck_assert_uint_lt(to, flow->sample_count);
    const uint64_t bytes = flow->samples[to].done_bytes - flow->samples[from].done_bytes;
    return (double)bytes * 8.0 / ((double)(to_ps - from_ps) / (double)SIM_PS_PER_S);
}

static inline double star_mean_queue(const star_t *star, sim_time_t from_ps, sim_time_t to_ps)
{
    const size_t from = star_index(star, from_ps);
    const size_t to = star_index(star, to_ps);
    ck_assert_uint_lt(to, star->sample_count);
    double sum = 0.0;
    for (size_t i = from; i < to; i++) {
        sum += (double)star->samples[i].queue_bytes;
    }
    return sum / (double)(to - from);
}

// Returns the share of the senders' packets that left the bottleneck with a mark.
static inline double star_marked_share(const star_t *star, sim_time_t from_ps, sim_time_t to_ps)
{
    const size_t from = star_index(star, from_ps);
    const size_t to = star_index(star, to_ps);
    ck_assert_uint_lt(to, star->sample_count);
    const star_hub_sample_t *const first = &star->samples[from];
    const star_hub_sample_t *const last = &star->samples[to];
    return (double)(last->marked_packets - first->marked_packets) /
           (double)(last->sent_packets - first->sent_packets);
}

#endif // TESTS_CC_STAR_H

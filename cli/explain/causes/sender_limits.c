// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/sender_limits.c - finds flows that their senders' own limits hold: a window,
// the credit of READs, the number of requests that a program posts.
//
// Each limit is an amount of data in flight, so that it has a closed form: a flow moves this amount
// per round trip of its idle path. A flow is held by the limit that is the lowest, if the closed
// form predicts the time that the flow took. A bandwidth test of perftest, which has no row in
// flows.csv, counts as a flow of each of its queue pairs.
#include "cli/explain/causes/sender_limits.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "net/frame_opcodes.h"
#include "net/paths.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define SLOWER_LEAST 1.2  // predicted time to ideal time, from which a limit holds
#define TOOK_LEAST 0.6    // time that a flow took to predicted time, if the limit holds it
#define TOOK_MOST 1.6     // likewise
#define COST_LEAST 0.05   // of the time of all flows
#define ANSWER_BYTES 100u // about the frame of an ACK or of a READ request

typedef enum limit {
    LIMIT_WINDOW,
    LIMIT_CREDIT,
    LIMIT_DEPTH,
    LIMIT_COUNT,
} limit_t;

static const explain_kind_t limit_kinds[] = {EXPLAIN_WINDOW, EXPLAIN_READ_CREDIT,
                                             EXPLAIN_QUEUE_DEPTH};

// Returns the number of the transport's attribute that ends with ".window"; SIM_AUTO: it has none.
static uint64_t transport_window(const nic_config_t *config)
{
    const void *part = NULL;
    const nic_transport_ops_t *const ops =
        nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    uint64_t bytes = SIM_AUTO;
    for (size_t i = 0; ops != NULL && part != NULL && ops->attrs != NULL && i < ops->attrs->count;
         i++) {
        const sim_attr_t *const attr = &ops->attrs->attrs[i];
        const char *const dot = strrchr(attr->path, '.');
        if (attr->type == SIM_ATTR_BYTES && dot != NULL && strcmp(dot, ".window") == 0) {
            memcpy(&bytes, (const char *)part + attr->offset, sizeof(bytes));
        }
    }
    return bytes;
}

// Returns the window of the flow's sender in whole packets; SIM_AUTO: nobody set one.
static uint64_t window_of(const nic_config_t *config, uint64_t line_bps)
{
    uint64_t bytes = SIM_MIN(config->window_bytes, transport_window(config));
    const void *part = NULL;
    const nic_cc_ops_t *const cc =
        nic_config_find(config, NIC_EXTRA_CC, config->congestion_control, &part);
    const bool by_product = config->bdp_window != NIC_BDP_WINDOW_NONE ||
                            (cc != NULL && cc->telemetry != NET_TELEMETRY_NONE);
    if (by_product && config->bdp_bytes != SIM_AUTO) {
        bytes = SIM_MIN(config->bdp_bytes, bytes);
    } else if (by_product && config->base_rtt_ps != SIM_AUTO) {
        const double product = (double)line_bps * (double)config->base_rtt_ps / 8e12;
        bytes = SIM_MIN((uint64_t)product, bytes);
    }
    const uint64_t packets = bytes / config->mtu_bytes;
    return bytes == SIM_AUTO ? SIM_AUTO : SIM_MAX(packets, 1) * config->mtu_bytes;
}

// Returns the time from the first bit of `bytes` of payload on the idle path to the arrival of the
// answer; 0: there is no path. A READ's request takes the answer's place.
static double round_trip_ps(const explain_t *explain, const explain_flow_t *flow, uint64_t bytes)
{
    const net_t *const net = explain->world->net;
    const nic_config_t *const config = nic_config_of_interface(net, flow->source);
    net_path_t there;
    net_path_t back;
    if (!net_path_of(net, flow->source, flow->destination, 0, &there) ||
        !net_path_of(net, flow->destination, flow->source, 0, &back)) {
        return 0;
    }
    const uint64_t packets = (bytes + config->mtu_bytes - 1) / config->mtu_bytes;
    const uint64_t payload = SIM_MIN(bytes, config->mtu_bytes);
    const uint32_t frame = net_frame_bytes(ROCE_WRITE_ONLY, (uint32_t)payload, false, false);
    return (double)net_path_time_ps(&there, SIM_MAX(packets, 1), frame, 0) +
           (double)net_path_time_ps(&back, 1, ANSWER_BYTES, 0);
}

// A limit that holds a flow.
typedef struct held {
    limit_t limit;
    uint64_t amount;  // bytes of the window, or number of requests
    double trip_ps;   // after which the limit lets the next data go
    double bytes;     // per trip
    double should_ps; // time of the flow in closed form
} held_t;

// Takes the limit if it is tighter than *held.
static void tighten(const explain_flow_t *flow, held_t *held, limit_t limit, uint64_t amount,
                    uint64_t bytes, double trip_ps)
{
    const double done = (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
    const double should_ps = done / (double)bytes * trip_ps;
    if (trip_ps > 0 && should_ps > held->should_ps) {
        *held = (held_t){limit, amount, trip_ps, (double)bytes, should_ps};
    }
}

static uint64_t line_bps(const explain_t *explain, const explain_flow_t *flow)
{
    return net_interface_port(explain->world->net, flow->source)->line->rate_bps;
}

// Returns the limit that holds the flow by the closed form; its limit is LIMIT_COUNT if none does.
static held_t held_by(const explain_t *explain, const explain_flow_t *flow)
{
    const net_t *const net = explain->world->net;
    const nic_config_t *const config = nic_config_of_interface(net, flow->source);
    held_t held = {.limit = LIMIT_COUNT};
    const uint64_t window = window_of(config, line_bps(explain, flow));
    if (!flow->reads && window != SIM_AUTO && window < flow->bytes) {
        tighten(flow, &held, LIMIT_WINDOW, window, window,
                round_trip_ps(explain, flow, config->mtu_bytes));
    }
    const uint64_t message = SIM_MAX(flow->message_bytes, 1);
    const uint64_t credit = SIM_MIN(config->max_rd_atomic,
                                    nic_config_of_interface(net, flow->destination)->max_rd_atomic);
    if (flow->message_bytes < flow->bytes) {
        const double trip_ps = round_trip_ps(explain, flow, message);
        if (flow->reads) {
            tighten(flow, &held, LIMIT_CREDIT, credit, credit * message, trip_ps);
        }
        if (flow->depth > 0 && (!flow->reads || flow->depth < credit)) {
            tighten(flow, &held, LIMIT_DEPTH, flow->depth, flow->depth * message, trip_ps);
        }
    }
    const double took_ps = (double)(flow->end_ps - flow->begin_ps);
    const double ideal_ps = (double)flow->ideal_ps;
    const bool holds = held.should_ps > SLOWER_LEAST * ideal_ps &&
                       took_ps > TOOK_LEAST * held.should_ps &&
                       took_ps < TOOK_MOST * held.should_ps && took_ps > SLOWER_LEAST * ideal_ps;
    held.limit = holds ? held.limit : LIMIT_COUNT;
    return held;
}

static char *sentence_of(const explain_t *explain, const explain_flow_t *flow, held_t held)
{
    world_text_t amount;
    world_text_t trip;
    world_text_t rate;
    world_text_t line;
    const char *const trip_text = world_format_time(&trip, (sim_time_t)held.trip_ps);
    const char *const rate_text =
        world_format_rate(&rate, (uint64_t)(held.bytes * 8e12 / held.trip_ps));
    const char *const line_text = world_format_rate(&line, line_bps(explain, flow));
    if (held.limit == LIMIT_WINDOW) {
        return sim_format("window too small: %s per round trip of %s lets a flow have %s of a link "
                          "of %s",
                          world_format_bytes(&amount, held.amount), trip_text, rate_text,
                          line_text);
    }
    return sim_format(
        "%s: a flow has %" PRIu64 " %s%s of %s under way at a time, each for %s on the idle "
        "path, and so %s of a link of %s",
        held.limit == LIMIT_CREDIT ? "credit of READs too small" : "too few requests under way",
        held.amount, held.limit == LIMIT_CREDIT ? "READ" : "message", sim_plural(held.amount),
        world_format_bytes(&amount, flow->message_bytes), trip_text, rate_text, line_text);
}

// Returns the interface that has the limit of a flow. Both ends of a READ have a credit; the lower
// one holds.
static uint32_t end_with_limit(const explain_t *explain, const explain_flow_t *flow)
{
    const net_t *const net = explain->world->net;
    const bool answers = nic_config_of_interface(net, flow->source)->max_rd_atomic <
                         nic_config_of_interface(net, flow->destination)->max_rd_atomic;
    return flow->reads && !answers ? flow->destination : flow->source;
}

static void add_remedy(const explain_t *explain, explain_finding_t *finding,
                       const explain_flow_t *flow, held_t held)
{
    const double product = (double)line_bps(explain, flow) * held.trip_ps / 8e12;
    const uint32_t end = end_with_limit(explain, flow);
    const double needed = product * (double)held.amount / held.bytes + 1;
    char *set = NULL;
    if (held.limit == LIMIT_WINDOW) {
        set = sim_format("window=%.0fB", 2 * product);
        cli__explain_nic_remedy(explain, finding, end, "window=auto", "no window");
    } else if (held.limit == LIMIT_CREDIT) {
        set = sim_format("max-rd-atomic=%.0f", SIM_MIN(needed, 128.0));
    } else {
        cli__explain_evidence(finding, sim_format("%.0f messages under way fill the link: the "
                                                  "program has to post more of them before it "
                                                  "waits for completions",
                                                  needed));
    }
    if (set != NULL) {
        cli__explain_nic_remedy(explain, finding, end, set,
                                "the flow keeps the round trip full of data");
    }
    sim_free(set);
}

// Returns the host of all flows of the finding, the one that has the limit; NULL: they have
// several.
static const char *one_host(const explain_t *explain, const explain_finding_t *finding)
{
    uint32_t host = EXPLAIN_NONE;
    for (size_t i = 0; i < finding->flow_count; i++) {
        const uint32_t at = end_with_limit(explain, &explain->flows[finding->flows[i]]);
        if (host != EXPLAIN_NONE && host != at) {
            return NULL;
        }
        host = at;
    }
    return world_interface_name(explain->world, host);
}

// -- perftest

// Returns an attribute of an entry of traffic as text. The caller frees it.
static char *value_of(const world_traffic_t *traffic, const char *path)
{
    const sim_attr_t *const attr = sim_attr_find(traffic->ops->attrs, path);
    return attr != NULL ? sim_attr_get(attr, traffic->config) : NULL;
}

static uint64_t number_of(const world_traffic_t *traffic, const char *path)
{
    char *const value = value_of(traffic, path);
    const uint64_t number = value != NULL ? strtoull(value, NULL, 10) : 0;
    sim_free(value);
    return number;
}

static uint32_t interface_of(const explain_t *explain, const world_traffic_t *traffic,
                             const char *path)
{
    char *const name = value_of(traffic, path);
    uint32_t interface = 0;
    while (name != NULL && interface < explain->world->nic_count &&
           strcmp(world_interface_name(explain->world, interface), name) != 0) {
        interface++;
    }
    const bool found = name != NULL && interface < explain->world->nic_count;
    sim_free(name);
    return found ? interface : EXPLAIN_NONE;
}

// Fills a flow with what a queue pair of a bandwidth test of one size sent. Returns whether the
// entry is one.
static bool perftest_flow(const explain_t *explain, const world_traffic_t *traffic,
                          const json_t *app, explain_flow_t *flow)
{
    if (strcmp(traffic->ops->name, "perftest") != 0) {
        return false;
    }
    const double gbps = json_number_value(json_object_get(app, "bw_average"));
    const double mpps = json_number_value(json_object_get(app, "message_rate"));
    const double messages = json_number_value(json_object_get(app, "iterations"));
    const uint64_t qps = number_of(traffic, "traffic.perftest.qps");
    const uint32_t client = interface_of(explain, traffic, "traffic.perftest.from");
    const uint32_t server = interface_of(explain, traffic, "traffic.perftest.to");
    if (gbps <= 0 || mpps <= 0 || messages <= 0 || qps == 0 || client == server ||
        client == EXPLAIN_NONE || server == EXPLAIN_NONE) {
        return false;
    }
    char *const test = value_of(traffic, "traffic.perftest.test");
    char *const both = value_of(traffic, "traffic.perftest.bidirectional");
    const bool reads = test != NULL && strstr(test, "read") != NULL;
    const bool moves = test != NULL && strstr(test, "atomic") == NULL && both != NULL &&
                       strcmp(both, "false") == 0;
    sim_free(test);
    sim_free(both);
    const uint64_t bytes = (uint64_t)(gbps * 1000 / 8 / mpps + 0.5);
    *flow = (explain_flow_t){
        .source = reads ? server : client,
        .destination = reads ? client : server,
        .reads = reads,
        .bytes = (uint64_t)(messages / (double)qps) * bytes,
        .message_bytes = bytes,
        .depth = number_of(traffic, "traffic.perftest.tx-depth"),
        .end_ps = (sim_time_t)(messages / mpps * SIM_PS_PER_US),
        .ended = true,
    };
    flow->ideal_ps =
        (sim_time_t)((double)flow->bytes * (double)qps * 8e12 / (double)line_bps(explain, flow));
    return moves && bytes > 0;
}

// Reports the limit that holds a bandwidth test.
static void find_perftest(explain_t *explain, const world_traffic_t *traffic, const json_t *app)
{
    explain_flow_t flow;
    if (!perftest_flow(explain, traffic, app, &flow)) {
        return;
    }
    const held_t held = held_by(explain, &flow);
    if (held.limit == LIMIT_COUNT) {
        return;
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, limit_kinds[held.limit], 1,
        sim_strdup(world_interface_name(explain->world, end_with_limit(explain, &flow))));
    finding->score_ps = held.should_ps - (double)flow.ideal_ps;
    finding->sentence = sentence_of(explain, &flow, held);
    cli__explain_evidence(
        finding, sim_format("perftest from %s: bw_average %.3f Gbps of a link of %.3f Gbps; the "
                            "limit predicts the time of the test within %.0f %%",
                            world_interface_name(explain->world,
                                                 flow.reads ? flow.destination : flow.source),
                            json_number_value(json_object_get(app, "bw_average")),
                            (double)line_bps(explain, &flow) / 1e9,
                            100 * (SIM_MAX((double)flow.end_ps / held.should_ps,
                                           held.should_ps / (double)flow.end_ps) -
                                   1)));
    add_remedy(explain, finding, &flow, held);
}

void cli__explain_limits(explain_t *explain)
{
    held_t *const held = sim_alloc_array(explain->flow_count + 1, sizeof(*held));
    double lost_ps[LIMIT_COUNT] = {0};
    for (size_t f = 0; f < explain->flow_count; f++) {
        explain_flow_t *const flow = &explain->flows[f];
        const bool known = flow->hop_count > 0 && flow->bytes > 0;
        held[f] = known ? held_by(explain, flow) : (held_t){.limit = LIMIT_COUNT};
        if (held[f].limit != LIMIT_COUNT) {
            const double cost_ps = held[f].should_ps - (double)flow->ideal_ps;
            lost_ps[held[f].limit] += SIM_MIN(cost_ps, flow->excess_ps);
        }
    }
    for (limit_t limit = 0; limit < LIMIT_COUNT; limit++) {
        if (lost_ps[limit] <= 0 || lost_ps[limit] < COST_LEAST * explain->flows_ps) {
            continue;
        }
        explain_finding_t *const finding = cli__explain_add(explain, limit_kinds[limit], 1, NULL);
        uint32_t slowest = EXPLAIN_NONE;
        for (uint32_t f = 0; f < explain->flow_count; f++) {
            if (held[f].limit == limit) {
                cli__explain_flow(finding, f);
                slowest = slowest == EXPLAIN_NONE || held[f].bytes / held[f].trip_ps <
                                                         held[slowest].bytes / held[slowest].trip_ps
                              ? f
                              : slowest;
            }
        }
        const char *const host = one_host(explain, finding);
        finding->place = sim_strdup(host != NULL ? host : "hosts");
        finding->score_ps = lost_ps[limit];
        const explain_flow_t *const first = &explain->flows[finding->flows[0]];
        finding->sentence = sentence_of(explain, first, held[slowest]);
        world_text_t lost;
        cli__explain_evidence(
            finding, sim_format("%zu flow%s took as long as this limit says; it cost them %s, %.0f "
                                "%% of the time of all flows",
                                finding->flow_count, sim_plural(finding->flow_count),
                                world_format_time(&lost, (sim_time_t)lost_ps[limit]),
                                100 * lost_ps[limit] / explain->flows_ps));
        add_remedy(explain, finding, first, held[slowest]);
    }
    sim_free(held);
    const json_t *const apps = json_object_get(explain->summary, "apps");
    for (size_t i = 0; i < explain->scenario->traffic_count; i++) {
        find_perftest(explain, &explain->scenario->traffic[i], json_array_get(apps, i));
    }
}

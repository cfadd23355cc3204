// SPDX-License-Identifier: Apache-2.0
// apps/accelerators/transfers.c - the application `accelerators`: messages between the accelerators
// of each host, over NVLink or another scale-up network. docs/models/scale-up.md
//
// A stream has messages from one accelerator to another. `outstanding` of them are under way at a
// time; each arrival sends the next one.
#include "apps/app_internal.h"
#include "apps/channel/local.h"
#include "apps/hosts.h"
#include "apps/report_rows.h"
#include "kernel/event.h"

#include <inttypes.h>

#define PREFIX "traffic.accelerators"

typedef enum pattern { PAIR, RING, INCAST, SCATTER, ALL_TO_ALL, PERMUTATION } pattern_t;
typedef enum operation { STORE, LOAD } operation_t;

typedef struct config {
    char *hosts;
    pattern_t pattern;
    operation_t operation;
    uint64_t accelerators; // SIM_AUTO: all of a host
    uint64_t bytes;
    uint64_t messages;
    uint64_t outstanding;
    uint64_t local_bps;
    sim_time_t local_ps;
    sim_time_t start_ps;
} config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts whose accelerators exchange messages, each host among its own"),
    ATTR(ENUM, "pattern", pattern, "all-to-all", "pair|ring|incast|scatter|all-to-all|permutation", "pattern of the transfers between accelerators; pair: 0 to 1; ring: each to the next; incast: all others to 0; scatter: 0 to all others; all-to-all: each to all others, beginning with the next; permutation: each to another one, at random"),
    ATTR(ENUM, "operation", operation, "store", "store|load", "how bytes move; store: their sender puts them; load: their receiver asks for them"),
    ATTR(COUNT, "accelerators", accelerators, "auto", "2", "4096", "number of accelerators of each host that take part; auto: all, or one for each NIC with scale-up.model formula", .auto_ok = true),
    ATTR(BYTES, "bytes", bytes, "1MiB", "1", "1TiB", "bytes of each message between accelerators"),
    ATTR(COUNT, "messages", messages, "1", "1", "1000000000", "number of messages from one accelerator to another"),
    ATTR(COUNT, "outstanding", outstanding, "1024", "1", "1000000", "maximum number of messages from one accelerator to another that have not arrived"),
    ATTR(RATE, "local-rate", local_bps, "3600Gbps", "1Mbps", "1000Tbps", "rate of messages between accelerators with scale-up.model formula"),
    ATTR(TIME, "local-delay", local_ps, "1us", "0s", "1s", "time between the last byte of a message and its arrival, of which the latency of scale-up.model packets is a part"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time at which the first messages between accelerators begin"),
};
// clang-format on

static const sim_attr_table_t attr_table = SIM_ATTR_TABLE(PREFIX, "application", config_t, attrs);

typedef struct transfers transfers_t;
typedef struct group group_t;

// Messages from one accelerator to another.
typedef struct stream {
    group_t *group;
    uint32_t from; // that begins them: a load goes to the accelerator with the bytes
    uint32_t to;
    app__passers_t passers;
    uint64_t begun;
    uint64_t done;
    sim_time_t *starts_ps; // of messages under way, a ring
} stream_t;

// The accelerators of a host.
struct group {
    transfers_t *transfers;
    net_node_t *host;
    sim_timer_t begin;
    app__nvlink_t *links; // by accelerator
    uint32_t count;
    stream_t *streams;
    uint32_t stream_count;
    sim_list_t comings;
    sim_list_t spare;
    sim_time_t last_ps; // when the latest message arrived
    uint64_t done;
    sim_sample_set_t latency_ps;
};

struct transfers {
    app_t app; // first
    config_t config;
    uint64_t outstanding;
    group_t *groups;
    uint32_t group_count;
};

// -- messages

static void arrived(sim_node_t *node, sim_timer_t *timer);

static void send_one(stream_t *stream)
{
    group_t *const group = stream->group;
    const config_t *const config = &group->transfers->config;
    const uint64_t outstanding = group->transfers->outstanding;
    app__coming_t *const coming = app__coming_begin(&group->spare, &group->comings, arrived);
    coming->to = stream;
    stream->starts_ps[stream->begun++ % outstanding] = group->host->sim.now_ps;
    sim_work_begin(&group->host->sim, 1);
    const bool load = config->operation == LOAD;
    const app__local_t way = {
        .link = &group->links[load && group->links->packets == NULL ? stream->to : stream->from],
        .stream = &stream->passers,
        .to = stream->to,
        .kind = load ? NET_PUT_LOAD : NET_PUT_STORE,
        .rate_bps = config->local_bps,
        .width = 1,
        .delay_ps = config->local_ps,
    };
    app__coming_pass(coming, &way, config->bytes);
}

static void send_more(stream_t *stream)
{
    const transfers_t *const transfers = stream->group->transfers;
    while (stream->begun < transfers->config.messages &&
           stream->begun - stream->done < transfers->outstanding) {
        send_one(stream);
    }
}

static void arrived(sim_node_t *node, sim_timer_t *timer)
{
    app__coming_t *const coming = app__coming_of(timer);
    stream_t *const stream = coming->to;
    group_t *const group = stream->group;
    app__coming_end(&group->spare, &group->comings, coming);
    const sim_time_t start_ps = stream->starts_ps[stream->done++ % group->transfers->outstanding];
    sim_sample_set_add(&group->latency_ps, node->now_ps - start_ps);
    group->last_ps = node->now_ps;
    group->done++;
    sim_progress(node);
    sim_work_end(node, 1);
    sim_happened(node, 'l', node->now_ps, stream->done);
    send_more(stream);
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    group_t *const group = SIM_CONTAINER_OF(timer, group_t, begin);
    (void)node;
    for (uint32_t i = 0; i < group->stream_count; i++) {
        send_more(&group->streams[i]);
    }
}

// -- creation

static void add_stream(group_t *group, uint32_t source, uint32_t destination)
{
    const bool load = group->transfers->config.operation == LOAD;
    stream_t *const stream = &group->streams[group->stream_count++];
    *stream = (stream_t){
        .group = group,
        .from = load ? destination : source,
        .to = load ? source : destination,
        .starts_ps = sim_alloc_array(group->transfers->outstanding, sizeof(sim_time_t)),
    };
}

// Draws a cyclic order of the accelerators, in which each sends to the next one.
static void permute(const app_context_t *context, group_t *group, uint32_t number)
{
    const uint32_t count = group->count;
    uint32_t *const order = sim_alloc_array(count, sizeof(*order));
    sim_random_t random;
    app__random_init(&random, context, number, "accelerators");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)sim_random_below(&random, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        add_stream(group, order[i], order[(i + 1) % count]);
    }
    sim_free(order);
}

static void add_streams(const app_context_t *context, group_t *group, uint32_t number)
{
    const uint32_t count = group->count;
    const pattern_t pattern = group->transfers->config.pattern;
    const uint64_t most = pattern == ALL_TO_ALL ? (uint64_t)count * (count - 1) : count;
    group->streams = sim_alloc_array(most, sizeof(*group->streams));
    if (pattern == PAIR) {
        add_stream(group, 0, 1);
    } else if (pattern == PERMUTATION) {
        permute(context, group, number);
    } else {
        const uint32_t distances = pattern == ALL_TO_ALL ? count - 1 : 1;
        for (uint32_t d = 1; d <= distances; d++) {
            for (uint32_t i = pattern == INCAST || pattern == SCATTER; i < count; i++) {
                const uint32_t other =
                    pattern == INCAST || pattern == SCATTER ? 0 : (i + d) % count;
                add_stream(group, pattern == SCATTER ? other : i, pattern == SCATTER ? i : other);
            }
        }
    }
}

static void make_group(transfers_t *transfers, const app_context_t *context, uint32_t interface)
{
    const uint32_t number = transfers->group_count++;
    group_t *const group = &transfers->groups[number];
    net_node_t *const host = nic_node(nic_of_interface(context->net, interface));
    const uint32_t nodes = net_accelerator_count(host);
    const uint64_t wanted = transfers->config.accelerators;
    const uint32_t all = nodes > 0 ? nodes : nic_count(host);
    *group = (group_t){
        .transfers = transfers,
        .host = host,
        .count = wanted == SIM_AUTO ? all : (uint32_t)wanted,
    };
    group->links = sim_alloc_array(group->count, sizeof(*group->links));
    for (uint32_t i = 0; i < group->count; i++) {
        app__nvlink_init(&group->links[i], &host->sim, nodes > 0 ? host : NULL, i);
    }
    add_streams(context, group, number);
    sim_sample_set_init(&group->latency_ps);
    sim_timer_init(&group->begin, begin);
    sim_timer_arm(&host->sim, &group->begin, transfers->config.start_ps);
}

// Fails if a host has too few accelerators.
static sim_err_t check(const app_context_t *context, const config_t *config,
                       const app__places_t *places, sim_message_t *message)
{
    for (size_t i = 0; i < places->list.count; i++) {
        const net_node_t *const host = app__host(context->net, places->list.interfaces[i]);
        const uint32_t nodes = net_accelerator_count(host);
        const uint32_t all = nodes > 0 ? nodes : nic_count(host);
        const bool any = nodes == 0 && config->accelerators != SIM_AUTO;
        const uint64_t wanted = config->accelerators == SIM_AUTO ? 2 : config->accelerators;
        if (!any && all < wanted) {
            return sim_fail_about(message, SIM_ERR_RANGE, "accelerators",
                                  ": %s has %u, expected hosts with %" PRIu64
                                  " or more: NICs, or scale-up.accelerators",
                                  host->sim.name, all, wanted);
        }
    }
    return SIM_OK;
}

static void destroy(app_t *app)
{
    transfers_t *const transfers = (transfers_t *)(void *)app;
    for (uint32_t g = 0; g < transfers->group_count; g++) {
        group_t *const group = &transfers->groups[g];
        for (uint32_t i = 0; i < group->stream_count; i++) {
            sim_free(group->streams[i].starts_ps);
        }
        app__comings_free(&group->comings);
        app__comings_free(&group->spare);
        sim_sample_set_fini(&group->latency_ps);
        sim_free(group->streams);
        sim_free(group->links);
    }
    sim_free(transfers->groups);
    sim_free(transfers);
}

static sim_err_t create(const app_context_t *context, const void *config_void, app_t **app,
                        sim_message_t *message)
{
    const config_t *const config = config_void;
    app__places_t places;
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    error = check(context, config, &places, message);
    if (error == SIM_OK) {
        transfers_t *const transfers = sim_alloc(sizeof(*transfers));
        transfers->app = (app_t){&app_accelerators, context->net, context->index};
        transfers->config = *config;
        transfers->config.hosts = NULL;
        transfers->outstanding = SIM_MIN(config->outstanding, config->messages);
        transfers->groups = sim_alloc_array(places.host_count, sizeof(*transfers->groups));
        const net_node_t *before = NULL;
        for (size_t i = 0; i < places.list.count; i++) {
            const net_node_t *const host = app__host(context->net, places.list.interfaces[i]);
            if (host != before) {
                make_group(transfers, context, places.list.interfaces[i]);
            }
            before = host;
        }
        *app = &transfers->app;
    }
    app__places_fini(&places);
    return error;
}

// -- results

// clang-format off
#define ROWS(X) \
    X(messages, U64, "", true, "number of messages that have arrived") \
    X(accelerators, U64, "", true, "number of accelerators that took part") \
    X(bytes, U64, "bytes", true, "payload of all messages that have arrived") \
    X(time_us, REAL, "us", true, "time from the start to the last arrival of a message") \
    X(gbytes_per_s, REAL, "GB/s", true, "payload of all messages divided by that time") \
    X(latency_us, TIMES, "us", true, "time from the call that sends a message to its arrival")
// Bytes that an accelerator sent and received.
#define SHARE_ROWS(X) \
    X(host, STRING, "", false, "name of the host of the accelerator") \
    X(accelerator, U64, "", false, "number of the accelerator in its host, from 0") \
    X(sent_bytes, U64, "bytes", false, "payload of its messages that have arrived") \
    X(received_bytes, U64, "bytes", false, "payload of the messages that have arrived at it")
typedef struct share {
    SHARE_ROWS(APP__MEMBER)
} share_t;
#define SHARES_MAX 256u // accelerators with a row of their own

typedef struct report {
    ROWS(APP__MEMBER)
    sim_report_points_t latency;
    share_t *shares;
    size_t share_count;
} report_t;

static void fill_shares(const transfers_t *transfers, report_t *report)
{
    report->shares = sim_alloc_array(SHARES_MAX, sizeof(*report->shares));
    for (uint32_t g = 0; g < transfers->group_count; g++) {
        const group_t *const group = &transfers->groups[g];
        share_t *const first = report->shares + report->share_count;
        const size_t count = SIM_MIN(group->count, SHARES_MAX - report->share_count);
        for (size_t i = 0; i < count; i++) {
            first[i].host = group->host->sim.name;
            first[i].accelerator = i;
        }
        for (uint32_t i = 0; i < group->stream_count; i++) {
            const stream_t *const stream = &group->streams[i];
            const uint64_t bytes = stream->done * transfers->config.bytes;
            if (stream->from < count) {
                first[stream->from].sent_bytes += bytes;
            }
            if (stream->to < count) {
                first[stream->to].received_bytes += bytes;
            }
        }
        report->share_count += count;
    }
}

static void fill_report(const void *object, void *filled)
{
    const transfers_t *const transfers = object;
    report_t *const report = filled;
    sim_time_t last_ps = 0;
    sim_sample_set_t all;
    sim_sample_set_init(&all);
    for (uint32_t g = 0; g < transfers->group_count; g++) {
        const group_t *const group = &transfers->groups[g];
        report->messages += group->done;
        report->accelerators += group->count;
        last_ps = SIM_MAX(group->last_ps, last_ps);
        sim_sample_set_add_all(&all, &group->latency_ps);
    }
    report->bytes = report->messages * transfers->config.bytes;
    const sim_time_t time_ps = last_ps - SIM_MIN(transfers->config.start_ps, last_ps);
    report->time_us = (double)time_ps / SIM_PS_PER_US;
    report->gbytes_per_s = time_ps == 0 ? 0 : (double)report->bytes * 1e3 / (double)time_ps;
    report->latency_us = sim_percentiles(&all, SIM_PS_PER_US);
    report->latency = sim_report_points(&all);
    sim_sample_set_fini(&all);
    fill_shares(transfers, report);
}

static void fini_report(void *filled)
{
    const report_t *const report = filled;
    sim_free(report->latency.points);
    sim_free(report->shares);
}

#define SHARE_ROW(...) APP__ROW(share_t, __VA_ARGS__)
static const sim_report_row_t share_rows[] = {SHARE_ROWS(SHARE_ROW)};
static const sim_report_table_t share_table = APP__TABLE(share_rows, share_t);
#define ROW(...) APP__ROW(report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {
    ROWS(ROW)
    APP__ARRAY(report_t, latency_cdf, latency.points, latency.count, sim_report_point_table, true, "distribution of latency_us over all messages")
    APP__ARRAY(report_t, shares, shares, share_count, share_table, true, "bytes of each accelerator, of the first 256 ones")
};
// clang-format on
static const sim_report_table_t report_table =
    APP__FILLED(report_rows, report_t, fill_report, .fini = fini_report);

static void progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const transfers_t *const transfers = (const transfers_t *)(const void *)app;
    *done = 0;
    *planned = 0;
    for (uint32_t g = 0; g < transfers->group_count; g++) {
        *done += transfers->groups[g].done;
        *planned += transfers->groups[g].stream_count * transfers->config.messages;
    }
}

static void carry(app_t *app, sim_carry_t *carry)
{
    const transfers_t *const transfers = (const transfers_t *)(const void *)app;
    for (uint32_t g = 0; g < transfers->group_count; g++) {
        group_t *const group = &transfers->groups[g];
        if (!sim_carry_has(carry, &group->host->sim)) {
            continue;
        }
        SIM_CARRY(carry, group->last_ps);
        SIM_CARRY(carry, group->done);
        sim_sample_set_carry(&group->latency_ps, carry);
        for (uint32_t i = 0; i < group->stream_count; i++) {
            SIM_CARRY(carry, group->streams[i].done);
        }
    }
}

const app_ops_t app_accelerators = {
    .name = "accelerators",
    .help = "messages between the accelerators of each host (NVLink, UALink, SUE)",
    .attrs = &attr_table,
    .create = create,
    .destroy = destroy,
    .progress = progress,
    .carry = carry,
    .report = &report_table,
};

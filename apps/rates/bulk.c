// SPDX-License-Identifier: Apache-2.0
// apps/rates/bulk.c - long transfers between pairs of hosts, and their steady-state goodput.
//
// Host k of `from` sends to host k of `to` (the shorter list starts over), on `qps` queue pairs
// each. Goodput counts new payload that the receiving NICs accepted, from one round trip after the
// start to one before the end (half a round trip where a transport went back), and not after the
// senders were last busy, since then only single losses are repaired. Where nothing went back, only
// whole round trips count, because a limiting window makes one burst per round trip. Values are
// sampled 64 times per round trip and interpolated. docs/models/traffic.md
#include <stdio.h>

#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"
#include "apps/report_rows.h"
#include "nic/transport.h"

#define PREFIX "traffic.bulk"
#define SAMPLES_PER_RTT 64
// Samples that are kept of a time in which nothing moves, besides its last: more than any span over
// which samples are compared.
#define IDLE_SAMPLES (2 * SAMPLES_PER_RTT)

typedef struct bulk_config {
    char *from;
    char *to;
    uint64_t qps;
    uint64_t bytes;
    sim_time_t start_ps;
    app__shape_t shape;
} bulk_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(bulk_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "from", from, "host0", "hosts that send; the k-th host sends to the k-th one of `to`"),
    ATTR(STRING, "to", to, "host1", "hosts that receive; the k-th host of `from` sends to the k-th one"),
    ATTR(COUNT, "qps", qps, "1", "1", "1000000", "number of queue pairs between the two hosts of a pair"),
    ATTR(BYTES, "bytes", bytes, "1GB", "1", "100TB", "size of the message of each queue pair"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time at which all transfers start"),
    APP__SHAPE_ATTRS(PREFIX, bulk_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", bulk_config_t, attrs);

typedef struct sample {
    sim_time_t time_ps;
    uint64_t sent_bytes; // payload sent, retransmissions included
    uint64_t accepted_bytes;
} sample_t;

// A NIC that sends or receives, sampled in events of its own host.
typedef struct watch {
    sim_timer_t timer; // first
    const nic_t *nic;
    sim_node_t *node;
    sim_time_t every_ps;
    sample_t *samples;
    size_t count;
    size_t capacity;
    uint64_t idle; // samples without a change, up to the last one
    bool receives;
} watch_t;

typedef struct bulk {
    app__planned_t planned; // first
    watch_t *watches;
    size_t watch_count;
    sim_time_t start_ps;
    sim_time_t rtt_ps; // the longest propagation round trip of a pair
} bulk_t;

// -- watching

static void look(sim_node_t *node, sim_timer_t *timer)
{
    watch_t *const watch = SIM_CONTAINER_OF(timer, watch_t, timer);
    const nic_counters_t *const counters = nic_get_counters(watch->nic);
    const sample_t now = {node->now_ps, counters->tx_data_bytes, counters->rx_data_bytes};
    const sample_t *const last = watch->count == 0 ? NULL : &watch->samples[watch->count - 1];
    const bool idle = last != NULL && last->sent_bytes == now.sent_bytes &&
                      last->accepted_bytes == now.accepted_bytes;
    watch->idle = idle ? watch->idle + 1 : 0;
    if (watch->idle > IDLE_SAMPLES) {
        watch->samples[watch->count - 1].time_ps = now.time_ps;
    } else {
        SIM_APPEND(watch->samples, watch->count, watch->capacity, now);
    }
    sim_timer_arm(node, timer, node->now_ps + watch->every_ps);
}

static void watch_nic(bulk_t *bulk, uint32_t interface, bool receives)
{
    const nic_t *const nic = nic_of_interface(bulk->planned.app.net, interface);
    for (size_t i = 0; i < bulk->watch_count; i++) {
        if (bulk->watches[i].nic == nic && bulk->watches[i].receives == receives) {
            return;
        }
    }
    watch_t *const watch = &bulk->watches[bulk->watch_count++];
    net_node_t *const host = net_interface_port(bulk->planned.app.net, interface)->node;
    const sim_time_t every_ps = bulk->rtt_ps / SAMPLES_PER_RTT;
    *watch = (watch_t){
        .nic = nic,
        .node = &host->sim,
        .every_ps = SIM_MAX(SIM_PS_PER_US, every_ps),
        .receives = receives,
    };
    sim_timer_init_background(&watch->timer, look);
    sim_timer_arm(watch->node, &watch->timer, bulk->start_ps);
}

static void watch_all(bulk_t *bulk)
{
    const app__plan_t *const plan = bulk->planned.plan;
    const uint64_t count = app__plan_count(plan);
    for (uint64_t i = 0; i < count; i++) {
        const app__transfer_t *const transfer = app__plan_at(plan, i);
        net_path_t path;
        if (net_path_of(bulk->planned.app.net, transfer->source, transfer->destination, 0, &path) &&
            2 * path.delay_ps > bulk->rtt_ps) {
            bulk->rtt_ps = 2 * path.delay_ps;
        }
    }
    bulk->watches = sim_alloc_array(2 * count + 1, sizeof(*bulk->watches));
    uint32_t latest[2] = {UINT32_MAX, UINT32_MAX};
    for (uint64_t i = 0; i < count; i++) {
        const app__transfer_t *const transfer = app__plan_at(plan, i);
        const bool read = transfer->verb == APP__VERB_READ;
        const uint32_t sender = read ? transfer->destination : transfer->source;
        const uint32_t receiver = read ? transfer->source : transfer->destination;
        if (sender != latest[0] || receiver != latest[1]) {
            watch_nic(bulk, sender, false);
            watch_nic(bulk, receiver, true);
        }
        latest[0] = sender;
        latest[1] = receiver;
    }
}

// -- the steady state

static uint64_t accepted_at(const watch_t *watch, sim_time_t time_ps)
{
    size_t low = 0;
    size_t high = watch->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (watch->samples[middle].time_ps <= time_ps) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (watch->count == 0) {
        return 0;
    }
    const sample_t *const a = &watch->samples[low];
    if (low + 1 == watch->count || time_ps < a->time_ps) {
        return a->accepted_bytes;
    }
    const sample_t *const b = a + 1;
    const double share = (double)(time_ps - a->time_ps) / (double)(b->time_ps - a->time_ps);
    return a->accepted_bytes + (uint64_t)(share * (double)(b->accepted_bytes - a->accepted_bytes));
}

// Returns the bytes sent in the `samples` samples that end with the i-th.
static uint64_t sent_until(const watch_t *watch, size_t i, size_t samples)
{
    const size_t from = i > samples ? i - samples : 0;
    return watch->samples[i].sent_bytes - watch->samples[from].sent_bytes;
}

// Returns when the NIC last sent at half its own highest rate or more, both in one sample and over
// half a round trip. A burst of retransmissions after the end is as fast, but short.
static sim_time_t busy_until_ps(const watch_t *watch, sim_time_t rtt_ps)
{
    const size_t long_samples = (size_t)(rtt_ps / 2 / watch->every_ps) + 1;
    uint64_t most = 0;
    uint64_t most_long = 0;
    for (size_t i = 1; i < watch->count; i++) {
        const uint64_t bytes = sent_until(watch, i, 1);
        const uint64_t bytes_long = sent_until(watch, i, long_samples);
        most = SIM_MAX(bytes, most);
        most_long = SIM_MAX(bytes_long, most_long);
    }
    for (size_t i = watch->count; i > 1 && most > 0; i--) {
        if (sent_until(watch, i - 1, 1) * 2 >= most &&
            sent_until(watch, i - 1, long_samples) * 2 >= most_long) {
            return watch->samples[i - 1].time_ps;
        }
    }
    return 0;
}

// Returns whether a transport went back. Then only the first packet's and the last ACK's travel
// times are left out, since whole round trips would leave out part of the few that losses cost.
static bool went_back(const bulk_t *bulk)
{
    nic_transport_totals_t totals = {0};
    for (size_t i = 0; i < bulk->watch_count; i++) {
        nic_transport_add_totals(bulk->watches[i].nic, &totals);
    }
    return totals.went_back != 0;
}

static double steady_gbps(const bulk_t *bulk, sim_time_t end_ps, uint64_t all_bytes)
{
    sim_time_t busy_ps = 0;
    for (size_t i = 0; i < bulk->watch_count; i++) {
        const watch_t *const watch = &bulk->watches[i];
        const sim_time_t until_ps = watch->receives ? 0 : busy_until_ps(watch, bulk->rtt_ps);
        busy_ps = SIM_MAX(until_ps, busy_ps);
    }
    const bool back = went_back(bulk);
    const sim_time_t edge_ps = back ? bulk->rtt_ps / 2 : bulk->rtt_ps;
    const sim_time_t from_ps = bulk->start_ps + edge_ps;
    sim_time_t to_ps = end_ps > edge_ps ? end_ps - edge_ps : 0;
    if (!back && busy_ps + bulk->rtt_ps / 2 < to_ps) {
        to_ps = busy_ps + bulk->rtt_ps / 2;
    }
    // Otherwise the interval could hold one burst of a window more than it has round trips.
    if (!back && bulk->rtt_ps > 0 && to_ps > from_ps + bulk->rtt_ps) {
        to_ps -= (to_ps - from_ps) % bulk->rtt_ps;
    }
    if (to_ps <= from_ps || end_ps <= bulk->start_ps) {
        return end_ps <= bulk->start_ps
                   ? 0
                   : (double)all_bytes * 8000 / (double)(end_ps - bulk->start_ps);
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < bulk->watch_count; i++) {
        const watch_t *const watch = &bulk->watches[i];
        if (watch->receives) {
            bytes += accepted_at(watch, to_ps) - accepted_at(watch, from_ps);
        }
    }
    return (double)bytes * 8000 / (double)(to_ps - from_ps);
}

static void bulk_carry(app_t *app, sim_carry_t *carry)
{
    bulk_t *const bulk = (bulk_t *)(void *)app;
    app__planned_carry(app, carry);
    for (size_t i = 0; i < bulk->watch_count; i++) {
        watch_t *const watch = &bulk->watches[i];
        if (sim_carry_has(carry, watch->node)) {
            SIM_CARRY_LIST(carry, watch->samples, watch->count, watch->capacity);
        }
    }
}

// -- the report

typedef struct transport_report {
    nic_transport_totals_t totals;
    double repair_us_mean;
    double repair_us_max;
    double stalled_us;
    double pipeline_us;
    double core_us;
    double work_per_repair;
    sim_report_list_t by_round;
} transport_report_t;

// clang-format off
#define BULK_ROWS(X) \
    X(goodput_gbps, REAL, "Gbps", true, "new payload per second in the steady state, without the first and the last round trip") \
    X(whole_gbps, REAL, "Gbps", true, "payload of completed transfers per second over the whole time") \
    X(rtt_us, REAL, "us", false, "longest propagation round trip of a pair of hosts") \
    X(completed, U64, "", true, "number of transfers that were completed") \
    X(completed_bytes, U64, "bytes", false, "payload of completed transfers") \
    X(lost, U64, "packets", true, "number of frames lost on links") \
    X(loss_events, U64, "", false, "number of loss events on links; one event may lose several frames")
// clang-format on
typedef struct bulk_report {
    BULK_ROWS(APP__MEMBER)
    sim_report_list_t fct_ns;
    transport_report_t transport;
    double *fcts;
} bulk_report_t;

static void fill_transport(const bulk_t *bulk, transport_report_t *report)
{
    nic_transport_totals_t *const totals = &report->totals;
    for (size_t i = 0; i < bulk->watch_count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || bulk->watches[j].nic == bulk->watches[i].nic;
        }
        if (!seen) {
            nic_transport_add_totals(bulk->watches[i].nic, totals);
        }
    }
    if (totals->rounds_max == 0 && totals->retransmitted != 0) {
        totals->rounds_max = 1; // the transport does not count rounds
    }
    uint32_t rounds = 0;
    for (uint32_t i = 0; i < SIM_COUNT_OF(totals->by_round); i++) {
        rounds = totals->by_round[i] != 0 ? i + 1 : rounds;
    }
    report->by_round = (sim_report_list_t){totals->by_round, rounds};
    const double repaired = totals->repaired == 0 ? 1 : (double)totals->repaired;
    report->repair_us_mean = (double)totals->repair_ps / repaired / 1e6;
    report->repair_us_max = (double)totals->repair_ps_max / 1e6;
    report->stalled_us = (double)totals->stalled_ps / 1e6;
    report->pipeline_us = (double)totals->pipeline_ps / 1e6;
    report->core_us = (double)totals->core_ps / 1e6;
    report->work_per_repair = (double)totals->work / repaired;
}

static void fill_report(const void *object, void *into)
{
    const bulk_t *const bulk = object;
    bulk_report_t *const report = into;
    const app__plan_t *const plan = bulk->planned.plan;
    const uint64_t count = app__plan_count(plan);
    report->fcts = sim_alloc_array(count + 1, sizeof(*report->fcts));
    sim_time_t end_ps = bulk->start_ps;
    for (uint64_t i = 0; i < count; i++) {
        const app__transfer_t *const transfer = app__plan_at(plan, i);
        const bool ended = transfer->end_ps != SIM_TIME_NEVER;
        report->fcts[i] = ended ? (double)(transfer->end_ps - transfer->start_ps) / 1e3
                                : (double)__builtin_nan("");
        if (ended) {
            report->completed++;
            report->completed_bytes += app__transfer_bytes(transfer);
            end_ps = SIM_MAX(transfer->end_ps, end_ps);
        }
    }
    if (report->completed < count) {
        end_ps = sim_end_time_ps(net_sim(bulk->planned.app.net));
    }
    report->fct_ns = (sim_report_list_t){report->fcts, count};
    report->rtt_us = (double)bulk->rtt_ps / 1e6;
    report->goodput_gbps = steady_gbps(bulk, end_ps, report->completed_bytes);
    report->whole_gbps = end_ps <= bulk->start_ps ? 0
                                                  : (double)report->completed_bytes * 8000 /
                                                        (double)(end_ps - bulk->start_ps);
    nic_link_losses(bulk->planned.app.net, &report->lost, &report->loss_events);
    fill_transport(bulk, &report->transport);
}

static void free_report(void *report)
{
    sim_free(((bulk_report_t *)report)->fcts);
}

// clang-format off
#define WHOLE(name_, unit_, shown_, help_) \
    {.name = #name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, \
     .offset = offsetof(transport_report_t, totals.name_), .shown = shown_}
#define REAL(field_, name_, unit_, shown_, help_) \
    {.name = name_, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, \
     .offset = offsetof(transport_report_t, field_), .shown = shown_}
static const sim_report_row_t transport_rows[] = {
    WHOLE(retransmitted, "packets", true, "number of packets that senders retransmitted"),
    {.name = "by_round", .kind = SIM_REPORT_LIST, .of = SIM_REPORT_U64, .unit = "packets", .help = "retransmitted packets by number of retransmissions: first, second...; the sixteenth value counts all later ones", .offset = offsetof(transport_report_t, by_round)},
    WHOLE(rounds_max, "", true, "highest number of retransmissions of one packet"),
    WHOLE(went_back, "", true, "number of NAKs after which a sender went back (go-back-N)"),
    WHOLE(timeouts, "", true, "number of retransmission timeouts of senders"),
    WHOLE(nodes_max, "", true, "highest sampled number of loss maps that the queue pairs of one NIC held"),
    WHOLE(nodes_peak, "", false, "highest number of loss maps that the queue pairs of one NIC held at any time"),
    REAL(totals.nodes_mean, "nodes_mean", "", true, "mean number of loss maps over the samples, from the start of the run to the last progress"),
    REAL(totals.nodes_steady, "nodes_steady", "", false, "mean number of loss maps in the steady state, from two round trips after the first packet to the last new one; 0: there is none"),
    REAL(totals.nodes_p50, "nodes_p50", "", false, "median number of loss maps over the samples"),
    REAL(totals.nodes_p95, "nodes_p95", "", false, "95th percentile of the number of loss maps over the samples"),
    REAL(totals.nodes_p99, "nodes_p99", "", false, "99th percentile of the number of loss maps over the samples"),
    REAL(core_us, "core_us", "us", false, "time that hosts' cores took to insert maps (nic.adamap.insert-time)"),
    WHOLE(blocks_max, "", true, "highest number of blocks in use in a host's knitting buffer"),
    WHOLE(nic_bytes_per_qp, "bytes", true, "NIC memory that each queue pair reserves for repairs, used or not"),
    WHOLE(nic_bytes_per_qp_max, "bytes", false, "highest NIC memory that one queue pair used for repairs, where it grows with the window"),
    WHOLE(host_bytes_max, "bytes", true, "highest size of a host's knitting buffer"),
    WHOLE(host_grown, "", false, "number of times that a knitting buffer grew"),
    WHOLE(host_shrunk, "", false, "number of times that a knitting buffer gave a chunk back"),
    WHOLE(host_refused, "", false, "number of times that a block of a knitting buffer was needed and none was left"),
    WHOLE(prefetch_hits, "", true, "number of first retransmissions whose map was on the NIC"),
    WHOLE(prefetch_stalls, "", true, "number of first retransmissions whose map was still in the host"),
    REAL(stalled_us, "stalled_us", "us", false, "time that retransmissions waited for their maps and table entries, summed"),
    REAL(pipeline_us, "pipeline_us", "us", false, "time for which receive pipelines stood still because packets waited for maps"),
    WHOLE(dma_reads, "", false, "number of reads of the knitting buffer by DMA"),
    WHOLE(dma_writes, "", false, "number of writes to the knitting buffer by DMA"),
    WHOLE(table_access, "", false, "number of look-ups of later rounds in the retransmission table"),
    WHOLE(table_hits, "", false, "number of look-ups in the retransmission table that were found on the NIC"),
    WHOLE(parity, "packets", false, "number of packets of an erasure code (nic.sdr.code)"),
    WHOLE(decoded, "packets", false, "number of packets decoded from those of the erasure code"),
    WHOLE(fallbacks, "", false, "number of groups of chunks that the erasure code could not repair"),
    WHOLE(duplicates, "packets", true, "number of received packets that had arrived before"),
    WHOLE(dropped, "packets", false, "number of received packets that were not accepted because they could not be recorded"),
    WHOLE(repaired, "packets", false, "number of packets that were missed and arrived later"),
    REAL(repair_us_mean, "repair_us_mean", "us", true, "mean time from when a packet was missed until it arrived"),
    REAL(repair_us_max, "repair_us_max", "us", false, "longest time from when a packet was missed until it arrived"),
    REAL(work_per_repair, "work_per_repair", "", false, "number of steps of the NIC's control path per repaired packet"),
};
#undef WHOLE
#undef REAL
static const sim_report_table_t transport_table = APP__TABLE(transport_rows, transport_report_t);
#define ROW(...) APP__ROW(bulk_report_t, __VA_ARGS__)
static const sim_report_row_t rows[] = {
    BULK_ROWS(ROW)
    {"fct_ns", SIM_REPORT_LIST, "ns", "completion time of each transfer, in order; null: not completed",
     .offset = offsetof(bulk_report_t, fct_ns), .of = SIM_REPORT_REAL},
    {"transport", SIM_REPORT_OBJECT, "", "cost of repairs at the NICs of both ends",
     .offset = offsetof(bulk_report_t, transport), .table = &transport_table, .shown = true},
};
// clang-format on
static const sim_report_table_t report_table =
    APP__FILLED(rows, bulk_report_t, fill_report, .fini = free_report);

// -- life

static sim_err_t fill_plan(const app_context_t *context, const bulk_config_t *config,
                           const app__places_t *places, app__plan_t *plan, sim_message_t *message)
{
    const app_hosts_t *const from = &places[0].list;
    const app_hosts_t *const to = &places[1].list;
    const size_t pairs = SIM_MAX(from->count, to->count);
    (void)context;
    for (size_t i = 0; i < pairs; i++) {
        for (uint64_t q = 0; q < config->qps; q++) {
            const app__request_t request = {
                .source = from->interfaces[i % from->count],
                .destination = to->interfaces[i % to->count],
                .bytes = config->bytes,
                .start_ps = config->start_ps,
                .priority = SIM_AUTO,
            };
            const sim_err_t error = app__plan_add(plan, &request, "to", message);
            if (error != SIM_OK) {
                return error;
            }
        }
    }
    return SIM_OK;
}

// Reports the NIC memory that the transport reserves, which is known before anything is sent.
static void tell_memory(const bulk_t *bulk, const app_context_t *context, uint64_t qps)
{
    uint64_t bytes = 0;
    const nic_transport_ops_t *const ops =
        bulk->watch_count == 0 ? NULL : nic_transport_usual(bulk->watches[0].nic, &bytes);
    if (bytes != 0 && context->note != NULL) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "%s reserves %" PRIu64
                       " bytes of a NIC's memory for each queue pair, %" PRIu64 " for the %" PRIu64
                       " queue pairs between two hosts",
                       ops->name, bytes, bytes * qps, qps);
        context->note(text, context->ctx);
    }
}

static sim_err_t bulk_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message)
{
    const bulk_config_t *const config = config_void;
    app__places_t places[2];
    sim_err_t error = app__places_find(context, "from", config->from, &places[0], message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__places_find(context, "to", config->to, &places[1], message);
    if (error != SIM_OK) {
        app__places_fini(&places[0]);
        return error;
    }
    app__plan_t *const plan = app__plan_create(context, &config->shape, app_bulk.name);
    error = fill_plan(context, config, places, plan, message);
    if (error != SIM_OK) {
        app__plan_destroy(plan);
    } else {
        app__plan_begin(plan);
        bulk_t *const bulk = sim_alloc(sizeof(*bulk));
        bulk->planned.app = (app_t){.ops = &app_bulk, .net = context->net, .index = context->index};
        bulk->planned.plan = plan;
        bulk->start_ps = config->start_ps;
        watch_all(bulk);
        tell_memory(bulk, context, config->qps);
        *app = &bulk->planned.app;
    }
    app__places_fini(&places[0]);
    app__places_fini(&places[1]);
    return error;
}

static void bulk_destroy(app_t *app)
{
    bulk_t *const bulk = (bulk_t *)(void *)app;
    for (size_t i = 0; i < bulk->watch_count; i++) {
        sim_free(bulk->watches[i].samples);
    }
    sim_free(bulk->watches);
    app__planned_destroy(app);
}

const app_ops_t app_bulk = {
    .name = "bulk",
    .help = "long transfers between pairs of hosts, and their steady state",
    .attrs = &attr_table,
    .create = bulk_create,
    .destroy = bulk_destroy,
    .flows = app__planned_flows,
    .progress = app__planned_progress,
    .under_way = app__planned_under_way,
    .carry = bulk_carry,
    .report = &report_table,
};

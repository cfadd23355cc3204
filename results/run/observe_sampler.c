// SPDX-License-Identifier: Apache-2.0
// results/run/observe_sampler.c - reads the metrics of series: at their times, or when they may
// differ.
#include "results/run/series_internal.h"
#include "world/patterns.h"
#include "world/series.h"

#include "kernel/order/fifo.h"
#include "kernel/ranks.h"
#include "net/ports.h"
#include "nic/trace.h"

#include <string.h>

#define LOAD_ONE UINT64_C(1000000) // a link that is never idle, in utilisation

// -- values

static void put_sample(results__sampler_t *sampler, sim_time_t time_ps, uint64_t value,
                       const nic_qp_t *qp)
{
    if (SIM_UNLIKELY(sampler->writer->full)) {
        sampler->left_out += sampler->times;
        return;
    }
    results__series_record_t *const record =
        sim_stream_put(sampler->writer->stream, &sampler->node->sim, time_ps, sizeof(*record));
    *record = (results__series_record_t){
        .sampler = sampler,
        .value = value,
        .qp_num = qp != NULL ? nic_qp_num(qp) : 0,
        .peer = qp != NULL ? nic_qp_destination(qp) : NET_INTERFACES_MAX,
    };
}

static void put_change(results__track_t *track, sim_time_t time_ps, uint64_t value)
{
    if (track->put && track->put_value == value) {
        return;
    }
    track->put = true;
    track->put_value = value;
    const results__sampler_t *const sampler = track->sampler;
    results__series_record_t *const record =
        sim_stream_put(sampler->writer->stream, &sampler->node->sim, time_ps, sizeof(*record));
    *record = (results__series_record_t){sampler, track, value, track->qp_num, track->peer};
}

static uint64_t read_value(const results__sampler_t *sampler, sim_time_t time_ps)
{
    const world_series_t *const series = sampler->series;
    uint64_t value = 0;
    switch (series->kind) {
    case WORLD_SERIES_PORT:
        return net_port_metric_read(&net_port_metrics[series->metric], sampler->port,
                                    series->classes, time_ps);
    case WORLD_SERIES_NIC:
        if (series->cache_metric != NULL) {
            return nic_cache_metric_read(world_nic_of(sampler->writer->world, sampler->nic),
                                         series->cache_metric);
        }
        if (series->transport_metric != NULL) {
            return nic_transport_metric_read(world_nic_of(sampler->writer->world, sampler->nic),
                                             series->transport_metric);
        }
        memcpy(&value,
               (const char *)nic_get_counters(world_nic_of(sampler->writer->world, sampler->nic)) +
                   nic_counter_infos[series->metric].field.offset,
               sizeof(value));
        return value;
    case WORLD_SERIES_SWITCH:
        return world_switch_metrics[series->metric].read(sampler->node);
    case WORLD_SERIES_NODE:
        return world_node_metrics[series->metric].read(sampler->node);
    case WORLD_SERIES_QP:
        break;
    }
    SIM_CHECK(series->kind != WORLD_SERIES_QP);
    return 0;
}

// -- queue pairs

static bool is_told(const world_series_t *series)
{
    return series->cc_metric == NULL && nic_qp_metric_is_traced(&nic_qp_metrics[series->metric]);
}

// Returns whether the metric exists also for queue pairs that only answer their peer.
static bool of_all(const world_series_t *series)
{
    return series->cc_metric == NULL && nic_qp_metrics[series->metric].of_all;
}

// After these a queue pair has something to send.
#define FIRST_SENT ((uint32_t)NIC_TRACE_POST | (uint32_t)NIC_TRACE_ANSWER)

// Returns the trace points after which the metric of a queue pair may have changed.
static uint32_t points_of(const world_series_t *series)
{
    return series->cc_metric != NULL ? (uint32_t)NIC_TRACE_CONTROL
                                     : nic_qp_metrics[series->metric].points;
}

// Reads the metric of a queue pair. Returns false if the queue pair has no such number.
static bool read_qp(const world_series_t *series, const nic_qp_t *qp, uint64_t *value)
{
    if (!of_all(series) && !nic_qp_sends(qp)) {
        return false;
    }
    if (series->cc_metric != NULL) {
        return nic_qp_cc_metric(qp, series->cc_metric, value);
    }
    *value = nic_qp_metric_read(&nic_qp_metrics[series->metric], qp);
    return true;
}

static bool matches_number(const char *pattern, uint32_t number)
{
    char text[16];
    char *digits = text + sizeof(text);
    *--digits = '\0';
    do {
        *--digits = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return world_pattern_match(pattern, digits);
}

static bool matches(const results__sampler_t *sampler, const nic_qp_t *qp)
{
    const world_series_t *const series = sampler->series;
    const world_t *const world = sampler->writer->world;
    if (!matches_number(series->qps, nic_qp_num(qp))) {
        return false;
    }
    if (series->peers == NULL) {
        return true;
    }
    const uint32_t peer = nic_qp_destination(qp);
    return peer < world->nic_count &&
           (world_pattern_match(series->peers, world->nics[peer].name) ||
            world_pattern_match(series->peers, net_node_name(world->net, world->nics[peer].host)));
}

static bool is_wanted(results__sampler_t *sampler, const nic_qp_t *qp)
{
    const bool wanted = matches(sampler, qp);
    sampler->met |= wanted;
    return wanted;
}

results__track_t *results__track_of_number(results__sampler_t *sampler, uint32_t number)
{
    const uint64_t found = sim_map_get(&sampler->track_of, number);
    if (found != SIM_MAP_NONE) {
        return sampler->tracks[found];
    }
    results__track_t *const track = sim_alloc(sizeof(*track));
    *track = (results__track_t){.sampler = sampler, .qp_num = number};
    sim_map_add(&sampler->track_of, number, sampler->track_count);
    SIM_APPEND(sampler->tracks, sampler->track_count, sampler->track_capacity, track);
    return track;
}

// Returns the track of a queue pair, made where there is none; NULL where it is not asked for.
static results__track_t *track_of(results__sampler_t *sampler, const nic_qp_t *qp)
{
    results__track_t *const track = results__track_of_number(sampler, nic_qp_num(qp));
    if (!track->known && nic_qp_state(qp) != NIC_QPS_RESET) {
        track->known = true;
        track->wanted = is_wanted(sampler, qp);
        track->peer = nic_qp_destination(qp);
    }
    return track->wanted ? track : NULL;
}

// Forgets the track of a queue pair that is gone: its number may be used again.
static void forget_qp(results__sampler_t *sampler, const nic_trace_t *trace)
{
    results__track_t *const track = track_of(sampler, trace->qp);
    if (track == NULL) {
        return;
    }
    if (sampler->on_change && track->put && !is_told(sampler->series)) {
        put_change(track, trace->time_ps, 0);
    }
    track->put = false;
    track->known = false;
    track->wanted = false;
}

static void on_qp(const nic_trace_t *trace, void *ctx)
{
    results__sampler_t *const sampler = ctx;
    if (trace->point == NIC_TRACE_LIFE) {
        if (trace->value == 0) {
            forget_qp(sampler, trace);
        }
        return;
    }
    if (!sampler->begun) {
        return;
    }
    results__track_t *const track = track_of(sampler, trace->qp);
    const bool known =
        track != NULL && track->put && (trace->point & points_of(sampler->series)) == 0;
    if (track == NULL || (known && trace->point != NIC_TRACE_STATE)) {
        return;
    }
    const bool told = is_told(sampler->series);
    uint64_t value = trace->value;
    if (told ? value == 0 || trace->point == NIC_TRACE_STATE
             : !read_qp(sampler->series, trace->qp, &value)) {
        return;
    }
    if (sampler->on_change) {
        put_change(track, trace->time_ps, value);
    } else {
        track->put = true;
        track->put_value = value;
    }
}

typedef struct qp_visit {
    results__sampler_t *sampler;
    sim_time_t time_ps;
} qp_visit_t;

static void sample_qp(const nic_qp_t *qp, void *ctx)
{
    const qp_visit_t *const visit = ctx;
    results__sampler_t *const sampler = visit->sampler;
    const world_series_t *const series = sampler->series;
    const bool told = is_told(series);
    results__track_t *const track = told || sampler->on_change ? track_of(sampler, qp) : NULL;
    uint64_t value = 0;
    if (told) {
        if (track != NULL && track->put && !sampler->on_change) {
            put_sample(sampler, visit->time_ps, track->put_value, qp);
        }
    } else if (sampler->on_change) {
        if (track != NULL && read_qp(series, qp, &value)) {
            put_change(track, visit->time_ps, value);
        }
    } else if (is_wanted(sampler, qp) && read_qp(series, qp, &value)) {
        put_sample(sampler, visit->time_ps, value, qp);
    }
}

// -- the two ways to be asked

// Samples the share of the link's time that frames took since the sample before, in millionths.
static void sample_load(results__sampler_t *sampler, sim_time_t time_ps)
{
    sim_time_t busy_ps = read_value(sampler, time_ps);
    if (sampler->begun) {
        // A frame may end after this sample; the rest of its time counts in the next sample.
        const sim_time_t span_ps = time_ps - sampler->load_ps;
        const sim_time_t took_ps = busy_ps - sampler->busy_ps;
        const sim_time_t counted_ps = SIM_MIN(took_ps, span_ps);
        const sim_time_t frame_ps = net_port_frame_time_ps(sampler->port, NET_FRAME_BYTES_QUANTUM);
        busy_ps -= SIM_MIN(took_ps - counted_ps, frame_ps);
        put_sample(sampler, time_ps, (uint64_t)((sim_wide_t)counted_ps * LOAD_ONE / span_ps), NULL);
    }
    sampler->busy_ps = busy_ps;
    sampler->load_ps = time_ps;
}

static void take_sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    results__sampler_t *const sampler = ctx;
    const world_series_t *const series = sampler->series;
    if (series->kind == WORLD_SERIES_QP) {
        qp_visit_t visit = {sampler, time_ps};
        nic_for_each_qp(world_nic_of(sampler->writer->world, sampler->nic), sample_qp, &visit);
    } else if (sampler->on_change) {
        put_change(&sampler->track, time_ps, read_value(sampler, time_ps));
    } else if (series->kind == WORLD_SERIES_PORT && net_port_metrics[series->metric].is_load) {
        sample_load(sampler, time_ps);
    } else {
        put_sample(sampler, time_ps, read_value(sampler, time_ps), NULL);
    }
    sampler->begun = true;
}

// Counts samples over idle time without taking them, once the file can hold no more of them.
static bool count_samples(const sim_node_t *node, sim_time_t time_ps, uint64_t count, void *ctx)
{
    results__sampler_t *const sampler = ctx;
    if (!sampler->writer->full || sampler->on_change || !sampler->begun) {
        return false;
    }
    sampler->times = count;
    take_sample(node, time_ps, sampler);
    sampler->times = 1;
    return true;
}

static void look(results__sampler_t *sampler, sim_time_t time_ps)
{
    if (sampler->begun) {
        put_change(&sampler->track, time_ps, read_value(sampler, time_ps));
    }
}

static void on_port(const net_trace_t *trace, void *ctx)
{
    look(ctx, trace->time_ps);
}

static void on_nic(const nic_trace_t *trace, void *ctx)
{
    look(ctx, trace->time_ps);
}

static void listen(results__sampler_t *sampler, net_node_t *node)
{
    const world_series_t *const series = sampler->series;
    if (!sim_node_is_here(&node->sim)) {
        return; // records come from its rank
    }
    switch (series->kind) {
    case WORLD_SERIES_PORT:
        net_port_listen(net_port_at(node, sampler->port->index),
                        net_port_metrics[series->metric].points, on_port, sampler);
        break;
    case WORLD_SERIES_SWITCH:
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen(net_port_at(node, p), world_switch_metrics[series->metric].points,
                            on_port, sampler);
        }
        break;
    case WORLD_SERIES_NODE:
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen(net_port_at(node, p), world_node_metrics[series->metric].points,
                            on_port, sampler);
        }
        break;
    case WORLD_SERIES_NIC:
        // Whatever a NIC counts, it counts when it sends, receives, waits too long, or makes a QP.
        net_port_listen(
            net_interface_port(sampler->writer->world->net,
                               nic_interface(world_nic_of(sampler->writer->world, sampler->nic))),
            NET_TRACE_TX, on_port, sampler);
        nic_listen(world_nic_of(sampler->writer->world, sampler->nic),
                   NIC_TRACE_RECEIVE | NIC_TRACE_TIMEOUT | NIC_TRACE_LIFE |
                       (series->cache_metric != NULL ? NIC_TRACE_CACHE | NIC_TRACE_TIER : 0u),
                   on_nic, sampler);
        break;
    case WORLD_SERIES_QP:
        nic_listen(world_nic_of(sampler->writer->world, sampler->nic),
                   NIC_TRACE_LIFE | NIC_TRACE_STATE | points_of(series) |
                       (is_told(series) || of_all(series) ? 0 : FIRST_SENT),
                   on_qp, sampler);
        break;
    }
}

// Marks may wait for their turn until the end of a window (sim_take_turn): a sample must not come
// before it.
static bool reads_marks(const world_series_t *series)
{
    return series->kind == WORLD_SERIES_PORT &&
           (net_port_metrics[series->metric].points & NET_TRACE_MARK) != 0;
}

void results__sampler_add(results_series_writer_t *writer, const world_series_t *series,
                          net_node_t *node, results__sampler_t sampler)
{
    results__sampler_t *const made = sim_alloc(sizeof(*made));
    *made = sampler;
    made->writer = writer;
    made->index = writer->sampler_count;
    made->series = series;
    made->node = node;
    made->times = 1;
    made->on_change = series->config.on == WORLD_ON_CHANGE;
    made->track.sampler = made;
    SIM_APPEND(writer->samplers, writer->sampler_count, writer->sampler_capacity, made);
    const sim_time_t start_ps = series->config.start_ps;
    const bool told = series->kind == WORLD_SERIES_QP && is_told(series);
    sim_sample_idle(writer->world->sim, &node->sim, start_ps,
                    // On change only the first: the next would be at the end of time.
                    made->on_change ? SIM_TIME_NEVER - start_ps : series->config.every_ps,
                    take_sample, count_samples, made);
    if (made->on_change || told) {
        listen(made, node);
    }
    if (reads_marks(series)) {
        sim_need_one_list(writer->world->sim);
    }
    made->begun = told && !made->on_change;
}

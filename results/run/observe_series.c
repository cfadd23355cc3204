// SPDX-License-Identifier: Apache-2.0
// results/run/observe_series.c - series of metrics, sampled or on change.
//
// A sampled series reads its metric every so often, between events. A series on change listens to
// the trace points after which its metric may differ, and puts a value into the record stream when
// it does. The stream brings the values of all nodes in order of time and node. The writer holds
// those of one instant back until the next: of what a path was within one instant the last value
// counts, and it makes a row only if it differs from the row before. So what is written is a
// function of the simulation alone, on any number of threads.
#include "net/ports.h"
#include "results/run/gather_ranks.h"
#include "results/run/series_internal.h"
#include "results/tables/tables.h"
#include "world/names.h"
#include "world/patterns.h"
#include "world/series.h"

// -- writing

static void write_row(results_series_writer_t *writer, const results__series_record_t *record)
{
    writer->any[record->sampler->series - writer->world->scenario->series] = true;
    if (writer->full) {
        writer->rows_left_out++;
        return;
    }
    const results__sampler_t *const sampler = record->sampler;
    const world_series_t *const series = sampler->series;
    results_series_row_t row = {writer->pending_ps, sampler->path, record->value};
    char *path = NULL;
    if (series->kind == WORLD_SERIES_QP) {
        const world_t *const world = writer->world;
        const bool named = series->peers != NULL && record->peer < world->nic_count;
        path = sim_format("%s%s%s:%" PRIu32 "].%s", sampler->path, named ? "->" : "",
                          named ? world->nics[record->peer].name : "", record->qp_num,
                          series->cc_metric != NULL ? series->cc_metric
                                                    : nic_qp_metrics[series->metric].name);
        row.path = path;
    }
    results_table_put_row(&results_series_table, writer->file, &row);
    sim_free(path);
    writer->rows++;
    writer->full = writer->rows >= writer->world->scenario->outputs.series_max;
}

static void flush(results_series_writer_t *writer)
{
    for (size_t i = 0; i < writer->pending_count; i++) {
        const results__series_record_t *const record = &writer->pending[i];
        results__track_t *const track = record->track;
        if (track != NULL) {
            track->pending = 0;
            if (track->written && track->written_value == record->value) {
                continue;
            }
            track->written = true;
            track->written_value = record->value;
        }
        write_row(writer, record);
    }
    writer->pending_count = 0;
}

static void take_record(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    (void)node_index;
    SIM_CHECK(record_bytes == sizeof(results__series_record_t));
    results_series_writer_t *const writer = ctx;
    const results__series_record_t *const taken = record;
    if (time_ps != writer->pending_ps) {
        SIM_CHECK(time_ps > writer->pending_ps);
        flush(writer);
        writer->pending_ps = time_ps;
    }
    if (taken->track != NULL && taken->track->pending != 0) {
        writer->pending[taken->track->pending - 1].value = taken->value;
        return;
    }
    SIM_APPEND(writer->pending, writer->pending_count, writer->pending_capacity, *taken);
    if (taken->track != NULL) {
        taken->track->pending = writer->pending_count;
    }
}

// -- in ranks

// A record on its way to rank 0: the sampler's number stands for its pointer, 1 for a track's.
static void pack(void *record, size_t record_bytes, void *ctx)
{
    results__series_record_t *const packed = record;
    (void)ctx;
    SIM_CHECK(record_bytes == sizeof(*packed));
    packed->sampler = (const void *)(uintptr_t)packed->sampler->index;
    packed->track = (void *)(uintptr_t)(packed->track != NULL ? 1 : 0);
}

static void unpack(void *record, size_t record_bytes, void *ctx)
{
    const results_series_writer_t *const writer = ctx;
    results__series_record_t *const packed = record;
    const size_t index = (uintptr_t)packed->sampler;
    SIM_CHECK(record_bytes == sizeof(*packed) && index < writer->sampler_count);
    results__sampler_t *const sampler = writer->samplers[index];
    packed->sampler = sampler;
    if (packed->track != NULL) {
        packed->track = sampler->series->kind == WORLD_SERIES_QP
                            ? results__track_of_number(sampler, packed->qp_num)
                            : &sampler->track;
    }
}

void results__series_leave(const results_series_writer_t *writer, sim_buffer_t *bytes)
{
    for (uint32_t i = 0; i < writer->sampler_count; i++) {
        const results__sampler_t *const sampler = writer->samplers[i];
        if ((sampler->met || sampler->left_out > 0) && sim_node_is_here(&sampler->node->sim)) {
            sim_buffer_put_u32(bytes, i);
            sim_buffer_put_u32(bytes, sampler->met);
            sim_buffer_put_u64(bytes, sampler->left_out);
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

void results__series_take(results_series_writer_t *writer, sim_reader_t *bytes)
{
    for (uint32_t i = sim_reader_u32(bytes); i != UINT32_MAX; i = sim_reader_u32(bytes)) {
        SIM_CHECK(i < writer->sampler_count);
        writer->samplers[i]->met = sim_reader_u32(bytes) != 0;
        writer->samplers[i]->left_out += sim_reader_u64(bytes);
    }
}

// -- attaching

static void attach_ports(results_series_writer_t *writer, const world_series_t *series)
{
    net_port_t **ports = NULL;
    size_t count = 0;
    world_error_t error;
    const sim_err_t result = world_find_ports(writer->world, &series->ports, series->config.series,
                                              &series->place, &ports, &count, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    const char *const metric = net_port_metrics[series->metric].name;
    for (size_t i = 0; i < count; i++) {
        const char *const name = net_port_name(ports[i]);
        char *const path = series->one_class ? sim_format("port[%s].%s[%d]", name, metric,
                                                          __builtin_ctz(series->classes))
                                             : sim_format("port[%s].%s", name, metric);
        results__sampler_add(writer, series, ports[i]->node,
                             (results__sampler_t){.port = ports[i], .path = path});
    }
    sim_free(ports);
}

static char *nic_path(const world_series_t *series, const world_nic_t *nic)
{
    if (series->kind == WORLD_SERIES_NIC) {
        const char *const name = series->cache_metric != NULL ? series->cache_metric->name
                                 : series->transport_metric != NULL
                                     ? series->transport_metric->name
                                     : nic_counter_infos[series->metric].name;
        return sim_format("nic[%s].%s", nic->name, name);
    }
    return sim_format("qp[%s", nic->name);
}

static void attach_nics(results_series_writer_t *writer, const world_series_t *series)
{
    const world_t *const world = writer->world;
    for (size_t i = 0; i < world->nic_count; i++) {
        const world_nic_t *const nic = &world->nics[i];
        if (world_pattern_match(series->nodes, nic->name) ||
            world_pattern_match(series->nodes, net_node_name(world->net, nic->host))) {
            results__sampler_add(writer, series, nic_node(world_nic_of(world, nic)),
                                 (results__sampler_t){.nic = nic, .path = nic_path(series, nic)});
        }
    }
}

static void attach_nodes(results_series_writer_t *writer, const world_series_t *series)
{
    const net_t *const net = writer->world->net;
    const bool any = series->kind == WORLD_SERIES_NODE;
    const world_switch_metric_t *const metrics = any ? world_node_metrics : world_switch_metrics;
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if ((any || node->kind == NET_NODE_SWITCH) &&
            world_pattern_match(series->nodes, node->sim.name)) {
            char *const path = sim_format("%s[%s].%s", any ? "node" : "switch", node->sim.name,
                                          metrics[series->metric].name);
            results__sampler_add(writer, series, node, (results__sampler_t){.path = path});
        }
    }
}

sim_err_t results_series_writer_create(const world_t *world, const char *folder,
                                       results_series_writer_t **writer, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    *writer = NULL;
    if (scenario->series_count == 0) {
        return SIM_OK;
    }
    results_series_writer_t *const made = sim_alloc(sizeof(*made));
    made->world = world;
    made->full = scenario->outputs.series_max == 0;
    made->any = sim_alloc_array(scenario->series_count, sizeof(*made->any));
    const sim_err_t result = results_table_open(&results_series_table, folder, &made->file, error);
    if (result != SIM_OK) {
        sim_free(made->any);
        sim_free(made);
        return result;
    }
    made->stream = sim_stream_create(world->sim, take_record, made);
    sim_stream_carry(made->stream, pack, unpack);
    for (size_t i = 0; i < scenario->series_count; i++) {
        const world_series_t *const series = &scenario->series[i];
        switch (series->kind) {
        case WORLD_SERIES_PORT:
            attach_ports(made, series);
            break;
        case WORLD_SERIES_NIC:
        case WORLD_SERIES_QP:
            attach_nics(made, series);
            break;
        case WORLD_SERIES_SWITCH:
        case WORLD_SERIES_NODE:
            attach_nodes(made, series);
            break;
        }
    }
    *writer = made;
    return SIM_OK;
}

// -- series without a row

static const char *why_empty(const results_series_writer_t *writer, const world_series_t *series,
                             sim_time_t end_ps)
{
    bool met = false;
    bool observed = false;
    for (size_t i = 0; i < writer->sampler_count; i++) {
        observed |= writer->samplers[i]->series == series;
        met |= writer->samplers[i]->series == series && writer->samplers[i]->met;
    }
    if (!observed) {
        return "nothing is called that";
    }
    if (series->config.start_ps >= end_ps) {
        return "it starts when the run is over";
    }
    if (series->kind != WORLD_SERIES_QP) {
        return "the run ended before its first sample";
    }
    if (!met) {
        return series->peers != NULL ? "no queue pair connected these"
                                     : "there was no such queue pair";
    }
    return series->cc_metric != NULL
               ? "its queue pairs sent nothing, or their congestion control has no such number"
               : "its queue pairs sent nothing";
}

static void explain_empty(const results_series_writer_t *writer, results_t *results)
{
    const world_scenario_t *const scenario = writer->world->scenario;
    for (size_t i = 0; i < scenario->series_count; i++) {
        if (!writer->any[i]) {
            const world_series_t *const series = &scenario->series[i];
            results_note(results, sim_format("no row of %s: %s", series->config.series,
                                             why_empty(writer, series, results->sim_time_ps)));
        }
    }
}

sim_err_t results_series_writer_close(results_series_writer_t *writer, results_t *results,
                                      world_error_t *error)
{
    flush(writer);
    for (size_t i = 0; i < writer->sampler_count; i++) {
        const results__sampler_t *const sampler = writer->samplers[i];
        writer->rows_left_out += sampler->left_out;
        writer->any[sampler->series - writer->world->scenario->series] |= sampler->left_out > 0;
    }
    if (results != NULL) {
        results->series_rows = writer->rows;
        results->series_rows_left_out = writer->rows_left_out;
        explain_empty(writer, results);
    }
    const sim_err_t result = results_file_close(writer->file, error);
    for (size_t i = 0; i < writer->sampler_count; i++) {
        results__sampler_t *const sampler = writer->samplers[i];
        sim_free_each(sampler->tracks, sampler->track_count);
        sim_free(sampler->tracks);
        sim_map_fini(&sampler->track_of);
        sim_free(sampler->path);
        sim_free(sampler);
    }
    SIM_FREE_ALL(writer->samplers, writer->any, writer->pending, writer);
    return result;
}

// SPDX-License-Identifier: Apache-2.0
// cli/observe_series.c - series of metrics, sampled or on change.
//
// A sampled series reads its metric every so often, between events. A series on change listens to
// the trace points after which its metric may differ, and puts a value into the record stream when
// it does. The stream brings the values of all nodes in order of time and node. The writer holds
// those of one instant back until the next: of what a path was within one instant the last value
// counts, and it makes a row only if it differs from the row before. So what is written is a
// function of the simulation alone, on any number of threads.
//
// A track is one path on change: a port, a NIC, a switch, or a queue pair. Its upper half belongs
// to the thread that runs the node, its lower half to the writer, which runs between windows.
#include "cli/observe_series.h"

#include "cli/tables.h"
#include "kernel/record.h"
#include "nic/trace.h"

#include <string.h>

#define FIRST_TRACKS 16u
#define LOAD_ONE UINT64_C(1000000) // a link that is never idle, in utilisation

struct sampler;

typedef struct track {
    const struct sampler *sampler;
    uint32_t qp_num;
    uint32_t peer; // QP: interface
    bool known;    // QP: it was found out whether
    bool wanted;   // the patterns mean it
    bool put;      // has a value
    uint64_t put_value;

    bool written;
    uint64_t written_value;
    size_t pending; // place among the pending rows plus 1; 0: none
} track_t;

// One entity that a series observes.
typedef struct sampler {
    cli_series_writer_t *writer;
    const cli_series_t *series;
    const net_node_t *node;
    const net_port_t *port; // PORT
    const cli_nic_t *nic;   // NIC, QP
    char *path;             // PORT, NIC, SWITCH; of QPs the part before the number
    bool on_change;
    bool begun;          // the first sample was taken: what comes later counts
    uint64_t load_bytes; // at the sample before
    sim_time_t load_ps;  //
    track_t track;       // PORT, NIC, SWITCH
    track_t **tracks;    // QP: open addressing by number
    uint32_t track_count;
    uint32_t track_capacity; // power of two
} sampler_t;

typedef struct series_record {
    const sampler_t *sampler;
    track_t *track; // on change; NULL: a sample
    uint64_t value;
    uint32_t qp_num; // QP
    uint32_t peer;   // QP: interface it is connected to
} series_record_t;

struct cli_series_writer {
    const cli_world_t *world;
    cli_file_t *file;
    sim_stream_t *stream;
    uint64_t rows;
    uint64_t rows_left_out;
    sampler_t **samplers;
    size_t sampler_count;
    size_t sampler_capacity;
    sim_time_t pending_ps;
    series_record_t *pending; // of the instant pending_ps, in order
    size_t pending_count;
    size_t pending_capacity;
};

// -- writing

static void write_row(cli_series_writer_t *writer, const series_record_t *record)
{
    if (writer->rows >= writer->world->scenario->outputs.series_max) {
        writer->rows_left_out++;
        return;
    }
    const sampler_t *const sampler = record->sampler;
    const cli_series_t *const series = sampler->series;
    cli_series_row_t row = {writer->pending_ps, sampler->path, record->value};
    char *path = NULL;
    if (series->kind == CLI_SERIES_QP) {
        const cli_world_t *const world = writer->world;
        const bool named = series->peers != NULL && record->peer < world->nic_count;
        path = sim_format("%s%s%s:%" PRIu32 "].%s",
                          sampler->path,
                          named ? "->" : "",
                          named ? world->nics[record->peer].name : "",
                          record->qp_num,
                          series->cc_metric != NULL ? series->cc_metric
                                                    : nic_qp_metrics[series->metric].name);
        row.path = path;
    }
    cli_table_put_row(&cli_series_table, writer->file, &row);
    sim_free(path);
    writer->rows++;
}

static void flush(cli_series_writer_t *writer)
{
    for (size_t i = 0; i < writer->pending_count; i++) {
        const series_record_t *const record = &writer->pending[i];
        track_t *const track = record->track;
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

static void take_record(sim_time_t time_ps,
                        uint32_t node_index,
                        const void *record,
                        size_t record_bytes,
                        void *ctx)
{
    (void)node_index;
    SIM_CHECK(record_bytes == sizeof(series_record_t));
    cli_series_writer_t *const writer = ctx;
    const series_record_t *const taken = record;
    if (time_ps != writer->pending_ps) {
        SIM_CHECK(time_ps > writer->pending_ps);
        flush(writer);
        writer->pending_ps = time_ps;
    }
    if (taken->track != NULL && taken->track->pending != 0) {
        writer->pending[taken->track->pending - 1].value = taken->value;
        return;
    }
    SIM_GROW(writer->pending, writer->pending_count, &writer->pending_capacity);
    writer->pending[writer->pending_count++] = *taken;
    if (taken->track != NULL) {
        taken->track->pending = writer->pending_count;
    }
}

// -- values

static void put_sample(const sampler_t *sampler,
                       sim_time_t time_ps,
                       uint64_t value,
                       const nic_qp_t *qp)
{
    series_record_t *const record =
        sim_stream_put(sampler->writer->stream, &sampler->node->sim, time_ps, sizeof(*record));
    *record = (series_record_t){
        .sampler = sampler,
        .value = value,
        .qp_num = qp != NULL ? nic_qp_num(qp) : 0,
        .peer = qp != NULL ? nic_qp_destination(qp) : NET_INTERFACES_MAX,
    };
}

static void put_change(track_t *track, sim_time_t time_ps, uint64_t value)
{
    if (track->put && track->put_value == value) {
        return;
    }
    track->put = true;
    track->put_value = value;
    const sampler_t *const sampler = track->sampler;
    series_record_t *const record =
        sim_stream_put(sampler->writer->stream, &sampler->node->sim, time_ps, sizeof(*record));
    *record = (series_record_t){sampler, track, value, track->qp_num, track->peer};
}

static uint64_t read_value(const sampler_t *sampler, sim_time_t time_ps)
{
    const cli_series_t *const series = sampler->series;
    uint64_t value = 0;
    switch (series->kind) {
    case CLI_SERIES_PORT:
        return net_port_metrics[series->metric].read(sampler->port, series->classes, time_ps);
    case CLI_SERIES_NIC:
        memcpy(&value,
               (const char *)nic_get_counters(sampler->nic->nic) +
                   nic_counter_infos[series->metric].offset,
               sizeof(value));
        return value;
    case CLI_SERIES_SWITCH:
        return cli_switch_metrics[series->metric].read(sampler->node);
    case CLI_SERIES_QP:
        break;
    }
    SIM_CHECK(series->kind != CLI_SERIES_QP);
    return 0;
}

// -- queue pairs

static bool is_told(const cli_series_t *series)
{
    return series->cc_metric == NULL && nic_qp_metrics[series->metric].read == NULL;
}

// False: this queue pair has no such number.
static bool read_qp(const cli_series_t *series, const nic_qp_t *qp, uint64_t *value)
{
    if (series->cc_metric != NULL) {
        return nic_qp_cc_metric(qp, series->cc_metric, value);
    }
    *value = nic_qp_metrics[series->metric].read(qp);
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
    return cli_pattern_match(pattern, digits);
}

static bool is_wanted(const sampler_t *sampler, const nic_qp_t *qp)
{
    const cli_series_t *const series = sampler->series;
    const cli_world_t *const world = sampler->writer->world;
    if (!matches_number(series->qps, nic_qp_num(qp))) {
        return false;
    }
    if (series->peers == NULL) {
        return true;
    }
    const uint32_t peer = nic_qp_destination(qp);
    return peer < world->nic_count &&
           (cli_pattern_match(series->peers, world->nics[peer].name) ||
            cli_pattern_match(series->peers, world->nics[peer].host->sim.name));
}

static uint32_t slot_of(track_t *const *tracks, uint32_t capacity, uint32_t qp_num)
{
    uint32_t i = (uint32_t)sim_mix64(qp_num) & (capacity - 1);
    while (tracks[i] != NULL && tracks[i]->qp_num != qp_num) {
        i = (i + 1) & (capacity - 1);
    }
    return i;
}

static void grow_tracks(sampler_t *sampler)
{
    const uint32_t capacity =
        sampler->track_capacity == 0 ? FIRST_TRACKS : sampler->track_capacity * 2;
    track_t **const tracks = sim_alloc_array(capacity, sizeof(*tracks));
    for (uint32_t i = 0; i < sampler->track_capacity; i++) {
        if (sampler->tracks[i] != NULL) {
            tracks[slot_of(tracks, capacity, sampler->tracks[i]->qp_num)] = sampler->tracks[i];
        }
    }
    sim_free(sampler->tracks);
    sampler->tracks = tracks;
    sampler->track_capacity = capacity;
}

// The track of a queue pair, made where there is none; NULL where it is not asked for.
static track_t *track_of(sampler_t *sampler, const nic_qp_t *qp)
{
    if (sampler->track_count * 2 >= sampler->track_capacity) {
        grow_tracks(sampler);
    }
    const uint32_t number = nic_qp_num(qp);
    track_t **const slot =
        &sampler->tracks[slot_of(sampler->tracks, sampler->track_capacity, number)];
    if (*slot == NULL) {
        *slot = sim_alloc(sizeof(**slot));
        **slot = (track_t){.sampler = sampler, .qp_num = number};
        sampler->track_count++;
    }
    track_t *const track = *slot;
    if (!track->known && nic_qp_state(qp) != NIC_QPS_RESET) {
        track->known = true;
        track->wanted = is_wanted(sampler, qp);
        track->peer = nic_qp_destination(qp);
    }
    return track->wanted ? track : NULL;
}

// The number may be used again for another queue pair.
static void forget_qp(sampler_t *sampler, const nic_trace_t *trace)
{
    track_t *const track = track_of(sampler, trace->qp);
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
    sampler_t *const sampler = ctx;
    if (trace->point == NIC_TRACE_LIFE) {
        if (trace->value == 0) {
            forget_qp(sampler, trace);
        }
        return;
    }
    if (!sampler->begun) {
        return;
    }
    track_t *const track = track_of(sampler, trace->qp);
    if (track == NULL) {
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
    sampler_t *sampler;
    sim_time_t time_ps;
} qp_visit_t;

static void sample_qp(const nic_qp_t *qp, void *ctx)
{
    const qp_visit_t *const visit = ctx;
    sampler_t *const sampler = visit->sampler;
    const cli_series_t *const series = sampler->series;
    const bool told = is_told(series);
    track_t *const track = told || sampler->on_change ? track_of(sampler, qp) : NULL;
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

// What the port's link carried since the sample before, in millionths of what it could.
static void sample_load(sampler_t *sampler, sim_time_t time_ps)
{
    __extension__ typedef unsigned __int128 wide_t;
    const uint64_t bytes = read_value(sampler, time_ps);
    if (sampler->begun) {
        const wide_t bits = (wide_t)(bytes - sampler->load_bytes) * 8;
        const wide_t could = (wide_t)sampler->port->rate_bps * (time_ps - sampler->load_ps);
        put_sample(sampler, time_ps, (uint64_t)(bits * SIM_PS_PER_S * LOAD_ONE / could), NULL);
    }
    sampler->load_bytes = bytes;
    sampler->load_ps = time_ps;
}

static void take_sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    sampler_t *const sampler = ctx;
    const cli_series_t *const series = sampler->series;
    if (series->kind == CLI_SERIES_QP) {
        qp_visit_t visit = {sampler, time_ps};
        nic_for_each_qp(sampler->nic->nic, sample_qp, &visit);
    } else if (sampler->on_change) {
        put_change(&sampler->track, time_ps, read_value(sampler, time_ps));
    } else if (series->kind == CLI_SERIES_PORT && net_port_metrics[series->metric].is_load) {
        sample_load(sampler, time_ps);
    } else {
        put_sample(sampler, time_ps, read_value(sampler, time_ps), NULL);
    }
    sampler->begun = true;
}

static void look(sampler_t *sampler, sim_time_t time_ps)
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

static void listen(sampler_t *sampler, net_node_t *node)
{
    const cli_series_t *const series = sampler->series;
    switch (series->kind) {
    case CLI_SERIES_PORT:
        net_port_listen(&node->ports[sampler->port->index],
                        net_port_metrics[series->metric].points,
                        on_port,
                        sampler);
        break;
    case CLI_SERIES_SWITCH:
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen(&node->ports[p],
                            cli_switch_metrics[series->metric].points,
                            on_port,
                            sampler);
        }
        break;
    case CLI_SERIES_NIC:
        // Whatever a NIC counts, it counts when it sends, receives, waits too long, or makes a QP.
        net_port_listen(
            net_interface_port(sampler->writer->world->net, nic_interface(sampler->nic->nic)),
            NET_TRACE_TX,
            on_port,
            sampler);
        nic_listen(sampler->nic->nic,
                   NIC_TRACE_RECEIVE | NIC_TRACE_TIMEOUT | NIC_TRACE_LIFE,
                   on_nic,
                   sampler);
        break;
    case CLI_SERIES_QP:
        nic_listen(sampler->nic->nic,
                   NIC_TRACE_LIFE | NIC_TRACE_STATE |
                       (series->cc_metric != NULL ? (uint32_t)NIC_TRACE_CONTROL
                                                  : nic_qp_metrics[series->metric].points),
                   on_qp,
                   sampler);
        break;
    }
}

// -- attaching

static void add_sampler(cli_series_writer_t *writer,
                        const cli_series_t *series,
                        net_node_t *node,
                        sampler_t sampler)
{
    sampler_t *const made = sim_alloc(sizeof(*made));
    *made = sampler;
    made->writer = writer;
    made->series = series;
    made->node = node;
    made->on_change = series->config.on == CLI_ON_CHANGE;
    made->track.sampler = made;
    SIM_GROW(writer->samplers, writer->sampler_count, &writer->sampler_capacity);
    writer->samplers[writer->sampler_count++] = made;
    const sim_time_t start_ps = series->config.start_ps;
    const bool told = series->kind == CLI_SERIES_QP && is_told(series);
    sim_sample(writer->world->sim,
               &node->sim,
               start_ps,
               // On change only the first: the next would be at the end of time.
               made->on_change ? SIM_TIME_NEVER - start_ps : series->config.every_ps,
               take_sample,
               made);
    if (made->on_change || told) {
        listen(made, node);
    }
    made->begun = told && !made->on_change;
}

static void attach_ports(cli_series_writer_t *writer, const cli_series_t *series)
{
    net_port_t **ports = NULL;
    size_t count = 0;
    cli_error_t error;
    const sim_err_t result = cli_find_ports(writer->world,
                                            &series->ports,
                                            series->config.series,
                                            &series->place,
                                            &ports,
                                            &count,
                                            &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    const char *const metric = net_port_metrics[series->metric].name;
    for (size_t i = 0; i < count; i++) {
        const char *const name = net_port_name(ports[i]);
        char *const path =
            series->one_class
                ? sim_format("port[%s].%s[%d]", name, metric, __builtin_ctz(series->classes))
                : sim_format("port[%s].%s", name, metric);
        add_sampler(writer, series, ports[i]->node, (sampler_t){.port = ports[i], .path = path});
    }
    sim_free(ports);
}

static char *nic_path(const cli_series_t *series, const cli_nic_t *nic)
{
    if (series->kind == CLI_SERIES_NIC) {
        return sim_format("nic[%s].%s", nic->name, nic_counter_infos[series->metric].name);
    }
    return sim_format("qp[%s", nic->name);
}

static void attach_nics(cli_series_writer_t *writer, const cli_series_t *series)
{
    const cli_world_t *const world = writer->world;
    for (size_t i = 0; i < world->nic_count; i++) {
        const cli_nic_t *const nic = &world->nics[i];
        if (cli_pattern_match(series->nodes, nic->name) ||
            cli_pattern_match(series->nodes, nic->host->sim.name)) {
            add_sampler(writer,
                        series,
                        nic_node(nic->nic),
                        (sampler_t){.nic = nic, .path = nic_path(series, nic)});
        }
    }
}

static void attach_switches(cli_series_writer_t *writer, const cli_series_t *series)
{
    const net_t *const net = writer->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (node->kind == NET_NODE_SWITCH && cli_pattern_match(series->nodes, node->sim.name)) {
            char *const path = sim_format("switch[%s].%s",
                                          node->sim.name,
                                          cli_switch_metrics[series->metric].name);
            add_sampler(writer, series, node, (sampler_t){.path = path});
        }
    }
}

sim_err_t cli_series_writer_create(const cli_world_t *world,
                                   const char *folder,
                                   cli_series_writer_t **writer,
                                   cli_error_t *error)
{
    const cli_scenario_t *const scenario = world->scenario;
    *writer = NULL;
    if (scenario->series_count == 0) {
        return SIM_OK;
    }
    cli_series_writer_t *const made = sim_alloc(sizeof(*made));
    made->world = world;
    const sim_err_t result = cli_table_open(&cli_series_table, folder, &made->file, error);
    if (result != SIM_OK) {
        sim_free(made);
        return result;
    }
    made->stream = sim_stream_create(world->sim, take_record, made);
    for (size_t i = 0; i < scenario->series_count; i++) {
        const cli_series_t *const series = &scenario->series[i];
        switch (series->kind) {
        case CLI_SERIES_PORT:
            attach_ports(made, series);
            break;
        case CLI_SERIES_NIC:
        case CLI_SERIES_QP:
            attach_nics(made, series);
            break;
        case CLI_SERIES_SWITCH:
            attach_switches(made, series);
            break;
        }
    }
    *writer = made;
    return SIM_OK;
}

sim_err_t cli_series_writer_close(cli_series_writer_t *writer,
                                  uint64_t *rows,
                                  uint64_t *rows_left_out,
                                  cli_error_t *error)
{
    flush(writer);
    *rows = writer->rows;
    *rows_left_out = writer->rows_left_out;
    const sim_err_t result = cli_file_close(writer->file, error);
    for (size_t i = 0; i < writer->sampler_count; i++) {
        sampler_t *const sampler = writer->samplers[i];
        for (uint32_t t = 0; t < sampler->track_capacity; t++) {
            sim_free(sampler->tracks[t]);
        }
        sim_free(sampler->tracks);
        sim_free(sampler->path);
        sim_free(sampler);
    }
    sim_free(writer->samplers);
    sim_free(writer->pending);
    sim_free(writer);
    return result;
}

// SPDX-License-Identifier: Apache-2.0
// cli/observe.c - series, events and captures of a run.
//
// Nodes run apart, so that what they report goes through record streams (kernel/record.h) and is
// written between windows, in order of time and node: the same bytes on any number of threads.
#include "cli/observe.h"

#include "cli/tables.h"
#include "kernel/record.h"
#include "pcap-out/capture.h"

#include <string.h>

// One sampled entity of a series.
typedef struct sampler {
    cli_observers_t *observers;
    const cli_series_t *series;
    const net_port_t *port; // PORT
    const cli_nic_t *nic;   // NIC, QP
    char *path;             // PORT, NIC, SWITCH; of QPs the part before the number
} sampler_t;

typedef struct series_record {
    const sampler_t *sampler;
    uint64_t value;
    uint32_t qp_num;
} series_record_t;

struct cli_observers {
    const cli_world_t *world;
    cli_file_t *events;
    sim_stream_t *event_stream;
    uint64_t event_rows;
    uint64_t event_rows_left_out;
    cli_file_t *series;
    sim_stream_t *series_stream;
    uint64_t series_rows;
    sampler_t **samplers;
    size_t sampler_count;
    size_t sampler_capacity;
    pcap_out_capture_t **captures;
    size_t capture_count;
};

// -- events

static void on_event(const net_trace_t *trace, void *ctx)
{
    cli_observers_t *const observers = ctx;
    cli_event_row_t *const row = sim_stream_put(observers->event_stream,
                                                &trace->port->node->sim,
                                                trace->time_ps,
                                                sizeof(*row));
    *row = (cli_event_row_t){
        .world = observers->world,
        .time_ps = trace->time_ps,
        .port = trace->port,
        .point = trace->point,
        .detail = trace->detail,
    };
    const net_packet_t *const packet = trace->packet;
    if (trace->point == NET_TRACE_DROP && packet != NULL) {
        row->has_packet = true;
        row->priority = packet->priority;
        row->frame_bytes = packet->frame_bytes;
        const bool roce = packet->kind == NET_PACKET_ROCE;
        row->source = roce ? packet->source : NET_INTERFACES_MAX;
        row->destination = roce ? packet->destination : NET_INTERFACES_MAX;
    }
}

static void write_event(sim_time_t time_ps,
                        uint32_t node_index,
                        const void *record,
                        size_t record_bytes,
                        void *ctx)
{
    (void)time_ps;
    (void)node_index;
    SIM_CHECK(record_bytes == sizeof(cli_event_row_t));
    cli_observers_t *const observers = ctx;
    if (observers->event_rows >= observers->world->scenario->outputs.events_max) {
        observers->event_rows_left_out++;
        return;
    }
    observers->event_rows++;
    cli_table_put_row(&cli_event_table, observers->events, record);
}

static sim_err_t open_csv(const char *folder,
                          const cli_table_t *table,
                          cli_file_t **file,
                          cli_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, table->file_name);
    const sim_err_t result = cli_file_open(path, file, error);
    sim_free(path);
    if (result == SIM_OK) {
        cli_table_put_header(table, *file);
    }
    return result;
}

static sim_err_t attach_events(cli_observers_t *observers, const char *folder, cli_error_t *error)
{
    const sim_err_t result = open_csv(folder, &cli_event_table, &observers->events, error);
    if (result != SIM_OK) {
        return result;
    }
    const net_t *const net = observers->world->net;
    observers->event_stream = sim_stream_create(observers->world->sim, write_event, observers);
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen(&node->ports[p],
                            NET_TRACE_DROP | NET_TRACE_PAUSED | NET_TRACE_RESUMED | NET_TRACE_LINK,
                            on_event,
                            observers);
        }
    }
    return SIM_OK;
}

// -- series

static void put_sample(const sampler_t *sampler,
                       const sim_node_t *node,
                       sim_time_t time_ps,
                       uint64_t value,
                       uint32_t qp_num)
{
    series_record_t *const record =
        sim_stream_put(sampler->observers->series_stream, node, time_ps, sizeof(*record));
    *record = (series_record_t){sampler, value, qp_num};
}

typedef struct qp_visit {
    const sampler_t *sampler;
    const sim_node_t *node;
    sim_time_t time_ps;
} qp_visit_t;

static void sample_qp(const nic_qp_t *qp, void *ctx)
{
    const qp_visit_t *const visit = ctx;
    const cli_series_t *const series = visit->sampler->series;
    char number[16];
    uint32_t n = nic_qp_num(qp);
    char *digits = number + sizeof(number);
    *--digits = '\0';
    do {
        *--digits = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    if (cli_pattern_match(series->qps, digits)) {
        put_sample(visit->sampler,
                   visit->node,
                   visit->time_ps,
                   nic_qp_metrics[series->metric].read(qp),
                   nic_qp_num(qp));
    }
}

static void take_sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    const sampler_t *const sampler = ctx;
    const cli_series_t *const series = sampler->series;
    uint64_t value = 0;
    switch (series->kind) {
    case CLI_SERIES_PORT:
        value = net_port_metrics[series->metric].read(sampler->port, series->classes, time_ps);
        break;
    case CLI_SERIES_NIC: {
        const nic_counters_t *const counters = nic_get_counters(sampler->nic->nic);
        memcpy(&value,
               (const char *)counters + nic_counter_infos[series->metric].offset,
               sizeof(value));
        break;
    }
    case CLI_SERIES_QP: {
        qp_visit_t visit = {sampler, node, time_ps};
        nic_for_each_qp(sampler->nic->nic, sample_qp, &visit);
        return;
    }
    case CLI_SERIES_SWITCH:
        value = cli_switch_metrics[series->metric].read((const net_node_t *)(const void *)node);
        break;
    }
    put_sample(sampler, node, time_ps, value, 0);
}

static void write_sample(sim_time_t time_ps,
                         uint32_t node_index,
                         const void *record,
                         size_t record_bytes,
                         void *ctx)
{
    (void)node_index;
    SIM_CHECK(record_bytes == sizeof(series_record_t));
    cli_observers_t *const observers = ctx;
    series_record_t sample;
    memcpy(&sample, record, sizeof(sample));
    const sampler_t *const sampler = sample.sampler;
    cli_series_row_t row = {time_ps, sampler->path, sample.value};
    char *path = NULL;
    if (sampler->series->kind == CLI_SERIES_QP) {
        path = sim_format("%s:%" PRIu32 "].%s",
                          sampler->path,
                          sample.qp_num,
                          nic_qp_metrics[sampler->series->metric].name);
        row.path = path;
    }
    cli_table_put_row(&cli_series_table, observers->series, &row);
    sim_free(path);
    observers->series_rows++;
}

static void add_sampler(cli_observers_t *observers,
                        const cli_series_t *series,
                        net_node_t *node,
                        sampler_t sampler)
{
    sampler_t *const made = sim_alloc(sizeof(*made));
    *made = sampler;
    made->observers = observers;
    made->series = series;
    SIM_GROW(observers->samplers, observers->sampler_count, &observers->sampler_capacity);
    observers->samplers[observers->sampler_count++] = made;
    sim_sample(observers->world->sim,
               &node->sim,
               series->config.start_ps,
               series->config.every_ps,
               take_sample,
               made);
}

static void attach_port_series(cli_observers_t *observers, const cli_series_t *series)
{
    net_port_t **ports = NULL;
    size_t count = 0;
    cli_error_t error;
    const sim_err_t result = cli_find_ports(observers->world,
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
        add_sampler(observers, series, ports[i]->node, (sampler_t){.port = ports[i], .path = path});
    }
    sim_free(ports);
}

static void attach_nic_series(cli_observers_t *observers, const cli_series_t *series)
{
    const cli_world_t *const world = observers->world;
    for (size_t i = 0; i < world->nic_count; i++) {
        const cli_nic_t *const nic = &world->nics[i];
        if (!cli_pattern_match(series->nodes, nic->name) &&
            !cli_pattern_match(series->nodes, nic->host->sim.name)) {
            continue;
        }
        char *const path =
            series->kind == CLI_SERIES_QP
                ? sim_format("qp[%s", nic->name)
                : sim_format("nic[%s].%s", nic->name, nic_counter_infos[series->metric].name);
        add_sampler(observers, series, nic_node(nic->nic), (sampler_t){.nic = nic, .path = path});
    }
}

static void attach_switch_series(cli_observers_t *observers, const cli_series_t *series)
{
    const net_t *const net = observers->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (node->kind == NET_NODE_SWITCH && cli_pattern_match(series->nodes, node->sim.name)) {
            char *const path = sim_format("switch[%s].%s",
                                          node->sim.name,
                                          cli_switch_metrics[series->metric].name);
            add_sampler(observers, series, node, (sampler_t){.path = path});
        }
    }
}

static sim_err_t attach_series(cli_observers_t *observers, const char *folder, cli_error_t *error)
{
    const cli_scenario_t *const scenario = observers->world->scenario;
    if (scenario->series_count == 0) {
        return SIM_OK;
    }
    const sim_err_t result = open_csv(folder, &cli_series_table, &observers->series, error);
    if (result != SIM_OK) {
        return result;
    }
    observers->series_stream = sim_stream_create(observers->world->sim, write_sample, observers);
    for (size_t i = 0; i < scenario->series_count; i++) {
        const cli_series_t *const series = &scenario->series[i];
        switch (series->kind) {
        case CLI_SERIES_PORT:
            attach_port_series(observers, series);
            break;
        case CLI_SERIES_NIC:
        case CLI_SERIES_QP:
            attach_nic_series(observers, series);
            break;
        case CLI_SERIES_SWITCH:
            attach_switch_series(observers, series);
            break;
        }
    }
    return SIM_OK;
}

// -- captures

static pcap_out_direction_t direction_of(const cli_capture_config_t *config)
{
    return config->direction == CLI_DIRECTION_TX   ? PCAP_OUT_TX
           : config->direction == CLI_DIRECTION_RX ? PCAP_OUT_RX
                                                   : PCAP_OUT_BOTH;
}

static sim_err_t attach_capture(cli_observers_t *observers,
                                const cli_capture_t *capture,
                                const char *folder,
                                cli_error_t *error)
{
    const cli_world_t *const world = observers->world;
    char *const path = sim_format("%s/captures/%s", folder, capture->config.file);
    const pcap_out_config_t config = {
        .path = path,
        .filter = capture->config.filter,
        .snaplen_bytes =
            capture->config.snaplen_bytes == SIM_AUTO ? 0 : (uint32_t)capture->config.snaplen_bytes,
        .direction = direction_of(&capture->config),
    };
    pcap_out_capture_t *opened = NULL;
    sim_message_t message;
    sim_err_t result = pcap_out_capture_open(world->sim, &config, &opened, &message);
    sim_free(path);
    if (result != SIM_OK) {
        return cli_fail(error, result, NULL, "%s", message.text);
    }
    observers->captures[observers->capture_count++] = opened;
    net_port_t **ports = NULL;
    size_t count = 0;
    result = cli_find_ports(world,
                            &capture->ports,
                            capture->config.ports,
                            &capture->place,
                            &ports,
                            &count,
                            error);
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        pcap_out_capture_port(opened, ports[i]);
    }
    sim_free(ports);
    return result;
}

static sim_err_t attach_captures(cli_observers_t *observers, const char *folder, cli_error_t *error)
{
    const cli_scenario_t *const scenario = observers->world->scenario;
    observers->captures =
        sim_alloc_array(scenario->capture_count + 1, sizeof(*observers->captures));
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < scenario->capture_count && result == SIM_OK; i++) {
        result = attach_capture(observers, &scenario->captures[i], folder, error);
    }
    return result;
}

// -- all

static void close_captures(cli_observers_t *observers,
                           cli_results_t *results,
                           sim_err_t *result,
                           cli_error_t *error)
{
    for (size_t i = 0; i < observers->capture_count; i++) {
        if (results != NULL) {
            results->capture_frames += pcap_out_capture_frames(observers->captures[i]);
        }
        sim_message_t message;
        const sim_err_t closed = pcap_out_capture_close(observers->captures[i], &message);
        if (closed != SIM_OK && *result == SIM_OK) {
            *result = cli_fail(error, closed, NULL, "%s", message.text);
        }
    }
}

static sim_err_t destroy(cli_observers_t *observers, cli_results_t *results, cli_error_t *error)
{
    sim_err_t result = SIM_OK;
    cli_file_t *const files[] = {observers->events, observers->series};
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        cli_error_t other;
        const sim_err_t closed = files[i] == NULL ? SIM_OK : cli_file_close(files[i], &other);
        if (closed != SIM_OK && result == SIM_OK) {
            result = closed;
            *error = other;
        }
    }
    close_captures(observers, results, &result, error);
    for (size_t i = 0; i < observers->sampler_count; i++) {
        sim_free(observers->samplers[i]->path);
        sim_free(observers->samplers[i]);
    }
    sim_free(observers->samplers);
    sim_free(observers->captures);
    sim_free(observers);
    return result;
}

sim_err_t cli_observers_create(const cli_world_t *world,
                               const char *folder,
                               cli_observers_t **observers,
                               cli_error_t *error)
{
    cli_observers_t *const made = sim_alloc(sizeof(*made));
    made->world = world;
    sim_err_t result = attach_events(made, folder, error);
    if (result == SIM_OK) {
        result = attach_series(made, folder, error);
    }
    if (result == SIM_OK) {
        result = attach_captures(made, folder, error);
    }
    if (result != SIM_OK) {
        cli_error_t ignored;
        if (destroy(made, NULL, &ignored) != SIM_OK) {
            cli_error_add(error, " (and %s)", ignored.text);
        }
        return result;
    }
    *observers = made;
    return SIM_OK;
}

sim_err_t cli_observers_close(cli_observers_t *observers,
                              cli_results_t *results,
                              cli_error_t *error)
{
    results->event_rows = observers->event_rows;
    results->event_rows_left_out = observers->event_rows_left_out;
    results->series_rows = observers->series_rows;
    return destroy(observers, results, error);
}

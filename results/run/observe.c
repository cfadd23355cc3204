// SPDX-License-Identifier: Apache-2.0
// results/run/observe.c - events and captures of a run; its series are in
// results/run/observe_series.c.
//
// Nodes run apart, so that what they report goes through record streams (kernel/record.h) and is
// written between windows, in order of time and node: the same bytes on any number of threads.
#include "results/run/observe.h"
#include "results/tables/tables.h"
#include "results/totals/pause_roots.h"
#include "world/capture_files.h"
#include "world/captures.h"
#include "world/names.h"

#include "kernel/record.h"
#include "net/ports.h"
#include "net/route_choices.h"
#include "net/scale_up.h"
#include "nic/extra.h"
#include "nic/iommu.h"
#include "nic/trace.h"
#include "pcap-out/capture.h"
#include "pcap-out/fabric.h"
#include "results/run/gather_ranks.h"
#include "results/run/hops.h"
#include "results/run/observe_series.h"
#include "results/run/pause_bins.h"
#include "results/tables/event_rows.h"

#include <assert.h>
#include <string.h>

// An open file of a capture.
typedef struct capture_file {
    pcap_out_capture_t *file;  // NULL: fabric
    pcap_out_fabric_t *fabric; // NULL: file
    size_t entry;              // of the scenario's captures
} capture_file_t;

struct results_observers {
    const world_t *world;
    results_pause_roots_t *pauses;
    results_reordering_t *reordering; // NULL: packets cannot overtake each other
    results_file_t *events;           // NULL: not written
    sim_stream_t *event_stream;
    results_pause_bins_t *pause_bins; // NULL: not written
    char *folder;
    uint64_t event_rows;
    uint64_t event_rows_left_out;
    results_series_writer_t *series;
    results_hops_t *hops; // NULL: not written
    capture_file_t *captures;
    size_t capture_count;
    size_t capture_capacity;
};

// -- events

typedef struct event_record {
    bool is_word;              // of PFC, about where a pause began; else a row of events.csv
    results_pause_word_t word; //
    results_event_row_t row;
} event_record_t;

static void on_word(const net_trace_t *trace, void *ctx)
{
    results_observers_t *const observers = ctx;
    event_record_t *const record = sim_stream_put(observers->event_stream, &trace->port->node->sim,
                                                  trace->time_ps, sizeof(*record));
    *record = (event_record_t){.is_word = true};
    results_pause_word_of(observers->pauses, trace, &record->word);
}

static void on_event(const net_trace_t *trace, void *ctx)
{
    results_observers_t *const observers = ctx;
    event_record_t *const record = sim_stream_put(observers->event_stream, &trace->port->node->sim,
                                                  trace->time_ps, sizeof(*record));
    record->is_word = false;
    results_event_row_t *const row = &record->row;
    *row = (results_event_row_t){
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

// The actions of a cache, in the order in which records on their way to rank 0 number it.
static const char *const cache_names[] = {
    "to_l1",     "to_l2",     "to_l3",     "write_back", "l2_hit",     "expand",
    "denied_pd", "denied_mr", "denied_cq", "denied_qp",  "denied_srq", "denied_mtt",
};
static_assert(SIM_COUNT_OF(cache_names) == 6 + NIC_IOMMU_KIND_COUNT,
              "each kind of context has a name");

// Puts numbers into the place of pointers.
static void pack(void *record, size_t record_bytes, void *ctx)
{
    const results_observers_t *const observers = ctx;
    event_record_t *const event = record;
    SIM_CHECK(record_bytes == sizeof(*event));
    if (event->is_word) {
        event->word.port = results__port_packed(event->word.port);
        event->word.queue = results__port_packed(event->word.queue);
        return;
    }
    results_event_row_t *const row = &event->row;
    row->world = NULL;
    row->port = results__port_packed(row->port);
    if (row->cache != NULL) {
        uintptr_t number = 0;
        while (strcmp(cache_names[number], row->cache) != 0) {
            number++;
            SIM_CHECKF(number < SIM_COUNT_OF(cache_names), "%s", row->cache);
        }
        row->cache = (const char *)(number + 1);
        row->nic = (const void *)(uintptr_t)(row->nic - observers->world->nics);
    }
}

static void unpack(void *record, size_t record_bytes, void *ctx)
{
    const results_observers_t *const observers = ctx;
    const world_t *const world = observers->world;
    event_record_t *const event = record;
    SIM_CHECK(record_bytes == sizeof(*event));
    if (event->is_word) {
        event->word.port = results__port_unpacked(world->net, event->word.port);
        event->word.queue = results__port_unpacked(world->net, event->word.queue);
        return;
    }
    results_event_row_t *const row = &event->row;
    row->world = world;
    row->port = results__port_unpacked(world->net, row->port);
    if (row->cache != NULL) {
        const size_t number = (uintptr_t)row->cache - 1;
        const size_t nic = (uintptr_t)row->nic;
        SIM_CHECK(number < SIM_COUNT_OF(cache_names) && nic < world->nic_count);
        row->cache = cache_names[number];
        row->nic = &world->nics[nic];
    }
}

static const char *cache_event(const nic_trace_t *trace)
{
    static const char *const moves[] = {"", "to_l1", "to_l2", "to_l3"};
    if (trace->point == NIC_TRACE_TIER) {
        const bool written = (trace->value & NIC_TRACE_TIER_WRITTEN) != 0;
        return written ? "write_back" : moves[trace->value % 4];
    }
    if (trace->point == NIC_TRACE_REFUSED) {
        return cache_names[6 + trace->value];
    }
    return trace->value == 0 ? NULL : trace->value == 1 ? "l2_hit" : "expand";
}

static void on_cache(const nic_trace_t *trace, void *ctx)
{
    results_observers_t *const observers = ctx;
    const char *const name = cache_event(trace);
    if (name == NULL) {
        return; // a hit of L1
    }
    event_record_t *const record = sim_stream_put(
        observers->event_stream, &nic_node(trace->nic)->sim, trace->time_ps, sizeof(*record));
    *record = (event_record_t){
        .row = {.world = observers->world,
                .time_ps = trace->time_ps,
                .cache = name,
                .nic = &observers->world->nics[nic_interface(trace->nic)],
                .qp = trace->qp != NULL ? nic_qp_num(trace->qp) : 0},
    };
}

static void write_event(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    (void)node_index;
    SIM_CHECK(record_bytes == sizeof(event_record_t));
    results_observers_t *const observers = ctx;
    const event_record_t *const event = record;
    if (event->is_word) {
        results_pause_roots_take(observers->pauses, &event->word);
        return;
    }
    const bool paused = event->row.cache == NULL && event->row.point == NET_TRACE_PAUSED;
    if (paused || (event->row.cache == NULL && event->row.point == NET_TRACE_RESUMED)) {
        const net_port_t *const port = event->row.port;
        const uint32_t priority = event->row.detail;
        results_pause_roots_stopped(observers->pauses, time_ps, port, priority, paused);
        if (observers->pause_bins != NULL) {
            results_pause_bins_take(observers->pause_bins, time_ps, port, priority, paused);
        }
    }
    if (observers->events == NULL) {
        return;
    }
    if (observers->event_rows >= observers->world->scenario->outputs.events_max) {
        observers->event_rows_left_out++;
        return;
    }
    observers->event_rows++;
    results_event_row_t row = event->row;
    if (paused) {
        row.root = results_pause_root_of(observers->pauses, row.port, row.detail);
    }
    results_table_put_row(&results_event_table, observers->events, &row);
}

static sim_err_t attach_events(results_observers_t *observers, const char *folder,
                               world_error_t *error)
{
    if (folder != NULL) {
        const sim_err_t result =
            results_table_open(&results_event_table, folder, &observers->events, error);
        if (result != SIM_OK) {
            return result;
        }
    }
    const net_t *const net = observers->world->net;
    observers->pauses = results_pause_roots_create(net);
    if (folder != NULL) {
        observers->pause_bins = results_pause_bins_create(net);
        observers->folder = sim_strdup(folder);
    }
    observers->event_stream = sim_stream_create(observers->world->sim, write_event, observers);
    sim_stream_carry(observers->event_stream, pack, unpack);
    const uint32_t pauses = NET_TRACE_PAUSED | NET_TRACE_RESUMED;
    const uint32_t rows =
        pauses | NET_TRACE_DROP | NET_TRACE_LINK | NET_TRACE_FAULT | NET_TRACE_WATCHDOG;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = sim_is_here(net_sim(net), i) ? net_node_at(net, i) : NULL;
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            net_port_listen(net_port_at(node, p), NET_TRACE_XOFF | NET_TRACE_XON, on_word,
                            observers);
            net_port_listen(net_port_at(node, p), folder != NULL ? rows : pauses, on_event,
                            observers);
        }
    }
    const bool caches = folder != NULL && observers->world->scenario->outputs.cache_events;
    for (size_t i = 0; caches && i < observers->world->nic_count; i++) {
        nic_listen(world_nic_of(observers->world, &observers->world->nics[i]),
                   NIC_TRACE_CACHE | NIC_TRACE_TIER | NIC_TRACE_REFUSED, on_cache, observers);
    }
    return SIM_OK;
}

// -- captures

static pcap_out_direction_t direction_of(const world_capture_config_t *config)
{
    return config->direction == WORLD_DIRECTION_TX   ? PCAP_OUT_TX
           : config->direction == WORLD_DIRECTION_RX ? PCAP_OUT_RX
                                                     : PCAP_OUT_BOTH;
}

static size_t count_ports(const net_t *net)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        count += net_node_at(net, i)->port_count;
    }
    return count;
}

// Opens a file in pcapng format, whose section describes the scenario.
static sim_err_t open_fabric(const world_t *world, const world_capture_config_t *capture,
                             const pcap_out_config_t *config, size_t port_count,
                             pcap_out_fabric_t **fabric, sim_message_t *message)
{
    static const pcap_out_subject_t subjects[] = {
        [WORLD_CAPTURE_ALWAYS] = PCAP_OUT_ALWAYS,
        [WORLD_CAPTURE_DROP] = PCAP_OUT_DROP,
        [WORLD_CAPTURE_MARK] = PCAP_OUT_MARK,
        [WORLD_CAPTURE_PAUSE] = PCAP_OUT_PAUSE,
        [WORLD_CAPTURE_RETRANSMISSION] = PCAP_OUT_RETRANSMISSION,
        [WORLD_CAPTURE_TRIM] = PCAP_OUT_TRIM,
    };
    const world_scenario_t *const scenario = world->scenario;
    char *const section =
        sim_format("scenario %s, seed %" PRIu64, scenario->run.name, scenario->run.seed);
    const pcap_out_fabric_config_t fabric_config = {
        .capture = *config,
        .application = "rocesim " ROCESIM_VERSION,
        .section = section,
        .nanoseconds = capture->times == WORLD_CAPTURE_NS,
        .trigger = subjects[capture->around],
        .before_ps = capture->before_ps,
        .after_ps = capture->after_ps,
        .triggers_max = capture->at_most,
        .every_port = port_count == count_ports(world->net),
        .many_ports = 4 * port_count >= count_ports(world->net),
        .ring_bytes = capture->ring_bytes,
    };
    const sim_err_t result = pcap_out_fabric_open(world->net, &fabric_config, fabric, message);
    sim_free(section);
    return result;
}

static sim_err_t open_capture(results_observers_t *observers, size_t entry,
                              const world_capture_file_t *file, const char *folder,
                              world_error_t *error)
{
    const world_t *const world = observers->world;
    const world_capture_t *const capture = &world->scenario->captures[entry];
    char *const path = sim_format("%s/captures/%s", folder, file->name);
    const pcap_out_config_t config = {
        .path = path,
        .filter = capture->config.filter,
        .snaplen_bytes =
            capture->config.snaplen_bytes == SIM_AUTO ? 0 : (uint32_t)capture->config.snaplen_bytes,
        .bytes_max = capture->config.bytes_max,
        .direction = direction_of(&capture->config),
        .without_telemetry = !capture->config.telemetry,
    };
    capture_file_t opened = {.entry = entry};
    sim_message_t message;
    const sim_err_t result =
        capture->config.fabric[0] != '\0'
            ? open_fabric(world, &capture->config, &config, file->port_count, &opened.fabric,
                          &message)
            : pcap_out_capture_open(world->sim, &config, &opened.file, &message);
    sim_free(path);
    if (result != SIM_OK) {
        return world_fail(error, result, NULL, "%s", message.text);
    }
    SIM_APPEND(observers->captures, observers->capture_count, observers->capture_capacity, opened);
    for (size_t i = 0; i < file->port_count; i++) {
        if (opened.fabric != NULL) {
            pcap_out_fabric_port(opened.fabric, file->ports[i]);
        } else {
            pcap_out_capture_port(opened.file, file->ports[i]);
        }
    }
    return SIM_OK;
}

static sim_err_t attach_captures(results_observers_t *observers, const char *folder,
                                 world_error_t *error)
{
    const world_scenario_t *const scenario = observers->world->scenario;
    sim_err_t result = SIM_OK;
    for (size_t c = 0; c < scenario->capture_count && result == SIM_OK; c++) {
        world_capture_files_t files;
        result = world_capture_files(observers->world, &scenario->captures[c], &files, error);
        for (size_t i = 0; i < files.count && result == SIM_OK; i++) {
            result = open_capture(observers, c, &files.items[i], folder, error);
        }
        world_capture_files_fini(&files);
    }
    return result;
}

// -- in ranks

void results__observers_leave(const results_observers_t *observers, sim_buffer_t *bytes)
{
    if (observers->series != NULL) {
        results__series_leave(observers->series, bytes);
    }
    if (observers->reordering != NULL) {
        results__reordering_leave(observers->reordering, observers->world->net, bytes);
    }
}

void results__observers_take(results_observers_t *observers, sim_reader_t *bytes)
{
    if (observers->series != NULL) {
        results__series_take(observers->series, bytes);
    }
    if (observers->reordering != NULL) {
        results__reordering_take(observers->reordering, bytes);
    }
}

// -- all

// Returns whether a port leads to or from an accelerator, whose packets are no frames.
static bool has_no_frames(const net_port_t *port)
{
    return net_accelerator_host(port->node) != NULL ||
           (port->peer != NULL && net_accelerator_host(port->peer->node) != NULL);
}

// Returns the number of frames that passed the ports of a capture, in its direction.
static uint64_t frames_seen(const world_t *world, const world_capture_t *capture)
{
    net_port_t **ports = NULL;
    size_t count = 0;
    world_error_t error;
    const world_capture_config_t *const config = &capture->config;
    const sim_err_t result = world_find_ports(world, &capture->ports, config->ports,
                                              &capture->place, &ports, &count, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    const pcap_out_direction_t direction = direction_of(config);
    const net_port_metric_t *const sent = net_port_metric_find("tx_packets");
    const net_port_metric_t *const received = net_port_metric_find("rx_packets");
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_no_frames(ports[i])) {
            continue;
        }
        seen += direction != PCAP_OUT_RX ? net_port_metric_read(sent, ports[i], 0xff, 0) : 0;
        seen += direction != PCAP_OUT_TX ? net_port_metric_read(received, ports[i], 0xff, 0) : 0;
    }
    sim_free(ports);
    return seen;
}

static void explain_empty(const results_observers_t *observers, size_t i, results_t *results)
{
    const world_scenario_t *const scenario = observers->world->scenario;
    const world_capture_config_t *const config = &scenario->captures[i].config;
    const uint64_t seen = frames_seen(observers->world, &scenario->captures[i]);
    const bool tagged = scenario->network.tagged && strstr(config->filter, "vlan") == NULL;
    char *text = NULL;
    if (seen == 0) {
        text = sim_format("no frame in captures/%s: none passed its ports", config->file);
    } else if (tagged) {
        text = sim_format("no frame in captures/%s: its filter takes none of %" PRIu64
                          "; data are tagged here, 'vlan and (%s)' looks behind the tag",
                          config->file, seen, config->filter);
    } else {
        text = sim_format("no frame in captures/%s: its filter, %s, takes none of %" PRIu64,
                          config->file, config->filter, seen);
    }
    results_note(results, text);
}

// Frames of one file: in it, and not in it because the file is full.
typedef struct capture_counts {
    uint64_t here;
    uint64_t left_out;
    uint64_t skipped; // by a trigger or a ring
} capture_counts_t;

static capture_counts_t end_capture(const capture_file_t *capture)
{
    if (capture->fabric == NULL) {
        return (capture_counts_t){.here = pcap_out_capture_frames(capture->file),
                                  .left_out = pcap_out_capture_left_out(capture->file)};
    }
    pcap_out_fabric_end(capture->fabric);
    return (capture_counts_t){.here = pcap_out_fabric_frames(capture->fabric),
                              .left_out = pcap_out_fabric_left_out(capture->fabric),
                              .skipped = pcap_out_fabric_skipped(capture->fabric)};
}

static sim_err_t close_capture(const capture_file_t *capture, const results_t *results,
                               sim_message_t *message)
{
    if (capture->fabric == NULL) {
        return pcap_out_capture_close(capture->file, message);
    }
    return pcap_out_fabric_close(capture->fabric, results != NULL ? results->sim_time_ps : 0,
                                 results != NULL ? results->digest : 0, message);
}

static void close_captures(results_observers_t *observers, results_t *results, sim_err_t *result,
                           world_error_t *error)
{
    uint64_t frames = 0; // of the files of one entry, which follow each other
    for (size_t i = 0; i < observers->capture_count; i++) {
        const capture_file_t *const capture = &observers->captures[i];
        const bool last =
            i + 1 == observers->capture_count || observers->captures[i + 1].entry != capture->entry;
        if (results != NULL) {
            const capture_counts_t counts = end_capture(capture);
            results->capture_frames += counts.here;
            results->capture_frames_left_out += counts.left_out;
            results->captures_cut += counts.left_out > 0;
            frames += counts.here + counts.left_out + counts.skipped;
            if (last && frames == 0) {
                explain_empty(observers, capture->entry, results);
            }
            frames = last ? 0 : frames;
        }
        sim_message_t message;
        const sim_err_t closed = close_capture(capture, results, &message);
        if (closed != SIM_OK && *result == SIM_OK) {
            *result = world_fail(error, closed, NULL, "%s", message.text);
        }
    }
}

static void keep_first(sim_err_t *result, sim_err_t other, world_error_t *error,
                       const world_error_t *e)
{
    if (other != SIM_OK && *result == SIM_OK) {
        *result = other;
        *error = *e;
    }
}

static sim_err_t destroy(results_observers_t *observers, results_t *results, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    world_error_t other;
    if (observers->events != NULL) {
        keep_first(&result, results_file_close(observers->events, &other), error, &other);
    }
    if (observers->series != NULL) {
        keep_first(&result, results_series_writer_close(observers->series, results, &other), error,
                   &other);
    }
    keep_first(&result, results_hops_close(observers->hops, results, &other), error, &other);
    if (results != NULL && observers->pause_bins != NULL) {
        results_pause_bins_end(observers->pause_bins, results->sim_time_ps);
        keep_first(&result,
                   results_pause_bins_write(observers->pause_bins, observers->folder, &other),
                   error, &other);
    }
    results_pause_bins_destroy(observers->pause_bins);
    sim_free(observers->folder);
    close_captures(observers, results, &result, error);
    if (results != NULL && observers->pauses != NULL) {
        results_pause_roots_end(observers->pauses, results->sim_time_ps);
        results->pause_roots = observers->pauses;
    } else {
        results_pause_roots_destroy(observers->pauses);
    }
    if (results != NULL) {
        results->reordering = observers->reordering;
    } else {
        results_reordering_destroy(observers->reordering);
    }
    sim_free(observers->captures);
    sim_free(observers);
    return result;
}

sim_err_t results_observers_create(const world_t *world, const char *folder,
                                   results_observers_t **observers, world_error_t *error)
{
    results_observers_t *const made = sim_alloc(sizeof(*made));
    made->world = world;
    sim_err_t result = attach_events(made, folder, error);
    const app_programs_t *const programs = world->scenario->programs;
    // Links may fail by hand where programs start by hand.
    bool may_reorder = net_may_reorder(world->net) || world->scenario->fails ||
                       (programs != NULL && programs->anywhere);
    for (size_t i = 0; i < world->nic_count; i++) {
        may_reorder |= nic_config_spreads(nic_config_of_interface(world->net, (uint32_t)i));
    }
    if (result == SIM_OK && may_reorder) {
        made->reordering = results_reordering_create(world->net);
    }
    if (result == SIM_OK && folder != NULL) {
        result = results_series_writer_create(world, folder, &made->series, error);
    }
    if (result == SIM_OK && folder != NULL) {
        result = results_hops_create(world, folder, &made->hops, error);
    }
    if (result == SIM_OK && folder != NULL) {
        result = attach_captures(made, folder, error);
    }
    if (result != SIM_OK) {
        world_error_t ignored;
        if (destroy(made, NULL, &ignored) != SIM_OK) {
            world_error_add(error, " (and %s)", ignored.text);
        }
        return result;
    }
    *observers = made;
    return SIM_OK;
}

sim_err_t results_observers_close(results_observers_t *observers, results_t *results,
                                  world_error_t *error)
{
    results->event_rows = observers->event_rows;
    results->event_rows_left_out = observers->event_rows_left_out;
    results->reordered = results_reordering_total(observers->reordering);
    results->reordered_ratio =
        results->reordered.arrived == 0
            ? 0.0
            : (double)results->reordered.reordered / (double)results->reordered.arrived;
    return destroy(observers, results, error);
}

// SPDX-License-Identifier: Apache-2.0
// cli/timeline/run.c - the timeline of any run: flows, pauses, drops, faults, caches and series.
//
// Hosts and switches are processes. A flow is a slice of its sender and one of its receiver, with
// an arrow between them. A pause is a slice on a thread of the port that is stopped; an arrow comes
// from the pause that it follows.
#include "cli/timeline/program_calls.h"
#include "cli/timeline/trace.h"

#include "results/csv.h"
#include "results/result_folder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NODES_PID UINT64_C(1000000) // pid of the first node; ranks have smaller ones

typedef struct run_trace {
    cli_trace_t *trace;
    cli_slices_t slices;
    sim_time_t end_ps; // of the run
    char **nodes;
    size_t node_count;
    size_t node_capacity;
    uint64_t arrows;
    cli_slice_t *open; // pauses, faults and links that are down and have not ended yet
    size_t open_count;
    size_t open_capacity;
    bool any;
} run_trace_t;

// Returns the process of the node whose name is the first `size` bytes, and names it at first.
static uint64_t pid_of(run_trace_t *run, const char *name, size_t size)
{
    for (size_t i = 0; i < run->node_count; i++) {
        if (strlen(run->nodes[i]) == size && memcmp(run->nodes[i], name, size) == 0) {
            return NODES_PID + i;
        }
    }
    SIM_GROW(run->nodes, run->node_count, &run->node_capacity);
    run->nodes[run->node_count] = sim_format("%.*s", (int)size, name);
    const uint64_t pid = NODES_PID + run->node_count;
    cli__trace_name(run->trace, pid, "process_name", 0, run->nodes[run->node_count]);
    run->node_count++;
    return pid;
}

// Returns the process of a host, "host3" or "host3/nic1", or of the node of a port.
static uint64_t pid_of_name(run_trace_t *run, const char *name)
{
    const char *const arrow = strstr(name, "->");
    const size_t size = arrow != NULL ? (size_t)(arrow - name) : strlen(name);
    const char *const slash = memchr(name, '/', size);
    return pid_of(run, name, slash != NULL ? (size_t)(slash - name) : size);
}

// Returns the copy of the text, which it takes.
static const char *keep_text(run_trace_t *run, char *text)
{
    const char *const kept = cli__slices_text(&run->slices, text);
    sim_free(text);
    return kept;
}

// -- flows

static const char *const flow_columns[] = {
    "flow_id", "src",      "dst",      "bytes", "start_ns", "end_ns", "retransmitted_packets",
    "app",     "src_port", "failed_ns"};
enum { F_ID, F_SRC, F_DST, F_BYTES, F_START, F_END, F_AGAIN, F_APP, F_PORT, F_FAILED };

static json_int_t number_at(const results_csv_t *csv, size_t column)
{
    return strtoll(results_csv_text(csv, column), NULL, 10);
}

static sim_err_t take_flow(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    run_trace_t *const run = ctx;
    sim_time_t start_ps = 0;
    sim_time_t end_ps = run->end_ps;
    const char *const last = results_csv_text(csv, F_END);
    const char *const failed = results_csv_text(csv, F_FAILED);
    sim_err_t result = results_csv_number(csv, F_START, SIM_PS_PER_NS, &start_ps, error);
    if (result == SIM_OK && (last[0] != '\0' || failed[0] != '\0')) {
        const size_t column = last[0] != '\0' ? F_END : F_FAILED;
        result = results_csv_number(csv, column, SIM_PS_PER_NS, &end_ps, error);
    }
    if (result != SIM_OK || end_ps < start_ps) {
        return result;
    }
    cli_slices_t *const slices = &run->slices;
    const cli_flow_t flow = {
        .source = cli__slices_text(slices, results_csv_text(csv, F_SRC)),
        .destination = cli__slices_text(slices, results_csv_text(csv, F_DST)),
        .app = cli__slices_text(slices, results_csv_text(csv, F_APP)),
        .id = number_at(csv, F_ID),
        .bytes = number_at(csv, F_BYTES),
        .source_port = number_at(csv, F_PORT),
        .retransmitted = number_at(csv, F_AGAIN),
    };
    const uint64_t arrow = ++run->arrows;
    run->any = true;
    for (int side = 0; side < 2; side++) {
        const bool sends = side == 0;
        const char *const own = sends ? flow.source : flow.destination;
        const char *const nic = strchr(own, '/');
        const cli_slice_t slice = {
            .pid = pid_of_name(run, own),
            .track = keep_text(
                run, sim_format("%s%s%s", sends ? "queue pairs: sends" : "queue pairs: receives",
                                nic != NULL ? " of " : "", nic != NULL ? nic + 1 : "")),
            .start_ps = start_ps,
            .end_ps = end_ps,
            .flow = slices->flow_count,
            .category = sends ? "send" : "recv",
            .arrow = arrow,
            .arrow_arrives = !sends,
            .unfinished = last[0] == '\0',
        };
        cli__slices_add(slices, run->trace, slice);
    }
    SIM_APPEND(slices->flows, slices->flow_count, slices->flow_capacity, flow);
    return SIM_OK;
}

// -- events

static const char *const event_columns[] = {"time_ns", "event", "port", "priority",
                                            "reason",  "src",   "dst",  "frame_bytes"};
enum { E_TIME, E_EVENT, E_PORT, E_PRIORITY, E_REASON, E_SRC, E_DST, E_BYTES };

// Events that begin something, with those that end it.
static const struct {
    const char *begin;
    const char *end;
    const char *category;
} spans[] = {{"paused", "resumed", "pause"},
             {"link_down", "link_up", "fault"},
             {"fault", "fault_over", "fault"},
             {"storm", "storm_over", "fault"}};

static const char *track_of(run_trace_t *run, const results_csv_t *csv, size_t span)
{
    const char *const port = results_csv_text(csv, E_PORT);
    const char *const priority = results_csv_text(csv, E_PRIORITY);
    const bool pause = strcmp(spans[span].category, "pause") == 0;
    return keep_text(run, pause ? sim_format("port %s class %s", port, priority)
                                : sim_format("port %s faults", port));
}

// Draws an arrow to a pause from the pause that it follows: the peer's node stopped this port, as a
// port of its own was stopped, in the same class and by the same origin.
static void join_pause(run_trace_t *run, cli_slice_t *slice, const char *port)
{
    const char *const peer = strstr(port, "->");
    if (peer == NULL || slice->start_ps < run->trace->from_ps ||
        slice->start_ps > run->trace->to_ps) {
        return;
    }
    const uint64_t pid = pid_of(run, peer + 2, strcspn(peer + 2, "#/"));
    cli_slice_t *cause = NULL;
    for (size_t i = 0; i < run->open_count; i++) {
        cli_slice_t *const open = &run->open[i];
        if (open->pid == pid && strcmp(open->category, "pause") == 0 &&
            strcmp(strrchr(open->track, ' '), strrchr(slice->track, ' ')) == 0 &&
            json_equal(open->args, slice->args) &&
            (cause == NULL || open->start_ps < cause->start_ps)) {
            cause = open;
        }
    }
    if (cause != NULL) {
        slice->caused_by = ++run->arrows;
        SIM_APPEND(cause->causes, cause->cause_count, cause->cause_capacity,
                   (cli_leaving_t){slice->caused_by, slice->start_ps});
    }
}

static void begin_span(run_trace_t *run, const results_csv_t *csv, size_t span, sim_time_t time_ps)
{
    const char *const reason = results_csv_text(csv, E_REASON);
    json_t *const args = json_object();
    if (strcmp(spans[span].category, "pause") == 0) {
        json_object_set_new(args, "began_at", cli__trace_text(reason));
    }
    cli_slice_t slice = {
        .pid = pid_of_name(run, results_csv_text(csv, E_PORT)),
        .track = track_of(run, csv, span),
        .start_ps = time_ps,
        .end_ps = run->end_ps,
        .name = strcmp(spans[span].begin, "fault") == 0 ? sim_strdup(reason)
                                                        : sim_strdup(spans[span].begin),
        .category = spans[span].category,
        .args = args,
        .unfinished = true,
    };
    if (strcmp(slice.category, "pause") == 0) {
        join_pause(run, &slice, results_csv_text(csv, E_PORT));
    }
    SIM_APPEND(run->open, run->open_count, run->open_capacity, slice);
}

// Ends the latest open span of the track; of faults, that of the same kind.
static void end_span(run_trace_t *run, const results_csv_t *csv, size_t span, sim_time_t time_ps)
{
    const char *const track = track_of(run, csv, span);
    const uint64_t pid = pid_of_name(run, results_csv_text(csv, E_PORT));
    const bool is_fault = strcmp(spans[span].begin, "fault") == 0;
    const char *const name = is_fault ? results_csv_text(csv, E_REASON) : spans[span].begin;
    for (size_t i = run->open_count; i-- > 0;) {
        cli_slice_t slice = run->open[i];
        if (slice.pid == pid && slice.track == track && strcmp(slice.name, name) == 0) {
            slice.end_ps = time_ps;
            slice.unfinished = false;
            run->open[i] = run->open[--run->open_count];
            cli__slices_add(&run->slices, run->trace, slice);
            break;
        }
    }
}

// Adds a moment: a drop at a port, or a step of the cache of a NIC ("host3:17").
static void take_moment(run_trace_t *run, const results_csv_t *csv, sim_time_t time_ps)
{
    const char *const event = results_csv_text(csv, E_EVENT);
    const char *const port = results_csv_text(csv, E_PORT);
    const bool is_drop = strcmp(event, "drop") == 0;
    const size_t node = strcspn(port, ":");
    json_t *const args = json_object();
    if (is_drop) {
        json_object_set_new(args, "src", cli__trace_text(results_csv_text(csv, E_SRC)));
        json_object_set_new(args, "dst", cli__trace_text(results_csv_text(csv, E_DST)));
    } else {
        json_object_set_new(args, "queue_pair", cli__trace_text(port + node));
    }
    const char *const slash = memchr(port, '/', node);
    const cli_slice_t slice = {
        .pid = is_drop ? pid_of_name(run, port)
                       : pid_of(run, port, slash != NULL ? (size_t)(slash - port) : node),
        .track = is_drop ? keep_text(run, sim_format("port %s drops", port))
                         : cli__slices_text(&run->slices, "cache misses"),
        .start_ps = time_ps,
        .end_ps = time_ps,
        .name =
            is_drop ? sim_format("drop: %s", results_csv_text(csv, E_REASON)) : sim_strdup(event),
        .category = is_drop ? "drop" : "cache",
        .args = args,
        .is_instant = true,
    };
    cli__slices_add(&run->slices, run->trace, slice);
}

static sim_err_t take_event(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    run_trace_t *const run = ctx;
    sim_time_t time_ps = 0;
    const sim_err_t result = results_csv_number(csv, E_TIME, SIM_PS_PER_NS, &time_ps, error);
    if (result != SIM_OK) {
        return result;
    }
    run->any = true;
    const char *const event = results_csv_text(csv, E_EVENT);
    for (size_t i = 0; i < SIM_COUNT_OF(spans); i++) {
        if (strcmp(event, spans[i].begin) == 0) {
            begin_span(run, csv, i, time_ps);
            return SIM_OK;
        }
        if (strcmp(event, spans[i].end) == 0) {
            end_span(run, csv, i, time_ps);
            return SIM_OK;
        }
    }
    take_moment(run, csv, time_ps);
    return SIM_OK;
}

// -- series

static const char *const series_columns[] = {"time_ns", "path", "value"};

// Writes a counter, of the process of the node in "port[leaf0->host5].queue_bytes".
static sim_err_t take_value(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    run_trace_t *const run = ctx;
    sim_time_t time_ps = 0;
    const sim_err_t result = results_csv_number(csv, 0, SIM_PS_PER_NS, &time_ps, error);
    if (result != SIM_OK || time_ps < run->trace->from_ps || time_ps > run->trace->to_ps) {
        return result;
    }
    const char *const path = results_csv_text(csv, 1);
    const char *const bracket = strchr(path, '[');
    const char *const name = bracket != NULL ? bracket + 1 : path;
    json_t *const event = json_object();
    json_t *const args = json_object();
    const char *const value = results_csv_text(csv, 2);
    json_object_set_new(args, "value",
                        strchr(value, '.') != NULL ? json_real(strtod(value, NULL))
                                                   : json_integer(strtoll(value, NULL, 10)));
    json_object_set_new(event, "ph", json_string("C"));
    json_object_set_new(event, "name", cli__trace_text(path));
    json_object_set_new(event, "tid", json_integer(0));
    json_object_set_new(event, "ts", json_real(cli__trace_us(time_ps)));
    json_object_set_new(event, "args", args);
    run->any = true;
    cli__trace_put(run->trace, pid_of(run, name, strcspn(name, "]:-/")), event);
    return SIM_OK;
}

// -- calls of programs

static void take_call(const cli_call_t *call, void *ctx)
{
    run_trace_t *const run = ctx;
    json_t *const args = json_object();
    json_object_set_new(args, "call", cli__trace_text(call->text));
    const cli_slice_t slice = {
        .pid = pid_of(run, call->host, call->host_bytes),
        .track = keep_text(run, sim_format("program %" PRIu64 " thread %" PRIu64 " calls",
                                           call->program, call->thread)),
        .start_ps = call->time_ps,
        .end_ps = call->time_ps,
        .name = sim_format("%.*s", (int)call->name_bytes, call->text),
        .category = "call",
        .args = args,
        .is_instant = true,
    };
    run->any = true;
    cli__slices_add(&run->slices, run->trace, slice);
}

// -- all

static sim_err_t take_files(run_trace_t *run, const char *folder, world_error_t *error)
{
    sim_err_t result = results_csv_rows(folder, "flows.csv", flow_columns,
                                        SIM_COUNT_OF(flow_columns), take_flow, run, error);
    if (result == SIM_OK) {
        result = results_csv_rows(folder, "events.csv", event_columns, SIM_COUNT_OF(event_columns),
                                  take_event, run, error);
    }
    for (size_t i = 0; i < run->open_count; i++) {
        cli__slices_add(&run->slices, run->trace, run->open[i]);
    }
    if (result == SIM_OK) {
        result = cli__timeline_calls(folder, take_call, run, error);
    }
    sim_free(run->open);
    cli__slices_write(&run->slices, run->trace);
    if (result == SIM_OK) {
        result = results_csv_rows(folder, "series.csv", series_columns,
                                  SIM_COUNT_OF(series_columns), take_value, run, error);
    }
    return result;
}

sim_err_t cli__timeline_run(cli_trace_t *trace, const char *folder, bool *any, world_error_t *error)
{
    run_trace_t run = {.trace = trace};
    json_t *summary = NULL;
    sim_err_t result = results_result_summary(folder, &summary, error);
    if (result == SIM_OK) {
        const json_int_t end = json_integer_value(json_object_get(summary, "sim_time_ps"));
        run.end_ps = end > 0 ? (sim_time_t)end : 0;
        result = take_files(&run, folder, error);
    }
    sim_free_each(run.nodes, run.node_count);
    sim_free(run.nodes);
    json_decref(summary);
    *any = run.any;
    return result;
}

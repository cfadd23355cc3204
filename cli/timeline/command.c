// SPDX-License-Identifier: Apache-2.0
// cli/timeline/command.c - turns operations.csv into a Chrome trace, which Perfetto opens.
//
// A rank is a process. Its processors are threads, with further threads for what overlaps:
// collectives, sends and receives of the processor. Only one rank is in memory at a time.
// Format: "Trace Event Format", Google, 2016. docs/formats/timeline.md
#include "cli/timeline/timeline.h"

#include "cli/command.h"
#include "cli/timeline/trace.h"
#include "kernel/attribute.h"
#include "kernel/parse.h"
#include "results/csv.h"
#include "results/result_folder.h"
#include "world/control_characters.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES_MAX 64u // threads of one kind and processor
#define EVENTS_DEFAULT UINT64_C(1000000)

typedef enum kind { KIND_CALC, KIND_COLLECTIVE, KIND_SEND, KIND_RECEIVE, KIND_COUNT } kind_t;

typedef struct slice {
    kind_t kind;
    uint32_t cpu;
    uint32_t lane;
    uint64_t number;
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: it has not ended
    char *name;
} slice_t;

typedef struct timeline {
    cli_trace_t trace;
    uint64_t pid; // of the present rank
    bool any;     // a rank is present
    uint64_t app;
    uint64_t rank;
    char *host;
    slice_t *slices; // of the present rank
    size_t count;
    size_t capacity;
    sim_time_t last_ps; // latest time of the present rank
} timeline_t;

static const char *const columns[] = {"app",       "rank", "host",  "cpu",  "number",   "kind",
                                      "dimension", "name", "bytes", "peer", "start_ns", "end_ns"};
enum { APP, RANK, HOST, CPU, NUMBER, KIND, DIMENSION, NAME, BYTES, PEER, START, END };

// -- writing

static void put_name(timeline_t *timeline, const char *what, json_int_t tid, const char *name)
{
    cli__trace_name(&timeline->trace, timeline->pid, what, tid, name);
}

static json_int_t tid_of(const slice_t *slice)
{
    return ((json_int_t)slice->cpu * KIND_COUNT + (json_int_t)slice->kind) * LANES_MAX +
           (json_int_t)slice->lane;
}

static void put_thread(timeline_t *timeline, const slice_t *slice)
{
    static const char *const kinds[KIND_COUNT] = {"", " collectives", " sends", " receives"};
    char *const name = slice->lane == 0 ? sim_format("cpu %u%s", slice->cpu, kinds[slice->kind])
                                        : sim_format("cpu %u%s (%u)", slice->cpu,
                                                     kinds[slice->kind], slice->lane + 1);
    put_name(timeline, "thread_name", tid_of(slice), name);
    sim_free(name);
}

static void put_slice(timeline_t *timeline, const slice_t *slice)
{
    static const char *const kinds[KIND_COUNT] = {"calc", "collective", "send", "recv"};
    const bool ended = slice->end_ps != SIM_TIME_NEVER;
    const sim_time_t end_ps = ended ? slice->end_ps : timeline->last_ps;
    json_t *const event = json_object();
    json_t *const args = json_object();
    json_object_set_new(event, "ph", json_string("X"));
    json_object_set_new(event, "name", cli__trace_text(slice->name));
    json_object_set_new(event, "cat", json_string(kinds[slice->kind]));
    json_object_set_new(event, "tid", json_integer(tid_of(slice)));
    json_object_set_new(event, "ts", json_real(cli__trace_us(slice->start_ps)));
    json_object_set_new(event, "dur", json_real(cli__trace_us(end_ps - slice->start_ps)));
    json_object_set_new(args, "number", json_integer((json_int_t)slice->number));
    json_object_set_new(args, "bytes", json_integer((json_int_t)slice->bytes));
    if (!ended) {
        json_object_set_new(args, "unfinished", json_true());
    }
    json_object_set_new(event, "args", args);
    cli__trace_put(&timeline->trace, timeline->pid, event);
}

// -- ranks

static int compare_slices(const void *a, const void *b)
{
    const slice_t *const one = a;
    const slice_t *const two = b;
    const uint64_t keys[4][2] = {{one->cpu, two->cpu},
                                 {one->kind, two->kind},
                                 {one->start_ps, two->start_ps},
                                 {one->number, two->number}};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

// Gives each slice the first thread of its kind and processor that is free; the one that is free
// first, if all are busy.
static void choose_lanes(timeline_t *timeline)
{
    sim_time_t free_ps[LANES_MAX];
    uint32_t lanes = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        SIM_CHECK(timeline->slices != NULL);
        slice_t *const slice = &timeline->slices[i];
        const slice_t *const before = i > 0 ? &timeline->slices[i - 1] : NULL;
        if (before == NULL || before->cpu != slice->cpu || before->kind != slice->kind) {
            lanes = 0;
        }
        uint32_t lane = 0;
        uint32_t first = 0;
        while (lane < lanes && free_ps[lane] > slice->start_ps) {
            first = free_ps[lane] < free_ps[first] ? lane : first;
            lane++;
        }
        if (lane == LANES_MAX) {
            lane = first;
        } else if (lane == lanes) {
            lanes++;
            slice->lane = lane;
            put_thread(timeline, slice);
        }
        slice->lane = lane;
        free_ps[lane] = slice->end_ps;
    }
}

static void end_rank(timeline_t *timeline)
{
    if (timeline->count > 0) {
        char *const job =
            timeline->app == 0 ? sim_strdup("") : sim_format("traffic %" PRIu64 " ", timeline->app);
        char *const name =
            sim_format("%srank %" PRIu64 " (%s)", job, timeline->rank, timeline->host);
        sim_free(job);
        put_name(timeline, "process_name", 0, name);
        sim_free(name);
        qsort(timeline->slices, timeline->count, sizeof(*timeline->slices), compare_slices);
        choose_lanes(timeline);
        for (size_t i = 0; i < timeline->count; i++) {
            put_slice(timeline, &timeline->slices[i]);
            sim_free(timeline->slices[i].name);
        }
    }
    timeline->count = 0;
    timeline->last_ps = 0;
    timeline->pid++;
}

// -- reading

static char *name_of(const results_csv_t *csv, kind_t kind)
{
    const char *const word = results_csv_text(csv, KIND);
    const char *const peer = results_csv_text(csv, PEER);
    if (kind == KIND_SEND || kind == KIND_RECEIVE) {
        const char *const direction = kind == KIND_SEND ? "to" : "from";
        return sim_format("%s %s %s", word, direction, peer[0] != '\0' ? peer : "any");
    }
    const char *const name = results_csv_text(csv, NAME);
    if (kind == KIND_CALC || name[0] != '\0') {
        return sim_strdup(name[0] != '\0' ? name : word);
    }
    const char *const dimension = results_csv_text(csv, DIMENSION);
    return strcmp(dimension, "none") == 0 ? sim_strdup(word) : sim_format("%s %s", word, dimension);
}

static kind_t kind_of(const char *word)
{
    static const char *const words[KIND_COUNT] =
        {[KIND_CALC] = "calc", [KIND_SEND] = "send", [KIND_RECEIVE] = "recv"};
    for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
        if (words[kind] != NULL && strcmp(words[kind], word) == 0) {
            return (kind_t)kind;
        }
    }
    return KIND_COLLECTIVE;
}

static void take_slice(timeline_t *timeline, const results_csv_t *csv, slice_t slice)
{
    const bool ended = slice.end_ps != SIM_TIME_NEVER;
    const sim_time_t last_ps = ended ? slice.end_ps : slice.start_ps;
    timeline->last_ps = SIM_MAX(last_ps, timeline->last_ps);
    if (slice.start_ps > timeline->trace.to_ps ||
        (ended && slice.end_ps < timeline->trace.from_ps)) {
        return;
    }
    slice.kind = kind_of(results_csv_text(csv, KIND));
    slice.name = name_of(csv, slice.kind);
    SIM_APPEND(timeline->slices, timeline->count, timeline->capacity, slice);
}

static sim_err_t take_row(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    timeline_t *const timeline = ctx;
    static const size_t numbers[] = {APP, RANK, CPU, NUMBER, BYTES};
    uint64_t values[SIM_COUNT_OF(numbers)];
    slice_t slice = {.start_ps = 0, .end_ps = SIM_TIME_NEVER};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(numbers) && result == SIM_OK; i++) {
        result = results_csv_number(csv, numbers[i], 1, &values[i], error);
    }
    if (result == SIM_OK) {
        result = results_csv_number(csv, START, SIM_PS_PER_NS, &slice.start_ps, error);
    }
    if (result == SIM_OK && results_csv_text(csv, END)[0] != '\0') {
        result = results_csv_number(csv, END, SIM_PS_PER_NS, &slice.end_ps, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    if (slice.end_ps < slice.start_ps || values[2] > UINT8_MAX) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "operations.csv: an operation ends before it starts, or its cpu is above "
                          "255, expected a file of `rocesim run`");
    }
    if (!timeline->any || values[0] != timeline->app || values[1] != timeline->rank) {
        if (timeline->any) {
            end_rank(timeline);
        }
        timeline->any = true;
        timeline->app = values[0];
        timeline->rank = values[1];
        sim_free(timeline->host);
        timeline->host = sim_strdup(results_csv_text(csv, HOST));
    }
    slice.cpu = (uint32_t)values[2];
    slice.number = values[3];
    slice.bytes = values[4];
    take_slice(timeline, csv, slice);
    return SIM_OK;
}

// Writes the operations of ranks, if the run has operations.csv.
static sim_err_t take_ranks(timeline_t *timeline, const char *folder, world_error_t *error)
{
    const sim_err_t result = results_csv_rows(folder, "operations.csv", columns,
                                              SIM_COUNT_OF(columns), take_row, timeline, error);
    if (result == SIM_OK && timeline->any) {
        end_rank(timeline);
    }
    for (size_t i = 0; i < timeline->count; i++) {
        sim_free(timeline->slices[i].name);
    }
    sim_free(timeline->slices);
    sim_free(timeline->host);
    return result;
}

static sim_err_t take_all(timeline_t *timeline, const char *folder, world_error_t *error)
{
    bool any = false;
    sim_err_t result = take_ranks(timeline, folder, error);
    if (result == SIM_OK) {
        result = cli__timeline_run(&timeline->trace, folder, &any, error);
    }
    if (result == SIM_OK && !any && !timeline->any) {
        world_shown_t shown;
        result = world_fail(error, SIM_ERR_INVALID, NULL,
                            "%s: nothing to draw, expected a run with flows.csv, events.csv, "
                            "series.csv or operations.csv",
                            world_show(&shown, folder));
    }
    return result;
}

static sim_err_t take_time(const char *option, const char *text, sim_time_t *time_ps,
                           world_error_t *error)
{
    sim_message_t message = {.text = ""};
    if (text == NULL) {
        return SIM_OK;
    }
    const sim_err_t result = sim_parse_time(text, time_ps, &message);
    return result == SIM_OK
               ? SIM_OK
               : world_fail(error, result, NULL, "rocesim timeline %s: %s", option, message.text);
}

// Writes the trace to an open file and closes it. Returns the exit status; CLI_EXIT_FAILED with
// errno.
static int write_trace(timeline_t *timeline, const char *folder)
{
    world_error_t error;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", timeline->trace.out);
    const sim_err_t result = take_all(timeline, folder, &error);
    (void)fputs("\n]}\n", timeline->trace.out);
    if (result == SIM_OK && timeline->trace.left_out > 0) {
        fprintf(stderr,
                "note: the trace holds %" PRIu64 " event%s and leaves out %" PRIu64
                " (--events); --from and --to choose a range\n",
                timeline->trace.events, sim_plural(timeline->trace.events),
                timeline->trace.left_out);
    }
    bool good = fflush(timeline->trace.out) == 0 && ferror(timeline->trace.out) == 0;
    const int reason = errno;
    good = (timeline->trace.out == stdout || fclose(timeline->trace.out) == 0) && good;
    if (result != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    errno = reason;
    return good ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

// Writes a new file beside the old one, which it replaces when it is complete.
static int make(const cli_args_t *args, timeline_t *timeline)
{
    const bool streams = strcmp(args->folder, "-") == 0;
    char *const path = sim_format("%s.unfinished", args->folder);
    timeline->trace.out = streams ? stdout : fopen(path, "wb");
    int status =
        timeline->trace.out == NULL ? CLI_EXIT_FAILED : write_trace(timeline, args->operands[0]);
    if (!streams && status == CLI_EXIT_DONE && rename(path, args->folder) != 0) {
        status = CLI_EXIT_FAILED;
    }
    if (status == CLI_EXIT_FAILED) {
        const int reason = errno;
        world_shown_t shown;
        fprintf(stderr, "rocesim timeline: cannot write %s: %s\n", world_show(&shown, args->folder),
                strerror(reason));
    }
    if (!streams && status != CLI_EXIT_DONE) {
        (void)remove(path);
    }
    sim_free(path);
    return status;
}

int cli_command_timeline(const cli_args_t *args)
{
    world_error_t error;
    timeline_t timeline = {.trace = {.to_ps = SIM_TIME_NEVER, .events_max = EVENTS_DEFAULT}};
    if (args->folder == NULL) {
        fprintf(stderr, "rocesim timeline: -o is missing, expected -o FILE, or -o - for the "
                        "standard output\n");
        return CLI_EXIT_BAD_INPUT;
    }
    if (take_time("--from", args->from, &timeline.trace.from_ps, &error) != SIM_OK ||
        take_time("--to", args->to, &timeline.trace.to_ps, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    if (timeline.trace.from_ps > timeline.trace.to_ps) {
        fprintf(stderr,
                "rocesim timeline --from %s --to %s: expected a --to that is not before --from\n",
                args->from, args->to);
        return CLI_EXIT_BAD_INPUT;
    }
    if (args->events != NULL) {
        sim_message_t message = {.text = ""};
        if (sim_parse_count(args->events, &timeline.trace.events_max, &message) != SIM_OK) {
            fprintf(stderr, "rocesim timeline --events: %s\n", message.text);
            return CLI_EXIT_BAD_INPUT;
        }
    }
    // Without results nothing is written, not even the frame of a trace.
    json_t *summary = NULL;
    if (results_result_summary(args->operands[0], &summary, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    json_decref(summary);
    return make(args, &timeline);
}

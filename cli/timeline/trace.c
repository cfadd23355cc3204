// SPDX-License-Identifier: Apache-2.0
// cli/timeline/trace.c - writes events of a Chrome trace; slices that overlap get several threads.
#include "cli/timeline/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES 1024u // of most events
#define LANES_MAX 64u     // threads of one track

json_t *cli__trace_text(const char *text)
{
    json_t *const made = json_string(text);
    return made != NULL ? made : json_string("(no UTF-8)");
}

double cli__trace_us(sim_time_t time_ps)
{
    return (double)time_ps / SIM_PS_PER_US;
}

void cli__trace_put(cli_trace_t *trace, uint64_t pid, json_t *event)
{
    const char *const phase = json_string_value(json_object_get(event, "ph"));
    if (trace->events >= trace->events_max && strcmp(phase, "M") != 0) {
        trace->left_out++;
        json_decref(event);
        return;
    }
    (void)fputs(trace->events++ == 0 ? "\n" : ",\n", trace->out);
    json_object_set_new(event, "pid", json_integer((json_int_t)pid));
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
    char text[EVENT_BYTES]; // one write for an event, instead of one for each of its tokens
    const size_t size = json_dumpb(event, text, sizeof(text), flags);
    if (size <= sizeof(text)) {
        (void)fwrite(text, 1, size, trace->out);
    } else {
        (void)json_dumpf(event, trace->out, flags);
    }
    json_decref(event);
}

void cli__trace_name(cli_trace_t *trace, uint64_t pid, const char *what, json_int_t tid,
                     const char *name)
{
    json_t *const event = json_object();
    json_t *const args = json_object();
    json_object_set_new(event, "ph", json_string("M"));
    json_object_set_new(event, "name", json_string(what));
    json_object_set_new(event, "tid", json_integer(tid));
    json_object_set_new(args, "name", cli__trace_text(name));
    json_object_set_new(event, "args", args);
    cli__trace_put(trace, pid, event);
}

static void slice_fini(cli_slice_t *slice)
{
    SIM_FREE_ALL(slice->name, slice->causes);
    json_decref(slice->args);
}

const char *cli__slices_text(cli_slices_t *slices, const char *text)
{
    const uint64_t hash = sim_map_hash(text, strlen(text));
    SIM_MAP_EACH (number, &slices->text_numbers, hash) {
        if (strcmp(slices->texts[number], text) == 0) {
            return slices->texts[number];
        }
    }
    sim_map_add(&slices->text_numbers, hash, slices->text_count);
    SIM_APPEND(slices->texts, slices->text_count, slices->text_capacity, sim_strdup(text));
    return slices->texts[slices->text_count - 1];
}

void cli__slices_add(cli_slices_t *slices, const cli_trace_t *trace, cli_slice_t slice)
{
    if (slice.start_ps > trace->to_ps || slice.end_ps < trace->from_ps) {
        slice_fini(&slice);
        return;
    }
    SIM_APPEND(slices->items, slices->count, slices->capacity, slice);
}

static int by_track_and_time(const void *a, const void *b)
{
    const cli_slice_t *const x = a;
    const cli_slice_t *const y = b;
    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    const int order = x->track == y->track ? 0 : strcmp(x->track, y->track);
    if (order != 0) {
        return order;
    }
    if (x->start_ps != y->start_ps) {
        return x->start_ps < y->start_ps ? -1 : 1;
    }
    return (x->end_ps > y->end_ps) - (x->end_ps < y->end_ps);
}

#define LEAVES 1u
#define ARRIVES 2u

// Returns which ends of each arrow are drawn, by its number: an arrow with one end is of no use to
// a viewer. Slices beyond the trace's limit draw none. The caller frees them.
static uint8_t *arrow_ends(const cli_slices_t *slices, const cli_trace_t *trace)
{
    uint64_t most = 0;
    for (size_t i = 0; i < slices->count; i++) {
        const cli_slice_t *const slice = &slices->items[i];
        most = SIM_MAX(slice->arrow, most);
        most = SIM_MAX(slice->caused_by, most);
        for (size_t c = 0; c < slice->cause_count; c++) {
            most = SIM_MAX(slice->causes[c].arrow, most);
        }
    }
    uint8_t *const ends = sim_alloc(most + 1);
    memset(ends, 0, most + 1);
    // Names of threads, which have no limit, count as events: at most one for each slice.
    uint64_t events = trace->events;
    for (size_t i = 0; i < slices->count; i++) {
        const cli_slice_t *const slice = &slices->items[i];
        events += 2 + (slice->arrow != 0 ? 1u : 0) + (slice->caused_by != 0 ? 1u : 0) +
                  slice->cause_count;
        if (events > trace->events_max) {
            break;
        }
        ends[slice->arrow] |= (uint8_t)(slice->arrow_arrives ? ARRIVES : LEAVES);
        ends[slice->caused_by] |= ARRIVES;
        for (size_t c = 0; c < slice->cause_count; c++) {
            ends[slice->causes[c].arrow] |= LEAVES;
        }
    }
    return ends;
}

static bool is_drawn(const uint8_t *ends, uint64_t arrow)
{
    return arrow != 0 && ends[arrow] == (LEAVES | ARRIVES);
}

static json_t *event_of(const cli_slice_t *slice, const char *phase, json_int_t tid, double us)
{
    json_t *const event = json_object();
    json_object_set_new(event, "ph", json_string(phase));
    json_object_set_new(event, "name", cli__trace_text(slice->name));
    json_object_set_new(event, "cat", json_string(slice->category));
    json_object_set_new(event, "tid", json_integer(tid));
    json_object_set_new(event, "ts", json_real(us));
    return event;
}

// Writes one end of an arrow near that time, inside its slice: viewers bind it to the slice that
// encloses it.
static void put_arrow(const cli_slice_t *slice, cli_trace_t *trace, json_int_t tid,
                      const char *name, uint64_t arrow, bool arrives, sim_time_t at_ps)
{
    const sim_time_t length_ps = slice->end_ps - slice->start_ps;
    const sim_time_t inside_ps = length_ps < 2 * SIM_PS_PER_NS ? length_ps / 2 : SIM_PS_PER_NS;
    const sim_time_t first_ps = slice->start_ps + inside_ps;
    const sim_time_t last_ps = slice->end_ps - inside_ps;
    at_ps = at_ps < first_ps ? first_ps : SIM_MIN(last_ps, at_ps);
    json_t *const event = event_of(slice, arrives ? "f" : "s", tid, cli__trace_us(at_ps));
    json_object_set_new(event, "name", json_string(name));
    json_object_set_new(event, "id", json_integer((json_int_t)arrow));
    if (arrives) {
        json_object_set_new(event, "bp", json_string("e"));
    }
    cli__trace_put(trace, slice->pid, event);
}

static void put_arrows(const cli_slice_t *slice, cli_trace_t *trace, json_int_t tid,
                       const uint8_t *ends)
{
    if (is_drawn(ends, slice->arrow)) {
        const bool arrives = slice->arrow_arrives;
        const sim_time_t at_ps = arrives ? slice->end_ps : slice->start_ps;
        put_arrow(slice, trace, tid, "data", slice->arrow, arrives, at_ps);
    }
    for (size_t i = 0; i < slice->cause_count; i++) {
        const cli_leaving_t *const leaving = &slice->causes[i];
        if (is_drawn(ends, leaving->arrow)) {
            put_arrow(slice, trace, tid, "pause", leaving->arrow, false, leaving->at_ps);
        }
    }
    if (is_drawn(ends, slice->caused_by)) {
        put_arrow(slice, trace, tid, "pause", slice->caused_by, true, slice->start_ps);
    }
}

static json_t *flow_args(const cli_flow_t *flow)
{
    json_t *const args = json_object();
    json_object_set_new(args, "flow_id", json_integer(flow->id));
    json_object_set_new(args, "bytes", json_integer(flow->bytes));
    json_object_set_new(args, "src_port", json_integer(flow->source_port));
    json_object_set_new(args, "retransmitted_packets", json_integer(flow->retransmitted));
    json_object_set_new(args, "app", cli__trace_text(flow->app));
    return args;
}

// Gives a slice of a flow its name and args.
static void describe(const cli_slices_t *slices, cli_slice_t *slice)
{
    const cli_flow_t *const flow = &slices->flows[slice->flow];
    slice->name =
        sim_format("%s %s, %" PRIi64 " bytes", slice->arrow_arrives ? "from" : "to",
                   slice->arrow_arrives ? flow->source : flow->destination, (int64_t)flow->bytes);
    slice->args = flow_args(flow);
}

static void put_slice(const cli_slices_t *slices, cli_slice_t *slice, cli_trace_t *trace,
                      json_int_t tid, const uint8_t *ends)
{
    if (trace->events >= trace->events_max) {
        trace->left_out++;
        return; // with its arrows, which are drawn only within the limit
    }
    if (slice->name == NULL) {
        describe(slices, slice);
    }
    json_t *const event =
        event_of(slice, slice->is_instant ? "i" : "X", tid, cli__trace_us(slice->start_ps));
    if (slice->is_instant) {
        json_object_set_new(event, "s", json_string("t"));
    } else {
        json_object_set_new(event, "dur",
                            json_real(cli__trace_us(slice->end_ps - slice->start_ps)));
    }
    if (slice->unfinished) {
        slice->args = slice->args != NULL ? slice->args : json_object();
        json_object_set_new(slice->args, "unfinished", json_true());
    }
    if (slice->args != NULL) {
        json_object_set(event, "args", slice->args);
    }
    cli__trace_put(trace, slice->pid, event);
    put_arrows(slice, trace, tid, ends);
    slice_fini(slice);
    *slice = (cli_slice_t){.pid = slice->pid, .track = slice->track};
}

void cli__slices_write(cli_slices_t *slices, cli_trace_t *trace)
{
    sim_time_t free_ps[LANES_MAX];
    uint32_t lanes = 0;
    json_int_t first_tid = 0;
    if (slices->count > 0) {
        qsort(slices->items, slices->count, sizeof(cli_slice_t), by_track_and_time);
    }
    uint8_t *const ends = arrow_ends(slices, trace);
    for (size_t i = 0; i < slices->count; i++) {
        cli_slice_t *const slice = &slices->items[i];
        const cli_slice_t *const before = i > 0 ? &slices->items[i - 1] : NULL;
        if (before == NULL || before->pid != slice->pid) {
            lanes = 0;
            first_tid = 1;
        } else if (before->track != slice->track) {
            lanes = 0;
            first_tid += LANES_MAX;
        }
        uint32_t lane = 0;
        uint32_t soonest = 0;
        while (lane < lanes && free_ps[lane] > slice->start_ps) {
            soonest = free_ps[lane] < free_ps[soonest] ? lane : soonest;
            lane++;
        }
        if (lane == LANES_MAX) {
            lane = soonest;
        } else if (lane == lanes) {
            lanes++;
            char *const name = lane == 0 ? sim_strdup(slice->track)
                                         : sim_format("%s (%u)", slice->track, lane + 1);
            cli__trace_name(trace, slice->pid, "thread_name", first_tid + lane, name);
            sim_free(name);
        }
        free_ps[lane] = slice->end_ps;
        put_slice(slices, slice, trace, first_tid + lane, ends);
    }
    sim_free(ends);
    for (size_t i = 0; i < slices->count; i++) {
        slice_fini(&slices->items[i]);
    }
    sim_free_each(slices->texts, slices->text_count);
    sim_map_fini(&slices->text_numbers);
    SIM_FREE_ALL(slices->items, slices->flows, slices->texts);
    *slices = (cli_slices_t){0};
}

// SPDX-License-Identifier: Apache-2.0
// cli/arena/measure.c - turns the folder of a run into the numbers of the arena.
//
// A flow that has not ended counts, too: its slowdown is that of the part that was delivered. So a
// control gains nothing from flows that it never lets end.
#include "cli/arena/measure.h"

#include "results/csv.h"
#include "results/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_BYTES_MAX 100000.0 // a short flow has at most this size
#define PART_BYTES_MIN 4096.0    // a flow that delivered less counts as if it had delivered this
#define WINDOW_SAMPLES 10u       // rates are means over this number of samples: a 20th of the run
#define CONVERGED_JAIN 0.95
#define LINKS_OF_TRIP 4    // of a round trip over one switch
#define LONG_TRIP_S 200e-6 // shorter ones say nothing about a queue: thresholds are times, too

const cli_arena_metric_t cli_arena_metrics[CLI_ARENA_METRICS] = {
    {"short_p50", "short p50", "", "median slowdown of flows of at most 100 KB", -1, 0.01},
    {"short_p99", "short p99", "", "99th percentile of the slowdown of these flows", -1, 0.01},
    {"long_p50", "long p50", "", "median slowdown of flows above 100 KB", -1, 0.01},
    {"long_p99", "long p99", "", "99th percentile of the slowdown of these flows", -1, 0.01},
    {"goodput_gbps", "goodput", "Gbps", "payload that all hosts received per second", 1, 0},
    {"fairness", "Jain", "", "Jain's index of 1 / slowdown of the long flows, or of all", 1, 0.005},
    {"queue_kb", "queue", "KB", "bytes in the fullest switch, mean over time", -1, 5},
    {"queue_max_kb", "longest queue", "KB", "longest queue of a port", 0, 5},
    {"paused", "paused", "ports", "number of ports that PFC stops, mean over time", -1, 0.0005},
    {"converge_us", "converge", "us",
     "time until the rates of flows without end are equal and stay so (Jain 0.95); the rest of the "
     "run where they never are",
     -1, 100},
    {"losses", "losses", "", "share of frames that switches dropped", -1, 1e-5},
    {"unended", "unended", "", "share of flows that did not end", -1, 1e-9},
    {"late_paused", "paused late", "",
     "share of the senders of flows without end that PFC stops in the second half", 0, 0},
    {"late_losses", "losses late", "",
     "share of frames that switches dropped in the second half, with flows without end", 0, 0},
    {"slowest_share", "share of the slowest", "",
     "rate of the slowest flow without end, as a share of the mean", 0, 0},
    {"used", "used", "", "goodput of flows without end, as a share of a host's link", 0, 0},
    {"asked", "asked", "", "largest rate of a queue pair, as a share of its link's", 0, 0},
    {"standing", "standing", "",
     "bytes in the fullest switch, mean over time, as a share of what the link carries in a round "
     "trip, for flows without end and round trips from 200 us on",
     0, 0},
};

typedef struct sender {
    char *name;
    double *sent; // by sample
} sender_t;

typedef struct measure {
    const cli_arena_cell_t *cell;
    double end_ns;
    double *shorts; // slowdowns
    size_t short_count;
    size_t short_capacity;
    double *longs;
    size_t long_count;
    size_t long_capacity;
    size_t flows;
    size_t unended;
    sender_t *senders; // of flows without end
    size_t sender_count;
    size_t sender_capacity;
    double *sample_ns; // times of the senders' samples
    size_t sample_count;
    size_t sample_capacity;
    double fill_ns; // time of the fill that is being read
    double fill;    // bytes in the fullest switch then
    double fill_sum;
    size_t fill_count;
    double from_ns; // begin of the first flow
    double until_ns;
    double paused_half_ps; // of all ports until the middle of the run
    double dropped_half;
    double rate_max_bps;
} measure_t;

// -- flows.csv

enum { FLOW_SRC, FLOW_BYTES, FLOW_START, FLOW_END, FLOW_IDEAL, FLOW_DELIVERED, FLOW_STATUS };
static const char *const flow_columns[] = {"src",          "bytes",           "start_ns", "end_ns",
                                           "ideal_fct_ns", "delivered_bytes", "status"};

static double number_at(const results_csv_t *csv, size_t index)
{
    return strtod(results_csv_text(csv, index), NULL);
}

static void add_sender(measure_t *measure, const char *name)
{
    for (size_t i = 0; i < measure->sender_count; i++) {
        if (strcmp(measure->senders[i].name, name) == 0) {
            return;
        }
    }
    SIM_APPEND(measure->senders, measure->sender_count, measure->sender_capacity,
               (sender_t){.name = sim_strdup(name)});
}

static sim_err_t take_flow(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    (void)error;
    measure_t *const measure = ctx;
    const double bytes = number_at(csv, FLOW_BYTES);
    const double start_ns = number_at(csv, FLOW_START);
    const double ideal_ns = number_at(csv, FLOW_IDEAL);
    const bool ended = results_csv_text(csv, FLOW_END)[0] != '\0';
    if (start_ns >= measure->end_ns || ideal_ns <= 0) {
        return SIM_OK; // the flow has not begun
    }
    double slowdown = 0;
    double end_ns = measure->end_ns;
    if (ended) {
        end_ns = number_at(csv, FLOW_END);
        slowdown = (end_ns - start_ns) / ideal_ns;
    } else {
        const double delivered = fmax(number_at(csv, FLOW_DELIVERED), fmin(bytes, PART_BYTES_MIN));
        slowdown = (measure->end_ns - start_ns) / ideal_ns * (bytes / delivered);
    }
    slowdown = fmax(slowdown, 1);
    measure->from_ns = measure->flows == 0 ? start_ns : fmin(measure->from_ns, start_ns);
    measure->until_ns = fmax(measure->until_ns, end_ns);
    measure->flows++;
    measure->unended += !ended && measure->cell->settles == 0;
    if (bytes <= SHORT_BYTES_MAX) {
        SIM_APPEND(measure->shorts, measure->short_count, measure->short_capacity, slowdown);
    } else {
        SIM_APPEND(measure->longs, measure->long_count, measure->long_capacity, slowdown);
    }
    if (measure->cell->settles != 0) {
        add_sender(measure, results_csv_text(csv, FLOW_SRC));
    }
    return SIM_OK;
}

// -- series.csv

enum { SERIES_TIME, SERIES_PATH, SERIES_VALUE };
static const char *const series_columns[] = {"time_ns", "path", "value"};

static void end_fill(measure_t *measure)
{
    if (measure->fill_ns >= measure->from_ns && measure->fill_ns <= measure->until_ns) {
        measure->fill_sum += measure->fill;
        measure->fill_count++;
    }
    measure->fill = 0;
}

static void take_fill(measure_t *measure, double time_ns, double value)
{
    if (time_ns > measure->fill_ns) {
        end_fill(measure);
        measure->fill_ns = time_ns;
    }
    measure->fill = fmax(measure->fill, value);
}

// Keeps how much a sender has sent. Rows are sorted by time.
static void take_sent(measure_t *measure, const char *path, double time_ns, double value)
{
    const char *const name = path + strlen("nic[");
    const size_t size = strcspn(name, "]");
    if (measure->sample_count == 0 || measure->sample_ns[measure->sample_count - 1] < time_ns) {
        const size_t before = measure->sample_capacity;
        SIM_APPEND(measure->sample_ns, measure->sample_count, measure->sample_capacity, time_ns);
        for (size_t i = 0; i < measure->sender_count && before < measure->sample_capacity; i++) {
            sender_t *const sender = &measure->senders[i];
            sender->sent =
                sim_realloc_array(sender->sent, measure->sample_capacity, sizeof(double));
        }
        for (size_t i = 0; i < measure->sender_count; i++) {
            measure->senders[i].sent[measure->sample_count - 1] = 0;
        }
    }
    for (size_t i = 0; i < measure->sender_count; i++) {
        const sender_t *const sender = &measure->senders[i];
        if (strncmp(sender->name, name, size) == 0 && sender->name[size] == '\0') {
            sender->sent[measure->sample_count - 1] = value;
        }
    }
}

static sim_err_t take_sample(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    (void)error;
    measure_t *const measure = ctx;
    const char *const path = results_csv_text(csv, SERIES_PATH);
    const double time_ns = number_at(csv, SERIES_TIME);
    const double value = number_at(csv, SERIES_VALUE);
    const bool middle = time_ns > 0 && time_ns <= measure->end_ns * 0.6;
    if (strncmp(path, "switch[", 7) == 0) {
        take_fill(measure, time_ns, value);
    } else if (strncmp(path, "nic[", 4) == 0) {
        take_sent(measure, path, time_ns, value);
    } else if (strncmp(path, "qp[", 3) == 0) {
        measure->rate_max_bps = fmax(measure->rate_max_bps, value);
    } else if (middle && strstr(path, "].paused_ps") != NULL) {
        measure->paused_half_ps += value;
    } else if (middle && strstr(path, "].discards") != NULL) {
        measure->dropped_half += value;
    }
    return SIM_OK;
}

// -- numbers

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(double *values, size_t count)
{
    if (count > 0) { // of none, values is NULL
        qsort(values, count, sizeof(*values), by_value);
    }
}

// Returns the nearest rank of sorted values.
static double percentile(const double *values, size_t count, double share)
{
    if (count == 0) {
        return (double)NAN;
    }
    const size_t rank = (size_t)ceil(share * (double)count);
    return values[(rank > 0 ? rank : 1) - 1];
}

static double jain(const double *values, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / ((double)count * squares) : (double)NAN;
}

// Fills in Jain's index of the flows' rates, each as a share of what it would have alone.
static void take_fairness(const measure_t *measure, double *fairness, double *slowest_share)
{
    const bool longs = measure->long_count > 1;
    const size_t count = longs ? measure->long_count : measure->short_count;
    const double *const slowdowns = longs ? measure->longs : measure->shorts;
    *fairness = (double)NAN;
    *slowest_share = (double)NAN;
    if (count < 2) {
        return;
    }
    double *const rates = sim_alloc_array(count, sizeof(*rates));
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        rates[i] = 1 / slowdowns[i];
        sum += rates[i];
    }
    *fairness = jain(rates, count);
    if (measure->cell->settles != 0) {
        *slowest_share = rates[count - 1] / (sum / (double)count); // slowdowns are sorted
    }
    sim_free(rates);
}

// Returns whether the senders' rates over the window that ends at a sample are about equal.
static bool is_equal(const measure_t *measure, size_t end, double *rates)
{
    for (size_t i = 0; i < measure->sender_count; i++) {
        const double *const sent = measure->senders[i].sent;
        rates[i] = sent[end] - sent[end - WINDOW_SAMPLES];
    }
    return jain(rates, measure->sender_count) >= CONVERGED_JAIN;
}

// Returns the time from the last disturbance until the rates are equal and stay so, in us.
static double converge_us(const measure_t *measure)
{
    if (measure->cell->settles == 0 || measure->sender_count < 2 ||
        measure->sample_count <= WINDOW_SAMPLES) {
        return (double)NAN;
    }
    const double from_ns = measure->end_ns * measure->cell->settles / 100;
    double *const rates = sim_alloc_array(measure->sender_count, sizeof(*rates));
    double equal_ns = measure->end_ns;
    for (size_t end = measure->sample_count; end-- > WINDOW_SAMPLES;) {
        const double begin_ns = measure->sample_ns[end - WINDOW_SAMPLES];
        if (begin_ns < from_ns || !is_equal(measure, end, rates)) {
            break;
        }
        equal_ns = begin_ns;
    }
    sim_free(rates);
    return fmax(equal_ns - from_ns, 0) / 1000;
}

static double summary_number(const json_t *summary, const char *path)
{
    const json_t *const value = results_json_at(summary, path);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// Returns the longest queue of a switch's port, in KB. Hosts have no queue at their ports.
static double queue_max_kb(const json_t *summary)
{
    return summary_number(summary, "hottest_ports[0].queue_bytes_max") / 1000;
}

// Returns a parameter of the cell times the unit; NAN: the cell does not have it.
static double parameter(const cli_arena_t *arena, const cli_arena_cell_t *cell, const char *name)
{
    for (size_t i = 0; cell->parameters[i].name != NULL; i++) {
        if (strcmp(cell->parameters[i].name, name) == 0) {
            const char *const unit = cell->parameters[i].unit;
            const double one = strcmp(unit, "Gbps") == 0 ? 1e9
                               : strcmp(unit, "us") == 0 ? 1e-6
                                                         : 1e-9;
            return one * cli_arena_parameter_value(cell, i, arena->hidden);
        }
    }
    return (double)NAN;
}

// Fills numbers by metric.
static void take_numbers(const cli_arena_t *arena, measure_t *measure, const json_t *summary,
                         double *numbers)
{
    const double time_ps = summary_number(summary, "sim_time_ps");
    const double created = summary_number(summary, "packets.created");
    const double paused_ps = summary_number(summary, "pfc.paused_ps");
    const double dropped = summary_number(summary, "packets.dropped");
    const double lost =
        summary_number(summary, "drops.link-loss") + summary_number(summary, "drops.link-down");
    sort(measure->shorts, measure->short_count);
    sort(measure->longs, measure->long_count);
    numbers[CLI_ARENA_SHORT_P50] = percentile(measure->shorts, measure->short_count, 0.5);
    numbers[CLI_ARENA_SHORT_P99] = percentile(measure->shorts, measure->short_count, 0.99);
    numbers[CLI_ARENA_LONG_P50] = percentile(measure->longs, measure->long_count, 0.5);
    numbers[CLI_ARENA_LONG_P99] = percentile(measure->longs, measure->long_count, 0.99);
    numbers[CLI_ARENA_GOODPUT] = summary_number(summary, "rates.goodput_gbps");
    take_fairness(measure, &numbers[CLI_ARENA_FAIRNESS], &numbers[CLI_ARENA_STARVED]);
    numbers[CLI_ARENA_QUEUE] = measure->fill_sum / (double)measure->fill_count / 1000;
    numbers[CLI_ARENA_QUEUE_MAX] = queue_max_kb(summary);
    numbers[CLI_ARENA_PAUSED] = paused_ps / time_ps;
    numbers[CLI_ARENA_CONVERGE] = converge_us(measure);
    numbers[CLI_ARENA_LOSSES] = (dropped - lost) / created;
    numbers[CLI_ARENA_UNENDED] = (double)measure->unended / (double)measure->flows;
    if (measure->cell->settles != 0) {
        numbers[CLI_ARENA_LATE_PAUSED] =
            (paused_ps - measure->paused_half_ps) / (time_ps / 2) / (double)measure->sender_count;
        numbers[CLI_ARENA_LATE_LOSSES] = (dropped - lost - measure->dropped_half) / (created / 2);
        const double line = parameter(arena, measure->cell, "rate");
        const double rtt_s = LINKS_OF_TRIP * parameter(arena, measure->cell, "delay");
        numbers[CLI_ARENA_USED] = numbers[CLI_ARENA_GOODPUT] * 1e9 / line;
        numbers[CLI_ARENA_ASKED] = measure->rate_max_bps / line;
        numbers[CLI_ARENA_STANDING] =
            rtt_s >= LONG_TRIP_S ? numbers[CLI_ARENA_QUEUE] * 8000 / (line * rtt_s) : (double)NAN;
    }
}

// Rounds to nine digits, so that a value is the same after it was written and read.
static double rounded(double value)
{
    char text[40];
    (void)snprintf(text, sizeof(text), "%.9g", value);
    return isfinite(value) ? strtod(text, NULL) : (double)NAN;
}

sim_err_t cli_arena_measure(const cli_arena_t *arena, const cli_arena_cell_t *cell,
                            const char *folder, const json_t *summary, size_t seed, double *values,
                            world_error_t *error)
{
    measure_t measure = {
        .cell = cell,
        .end_ns = summary_number(summary, "sim_time_ps") / 1000,
        .fill_ns = -1,
    };
    sim_err_t result = results_csv_rows(folder, "flows.csv", flow_columns,
                                        SIM_COUNT_OF(flow_columns), take_flow, &measure, error);
    if (result == SIM_OK) {
        result = results_csv_rows(folder, "series.csv", series_columns,
                                  SIM_COUNT_OF(series_columns), take_sample, &measure, error);
    }
    if (result == SIM_OK) {
        double numbers[CLI_ARENA_METRICS];
        for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
            numbers[m] = (double)NAN;
        }
        end_fill(&measure);
        take_numbers(arena, &measure, summary, numbers);
        for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
            values[m * arena->seed_count + seed] = rounded(numbers[m]);
        }
    }
    for (size_t i = 0; i < measure.sender_count; i++) {
        sim_free(measure.senders[i].name);
        sim_free(measure.senders[i].sent);
    }
    SIM_FREE_ALL(measure.senders, measure.sample_ns, measure.shorts, measure.longs);
    return result;
}

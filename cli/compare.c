// SPDX-License-Identifier: Apache-2.0
// cli/compare.c - `rocesim compare`: summaries of several runs side by side.
#include "cli/format.h"
#include "cli/result_folder.h"
#include "cli/summary.h"

#include <string.h>

#define RUNS_MAX 16u
#define PORTS_SHOWN 3u
#define LABEL_WIDTH 34
#define COLUMN_WIDTH 18

typedef struct comparison {
    const char *const *folders;
    json_t *summaries[RUNS_MAX];
    size_t count;
    FILE *out;
} comparison_t;

// Follows "flows.slowdown.p99"; NULL if it is not there.
static const json_t *find(const json_t *object, const char *path)
{
    while (object != NULL && *path != '\0') {
        const size_t size = strcspn(path, ".");
        char *const key = sim_format("%.*s", (int)size, path);
        object = json_object_get(object, key);
        sim_free(key);
        path += size + (path[size] == '.');
    }
    return object;
}

static double number(const json_t *object, const char *path)
{
    return json_number_value(find(object, path));
}

static void print_label(const comparison_t *comparison, const char *label)
{
    fprintf(comparison->out, "%-*s", LABEL_WIDTH, label);
}

static void print_cell(const comparison_t *comparison, const char *text)
{
    // Names come from files: control characters must not reach the terminal.
    cli_shown_t shown;
    fprintf(comparison->out, " %*s", COLUMN_WIDTH, cli_show(&shown, text));
}

static void end_line(const comparison_t *comparison)
{
    fputc('\n', comparison->out);
}

static void print_texts(const comparison_t *comparison, const char *label, const char *path)
{
    print_label(comparison, label);
    for (size_t i = 0; i < comparison->count; i++) {
        const char *const text = json_string_value(find(comparison->summaries[i], path));
        print_cell(comparison, text != NULL ? text : "-");
    }
    end_line(comparison);
}

typedef enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_PS, UNIT_US, UNIT_RATIO } unit_t;

static void print_number(const comparison_t *comparison, const json_t *value, unit_t unit)
{
    cli_text_t text = {"-"};
    if (json_is_number(value)) {
        const double x = json_number_value(value);
        const double bounded = x < 0 ? 0 : x > 9e18 ? 9e18 : x;
        switch (unit) {
        case UNIT_COUNT:
            snprintf(text.text, sizeof(text.text), "%.0f", x);
            break;
        case UNIT_BYTES:
            cli_format_bytes(&text, (uint64_t)bounded);
            break;
        case UNIT_PS:
            cli_format_time(&text, (uint64_t)bounded);
            break;
        case UNIT_US:
            cli_format_time(&text, (uint64_t)(bounded < 9e12 ? bounded * 1e6 : 9e18));
            break;
        case UNIT_RATIO:
            snprintf(text.text, sizeof(text.text), "%.2f", x);
            break;
        }
    }
    print_cell(comparison, text.text);
}

static void print_numbers(const comparison_t *comparison,
                          const char *label,
                          const char *path,
                          unit_t unit)
{
    print_label(comparison, label);
    for (size_t i = 0; i < comparison->count; i++) {
        print_number(comparison, find(comparison->summaries[i], path), unit);
    }
    end_line(comparison);
}

static const json_t *size_bin(const json_t *summary, size_t index)
{
    return json_array_get(find(summary, "flows.by_size"), index);
}

static void print_by_size(const comparison_t *comparison, const char *what, const char *path)
{
    for (size_t b = 0; b < CLI_SIZE_BINS; b++) {
        const char *const size =
            json_string_value(json_object_get(size_bin(comparison->summaries[0], b), "size"));
        double flows = 0;
        for (size_t i = 0; i < comparison->count; i++) {
            flows += number(size_bin(comparison->summaries[i], b), "completed");
        }
        if (size == NULL || flows < 1) {
            continue;
        }
        char *const label = sim_format("%s, flows of %s", what, size);
        print_label(comparison, label);
        sim_free(label);
        for (size_t i = 0; i < comparison->count; i++) {
            const json_t *const bin = size_bin(comparison->summaries[i], b);
            const bool any = number(bin, "completed") > 0;
            print_number(comparison, any ? find(bin, path) : NULL, UNIT_RATIO);
        }
        end_line(comparison);
    }
    char *const label = sim_format("%s, all flows", what);
    char *const all = sim_format("flows.%s", path);
    print_numbers(comparison, label, all, UNIT_RATIO);
    sim_free(label);
    sim_free(all);
}

static void print_hottest(const comparison_t *comparison)
{
    for (size_t rank = 0; rank < PORTS_SHOWN; rank++) {
        char *const label = sim_format("hottest port %zu", rank + 1);
        print_label(comparison, label);
        sim_free(label);
        for (size_t i = 0; i < comparison->count; i++) {
            const json_t *const port =
                json_array_get(json_object_get(comparison->summaries[i], "hottest_ports"), rank);
            const char *const name = json_string_value(json_object_get(port, "port"));
            print_cell(comparison, name != NULL ? name : "-");
        }
        end_line(comparison);
        print_label(comparison, "  longest queue");
        for (size_t i = 0; i < comparison->count; i++) {
            const json_t *const port =
                json_array_get(json_object_get(comparison->summaries[i], "hottest_ports"), rank);
            print_number(comparison, json_object_get(port, "queue_bytes_max"), UNIT_BYTES);
        }
        end_line(comparison);
    }
}

// The last part of a folder's name is what people call the run.
static void print_names(const comparison_t *comparison)
{
    print_label(comparison, "");
    for (size_t i = 0; i < comparison->count; i++) {
        char *const name = cli_result_name(comparison->folders[i]);
        print_cell(comparison, name);
        sim_free(name);
    }
    end_line(comparison);
}

// The longest flows are those a run ends without: its percentiles flatter it.
static void note_unfinished(const comparison_t *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const double count = number(comparison->summaries[i], "flows.count");
        const double completed = number(comparison->summaries[i], "flows.completed");
        if (completed < count) {
            char *const name = cli_result_name(comparison->folders[i]);
            cli_shown_t shown;
            fprintf(comparison->out,
                    "note: FCT and slowdown of %s are those of the %.0f flows that completed, "
                    "of %.0f\n",
                    cli_show(&shown, name),
                    completed,
                    count);
            sim_free(name);
        }
    }
}

static void print_comparison(const comparison_t *comparison)
{
    print_names(comparison);
    print_texts(comparison, "scenario", "scenario");
    print_texts(comparison, "congestion control", "congestion_control");
    print_texts(comparison, "ended", "ended");
    print_numbers(comparison, "simulated time", "sim_time_ps", UNIT_PS);
    print_numbers(comparison, "flows", "flows.count", UNIT_COUNT);
    print_numbers(comparison, "  completed", "flows.completed", UNIT_COUNT);
    print_numbers(comparison, "FCT p50", "flows.fct_us.p50", UNIT_US);
    print_numbers(comparison, "FCT p99", "flows.fct_us.p99", UNIT_US);
    print_by_size(comparison, "slowdown p50", "slowdown.p50");
    print_by_size(comparison, "slowdown p99", "slowdown.p99");
    print_numbers(comparison, "PFC pause frames", "pfc.pause_frames", UNIT_COUNT);
    print_numbers(comparison, "PFC time stopped", "pfc.paused_ps", UNIT_PS);
    print_numbers(comparison, "ECN marks", "ecn_marked", UNIT_COUNT);
    print_numbers(comparison, "CNPs sent", "cnp_sent", UNIT_COUNT);
    print_numbers(comparison, "drops", "packets.dropped", UNIT_COUNT);
    print_numbers(comparison, "packets retransmitted", "retransmitted_packets", UNIT_COUNT);
    print_hottest(comparison);
    print_texts(comparison, "digest", "digest");
    note_unfinished(comparison);
}

sim_err_t cli_compare(const char *const *folders, size_t count, FILE *out, cli_error_t *error)
{
    comparison_t comparison = {.folders = folders, .out = out};
    if (count > RUNS_MAX) {
        return cli_fail(error,
                        SIM_ERR_RANGE,
                        NULL,
                        "compare: %zu folders, expected at most %u",
                        count,
                        RUNS_MAX);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        result = cli_result_summary(folders[i], &comparison.summaries[i], error);
        comparison.count += result == SIM_OK;
    }
    if (result == SIM_OK) {
        print_comparison(&comparison);
    }
    for (size_t i = 0; i < comparison.count; i++) {
        json_decref(comparison.summaries[i]);
    }
    return result;
}

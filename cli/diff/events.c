// SPDX-License-Identifier: Apache-2.0
// cli/diff/events.c - finds the first event in which two runs of one scenario differ.
//
// Each node keeps a hash of its arrivals: h' = (h + time x 2^16 + port) x K. Both runs are repeated
// with samples of every node's hash, and then with a row per change from the last equal sample on.
// The port follows from two hashes, because K has an inverse. A run that nobody compares pays
// nothing.
#include "cli/diff/events.h"

#include "kernel/event.h"
#include "kernel/parse.h"
#include "results/csv.h"
#include "results/result_folder.h"
#include "world/format.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS_MAX 400000u // of samples in a run
#define ROUNDS_MAX 16u
#define FILE_BYTES_MAX ((size_t)1 << 28)

// A row of series.csv: the hash of a node after the arrivals of one instant.
typedef struct row {
    bool end;
    sim_time_t time_ps;
    size_t node;
    uint64_t hash;
} row_t;

// The arrival at a node that follows from its hash before and after.
typedef struct arrival {
    bool any;
    bool one; // exactly one packet arrived at that instant, so the port is known
    sim_time_t time_ps;
    uint32_t port;
} arrival_t;

typedef struct series {
    char *path;
    size_t node;
} series_t;

typedef struct search {
    const cli_diff_side_t *sides[2];
    char *scenarios[2]; // the two scenarios without `observe` and `captures`
    char *work;         // a temporary folder
    world_scenario_t *scenario;
    world_t *world;
    size_t nodes;
    series_t *series;    // one per node, in the order of their paths
    sim_time_t from_ps;  // all arrivals before this time agree
    sim_time_t to_ps;    // the end of the longer run
    sim_time_t every_ps; // time between samples; 0: one row per arrival
} search_t;

// -- running again

// Returns a resolved scenario's text without its blocks `observe` and `captures`. Free with
// sim_free.
static char *without_observers(const char *text)
{
    char *const kept = sim_alloc(strlen(text) + 1);
    size_t size = 0;
    bool left_out = false;
    while (*text != '\0') {
        const size_t line = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
        if (*text != ' ' && *text != '-') {
            left_out = strncmp(text, "observe:", 8) == 0 || strncmp(text, "captures:", 9) == 0;
        }
        if (!left_out) {
            memcpy(kept + size, text, line);
            size += line;
        }
        text += line;
    }
    kept[size] = '\0';
    return kept;
}

static sim_err_t cannot_write(const char *file, world_error_t *error)
{
    return world_fail(error, SIM_ERR_IO, NULL, "%s: cannot write: %s", file, strerror(errno));
}

static sim_err_t write_scenario(const search_t *search, size_t side, const char *file,
                                world_error_t *error)
{
    FILE *const out = fopen(file, "we");
    if (out == NULL) {
        return cannot_write(file, error);
    }
    fprintf(out, "%sobserve:\n  - {series: \"node[*].arrivals_hash\", start: %" PRIu64 "ps, ",
            search->scenarios[side], search->from_ps);
    if (search->every_ps != 0) {
        fprintf(out, "every: %" PRIu64 "ps}\n", search->every_ps);
    } else {
        fputs("on: change}\n", out);
    }
    return fclose(out) == 0 ? SIM_OK : cannot_write(file, error);
}

static int run_program(const char *program, const char *const *arguments)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int nothing = open("/dev/null", O_RDWR);
        if (nothing >= 0) {
            (void)dup2(nothing, STDIN_FILENO);
            (void)dup2(nothing, STDOUT_FILENO);
            (void)dup2(nothing, STDERR_FILENO);
            (void)execvp(program, (char *const *)(uintptr_t)arguments);
        }
        _exit(127);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static char *folder_of(const search_t *search, size_t side)
{
    return sim_format("%s/%c", search->work, (int)('a' + side));
}

static sim_err_t run_side(const search_t *search, size_t side, world_error_t *error)
{
    const char *const own = search->sides[side]->program;
    char *const file = sim_format("%s/%c.yaml", search->work, (int)('a' + side));
    char *const folder = folder_of(search, side);
    char *const most = sim_format("outputs.series-max=%u", ROWS_MAX);
    const char *const program = own != NULL ? own : "/proc/self/exe";
    const char *const arguments[] = {program,   "run",   file, "-o",    folder,
                                     "--quiet", "--set", most, "--set", "outputs.flows=false",
                                     NULL};
    sim_err_t result = write_scenario(search, side, file, error);
    // A run that stalls writes results too, so its exit status 1 is accepted.
    const int status = result == SIM_OK ? run_program(program, arguments) : -1;
    if (result == SIM_OK && status != 0 && status != 1) {
        result =
            world_fail(error, SIM_ERR_IO, NULL,
                       "%s: cannot be run again by %s (status %d), expected a program that "
                       "knows series node[*].arrivals_hash",
                       search->sides[side]->folder, own != NULL ? own : "this program", status);
    }
    SIM_FREE_ALL(file, folder, most);
    return result;
}

// -- hashes

static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 6; i++) {
        inverse *= 2 - odd * inverse;
    }
    return inverse;
}

static arrival_t decode(uint64_t before, const row_t *row)
{
    const uint64_t step = sim__digest_arrival(1, 0, 0); // K
    const uint64_t sum = row->hash * inverse_of(step) - before;
    return (arrival_t){
        .any = true,
        .one = sum >> SIM_PORT_BITS == row->time_ps,
        .time_ps = row->time_ps,
        .port = (uint32_t)(sum & ((1u << SIM_PORT_BITS) - 1)),
    };
}

// -- reading samples

static int compare_paths(const void *left, const void *right)
{
    return strcmp(((const series_t *)left)->path, ((const series_t *)right)->path);
}

static void name_nodes(search_t *search)
{
    search->nodes = net_node_count(search->world->net);
    search->series = sim_alloc_array(search->nodes + 1, sizeof(*search->series));
    for (size_t i = 0; i < search->nodes; i++) {
        search->series[i] = (series_t){
            sim_format("node[%s].arrivals_hash", net_node_name(search->world->net, i)),
            i,
        };
    }
    qsort(search->series, search->nodes, sizeof(*search->series), compare_paths);
}

static size_t node_of(const search_t *search, const char *path)
{
    const series_t wanted = {(char *)(uintptr_t)path, 0};
    const series_t *const found =
        bsearch(&wanted, search->series, search->nodes, sizeof(*search->series), compare_paths);
    return found == NULL ? SIZE_MAX : found->node;
}

static sim_err_t next_row(const search_t *search, results_csv_t *csv, row_t *row,
                          world_error_t *error)
{
    *row = (row_t){.end = true};
    bool end = false;
    const sim_err_t result = results_csv_next(csv, &end, error);
    if (result == SIM_OK && !end) {
        char *const time = sim_format("%sns", results_csv_text(csv, 0));
        sim_message_t ignored;
        row->end = sim_parse_time(time, &row->time_ps, &ignored) != SIM_OK;
        row->node = node_of(search, results_csv_text(csv, 1));
        row->hash = strtoull(results_csv_text(csv, 2), NULL, 10);
        row->end = row->end || row->node == SIZE_MAX;
        sim_free(time);
    }
    return result;
}

static bool same_row(const row_t *a, const row_t *b)
{
    return a->end == b->end && a->time_ps == b->time_ps && a->node == b->node && a->hash == b->hash;
}

// The first difference between the rows of two runs, with the hash of the node before it; without a
// difference, the number of rows and the time of the last one.
typedef struct first {
    bool found;
    row_t rows[2];
    uint64_t *before; // each node's hash before its current row
    uint64_t count;
    sim_time_t last_ps;
} first_t;

static sim_err_t find_first(const search_t *search, results_csv_t *const csv[2], first_t *first,
                            world_error_t *error)
{
    for (;;) {
        sim_err_t result = next_row(search, csv[0], &first->rows[0], error);
        if (result == SIM_OK) {
            result = next_row(search, csv[1], &first->rows[1], error);
        }
        if (result != SIM_OK || (first->rows[0].end && first->rows[1].end)) {
            return result;
        }
        if (!same_row(&first->rows[0], &first->rows[1])) {
            first->found = true;
            return SIM_OK;
        }
        first->before[first->rows[0].node] = first->rows[0].hash;
        first->last_ps = first->rows[0].time_ps;
        first->count++;
    }
}

// Advances from the current row to the first row of `node`, or to the end of the file.
static sim_err_t skip_to(const search_t *search, results_csv_t *csv, size_t node, row_t *row,
                         world_error_t *error)
{
    sim_err_t result = SIM_OK;
    while (result == SIM_OK && !row->end && row->node != node) {
        result = next_row(search, csv, row, error);
    }
    return result;
}

// -- the search

static void print_arrival(const net_node_t *node, char side, const arrival_t *arrival, FILE *out)
{
    world_text_t time;
    if (!arrival->any) {
        fprintf(out, "  %c  nothing more\n", side);
        return;
    }
    const bool is_port = arrival->one && arrival->port < node->port_count;
    fprintf(out, "  %c  from %s at %" PRIu64 " ps (%s)\n", side,
            is_port ? net_neighbour(node, arrival->port)->sim.name : "several", arrival->time_ps,
            world_format_time(&time, arrival->time_ps));
}

// Returns whether row `a` comes before row `b`: by time, then by the order of nodes.
static bool is_before(const row_t *a, const row_t *b)
{
    if (a->end || b->end) {
        return !a->end;
    }
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->node < b->node;
}

static sim_err_t tell_first(const search_t *search, results_csv_t *const csv[2], first_t *first,
                            FILE *out, world_error_t *error)
{
    const size_t node =
        is_before(&first->rows[0], &first->rows[1]) ? first->rows[0].node : first->rows[1].node;
    arrival_t arrivals[2] = {{0}};
    for (size_t side = 0; side < 2; side++) {
        const sim_err_t result = skip_to(search, csv[side], node, &first->rows[side], error);
        if (result != SIM_OK) {
            return result;
        }
        if (!first->rows[side].end) {
            arrivals[side] = decode(first->before[node], &first->rows[side]);
        }
    }
    const net_node_t *const at = net_node_at(search->world->net, node);
    fprintf(out, "first event that differs: what arrives at %s\n", at->sim.name);
    print_arrival(at, 'A', &arrivals[0], out);
    print_arrival(at, 'B', &arrivals[1], out);
    return SIM_OK;
}

// Runs both scenarios and compares their rows. Prints the difference if rows are single arrivals.
static sim_err_t compare_runs(search_t *search, first_t *first, FILE *out, world_error_t *error)
{
    static const char *const names[] = {"time_ns", "path", "value"};
    results_csv_t *csv[2] = {NULL, NULL};
    sim_err_t result = SIM_OK;
    for (size_t side = 0; side < 2 && result == SIM_OK; side++) {
        char *const folder = folder_of(search, side);
        char *const path = sim_format("%s/series.csv", folder);
        result = run_side(search, side, error);
        if (result == SIM_OK) {
            result = results_csv_open(path, names, SIM_COUNT_OF(names), &csv[side], error);
        }
        sim_free(folder);
        sim_free(path);
    }
    if (result == SIM_OK) {
        result = find_first(search, csv, first, error);
    }
    if (result == SIM_OK && first->found && search->every_ps == 0) {
        result = tell_first(search, csv, first, out, error);
    }
    for (size_t side = 0; side < 2; side++) {
        if (csv[side] != NULL) {
            results_csv_close(csv[side]);
        }
    }
    return result;
}

// Searches in rounds: samples over the whole run find the interval, single arrivals the event. If
// an interval has more arrivals than ROWS_MAX, the next round continues from the last row.
static sim_err_t search_rounds(search_t *search, FILE *out, world_error_t *error)
{
    const uint64_t samples = SIM_MAX(ROWS_MAX / search->nodes, 16);
    first_t first = {.before = sim_alloc_array(search->nodes + 1, sizeof(*first.before))};
    search->every_ps = search->to_ps / samples + SIM_PS_PER_NS;
    sim_err_t result = SIM_OK;
    for (unsigned round = 0; round < ROUNDS_MAX && result == SIM_OK; round++) {
        const bool sampled = search->every_ps != 0;
        const sim_time_t every_ps = search->every_ps;
        first.found = false;
        first.count = 0;
        result = compare_runs(search, &first, out, error);
        if (result != SIM_OK || (first.found && !sampled)) {
            break;
        }
        if (!sampled && first.count < ROWS_MAX / 2) {
            fprintf(out,
                    "first event that differs: none: all that arrives is the same, what nodes do "
                    "with it is not\n");
            break;
        }
        // All samples before the last sampled time agreed.
        search->from_ps = sampled && first.last_ps > every_ps ? first.last_ps - every_ps
                          : sampled                           ? 0
                                                              : first.last_ps;
        search->every_ps = 0;
    }
    sim_free(first.before);
    return result;
}

// -- what is needed for it

static sim_err_t read_side(search_t *search, size_t side, world_error_t *error)
{
    const char *const folder = search->sides[side]->folder;
    char *const path = sim_format("%s/scenario.yaml", folder);
    char *text = NULL;
    size_t size = 0;
    sim_err_t result = world_read_file(path, FILE_BYTES_MAX, &text, &size, error);
    if (result == SIM_OK) {
        char *const whole = sim_format("%.*s", (int)size, text);
        search->scenarios[side] = without_observers(whole);
        sim_free(whole);
        sim_free(text);
    }
    if (result == SIM_OK && side == 0) {
        result = world_scenario_load(NULL, path, NULL, 0, &search->scenario, error);
    }
    sim_free(path);
    return result;
}

static const char *text_at(const json_t *summary, const char *name)
{
    const char *const text = json_string_value(json_object_get(summary, name));
    return text == NULL ? "" : text;
}

// Checks that each program reproduces the digest of its folder, and sets the end of the longer run.
static sim_err_t check_digests(search_t *search, FILE *out, bool *goes, world_error_t *error)
{
    *goes = true;
    sim_err_t result = SIM_OK;
    for (size_t side = 0; side < 2 && result == SIM_OK; side++) {
        json_t *told = NULL;
        json_t *made = NULL;
        char *const folder = folder_of(search, side);
        search->every_ps = SIM_PS_PER_S;
        result = results_result_summary(search->sides[side]->folder, &told, error);
        if (result == SIM_OK) {
            result = run_side(search, side, error);
        }
        if (result == SIM_OK) {
            result = results_result_summary(folder, &made, error);
        }
        if (result == SIM_OK) {
            const json_int_t end_ps = json_integer_value(json_object_get(made, "sim_time_ps"));
            search->to_ps = SIM_MAX((sim_time_t)end_ps, search->to_ps);
            if (strcmp(text_at(told, "digest"), text_at(made, "digest")) != 0) {
                fprintf(out,
                        "first event that differs: unknown: %s has digest %s, and %s gives %s for "
                        "its scenario: made by another program, or from other files; expected the "
                        "program that made it (--%c PROGRAM)\n",
                        search->sides[side]->folder, text_at(told, "digest"),
                        search->sides[side]->program != NULL ? search->sides[side]->program
                                                             : "this program",
                        text_at(made, "digest"), (int)('a' + side));
                *goes = false;
            }
        }
        json_decref(told);
        json_decref(made);
        sim_free(folder);
    }
    return result;
}

static void remove_work(const search_t *search)
{
    const char *const arguments[] = {"rm", "-rf", "--", search->work, NULL};
    (void)run_program("rm", arguments);
}

sim_err_t cli_diff_first_event(const cli_diff_side_t *a, const cli_diff_side_t *b, FILE *out,
                               world_error_t *error)
{
    const char *const base = getenv("TMPDIR");
    search_t search = {.sides = {a, b}};
    search.work = sim_format("%s/rocesim-diff-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(search.work) == NULL) {
        const sim_err_t failed = world_fail(error, SIM_ERR_IO, NULL, "%s: cannot make a folder: %s",
                                            search.work, strerror(errno));
        sim_free(search.work);
        return failed;
    }
    bool goes = true;
    sim_err_t result = read_side(&search, 0, error);
    if (result == SIM_OK) {
        result = read_side(&search, 1, error);
    }
    if (result == SIM_OK) {
        result = world_create(search.scenario, WORLD_BUILD_NETWORK, &search.world, error);
    }
    if (result == SIM_OK) {
        name_nodes(&search);
        result = check_digests(&search, out, &goes, error);
    }
    if (result == SIM_OK && goes) {
        result = search_rounds(&search, out, error);
    }
    remove_work(&search);
    for (size_t i = 0; i < search.nodes; i++) {
        sim_free(search.series[i].path);
    }
    sim_free(search.series);
    world_destroy(search.world);
    world_scenario_destroy(search.scenario);
    SIM_FREE_ALL(search.scenarios[0], search.scenarios[1], search.work);
    return result;
}

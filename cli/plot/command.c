// SPDX-License-Identifier: Apache-2.0
// cli/plot/command.c - `rocesim plot`: chooses the figures, the folders and the files.
#include "cli/output.h"
#include "cli/plot/figure.h"

#include "cli/command.h"
#include "results/result_folder.h"
#include "results/runner.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_LINE_MAX 100000u // bytes: ports.csv has the longest

static const cli_plot_kind_t *const kinds[] = {
    &cli_plot_slowdown, &cli_plot_queue,   &cli_plot_queue_cdf, &cli_plot_rate,
    &cli_plot_series,   &cli_plot_pause,   &cli_plot_load,      &cli_plot_load_time,
    &cli_plot_app_rate, &cli_plot_app_cdf, &cli_plot_sweep,
};

static sim_err_t bad_kind(const char *text, world_error_t *error)
{
    const char *names[SIM_COUNT_OF(kinds)];
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        names[i] = kinds[i]->name;
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, NULL, "rocesim plot: unknown kind '%s'",
               world_show(&shown, text));
    world_error_add_nearest(error, text, names, SIM_COUNT_OF(kinds));
    world_error_add_names(error, names, SIM_COUNT_OF(kinds), "rocesim plot --help");
    return SIM_ERR_UNKNOWN;
}

// Parses a list of kinds ("slowdown,queue") into one bit per kind.
static sim_err_t take_kinds(const char *text, unsigned *wanted, world_error_t *error)
{
    for (const char *p = text; p != NULL;) {
        const size_t size = strcspn(p, ",");
        size_t k = 0;
        while (k < SIM_COUNT_OF(kinds) &&
               (strlen(kinds[k]->name) != size || memcmp(kinds[k]->name, p, size) != 0)) {
            k++;
        }
        if (k == SIM_COUNT_OF(kinds)) {
            char *const name = sim_format("%.*s", (int)size, p);
            const sim_err_t result = bad_kind(name, error);
            sim_free(name);
            return result;
        }
        *wanted |= 1u << k;
        p = p[size] == ',' ? p + size + 1 : NULL;
    }
    return SIM_OK;
}

static sim_err_t take_format(const char *path, cli_plot_format_t *format, world_error_t *error)
{
    static const char *const ends[] = {
        [CLI_PLOT_SVG] = ".svg",
        [CLI_PLOT_PNG] = ".png",
        [CLI_PLOT_PDF] = ".pdf",
        [CLI_PLOT_SCRIPT] = ".gnuplot",
    };
    const size_t size = strlen(path);
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const size_t end = strlen(ends[i]);
        if (size > end && strcmp(path + size - end, ends[i]) == 0 && path[size - end - 1] != '/') {
            *format = (cli_plot_format_t)i;
            return SIM_OK;
        }
    }
    world_shown_t shown;
    return world_fail(error, SIM_ERR_INVALID, NULL,
                      "rocesim plot: -o is '%s', expected a file that ends in .svg, .png, .pdf or "
                      ".gnuplot",
                      world_show(&shown, path));
}

// Returns a time of a run's summary, or 0 if the summary lacks the field.
static sim_time_t time_of(const cli_plot_run_t *run, const char *field)
{
    const json_int_t time_ps = json_integer_value(json_object_get(run->summary, field));
    return time_ps > 0 ? (sim_time_t)time_ps : 0;
}

// Sets the origin of time axes. If traffic begins after more than half of every run (inputs of
// other simulators begin at 2 s), axes begin at a round time before the traffic, otherwise at 0.
static void find_origin(cli_plot_t *plot)
{
    sim_time_t from_ps = SIM_TIME_NEVER;
    sim_time_t end_ps = 0;
    for (size_t i = 0; i < plot->run_count; i++) {
        from_ps = SIM_MIN(plot->runs[i].from_ps, from_ps);
        end_ps = SIM_MAX(plot->runs[i].end_ps, end_ps);
    }
    if (from_ps >= end_ps || from_ps <= end_ps / 2) {
        return;
    }
    sim_time_t step_ps = 1;
    while (step_ps <= (end_ps - from_ps) / 10) {
        step_ps *= 10;
    }
    plot->origin_ps = from_ps - from_ps % step_ps;
    for (size_t i = 0; i < plot->run_count; i++) {
        plot->runs[i].end_ps = cli_plot_time(plot->runs[i].end_ps, plot->origin_ps);
        plot->runs[i].from_ps = cli_plot_time(plot->runs[i].from_ps, plot->origin_ps);
    }
}

static sim_err_t open_runs(const cli_args_t *args, cli_plot_t *plot, world_error_t *error)
{
    if (args->operand_count > CLI_PLOT_RUNS_MAX) {
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim plot: %zu folders, expected at most %u", args->operand_count,
                          CLI_PLOT_RUNS_MAX);
    }
    char *names[CLI_PLOT_RUNS_MAX];
    results_result_names(args->operands, args->operand_count, names);
    for (size_t i = 0; i < args->operand_count; i++) {
        plot->runs[i] = (cli_plot_run_t){.folder = args->operands[i], .name = names[i]};
    }
    plot->run_count = args->operand_count;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < plot->run_count && result == SIM_OK; i++) {
        cli_plot_run_t *const run = &plot->runs[i];
        result = results_result_summary(run->folder, &run->summary, error);
        run->end_ps = time_of(run, "sim_time_ps");
        run->from_ps = time_of(run, "traffic_from_ps");
    }
    if (result == SIM_OK) {
        find_origin(plot);
    }
    return result;
}

// Returns the file of one figure of several: out-queue.svg for out.svg.
static char *file_of(const char *path, const char *kind)
{
    const char *const dot = strrchr(path, '.');
    return sim_format("%.*s-%s%s", (int)(dot - path), path, kind, dot);
}

// Returns whether a CSV file has a row besides its header.
static bool has_rows(const char *path)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t lines = 0;
    int byte = 0;
    for (size_t read = 0; lines < 1 && read < FIRST_LINE_MAX && (byte = getc(file)) != EOF;
         read++) {
        lines += byte == '\n';
    }
    const bool found = lines == 1 && getc(file) != EOF;
    (void)fclose(file);
    return found;
}

// Returns the names of runs whose file is missing or has lost its rows, for a note in the figure of
// the other runs; NULL if there are none.
static char *find_missing(const cli_plot_t *plot, const cli_plot_kind_t *kind)
{
    char *missing = NULL;
    for (size_t r = 0; kind->file != NULL && r < plot->run_count; r++) {
        const cli_plot_run_t *const run = &plot->runs[r];
        char *const path = sim_format("%s/%s", run->folder, kind->file);
        struct stat status;
        const char *what = NULL;
        if (stat(path, &status) != 0) {
            what = "no";
        } else if (S_ISREG(status.st_mode) && !has_rows(path) &&
                   (kind->rows == NULL ||
                    json_number_value(results_json_at(run->summary, kind->rows)) > 0)) {
            what = "an empty";
        }
        if (what != NULL) {
            char *const before = missing;
            missing = sim_format("%s%s%s has %s %s", before != NULL ? before : "",
                                 before != NULL ? ", " : "", run->name, what, kind->file);
            sim_free(before);
        }
        sim_free(path);
    }
    return missing;
}

// Draws one kind of figure into a file; path NULL: records it only.
static sim_err_t make(const cli_plot_t *plot, const cli_plot_kind_t *kind, cli_plot_format_t format,
                      const char *path, cli_figure_t *figure, world_error_t *error, int *status)
{
    *figure = (cli_figure_t){.script = cli_plot_temporary(), .format = format};
    figure->record = path == NULL ? cli_record_create() : NULL;
    figure->missing = find_missing(plot, kind);
    *status = CLI_EXIT_FAILED;
    if (figure->script == NULL) {
        return world_fail(error, SIM_ERR_IO, NULL, "rocesim plot: cannot make a temporary file: %s",
                          strerror(errno));
    }
    *status = CLI_EXIT_BAD_INPUT;
    sim_err_t result = kind->draw(plot, figure, error);
    if (result == SIM_OK && figure->drawn && path != NULL) {
        *status = CLI_EXIT_FAILED;
        result = cli_figure_write(figure, path, error);
    }
    (void)fclose(figure->script);
    return result;
}

typedef struct request {
    unsigned wanted; // one bit per kind; 0: every kind that has data
    cli_plot_format_t format;
    const char *path;
    json_t *figures; // --json: the figures; NULL: files are written
} request_t;

static json_t *figure_json(const cli_figure_t *figure, const char *kind)
{
    return json_pack("{s:s, s:s, s:s, s:s?, s:O}", "kind", kind, "words", figure->what, "note",
                     figure->note, "missing", figure->missing, "panels",
                     cli_record_panels(figure->record));
}

static void tell(const char *path, const cli_figure_t *figure)
{
    printf("%s: %s%s%s%s%s%s\n", path, figure->what, figure->note[0] != '\0' ? " (" : "",
           figure->note, figure->note[0] != '\0' ? ")" : "", figure->missing != NULL ? "; " : "",
           figure->missing != NULL ? figure->missing : "");
}

static int make_all(const cli_plot_t *plot, const request_t *request, world_error_t *error)
{
    const bool one = request->wanted != 0 && (request->wanted & (request->wanted - 1)) == 0;
    size_t made = 0;
    int status = CLI_EXIT_DONE;
    for (size_t k = 0; k < SIM_COUNT_OF(kinds) && status == CLI_EXIT_DONE; k++) {
        const bool sweep = kinds[k] == &cli_plot_sweep;
        if (request->wanted != 0 ? (request->wanted >> k & 1u) == 0 : sweep) {
            continue;
        }
        char *const path = request->figures != NULL ? NULL
                           : one                    ? sim_strdup(request->path)
                                                    : file_of(request->path, kinds[k]->name);
        cli_figure_t figure;
        int failed = CLI_EXIT_DONE;
        if (make(plot, kinds[k], request->format, path, &figure, error, &failed) != SIM_OK) {
            status = failed;
        } else if (figure.drawn) {
            made++;
            if (path != NULL) {
                tell(path, &figure);
            } else {
                (void)json_array_append_new(request->figures, figure_json(&figure, kinds[k]->name));
            }
        } else if (request->wanted != 0) {
            world_fail(error, SIM_ERR_INVALID, NULL, "rocesim plot: nothing for %s: %s",
                       kinds[k]->name, figure.what);
            status = CLI_EXIT_BAD_INPUT;
        }
        cli_record_destroy(figure.record);
        SIM_FREE_ALL(figure.what, figure.missing, path);
    }
    if (status == CLI_EXIT_DONE && made == 0) {
        world_fail(error, SIM_ERR_INVALID, NULL,
                   "rocesim plot: nothing to draw, expected flows, series, pauses or ports in the "
                   "folder");
        status = CLI_EXIT_BAD_INPUT;
    }
    return status;
}

// Prints {"figures": [...]}; NULL: nothing. Returns the exit status.
static int print_figures(json_t *figures)
{
    if (figures != NULL) {
        json_t *const json = json_pack("{s:O}", "figures", figures);
        (void)json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        json_decref(json);
        (void)putchar('\n');
    }
    return cli_finish_output(CLI_EXIT_DONE);
}

int cli_command_plot(const cli_args_t *args)
{
    cli_plot_t plot = {.x = args->x, .y = args->y, .app = args->app};
    request_t request = {.path = args->folder != NULL ? args->folder : "plot.svg"};
    world_error_t error;
    sim_err_t result = SIM_OK;
    if (args->json && args->folder != NULL) {
        result = world_fail(&error, SIM_ERR_INVALID, NULL,
                            "rocesim plot: --json prints figures and -o writes them, expected one "
                            "of the two");
    } else if (args->json) {
        request.format = CLI_PLOT_SCRIPT;
        request.figures = json_array();
    } else {
        result = take_format(request.path, &request.format, &error);
    }
    for (size_t i = 0; i < args->kind_count && result == SIM_OK; i++) {
        result = take_kinds(args->kinds[i], &request.wanted, &error);
    }
    const unsigned sweep = 1u << (SIM_COUNT_OF(kinds) - 1);
    if (result == SIM_OK && args->operand_count == 1 &&
        results_result_is_sweep(args->operands[0])) {
        request.wanted = request.wanted == 0 ? sweep : request.wanted;
        plot.runs[0] = (cli_plot_run_t){.folder = args->operands[0],
                                        .name = results_result_name(args->operands[0])};
        plot.run_count = 1;
    } else if (result == SIM_OK) {
        result = open_runs(args, &plot, &error);
    }
    int status = result == SIM_OK ? make_all(&plot, &request, &error) : CLI_EXIT_BAD_INPUT;
    if (status != CLI_EXIT_DONE) {
        status = cli_report_failure(&error, status);
    } else {
        status = print_figures(request.figures);
    }
    json_decref(request.figures);
    for (size_t i = 0; i < plot.run_count; i++) {
        sim_free(plot.runs[i].name);
        json_decref(plot.runs[i].summary);
    }
    return status;
}

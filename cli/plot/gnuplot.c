// SPDX-License-Identifier: Apache-2.0
// cli/plot/gnuplot.c - writes gnuplot scripts and runs gnuplot as a child process.
//
// gnuplot reads the script from standard input and writes the picture to standard output, into a
// temporary file. A complete picture then replaces the file that the user asked for.
#include "cli/plot/figure.h"

#include "kernel/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FONT "sans-serif,13"
#define COPY_BYTES 65536u

extern char **environ;

// -- scripts

void cli_figure_nothing(cli_figure_t *figure, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sim_free(figure->what);
    figure->what = sim_strdup(text);
}

const char *cli_figure_color(size_t index)
{
    // The palette of Okabe and Ito, "Color Universal Design" (2008), with the yellow last.
    static const char *const colors[] = {
        "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#B8A800",
    };
    return colors[index % SIM_COUNT_OF(colors)];
}

static void quote(FILE *script, const char *text, bool tic)
{
    // Only a single quote is special within single quotes; control characters and backquotes are
    // removed all the same.
    fputc('\'', script);
    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '\'') {
            fputs("''", script);
        } else if (c == '%' && tic) {
            fputs("%%", script);
        } else {
            fputc(c < 0x20 || c == 0x7f || c == '`' ? '?' : c, script);
        }
    }
    fputc('\'', script);
}

void cli_figure_quote(FILE *script, const char *text)
{
    quote(script, text, false);
}

void cli_figure_quote_tic(FILE *script, const char *text)
{
    quote(script, text, true);
}

void cli_figure_begin(cli_figure_t *figure, unsigned width, unsigned height)
{
    FILE *const script = figure->script;
    figure->drawn = true;
    fputs("set encoding utf8\n", script);
    switch (figure->format) {
    case CLI_PLOT_PNG:
        fprintf(script,
                "set terminal pngcairo size %u,%u noenhanced font '" FONT "' fontscale 1.5 "
                "linewidth 2 rounded background '#ffffff'\n",
                width * 2, height * 2);
        break;
    case CLI_PLOT_PDF:
        // A picture has 96 pixels per inch, and gnuplot halves font sizes in PDF.
        fprintf(script,
                "set terminal pdfcairo size %.3fin,%.3fin noenhanced font '" FONT "' fontscale "
                "0.68 linewidth 1 rounded background '#ffffff'\n",
                width / 96.0, height / 96.0);
        break;
    case CLI_PLOT_SVG:
    case CLI_PLOT_SCRIPT:
        fprintf(script,
                "set terminal svg size %u,%u noenhanced font '" FONT "' linewidth 1.2 rounded "
                "background '#ffffff'\n",
                width, height);
        break;
    }
    fputs("set border 3 linecolor '#404040'\n"
          "set tics nomirror out scale 0.6\n"
          "set grid linetype 1 linewidth 0.5 linecolor '#dcdcdc'\n"
          "set key tmargin left Left reverse horizontal samplen 2\n",
          script);
    if (figure->note[0] != '\0' || figure->missing != NULL) {
        char *const text = sim_format(
            "%s%s%s", figure->note, figure->note[0] != '\0' && figure->missing != NULL ? "; " : "",
            figure->missing != NULL ? figure->missing : "");
        fputs("set label 9999 ", script);
        cli_figure_quote(script, text);
        sim_free(text);
        fputs(" at screen 0.01,0.02 left font 'sans-serif,11' textcolor '#606060'\n", script);
    }
}

cli_plot_unit_t cli_plot_time_unit(double most_ps)
{
    static const cli_plot_unit_t units[] = {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}};
    for (size_t i = 0; i < SIM_COUNT_OF(units) - 1; i++) {
        if (most_ps >= 2 * units[i].one) {
            return units[i];
        }
    }
    return units[SIM_COUNT_OF(units) - 1];
}

void cli_plot_run_title(const cli_figure_t *figure, const cli_plot_t *plot, size_t run)
{
    if (plot->run_count > 1) {
        cli_figure_label(figure, "title", plot->runs[run].name, " offset 0,-0.5");
    }
}

void cli_plot_time_label(const cli_figure_t *figure, const cli_plot_t *plot, cli_plot_unit_t unit)
{
    char text[96];
    if (plot->origin_ps == 0) {
        (void)snprintf(text, sizeof(text), "time (%s)", unit.name);
    } else {
        const cli_plot_unit_t of_origin = cli_plot_time_unit((double)plot->origin_ps);
        (void)snprintf(text, sizeof(text), "time after %.15g %s (%s)",
                       (double)plot->origin_ps / of_origin.one, of_origin.name, unit.name);
    }
    cli_figure_label(figure, "xlabel", text, "");
}

void cli_plot_load_palette(const cli_figure_t *figure)
{
    static const cli_color_stop_t stops[] = {{0, "#f1f1ee"},
                                             {0.2, "#fee391"},
                                             {0.5, "#fe9929"},
                                             {0.8, "#cc4c02"},
                                             {1, "#662506"}};
    cli_figure_palette(figure, stops, SIM_COUNT_OF(stops));
}

cli_plot_unit_t cli_plot_bytes_unit(double most_bytes)
{
    static const cli_plot_unit_t units[] = {{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"bytes", 1}};
    for (size_t i = 0; i < SIM_COUNT_OF(units) - 1; i++) {
        if (most_bytes >= 2 * units[i].one) {
            return units[i];
        }
    }
    return units[SIM_COUNT_OF(units) - 1];
}

// -- the child

// Returns the environment for gnuplot with LC_ALL=C, so that numbers have a decimal point.
static char **plain_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **const copy = sim_alloc_array(count + 2, sizeof(*copy));
    size_t kept = 0;
    static char locale[] = "LC_ALL=C";
    copy[kept++] = locale;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 && strncmp(environ[i], "GNUPLOT", 7) != 0) {
            copy[kept++] = environ[i];
        }
    }
    return copy;
}

static sim_err_t run_gnuplot(int in, int out, int messages, int *status, world_error_t *error)
{
    static char name[] = "gnuplot";
    static char plain[] = "-d"; // ignore the user's own gnuplot settings
    static char from_input[] = "-";
    char *const arguments[] = {name, plain, from_input, NULL};
    char **const environment = plain_environment();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, name, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    sim_free(environment);
    if (failed == ENOENT) {
        return world_fail(error, SIM_ERR_IO, NULL,
                          "rocesim plot: gnuplot is not installed, expected it in the PATH: "
                          "apt-get install gnuplot-nox");
    }
    if (failed != 0) {
        return world_fail(error, SIM_ERR_IO, NULL, "rocesim plot: cannot start gnuplot: %s",
                          sim_own_file_reason(failed));
    }
    pid_t ended;
    do {
        ended = waitpid(child, status, 0);
    } while (ended < 0 && errno == EINTR);
    return SIM_OK;
}

// Reads gnuplot's error message: the first line that is not a caret below a line of the script.
static void read_complaint(FILE *messages, char *text, size_t size)
{
    rewind(messages);
    text[0] = '\0';
    char line[256];
    while (fgets(line, sizeof(line), messages) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, "line ") != NULL || text[0] == '\0') {
            (void)snprintf(text, size, "%s", line);
        }
    }
}

// Returns whether a picture is complete, by its last bytes: gnuplot does not report every failed
// write.
static bool is_whole(FILE *picture, cli_plot_format_t format)
{
    static const char *const ends[] = {
        [CLI_PLOT_SVG] = "</svg>",
        [CLI_PLOT_PNG] = "IEND",
        [CLI_PLOT_PDF] = "%%EOF",
    };
    char tail[64] = {0};
    if (fseek(picture, 0, SEEK_END) != 0) {
        return false;
    }
    const long size = ftell(picture);
    if (size < 0 || fseek(picture, size > 48 ? size - 48 : 0, SEEK_SET) != 0) {
        return false;
    }
    const size_t read_bytes = fread(tail, 1, 48, picture);
    const size_t end_bytes = strlen(ends[format]);
    for (size_t i = 0; i + end_bytes <= read_bytes; i++) {
        if (memcmp(tail + i, ends[format], end_bytes) == 0) {
            return true;
        }
    }
    return false;
}

FILE *cli_plot_temporary(void)
{
    const char *const folder = getenv("TMPDIR");
    char *const path =
        sim_format("%s/rocesim-plot-XXXXXX", folder == NULL || folder[0] == '\0' ? "/tmp" : folder);
    const int fd = mkstemp(path);
    FILE *const file = fd < 0 ? NULL : fdopen(fd, "w+");
    const int reason = errno;
    if (fd >= 0) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)unlink(path);
        if (file == NULL) {
            (void)close(fd);
        }
    }
    sim_free(path);
    errno = reason;
    return file;
}

static sim_err_t cannot_write(const char *path, world_error_t *error)
{
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot write: %s",
                      sim_own_file_reason(errno));
}

static sim_err_t copy_script(FILE *script, FILE *to, const char *path, world_error_t *error)
{
    char *const buffer = sim_alloc(COPY_BYTES);
    errno = 0;
    size_t size;
    bool failed = false;
    while ((size = fread(buffer, 1, COPY_BYTES, script)) > 0 && !failed) {
        failed = fwrite(buffer, 1, size, to) != size;
    }
    sim_free(buffer);
    return failed || fflush(to) != 0 ? cannot_write(path, error) : SIM_OK;
}

static sim_err_t draw(const cli_figure_t *figure, FILE *picture, const char *path,
                      world_error_t *error)
{
    FILE *const messages = cli_plot_temporary();
    if (messages == NULL) {
        return cannot_write("a temporary file", error);
    }
    int status = 0;
    sim_err_t result =
        run_gnuplot(fileno(figure->script), fileno(picture), fileno(messages), &status, error);
    if (result == SIM_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        char complaint[256];
        read_complaint(messages, complaint, sizeof(complaint));
        world_shown_t shown;
        result = world_fail(error, SIM_ERR_IO, NULL, "rocesim plot: gnuplot failed on %s: %s", path,
                            world_show(&shown, complaint));
    } else if (result == SIM_OK && !is_whole(picture, figure->format)) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                            "cannot write: the picture of gnuplot is not whole");
    }
    (void)fclose(messages);
    return result;
}

sim_err_t cli_figure_write(const cli_figure_t *figure, const char *path, world_error_t *error)
{
    if (fflush(figure->script) != 0 || ferror(figure->script) != 0 ||
        lseek(fileno(figure->script), 0, SEEK_SET) != 0) {
        return cannot_write("a temporary file", error);
    }
    char *const unfinished = sim_format("%s.part", path);
    const int descriptor = sim_own_file_open(unfinished, O_RDWR);
    FILE *const picture = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (picture == NULL) {
        sim_free(unfinished);
        return cannot_write(path, error);
    }
    sim_err_t result = SIM_OK;
    if (figure->format == CLI_PLOT_SCRIPT) {
        rewind(figure->script);
        result = copy_script(figure->script, picture, path, error);
    } else {
        result = draw(figure, picture, path, error);
    }
    errno = 0;
    if (fclose(picture) != 0 && result == SIM_OK) {
        result = cannot_write(path, error);
    }
    if (result == SIM_OK && rename(unfinished, path) != 0) {
        result = cannot_write(path, error);
    }
    if (result != SIM_OK) {
        (void)remove(unfinished);
    }
    sim_free(unfinished);
    return result;
}

// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/report.c - prints the constants, their errors and the fit, and writes the file of
// constants.
#include "cli/calibrate/report.h"
#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/fit.h"

#include "results/file.h"

#include <math.h>
#include <string.h>

#define RELATED 0.9 // two constants with at least this correlation are named together

static const char *doubt_of(const cli_constant_t *constant)
{
    return constant->unknown    ? "the points do not determine it"
           : constant->at_limit ? "at the end of its range"
                                : "";
}

static void print_constants(const cli_calibration_t *calibration, FILE *out)
{
    fprintf(out, "constants\n");
    for (size_t c = 0; c < calibration->constant_count; c++) {
        const cli_constant_t *const constant = &calibration->constants[c];
        char *const value = constant->fitted ? cli_constant_text(constant, constant->found) : NULL;
        fprintf(out, "  %-20s %14s  ", constant->name, constant->fitted ? value : constant->value);
        if (!constant->fitted) {
            fprintf(out, "%s", constant->origin);
        } else if (constant->unknown) {
            fprintf(out, "fitted: %s", doubt_of(constant));
        } else {
            fprintf(out, "fitted, +- %.3g%s (%.1f %%)%s%s", constant->error,
                    constant->unit != NULL ? constant->unit : "",
                    fabs(constant->found) > 0 ? 100 * constant->error / constant->found : 0,
                    constant->at_limit ? ": " : "", doubt_of(constant));
        }
        fputc('\n', out);
        sim_free(value);
    }
}

// Prints pairs of constants that can replace each other, because their errors are correlated.
static void print_related(const cli_calibration_t *calibration, FILE *out)
{
    size_t a = 0;
    for (size_t i = 0; i < calibration->constant_count; i++) {
        if (!calibration->constants[i].fitted) {
            continue;
        }
        size_t b = a + 1;
        for (size_t j = i + 1; j < calibration->constant_count; j++) {
            if (!calibration->constants[j].fitted) {
                continue;
            }
            const double related = calibration->correlation[a][b];
            if (fabs(related) > RELATED) {
                fprintf(out,
                        "  %s and %s: correlation %.2f, the points tell their %s better than "
                        "each\n",
                        calibration->constants[i].name, calibration->constants[j].name, related,
                        related < 0 ? "sum" : "difference");
            }
            b++;
        }
        a++;
    }
}

// Returns the difference in percent; 0 from a value of 0, which has no share.
static double percent(double value, double of)
{
    const double share = 100 * (value - of) / of;
    return isfinite(share) ? share : 0;
}

static void print_points(const cli_calibration_t *calibration, FILE *out)
{
    double worst = 0;
    double squares = 0;
    double held_worst = 0;
    size_t held = 0;
    fprintf(out, "points%36s %10s %10s %8s %8s  %s\n", "", "given", "here", "%", "before",
            "without it");
    for (size_t i = 0; i < calibration->point_count; i++) {
        const cli_point_t *const point = &calibration->points[i];
        const double off = percent(point->result, point->value);
        fprintf(out, "  %-40s %10.5g %10.5g %8.1f %8.1f  ", point->name, point->value,
                point->result, off, percent(point->before, point->value));
        if (point->held) {
            fprintf(out, "held out\n");
            held_worst = fmax(held_worst, fabs(off));
            held++;
        } else {
            if (point->alone) {
                fprintf(out, "it alone tells a constant\n");
            } else {
                fprintf(out, "%.1f\n", percent(point->without, point->value));
            }
            worst = fmax(worst, fabs(off));
            squares += off * off;
        }
    }
    fprintf(out, "fit: %.1f %% root mean square, worst %.1f %%",
            calibration->used_count == 0 ? 0 : sqrt(squares / (double)calibration->used_count),
            worst);
    if (held != 0) {
        fprintf(out, "; held out: worst %.1f %% of %zu", held_worst, held);
    }
    if (calibration->spread > 0) {
        fprintf(out, "; residuals are %.2f of the given errors", calibration->spread);
    }
    fprintf(out, "\n%u step%s, %llu runs%s\n", calibration->steps, sim_plural(calibration->steps),
            (unsigned long long)calibration->runs,
            calibration->settled ? "" : "; it had not settled");
}

void cli_calibration_print(const cli_calibration_t *calibration, FILE *out)
{
    print_constants(calibration, out);
    print_related(calibration, out);
    print_points(calibration, out);
}

// Writes a text in double quotes, with YAML's escapes.
static void put_text(results_file_t *file, const char *text)
{
    results_file_put(file, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        const char one[3] = {*at == '"' || *at == '\\' ? '\\' : *at,
                             *at == '"' || *at == '\\' ? *at : '\0', '\0'};
        results_file_put(file, *at == '\n' ? " " : one);
    }
    results_file_put(file, "\"");
}

static void put_constant(results_file_t *file, const cli_constant_t *constant)
{
    results_file_print(file, "%s:\n  path: ", constant->name);
    if (constant->path_count == 1) {
        put_text(file, constant->paths[0]);
    } else {
        results_file_put(file, "[");
        for (size_t p = 0; p < constant->path_count; p++) {
            results_file_put(file, p == 0 ? "" : ", ");
            put_text(file, constant->paths[p]);
        }
        results_file_put(file, "]");
    }
    char *const value = constant->fitted ? cli_constant_text(constant, constant->found)
                                         : sim_strdup(constant->value);
    results_file_print(file, "\n  value: %s\n  origin: %s\n", value, constant->origin);
    sim_free(value);
    if (constant->fitted && !constant->unknown) {
        char *const error = cli_constant_text(constant, constant->error);
        results_file_print(file, "  error: %s\n", error);
        sim_free(error);
    }
    const char *const doubt = constant->fitted ? doubt_of(constant) : "";
    if (constant->note != NULL || doubt[0] != '\0') {
        char *const note =
            sim_format("%s%s%s", constant->note != NULL ? constant->note : "",
                       constant->note != NULL && doubt[0] != '\0' ? "; " : "", doubt);
        results_file_put(file, "  note: ");
        put_text(file, note);
        results_file_put(file, "\n");
        sim_free(note);
    }
}

sim_err_t cli_calibration_write(const cli_calibration_t *calibration, const char *path,
                                world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_file_open(path, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    const char *const slash = strrchr(calibration->file_name, '/');
    results_file_print(
        file,
        "# Constants, made by: rocesim calibrate %s\n"
        "# A scenario includes them: 'constants: FILE'. error: one standard error of "
        "what was fitted.\n",
        slash != NULL ? slash + 1 : calibration->file_name);
    for (size_t c = 0; c < calibration->constant_count; c++) {
        put_constant(file, &calibration->constants[c]);
    }
    return results_file_close(file, error);
}

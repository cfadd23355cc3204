// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/fit.c - fits the constants to the points and estimates their errors.
//
// Least squares of (simulated - measured) / (error x measured) by Levenberg and Marquardt, over the
// logarithms of the constants, so that steps and errors are shares of them. Derivatives are
// differences of two runs a share of STEP apart, wide enough for events that happen or not. Errors
// are those of the linear problem at the end: the root of the diagonal of (J'J)^-1, times the
// spread of the residuals where there are more points than constants and it is above 1.
#include "cli/calibrate/fit.h"
#include "cli/calibrate/calibrate.h"

#include "cli/plugins/limited_run.h"
#include "results/runner.h"

#include <math.h>
#include <string.h>

#define STEP 0.05
#define ATTEMPTS_MAX 6u
#define DAMPING_FACTOR 8.0
#define STEPS_MAX 15u
#define FITTED CLI_CALIBRATE_FITTED_MAX
#define SLACK 0.01        // weight of a prior that knows each constant to a factor of e^10
#define UNKNOWN_SHARE 1.0 // a constant whose error is as large as its value is unknown

typedef struct matrix {
    double at[FITTED][FITTED];
} matrix_t;

char *cli_constant_text(const cli_constant_t *constant, double value)
{
    return sim_format("%.*f%s", (int)constant->decimals, value,
                      constant->unit != NULL ? constant->unit : "");
}

// -- runs

typedef struct settings {
    world_override_t *overrides;
    size_t count;
    size_t capacity;
    char **texts;
    size_t text_count;
    size_t text_capacity;
} settings_t;

// Appends a setting to the list, which takes ownership of the text.
static void add_setting(settings_t *settings, char *text)
{
    char *const shown = sim_format("set %s", text);
    SIM_APPEND(settings->overrides, settings->count, settings->capacity,
               (world_override_t){.shown = shown, .text = text});
    SIM_APPEND(settings->texts, settings->text_count, settings->text_capacity, text);
    SIM_APPEND(settings->texts, settings->text_count, settings->text_capacity, shown);
}

static void free_settings(settings_t *settings)
{
    sim_free_each(settings->texts, settings->text_count);
    sim_free(settings->texts);
    sim_free(settings->overrides);
}

// Lists the settings of a run. The constants come last, so that no setting of a point undoes them.
static void fill_settings(const cli_calibration_t *calibration, const cli_point_t *point,
                          const double *logs, settings_t *settings)
{
    for (size_t i = 0; i < calibration->override_count; i++) {
        SIM_APPEND(settings->overrides, settings->count, settings->capacity,
                   calibration->overrides[i]);
    }
    for (size_t i = 0; i < calibration->setting_count; i++) {
        add_setting(settings, sim_strdup(calibration->settings[i]));
    }
    for (size_t i = 0; i < point->setting_count; i++) {
        add_setting(settings, sim_strdup(point->settings[i]));
    }
    size_t fitted = 0;
    for (size_t c = 0; c < calibration->constant_count; c++) {
        const cli_constant_t *const constant = &calibration->constants[c];
        char *const value = constant->fitted ? cli_constant_text(constant, exp(logs[fitted++]))
                                             : sim_strdup(constant->value);
        for (size_t p = 0; p < constant->path_count; p++) {
            add_setting(settings, sim_format("%s=%s", constant->paths[p], value));
        }
        sim_free(value);
    }
}

static sim_err_t run_point(cli_calibration_t *calibration, const cli_point_t *point,
                           const double *logs, double *number, world_error_t *error)
{
    const char *const file = point->scenario != NULL ? point->scenario : calibration->scenario;
    settings_t settings = {.count = 0};
    fill_settings(calibration, point, logs, &settings);
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    sim_err_t result =
        world_scenario_load(NULL, file, settings.overrides, settings.count, &scenario, error);
    if (result == SIM_OK) {
        cli_plugins_watch(scenario);
        const results_options_t options = {.folder = NULL};
        result = results_execute(scenario, &options, &run, error);
    }
    if (result == SIM_OK) {
        calibration->runs++;
        if (!results_number(run, point->column, number)) {
            result = world_fail(error, SIM_ERR_UNKNOWN, NULL,
                                "%s: no number '%s' in the summary of %s (docs/formats/outputs.md)",
                                point->name, point->column, file);
        }
        results_run_destroy(run);
    }
    if (scenario != NULL) {
        world_scenario_destroy(scenario);
    }
    free_settings(&settings);
    return result;
}

// Computes the residuals of the points that the fit uses, and the simulated values of all points.
static sim_err_t run_all(cli_calibration_t *calibration, const double *logs, bool held,
                         double *values, double *residuals, world_error_t *error)
{
    size_t row = 0;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < calibration->point_count && result == SIM_OK; i++) {
        const cli_point_t *const point = &calibration->points[i];
        if (point->held && !held) {
            continue;
        }
        double value = 0;
        result = run_point(calibration, point, logs, &value, error);
        if (values != NULL) {
            values[i] = value;
        }
        if (!point->held && residuals != NULL) {
            residuals[row++] = (value - point->value) / (point->share * point->value);
        }
    }
    return result;
}

static double sum_of_squares(const double *residuals, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += residuals[i] * residuals[i];
    }
    return sum;
}

// -- linear algebra

// Inverts a symmetric matrix by Gauss and Jordan, largest pivot first. Returns false if it is
// singular.
static bool invert(const matrix_t *matrix, size_t size, matrix_t *inverse)
{
    matrix_t work = *matrix;
    memset(inverse, 0, sizeof(*inverse));
    for (size_t i = 0; i < size; i++) {
        inverse->at[i][i] = 1;
    }
    double largest = 0;
    for (size_t i = 0; i < size; i++) {
        largest = fmax(largest, fabs(matrix->at[i][i]));
    }
    for (size_t column = 0; column < size; column++) {
        size_t pivot = column;
        for (size_t row = column + 1; row < size; row++) {
            if (fabs(work.at[row][column]) > fabs(work.at[pivot][column])) {
                pivot = row;
            }
        }
        const double value = work.at[pivot][column];
        if (!(fabs(value) > 1e-12 * largest)) {
            return false;
        }
        for (size_t k = 0; k < size; k++) {
            const double a = work.at[pivot][k];
            const double b = inverse->at[pivot][k];
            work.at[pivot][k] = work.at[column][k];
            inverse->at[pivot][k] = inverse->at[column][k];
            work.at[column][k] = a / value;
            inverse->at[column][k] = b / value;
        }
        for (size_t row = 0; row < size; row++) {
            const double factor = work.at[row][column];
            for (size_t k = 0; row != column && k < size; k++) {
                work.at[row][k] -= factor * work.at[column][k];
                inverse->at[row][k] -= factor * inverse->at[column][k];
            }
        }
    }
    return true;
}

// -- the fit

typedef struct fit {
    cli_calibration_t *calibration;
    size_t size;  // number of fitted constants
    size_t count; // number of points that the fit uses
    double logs[FITTED];
    double low[FITTED];
    double high[FITTED];
    double *residuals; // count
    double *jacobian;  // count x size
    double *there;     // count: residuals at the trial step
    double chi2;
} fit_t;

static void begin_fit(fit_t *fit, cli_calibration_t *calibration)
{
    *fit = (fit_t){.calibration = calibration, .count = calibration->used_count};
    for (size_t c = 0; c < calibration->constant_count; c++) {
        const cli_constant_t *const constant = &calibration->constants[c];
        if (constant->fitted) {
            fit->logs[fit->size] = log(constant->start);
            fit->low[fit->size] = log(constant->from);
            fit->high[fit->size] = log(constant->to);
            fit->size++;
        }
    }
    fit->residuals = sim_alloc_array(fit->count + 1, sizeof(double));
    fit->there = sim_alloc_array(fit->count + 1, sizeof(double));
    fit->jacobian = sim_alloc_array(fit->count * fit->size + 1, sizeof(double));
}

static void end_fit(fit_t *fit)
{
    SIM_FREE_ALL(fit->residuals, fit->there, fit->jacobian);
}

static sim_err_t derive(fit_t *fit, world_error_t *error)
{
    for (size_t k = 0; k < fit->size; k++) {
        double logs[FITTED];
        memcpy(logs, fit->logs, sizeof(logs));
        const double step = logs[k] + STEP <= fit->high[k] ? STEP : -STEP;
        logs[k] += step;
        const sim_err_t result = run_all(fit->calibration, logs, false, NULL, fit->there, error);
        if (result != SIM_OK) {
            return result;
        }
        for (size_t i = 0; i < fit->count; i++) {
            fit->jacobian[i * fit->size + k] = (fit->there[i] - fit->residuals[i]) / step;
        }
    }
    return SIM_OK;
}

static void normal_of(const fit_t *fit, matrix_t *normal, double *gradient)
{
    memset(normal, 0, sizeof(*normal));
    memset(gradient, 0, FITTED * sizeof(*gradient));
    for (size_t i = 0; i < fit->count; i++) {
        const double *const row = &fit->jacobian[i * fit->size];
        for (size_t a = 0; a < fit->size; a++) {
            gradient[a] += row[a] * fit->residuals[i];
            for (size_t b = 0; b < fit->size; b++) {
                normal->at[a][b] += row[a] * row[b];
            }
        }
    }
}

// Takes one step that lowers the sum of squares, and raises the damping until a step does. Sets
// *moved to the largest relative change of a constant.
static sim_err_t step(fit_t *fit, double *damping, double *moved, world_error_t *error)
{
    matrix_t normal;
    double gradient[FITTED];
    normal_of(fit, &normal, gradient);
    *moved = 0;
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        matrix_t damped = normal;
        matrix_t inverse;
        for (size_t k = 0; k < fit->size; k++) {
            damped.at[k][k] += *damping * normal.at[k][k] + SLACK;
        }
        const bool solved = invert(&damped, fit->size, &inverse);
        SIM_CHECK(solved); // a damped normal matrix is positive definite
        double logs[FITTED];
        double far = 0;
        for (size_t a = 0; a < fit->size; a++) {
            double change = 0;
            for (size_t b = 0; b < fit->size; b++) {
                change -= inverse.at[a][b] * gradient[b];
            }
            change = fmax(-1.0, fmin(1.0, change));
            logs[a] = fmax(fit->low[a], fmin(fit->high[a], fit->logs[a] + change));
            far = fmax(far, fabs(logs[a] - fit->logs[a]));
        }
        const sim_err_t result = run_all(fit->calibration, logs, false, NULL, fit->there, error);
        if (result != SIM_OK) {
            return result;
        }
        const double chi2 = sum_of_squares(fit->there, fit->count);
        if (chi2 < fit->chi2) {
            memcpy(fit->logs, logs, sizeof(logs));
            memcpy(fit->residuals, fit->there, fit->count * sizeof(double));
            *moved = far * (fit->chi2 - chi2 > 1e-3 * fit->chi2 ? 1 : 0);
            fit->chi2 = chi2;
            *damping /= DAMPING_FACTOR;
            return SIM_OK;
        }
        if (far < 1e-4) {
            break;
        }
        *damping *= DAMPING_FACTOR;
    }
    return SIM_OK;
}

// -- errors of the constants

// Inverts the normal matrix. If no point determines a constant, or only together with another one,
// its error is unbounded; SLACK turns it into a very large error.
static void solve(const fit_t *fit, matrix_t *inverse)
{
    matrix_t normal;
    double gradient[FITTED];
    normal_of(fit, &normal, gradient);
    for (size_t k = 0; k < fit->size; k++) {
        normal.at[k][k] += SLACK;
    }
    const bool solved = invert(&normal, fit->size, inverse);
    SIM_CHECK(solved); // SLACK makes the matrix positive definite
}

static void judge_constants(const fit_t *fit, const matrix_t *inverse)
{
    cli_calibration_t *const calibration = fit->calibration;
    const double scale = fmax(1.0, calibration->spread);
    size_t k = 0;
    for (size_t c = 0; c < calibration->constant_count; c++) {
        cli_constant_t *const constant = &calibration->constants[c];
        if (!constant->fitted) {
            continue;
        }
        const double share = scale * sqrt(inverse->at[k][k]);
        constant->found = exp(fit->logs[k]);
        constant->error = share * constant->found;
        constant->unknown = share > UNKNOWN_SHARE;
        constant->at_limit = fit->logs[k] <= fit->low[k] || fit->logs[k] >= fit->high[k];
        for (size_t other = 0; other < fit->size; other++) {
            calibration->correlation[k][other] =
                inverse->at[k][other] / sqrt(inverse->at[k][k] * inverse->at[other][other]);
        }
        k++;
    }
}

// Returns the leverage of a point: its entry on the diagonal of J (J'J)^-1 J'.
static double leverage_of(const fit_t *fit, const matrix_t *inverse, size_t row)
{
    const double *const line = &fit->jacobian[row * fit->size];
    double leverage = 0;
    for (size_t a = 0; a < fit->size; a++) {
        for (size_t b = 0; b < fit->size; b++) {
            leverage += line[a] * inverse->at[a][b] * line[b];
        }
    }
    return leverage;
}

static void judge(const fit_t *fit)
{
    cli_calibration_t *const calibration = fit->calibration;
    matrix_t inverse;
    solve(fit, &inverse);
    const double freedom = (double)fit->count - (double)fit->size;
    calibration->spread = freedom > 0 ? sqrt(fit->chi2 / freedom) : 0;
    judge_constants(fit, &inverse);
    size_t row = 0;
    for (size_t i = 0; i < calibration->point_count; i++) {
        cli_point_t *const point = &calibration->points[i];
        if (point->held) {
            continue;
        }
        const double leverage = leverage_of(fit, &inverse, row);
        point->alone = leverage > 0.999;
        if (!point->alone) {
            const double without = fit->residuals[row] / (1 - leverage);
            point->without = point->value * (1 + without * point->share);
        }
        row++;
    }
}

static sim_err_t go_down(fit_t *fit, world_error_t *error)
{
    cli_calibration_t *const calibration = fit->calibration;
    double damping = 0.01;
    sim_err_t result = SIM_OK;
    while (result == SIM_OK && !calibration->settled && calibration->steps < STEPS_MAX) {
        calibration->steps++;
        if (calibration->progress != NULL) {
            fprintf(calibration->progress, "step %u: chi^2 %.4g after %llu runs\n",
                    calibration->steps, fit->chi2, (unsigned long long)calibration->runs);
        }
        double moved = 0;
        result = derive(fit, error);
        if (result == SIM_OK) {
            result = step(fit, &damping, &moved, error);
        }
        calibration->settled = moved < 1e-3;
    }
    // The errors need the derivatives at the final constants.
    return result == SIM_OK ? derive(fit, error) : result;
}

sim_err_t cli_calibration_fit(cli_calibration_t *calibration, world_error_t *error)
{
    fit_t fit;
    begin_fit(&fit, calibration);
    double *const values = sim_alloc_array(calibration->point_count + 1, sizeof(*values));
    sim_err_t result = run_all(calibration, fit.logs, true, values, fit.residuals, error);
    for (size_t i = 0; i < calibration->point_count && result == SIM_OK; i++) {
        calibration->points[i].before = values[i];
    }
    fit.chi2 = sum_of_squares(fit.residuals, fit.count);
    if (result == SIM_OK) {
        result = go_down(&fit, error);
    }
    if (result == SIM_OK) {
        result = run_all(calibration, fit.logs, true, values, NULL, error);
    }
    for (size_t i = 0; i < calibration->point_count && result == SIM_OK; i++) {
        calibration->points[i].result = values[i];
    }
    if (result == SIM_OK) {
        judge(&fit);
    }
    sim_free(values);
    end_fit(&fit);
    return result;
}

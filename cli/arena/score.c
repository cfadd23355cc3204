// SPDX-License-Identifier: Apache-2.0
// cli/arena/score.c - compares the controls with each other.
//
// In each cell and metric, every control meets every other: the better value wins a point, equal
// values give half of it. That is a rank, from 0 (the worst) to 1 (the best). A metric in which
// all controls are equal does not count. The score of a cell is the mean over its metrics, that of
// a control the mean over cells, in percent; it is computed seed by seed, which gives its interval.
#include "cli/arena/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cli_arena_control_t *cli_arena_add(cli_arena_t *arena, const char *name)
{
    SIM_GROW(arena->controls, arena->control_count, &arena->control_capacity);
    cli_arena_control_t *const control = &arena->controls[arena->control_count++];
    *control = (cli_arena_control_t){.name = sim_strdup(name)};
    control->scores = sim_alloc_array(arena->seed_count, sizeof(*control->scores));
    control->results = sim_alloc_array(arena->cell_count, sizeof(*control->results));
    for (size_t c = 0; c < arena->cell_count; c++) {
        cli_arena_result_t *const result = &control->results[c];
        const size_t count = CLI_ARENA_METRICS * arena->seed_count;
        result->values = sim_alloc_array(count, sizeof(*result->values));
        for (size_t i = 0; i < count; i++) {
            result->values[i] = (double)NAN;
        }
    }
    return control;
}

void cli_arena_fini(cli_arena_t *arena)
{
    for (size_t k = 0; k < arena->control_count; k++) {
        cli_arena_control_t *const control = &arena->controls[k];
        for (size_t c = 0; c < arena->cell_count; c++) {
            sim_free(control->results[c].values);
            sim_free(control->results[c].failure);
        }
        for (size_t i = 0; i < control->finding_count; i++) {
            sim_free(control->findings[i].text);
        }
        SIM_FREE_ALL(control->results, control->scores, control->name);
    }
    SIM_FREE_ALL(arena->controls, arena->cells, arena->seeds, arena->suite);
    json_decref(arena->plugins);
}

results_spread_t cli_arena_spread(const cli_arena_t *arena, const cli_arena_result_t *result,
                                  size_t metric)
{
    double *const values = sim_alloc_array(arena->seed_count, sizeof(*values));
    size_t count = 0;
    for (size_t s = 0; s < arena->seed_count; s++) {
        const double value = cli_arena_value(arena, result, metric, s);
        if (!isnan(value)) {
            values[count++] = value;
        }
    }
    const results_spread_t spread = results_spread(values, count);
    sim_free(values);
    return spread;
}

double cli_arena_mean(const cli_arena_t *arena, const cli_arena_control_t *control, size_t metric)
{
    const bool geometric = metric <= CLI_ARENA_LONG_P99;
    double sum = 0;
    size_t count = 0;
    for (size_t c = 0; c < arena->cell_count; c++) {
        const results_spread_t spread = cli_arena_spread(arena, &control->results[c], metric);
        if (spread.count > 0) {
            sum += geometric ? log(spread.mean) : spread.mean;
            count++;
        }
    }
    const double mean = count > 0 ? sum / (double)count : (double)NAN;
    return geometric ? exp(mean) : mean;
}

// Returns the points of a value against another: 2, 1 (equal) or 0. A run without a value loses.
static unsigned points(const cli_arena_metric_t *metric, double mine, double other)
{
    if (isnan(mine) || isnan(other)) {
        return isnan(mine) && isnan(other) ? 1 : isnan(mine) ? 0 : 2;
    }
    const double difference = metric->better * (mine - other);
    if (fabs(difference) <= fmax(metric->equal, 0.01 * fmax(fabs(mine), fabs(other)))) {
        return 1;
    }
    return difference > 0 ? 2 : 0;
}

// Returns a control's score in a cell and seed, 0 to 1; NAN if all controls are equal in all
// metrics.
static double cell_score(const cli_arena_t *arena, size_t control, size_t cell, size_t seed)
{
    double sum = 0;
    size_t count = 0;
    for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
        const cli_arena_metric_t *const metric = &cli_arena_metrics[m];
        unsigned mine = 0;
        bool differ = false;
        for (size_t a = 0; a < arena->control_count && metric->better != 0; a++) {
            for (size_t b = 0; b < arena->control_count; b++) {
                const unsigned point = points(
                    metric, cli_arena_value(arena, &arena->controls[a].results[cell], m, seed),
                    cli_arena_value(arena, &arena->controls[b].results[cell], m, seed));
                differ = differ || point != 1;
                mine += a == control && b != control ? point : 0;
            }
        }
        if (differ) {
            sum += mine / 2.0 / (double)(arena->control_count - 1);
            count++;
        }
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

size_t *cli_arena_order(const cli_arena_t *arena)
{
    size_t *const order = sim_alloc_array(arena->control_count, sizeof(*order));
    for (size_t i = 0; i < arena->control_count; i++) {
        order[i] = i;
        for (size_t at = i; at > 0; at--) {
            const cli_arena_control_t *const a = &arena->controls[order[at - 1]];
            const cli_arena_control_t *const b = &arena->controls[order[at]];
            const bool swap = b->score.mean > a->score.mean ||
                              (!(a->score.mean > b->score.mean) && strcmp(b->name, a->name) < 0);
            if (!swap) {
                break;
            }
            const size_t kept = order[at - 1];
            order[at - 1] = order[at];
            order[at] = kept;
        }
    }
    return order;
}

void cli_arena_score(cli_arena_t *arena)
{
    for (size_t k = 0; k < arena->control_count; k++) {
        cli_arena_control_t *const control = &arena->controls[k];
        for (size_t c = 0; c < arena->cell_count; c++) {
            control->results[c].score = 0;
        }
        for (size_t s = 0; s < arena->seed_count; s++) {
            double sum = 0;
            size_t count = 0;
            for (size_t c = 0; c < arena->cell_count; c++) {
                const double score =
                    arena->control_count > 1 ? cell_score(arena, k, c, s) : (double)NAN;
                control->results[c].score += 100 * score / (double)arena->seed_count;
                sum += isnan(score) ? 0 : score;
                count += isnan(score) ? 0 : 1;
            }
            control->scores[s] = count > 0 ? 100 * sum / (double)count : (double)NAN;
        }
        control->score = results_spread(control->scores, arena->seed_count);
    }
    size_t *const order = cli_arena_order(arena);
    for (size_t i = 0; i < arena->control_count; i++) {
        arena->controls[order[i]].place = i + 1;
    }
    sim_free(order);
}

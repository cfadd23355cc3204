// SPDX-License-Identifier: Apache-2.0
// cli/arena/tables.c - prints the results of the arena on the terminal and as a table for LaTeX.
#include "cli/arena/health.h"
#include "cli/arena/page.h"
#include "cli/arena/score.h"

#include <math.h>
#include <string.h>

// The metrics of the short tables; each is a mean over cells.
static const cli_arena_metric_id_t shown[] = {CLI_ARENA_SHORT_P99, CLI_ARENA_LONG_P50,
                                              CLI_ARENA_LONG_P99,  CLI_ARENA_FAIRNESS,
                                              CLI_ARENA_QUEUE,     CLI_ARENA_PAUSED};

// Returns a number with three digits, or what stands for none. Free it with sim_free.
static char *number_text(double value, const char *none)
{
    return isfinite(value) ? sim_format("%.3g", value) : sim_strdup(none);
}

// Returns "62.0 +- 1.5". Free it with sim_free.
static char *score_text(const cli_arena_control_t *control, const char *sign, const char *none)
{
    const results_spread_t *const score = &control->score;
    if (isnan(score->mean)) {
        return sim_strdup(none);
    }
    return isfinite(score->half) ? sim_format("%.1f%s%.1f", score->mean, sign, score->half)
                                 : sim_format("%.1f", score->mean);
}

static void print_head(const cli_arena_t *arena, FILE *out)
{
    fprintf(out, "%zu cell%s, %zu seed%s", arena->cell_count, sim_plural(arena->cell_count),
            arena->seed_count, sim_plural(arena->seed_count));
    if (arena->hidden != NULL) {
        fprintf(out, ", hidden seed %" PRIu64, *arena->hidden);
    }
    fprintf(out, "\n\n%2s  %-16s %12s", "", "control", "score");
    for (size_t i = 0; i < SIM_COUNT_OF(shown); i++) {
        fprintf(out, " %9s", cli_arena_metrics[shown[i]].head);
    }
    fprintf(out, "  health\n");
}

void cli_arena_print(const cli_arena_t *arena, FILE *out)
{
    size_t *const order = cli_arena_order(arena);
    print_head(arena, out);
    for (size_t i = 0; i < arena->control_count; i++) {
        const cli_arena_control_t *const control = &arena->controls[order[i]];
        char *const score = score_text(control, " +- ", "-");
        fprintf(out, "%2zu  %-16s %12s", control->place, control->name, score);
        sim_free(score);
        for (size_t m = 0; m < SIM_COUNT_OF(shown); m++) {
            char *const text = number_text(cli_arena_mean(arena, control, shown[m]), "-");
            fprintf(out, " %9s", text);
            sim_free(text);
        }
        fprintf(out, "  %s\n", cli_arena_state_name(control->state));
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < arena->control_count; i++) {
        const cli_arena_control_t *const control = &arena->controls[order[i]];
        char *const sentence = cli_arena_sentence(control);
        fprintf(out, "%s: %s\n", control->name, sentence);
        sim_free(sentence);
    }
    if (arena->control_count == 1) {
        fprintf(out, "There is no score of one control alone: --cc takes several names, and "
                     "--baseline adds those of an earlier arena.json.\n");
    }
    sim_free(order);
}

// Writes text with the characters escaped that LaTeX reads as its own.
static void put_tex(results_file_t *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("&%$#_{}", *text) != NULL) {
            results_file_put_char(file, '\\');
        }
        results_file_put_char(file, strchr("\\^~", *text) != NULL ? '-' : *text);
    }
}

void cli_arena_put_latex(results_file_t *file, const void *what)
{
    const cli_arena_t *const arena = what;
    size_t *const order = cli_arena_order(arena);
    results_file_print(file,
                       "%% rocesim arena, version %s: %zu cells, %zu seeds. Needs booktabs.\n"
                       "\\begin{tabular}{rlr",
                       ROCESIM_VERSION, arena->cell_count, arena->seed_count);
    for (size_t i = 0; i < SIM_COUNT_OF(shown); i++) {
        results_file_put(file, "r");
    }
    results_file_put(file, "l}\n\\toprule\n & control & score");
    for (size_t i = 0; i < SIM_COUNT_OF(shown); i++) {
        const cli_arena_metric_t *const metric = &cli_arena_metrics[shown[i]];
        results_file_print(file, " & %s%s%s%s", metric->head, metric->unit[0] != '\0' ? " (" : "",
                           metric->unit, metric->unit[0] != '\0' ? ")" : "");
    }
    results_file_put(file, " & health \\\\\n\\midrule\n");
    for (size_t i = 0; i < arena->control_count; i++) {
        const cli_arena_control_t *const control = &arena->controls[order[i]];
        char *const score = score_text(control, " $\\pm$ ", "--");
        results_file_print(file, "%zu & ", control->place);
        put_tex(file, control->name);
        results_file_print(file, " & %s", score);
        sim_free(score);
        for (size_t m = 0; m < SIM_COUNT_OF(shown); m++) {
            char *const text = number_text(cli_arena_mean(arena, control, shown[m]), "--");
            results_file_print(file, " & %s", text);
            sim_free(text);
        }
        results_file_print(file, " & %s \\\\\n", cli_arena_state_name(control->state));
    }
    results_file_put(file, "\\bottomrule\n\\end{tabular}\n");
    sim_free(order);
}

// SPDX-License-Identifier: Apache-2.0
// cli/arena/page.c - writes arena.html: one file without scripts, with charts as SVG.
#include "cli/arena/page.h"
#include "cli/arena/health.h"
#include "cli/arena/score.h"

#include <math.h>

#define BAR_WIDTH 300.0 // of a score of 100, in pixels

static const char style[] =
    "<style>\n"
    "body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; color: #222; }\n"
    "table { border-collapse: collapse; margin: 1em 0; }\n"
    "th, td { padding: 0.15em 0.6em; text-align: right; vertical-align: top; }\n"
    "th { border-bottom: 1px solid #888; }\n"
    "td.text, th.text { text-align: left; }\n"
    "td.sound { color: #00703c; } td.notable { color: #996300; } td.alarm { color: #b00020; }\n"
    "td.best { font-weight: bold; }\n"
    "summary { cursor: pointer; } details { margin: 0.3em 0; }\n"
    ".heat td { font-size: 13px; }\n"
    "</style>\n";

static void put_escaped(results_file_t *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            results_file_put(file, "&amp;");
            break;
        case '<':
            results_file_put(file, "&lt;");
            break;
        case '"':
            results_file_put(file, "&quot;");
            break;
        default:
            results_file_put_char(file, *text);
        }
    }
}

// Draws a score as a bar with its interval.
static void put_bar(results_file_t *file, const results_spread_t *score)
{
    results_file_print(file, "<svg width=\"%.0f\" height=\"16\" role=\"img\">", BAR_WIDTH);
    if (!isnan(score->mean)) {
        results_file_print(file, "<rect y=\"2\" width=\"%.1f\" height=\"12\" fill=\"#0072B2\"/>",
                           BAR_WIDTH * score->mean / 100);
        if (isfinite(score->half)) {
            results_file_print(file,
                               "<path d=\"M%.1f 8H%.1f\" stroke=\"#222\" stroke-width=\"3\"/>",
                               BAR_WIDTH * fmax(score->mean - score->half, 0) / 100,
                               BAR_WIDTH * fmin(score->mean + score->half, 100) / 100);
        }
    }
    results_file_put(file, "</svg>");
}

static void put_number(results_file_t *file, double value)
{
    if (isfinite(value)) {
        results_file_print(file, "%.3g", value);
    } else {
        results_file_put(file, "–");
    }
}

static void put_ranking(results_file_t *file, const cli_arena_t *arena, const size_t *order)
{
    results_file_put(file, "<h2>Ranking</h2>\n<table>\n<tr><th></th><th class=\"text\">control</th>"
                           "<th>score</th><th class=\"text\">95 % interval</th>"
                           "<th class=\"text\">health</th><th class=\"text\"></th></tr>\n");
    for (size_t i = 0; i < arena->control_count; i++) {
        const cli_arena_control_t *const control = &arena->controls[order[i]];
        const char *const state = cli_arena_state_name(control->state);
        char *const sentence = cli_arena_sentence(control);
        results_file_print(file, "<tr><td>%zu</td><td class=\"text\">", control->place);
        put_escaped(file, control->name);
        results_file_put(file, "</td><td>");
        put_number(file, control->score.mean);
        results_file_put(file, "</td><td class=\"text\">");
        put_bar(file, &control->score);
        results_file_print(file, "</td><td class=\"text %s\">%s</td><td class=\"text\">", state,
                           state);
        put_escaped(file, sentence);
        results_file_put(file, "</td></tr>\n");
        sim_free(sentence);
    }
    results_file_put(file, "</table>\n");
}

static void put_names(results_file_t *file, const cli_arena_t *arena, const size_t *order)
{
    for (size_t i = 0; i < arena->control_count; i++) {
        results_file_put(file, "<th>");
        put_escaped(file, arena->controls[order[i]].name);
        results_file_put(file, "</th>");
    }
    results_file_put(file, "</tr>\n");
}

// Draws the scores of all cells, in colours from red (0) through white to blue (100).
static void put_heat(results_file_t *file, const cli_arena_t *arena, const size_t *order)
{
    results_file_put(file, "<h2>Scores by cell</h2>\n<p>100: better than all others in every "
                           "metric; 0: worse than all.</p>\n<table class=\"heat\">\n"
                           "<tr><th class=\"text\">cell</th><th class=\"text\"></th>");
    put_names(file, arena, order);
    for (size_t c = 0; c < arena->cell_count; c++) {
        results_file_print(file,
                           "<tr><td class=\"text\"><a href=\"#%s\">%s</a></td>"
                           "<td class=\"text\">%s</td>",
                           arena->cells[c]->name, arena->cells[c]->name, arena->cells[c]->about);
        for (size_t i = 0; i < arena->control_count; i++) {
            const double score = arena->controls[order[i]].results[c].score;
            if (isnan(score)) {
                results_file_put(file, "<td>–</td>");
                continue;
            }
            const unsigned fade = (unsigned)(255 - 2 * fabs(score - 50) * 1.6);
            results_file_print(file, "<td style=\"background: rgb(%u, %u, %u)\">%.0f</td>",
                               score < 50 ? 255 : fade, fade, score < 50 ? fade : 255, score);
        }
        results_file_put(file, "</tr>\n");
    }
    results_file_put(file, "</table>\n");
}

// Returns the best mean of a metric in a cell; NAN if no value is better than the others.
static double best_of(const cli_arena_t *arena, size_t cell, size_t metric)
{
    double best = (double)NAN;
    for (size_t k = 0; k < arena->control_count; k++) {
        const results_spread_t spread =
            cli_arena_spread(arena, &arena->controls[k].results[cell], metric);
        const int better = cli_arena_metrics[metric].better;
        if (spread.count > 0 && better != 0 &&
            (isnan(best) || better * spread.mean > better * best)) {
            best = spread.mean;
        }
    }
    return best;
}

static void put_metric(results_file_t *file, const cli_arena_t *arena, const size_t *order,
                       size_t cell, size_t metric)
{
    const cli_arena_metric_t *const about = &cli_arena_metrics[metric];
    const double best = best_of(arena, cell, metric);
    results_file_put(file, "<tr><td class=\"text\" title=\"");
    put_escaped(file, about->help);
    results_file_print(file, "\">%s%s%s</td>", about->head, about->unit[0] != '\0' ? ", " : "",
                       about->unit);
    for (size_t i = 0; i < arena->control_count; i++) {
        const results_spread_t spread =
            cli_arena_spread(arena, &arena->controls[order[i]].results[cell], metric);
        const bool is_best = spread.count > 0 && fabs(spread.mean - best) <= 0.01 * fabs(best);
        results_file_print(file, "<td%s>", is_best ? " class=\"best\"" : "");
        put_number(file, spread.count > 0 ? spread.mean : (double)NAN);
        if (spread.count > 1) {
            results_file_put(file, " ± ");
            put_number(file, spread.half);
        }
        results_file_put(file, "</td>");
    }
    results_file_put(file, "</tr>\n");
}

static void put_cell(results_file_t *file, const cli_arena_t *arena, const size_t *order,
                     size_t cell)
{
    const cli_arena_cell_t *const about = arena->cells[cell];
    results_file_print(file, "<details id=\"%s\"><summary>%s: %s</summary>\n<p>", about->name,
                       about->name, about->about);
    for (size_t i = 0; about->parameters[i].name != NULL; i++) {
        results_file_print(file, "%s%s %u%s", i > 0 ? ", " : "", about->parameters[i].name,
                           cli_arena_parameter_value(about, i, arena->hidden),
                           about->parameters[i].unit);
    }
    results_file_put(file, "</p>\n<table><tr><th></th>");
    put_names(file, arena, order);
    for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
        bool there = false;
        for (size_t k = 0; k < arena->control_count; k++) {
            there =
                there || cli_arena_spread(arena, &arena->controls[k].results[cell], m).count > 0;
        }
        if (there) {
            put_metric(file, arena, order, cell, m);
        }
    }
    results_file_put(file, "</table></details>\n");
}

void cli_arena_put_page(results_file_t *file, const void *what)
{
    const cli_arena_t *const arena = what;
    size_t *const order = cli_arena_order(arena);
    results_file_print(file,
                       "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
                       "<title>Congestion controls in the arena</title>\n%s</head>\n<body>\n"
                       "<h1>Congestion controls in the arena</h1>\n"
                       "<p>rocesim %s, %zu cells, %zu seed%s each",
                       style, ROCESIM_VERSION, arena->cell_count, arena->seed_count,
                       sim_plural(arena->seed_count));
    if (arena->hidden != NULL) {
        results_file_print(file, ", drawn from the hidden seed %" PRIu64, *arena->hidden);
    }
    results_file_put(file, ".</p>\n");
    put_ranking(file, arena, order);
    put_heat(file, arena, order);
    results_file_put(file, "<h2>Cells</h2>\n<p>Means over seeds with 95 % intervals. The best "
                           "values are bold.</p>\n");
    for (size_t c = 0; c < arena->cell_count; c++) {
        put_cell(file, arena, order, c);
    }
    results_file_put(file, "</body>\n</html>\n");
    sim_free(order);
}

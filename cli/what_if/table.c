// SPDX-License-Identifier: Apache-2.0
// cli/what_if/table.c - prints what came of the changes: for people, as JSON, as CSV.
#include "cli/what_if/effects.h"

#include "kernel/buffer.h"
#include "results/file.h"
#include "world/format.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_MAX 5u // of each kind of changes, in the table for people

// Returns what breaks in words, the worst first. Free it with sim_free.
static char *words_of(unsigned breaks, const char *between)
{
    static const char *const words[CLI_BREAK_KINDS] = {
        "slow",    "pauses",   "drops",         "victims", "lossless drops", "unfinished flows",
        "stalled", "deadlock", "cannot be run",
    };
    char *text = sim_strdup("");
    for (size_t i = CLI_BREAK_KINDS; i-- > 0;) {
        if ((breaks >> i & 1u) != 0) {
            char *const longer =
                sim_format("%s%s%s", text, text[0] != '\0' ? between : "", words[i]);
            sim_free(text);
            text = longer;
        }
    }
    return text;
}

static double ratio_of(const cli_what_if_t *what_if, const cli_effect_t *effect)
{
    return what_if->base.worst_us > 0 ? effect->worst_us / what_if->base.worst_us : 0;
}

// -- for people

static void print_figures(const cli_effect_t *effect, FILE *out)
{
    world_text_t paused;
    world_text_t worst;
    fprintf(out, "%-8s %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10s %8" PRIu64 " %10s",
            effect->ended, effect->unfinished, effect->drops, effect->pauses,
            world_format_time(&paused, effect->paused_ps), effect->victims,
            effect->worst_us > 0
                ? world_format_time(&worst, (sim_time_t)(effect->worst_us * SIM_PS_PER_US))
                : "-");
}

// Prints a dash where a run has no completion time.
static void print_ratio(double ratio, FILE *out)
{
    if (ratio > 0) {
        fprintf(out, " %5.2f", ratio);
    } else {
        fprintf(out, " %5s", "-");
    }
}

static void print_row(const cli_what_if_t *what_if, const cli_what_if_row_t *row, FILE *out)
{
    char *const words = words_of(row->effect.breaks, ", ");
    fprintf(out, "%-38s ", row->change->text);
    if (row->effect.failure != NULL) {
        fprintf(out, "%s: %s\n", words, row->effect.failure);
    } else {
        print_figures(&row->effect, out);
        print_ratio(ratio_of(what_if, &row->effect), out);
        fprintf(out, "  %s%s%s\n", words, row->effect.cause != NULL ? "; " : "",
                row->effect.cause != NULL ? row->effect.cause : "");
    }
    fprintf(out, "    %s\n", row->command);
    sim_free(words);
}

// Prints how many changes of each kind there are, and how many of them break something.
static void print_kinds(const cli_what_if_t *what_if, FILE *out)
{
    for (size_t k = 0; k < CLI_CHANGE_KINDS; k++) {
        size_t count = 0;
        size_t broken = 0;
        for (size_t i = 0; i < what_if->row_count; i++) {
            const bool same = what_if->rows[i].change->kind == 1u << k;
            count += same;
            broken += same && what_if->rows[i].effect.breaks != 0;
        }
        if (count > 0) {
            fprintf(out, "  %-10s %zu of %zu break something\n", cli_change_kind_name(k), broken,
                    count);
        }
    }
}

void cli_what_if_print(const cli_what_if_t *what_if, FILE *out)
{
    world_text_t at;
    size_t broken = 0;
    for (size_t i = 0; i < what_if->row_count; i++) {
        broken += what_if->rows[i].effect.breaks != 0;
    }
    fprintf(out, "%s: %zu change%s, %zu break%s something; parts fail at %s\n", what_if->scenario,
            what_if->row_count, sim_plural(what_if->row_count), broken, broken == 1 ? "s" : "",
            world_format_time(&at, what_if->at_ps));
    print_kinds(what_if, out);
    fprintf(out, "\n%-38s %-8s %10s %8s %8s %10s %8s %10s %5s  %s\n", "change", "ended",
            "unfinished", "drops", "pauses", "stopped", "victims", "worst FCT", "times",
            "breaks; cause");
    fprintf(out, "%-38s ", "without changes");
    print_figures(&what_if->base, out);
    print_ratio(ratio_of(what_if, &what_if->base), out);
    fprintf(out, "  %s\n", what_if->base.cause != NULL ? what_if->base.cause : "");
    size_t shown = 0;
    size_t of_kind[CLI_CHANGE_KINDS] = {0};
    for (size_t i = 0; i < broken; i++) {
        const unsigned kind = (unsigned)what_if->rows[i].change->kind;
        if (of_kind[__builtin_ctz(kind)]++ < ROWS_MAX) {
            print_row(what_if, &what_if->rows[i], out);
            shown++;
        }
    }
    if (broken > shown) {
        fprintf(out,
                "%zu more changes break something; --json prints all, -o DIR writes all to "
                "DIR/what-if.csv\n",
                broken - shown);
    }
}

// -- for programs

static const char *kind_of(const cli_change_t *change)
{
    return cli_change_kind_name((size_t)__builtin_ctz((unsigned)change->kind));
}

json_t *cli_what_if_json(const cli_what_if_t *what_if)
{
    json_t *const rows = json_array();
    for (size_t i = 0; i < what_if->row_count; i++) {
        const cli_what_if_row_t *const row = &what_if->rows[i];
        json_t *const settings = json_array();
        json_t *const breaks = json_array();
        for (char **setting = row->change->settings; *setting != NULL; setting++) {
            json_array_append_new(settings, json_string(*setting));
        }
        for (size_t b = CLI_BREAK_KINDS; b-- > 0;) {
            if ((row->effect.breaks >> b & 1u) != 0) {
                char *const word = words_of(1u << b, "");
                json_array_append_new(breaks, json_string(word));
                sim_free(word);
            }
        }
        json_t *const json = cli_effect_json(&row->effect);
        json_object_set_new(json, "kind", json_string(kind_of(row->change)));
        json_object_set_new(json, "change", json_string(row->change->text));
        json_object_set_new(json, "set", settings);
        json_object_set_new(json, "breaks", breaks);
        json_object_set_new(json, "command", json_string(row->command));
        json_array_append_new(rows, json);
    }
    return json_pack("{s:s, s:I, s:o, s:o}", "scenario", what_if->scenario, "at_ps",
                     (json_int_t)what_if->at_ps, "base", cli_effect_json(&what_if->base), "changes",
                     rows);
}

static void put_row(const cli_what_if_t *what_if, const cli_what_if_row_t *row,
                    results_file_t *file)
{
    const cli_effect_t *const effect = &row->effect;
    char *const words = words_of(effect->breaks, " ");
    results_file_put(file, kind_of(row->change));
    results_file_put(file, ",");
    results_file_put_csv(file, row->change->text);
    results_file_print(file, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                       effect->ended != NULL ? effect->ended : "", effect->unfinished,
                       effect->drops, effect->lossless_drops, effect->pauses);
    results_file_put_ns(file, effect->paused_ps);
    results_file_print(file, ",%" PRIu64 ",%.3f,%.4f,", effect->victims, effect->worst_us,
                       ratio_of(what_if, effect));
    results_file_put_csv(file, words);
    results_file_put(file, ",");
    results_file_put_csv(file, effect->cause != NULL ? effect->cause : "");
    results_file_put(file, ",");
    results_file_put_csv(file, effect->failure != NULL ? effect->failure : "");
    results_file_put(file, ",");
    results_file_put_csv(file, row->command);
    results_file_put(file, "\n");
    sim_free(words);
}

void cli_what_if_put_csv(results_file_t *file, const void *what_if)
{
    const cli_what_if_t *const table = what_if;
    results_file_put(file, "kind,change,ended,unfinished,drops,lossless_drops,pauses,paused_ns,"
                           "victims,worst_fct_us,worst_fct_ratio,breaks,cause,failure,command\n");
    for (size_t i = 0; i < table->row_count; i++) {
        put_row(table, &table->rows[i], file);
    }
}

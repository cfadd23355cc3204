// SPDX-License-Identifier: Apache-2.0
// cli/arena/health.c - finds what is wrong with a control, whatever its score is.
//
// A score only says that another control is better. A rule here looks at one number of a cell and
// says from which value on a user would not want the control in a network. docs/arena.md lists the
// rules with their reasons.
#include "cli/arena/health.h"
#include "cli/arena/score.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct rule {
    const char *kind;
    cli_arena_metric_id_t metric;
    bool low; // small values are bad
    double notable;
    double alarm;      // NAN: never
    const char *words; // "in %zu cells ..." with the worst cell and its value behind it
    double factor;     // the value as shown
    const char *unit;
} rule_t;

// clang-format off
static const rule_t rules[] = {
    {"runaway", CLI_ARENA_LATE_PAUSED, false, 0.05, 0.4,
     "flows without end do not slow down, so that PFC stops their senders to the end", 100,
     " % of the time"},
    {"runaway", CLI_ARENA_LATE_LOSSES, false, 0.002, 0.01,
     "flows without end do not slow down, so that switches drop frames to the end", 100, " %"},
    {"runaway", CLI_ARENA_STANDING, false, 0.9, 1.25,
     "flows without end do not slow down, so that a queue stands to the end", 1, " round trips"},
    {"asks-too-much", CLI_ARENA_ASKED, false, 1.001, 1.1,
     "a queue pair asks for more than its link has", 1, " times the line rate"},
    {"starvation", CLI_ARENA_STARVED, true, 0.1, 0.01,
     "a flow without end gets far less than its share", 100, " % of the mean rate"},
    {"idle", CLI_ARENA_USED, true, 0.2, 0.02, "flows without end leave their link idle", 100,
     " % used"},
    {"unended", CLI_ARENA_UNENDED, false, 1e-9, 0.01, "flows do not end", 100, " %"},
    {"losses", CLI_ARENA_LOSSES, false, 0.4, 0.7, "switches drop frames", 100, " %"},
    {"pauses", CLI_ARENA_PAUSED, false, 2, (double)NAN, "PFC stops ports", 1,
     " ports at a time"},
    {"queue", CLI_ARENA_QUEUE, false, 8000, (double)NAN, "queues stay long", 0.001, " MB"},
};
// clang-format on

const char *cli_arena_state_name(cli_arena_state_t state)
{
    static const char *const names[] = {"sound", "notable", "alarm"};
    return names[state];
}

// Returns how bad a value is.
static cli_arena_state_t judge(const rule_t *rule, double value)
{
    const double sign = rule->low ? -1 : 1;
    if (isnan(value) || sign * value < sign * rule->notable) {
        return CLI_ARENA_SOUND;
    }
    return sign * value >= sign * rule->alarm ? CLI_ARENA_ALARM : CLI_ARENA_NOTABLE;
}

static void add_finding(cli_arena_control_t *control, cli_arena_finding_t finding)
{
    SIM_CHECK(control->finding_count < CLI_ARENA_FINDINGS_MAX);
    control->findings[control->finding_count++] = finding;
    control->state = finding.state > control->state ? finding.state : control->state;
}

// Applies a rule to the means over seeds in all cells.
static void apply(const cli_arena_t *arena, cli_arena_control_t *control, const rule_t *rule)
{
    cli_arena_finding_t finding = {.kind = rule->kind};
    for (size_t c = 0; c < arena->cell_count; c++) {
        const results_spread_t spread = cli_arena_spread(arena, &control->results[c], rule->metric);
        const double value = spread.count > 0 ? spread.mean : (double)NAN;
        const cli_arena_state_t state = judge(rule, value);
        if (state == CLI_ARENA_SOUND) {
            continue;
        }
        if (finding.count++ == 0 || (rule->low ? value < finding.value : value > finding.value)) {
            finding.worst = c;
            finding.value = value;
        }
        finding.state = state > finding.state ? state : finding.state;
    }
    if (finding.count > 0) {
        finding.text = sim_format("%s in %zu cell%s (%s: %.3g%s)", rule->words, finding.count,
                                  sim_plural(finding.count), arena->cells[finding.worst]->name,
                                  finding.value * rule->factor, rule->unit);
        add_finding(control, finding);
    }
}

static void find_failures(const cli_arena_t *arena, cli_arena_control_t *control)
{
    cli_arena_finding_t finding = {.kind = "failed", .state = CLI_ARENA_ALARM};
    for (size_t c = arena->cell_count; c-- > 0;) {
        if (control->results[c].failure != NULL) {
            finding.count++;
            finding.worst = c;
            finding.value = (double)finding.count;
        }
    }
    if (finding.count > 0) {
        finding.text =
            sim_format("runs fail in %zu cell%s (%s: %s)", finding.count, sim_plural(finding.count),
                       arena->cells[finding.worst]->name, control->results[finding.worst].failure);
        add_finding(control, finding);
    }
}

void cli_arena_examine(cli_arena_t *arena)
{
    for (size_t k = 0; k < arena->control_count; k++) {
        cli_arena_control_t *const control = &arena->controls[k];
        find_failures(arena, control);
        for (size_t i = 0; i < SIM_COUNT_OF(rules); i++) {
            apply(arena, control, &rules[i]);
        }
    }
}

char *cli_arena_sentence(const cli_arena_control_t *control)
{
    char *buffer = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&buffer, &length);
    SIM_CHECK(out != NULL);
    size_t shown = 0;
    for (size_t i = 0; i < control->finding_count; i++) {
        if (control->findings[i].state == control->state) {
            fprintf(out, "%s%s", shown++ > 0 ? "; " : "", control->findings[i].text);
        }
    }
    fputs(shown > 0 ? "." : "Nothing is wrong in any cell.", out);
    (void)fclose(out);
    char *const text = sim_strdup(buffer);
    free(buffer);
    return text;
}

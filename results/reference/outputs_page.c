// SPDX-License-Identifier: Apache-2.0
// results/reference/outputs_page.c - docs/formats/outputs.md, from the tables that write the files.
#include "results/outputs_page.h"
#include "nic/reports.h"
#include "nic/transport.h"
#include "results/report/part.h"
#include "results/schema.h"
#include "results/summary.h"
#include "results/tables/tables.h"
#include "world/scenario.h"
#include "world/series.h"

#include <string.h>

static void print_table(const results_table_t *table, FILE *out)
{
    fprintf(out, "\n## %s\n\n%s\n\n", table->file_name, table->help);
    fputs("| column | unit | meaning |\n|---|---|---|\n", out);
    for (results_file_column_t at = {0}; results_table_next(table, &at);) {
        if (at.priority > 0) {
            continue;
        }
        char *const name = results_file_column_name(&at, "N");
        char *const help =
            sim_format("%s%s", at.help, at.column->per_class ? "; class N = 0 to 7 alone" : "");
        results_markdown_row(name, at.unit, help, out);
        sim_free(name);
        sim_free(help);
    }
}

static bool has_metric(const nic_cc_ops_t *ops, const char *name)
{
    const char *const *names = ops->metric_names;
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return names != NULL && *names != NULL;
}

// Adds a name to a list for people. Takes the list and returns the new one; free with sim_free.
static char *add_who(char *who, const char *name)
{
    char *const more = sim_format("%s%s%s", who, *who == '\0' ? "" : ", ", name);
    sim_free(who);
    return more;
}

// Prints each metric of a congestion control once, with the algorithms that have it.
static void print_algorithm_metrics(FILE *out)
{
    const char *names[128];
    world_registry_t *const registry = world_registry_create();
    const size_t count = world_cc_metric_names(registry, names, SIM_COUNT_OF(names));
    const nic_cc_ops_t *const *const ccs = world_registry_ccs(registry);
    for (size_t i = 0; i < count; i++) {
        char *who = sim_strdup("");
        for (size_t a = 0; ccs[a] != NULL; a++) {
            if (has_metric(ccs[a], names[i])) {
                who = add_who(who, ccs[a]->name);
            }
        }
        for (size_t t = 0; nic_transport_all[t] != NULL; t++) {
            const nic_cc_ops_t *const cc = nic_transport_all[t]->cc;
            if (cc != NULL && has_metric(cc, names[i])) {
                who = add_who(who, nic_transport_all[t]->name);
            }
        }
        char *const name = sim_format("qp[HOST:NUMBER].%s", names[i]);
        char *const help =
            sim_format("state of %s; its page in docs/models/ says what the value means", who);
        results_markdown_row(name, "", help, out);
        SIM_FREE_ALL(name, help, who);
    }
    world_registry_destroy(registry);
}

static void print_metrics(FILE *out)
{
    fputs("\n### Metrics of series\n\n"
          "Queue pairs that only answer their peer report nothing but the state; the others "
          "begin with their "
          "first work request,\nor the first READ or atomic to answer.\n\n"
          "| path | unit | meaning |\n|---|---|---|\n",
          out);
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        char *const name = sim_format("port[A->B].%s%s", m->name, m->per_priority ? "[N]" : "");
        char *const help =
            sim_format("%s%s", m->help, m->per_priority ? "; without [N]: all classes" : "");
        results_markdown_row(name, m->unit, help, out);
        sim_free(name);
        sim_free(help);
    }
    for (const world_switch_metric_t *m = world_switch_metrics; m->name != NULL; m++) {
        char *const name = sim_format("switch[NAME].%s", m->name);
        results_markdown_row(name, m->unit, m->help, out);
        sim_free(name);
    }
    for (const world_switch_metric_t *m = world_node_metrics; m->name != NULL; m++) {
        char *const name = sim_format("node[NAME].%s", m->name);
        results_markdown_row(name, m->unit, m->help, out);
        sim_free(name);
    }
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        char *const name = sim_format("nic[HOST].%s", info->name);
        results_markdown_row(name, "", info->help, out);
        sim_free(name);
    }
    for (const nic_cache_metric_t *m = nic_cache_metrics; m->name != NULL; m++) {
        char *const name = sim_format("nic[HOST].%s", m->name);
        results_markdown_row(name, m->unit, m->help, out);
        sim_free(name);
    }
    for (const nic_transport_metric_t *m = nic_transport_metrics; m->name != NULL; m++) {
        char *const name = sim_format("nic[HOST].%s", m->name);
        results_markdown_row(name, m->unit, m->help, out);
        sim_free(name);
    }
    for (const nic_qp_metric_t *m = nic_qp_metrics; m->name != NULL; m++) {
        char *const name = sim_format("qp[HOST:NUMBER].%s", m->name);
        results_markdown_row(name, m->unit, m->help, out);
        sim_free(name);
    }
    print_algorithm_metrics(out);
}

static void print_summary_fields(FILE *out)
{
    fputs(
        "\n## summary.json\n\n"
        "One object. Fields whose names begin with `wall_` depend on the machine and the moment; "
        "all others are a\nfunction of the scenario and the version of the program, on any number "
        "of threads.\n\n"
        "| field | unit | meaning |\n|---|---|---|\n",
        out);
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != RESULTS_FIELD_INSIDE) {
            results_markdown_row(fields[i].path, fields[i].unit, fields[i].help, out);
        }
    }
    sim_free(fields);
}

// Prints the values that each kind of application reports; kinds with equal values share a table.
static void print_apps(FILE *out)
{
    for (const app_ops_t *const *ops = app_all; *ops != NULL; ops++) {
        const sim_report_table_t *const report = (*ops)->report;
        const app_ops_t *const *first = app_all;
        while (report != NULL &&
               ((*first)->report == NULL || (*first)->report->rows != report->rows)) {
            first++;
        }
        if (report == NULL || first != ops) {
            continue;
        }
        fprintf(out, "\n### apps[i] of kind %s", (*ops)->name);
        for (const app_ops_t *const *other = ops + 1; *other != NULL; other++) {
            if ((*other)->report != NULL && (*other)->report->rows == report->rows) {
                fprintf(out, ", %s", (*other)->name);
            }
        }
        fputs("\n\n| field | unit | meaning |\n|---|---|---|\n", out);
        results_part_markdown(report, "", out);
    }
}

static void print_nics(FILE *out)
{
    fputs("\n### nics[i] with nic.model detailed\n\n| field | unit | meaning |\n|---|---|---|\n",
          out);
    for (const nic_counter_info_t *info = nic_rnic_counter_infos; info->name != NULL; info++) {
        results_markdown_row(info->name, info->unit, info->help, out);
    }
    for (const nic_report_info_t *info = nic_report_infos; info->name != NULL; info++) {
        fprintf(out, "\n### nics[i].%s\n\n%s\n\n| field | unit | meaning |\n|---|---|---|\n",
                info->name, info->help);
        results_part_markdown(info->table, "", out);
    }
}

static void print_distribution(FILE *out)
{
    fputs("\n### Distributions\n\n| field | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < sim_report_percentiles.count; i++) {
        const sim_report_row_t *const row = &sim_report_percentiles.rows[i];
        fprintf(out, "| `%s` | %s |\n", row->name, row->help);
    }
}

void results_outputs_markdown(FILE *out)
{
    fputs(
        "# What a run leaves behind\n\n"
        "`rocesim run x.yaml -o DIR` writes these files; this page is made by `rocesim params "
        "--outputs-markdown` from\nthe tables that write them. DIR is made if it does not exist; "
        "it must be empty or hold the results of an earlier\nrun, known by a `summary.json` with "
        "`version` and `digest`. That run's files are replaced, with the captures its\n"
        "`scenario.yaml` names, and no other file is touched. A DIR that holds the scenario to be "
        "run is refused.\n\n"
        "While it runs, a run writes into `DIR/.unfinished`; its files take their places when all "
        "of them are whole, and\n`.unfinished` goes. A run that is killed leaves earlier results "
        "as they were and its own part there; the next run\nwith that DIR clears it. Each file "
        "that could not be written whole is named, the exit status is 1, and what there\nis stays "
        "in `.unfinished`. What is a device, a pipe or a symbolic link in DIR is written through "
        "at once.\nOne run at a time writes into DIR: a second one is refused with status 2, "
        "also while a sweep runs there. The lock\ndies with its process.\n\n"
        "- `scenario.yaml`: the scenario with every default filled in; running it gives the same "
        "digest. `threads` is left\n  out, which is no part of a result. Where traffic reads "
        "files, `folder` says where they were found.\n"
        "- `summary.json`, `flows.csv`, `apps.csv`, `ports.csv`, `nics.csv`, `events.csv`, "
        "`pauses.csv`, `series.csv`: below.\n"
        "- `manifest.json`: version, scenario, seed, digest, how and when it ended, and the files "
        "of the folder with their sizes.\n"
        "- `topology.json`: nodes with their ports, interfaces, and links with rate and delay, by "
        "the names of the other files.\n"
        "- `schema.json`: every parameter, column, metric and field with its type, unit and "
        "meaning, for "
        "programs (`rocesim schema`).\n"
        "- `captures/`: what `captures` asks for, as pcap with nanosecond stamps, compressed where "
        "the name ends in .gz; with\n  `hosts` and `ethers`, the names behind their IP and MAC "
        "addresses (captures.md).\n\n"
        "CSV files follow RFC 4180: a header row, commas, quotes where a name needs them, lines "
        "that end in LF. Times in\nnanoseconds have up to three decimals, which makes them exact. "
        "Everything but `wall_*` is byte-identical between runs.\n\n"
        "Exit status of `run`: 0 done or the time limit reached; 1 stalled, interrupted by Ctrl-C "
        "(the results so far are\nwritten), an invariant broke, or a file could not be written; 2 "
        "bad input or usage, a folder for -o that\ncannot be made or written into, and nothing was "
        "written.\nA program that ended with an error (perftest), or none of whose requests "
        "succeeded "
        "(mooncake-bench, HERD, serving and\nothers), is named and makes the status 1; the "
        "results are written.\nFlows that fail (their path is down for "
        "good, say) are a result and no failure of the run: the status stays 0,\n`flows.failed` "
        "and the summary on the terminal count them, and `status` in flows.csv says why.\n",
        out);
    print_summary_fields(out);
    print_apps(out);
    print_nics(out);
    print_distribution(out);
    for (size_t i = 0; results_tables[i] != NULL; i++) {
        print_table(results_tables[i], out);
    }
    print_metrics(out);
}

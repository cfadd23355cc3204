// SPDX-License-Identifier: Apache-2.0
// examples/own_program.c - a program on librocesim_results with its own congestion control,
// "backoff". Scenarios choose it and set its attribute; the program prints a percentile.
//     own_program [SCENARIO.yaml [PATH=VALUE]...]      e.g. x.yaml nic.backoff.factor=0.9
#include "results/runner.h"

#include <stdio.h>
#include <string.h>

// clang-format off
typedef struct backoff_config { sim_ratio_t factor; } backoff_config_t;
static const sim_attr_t attrs[] = {
    SIM_ATTR("nic.backoff.factor", RATIO, backoff_config_t, factor,
             .default_text = "0.5", .min_text = "0.1", .max_text = "1",
             .help = "share of the rate that is left after a CNP")};
static const sim_attr_table_t table = {"nic.backoff", "node", sizeof(backoff_config_t), attrs, 1};
// clang-format on

static void cut(nic_cc_t *cc) // lowers the rate, towards 1 % of the line rate
{
    const sim_ratio_t factor = ((const backoff_config_t *)cc->config)->factor;
    cc->rate_bps = cc->rate_bps / factor.den * factor.num;
    cc->rate_bps += cc->rate_bps < cc->line_bps / 100 ? cc->line_bps / 100 : 0;
    nic_cc_rate_changed(cc);
}

static void begin(nic_cc_t *cc) // restarts each message at the line rate
{
    cc->rate_bps = cc->line_bps;
}

static const nic_cc_ops_t ops = {"backoff", sizeof(nic_cc_t), &table, .start = begin, .cnp = cut};
static const char text[] = "topology: {star: {hosts: 8}}\n"
                           "nic: {congestion-control: backoff, backoff: {factor: 0.7}}\n"
                           "traffic: [incast: {senders: 7, bytes: 1MB, to: host0}]\n";

int main(int argc, char **argv)
{
    world_override_t set[16];
    size_t n = 0;
    for (int i = 2; i < argc && n < 16; i++) {
        set[n++] = (world_override_t){.shown = argv[i], .text = argv[i]};
    }
    world_error_t error = {.text = ""};
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    double p99 = 0;
    const bool told =
        world_registry_add_cc(registry, &ops, &error) == SIM_OK &&
        (argc > 1
             ? world_scenario_load(registry, argv[1], set, n, &scenario, &error)
             : world_scenario_parse(registry, "", text, strlen(text), &scenario, &error)) == 0 &&
        results_execute(scenario, &(results_options_t){.folder = NULL}, &run, &error) == SIM_OK &&
        results_number(run, "flows.slowdown.p99", &p99);
    printf("%s\np99 of the slowdown: %.2f\n", error.text, p99);
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    return told ? 0 : 1;
}

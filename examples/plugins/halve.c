// SPDX-License-Identifier: Apache-2.0
// examples/plugins/halve.c - the congestion control "halve": a share of the rate after each CNP.
#include "world/plugin.h"

typedef struct halve_config {
    sim_ratio_t factor;
} halve_config_t;
// clang-format off
static const sim_attr_t rows[] = {
    SIM_ATTR("nic.halve.factor", RATIO, halve_config_t, factor, .default_text = "1/2",
             .min_text = "1%", .max_text = "1",
             .help = "share of the rate that remains after a CNP"),
};
// clang-format on
static const sim_attr_table_t attrs = {"nic.halve", "node", sizeof(halve_config_t), rows, 1};

// Keeps the configured share of the rate, but never less than 1 % of the line rate.
static void cnp(nic_cc_t *cc)
{
    const sim_ratio_t factor = ((const halve_config_t *)cc->config)->factor;
    cc->rate_bps = SIM_MAX(cc->rate_bps / factor.den * factor.num, cc->line_bps / 100);
    nic_cc_rate_changed(cc);
}

// Adds 1 % of the line rate, up to the line rate.
static void ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    (void)ack;
    cc->rate_bps = SIM_MIN(cc->rate_bps + cc->line_bps / 100, cc->line_bps);
    nic_cc_rate_changed(cc);
}

static const nic_cc_ops_t halve = {"halve", sizeof(nic_cc_t), &attrs, .cnp = cnp, .ack = ack};

WORLD_PLUGIN
{
    return world_registry_add_cc(registry, &halve, error);
}

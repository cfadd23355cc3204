// SPDX-License-Identifier: Apache-2.0
// nic/cc/table.c - the algorithm "table": the rate follows a table of numbers by the round trip.
//
// Once in a round trip, the mean of its round-trip times over that of an idle path selects one of
// eight rows, and the row multiplies the rate and adds to it. It is a form for programs that search
// for good numbers, without a compiler. Model page: docs/models/table.md.
#include "nic/cc/table.h"

#define THOUSAND 1000.0

// A row holds below this mean round trip, in thousandths of that of an idle path; the last for all.
static const uint64_t limits[NIC_CC_TABLE_ROWS - 1] = {1100, 1250, 1500, 2000, 3000, 4000, 6000};

typedef struct table {
    nic_cc_t cc; // first
    uint64_t round_psn;
    uint64_t acks; // of this round trip, those with a round-trip time
    sim_time_t rtt_sum_ps;
    uint64_t acked_bytes;
    uint64_t marked_bytes;
    uint32_t row; // of the last round trip
} table_t;

static table_t *table_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, table_t, cc);
}

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

static void set_rate(nic_cc_t *cc, double rate_bps)
{
    const nic_cc_table_config_t *const config = cc->config;
    const uint64_t most_bps = rate_bps < (double)cc->line_bps ? (uint64_t)rate_bps : cc->line_bps;
    cc->rate_bps = SIM_MIN(cc->line_bps, SIM_MAX(config->min_rate_bps, most_bps));
    if (cc->base_rtt_ps > 0 && config->window.num > 0) {
        const double rtt_s = (double)cc->base_rtt_ps / (double)SIM_PS_PER_S;
        const double bytes = (double)cc->rate_bps / 8 * rtt_s * real_of(config->window);
        cc->window_bytes = (uint64_t)bytes + cc->mtu_bytes;
    }
}

// Forgets what this round trip measured; the next one ends with an ACK beyond next_psn.
static void begin_round(table_t *table, uint64_t next_psn)
{
    table->round_psn = next_psn;
    table->acks = 0;
    table->rtt_sum_ps = 0;
    table->acked_bytes = 0;
    table->marked_bytes = 0;
}

static void end_round(table_t *table)
{
    nic_cc_t *const cc = &table->cc;
    const nic_cc_table_config_t *const config = cc->config;
    const sim_time_t mean_ps = table->rtt_sum_ps / table->acks;
    const uint64_t ratio = cc->base_rtt_ps == 0 ? 1000 : mean_ps * 1000 / cc->base_rtt_ps;
    table->row = 0;
    while (table->row < SIM_COUNT_OF(limits) && ratio >= limits[table->row]) {
        table->row++;
    }
    double factor = (double)config->factors[table->row] / THOUSAND;
    if (table->marked_bytes > 0) {
        const double share = (double)table->marked_bytes / (double)table->acked_bytes;
        factor *= 1.0 - real_of(config->mark_cut) * share;
    }
    const double added_bps = (double)cc->line_bps * (double)config->adds[table->row] / THOUSAND;
    set_rate(cc, (double)cc->rate_bps * factor + added_bps);
}

// -- operations

static void table_init(nic_cc_t *cc)
{
    set_rate(cc, (double)cc->line_bps);
}

static void table_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    table_t *const table = table_of(cc);
    table->round_psn = SIM_MIN(table->round_psn, ack->next_psn); // the queue pair went back
    table->acks += ack->rtt_ps > 0;
    table->rtt_sum_ps += ack->rtt_ps;
    table->acked_bytes += ack->acked_bytes;
    table->marked_bytes += ack->ecn_echo ? ack->acked_bytes : 0;
    if (ack->acked_psn > table->round_psn) {
        if (table->acks > 0) {
            end_round(table);
        }
        begin_round(table, ack->next_psn);
    }
}

static const char *const metric_names[] = {"row", NULL};

static uint64_t table_metric(const nic_cc_t *cc, uint32_t index)
{
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return ((const table_t *)(const void *)cc)->row;
}

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_cc_table_config_t, __VA_ARGS__)
static const sim_attr_t rows[] = {
    ATTR(WEIGHTS, "nic.table.factors", factors, "[1000, 1000, 1000, 990, 950, 900, 800, 700]", "thousandths by which the rate is multiplied once in a round trip, by the mean round trip over that of an idle path: below 1.1, 1.25, 1.5, 2, 3, 4, 6, and from there on", .min_text = "1", .max_text = "4000"),
    ATTR(WEIGHTS, "nic.table.adds", adds, "[10, 5, 3, 2, 2, 2, 2, 2]", "thousandths of the line rate that are added to the rate then, by the same rows", .min_text = "0", .max_text = "1000"),
    ATTR(RATIO, "nic.table.mark-cut", mark_cut, "0", "0", "1", "share by which the rate falls in a round trip whose packets were all marked; less in proportion if fewer were"),
    ATTR(RATIO, "nic.table.window", window, "2", "0", "100", "window in bandwidth-delay products of the rate, and a packet; 0: there is none"),
    ATTR(RATE, "nic.table.min-rate", min_rate_bps, "100Mbps", "1Mbps", "100Gbps", "lowest rate of a queue pair"),
};
// clang-format on
static const sim_attr_table_t attrs =
    SIM_ATTR_TABLE("nic.table", "node", nic_cc_table_config_t, rows);

const nic_cc_ops_t nic_cc_table = {
    .name = "table",
    .state_bytes = sizeof(table_t),
    .attrs = &attrs,
    .acks_every_packet = true,
    .echoes_ecn = true,
    .init = table_init,
    .ack = table_ack,
    .metric_names = metric_names,
    .metric = table_metric,
};

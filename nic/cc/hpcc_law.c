// SPDX-License-Identifier: Apache-2.0
// nic/cc/hpcc_law.c - the law of nic/cc/hpcc_law.h.
//
// Computed in doubles with + - * / alone, in the order the authors' simulator has, which in the
// form of a rate gives its very numbers: a quotient is cut to whole bit/s before the increase.

#include "nic/cc/hpcc_law.h"

#define BITS 8.0

static double window_of(const nic_cc_t *cc, uint64_t rate_bps)
{
    return (double)rate_bps * (double)cc->base_rtt_ps / (BITS * (double)SIM_PS_PER_S);
}

bool nic__hpcc_law_init(nic_hpcc_law_t *law, const nic_hpcc_law_config_t *config, nic_cc_t *cc)
{
    const bool window = config->form == NIC_HPCC_WINDOW;
    const uint64_t min_bps = SIM_MIN(config->min_rate_bps, cc->line_bps);
    *law = (nic_hpcc_law_t){
        .config = config,
        .eta = (double)config->eta.num / (double)config->eta.den,
        .increase = (double)(window ? config->window_ai_bytes : config->rate_ai_bps),
        .least = window ? window_of(cc, min_bps) : (double)min_bps,
        .most = window ? window_of(cc, cc->line_bps) : (double)cc->line_bps,
        .window_own_bytes = cc->window_bytes,
        .stopped_ps = SIM_TIME_NEVER,
    };
    if (cc->base_rtt_ps == 0) {
        return false;
    }
    law->current.value = law->most;
    nic__hpcc_law_apply(law, cc, law->most);
    return true;
}

bool nic__hpcc_law_start(nic_hpcc_law_t *law, nic_cc_t *cc)
{
    if (law->stopped_ps == SIM_TIME_NEVER || cc->node->now_ps - law->stopped_ps < cc->base_rtt_ps) {
        return false;
    }
    law->started = false;
    law->current = (nic_hpcc_reference_t){.value = law->most};
    nic__hpcc_law_apply(law, cc, law->most);
    return true;
}

void nic__hpcc_law_stop(nic_hpcc_law_t *law, const nic_cc_t *cc)
{
    law->stopped_ps = cc->node->now_ps;
}

nic_hpcc_step_t nic__hpcc_law_ack(nic_hpcc_law_t *law, const nic_cc_ack_t *ack)
{
    if (!law->started) {
        law->started = ack->next_psn > 0; // not by a NAK of the very first packet
        law->update_psn = ack->next_psn;
        return NIC_HPCC_FIRST;
    }
    if (ack->acked_psn > law->update_psn) {
        return NIC_HPCC_UPDATE;
    }
    static const nic_hpcc_step_t others[] = {
        [NIC_HPCC_BY_REFERENCE] = NIC_HPCC_REACT,
        [NIC_HPCC_PER_RTT] = NIC_HPCC_MEASURE,
        [NIC_HPCC_PER_RTT_ONLY] = NIC_HPCC_IGNORE,
        [NIC_HPCC_PER_ACK] = NIC_HPCC_UPDATE,
    };
    return others[law->config->reaction];
}

void nic__hpcc_law_updated(nic_hpcc_law_t *law, const nic_cc_ack_t *ack)
{
    if (ack->next_psn > law->update_psn) {
        law->update_psn = ack->next_psn;
    }
}

static double bounded(const nic_hpcc_law_t *law, double value)
{
    if (value < law->least) {
        return law->least;
    }
    return SIM_MIN(law->most, value);
}

nic_hpcc_reference_t nic__hpcc_law_next(const nic_hpcc_law_t *law, const nic_hpcc_reference_t *from,
                                        double utilization)
{
    const double excess = utilization / law->eta;
    // Without a BDP the excess may be NaN; the negated test then treats it as below 1.
    if (!(excess >= 1.0) && from->stage < law->config->max_stage) {
        return (nic_hpcc_reference_t){bounded(law, from->value + law->increase), from->stage + 1};
    }
    double value = law->most; // no utilization at all
    if (excess * law->most > from->value) {
        value = from->value / excess;
        if (law->config->form == NIC_HPCC_RATE) {
            value = (double)(uint64_t)value;
        }
    }
    return (nic_hpcc_reference_t){bounded(law, value + law->increase), 0};
}

static uint64_t limit_bytes(const nic_hpcc_law_t *law, const nic_cc_t *cc)
{
    switch ((nic_hpcc_limit_t)law->config->limit) {
    case NIC_HPCC_LIMIT_SCALED:
        if (law->config->form == NIC_HPCC_WINDOW) {
            return (uint64_t)law->applied;
        }
        return (uint64_t)((sim_wide_t)cc->bdp_bytes * cc->rate_bps / cc->line_bps);
    case NIC_HPCC_LIMIT_FIXED:
        return cc->bdp_bytes;
    case NIC_HPCC_LIMIT_NONE:
        break;
    }
    return NIC_WINDOW_UNLIMITED;
}

void nic__hpcc_law_apply(nic_hpcc_law_t *law, nic_cc_t *cc, double value)
{
    law->applied = value;
    cc->rate_set = true;
    const double rate_bps = law->config->form == NIC_HPCC_RATE
                                ? value
                                : value * (BITS * (double)SIM_PS_PER_S) / (double)cc->base_rtt_ps;
    const uint64_t whole_bps = (uint64_t)rate_bps;
    // Rounding may exceed the line rate by one, or the value may be the maximum itself.
    cc->rate_bps = value >= law->most || whole_bps > cc->line_bps ? cc->line_bps : whole_bps;
    const uint64_t bytes = limit_bytes(law, cc);
    cc->window_bytes = SIM_MIN(bytes, law->window_own_bytes);
}

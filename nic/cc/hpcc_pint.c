// SPDX-License-Identifier: Apache-2.0
// HPCC on PINT: switches estimate their utilization, packets bring back the largest of the path.
//
// A byte or two instead of a record per hop: what a sender of HPCC computes from two records, each
// switch port computes for all that pass it (net/wire/telemetry.c), and the sender applies HPCC's
// law to what it decodes. The average over a round trip is the switch's, so the sender takes none.
//
// A digest may serve other queries: with `probability`, chosen packet by packet, it is one of
// utilization. That is drawn where the ACK is read; the byte is on the wire in any case, as it is
// where queries share it. Sources: Ben Basat et al., SIGCOMM 2020 (PINT), section 4.3; the law:
// nic/cc/hpcc_law.h. Model page: docs/models/hpcc-pint.md.

#include "nic/cc/hpcc_pint.h"

#include "net/draws.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

#define UTILIZATION_METRIC_ONE 1000000.0

static nic_hpcc_pint_t *pint_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_hpcc_pint_t, cc);
}

static const nic_hpcc_pint_config_t *config_of(const nic_hpcc_pint_t *pint)
{
    return pint->cc.config;
}

// Decides about an ACK; NULL: about one that will never arrive.
static bool is_sampled(nic_hpcc_pint_t *pint, const nic_cc_ack_t *ack)
{
    const sim_ratio_t probability = config_of(pint)->probability;
    if (SIM_UNLIKELY(pint->dice != NULL)) {
        const uint64_t threshold = 65536 * probability.num / probability.den;
        return pint->dice->roll(pint->dice->ctx) % 65536 < threshold;
    }
    if (SIM_UNLIKELY(pint->cc.draws_by_packet) && ack != NULL) {
        sim_random_t own = net_draws_of(&pint->random, ack->packet);
        return probability.num >= probability.den || sim_random_chance(&own, probability);
    }
    return probability.num >= probability.den || sim_random_chance(&pint->random, probability);
}

// -- operations

static void hpcc_pint_init(nic_cc_t *cc)
{
    nic_hpcc_pint_t *const pint = pint_of(cc);
    pint->controlled = nic__hpcc_law_init(&pint->law, &config_of(pint)->law, cc);
    pint->utilization = 1.0;
    pint->dice = cc->dice;
    // Draws of packets do not distinguish queue pairs: one of the next call has another id.
    const uint64_t id = cc->draws_by_packet ? 0 : cc->id;
    sim_random_init(&pint->random, sim_options(cc->node->sim)->seed, id, "pint-sample");
}

static void hpcc_pint_start(nic_cc_t *cc)
{
    nic_hpcc_pint_t *const pint = pint_of(cc);
    if (pint->controlled && nic__hpcc_law_start(&pint->law, cc)) {
        pint->utilization = 1.0;
    }
}

static void hpcc_pint_stop(nic_cc_t *cc)
{
    if (pint_of(cc)->dice != NULL) {
        // Draws for the last ACK of a flow, which never arrives here because its queue pair has
        // ended.
        (void)is_sampled(pint_of(cc), NULL);
    }
    nic__hpcc_law_stop(&pint_of(cc)->law, cc);
}

static void hpcc_pint_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    nic_hpcc_pint_t *const pint = pint_of(cc);
    if (!pint->controlled || ack->telemetry != NET_TELEMETRY_PINT || !is_sampled(pint, ack)) {
        return;
    }
    const nic_hpcc_step_t step = nic__hpcc_law_ack(&pint->law, ack);
    if (step == NIC_HPCC_FIRST || step == NIC_HPCC_IGNORE) {
        return;
    }
    SIM_CHECK(ack->digest < cc->pint->digest_count);
    pint->utilization = cc->pint->values[ack->digest];
    if (step == NIC_HPCC_MEASURE) {
        return;
    }
    const nic_hpcc_reference_t next =
        nic__hpcc_law_next(&pint->law, &pint->law.current, pint->utilization);
    nic__hpcc_law_apply(&pint->law, cc, next.value);
    if (step == NIC_HPCC_UPDATE) {
        pint->law.current = next;
        nic__hpcc_law_updated(&pint->law, ack);
    }
}

static const char *const metric_names[] = {
    "utilization", // millionths
    "reference",   // bytes or bit/s, by the law's form
    "stage",
    NULL,
};

static uint64_t hpcc_pint_metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_hpcc_pint_t *const pint = (const nic_hpcc_pint_t *)cc;
    switch (index) {
    case 0:
        return (uint64_t)(pint->utilization * UTILIZATION_METRIC_ONE + 0.5);
    case 1:
        return (uint64_t)pint->law.current.value;
    case 2:
        return pint->law.current.stage;
    default:
        SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
        return 0;
    }
}

const nic_cc_ops_t nic_cc_hpcc_pint = {
    .name = "hpcc-pint",
    .state_bytes = sizeof(nic_hpcc_pint_t),
    .attrs = &nic_hpcc_pint_attrs,
    .telemetry = NET_TELEMETRY_PINT,
    .acks_every_packet = true,
    .window_overshoots = true,
    .echoes_ecn = true, // and ignores it: no CNPs in vain
    .init = hpcc_pint_init,
    .start = hpcc_pint_start,
    .stop = hpcc_pint_stop,
    .ack = hpcc_pint_ack,
    .metric_names = metric_names,
    .metric = hpcc_pint_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_hpcc_pint_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    NIC_HPCC_LAW_ATTRS("nic.hpcc-pint."),
    ATTR(RATIO, "nic.hpcc-pint.probability", probability, "1", "1/65536", "1", "share of packets whose digest is one of utilization"),
};
// clang-format on

const sim_attr_table_t nic_hpcc_pint_attrs = {
    .prefix = "nic.hpcc-pint",
    .scope = "node",
    .config_bytes = sizeof(nic_hpcc_pint_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};

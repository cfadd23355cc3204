// SPDX-License-Identifier: Apache-2.0
// HPCC: every ACK brings the load of every hop, and the window follows the most loaded one.
//
// Between two records of a hop lie a time and the bytes sent in it, hence the rate; with what waits
// it gives the share of bytes in flight that the hop can take, u = queue / (B T) + rate / B. U is
// the average of the largest u over a round trip. The law from U to the window: nic/cc/hpcc_law.h.
//
// A record may be one packet after the last: the smaller of the two queues counts, since a lone
// packet before this one is no congestion. Sources: Li et al., SIGCOMM 2019, section 3 and
// algorithm 1; the options are those of the authors' simulator. Which line comes from where, and
// what differs: docs/models/hpcc.md.

#include "nic/cc/hpcc.h"

#include <string.h>

#define UTILIZATION_METRIC_ONE 1000000.0

static nic_hpcc_t *hpcc_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_hpcc_t, cc);
}

static const nic_hpcc_config_t *config_of(const nic_hpcc_t *hpcc)
{
    return hpcc->cc.config;
}

// -- utilization

// Computes a hop's share u from its two records, and the time between them. Returns false if the
// records are of the same nanosecond, or of a port whose rate has no code.
static SIM_ALWAYS_INLINE bool hop_share(const nic_hpcc_t *hpcc, uint64_t record, uint64_t before,
                                        double *share, uint64_t *elapsed_ns)
{
    const nic_cc_t *const cc = &hpcc->cc;
    const uint32_t unit = cc->int_multiplier;
    const uint64_t whole_bps = net_int_rate_bps(record);
    const double rate_bps = (double)(int64_t)whole_bps; // far from 2^63: one instruction
    const uint64_t tau_ns = net_int_elapsed_ns(record, before);
    if (tau_ns == 0 || whole_bps == 0) {
        return false;
    }
    const uint64_t queue = net_int_queue_bytes(record, 1);
    const uint64_t queue_before = net_int_queue_bytes(before, 1);
    const uint64_t least = SIM_MIN(queue, queue_before) * unit;
    const double seconds = (double)tau_ns * 1e-9;
    const double sent_bps = (double)(net_int_sent_bytes(record, before, unit) * 8) / seconds;
    *share = sent_bps / rate_bps;
    // Most hops of most ACKs have no queue; the test saves them two divisions.
    if (least > 0 || cc->bdp_bytes == 0) {
        *share += (double)least * (double)cc->line_bps / rate_bps / (double)cc->bdp_bytes;
    }
    *elapsed_ns = tau_ns;
    return true;
}

// Returns the average after elapsed_ns with a new value. After T or more, only the new value
// counts.
static double averaged(const nic_hpcc_t *hpcc, double old, double share, uint64_t elapsed_ns)
{
    const uint64_t dt_ns = SIM_MIN(elapsed_ns, hpcc->rtt_ns);
    return (old * (double)(hpcc->rtt_ns - dt_ns) + share * (double)dt_ns) / (double)hpcc->rtt_ns;
}

// Returns whether a hop is read. Between updates, sampled feedback reads only hops with a queue.
static bool is_read(const nic_hpcc_t *hpcc, uint64_t record, nic_hpcc_step_t step)
{
    return !config_of(hpcc)->sample_feedback || step == NIC_HPCC_UPDATE ||
           net_int_queue_bytes(record, 1) != 0;
}

// -- reactions

static void react_as_path(nic_hpcc_t *hpcc, const nic_cc_ack_t *ack, nic_hpcc_step_t step)
{
    double most = 0.0;
    uint64_t most_ns = 0;
    bool any = false;
    for (uint32_t i = 0; i < ack->hop_count; i++) {
        double share;
        uint64_t elapsed_ns;
        if (!is_read(hpcc, ack->hops[i], step) ||
            !hop_share(hpcc, ack->hops[i], hpcc->records[i], &share, &elapsed_ns)) {
            continue;
        }
        any = true;
        // A branch here would be unpredictable, so the code below has none.
        const bool more = share > most;
        most = more ? share : most;
        most_ns = more ? elapsed_ns : most_ns;
        hpcc->records[i] = ack->hops[i];
    }
    if (!any) {
        return;
    }
    hpcc->utilization = averaged(hpcc, hpcc->utilization, most, most_ns);
    if (step == NIC_HPCC_MEASURE) {
        return;
    }
    const nic_hpcc_reference_t next =
        nic__hpcc_law_next(&hpcc->law, &hpcc->law.current, hpcc->utilization);
    nic__hpcc_law_apply(&hpcc->law, &hpcc->cc, next.value);
    if (step == NIC_HPCC_UPDATE) {
        hpcc->law.current = next;
    }
}

// Reacts to an ACK with one reference per hop. The smallest resulting value counts.
static void react_by_hop(nic_hpcc_t *hpcc, const nic_cc_ack_t *ack, nic_hpcc_step_t step)
{
    double least = hpcc->law.most;
    double most_utilization = 0.0;
    bool any = false;
    for (uint32_t i = 0; i < ack->hop_count; i++) {
        nic_hpcc_hop_t *const hop = &hpcc->hops[i];
        double share;
        uint64_t elapsed_ns;
        double value = hop->reference.value;
        if (is_read(hpcc, ack->hops[i], step) &&
            hop_share(hpcc, ack->hops[i], hpcc->records[i], &share, &elapsed_ns)) {
            any = true;
            hop->utilization = averaged(hpcc, hop->utilization, share, elapsed_ns);
            hpcc->records[i] = ack->hops[i];
            const nic_hpcc_reference_t next =
                nic__hpcc_law_next(&hpcc->law, &hop->reference, hop->utilization);
            value = next.value;
            if (step == NIC_HPCC_UPDATE) {
                hop->reference = next;
            }
        }
        least = SIM_MIN(value, least);
        most_utilization = SIM_MAX(hop->utilization, most_utilization);
    }
    if (any) {
        hpcc->utilization = most_utilization;
    }
    if (any && step != NIC_HPCC_MEASURE) {
        nic__hpcc_law_apply(&hpcc->law, &hpcc->cc, least);
    }
    if (any && step == NIC_HPCC_UPDATE) {
        hpcc->law.current.value = least;
    }
}

// -- records

static void keep_records(nic_hpcc_t *hpcc, const nic_cc_ack_t *ack)
{
    hpcc->hop_count = (uint8_t)ack->hop_count;
    hpcc->path_id = ack->path_id;
    memcpy(hpcc->records, ack->hops, ack->hop_count * sizeof(hpcc->records[0]));
}

// Forgets all measurements, for a new flow whose own start will fill the path.
static void forget(nic_hpcc_t *hpcc)
{
    hpcc->utilization = 1.0;
    hpcc->hop_count = 0;
    hpcc->path_id = 0;
    for (uint32_t i = 0; i < NET_INT_HOPS_MAX; i++) {
        hpcc->hops[i] = (nic_hpcc_hop_t){1.0, {hpcc->law.most, 0}};
    }
}

// -- operations

static void hpcc_init(nic_cc_t *cc)
{
    nic_hpcc_t *const hpcc = hpcc_of(cc);
    hpcc->rtt_ns = cc->base_rtt_ps / SIM_PS_PER_NS;
    hpcc->controlled =
        nic__hpcc_law_init(&hpcc->law, &config_of(hpcc)->law, cc) && hpcc->rtt_ns > 0;
    forget(hpcc);
}

static void hpcc_start(nic_cc_t *cc)
{
    nic_hpcc_t *const hpcc = hpcc_of(cc);
    if (hpcc->controlled && nic__hpcc_law_start(&hpcc->law, cc)) {
        forget(hpcc);
    }
}

static void hpcc_stop(nic_cc_t *cc)
{
    nic__hpcc_law_stop(&hpcc_of(cc)->law, cc);
}

static void hpcc_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    nic_hpcc_t *const hpcc = hpcc_of(cc);
    if (!hpcc->controlled || ack->telemetry != NET_TELEMETRY_INT) {
        return;
    }
    const nic_hpcc_step_t step = nic__hpcc_law_ack(&hpcc->law, ack);
    const bool moved = config_of(hpcc)->check_path &&
                       (ack->path_id != hpcc->path_id || ack->hop_count != hpcc->hop_count);
    if (step == NIC_HPCC_FIRST || moved) {
        keep_records(hpcc, ack); // another path's records cannot be compared
    } else if (step != NIC_HPCC_IGNORE) {
        if (config_of(hpcc)->multi_rate) {
            react_by_hop(hpcc, ack, step);
        } else {
            react_as_path(hpcc, ack, step);
        }
    }
    if (step == NIC_HPCC_UPDATE) {
        nic__hpcc_law_updated(&hpcc->law, ack);
    }
}

static const char *const metric_names[] = {
    "utilization", // millionths
    "reference",   // bytes or bit/s, by the law's form
    "stage",
    NULL,
};

static uint64_t hpcc_metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_hpcc_t *const hpcc = (const nic_hpcc_t *)cc;
    switch (index) {
    case 0:
        return (uint64_t)(hpcc->utilization * UTILIZATION_METRIC_ONE + 0.5);
    case 1:
        return (uint64_t)hpcc->law.current.value;
    case 2:
        return hpcc->law.current.stage;
    default:
        SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
        return 0;
    }
}

#define STATE(member_, kind_) SIM_FIELD(nic_hpcc_t, member_, kind_)
// After a round trip without packets the algorithm begins anew, so nothing of this is read.
static const sim_field_t state_rows[] = {
    NIC_CC_FIELDS(LAST, FIXED, FIXED),
    STATE(law.update_psn, COUNT),
    STATE(law.current, LAST),
    STATE(law.applied, LAST),
    STATE(law.stopped_ps, UNTIL),
    STATE(law.started, LAST),
    STATE(law.config, FIXED),
    STATE(law.eta, FIXED),
    STATE(law.increase, FIXED),
    STATE(law.least, FIXED),
    STATE(law.most, FIXED),
    STATE(law.window_own_bytes, FIXED),
    STATE(controlled, FIXED),
    STATE(hop_count, LAST),
    STATE(path_id, LAST),
    STATE(rtt_ns, FIXED),
    STATE(utilization, LAST),
    STATE(records, LAST),
    STATE(hops, LAST),
    SIM_FIELD_BITS(nic_hpcc_t, law.started, controlled),
    SIM_FIELD_BITS(nic_hpcc_t, path_id, rtt_ns),
};
static const sim_fields_t state_table = SIM_FIELDS("hpcc", sizeof(nic_hpcc_t), state_rows);

const nic_cc_ops_t nic_cc_hpcc = {
    .name = "hpcc",
    .state_bytes = sizeof(nic_hpcc_t),
    .attrs = &nic_hpcc_attrs,
    .telemetry = NET_TELEMETRY_INT,
    .acks_every_packet = true,
    .window_overshoots = true,
    .echoes_ecn = true, // and ignores it: no CNPs in vain
    .init = hpcc_init,
    .start = hpcc_start,
    .stop = hpcc_stop,
    .ack = hpcc_ack,
    .metric_names = metric_names,
    .metric = hpcc_metric,
    .fields = &state_table,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_hpcc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    NIC_HPCC_LAW_ATTRS("nic.hpcc."),
    ATTR(BOOL, "nic.hpcc.multi-rate", multi_rate, "false", "true: each hop has its own reference window, and the lowest one counts; false: the path has one"),
    ATTR(BOOL, "nic.hpcc.sample-feedback", sample_feedback, "false", "true: the algorithm reads hops without a queue only when it updates the reference window; false: always"),
    ATTR(BOOL, "nic.hpcc.check-path", check_path, "true", "true: records of another path are not compared with those before; false: they are"),
};
// clang-format on

const sim_attr_table_t nic_hpcc_attrs = {
    .prefix = "nic.hpcc",
    .scope = "node",
    .config_bytes = sizeof(nic_hpcc_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};

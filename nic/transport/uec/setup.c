// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/setup.c - the transports "uec-rud" and "uec-rod": attributes, counters, states.
// Page: docs/models/uec.md.
#include "nic/transport/uec/uec.h"

#include "nic/cc/control.h"
#include "nic/extra.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/uec/credit.h"

#define PREFIX "nic.uec"
// Bits of bitmaps for each packet: at the receiver, and at the sender.
#define BITMAPS 2u

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(nic_uec_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "control", control, "nscc", "nscc|rccc|both|none", "congestion control of uec-rud and uec-rod; nscc: a window of the sender (nic.nscc); rccc: credit of the receiver; both: what both allow; none: no limit. Credit must be on at both ends or at none"),
    ATTR(ENUM, "demand", demand, "window", "window|missing", "credit that a sender asks for; window: its backlog, up to its share of the largest window, which the senders of its NIC share, and receivers grant whole packets; missing: what it still misses, divided by the number of senders that wait for the port, and receivers grant no more, then credit ahead"),
    ATTR(BOOL, "sleek", sleek, "true", "true: packets that arrive far ahead of a missing one show that it was lost, for networks that do not trim; false: only NACKs and time-outs do"),
    ATTR(ENUM, "spray", spray, "mixed", "one|oblivious|bitmap|mixed|reps", "rule for the entropy value of each packet of uec-rud, which switches hash; one: always the same; oblivious: all in turn; bitmap: without congested ones; mixed: those that came back unmarked, else as bitmap; reps: those, else random ones, with the memory of nic.reps"),
    ATTR(COUNT, "paths", paths, "64", "1", "16384", "number of entropy values, rounded up to a power of two"),
    ATTR(BYTES, "ack-bytes", ack_bytes, "16KiB", "1", "1GB", "bytes of frames after which a receiver sends an ACK; marked packets, the first one and those that ask for it are acknowledged at once"),
    ATTR(COUNT, "range", range_packets, "4096", "1", "8388608", "maximum number of packets from the oldest that is not acknowledged to the newest"),
    ATTR(TIME, "rto", rto_ps, "auto", "1us", "8s", "time without an ACK after which a packet counts as lost, doubled with each retry; auto: 15 us and six round trips of the idle path", .not_above = PREFIX ".rto-max", .auto_ok = true),
    ATTR(TIME, "rto-max", rto_max_ps, "5ms", "1us", "8s", "largest value of the doubled time-out; the specification allows up to 8 s"),
    ATTR(RATIO, "narrowness", narrowness, "1", "1", "1000", "rate of hosts' links / their share of the fabric; above 1, receivers with credit lower their grants by trims and marks of the fabric"),
    ATTR(ENUM, "ack-header", ack_header, "cc", "cc|ccx-32|ccx-40", "PDS header of ACKs; cc: ACK_CC, 32 bytes; ccx-32: ACK_CCX with the 32 bytes that it has in xdp2; ccx-40: ACK_CCX with the 40 bytes that it has in uet-ref-prov"),
    ATTR(BOOL, "congestion-state", congestion_state, "false", "true: headers of data carry the state of congestion control, 4 bytes more"),
};
// clang-format on

const sim_attr_table_t nic__uec_attrs = SIM_ATTR_TABLE(PREFIX, "node", nic_uec_config_t, attrs);

#define COUNTER(field_, help_)                                                             \
    {                                                                                      \
        .name = #field_, .field.offset = offsetof(nic_uec_shared_t, field_), .help = help_ \
    }
static const nic_counter_info_t counters[] = {
    COUNTER(retransmitted, "packets sent again"),
    COUNTER(sacks, "ACKs sent, each with a bitmap"),
    COUNTER(nacks, "NACKs sent"),
    COUNTER(trimmed, "packets that arrived without their payload and were new"),
    COUNTER(probes, "probes sent"),
    COUNTER(credits, "grants of credit sent"),
    COUNTER(lost, "packets that the sender found lost by a time-out"),
    {.name = NULL},
};

static uint32_t power_of_two(uint64_t count)
{
    uint32_t power = 1;
    while (power < count) {
        power *= 2;
    }
    return power;
}

static void uec_open(nic_qp_t *qp)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    nic_t *const nic = qp->nic;
    nic_cc_t *const cc = nic__cc(qp);
    uec->config = nic_config_part(nic->host->config, &nic__uec_attrs);
    uec->rod = qp->ops == &nic_transport_uec_rod;
    uec->told_psn = UINT64_MAX;
    uec->range_packets = uec->config->range_packets;
    nic__single_acks_open(&uec->held);
    uec->rto_ps = uec->config->rto_ps == SIM_AUTO ? 15 * SIM_PS_PER_US + 6 * uec->held.rtt_ps
                                                  : uec->config->rto_ps;
    nic__uec_paths_init(&uec->paths, uec->config->spray, power_of_two(uec->config->paths),
                        &nic->host->config->reps, sim_options(nic__node(nic)->sim)->seed,
                        nic__qp_stream(qp));
    cc->hears_acks = false; // send.c informs it
    uec->windowed = uec->config->control == NIC_UEC_NSCC || uec->config->control == NIC_UEC_BOTH;
    uec->credited = uec->config->control == NIC_UEC_RCCC || uec->config->control == NIC_UEC_BOTH;
    const sim_time_t base_ps = nic->host->config->base_rtt_ps == SIM_AUTO
                                   ? uec->held.rtt_ps
                                   : nic->host->config->base_rtt_ps;
    nic__nscc_init(&uec->nscc, nic_config_part(nic->host->config, &nic_nscc_attrs), cc->line_bps,
                   base_ps, qp->mtu_bytes, nic__flight_frame_bytes(qp, qp->mtu_bytes));
    nic__uec_credit_open(uec);
}

static void uec_close(nic_qp_t *qp)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    nic__uec_credit_close(uec);
    nic__single_acks_close(&uec->held);
    nic__uec_paths_fini(&uec->paths);
    sim_free(uec->routes.routes);
    uec->routes = (nic_port_routes_t){0};
    nic__flight_fini(&uec->flight);
}

static void totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *sums)
{
    (void)nic;
    const nic_uec_shared_t *const shared = nic_state;
    nic__single_acks_totals(&shared->held, BITMAPS, sums);
}

// Answers of the NIC keep to one path.
static void dress(nic_qp_t *qp, net_packet_t *answer)
{
    net_packet_aside(answer)->uet.flags = answer->retransmission;
    nic__uec_dress(qp, answer, qp->path.udp_source_port);
}

// -- what series show of the control

static const char *const metric_names[] = {
    "cwnd_bytes",    // NSCC's window, in bytes of frames
    "flight_bytes",  // of frames in flight
    "delay_ps",      // NSCC's average delay
    "idle_rtt_ps",   // its round trip of the idle path
    "quick_adapts",  // times that QuickAdapt set the window
    "credit_bytes",  // that may be sent now
    "granted_bytes", // by the receiver so far
    NULL,
};

static uint64_t metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_qp_t *const qp = (const nic_qp_t *)(const void *)((const char *)cc - NIC_QP_BYTES);
    const nic_uec_t *const uec = nic__state_const(qp);
    if ((qp->ops != &nic_transport_uec_rud && qp->ops != &nic_transport_uec_rod) ||
        uec->range_packets == 0) {
        return 0; // a queue pair of another service, or not connected
    }
    switch (index) {
    case 0:
        return (uint64_t)uec->nscc.window_bytes;
    case 1:
        return uec->flight.bytes;
    case 2:
        return (uint64_t)uec->nscc.average_ps;
    case 3:
        return uec->nscc.base_ps;
    case 4:
        return uec->nscc.quick_count;
    case 5:
        return uec->credit_bytes > 0 ? (uint64_t)uec->credit_bytes : 0;
    default:
        SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
        return uec->granted_bytes;
    }
}

static const nic_cc_ops_t uec_cc = {
    .name = "nscc",
    .state_bytes = sizeof(nic_cc_t),
    .metric_names = metric_names,
    .metric = metric,
};

static const char *control(const nic_config_t *config)
{
    static const char *const names[] = {[NIC_UEC_NSCC] = "nscc",
                                        [NIC_UEC_RCCC] = "rccc",
                                        [NIC_UEC_BOTH] = "nscc and rccc",
                                        [NIC_UEC_UNLIMITED] = "none"};
    const nic_uec_config_t *const uec = nic_config_part(config, &nic__uec_attrs);
    return names[uec->control];
}

static bool spreads(const nic_config_t *config)
{
    const nic_uec_config_t *const uec = nic_config_part(config, &nic__uec_attrs);
    return uec->spray != NIC_UEC_ONE && uec->paths > 1;
}

#define UEC_OPS(name_)                                                                            \
    .name = name_, .state_bytes = sizeof(nic_uec_t), .nic_state_bytes = sizeof(nic_uec_shared_t), \
    .nic_create = nic__uec_pacer_init, .nic_destroy = nic__uec_pacer_fini, .own_timeouts = true,  \
    .own_control = true, .cc = &uec_cc, .control = control, .wire = ROCE_UET,                     \
    .counters = counters, .open = uec_open, .close = uec_close, .ready = nic__uec_ready,          \
    .next_packet = nic__uec_next_packet, .acknowledged = nic__uec_acknowledged,                   \
    .responded = nic__uec_responded, .timeout = nic__uec_timed_out, .request = nic__uec_request,  \
    .totals = totals, .gauges = nic__single_acks_gauges, .dress = dress

const nic_transport_ops_t nic_transport_uec_rud = {UEC_OPS("uec-rud"), .spreads = spreads,
                                                   .attrs = &nic__uec_attrs};
// Attributes of a transport are those of one table. The parameters of NSCC stand beside this one,
// and apply to both.
const nic_transport_ops_t nic_transport_uec_rod = {UEC_OPS("uec-rod"), .attrs = &nic_nscc_attrs};

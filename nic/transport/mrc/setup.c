// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/setup.c - the transport "mrc": attributes, counters, states. Page:
// docs/models/mrc.md.
#include "nic/transport/mrc/mrc.h"

#include "net/wire/mrc.h"
#include "nic/cc/control.h"
#include "nic/extra.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"
#include "nic/transport/mrc/repair.h"

#define PREFIX "nic.mrc"
#define BITMAPS 2u // of a queue pair: at the receiver, and at the sender
#define RTO_ROUNDS 6
#define RTO_MORE_PS (15 * SIM_PS_PER_US)
#define REORDER_ROUNDS 2

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(nic_mrc_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "control", control, "nscc", "nscc|none", "congestion control of mrc; nscc: a window of the sender (nic.nscc) for each queue pair; none: no limit"),
    ATTR(ENUM, "operations", operations, "writes", "writes|all", "operations of queue pairs; writes: WRITE and WRITE with immediate, as MRC 1.0 has them; all: also SEND, READ, atomics and RNR NAKs, with the opcodes of RC in MRC's space, which no specification has"),
    ATTR(COUNT, "evs", evs.active, "128", "1", "4096", "number of active entropy values of a queue pair, each of them a path, in equal shares on all planes"),
    ATTR(COUNT, "backups", evs.backup, "32", "0", "4096", "number of further entropy values, which replace active ones whose path has failed"),
    ATTR(STRING, "denied", evs.denied, "", "entropy values that are never used, a list such as \"3, 8-11\"; values of a plane follow each other, active ones first"),
    ATTR(TIME, "skip", evs.skip_ps, "auto", "0ps", "1s", "how long a marked or trimmed packet keeps others from its path; auto: until the path has been passed over once", .auto_ok = true),
    ATTR(COUNT, "losses", evs.losses, "1", "1", "255", "number of lost packets in a row after which a path counts as bad"),
    ATTR(TIME, "probe-interval", evs.probe_ps, "20us", "1us", "100s", "time from a loss to a probe of its path, and from each answer to the next probe, while the queue pair has work", .not_above = PREFIX ".probe-interval-max"),
    ATTR(TIME, "probe-interval-max", evs.probe_max_ps, "2ms", "1us", "100s", "longest time between two probes of a bad path; each probe without an answer doubles the time from nic.mrc.probe-interval on"),
    ATTR(COUNT, "probes", evs.probes, "1", "1", "255", "number of answered probes in a row after which a bad path is good again"),
    ATTR(ENUM, "marked-probe", evs.marked, "skip", "skip|good", "state of a bad path after the last probe if that was marked"),
    ATTR(ENUM, "times", times, "header", "header|local", "how round trips are measured; header: by a time stamp in each packet, 4 bytes, in units of 128 ns; local: by the sender's own record"),
    ATTR(BYTES, "ack-bytes", ack_bytes, "16KiB", "1", "1GB", "bytes of frames after which a receiver sends a SACK; marked packets, the first one and those that ask for it are answered at once"),
    ATTR(COUNT, "range", range_packets, "4096", "128", "32640", "maximum number of packets from the oldest that is not acknowledged to the newest; rounded down to a multiple of 128"),
    ATTR(TIME, "reorder", reorder_ps, "auto", "0ps", "1s", "time by which a packet that a SACK lacks must be older than one that has arrived, so that it counts as lost; auto: two round trips of the idle path", .auto_ok = true),
    ATTR(TIME, "quiet", quiet_ps, "auto", "1us", "8s", "time without an answer after which a probe asks what has arrived; auto: a round trip of the idle path and nic.nscc.target", .auto_ok = true),
    ATTR(TIME, "rto", rto_ps, "auto", "1us", "8s", "time without an acknowledgement after which a packet counts as lost; auto: 15 us and six round trips of the idle path", .not_above = PREFIX ".rto-max", .auto_ok = true),
    ATTR(COUNT, "rto-linear", rto_linear, "2", "0", "30", "number of retransmissions of a packet with the same time-out; it doubles with each later one"),
    ATTR(TIME, "rto-max", rto_max_ps, "5ms", "1us", "8s", "maximum of the doubled time-out"),
};
// clang-format on

const sim_attr_table_t nic__mrc_attrs = SIM_ATTR_TABLE(PREFIX, "node", nic_mrc_config_t, attrs);

#define COUNTER(field_, help_)                                                             \
    {                                                                                      \
        .name = #field_, .field.offset = offsetof(nic_mrc_shared_t, field_), .help = help_ \
    }
static const nic_counter_info_t counters[] = {
    COUNTER(retransmitted, "packets sent again"),
    COUNTER(sacks, "SACKs sent"),
    COUNTER(nacks, "NACKs sent, for trimmed packets"),
    COUNTER(trimmed, "packets that arrived without their payload and were new"),
    COUNTER(probes, "probes sent"),
    COUNTER(credits, "grants of credit sent: 0, MRC has none"),
    COUNTER(gaps, "packets that the sender found lost by a gap in a SACK"),
    COUNTER(lost, "packets that the sender found lost by a time-out"),
    COUNTER(skipped, "times that a path was skipped after a mark or a trim"),
    COUNTER(failed, "times that a path was found bad"),
    COUNTER(healed, "times that a bad path came back"),
    {.name = NULL},
};

static sim_time_t either(sim_time_t given_ps, sim_time_t own_ps)
{
    return given_ps == SIM_AUTO ? own_ps : given_ps;
}

static void mrc_open(nic_qp_t *qp)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    nic_t *const nic = qp->nic;
    nic_cc_t *const cc = nic__cc(qp);
    mrc->config = nic_config_part(nic->host->config, &nic__mrc_attrs);
    mrc->range_packets = mrc->config->range_packets / MRC_RANGE_UNIT * MRC_RANGE_UNIT;
    mrc->told_msn = qp->msn;
    nic__single_acks_open(&mrc->held);
    nic__evs_init(&mrc->evs, &mrc->config->evs, nic->planes == NULL ? 1 : nic->planes->count,
                  sim_options(nic__node(nic)->sim)->seed, nic__qp_stream(qp));
    cc->hears_acks = false; // repair.c informs it
    mrc->windowed = mrc->config->control == NIC_MRC_NSCC;
    const sim_time_t base_ps = either(nic->host->config->base_rtt_ps, mrc->held.rtt_ps);
    nic__nscc_init(&mrc->nscc, nic_config_part(nic->host->config, &nic_nscc_attrs), cc->line_bps,
                   base_ps, qp->mtu_bytes, nic__flight_frame_bytes(qp, qp->mtu_bytes));
    mrc->rto_ps = either(mrc->config->rto_ps, RTO_MORE_PS + RTO_ROUNDS * mrc->held.rtt_ps);
    mrc->reorder_ps = either(mrc->config->reorder_ps, REORDER_ROUNDS * base_ps);
    mrc->quiet_ps = either(mrc->config->quiet_ps, base_ps + mrc->nscc.target_ps);
}

static void mrc_close(nic_qp_t *qp)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    nic__single_acks_close(&mrc->held);
    nic__evs_fini(&mrc->evs);
    nic__flight_fini(&mrc->flight);
    sim_free(mrc->routes.routes);
    mrc->routes = (nic_port_routes_t){0};
}

static void totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *sums)
{
    (void)nic;
    const nic_mrc_shared_t *const shared = nic_state;
    nic__single_acks_totals(&shared->held, BITMAPS, sums);
}

// Answers of the NIC keep to one path. MRC has no RNR NAK: a message without a receive ends the
// connection.
static void dress(nic_qp_t *qp, net_packet_t *answer)
{
    const uint32_t operation = answer->opcode & ROCE_OPERATION_MASK;
    if (nic__mrc_of(qp)->config->operations == NIC_MRC_WRITES && operation == ROCE_ACKNOWLEDGE &&
        answer->aeth >> 29 == ROCE_SYNDROME_RNR_NAK >> 5) {
        const uint32_t syndrome = (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_REMOTE_OPERATION;
        answer->aeth = syndrome << 24 | (answer->aeth & ROCE_PSN_MASK);
    }
    net_packet_aside(answer)->mrc.flags = answer->retransmission ? NET_MRC_AGAIN : 0;
    nic__mrc_dress(qp, answer, qp->path.udp_source_port);
}

static bool plane_out(const nic_qp_t *qp, uint32_t plane)
{
    const nic_mrc_t *const mrc = nic__state_const(qp);
    return !nic__evs_usable(&mrc->evs, plane);
}

static bool allows(const void *config, uint8_t opcode)
{
    const nic_mrc_config_t *const own = config;
    return opcode == NIC_WR_RDMA_WRITE || opcode == NIC_WR_RDMA_WRITE_WITH_IMM ||
           own->operations == NIC_MRC_ALL;
}

static sim_err_t check_config(const void *config, sim_message_t *message)
{
    return nic__evs_check(&((const nic_mrc_config_t *)config)->evs, message);
}

static bool explain(const nic_qp_t *qp, sim_message_t *why)
{
    const nic_mrc_t *const mrc = nic__state_const(qp);
    if (nic__mrc_any_path(mrc)) {
        return false;
    }
    (void)sim_fail(why, SIM_ERR_STATE, "all %u paths are assumed bad, and no probe has come back",
                   mrc->evs.bad);
    return true;
}

static bool spreads(const nic_config_t *config)
{
    (void)config;
    return true;
}

const nic_transport_ops_t nic_transport_mrc = {
    .name = "mrc",
    .state_bytes = sizeof(nic_mrc_t),
    .nic_state_bytes = sizeof(nic_mrc_shared_t),
    .attrs = &nic__mrc_attrs,
    .own_timeouts = true,
    .own_control = true,
    .spreads = spreads,
    .wire = ROCE_MRC,
    .counters = counters,
    .open = mrc_open,
    .close = mrc_close,
    .ready = nic__mrc_ready,
    .next_packet = nic__mrc_next_packet,
    .acknowledged = nic__mrc_acknowledged,
    .responded = nic__mrc_responded,
    .timeout = nic__mrc_timed_out,
    .request = nic__mrc_request,
    .totals = totals,
    .gauges = nic__single_acks_gauges,
    .dress = dress,
    .plane_out = plane_out,
    .allows = allows,
    .check_config = check_config,
    .explain = explain,
};

// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_connect.c - connecting a queue pair: its attributes, checked and taken over.
//
// Source: IBA vol. 1, 10.2.4, 11.2.5 (modify queue pair).
#include "nic/objects/qp.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/schedule/loopback.h"
#include "nic/schedule/planes.h"
#include "nic/transport/entry.h"
#include "nic/verbs/life.h"

void nic_qp_attr_default(const nic_t *nic, nic_qp_attr_t *attr)
{
    const nic_config_t *const config = nic->host->config;
    const uint64_t dscp = config->dscp == SIM_AUTO ? config->priority * 8 : config->dscp;
    *attr = (nic_qp_attr_t){
        .path_mtu = (uint32_t)config->mtu_bytes,
        .timeout = (uint32_t)config->timeout,
        .retry_cnt = (uint32_t)config->retry_count,
        .rnr_retry = (uint32_t)config->rnr_retry,
        .min_rnr_timer = (uint32_t)config->min_rnr_timer,
        .max_rd_atomic = (uint32_t)config->max_rd_atomic,
        .max_dest_rd_atomic = (uint32_t)config->max_rd_atomic,
        .access = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ |
                  NIC_ACCESS_REMOTE_ATOMIC,
        .priority = (uint8_t)config->priority,
        .dscp = (uint8_t)dscp,
        .rate_max_bps = SIM_AUTO,
        .window_bytes = SIM_AUTO,
    };
}

static sim_err_t check_range(sim_message_t *message, const char *name, uint64_t value, uint64_t min,
                             uint64_t max)
{
    if (value >= min && value <= max) {
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_RANGE, "%s: %" PRIu64 " is not in %" PRIu64 "..%" PRIu64, name,
                    value, min, max);
}

static uint32_t planes_of(const nic_t *nic)
{
    return nic->planes == NULL ? 1 : nic->planes->count;
}

// Returns the NIC of an interface; NULL: its node is a program's own kind of host.
static const nic_t *peer_nic(const nic_t *nic, uint32_t interface)
{
    const net_port_t *const port = net_interface_port(nic->host->node.net, interface);
    if (port->node->sim.ops->kind != nic__host_kind) {
        return NULL;
    }
    return nic_of_interface(nic->host->node.net, interface);
}

bool nic_reaches(const nic_t *nic, uint32_t interface)
{
    return interface != nic->interface || nic__may_loop(nic) ||
           net_port_peer(nic->port)->node->sim.ops->kind != nic__host_kind;
}

static sim_err_t check_peer(const nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const nic_t *const nic = qp->nic;
    const size_t interfaces = net_interface_count(nic->host->node.net);
    if (qp->type == NIC_QPT_UD) {
        return SIM_OK;
    }
    if (attr->dest_interface >= interfaces) {
        return sim_fail(message, SIM_ERR_UNKNOWN, "dest_interface: no interface %u, there are %zu",
                        attr->dest_interface, interfaces);
    }
    if (!nic_reaches(nic, attr->dest_interface)) {
        return sim_fail(
            message, SIM_ERR_INVALID,
            "dest_interface: %u is the queue pair's own, and no switch sends its packets back: "
            "only NICs with one port, the transport gbn and a scheduler without a loop of its own "
            "send to themselves",
            attr->dest_interface);
    }
    const nic_t *const peer = peer_nic(nic, attr->dest_interface);
    const uint32_t planes = planes_of(nic);
    if (peer != NULL && planes_of(peer) != planes) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "dest_interface: %u is of a NIC in %u planes, expected %u as its own NIC",
                        attr->dest_interface, planes_of(peer), planes);
    }
    const nic_repath_rule_t own = nic->host->config->repath;
    const nic_repath_rule_t other = peer == NULL ? NIC_REPATH_OFF : peer->host->config->repath;
    if ((own == NIC_REPATH_REPS) != (other == NIC_REPATH_REPS)) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "dest_interface: %u is of a NIC %s, expected the same rule at both ends",
                        attr->dest_interface,
                        other == NIC_REPATH_REPS ? "with nic.repath: reps"
                                                 : "without nic.repath: reps");
    }
    return check_range(message, "dest_qp_num", attr->dest_qp_num, ROCE_QPN_FIRST, ROCE_QPN_MASK);
}

static sim_err_t check_attr(const nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const struct {
        const char *name;
        uint64_t value;
        uint64_t min;
        uint64_t max;
    } ranges[] = {
        {"rq_psn", attr->rq_psn, 0, ROCE_PSN_MASK},
        {"rq_msn", attr->rq_msn, 0, ROCE_PSN_MASK},
        {"sq_psn", attr->sq_psn, 0, ROCE_PSN_MASK},
        {"path_mtu", attr->path_mtu, 256, ROCE_MTU_BYTES_MAX},
        {"timeout", attr->timeout, 0, 31},
        {"retry_cnt", attr->retry_cnt, 0, 7},
        {"rnr_retry", attr->rnr_retry, 0, 7},
        {"min_rnr_timer", attr->min_rnr_timer, 0, 31},
        {"max_rd_atomic", attr->max_rd_atomic, 1, 255},
        {"max_dest_rd_atomic", attr->max_dest_rd_atomic, 1, 255},
        {"priority", attr->priority, 0, NET_PRIORITIES - 1},
        {"dscp", attr->dscp, 0, 63},
        {"rate_max_bps", attr->rate_max_bps, 1, UINT64_MAX},
        {"window_bytes", attr->window_bytes, 1, UINT64_MAX},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(ranges); i++) {
        const sim_err_t error =
            check_range(message, ranges[i].name, ranges[i].value, ranges[i].min, ranges[i].max);
        if (error != SIM_OK) {
            return error;
        }
    }
    const bool usual =
        attr->path_mtu <= ROCE_MTU_STANDARD_MAX && (attr->path_mtu & (attr->path_mtu - 1)) == 0;
    if (!usual && !qp->nic->any_mtu) {
        return sim_fail(message, SIM_ERR_RANGE, "path_mtu: %u is no path MTU", attr->path_mtu);
    }
    return check_peer(qp, attr, message);
}

uint16_t nic_derived_source_port(uint32_t interface, uint32_t qp_num, uint32_t dest_interface,
                                 uint32_t dest_qp_num)
{
    const uint64_t ends = (uint64_t)interface << 32 | dest_interface;
    const uint64_t numbers = (uint64_t)qp_num << 32 | dest_qp_num;
    const uint64_t hash = sim_mix64(sim_mix64(ends + UINT64_C(0x9e3779b97f4a7c15)) ^ numbers);
    return (uint16_t)(ROCE_SOURCE_PORT_MIN | (hash & (0xffff - ROCE_SOURCE_PORT_MIN)));
}

static uint64_t route_of_answers(const nic_qp_t *qp)
{
    const net_t *const net = qp->nic->host->node.net;
    const uint32_t hash = net_answer_hash(net, qp->path.flow_hash);
    return hash == qp->path.flow_hash
               ? qp->path.route
               : net_source_route(net, qp->nic->interface, qp->path.destination, hash);
}

static void set_path(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    const nic_t *const nic = qp->nic;
    const nic_config_t *const config = nic->host->config;
    const uint16_t port = attr->udp_source_port != 0
                              ? attr->udp_source_port
                              : nic_derived_source_port(nic->interface, qp->number,
                                                        attr->dest_interface, attr->dest_qp_num);
    qp->path = (nic_path_t){
        .destination = attr->dest_interface,
        .destination_qp = attr->dest_qp_num,
        .udp_source_port = port,
        .dscp = attr->dscp,
        .ecn = config->ecn_capable && !nic->exempt ? NET_ECN_ECT0 : NET_ECN_NOT_ECT,
    };
    if (qp->type == NIC_QPT_UD) {
        qp->path.destination = NET_INTERFACES_MAX; // set by each work request
    } else {
        if (attr->dest_interface == nic->interface && nic__may_loop(nic)) {
            nic__loopback_open(qp->nic);
        }
        qp->path.flow_hash = net_flow_hash_with(nic->host->node.net, nic->interface,
                                                attr->dest_interface, port, attr->hashed_port);
        qp->path.route = net_source_route(nic->host->node.net, nic->interface, attr->dest_interface,
                                          qp->path.flow_hash);
        qp->answer_route = nic->odd_answers ? route_of_answers(qp) : 0;
        if (nic->planes != NULL) {
            nic__planes_connect(qp);
        }
    }
    const nic_t *const peer = qp->type == NIC_QPT_RC ? peer_nic(nic, qp->path.destination) : NULL;
    qp->flags |= peer != NULL && peer->cc_ops->hears_hosts ? NIC_QP_HOST_TOLD : 0;
    qp->priority = attr->priority;
    qp->ack_priority =
        (uint8_t)(config->ack_priority == SIM_AUTO ? attr->priority : config->ack_priority);
    // A switch with `trust: dscp` may pause another class than the priority this QP sends with.
    const uint32_t class = attr->dscp >> 3;
    const bool odd = qp->priority != class || qp->ack_priority != class;
    for (uint32_t plane = 0; plane < planes_of(nic); plane++) {
        nic->port[plane].odd_class |= odd;
    }
}

static void set_transport(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    static const uint8_t transports[] = {
        [NIC_QPT_RC] = ROCE_RC,
        [NIC_QPT_UC] = ROCE_UC,
        [NIC_QPT_UD] = ROCE_UD,
    };
    qp->transport = transports[qp->type];
    qp->mtu_bytes = (uint16_t)attr->path_mtu;
    qp->rx_mtu_bytes = qp->mtu_bytes;
    qp->ack_countdown = qp->nic->ack_interval;
    qp->first_psn = attr->sq_psn;
    qp->next_psn = qp->una_psn = qp->max_psn = attr->sq_psn;
    qp->expected_psn = attr->rq_psn;
    qp->msn = attr->rq_msn;
    qp->timeout = (uint8_t)attr->timeout;
    qp->retry_count = (uint8_t)attr->retry_cnt;
    qp->rnr_retry = (uint8_t)attr->rnr_retry;
    qp->min_rnr_timer = (uint8_t)attr->min_rnr_timer;
    qp->reads_max = (uint8_t)attr->max_rd_atomic;
    qp->reads_accepted_max = (uint8_t)attr->max_dest_rd_atomic;
    qp->access = attr->access;
    qp->qkey = attr->qkey;
}

sim_err_t nic__set_sender(nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const sim_err_t error = check_attr(qp, attr, message);
    if (error != SIM_OK) {
        return error;
    }
    qp->first_psn = attr->sq_psn;
    qp->next_psn = qp->una_psn = qp->max_psn = attr->sq_psn;
    qp->timeout = (uint8_t)attr->timeout;
    qp->retry_count = (uint8_t)attr->retry_cnt;
    qp->rnr_retry = (uint8_t)attr->rnr_retry;
    qp->reads_max = (uint8_t)attr->max_rd_atomic;
    if (qp->ops->sender_set != NULL) {
        qp->ops->sender_set(qp);
    }
    return SIM_OK;
}

sim_err_t nic__open_to_receive(nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const sim_err_t error = check_attr(qp, attr, message);
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t configured = qp->nic->host->config->window_bytes;
    const uint64_t window = attr->window_bytes == SIM_AUTO ? configured : attr->window_bytes;
    set_path(qp, attr);
    set_transport(qp, attr);
    const bool loops = qp->type != NIC_QPT_UD && nic__loops(qp);
    const uint64_t most_bps = loops ? qp->nic->loopback->rate_bps : nic__line_bps(qp->nic);
    const uint64_t line_bps = SIM_MIN(attr->rate_max_bps, most_bps);
    qp->state = NIC_QPS_RTR;
    NIC_DEVICE(qp->nic, qp_connected, qp);
    nic__cc_create(qp, line_bps, window == SIM_AUTO ? NIC_WINDOW_UNLIMITED : window);
    nic__transport_open(qp);
    return SIM_OK;
}

sim_err_t nic_qp_connect(nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    if (qp->state != NIC_QPS_RESET) {
        return sim_fail(message, SIM_ERR_STATE, "QP %u is connected already", qp->number);
    }
    const sim_err_t error = nic__open_to_receive(qp, attr, message);
    if (error != SIM_OK) {
        return error;
    }
    qp->state = NIC_QPS_RTS;
    qp->flags &= (uint16_t)~NIC_QP_CLOSED;
    nic__trace(qp->nic, qp, NIC_TRACE_STATE, NIC_QPS_RTS, NIC_QPS_RESET);
    NIC_DEVICE(qp->nic, qp_changed, qp);
    return SIM_OK;
}

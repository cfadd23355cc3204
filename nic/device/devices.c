// SPDX-License-Identifier: Apache-2.0
// nic/device/devices.c - the devices there are, and what nic/device.h offers to one.
#include "nic/device.h"
#include "nic/objects/carried.h"

#include "nic/config/parts.h"
#include "nic/host/cores.h"
#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/transport/stalled_pipeline.h"
#include "nic/verbs/life.h"
#include "nic/verbs/qp_check.h"

// The ideal device: nothing inside the NIC takes time. docs/models/nic-ideal.md
const nic_device_ops_t nic_device_ideal = {.name = "ideal"};

const nic_device_ops_t *const nic_device_all[] = {
    &nic_device_ideal,
    &nic_device_rnic,
    NULL,
};

void nic__device_create(nic_t *nic)
{
    const void *config;
    nic->device = nic__config_device(nic->host->config, &config);
    SIM_CHECKF(nic->device != NULL, "no model \"%s\"", nic->host->config->model.text);
    SIM_CHECK(nic->device->qp_state_bytes % SIM_CACHE_LINE == 0);
    nic->detailed = nic->device != &nic_device_ideal;
    if (nic->device->create != NULL) {
        nic->device_state = nic->device->create(nic, config);
    }
}

void nic__device_destroy(nic_t *nic)
{
    if (nic->device->destroy != NULL) {
        nic->device->destroy(nic);
    }
}

bool nic_conserved(const nic_t *nic)
{
    if (nic->carried != NULL) {
        return nic->carried->conserved;
    }
    nic__check(nic);
    return nic->device->conserved == NULL || nic->device->conserved(nic);
}

void *nic_device_state(const nic_t *nic)
{
    return nic->device_state;
}

void *nic_device_qp_state(const nic_qp_t *qp)
{
    SIM_ASSERT(qp->nic->device->qp_state_bytes != 0);
    return (char *)(uintptr_t)qp - qp->nic->device->qp_state_bytes;
}

sim_node_t *nic_device_node(nic_t *nic)
{
    return nic__node(nic);
}

net_port_t *nic_device_port(const nic_t *nic)
{
    return nic->port;
}

void nic_device_pause(const nic_t *nic, uint8_t classes, uint16_t quanta)
{
    nic__ports_pause(nic, classes, quanta);
}

sim_time_t nic_device_pause_ps(const nic_t *nic, uint16_t quanta)
{
    return nic__ports_pause_ps(nic, quanta);
}

const nic_device_ops_t *nic_device_of(const nic_t *nic)
{
    return nic->device;
}

// -- what the NIC knows

nic_qp_t *nic_device_find_qp(const nic_t *nic, uint32_t number)
{
    return nic__find_qp(nic, number);
}

nic_device_context_t nic_device_context(const nic_qp_t *qp)
{
    return (nic_device_context_t){
        .type = (nic_qp_type_t)qp->type,
        .state = (nic_qp_state_t)qp->state,
        .pd_number = qp->pd->number,
        .send_cq_number = qp->send_cq->number,
        .recv_cq_number = qp->recv_cq->number,
        .access = qp->access,
        .mtu_bytes = qp->mtu_bytes,
        .send_psn = (uint32_t)qp->next_psn & 0xffffff,
        .receive_psn = (uint32_t)qp->expected_psn & 0xffffff,
    };
}

nic_device_connection_t nic_device_connection(const nic_qp_t *qp)
{
    nic_device_connection_t its = {
        .connected = qp->state != NIC_QPS_RESET && qp->mtu_bytes != 0 && qp->type != NIC_QPT_UD,
        .timeout = qp->timeout,
        .retry_count = qp->retry_count,
        .rnr_timer = qp->min_rnr_timer,
        .rnr_retry = qp->rnr_retry,
    };
    if (its.connected) {
        const net_t *const net = qp->nic->host->node.net;
        const net_port_t *const port = qp->nic->port;
        const uint32_t to = qp->path.destination;
        net_port_next_mac(port, to, its.to_mac);
        net_port_mac(port, its.from_mac);
        net_interface_ip(net, to, its.to_ip);
        net_interface_ip(net, qp->nic->interface, its.from_ip);
        its.remote_qpn = qp->path.destination_qp;
        its.udp_source_port = qp->path.udp_source_port;
        its.hop_limit = NIC_TTL;
        its.dscp = qp->path.dscp;
    }
    return its;
}

nic_device_counts_t nic_device_counts(const nic_qp_t *qp)
{
    return (nic_device_counts_t){nic_qp_sends_done(qp), qp->retransmitted_packets};
}

static uint64_t with_psn(uint64_t position, uint32_t psn)
{
    return (position & ~(uint64_t)0xffffff) | psn;
}

void nic_device_take_positions(nic_qp_t *qp, uint32_t send_psn, uint32_t receive_psn)
{
    qp->next_psn = with_psn(qp->next_psn, send_psn);
    qp->expected_psn = with_psn(qp->expected_psn, receive_psn);
}

bool nic_device_find_queue(const nic_t *nic, uint64_t key, nic_device_queue_t *queue)
{
    if (key >> 32 != 0) {
        const nic_srq_t *srq = nic->srqs;
        while (srq != NULL && srq->number != key >> 32) {
            srq = srq->next;
        }
        if (srq != NULL) {
            *queue = (nic_device_queue_t){.number = (uint32_t)srq->number,
                                          .entries = srq->wr_max,
                                          .shared = true};
        }
        return srq != NULL;
    }
    const nic_cq_t *cq = nic->cqs;
    while (cq != NULL && cq->number != key) {
        cq = cq->next;
    }
    if (cq != NULL) {
        *queue = (nic_device_queue_t){
            .number = cq->number,
            .entries = cq->capacity,
            .vector = cq->core != NULL ? nic__core_number(cq->core) : 0,
            .polled = cq->core != NULL,
            .overflowed = cq->overflowed,
        };
    }
    return cq != NULL;
}

bool nic_device_find_region(const nic_t *nic, uint32_t key, nic_device_region_t *region)
{
    const nic_mr_t *const mr = nic__region(nic, key);
    if (mr == NULL) {
        return false;
    }
    *region = (nic_device_region_t){mr->address, mr->length_bytes, mr->access, mr->pd->number};
    return true;
}

uint64_t nic_device_waiting_completions(const nic_t *nic)
{
    uint64_t waiting = 0;
    for (const nic_cq_t *cq = nic->cqs; cq != NULL; cq = cq->next) {
        waiting += cq->count;
    }
    return waiting;
}

bool nic_device_bound(const nic_t *nic)
{
    return nic->bound;
}

// -- what a device does to the protocol

void nic_device_hold(nic_qp_t *qp)
{
    qp->flags |= NIC_QP_FETCHING;
    if (!nic__can_send(qp)) {
        nic__unschedule(qp);
    }
}

void nic_device_release(nic_qp_t *qp)
{
    qp->flags &= (uint16_t)~NIC_QP_FETCHING;
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        nic__schedule(qp);
    }
}

void nic_device_schedule(nic_qp_t *qp)
{
    nic__schedule(qp);
}

void nic_device_respond(nic_qp_t *qp)
{
    if (qp->reads_ready < qp->read_count) {
        qp->reads_ready++;
        qp->flags |= NIC_QP_READS;
        nic__schedule(qp);
    }
}

void nic_device_answer(nic_t *nic, net_packet_t *packet)
{
    nic__send(nic, packet);
}

bool nic_device_tells_arrivals(const nic_t *nic)
{
    return nic->cc_ops->hears_hosts;
}

void nic_device_arrived(nic_t *nic, sim_time_t arrived_ps)
{
    nic->arrived_ps = arrived_ps;
}

void nic_device_receive(nic_t *nic, net_packet_t *packet)
{
    if (SIM_UNLIKELY(nic->gated)) {
        nic__gate_push(nic->gate, packet);
    } else {
        nic__receive(nic, packet);
    }
    nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
}

void nic_device_receive_for(nic_qp_t *qp, net_packet_t *packet)
{
    nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(nic->gated)) {
        nic__gate_push(nic->gate, packet);
    } else {
        nic__receive_for(nic, qp, packet);
    }
    nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
}

void nic_device_complete(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps)
{
    nic__add_completion(qp, cq, wc, seen_ps);
}

void nic_device_wrote(nic_qp_t *qp, uint64_t address, uint32_t bytes)
{
    nic__notice(qp->nic->host, &(nic_notice_t){.qp = qp, .address = address, .bytes = bytes});
}

bool nic_device_traced(const nic_t *nic, uint32_t points)
{
    return nic__traced(nic, points);
}

void nic_device_trace(const nic_t *nic, const nic_qp_t *qp, nic_trace_point_t point, uint64_t value,
                      uint64_t before)
{
    nic__trace(nic, qp, point, value, before);
}

// SPDX-License-Identifier: Apache-2.0
// nic/device/devices.c - the devices there are, and what nic/device.h offers to one.
#include "nic/device.h"

#include "nic/nic_internal.h"

// Nothing that happens inside it takes time. docs/models/nic-ideal.md
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

nic_qp_t *nic_device_find_qp(const nic_t *nic, uint32_t number)
{
    return nic__find_qp(nic, number);
}

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

void nic_device_receive(nic_t *nic, net_packet_t *packet)
{
    nic__receive(nic, packet);
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

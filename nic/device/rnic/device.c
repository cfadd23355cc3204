// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/device.c - the detailed NIC as a row of the table of devices.
// docs/models/rnic.md
#include "nic/device/rnic/complete.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/post.h"
#include "nic/device/rnic/receive.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"

static void *create(nic_t *nic, const void *config)
{
    (void)config; // it has attributes: nic.detailed
    return nic__rnic_create(nic);
}

// -- queue pairs

static void qp_created(nic_qp_t *qp)
{
    nic__rnic_place(qp);
    nic__store_add(nic__device_nic(qp), NIC_STORE_CONTEXT, nic__device_number(qp));
}

static void qp_changed(nic_qp_t *qp)
{
    nic__store_change(nic__device_nic(qp), NIC_STORE_CONTEXT, nic__device_number(qp));
}

static void qp_reset(nic_qp_t *qp, uint32_t unfinished)
{
    nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    nic__rnic(nic__device_nic(qp))->counters.wqes_completed += unfinished;
    nic__items_forget(nic__rnic(nic__device_nic(qp)), qp);
    state->sq_ready = state->sq_here = nic__device_posted(qp);
    state->ready_ps = state->response_ps = 0;
    state->waiting = NULL;
    state->waiting_packet = NULL;
}

static void qp_destroyed(nic_qp_t *qp, uint32_t unfinished)
{
    nic__rnic(nic__device_nic(qp))->counters.wqes_completed += unfinished;
    nic__items_forget(nic__rnic(nic__device_nic(qp)), qp);
    nic__rnic_forget_receiving(nic__rnic(nic__device_nic(qp)), qp);
    nic__store_remove(nic__device_nic(qp), NIC_STORE_CONTEXT, nic__device_number(qp));
}

static void cq_changed(nic_cq_t *cq)
{
    nic__store_change(nic__device_cq_nic(cq), NIC_STORE_CQ, nic__device_cq_number(cq));
}

static void pd_created(nic_t *nic, uint32_t number)
{
    nic__store_add(nic, NIC_STORE_PD, number);
}

static void mr_registered(nic_t *nic, uint32_t key)
{
    nic__store_add(nic, NIC_STORE_KEY, key);
}

static void mr_deregistered(nic_t *nic, uint32_t key)
{
    nic__store_remove(nic, NIC_STORE_KEY, key);
}

// -- packets and completions

static void completed(nic_t *nic)
{
    nic__rnic(nic)->counters.cqes_written++;
}

// -- cores

static void taken(nic_t *nic, uint32_t count)
{
    nic__rnic(nic)->counters.cqes_polled += count;
}

static void polled(nic_t *nic, nic_core_t *core, uint32_t count)
{
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    nic__core_spend(core, detail->cpu_poll_ps + count * detail->cpu_cqe_ps);
    // The NIC wrote the CQEs into the last-level cache. Adjacent CQEs come with one access.
    nic__core_wait(core, count != 0 ? detail->cpu_line_wait_ps : 0);
}

static void digest(const nic_t *nic, sim_digest_t *sum)
{
    nic_rnic_counters_t inside;
    SIM_CHECK(nic_get_rnic_counters(nic, &inside));
    sim_fields_digest(&nic__rnic_counter_fields, &inside, sum);
}

// The data of a packet to the NIC itself cross PCIe twice, once in each direction, and both
// directions have the same rate. PCIe's headers and the units make it slower than this.
static uint64_t loopback_bps(const nic_t *nic)
{
    const nic_pcie_config_t *const pcie = &nic__rnic(nic)->pcie.config;
    return pcie->lanes * pcie->lane_rate_bps;
}

const nic_device_ops_t nic_device_rnic = {
    .name = "detailed",
    .qp_state_bytes = sizeof(nic_rnic_qp_t),
    .create = create,
    .destroy = nic__rnic_destroy,
    .qp_created = qp_created,
    .qp_connected = nic__rnic_moved,
    .qp_changed = qp_changed,
    .qp_closed = nic__rnic_forget_early,
    .qp_flushed = nic__rnic_flushed,
    .qp_reset = qp_reset,
    .qp_destroyed = qp_destroyed,
    .cq_created = nic__rnic_place_cq,
    .cq_changed = cq_changed,
    .pd_created = pd_created,
    .mr_registered = mr_registered,
    .mr_deregistered = mr_deregistered,
    .post = nic__rnic_post,
    .post_receive = nic__rnic_post_receive,
    .inline_max = nic__rnic_inline_max,
    .sent = nic__rnic_sent,
    .moved = nic__rnic_moved,
    .rewound = nic__rnic_rewound,
    .done = nic__rnic_wqe_done,
    .respond = nic__rnic_respond,
    .answer = nic__rnic_answer,
    .arrive = nic__rnic_arrive,
    .payload = nic__rnic_payload,
    .lands = nic__rnic_lands,
    .atomic_done = nic__rnic_atomic_done,
    .wrote = nic__rnic_tell_write,
    .completion = nic__rnic_completion,
    .completed = completed,
    .taken = taken,
    .polled = polled,
    .host_read_ps = nic__rnic_host_read,
    .host_write_ps = nic__rnic_host_write,
    .check_qp = nic__rnic_check_qp,
    .loopback_bps = loopback_bps,
    .conserved = nic__rnic_conserved,
    .digest = digest,
};

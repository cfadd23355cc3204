// SPDX-License-Identifier: Apache-2.0
// nic/schedule/schedulers.c - the schedulers there are, and what nic/scheduler.h offers to one.
// Page: docs/models/scheduler.md.
#include <string.h>

#include "nic/schedule/ring.h"

#include "nic/config/parts.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/planes.h"

// -- ring, for those who call it through its table

static nic_qp_t *ring_next(nic_t *nic, uint32_t class)
{
    return nic->ready[class];
}

static void ring_sent(nic_t *nic, nic_qp_t *qp, uint32_t bytes)
{
    (void)bytes;
    nic__ring_turn(nic, qp);
}

const nic_scheduler_ops_t nic_scheduler_ring = {
    .name = "ring",
    .join = nic__ring_join,
    .leave = nic__ring_leave,
    .next = ring_next,
    .sent = ring_sent,
};

const nic_scheduler_ops_t *const nic_scheduler_all[] = {
    &nic_scheduler_ring,
    NULL,
};

// -- life

void nic__scheduler_create(nic_t *nic)
{
    const void *config;
    const nic_scheduler_ops_t *const ops = nic__config_scheduler(nic->host->config, &config);
    SIM_CHECKF(ops != NULL, "no scheduler \"%s\"", nic->host->config->scheduler);
    SIM_CHECK(ops->qp_state_bytes % SIM_CACHE_LINE == 0);
    SIM_CHECK(ops->loop != NULL || (ops->join != NULL && ops->leave != NULL && ops->next != NULL));
    nic->scheduler = ops;
    nic->loop = ops->loop;
    // Packets that take paths of their own get them where the scheduler is called by its table.
    nic->ring = ops == &nic_scheduler_ring && nic->host->config->repath != NIC_REPATH_REPS;
    nic__planes_create(nic);
    if (nic->loop != NULL) {
        nic->ready_classes = UINT8_MAX; // who is ready is not known before it is looked
    }
    if (ops->state_bytes != 0) {
        nic->scheduler_state = sim_alloc_lines(ops->state_bytes);
    }
    if (ops->create != NULL) {
        ops->create(nic, config);
    }
}

void nic__scheduler_destroy(nic_t *nic)
{
    if (nic->scheduler->destroy != NULL) {
        nic->scheduler->destroy(nic);
    }
    sim_free(nic->scheduler_state);
    nic__planes_destroy(nic);
}

void nic__scheduler_forget(nic_qp_t *qp)
{
    nic__unschedule(qp);
    if (qp->nic->loop != NULL) {
        qp->nic->loop->stopped(qp);
    }
}

void nic__scheduler_reset(nic_qp_t *qp)
{
    if (qp->nic->scheduler->qp_state_bytes != 0) {
        memset(nic_scheduler_qp_state(qp), 0, qp->nic->scheduler->qp_state_bytes);
    }
}

// -- looking

const nic_scheduler_ops_t *nic_scheduler_ops(const nic_t *nic)
{
    return nic->scheduler;
}

void *nic_scheduler_state(const nic_t *nic)
{
    SIM_ASSERT(nic->scheduler->state_bytes != 0);
    return nic->scheduler_state;
}

void *nic_scheduler_qp_state(const nic_qp_t *qp)
{
    SIM_ASSERT(qp->nic->scheduler->qp_state_bytes != 0);
    return (char *)(uintptr_t)qp - nic__bytes_before_qp(qp->nic);
}

uint32_t nic_scheduler_class(const nic_qp_t *qp)
{
    return qp->priority;
}

uint64_t nic_scheduler_left_bytes(const nic_qp_t *qp)
{
    return qp->sq_send == qp->sq_posted ? 0 : nic__wqe(qp, qp->sq_send)->length - qp->send_offset;
}

net_port_t *nic_scheduler_port(const nic_t *nic)
{
    return nic->port;
}

bool nic_scheduler_in_event(const nic_t *nic)
{
    return nic->host->in_event;
}

bool nic_scheduler_can_send(const nic_qp_t *qp)
{
    return nic__can_send(qp);
}

bool nic_scheduler_unsent(const nic_qp_t *qp)
{
    return qp->sq_send != qp->sq_posted;
}

bool nic_scheduler_finished(const nic_qp_t *qp)
{
    return qp->sq_done == qp->sq_posted && (qp->flags & NIC_QP_READS) == 0;
}

const nic_cc_t *nic_scheduler_cc(const nic_qp_t *qp)
{
    return nic__cc_const(qp);
}

// -- doing

bool nic_scheduler_take_rate_set(nic_qp_t *qp)
{
    nic_cc_t *const cc = nic__cc(qp);
    const bool set = cc->rate_set;
    cc->rate_set = false;
    return set;
}

void nic_scheduler_kick(nic_t *nic)
{
    nic__kick(nic);
}

void nic_scheduler_consume(nic_t *nic, net_packet_t *packet)
{
    nic__consume(nic, packet);
}

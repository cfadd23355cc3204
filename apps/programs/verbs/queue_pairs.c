// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/queue_pairs.c - queue pairs of a process: numbers, attributes and transitions
// (docs/models/programs.md).
#include "apps/programs/verbs/queue_pairs.h"

#include "apps/programs/process_verbs.h"
#include "apps/programs/turns.h"
#include "apps/programs/verbs/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OBJECTS_MAX (1u << 20) // of a kind
#define WORK_REQUESTS_MAX (1u << 20)
#define NUMBERS_AT_ONCE 4096u // QP numbers that are reserved together

// Values of <infiniband/verbs.h>, which the tree does not need for itself.
enum {
    QPT_RC = 2,
    QPT_UC = 3,
    QPT_UD = 4,
    MASK_STATE = 1 << 0,
    MASK_CUR_STATE = 1 << 1,
    MASK_SQD_NOTIFY = 1 << 2,
    MASK_ACCESS = 1 << 3,
    MASK_PKEY_INDEX = 1 << 4,
    MASK_PORT = 1 << 5,
    MASK_QKEY = 1 << 6,
    MASK_AV = 1 << 7,
    MASK_PATH_MTU = 1 << 8,
    MASK_TIMEOUT = 1 << 9,
    MASK_RETRY_CNT = 1 << 10,
    MASK_RNR_RETRY = 1 << 11,
    MASK_RQ_PSN = 1 << 12,
    MASK_MAX_RD_ATOMIC = 1 << 13,
    MASK_ALT_PATH = 1 << 14,
    MASK_MIN_RNR_TIMER = 1 << 15,
    MASK_SQ_PSN = 1 << 16,
    MASK_MAX_DEST_RD_ATOMIC = 1 << 17,
    MASK_PATH_MIG_STATE = 1 << 18,
    MASK_DEST_QPN = 1 << 20,
};

static const uint32_t states_of_process[] = {
    [NIC_QPS_RESET] = 0, [NIC_QPS_INIT] = 1, [NIC_QPS_RTR] = 2, [NIC_QPS_RTS] = 3,
    [NIC_QPS_SQD] = 4,   [NIC_QPS_SQE] = 5,  [NIC_QPS_ERR] = 6,
};
static const nic_qp_state_t states_of_nic[] = {
    NIC_QPS_RESET, NIC_QPS_INIT, NIC_QPS_RTR, NIC_QPS_RTS, NIC_QPS_SQD, NIC_QPS_SQE, NIC_QPS_ERR,
};

app__pr_qp_t *app__program_qp(app__program_t *program, uint32_t number)
{
    if (program->latest_qp == NULL || program->latest_qpn != number) {
        const uint64_t index = sim_map_get(&program->qp_of_number, number);
        program->latest_qp = index == SIM_MAP_NONE ? NULL : program->qps[index];
        program->latest_qpn = number;
    }
    app__pr_qp_t *const found = program->latest_qp;
    return found == NULL || found->qp == NULL ? NULL : found;
}

static uint32_t take_number(app__program_t *program, const nic_t *nic)
{
    app__pr_numbers_t *numbers = NULL;
    const uint32_t interface = nic_interface(nic);
    for (size_t i = 0; i < program->number_count && numbers == NULL; i++) {
        numbers = program->numbers[i].interface == interface ? &program->numbers[i] : NULL;
    }
    if (numbers == NULL) {
        SIM_APPEND(program->numbers, program->number_count, program->number_capacity,
                   ((app__pr_numbers_t){.interface = interface}));
        numbers = &program->numbers[program->number_count - 1];
    }
    if (numbers->left == 0) {
        app__endpoint_t *const endpoint = app__endpoint_of(program->runtime, interface);
        numbers->position = app__reserve_qps(endpoint, NULL, program, NUMBERS_AT_ONCE);
        numbers->left = NUMBERS_AT_ONCE;
    }
    numbers->left--;
    return app__qp_number(numbers->position++);
}

// Returns a number that no other queue pair of the program has, on any NIC: it is the handle, too.
static uint32_t next_number(app__program_t *program, const nic_t *nic)
{
    uint32_t number = take_number(program, nic);
    while (app__program_qp(program, number) != NULL) {
        number = take_number(program, nic);
    }
    return number;
}

static void note_write(nic_qp_t *nic_qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)nic_qp;
    (void)address;
    (void)byte_len;
    app__pr_qp_t *const qp = ctx;
    app__program_communicates(qp);
    for (app__program_t *program = app__segments_sharers(qp->program); program != NULL;
         program = program->next_sharer) {
        app__program_notice(program, PROGRAM_ON_MEMORY);
    }
}

int app__program_create_qp(app__program_t *program, program_call_t *call)
{
    const program_create_qp_t *const wish = &call->create;
    app__pr_pd_t *const pd = app__program_pd(program, call->handle);
    app__pr_cq_t *const send_cq = app__program_cq(program, wish->send_cq);
    app__pr_cq_t *const recv_cq = app__program_cq(program, wish->recv_cq);
    app__pr_srq_t *const srq = wish->srq == 0 ? NULL : app__program_srq(program, wish->srq);
    if (pd == NULL || send_cq == NULL || recv_cq == NULL || (wish->srq != 0 && srq == NULL) ||
        wish->max_send_wr > WORK_REQUESTS_MAX || wish->max_recv_wr > WORK_REQUESTS_MAX) {
        return EINVAL;
    }
    if (wish->type < QPT_RC || wish->type > QPT_UD) {
        return EOPNOTSUPP;
    }
    if (program->qp_count >= OBJECTS_MAX) {
        return ENOMEM;
    }
    app__pr_qp_t *const qp = sim_alloc(sizeof(*qp));
    *qp = (app__pr_qp_t){
        .program = program,
        .type = (nic_qp_type_t)(wish->type - QPT_RC),
        .pd = call->handle,
        .send_cq = wish->send_cq,
        .recv_cq = wish->recv_cq,
        .srq = wish->srq,
        .signal_all = wish->signal_all != 0,
    };
    const bool datagrams = qp->type == NIC_QPT_UD;
    const nic_qp_init_attr_t attr = {
        .qp_type = qp->type,
        .send_cq = send_cq->cq,
        .recv_cq = recv_cq->cq,
        // A datagram to a group is one for each member, and only the last one may complete.
        .max_send_wr = SIM_MAX(wish->max_send_wr, 1u) * (datagrams ? APP__GROUP_MEMBERS_MAX : 1u),
        .max_recv_wr = wish->max_recv_wr,
        .srq = srq == NULL ? NULL : srq->srq,
        .sq_sig_all = qp->signal_all && !datagrams,
        .grh = datagrams,
        .qp_num = next_number(program, nic_cq_nic(send_cq->cq)),
        .ctx = qp,
    };
    if (nic_qp_create(pd->pd, &attr, &qp->qp) != SIM_OK) {
        sim_free(qp);
        return ENOMEM;
    }
    if (!datagrams) {
        nic_qp_on_write(qp->qp, note_write, qp);
    }
    pd->users++;
    send_cq->users++;
    recv_cq->users++;
    if (srq != NULL) {
        srq->users++;
    }
    sim_map_add(&program->qp_of_number, attr.qp_num, program->qp_count);
    SIM_APPEND(program->qps, program->qp_count, program->qp_capacity, qp);
    call->handle = attr.qp_num;
    return 0;
}

void app__program_free_qp(app__program_t *program, app__pr_qp_t *qp)
{
    app__pr_flows_stop(&program->flows, qp);
    app__sockets_leave_groups(program, nic_interface(nic_qp_nic(qp->qp)), nic_qp_num(qp->qp));
    nic_qp_destroy(qp->qp);
    qp->qp = NULL;
    program->pds[qp->pd - 1].users--;
    program->cqs[qp->send_cq - 1]->users--;
    program->cqs[qp->recv_cq - 1]->users--;
    if (qp->srq != 0) {
        program->srqs[qp->srq - 1]->users--;
    }
    sim_free(qp->flows);
    qp->flows = NULL;
}

int app__program_destroy_qp(app__program_t *program, const program_call_t *call)
{
    app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL) {
        return EINVAL;
    }
    const uint64_t index = sim_map_get(&program->qp_of_number, call->handle);
    app__program_free_qp(program, qp);
    sim_map_remove(&program->qp_of_number, call->handle, index);
    program->latest_qp = NULL;
    return 0;
}

int app__program_change_group(app__program_t *program, const program_call_t *call)
{
    const app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL || qp->type != NIC_QPT_UD || !app__is_group(call->qp.gid)) {
        return EINVAL;
    }
    app__member_t member = {.interface = nic_interface(nic_qp_nic(qp->qp)),
                            .qp_num = nic_qp_num(qp->qp)};
    memcpy(member.group, call->qp.gid, sizeof(member.group));
    return app__sockets_change_group(program, &member, (call->flags & 1) != 0);
}

static void take_attributes(program_qp_t *to, const program_qp_t *from)
{
    const struct {
        uint32_t mask;
        uint32_t *to;
        uint32_t from;
    } members[] = {
        {MASK_ACCESS, &to->access, from->access},
        {MASK_QKEY, &to->qkey, from->qkey},
        {MASK_PATH_MTU, &to->path_mtu_bytes, from->path_mtu_bytes},
        {MASK_TIMEOUT, &to->timeout, from->timeout},
        {MASK_RETRY_CNT, &to->retry_cnt, from->retry_cnt},
        {MASK_RNR_RETRY, &to->rnr_retry, from->rnr_retry},
        {MASK_RQ_PSN, &to->rq_psn, from->rq_psn},
        {MASK_MAX_RD_ATOMIC, &to->max_rd_atomic, from->max_rd_atomic},
        {MASK_MIN_RNR_TIMER, &to->min_rnr_timer, from->min_rnr_timer},
        {MASK_SQ_PSN, &to->sq_psn, from->sq_psn},
        {MASK_MAX_DEST_RD_ATOMIC, &to->max_dest_rd_atomic, from->max_dest_rd_atomic},
        {MASK_DEST_QPN, &to->dest_qp_num, from->dest_qp_num},
        {MASK_AV, &to->service_level, from->service_level},
        {MASK_AV, &to->traffic_class, from->traffic_class},
        {MASK_AV, &to->flow_label, from->flow_label},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(members); i++) {
        if ((from->mask & members[i].mask) != 0) {
            *members[i].to = members[i].from;
        }
    }
    if ((from->mask & MASK_AV) != 0) {
        memcpy(to->gid, from->gid, sizeof(to->gid));
    }
    to->mask |= from->mask;
}

// Returns the UDP source port of a flow label, as rdma-core's rdma_flow_label_to_udp_sport makes
// it; 0: the NIC's own choice.
static uint16_t port_of_label(uint32_t label)
{
    const uint32_t low = (label & 0x3fff) ^ ((label & 0xfc000) >> 14);
    return label == 0 ? 0 : (uint16_t)(low | 0xc000);
}

static int make_attr(const app__program_t *program, app__pr_qp_t *qp, nic_qp_attr_t *attr)
{
    const program_qp_t *const set = &qp->attr;
    nic_qp_attr_default(nic_qp_nic(qp->qp), attr);
    attr->access = set->access & 0xf;
    attr->qkey = set->qkey;
    attr->rq_psn = set->rq_psn & 0xffffff;
    attr->sq_psn = set->sq_psn & 0xffffff;
    qp->mtu_bytes = (uint16_t)attr->path_mtu;
    qp->priority = attr->priority;
    qp->dscp = attr->dscp;
    if (qp->type == NIC_QPT_UD) {
        return 0;
    }
    attr->dest_interface = app__interface_of_gid(program->app.net, set->gid);
    attr->dest_qp_num = set->dest_qp_num;
    if (attr->dest_interface == UINT32_MAX) {
        return EHOSTUNREACH;
    }
    attr->path_mtu = set->path_mtu_bytes;
    attr->udp_source_port = port_of_label(set->flow_label);
    if (set->service_level != 0) {
        attr->priority = (uint8_t)set->service_level;
        attr->dscp = (uint8_t)(set->service_level * 8);
    }
    if (set->traffic_class != 0) {
        attr->dscp = (uint8_t)(set->traffic_class >> 2);
        attr->priority = set->service_level != 0 ? attr->priority : (uint8_t)(attr->dscp >> 3);
    }
    qp->mtu_bytes = (uint16_t)attr->path_mtu;
    qp->priority = attr->priority;
    qp->dscp = attr->dscp;
    if (qp->type == NIC_QPT_RC) {
        // The attributes of sending come with the transition to RTS.
        attr->max_dest_rd_atomic = SIM_MAX(set->max_dest_rd_atomic, 1u);
        attr->min_rnr_timer = set->min_rnr_timer;
        if ((set->mask & MASK_TIMEOUT) != 0) {
            attr->timeout = set->timeout;
            attr->retry_cnt = set->retry_cnt;
            attr->rnr_retry = set->rnr_retry;
            attr->max_rd_atomic = SIM_MAX(set->max_rd_atomic, 1u);
        }
    }
    return 0;
}

// A transition of the standard: attributes that it needs, and others that it takes, for RC, UC and
// UD in this order (IBA vol. 1, 11.2.5.2, table 94). All states lead to RESET and ERR.
typedef struct transition {
    uint8_t from; // as enum ibv_qp_state
    uint8_t to;
    uint32_t needs[3];
    uint32_t takes[3];
} transition_t;

// clang-format off
#define OF_INIT (MASK_PKEY_INDEX | MASK_PORT)
#define OF_RTR (MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN)
#define OF_RTS (MASK_SQ_PSN | MASK_TIMEOUT | MASK_RETRY_CNT | MASK_RNR_RETRY | MASK_MAX_RD_ATOMIC)
#define LATER (MASK_CUR_STATE | MASK_ACCESS | MASK_ALT_PATH | MASK_PATH_MIG_STATE)
#define LATER_RC (LATER | MASK_MIN_RNR_TIMER)
#define LATER_UD (MASK_CUR_STATE | MASK_QKEY)
enum { S_RESET, S_INIT, S_RTR, S_RTS, S_SQD, S_SQE, S_ERR };
static const transition_t transitions[] = {
    {S_RESET, S_INIT, {OF_INIT | MASK_ACCESS, OF_INIT | MASK_ACCESS, OF_INIT | MASK_QKEY}, {0}},
    {S_INIT, S_INIT, {0}, {OF_INIT | MASK_ACCESS, OF_INIT | MASK_ACCESS, OF_INIT | MASK_QKEY}},
    {S_INIT, S_RTR, {OF_RTR | MASK_MAX_DEST_RD_ATOMIC | MASK_MIN_RNR_TIMER, OF_RTR, 0},
     {MASK_ALT_PATH | MASK_ACCESS | MASK_PKEY_INDEX, MASK_ALT_PATH | MASK_ACCESS | MASK_PKEY_INDEX,
      MASK_PKEY_INDEX | MASK_QKEY}},
    {S_RTR, S_RTS, {OF_RTS, MASK_SQ_PSN, MASK_SQ_PSN}, {LATER_RC, LATER, LATER_UD}},
    {S_RTS, S_RTS, {0}, {LATER_RC, LATER, LATER_UD}},
    {S_RTS, S_SQD, {0}, {MASK_SQD_NOTIFY, MASK_SQD_NOTIFY, MASK_SQD_NOTIFY}},
    {S_SQD, S_RTS, {0}, {LATER_RC, LATER, LATER_UD}},
    {S_SQE, S_RTS, {0}, {MASK_CUR_STATE, MASK_CUR_STATE | MASK_ACCESS, LATER_UD}},
};
// clang-format on

// Returns false if there is no such transition, or not with these attributes.
static bool is_transition(nic_qp_type_t type, uint32_t from, uint32_t to, uint32_t mask)
{
    if (to == S_RESET || to == S_ERR) {
        return (mask & ~(uint32_t)(MASK_STATE | MASK_CUR_STATE)) == 0;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(transitions); i++) {
        const transition_t *const row = &transitions[i];
        if (row->from == from && row->to == to) {
            const uint32_t known = row->needs[type] | row->takes[type] | MASK_STATE;
            return (mask & row->needs[type]) == row->needs[type] && (mask & ~known) == 0;
        }
    }
    return false;
}

int app__program_modify_qp(app__program_t *program, program_call_t *call)
{
    app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL ||
        ((call->qp.mask & MASK_STATE) != 0 && call->qp.state >= SIM_COUNT_OF(states_of_nic))) {
        return EINVAL;
    }
    const nic_qp_state_t from = nic_qp_state(qp->qp);
    const nic_qp_state_t to =
        (call->qp.mask & MASK_STATE) != 0 ? states_of_nic[call->qp.state] : from;
    if (!is_transition(qp->type, states_of_process[from], states_of_process[to], call->qp.mask)) {
        return EINVAL;
    }
    const program_qp_t before = qp->attr;
    take_attributes(&qp->attr, &call->qp);
    if (to == from && to == NIC_QPS_INIT) {
        return 0;
    }
    nic_qp_attr_t attr;
    int error = to == NIC_QPS_RTR || to == NIC_QPS_RTS ? make_attr(program, qp, &attr) : 0;
    sim_message_t message;
    const bool needed = to == NIC_QPS_RTR || to == NIC_QPS_RTS;
    if (error == 0 && nic_qp_modify(qp->qp, to, needed ? &attr : NULL, &message) != SIM_OK) {
        (void)dprintf(program->process->err, "rocesim: ibv_modify_qp: %s\n", message.text);
        error = EINVAL;
    }
    if (error != 0) {
        qp->attr = before;
        return error;
    }
    if (to == NIC_QPS_RESET) {
        qp->attr = (program_qp_t){0};
        qp->communicates = false;
    }
    qp->notes_drain = to == NIC_QPS_SQD && call->qp.draining != 0;
    app__program_drained(qp);
    return 0;
}

bool app__program_ends_sends(app__program_t *program, const program_call_t *call)
{
    const bool destroys = call->op == PROGRAM_DESTROY_QP;
    if (!destroys && (call->op != PROGRAM_MODIFY_QP || (call->qp.mask & MASK_STATE) == 0 ||
                      call->qp.state >= SIM_COUNT_OF(states_of_nic))) {
        return false;
    }
    const nic_qp_state_t to = destroys ? NIC_QPS_RESET : states_of_nic[call->qp.state];
    const app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    return qp != NULL && nic_qp_state(qp->qp) == NIC_QPS_RTS && !nic_qp_quiet(qp->qp) &&
           (to == NIC_QPS_RESET || to == NIC_QPS_ERR);
}

int app__program_query_qp(app__program_t *program, program_call_t *call)
{
    app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL) {
        return EINVAL;
    }
    call->qp = qp->attr;
    call->qp.state = states_of_process[nic_qp_state(qp->qp)];
    if (nic_qp_state(qp->qp) >= NIC_QPS_RTR && qp->type == NIC_QPT_RC) {
        call->qp.rq_psn = nic_qp_rq_psn(qp->qp);
        call->qp.sq_psn = (uint32_t)nic_qp_una_psn(qp->qp) & 0xffffff;
    }
    call->qp.draining = nic_qp_state(qp->qp) == NIC_QPS_SQD && !nic_qp_drained(qp->qp);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs.c - the verbs that a process calls: its objects, and the NIC's behind them
// (docs/models/programs.md).
//
// A process names bytes of its memory by its own addresses. Those of the program number N of a host
// lie at N << 47 in the host's memory, since processes use 47 bits; regions are registered there,
// and peers name their bytes by the process's addresses (nic_mr_set_iova).
#include "apps/programs/process_verbs.h"
#include "apps/programs/turns.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ADDRESS_BITS 47u
#define OBJECTS_MAX (1u << 20) // of a kind
#define ENTRIES_MAX (1u << 22) // of a completion queue
#define WORK_REQUESTS_MAX (1u << 20)
#define NUMBERS_AT_ONCE 4096u // QP numbers that are reserved together
#define GRH_BYTES 40u
#define SCRATCH_PAGES 64u // the last of a process's addresses, which no process has itself
#define PAGE_MASK UINT64_C(4095)
#define EVENT_OF(type) (1u + (type))

// Values of <infiniband/verbs.h>, which the tree does not need for itself.
enum {
    EVENT_CQ_ERR = 0,
    EVENT_QP_FATAL = 1,
    EVENT_SRQ_LIMIT_REACHED = 15,
    QPT_RC = 2,
    QPT_UC = 3,
    QPT_UD = 4,
    MASK_STATE = 1 << 0,
    MASK_ACCESS = 1 << 3,
    MASK_QKEY = 1 << 6,
    MASK_AV = 1 << 7,
    MASK_PATH_MTU = 1 << 8,
    MASK_TIMEOUT = 1 << 9,
    MASK_RETRY_CNT = 1 << 10,
    MASK_RNR_RETRY = 1 << 11,
    MASK_RQ_PSN = 1 << 12,
    MASK_MAX_RD_ATOMIC = 1 << 13,
    MASK_MIN_RNR_TIMER = 1 << 15,
    MASK_SQ_PSN = 1 << 16,
    MASK_MAX_DEST_RD_ATOMIC = 1 << 17,
    MASK_DEST_QPN = 1 << 20,
    WC_GRH = 1,
    WC_WITH_IMM = 2,
};

static const uint32_t states_of_process[] = {
    [NIC_QPS_RESET] = 0, [NIC_QPS_INIT] = 1, [NIC_QPS_RTR] = 2, [NIC_QPS_RTS] = 3,
    [NIC_QPS_SQD] = 4,   [NIC_QPS_SQE] = 5,  [NIC_QPS_ERR] = 6,
};
static const nic_qp_state_t states_of_nic[] = {
    NIC_QPS_RESET, NIC_QPS_INIT, NIC_QPS_RTR, NIC_QPS_RTS, NIC_QPS_SQD, NIC_QPS_SQE, NIC_QPS_ERR,
};
static const uint32_t wc_statuses[] = {
    [NIC_WC_SUCCESS] = 0,        [NIC_WC_LOC_LEN_ERR] = 1,     [NIC_WC_LOC_QP_OP_ERR] = 2,
    [NIC_WC_LOC_PROT_ERR] = 4,   [NIC_WC_WR_FLUSH_ERR] = 5,    [NIC_WC_BAD_RESP_ERR] = 7,
    [NIC_WC_LOC_ACCESS_ERR] = 8, [NIC_WC_REM_INV_REQ_ERR] = 9, [NIC_WC_REM_ACCESS_ERR] = 10,
    [NIC_WC_REM_OP_ERR] = 11,    [NIC_WC_RETRY_EXC_ERR] = 12,  [NIC_WC_RNR_RETRY_EXC_ERR] = 13,
    [NIC_WC_GENERAL_ERR] = 21,
};
static const uint32_t wc_opcodes[] = {
    [NIC_WC_SEND] = 0,
    [NIC_WC_RDMA_WRITE] = 1,
    [NIC_WC_RDMA_READ] = 2,
    [NIC_WC_COMP_SWAP] = 3,
    [NIC_WC_FETCH_ADD] = 4,
    [NIC_WC_RECV] = 128,
    [NIC_WC_RECV_RDMA_WITH_IMM] = 129,
};

// -- what the process has made

static app__pr_pd_t *find_pd(const app__program_t *program, uint32_t handle)
{
    app__pr_pd_t *const pd = handle - 1 < program->pd_count ? &program->pds[handle - 1] : NULL;
    return pd != NULL && pd->pd != NULL ? pd : NULL;
}

static app__pr_cq_t *find_cq(const app__program_t *program, uint32_t handle)
{
    app__pr_cq_t *const cq = handle - 1 < program->cq_count ? program->cqs[handle - 1] : NULL;
    return cq != NULL && !cq->gone ? cq : NULL;
}

app__pr_srq_t *app__program_srq(app__program_t *program, uint32_t handle)
{
    app__pr_srq_t *const srq = handle - 1 < program->srq_count ? program->srqs[handle - 1] : NULL;
    return srq != NULL && !srq->gone ? srq : NULL;
}

app__pr_qp_t *app__program_qp(app__program_t *program, uint32_t number)
{
    const uint64_t index = sim_map_get(&program->qp_of_number, number);
    return index == SIM_MAP_NONE || program->qps[index]->qp == NULL ? NULL : program->qps[index];
}

static nic_t *nic_of_call(const app__program_t *program, const program_call_t *call)
{
    return call->device < nic_count(program->node) ? nic_at(program->node, call->device) : NULL;
}

// -- addresses

void app__gid_of_interface(const net_t *net, uint32_t interface, uint8_t gid[16])
{
    uint8_t ip[16] = {0};
    net_interface_ip(net, interface, ip);
    if (net_get_config(net)->ipv6) {
        memcpy(gid, ip, 16);
        return;
    }
    memset(gid, 0, 10);
    gid[10] = gid[11] = 0xff;
    memcpy(gid + 12, ip, 4);
}

uint32_t app__interface_of_gid(const net_t *net, const uint8_t gid[16])
{
    // Addresses count from that of interface 0 (net/network.h).
    uint8_t first[16];
    app__gid_of_interface(net, 0, first);
    uint32_t number = 0;
    uint32_t base = 0;
    for (int i = 12; i < 16; i++) {
        number = number << 8 | gid[i];
        base = base << 8 | first[i];
    }
    const uint32_t interface = number - base;
    if (interface >= net_interface_count(net)) {
        return UINT32_MAX;
    }
    uint8_t its_own[16];
    app__gid_of_interface(net, interface, its_own);
    return memcmp(its_own, gid, 16) == 0 ? interface : UINT32_MAX;
}

static uint64_t base_of(const app__program_t *program)
{
    return (uint64_t)program->number << ADDRESS_BITS;
}

uint64_t app__program_address(const app__program_t *program, uint32_t lkey, uint64_t address)
{
    const uint64_t index = sim_map_get(&program->mr_of_key, lkey);
    return address + (index == SIM_MAP_NONE ? base_of(program) : program->mrs[index].shift);
}

uint64_t app__program_scratch(const app__program_t *program)
{
    return base_of(program) + (UINT64_C(1) << ADDRESS_BITS) - SCRATCH_PAGES * (PAGE_MASK + 1);
}

static bool is_range(uint64_t address, uint64_t length_bytes)
{
    const uint64_t end = UINT64_C(1) << ADDRESS_BITS;
    return address < end && length_bytes <= end - address;
}

static int map_pages(app__program_t *program, const program_memory_t *memory)
{
    if (!is_range(memory->address, memory->length_bytes) || memory->length_bytes == 0 ||
        ((memory->address | memory->length_bytes | memory->offset) & PAGE_MASK) != 0) {
        return EINVAL;
    }
    void *bytes = NULL;
    const int error =
        app__process_map(program->process, memory->offset, memory->length_bytes, &bytes);
    if (error != 0) {
        return error;
    }
    const app__mapping_t mapping = {bytes, base_of(program) + memory->address,
                                    memory->length_bytes};
    app__process_t *const process = program->process;
    SIM_APPEND(process->mappings, process->mapping_count, process->mapping_capacity, mapping);
    nic_memory_map(nic_host_memory(program->node), mapping.address, mapping.length_bytes, bytes);
    return 0;
}

// -- protection domains and memory regions

static int alloc_pd(app__program_t *program, program_call_t *call)
{
    nic_t *const nic = nic_of_call(program, call);
    if (nic == NULL) {
        return ENODEV;
    }
    if (program->pd_count >= OBJECTS_MAX) {
        return ENOMEM;
    }
    SIM_APPEND(program->pds, program->pd_count, program->pd_capacity,
               ((app__pr_pd_t){.pd = nic_pd_alloc(nic)}));
    call->handle = (uint32_t)program->pd_count;
    return 0;
}

static int dealloc_pd(app__program_t *program, const program_call_t *call)
{
    app__pr_pd_t *const pd = find_pd(program, call->handle);
    if (pd == NULL || pd->users != 0) {
        return pd == NULL ? EINVAL : EBUSY;
    }
    pd->pd = NULL;
    return 0;
}

static int register_region(app__program_t *program, program_call_t *call)
{
    program_memory_t *const memory = &call->memory;
    app__pr_pd_t *const pd = find_pd(program, call->handle);
    if (pd == NULL || !is_range(memory->address, memory->length_bytes)) {
        return EINVAL;
    }
    if (program->mr_count >= OBJECTS_MAX) {
        return ENOMEM;
    }
    nic_mr_t *mr = NULL;
    const uint64_t address = base_of(program) + memory->address;
    const sim_err_t error =
        nic_mr_register(pd->pd, address, memory->length_bytes, memory->access & 0xf, &mr);
    if (error != SIM_OK) {
        return error == SIM_ERR_FULL ? ENOMEM : EINVAL;
    }
    nic_mr_set_iova(mr, memory->iova);
    pd->users++;
    memory->lkey = nic_mr_lkey(mr);
    memory->rkey = nic_mr_rkey(mr);
    sim_map_add(&program->mr_of_key, memory->lkey, program->mr_count);
    SIM_APPEND(program->mrs, program->mr_count, program->mr_capacity,
               ((app__pr_mr_t){mr, call->handle, address - memory->iova}));
    call->handle = (uint32_t)program->mr_count;
    return 0;
}

static int deregister_region(app__program_t *program, const program_call_t *call)
{
    app__pr_mr_t *const mr =
        call->handle - 1 < program->mr_count ? &program->mrs[call->handle - 1] : NULL;
    if (mr == NULL || mr->mr == NULL) {
        return EINVAL;
    }
    sim_map_remove(&program->mr_of_key, nic_mr_lkey(mr->mr), call->handle - 1);
    nic_mr_deregister(mr->mr);
    mr->mr = NULL;
    program->pds[mr->pd - 1].users--;
    return 0;
}

// -- completion queues

static int create_cq(app__program_t *program, program_call_t *call)
{
    nic_t *const nic = nic_of_call(program, call);
    if (nic == NULL || call->count == 0 || call->count > ENTRIES_MAX) {
        return nic == NULL ? ENODEV : EINVAL;
    }
    if (program->cq_count >= OBJECTS_MAX) {
        return ENOMEM;
    }
    app__pr_cq_t *const cq = sim_alloc(sizeof(*cq));
    *cq = (app__pr_cq_t){
        .cq = nic_cq_create(nic, call->count, NULL, NULL),
        .program = program,
        .capacity = call->count,
    };
    nic_cq_set_core(cq->cq, program->core);
    SIM_APPEND(program->cqs, program->cq_count, program->cq_capacity, cq);
    call->handle = (uint32_t)program->cq_count;
    return 0;
}

static int destroy_cq(app__program_t *program, const program_call_t *call)
{
    app__pr_cq_t *const cq = find_cq(program, call->handle);
    if (cq == NULL || cq->users != 0) {
        return cq == NULL ? EINVAL : EBUSY;
    }
    cq->gone = true;
    sim_free(cq->taken);
    cq->taken = NULL;
    return 0;
}

// Ends a queue that has no room for a completion, and its queue pairs (IBA vol. 1, 11.2.8).
static void fail_cq(app__program_t *program, app__pr_cq_t *cq, uint32_t handle)
{
    if (!cq->failed) {
        cq->failed = true;
        app__program_event(program, EVENT_OF(EVENT_CQ_ERR), handle);
        for (size_t i = 0; i < program->qp_count; i++) {
            app__pr_qp_t *const qp = program->qps[i];
            if (qp->qp != NULL && (qp->send_cq == handle || qp->recv_cq == handle)) {
                nic_qp_to_error(qp->qp);
                app__program_event(program, EVENT_OF(EVENT_QP_FATAL), nic_qp_num(qp->qp));
            }
        }
    }
}

void app__program_look_at_cqs(app__program_t *program)
{
    nic_wc_t some[16];
    for (size_t i = 0; i < program->cq_count; i++) {
        app__pr_cq_t *const cq = program->cqs[i];
        uint32_t count = 0;
        while (nic_cq_waiting(cq->cq) != 0 &&
               (count = nic_poll_cq(cq->cq, SIM_COUNT_OF(some), some)) != 0) {
            if (cq->gone) {
                continue;
            }
            program->reasons |= PROGRAM_ON_POLL;
            if (cq->taken == NULL) {
                cq->taken = sim_alloc_array(cq->capacity, sizeof(*cq->taken));
            }
            for (uint32_t j = 0; j < count; j++) {
                if (cq->taken_count == cq->capacity) {
                    fail_cq(program, cq, (uint32_t)i + 1);
                    break;
                }
                cq->taken[(cq->taken_first + cq->taken_count++) % cq->capacity] = some[j];
            }
            if (cq->armed) {
                cq->armed = false;
                app__program_event(program, 0, (uint32_t)i + 1);
            }
        }
    }
}

// Reports what the process sees of a datagram's header: 40 bytes before the payload.
static uint32_t note_header(app__program_t *program, app__pr_qp_t *qp, const nic_wc_t *wc)
{
    if (qp == NULL || qp->headers_count == 0 || wc->opcode != NIC_WC_RECV) {
        return 0;
    }
    const uint64_t at = qp->headers[qp->headers_first];
    qp->headers_first = (qp->headers_first + 1) % qp->headers_capacity;
    qp->headers_count--;
    if (wc->status != NIC_WC_SUCCESS || at == 0) {
        return 0;
    }
    uint8_t header[GRH_BYTES] = {0};
    const net_t *const net = program->app.net;
    const uint32_t own = nic_interface(nic_qp_nic(qp->qp));
    if (net_get_config(net)->ipv6) {
        header[0] = 0x60;
        app__gid_of_interface(net, wc->src_interface, header + 8);
        app__gid_of_interface(net, own, header + 24);
    } else {
        uint8_t ip[16];
        header[20] = 0x45; // version and length of the header
        header[29] = 17;   // UDP
        net_interface_ip(net, wc->src_interface, ip);
        memcpy(header + 32, ip, 4);
        net_interface_ip(net, own, ip);
        memcpy(header + 36, ip, 4);
    }
    nic_memory_write(nic_host_memory(program->node), at, header, sizeof(header));
    return GRH_BYTES;
}

static void give(app__program_t *program, const nic_wc_t *wc, program_completion_t *to)
{
    app__pr_qp_t *const qp = app__program_qp(program, wc->qp_num);
    const bool is_send = wc->opcode < NIC_WC_RECV;
    const uint32_t header = note_header(program, qp, wc);
    *to = (program_completion_t){
        .wr_id = wc->wr_id,
        .status = wc_statuses[wc->status],
        .opcode = wc_opcodes[wc->opcode],
        .byte_len = wc->byte_len + header,
        .immediate = wc->imm_data,
        .flags = ((wc->wc_flags & NIC_WC_WITH_IMM) != 0 ? WC_WITH_IMM : 0u) |
                 (header != 0 ? WC_GRH : 0u),
        .qp_num = wc->qp_num,
        .is_send = is_send,
        .time_ps = nic_core_now_ps(program->core),
    };
    if (qp != NULL && qp->type == NIC_QPT_UD && !is_send && wc->status == NIC_WC_SUCCESS) {
        to->src_qp = wc->src_qp;
        app__gid_of_interface(program->app.net, wc->src_interface, to->src_gid);
    }
}

static int poll_cq(app__program_t *program, program_call_t *call)
{
    app__pr_cq_t *const cq = find_cq(program, call->handle);
    const uint32_t wanted = SIM_MIN(call->count, PROGRAM_POLL_MAX);
    call->count = 0;
    if (cq == NULL) {
        return EINVAL;
    }
    program_completion_t *const to = program->process->shared->completions;
    while (call->count < wanted && cq->taken_count != 0) {
        give(program, &cq->taken[cq->taken_first], &to[call->count++]);
        cq->taken_first = (cq->taken_first + 1) % cq->capacity;
        cq->taken_count--;
    }
    nic_wc_t some[PROGRAM_POLL_MAX];
    const uint32_t fresh = nic_poll_cq(cq->cq, wanted - call->count, some);
    for (uint32_t i = 0; i < fresh; i++) {
        give(program, &some[i], &to[call->count++]);
    }
    return 0;
}

static int arm_cq(app__program_t *program, const program_call_t *call)
{
    app__pr_cq_t *const cq = find_cq(program, call->handle);
    if (cq == NULL) {
        return EINVAL;
    }
    app__program_look_at_cqs(program); // those that are there raise no event
    cq->armed = true;
    return 0;
}

// -- shared receive queues

static void limit_reached(nic_srq_t *nic_srq, void *ctx)
{
    (void)nic_srq;
    const app__pr_srq_t *const srq = ctx;
    for (size_t i = 0; i < srq->program->srq_count; i++) {
        if (srq->program->srqs[i] == srq && !srq->gone) {
            app__program_event(srq->program, EVENT_OF(EVENT_SRQ_LIMIT_REACHED), (uint32_t)i + 1);
        }
    }
}

static int create_srq(app__program_t *program, program_call_t *call)
{
    app__pr_pd_t *const pd = find_pd(program, call->handle);
    if (pd == NULL || call->count == 0 || call->count > WORK_REQUESTS_MAX) {
        return EINVAL;
    }
    if (program->srq_count >= OBJECTS_MAX) {
        return ENOMEM;
    }
    app__pr_srq_t *const srq = sim_alloc(sizeof(*srq));
    *srq = (app__pr_srq_t){
        .srq = nic_srq_create(pd->pd, call->count),
        .program = program,
        .pd = call->handle,
    };
    pd->users++;
    SIM_APPEND(program->srqs, program->srq_count, program->srq_capacity, srq);
    call->handle = (uint32_t)program->srq_count;
    return 0;
}

static int modify_srq(app__program_t *program, const program_call_t *call)
{
    app__pr_srq_t *const srq = app__program_srq(program, call->handle);
    if (srq == NULL || call->count > WORK_REQUESTS_MAX) {
        return EINVAL;
    }
    nic_srq_set_limit(srq->srq, call->count, limit_reached, srq);
    return 0;
}

static int destroy_srq(app__program_t *program, const program_call_t *call)
{
    app__pr_srq_t *const srq = app__program_srq(program, call->handle);
    if (srq == NULL || srq->users != 0) {
        return srq == NULL ? EINVAL : EBUSY;
    }
    srq->gone = true;
    program->pds[srq->pd - 1].users--;
    return 0;
}

// -- queue pairs

// Returns NEVER: the process makes its queue pairs itself; no packet creates one.
static sim_time_t never_passive(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)owner;
    (void)interface;
    (void)offset;
    return SIM_TIME_NEVER;
}

static const app__range_ops_t range_ops = {.passive_from_ps = never_passive};

static uint32_t next_number(app__program_t *program, const nic_t *nic)
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
        numbers->position = app__reserve_qps(endpoint, &range_ops, program, NUMBERS_AT_ONCE);
        numbers->left = NUMBERS_AT_ONCE;
    }
    numbers->left--;
    return app__qp_number(numbers->position++);
}

static void note_write(nic_qp_t *nic_qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)nic_qp;
    (void)address;
    (void)byte_len;
    app__program_notice(ctx, PROGRAM_ON_MEMORY);
}

static int create_qp(app__program_t *program, program_call_t *call)
{
    const program_create_qp_t *const wish = &call->create;
    app__pr_pd_t *const pd = find_pd(program, call->handle);
    app__pr_cq_t *const send_cq = find_cq(program, wish->send_cq);
    app__pr_cq_t *const recv_cq = find_cq(program, wish->recv_cq);
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
    };
    const nic_qp_init_attr_t attr = {
        .qp_type = qp->type,
        .send_cq = send_cq->cq,
        .recv_cq = recv_cq->cq,
        .max_send_wr = SIM_MAX(wish->max_send_wr, 1u),
        .max_recv_wr = wish->max_recv_wr,
        .srq = srq == NULL ? NULL : srq->srq,
        .sq_sig_all = wish->signal_all != 0,
        .qp_num = next_number(program, nic_cq_nic(send_cq->cq)),
        .ctx = qp,
    };
    if (nic_qp_create(pd->pd, &attr, &qp->qp) != SIM_OK) {
        sim_free(qp);
        return ENOMEM;
    }
    if (qp->type != NIC_QPT_UD) {
        nic_qp_on_write(qp->qp, note_write, program);
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

static void free_qp(app__program_t *program, app__pr_qp_t *qp)
{
    nic_qp_destroy(qp->qp);
    qp->qp = NULL;
    program->pds[qp->pd - 1].users--;
    program->cqs[qp->send_cq - 1]->users--;
    program->cqs[qp->recv_cq - 1]->users--;
    if (qp->srq != 0) {
        program->srqs[qp->srq - 1]->users--;
    }
    sim_free(qp->headers);
    qp->headers = NULL;
}

static int destroy_qp(app__program_t *program, const program_call_t *call)
{
    app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL) {
        return EINVAL;
    }
    const uint64_t index = sim_map_get(&program->qp_of_number, call->handle);
    free_qp(program, qp);
    sim_map_remove(&program->qp_of_number, call->handle, index);
    return 0;
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

static int make_attr(const app__program_t *program, const app__pr_qp_t *qp, nic_qp_attr_t *attr)
{
    const program_qp_t *const set = &qp->attr;
    nic_qp_attr_default(nic_qp_nic(qp->qp), attr);
    attr->access = set->access & 0xf;
    attr->qkey = set->qkey;
    attr->rq_psn = set->rq_psn & 0xffffff;
    attr->sq_psn = set->sq_psn & 0xffffff;
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
    if (qp->type == NIC_QPT_RC) {
        // What the state RTR does not know yet is set on the way to RTS.
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

static int modify_qp(app__program_t *program, program_call_t *call)
{
    app__pr_qp_t *const qp = app__program_qp(program, call->handle);
    if (qp == NULL ||
        ((call->qp.mask & MASK_STATE) != 0 && call->qp.state >= SIM_COUNT_OF(states_of_nic))) {
        return EINVAL;
    }
    take_attributes(&qp->attr, &call->qp);
    const nic_qp_state_t from = nic_qp_state(qp->qp);
    const nic_qp_state_t to =
        (call->qp.mask & MASK_STATE) != 0 ? states_of_nic[call->qp.state] : from;
    if (to == from && (to == NIC_QPS_INIT || to == NIC_QPS_RTS || to == NIC_QPS_SQD)) {
        return 0;
    }
    nic_qp_attr_t attr;
    const int error = to == NIC_QPS_RTR || to == NIC_QPS_RTS ? make_attr(program, qp, &attr) : 0;
    if (error != 0) {
        return error;
    }
    sim_message_t message;
    const bool needed = to == NIC_QPS_RTR || (from == NIC_QPS_RTR && to == NIC_QPS_RTS);
    if (nic_qp_modify(qp->qp, to, needed ? &attr : NULL, &message) != SIM_OK) {
        (void)dprintf(program->process->err, "rocesim: ibv_modify_qp: %s\n", message.text);
        return EINVAL;
    }
    if (to == NIC_QPS_RESET) {
        qp->attr = (program_qp_t){0};
        qp->headers_count = 0;
    }
    return 0;
}

static int query_qp(app__program_t *program, program_call_t *call)
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

static int query_port(const app__program_t *program, program_call_t *call)
{
    const nic_t *const nic = nic_of_call(program, call);
    if (nic == NULL) {
        return ENODEV;
    }
    call->flags = !net_interface_port(program->app.net, nic_interface(nic))->down;
    return 0;
}

// -- all of them

int app__program_verb(app__program_t *program, program_call_t *call)
{
    switch (call->op) {
    case PROGRAM_ALLOC_PD:
        return alloc_pd(program, call);
    case PROGRAM_DEALLOC_PD:
        return dealloc_pd(program, call);
    case PROGRAM_MAP:
        return map_pages(program, &call->memory);
    case PROGRAM_REG_MR:
        return register_region(program, call);
    case PROGRAM_DEREG_MR:
        return deregister_region(program, call);
    case PROGRAM_CREATE_CQ:
        return create_cq(program, call);
    case PROGRAM_DESTROY_CQ:
        return destroy_cq(program, call);
    case PROGRAM_ARM_CQ:
        return arm_cq(program, call);
    case PROGRAM_POLL_CQ:
        return poll_cq(program, call);
    case PROGRAM_CREATE_SRQ:
        return create_srq(program, call);
    case PROGRAM_MODIFY_SRQ:
        return modify_srq(program, call);
    case PROGRAM_DESTROY_SRQ:
        return destroy_srq(program, call);
    case PROGRAM_CREATE_QP:
        return create_qp(program, call);
    case PROGRAM_MODIFY_QP:
        return modify_qp(program, call);
    case PROGRAM_QUERY_QP:
        return query_qp(program, call);
    case PROGRAM_DESTROY_QP:
        return destroy_qp(program, call);
    case PROGRAM_QUERY_PORT:
        return query_port(program, call);
    default:
        return ENOSYS;
    }
}

void app__program_free_verbs(app__program_t *program)
{
    for (size_t i = 0; i < program->qp_count; i++) {
        if (program->qps[i]->qp != NULL) {
            free_qp(program, program->qps[i]);
        }
    }
    for (size_t i = 0; i < program->mr_count; i++) {
        if (program->mrs[i].mr != NULL) {
            nic_mr_deregister(program->mrs[i].mr);
            program->mrs[i].mr = NULL;
        }
    }
    const app__process_t *const process = program->process;
    for (size_t i = 0; process != NULL && i < process->mapping_count; i++) {
        nic_memory_unmap(nic_host_memory(program->node), process->mappings[i].address,
                         process->mappings[i].length_bytes);
    }
    for (size_t i = 0; i < program->cq_count; i++) {
        program->cqs[i]->gone = true;
    }
}

// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs.c - the verbs that a process calls: its objects, and the NIC's behind them
// (docs/models/programs.md).
//
// A process names bytes of its memory by its own addresses. Those of the program number N of a host
// lie at N << 47 in the host's memory, since processes use 47 bits; regions are registered there,
// and peers name their bytes by the process's addresses (nic_mr_set_iova).
#include "apps/programs/process_verbs.h"

#include "apps/programs/threads/forks.h"
#include "apps/programs/turns.h"
#include "apps/programs/verbs/events.h"
#include "apps/programs/verbs/queue_pairs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ADDRESS_BITS 47u
#define OBJECTS_MAX (1u << 20) // of a kind
#define ENTRIES_MAX (1u << 22) // of a completion queue
#define WORK_REQUESTS_MAX (1u << 20)
#define SCRATCH_PAGES 64u // the last of a process's addresses, which no process has itself
#define PAGE_MASK UINT64_C(4095)

// Values of <infiniband/verbs.h>, which the tree does not need for itself.
enum {
    WC_GRH = 1,
    WC_WITH_IMM = 2,
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

app__pr_pd_t *app__program_pd(const app__program_t *program, uint32_t handle)
{
    app__pr_pd_t *const pd = handle - 1 < program->pd_count ? &program->pds[handle - 1] : NULL;
    return pd != NULL && pd->pd != NULL ? pd : NULL;
}

app__pr_cq_t *app__program_cq(const app__program_t *program, uint32_t handle)
{
    app__pr_cq_t *const cq = handle - 1 < program->cq_count ? program->cqs[handle - 1] : NULL;
    return cq != NULL && !cq->gone ? cq : NULL;
}

app__pr_srq_t *app__program_srq(app__program_t *program, uint32_t handle)
{
    app__pr_srq_t *const srq = handle - 1 < program->srq_count ? program->srqs[handle - 1] : NULL;
    return srq != NULL && !srq->gone ? srq : NULL;
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

uint64_t app__program_base(const app__program_t *program)
{
    return (uint64_t)program->process->number << ADDRESS_BITS;
}

uint64_t app__program_address(const app__program_t *program, uint32_t lkey, uint64_t address)
{
    const uint64_t index = sim_map_get(&program->mr_of_key, lkey);
    return address +
           (index == SIM_MAP_NONE ? app__program_base(program) : program->mrs[index].shift);
}

uint64_t app__program_scratch(const app__program_t *program)
{
    return app__program_base(program) + (UINT64_C(1) << ADDRESS_BITS) -
           SCRATCH_PAGES * (PAGE_MASK + 1);
}

static bool is_range(uint64_t address, uint64_t length_bytes)
{
    const uint64_t end = UINT64_C(1) << ADDRESS_BITS;
    return address < end && length_bytes <= end - address;
}

// Returns true if the latest mapping of some of these pages is this one, so that nothing changes.
static bool is_mapped(const app__process_t *process, const app__mapping_t *mapping)
{
    for (size_t i = process->mapping_count; i > 0; i--) {
        const app__mapping_t *const other = &process->mappings[i - 1];
        if (mapping->address < other->address + other->length_bytes &&
            other->address < mapping->address + mapping->length_bytes) {
            return other->address == mapping->address &&
                   other->length_bytes == mapping->length_bytes &&
                   other->offset == mapping->offset && other->segment == mapping->segment;
        }
    }
    return false;
}

static int map_pages(app__program_t *program, const program_call_t *call)
{
    const program_memory_t *const memory = &call->memory;
    if (!is_range(memory->address, memory->length_bytes) || memory->length_bytes == 0 ||
        ((memory->address | memory->length_bytes | memory->offset) & PAGE_MASK) != 0) {
        return EINVAL;
    }
    app__process_t *const process = program->process;
    app__mapping_t mapping = {.address = app__program_base(program) + memory->address,
                              .length_bytes = memory->length_bytes,
                              .offset = memory->offset,
                              .segment = call->count};
    if (is_mapped(process, &mapping)) {
        return 0;
    }
    void *bytes = NULL;
    const int error =
        app__process_map(call->count == 0 ? program->process->memory
                                          : app__segment_file(program->segments, call->count - 1),
                         memory->offset, memory->length_bytes, &bytes);
    if (error != 0) {
        return error;
    }
    mapping.bytes = bytes;
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
               ((app__pr_pd_t){.pd = nic_pd_alloc(nic), .process = program->process}));
    call->handle = (uint32_t)program->pd_count;
    return 0;
}

static int dealloc_pd(app__program_t *program, const program_call_t *call)
{
    app__pr_pd_t *const pd = app__program_pd(program, call->handle);
    if (pd == NULL || pd->users != 0) {
        return pd == NULL ? ENOENT : EBUSY;
    }
    pd->pd = NULL;
    return 0;
}

static int register_region(app__program_t *program, program_call_t *call)
{
    program_memory_t *const memory = &call->memory;
    app__pr_pd_t *const pd = app__program_pd(program, call->handle);
    if (pd == NULL || !is_range(memory->address, memory->length_bytes)) {
        return EINVAL;
    }
    if (program->mr_count >= OBJECTS_MAX && program->free_mr == 0) {
        return ENOMEM;
    }
    nic_mr_t *mr = NULL;
    const uint64_t address = app__program_base(program) + memory->address;
    const sim_err_t error =
        nic_mr_register(pd->pd, address, memory->length_bytes, memory->access & 0xf, &mr);
    if (error != SIM_OK) {
        return error == SIM_ERR_FULL ? ENOMEM : EINVAL;
    }
    nic_mr_set_iova(mr, memory->iova);
    pd->users++;
    memory->lkey = nic_mr_lkey(mr);
    memory->rkey = nic_mr_rkey(mr);
    uint32_t handle = program->free_mr;
    if (handle == 0) {
        SIM_APPEND(program->mrs, program->mr_count, program->mr_capacity, (app__pr_mr_t){0});
        handle = (uint32_t)program->mr_count;
    }
    app__pr_mr_t *const region = &program->mrs[handle - 1];
    program->free_mr = region->pd; // 0 for a new one
    *region = (app__pr_mr_t){mr, call->handle, address - memory->iova};
    sim_map_add(&program->mr_of_key, memory->lkey, handle - 1);
    call->handle = handle;
    return 0;
}

static int deregister_region(app__program_t *program, const program_call_t *call)
{
    app__pr_mr_t *const mr =
        call->handle - 1 < program->mr_count ? &program->mrs[call->handle - 1] : NULL;
    if (mr == NULL || mr->mr == NULL) {
        return ENOENT;
    }
    sim_map_remove(&program->mr_of_key, nic_mr_lkey(mr->mr), call->handle - 1);
    nic_mr_deregister(mr->mr);
    mr->mr = NULL;
    program->pds[mr->pd - 1].users--;
    mr->pd = program->free_mr;
    program->free_mr = call->handle;
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
        .owner = program->thread,
        .capacity = call->count,
        .timed = (call->flags & 1) != 0,
    };
    nic_cq_set_core(cq->cq, program->core);
    SIM_APPEND(program->cqs, program->cq_count, program->cq_capacity, cq);
    call->handle = (uint32_t)program->cq_count;
    return 0;
}

static int destroy_cq(app__program_t *program, const program_call_t *call)
{
    app__pr_cq_t *const cq = app__program_cq(program, call->handle);
    if (cq == NULL || cq->users != 0) {
        return cq == NULL ? ENOENT : EBUSY;
    }
    cq->gone = true;
    sim_free(cq->taken);
    sim_free(cq->times);
    cq->taken = NULL;
    cq->times = NULL;
    return 0;
}

// Makes the core of the thread that has the turn poll the queue.
static void own_cq(app__program_t *program, app__pr_cq_t *cq)
{
    if (cq->owner != program->thread) {
        cq->owner = program->thread;
        nic_cq_change_core(cq->cq, program->core);
    }
}

// Lets the threads that poll the queue know that it has a completion.
static void notice_pollers(app__program_t *program, const app__pr_cq_t *cq)
{
    program->thread->reasons |= PROGRAM_ON_POLL;
    for (size_t i = 0; i < program->thread_count; i++) {
        if (program->threads[i] != program->thread && (cq->pollers >> i % 64 & 1) != 0) {
            app__thread_notice(program->threads[i], PROGRAM_ON_POLL);
        }
    }
}

// Gives a queue another capacity. Its completions move to the process's side, which has that one.
static int resize_cq(app__program_t *program, const program_call_t *call)
{
    app__pr_cq_t *const cq = app__program_cq(program, call->handle);
    if (cq == NULL || call->count == 0 || call->count > ENTRIES_MAX) {
        return EINVAL;
    }
    own_cq(program, cq);
    app__program_look_at_cqs(program);
    if (cq->taken_count > call->count || !nic_cq_resize(cq->cq, call->count)) {
        return EINVAL;
    }
    nic_wc_t *const taken = sim_alloc_array(call->count, sizeof(*taken));
    for (uint32_t i = 0; i < cq->taken_count; i++) {
        taken[i] = cq->taken[(cq->taken_first + i) % cq->capacity];
    }
    sim_free(cq->taken);
    cq->taken = taken;
    cq->taken_first = 0;
    cq->capacity = call->count;
    return 0;
}

// Notes when the NIC wrote a completion.
void app__program_note_time(app__pr_cq_t *cq, sim_time_t time_ps)
{
    if (!cq->timed || cq->gone) {
        return;
    }
    if (cq->time_count == cq->time_capacity) {
        const uint32_t capacity = cq->time_capacity == 0 ? 16 : cq->time_capacity * 2;
        sim_time_t *const times = sim_alloc_array(capacity, sizeof(*times));
        for (uint32_t i = 0; i < cq->time_count; i++) {
            times[i] = cq->times[(cq->time_first + i) & (cq->time_capacity - 1)];
        }
        sim_free(cq->times);
        cq->times = times;
        cq->time_capacity = capacity;
        cq->time_first = 0;
    }
    cq->times[(cq->time_first + cq->time_count++) & (cq->time_capacity - 1)] = time_ps;
}

static sim_time_t take_time(app__pr_cq_t *cq, sim_time_t now_ps)
{
    if (cq->time_count == 0) {
        return now_ps;
    }
    cq->time_count--;
    return cq->times[cq->time_first++ & (cq->time_capacity - 1)];
}

// Ends a queue that has no room for a completion, and its queue pairs (IBA vol. 1, 11.2.8).
static void fail_cq(app__program_t *program, app__pr_cq_t *cq, uint32_t handle)
{
    if (!cq->failed) {
        cq->failed = true;
        app__program_async(program, APP__PR_CQ_ERR, handle);
        for (size_t i = 0; i < program->qp_count; i++) {
            app__pr_qp_t *const qp = program->qps[i];
            if (qp->qp != NULL && (qp->send_cq == handle || qp->recv_cq == handle)) {
                nic_qp_to_error(qp->qp);
                app__program_async(program, APP__PR_QP_FATAL, nic_qp_num(qp->qp));
            }
        }
    }
}

// Raises the event of a queue that is armed for such a completion.
static void ring(app__program_t *program, app__pr_cq_t *cq, const nic_wc_t *wc, uint32_t handle)
{
    const bool solicited = wc->status != NIC_WC_SUCCESS || (wc->wc_flags & NIC_WC_SOLICITED) != 0;
    if (cq->armed == APP__PR_FOR_ANY || (cq->armed == APP__PR_FOR_SOLICITED && solicited)) {
        cq->armed = APP__PR_UNARMED;
        app__program_completion(program, handle);
    }
}

void app__program_look_at_cqs(app__program_t *program)
{
    nic_wc_t some[16];
    for (size_t i = 0; i < program->cq_count; i++) {
        app__pr_cq_t *const cq = program->cqs[i];
        uint32_t count = 0;
        while (cq->owner == program->thread && nic_cq_waiting(cq->cq) != 0 &&
               (count = nic_cq_take(cq->cq, SIM_COUNT_OF(some), some)) != 0) {
            if (cq->gone) {
                continue;
            }
            notice_pollers(program, cq);
            if (cq->taken == NULL) {
                cq->taken = sim_alloc_array(cq->capacity, sizeof(*cq->taken));
            }
            for (uint32_t j = 0; j < count; j++) {
                ring(program, cq, &some[j], (uint32_t)i + 1);
                if (cq->taken_count == cq->capacity) {
                    fail_cq(program, cq, (uint32_t)i + 1);
                    break;
                }
                cq->taken[(cq->taken_first + cq->taken_count++) % cq->capacity] = some[j];
            }
        }
        if (!cq->gone && nic_cq_overflowed(cq->cq)) {
            fail_cq(program, cq, (uint32_t)i + 1);
        }
    }
}

void app__program_ring_unpolled(app__program_t *program)
{
    for (size_t i = 0; i < program->cq_count; i++) {
        app__pr_cq_t *const cq = program->cqs[i];
        if (!cq->gone && cq->owner == program->thread && cq->armed == APP__PR_FOR_ANY &&
            cq->taken_count != 0) {
            cq->armed = APP__PR_UNARMED;
            app__program_completion(program, (uint32_t)i + 1);
        }
    }
}

void app__program_completion_of(app__program_t *program, const nic_wc_t *wc,
                                program_completion_t *to)
{
    const app__pr_qp_t *const qp = app__program_qp(program, wc->qp_num);
    const bool is_send = wc->opcode < NIC_WC_RECV;
    *to = (program_completion_t){
        .wr_id = wc->wr_id,
        .status = wc_statuses[wc->status],
        .opcode = wc_opcodes[wc->opcode],
        .byte_len = wc->byte_len,
        .immediate = wc->imm_data,
        .flags = ((wc->wc_flags & NIC_WC_WITH_IMM) != 0 ? WC_WITH_IMM : 0u) |
                 ((wc->wc_flags & NIC_WC_GRH) != 0 ? WC_GRH : 0u),
        .qp_num = wc->qp_num,
        .is_send = is_send,
    };
    if (qp != NULL && qp->type == NIC_QPT_UD && !is_send && wc->status == NIC_WC_SUCCESS) {
        to->src_qp = wc->src_qp;
        app__gid_of_interface(program->app.net, wc->src_interface, to->src_gid);
        to->src_lid = program->config->infiniband ? wc->src_interface + 1 : 0;
    }
}

static void give(app__program_t *program, app__pr_cq_t *cq, const nic_wc_t *wc,
                 program_completion_t *to)
{
    app__program_completion_of(program, wc, to);
    to->time_ps = take_time(cq, nic_core_now_ps(program->core));
}

// Begins a poll of the thread that has the turn.
static void begin_poll(app__program_t *program, app__pr_cq_t *cq)
{
    own_cq(program, cq);
    cq->pollers |= UINT64_C(1) << program->thread->number % 64;
    if (cq->armed != APP__PR_UNARMED) {
        app__program_look_at_cqs(program); // what is polled raises its event, too
    }
}

void app__program_poll_nothing(app__program_t *program, uint32_t handle)
{
    app__pr_cq_t *const cq = app__program_cq(program, handle);
    program->calls++;
    program->polls++;
    program->thread->reasons = 0;
    if (cq != NULL) {
        begin_poll(program, cq);
        nic_cq_spend_poll(cq->cq, 0);
    }
}

static bool has_completions(const app__pr_cq_t *cq)
{
    return !cq->gone && (cq->taken_count != 0 || !nic_cq_is_empty(cq->cq));
}

bool app__program_is_quiet(const app__program_t *program)
{
    bool quiet = true;
    for (size_t i = 0; i < program->cq_count && quiet; i++) {
        const app__pr_cq_t *const cq = program->cqs[i];
        quiet = cq->gone || (cq->armed == APP__PR_UNARMED && !has_completions(cq));
    }
    return quiet;
}

bool app__program_has_unpolled(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    bool has = false;
    for (size_t i = 0; i < program->cq_count && !has; i++) {
        has = program->cqs[i]->owner == thread && has_completions(program->cqs[i]);
    }
    return has;
}

static int poll_cq(app__program_t *program, program_call_t *call)
{
    app__pr_cq_t *const cq = app__program_cq(program, call->handle);
    const uint32_t wanted = SIM_MIN(call->count, PROGRAM_POLL_MAX);
    call->count = 0;
    if (cq == NULL) {
        return EINVAL;
    }
    begin_poll(program, cq);
    program_completion_t *const to = program->process->shared->completions;
    while (call->count < wanted && cq->taken_count != 0) {
        give(program, cq, &cq->taken[cq->taken_first], &to[call->count++]);
        cq->taken_first = (cq->taken_first + 1) % cq->capacity;
        cq->taken_count--;
    }
    nic_wc_t some[PROGRAM_POLL_MAX];
    const uint32_t fresh = nic_cq_take(cq->cq, wanted - call->count, some);
    for (uint32_t i = 0; i < fresh; i++) {
        give(program, cq, &some[i], &to[call->count++]);
    }
    nic_cq_spend_poll(cq->cq, call->count);
    return 0;
}

static int arm_cq(app__program_t *program, const program_call_t *call)
{
    app__pr_cq_t *const cq = app__program_cq(program, call->handle);
    if (cq == NULL) {
        return EINVAL;
    }
    own_cq(program, cq);
    app__program_look_at_cqs(program); // those that are there raise no event
    const bool solicited_only = (call->flags & 1) != 0 && cq->armed != APP__PR_FOR_ANY;
    cq->armed = solicited_only ? APP__PR_FOR_SOLICITED : APP__PR_FOR_ANY;
    return 0;
}

// -- shared receive queues

static void limit_reached(nic_srq_t *nic_srq, void *ctx)
{
    (void)nic_srq;
    const app__pr_srq_t *const srq = ctx;
    for (size_t i = 0; i < srq->program->srq_count; i++) {
        if (srq->program->srqs[i] == srq && !srq->gone) {
            app__program_async(srq->program, APP__PR_SRQ_LIMIT_REACHED, (uint32_t)i + 1);
        }
    }
}

static int create_srq(app__program_t *program, program_call_t *call)
{
    app__pr_pd_t *const pd = app__program_pd(program, call->handle);
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

static int query_srq(app__program_t *program, program_call_t *call)
{
    const app__pr_srq_t *const srq = app__program_srq(program, call->handle);
    if (srq == NULL) {
        return EINVAL;
    }
    call->count = nic_srq_limit(srq->srq);
    return 0;
}

static int destroy_srq(app__program_t *program, const program_call_t *call)
{
    app__pr_srq_t *const srq = app__program_srq(program, call->handle);
    if (srq == NULL || srq->users != 0) {
        return srq == NULL ? ENOENT : EBUSY;
    }
    srq->gone = true;
    program->pds[srq->pd - 1].users--;
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
        return map_pages(program, call);
    case PROGRAM_REG_MR:
        return register_region(program, call);
    case PROGRAM_DEREG_MR:
        return deregister_region(program, call);
    case PROGRAM_CREATE_CQ:
        return create_cq(program, call);
    case PROGRAM_RESIZE_CQ:
        return resize_cq(program, call);
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
    case PROGRAM_QUERY_SRQ:
        return query_srq(program, call);
    case PROGRAM_DESTROY_SRQ:
        return destroy_srq(program, call);
    case PROGRAM_CREATE_QP:
        return app__program_create_qp(program, call);
    case PROGRAM_MODIFY_QP:
        return app__program_modify_qp(program, call);
    case PROGRAM_QUERY_QP:
        return app__program_query_qp(program, call);
    case PROGRAM_DESTROY_QP:
        return app__program_destroy_qp(program, call);
    case PROGRAM_GROUP:
        return app__program_change_group(program, call);
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
            app__program_free_qp(program, program->qps[i]);
        }
    }
    for (size_t i = 0; i < program->mr_count; i++) {
        if (program->mrs[i].mr != NULL) {
            nic_mr_deregister(program->mrs[i].mr);
            program->mrs[i].mr = NULL;
        }
    }
    app__forks_unmap(program);
    for (size_t i = 0; i < program->cq_count; i++) {
        program->cqs[i]->gone = true;
    }
}

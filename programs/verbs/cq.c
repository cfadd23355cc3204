// SPDX-License-Identifier: Apache-2.0
// programs/verbs/cq.c - completion queues and channels.
//
// A poll that finds nothing returns at once if the program did something since its last empty poll
// of this queue: it may do more before it polls again. Otherwise the program goes in circles, and
// the poll waits until something happens that could end that.

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/system.h"
#include "programs/trace.h"
#include "programs/verbs/objects.h"

static uint64_t cached; // completions in the caches of all queues

#define WC_FLAGS_TIMES \
    ((uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define WC_FLAGS_KNOWN (IBV_WC_STANDARD_FLAGS | WC_FLAGS_TIMES)

// -- channels

PROGRAM_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    verbs_channel_t *channel = calloc(1, sizeof *channel);
    int ends[2];
    const int error = channel == NULL ? ENOMEM : verbs_create_pipe(ends);
    if (error != 0) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base = (struct ibv_comp_channel){.context = context, .fd = ends[0]};
    channel->events_fd = ends[1];
    return &channel->base;
}

PROGRAM_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
    verbs_channel_t *channel = (verbs_channel_t *)base;
    if (base->refcnt != 0) {
        return EBUSY;
    }
    system_call(SYS_close, base->fd);
    descriptors_close(channel->events_fd);
    free(channel);
    return 0;
}

PROGRAM_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
                                    void **cq_context)
{
    static turn_idle_t idle;
    if (!turn_enter("ibv_get_cq_event")) {
        errno = ENODEV;
        return -1;
    }
    verbs_event_t event;
    verbs_cq_t *found = NULL;
    while (found == NULL) { // events of queues that were destroyed are passed over
        if (verbs_take_event(channel->fd, &idle, &event) != 0) {
            return -1;
        }
        found = verbs_find(VERBS_CQ, event.handle);
    }
    *cq = &found->base;
    *cq_context = found->base.cq_context;
    TRACE("ibv_get_cq_event() = cq %u", found->base.handle);
    return 0;
}

PROGRAM_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    cq->comp_events_completed += count;
}

// -- polling

// Gives one completion of the cache to the program.
static program_completion_t take(verbs_cq_t *cq)
{
    const program_completion_t completion = cq->cache[cq->first];
    cq->first++;
    cq->count--;
    cached--;
    verbs_retire(&completion);
    turn_act();
    if (trace_on) {
        trace_completion(cq->base.handle, &completion);
    }
    return completion;
}

// Asks the simulator for completions, and waits for up to `timeout_ps`.
static void fill(verbs_cq_t *cq, uint32_t wanted, uint64_t timeout_ps)
{
    program_call_t call = {.op = PROGRAM_POLL_CQ, .handle = cq->base.handle};
    // The simulator needs to know which completions were polled if that costs time, or if the
    // others may raise an event.
    const bool exact = turn_shared->poll_ps == PROGRAM_NEVER || cq->base.channel != NULL;
    call.count = exact ? wanted : PROGRAM_POLL_MAX;
    if (timeout_ps != 0) {
        call.wait.mask = PROGRAM_ON_POLL | PROGRAM_ON_EVENT | PROGRAM_ON_SOCKET |
                         PROGRAM_ON_SIGNAL | PROGRAM_ON_MEMORY;
        call.wait.timeout_ps = timeout_ps;
    }
    cq->first = 0;
    if (turn_poll(&call, cq->cache) == 0) {
        cq->count = call.count;
        cached += call.count;
    }
}

// Returns true if a poll that returns at once finds nothing, because nothing can have completed
// since the last answer, when all queues were empty. Only the simulator knows what posts to a
// detailed NIC cost: older requests may complete in that time, and new ones cannot.
static bool is_empty_for_sure(const verbs_cq_t *cq)
{
    const bool took_time =
        turn_shared->poll_ps == PROGRAM_NEVER && verbs_post_answers == turn_answers;
    const uint64_t older = cq->answers == turn_answers ? cq->sends_before : cq->sends;
    return turn_shared->quiet != 0 && turn_shared->sockets_written == 0 &&
           (!took_time || (older == 0 && !cq->receives));
}

// Fills the cache of a queue whose cache is empty, as far as the program may know.
static void look(verbs_cq_t *cq, uint32_t wanted)
{
    uint64_t timeout_ps = 0;
    if (cached != 0 && cq->polls_in_a_row < PROGRAM_POLLS_IN_A_ROW) {
        cq->polls_in_a_row++;
    } else {
        cq->polls_in_a_row = 0;
        timeout_ps = turn_idle_timeout_ps(&cq->idle);
    }
    if (timeout_ps == 0 && is_empty_for_sure(cq)) {
        verbs_put_empty_poll(cq->base.handle);
    } else {
        fill(cq, wanted, timeout_ps);
    }
}

// Takes up to `count` completions. `taker` gets each.
static int poll(verbs_cq_t *cq, uint32_t count, void (*taker)(const program_completion_t *, void *),
                void *context)
{
    if (cq->count == 0) {
        look(cq, count);
    }
    int taken = 0;
    while ((uint32_t)taken < count && cq->count != 0) {
        const program_completion_t completion = take(cq);
        taker(&completion, context);
        taken++;
    }
    if (taken != 0) {
        cq->polls_in_a_row = 0;
    }
    if (turn_shared->poll_ps != PROGRAM_NEVER) {
        turn_charge(turn_shared->poll_ps);
    }
    return taken;
}

// Returns the service level of a datagram's completion. Adapters for Ethernet put the kind of its
// headers there (bit 3: UDP; 2: IPv4, 1: IPv6), as annex A17 asks for.
static uint8_t packet_type(const program_completion_t *completion)
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    const bool is_v4 = memcmp(completion->src_gid, v4, sizeof v4) == 0;
    const bool is_none = (completion->flags & IBV_WC_GRH) == 0 || completion->src_lid != 0;
    return is_none ? 0 : is_v4 ? 8 + 2 : 8 + 1;
}

static void take_wc(const program_completion_t *completion, void *context)
{
    struct ibv_wc **wc = context;
    **wc = (struct ibv_wc){.wr_id = completion->wr_id,
                           .status = (enum ibv_wc_status)completion->status,
                           .opcode = (enum ibv_wc_opcode)completion->opcode,
                           .byte_len = completion->byte_len,
                           .imm_data = htobe32(completion->immediate),
                           .qp_num = completion->qp_num,
                           .src_qp = completion->src_qp,
                           .wc_flags = completion->flags,
                           .slid = (uint16_t)completion->src_lid,
                           .sl = packet_type(completion)};
    (*wc)++;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    if (!turn_enter("ibv_poll_cq") || count < 0) {
        return -1;
    }
    return count == 0 ? 0 : poll((verbs_cq_t *)cq, (uint32_t)count, take_wc, &wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    if (!turn_enter("ibv_req_notify_cq")) {
        return ENODEV;
    }
    program_call_t call = {.op = PROGRAM_ARM_CQ,
                           .handle = cq->handle,
                           .flags = solicited_only != 0 ? 1 : 0};
    if (turn_shared->poll_ps != PROGRAM_NEVER) { // it is a write to the adapter, as a post is
        turn_charge(turn_shared->poll_ps);
    }
    const int error = turn_call(&call);
    TRACE("ibv_req_notify_cq(cq %u, solicited_only %d) = %d", cq->handle, solicited_only, error);
    return error;
}

void verbs_forget_completions(struct ibv_cq *base, uint32_t qp_num)
{
    verbs_cq_t *cq = (verbs_cq_t *)base;
    uint32_t kept = 0;
    for (uint32_t i = 0; cq != NULL && i < cq->count; i++) {
        const program_completion_t completion = cq->cache[cq->first + i];
        if (completion.qp_num != qp_num) {
            cq->cache[kept++] = completion;
        }
    }
    if (cq != NULL) {
        cached -= cq->count - kept;
        cq->first = 0;
        cq->count = kept;
    }
}

// -- ibv_start_poll and what follows it

static void take_current(const program_completion_t *completion, void *context)
{
    verbs_cq_t *cq = context;
    cq->current = *completion;
    cq->ex.wr_id = completion->wr_id;
    cq->ex.status = (enum ibv_wc_status)completion->status;
}

static int next_poll(struct ibv_cq_ex *ex)
{
    verbs_cq_t *cq = (verbs_cq_t *)(void *)ex;
    if (!turn_enter("ibv_next_poll")) {
        return EINVAL;
    }
    return poll(cq, 1, take_current, cq) == 1 ? 0 : ENOENT;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    return attr != NULL && attr->comp_mask != 0 ? EINVAL : next_poll(ex);
}

static void end_poll(struct ibv_cq_ex *ex)
{
    (void)ex;
}

static const program_completion_t *current_of(const struct ibv_cq_ex *ex)
{
    return &((const verbs_cq_t *)(const void *)ex)->current;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
    return (enum ibv_wc_opcode)current_of(ex)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
    (void)ex;
    return 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
    return current_of(ex)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
    return htobe32(current_of(ex)->immediate);
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
    return current_of(ex)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
    return current_of(ex)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
    return current_of(ex)->flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
    return current_of(ex)->src_lid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
    return packet_type(current_of(ex));
}

static uint8_t read_byte_of_none(struct ibv_cq_ex *ex)
{
    (void)ex;
    return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
    return current_of(ex)->time_ps / TURN_PS_PER_NS;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
    return turn_shared->epoch_ns + current_of(ex)->time_ps / TURN_PS_PER_NS;
}

static void set_reads(struct ibv_cq_ex *ex)
{
    ex->start_poll = start_poll;
    ex->next_poll = next_poll;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_byte_len = read_byte_len;
    ex->read_imm_data = read_imm_data;
    ex->read_qp_num = read_qp_num;
    ex->read_src_qp = read_src_qp;
    ex->read_wc_flags = read_wc_flags;
    ex->read_slid = read_slid;
    ex->read_sl = read_sl;
    ex->read_dlid_path_bits = read_byte_of_none;
    ex->read_completion_ts = read_completion_ts;
    ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

// -- life

static verbs_cq_t *create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
    if (!turn_enter("ibv_create_cq")) {
        errno = ENODEV;
        return NULL;
    }
    if (attr->cqe == 0 || attr->cqe > VERBS_MAX_CQE ||
        attr->comp_vector >= (uint32_t)context->num_comp_vectors) {
        errno = EINVAL;
        return NULL;
    }
    verbs_cq_t *cq = calloc(1, sizeof *cq);
    program_call_t call = {.op = PROGRAM_CREATE_CQ,
                           .device = verbs_device_of(context),
                           .count = attr->cqe,
                           .flags = (attr->wc_flags & WC_FLAGS_TIMES) != 0};
    turn_charge_call();
    int error = cq == NULL ? ENOMEM : turn_call(&call);
    error = error == 0 ? verbs_add(VERBS_CQ, call.handle, cq) : error;
    if (error != 0) {
        free(cq);
        errno = error;
        return NULL;
    }
    cq->base.context = context;
    cq->base.channel = attr->channel;
    cq->base.cq_context = attr->cq_context;
    cq->base.handle = call.handle;
    cq->base.cqe = (int)attr->cqe;
    pthread_mutex_init(&cq->base.mutex, NULL);
    pthread_cond_init(&cq->base.cond, NULL);
    if (attr->channel != NULL) {
        attr->channel->refcnt++;
    }
    TRACE("ibv_create_cq(%u) = cq %u", attr->cqe, call.handle);
    return cq;
}

PROGRAM_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries,
                                            void *cq_context, struct ibv_comp_channel *channel,
                                            int vector)
{
    const struct ibv_cq_init_attr_ex attr = {.cqe = entries < 0 ? 0 : (uint32_t)entries,
                                             .cq_context = cq_context,
                                             .channel = channel,
                                             .comp_vector = (uint32_t)vector};
    verbs_cq_t *cq = create(context, &attr);
    return cq == NULL ? NULL : &cq->base;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    if ((attr->wc_flags & ~WC_FLAGS_KNOWN) != 0 ||
        (attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ||
        ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
         (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    verbs_cq_t *cq = create(context, attr);
    if (cq == NULL) {
        return NULL;
    }
    set_reads(&cq->ex);
    return &cq->ex;
}

PROGRAM_EXPORT int ibv_resize_cq(struct ibv_cq *cq, int entries)
{
    if (!turn_enter("ibv_resize_cq")) {
        return ENODEV;
    }
    if (entries <= 0 || entries > VERBS_MAX_CQE ||
        (uint32_t)entries < ((const verbs_cq_t *)cq)->count) {
        return EINVAL;
    }
    program_call_t call = {.op = PROGRAM_RESIZE_CQ,
                           .handle = cq->handle,
                           .count = (uint32_t)entries};
    turn_charge_call();
    const int error = turn_call(&call);
    cq->cqe = error == 0 ? entries : cq->cqe;
    return error;
}

PROGRAM_EXPORT int ibv_destroy_cq(struct ibv_cq *base)
{
    verbs_cq_t *cq = (verbs_cq_t *)base;
    if (turn_enter("ibv_destroy_cq")) {
        program_call_t call = {.op = PROGRAM_DESTROY_CQ, .handle = base->handle};
        turn_charge_call();
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    TRACE("ibv_destroy_cq(cq %u) = 0", base->handle);
    verbs_remove(VERBS_CQ, base->handle);
    cached -= cq->count;
    if (base->channel != NULL) {
        base->channel->refcnt--;
    }
    free(cq);
    return 0;
}

void verbs_set_cq_ops(struct verbs_context *verbs)
{
    verbs->context.ops.poll_cq = poll_cq;
    verbs->context.ops.req_notify_cq = req_notify_cq;
    verbs->create_cq_ex = create_cq_ex;
}

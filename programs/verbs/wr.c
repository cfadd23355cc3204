// SPDX-License-Identifier: Apache-2.0
// programs/verbs/wr.c - ibv_wr_*: work requests that are built call by call, and posted together.

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/verbs/objects.h"

static verbs_builder_t *builder_of(struct ibv_qp_ex *ex)
{
    return ((verbs_qp_t *)(void *)ex)->builder;
}

static void set_error(verbs_builder_t *builder, int error)
{
    builder->error = builder->error == 0 ? error : builder->error;
}

// Appends the request that was built last to the others.
static void close_last(const verbs_qp_t *qp)
{
    verbs_builder_t *builder = qp->builder;
    uint64_t payload_bytes = builder->last.inline_bytes;
    if (!builder->open) {
        return;
    }
    builder->open = false;
    for (uint32_t i = 0; i < builder->last.sge_count; i++) {
        payload_bytes += builder->sges[i].length;
    }
    const int error =
        verbs_check_payload(qp, builder->last.opcode, builder->last.flags, payload_bytes);
    if (error != 0) {
        set_error(builder, error);
    }
    const bool inlined = (builder->last.flags & IBV_SEND_INLINE) != 0;
    const void *rest = inlined ? (const void *)builder->payload : builder->sges;
    const size_t rest_bytes =
        inlined ? builder->last.inline_bytes : builder->last.sge_count * sizeof(program_sge_t);
    const size_t bytes = sizeof builder->last + ((rest_bytes + 7) & ~(size_t)7);
    if (builder->bytes + bytes > builder->capacity) {
        const size_t capacity = (builder->bytes + bytes) * 2;
        uint8_t *larger = realloc(builder->records, capacity);
        if (larger == NULL) {
            set_error(builder, ENOMEM);
            return;
        }
        builder->records = larger;
        builder->capacity = capacity;
    }
    builder->last.bytes = (uint32_t)bytes;
    memcpy(builder->records + builder->bytes, &builder->last, sizeof builder->last);
    memcpy(builder->records + builder->bytes + sizeof builder->last, rest, rest_bytes);
    builder->bytes += bytes;
    builder->count++;
}

static void clear(verbs_builder_t *builder)
{
    builder->open = false;
    builder->bytes = 0;
    builder->count = 0;
    builder->error = 0;
}

static void wr_start(struct ibv_qp_ex *ex)
{
    clear(builder_of(ex));
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    clear(builder_of(ex));
}

// Returns 0 if the queue has room for all requests of the builder.
static int check_room(const verbs_qp_t *qp)
{
    return qp->posted - qp->retired + qp->builder->count > qp->cap.max_send_wr ? ENOMEM : 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
    verbs_qp_t *qp = (verbs_qp_t *)(void *)ex;
    verbs_builder_t *builder = qp->builder;
    if (!turn_enter("ibv_wr_complete")) {
        return ENODEV;
    }
    close_last(qp);
    int error = builder->error;
    error = error == 0 && qp->base.state < IBV_QPS_RTS ? EINVAL : error;
    error = error == 0 ? check_room(qp) : error;
    const size_t bytes = error == 0 ? builder->bytes : 0;
    verbs_expect_completions(&qp->base);
    for (size_t at = 0; at < bytes;) {
        program_post_t record;
        memcpy(&record, builder->records + at, sizeof record);
        const bool inlined = (record.flags & IBV_SEND_INLINE) != 0;
        const size_t rest_bytes =
            inlined ? record.inline_bytes : record.sge_count * sizeof(program_sge_t);
        record.chained = at + record.bytes < bytes;
        (void)verbs_count_send(qp, qp->signal_all || (record.flags & IBV_SEND_SIGNALED) != 0);
        verbs_put_record(&record, builder->records + at + sizeof record, rest_bytes);
        at += record.bytes;
    }
    clear(builder);
    return error;
}

// Begins a request with the id and the flags that the program has set.
static program_post_t *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    verbs_builder_t *builder = builder_of(ex);
    close_last((const verbs_qp_t *)(const void *)ex);
    builder->open = true;
    builder->last = (program_post_t){.kind = PROGRAM_SEND,
                                     .handle = ex->qp_base.handle,
                                     .opcode = (uint32_t)opcode,
                                     .flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE,
                                     .wr_id = ex->wr_id};
    return &builder->last;
}

static program_post_t *begin_remote(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
                                    uint64_t address)
{
    program_post_t *record = begin(ex, opcode);
    record->rkey = rkey;
    record->remote_address = address;
    return record;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address,
                              uint64_t compare, uint64_t swap)
{
    program_post_t *record = begin_remote(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address);
    record->compare_add = compare;
    record->swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t add)
{
    begin_remote(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address)->compare_add = add;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
    (void)begin_remote(ex, IBV_WR_RDMA_READ, rkey, address);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
    (void)begin_remote(ex, IBV_WR_RDMA_WRITE, rkey, address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address,
                              __be32 immediate)
{
    begin_remote(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address)->immediate = be32toh(immediate);
}

static void wr_send(struct ibv_qp_ex *ex)
{
    (void)begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 immediate)
{
    begin(ex, IBV_WR_SEND_WITH_IMM)->immediate = be32toh(immediate);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    verbs_builder_t *builder = builder_of(ex);
    const int error = verbs_put_peer(&builder->last, ah, qpn, qkey);
    if (error != 0) {
        set_error(builder, error);
    }
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
                                    const struct ibv_data_buf *buffers)
{
    verbs_builder_t *builder = builder_of(ex);
    const size_t most = ((verbs_qp_t *)(void *)ex)->cap.max_inline_data;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (buffers[i].length > most - total) {
            set_error(builder, EINVAL);
            return;
        }
        memcpy(builder->payload + total, buffers[i].addr, buffers[i].length);
        total += buffers[i].length;
    }
    builder->last.flags |= IBV_SEND_INLINE;
    builder->last.inline_bytes = (uint32_t)total;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *address, size_t length)
{
    const struct ibv_data_buf buffer = {.addr = address, .length = length};
    wr_set_inline_data_list(ex, 1, &buffer);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *sges)
{
    verbs_builder_t *builder = builder_of(ex);
    if (count > ((verbs_qp_t *)(void *)ex)->cap.max_send_sge) {
        set_error(builder, EINVAL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        builder->sges[i] = (program_sge_t){.address = sges[i].addr,
                                           .length = sges[i].length,
                                           .lkey = sges[i].lkey};
    }
    builder->last.sge_count = (uint32_t)count;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t address, uint32_t length)
{
    const struct ibv_sge sge = {.addr = address, .length = length, .lkey = lkey};
    wr_set_sge_list(ex, 1, &sge);
}

// Returns the operations that a queue pair of a type has.
static uint64_t known_operations(enum ibv_qp_type type)
{
    const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    const uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    const uint64_t reads = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                           IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    return type == IBV_QPT_RC   ? sends | writes | reads
           : type == IBV_QPT_UC ? sends | writes
                                : sends;
}

int verbs_set_wr_ops(verbs_qp_t *qp, enum ibv_qp_type type)
{
    struct ibv_qp_ex *ex = &qp->ex;
    if ((ex->comp_mask & ~known_operations(type)) != 0) {
        return EOPNOTSUPP;
    }
    qp->builder = calloc(1, sizeof *qp->builder);
    if (qp->builder == NULL) {
        return ENOMEM;
    }
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    if (type == IBV_QPT_UD) {
        ex->wr_set_ud_addr = wr_set_ud_addr;
        return 0;
    }
    ex->wr_rdma_write = wr_rdma_write;
    ex->wr_rdma_write_imm = wr_rdma_write_imm;
    if (type == IBV_QPT_RC) {
        ex->wr_rdma_read = wr_rdma_read;
        ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
        ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    }
    return 0;
}

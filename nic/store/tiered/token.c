// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/token.c - tokens and contexts to bytes and back
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/token.h"

#include <string.h>

#include "kernel/bytes.h"

static const char *const type_names[NIC_TOKEN_TYPE_COUNT] = {"pd", "mr", "cq", "qp"};

const char *nic_token_type_name(nic_token_type_t type)
{
    SIM_CHECK(type < NIC_TOKEN_TYPE_COUNT);
    return type_names[type];
}

uint32_t nic_token_bytes(nic_token_type_t type)
{
    static const uint32_t bytes[NIC_TOKEN_TYPE_COUNT] = {
        sizeof(nic_pd_token_t),
        sizeof(nic_mr_token_t),
        sizeof(nic_cq_token_t),
        sizeof(nic_qp_token_t),
    };
    SIM_CHECK(type < NIC_TOKEN_TYPE_COUNT);
    return bytes[type];
}

uint32_t nic_context_bytes(nic_token_type_t type)
{
    static const uint32_t bytes[NIC_TOKEN_TYPE_COUNT] = {16, 64, 64, NIC_CONTEXT_BYTES_MAX};
    SIM_CHECK(type < NIC_TOKEN_TYPE_COUNT);
    return bytes[type];
}

// -- the hot word: 24 + 24 + 4 + 12 bits

uint64_t nic_small_fields_pack(const nic_small_fields_t *fields)
{
    return (uint64_t)(fields->send_psn & 0xffffff) |
           (uint64_t)(fields->receive_psn & 0xffffff) << 24 |
           (uint64_t)(fields->state & 0xf) << 48 | (uint64_t)(fields->sequence & 0xfff) << 52;
}

nic_small_fields_t nic_small_fields_unpack(uint64_t packed)
{
    return (nic_small_fields_t){
        .send_psn = (uint32_t)packed & 0xffffff,
        .receive_psn = (uint32_t)(packed >> 24) & 0xffffff,
        .state = (uint32_t)(packed >> 48) & 0xf,
        .sequence = (uint32_t)(packed >> 52) & 0xfff,
    };
}

// -- tokens

static void put_header(uint8_t *bytes, nic_token_type_t type, uint32_t index)
{
    bytes[offsetof(nic_token_header_t, type)] = (uint8_t)type;
    bytes[offsetof(nic_token_header_t, version)] = NIC_TOKEN_VERSION;
    sim_put_le16(&bytes[offsetof(nic_token_header_t, index)], (uint16_t)index);
}

static bool encode_qp(const nic_qp_context_t *qp, uint8_t *bytes)
{
    if (qp->index > UINT16_MAX || qp->qp_type > UINT8_MAX || qp->state > UINT8_MAX ||
        qp->pd_index > UINT8_MAX || qp->send_cq_index > UINT8_MAX ||
        qp->recv_cq_index > UINT8_MAX || qp->access_flags > UINT8_MAX) {
        return false;
    }
    put_header(bytes, NIC_TOKEN_QP, qp->index);
    sim_put_le32(&bytes[offsetof(nic_qp_token_t, qpn)], qp->qpn);
    bytes[offsetof(nic_qp_token_t, qp_type)] = (uint8_t)qp->qp_type;
    bytes[offsetof(nic_qp_token_t, state)] = (uint8_t)qp->state;
    bytes[offsetof(nic_qp_token_t, pd_index)] = (uint8_t)qp->pd_index;
    bytes[offsetof(nic_qp_token_t, send_cq_index)] = (uint8_t)qp->send_cq_index;
    bytes[offsetof(nic_qp_token_t, recv_cq_index)] = (uint8_t)qp->recv_cq_index;
    bytes[offsetof(nic_qp_token_t, access_flags)] = (uint8_t)qp->access_flags;
    return true;
}

static bool encode_mr(const nic_mr_context_t *mr, uint8_t *bytes)
{
    if (mr->index > UINT16_MAX || mr->access_flags > UINT8_MAX || mr->page_bits > UINT8_MAX ||
        mr->page_count > UINT16_MAX) {
        return false;
    }
    put_header(bytes, NIC_TOKEN_MR, mr->index);
    sim_put_le32(&bytes[offsetof(nic_mr_token_t, lkey)], mr->lkey);
    bytes[offsetof(nic_mr_token_t, access_flags)] = (uint8_t)mr->access_flags;
    bytes[offsetof(nic_mr_token_t, page_bits)] = (uint8_t)mr->page_bits;
    sim_put_le16(&bytes[offsetof(nic_mr_token_t, page_count)], (uint16_t)mr->page_count);
    return true;
}

// Numbers of entries above 16 bits are powers of two, and fit as their logarithm.
static bool entries_fit(uint32_t cqe)
{
    return cqe <= UINT16_MAX || (cqe & (cqe - 1)) == 0;
}

static bool encode_cq(const nic_cq_context_t *cq, uint8_t *bytes)
{
    if (cq->index > UINT16_MAX || !entries_fit(cq->cqe) || cq->comp_vector > UINT8_MAX ||
        cq->flags >= NIC_CQ_LOG) {
        return false;
    }
    const bool log = cq->cqe > UINT16_MAX;
    put_header(bytes, NIC_TOKEN_CQ, cq->index);
    sim_put_le32(&bytes[offsetof(nic_cq_token_t, cqn)], cq->cqn);
    sim_put_le16(&bytes[offsetof(nic_cq_token_t, cqe)],
                 (uint16_t)(log ? (uint32_t)__builtin_ctz(cq->cqe) : cq->cqe));
    bytes[offsetof(nic_cq_token_t, comp_vector)] = (uint8_t)cq->comp_vector;
    bytes[offsetof(nic_cq_token_t, flags)] = (uint8_t)(cq->flags | (log ? NIC_CQ_LOG : 0));
    return true;
}

// Fills the fields of a CQ's context from cqe, vector and flags as tokens have them. Returns false
// if a logarithm is none that encode_cq writes.
static bool fill_cq(uint32_t cqe, uint32_t vector, uint32_t flags, nic_cq_context_t *cq)
{
    const bool log = (flags & NIC_CQ_LOG) != 0;
    if (log && (cqe < 16 || cqe > 31)) {
        return false;
    }
    cq->cqe = log ? 1u << cqe : cqe;
    cq->comp_vector = vector;
    cq->flags = flags & ~(uint32_t)NIC_CQ_LOG;
    return true;
}

bool nic_token_encode(const nic_context_t *context, uint8_t *bytes)
{
    switch (context->type) {
    case NIC_TOKEN_PD:
        if (context->pd.index > UINT16_MAX) {
            return false;
        }
        put_header(bytes, NIC_TOKEN_PD, context->pd.index);
        sim_put_le32(&bytes[offsetof(nic_pd_token_t, pdn)], context->pd.pdn);
        return true;
    case NIC_TOKEN_MR:
        return encode_mr(&context->mr, bytes);
    case NIC_TOKEN_CQ:
        return encode_cq(&context->cq, bytes);
    case NIC_TOKEN_QP:
        return encode_qp(&context->qp, bytes);
    case NIC_TOKEN_TYPE_COUNT:
        break;
    }
    SIM_CHECK(false);
    return false;
}

bool nic_token_header(const uint8_t *bytes, size_t size_bytes, nic_token_type_t *type,
                      uint8_t *version, uint16_t *index)
{
    if (size_bytes < sizeof(nic_token_header_t) ||
        bytes[offsetof(nic_token_header_t, type)] >= NIC_TOKEN_TYPE_COUNT) {
        return false;
    }
    *type = (nic_token_type_t)bytes[offsetof(nic_token_header_t, type)];
    *version = bytes[offsetof(nic_token_header_t, version)];
    *index = sim_get_le16(&bytes[offsetof(nic_token_header_t, index)]);
    return true;
}

bool nic_token_decode(const uint8_t *bytes, size_t size_bytes, nic_context_t *context)
{
    nic_token_type_t type;
    uint8_t version;
    uint16_t index;
    if (!nic_token_header(bytes, size_bytes, &type, &version, &index) || type != context->type ||
        version != NIC_TOKEN_VERSION || size_bytes < nic_token_bytes(type)) {
        return false;
    }
    switch (type) {
    case NIC_TOKEN_PD:
        context->pd.index = index;
        context->pd.pdn = sim_get_le32(&bytes[offsetof(nic_pd_token_t, pdn)]);
        break;
    case NIC_TOKEN_MR:
        context->mr.index = index;
        context->mr.lkey = sim_get_le32(&bytes[offsetof(nic_mr_token_t, lkey)]);
        context->mr.access_flags = bytes[offsetof(nic_mr_token_t, access_flags)];
        context->mr.page_bits = bytes[offsetof(nic_mr_token_t, page_bits)];
        context->mr.page_count = sim_get_le16(&bytes[offsetof(nic_mr_token_t, page_count)]);
        break;
    case NIC_TOKEN_CQ:
        if (!fill_cq(sim_get_le16(&bytes[offsetof(nic_cq_token_t, cqe)]),
                     bytes[offsetof(nic_cq_token_t, comp_vector)],
                     bytes[offsetof(nic_cq_token_t, flags)], &context->cq)) {
            return false;
        }
        context->cq.index = index;
        context->cq.cqn = sim_get_le32(&bytes[offsetof(nic_cq_token_t, cqn)]);
        break;
    case NIC_TOKEN_QP:
        context->qp.index = index;
        context->qp.qpn = sim_get_le32(&bytes[offsetof(nic_qp_token_t, qpn)]);
        context->qp.qp_type = bytes[offsetof(nic_qp_token_t, qp_type)];
        context->qp.state = bytes[offsetof(nic_qp_token_t, state)];
        context->qp.pd_index = bytes[offsetof(nic_qp_token_t, pd_index)];
        context->qp.send_cq_index = bytes[offsetof(nic_qp_token_t, send_cq_index)];
        context->qp.recv_cq_index = bytes[offsetof(nic_qp_token_t, recv_cq_index)];
        context->qp.access_flags = bytes[offsetof(nic_qp_token_t, access_flags)];
        break;
    case NIC_TOKEN_TYPE_COUNT:
        break;
    }
    return true;
}

uint16_t nic_token_check(const uint8_t *bytes, size_t size_bytes)
{
    // The polynomial 0x1021, a byte at a time: the shifts of CRC-16-CCITT written out.
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < size_bytes; i++) {
        crc = (uint16_t)(crc << 8 | crc >> 8);
        crc = (uint16_t)(crc ^ bytes[i]);
        crc = (uint16_t)(crc ^ (crc & 0xff) >> 4);
        crc = (uint16_t)(crc ^ crc << 12);
        crc = (uint16_t)(crc ^ (crc & 0xff) << 5);
    }
    return crc;
}

// -- entries of L1

#define QP_TYPE_BITS 3u
#define QP_ACCESS_BITS 5u

static uint8_t *metadata_of(nic_l1_entry_t *entry)
{
    return (uint8_t *)entry + offsetof(nic_l1_entry_t, metadata);
}

bool nic_l1_entry_pack(const nic_context_t *context, nic_l1_entry_t *entry)
{
    uint8_t token[NIC_TOKEN_BYTES_MAX];
    if (!nic_token_encode(context, token)) {
        return false;
    }
    uint64_t small_fields = 0;
    uint32_t metadata = 0;
    switch (context->type) {
    case NIC_TOKEN_PD:
        small_fields = context->pd.pdn;
        break;
    case NIC_TOKEN_MR:
        small_fields = sim_get_le64(&token[offsetof(nic_mr_token_t, lkey)]);
        break;
    case NIC_TOKEN_CQ:
        small_fields = (uint64_t)context->cq.consumer << 32 | context->cq.producer;
        metadata = sim_get_le32(&token[offsetof(nic_cq_token_t, cqe)]);
        break;
    case NIC_TOKEN_QP:
        if (context->qp.qp_type >= 1u << QP_TYPE_BITS ||
            context->qp.access_flags >= 1u << QP_ACCESS_BITS ||
            context->qp.state != nic_small_fields_unpack(context->qp.small_fields).state) {
            return false;
        }
        small_fields = context->qp.small_fields;
        metadata = context->qp.pd_index | context->qp.send_cq_index << 8 |
                   context->qp.recv_cq_index << 16 | context->qp.qp_type << 24 |
                   context->qp.access_flags << (24 + QP_TYPE_BITS);
        break;
    case NIC_TOKEN_TYPE_COUNT:
        break;
    }
    sim_put_le32(
        (uint8_t *)entry + offsetof(nic_l1_entry_t, token_id),
        nic_handle(context->type, sim_get_le16(&token[offsetof(nic_token_header_t, index)])));
    sim_put_le64(nic_l1_word(entry), small_fields);
    sim_put_le32(metadata_of(entry), metadata);
    return true;
}

void nic_l1_entry_unpack(const nic_l1_entry_t *entry, uint32_t number, nic_context_t *context)
{
    nic_l1_entry_t copy = *entry;
    const uint64_t small_fields = sim_get_le64(nic_l1_word(&copy));
    const uint32_t metadata = sim_get_le32(metadata_of(&copy));
    const uint32_t index = nic_handle_index(sim_get_le32((const uint8_t *)&copy));
    switch (context->type) {
    case NIC_TOKEN_PD:
        context->pd.index = index;
        context->pd.pdn = (uint32_t)small_fields;
        break;
    case NIC_TOKEN_MR:
        context->mr.index = index;
        context->mr.lkey = (uint32_t)small_fields;
        context->mr.access_flags = (uint8_t)(small_fields >> 32);
        context->mr.page_bits = (uint8_t)(small_fields >> 40);
        context->mr.page_count = (uint16_t)(small_fields >> 48);
        break;
    case NIC_TOKEN_CQ:
        context->cq.index = index;
        context->cq.cqn = number;
        context->cq.producer = (uint32_t)small_fields;
        context->cq.consumer = (uint32_t)(small_fields >> 32);
        (void)fill_cq((uint16_t)metadata, (uint8_t)(metadata >> 16), metadata >> 24, &context->cq);
        break;
    case NIC_TOKEN_QP:
        context->qp.index = index;
        context->qp.qpn = number;
        context->qp.small_fields = small_fields;
        context->qp.state = nic_small_fields_unpack(small_fields).state;
        context->qp.pd_index = (uint8_t)metadata;
        context->qp.send_cq_index = (uint8_t)(metadata >> 8);
        context->qp.recv_cq_index = (uint8_t)(metadata >> 16);
        context->qp.qp_type = metadata >> 24 & ((1u << QP_TYPE_BITS) - 1);
        context->qp.access_flags = metadata >> (24 + QP_TYPE_BITS);
        break;
    case NIC_TOKEN_TYPE_COUNT:
        break;
    }
}

// -- contexts: a list of fields each, of 1, 4 or 8 bytes or a run of bytes

typedef struct field {
    uint16_t offset; // in nic_context_t
    uint16_t bytes;
    uint8_t word; // 4, 8: a number; 1: bytes as they are
} field_t;

#define NUMBER(type, member)                                                             \
    {                                                                                    \
        offsetof(nic_context_t, type.member), sizeof(((nic_context_t *)0)->type.member), \
            sizeof(((nic_context_t *)0)->type.member)                                    \
    }
#define BYTES(type, member)                                                                \
    {                                                                                      \
        offsetof(nic_context_t, type.member), sizeof(((nic_context_t *)0)->type.member), 1 \
    }

static const field_t pd_fields[] = {NUMBER(pd, index), NUMBER(pd, pdn), NUMBER(pd, owner)};
static const field_t mr_fields[] = {
    NUMBER(mr, index),        NUMBER(mr, lkey),          NUMBER(mr, access_flags),
    NUMBER(mr, page_bits),    NUMBER(mr, page_count),    NUMBER(mr, address),
    NUMBER(mr, length_bytes), NUMBER(mr, table_address), NUMBER(mr, pdn),
};
static const field_t cq_fields[] = {
    NUMBER(cq, index), NUMBER(cq, cqn),          NUMBER(cq, cqe),      NUMBER(cq, comp_vector),
    NUMBER(cq, flags), NUMBER(cq, ring_address), NUMBER(cq, producer), NUMBER(cq, consumer),
};
static const field_t qp_fields[] = {
    NUMBER(qp, index),         NUMBER(qp, qpn),           NUMBER(qp, qp_type),
    NUMBER(qp, state),         NUMBER(qp, pd_index),      NUMBER(qp, send_cq_index),
    NUMBER(qp, recv_cq_index), NUMBER(qp, access_flags),  NUMBER(qp, small_fields),
    BYTES(qp, address_path),   NUMBER(qp, queue_address), NUMBER(qp, remote_qpn),
    NUMBER(qp, mtu_bytes),     NUMBER(qp, timeout),       NUMBER(qp, retry),
    NUMBER(qp, rnr_timer),     NUMBER(qp, rnr_retry),     NUMBER(qp, udp_source_port),
    NUMBER(qp, hop_limit),     NUMBER(qp, dscp),          BYTES(qp, rest),
};

typedef struct fields {
    const field_t *rows;
    size_t count;
} fields_t;

static fields_t fields_of(nic_token_type_t type)
{
    static const fields_t fields[NIC_TOKEN_TYPE_COUNT] = {
        {pd_fields, SIM_COUNT_OF(pd_fields)},
        {mr_fields, SIM_COUNT_OF(mr_fields)},
        {cq_fields, SIM_COUNT_OF(cq_fields)},
        {qp_fields, SIM_COUNT_OF(qp_fields)},
    };
    SIM_CHECK(type < NIC_TOKEN_TYPE_COUNT);
    return fields[type];
}

uint32_t nic_context_hot_offset(nic_token_type_t type)
{
    // Bits of small_fields, and of producer and consumer.
    return type == NIC_TOKEN_QP ? 32 : type == NIC_TOKEN_CQ ? 28 : UINT32_MAX;
}

void nic_context_encode(const nic_context_t *context, uint8_t *bytes)
{
    const fields_t fields = fields_of(context->type);
    const uint32_t size_bytes = nic_context_bytes(context->type);
    memset(bytes, 0, size_bytes);
    size_t at = 0;
    for (size_t i = 0; i < fields.count; i++) {
        const field_t *const field = &fields.rows[i];
        const char *const from = (const char *)context + field->offset;
        SIM_CHECK(at + field->bytes <= size_bytes);
        if (field->word == 1) {
            memcpy(&bytes[at], from, field->bytes);
        } else if (field->word == 4) {
            uint32_t value;
            memcpy(&value, from, sizeof(value));
            sim_put_le32(&bytes[at], value);
        } else {
            uint64_t value;
            memcpy(&value, from, sizeof(value));
            sim_put_le64(&bytes[at], value);
        }
        at += field->bytes;
    }
}

bool nic_context_decode(nic_token_type_t type, const uint8_t *bytes, size_t size_bytes,
                        nic_context_t *context)
{
    if (type >= NIC_TOKEN_TYPE_COUNT || size_bytes < nic_context_bytes(type)) {
        return false;
    }
    memset(context, 0, sizeof(*context));
    context->type = type;
    const fields_t fields = fields_of(type);
    size_t at = 0;
    for (size_t i = 0; i < fields.count; i++) {
        const field_t *const field = &fields.rows[i];
        char *const to = (char *)context + field->offset;
        if (field->word == 1) {
            memcpy(to, &bytes[at], field->bytes);
        } else if (field->word == 4) {
            const uint32_t value = sim_get_le32(&bytes[at]);
            memcpy(to, &value, sizeof(value));
        } else {
            const uint64_t value = sim_get_le64(&bytes[at]);
            memcpy(to, &value, sizeof(value));
        }
        at += field->bytes;
    }
    return true;
}

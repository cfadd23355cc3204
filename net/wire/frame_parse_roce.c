// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_parse_roce.c - the parser of net/frame.h from the BTH to the ICRC.
#include <string.h>

#include "kernel/bytes.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/frame_reader.h"
#include "net/wire/layout.h"

static sim_err_t check_bth(const net__frame_reader_t *reader, const uint8_t *bth)
{
    const uint8_t opcode = bth[ROCE_BTH_AT_OPCODE];
    const bool mrc = net_mrc_known(opcode);
    const uint8_t reserved = mrc ? MRC_BTH_RESERVED : ROCE_BTH_ACK_REQUEST_RESERVED;
    if ((net_frame_extensions(opcode) & NET_EXT_KNOWN) == 0 && !mrc) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "BTH opcode 0x%02x is not one of RoCEv2 or MRC", opcode);
    }
    if ((bth[ROCE_BTH_AT_FLAGS] & ROCE_BTH_VERSION_MASK) != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "BTH transport version %u, must be 0",
                        bth[ROCE_BTH_AT_FLAGS] & ROCE_BTH_VERSION_MASK);
    }
    if ((bth[ROCE_BTH_AT_CONGESTION] & ROCE_BTH_CONGESTION_RESERVED) != 0 ||
        (bth[ROCE_BTH_AT_ACK_REQUEST] & reserved) != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "BTH reserved bits are not zero (bytes 0x%02x, 0x%02x)",
                        bth[ROCE_BTH_AT_CONGESTION], bth[ROCE_BTH_AT_ACK_REQUEST]);
    }
    return SIM_OK;
}

static sim_err_t parse_bth(net__frame_reader_t *reader)
{
    sim_err_t error = net__frame_require(reader, "BTH and ICRC", ROCE_BTH_BYTES + ROCE_ICRC_BYTES);
    if (error != SIM_OK) {
        return error;
    }
    const uint8_t *const bth = reader->bytes + reader->offset;
    net_frame_t *const frame = reader->frame;
    error = check_bth(reader, bth);
    if (error != SIM_OK) {
        return error;
    }
    const uint8_t flags = bth[ROCE_BTH_AT_FLAGS];
    frame->opcode = bth[ROCE_BTH_AT_OPCODE];
    frame->solicited = (flags & ROCE_BTH_SOLICITED) != 0;
    frame->migration = (flags & ROCE_BTH_MIGRATION) != 0;
    frame->pad_bytes = flags >> ROCE_BTH_PAD_SHIFT & ROCE_BTH_PAD_MASK;
    frame->pkey = sim_get_be16(bth + ROCE_BTH_AT_PKEY);
    frame->fecn = (bth[ROCE_BTH_AT_CONGESTION] & ROCE_BTH_FECN) != 0;
    frame->becn = (bth[ROCE_BTH_AT_CONGESTION] & ROCE_BTH_BECN) != 0;
    frame->destination_qp = sim_get_be24(bth + ROCE_BTH_AT_DESTINATION_QP);
    frame->ack_request = (bth[ROCE_BTH_AT_ACK_REQUEST] & ROCE_BTH_ACK_REQUEST) != 0;
    frame->psn = sim_get_be24(bth + ROCE_BTH_AT_PSN);

    frame->icrc = sim_get_le32(reader->bytes + reader->end - ROCE_ICRC_BYTES);
    reader->end -= ROCE_ICRC_BYTES;
    reader->offset += ROCE_BTH_BYTES;
    return SIM_OK;
}

static const uint8_t *parse_atomic(net_frame_t *frame, const uint8_t *at)
{
    frame->atomic.address = sim_get_be64(at + ROCE_ATOMIC_ETH_AT_ADDRESS);
    frame->atomic.rkey = sim_get_be32(at + ROCE_ATOMIC_ETH_AT_RKEY);
    frame->atomic.swap_add = sim_get_be64(at + ROCE_ATOMIC_ETH_AT_SWAP_ADD);
    frame->atomic.compare = sim_get_be64(at + ROCE_ATOMIC_ETH_AT_COMPARE);
    return at + ROCE_ATOMIC_ETH_BYTES;
}

// Reads the extension headers, whose bytes are known to be there. Returns where they end.
static const uint8_t *read_extensions(net_frame_t *frame, const uint8_t *at)
{
    const uint32_t extensions = net_frame_extensions(frame->opcode);
    if ((extensions & NET_EXT_DETH) != 0) {
        frame->deth.qkey = sim_get_be32(at + ROCE_DETH_AT_QKEY);
        frame->deth.source_qp = sim_get_be24(at + ROCE_DETH_AT_SOURCE_QP);
        at += ROCE_DETH_BYTES;
    }
    if ((extensions & NET_EXT_RETH) != 0) {
        frame->reth.address = sim_get_be64(at + ROCE_RETH_AT_ADDRESS);
        frame->reth.rkey = sim_get_be32(at + ROCE_RETH_AT_RKEY);
        frame->reth.length = sim_get_be32(at + ROCE_RETH_AT_LENGTH);
        at += ROCE_RETH_BYTES;
    }
    if ((extensions & NET_EXT_ATOMIC) != 0) {
        at = parse_atomic(frame, at);
    }
    if ((extensions & NET_EXT_AETH) != 0) {
        frame->aeth.syndrome = at[ROCE_AETH_AT_SYNDROME];
        frame->aeth.msn = sim_get_be24(at + ROCE_AETH_AT_MSN);
        at += ROCE_AETH_BYTES;
    }
    if ((extensions & NET_EXT_ATOMIC_ACK) != 0) {
        frame->atomic_original = sim_get_be64(at);
        at += ROCE_ATOMIC_ACK_ETH_BYTES;
    }
    if ((extensions & NET_EXT_IMMDT) != 0) {
        frame->immediate = sim_get_be32(at);
        at += ROCE_IMMDT_BYTES;
    }
    if ((extensions & NET_EXT_IETH) != 0) {
        frame->invalidate_rkey = sim_get_be32(at);
        at += ROCE_IETH_BYTES;
    }
    return at;
}

static sim_err_t parse_extensions(net__frame_reader_t *reader)
{
    const uint8_t opcode = reader->frame->opcode;
    const uint32_t extensions = net_frame_extensions(opcode);
    const uint8_t *const at = reader->bytes + reader->offset;
    const size_t size_bytes = net_frame_extension_bytes(opcode);
    const sim_err_t error = net__frame_require(reader, net_frame_opcode_name(opcode), size_bytes);
    if (error != SIM_OK) {
        return error;
    }
    if ((extensions & NET_EXT_CNP) != 0) {
        const sim_err_t reserved =
            net__frame_require_zeros(reader, "reserved byte of a CNP", reader->offset + size_bytes);
        reader->offset += size_bytes;
        return reserved;
    }
    if ((extensions & NET_EXT_DETH) != 0 && at[ROCE_DETH_AT_RESERVED] != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "DETH reserved byte 0x%02x, must be zero",
                        at[ROCE_DETH_AT_RESERVED]);
    }
    SIM_CHECK(read_extensions(reader->frame, at) == at + size_bytes);
    reader->offset += size_bytes;
    return SIM_OK;
}

// Reads the bytes that a selective transport adds; bits of the BTH say how many.
static sim_err_t parse_extra(net__frame_reader_t *reader, uint8_t bits)
{
    net_frame_t *const frame = reader->frame;
    const size_t left = reader->end - reader->offset;
    const bool ack = frame->opcode == ROCE_ACKNOWLEDGE;
    const uint32_t data_bytes = ((bits & ROCE_BTH_ADDRESSED) != 0 ? ROCE_RETH_BYTES : 0) +
                                ((bits & ROCE_BTH_SELECTIVE) != 0 ? ROCE_ROUND_BYTES : 0);
    const size_t size_bytes = ack && bits != 0 ? left : data_bytes;
    if (ack && bits != 0 &&
        (bits != ROCE_BTH_SELECTIVE || left < ROCE_MAP_BYTES_MIN || left > sizeof(frame->extra) ||
         left % 4 != 0)) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "an ACK with a map of %zu bytes", left);
    }
    const sim_err_t error = net__frame_require(reader, "address and round", size_bytes);
    if (error == SIM_OK) {
        memcpy(frame->extra, reader->bytes + reader->offset, size_bytes);
        frame->extra_bytes = (uint32_t)size_bytes;
        reader->offset += size_bytes;
    }
    return error;
}

// Reads payload and pad, which are all bytes before the ICRC.
static sim_err_t parse_payload(net__frame_reader_t *reader, bool may_have)
{
    net_frame_t *const frame = reader->frame;
    const char *const name = net_frame_opcode_name(frame->opcode);
    const size_t left = reader->end - reader->offset;
    if (!may_have && left != 0) {
        return sim_fail_about(reader->message, SIM_ERR_INVALID, name,
                              " carries %zu bytes, must be none", left);
    }
    if (left % 4 != 0 || frame->pad_bytes > left) {
        return sim_fail_about(reader->message, SIM_ERR_INVALID, name,
                              ": pad count %u with %zu bytes of payload and pad", frame->pad_bytes,
                              left);
    }
    if (left > ROCE_MTU_STANDARD_MAX) {
        return sim_fail_about(reader->message, SIM_ERR_INVALID, name,
                              " carries %zu bytes, the largest path MTU is %d", left,
                              ROCE_MTU_STANDARD_MAX);
    }
    frame->payload = reader->bytes + reader->offset;
    frame->payload_bytes = (uint32_t)left - frame->pad_bytes;
    reader->offset += frame->payload_bytes;
    return net__frame_require_zeros(reader, "pad", reader->end);
}

// Reads the headers of MRC and the payload. A packet that a switch has cut has neither pad nor
// ICRC, and its length shows it.
static sim_err_t parse_mrc(net__frame_reader_t *reader, uint8_t bits)
{
    net_frame_t *const frame = reader->frame;
    frame->is_mrc = true;
    frame->mrc.again = (bits & MRC_BTH_AGAIN) != 0;
    frame->mrc.stamped = (bits & MRC_BTH_STAMPED) != 0;
    const char *const why = net_mrc_parse(frame->opcode, reader->bytes + reader->offset,
                                          reader->end - reader->offset, &frame->mrc);
    if (why != NULL) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "frame byte %zu: MRC: %s", reader->offset,
                        why);
    }
    reader->offset += net_mrc_bytes(frame->opcode, &frame->mrc);
    const size_t left = reader->end - reader->offset;
    frame->mrc.cut = left % 4 != 0 && frame->pad_bytes == 0;
    if (!frame->mrc.cut) {
        return parse_payload(reader, net_mrc_has_payload(frame->opcode));
    }
    reader->end += ROCE_ICRC_BYTES;
    frame->icrc = 0;
    frame->payload = reader->bytes + reader->offset;
    frame->payload_bytes = (uint32_t)(left + ROCE_ICRC_BYTES);
    reader->offset = reader->end;
    if (!net_mrc_has_payload(frame->opcode) || frame->payload_bytes > ROCE_MTU_STANDARD_MAX) {
        return sim_fail_about(reader->message, SIM_ERR_INVALID,
                              net_frame_opcode_name(frame->opcode), " carries %zu bytes", left);
    }
    return SIM_OK;
}

sim_err_t net__frame_parse_roce(net__frame_reader_t *reader)
{
    sim_err_t error = parse_bth(reader);
    if (error == SIM_OK && net_mrc_known(reader->frame->opcode)) {
        return parse_mrc(reader,
                         reader->bytes[reader->offset - ROCE_BTH_BYTES + ROCE_BTH_AT_ACK_REQUEST]);
    }
    const uint8_t bits =
        error == SIM_OK ? reader->bytes[reader->offset - ROCE_BTH_BYTES + ROCE_BTH_AT_ACK_REQUEST] &
                              (ROCE_BTH_ADDRESSED | ROCE_BTH_SELECTIVE)
                        : 0;
    if (error == SIM_OK) {
        error = parse_extensions(reader);
    }
    if (error == SIM_OK && bits != 0) {
        error = parse_extra(reader, bits);
    }
    if (error != SIM_OK) {
        return error;
    }
    const uint32_t extensions = net_frame_extensions(reader->frame->opcode);
    return parse_payload(reader, (extensions & NET_EXT_PAYLOAD) != 0);
}

// SPDX-License-Identifier: Apache-2.0
// net/wire/mrc.c - builder and parser of MRC's headers behind the BTH.
//
// The parser is strict: from its result the builder makes the same bytes. So reserved bits must be
// zero.
#include "net/wire/mrc.h"

#include <string.h>

#include "kernel/bytes.h"
#include "net/wire/roce.h"

#define TWENTY_FOUR_BITS 0xffffffu
#define FORMAT_MASK 0x0fu
#define OWN_RESOLUTION 0x8000u

// Headers that opcodes carry.
enum {
    HAS_NONE = 0,
    HAS_METH = 1 << 0, // and perhaps a TSETH
    HAS_RETH = 1 << 1,
    HAS_IMMDT = 1 << 2,
    HAS_AETH = 1 << 3,
    HAS_SETH = 1 << 4, // with CC_STATE
    HAS_NETH = 1 << 5,
    HAS_PETH = 1 << 6,
    HAS_ERTH = 1 << 7,
    HAS_EETH = 1 << 8,
    HAS_DATA = 1 << 9,
    HAS_OPERANDS = 1 << 10, // of an atomic
    HAS_ORIGINAL = 1 << 11,
    IS_KNOWN = 1 << 12,
};

#define WRITE (IS_KNOWN | HAS_METH | HAS_RETH | HAS_DATA)
#define SEND (IS_KNOWN | HAS_METH | HAS_DATA)
#define BYTES(set, header, size) (((set) & (header)) != 0 ? (size) : 0)
#define OPERATION(name, set)                                                                      \
    {                                                                                             \
        name, set,                                                                                \
            BYTES(set, HAS_METH, MRC_METH_BYTES) + BYTES(set, HAS_RETH, ROCE_RETH_BYTES) +        \
                BYTES(set, HAS_IMMDT, ROCE_IMMDT_BYTES) + BYTES(set, HAS_AETH, ROCE_AETH_BYTES) + \
                BYTES(set, HAS_OPERANDS, ROCE_ATOMIC_ETH_BYTES) +                                 \
                BYTES(set, HAS_ORIGINAL, ROCE_ATOMIC_ACK_ETH_BYTES) +                             \
                BYTES(set, HAS_SETH, MRC_SETH_BYTES + MRC_CC_STATE_BYTES) +                       \
                BYTES(set, HAS_NETH, MRC_NETH_BYTES) + BYTES(set, HAS_PETH, MRC_PETH_BYTES) +     \
                BYTES(set, HAS_ERTH, MRC_ERTH_BYTES) + BYTES(set, HAS_EETH, MRC_EETH_BYTES)       \
    }
static const struct {
    const char *name;
    uint16_t has;
    uint16_t bytes; // of the headers, without a TSETH
} operations[ROCE_OPERATION_MASK + 1] = {
    [ROCE_SEND_FIRST] = OPERATION("MRC SEND FIRST", SEND),
    [ROCE_SEND_MIDDLE] = OPERATION("MRC SEND MIDDLE", SEND),
    [ROCE_SEND_LAST] = OPERATION("MRC SEND LAST", SEND),
    [ROCE_SEND_LAST_IMM] = OPERATION("MRC SEND LAST IMM", SEND | HAS_IMMDT),
    [ROCE_SEND_ONLY] = OPERATION("MRC SEND ONLY", SEND),
    [ROCE_SEND_ONLY_IMM] = OPERATION("MRC SEND ONLY IMM", SEND | HAS_IMMDT),
    [ROCE_WRITE_FIRST] = OPERATION("MRC WRITE FIRST", WRITE),
    [ROCE_WRITE_MIDDLE] = OPERATION("MRC WRITE MIDDLE", WRITE),
    [ROCE_WRITE_LAST] = OPERATION("MRC WRITE LAST", WRITE),
    [ROCE_WRITE_LAST_IMM] = OPERATION("MRC WRITE LAST IMM", WRITE | HAS_IMMDT),
    [ROCE_WRITE_ONLY] = OPERATION("MRC WRITE ONLY", WRITE),
    [ROCE_WRITE_ONLY_IMM] = OPERATION("MRC WRITE ONLY IMM", WRITE | HAS_IMMDT),
    [ROCE_READ_REQUEST] = OPERATION("MRC READ REQUEST", IS_KNOWN | HAS_METH | HAS_RETH),
    [ROCE_READ_RESPONSE_FIRST] =
        OPERATION("MRC READ RESPONSE FIRST", IS_KNOWN | HAS_AETH | HAS_DATA),
    [ROCE_READ_RESPONSE_MIDDLE] = OPERATION("MRC READ RESPONSE MIDDLE", IS_KNOWN | HAS_DATA),
    [ROCE_READ_RESPONSE_LAST] = OPERATION("MRC READ RESPONSE LAST", IS_KNOWN | HAS_AETH | HAS_DATA),
    [ROCE_READ_RESPONSE_ONLY] = OPERATION("MRC READ RESPONSE ONLY", IS_KNOWN | HAS_AETH | HAS_DATA),
    [ROCE_ACKNOWLEDGE] = OPERATION("MRC ACKNOWLEDGE", IS_KNOWN | HAS_AETH),
    [ROCE_ATOMIC_ACKNOWLEDGE] =
        OPERATION("MRC ATOMIC ACKNOWLEDGE", IS_KNOWN | HAS_AETH | HAS_ORIGINAL),
    [ROCE_COMPARE_SWAP] = OPERATION("MRC COMPARE SWAP", IS_KNOWN | HAS_METH | HAS_OPERANDS),
    [ROCE_FETCH_ADD] = OPERATION("MRC FETCH ADD", IS_KNOWN | HAS_METH | HAS_OPERANDS),
    [ROCE_MRC_ENDPOINT_REQUEST] = OPERATION("MRC ENDPOINT REQUEST", IS_KNOWN | HAS_ERTH),
    [ROCE_MRC_ENDPOINT_RESPONSE] = OPERATION("MRC ENDPOINT RESPONSE", IS_KNOWN | HAS_EETH),
    [ROCE_MRC_SACK] = OPERATION("MRC SACK", IS_KNOWN | HAS_SETH),
    [ROCE_MRC_NACK] = OPERATION("MRC NACK", IS_KNOWN | HAS_NETH),
    [ROCE_MRC_PROBE] = OPERATION("MRC PROBE", IS_KNOWN | HAS_PETH),
};

static uint32_t has(uint8_t opcode)
{
    return (opcode & ROCE_TRANSPORT_MASK) == ROCE_MRC ? operations[opcode & ROCE_OPERATION_MASK].has
                                                      : HAS_NONE;
}

bool net_mrc_known(uint8_t opcode)
{
    return has(opcode) != HAS_NONE;
}

const char *net_mrc_opcode_name(uint8_t opcode)
{
    return net_mrc_known(opcode) ? operations[opcode & ROCE_OPERATION_MASK].name : "unknown";
}

bool net_mrc_has_payload(uint8_t opcode)
{
    return (has(opcode) & HAS_DATA) != 0;
}

uint32_t net_mrc_header_bytes(uint8_t opcode, bool stamped)
{
    const uint32_t set = has(opcode);
    return set == HAS_NONE ? 0
                           : operations[opcode & ROCE_OPERATION_MASK].bytes +
                                 (stamped && (set & HAS_METH) != 0 ? (uint32_t)MRC_TSETH_BYTES : 0);
}

uint32_t net_mrc_bytes(uint8_t opcode, const net_mrc_t *mrc)
{
    return net_mrc_header_bytes(opcode, mrc->stamped);
}

// -- building

static void put_stamp(const net_mrc_t *mrc, uint8_t *at)
{
    SIM_CHECK(mrc->stamp_format <= FORMAT_MASK);
    sim_put_be16(at, mrc->stamp);
    sim_put_be16(at + 2,
                 (uint16_t)((mrc->own_resolution ? OWN_RESOLUTION : 0u) | mrc->stamp_format));
}

static uint8_t *build_message(const net_mrc_t *mrc, uint8_t *at)
{
    sim_put_be16(at, mrc->receive_message);
    sim_put_be16(at + 2, mrc->message);
    at += MRC_METH_BYTES;
    if (mrc->stamped) {
        put_stamp(mrc, at);
        at += MRC_TSETH_BYTES;
    }
    return at;
}

static uint8_t *build_reth(const net_mrc_t *mrc, uint8_t *at)
{
    sim_put_be64(at, mrc->address);
    sim_put_be32(at + 8, mrc->rkey);
    sim_put_be32(at + 12, mrc->length);
    return at + ROCE_RETH_BYTES;
}

static uint8_t *build_operands(const net_mrc_t *mrc, uint8_t *at)
{
    sim_put_be64(at, mrc->address);
    sim_put_be32(at + 8, mrc->rkey);
    sim_put_be64(at + 12, mrc->swap_add);
    sim_put_be64(at + 20, mrc->compare);
    return at + ROCE_ATOMIC_ETH_BYTES;
}

// Writes what SETH and NETH have in common, from the entropy to the class of congestion control.
static void put_common(const net_mrc_t *mrc, uint8_t *at)
{
    SIM_CHECK(mrc->psn <= TWENTY_FOUR_BITS && mrc->cc_type < 16 && mrc->cc_flags < 16);
    sim_put_be32(at + 4, mrc->entropy);
    sim_put_be16(at + 8, mrc->source_id);
    sim_put_be16(at + 10, mrc->destination_id);
    sim_put_be32(at + 12, mrc->psn);
    at[16] = (uint8_t)(mrc->cc_type << 4 | mrc->cc_flags);
}

static uint8_t *build_sack(const net_mrc_t *mrc, uint8_t *at)
{
    SIM_CHECK(mrc->mark <= 3 && mrc->ahead <= 0x7fff && mrc->penalty <= 0x7f &&
              mrc->received <= TWENTY_FOUR_BITS);
    sim_put_be16(at, (uint16_t)(mrc->mark << 5 | (mrc->probe_answer ? 2 : 0)));
    sim_put_be16(at + 2, (uint16_t)mrc->ack_offset);
    put_common(mrc, at);
    at[17] = mrc->range;
    sim_put_be16(at + 18, (uint16_t)mrc->sack_offset);
    sim_put_be64(at + 20, mrc->bitmap);
    sim_put_be16(at + 28, mrc->stamp);
    sim_put_be16(at + 30, mrc->ahead);
    sim_put_be32(at + 32,
                 (mrc->restore ? 1u << 31 : 0u) | (uint32_t)mrc->penalty << 24 | mrc->received);
    return at + MRC_SETH_BYTES + MRC_CC_STATE_BYTES;
}

static uint8_t *build_nack(const net_mrc_t *mrc, uint8_t *at)
{
    sim_put_be16(at, 0);
    at[2] = mrc->reason;
    at[3] = mrc->vendor;
    put_common(mrc, at);
    at[17] = 0;
    sim_put_be16(at + 18, mrc->stamp);
    return at + MRC_NETH_BYTES;
}

static uint8_t *build_probe(const net_mrc_t *mrc, uint8_t *at)
{
    memset(at, 0, MRC_PETH_BYTES);
    at[3] = mrc->vendor;
    sim_put_be16(at + 4, mrc->probe);
    sim_put_be16(at + 8, mrc->source_id);
    sim_put_be16(at + 10, mrc->destination_id);
    put_stamp(mrc, at + 12);
    return at + MRC_PETH_BYTES;
}

static uint8_t *build_endpoint(const net_mrc_t *mrc, bool response, uint8_t *at)
{
    SIM_CHECK(mrc->operation < 4);
    memset(at, 0, response ? MRC_EETH_BYTES : MRC_ERTH_BYTES);
    if (response) {
        sim_put_be16(at, (uint16_t)(mrc->operation << 2));
        sim_put_be16(at + 28, mrc->stamp);
        return at + MRC_EETH_BYTES;
    }
    sim_put_be16(at, mrc->operation);
    at[3] = mrc->vendor;
    sim_put_be32(at + 4, mrc->ports_down);
    put_stamp(mrc, at + 12);
    return at + MRC_ERTH_BYTES;
}

uint8_t *net_mrc_build(uint8_t opcode, const net_mrc_t *mrc, uint8_t *at)
{
    const uint32_t set = has(opcode);
    SIM_CHECKF(set != HAS_NONE, "opcode 0x%02x", opcode);
    at = (set & HAS_METH) != 0 ? build_message(mrc, at) : at;
    at = (set & HAS_RETH) != 0 ? build_reth(mrc, at) : at;
    if ((set & HAS_IMMDT) != 0) {
        sim_put_be32(at, mrc->immediate);
        at += ROCE_IMMDT_BYTES;
    }
    if ((set & HAS_AETH) != 0) { // syndrome and MSN
        sim_put_be32(at, mrc->immediate);
        at += ROCE_AETH_BYTES;
    }
    if ((set & HAS_ORIGINAL) != 0) {
        sim_put_be64(at, mrc->compare);
        at += ROCE_ATOMIC_ACK_ETH_BYTES;
    }
    at = (set & HAS_OPERANDS) != 0 ? build_operands(mrc, at) : at;
    at = (set & HAS_SETH) != 0 ? build_sack(mrc, at) : at;
    at = (set & HAS_NETH) != 0 ? build_nack(mrc, at) : at;
    at = (set & HAS_PETH) != 0 ? build_probe(mrc, at) : at;
    return (set & (HAS_ERTH | HAS_EETH)) != 0 ? build_endpoint(mrc, (set & HAS_EETH) != 0, at) : at;
}

// -- parsing

// Reads a stamp and its format. Returns false if reserved bits are set.
static bool take_stamp(net_mrc_t *mrc, const uint8_t *at)
{
    const uint32_t format = sim_get_be16(at + 2);
    mrc->stamp = sim_get_be16(at);
    mrc->own_resolution = (format & OWN_RESOLUTION) != 0;
    mrc->stamp_format = format & FORMAT_MASK;
    return (format & ~(OWN_RESOLUTION | FORMAT_MASK)) == 0;
}

// Reads what SETH and NETH have in common. Returns false if reserved bits are set.
static bool take_common(net_mrc_t *mrc, const uint8_t *at)
{
    mrc->entropy = sim_get_be32(at + 4);
    mrc->source_id = sim_get_be16(at + 8);
    mrc->destination_id = sim_get_be16(at + 10);
    mrc->psn = sim_get_be24(at + 13);
    mrc->cc_type = at[16] >> 4;
    mrc->cc_flags = at[16] & 15u;
    return at[12] == 0;
}

static bool take_sack(net_mrc_t *mrc, const uint8_t *at)
{
    const uint32_t flags = sim_get_be16(at);
    const uint32_t flow = sim_get_be32(at + 32);
    mrc->mark = flags >> 5 & 3u;
    mrc->probe_answer = (flags & 2u) != 0;
    mrc->ack_offset = (int16_t)sim_get_be16(at + 2);
    mrc->range = at[17];
    mrc->sack_offset = (int16_t)sim_get_be16(at + 18);
    mrc->bitmap = sim_get_be64(at + 20);
    mrc->stamp = sim_get_be16(at + 28);
    mrc->ahead = sim_get_be16(at + 30) & 0x7fff;
    mrc->restore = flow >> 31 != 0;
    mrc->penalty = flow >> 24 & 0x7f;
    mrc->received = flow & TWENTY_FOUR_BITS;
    return take_common(mrc, at) && (flags & ~0x62u) == 0 && at[30] >> 7 == 0;
}

static bool take_nack(net_mrc_t *mrc, const uint8_t *at)
{
    mrc->reason = at[2];
    mrc->vendor = at[3];
    mrc->stamp = sim_get_be16(at + 18);
    return take_common(mrc, at) && sim_get_be16(at) == 0 && at[17] == 0;
}

static bool take_probe(net_mrc_t *mrc, const uint8_t *at)
{
    mrc->vendor = at[3];
    mrc->probe = sim_get_be16(at + 4);
    mrc->source_id = sim_get_be16(at + 8);
    mrc->destination_id = sim_get_be16(at + 10);
    return take_stamp(mrc, at + 12) && sim_get_be16(at) == 0 && at[2] == 0 &&
           sim_get_be16(at + 6) == 0;
}

static bool take_request(net_mrc_t *mrc, const uint8_t *at)
{
    const uint32_t flags = sim_get_be16(at);
    mrc->operation = flags & 3u;
    mrc->vendor = at[3];
    mrc->ports_down = sim_get_be32(at + 4);
    return take_stamp(mrc, at + 12) && flags < 4 && at[2] == 0 && sim_get_be32(at + 8) == 0;
}

static bool take_response(net_mrc_t *mrc, const uint8_t *at)
{
    static const uint8_t zeros[MRC_EETH_BYTES];
    const uint32_t flags = sim_get_be16(at);
    mrc->operation = flags >> 2 & 3u;
    mrc->stamp = sim_get_be16(at + 28);
    return (flags & ~0xcu) == 0 && memcmp(at + 2, zeros, 26) == 0 && memcmp(at + 30, zeros, 6) == 0;
}

// Reads the headers of a request, from METH to immediate. Returns where they end; NULL: reserved
// bits are set.
static const uint8_t *take_request_headers(net_mrc_t *mrc, uint32_t set, const uint8_t *at)
{
    bool right = true;
    if ((set & HAS_METH) != 0) {
        mrc->receive_message = sim_get_be16(at);
        mrc->message = sim_get_be16(at + 2);
        at += MRC_METH_BYTES;
        right = !mrc->stamped || take_stamp(mrc, at);
        at += mrc->stamped ? MRC_TSETH_BYTES : 0;
    }
    if ((set & HAS_RETH) != 0) {
        mrc->address = sim_get_be64(at);
        mrc->rkey = sim_get_be32(at + 8);
        mrc->length = sim_get_be32(at + 12);
        at += ROCE_RETH_BYTES;
    }
    if ((set & HAS_OPERANDS) != 0) {
        mrc->address = sim_get_be64(at);
        mrc->rkey = sim_get_be32(at + 8);
        mrc->swap_add = sim_get_be64(at + 12);
        mrc->compare = sim_get_be64(at + 20);
    }
    if ((set & (HAS_IMMDT | HAS_AETH)) != 0) {
        mrc->immediate = sim_get_be32(at);
    }
    if ((set & HAS_ORIGINAL) != 0) {
        mrc->compare = sim_get_be64(at + ROCE_AETH_BYTES);
    }
    return right ? at : NULL;
}

const char *net_mrc_parse(uint8_t opcode, const uint8_t *bytes, size_t size_bytes, net_mrc_t *mrc)
{
    const uint32_t set = has(opcode);
    if (set == HAS_NONE) {
        return "the opcode is none that is known";
    }
    if (mrc->stamped && (set & HAS_METH) == 0) {
        return "a time stamp is announced where none can be";
    }
    if (size_bytes < net_mrc_bytes(opcode, mrc)) {
        return "the headers are cut off";
    }
    const uint8_t *const at = take_request_headers(mrc, set, bytes);
    const bool right = at != NULL && ((set & HAS_SETH) == 0 || take_sack(mrc, at)) &&
                       ((set & HAS_NETH) == 0 || take_nack(mrc, at)) &&
                       ((set & HAS_PETH) == 0 || take_probe(mrc, at)) &&
                       ((set & HAS_ERTH) == 0 || take_request(mrc, at)) &&
                       ((set & HAS_EETH) == 0 || take_response(mrc, at));
    return right ? NULL : "reserved bits are set";
}

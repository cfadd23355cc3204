// SPDX-License-Identifier: Apache-2.0
// net/wire/uet.c - builder and parser of Ultra Ethernet's headers.
//
// The parser is strict: from its result the builder makes the same bytes. So reserved bits must be
// zero, and headers that no field describes are refused.
#include "net/wire/uet.h"

#include <string.h>

#include "kernel/bytes.h"

#define PROLOGUE_BYTES 2u
#define FLAGS_MASK 0x7fu
#define TWELVE_BITS 0xfffu
#define TWENTY_FOUR_BITS 0xffffffu

static bool carries_state(uint32_t type)
{
    return type == UET_RUD_CC_REQUEST || type == UET_ROD_CC_REQUEST;
}

// Returns the bytes of the PDS header; 0: the type is unknown.
static uint32_t pds_bytes(const net_uet_t *uet)
{
    switch (uet->type) {
    case UET_RUD_REQUEST:
    case UET_ROD_REQUEST:
        return UET_REQUEST_BYTES;
    case UET_RUD_CC_REQUEST:
    case UET_ROD_CC_REQUEST:
        return UET_REQUEST_CC_BYTES;
    case UET_UUD_REQUEST:
        return UET_UUD_BYTES;
    case UET_ACK:
        return UET_ACK_BYTES;
    case UET_ACK_CC:
        return UET_ACK_CC_BYTES;
    case UET_ACK_CCX:
        return uet->long_ccx ? UET_ACK_CCX_LONG_BYTES : UET_ACK_CC_BYTES;
    case UET_NACK:
        return UET_NACK_BYTES;
    case UET_CONTROL:
        return UET_CONTROL_BYTES;
    default:
        return 0;
    }
}

// Returns the bytes of the SES header, without an extension.
static uint32_t ses_bytes(const net_uet_t *uet)
{
    if (uet->type == UET_CONTROL) {
        return 0;
    }
    return uet->next == UET_NEXT_STANDARD        ? (uint32_t)UET_SES_STANDARD_BYTES
           : uet->next == UET_NEXT_RESPONSE      ? (uint32_t)UET_SES_RESPONSE_BYTES
           : uet->next == UET_NEXT_RESPONSE_DATA ? (uint32_t)UET_SES_RESPONSE_DATA_BYTES
                                                 : 0u;
}

uint32_t net_uet_bytes(const net_uet_t *uet)
{
    return pds_bytes(uet) + ses_bytes(uet) + uet->extension_bytes;
}

// -- building

static uint8_t *build_pds(const net_uet_t *uet, uint8_t *at)
{
    const uint32_t bytes = pds_bytes(uet);
    SIM_CHECKF(bytes != 0, "PDS type %u", uet->type);
    SIM_CHECK(uet->next < 16 && uet->flags <= FLAGS_MASK);
    memset(at, 0, bytes);
    sim_put_be16(at, (uint16_t)((uint32_t)uet->type << 11 | (uint32_t)uet->next << 7 | uet->flags));
    if (uet->type == UET_UUD_REQUEST) {
        return at + bytes;
    }
    sim_put_be16(at + 2, uet->offset);
    sim_put_be32(at + 4, uet->psn);
    sim_put_be16(at + 8, uet->source_pdc);
    sim_put_be16(at + 10, uet->destination_pdc);
    if (uet->type == UET_NACK || uet->type == UET_CONTROL || carries_state(uet->type)) {
        sim_put_be32(at + 12, uet->word);
    } else if (uet->type == UET_ACK_CC || uet->type == UET_ACK_CCX) {
        SIM_CHECK(uet->cc_type < 16 && uet->cc_flags < 16);
        at[12] = (uint8_t)(uet->cc_type << 4 | uet->cc_flags);
        at[13] = uet->range;
        sim_put_be16(at + 14, uet->sack_offset);
        sim_put_be64(at + 16, uet->sack_bitmap);
        sim_put_be64(at + 24, uet->state[0]);
        if (bytes == UET_ACK_CCX_LONG_BYTES) {
            sim_put_be64(at + 32, uet->state[1]);
        }
    }
    return at + bytes;
}

static void build_standard(const net_uet_t *uet, uint8_t *at)
{
    SIM_CHECK(uet->opcode < 64 && uet->ses_flags < 64 && uet->ses_version < 4);
    SIM_CHECK(uet->pid_on_fep <= TWELVE_BITS && uet->resource_index <= TWELVE_BITS);
    at[0] = uet->opcode;
    at[1] = (uint8_t)(uet->ses_version << 6 | uet->ses_flags);
    sim_put_be16(at + 2, uet->message_id);
    sim_put_be32(at + 4, uet->job);
    sim_put_be16(at + 8, uet->pid_on_fep);
    sim_put_be16(at + 10, uet->resource_index);
    sim_put_be64(at + 12, uet->buffer_offset);
    sim_put_be32(at + 20, uet->initiator);
    sim_put_be64(at + 24, uet->memory_key);
    sim_put_be64(at + 32, uet->header_data);
    sim_put_be32(at + 40, uet->request_length);
}

static void build_response(const net_uet_t *uet, uint8_t *at)
{
    SIM_CHECK(uet->ses_flags < 64 && uet->ses_version < 4 && uet->payload_length <= TWELVE_BITS);
    at[0] = uet->opcode;
    at[1] = (uint8_t)(uet->ses_version << 6 | uet->ses_flags);
    sim_put_be16(at + 2, uet->message_id);
    sim_put_be32(at + 4, uet->job);
    if (uet->next == UET_NEXT_RESPONSE) {
        sim_put_be32(at + 8, uet->modified_length);
        return;
    }
    sim_put_be16(at + 8, uet->read_message_id);
    sim_put_be16(at + 10, uet->payload_length);
    sim_put_be32(at + 12, uet->modified_length);
    sim_put_be32(at + 16, uet->message_offset);
}

uint8_t *net_uet_build(const net_uet_t *uet, uint8_t *at)
{
    at = build_pds(uet, at);
    const uint32_t bytes = ses_bytes(uet);
    if (bytes == UET_SES_STANDARD_BYTES) {
        build_standard(uet, at);
    } else if (bytes != 0) {
        build_response(uet, at);
    }
    SIM_CHECK(uet->extension_bytes <= sizeof(uet->extension));
    memcpy(at + bytes, uet->extension, uet->extension_bytes);
    return at + bytes + uet->extension_bytes;
}

// -- parsing

static const char *parse_pds(const uint8_t *at, net_uet_t *uet)
{
    if (uet->type == UET_UUD_REQUEST) {
        return sim_get_be16(at + 2) != 0 ? "reserved bits of a UUD request are set" : NULL;
    }
    uet->offset = sim_get_be16(at + 2);
    uet->psn = sim_get_be32(at + 4);
    uet->source_pdc = sim_get_be16(at + 8);
    uet->destination_pdc = sim_get_be16(at + 10);
    if (uet->type == UET_NACK || uet->type == UET_CONTROL || carries_state(uet->type)) {
        uet->word = sim_get_be32(at + 12);
    } else if (uet->type == UET_ACK_CC || uet->type == UET_ACK_CCX) {
        uet->cc_type = at[12] >> 4;
        uet->cc_flags = at[12] & 15u;
        uet->range = at[13];
        uet->sack_offset = sim_get_be16(at + 14);
        uet->sack_bitmap = sim_get_be64(at + 16);
        uet->state[0] = sim_get_be64(at + 24);
    }
    return NULL;
}

static const char *parse_standard(const uint8_t *at, net_uet_t *uet)
{
    if (at[0] >> 6 != 0 || at[8] >> 4 != 0 || at[10] >> 4 != 0) {
        return "reserved bits of a SES request are set";
    }
    uet->opcode = at[0];
    uet->ses_version = at[1] >> 6;
    uet->ses_flags = at[1] & 63u;
    uet->message_id = sim_get_be16(at + 2);
    uet->job = sim_get_be32(at + 4);
    uet->pid_on_fep = sim_get_be16(at + 8);
    uet->resource_index = sim_get_be16(at + 10);
    uet->buffer_offset = sim_get_be64(at + 12);
    uet->initiator = sim_get_be32(at + 20);
    uet->memory_key = sim_get_be64(at + 24);
    uet->header_data = sim_get_be64(at + 32);
    uet->request_length = sim_get_be32(at + 40);
    return NULL;
}

static const char *parse_response(const uint8_t *at, net_uet_t *uet)
{
    uet->opcode = at[0];
    uet->ses_version = at[1] >> 6;
    uet->ses_flags = at[1] & 63u;
    uet->message_id = sim_get_be16(at + 2);
    uet->job = sim_get_be32(at + 4);
    if (uet->next == UET_NEXT_RESPONSE) {
        uet->modified_length = sim_get_be32(at + 8);
        return NULL;
    }
    if (at[10] >> 4 != 0) {
        return "reserved bits of a SES response are set";
    }
    uet->read_message_id = sim_get_be16(at + 8);
    uet->payload_length = sim_get_be16(at + 10);
    uet->modified_length = sim_get_be32(at + 12);
    uet->message_offset = sim_get_be32(at + 16);
    return NULL;
}

// Returns the bytes of the extension behind the SES header: operands of an atomic.
static uint32_t extension_bytes(const net_uet_t *uet, const uint8_t *at, size_t left)
{
    if (uet->next != UET_NEXT_STANDARD || uet->opcode != UET_SES_FETCHING_ATOMIC || left == 0) {
        return 0;
    }
    return at[0] == UET_ATOMIC_SWAP ? UET_SES_SWAP_BYTES : UET_SES_ADD_BYTES;
}

size_t net_uet_parse(const uint8_t *bytes, size_t size_bytes, net_uet_t *uet, const char **why)
{
    *uet = (net_uet_t){0};
    *why = "the PDS header is cut off";
    if (size_bytes < PROLOGUE_BYTES) {
        return 0;
    }
    const uint16_t prologue = sim_get_be16(bytes);
    uet->type = (uint8_t)(prologue >> 11);
    uet->next = prologue >> 7 & 15u;
    uet->flags = prologue & FLAGS_MASK;
    const uint32_t pds = pds_bytes(uet);
    if (pds == 0) {
        *why = "the PDS type is none that is known";
        return 0;
    }
    const uint32_t ses = ses_bytes(uet);
    if (ses == 0 && uet->type != UET_CONTROL && uet->next != UET_NEXT_NONE) {
        *why = "the next header is none that is known";
        return 0;
    }
    if (size_bytes < pds + ses) {
        *why = "the headers are cut off";
        return 0;
    }
    const char *wrong = parse_pds(bytes, uet);
    if (wrong == NULL && ses != 0) {
        wrong = (ses == UET_SES_STANDARD_BYTES ? parse_standard : parse_response)(bytes + pds, uet);
    }
    if (wrong != NULL) {
        *why = wrong;
        return 0;
    }
    const size_t at = pds + ses;
    const uint32_t extension = extension_bytes(uet, bytes + at, size_bytes - at);
    if (size_bytes - at < extension) {
        *why = "the operands of the atomic are cut off";
        return 0;
    }
    uet->extension_bytes = (uint8_t)extension;
    memcpy(uet->extension, bytes + at, extension);
    return at + extension;
}

// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_opcode.c - one table of BTH opcodes with their headers, and the sizes of frames.
//
// Source: IBA vol. 1 table 38 (opcodes and the headers after the BTH), annex A17.9.3 (CNP). Opcodes
// of transports that RoCEv2 does not have (RD, XRC) are unknown here, and so is RC 0x15, which IBA
// leaves reserved.
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/frame_internal.h"
#include "net/wire/layout.h"

#define OPCODE_COUNT 256

// clang-format off
#define DATA NET_EXT_PAYLOAD
// Operations that RC and UC share.
#define RC_UC_MAP(X, T)                                                        \
    X(T, SEND_FIRST,          "SEND FIRST",          DATA)                     \
    X(T, SEND_MIDDLE,         "SEND MIDDLE",         DATA)                     \
    X(T, SEND_LAST,           "SEND LAST",           DATA)                     \
    X(T, SEND_LAST_IMM,       "SEND LAST IMM",       DATA | NET_EXT_IMMDT)     \
    X(T, SEND_ONLY,           "SEND ONLY",           DATA)                     \
    X(T, SEND_ONLY_IMM,       "SEND ONLY IMM",       DATA | NET_EXT_IMMDT)     \
    X(T, WRITE_FIRST,         "WRITE FIRST",         DATA | NET_EXT_RETH)      \
    X(T, WRITE_MIDDLE,        "WRITE MIDDLE",        DATA)                     \
    X(T, WRITE_LAST,          "WRITE LAST",          DATA)                     \
    X(T, WRITE_LAST_IMM,      "WRITE LAST IMM",      DATA | NET_EXT_IMMDT)     \
    X(T, WRITE_ONLY,          "WRITE ONLY",          DATA | NET_EXT_RETH)      \
    X(T, WRITE_ONLY_IMM,      "WRITE ONLY IMM",      DATA | NET_EXT_RETH | NET_EXT_IMMDT)

#define RC_MAP(X, T)                                                           \
    X(T, READ_REQUEST,         "READ REQUEST",         NET_EXT_RETH)           \
    X(T, READ_RESPONSE_FIRST,  "READ RESPONSE FIRST",  DATA | NET_EXT_AETH)    \
    X(T, READ_RESPONSE_MIDDLE, "READ RESPONSE MIDDLE", DATA)                   \
    X(T, READ_RESPONSE_LAST,   "READ RESPONSE LAST",   DATA | NET_EXT_AETH)    \
    X(T, READ_RESPONSE_ONLY,   "READ RESPONSE ONLY",   DATA | NET_EXT_AETH)    \
    X(T, ACKNOWLEDGE,          "ACKNOWLEDGE",          NET_EXT_AETH)           \
    X(T, ATOMIC_ACKNOWLEDGE,   "ATOMIC ACKNOWLEDGE",   NET_EXT_AETH | NET_EXT_ATOMIC_ACK) \
    X(T, COMPARE_SWAP,         "COMPARE SWAP",         NET_EXT_ATOMIC)         \
    X(T, FETCH_ADD,            "FETCH ADD",            NET_EXT_ATOMIC)         \
    X(T, SEND_LAST_INVALIDATE, "SEND LAST INVALIDATE", DATA | NET_EXT_IETH)    \
    X(T, SEND_ONLY_INVALIDATE, "SEND ONLY INVALIDATE", DATA | NET_EXT_IETH)

#define UD_MAP(X, T)                                                           \
    X(T, SEND_ONLY,            "SEND ONLY",            DATA | NET_EXT_DETH)    \
    X(T, SEND_ONLY_IMM,        "SEND ONLY IMM",        DATA | NET_EXT_DETH | NET_EXT_IMMDT)

#define BYTES_IF(set, extension, bytes) (((set) & (extension)) != 0 ? (bytes) : 0)
#define BYTES(set)                                                             \
    (BYTES_IF(set, NET_EXT_RETH, ROCE_RETH_BYTES) +                            \
     BYTES_IF(set, NET_EXT_AETH, ROCE_AETH_BYTES) +                            \
     BYTES_IF(set, NET_EXT_DETH, ROCE_DETH_BYTES) +                            \
     BYTES_IF(set, NET_EXT_IMMDT, ROCE_IMMDT_BYTES) +                          \
     BYTES_IF(set, NET_EXT_IETH, ROCE_IETH_BYTES) +                            \
     BYTES_IF(set, NET_EXT_ATOMIC, ROCE_ATOMIC_ETH_BYTES) +                    \
     BYTES_IF(set, NET_EXT_ATOMIC_ACK, ROCE_ATOMIC_ACK_ETH_BYTES) +            \
     BYTES_IF(set, NET_EXT_CNP, ROCE_CNP_RESERVED_BYTES))
#define ENTRY(name, set) {(name), NET_EXT_KNOWN | (set), BYTES(set)}
#define ROW(transport, operation, text, set) \
    [ROCE_##transport | ROCE_##operation] = ENTRY(#transport " " text, set),

static const struct {
    const char *name; // NULL: RoCEv2 has no such opcode
    uint16_t extensions;
    uint16_t extension_bytes;
} opcodes[OPCODE_COUNT] = {
    RC_UC_MAP(ROW, RC)
    RC_MAP(ROW, RC)
    RC_UC_MAP(ROW, UC)
    UD_MAP(ROW, UD)
    [ROCE_CNP] = ENTRY("CNP", NET_EXT_CNP),
};
// clang-format on

uint32_t net_frame_extensions(uint8_t opcode)
{
    return opcodes[opcode].extensions;
}

bool net_frame_is_hot(uint8_t opcode)
{
    const uint32_t cold = NET_EXT_RETH | NET_EXT_DETH | NET_EXT_IMMDT | NET_EXT_IETH |
                          NET_EXT_ATOMIC | NET_EXT_ATOMIC_ACK;
    return opcode < ROCE_MRC && (net_frame_extensions(opcode) & cold) == 0;
}

uint32_t net_frame_extension_bytes(uint8_t opcode)
{
    return opcodes[opcode].extension_bytes;
}

const char *net_frame_opcode_name(uint8_t opcode)
{
    const char *const name = opcodes[opcode].name;
    return name != NULL ? name : net_mrc_opcode_name(opcode);
}

uint32_t net__frame_transport_bytes(uint8_t opcode, uint32_t payload_bytes)
{
    return ROCE_BTH_BYTES + net_frame_extension_bytes(opcode) + payload_bytes +
           net__frame_pad_bytes(payload_bytes) + ROCE_ICRC_BYTES;
}

uint32_t net__frame_size_from_bth(const net_frame_t *frame)
{
    if (!frame->is_mrc) {
        return net__frame_transport_bytes(frame->opcode, frame->payload_bytes) + frame->extra_bytes;
    }
    const uint32_t bytes =
        ROCE_BTH_BYTES + net_mrc_bytes(frame->opcode, &frame->mrc) + frame->payload_bytes;
    return frame->mrc.cut ? bytes
                          : bytes + net__frame_pad_bytes(frame->payload_bytes) + ROCE_ICRC_BYTES;
}

uint32_t net__frame_raw_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6)
{
    const uint32_t extensions = net_frame_extensions(opcode);
    SIM_CHECKF((extensions & NET_EXT_KNOWN) != 0, "opcode 0x%02x", opcode);
    SIM_CHECKF(payload_bytes == 0 || (extensions & NET_EXT_PAYLOAD) != 0,
               "%s with %" PRIu32 " bytes of payload", net_frame_opcode_name(opcode),
               payload_bytes);
    SIM_CHECKF(payload_bytes <= ROCE_MTU_BYTES_MAX, "payload of %" PRIu32 " bytes", payload_bytes);

    return NET_ETHERNET_BYTES + (tagged ? NET_VLAN_BYTES : 0u) +
           (ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES) + NET_UDP_BYTES +
           net__frame_transport_bytes(opcode, payload_bytes);
}

static uint32_t at_least(uint32_t size_bytes)
{
    return SIM_MAX(NET_FRAME_BYTES_MIN, size_bytes);
}

uint32_t net_frame_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6)
{
    return at_least(net__frame_raw_bytes(opcode, payload_bytes, tagged, ipv6));
}

bool net_frame_may_have_telemetry(uint8_t opcode)
{
    return opcode < ROCE_READ_REQUEST || opcode == ROCE_ACKNOWLEDGE; // ROCE_RC is 0
}

uint32_t net__frame_telemetry_bytes(const net_frame_t *frame)
{
    switch ((net_telemetry_t)frame->telemetry) {
    case NET_TELEMETRY_NONE:
        break;
    case NET_TELEMETRY_INT:
        return net_int_bytes(frame->hop_count, frame->reserved_hops);
    case NET_TELEMETRY_PINT:
        return frame->digest_bytes;
    }
    return 0;
}

uint32_t net_frame_size_bytes(const net_frame_t *frame)
{
    if (net_frame_is_control(frame)) {
        return NET_FRAME_BYTES_MIN;
    }
    if (frame->is_ethernet) {
        return frame->payload_bytes + frame->overlay_bytes;
    }
    if (frame->is_uet || frame->is_mrc) {
        const uint32_t bytes = NET_ETHERNET_BYTES + (frame->tagged ? NET_VLAN_BYTES : 0u) +
                               (frame->ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES) + NET_UDP_BYTES +
                               (frame->is_mrc ? net__frame_size_from_bth(frame)
                                              : net_uet_bytes(&frame->uet) + frame->payload_bytes);
        return at_least(bytes) + frame->overlay_bytes;
    }
    const uint32_t raw_bytes =
        net__frame_raw_bytes(frame->opcode, frame->payload_bytes, frame->tagged, frame->ipv6);
    return at_least(raw_bytes + frame->extra_bytes) + net__frame_telemetry_bytes(frame) +
           frame->overlay_bytes;
}

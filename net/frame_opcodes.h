// SPDX-License-Identifier: Apache-2.0
// net/frame_opcodes.h - what the opcodes of RoCEv2 and MRC carry.
#ifndef NET_FRAME_OPCODES_H
#define NET_FRAME_OPCODES_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct net_frame net_frame_t;

// Extension headers that an opcode carries.
enum {
    NET_EXT_RETH = 1 << 0,
    NET_EXT_AETH = 1 << 1,
    NET_EXT_DETH = 1 << 2,
    NET_EXT_IMMDT = 1 << 3,
    NET_EXT_IETH = 1 << 4,
    NET_EXT_ATOMIC = 1 << 5,
    NET_EXT_ATOMIC_ACK = 1 << 6,
    NET_EXT_CNP = 1 << 7,     // 16 reserved bytes
    NET_EXT_KNOWN = 1 << 8,   // set for every opcode of RoCEv2 RC, UC, UD and the CNP
    NET_EXT_PAYLOAD = 1 << 9, // may carry payload
};

// Returns the NET_EXT_ bits of an opcode; 0: RoCEv2 has no such opcode.
uint32_t net_frame_extensions(uint8_t opcode);
// Returns whether frames of an opcode show nothing of a packet's cold part (net_packet_aside),
// unless the packet has contents, is `addressed`, or carries a header of a load balancer.
bool net_frame_is_hot(uint8_t opcode);
// Returns the bytes of an opcode's extension headers, a CNP's 16 reserved bytes included.
uint32_t net_frame_extension_bytes(uint8_t opcode);
// Returns "RC SEND FIRST", "CNP", "MRC SACK"...; "unknown" for an opcode that neither RoCEv2 nor
// MRC has. Static.
const char *net_frame_opcode_name(uint8_t opcode);

// Returns the bytes of a RoCEv2 frame without preamble, FCS and telemetry, at least
// NET_FRAME_BYTES_MIN.
uint32_t net_frame_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6);
// Returns the length of the frame that net_frame_build makes, telemetry included.
uint32_t net_frame_size_bytes(const net_frame_t *frame);
// Returns whether a packet of this opcode may have telemetry.
bool net_frame_may_have_telemetry(uint8_t opcode);

SIM_C_END

#endif // NET_FRAME_OPCODES_H

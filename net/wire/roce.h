// SPDX-License-Identifier: Apache-2.0
// net/wire/roce.h - constants of RoCEv2 on the wire: opcodes, header sizes, syndromes.
//
// Source: InfiniBand Architecture Specification vol. 1, ch. 9 (transport), annex A17 (RoCEv2).
#ifndef NET_WIRE_ROCE_H
#define NET_WIRE_ROCE_H

// BTH opcode = transport (3 bits) | operation (5 bits)
enum {
    ROCE_RC = 0x00,
    ROCE_UC = 0x20,
    ROCE_UD = 0x60,
    ROCE_ETHERNET = 0xa0, // no RoCE: a whole frame of a program (net/ethernet.h)
    ROCE_MRC = 0xc0,      // RC extended by MRC (net/wire/mrc.h)
    ROCE_UET = 0xe0,      // Ultra Ethernet. It has no BTH: the codec writes PDS and SES headers
    ROCE_TRANSPORT_MASK = 0xe0,
    ROCE_OPERATION_MASK = 0x1f,

    ROCE_SEND_FIRST = 0x00,
    ROCE_SEND_MIDDLE = 0x01,
    ROCE_SEND_LAST = 0x02,
    ROCE_SEND_LAST_IMM = 0x03,
    ROCE_SEND_ONLY = 0x04,
    ROCE_SEND_ONLY_IMM = 0x05,
    ROCE_WRITE_FIRST = 0x06,
    ROCE_WRITE_MIDDLE = 0x07,
    ROCE_WRITE_LAST = 0x08,
    ROCE_WRITE_LAST_IMM = 0x09,
    ROCE_WRITE_ONLY = 0x0a,
    ROCE_WRITE_ONLY_IMM = 0x0b,
    ROCE_READ_REQUEST = 0x0c,
    ROCE_READ_RESPONSE_FIRST = 0x0d,
    ROCE_READ_RESPONSE_MIDDLE = 0x0e,
    ROCE_READ_RESPONSE_LAST = 0x0f,
    ROCE_READ_RESPONSE_ONLY = 0x10,
    ROCE_ACKNOWLEDGE = 0x11,
    ROCE_ATOMIC_ACKNOWLEDGE = 0x12,
    ROCE_COMPARE_SWAP = 0x13,
    ROCE_FETCH_ADD = 0x14,
    ROCE_SEND_LAST_INVALIDATE = 0x16,
    ROCE_SEND_ONLY_INVALIDATE = 0x17,
    ROCE_MRC_ENDPOINT_REQUEST = 0x18, // these five: of MRC only
    ROCE_MRC_ENDPOINT_RESPONSE = 0x19,
    ROCE_MRC_SACK = 0x1c,
    ROCE_MRC_NACK = 0x1d,
    ROCE_MRC_PROBE = 0x1e,
    ROCE_UET_PROBE = 0x1e, // control packets, of Ultra Ethernet only
    ROCE_UET_CREDIT = 0x1f,

    ROCE_CNP = 0x81, // congestion notification packet, annex A17.9.3
};

enum {
    ROCE_UDP_PORT = 4791,
    ROCE_SOURCE_PORT_MIN = 0xc000, // source ports are 0xc000 .. 0xffff
    ROCE_QPN_GSI = 1,              // management datagrams; 0 is the subnet's
    ROCE_QPN_FIRST = 2,            // first of data
    ROCE_QPN_MASK = 0xffffff,
    ROCE_PSN_MASK = 0xffffff,

    ROCE_BTH_BYTES = 12,
    ROCE_RETH_BYTES = 16,
    ROCE_AETH_BYTES = 4,
    ROCE_DETH_BYTES = 8,
    ROCE_IMMDT_BYTES = 4,
    ROCE_ATOMIC_ETH_BYTES = 28,
    ROCE_ATOMIC_ACK_ETH_BYTES = 8,
    ROCE_IETH_BYTES = 4,
    ROCE_CNP_RESERVED_BYTES = 16,
    ROCE_ROUND_BYTES = 4,    // of a retransmission of a selective transport
    ROCE_MAP_BYTES_MIN = 12, // map of a selective ACK: first PSN, length, round; then bits
    ROCE_ICRC_BYTES = 4,
};

// AETH syndrome (9.7.5.2.1)
enum {
    ROCE_SYNDROME_ACK = 0x00,     // | 5-bit credit count; 0x1f: credits not used
    ROCE_SYNDROME_RNR_NAK = 0x20, // | 5-bit RNR timer code
    ROCE_SYNDROME_NAK = 0x60,     // | NAK code
    ROCE_CREDITS_NOT_USED = 0x1f,
    ROCE_NAK_PSN_SEQUENCE = 0,
    ROCE_NAK_INVALID_REQUEST = 1,
    ROCE_NAK_REMOTE_ACCESS = 2,
    ROCE_NAK_REMOTE_OPERATION = 3,
};

// Ethernet and IP constants
enum {
    NET_ETHERNET_BYTES = 14,
    NET_VLAN_BYTES = 4,
    NET_IPV4_BYTES = 20,
    NET_IPV6_BYTES = 40,
    NET_UDP_BYTES = 8,
    NET_FRAME_BYTES_MIN = 60, // without FCS
    NET_FCS_BYTES = 4,
    NET_PREAMBLE_BYTES = 8,
    NET_GAP_BYTES = 12,
    // Bytes that a frame occupies on a link beyond its own.
    NET_LINK_OVERHEAD_BYTES = NET_PREAMBLE_BYTES + NET_FCS_BYTES + NET_GAP_BYTES,

    NET_ECN_NOT_ECT = 0,
    NET_ECN_ECT1 = 1,
    NET_ECN_ECT0 = 2,
    NET_ECN_CE = 3,

    NET_ETHERTYPE_VLAN = 0x8100,
    NET_ETHERTYPE_IPV4 = 0x0800,
    NET_ETHERTYPE_IPV6 = 0x86dd,
    NET_ETHERTYPE_MAC_CONTROL = 0x8808,
    NET_PFC_OPCODE = 0x0101,
    NET_EXTENSION_OPCODE = 0xfffe, // of a MAC control frame that an organisation defines
    NET_PFC_QUANTUM_BITS = 512,
    NET_PRIORITIES = 8,
};

// Bytes of payload of a packet.
enum {
    ROCE_MTU_STANDARD_MAX = 4096, // the largest path MTU of the standard
    ROCE_MTU_BYTES_MAX = 9216,    // of packets that only a simulator has (nic.frames bare)
};

#endif // NET_WIRE_ROCE_H

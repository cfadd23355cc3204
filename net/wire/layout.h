// SPDX-License-Identifier: Apache-2.0
// net/wire/layout.h - byte offsets and bit masks of the fields in each header.
//
// Offsets count from the first byte of the header they name; all fields are big endian, the ICRC
// excepted. Sizes and code points are in net/wire/roce.h.
//
// Sources: IEEE 802.3 clause 31 and annex 31D (PFC), IEEE 802.1Q 9.6, RFC 791, RFC 8200, RFC 768,
// IBA vol. 1 ch. 9.2 and 9.3, annex A17.
#ifndef NET_WIRE_LAYOUT_H
#define NET_WIRE_LAYOUT_H

enum {
    NET_ETHERNET_AT_DESTINATION = 0,
    NET_ETHERNET_AT_SOURCE = 6,
    NET_ETHERNET_AT_TYPE = 12,
    NET_MAC_BYTES = 6,

    // An 802.1Q tag takes the place of the EtherType, which follows it.
    NET_VLAN_AT_TCI = 2,
    NET_VLAN_AT_TYPE = 4,
    NET_VLAN_PCP_SHIFT = 13,
    NET_VLAN_DEI = 0x1000,
    NET_VLAN_ID_MASK = 0x0fff,
    NET_VLAN_ID_MAX = 4094, // 4095 is reserved; 0 tags the priority alone

    // A PFC frame after its EtherType
    NET_PFC_AT_OPCODE = 0,
    NET_PFC_AT_CLASSES = 2, // 16 bits, the upper 8 reserved
    NET_PFC_AT_QUANTA = 4,  // eight times 16 bits, class 0 first
    NET_PFC_BYTES = 20,

    // A CC_Update after its EtherType
    NET_CC_AT_CID = 2, // company id, 24 bits
    NET_CC_UEC = 0xfa7acb,
    NET_CC_AT_TYPE = 5,
    NET_CC_TYPE_LOWER = 1,  // of the virtual channels 0 to 15
    NET_CC_AT_COUNTERS = 6, // 16 times 20 bits, virtual channel 0 first
    NET_CC_BYTES = 46,
};

enum {
    NET_IPV4_AT_VERSION = 0, // version, header length in words
    NET_IPV4_AT_TOS = 1,     // DSCP, ECN
    NET_IPV4_AT_LENGTH = 2,  // header included
    NET_IPV4_AT_ID = 4,
    NET_IPV4_AT_FRAGMENT = 6, // flags, fragment offset
    NET_IPV4_AT_TTL = 8,
    NET_IPV4_AT_PROTOCOL = 9,
    NET_IPV4_AT_CHECKSUM = 10,
    NET_IPV4_AT_SOURCE = 12,
    NET_IPV4_AT_DESTINATION = 16,
    NET_IPV4_VERSION_5_WORDS = 0x45,
    NET_IPV4_DONT_FRAGMENT = 0x4000,
    NET_IPV4_ADDRESS_BYTES = 4,

    NET_IPV6_AT_VERSION = 0, // 4 bits version, 8 traffic class, 20 flow label
    NET_IPV6_AT_LENGTH = 4,  // of what follows the header
    NET_IPV6_AT_NEXT_HEADER = 6,
    NET_IPV6_AT_HOP_LIMIT = 7,
    NET_IPV6_AT_SOURCE = 8,
    NET_IPV6_AT_DESTINATION = 24,
    NET_IPV6_VERSION = 6,
    NET_IPV6_FLOW_LABEL_MASK = 0xfffff,
    NET_IPV6_ADDRESS_BYTES = 16,

    NET_IP_PROTOCOL_UDP = 17,

    NET_UDP_AT_SOURCE_PORT = 0,
    NET_UDP_AT_DESTINATION_PORT = 2,
    NET_UDP_AT_LENGTH = 4, // header included
    NET_UDP_AT_CHECKSUM = 6,
};

enum {
    ROCE_BTH_AT_OPCODE = 0,
    ROCE_BTH_AT_FLAGS = 1, // SE, MigReq, PadCnt, TVer
    ROCE_BTH_AT_PKEY = 2,
    ROCE_BTH_AT_CONGESTION = 4, // FECN, BECN, 6 reserved
    ROCE_BTH_AT_DESTINATION_QP = 5,
    ROCE_BTH_AT_ACK_REQUEST = 8, // AckReq, 7 reserved
    ROCE_BTH_AT_PSN = 9,
    ROCE_BTH_SOLICITED = 0x80,
    ROCE_BTH_MIGRATION = 0x40,
    ROCE_BTH_PAD_SHIFT = 4,
    ROCE_BTH_PAD_MASK = 0x3,
    ROCE_BTH_VERSION_MASK = 0x0f, // of the transport header; 0 is the one there is
    ROCE_BTH_FECN = 0x80,
    ROCE_BTH_BECN = 0x40,
    ROCE_BTH_CONGESTION_RESERVED = 0x3f,
    ROCE_BTH_ACK_REQUEST = 0x80,
    ROCE_BTH_ADDRESSED = 0x40, // reserved in the standard: see net_frame_t.extra
    ROCE_BTH_SELECTIVE = 0x20, // likewise
    ROCE_BTH_ACK_REQUEST_RESERVED = 0x1f,

    ROCE_RETH_AT_ADDRESS = 0,
    ROCE_RETH_AT_RKEY = 8,
    ROCE_RETH_AT_LENGTH = 12,

    ROCE_AETH_AT_SYNDROME = 0,
    ROCE_AETH_AT_MSN = 1,

    ROCE_DETH_AT_QKEY = 0,
    ROCE_DETH_AT_RESERVED = 4,
    ROCE_DETH_AT_SOURCE_QP = 5,

    ROCE_ATOMIC_ETH_AT_ADDRESS = 0,
    ROCE_ATOMIC_ETH_AT_RKEY = 8,
    ROCE_ATOMIC_ETH_AT_SWAP_ADD = 12,
    ROCE_ATOMIC_ETH_AT_COMPARE = 20,
};

#endif // NET_WIRE_LAYOUT_H

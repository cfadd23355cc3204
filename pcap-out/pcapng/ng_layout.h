// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcapng/ng_layout.h - numbers of the pcapng format that its writer and its reader share.
//
// Source: IETF draft-ietf-opsawg-pcapng.
#ifndef PCAP_OUT_PCAPNG_NG_LAYOUT_H
#define PCAP_OUT_PCAPNG_NG_LAYOUT_H

enum {
    NG_BLOCK_SECTION = 0x0a0d0d0a,
    NG_BLOCK_INTERFACE = 1,
    NG_BLOCK_OLD_PACKET = 2, // obsolete, but still read by all tools
    NG_BLOCK_SIMPLE = 3,
    NG_BLOCK_STATISTICS = 5,
    NG_BLOCK_PACKET = 6,
    NG_BYTE_ORDER = 0x1a2b3c4d,
    NG_ETHERNET = 1, // link type

    NG_BLOCK_OVERHEAD_BYTES = 12, // type, length, length again
    NG_PACKET_HEADER_BYTES = 20,  // interface, time, captured and original length
    NG_OPTION_HEADER_BYTES = 4,

    NG_OPTION_END = 0,
    NG_OPTION_COMMENT = 1,
    NG_OPTION_SECTION_APPLICATION = 4,
    NG_OPTION_CUSTOM = 2989, // binary; tools may copy it
    NG_OPTION_INTERFACE_NAME = 2,
    NG_OPTION_INTERFACE_DESCRIPTION = 3,
    NG_OPTION_INTERFACE_SPEED = 8,
    NG_OPTION_INTERFACE_RESOLUTION = 9,
    NG_OPTION_INTERFACE_OFFSET = 14, // seconds to add to all times, signed, 64 bits
    NG_OPTION_PACKET_FLAGS = 2,
    NG_OPTION_PACKET_DROPS = 4,
    NG_OPTION_STATISTICS_RECEIVED = 4,
    NG_OPTION_STATISTICS_DROPPED = 5,
};

// A custom option of this project: the picoseconds that a time in nanoseconds leaves out, 16 bits
// behind the enterprise number. The number is the one for examples (RFC 5612). Wireshark 4.0 takes
// times in picoseconds but shows wrong ones from 18.4 ms on, so times are in nanoseconds as a rule.
#define NG_ENTERPRISE 32473u
#define NG_PICOSECONDS 0x7370u // "ps", in front of the value
#define NG_CUSTOM_BYTES 8u     // enterprise, "ps", value

#endif // PCAP_OUT_PCAPNG_NG_LAYOUT_H

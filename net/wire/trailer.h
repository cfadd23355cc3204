// SPDX-License-Identifier: Apache-2.0
// net/wire/trailer.h - the wire format of in-band telemetry, which switches write into packets.
//
// Telemetry is an Ethernet trailer: it lies behind the ICRC and the zeros that pad a short frame,
// outside the lengths of IP and UDP and outside the ICRC. So a switch may extend it, and every tool
// still reads the RoCEv2 packet. HPCC's paper puts it between UDP and BTH, where only HPCC's own
// receivers could find the BTH. The bytes are the paper's and take their time on every link.
//
//     INT   2 bytes: hop count (4 bits), path id (12); then per hop 8 bytes:
//           rate code (4 bits), time (24, ns), bytes sent (20, x 128), queue (16, x 80)
//           and zeros for hops to come if the sender reserves room for them
//     PINT  1 byte: digest; or 2 bytes: 0xf, digest (12 bits)
//
// A trailer of 2 bytes that begins with 0xf is PINT, which limits INT to 14 hops. All values are
// big endian. Sources: Li et al., SIGCOMM 2019 (HPCC), section 4.1; Ben Basat et al., SIGCOMM 2020
// (PINT). Field widths are HPCC's paper's; its simulator has 3 bits of rate and 17 of queue.
#ifndef NET_WIRE_TRAILER_H
#define NET_WIRE_TRAILER_H

#include "kernel/base.h"
#include <stdint.h>

typedef enum net_telemetry {
    NET_TELEMETRY_NONE,
    NET_TELEMETRY_INT,  // every hop adds a record
    NET_TELEMETRY_PINT, // a digest: the largest utilization of the hops
} net_telemetry_t;

enum {
    NET_INT_HEADER_BYTES = 2,
    NET_INT_HOP_BYTES = 8,
    NET_INT_HOPS_MAX = 14,
    NET_INT_BYTES_MAX = NET_INT_HEADER_BYTES + NET_INT_HOP_BYTES * NET_INT_HOPS_MAX,
    NET_INT_PATH_BITS = 12,

    NET_INT_TIME_BITS = 24, // units of 1 ns
    NET_INT_SENT_BITS = 20, // units of 128 bytes x the network's multiplier
    NET_INT_SENT_UNIT_BYTES = 128,
    NET_INT_QUEUE_BITS = 16, // units of 80 bytes x the network's multiplier
    NET_INT_QUEUE_UNIT_BYTES = 80,
    NET_INT_TIME_SHIFT = NET_INT_SENT_BITS + NET_INT_QUEUE_BITS,
    NET_INT_RATE_SHIFT = NET_INT_TIME_SHIFT + NET_INT_TIME_BITS,
    NET_INT_RATE_CODES = 16,

    NET_PINT_BYTES_MAX = 2,
    NET_PINT_DIGEST_BITS_MAX = 12,
};

static inline uint32_t net_int_bytes(uint32_t hop_count, uint32_t reserved_hops)
{
    const uint32_t hops = SIM_MAX(hop_count, reserved_hops);
    return NET_INT_HEADER_BYTES + hops * NET_INT_HOP_BYTES;
}

#define NET_INT_MASK(bits) ((UINT64_C(1) << (bits)) - 1)
#define NET_PINT_WIDE_MARK 0xf000u

#endif // NET_WIRE_TRAILER_H

// SPDX-License-Identifier: Apache-2.0
// net/telemetry.h - in-band telemetry: what switch ports write into packets, and how to read it.
//
// A packet says which kind it wants (net_packet_t.telemetry); each switch port that transmits it
// writes, at the moment the packet leaves the queue, whether or not it had to wait. ACKs bring what
// was written back to the sender and are written into by nobody.
//
//     INT   a record per hop: rate of the link, time, bytes the port had sent before this packet
//           (as the link counts them: preamble, FCS and gap included), bytes that wait in the port
//           behind it. 8 bytes more on the wire per hop. Counters wrap: take differences. A queue
//           too long for its field is reported as the longest it can say.
//     PINT  a digest of fixed size: the largest of the ports' utilization estimates
//           U <- (1 - t/T) U + t/T u,  u = queue / (B T) + bytes / (B t)
//           where t, at most T, is the time since the port's frame before; every frame updates U.
//           In logarithmic steps, rounded at random so that the mean is right.
//
// Formats and sources: net/wire/trailer.h. Models: docs/models/hpcc.md, docs/models/hpcc-pint.md.
#ifndef NET_TELEMETRY_H
#define NET_TELEMETRY_H

#include "net/port.h"

SIM_C_BEGIN

// -- INT

// A rate's code in records, 1..15; 0: there is none for it.
uint8_t net_int_rate_code(uint64_t rate_bps);
extern const uint64_t net__int_rates_bps[NET_INT_RATE_CODES];
// 0: the record has code 0.
static inline uint64_t net_int_rate_bps(uint64_t record)
{
    return net__int_rates_bps[record >> NET_INT_RATE_SHIFT];
}

// multiplier: of the units of bytes, 1 or more; the network's (net_config_t.int_multiplier).
uint64_t net_int_record(uint8_t rate_code,
                        sim_time_t time_ps,
                        uint64_t sent_bytes,
                        uint64_t queue_bytes,
                        uint32_t multiplier);

// The time between two records of one port, 2^24 ns apart at most.
static inline uint32_t net_int_elapsed_ns(uint64_t record, uint64_t before)
{
    return (uint32_t)(((record >> NET_INT_TIME_SHIFT) - (before >> NET_INT_TIME_SHIFT)) &
                      NET_INT_MASK(NET_INT_TIME_BITS));
}

// The bytes that the port sent between two records, in whole units: off by less than one unit.
static inline uint64_t net_int_sent_bytes(uint64_t record, uint64_t before, uint32_t multiplier)
{
    const uint64_t units = ((record >> NET_INT_QUEUE_BITS) - (before >> NET_INT_QUEUE_BITS)) &
                           NET_INT_MASK(NET_INT_SENT_BITS);
    return units * NET_INT_SENT_UNIT_BYTES * multiplier;
}

static inline uint64_t net_int_queue_bytes(uint64_t record, uint32_t multiplier)
{
    return (record & NET_INT_MASK(NET_INT_QUEUE_BITS)) * NET_INT_QUEUE_UNIT_BYTES * multiplier;
}

// -- PINT

#define NET_PINT_LEAST 0x1p-10 // digest 1 stands for this utilization, digest 0 for none
#define NET_PINT_MOST 64.0     // a digest can say at least this
#define NET_PINT_DIGESTS_MAX (1u << NET_PINT_DIGEST_BITS_MAX)

typedef struct net_pint {
    double rtt_ps; // T
    uint32_t digest_bytes;
    uint32_t digest_count;
    const struct net_pint_ops *ops;      // NULL: as above
    double values[NET_PINT_DIGESTS_MAX]; // by digest, rising
} net_pint_t;

// base > 1: of two neighbouring digests' values, at least NET_PINT_BASE_LEAST.
#define NET_PINT_BASE_LEAST "1.003"
void net_pint_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps);

// The utilization as a digest: one of the two whose values are next to it, chosen at random so that
// the mean value is the utilization; the largest digest from its value on.
uint16_t net_pint_encode(const net_pint_t *pint, double utilization, sim_random_t *random);

// The network's, after net_build; NULL: nobody wanted PINT.
const net_pint_t *net_pint_of(const net_t *net);

// -- packets

// Bytes of telemetry at the end of the frame, counted in frame_bytes.
uint32_t net_packet_telemetry_bytes(const net_t *net, const net_packet_t *packet);

SIM_C_END

#endif // NET_TELEMETRY_H

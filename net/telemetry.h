// SPDX-License-Identifier: Apache-2.0
// net/telemetry.h - in-band telemetry: what switch ports write into packets, and how to read it.
//
// A packet says which kind it wants (net_packet_t.telemetry). Each switch port that transmits it
// writes at the moment at which the packet leaves the queue, whether or not it had to wait. ACKs
// return the telemetry to the sender; switches do not write into ACKs.
//
//     INT   a record per hop: rate of the link, time, bytes the port had sent before this packet
//           (as the link counts them: preamble, FCS and gap included), bytes that wait in the port
//           behind it. 8 bytes more on the wire per hop. Counters wrap: take differences. A queue
//           too long for its field is reported as the field's largest value.
//     PINT  a digest of fixed size: the largest of the ports' utilization estimates
//           U <- (1 - t/T) U + t/T u,  u = queue / (B T) + bytes / (B t)
//           where t, at most T, is the time since the port's previous frame; every frame updates
//           U. Digests are logarithmic, rounded at random so that the mean is right.
//
// Formats and sources: net/wire/trailer.h. Models: docs/models/hpcc.md, docs/models/hpcc-pint.md.
#ifndef NET_TELEMETRY_H
#define NET_TELEMETRY_H

#include "net/extensions.h"

SIM_C_BEGIN

// -- INT

// Returns the code of a rate in records, 1..15; 0: this rate has no code.
uint8_t net_int_rate_code(uint64_t rate_bps);
extern const uint64_t net__int_rates_bps[NET_INT_RATE_CODES];
// Returns the rate of a record; 0: the record has code 0.
static inline uint64_t net_int_rate_bps(uint64_t record)
{
    return net__int_rates_bps[record >> NET_INT_RATE_SHIFT];
}

// Converts bytes to units. Most networks have multiplier 1 or 4 and skip the slow division.
static inline uint64_t net__int_units(uint64_t bytes, uint64_t unit_bytes, uint32_t multiplier)
{
    const uint64_t units = bytes / unit_bytes;
    return SIM_LIKELY((multiplier & (multiplier - 1)) == 0) ? units >> __builtin_ctz(multiplier)
                                                            : units / multiplier;
}

// Returns a record. multiplier: of the units of bytes, >= 1, the network's
// (net_config_t.int_multiplier).
static inline uint64_t net_int_record(uint8_t rate_code, sim_time_t time_ps, uint64_t sent_bytes,
                                      uint64_t queue_bytes, uint32_t multiplier)
{
    const uint64_t time_ns = time_ps / SIM_PS_PER_NS & NET_INT_MASK(NET_INT_TIME_BITS);
    const uint64_t sent = net__int_units(sent_bytes, NET_INT_SENT_UNIT_BYTES, multiplier) &
                          NET_INT_MASK(NET_INT_SENT_BITS);
    uint64_t queue = net__int_units(queue_bytes, NET_INT_QUEUE_UNIT_BYTES, multiplier);
    if (queue > NET_INT_MASK(NET_INT_QUEUE_BITS)) {
        queue = NET_INT_MASK(NET_INT_QUEUE_BITS);
    }
    SIM_ASSERT(rate_code < NET_INT_RATE_CODES);
    return (uint64_t)rate_code << NET_INT_RATE_SHIFT | time_ns << NET_INT_TIME_SHIFT |
           sent << NET_INT_QUEUE_BITS | queue;
}

// Returns the time between two records of one port, which are at most 2^24 ns apart.
static inline uint32_t net_int_elapsed_ns(uint64_t record, uint64_t before)
{
    return (uint32_t)(((record >> NET_INT_TIME_SHIFT) - (before >> NET_INT_TIME_SHIFT)) &
                      NET_INT_MASK(NET_INT_TIME_BITS));
}

// Returns the bytes sent between two records of one port, rounded to units: off by less than one.
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

#define NET_PINT_LEAST 0x1p-10 // utilization of digest 1; digest 0 means none
#define NET_PINT_MOST 64.0     // the largest digest stands for at least this utilization
#define NET_PINT_DIGESTS_MAX (1u << NET_PINT_DIGEST_BITS_MAX)

typedef struct net_pint {
    double rtt_ps; // T
    uint32_t digest_bytes;
    uint32_t digest_count;
    const struct net_pint_ops *ops;      // NULL: the computation described above
    double values[NET_PINT_DIGESTS_MAX]; // utilization by digest, rising
} net_pint_t;

// base: ratio of two neighbouring digests' values, at least NET_PINT_BASE_LEAST.
#define NET_PINT_BASE_LEAST "1.003"
void net_pint_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps);

// Returns the digest of a utilization: one of the two digests with the nearest values, chosen at
// random so that the mean value is the utilization. Above the largest value: the largest digest.
uint16_t net_pint_encode(const net_pint_t *pint, double utilization, sim_random_t *random);

// Returns the network's digests, borrowed, after net_build; NULL: nobody wanted PINT.
const net_pint_t *net_pint_of(const net_t *net);

// -- packets

// Returns the bytes of telemetry at the frame's end; frame_bytes includes them.
uint32_t net_packet_telemetry_bytes(const net_t *net, const net_packet_t *packet);

// Makes switches write this kind of telemetry into packets that ask for it. It costs memory and
// time, so call it only if somebody sends such packets. Before net_build.
void net_want_telemetry(net_t *net, net_telemetry_t kind);

// Writes telemetry into a packet that is about to leave.
void net__port_meter(net_port_t *port, net_packet_t *packet);

SIM_C_END

#endif // NET_TELEMETRY_H

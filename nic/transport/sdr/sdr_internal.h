// SPDX-License-Identifier: Apache-2.0
// nic/transport/sdr/sdr_internal.h - the transport "sdr": its state, and erasure codes.
//
// With a code, k chunks of a WRITE form a group (the last of a message a shorter one), and m parity
// chunks follow it. A parity packet is a WRITE MIDDLE with the group's first PSN, round 255 and
// its number as index; its RETH is the group's: address, key, bytes to the message's end. It takes
// no PSN.
#ifndef NIC_TRANSPORT_SDR_SDR_INTERNAL_H
#define NIC_TRANSPORT_SDR_SDR_INTERNAL_H

#include "nic/objects/wqe.h"
#include "nic/transport/selective/single_acks.h"

#define NIC_SDR_PARITY_MAX 64u
#define NIC_SDR_PARITY_ROUND 255u

typedef enum nic_sdr_code { NIC_SDR_PLAIN, NIC_SDR_XOR, NIC_SDR_MDS } nic_sdr_code_t;

typedef struct nic_sdr_config {
    uint64_t chunk_bytes;
    sim_ratio_t rto; // time-out, in round trips
    bool nack;
    nic_sdr_code_t code;
    uint64_t data_chunks;
    uint64_t parity_chunks;
    sim_ratio_t fallback; // fallback time-out, in round trips
} nic_sdr_config_t;

// The state that all queue pairs of one NIC share.
typedef struct nic_sdr_shared {
    nic_single_acks_shared_t held; // first
    uint64_t parity;               // packets sent
    uint64_t decoded;              // packets made from parity
    uint64_t fallbacks;            // groups whose parity did not suffice
} nic_sdr_shared_t;

// A group as its parity packets describe it, which suffices to build any of its packets.
typedef struct nic_sdr_group {
    uint64_t psn;     // PSN of the group's first packet
    uint64_t address; // address of the group's first byte
    uint32_t rkey;
    uint32_t left_bytes; // from there to the message's end
    uint32_t immediate;
    bool begins; // the message begins with it
    bool has_immediate;
    bool solicited;
    sim_time_t due_ps;                 // when the receiver asks for what is missing
    uint32_t next_number;              // number of the next parity packet
    uint16_t rows[NIC_SDR_PARITY_MAX]; // packets that came of each parity chunk
} nic_sdr_group_t;

// A chunk whose last packet left.
typedef struct nic_sdr_wait {
    uint64_t chunk;
    sim_time_t sent_ps;
} nic_sdr_wait_t;

typedef struct nic_sdr {
    nic_single_acks_t held; // first
    uint32_t packets;       // packets of a chunk
    uint64_t origin_psn;    // first PSN of chunk 0, sending
    uint64_t source_psn;    // first PSN of chunk 0, receiving
    nic_sdr_wait_t *waits;  // ring, in order of sent_ps
    uint32_t wait_capacity;
    uint32_t wait_first;
    uint32_t wait_end;
    uint64_t asked; // receiver: chunks before it were asked for
    sim_timer_t timer;
    sim_timer_t fetch_timer; // fires when nothing was heard of READs for a time-out
    sim_time_t fetch_ps;     // start of the time without news of READs
    // sender: the group that is being sent, or whose parity is
    nic_sdr_group_t sending;
    uint32_t sent_packets; // packets of `sending` that were sent
    uint32_t parity_next;
    uint32_t parity_end; // 0: none is due
    bool sending_open;
    // receiver: groups that some parity came of and that are not whole, in order of due_ps
    nic_sdr_group_t *groups;
    size_t group_count;
    size_t group_capacity;
    sim_timer_t fallback_timer;
} nic_sdr_t;

static inline nic_sdr_t *nic__sdr_of(nic_qp_t *qp)
{
    return (nic_sdr_t *)(void *)nic_transport_of(qp);
}
static inline const nic_sdr_config_t *nic__sdr_config(const nic_sdr_t *sdr)
{
    return sdr->held.base.config;
}
static inline nic_sdr_shared_t *nic__sdr_shared(const nic_sdr_t *sdr)
{
    return sdr->held.base.nic_state;
}

// chunks.c
void nic__sdr_take(nic_sdr_t *sdr, net_packet_t *packet); // a request, or one made from parity

// code.c
void nic__sdr_code_open(nic_sdr_t *sdr);
void nic__sdr_code_close(nic_sdr_t *sdr);
// Notes that a packet of a work request left for the first time.
void nic__sdr_code_sent(nic_sdr_t *sdr, const nic_wqe_t *wqe, uint32_t offset,
                        const net_packet_t *packet);
static inline bool nic__sdr_parity_due(const nic_sdr_t *sdr)
{
    return sdr->parity_end != 0;
}
net_packet_t *nic__sdr_parity(nic_sdr_t *sdr);
static inline bool nic__sdr_is_parity(const net_packet_t *packet)
{
    return packet->opcode == ROCE_WRITE_MIDDLE && packet->addressed &&
           net_packet_aside(packet)->selective.round == NIC_SDR_PARITY_ROUND;
}
void nic__sdr_take_parity(nic_sdr_t *sdr, net_packet_t *packet);

#endif // NIC_TRANSPORT_SDR_SDR_INTERNAL_H

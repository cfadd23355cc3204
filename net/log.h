// SPDX-License-Identifier: Apache-2.0
// net/log.h - what a node notes of each frame for a capture, in its own loop and without an event.
//
// A log lies in memory of its owner. A frame costs an entry of 24 bytes: its time, its port and
// where its packet is. A packet that a switch receives and sends on at once has one entry for both.
// What the packet says is copied once, by a listener of the host that receives it: a switch changes
// no more of it than net_packet_wire (net_node_keeps_packets). A listener at the ports of a logged
// node hears of everything else (net_port_listen_late).
#ifndef NET_LOG_H
#define NET_LOG_H

#include <string.h>

#include "net/port.h"

SIM_C_BEGIN

typedef enum net_log_kind {
    NET_LOG_RECEIVED,
    NET_LOG_SENT,
    NET_LOG_PASSED, // received and sent at once, at the same time
    NET_LOG_OTHER,  // this and larger ones are the owner's
} net_log_kind_t;

typedef struct net_log_entry {
    uint64_t when;    // time in ps; passed: | index of the port that sent it << 48
    const void *what; // received, sent, passed: the packet
    uint32_t wire;    // received, passed: net_packet_wire
    uint32_t tag;     // index of the port | net_log_kind_t << 16 | net_log_t.stamp
} net_log_entry_t;
static_assert(sizeof(net_log_entry_t) == 24, "an entry is three words");

#define NET_LOG_FRAME_BYTES 60u // what a file holds of a frame besides its bytes, at most

// A departure that was replayed late (net/switch/late.c) is noted after later events. Entries of
// one time and one part have this order: those that are not late, as noted; then late ones, by the
// rank of their port (sim__tie_rank).
#define NET_LOG_LATE (UINT32_C(1) << 24)
#define NET_LOG_PART (UINT32_C(1) << 25) // 7 bits that count parts

// Entries say "passed" in the first 281 s of simulated time: then the port has room above the time.
#define NET_LOG_PORT_SHIFT 48u

static inline uint32_t net_log_port(const net_log_entry_t *entry)
{
    return entry->tag & UINT16_MAX;
}
static inline uint32_t net_log_kind(const net_log_entry_t *entry)
{
    return entry->tag >> 16 & UINT8_MAX;
}
static inline sim_time_t net_log_time(const net_log_entry_t *entry)
{
    return net_log_kind(entry) != NET_LOG_PASSED
               ? entry->when
               : entry->when & ((UINT64_C(1) << NET_LOG_PORT_SHIFT) - 1);
}
// Returns the port that sent the frame of an entry of kind NET_LOG_PASSED.
static inline uint32_t net_log_port_out(const net_log_entry_t *entry)
{
    return (uint32_t)(entry->when >> NET_LOG_PORT_SHIFT);
}
static inline bool net_log_is_late(const net_log_entry_t *entry)
{
    return (entry->tag & NET_LOG_LATE) != 0;
}
static inline uint32_t net_log_part(const net_log_entry_t *entry)
{
    return entry->tag / NET_LOG_PART;
}

// The log of a node. Only the thread that runs the node uses it.
struct net_log {
    net_log_entry_t *next; // room for the next entry
    net_log_entry_t *end;  // behind the last entry that has room
    uint64_t bytes; // of frames noted, with NET_LOG_FRAME_BYTES each, since the owner set it to 0
    uint32_t stamp; // of the next entry: late, part
    // Makes room for an entry at least: sets next and end.
    void (*turn)(net_log_t *log, const sim_node_t *node);
    // Notes a packet that arrived: any one at a host, at a switch one that a late loop cannot note.
    void (*received)(net_log_t *log, const net_port_t *port, const net_packet_t *packet);
    // Notes a sent packet that no entry of kind NET_LOG_SENT can hold: PFC, telemetry, odd links.
    void (*sent)(net_log_t *log, const net_port_t *port, const net_packet_t *packet);
    // Hears of each packet that the node sends again, behind its entry. NULL: nobody wants that.
    void (*again)(net_log_t *log, const net_port_t *port, const net_packet_t *packet);
};

// Makes a node note its frames, from the next one on, after net_build. The log must live as long as
// the run.
void net_log_attach(net_node_t *node, net_log_t *log);

// Returns whether a node forwards packets unchanged but for net_packet_wire, and frees none unless
// it drops it. False for switches that cut packets or add headers.
bool net_node_keeps_packets(net_node_t *node);

static SIM_ALWAYS_INLINE net_log_entry_t *net_log_put(net_log_t *log, const net_port_t *port,
                                                      sim_time_t time_ps, const void *what,
                                                      uint32_t wire, uint32_t kind, uint32_t late)
{
    if (SIM_UNLIKELY(log->next == log->end)) {
        log->turn(log, &port->node->sim);
    }
    net_log_entry_t *const entry = log->next++;
    *entry = (net_log_entry_t){time_ps, what, wire, port->index | kind << 16 | log->stamp | late};
    return entry;
}

// Returns whether an entry can stand for a packet of RoCE with these marks: no switch adds
// telemetry to it. net_log_takes_wire: for any packet.
static inline bool net_log_takes(uint8_t marks)
{
    net_packet_t odd;
    memset(&odd, 0, sizeof(odd));
    odd.marks = UINT8_MAX;
    odd.ecn = 0;
    return (marks & odd.marks) == 0;
}
static inline bool net_log_takes_wire(uint32_t wire)
{
    net_packet_t odd;
    memset(&odd, 0, sizeof(odd));
    odd.kind = 1;
    odd.marks = UINT8_MAX;
    odd.ecn = 0;
    return (wire & net_packet_wire(&odd)) == 0;
}

// Notes a packet that has just arrived. Returns its entry; NULL: a listener of the port noted it.
static SIM_ALWAYS_INLINE net_log_entry_t *net_log_received(net_log_t *log, const net_port_t *port,
                                                           sim_time_t now_ps,
                                                           const net_packet_t *packet)
{
    const uint32_t wire = net_packet_wire(packet);
    if (SIM_UNLIKELY(!net_log_takes_wire(wire))) {
        net_port_trace(port, NET_TRACE_RX, packet, 0);
        return NULL;
    }
    log->bytes += packet->frame_bytes + NET_LOG_FRAME_BYTES;
    return net_log_put(log, port, now_ps, packet, wire, NET_LOG_RECEIVED, 0);
}

// Notes a packet that starts now on a port whose `special` is NET_SPECIAL_LOGGED. takes:
// net_log_takes. late: NET_LOG_LATE or 0.
static SIM_ALWAYS_INLINE void net_log_sent(net_log_t *log, const net_port_t *port,
                                           sim_time_t now_ps, const net_packet_t *packet,
                                           uint32_t frame_bytes, bool takes, uint32_t late)
{
    if (SIM_UNLIKELY(!takes)) {
        log->sent(log, port, packet);
        return;
    }
    log->bytes += frame_bytes + NET_LOG_FRAME_BYTES;
    (void)net_log_put(log, port, now_ps, packet, 0, NET_LOG_SENT, late);
}

// Notes in a packet's entry, which net_log_received returned for this moment, that `port` sends it
// on at once. Returns false, without any effect, if the entry cannot hold that.
static SIM_ALWAYS_INLINE bool net_log_passed(net_log_t *log, net_log_entry_t *entry,
                                             const net_port_t *port, const net_packet_t *packet)
{
    if (SIM_UNLIKELY(entry == NULL || entry->when >> NET_LOG_PORT_SHIFT != 0 ||
                     !net_log_takes(packet->marks))) {
        return false;
    }
    log->bytes += packet->frame_bytes + NET_LOG_FRAME_BYTES;
    entry->when |= (uint64_t)port->index << NET_LOG_PORT_SHIFT;
    entry->tag += (uint32_t)(NET_LOG_PASSED - NET_LOG_RECEIVED) << 16;
    return true;
}

SIM_C_END

#endif // NET_LOG_H

// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/ring.h - the last frames of many nodes, kept by each node's own thread.
//
// Each node has a log (net/log.h) in blocks of memory. Between windows the ring sums up what nodes
// noted. That gives a time before which no frame can be among the last ones any more, and nodes
// forget such blocks when they have filled another. The frames that are taken at the end are equal
// on any number of threads.
#ifndef PCAP_OUT_FABRIC_RING_H
#define PCAP_OUT_FABRIC_RING_H

#include "net/log.h"
#include "pcap-out/fabric/note.h"

SIM_C_BEGIN

#define PCAP_OUT_RING_COMMENTS_MAX 8u // of a frame, as in pcap-out/ng_file.h

typedef struct pcap_out_ring pcap_out_ring_t;

// Creates a ring of the last frames of `bytes` in the file, for nodes with indexes below
// node_count. The caller frees it with pcap_out_ring_destroy, after the last event.
pcap_out_ring_t *pcap_out_ring_create(sim_t *sim, size_t node_count, uint64_t bytes,
                                      uint32_t snaplen_bytes);
void pcap_out_ring_destroy(pcap_out_ring_t *ring);

// Called for frames that the ring hands on.
typedef struct pcap_out_kept pcap_out_kept_t;
typedef void (*pcap_out_ring_fn)(const pcap_out_kept_t *kept, void *ctx);

// Moments around which frames are handed on.
typedef struct pcap_out_moments {
    sim_time_t before_ps; // frames from so long before a moment
    sim_time_t after_ps;  // to so long after it
    uint64_t most;        // moments that count; later ones are ignored
    pcap_out_ring_fn fn;
    void *ctx;
} pcap_out_moments_t;

// Makes the ring keep frames for before_ps alone, and hand on those around moments after each
// window, in the order of time and node. No node may have a log (pcap_out_ring_attach).
void pcap_out_ring_watch(pcap_out_ring_t *ring, const net_t *net,
                         const pcap_out_moments_t *moments);

// Makes a ring of logs keep chosen frames alone: those whose element of `chosen`, by the port's uid
// times 3 plus the place, is true. Logs note the others, too, since what a frame says may stand in
// another one. noted_bytes returns the bytes of all chosen frames so far, NET_LOG_FRAME_BYTES each
// included; it may return less.
typedef uint64_t (*pcap_out_ring_noted_fn)(void *ctx);
void pcap_out_ring_choose(pcap_out_ring_t *ring, const bool *chosen,
                          pcap_out_ring_noted_fn noted_bytes, void *ctx);

// Attaches the node's log, so that it notes frames by itself. The functions get ctx back from
// pcap_out_ring_ctx; `received` is called only for packets that need a note.
typedef void (*pcap_out_ring_note_fn)(net_log_t *log, const net_port_t *port,
                                      const net_packet_t *packet);
void pcap_out_ring_attach(pcap_out_ring_t *ring, net_node_t *node, pcap_out_ring_note_fn received,
                          pcap_out_ring_note_fn sent, pcap_out_ring_note_fn again, void *ctx);
void *pcap_out_ring_ctx(const net_log_t *log);

// -- in the node's thread

// Notes a frame with what it says, note_bytes behind the note's head. Returns room for the note.
pcap_out_note_t *pcap_out_ring_frame(pcap_out_ring_t *ring, const net_port_t *port,
                                     const net_packet_t *packet, pcap_out_place_t place,
                                     size_t note_bytes);

// The frame that a node noted last, apart from late departures. If frames are chosen, the last
// chosen one of this moment.
typedef struct pcap_out_last {
    const net_log_entry_t *entry; // NULL: there is none
    const net_packet_t *packet;
    sim_time_t time_ps;
    uint32_t port; // index in the node
    pcap_out_place_t place;
} pcap_out_last_t;
pcap_out_last_t pcap_out_ring_last(const pcap_out_ring_t *ring, const net_node_t *node);

// Adds a comment to a frame that the node noted. `on` NULL: to the frame of this packet that the
// node notes next, at this moment.
void pcap_out_ring_comment(pcap_out_ring_t *ring, const net_port_t *port,
                           const net_packet_t *packet, const pcap_out_note_t *comment,
                           const net_log_entry_t *on);
// Copies what a packet says that the node frees, because it drops it.
void pcap_out_ring_contents(pcap_out_ring_t *ring, const net_port_t *port,
                            const net_packet_t *packet);

// Notes a moment of the port's node, now; `on`: the frame that it is about, which counts once.
// NULL: no frame.
void pcap_out_ring_moment(pcap_out_ring_t *ring, const net_port_t *port, const net_log_entry_t *on);

// -- after the run (pcap-out/fabric/ring_end.c)

// A frame that the ring kept.
struct pcap_out_kept {
    sim_time_t time_ps;
    const net_port_t *port;
    pcap_out_place_t place;
    const pcap_out_note_t *note; // whose place and port are another frame's of this packet
    bool has_wire;
    uint32_t wire; // net_packet_wire of this frame, if the note's is another
    uint32_t comment_count;
    const pcap_out_note_t *comments[PCAP_OUT_RING_COMMENTS_MAX];
};

// Calls fn for the last frames, in the order of time and node. Returns how many there were. Packets
// that wait or travel must still be there.
// Returns the bytes that a frame takes in the file.
typedef uint64_t (*pcap_out_ring_bytes_fn)(const pcap_out_kept_t *kept, void *ctx);
uint64_t pcap_out_ring_take(pcap_out_ring_t *ring, const net_t *net,
                            pcap_out_ring_bytes_fn bytes_of, pcap_out_ring_fn fn, void *ctx);
// Hands on what is left around moments. Returns how many frames were handed on in all.
uint64_t pcap_out_ring_end_moments(pcap_out_ring_t *ring);

SIM_C_END

#endif // PCAP_OUT_FABRIC_RING_H

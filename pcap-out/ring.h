// SPDX-License-Identifier: Apache-2.0
// pcap-out/ring.h - the last frames of many nodes, kept by each node's own thread.
//
// A frame costs a copy into its node's queue. Every so many frames a node tells a stream how many
// bytes it noted; between windows that gives a time before which no frame can be among the last
// ones any more, and nodes forget such frames when they note the next. The frames that are taken at
// the end are equal on any number of threads.
#ifndef PCAP_OUT_RING_H
#define PCAP_OUT_RING_H

#include "kernel/record.h"
#include "pcap-out/held.h"

SIM_C_BEGIN

typedef struct pcap_out_ring pcap_out_ring_t;

// Creates a ring of the last frames of `bytes` in the file, for nodes with indexes below
// node_count. The caller frees it with pcap_out_ring_destroy.
pcap_out_ring_t *pcap_out_ring_create(sim_t *sim, size_t node_count, uint64_t bytes);
void pcap_out_ring_destroy(pcap_out_ring_t *ring);

// Begins a frame of note_bytes, a multiple of 16, which takes file_bytes in the file; returns room
// for its note, valid until the next call for this node. Called in the node's thread.
void *pcap_out_ring_frame(pcap_out_ring_t *ring,
                          const sim_node_t *node,
                          uint32_t note_bytes,
                          uint32_t file_bytes);
// Adds a comment, which takes file_bytes, to the frame that was begun last.
void pcap_out_ring_comment(pcap_out_ring_t *ring,
                           const sim_node_t *node,
                           const pcap_out_note_t *comment,
                           uint32_t file_bytes);

// Calls fn for the last frames, in the order of time and node, and forgets them. Returns how many
// frames were noted and are not among them. After the run.
typedef void (*pcap_out_ring_fn)(const pcap_out_item_t *item, void *ctx);
uint64_t pcap_out_ring_take(pcap_out_ring_t *ring, pcap_out_ring_fn fn, void *ctx);

SIM_C_END

#endif // PCAP_OUT_RING_H

// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/note.h - what a node's thread notes of a frame, and how the frame is made of it
// later.
//
// A note holds the packet itself rather than bytes: 100 to 200 bytes instead of 4 KB. Of the cold
// part of a packet it holds only what its opcode uses.
#ifndef PCAP_OUT_FABRIC_NOTE_H
#define PCAP_OUT_FABRIC_NOTE_H

#include "pcap-out/fabric.h"

SIM_C_BEGIN

typedef enum pcap_out_place {
    PCAP_OUT_SENT,
    PCAP_OUT_RECEIVED,
    PCAP_OUT_LOST, // neither: dropped after it had waited
} pcap_out_place_t;

// The head of a note, before the packet. A comment has no packet, or the packet that it describes.
typedef struct pcap_out_note {
    uint8_t is_comment : 1;
    uint8_t attached : 1; // a comment on the frame that its node noted last
    uint8_t has_aside : 1;
    uint8_t place;    // pcap_out_place_t
    uint8_t subject;  // pcap_out_subject_t of a comment
    uint8_t detail;   // net_drop_reason_t of a drop, class of a pause
    uint32_t port;    // uid
    uint64_t held;    // comment: bytes in the queue, or that the ingress holds
    uint16_t hops;    // records of telemetry behind the packet
    uint16_t payload; // bytes of contents behind them
    uint8_t control;  // comment: 1 + net_control_t of a frame of the link; 0: on a packet
    uint32_t qp;      // comment: destination queue pair
    uint32_t psn;
} pcap_out_note_t;

// Returns the bytes that the packet takes behind the head, and writes them.
size_t pcap_out_note_packet_bytes(const net_port_t *sender, const net_packet_t *packet);
void pcap_out_note_put_packet(pcap_out_note_t *note, const net_port_t *sender,
                              const net_packet_t *packet);

// Copies a noted packet into one of a pool whose cold part has room for telemetry. The contents
// stay in the note.
void pcap_out_note_take_packet(const pcap_out_note_t *note, net_packet_t *packet);
// Returns the noted packet's hot part, which is not aligned to a cache line.
const net_packet_t *pcap_out_note_packet(const pcap_out_note_t *note);

// Writes the comment's text: "dropped: shared buffer full, queue 412 KB, queue pair 17, PSN 4711".
#define PCAP_OUT_TEXT_BYTES 256u
void pcap_out_note_text(const pcap_out_note_t *note, const net_port_t *port,
                        char text[PCAP_OUT_TEXT_BYTES]);

SIM_C_END

#endif // PCAP_OUT_FABRIC_NOTE_H

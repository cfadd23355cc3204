// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/note.c - packs packets into notes and back, and words their comments.
#include "pcap-out/fabric/note.h"

#include "net/frame_opcodes.h"
#include "net/ports.h"
#include "net/switch_model.h"

#include <stdio.h>
#include <string.h>

// Returns whether the frame shows something of the packet's cold part.
static bool shows_aside(const net_port_t *sender, const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_ROCE &&
           (packet->addressed || packet->contents || !net_frame_is_hot(packet->opcode) ||
            (sender->node->kind == NET_NODE_SWITCH && sender->peer->node->kind == NET_NODE_SWITCH &&
             net_switch_of(sender->node)->header_bytes != 0));
}

static uint32_t hops_of(const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_ROCE && packet->telemetry == NET_TELEMETRY_INT
               ? packet->hop_count
               : 0;
}

static uint32_t contents_of(const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_ROCE && packet->contents ? packet->payload_bytes : 0;
}

size_t pcap_out_note_packet_bytes(const net_port_t *sender, const net_packet_t *packet)
{
    return sizeof(*packet) + (shows_aside(sender, packet) ? sizeof(net_packet_aside_t) : 0) +
           hops_of(packet) * sizeof(uint64_t) + contents_of(packet);
}

void pcap_out_note_put_packet(pcap_out_note_t *note, const net_port_t *sender,
                              const net_packet_t *packet)
{
    unsigned char *at = (unsigned char *)(note + 1);
    memcpy(at, packet, sizeof(*packet));
    at += sizeof(*packet);
    note->has_aside = shows_aside(sender, packet);
    note->hops = (uint16_t)hops_of(packet);
    note->payload = (uint16_t)contents_of(packet);
    if (note->has_aside) {
        memcpy(at, net_packet_aside(packet), sizeof(net_packet_aside_t));
        at += sizeof(net_packet_aside_t);
    }
    if (note->hops > 0) {
        memcpy(at, net_packet_telemetry(packet), note->hops * sizeof(uint64_t));
        at += note->hops * sizeof(uint64_t);
    }
    if (note->payload > 0) {
        memcpy(at, net_packet_aside(packet)->payload, note->payload);
    }
}

const net_packet_t *pcap_out_note_packet(const pcap_out_note_t *note)
{
    return (const net_packet_t *)(const void *)(note + 1);
}

void pcap_out_note_take_packet(const pcap_out_note_t *note, net_packet_t *packet)
{
    const unsigned char *at = (const unsigned char *)(note + 1);
    memcpy(packet, at, sizeof(*packet));
    at += sizeof(*packet);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    if (note->has_aside) {
        memcpy(aside, at, sizeof(*aside));
        at += sizeof(*aside);
    } else {
        memset(aside, 0, sizeof(*aside));
    }
    if (note->hops > 0) {
        memcpy(net_packet_telemetry(packet), at, note->hops * sizeof(uint64_t));
        at += note->hops * sizeof(uint64_t);
    }
    if (note->payload > 0) {
        aside->payload = (uint8_t *)(uintptr_t)at;
    }
}

// -- words

static const char *reason_words(net_drop_reason_t reason)
{
    static const char *const words[NET_DROP_REASON_COUNT] = {
        [NET_DROP_EGRESS_FULL] = "queue over its threshold",
        [NET_DROP_BUFFER_FULL] = "shared buffer full",
        [NET_DROP_HEADROOM_FULL] = "headroom full",
        [NET_DROP_NO_ROUTE] = "no route",
        [NET_DROP_TTL] = "TTL expired",
        [NET_DROP_LINK_LOSS] = "lost on the link",
        [NET_DROP_LINK_DOWN] = "link down",
        [NET_DROP_HOST] = "no such queue pair",
        [NET_DROP_WATCHDOG] = "PFC watchdog",
    };
    return reason < NET_DROP_REASON_COUNT && words[reason] != NULL ? words[reason]
                                                                   : net_drop_reason_name(reason);
}

typedef struct amount {
    char text[24];
} amount_t;

static const char *amount_of(amount_t *amount, uint64_t bytes)
{
    if (bytes < 10000) {
        snprintf(amount->text, sizeof(amount->text), "%" PRIu64 " bytes", bytes);
    } else if (bytes < 10000000) {
        snprintf(amount->text, sizeof(amount->text), "%" PRIu64 " KB", (bytes + 500) / 1000);
    } else {
        snprintf(amount->text, sizeof(amount->text), "%.1f MB", (double)bytes / 1e6);
    }
    return amount->text;
}

static int put_packet_words(const pcap_out_note_t *note, char *text, size_t size)
{
    if (note->control == 0) {
        return snprintf(text, size, "queue pair %u, PSN %u", note->qp, note->psn);
    }
    return snprintf(text, size, "%s",
                    note->control == 1 + NET_CONTROL_PFC         ? "PFC frame"
                    : note->control == 1 + NET_CONTROL_CC_UPDATE ? "CC_Update of the link's credits"
                                                                 : "control frame of the link");
}

void pcap_out_note_text(const pcap_out_note_t *note, const net_port_t *port,
                        char text[PCAP_OUT_TEXT_BYTES])
{
    amount_t held;
    const char *const bytes = amount_of(&held, note->held);
    char packet[48];
    (void)put_packet_words(note, packet, sizeof(packet));
    const char *const name = net_port_name(port);
    switch ((pcap_out_subject_t)note->subject) {
    case PCAP_OUT_DROP:
        snprintf(text, PCAP_OUT_TEXT_BYTES, "dropped: %s, queue %s, %s, at %s",
                 reason_words((net_drop_reason_t)note->detail), bytes, packet, name);
        return;
    case PCAP_OUT_MARK:
        snprintf(text, PCAP_OUT_TEXT_BYTES, "marked: queue %s, %s, at %s", bytes, packet, name);
        return;
    case PCAP_OUT_PAUSE:
        snprintf(text, PCAP_OUT_TEXT_BYTES,
                 "paused for: ingress holds %s of class %u, %s, pauses %s", bytes, note->detail,
                 packet, net_port_name(port->peer));
        return;
    case PCAP_OUT_RETRANSMISSION:
        snprintf(text, PCAP_OUT_TEXT_BYTES, "sent again: %s", packet);
        return;
    case PCAP_OUT_TRIM:
        snprintf(text, PCAP_OUT_TEXT_BYTES, "trimmed: queue %s, %s, at %s", bytes, packet, name);
        return;
    case PCAP_OUT_ALWAYS:
        break;
    }
    text[0] = '\0';
}

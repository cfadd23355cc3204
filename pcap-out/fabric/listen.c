// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/listen.c - what the thread of a node notes for a fabric's capture: frames, and in
// the same event comments on them.
#include <string.h>

#include "net/frame.h"
#include "net/nodes.h"
#include "net/port_metrics.h"
#include "pcap-out/fabric/fabric_internal.h"

#define LISTENED                                                                      \
    (NET_TRACE_TX | NET_TRACE_RX | NET_TRACE_DROP | NET_TRACE_MARK | NET_TRACE_XOFF | \
     NET_TRACE_TRIM)

#define ICRC_BYTES UINT64_C(4)
#define CUT_BYTES 40u // in the file, of a frame that snaplen may cut

// -- frames and comments

static bool passes_filter(const pcap_out_fabric_t *fabric, const net_port_t *sender,
                          const net_packet_t *packet)
{
    net_frame_t frame;
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    net_packet_frame(sender, packet, &frame);
    // The ICRC of a RoCEv2 packet is at the end of the frame, unless telemetry follows.
    frame.without_icrc =
        frame.telemetry == NET_TELEMETRY_NONE &&
        pcap_out_filter_reach_bytes(fabric->filter) + ICRC_BYTES <= packet->frame_bytes;
    if (fabric->config.capture.without_telemetry) {
        frame.telemetry = NET_TELEMETRY_NONE;
        frame.hop_count = 0;
        frame.overlay_bytes = 0;
    }
    const uint32_t size = (uint32_t)net_frame_build(&frame, bytes, sizeof(bytes));
    return pcap_out_filter_matches(fabric->filter, bytes, size);
}

// Fills in what a comment says of its port and packet.
static pcap_out_note_t comment_on(const net_port_t *port, const net_packet_t *packet,
                                  pcap_out_note_t head)
{
    head.is_comment = true;
    head.port = port->uid;
    if (packet != NULL) {
        head.control = packet->kind == NET_PACKET_CONTROL ? (uint8_t)(1 + packet->control) : 0;
        head.qp = head.control != 0 ? 0 : packet->destination_qp;
        head.psn = head.control != 0 ? 0 : packet->psn;
    }
    return head;
}

static void put_comment(pcap_out_fabric_t *fabric, const net_port_t *port,
                        const net_packet_t *packet, pcap_out_note_t head)
{
    const sim_node_t *const node = &port->node->sim;
    head = comment_on(port, packet, head);
    if (fabric->nodes_ring == NULL) {
        pcap_out_note_t *const note =
            sim_stream_put(fabric->stream, node, node->now_ps, sizeof(*note));
        *note = head;
        return;
    }
    const net_log_entry_t *on = NULL;
    if (head.attached) {
        const pcap_out_last_t last = pcap_out_ring_last(fabric->nodes_ring, port->node);
        const uint32_t uid = port->node->ports[last.port].uid;
        on = last.entry;
        pcap_out_ring_comment(fabric->nodes_ring, port, packet, &head, on);
        fabric->counts[uid * 3 + last.place].drops += head.subject == PCAP_OUT_DROP;
    }
    if (head.subject == fabric->config.trigger) {
        pcap_out_ring_moment(fabric->nodes_ring, port, on);
    }
}

// Returns the frame that the port's node noted last.
static pcap_out_last_t last_of(const pcap_out_fabric_t *fabric, const net_port_t *port)
{
    const sim_node_t *const node = &port->node->sim;
    const at_node_t *const at = &fabric->nodes[node->index];
    if (fabric->nodes_ring != NULL) {
        return pcap_out_ring_last(fabric->nodes_ring, port->node);
    }
    return (pcap_out_last_t){.packet = at->packet,
                             .time_ps = at->time_ps,
                             .port = at->port != NULL ? at->port->index : 0,
                             .place = at->place};
}

// Returns whether the file has frames of this port and place.
static bool is_chosen(const pcap_out_fabric_t *fabric, const net_port_t *port,
                      pcap_out_place_t place)
{
    return fabric->chosen == NULL || fabric->chosen[port->uid * 3 + place];
}

// Notes a frame. Returns whether it passed the filter and is one of the file's.
static bool put_frame(pcap_out_fabric_t *fabric, const net_port_t *port, const net_packet_t *packet,
                      pcap_out_place_t place)
{
    const sim_node_t *const node = &port->node->sim;
    const net_port_t *const sender = pcap_out__sender_of(port, place);
    at_node_t *const at = &fabric->nodes[node->index];
    if (fabric->filter != NULL && !passes_filter(fabric, sender, packet)) {
        at->packet = NULL;
        return false;
    }
    const size_t bytes = sizeof(pcap_out_note_t) + pcap_out_note_packet_bytes(sender, packet);
    pcap_out_note_t *note = NULL;
    if (fabric->nodes_ring != NULL) {
        note = pcap_out_ring_frame(fabric->nodes_ring, port, packet, place, bytes);
        fabric->counts[port->uid * 3 + place].frames += !fabric->in_logs || place == PCAP_OUT_LOST;
    } else {
        note = sim_stream_put(fabric->stream, node, node->now_ps, bytes);
    }
    *note = (pcap_out_note_t){.place = (uint8_t)place, .port = port->uid};
    pcap_out_note_put_packet(note, sender, packet);
    at->packet = packet;
    at->time_ps = node->now_ps;
    at->port = port;
    at->place = place;
    return is_chosen(fabric, port, place);
}

// Returns whether the frame that the node noted last is this packet, at this moment.
static bool is_last(const pcap_out_fabric_t *fabric, const net_port_t *port,
                    const net_packet_t *packet)
{
    const pcap_out_last_t last = last_of(fabric, port);
    return packet != NULL && last.packet == packet && last.time_ps == port->node->sim.now_ps;
}

// Comments on the frame of a packet that was marked just before.
static void end_mark(pcap_out_fabric_t *fabric, const net_port_t *port, const net_packet_t *packet,
                     bool noted)
{
    at_node_t *const at = &fabric->nodes[port->node->sim.index];
    if (SIM_LIKELY(at->marked != packet)) {
        return;
    }
    at->marked = NULL;
    if (noted) {
        const pcap_out_note_t head = {.attached = true,
                                      .subject = PCAP_OUT_MARK,
                                      .held = at->marked_bytes};
        put_comment(fabric, port, packet, head);
    }
}

// Comments on the frame of a packet that its NIC sends again.
static void tell_again(pcap_out_fabric_t *fabric, const net_port_t *port,
                       const net_packet_t *packet)
{
    if (port->node->kind == NET_NODE_HOST && packet->kind == NET_PACKET_ROCE &&
        packet->retransmission) {
        const pcap_out_note_t head = {.attached = true, .subject = PCAP_OUT_RETRANSMISSION};
        put_comment(fabric, port, packet, head);
    }
}

static void on_sent(pcap_out_fabric_t *fabric, const net_port_t *port, const net_packet_t *packet)
{
    const bool noted = ((fabric->points & NET_TRACE_TX) != 0 || fabric->in_logs) &&
                       put_frame(fabric, port, packet, PCAP_OUT_SENT);
    end_mark(fabric, port, packet, noted);
    if (noted) {
        tell_again(fabric, port, packet);
    }
}

// Returns the bytes that a port's node holds of a class: those that wait for a drop at the egress,
// those of the ingress for one in the headroom.
static uint64_t held_at(const net_port_t *port, uint32_t priority, bool is_ingress)
{
    const net_received_t *const received = port->received[priority];
    return is_ingress ? received->stored_bytes + received->headroom_bytes
                      : port->classes[priority]->bytes;
}

// Returns whether a NIC dropped what it was to send, rather than what it received.
static bool reason_is_link(uint32_t reason)
{
    return reason == NET_DROP_LINK_DOWN || reason == NET_DROP_LINK_LOSS;
}

static void on_drop(pcap_out_fabric_t *fabric, const net_trace_t *trace)
{
    const net_port_t *const port = trace->port;
    const net_packet_t *const packet = trace->packet;
    if (packet == NULL) {
        return;
    }
    if (is_last(fabric, port, packet)) {
        if (fabric->in_logs) {
            pcap_out_ring_contents(fabric->nodes_ring, port, packet);
        }
    } else {
        if (!put_frame(fabric, port, packet, PCAP_OUT_LOST)) {
            return;
        }
        end_mark(fabric, port, packet, true);
        if (reason_is_link(trace->detail)) {
            tell_again(fabric, port, packet);
        }
    }
    const bool is_ingress = trace->detail == NET_DROP_HEADROOM_FULL;
    const pcap_out_note_t head = {.attached = true,
                                  .subject = PCAP_OUT_DROP,
                                  .detail = (uint8_t)trace->detail,
                                  .held = held_at(port, packet->priority, is_ingress)};
    put_comment(fabric, port, packet, head);
}

// A packet is cut when it arrives, or later in its queue: then it gets a frame of its own.
static void on_trim(pcap_out_fabric_t *fabric, const net_trace_t *trace)
{
    const net_port_t *const port = trace->port;
    const net_packet_t *const packet = trace->packet;
    if (packet == NULL ||
        (!is_last(fabric, port, packet) && !put_frame(fabric, port, packet, PCAP_OUT_LOST))) {
        return;
    }
    const pcap_out_note_t head = {.attached = true,
                                  .subject = PCAP_OUT_TRIM,
                                  .held = net_port_queue_bytes(port)};
    put_comment(fabric, port, packet, head);
}

static void on_mark(pcap_out_fabric_t *fabric, const net_trace_t *trace)
{
    at_node_t *const at = &fabric->nodes[trace->port->node->sim.index];
    if (trace->detail != 0 || trace->packet == NULL) {
        return; // an earlier switch has marked it
    }
    const pcap_out_note_t head = {
        .attached = true,
        .subject = PCAP_OUT_MARK,
        .held = trace->port->classes[trace->packet->priority]->bytes,
    };
    if (is_last(fabric, trace->port, trace->packet)) { // marked when it arrives, not when it leaves
        put_comment(fabric, trace->port, trace->packet, head);
        return;
    }
    if (fabric->in_logs) {
        const pcap_out_note_t comment = comment_on(trace->port, trace->packet, head);
        pcap_out_ring_comment(fabric->nodes_ring, trace->port, trace->packet, &comment, NULL);
        return;
    }
    at->marked = trace->packet;
    at->marked_bytes = head.held;
}

static void on_xoff(pcap_out_fabric_t *fabric, const net_trace_t *trace)
{
    const net_port_t *const port = trace->port;
    const pcap_out_last_t last = last_of(fabric, port);
    // A switch stops its peer because of the packet that it has just received from it.
    const bool attached = last.packet != NULL && last.port == port->index &&
                          last.place == PCAP_OUT_RECEIVED && last.time_ps == port->node->sim.now_ps;
    const pcap_out_note_t head = {.attached = attached,
                                  .subject = PCAP_OUT_PAUSE,
                                  .detail = (uint8_t)trace->detail,
                                  .held = held_at(port, trace->detail, true)};
    put_comment(fabric, port, attached ? last.packet : NULL, head);
}

// Notes a received packet that a log must copy.
static void log_received(net_log_t *log, const net_port_t *port, const net_packet_t *packet)
{
    (void)put_frame(pcap_out_ring_ctx(log), port, packet, PCAP_OUT_RECEIVED);
}

// Notes a sent packet that a log must copy.
static void log_sent(net_log_t *log, const net_port_t *port, const net_packet_t *packet)
{
    on_sent(pcap_out_ring_ctx(log), port, packet);
}

static void log_again(net_log_t *log, const net_port_t *port, const net_packet_t *packet)
{
    pcap_out_fabric_t *const fabric = pcap_out_ring_ctx(log);
    if (is_chosen(fabric, port, PCAP_OUT_SENT)) {
        tell_again(fabric, port, packet);
    }
}

static void on_trace(const net_trace_t *trace, void *ctx)
{
    pcap_out_fabric_t *const fabric = ctx;
    if (trace->point == NET_TRACE_TX) {
        on_sent(fabric, trace->port, trace->packet);
    } else if (trace->point == NET_TRACE_RX) {
        (void)put_frame(fabric, trace->port, trace->packet, PCAP_OUT_RECEIVED);
    } else if (trace->point == NET_TRACE_DROP) {
        on_drop(fabric, trace);
    } else if (trace->point == NET_TRACE_MARK) {
        on_mark(fabric, trace);
    } else if (trace->point == NET_TRACE_TRIM) {
        on_trim(fabric, trace);
    } else if (trace->point == NET_TRACE_XOFF) {
        on_xoff(fabric, trace);
    }
}

// -- listening

uint32_t pcap_out__points_of(pcap_out_direction_t direction)
{
    // The comments on received frames follow from what is sent, and the other way round.
    return direction == PCAP_OUT_TX   ? LISTENED & ~(uint32_t)NET_TRACE_RX
           : direction == PCAP_OUT_RX ? LISTENED & ~(uint32_t)NET_TRACE_TX
                                      : LISTENED;
}

// Copies a packet that is dropped at a port without frames in the file: chosen frames of other
// ports may say the same.
static void on_other_drop(const net_trace_t *trace, void *ctx)
{
    const pcap_out_fabric_t *const fabric = ctx;
    if (fabric->ports[trace->port->uid] == NULL && trace->packet != NULL) {
        pcap_out_ring_contents(fabric->nodes_ring, trace->port, trace->packet);
    }
}

static void hear_other_drops(pcap_out_fabric_t *fabric)
{
    for (size_t i = 0; i < net_node_count(fabric->net) && !fabric->config.every_port; i++) {
        net_node_t *const node = net_node_at(fabric->net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen_late(&node->ports[p], NET_TRACE_DROP, on_other_drop, fabric);
        }
    }
}

// Returns the bytes of chosen frames that ports sent and received so far.
static uint64_t noted_bytes(void *ctx)
{
    const pcap_out_fabric_t *const fabric = ctx;
    const uint64_t snaplen = fabric->config.capture.snaplen_bytes;
    uint64_t bytes = 0;
    uint64_t frames = 0;
    for (size_t i = 0; i < fabric->port_count; i++) {
        const net_port_t *const port = fabric->ports[i];
        if (port == NULL || net_port_untouched(port)) {
            continue;
        }
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            const net_class_t *const sent = port->classes[p];
            const net_received_t *const received = port->received[p];
            bytes += fabric->chosen[3 * i + PCAP_OUT_SENT] ? sent->tx_bytes : 0;
            frames += fabric->chosen[3 * i + PCAP_OUT_SENT] ? sent->tx_packets : 0;
            bytes += fabric->chosen[3 * i + PCAP_OUT_RECEIVED] ? received->bytes : 0;
            frames += fabric->chosen[3 * i + PCAP_OUT_RECEIVED] ? received->packets : 0;
        }
    }
    // A frame that is cut has at least the head of its block.
    return snaplen != 0 ? frames * CUT_BYTES : bytes + frames * NET_LOG_FRAME_BYTES;
}

void pcap_out__fabric_attach_logs(pcap_out_fabric_t *fabric)
{
    const pcap_out_fabric_config_t *const config = &fabric->config;
    bool in_logs = (config->every_port || config->many_ports) && fabric->filter == NULL;
    for (size_t i = 0; i < net_node_count(fabric->net) && in_logs; i++) {
        net_node_t *const node = net_node_at(fabric->net, i);
        in_logs = node->log == NULL && net_node_keeps_packets(node);
    }
    for (size_t i = 0; i < net_node_count(fabric->net) && in_logs; i++) {
        net_node_t *const node = net_node_at(fabric->net, i);
        pcap_out_ring_attach(fabric->nodes_ring, node, log_received, log_sent, log_again, fabric);
    }
    fabric->in_logs = in_logs;
    if (in_logs && !(config->every_port && config->capture.direction == PCAP_OUT_BOTH)) {
        fabric->chosen = sim_alloc_array(3 * fabric->port_count + 1, sizeof(*fabric->chosen));
        memset(fabric->chosen, 0, (3 * fabric->port_count + 1) * sizeof(*fabric->chosen));
        pcap_out_ring_choose(fabric->nodes_ring, fabric->chosen, noted_bytes, fabric);
        hear_other_drops(fabric);
    }
}

void pcap_out__fabric_listen(pcap_out_fabric_t *fabric, net_port_t *port)
{
    if (fabric->in_logs) {
        net_port_listen_late(port, LISTENED & ~(uint32_t)(NET_TRACE_TX | NET_TRACE_RX), on_trace,
                             fabric);
    } else {
        net_port_listen(port, fabric->points | NET_TRACE_TX, on_trace, fabric);
    }
}

// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric.c - listens at many ports, joins frames with their comments, and writes them.
//
// A node's thread notes a frame, and then, in the same event, comments on it. Between windows the
// stream hands on all notes in the order of time. A frame waits here for the next frame, so that
// its comments are complete; then it is written, or held by a trigger or a ring.
#include "pcap-out/fabric.h"

#include <stddef.h>
#include <string.h>

#include "kernel/buffer.h"
#include "kernel/pool.h"
#include "kernel/record.h"
#include "kernel/timer.h"
#include "pcap-out/held.h"
#include "pcap-out/ng_file.h"
#include "pcap-out/pcap_file.h"
#include "pcap-out/ring.h"

#define NO_INTERFACE UINT32_MAX
#define LISTENED                                                                      \
    (NET_TRACE_TX | NET_TRACE_RX | NET_TRACE_DROP | NET_TRACE_MARK | NET_TRACE_XOFF | \
     NET_TRACE_TRIM)
#define DIGEST_DIGITS 16

// What a node's thread remembers of the last frame that it noted.
typedef struct at_node {
    alignas(SIM_CACHE_LINE) const net_packet_t *packet;
    sim_time_t time_ps;
    const net_port_t *port;
    pcap_out_place_t place;
    const net_packet_t *marked; // its next frame gets a comment
    uint64_t marked_bytes;
} at_node_t;

typedef struct counts {
    uint64_t frames;
    uint64_t drops;
} counts_t;

struct pcap_out_fabric {
    const net_t *net;
    pcap_out_ng_t *ng;
    pcap_out_filter_t *filter;
    sim_stream_t *stream;
    at_node_t *nodes; // by the node's index
    size_t node_count;
    size_t port_count;
    const net_port_t **ports;        // by uid; NULL: not captured
    uint32_t *interfaces;            // by uid and place
    counts_t *counts;                // likewise
    pcap_out_fabric_config_t config; // without the texts
    char *section;
    uint32_t points;

    sim_buffer_t pending; // an item: the last frame, with the comments so far
    bool is_triggered;    // by a comment on the pending frame
    sim_time_t open_until_ps;
    bool is_open; // some trigger has come
    uint64_t triggers;
    pcap_out_held_t before;      // frames that a trigger may still ask for
    pcap_out_held_t ring;        // with a trigger
    pcap_out_ring_t *nodes_ring; // without one; NULL: none
    uint64_t frames;
    uint64_t left_out;
    uint64_t skipped;
    sim_pool_t *pool; // of one packet, in which noted packets become frames
    net_packet_t *packet;
};

// -- in the node's thread

static const net_port_t *sender_of(const net_port_t *port, pcap_out_place_t place)
{
    return place == PCAP_OUT_RECEIVED ? port->peer : port;
}

static bool passes_filter(const pcap_out_fabric_t *fabric,
                          const net_port_t *sender,
                          const net_packet_t *packet)
{
    net_frame_t frame;
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    net_packet_frame(sender, packet, &frame);
    if (fabric->config.capture.without_telemetry) {
        frame.telemetry = NET_TELEMETRY_NONE;
        frame.hop_count = 0;
        frame.overlay_bytes = 0;
    }
    const uint32_t size = (uint32_t)net_frame_build(&frame, bytes, sizeof(bytes));
    return pcap_out_filter_matches(fabric->filter, bytes, size);
}

static void put_comment(pcap_out_fabric_t *fabric,
                        const net_port_t *port,
                        const net_packet_t *packet,
                        pcap_out_note_t head)
{
    const sim_node_t *const node = &port->node->sim;
    head.is_comment = true;
    head.port = port->uid;
    if (packet != NULL) {
        head.is_pfc = packet->kind == NET_PACKET_PFC;
        head.qp = head.is_pfc ? 0 : packet->destination_qp;
        head.psn = head.is_pfc ? 0 : packet->psn;
    }
    if (fabric->nodes_ring == NULL) {
        pcap_out_note_t *const note =
            sim_stream_put(fabric->stream, node, node->now_ps, sizeof(*note));
        *note = head;
    } else if (head.attached) {
        const at_node_t *const at = &fabric->nodes[node->index];
        char text[PCAP_OUT_TEXT_BYTES];
        pcap_out_note_text(&head, port, text);
        pcap_out_ring_comment(fabric->nodes_ring, node, &head, (uint32_t)strlen(text) + 8);
        fabric->counts[at->port->uid * 3 + at->place].drops += head.subject == PCAP_OUT_DROP;
    }
}

// Returns the bytes that a frame takes in the file without comments, at most.
static uint32_t file_bytes(const pcap_out_fabric_t *fabric, const net_packet_t *packet)
{
    const uint32_t snaplen = fabric->config.capture.snaplen_bytes;
    const uint32_t frame = packet->frame_bytes;
    // Block, packet's header, flags, picoseconds, and 4 bytes of padding at most.
    return (snaplen != 0 && snaplen < frame ? snaplen : frame) + 60;
}

// Notes a frame. Returns whether it passed the filter.
static bool put_frame(pcap_out_fabric_t *fabric,
                      const net_port_t *port,
                      const net_packet_t *packet,
                      pcap_out_place_t place)
{
    const sim_node_t *const node = &port->node->sim;
    const net_port_t *const sender = sender_of(port, place);
    at_node_t *const at = &fabric->nodes[node->index];
    if (fabric->filter != NULL && !passes_filter(fabric, sender, packet)) {
        at->packet = NULL;
        return false;
    }
    const size_t bytes = sizeof(pcap_out_note_t) + pcap_out_note_packet_bytes(sender, packet);
    pcap_out_note_t *note = NULL;
    if (fabric->nodes_ring != NULL) {
        const uint32_t padded = (uint32_t)((bytes + 15) & ~(size_t)15);
        note = pcap_out_ring_frame(fabric->nodes_ring, node, padded, file_bytes(fabric, packet));
        fabric->counts[port->uid * 3 + place].frames++;
    } else {
        note = sim_stream_put(fabric->stream, node, node->now_ps, bytes);
    }
    *note = (pcap_out_note_t){.place = (uint8_t)place, .port = port->uid};
    pcap_out_note_put_packet(note, sender, packet);
    at->packet = packet;
    at->time_ps = node->now_ps;
    at->port = port;
    at->place = place;
    return true;
}

// Returns whether the frame that the node noted last is this packet, at this moment.
static bool is_last(const at_node_t *at, const net_port_t *port, const net_packet_t *packet)
{
    return packet != NULL && at->packet == packet && at->time_ps == port->node->sim.now_ps;
}

// Comments on the frame of a packet that was marked just before.
static void end_mark(pcap_out_fabric_t *fabric,
                     const net_port_t *port,
                     const net_packet_t *packet,
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
static void tell_again(pcap_out_fabric_t *fabric,
                       const net_port_t *port,
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
    const bool noted =
        (fabric->points & NET_TRACE_TX) != 0 && put_frame(fabric, port, packet, PCAP_OUT_SENT);
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
    const at_node_t *const at = &fabric->nodes[port->node->sim.index];
    if (packet == NULL) {
        return;
    }
    if (!is_last(at, port, packet)) {
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
    const at_node_t *const at = &fabric->nodes[port->node->sim.index];
    if (packet == NULL ||
        (!is_last(at, port, packet) && !put_frame(fabric, port, packet, PCAP_OUT_LOST))) {
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
    if (is_last(at, trace->port, trace->packet)) { // marked when it arrives, not when it leaves
        const pcap_out_note_t head = {
            .attached = true,
            .subject = PCAP_OUT_MARK,
            .held = trace->port->classes[trace->packet->priority]->bytes,
        };
        put_comment(fabric, trace->port, trace->packet, head);
        return;
    }
    at->marked = trace->packet;
    at->marked_bytes = trace->port->classes[trace->packet->priority]->bytes;
}

static void on_xoff(pcap_out_fabric_t *fabric, const net_trace_t *trace)
{
    const net_port_t *const port = trace->port;
    const at_node_t *const at = &fabric->nodes[port->node->sim.index];
    // A switch stops its peer because of the packet that it has just received from it.
    const bool attached = at->packet != NULL && at->port == port &&
                          at->place == PCAP_OUT_RECEIVED && at->time_ps == port->node->sim.now_ps;
    const pcap_out_note_t head = {.attached = attached,
                                  .subject = PCAP_OUT_PAUSE,
                                  .detail = (uint8_t)trace->detail,
                                  .held = held_at(port, trace->detail, true)};
    put_comment(fabric, port, attached ? at->packet : NULL, head);
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

// -- between windows

static uint32_t *interface_of(const pcap_out_fabric_t *fabric, const pcap_out_note_t *note)
{
    return &fabric->interfaces[note->port * 3 + note->place];
}

static void add_interface(pcap_out_fabric_t *fabric, const net_port_t *port, pcap_out_place_t place)
{
    const char *const name = net_port_name(port);
    const char *const here = port->node->sim.name;
    const char *const there = port->peer->node->sim.name;
    char *const own = place == PCAP_OUT_LOST ? sim_format("%s dropped", name) : sim_strdup(name);
    char *const description = place == PCAP_OUT_SENT ? sim_format("sent by %s to %s", here, there)
                              : place == PCAP_OUT_RECEIVED
                                  ? sim_format("received by %s from %s", here, there)
                                  : sim_format("dropped or trimmed by %s after waiting", here);
    const pcap_out_ng_interface_t interface = {
        .name = own,
        .description = description,
        .rate_bps = place == PCAP_OUT_RECEIVED ? port->peer->rate_bps : port->rate_bps,
        .snaplen_bytes = fabric->config.capture.snaplen_bytes,
        .resolution = fabric->config.nanoseconds ? 9 : 12,
    };
    fabric->interfaces[port->uid * 3 + place] = pcap_out_ng_interface(fabric->ng, &interface);
    sim_free(own);
    sim_free(description);
}

// Makes the bytes of a noted frame. Returns how many.
static uint32_t build(pcap_out_fabric_t *fabric,
                      const pcap_out_note_t *note,
                      uint8_t bytes[NET_FRAME_BYTES_MAX])
{
    const net_port_t *const port = fabric->ports[note->port];
    if (fabric->packet == NULL) {
        fabric->packet = sim_pool_get(fabric->pool, &port->node->sim);
    }
    pcap_out_note_take_packet(note, fabric->packet);
    net_frame_t frame;
    net_packet_frame(sender_of(port, (pcap_out_place_t)note->place), fabric->packet, &frame);
    // The file must show the bytes that took time on the link. A dropped packet was never on it.
    SIM_CHECK(note->place == PCAP_OUT_LOST ||
              fabric->packet->frame_bytes == net_frame_size_bytes(&frame));
    if (fabric->config.capture.without_telemetry) {
        frame.telemetry = NET_TELEMETRY_NONE;
        frame.hop_count = 0;
        frame.overlay_bytes = 0;
    }
    return (uint32_t)net_frame_build(&frame, bytes, NET_FRAME_BYTES_MAX);
}

static void write_item(pcap_out_fabric_t *fabric, const pcap_out_item_t *item)
{
    static const pcap_out_ng_way_t ways[] = {[PCAP_OUT_SENT] = PCAP_OUT_NG_SENT,
                                             [PCAP_OUT_RECEIVED] = PCAP_OUT_NG_RECEIVED,
                                             [PCAP_OUT_LOST] = PCAP_OUT_NG_UNKNOWN};
    const pcap_out_note_t *const note = pcap_out_item_note(item);
    if (fabric->left_out > 0) {
        fabric->left_out++;
        return;
    }
    if (*interface_of(fabric, note) == NO_INTERFACE) {
        add_interface(fabric, fabric->ports[note->port], (pcap_out_place_t)note->place);
    }
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    char texts[PCAP_OUT_NG_COMMENTS_MAX][PCAP_OUT_TEXT_BYTES];
    const uint32_t size = build(fabric, note, bytes);
    pcap_out_ng_packet_t packet = {.interface = *interface_of(fabric, note),
                                   .time_ps = item->time_ps,
                                   .bytes = bytes,
                                   .captured_bytes = size,
                                   .original_bytes = size,
                                   .way = ways[note->place]};
    const pcap_out_note_t *const comments = pcap_out_item_comments(item);
    for (uint32_t i = 0; i < item->comment_count && i < PCAP_OUT_NG_COMMENTS_MAX; i++) {
        pcap_out_note_text(&comments[i], fabric->ports[comments[i].port], texts[i]);
        packet.comments[packet.comment_count++] = texts[i];
        packet.drop_count += comments[i].subject == PCAP_OUT_DROP;
    }
    const uint64_t most = fabric->config.capture.bytes_max;
    if (most != 0 &&
        pcap_out_ng_bytes(fabric->ng) + pcap_out_ng_packet_bytes(fabric->ng, &packet) > most) {
        fabric->left_out = 1;
        return;
    }
    fabric->frames++;
    pcap_out_ng_packet(fabric->ng, &packet);
}

// Returns the bytes that an item takes in the file, without building it.
static uint64_t file_bytes_of(const pcap_out_fabric_t *fabric, const pcap_out_item_t *item)
{
    uint64_t bytes = file_bytes(fabric, pcap_out_note_packet(pcap_out_item_note(item)));
    const pcap_out_note_t *const comments = pcap_out_item_comments(item);
    for (uint32_t i = 0; i < item->comment_count; i++) {
        char text[PCAP_OUT_TEXT_BYTES];
        pcap_out_note_text(&comments[i], fabric->ports[comments[i].port], text);
        bytes += strlen(text) + 8;
    }
    return bytes;
}

static void keep(pcap_out_fabric_t *fabric, const pcap_out_item_t *item)
{
    if (fabric->config.ring_bytes == 0) {
        write_item(fabric, item);
        return;
    }
    pcap_out_held_push(&fabric->ring, item);
    while (fabric->ring.file_bytes > fabric->config.ring_bytes) {
        pcap_out_held_pop(&fabric->ring);
        fabric->skipped++;
    }
}

// Forgets held frames that are too old for a trigger at time_ps.
static void forget(pcap_out_fabric_t *fabric, sim_time_t time_ps)
{
    const pcap_out_item_t *item = NULL;
    while ((item = pcap_out_held_first(&fabric->before)) != NULL &&
           item->time_ps + fabric->config.before_ps < time_ps) {
        pcap_out_held_pop(&fabric->before);
        fabric->skipped++;
    }
}

static void trigger(pcap_out_fabric_t *fabric, sim_time_t time_ps)
{
    if (fabric->triggers >= fabric->config.triggers_max) {
        return;
    }
    fabric->triggers++;
    fabric->is_open = true;
    fabric->open_until_ps = time_ps + fabric->config.after_ps;
    forget(fabric, time_ps);
    const pcap_out_item_t *item = NULL;
    while ((item = pcap_out_held_first(&fabric->before)) != NULL) {
        keep(fabric, item);
        pcap_out_held_pop(&fabric->before);
    }
}

// Ends the pending frame: no further comment comes.
static void end_pending(pcap_out_fabric_t *fabric)
{
    if (fabric->pending.count == 0) {
        return;
    }
    pcap_out_item_t *const item = (pcap_out_item_t *)(void *)fabric->pending.bytes;
    fabric->pending.count = 0;
    if (fabric->is_triggered) {
        trigger(fabric, item->time_ps);
        fabric->is_triggered = false;
    }
    const bool always = fabric->config.trigger == PCAP_OUT_ALWAYS;
    if (fabric->config.ring_bytes != 0) {
        item->file_bytes = file_bytes_of(fabric, item);
    }
    if (always || (fabric->is_open && item->time_ps <= fabric->open_until_ps)) {
        keep(fabric, item);
        return;
    }
    if (fabric->triggers >= fabric->config.triggers_max) {
        fabric->skipped++;
        return;
    }
    pcap_out_held_push(&fabric->before, item);
    forget(fabric, item->time_ps);
}

static void take_comment(pcap_out_fabric_t *fabric, sim_time_t time_ps, const pcap_out_note_t *note)
{
    const bool triggers = note->subject == fabric->config.trigger;
    if (!note->attached) {
        if (triggers) {
            end_pending(fabric);
            trigger(fabric, time_ps);
        }
        return;
    }
    SIM_CHECK(fabric->pending.count > 0);
    sim_buffer_put(&fabric->pending, note, sizeof(*note));
    pcap_out_item_t *const item = (pcap_out_item_t *)(void *)fabric->pending.bytes;
    SIM_CHECK(item->time_ps == time_ps);
    item->comment_count++;
    fabric->is_triggered |= triggers;
    if (note->subject == PCAP_OUT_DROP) {
        const pcap_out_note_t *const frame = pcap_out_item_note(item);
        fabric->counts[frame->port * 3 + frame->place].drops++;
    }
}

static void on_record(sim_time_t time_ps,
                      uint32_t node_index,
                      const void *record,
                      size_t record_bytes,
                      void *ctx)
{
    (void)node_index;
    pcap_out_fabric_t *const fabric = ctx;
    const pcap_out_note_t *const note = record;
    if (note->is_comment) {
        take_comment(fabric, time_ps, note);
        return;
    }
    end_pending(fabric);
    const pcap_out_item_t item = {.time_ps = time_ps,
                                  .note_bytes = (uint32_t)((record_bytes + 15) & ~(size_t)15)};
    sim_buffer_put(&fabric->pending, &item, sizeof(item));
    // Records are padded to 16 bytes, so the bytes behind this one may be read.
    sim_buffer_put(&fabric->pending, record, item.note_bytes);
    fabric->counts[note->port * 3 + note->place].frames++;
}

// -- opening and closing

static char *section_comment(const pcap_out_fabric_t *fabric, uint64_t digest)
{
    return sim_format("%s, digest %0*" PRIx64, fabric->section, DIGEST_DIGITS, digest);
}

static void size_tables(pcap_out_fabric_t *fabric)
{
    size_t nodes = 0;
    for (size_t i = 0; i < net_node_count(fabric->net); i++) {
        const net_node_t *const node = net_node_at(fabric->net, i);
        nodes = node->sim.index >= nodes ? (size_t)node->sim.index + 1 : nodes;
        for (uint32_t p = 0; p < node->port_count; p++) {
            const size_t end = (size_t)node->ports[p].uid + 1;
            fabric->port_count = end > fabric->port_count ? end : fabric->port_count;
        }
    }
    fabric->nodes = sim_alloc_lines((nodes + 1) * sizeof(at_node_t));
    memset(fabric->nodes, 0, (nodes + 1) * sizeof(at_node_t));
    fabric->ports = sim_alloc_array(fabric->port_count + 1, sizeof(*fabric->ports));
    fabric->interfaces = sim_alloc_array(3 * fabric->port_count + 1, sizeof(*fabric->interfaces));
    fabric->counts = sim_alloc_array(3 * fabric->port_count + 1, sizeof(*fabric->counts));
    for (size_t i = 0; i < fabric->port_count; i++) {
        fabric->ports[i] = NULL;
        for (size_t place = 0; place < 3; place++) {
            fabric->interfaces[3 * i + place] = NO_INTERFACE;
            fabric->counts[3 * i + place] = (counts_t){0};
        }
    }
    fabric->node_count = nodes;
}

static uint32_t points_of(pcap_out_direction_t direction)
{
    // The comments on received frames follow from what is sent, and the other way round.
    return direction == PCAP_OUT_TX   ? LISTENED & ~(uint32_t)NET_TRACE_RX
           : direction == PCAP_OUT_RX ? LISTENED & ~(uint32_t)NET_TRACE_TX
                                      : LISTENED;
}

sim_err_t pcap_out_fabric_open(const net_t *net,
                               const pcap_out_fabric_config_t *config,
                               pcap_out_fabric_t **fabric,
                               sim_message_t *message)
{
    *fabric = NULL;
    pcap_out_fabric_t *const made = sim_alloc(sizeof(*made));
    *made = (pcap_out_fabric_t){.net = net,
                                .config = *config,
                                .points = points_of(config->capture.direction)};
    made->section = sim_strdup(config->section);
    sim_err_t error = pcap_out_filter_open(config->capture.filter, &made->filter, message);
    if (error == SIM_OK) {
        char *const comment = section_comment(made, 0);
        error = pcap_out_ng_open(config->capture.path,
                                 config->application,
                                 comment,
                                 &made->ng,
                                 message);
        sim_free(comment);
    }
    if (error != SIM_OK) {
        pcap_out_filter_close(made->filter);
        sim_free(made->section);
        sim_free(made);
        return error;
    }
    made->config.capture.path = NULL;
    made->config.capture.filter = NULL;
    made->config.application = NULL;
    made->config.section = NULL;
    size_tables(made);
    made->pool = sim_pool_create(sizeof(net_packet_t), NET_PACKET_TELEMETRY_BYTES);
    made->stream = sim_stream_create(net_sim(net), on_record, made);
    // Where ties go by insertion, only a stream knows the order of frames of one time.
    const bool by_hash = !sim_ties_by_insertion(&net_node_at(net, 0)->sim);
    if (config->ring_bytes != 0 && config->trigger == PCAP_OUT_ALWAYS && by_hash) {
        made->nodes_ring = pcap_out_ring_create(net_sim(net), made->node_count, config->ring_bytes);
    }
    *fabric = made;
    return SIM_OK;
}

void pcap_out_fabric_port(pcap_out_fabric_t *fabric, net_port_t *port)
{
    SIM_CHECK(fabric->ports[port->uid] == NULL);
    fabric->ports[port->uid] = port;
    if ((fabric->points & NET_TRACE_TX) != 0) {
        add_interface(fabric, port, PCAP_OUT_SENT);
    }
    if ((fabric->points & NET_TRACE_RX) != 0) {
        add_interface(fabric, port, PCAP_OUT_RECEIVED);
    }
    net_port_listen(port, fabric->points | NET_TRACE_TX, on_trace, fabric);
}

static void take_ring(const pcap_out_item_t *item, void *ctx)
{
    write_item(ctx, item);
}

void pcap_out_fabric_end(pcap_out_fabric_t *fabric)
{
    end_pending(fabric);
    if (fabric->nodes_ring != NULL) {
        fabric->skipped = pcap_out_ring_take(fabric->nodes_ring, take_ring, fabric);
    }
    fabric->skipped += fabric->before.count;
    pcap_out_held_fini(&fabric->before);
    const pcap_out_item_t *item = NULL;
    while ((item = pcap_out_held_first(&fabric->ring)) != NULL) {
        write_item(fabric, item);
        pcap_out_held_pop(&fabric->ring);
    }
}

uint64_t pcap_out_fabric_frames(const pcap_out_fabric_t *fabric)
{
    return fabric->frames;
}

uint64_t pcap_out_fabric_left_out(const pcap_out_fabric_t *fabric)
{
    return fabric->left_out;
}

uint64_t pcap_out_fabric_skipped(const pcap_out_fabric_t *fabric)
{
    return fabric->skipped;
}

sim_err_t pcap_out_fabric_close(pcap_out_fabric_t *fabric,
                                sim_time_t end_ps,
                                uint64_t digest,
                                sim_message_t *message)
{
    for (size_t i = 0; i < 3 * fabric->port_count; i++) {
        const counts_t *const counts = &fabric->counts[i];
        if (counts->frames > 0 && fabric->interfaces[i] == NO_INTERFACE) {
            add_interface(fabric, fabric->ports[i / 3], (pcap_out_place_t)(i % 3));
        }
        if (counts->frames > 0) {
            pcap_out_ng_statistics(fabric->ng,
                                   fabric->interfaces[i],
                                   end_ps,
                                   counts->frames,
                                   counts->drops);
        }
    }
    char *const comment = section_comment(fabric, digest);
    pcap_out_ng_change_comment(fabric->ng, comment);
    sim_free(comment);
    const sim_err_t error = pcap_out_ng_close(fabric->ng, message);
    pcap_out_filter_close(fabric->filter);
    pcap_out_held_fini(&fabric->before);
    pcap_out_held_fini(&fabric->ring);
    pcap_out_ring_destroy(fabric->nodes_ring);
    sim_pool_destroy(fabric->pool);
    sim_free(fabric->pending.bytes);
    sim_free(fabric->nodes);
    sim_free(fabric->ports);
    sim_free(fabric->interfaces);
    sim_free(fabric->counts);
    sim_free(fabric->section);
    sim_free(fabric);
    return error;
}

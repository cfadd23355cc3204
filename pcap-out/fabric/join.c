// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/join.c - joins the frames of many ports with their comments, and writes them.
//
// A node's thread notes a frame, and then, in the same event, comments on it. Between windows the
// stream hands on all notes in the order of time. A frame waits here for the next frame, so that
// its comments are complete; then it is written, or held by a trigger or a ring.
#include "pcap-out/fabric.h"

#include <stddef.h>
#include <string.h>

#include "kernel/pool.h"
#include "kernel/ranks.h"
#include "kernel/timer.h"
#include "net/frame.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "pcap-out/fabric/fabric_internal.h"

#define NO_INTERFACE UINT32_MAX
#define DIGEST_DIGITS 16

// -- between windows

// Returns the bytes that a frame takes in the file without comments, at most.
static uint32_t file_bytes(const pcap_out_fabric_t *fabric, const net_packet_t *packet)
{
    const uint32_t snaplen = fabric->config.capture.snaplen_bytes;
    const uint32_t frame = packet->frame_bytes;
    // Block, packet's header, flags, picoseconds, and 4 bytes of padding at most.
    return (snaplen != 0 && snaplen < frame ? snaplen : frame) + 60;
}

// Writes the name and the description of a port's interface; the caller frees both.
static void name_interface(const net_port_t *port, pcap_out_place_t place, char **own,
                           char **description)
{
    const char *const name = net_port_name(port);
    const char *const here = port->node->sim.name;
    const char *const there = port->peer->node->sim.name;
    *own = place == PCAP_OUT_LOST ? sim_format("%s dropped", name) : sim_strdup(name);
    *description = place == PCAP_OUT_SENT ? sim_format("sent by %s to %s", here, there)
                   : place == PCAP_OUT_RECEIVED
                       ? sim_format("received by %s from %s", here, there)
                       : sim_format("dropped or trimmed by %s after waiting", here);
}

uint64_t pcap_out_fabric_ports_bytes(net_port_t *const *ports, size_t count,
                                     pcap_out_direction_t direction)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t place = PCAP_OUT_SENT; place <= PCAP_OUT_RECEIVED; place++) {
            if ((place == PCAP_OUT_SENT && direction == PCAP_OUT_RX) ||
                (place == PCAP_OUT_RECEIVED && direction == PCAP_OUT_TX)) {
                continue;
            }
            char *own = NULL;
            char *description = NULL;
            name_interface(ports[i], (pcap_out_place_t)place, &own, &description);
            bytes += pcap_out_ng_interface_bytes(own, description);
            sim_free(own);
            sim_free(description);
        }
    }
    return bytes;
}

static void add_interface(pcap_out_fabric_t *fabric, const net_port_t *port, pcap_out_place_t place)
{
    char *own = NULL;
    char *description = NULL;
    name_interface(port, place, &own, &description);
    const pcap_out_ng_interface_t interface = {
        .name = own,
        .description = description,
        .rate_bps = place == PCAP_OUT_RECEIVED ? port->peer->line->rate_bps : port->line->rate_bps,
        .snaplen_bytes = fabric->config.capture.snaplen_bytes,
        .resolution = fabric->config.nanoseconds ? 9 : 12,
    };
    fabric->interfaces[port->uid * 3 + place] = pcap_out_ng_interface(fabric->ng, &interface);
    sim_free(own);
    sim_free(description);
}

// Makes the bytes of a frame. Returns how many.
static uint32_t build(pcap_out_fabric_t *fabric, const pcap_out_kept_t *kept,
                      uint8_t bytes[NET_FRAME_BYTES_MAX])
{
    if (fabric->packet == NULL) {
        fabric->packet = sim_pool_get(fabric->pool, &kept->port->node->sim);
    }
    pcap_out_note_take_packet(kept->note, fabric->packet);
    if (kept->has_wire) {
        net_packet_set_wire(fabric->packet, kept->wire);
    }
    net_frame_t frame;
    net_packet_frame(pcap_out__sender_of(kept->port, kept->place), fabric->packet, &frame);
    // The file must show the bytes that took time on the link. A dropped packet was never on it.
    SIM_CHECK(kept->place == PCAP_OUT_LOST ||
              fabric->packet->frame_bytes == net_frame_size_bytes(&frame));
    if (fabric->config.capture.without_telemetry) {
        frame.telemetry = NET_TELEMETRY_NONE;
        frame.hop_count = 0;
        frame.overlay_bytes = 0;
    }
    return (uint32_t)net_frame_build(&frame, bytes, NET_FRAME_BYTES_MAX);
}

static void write_kept(const pcap_out_kept_t *kept, void *ctx)
{
    static const pcap_out_ng_way_t ways[] = {[PCAP_OUT_SENT] = PCAP_OUT_NG_SENT,
                                             [PCAP_OUT_RECEIVED] = PCAP_OUT_NG_RECEIVED,
                                             [PCAP_OUT_LOST] = PCAP_OUT_NG_UNKNOWN};
    pcap_out_fabric_t *const fabric = ctx;
    if (fabric->left_out > 0) {
        fabric->left_out++;
        return;
    }
    const uint32_t *const interface = &fabric->interfaces[kept->port->uid * 3 + kept->place];
    if (*interface == NO_INTERFACE) {
        add_interface(fabric, kept->port, kept->place);
    }
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    char texts[PCAP_OUT_NG_COMMENTS_MAX][PCAP_OUT_TEXT_BYTES];
    const uint32_t size = build(fabric, kept, bytes);
    pcap_out_ng_packet_t packet = {.interface = *interface,
                                   .time_ps = kept->time_ps,
                                   .bytes = bytes,
                                   .captured_bytes = size,
                                   .original_bytes = size,
                                   .way = ways[kept->place]};
    for (uint32_t i = 0; i < kept->comment_count; i++) {
        pcap_out_note_text(kept->comments[i], fabric->ports[kept->comments[i]->port], texts[i]);
        packet.comments[packet.comment_count++] = texts[i];
        packet.drop_count += kept->comments[i]->subject == PCAP_OUT_DROP;
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

static pcap_out_kept_t kept_of(const pcap_out_fabric_t *fabric, const pcap_out_item_t *item)
{
    const pcap_out_note_t *const note = pcap_out_item_note(item);
    const pcap_out_note_t *const comments = pcap_out_item_comments(item);
    pcap_out_kept_t kept = {.time_ps = item->time_ps,
                            .port = fabric->ports[note->port],
                            .place = (pcap_out_place_t)note->place,
                            .note = note};
    for (uint32_t i = 0; i < item->comment_count && i < PCAP_OUT_NG_COMMENTS_MAX; i++) {
        kept.comments[kept.comment_count++] = &comments[i];
    }
    return kept;
}

static void write_item(pcap_out_fabric_t *fabric, const pcap_out_item_t *item)
{
    const pcap_out_kept_t kept = kept_of(fabric, item);
    write_kept(&kept, fabric);
}

// Returns the bytes that a frame takes in the file, without building it.
static uint64_t file_bytes_of(const pcap_out_kept_t *kept, void *ctx)
{
    const pcap_out_fabric_t *const fabric = ctx;
    uint64_t bytes = file_bytes(fabric, pcap_out_note_packet(kept->note));
    for (uint32_t i = 0; i < kept->comment_count; i++) {
        char text[PCAP_OUT_TEXT_BYTES];
        pcap_out_note_text(kept->comments[i], fabric->ports[kept->comments[i]->port], text);
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
        const pcap_out_kept_t kept = kept_of(fabric, item);
        item->file_bytes = file_bytes_of(&kept, fabric);
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

static void on_record(sim_time_t time_ps, uint32_t node_index, const void *record,
                      size_t record_bytes, void *ctx)
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
            fabric->port_count = SIM_MAX(end, fabric->port_count);
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

sim_err_t pcap_out_fabric_open(const net_t *net, const pcap_out_fabric_config_t *config,
                               pcap_out_fabric_t **fabric, sim_message_t *message)
{
    *fabric = NULL;
    pcap_out_fabric_t *const made = sim_alloc(sizeof(*made));
    *made = (pcap_out_fabric_t){.net = net,
                                .config = *config,
                                .points = pcap_out__points_of(config->capture.direction)};
    made->section = sim_strdup(config->section);
    sim_err_t error = pcap_out_filter_open(config->capture.filter, &made->filter, message);
    if (error == SIM_OK) {
        char *const comment = section_comment(made, 0);
        error = pcap_out_ng_open(config->capture.path, config->application, comment, &made->ng,
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
    // Where ties go by insertion, only a stream knows the order of frames of one time. In ranks
    // only a stream brings frames of all nodes to rank 0.
    const bool in_nodes =
        sim_ranks(net_sim(net)) == NULL && !sim_ties_by_insertion(&net_node_at(net, 0)->sim);
    const bool around = config->trigger != PCAP_OUT_ALWAYS;
    if (around != (config->ring_bytes != 0) && in_nodes) {
        made->nodes_ring = pcap_out_ring_create(net_sim(net), made->node_count, config->ring_bytes,
                                                config->capture.snaplen_bytes);
    }
    if (made->nodes_ring != NULL && around) {
        const pcap_out_moments_t moments = {.before_ps = config->before_ps,
                                            .after_ps = config->after_ps,
                                            .most = config->triggers_max,
                                            .fn = write_kept,
                                            .ctx = made};
        pcap_out_ring_watch(made->nodes_ring, net, &moments);
    } else if (made->nodes_ring != NULL) {
        pcap_out__fabric_attach_logs(made);
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
    if (fabric->chosen != NULL) {
        bool *const chosen = &fabric->chosen[port->uid * 3];
        chosen[PCAP_OUT_SENT] = (fabric->points & NET_TRACE_TX) != 0;
        chosen[PCAP_OUT_RECEIVED] = (fabric->points & NET_TRACE_RX) != 0;
        chosen[PCAP_OUT_LOST] = true;
    }
    pcap_out__fabric_listen(fabric, port);
}

// Takes the number of frames that ports sent and received from their own counters.
static void count_frames(pcap_out_fabric_t *fabric)
{
    static const bool both[3] = {[PCAP_OUT_SENT] = true, [PCAP_OUT_RECEIVED] = true};
    for (size_t i = 0; i < fabric->port_count; i++) {
        const net_port_t *const port = fabric->ports[i];
        for (uint32_t p = 0; port != NULL && !net_port_untouched(port) && p < NET_PRIORITIES; p++) {
            const bool *const chosen = fabric->chosen != NULL ? &fabric->chosen[3 * i] : both;
            fabric->counts[3 * i + PCAP_OUT_SENT].frames +=
                chosen[PCAP_OUT_SENT] ? port->classes[p]->tx_packets : 0;
            fabric->counts[3 * i + PCAP_OUT_RECEIVED].frames +=
                chosen[PCAP_OUT_RECEIVED] ? port->received[p]->packets : 0;
        }
    }
}

// Writes what the nodes' ring holds.
static void write_ring(pcap_out_fabric_t *fabric)
{
    if (fabric->in_logs) {
        count_frames(fabric);
    }
    for (size_t i = 0; i < 3 * fabric->port_count; i++) {
        fabric->skipped += fabric->counts[i].frames;
    }
    fabric->skipped -= fabric->config.trigger != PCAP_OUT_ALWAYS
                           ? pcap_out_ring_end_moments(fabric->nodes_ring)
                           : pcap_out_ring_take(fabric->nodes_ring, fabric->net, file_bytes_of,
                                                write_kept, fabric);
}

void pcap_out_fabric_end(pcap_out_fabric_t *fabric)
{
    end_pending(fabric);
    if (fabric->nodes_ring != NULL) {
        write_ring(fabric);
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

sim_err_t pcap_out_fabric_close(pcap_out_fabric_t *fabric, sim_time_t end_ps, uint64_t digest,
                                sim_message_t *message)
{
    for (size_t i = 0; i < 3 * fabric->port_count; i++) {
        const counts_t *const counts = &fabric->counts[i];
        if (counts->frames > 0 && fabric->interfaces[i] == NO_INTERFACE) {
            add_interface(fabric, fabric->ports[i / 3], (pcap_out_place_t)(i % 3));
        }
        if (counts->frames > 0) {
            pcap_out_ng_statistics(fabric->ng, fabric->interfaces[i], end_ps, counts->frames,
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
    SIM_FREE_ALL(fabric->pending.bytes, fabric->nodes, fabric->ports, fabric->interfaces,
                 fabric->counts, fabric->chosen, fabric->section, fabric);
    return error;
}

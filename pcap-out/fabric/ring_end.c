// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/ring_end.c - after the run: what the entries of all logs say, and their order.
//
// An entry of a packet in transit names the packet alone. It says what the packet's next entry
// says: for a received one that of the same node, for a sent one that of the peer, and so on up to
// a copy (the host's, or that of a drop), or to the packet itself, which still waits or travels.
#include <stdlib.h>
#include <string.h>

#include "kernel/map.h"
#include "net/nodes.h"
#include "pcap-out/fabric/ring.h"
#include "pcap-out/fabric/ring_internal.h"

#define NOTHING UINT32_MAX

typedef struct frame {
    const net_log_entry_t *entry;
    const pcap_out_note_t *note; // what it says; NULL: not known yet
    uint64_t rank;               // of its port, if it is late
    sim_time_t time_ps;
    uint32_t file_bytes;
    uint32_t wire; // with has_wire
    bool has_wire; // the note is another frame's of this packet
    uint8_t kind;  // of the entry; one that says "passed" has a received and a sent frame
    uint16_t port; // index in the node
    uint32_t node;
    uint32_t order;   // in the node's log
    uint32_t next;    // frame of this packet that says the same; NOTHING: the packet itself
    uint32_t comment; // its first one, in comments_t; NOTHING
} frame_t;

typedef struct comment {
    const ring_comment_t *comment;
    uint32_t next; // of the same frame
} comment_t;

typedef struct all {
    pcap_out_ring_t *ring;
    const net_t *net;
    sim_time_t from_ps; // earlier entries are left out, and those from to_ps on
    sim_time_t to_ps;
    frame_t *frames; // by node, in the order of its log; contents of drops are among them
    size_t count;
    size_t capacity;
    comment_t *comments;
    size_t comment_count;
    size_t comment_capacity;
    size_t *nodes; // index of each node's first frame; one more behind the last
} all_t;

static bool is_noted(const frame_t *frame)
{
    return frame->kind >= NET_LOG_OTHER;
}

static bool is_sent(const frame_t *frame)
{
    return frame->kind == NET_LOG_SENT || frame->kind == RING_NOTED_SENT;
}

static bool is_received(const frame_t *frame)
{
    return frame->kind == NET_LOG_RECEIVED || frame->kind == RING_COPIED ||
           frame->kind == RING_NOTED_RECEIVED;
}

static const net_packet_t *packet_of(const frame_t *frame)
{
    return ring_packet(frame->entry);
}

static const net_port_t *port_of(const all_t *all, const frame_t *frame)
{
    return &net_node_at(all->net, frame->node)->ports[frame->port];
}

static pcap_out_place_t place_of(const frame_t *frame)
{
    return is_sent(frame) ? PCAP_OUT_SENT : is_received(frame) ? PCAP_OUT_RECEIVED : PCAP_OUT_LOST;
}

// Returns whether the file wants it: it is a frame, and chosen.
static bool is_wanted(const all_t *all, const frame_t *frame)
{
    const bool *const chosen = all->ring->chosen;
    return frame->kind != RING_CONTENTS &&
           (chosen == NULL || chosen[port_of(all, frame)->uid * 3 + place_of(frame)]);
}

// -- gathering

static void add_frame(all_t *all, uint32_t node, const net_log_entry_t *entry, uint32_t kind,
                      uint32_t port)
{
    const sim_node_t *const sim = &net_node_at(all->net, node)->sim;
    const ring_note_t *const note = entry->what;
    const sim_time_t time_ps = net_log_time(entry);
    SIM_GROW(all->frames, all->count, &all->capacity);
    all->frames[all->count] =
        (frame_t){.entry = entry,
                  .note = kind > RING_COPIED ? &note->note : NULL,
                  .rank = net_log_is_late(entry) ? sim__tie_rank(sim->tie_key, time_ps, port) : 0,
                  .time_ps = time_ps,
                  .kind = (uint8_t)kind,
                  .port = (uint16_t)port,
                  .node = node,
                  .order = (uint32_t)(all->count - all->nodes[node]),
                  .next = NOTHING,
                  .comment = NOTHING};
    all->count++;
}

// Adds a comment behind those that the frame has.
static void attach(all_t *all, size_t frame, const ring_comment_t *comment)
{
    uint32_t *link = &all->frames[frame].comment;
    while (*link != NOTHING) {
        link = &all->comments[*link].next;
    }
    *link = (uint32_t)all->comment_count;
    SIM_APPEND(all->comments, all->comment_count, all->comment_capacity,
               (comment_t){comment, NOTHING});
}

// Attaches a comment to a frame that was noted before it. The frame may be forgotten already.
static void attach_behind(all_t *all, uint32_t node, const ring_comment_t *comment)
{
    for (size_t i = all->count; i-- > all->nodes[node];) {
        if (all->frames[i].entry == comment->on) {
            attach(all, i, comment);
            return;
        }
    }
}

// Attaches the comments that wait for the next frame of this packet.
static void attach_waiting(all_t *all, const net_log_entry_t **waiting, size_t *count)
{
    const size_t frame = all->count - 1;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const ring_comment_t *const comment = waiting[i]->what;
        if (comment->packet == packet_of(&all->frames[frame]) &&
            net_log_time(waiting[i]) == all->frames[frame].time_ps) {
            attach(all, frame, comment);
        } else {
            waiting[kept++] = waiting[i];
        }
    }
    // The frame follows at once, or never: it may not pass the filter.
    *count = kept > 8 ? 0 : kept;
}

static void gather_node(all_t *all, uint32_t index)
{
    const ring_node_t *const node = &all->ring->nodes[index];
    const net_log_entry_t *waiting[16];
    size_t waiting_count = 0;
    all->nodes[index] = all->count;
    for (uint32_t number = node->used_first; number != node->used_end; number++) {
        if (number + 1 != node->used_end && ring_used(node, number)->end_ps <= all->from_ps) {
            continue;
        }
        const ring_block_t *const block = ring_used(node, number)->block;
        const size_t count = ring_entries(node, number);
        for (size_t i = 0; i < count; i++) {
            const net_log_entry_t *const entry = &block->entries[i];
            const ring_comment_t *const comment = entry->what;
            const uint32_t kind = net_log_kind(entry);
            if (net_log_time(entry) < all->from_ps || net_log_time(entry) >= all->to_ps) {
                continue;
            }
            if (kind == NET_LOG_PASSED) {
                add_frame(all, index, entry, NET_LOG_RECEIVED, net_log_port(entry));
                attach_waiting(all, waiting, &waiting_count);
                add_frame(all, index, entry, NET_LOG_SENT, net_log_port_out(entry));
                attach_waiting(all, waiting, &waiting_count);
            } else if (kind != RING_COMMENT) {
                add_frame(all, index, entry, kind, net_log_port(entry));
                attach_waiting(all, waiting, &waiting_count);
            } else if (comment->on != NULL) {
                attach_behind(all, index, comment);
            } else {
                waiting[waiting_count++] = entry;
            }
        }
    }
}

// -- what they say

// Links each packet's arrival at a node with its next frame there.
static void link_in_nodes(all_t *all)
{
    sim_map_t later = {NULL, 0, 0}; // from a packet and a node to their next frame
    for (size_t i = all->count; i-- > 0;) {
        frame_t *const frame = &all->frames[i];
        const bool arrives = frame->kind == NET_LOG_RECEIVED;
        if (!arrives && is_received(frame)) {
            continue;
        }
        const net_packet_t *const packet = packet_of(frame);
        const uint64_t key = (uint64_t)(uintptr_t)packet + frame->node;
        const frame_t *next = NULL;
        SIM_MAP_EACH (index, &later, key) {
            if (all->frames[index].node == frame->node &&
                packet_of(&all->frames[index]) == packet) {
                next = &all->frames[index];
                break;
            }
        }
        if (next != NULL) {
            (void)sim_map_remove(&later, key, (uint64_t)(next - all->frames));
        }
        if (arrives) { // an earlier arrival is another packet's
            const bool found = next != NULL && next->kind != NET_LOG_RECEIVED;
            frame->next = found ? (uint32_t)(next - all->frames) : NOTHING;
        }
        sim_map_add(&later, key, i);
    }
    sim_map_fini(&later);
}

// The frames that each port sent and received, as lists of indexes: by (uid, received).
typedef struct lists {
    size_t *begins;
    uint32_t *frames;
} lists_t;

static size_t list_of(const all_t *all, const frame_t *frame)
{
    return (size_t)port_of(all, frame)->uid * 2 + is_received(frame);
}

// Sorts frames of one port by time. Few are out of order: a frame that was passed on stands with
// its arrival, before departures that the log noted late.
static void sort_list(const all_t *all, uint32_t *frames, size_t count)
{
    SIM_CHECK(count == 0 || all->frames != NULL);
    for (size_t i = 1; i < count; i++) {
        const uint32_t frame = frames[i];
        size_t at = i;
        while (at > 0 && all->frames[frames[at - 1]].time_ps > all->frames[frame].time_ps) {
            frames[at] = frames[at - 1];
            at--;
        }
        frames[at] = frame;
    }
}

static lists_t list_ports(const all_t *all, size_t port_count)
{
    lists_t lists = {.begins = sim_alloc_array(2 * port_count + 2, sizeof(size_t)),
                     .frames = sim_alloc_array(all->count + 1, sizeof(uint32_t))};
    memset(lists.begins, 0, (2 * port_count + 2) * sizeof(size_t));
    for (size_t i = 0; i < all->count; i++) {
        if (is_sent(&all->frames[i]) || is_received(&all->frames[i])) {
            lists.begins[list_of(all, &all->frames[i]) + 2]++;
        }
    }
    for (size_t l = 2; l < 2 * port_count + 2; l++) {
        lists.begins[l] += lists.begins[l - 1];
    }
    for (size_t i = 0; i < all->count; i++) {
        if (is_sent(&all->frames[i]) || is_received(&all->frames[i])) {
            lists.frames[lists.begins[list_of(all, &all->frames[i]) + 1]++] = (uint32_t)i;
        }
    }
    for (size_t l = 0; l < 2 * port_count; l++) {
        sort_list(all, lists.frames + lists.begins[l], lists.begins[l + 1] - lists.begins[l]);
    }
    return lists;
}

// Links each frame that a port sent with its arrival at the peer: the first one that is later by
// more than the link's delay, for frames follow each other by more than no time.
static void link_over_links(all_t *all, size_t port_count)
{
    const lists_t lists = list_ports(all, port_count);
    for (size_t i = 0; i < all->count; i++) {
        const frame_t *const first = &all->frames[i];
        if (!is_sent(first)) {
            continue;
        }
        const net_port_t *const port = port_of(all, first);
        const size_t sent = (size_t)port->uid * 2;
        if (lists.frames[lists.begins[sent]] != i) {
            continue; // done with the port's first frame
        }
        size_t at = lists.begins[(size_t)port->peer->uid * 2 + 1];
        const size_t end = lists.begins[(size_t)port->peer->uid * 2 + 2];
        for (size_t s = lists.begins[sent]; s < lists.begins[sent + 1]; s++) {
            frame_t *const frame = &all->frames[lists.frames[s]];
            const sim_time_t from_ps = frame->time_ps + port->line->delay_ps;
            while (at < end && all->frames[lists.frames[at]].time_ps <= from_ps) {
                at++;
            }
            if (at < end && !is_noted(frame)) {
                SIM_CHECK(packet_of(&all->frames[lists.frames[at]]) == packet_of(frame));
                frame->next = lists.frames[at];
            }
        }
    }
    sim_free(lists.begins);
    sim_free(lists.frames);
}

// Makes a note of a copy, or of a packet that still waits or travels.
static const pcap_out_note_t *note_now(all_t *all, const frame_t *frame)
{
    const net_port_t *const port = port_of(all, frame);
    const net_packet_t *const packet = frame->entry->what;
    const net_port_t *const sender = is_received(frame) ? port->peer : port;
    const size_t bytes = sizeof(pcap_out_note_t) + pcap_out_note_packet_bytes(sender, packet);
    pcap_out_note_t *const note = pcap_out__ring_memory(&all->ring->nodes[frame->node], bytes);
    *note = (pcap_out_note_t){.port = port->uid};
    pcap_out_note_put_packet(note, sender, packet);
    return note;
}

static void find_notes(all_t *all)
{
    for (size_t i = 0; i < all->count; i++) {
        frame_t *const frame = &all->frames[i];
        const frame_t *const arrival = frame->kind == NET_LOG_RECEIVED ? frame
                                       : frame->next == NOTHING        ? NULL
                                                                       : &all->frames[frame->next];
        if (arrival != NULL && !is_noted(frame) && arrival->kind == NET_LOG_RECEIVED) {
            frame->has_wire = true;
            frame->wire = arrival->entry->wire;
        }
        frame_t *last = &all->frames[i];
        while (last->note == NULL && last->next != NOTHING) {
            last = &all->frames[last->next];
        }
        if (last->note == NULL) {
            last->note = note_now(all, last);
        }
        all->frames[i].note = last->note;
    }
}

// -- their order

static int by_order(const void *left, const void *right)
{
    const frame_t *const a = left;
    const frame_t *const b = right;
    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps ? -1 : 1;
    }
    if (net_log_part(a->entry) == net_log_part(b->entry) &&
        net_log_is_late(a->entry) != net_log_is_late(b->entry)) {
        return net_log_is_late(a->entry) ? 1 : -1;
    }
    if (net_log_part(a->entry) == net_log_part(b->entry) && a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

// The first frame that a node still has, in a heap by (time, node).
typedef struct head {
    sim_time_t time_ps;
    uint32_t node;
} head_t;

static bool is_earlier(const head_t *a, const head_t *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->node < b->node);
}

static void sift(head_t *heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = is_earlier(&heap[child], &heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        const head_t other = heap[at];
        heap[at] = heap[least];
        heap[least] = other;
        at = least;
    }
}

static pcap_out_kept_t kept_of(const all_t *all, const frame_t *frame)
{
    pcap_out_kept_t kept = {
        .time_ps = frame->time_ps,
        .port = port_of(all, frame),
        .place = place_of(frame),
        .note = frame->note,
        .has_wire = frame->has_wire,
        .wire = frame->wire,
    };
    for (uint32_t c = frame->comment; c != NOTHING; c = all->comments[c].next) {
        if (kept.comment_count < PCAP_OUT_RING_COMMENTS_MAX) {
            kept.comments[kept.comment_count++] = &all->comments[c].comment->note;
        }
    }
    return kept;
}

// Returns the bytes that all frames take in the file, and notes them at each.
static uint64_t measure(const all_t *all, pcap_out_ring_bytes_fn bytes_of, void *ctx)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < all->count; i++) {
        frame_t *const frame = &all->frames[i];
        if (is_wanted(all, frame)) {
            const pcap_out_kept_t kept = kept_of(all, frame);
            frame->file_bytes = (uint32_t)bytes_of(&kept, ctx);
            bytes += frame->file_bytes;
        }
    }
    return bytes;
}

// Sorts each node's frames; hands on the last ones in the order of all. Returns how many.
static uint64_t hand_on(all_t *all, uint64_t left_bytes, pcap_out_ring_fn fn, void *ctx)
{
    const size_t node_count = all->ring->node_count;
    size_t *const at = sim_alloc_array(node_count + 1, sizeof(*at));
    head_t *const heap = sim_alloc_array(node_count + 1, sizeof(*heap));
    size_t count = 0;
    uint64_t handed = 0;
    for (uint32_t n = 0; n < node_count; n++) {
        at[n] = all->nodes[n];
        if (at[n] < all->nodes[n + 1] && all->frames != NULL) {
            qsort(all->frames + at[n], all->nodes[n + 1] - at[n], sizeof(frame_t), by_order);
            heap[count++] = (head_t){all->frames[at[n]].time_ps, n};
        }
    }
    for (size_t i = count; i-- > 0;) {
        sift(heap, count, i);
    }
    while (count > 0) {
        const uint32_t n = heap[0].node;
        const frame_t *const frame = &all->frames[at[n]++];
        if (is_wanted(all, frame) && left_bytes <= all->ring->bytes) {
            const pcap_out_kept_t kept = kept_of(all, frame);
            fn(&kept, ctx);
            handed++;
        }
        left_bytes -= frame->file_bytes;
        if (at[n] < all->nodes[n + 1]) {
            heap[0].time_ps = all->frames[at[n]].time_ps;
        } else {
            heap[0] = heap[--count];
        }
        sift(heap, count, 0);
    }
    sim_free(heap);
    sim_free(at);
    return handed;
}

uint64_t pcap_out_ring_take(pcap_out_ring_t *ring, const net_t *net,
                            pcap_out_ring_bytes_fn bytes_of, pcap_out_ring_fn fn, void *ctx)
{
    all_t all = {
        .ring = ring,
        .net = net,
        .from_ps = ring->cutoff_ps, // what follows earlier ones may be forgotten already
        .to_ps = SIM_TIME_NEVER,
        .nodes = sim_alloc_array(ring->node_count + 1, sizeof(size_t)),
    };
    size_t port_count = 0;
    for (uint32_t n = 0; n < ring->node_count; n++) {
        gather_node(&all, n);
        const net_node_t *const node = net_node_at(net, n);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const size_t end = (size_t)node->ports[p].uid + 1;
            port_count = SIM_MAX(end, port_count);
        }
    }
    all.nodes[ring->node_count] = all.count;
    SIM_CHECK(all.count < NOTHING);
    link_in_nodes(&all);
    link_over_links(&all, port_count);
    find_notes(&all);
    const uint64_t handed = hand_on(&all, measure(&all, bytes_of, ctx), fn, ctx);
    SIM_FREE_ALL(all.frames, all.comments, all.nodes);
    return handed;
}

// -- around moments

// Hands on the frames of nodes without logs from from_ps to before to_ps, in the order
// of time and node. Returns how many there were.
static uint64_t pcap_out__ring_hand_on(pcap_out_ring_t *ring, sim_time_t from_ps, sim_time_t to_ps)
{
    all_t all = {
        .ring = ring,
        .net = ring->net,
        .from_ps = from_ps,
        .to_ps = to_ps,
        .nodes = sim_alloc_array(ring->node_count + 1, sizeof(size_t)),
    };
    for (uint32_t n = 0; n < ring->node_count; n++) {
        gather_node(&all, n);
    }
    all.nodes[ring->node_count] = all.count;
    const uint64_t handed = hand_on(&all, 0, ring->watched.fn, ring->watched.ctx);
    SIM_FREE_ALL(all.frames, all.comments, all.nodes);
    return handed;
}

static int by_moment(const void *left, const void *right)
{
    const ring_moment_t *const a = left;
    const ring_moment_t *const b = right;
    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps ? -1 : 1;
    }
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

// Gathers the moments before end_ps in ring->moments, in their order. Returns how many there are. A
// node may be ahead: it keeps its later ones.
static size_t gather_moments(pcap_out_ring_t *ring, sim_time_t end_ps)
{
    size_t count = 0;
    if (!atomic_load_explicit(&ring->has_moments, memory_order_relaxed)) {
        return 0;
    }
    bool left = false;
    for (size_t n = 0; n < ring->node_count; n++) {
        ring_node_t *const node = &ring->nodes[n];
        size_t kept = 0;
        for (size_t i = 0; i < node->moment_count; i++) {
            if (node->moments[i].time_ps < end_ps) {
                SIM_APPEND(ring->moments, count, ring->moments_capacity, node->moments[i]);
            } else {
                node->moments[kept++] = node->moments[i];
            }
        }
        node->moment_count = kept;
        left |= kept > 0;
    }
    atomic_store_explicit(&ring->has_moments, left, memory_order_relaxed);
    if (count > 0) {
        qsort(ring->moments, count, sizeof(*ring->moments), by_moment);
    }
    return count;
}

// Hands on the wanted frames that were not handed on yet, up to end_ps.
static void hand_on_open(pcap_out_ring_t *ring, sim_time_t end_ps)
{
    const sim_time_t to_ps = SIM_MIN(ring->open_until_ps, end_ps);
    if (ring->handed_until_ps < to_ps) {
        ring->handed += pcap_out__ring_hand_on(ring, ring->handed_until_ps, to_ps);
        ring->handed_until_ps = to_ps;
    }
}

void pcap_out__ring_look(pcap_out_ring_t *ring, sim_time_t window_end_ps)
{
    const pcap_out_moments_t *const watched = &ring->watched;
    const size_t count = gather_moments(ring, window_end_ps);
    for (size_t i = 0; i < count && ring->moment_count < watched->most; i++) {
        const sim_time_t time_ps = ring->moments[i].time_ps;
        const sim_time_t from_ps = time_ps > watched->before_ps ? time_ps - watched->before_ps : 0;
        ring->moment_count++;
        if (from_ps > ring->open_until_ps) {
            hand_on_open(ring, window_end_ps);
            ring->handed_until_ps = from_ps;
        }
        ring->open_until_ps = time_ps + watched->after_ps + 1; // that time itself, too
    }
    hand_on_open(ring, window_end_ps);
    ring->cutoff_ps = window_end_ps > watched->before_ps ? window_end_ps - watched->before_ps : 0;
}

uint64_t pcap_out_ring_end_moments(pcap_out_ring_t *ring)
{
    pcap_out__ring_look(ring, SIM_TIME_NEVER);
    return ring->handed;
}

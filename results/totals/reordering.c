// SPDX-License-Identifier: Apache-2.0
// results/totals/reordering.c - counts packets that arrive behind later ones, at the ports of
// hosts.
//
// The first packet that a reordered one comes behind is the packet that opened the gap in which its
// PSN lies. So a connection keeps its gaps alone, the latest GAPS_MAX of them; the extent of a
// packet in an older gap is not reported.
#include "results/reordering.h"
#include "net/port.h"

#include "kernel/map.h"
#include "kernel/ranks.h"
#include "net/nodes.h"
#include "net/packets.h"
#include "net/ports.h"
#include "net/trace.h"

#include <string.h>

#define GAPS_MAX 64u
#define LABEL_IS_QP (1u << 31)

typedef struct gap {
    uint64_t from;   // first PSN that had not come when the gap was opened
    uint64_t end;    // PSN of the packet that opened it
    uint64_t opened; // arrivals before that packet
    uint64_t left;   // PSNs of the gap that have not come
} gap_t;

typedef struct connection {
    uint64_t key;
    uint64_t next; // PSN after the highest that came, as a 64-bit number
    gap_t *gaps;   // by rising PSN; NULL: there was none yet
    uint32_t gap_count;
    uint32_t source;
    uint32_t destination;
    uint32_t label; // label_of the first packet
    bool response;
    results_reordered_t sums;
} connection_t;

// The connection whose packet arrived last at a port, so that its next packet is found without the
// maps. Packets of a connection come to the ports of several planes in turn.
typedef struct latest {
    uint32_t source; // interfaces as in the packet
    uint32_t destination;
    uint32_t queue_pair; // the receiver's * 4, + 1 for responses
    uint32_t place;      // 1 + the connection's number; 0: nothing is remembered
} latest_t;

#define LATEST_COUNT 4u // ports of a host that remember a connection each, by their index

// The connections that end at a host, and two maps to their numbers.
typedef struct place {
    latest_t latest[LATEST_COUNT];
    connection_t *connections;
    uint32_t count;
    uint32_t capacity;
    sim_map_t by_key;
    sim_map_t by_label; // requests, by their ends and their label
} place_t;

struct results_reordering {
    place_t *places; // by node
    size_t count;
};

static bool is_response(uint8_t opcode)
{
    const uint32_t operation = opcode & ROCE_OPERATION_MASK;
    return (operation >= ROCE_READ_RESPONSE_FIRST && operation <= ROCE_READ_RESPONSE_ONLY) ||
           operation == ROCE_ATOMIC_ACKNOWLEDGE;
}

// Returns whether a packet is a request or a response that came whole: no acknowledgement or other
// answer, no notification, no probe, no credit, no foreign frame, and not trimmed.
static bool is_counted(const net_t *net, const net_packet_t *packet)
{
    const uint32_t transport = packet->opcode & ROCE_TRANSPORT_MASK;
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    return packet->kind == NET_PACKET_ROCE && operation != ROCE_ACKNOWLEDGE &&
           operation < ROCE_MRC_ENDPOINT_REQUEST && transport != ROCE_ETHERNET &&
           packet->opcode != ROCE_CNP && !net_packet_trimmed(net_get_config(net), packet);
}

// Returns what names a connection beside its ends: the UDP source port of its first packet, or the
// receiving queue pair of transports that give each packet a source port of its own.
static uint32_t label_of(uint8_t opcode, uint32_t destination_qp, uint16_t udp_source_port)
{
    const uint32_t transport = opcode & ROCE_TRANSPORT_MASK;
    const bool own_ports = transport == ROCE_MRC || transport == ROCE_UET;
    return own_ports ? LABEL_IS_QP | destination_qp : udp_source_port;
}

// -- connections

// The ends of a connection: interfaces of plane 0, whichever planes its packets take.
typedef struct ends {
    uint32_t source;
    uint32_t destination;
} ends_t;

static uint64_t key_of(const net_packet_t *packet, ends_t ends)
{
    const bool datagram = (packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_UD;
    const uint64_t from = datagram ? net_packet_aside(packet)->deth.source_qp : 0;
    const uint64_t number =
        from << 25 | (uint64_t)packet->destination_qp << 1 | (is_response(packet->opcode) ? 1 : 0);
    const uint64_t both = (uint64_t)ends.source << 32 | ends.destination;
    return sim_mix64(sim_mix64(both) ^ number);
}

static uint64_t label_key(uint32_t source, uint32_t destination, uint32_t label)
{
    return sim_mix64(sim_mix64((uint64_t)source << 32 | destination) ^ label);
}

static connection_t *add_connection(place_t *place, const connection_t *connection)
{
    sim_map_add(&place->by_key, connection->key, place->count);
    if (!connection->response) {
        sim_map_add(&place->by_label,
                    label_key(connection->source, connection->destination, connection->label),
                    place->count);
    }
    SIM_APPEND(place->connections, place->count, place->capacity, *connection);
    return &place->connections[place->count - 1];
}

// Returns the connection of a packet, which is added if need be.
static connection_t *connection_of(place_t *place, const net_packet_t *packet, ends_t ends)
{
    const uint64_t key = key_of(packet, ends);
    const uint64_t found = sim_map_get(&place->by_key, key);
    if (found != SIM_MAP_NONE) {
        return &place->connections[found];
    }
    const connection_t new = {
        .key = key,
        .next = (UINT64_C(1) << 32) + packet->psn,
        .source = ends.source,
        .destination = ends.destination,
        .label = label_of(packet->opcode, packet->destination_qp, packet->udp_source_port),
        .response = is_response(packet->opcode),
    };
    return add_connection(place, &new);
}

// -- gaps

// Opens a gap behind the others; the oldest goes if there are too many.
static void open_gap(connection_t *connection, uint64_t from, uint64_t end)
{
    if (connection->gaps == NULL) {
        connection->gaps = sim_alloc_array(GAPS_MAX, sizeof(*connection->gaps));
    }
    if (connection->gap_count == GAPS_MAX) {
        connection->gap_count--;
        memmove(connection->gaps, connection->gaps + 1,
                connection->gap_count * sizeof(*connection->gaps));
    }
    connection->gaps[connection->gap_count++] =
        (gap_t){from, end, connection->sums.arrived, end - from};
}

// Returns the index of the gap in which a PSN lies; gap_count: in none.
static uint32_t gap_with(const connection_t *connection, uint64_t psn)
{
    uint32_t i = connection->gap_count;
    while (i > 0 && connection->gaps[i - 1].from > psn) {
        i--;
    }
    return i > 0 && psn < connection->gaps[i - 1].end ? i - 1 : connection->gap_count;
}

// Notes that a PSN of a gap has come; a gap without any left is forgotten.
static void fill(connection_t *connection, uint32_t index)
{
    gap_t *const gap = &connection->gaps[index];
    if (--gap->left == 0) {
        connection->gap_count--;
        memmove(gap, gap + 1, (connection->gap_count - index) * sizeof(*gap));
    }
}

// -- arrivals

// Takes a packet that is not the next one.
static SIM_NOINLINE void take_other(connection_t *connection, const net_packet_t *packet)
{
    const uint32_t ahead = (packet->psn - (uint32_t)connection->next) << 8; // mod 2^24
    const uint64_t psn = connection->next + (uint64_t)((int64_t)(int32_t)ahead >> 8);
    results_reordered_t *const sums = &connection->sums;
    const uint32_t gap = psn < connection->next ? gap_with(connection, psn) : 0;
    if (psn > connection->next) {
        open_gap(connection, connection->next, psn);
        connection->next = psn + 1;
    } else if (packet->retransmission) {
        if (gap < connection->gap_count) {
            fill(connection, gap);
        }
    } else {
        sums->reordered++;
        if (gap < connection->gap_count) {
            const uint64_t extent = sums->arrived - connection->gaps[gap].opened;
            sums->extent_max = SIM_MAX(extent, sums->extent_max);
            sums->extent_sum += extent;
            fill(connection, gap);
        }
    }
    sums->arrived += packet->retransmission ? 0 : 1;
}

static inline void take(connection_t *connection, const net_packet_t *packet)
{
    if (SIM_UNLIKELY((packet->psn ^ (uint32_t)connection->next) << 8 != 0)) { // mod 2^24
        take_other(connection, packet);
        return;
    }
    connection->next++;
    connection->sums.arrived += packet->retransmission ? 0 : 1;
}

// Takes any packet.
static SIM_NOINLINE void arrived_otherwise(const net_trace_t *trace, place_t *place)
{
    const net_packet_t *const packet = trace->packet;
    const net_t *const net = trace->port->node->net;
    if (!is_counted(net, packet)) {
        return;
    }
    latest_t *const latest = &place->latest[trace->port->index % LATEST_COUNT];
    const bool datagram = (packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_UD;
    const uint32_t queue_pair =
        packet->destination_qp << 2 | (datagram ? 2u : 0) | (is_response(packet->opcode) ? 1 : 0);
    if (latest->place != 0 && latest->source == packet->source &&
        latest->destination == packet->destination && latest->queue_pair == queue_pair) {
        take(&place->connections[latest->place - 1], packet);
        return;
    }
    const ends_t ends = {net_interface_of_nic(net, packet->source),
                         net_interface_of_nic(net, packet->destination)};
    connection_t *const connection = connection_of(place, packet, ends);
    if (!datagram) { // for those, the sender's queue pair counts, too
        *latest = (latest_t){packet->source, packet->destination, queue_pair,
                             (uint32_t)(connection - place->connections) + 1};
    }
    take(connection, packet);
}

// A request with payload, of the connection whose packet was the last, needs few tests.
static void arrived(const net_trace_t *trace, void *ctx)
{
    const uint32_t connected =
        1u << (ROCE_RC >> 5) | 1u << (ROCE_UC >> 5) | 1u << (ROCE_MRC >> 5) | 1u << (ROCE_UET >> 5);
    const net_packet_t *const packet = trace->packet;
    place_t *const place = ctx;
    const latest_t *const latest = &place->latest[trace->port->index % LATEST_COUNT];
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    if (operation == ROCE_ACKNOWLEDGE) {
        return;
    }
    if (operation <= ROCE_READ_REQUEST && (connected >> (packet->opcode >> 5) & 1u) != 0 &&
        packet->payload_bytes != 0 && packet->kind == NET_PACKET_ROCE &&
        latest->queue_pair == packet->destination_qp << 2 && latest->source == packet->source &&
        latest->destination == packet->destination && latest->place != 0) {
        take(&place->connections[latest->place - 1], packet);
        return;
    }
    arrived_otherwise(trace, place);
}

// -- the whole

results_reordering_t *results_reordering_create(const net_t *net)
{
    results_reordering_t *const made = sim_alloc(sizeof(*made));
    made->count = net_node_count(net);
    made->places = sim_alloc_array(made->count + 1, sizeof(*made->places));
    for (size_t n = 0; n < made->count; n++) {
        const bool listens = net_kind_of(net, n) == NET_NODE_HOST && sim_is_here(net_sim(net), n);
        for (uint32_t p = 0; listens && p < net_ports_of(net, n); p++) {
            net_port_listen(net_port_at(net_node_at(net, n), p), NET_TRACE_RX, arrived,
                            &made->places[n]);
        }
    }
    return made;
}

void results_reordering_destroy(results_reordering_t *reordering)
{
    if (reordering == NULL) {
        return;
    }
    for (size_t n = 0; n < reordering->count; n++) {
        place_t *const place = &reordering->places[n];
        for (uint32_t i = 0; i < place->count; i++) {
            sim_free(place->connections[i].gaps);
        }
        sim_free(place->connections);
        sim_map_fini(&place->by_key);
        sim_map_fini(&place->by_label);
    }
    sim_free(reordering->places);
    sim_free(reordering);
}

static void add(results_reordered_t *sums, const results_reordered_t *more)
{
    sums->arrived += more->arrived;
    sums->reordered += more->reordered;
    sums->extent_sum += more->extent_sum;
    sums->extent_max = SIM_MAX(more->extent_max, sums->extent_max);
}

results_reordered_t results_reordering_total(const results_reordering_t *reordering)
{
    results_reordered_t sums = {0};
    for (size_t n = 0; reordering != NULL && n < reordering->count; n++) {
        const place_t *const place = &reordering->places[n];
        for (uint32_t i = 0; i < place->count; i++) {
            add(&sums, &place->connections[i].sums);
        }
    }
    return sums;
}

results_reordered_t results_reordering_of(const results_reordering_t *reordering,
                                          const net_node_t *node,
                                          const results_reordering_ends_t *ends)
{
    results_reordered_t sums = {0};
    if (reordering == NULL) {
        return sums;
    }
    const place_t *const place = &reordering->places[node->sim.index];
    const uint32_t labels[] = {ends->udp_source_port, LABEL_IS_QP | ends->destination_qp};
    for (size_t i = 0; i < SIM_COUNT_OF(labels); i++) {
        const uint64_t key = label_key(ends->source, ends->destination, labels[i]);
        SIM_MAP_EACH (number, &place->by_label, key) {
            const connection_t *const found = &place->connections[number];
            if (found->source == ends->source && found->destination == ends->destination &&
                found->label == labels[i]) {
                add(&sums, &found->sums);
            }
        }
    }
    return sums;
}

// -- in ranks

void results__reordering_leave(const results_reordering_t *reordering, const net_t *net,
                               sim_buffer_t *bytes)
{
    for (uint32_t i = 0; i < reordering->count; i++) {
        const place_t *const place = &reordering->places[i];
        if (place->count > 0 && sim_is_here(net_sim(net), i)) {
            sim_buffer_put_u32(bytes, i);
            sim_buffer_put_u32(bytes, place->count);
            sim_buffer_put(bytes, place->connections, place->count * sizeof(*place->connections));
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

void results__reordering_take(results_reordering_t *reordering, sim_reader_t *bytes)
{
    for (uint32_t i = sim_reader_u32(bytes); i != UINT32_MAX; i = sim_reader_u32(bytes)) {
        SIM_CHECK(i < reordering->count && reordering->places[i].count == 0);
        place_t *const place = &reordering->places[i];
        const uint32_t count = sim_reader_u32(bytes);
        for (uint32_t c = 0; c < count; c++) {
            connection_t connection;
            sim_reader_get(bytes, &connection, sizeof(connection));
            connection.gaps = NULL; // only arrivals need them
            connection.gap_count = 0;
            (void)add_connection(place, &connection);
        }
    }
}

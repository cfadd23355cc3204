// SPDX-License-Identifier: Apache-2.0
// net/carry.c - carries packets from rank to rank (kernel/ranks.h), all their parts by value.
//
//     the packet's cache line; then, where they are in use: its cold part without telemetry, a u64
//     per INT record, the payload
#include "net/carry.h"

#include "net/frame_opcodes.h"
#include "net/loss.h"
#include "net/network_internal.h"
#include "net/nodes.h"
#include "net/port_metrics.h"
#include "net/ports.h"
#include "net/switch_model.h"

#define SPARES_MAX 16384u // packets that one thread keeps
#define READ_AHEAD 448u   // bytes: some packets
#define SPARES_AHEAD 8u   // packets that are prefetched before they are taken

void net__carry_build(net_t *net)
{
    size_t hosts = 0;
    bool plain = net->config.draws == NET_DRAWS_STREAM && sim_ranks(net->sim) != NULL;
    for (size_t i = 0; i < net->node_count && plain; i++) {
        const net_node_kind_t kind = net_kind_of(net, i);
        hosts += kind == NET_NODE_HOST;
        plain &=
            kind == NET_NODE_HOST || (kind == NET_NODE_SWITCH &&
                                      net_switch_of(net->nodes[i])->balance->header_bytes == NULL);
    }
    plain &= hosts == net->plain_hosts;
    for (uint32_t opcode = 0; opcode <= UINT8_MAX; opcode++) {
        net->carries_aside[opcode] = !plain || !net_frame_is_hot((uint8_t)opcode);
    }
}

static bool has_aside(const net_t *net, const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_ROCE &&
           (net->carries_aside[packet->opcode] || packet->contents || packet->addressed ||
            packet->telemetry != NET_TELEMETRY_NONE);
}

static void put_aside(net_node_t *node, net_packet_t *packet, sim_buffer_t *bytes)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    sim_buffer_put(bytes, aside, sizeof(*aside));
    if (packet->telemetry == NET_TELEMETRY_INT) {
        sim_buffer_put(bytes, net_packet_telemetry(packet), packet->hop_count * sizeof(uint64_t));
    }
    if (packet->contents) {
        sim_buffer_put(bytes, aside->payload, packet->payload_bytes);
        net_packet_drop_contents(node, packet);
    }
}

static void leave(void *ctx, sim_node_t *from, void *message, sim_buffer_t *bytes)
{
    net_t *const net = ctx;
    net_packet_t *const packet = message;
    const bool aside = has_aside(net, packet);
    // In a queue only: on its way the field says whether the cold part follows. It is set in the
    // copy: a copy of what was just written would wait for it.
    net_packet_t *const next = aside ? packet : NULL;
    char *const copy = sim_buffer_room(bytes, sizeof(*packet));
    memcpy(copy, packet, sizeof(*packet));
    memcpy(copy + offsetof(net_packet_t, next), &next, sizeof(next));
    bytes->count += sizeof(*packet);
    if (aside) {
        put_aside(net->nodes[from->index], packet, bytes);
    }
    if (from->worker->index == 0 && net->spare_count < SPARES_MAX) {
        if (net->spares == NULL) {
            net->spares = sim_alloc_array(SPARES_MAX, sizeof(net_packet_t *));
        }
        net->spares[net->spare_count++] = packet;
    } else {
        sim_pool_put(net->packets, from, packet);
    }
}

static void warm(void *ctx, const void *message)
{
    const net_t *const net = ctx;
    if (has_aside(net, message)) {
        __builtin_prefetch(net_packet_aside(message));
    }
}

// Returns memory for a packet that arrives. Thread 0 takes all that arrive, so it uses those again
// that left its nodes: their addresses are at hand, so they can be prefetched.
static net_packet_t *take_spare(net_t *net, const sim_node_t *to)
{
    if (SIM_UNLIKELY(net->spare_count == 0)) {
        return sim_pool_get(net->packets, to);
    }
    net_packet_t *const packet = net->spares[--net->spare_count];
    if (net->spare_count >= SPARES_AHEAD) {
        __builtin_prefetch(net->spares[net->spare_count - SPARES_AHEAD], 1);
    }
    return packet;
}

static void get_aside(const net_t *net, sim_node_t *to, net_packet_t *packet, sim_reader_t *bytes)
{
    net_packet_aside_t *const aside = net_packet_aside(packet);
    sim_reader_get(bytes, aside, sizeof(*aside));
    if (packet->telemetry == NET_TELEMETRY_INT) {
        sim_reader_get(bytes, net_packet_telemetry(packet), packet->hop_count * sizeof(uint64_t));
    }
    if (packet->contents) {
        aside->payload = net_payload_new(net->nodes[to->index], packet->payload_bytes);
        sim_reader_get(bytes, aside->payload, packet->payload_bytes);
    }
}

static void *arrive(void *ctx, sim_node_t *to, sim_reader_t *bytes)
{
    net_t *const net = ctx;
    net_packet_t *const packet = take_spare(net, to);
    __builtin_prefetch(bytes->at + READ_AHEAD);
    __builtin_prefetch(bytes->at + READ_AHEAD + SIM_CACHE_LINE);
    sim_reader_get(bytes, packet, sizeof(*packet));
    const bool aside = packet->next != NULL;
    packet->next = NULL;
    if (aside) {
        get_aside(net, to, packet, bytes);
    }
    return packet;
}

const sim_codec_t net__codec = {.leave = leave, .warm = warm, .arrive = arrive};

// -- after the run

#define TALLY(member_)                                                \
    {                                                                 \
        SIM_FIELD_OF(net_tally_t, member_, COUNT, COUNT, SIM_CARRIED) \
    }
// clang-format off
static const sim_field_t tally_rows[] = {
    TALLY(created), TALLY(delivered), TALLY(bytes_created), TALLY(bytes_delivered),
    TALLY(dropped), TALLY(bytes_dropped),
};
// clang-format on
const sim_fields_t net__tally_fields =
    SIM_FIELDS("packets of a node", sizeof(net_tally_t), tally_rows);

// The carried fields of nodes and ports.
typedef struct carried {
    sim_flat_fields_t tally;
    sim_flat_fields_t port[NET_PORT_PARTS]; // a meter's fields are not carried
} carried_t;

static carried_t carried_begin(void)
{
    carried_t carried = {.tally = sim_fields_flatten(&net__tally_fields, SIM_CARRIED_FIELDS)};
    for (uint32_t part = 0; part < NET_PORT_PARTS; part++) {
        carried.port[part] = sim_fields_flatten(&net__port_tables[part], SIM_CARRIED_FIELDS);
    }
    return carried;
}

static void carried_end(carried_t *carried)
{
    sim_flat_fields_fini(&carried->tally);
    for (uint32_t part = 0; part < NET_PORT_PARTS; part++) {
        sim_flat_fields_fini(&carried->port[part]);
    }
}

static bool is_idle(const net_node_t *node)
{
    const net_tally_t *const tally = &node->tally;
    bool idle = node->sim.events == 0 && tally->created == 0 && tally->delivered == 0 &&
                tally->dropped == 0;
    for (uint32_t p = 0; p < node->port_count && idle; p++) {
        idle = net_port_untouched(&node->ports[p]);
    }
    return idle;
}

// Returns how many more loss events than lost frames this rank's links had; it may wrap.
static uint64_t loss_events_beyond(const net_t *net)
{
    uint64_t beyond = 0;
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; sim_is_here(net->sim, i) && p < node->port_count; p++) {
            net_loss_counters_t counters;
            if (net_loss_get_counters(&node->ports[p], &counters)) {
                beyond += counters.events - node->ports[p].rare->drops[NET_DROP_LINK_LOSS];
            }
        }
    }
    return beyond;
}

// Carries a port at which something happened.
static void carry_port(const carried_t *carried, net_port_t *port, sim_carry_t *carry)
{
    const sim_flat_fields_t *const fields = carried->port;
    sim_fields_carry(&fields[NET_PORT_ITSELF], port, carry);
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sim_fields_carry(&fields[NET_PORT_SENT], port->classes[p], carry);
        sim_fields_carry(&fields[NET_PORT_RECEIVED], port->received[p], carry);
    }
    if (port->counted || port->disturbed) {
        sim_fields_carry(&fields[NET_PORT_RARE], port->rare, carry);
    }
}

void net_carry_leave(const net_t *net, sim_buffer_t *bytes)
{
    carried_t carried = carried_begin();
    sim_carry_t carry = {.to = bytes};
    sim_buffer_put_u64(bytes, net__packets_live(net));
    sim_buffer_put_u64(bytes, loss_events_beyond(net));
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        if (!sim_is_here(net->sim, i) || is_idle(node)) {
            continue;
        }
        sim_buffer_put_u32(bytes, node->sim.index);
        sim_buffer_put_u64(bytes, node->sim.events);
        sim_fields_carry(&carried.tally, &node->tally, &carry);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const bool untouched = net_port_untouched(&node->ports[p]);
            sim_buffer_put_u32(bytes, untouched);
            if (!untouched) {
                carry_port(&carried, &node->ports[p], &carry);
            }
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
    carried_end(&carried);
}

void net_carry_take(net_t *net, sim_reader_t *bytes)
{
    carried_t carried = carried_begin();
    sim_carry_t carry = {.from = bytes};
    net->in_flight_elsewhere += sim_reader_u64(bytes);
    net->loss_events_beyond += sim_reader_u64(bytes);
    for (uint32_t index = sim_reader_u32(bytes); index != UINT32_MAX;
         index = sim_reader_u32(bytes)) {
        SIM_CHECK(index < net->node_count && !sim_is_here(net->sim, index));
        net_node_t *const node = net_node_at(net, index);
        node->sim.events = sim_reader_u64(bytes);
        sim_fields_carry(&carried.tally, &node->tally, &carry);
        for (uint32_t p = 0; p < node->port_count; p++) {
            if (sim_reader_u32(bytes) == 0) {
                carry_port(&carried, net_port_at(node, p), &carry);
            }
        }
    }
    carried_end(&carried);
}

uint64_t net_carried_loss_events(const net_t *net)
{
    return net->loss_events_beyond;
}

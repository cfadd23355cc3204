// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/trace.c - writes packets.txt of `rocesim hpcc`: packet events of the traced nodes.
//
// Each event is a line, as the simulator's trace_reader prints its binary trace:
//
//     time n:node interface:queue queue-bytes event ecn:x sip dip ...
//
// Recv: a packet arrived (queue 0). Enqu: it joins a queue; the bytes are those before it. Dequ: it
// leaves; the bytes are those after it. Drop: it was dropped. A packet that does not wait has Enqu
// and Dequ at once. Not written: the Enqu of a host's ACK, and INT's time stamps (0).
#include "cli/hpcc/hpcc.h"
#include "cli/hpcc/output_internal.h"
#include "cli/hpcc/outputs.h"

#include <stdlib.h>
#include <string.h>

typedef enum event { EVENT_RECV, EVENT_ENQU, EVENT_DEQU, EVENT_DROP } event_t;

typedef struct traced_port {
    cli_hpcc_outputs_t *outputs;
    bool is_switch;
    uint64_t waiting[NET_PRIORITIES]; // packets in the port's queues
} traced_port_t;

// A flow as both ends know it, found by fields of its packets.
typedef struct known_flow {
    uint64_t ends; // source << 32 | destination, interfaces
    uint64_t bytes;
    uint32_t first_psn;
    uint32_t mtu_bytes;
    uint16_t source_port;
    uint16_t service_port;
} known_flow_t;

struct cli__hpcc_trace {
    traced_port_t **ports;
    size_t port_count;
    size_t port_capacity;
    known_flow_t *flows; // sorted
    size_t flow_count;
    size_t flow_capacity;
    sim_stream_t *stream;
};

typedef struct record {
    const net_port_t *port;
    uint64_t queue_bytes;
    uint32_t source;
    uint32_t destination;
    uint32_t psn;
    uint32_t aeth;
    uint32_t pause; // quanta of a PFC frame
    uint16_t size_bytes;
    uint16_t payload_bytes;
    uint16_t source_port;
    uint8_t event; // event_t
    uint8_t queue;
    uint8_t kind;
    uint8_t opcode;
    uint8_t ecn;
    bool becn;
    uint8_t priority;
} record_t;

static void write_record(sim_time_t time_ps, uint32_t node_index, const void *bytes,
                         size_t record_bytes, void *ctx);

// -- listening

static void put(const traced_port_t *traced, const net_trace_t *trace, event_t event,
                uint64_t queue_bytes)
{
    const net_packet_t *const packet = trace->packet;
    const bool pfc = packet->kind == NET_PACKET_CONTROL;
    record_t record = {
        .port = trace->port,
        .queue_bytes = queue_bytes,
        .source = packet->source,
        .destination = packet->destination,
        .psn = packet->psn,
        .aeth = packet->aeth,
        .size_bytes = packet->frame_bytes,
        .payload_bytes = packet->payload_bytes,
        .source_port = packet->udp_source_port,
        .event = (uint8_t)event,
        .queue = pfc || event == EVENT_RECV ? 0 : packet->priority,
        .kind = packet->kind,
        .opcode = packet->opcode,
        .ecn = packet->ecn,
        .becn = packet->becn,
        .priority = packet->priority,
    };
    if (pfc) {
        const unsigned classes = packet->pfc.classes;
        record.priority = (uint8_t)(classes != 0 ? __builtin_ctz(classes) : 0);
        record.pause = packet->pfc.quanta[record.priority % NET_PRIORITIES];
    }
    cli__hpcc_put(traced->outputs->trace->stream, trace, &record, sizeof(record));
}

static void on_event(const net_trace_t *trace, void *ctx)
{
    traced_port_t *const traced = ctx;
    const net_packet_t *const packet = trace->packet;
    if (packet == NULL) {
        return;
    }
    const uint64_t bytes = trace->port->classes[packet->priority]->bytes;
    if (trace->point == NET_TRACE_RX) {
        put(traced, trace, EVENT_RECV, 0);
    } else if (trace->point == NET_TRACE_ENQUEUE) {
        traced->waiting[packet->priority]++;
        put(traced, trace, EVENT_ENQU, bytes - packet->frame_bytes);
    } else if (trace->point == NET_TRACE_DROP) {
        put(traced, trace, EVENT_DROP, bytes);
    } else {
        const bool pfc = packet->kind == NET_PACKET_CONTROL;
        const bool waited = !pfc && traced->waiting[packet->priority] > 0;
        traced->waiting[packet->priority] -= waited;
        if (pfc || (traced->is_switch && !waited)) {
            put(traced, trace, EVENT_ENQU, 0);
        }
        put(traced, trace, EVENT_DEQU, waited ? bytes : 0);
    }
}

// -- flows

static int compare_known(const void *a, const void *b)
{
    const known_flow_t *const x = a;
    const known_flow_t *const y = b;
    return 2 * SIM_COMPARE(x->ends, y->ends) + SIM_COMPARE(x->source_port, y->source_port);
}

static void know_flow(const app_flow_result_t *flow, void *ctx)
{
    cli__hpcc_trace_t *const trace = ctx;
    if (flow->mtu_bytes == 0) {
        return;
    }
    SIM_APPEND(trace->flows, trace->flow_count, trace->flow_capacity,
               (known_flow_t){
                   .ends = (uint64_t)flow->source << 32 | flow->destination,
                   .bytes = flow->bytes,
                   .first_psn = flow->first_psn,
                   .mtu_bytes = flow->mtu_bytes,
                   .source_port = flow->udp_source_port,
                   .service_port = flow->service_port,
               });
}

static const known_flow_t *find_flow(const cli__hpcc_trace_t *trace, const record_t *record,
                                     bool answer)
{
    const known_flow_t wanted = {
        .ends = answer ? (uint64_t)record->destination << 32 | record->source
                       : (uint64_t)record->source << 32 | record->destination,
        .source_port = record->source_port,
    };
    return trace->flow_count == 0 ? NULL
                                  : bsearch(&wanted, trace->flows, trace->flow_count,
                                            sizeof(*trace->flows), compare_known);
}

// -- writing

static uint32_t address_of(const world_t *world, uint32_t interface)
{
    return interface < world->nic_count ? cli_hpcc_address(cli_hpcc_node_number(
                                              world_host_of(world, &world->nics[interface])))
                                        : 0;
}

// Returns the flow's bytes before the packet with that PSN.
static uint64_t position_of(const known_flow_t *flow, uint32_t psn)
{
    const uint64_t packets = (psn - flow->first_psn) & ROCE_PSN_MASK;
    const uint64_t bytes = packets * flow->mtu_bytes;
    return SIM_MIN(bytes, flow->bytes);
}

static void write_packet(const cli_hpcc_outputs_t *outputs, const record_t *record)
{
    results_file_t *const file = outputs->packets;
    const bool ack = (record->opcode & ROCE_OPERATION_MASK) == ROCE_ACKNOWLEDGE;
    const known_flow_t *const flow = find_flow(outputs->trace, record, ack);
    const uint32_t service_port = flow != NULL ? flow->service_port : ROCE_UDP_PORT;
    results_file_print(file, " %08x %08x", address_of(outputs->world, record->source),
                       address_of(outputs->world, record->destination));
    if (record->opcode == ROCE_CNP) {
        results_file_print(file, " C 0 %u 3 0 %u", record->priority, record->size_bytes);
        return;
    }
    if (!ack) {
        results_file_print(file, " %u %u U %" PRIu64 " 0 %u %u(%u)", record->source_port,
                           service_port,
                           flow != NULL ? position_of(flow, record->psn) : record->psn,
                           record->priority, record->size_bytes, record->payload_bytes);
        return;
    }
    const bool nak = (record->aeth >> 24 & 0x60) != ROCE_SYNDROME_ACK;
    const uint32_t expected = record->psn + (nak ? 0 : 1);
    results_file_print(file, " %u %u %c 0x%02X %u %" PRIu64 " 0 %u", service_port,
                       record->source_port, nak ? 'N' : 'A', record->becn ? 1 : 0, record->priority,
                       flow != NULL ? position_of(flow, expected) : expected, record->size_bytes);
}

static void write_record(sim_time_t time_ps, uint32_t node_index, const void *bytes,
                         size_t record_bytes, void *ctx)
{
    static const char *const events[] = {"Recv", "Enqu", "Dequ", "Drop"};
    (void)node_index;
    cli_hpcc_outputs_t *const outputs = ctx;
    record_t record;
    SIM_CHECK(record_bytes == sizeof(record));
    memcpy(&record, bytes, sizeof(record));
    results_file_print(outputs->packets, "%" PRIu64 " n:%u %u:%u %" PRIu64 " %s ecn:%x",
                       time_ps / SIM_PS_PER_NS, cli_hpcc_node_number(record.port->node),
                       record.port->index + 1, record.queue, record.queue_bytes,
                       events[record.event], record.ecn == NET_ECN_CE ? 3u : 0u);
    if (record.kind == NET_PACKET_CONTROL) {
        results_file_print(outputs->packets, " 00000000 00000000 P %u 0 %u %u", record.pause,
                           record.priority, record.size_bytes);
    } else {
        write_packet(outputs, &record);
    }
    results_file_put(outputs->packets, "\n");
}

// -- opening and closing

static void trace_node(cli_hpcc_outputs_t *outputs, net_node_t *node)
{
    cli__hpcc_trace_t *const trace = outputs->trace;
    for (uint32_t p = 0; p < node->port_count; p++) {
        traced_port_t *const traced = sim_alloc(sizeof(*traced));
        traced->outputs = outputs;
        traced->is_switch = node->kind == NET_NODE_SWITCH;
        SIM_APPEND(trace->ports, trace->port_count, trace->port_capacity, traced);
        net_port_listen(&node->ports[p],
                        NET_TRACE_RX | NET_TRACE_ENQUEUE | NET_TRACE_TX | NET_TRACE_DROP, on_event,
                        traced);
    }
}

void cli__hpcc_trace_attach(cli_hpcc_outputs_t *outputs)
{
    const cli_hpcc_t *const hpcc = outputs->hpcc;
    const world_t *const world = outputs->world;
    cli__hpcc_trace_t *const trace = sim_alloc(sizeof(*trace));
    outputs->trace = trace;
    trace->stream = sim_stream_create(world->sim, write_record, outputs);
    for (size_t i = 0; i < world->app_count; i++) {
        if (world->apps[i]->ops->flows != NULL) {
            world->apps[i]->ops->flows(world->apps[i], know_flow, trace);
        }
    }
    if (trace->flow_count > 0) {
        qsort(trace->flows, trace->flow_count, sizeof(*trace->flows), compare_known);
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        net_node_t *const node = net_node_at(world->net, i);
        const uint32_t number = cli_hpcc_node_number(node);
        for (size_t t = 0; t < hpcc->traced_count; t++) {
            if (hpcc->traced[t] == number) {
                trace_node(outputs, node);
                break;
            }
        }
    }
}

void cli__hpcc_trace_free(cli__hpcc_trace_t *trace)
{
    if (trace == NULL) {
        return;
    }
    sim_free_each(trace->ports, trace->port_count);
    SIM_FREE_ALL(trace->ports, trace->flows, trace);
}

// SPDX-License-Identifier: Apache-2.0
// results/run/hops.c - listens to all ports and writes hops.csv.
#include "results/run/hops.h"
#include "results/tables/tables.h"

#include "kernel/record.h"
#include "net/ports.h"
#include "results/run/gather_ranks.h"
#include "results/tables/event_rows.h"

#include <inttypes.h>

struct results_hops {
    const world_t *world;
    results_file_t *file;
    sim_stream_t *stream;
    uint64_t rows;
    uint64_t left_out;
};

// Records a frame whose first bit leaves a port. Called in the thread of the port's node.
static void on_frame(const net_trace_t *trace, void *ctx)
{
    results_hops_t *const hops = ctx;
    const net_port_t *const port = trace->port;
    const net_packet_t *const packet = trace->packet;
    const bool roce = packet->kind == NET_PACKET_ROCE;
    results_hop_row_t *const row =
        sim_stream_put(hops->stream, &port->node->sim, trace->time_ps, sizeof(*row));
    *row = (results_hop_row_t){
        .world = hops->world,
        .time_ps = trace->time_ps,
        .arrive_ps = port->busy_until_ps + port->delay_less_gap_ps,
        .port = port,
        .is_roce = roce,
        .frame_bytes = packet->frame_bytes,
        .priority = packet->priority,
        .source = roce ? packet->source : NET_INTERFACES_MAX,
        .destination = roce ? packet->destination : NET_INTERFACES_MAX,
    };
    if (roce) {
        row->opcode = packet->opcode;
        row->is_nak = packet->aeth >> 29 != 0; // not read where the opcode has no AETH
        row->is_marked = packet->ecn == NET_ECN_CE;
        row->is_again = packet->retransmission;
        row->qp = packet->destination_qp;
        row->psn = packet->psn;
        return;
    }
    row->priority = 0;
    for (unsigned i = 0; i < NET_PRIORITIES; i++) {
        const bool named = (packet->pfc.classes >> i & 1u) != 0;
        row->priority = named ? (uint8_t)i : row->priority;
        row->is_pause = row->is_pause || (named && packet->pfc.quanta[i] > 0);
    }
}

static void pack(void *record, size_t record_bytes, void *ctx)
{
    (void)ctx;
    results_hop_row_t *const row = record;
    SIM_CHECK(record_bytes == sizeof(*row));
    row->world = NULL;
    row->port = results__port_packed(row->port);
}

static void unpack(void *record, size_t record_bytes, void *ctx)
{
    const results_hops_t *const hops = ctx;
    results_hop_row_t *const row = record;
    SIM_CHECK(record_bytes == sizeof(*row));
    row->world = hops->world;
    row->port = results__port_unpacked(hops->world->net, row->port);
}

static void write_hop(sim_time_t time_ps, uint32_t node_index, const void *record,
                      size_t record_bytes, void *ctx)
{
    (void)time_ps;
    (void)node_index;
    results_hops_t *const hops = ctx;
    SIM_CHECK(record_bytes == sizeof(results_hop_row_t));
    if (hops->rows >= hops->world->scenario->outputs.hops_max) {
        hops->left_out++;
        return;
    }
    hops->rows++;
    results_table_put_row(&results_hop_table, hops->file, record);
}

sim_err_t results_hops_create(const world_t *world, const char *folder, results_hops_t **hops,
                              world_error_t *error)
{
    *hops = NULL;
    if (world->scenario->outputs.hops_max == 0) {
        return SIM_OK;
    }
    results_hops_t *const made = sim_alloc(sizeof(*made));
    made->world = world;
    const sim_err_t result = results_table_open(&results_hop_table, folder, &made->file, error);
    if (result != SIM_OK) {
        sim_free(made);
        return result;
    }
    made->stream = sim_stream_create(world->sim, write_hop, made);
    sim_stream_carry(made->stream, pack, unpack);
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i); // NULL: it sends nothing here
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            net_port_listen(net_port_at(node, p), NET_TRACE_TX, on_frame, made);
        }
    }
    *hops = made;
    return SIM_OK;
}

sim_err_t results_hops_close(results_hops_t *hops, results_t *results, world_error_t *error)
{
    if (hops == NULL) {
        return SIM_OK;
    }
    const sim_err_t result = results_file_close(hops->file, error);
    if (results != NULL && hops->left_out > 0) {
        results_note(results, sim_format("hops.csv holds the first %" PRIu64 " of %" PRIu64
                                         " frames on links (outputs.hops-max)",
                                         hops->rows, hops->rows + hops->left_out));
    }
    sim_free(hops);
    return result;
}

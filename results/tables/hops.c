// SPDX-License-Identifier: Apache-2.0
// results/tables/hops.c - the columns of hops.csv.
#include "net/frame_opcodes.h"
#include "results/tables/columns.h"
#include "results/tables/event_rows.h"
#include "results/tables/tables.h"
#include "world/names.h"

#include <string.h>

static bool is_request(uint8_t opcode)
{
    const uint32_t kind = opcode & 0x1fu;
    return kind == ROCE_READ_REQUEST || kind == ROCE_COMPARE_SWAP || kind == ROCE_FETCH_ADD;
}

static bool is_answer(uint8_t opcode)
{
    const uint32_t kind = opcode & 0x1fu;
    return kind == ROCE_ACKNOWLEDGE || kind == ROCE_ATOMIC_ACKNOWLEDGE;
}

static const char *kind_text(const results_hop_row_t *hop)
{
    if (!hop->is_roce) {
        return hop->is_pause ? "pause" : "resume";
    }
    if ((net_frame_extensions(hop->opcode) & NET_EXT_CNP) != 0) {
        return "cnp";
    }
    if (is_answer(hop->opcode)) {
        return hop->is_nak ? "nak" : "ack";
    }
    return is_request(hop->opcode) ? "request" : "data";
}

static void hop_kind(results_file_t *file, const void *row)
{
    results_file_put(file, kind_text(row));
}

static void hop_opcode(results_file_t *file, const void *row)
{
    const results_hop_row_t *const hop = row;
    if (hop->is_roce) {
        results_file_put(file, hop->opcode == ROCE_ETHERNET ? "Ethernet"
                                                            : net_frame_opcode_name(hop->opcode));
    }
}

static void put_interface(results_file_t *file, const results_hop_row_t *hop, uint32_t interface)
{
    if (interface < hop->world->nic_count) {
        results_file_put_csv(file, world_interface_name(hop->world, interface));
    }
}

static void hop_source(results_file_t *file, const void *row)
{
    put_interface(file, row, ((const results_hop_row_t *)row)->source);
}

static void hop_destination(results_file_t *file, const void *row)
{
    put_interface(file, row, ((const results_hop_row_t *)row)->destination);
}

static void hop_qp(results_file_t *file, const void *row)
{
    const results_hop_row_t *const hop = row;
    if (hop->is_roce) {
        results_file_put_u64(file, hop->qp);
    }
}

static void hop_psn(results_file_t *file, const void *row)
{
    const results_hop_row_t *const hop = row;
    if (hop->is_roce) {
        results_file_put_u64(file, hop->psn);
    }
}

// clang-format off
static const results_column_t hop_columns[] = {
    TIME("time_ns", "simulated time at which the first bit leaves the port", results_hop_row_t, time_ps, SIM_TIME_NEVER),
    TIME("arrives_ns", "simulated time at which the last bit arrives at the other end of the link; a frame that the link loses is a drop of events.csv with this port and time", results_hop_row_t, arrive_ps, SIM_TIME_NEVER),
    PORT_NAME("port", "", "port that sends the frame", results_hop_row_t, port),
    MADE("kind", "", "data, request (of a READ or an atomic), ack, nak, cnp, pause or resume", hop_kind),
    MADE("opcode", "", "operation of a RoCEv2 packet: RC WRITE FIRST", hop_opcode),
    MADE("src", "", "host that sent the packet", hop_source),
    MADE("dst", "", "host to which the packet goes", hop_destination),
    MADE("qp", "", "number of the receiving queue pair", hop_qp),
    MADE("psn", "", "sequence number of the packet", hop_psn),
    WHOLE("priority", "", "class of the packet, or the class that a pause concerns", results_hop_row_t, priority),
    WHOLE("frame_bytes", "bytes", "bytes of the frame without preamble and FCS", results_hop_row_t, frame_bytes),
    WHOLE("marked", "", "1: a switch has marked the packet with ECN", results_hop_row_t, is_marked),
    WHOLE("again", "", "1: the packet is a retransmission", results_hop_row_t, is_again),
};
const results_table_t results_hop_table = {
    "hops.csv", "A row per frame and link, by time, then by node. Only with `outputs.hops-max`, which says how many rows there are at most.",
    hop_columns, SIM_COUNT_OF(hop_columns), NULL, NULL};
// clang-format on

// SPDX-License-Identifier: Apache-2.0
// results/tables/flows.c - the columns of flows.csv.
#include "results/tables/columns.h"
#include "results/tables/end_rows.h"
#include "results/tables/tables.h"
#include "world/names.h"

#define FLOW(row) (((const results_flow_row_t *)(row))->flow)
static const void *flow_object(const void *row)
{
    return FLOW(row);
}

static bool finished(const app_flow_result_t *flow)
{
    return flow->end_ps != SIM_TIME_NEVER;
}

static void flow_src(results_file_t *file, const void *row)
{
    const results_flow_row_t *const flow = row;
    results_file_put_csv(file, world_interface_name(flow->world, flow->flow->source));
}

static void flow_dst(results_file_t *file, const void *row)
{
    const results_flow_row_t *const flow = row;
    results_file_put_csv(file, world_interface_name(flow->world, flow->flow->destination));
}

static void flow_end(results_file_t *file, const void *row)
{
    if (finished(FLOW(row))) {
        results_file_put_ns(file, FLOW(row)->end_ps);
    }
}

static void flow_fct(results_file_t *file, const void *row)
{
    if (finished(FLOW(row))) {
        results_file_put_ns(file, FLOW(row)->end_ps - FLOW(row)->start_ps);
    }
}

static void flow_slowdown(results_file_t *file, const void *row)
{
    if (finished(FLOW(row))) {
        static_assert(RESULTS_SLOWDOWN_ONE == 1000000, "six decimals");
        results_file_put_decimal(file, results_flow_slowdown(FLOW(row)), 6);
    }
}

static void put_qp(results_file_t *file, uint32_t number)
{
    if (number != 0) {
        results_file_put_u64(file, number);
    }
}

static void flow_src_qp(results_file_t *file, const void *row)
{
    put_qp(file, FLOW(row)->source_qp);
}

static void flow_dst_qp(results_file_t *file, const void *row)
{
    put_qp(file, FLOW(row)->destination_qp);
}

static void flow_medium(results_file_t *file, const void *row)
{
    results_file_put(file, FLOW(row)->local ? "host" : "network");
}

static void flow_status(results_file_t *file, const void *row)
{
    const bool unfinished = !finished(FLOW(row)) && FLOW(row)->status == NIC_WC_SUCCESS;
    results_file_put_csv(file, unfinished ? "unfinished" : nic_wc_status_text(FLOW(row)->status));
}

static void flow_delivered(results_file_t *file, const void *row)
{
    if (finished(FLOW(row))) {
        results_file_put_u64(file, FLOW(row)->bytes);
    } else if (FLOW(row)->status == NIC_WC_SUCCESS) {
        results_file_put_u64(file, FLOW(row)->delivered_bytes);
    }
}

static results_reordered_t reordered(const results_flow_row_t *flow)
{
    const world_nic_t *const nic = &flow->world->nics[flow->flow->destination];
    const results_reordering_ends_t ends = {flow->flow->source, flow->flow->destination,
                                            flow->flow->destination_qp,
                                            flow->flow->udp_source_port};
    return results_reordering_of(flow->reordering, world_host_of(flow->world, nic), &ends);
}

static void flow_reordered(results_file_t *file, const void *row)
{
    results_file_put_u64(file, reordered(row).reordered);
}

static void flow_extent(results_file_t *file, const void *row)
{
    results_file_put_u64(file, reordered(row).extent_max);
}

// clang-format off
static const results_column_t flow_columns[] = {
    WHOLE("flow_id", "", "number of the flow, unique in the run", app_flow_result_t, flow_id),
    MADE("src", "", "host (or HOST/nicN) that sends the data", flow_src),
    MADE("dst", "", "host (or HOST/nicN) that receives the data", flow_dst),
    WHOLE("src_port", "", "UDP source port of the flow's packets", app_flow_result_t, udp_source_port),
    WHOLE("bytes", "bytes", "payload the flow carries", app_flow_result_t, bytes),
    TIME("start_ns", "simulated time at which the flow was posted", app_flow_result_t, start_ps, SIM_TIME_NEVER),
    MADE("end_ns", "ns", "simulated time at which the sender knew that the last byte was delivered; empty: unfinished or failed", flow_end),
    MADE("fct_ns", "ns", "flow completion time: end_ns - start_ns; empty: unfinished or failed", flow_fct),
    TIME("ideal_fct_ns", "completion time of packets in order on one path, with the network to itself, by closed form; empty: none, or longer than 106 days", app_flow_result_t, ideal_ps, SIM_TIME_NEVER),
    MADE("slowdown", "", "fct_ns / ideal_fct_ns, rounded down to millionths; empty: unfinished or failed", flow_slowdown),
    WHOLE("retransmitted_packets", "packets", "number of packets that the flow's requester sent again: data, or the requests of a READ (not the responses)", app_flow_result_t, retransmitted_packets),
    TEXT("app", "", "kind of the traffic entry that made the flow: poisson, incast...", app_flow_result_t, label),
    WHOLE("priority", "", "class of the flow's data packets, 0 to 7", app_flow_result_t, priority),
    MADE("delivered_bytes", "bytes", "payload that the sender knew to be delivered at the end of the run; empty: failed", flow_delivered),
    TIME("failed_ns", "simulated time at which the flow failed; empty: it did not fail", app_flow_result_t, failed_ps, 0),
    MADE("src_qp", "", "number of the flow's queue pair at src; empty: it is not known", flow_src_qp),
    MADE("dst_qp", "", "number of the flow's queue pair at dst, which its packets carry; empty: it is not known", flow_dst_qp),
    MADE("reordered_packets", "packets", "number of requests of the flow's queue pair that arrived behind a later one, without retransmissions (RFC 4737); READ responses are not counted here", flow_reordered),
    MADE("reordering_extent", "packets", "maximum extent of a reordered packet: the number of arrivals since the first later packet", flow_extent),
    MADE("status", "", "success, unfinished, or the completion error it failed with", flow_status),
    MADE("medium", "", "network, or host: a message within a host, over NVLink or in memory, whose ideal_fct_ns is its own time", flow_medium),
};
const results_table_t results_flow_table = {
    "flows.csv", "A row per flow, by traffic entry, then by start. Written unless `outputs: {flows: false}`.",
    flow_columns, SIM_COUNT_OF(flow_columns), flow_object, NULL};
// clang-format on

// SPDX-License-Identifier: Apache-2.0
// results/tables/nics.c - nics.csv: what each NIC counted.
#include "results/tables/columns.h"
#include "results/tables/end_rows.h"
#include "world/names.h"

static const void *nic_object(const void *row)
{
    return ((const results_nic_row_t *)row)->counters;
}

static void nic_name(results_file_t *file, const void *row)
{
    const results_nic_row_t *const nic = row;
    results_file_put_csv(file, world_interface_name(nic->world, nic->interface));
}

// clang-format off
#define COUNTER(name_, unit_, help_) WHOLE(#name_, unit_, help_, nic_counters_t, name_)
static const results_column_t nic_columns[] = {
    MADE("nic", "", "host (or HOST/nicN) of the NIC", nic_name),
    COUNTER(tx_packets, "packets", "number of RoCE packets that the NIC sent"),
    COUNTER(rx_packets, "packets", "number of RoCE packets that the NIC received"),
    COUNTER(tx_data_bytes, "bytes", "payload bytes that the NIC sent, retransmissions included"),
    COUNTER(rx_data_bytes, "bytes", "payload bytes that the NIC accepted in order"),
    COUNTER(np_cnp_sent, "packets", "number of CNPs that the NIC sent for marked packets"),
    COUNTER(np_ecn_marked_roce_packets, "packets", "number of data packets that the NIC received with an ECN mark"),
    COUNTER(rp_cnp_handled, "packets", "number of CNPs that the NIC gave to its congestion control"),
    COUNTER(rp_cnp_ignored, "packets", "number of CNPs that the NIC ignored"),
    COUNTER(retransmitted_packets, "packets", "number of packets that the NIC sent again, or asked for again"),
    COUNTER(out_of_sequence, "packets", "number of requests that came ahead of the expected one"),
    COUNTER(duplicate_request, "packets", "number of requests that came behind the expected one"),
    COUNTER(packet_seq_err, "packets", "number of sequence NAKs that the NIC received"),
    COUNTER(local_ack_timeout_err, "", "number of times that a retransmission timer of the NIC expired"),
    COUNTER(rnr_nak_retry_err, "packets", "number of receiver-not-ready NAKs that the NIC received"),
    COUNTER(out_of_buffer, "packets", "number of packets that came without a posted receive"),
    COUNTER(qps_peak, "", "largest number of queue pairs that the NIC had at once"),
};
const results_table_t results_nic_table = {
    "nics.csv", "A row per NIC, by interface. Totals over the whole run, by the names of counters.md.",
    nic_columns, SIM_COUNT_OF(nic_columns), nic_object, NULL};
// clang-format on

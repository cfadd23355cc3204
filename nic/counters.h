// SPDX-License-Identifier: Apache-2.0
// nic/counters.h - what a NIC counts.
#ifndef NIC_COUNTERS_H
#define NIC_COUNTERS_H

#include "kernel/fields.h"
#include "kernel/report.h"
#include "nic/nic.h"

SIM_C_BEGIN

// Counters, with the vendor's names where they have one (docs/formats/counters.md).
typedef struct nic_counters {
    uint64_t tx_packets; // RoCE packets sent, CNPs included
    uint64_t rx_packets;
    uint64_t tx_data_bytes;      // payload, retransmissions included
    uint64_t rx_data_bytes;      // payload accepted in order
    uint64_t rx_restarted_bytes; // accepted payload given up by going back to zero
    uint64_t np_cnp_sent;
    uint64_t np_ecn_marked_roce_packets;
    uint64_t rp_cnp_handled;
    uint64_t rp_cnp_ignored;
    uint64_t retransmitted_packets;
    uint64_t out_of_sequence;       // responder: PSN ahead of the expected one
    uint64_t duplicate_request;     // responder: PSN behind
    uint64_t packet_seq_err;        // requester: sequence NAKs received
    uint64_t implied_nak_seq_err;   // requester: READ response PSN jumped
    uint64_t local_ack_timeout_err; // requester: retransmission timer expired
    uint64_t rnr_nak_retry_err;     // requester: RNR NAKs received
    uint64_t req_remote_access_errors;
    uint64_t resp_local_length_error;
    uint64_t out_of_buffer;    // responder: no receive posted (RNR NAK sent, or UC/UD drop)
    uint64_t late_answers;     // ACKs, READ responses and CNPs for a QP that is gone
    uint64_t loopback_packets; // that the NIC sent to itself
    uint64_t qps_created;
    uint64_t qps_peak;
    uint64_t qps_live;
} nic_counters_t;

typedef struct nic_counter_info {
    sim_field_t field; // in nic_counters_t, uint64_t
    const char *name;
    const char *help;
    const char *unit;  // "packets"; "" for a plain number
    sim_total_t total; // the sum over all NICs, where a run reports it by a name of its own, too
} nic_counter_info_t;
extern const nic_counter_info_t nic_counter_infos[]; // ends with a NULL name

// The counters of a detailed NIC's inside.
typedef struct nic_rnic_counters {
    uint64_t wqes_posted;
    uint64_t wqes_completed; // sent and acknowledged, failed or flushed
    uint64_t cqes_written;
    uint64_t cqes_polled;
    uint64_t doorbells;
    uint64_t mmio_lines;
    uint64_t pcie_reads; // read requests of the NIC
    uint64_t pcie_writes;
    uint64_t pcie_up_bytes;   // NIC to host, headers included
    uint64_t pcie_down_bytes; // host to NIC
    uint64_t context_hits;
    uint64_t context_misses;
    uint64_t translation_hits;
    uint64_t translation_misses;
    uint64_t wqe_hits;
    uint64_t wqe_misses;
    uint64_t cq_hits;
    uint64_t cq_misses;
    uint64_t key_hits; // of the key cache; 0: all keys are at hand, or in another store
    uint64_t key_misses;
    uint64_t buffer_bytes_max; // waiting to be processed, at most
    uint64_t pauses_sent;
    uint64_t atomics;
    uint64_t atomics_waited; // for their lock
} nic_rnic_counters_t;
// Fills in the counters. Returns false, and fills in nothing, if the NIC is an ideal one.
bool nic_get_rnic_counters(const nic_t *nic, nic_rnic_counters_t *counters);
extern const nic_counter_info_t nic_rnic_counter_infos[]; // fields of nic_rnic_counters_t
// Returns true if the counters add up: WQEs posted are completed or still queued, CQEs written are
// polled or still in their queues, and PCIe bytes are those of all uses together.
bool nic_conserved(const nic_t *nic);

SIM_C_END

#endif // NIC_COUNTERS_H

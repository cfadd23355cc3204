// SPDX-License-Identifier: Apache-2.0
// tests/rnic_cluster.h - machines with detailed NICs around a switch, and programs that load them.
//
//     cluster_config_t config;  cluster_config_init(&config);      // then change what matters
//     cluster_result_t result;  cluster_reads(&config, &reads, &result);
//     cluster_config_fini(&config);
//
// Every link has one rate, 300 ns of delay and no loss; all classes are lossless. A program is a
// loop per core that keeps a window of work outstanding and replaces what completes.
#ifndef TESTS_RNIC_CLUSTER_H
#define TESTS_RNIC_CLUSTER_H

#include "nic/core.h"
#include "nic/host.h"

typedef struct cluster_config {
    nic_config_t nic;
    uint32_t machines;
    uint64_t link_bps;
    sim_time_t warm_ps; // nothing is counted before
    sim_time_t until_ps;
} cluster_config_t;

void cluster_config_init(cluster_config_t *config); // detailed, connect-ib
void cluster_config_fini(cluster_config_t *config);
// Sets an attribute of config->nic; a bug of the test if it cannot be.
void cluster_set(cluster_config_t *config, const char *path, const char *text);

typedef struct cluster_result {
    double mops;         // millions of operations per second: of all cores that count
    double mops_machine; // and per machine that counts
    uint64_t events;
    uint64_t operations;       // in all, warming up included
    double received_mops;      // packets by machine 0, over the whole run
    nic_rnic_counters_t first; // of machine 0
    bool conserved;            // every NIC, and the packets
} cluster_result_t;

// Every machine reads from every other: each thread has `emulated` QPs to the same-numbered
// thread of every other machine and keeps `window` READs outstanding on QPs chosen at random.
typedef struct cluster_reads {
    uint32_t threads;
    uint32_t emulated;
    uint32_t window;
    uint32_t bytes;
} cluster_reads_t;
void cluster_reads(const cluster_config_t *config, const cluster_reads_t *reads,
                   cluster_result_t *result);

// One server, machine 0, and clients.
typedef struct cluster_load {
    nic_wr_opcode_t opcode;
    nic_qp_type_t type;
    bool outbound;   // the server posts; else the clients do
    uint32_t cores;  // of each machine that posts
    uint32_t qps;    // per core
    uint32_t batch;  // work requests per Doorbell; 1: by MMIO
    bool apart;      // each of a batch by MMIO, the last one signaled as it is of a list
    uint32_t window; // batches outstanding per QP
    uint32_t bytes;
    bool from_memory;      // payload not inline
    uint32_t words;        // atomics: that many counters, chosen at random
    uint32_t server_cores; // inbound SENDs: that take completions and post receives
} cluster_load_t;
void cluster_load(const cluster_config_t *config, const cluster_load_t *load,
                  cluster_result_t *result);

#endif // TESTS_RNIC_CLUSTER_H

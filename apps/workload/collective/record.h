// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/record.h - messages of collectives that flows.csv has a row for.
#ifndef APPS_WORKLOAD_COLLECTIVE_RECORD_H
#define APPS_WORKLOAD_COLLECTIVE_RECORD_H

#include "apps/app_results.h"

typedef struct app__collectives app__collectives_t;

// A message for flows.csv.
typedef struct app__coll_record {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint64_t bytes;
    uint32_t source; // interfaces
    uint32_t destination;
    uint32_t source_qp; // numbers of queue pairs
    uint32_t destination_qp;
    uint16_t udp_source_port;
    bool local;
    bool failed;
    nic_wr_opcode_t opcode;
} app__coll_record_t;
#define APP__NO_RECORD UINT32_MAX

// Calls fn for the messages of collectives that were recorded, in order of their starts.
void app__coll_flows(const app__collectives_t *collectives, app_flow_fn fn, void *ctx);

#endif // APPS_WORKLOAD_COLLECTIVE_RECORD_H

// SPDX-License-Identifier: Apache-2.0
// results/totals/outcome.c - the parts of the outcome digest.
#include <string.h>

#include "results/totals/outcome.h"

void results_outcome_flow(sim_digest_t *digest, const app_flow_result_t *flow)
{
    sim_digest_add(digest, flow->flow_id);
    sim_digest_add(digest, (uint64_t)flow->source << 32 | flow->destination);
    sim_digest_add(digest, (uint64_t)flow->udp_source_port << 32 | (uint64_t)flow->priority);
    sim_digest_add(digest, flow->bytes);
    sim_digest_add(digest, flow->start_ps);
    sim_digest_add(digest, flow->end_ps);
    sim_digest_add(digest, flow->delivered_bytes);
    sim_digest_add(digest, flow->failed_ps);
    sim_digest_add(digest, flow->retransmitted_packets);
    sim_digest_add(digest, (uint64_t)flow->status);
}

void results_outcome_nic(sim_digest_t *digest, const nic_counters_t *counters)
{
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        if ((info->field.uses & SIM_DIGESTED) != 0) {
            uint64_t value;
            memcpy(&value, (const char *)counters + info->field.offset, sizeof(value));
            sim_digest_add(digest, value);
        }
    }
}

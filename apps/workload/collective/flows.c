// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/flows.c - rows of flows.csv for the messages of collectives.
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/record.h"
#include "apps/workload/workload.h"
#include "nic/ideal.h"

#include <stdlib.h>

// A record, to be sorted by start and rank.
typedef struct item {
    const app__coll_record_t *record;
    uint64_t number;
} item_t;

static int compare_items(const void *a, const void *b)
{
    const item_t *const one = a;
    const item_t *const two = b;
    if (one->record->start_ps != two->record->start_ps) {
        return one->record->start_ps < two->record->start_ps ? -1 : 1;
    }
    return one->number < two->number ? -1 : one->number > two->number;
}

static app_flow_result_t flow_of(const app__collectives_t *all, const item_t *item)
{
    const app__coll_record_t *const record = item->record;
    const app__workload_t *const workload = all->workload;
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic_of_interface(workload->app.net, record->source), &attr);
    const nic_ideal_t ideal = {
        .net = workload->app.net,
        .requester = record->source,
        .responder = record->destination,
        .udp_source_port = record->udp_source_port,
        .opcode = record->opcode,
        .mtu_bytes = attr.path_mtu,
        .message_bytes = record->bytes,
        .messages = 1,
        .piece_bytes = UINT64_C(1) << 30,
        .service = NIC_QPT_RC,
    };
    return (app_flow_result_t){
        .flow_id = all->first_flow_id + item->number,
        .source = record->source,
        .destination = record->destination,
        .udp_source_port = record->udp_source_port,
        .source_qp = record->source_qp,
        .destination_qp = record->destination_qp,
        .priority = attr.priority,
        .dscp = attr.dscp,
        .local = record->local,
        .bytes = record->bytes,
        .start_ps = record->start_ps,
        .end_ps = record->failed ? SIM_TIME_NEVER : record->end_ps,
        .ideal_ps = record->local ? record->end_ps - record->start_ps : nic_ideal_ps(&ideal),
        .delivered_bytes = record->failed || record->end_ps == SIM_TIME_NEVER ? 0 : record->bytes,
        .status = record->failed ? NIC_WC_RETRY_EXC_ERR : NIC_WC_SUCCESS,
        .failed_ps = record->failed ? record->end_ps : 0,
        .label = workload->app.ops->name,
    };
}

void app__coll_flows(const app__collectives_t *all, app_flow_fn fn, void *ctx)
{
    const uint32_t ranks = all->workload->schedule->rank_count;
    size_t total = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        total += all->ranks[r].record_count;
    }
    item_t *const items = sim_alloc_array(total + 1, sizeof(*items));
    size_t count = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        for (size_t i = 0; i < all->ranks[r].record_count; i++) {
            items[count++] = (item_t){&all->ranks[r].records[i], r * all->records_max + i};
        }
    }
    qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count; i++) {
        const app_flow_result_t flow = flow_of(all, &items[i]);
        fn(&flow, ctx);
    }
    sim_free(items);
}

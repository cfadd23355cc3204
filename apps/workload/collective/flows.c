// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/flows.c - rows of flows.csv for the messages of collectives.
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/record.h"
#include "apps/workload/workload.h"
#include "nic/ideal.h"

#include <string.h>

// A record, to be sorted by start.
typedef struct item {
    sim_time_t start_ps;
    const app__coll_record_t *record;
    uint64_t number;
} item_t;

// Sorts by start, byte by byte. Items that start together keep their order, which is that of their
// numbers.
static void sort_by_start(item_t *items, size_t count)
{
    item_t *const space = sim_alloc_array(count + 1, sizeof(*space));
    item_t *from = items;
    item_t *to = space;
    sim_time_t differ_ps = 0;
    for (size_t i = 0; i < count; i++) {
        differ_ps |= items[i].start_ps ^ items[0].start_ps;
    }
    for (unsigned shift = 0; shift < 64 && differ_ps >> shift != 0; shift += 8) {
        size_t ends[257] = {0}; // of the items of a byte, where the next one's begin
        for (size_t i = 0; i < count; i++) {
            ends[(from[i].start_ps >> shift & 0xff) + 1]++;
        }
        for (unsigned byte = 1; byte < 256; byte++) {
            ends[byte] += ends[byte - 1];
        }
        for (size_t i = 0; i < count; i++) {
            to[ends[from[i].start_ps >> shift & 0xff]++] = from[i];
        }
        item_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof(*items));
    }
    sim_free(space);
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
        .ideal_ps = record->local ? record->end_ps - record->start_ps : 0,
        .ideal = record->local ? (nic_ideal_t){0} : ideal,
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
            const app__coll_record_t *const record = &all->ranks[r].records[i];
            items[count++] = (item_t){record->start_ps, record, r * all->records_max + i};
        }
    }
    sort_by_start(items, count);
    for (size_t i = 0; i < count; i++) {
        const app_flow_result_t flow = flow_of(all, &items[i]);
        fn(&flow, ctx);
    }
    sim_free(items);
}

// SPDX-License-Identifier: Apache-2.0
// apps/flows/blocks.h - the transfers of a plan, in blocks that are made when they are needed.
#ifndef APPS_FLOWS_BLOCKS_H
#define APPS_FLOWS_BLOCKS_H

#include "apps/flows/plan_internal.h"

#include <stdatomic.h>

// A block of transfers that are made together (blocks.c).
typedef struct app__block {
    uint64_t first; // index of the first transfer
    size_t count;
    app__transfer_t *transfers; // in order of start
    uint8_t *received; // per transfer: the responder has received everything and destroyed its QP
    // Places in the block by requester and by responder, each in order of start: those of interface
    // i are by_source[source_first[i]] .. by_source[source_first[i + 1] - 1].
    uint32_t *by_source;
    uint32_t *source_first;
    uint32_t *by_destination;
    uint32_t *destination_first;
    // requesters and responders still to finish, and responders made again
    atomic_uint_fast64_t open;
} app__block_t;

// A block's permanent record; it exists whether the block is made or not.
struct app__block_entry {
    _Atomic(app__block_t *) made; // NULL: not yet, or packed
    uint32_t *sources_before;     // per interface: transfers in earlier blocks
    uint32_t *destinations_before;
    void *arrivals;      // arrivals that begin with the block's first transfer; NULL: a list
    sim_time_t first_ps; // its first start
    uint8_t *outcomes;   // packed results of its transfers; NULL: not all are known
};

void app__blocks_begin(app__plan_t *plan);  // call it when the plan has all its transfers
void app__blocks_number(app__plan_t *plan); // call it when the interfaces have positions
void app__blocks_free(app__plan_t *plan);
app__block_t *app__block_of(const app__plan_t *plan, uint64_t index);
// Returns a transfer; the pointer is valid until the end of the event.
static inline app__transfer_t *app__transfer(const app__plan_t *plan, uint64_t index)
{
    const app__block_t *const block = app__block_of(plan, index);
    return &block->transfers[index - block->first];
}
// Returns the index of the place'th transfer that an interface requests, or responds to.
uint32_t app__transfer_at_source(const app__plan_t *plan, uint32_t interface, uint64_t place);
uint32_t app__transfer_at_destination(const app__plan_t *plan, uint32_t interface, uint64_t place);
// Returns when the place'th transfer that the interface responds to begins, or an earlier time
// where its block is not made.
sim_time_t app__passive_start_ps(const app__plan_t *plan, uint32_t interface, uint64_t place);
// Notes, in an event of the node, that one end of a transfer is done with it; notes that the end
// needs it again.
void app__transfer_closed(const app__plan_t *plan, uint64_t index, const sim_node_t *node);
void app__transfer_opened(const app__plan_t *plan, uint64_t index);
static inline uint64_t app__requested_by(const app__plan_t *plan, uint32_t interface)
{
    return plan->entries[plan->block_count].sources_before[interface];
}

// Reads transfers in order for results, outside the run. It makes blocks that do not exist.
typedef struct app__reader {
    const app__plan_t *plan;
    app__block_t *block;
    size_t number;
    bool own;
} app__reader_t;
// valid until the next call
const app__transfer_t *app__read(app__reader_t *reader, uint64_t index);
void app__reader_close(app__reader_t *reader);

#endif // APPS_FLOWS_BLOCKS_H

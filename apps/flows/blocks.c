// SPDX-License-Identifier: Apache-2.0
// apps/flows/blocks.c - keeps the transfers of a plan in blocks, made when they are needed.
//
// A list of transfers is one block for the whole run. Arrivals (plan.h) are counted once, by
// requester and responder, which fixes every transfer's index and QP numbers. A copy of the
// arrivals is kept for the start of each block, so the first reader of a transfer can make its
// block at any time, always with the same content. If there are few transfers, their blocks stay
// once they are made. Else a block is packed into about five bytes per transfer when all its
// transfers have ended at both ends.
//
// A thread publishes a block by one atomic exchange; another thread that made it, too, takes the
// published one. Blocks are packed between windows, when nobody holds a transfer.
#include <string.h>

#include "apps/flows/blocks.h"
#include "apps/flows/shared_channels.h"

// A block has at least this many transfers, and at least so many per interface: then its tables by
// interface are small compared with its transfers.
#define BLOCK_TRANSFERS_MIN 4096u
#define BLOCK_TRANSFERS_OF_INTERFACE 64u
// Blocks of so many transfers in all stay, since to draw them again for each of seven readers takes
// as long as a fifth of a short transfer's run. They take 100 MB.
#define KEPT_TRANSFERS_MAX (UINT64_C(1) << 20)

// -- making

static uint32_t end_of(const app__transfer_t *transfer, bool source)
{
    return source ? transfer->source : transfer->destination;
}

// Sorts a block's transfers by one end, by counting.
static void index_block(const app__plan_t *plan, const app__block_t *block, bool source)
{
    const size_t interfaces = net_interface_count(plan->net);
    uint32_t *const first = source ? block->source_first : block->destination_first;
    uint32_t *const order = source ? block->by_source : block->by_destination;
    // First, first[i + 2] counts. Then first[i + 1] is where the next transfer of i goes, and in
    // the end where those of i end.
    for (size_t i = 0; i < block->count; i++) {
        first[end_of(&block->transfers[i], source) + 2]++;
    }
    for (size_t i = 2; i < interfaces + 2; i++) {
        first[i] += first[i - 1];
    }
    for (size_t i = 0; i < block->count; i++) {
        order[first[end_of(&block->transfers[i], source) + 1]++] = (uint32_t)i;
    }
}

static app__block_t *block_create(const app__plan_t *plan, uint64_t first, size_t count)
{
    const size_t interfaces = net_interface_count(plan->net);
    app__block_t *const block = sim_alloc(sizeof(*block));
    block->first = first;
    block->count = count;
    block->received = sim_alloc(count + 1);
    block->by_source = sim_alloc_array(count + 1, sizeof(*block->by_source));
    block->by_destination = sim_alloc_array(count + 1, sizeof(*block->by_destination));
    block->source_first = sim_alloc_array(interfaces + 2, sizeof(*block->source_first));
    block->destination_first = sim_alloc_array(interfaces + 2, sizeof(*block->destination_first));
    // Responders of shared queue pairs are never destroyed, so they need not be waited for.
    atomic_init(&block->open, (plan->shape.reuse ? 1 : 2) * count);
    return block;
}

static void block_destroy(app__block_t *block)
{
    if (block != NULL) {
        SIM_FREE_ALL(block->transfers, block->received, block->by_source, block->by_destination,
                     block->source_first, block->destination_first, block);
    }
}

// Sets the QP numbers of a block's transfers. An interface's requesters come first, in order of
// start, then its responders.
static void number_qps(const app__plan_t *plan, const app__block_t *block, size_t number)
{
    const app__block_entry_t *const entry = &plan->entries[number];
    const app__block_entry_t *const all = &plan->entries[plan->block_count];
    for (size_t i = 0; plan->shape.reuse && i < block->count; i++) {
        app__flow_channel_number(plan, &block->transfers[i]);
    }
    if (plan->shape.reuse) {
        return;
    }
    for (size_t i = 0; i < net_interface_count(plan->net); i++) {
        const uint64_t active = plan->positions[i] + entry->sources_before[i];
        for (uint32_t k = block->source_first[i]; k < block->source_first[i + 1]; k++) {
            block->transfers[block->by_source[k]].source_qp =
                app__qp_number(active + k - block->source_first[i]);
        }
        const uint64_t passive =
            plan->positions[i] + all->sources_before[i] + entry->destinations_before[i];
        for (uint32_t k = block->destination_first[i]; k < block->destination_first[i + 1]; k++) {
            block->transfers[block->by_destination[k]].destination_qp =
                app__qp_number(passive + k - block->destination_first[i]);
        }
    }
}

// -- packing

enum { ENDED = 1, RETRANSMITTED = 2, LEFT_OUT = 4, ORDERED = 8, FAILED = 16 };

// Writes a number in groups of seven bits; the last byte has bit 7 clear.
static uint8_t *put_number(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0;; shift += 7) {
        *value |= (uint64_t)(*at & 0x7f) << shift;
        if ((*at++ & 0x80) == 0) {
            return at;
        }
    }
}

#define OUTCOME_BYTES_MAX (1 + 10 + 5 + 5 + 5 + 1)

static uint8_t *put_outcome(uint8_t *at, const app__transfer_t *transfer)
{
    uint8_t *const flags = at++;
    *flags = 0;
    if (transfer->end_ps != SIM_TIME_NEVER) {
        *flags |= ENDED;
        at = put_number(at, transfer->end_ps - transfer->start_ps);
    }
    if (transfer->retransmitted != 0) {
        *flags |= RETRANSMITTED;
        at = put_number(at, transfer->retransmitted);
    }
    if (transfer->left_out != 0) {
        *flags |= LEFT_OUT;
        at = put_number(at, transfer->left_out);
    }
    if (transfer->end_order != 0) {
        *flags |= ORDERED;
        at = put_number(at, transfer->end_order);
    }
    if (transfer->status != NIC_WC_SUCCESS) {
        *flags |= FAILED;
        *at++ = transfer->status;
    }
    return at;
}

static const uint8_t *get_outcome(const uint8_t *at, app__transfer_t *transfer)
{
    const uint8_t flags = *at++;
    uint64_t value = 0;
    if ((flags & ENDED) != 0) {
        at = get_number(at, &value);
        transfer->end_ps = transfer->start_ps + value;
    }
    if ((flags & RETRANSMITTED) != 0) {
        at = get_number(at, &value);
        transfer->retransmitted = (uint32_t)value;
    }
    if ((flags & LEFT_OUT) != 0) {
        at = get_number(at, &value);
        transfer->left_out = (uint32_t)value;
    }
    if ((flags & ORDERED) != 0) {
        at = get_number(at, &value);
        transfer->end_order = (uint32_t)value;
    }
    if ((flags & FAILED) != 0) {
        transfer->status = *at++;
    }
    return at;
}

static uint8_t *pack(const app__block_t *block)
{
    uint8_t *const bytes = sim_alloc(block->count * OUTCOME_BYTES_MAX + 1);
    uint8_t *at = bytes;
    for (size_t i = 0; i < block->count; i++) {
        at = put_outcome(at, &block->transfers[i]);
    }
    const size_t size = (size_t)(at - bytes);
    uint8_t *const packed = sim_alloc(size + 1);
    memcpy(packed, bytes, size);
    sim_free(bytes);
    return packed;
}

static void unpack(const uint8_t *packed, app__block_t *block)
{
    for (size_t i = 0; i < block->count; i++) {
        packed = get_outcome(packed, &block->transfers[i]);
        block->received[i] = 1;
    }
    atomic_init(&block->open, 0);
}

// -- blocks of arrivals

static app__block_t *make_block(const app__plan_t *plan, size_t number)
{
    const app__block_entry_t *const entry = &plan->entries[number];
    const uint64_t first = (uint64_t)number << plan->block_shift;
    const uint64_t left = plan->count - first;
    const uint64_t most = UINT64_C(1) << plan->block_shift;
    app__block_t *const block = block_create(plan, first, SIM_MIN(left, most));
    block->transfers = sim_alloc_array(block->count + 1, sizeof(*block->transfers));
    void *const arrivals = plan->arrivals_ops->copy(entry->arrivals);
    for (size_t i = 0; i < block->count; i++) {
        app__request_t request;
        sim_message_t message;
        sim_err_t error = SIM_OK;
        const bool any = plan->arrivals_ops->next(arrivals, &request, &error, &message);
        SIM_CHECK(any);
        block->transfers[i] = app__transfer_of(plan, &request);
    }
    plan->arrivals_ops->destroy(arrivals);
    index_block(plan, block, true);
    index_block(plan, block, false);
    number_qps(plan, block, number);
    if (entry->outcomes != NULL) {
        unpack(entry->outcomes, block);
    }
    return block;
}

app__block_t *app__block_of(const app__plan_t *plan, uint64_t index)
{
    const size_t number = (size_t)(index >> plan->block_shift);
    SIM_CHECK(index < plan->count);
    app__block_entry_t *const entry = &plan->entries[number];
    app__block_t *block = atomic_load_explicit(&entry->made, memory_order_acquire);
    if (block != NULL) {
        return block;
    }
    app__block_t *const made = make_block(plan, number);
    if (atomic_compare_exchange_strong(&entry->made, &block, made)) {
        return made;
    }
    block_destroy(made);
    return block;
}

// Packs a block whose transfers have all ended. Called between windows, when nobody holds a
// transfer.
static void pack_block(sim_time_t time_ps, uint32_t node_index, const void *record,
                       size_t record_bytes, void *ctx)
{
    (void)time_ps;
    (void)node_index;
    const app__plan_t *const plan = ctx;
    uint64_t number;
    SIM_CHECK(record_bytes == sizeof(number));
    memcpy(&number, record, sizeof(number));
    app__block_entry_t *const entry = &plan->entries[number];
    app__block_t *const block = atomic_load(&entry->made);
    if (block == NULL || atomic_load(&block->open) != 0) {
        return;
    }
    if (entry->outcomes == NULL) {
        entry->outcomes = pack(block);
    }
    atomic_store(&entry->made, NULL);
    block_destroy(block);
}

void app__transfer_opened(const app__plan_t *plan, uint64_t index)
{
    atomic_fetch_add(&app__block_of(plan, index)->open, 1);
}

void app__transfer_closed(const app__plan_t *plan, uint64_t index, const sim_node_t *node)
{
    app__block_t *const block = app__block_of(plan, index);
    if (atomic_fetch_sub(&block->open, 1) == 1 && plan->whole_blocks != NULL) {
        const uint64_t number = index >> plan->block_shift;
        memcpy(sim_stream_put(plan->whole_blocks, node, node->now_ps, sizeof(number)), &number,
               sizeof(number));
    }
}

// -- transfers by one end

// Finds the block of the place'th transfer of an interface: the last block with at most `place`
// before it.
static size_t find_block(const app__plan_t *plan, uint32_t interface, uint64_t place, bool source)
{
    size_t low = 0;
    size_t high = plan->block_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        const app__block_entry_t *const entry = &plan->entries[middle];
        const uint32_t *const before = source ? entry->sources_before : entry->destinations_before;
        if (before[interface] <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t app__transfer_at_source(const app__plan_t *plan, uint32_t interface, uint64_t place)
{
    const size_t number = find_block(plan, interface, place, true);
    const app__block_t *const block = app__block_of(plan, (uint64_t)number << plan->block_shift);
    const uint64_t at = place - plan->entries[number].sources_before[interface];
    return (uint32_t)block->first + block->by_source[block->source_first[interface] + at];
}

uint32_t app__transfer_at_destination(const app__plan_t *plan, uint32_t interface, uint64_t place)
{
    const size_t number = find_block(plan, interface, place, false);
    const app__block_t *const block = app__block_of(plan, (uint64_t)number << plan->block_shift);
    const uint64_t at = place - plan->entries[number].destinations_before[interface];
    return (uint32_t)block->first + block->by_destination[block->destination_first[interface] + at];
}

sim_time_t app__passive_start_ps(const app__plan_t *plan, uint32_t interface, uint64_t place)
{
    const size_t number = find_block(plan, interface, place, false);
    const app__block_entry_t *const entry = &plan->entries[number];
    return atomic_load_explicit(&entry->made, memory_order_acquire) == NULL
               ? entry->first_ps
               : app__transfer(plan, app__transfer_at_destination(plan, interface, place))
                     ->start_ps;
}

// -- the table of blocks

static app__block_entry_t *add_entry(app__plan_t *plan)
{
    const size_t interfaces = net_interface_count(plan->net);
    SIM_GROW(plan->entries, plan->entry_count, &plan->entry_capacity);
    app__block_entry_t *const entry = &plan->entries[plan->entry_count++];
    memset(entry, 0, sizeof(*entry));
    atomic_init(&entry->made, NULL);
    entry->sources_before = sim_alloc_array(interfaces + 1, sizeof(*entry->sources_before));
    entry->destinations_before =
        sim_alloc_array(interfaces + 1, sizeof(*entry->destinations_before));
    return entry;
}

sim_err_t app__plan_arrive(app__plan_t *plan, const app__arrivals_ops_t *ops, void *arrivals,
                           const char *blame, sim_message_t *message)
{
    SIM_CHECK(plan->count == 0 && plan->arrivals_ops == NULL);
    const size_t interfaces = net_interface_count(plan->net);
    plan->arrivals_ops = ops;
    plan->arrivals = arrivals;
    const sim_err_t goes = app__check_service(plan, message);
    if (goes != SIM_OK) {
        return goes;
    }
    while (UINT64_C(1) << plan->block_shift < BLOCK_TRANSFERS_MIN ||
           UINT64_C(1) << plan->block_shift < BLOCK_TRANSFERS_OF_INTERFACE * interfaces) {
        plan->block_shift++;
    }
    uint32_t *const sources = sim_alloc_array(interfaces + 1, sizeof(*sources));
    uint32_t *const destinations = sim_alloc_array(interfaces + 1, sizeof(*destinations));
    void *const counting = ops->copy(arrivals);
    sim_err_t error = SIM_OK;
    for (;;) {
        const bool begins = (plan->count & ((UINT64_C(1) << plan->block_shift) - 1)) == 0;
        void *const here = begins ? ops->copy(counting) : NULL;
        app__request_t request;
        const bool any = ops->next(counting, &request, &error, message);
        if (any && plan->count == APP__TRANSFERS_MAX) {
            error = app__too_many(blame, message);
        }
        if (begins) {
            app__block_entry_t *const entry = add_entry(plan);
            memcpy(entry->sources_before, sources, interfaces * sizeof(*sources));
            memcpy(entry->destinations_before, destinations, interfaces * sizeof(*destinations));
            entry->arrivals = here;
            entry->first_ps = any ? request.start_ps : SIM_TIME_NEVER;
        }
        if (!any || error != SIM_OK) {
            break;
        }
        sources[request.source]++;
        destinations[request.destination]++;
        plan->count++;
    }
    plan->block_count =
        (size_t)((plan->count + (UINT64_C(1) << plan->block_shift) - 1) >> plan->block_shift);
    if (plan->entry_count == plan->block_count) {
        const app__block_entry_t *const all = add_entry(plan);
        memcpy(all->sources_before, sources, interfaces * sizeof(*sources));
        memcpy(all->destinations_before, destinations, interfaces * sizeof(*destinations));
    }
    ops->destroy(counting);
    sim_free(sources);
    sim_free(destinations);
    return error;
}

// Makes the one block of a list, and the entry after it that holds the totals.
void app__blocks_begin(app__plan_t *plan)
{
    const size_t interfaces = net_interface_count(plan->net);
    if (plan->arrivals_ops == NULL) {
        plan->block_shift = 63;
        app__block_t *const block = block_create(plan, 0, plan->count);
        block->transfers = plan->transfers;
        plan->transfers = NULL;
        index_block(plan, block, true);
        index_block(plan, block, false);
        atomic_init(&add_entry(plan)->made, block);
        const app__block_entry_t *const all = add_entry(plan);
        for (size_t i = 0; i < interfaces; i++) {
            all->sources_before[i] = block->source_first[i + 1] - block->source_first[i];
            all->destinations_before[i] =
                block->destination_first[i + 1] - block->destination_first[i];
        }
        plan->block_count = 1;
        return;
    }
    if (plan->count > KEPT_TRANSFERS_MAX) {
        plan->whole_blocks = sim_stream_create(net_sim(plan->net), pack_block, plan);
    }
}

void app__blocks_number(app__plan_t *plan)
{
    app__block_t *const block =
        plan->arrivals_ops == NULL ? atomic_load(&plan->entries[0].made) : NULL;
    if (block != NULL) {
        number_qps(plan, block, 0);
    }
}

void app__blocks_free(app__plan_t *plan)
{
    for (size_t i = 0; i < plan->entry_count; i++) {
        app__block_entry_t *const entry = &plan->entries[i];
        block_destroy(atomic_load(&entry->made));
        if (entry->arrivals != NULL) {
            plan->arrivals_ops->destroy(entry->arrivals);
        }
        SIM_FREE_ALL(entry->sources_before, entry->destinations_before, entry->outcomes);
    }
    if (plan->arrivals_ops != NULL) {
        plan->arrivals_ops->destroy(plan->arrivals);
    }
    sim_free(plan->entries);
    sim_free(plan->positions);
}

// -- reading

const app__transfer_t *app__read(app__reader_t *reader, uint64_t index)
{
    const app__plan_t *const plan = reader->plan;
    const size_t number = (size_t)(index >> plan->block_shift);
    SIM_CHECK(index < plan->count);
    if (reader->block == NULL || reader->number != number) {
        app__reader_close(reader);
        reader->number = number;
        reader->block = plan->whole_blocks == NULL ? app__block_of(plan, index)
                                                   : atomic_load(&plan->entries[number].made);
        reader->own = reader->block == NULL;
        if (reader->own) {
            reader->block = make_block(plan, number);
        }
    }
    return &reader->block->transfers[index - reader->block->first];
}

void app__reader_close(app__reader_t *reader)
{
    if (reader->own) {
        block_destroy(reader->block);
    }
    reader->block = NULL;
    reader->own = false;
}

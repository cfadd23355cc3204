// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/ring.c - the ring: all-reduce, reduce-scatter, all-gather;
// and the chain along it: broadcast, reduce.
//
// Channel c goes through a node from local rank c + 1 round to local rank c, so its messages leave
// the node from rail c. With PXN a rank of the sender's node that is on the receiver's rail
// forwards them; else two channels take turns from node to node. Chunk k of a channel is rank k's.
#include "apps/workload/collective/algorithms/program.h"

static uint32_t size_of(const app__layout_t *layout, uint32_t node)
{
    return layout->node_first[node + 1] - layout->node_first[node];
}

// How a channel goes through a node: from local rank `first` on, up or down.
typedef struct way {
    uint32_t first;
    bool down;
} way_t;

// Channels 2p and 2p + 1 go through a node between the same two rails, one from the first to the
// second and the other back. Every second node exchanges the two, so that each message between
// nodes stays on one rail (NCCL: "alternate rings to avoid crossing rails").
static way_t way_of(const app__program_t *program, uint32_t channel, uint32_t node)
{
    const uint32_t size = size_of(program->layout, node);
    if (!program->alternates || channel / 2 >= program->channels / 2) {
        return (way_t){(channel + 1) % size, false};
    }
    const uint32_t rail = channel / 2 * 2 % size;
    const bool down = ((channel + node) & 1) != 0;
    return (way_t){down ? rail : (rail + 1) % size, down};
}

// Returns the place of a rank in a channel's ring.
static uint32_t place_of(const app__program_t *program, uint32_t channel, uint32_t rank)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t node = layout->node[rank];
    const uint32_t size = size_of(layout, node);
    const uint32_t local = layout->local[rank];
    const way_t way = way_of(program, channel, node);
    return layout->node_first[node] +
           (way.down ? way.first + size - local : local + size - way.first) % size;
}

static uint32_t rank_at(const app__program_t *program, uint32_t channel, uint64_t place)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t at = (uint32_t)(place % layout->ranks);
    const uint32_t node = layout->node[layout->order[at]];
    const uint32_t size = size_of(layout, node);
    const uint32_t first = layout->node_first[node];
    const way_t way = way_of(program, channel, node);
    const uint32_t steps = at - first;
    return layout->order[first + (way.down ? way.first + size - steps : way.first + steps) % size];
}

// Returns the rank that forwards the messages from a rank to the next one of the ring, or
// APP__NO_RANK: they go directly.
static uint32_t relay_of(const app__program_t *program, uint32_t rank, uint32_t next)
{
    const app__layout_t *const layout = program->layout;
    if (!program->pxn || layout->node[rank] == layout->node[next] ||
        layout->rail[rank] == layout->rail[next]) {
        return APP__NO_RANK;
    }
    return app__layout_on_rail(layout, layout->node[rank], layout->rail[next]);
}

static const char *refuses(const app__program_t *program)
{
    return program->kind == APP__COLL_ALL_REDUCE || program->kind == APP__COLL_REDUCE_SCATTER ||
                   program->kind == APP__COLL_ALL_GATHER
               ? NULL
               : "does all-reduce, reduce-scatter and all-gather";
}

static void plan(app__program_t *program)
{
    program->lanes = program->channels;
    program->chunks = program->channels * program->ranks;
}

// Returns the last rank of the rank's node in a channel's ring.
static uint32_t exit_of(const app__program_t *program, uint32_t rank, uint32_t channel)
{
    return rank_at(program, channel,
                   (uint64_t)program->layout->node_first[program->layout->node[rank] + 1] - 1);
}

// Returns the place of a rank in a channel's chain. A broadcast starts at its root, and a reduce
// ends there.
static uint32_t chain_place(const app__program_t *program, uint32_t rank, uint32_t channel)
{
    const uint32_t n = program->ranks;
    const uint32_t first =
        place_of(program, channel, program->root) + (program->kind == APP__COLL_REDUCE ? 1 : 0);
    return (place_of(program, channel, rank) + n - first % n) % n;
}

static bool is_relay(const app__program_t *program, uint32_t rank, uint32_t channel)
{
    const uint32_t exit = exit_of(program, rank, channel);
    const uint64_t place = place_of(program, channel, exit);
    const bool chain = program->kind == APP__COLL_BROADCAST || program->kind == APP__COLL_REDUCE;
    const bool ends = chain && chain_place(program, exit, channel) + 1 == program->ranks;
    return program->layout->nodes > 1 && !ends &&
           relay_of(program, exit, rank_at(program, channel, place + 1)) == rank;
}

// Each channel has a block; those that the rank forwards for come behind them.
static uint32_t blocks(const app__program_t *program, uint32_t rank)
{
    uint32_t count = program->channels;
    for (uint32_t c = 0; program->pxn && c < program->channels; c++) {
        count += is_relay(program, rank, c);
    }
    return program->ranks > 1 ? count : 0;
}

static uint32_t channel_of(const app__program_t *program, uint32_t rank, uint32_t block)
{
    uint32_t at = program->channels;
    if (block < program->channels) {
        return block;
    }
    for (uint32_t c = 0; c < program->channels; c++) {
        if (is_relay(program, rank, c) && at++ == block) {
            return c;
        }
    }
    SIM_CHECK(false);
    return 0;
}

static app__block_t block_at(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const uint32_t n = program->ranks;
    const uint32_t steps = program->kind == APP__COLL_ALL_REDUCE ? 2 * n - 1 : n;
    return (app__block_t){
        .channel = channel_of(program, rank, block),
        .steps = block < program->channels ? steps : steps - 1,
    };
}

// Fills what a rank at a place of the ring does in a step. Step 0 only sends, and the last one only
// receives.
static void fill(const app__program_t *program, uint64_t place, uint32_t index, app__step_t *step)
{
    const uint32_t n = program->ranks;
    const bool reduces = program->kind != APP__COLL_ALL_GATHER;
    const bool gathers = program->kind != APP__COLL_REDUCE_SCATTER;
    const uint32_t gather_from = reduces ? n - 1 : 0; // first step that sends a result
    const uint32_t last = reduces && gathers ? 2 * n - 2 : n - 1;
    const bool result = gathers && index >= gather_from;
    const uint64_t behind = result ? index - gather_from : index + 1;
    step->from_chunk = (uint32_t)((place + 2 * (uint64_t)n - behind) % n); // place of its rank
    step->what = (uint16_t)((index > 0 ? APP__STEP_RECV : 0) | (index < last ? APP__STEP_SEND : 0) |
                            (index + 1 == last ? APP__STEP_FINAL : 0));
    if (index > 0) {
        const bool reduced = reduces && index <= n - 1;
        step->what |= reduced ? APP__STEP_REDUCE : 0;
        step->what |= !reduced || index == n - 1 ? APP__STEP_STORE : 0;
    }
}

// Fills the peers of a step: of a rank itself at its place, or of one that forwards for the rank of
// that place. Returns whether another rank forwards what the step sends.
static bool connect(const app__program_t *program, uint32_t rank, uint32_t channel, uint64_t place,
                    bool forwards, app__step_t *step)
{
    const uint32_t next = rank_at(program, channel, place + 1);
    if (forwards) {
        step->recv_peer = exit_of(program, rank, channel);
        step->send_peer = next;
        return false;
    }
    const uint32_t previous = rank_at(program, channel, place + program->ranks - 1);
    const uint32_t after = relay_of(program, rank, next);
    const uint32_t before = relay_of(program, previous, rank);
    step->send_peer = after == APP__NO_RANK ? next : after;
    step->recv_peer = before == APP__NO_RANK ? previous : before;
    return after != APP__NO_RANK;
}

static void step_of(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                    app__step_t *step)
{
    const uint32_t channel = channel_of(program, rank, block);
    const bool forwards = block >= program->channels;
    const uint32_t own = forwards ? exit_of(program, rank, channel) : rank;
    const uint64_t place = place_of(program, channel, own);
    fill(program, place, index, step);
    step->from_chunk = channel * program->ranks + rank_at(program, channel, step->from_chunk);
    step->to_chunk = step->from_chunk;
    step->count = 1;
    const bool relayed = connect(program, rank, channel, place, forwards, step);
    if (forwards) {
        step->what = (uint16_t)(APP__STEP_RECV | APP__STEP_SEND | (step->what & APP__STEP_FINAL));
    } else if (relayed) {
        step->what &= (uint16_t)~APP__STEP_FINAL;
    }
}

const app__algorithm_t app__ring = {
    .name = "ring",
    .refuses = refuses,
    .plan = plan,
    .blocks = blocks,
    .block = block_at,
    .step = step_of,
};

// -- the chain

static const char *chain_refuses(const app__program_t *program)
{
    return program->kind == APP__COLL_BROADCAST || program->kind == APP__COLL_REDUCE
               ? NULL
               : "does broadcast and reduce";
}

static void chain_plan(app__program_t *program)
{
    program->lanes = program->channels;
    program->chunks = program->channels;
}

static app__block_t chain_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    return (app__block_t){.channel = channel_of(program, rank, block), .steps = 1};
}

static void chain_step(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                       app__step_t *step)
{
    const uint32_t n = program->ranks;
    const uint32_t channel = channel_of(program, rank, block);
    const bool forwards = block >= program->channels;
    const uint32_t own = forwards ? exit_of(program, rank, channel) : rank;
    const bool reduces = program->kind == APP__COLL_REDUCE;
    const uint32_t from_first = chain_place(program, own, channel);
    const unsigned final = from_first + 2 == n ? APP__STEP_FINAL : 0;
    SIM_CHECK(index == 0);
    step->from_chunk = channel;
    step->to_chunk = channel;
    step->count = 1;
    const uint64_t place = place_of(program, channel, own);
    const bool relayed = connect(program, rank, channel, place, forwards, step);
    if (forwards) {
        step->what = (uint16_t)(APP__STEP_RECV | APP__STEP_SEND | final);
        return;
    }
    step->what = (uint16_t)((from_first > 0 ? APP__STEP_RECV : 0) |
                            (from_first > 0 && reduces ? APP__STEP_REDUCE : 0) |
                            (from_first < n - 1 ? APP__STEP_SEND : 0) | (relayed ? 0 : final));
    if (from_first > 0 && (!reduces || from_first == n - 1)) {
        step->what |= APP__STEP_STORE;
    }
}

const app__algorithm_t app__chain = {
    .name = "chain",
    .refuses = chain_refuses,
    .plan = chain_plan,
    .blocks = blocks,
    .block = chain_block,
    .step = chain_step,
};

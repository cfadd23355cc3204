// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/all_to_all.c - all-to-all: all pairs at once, or in NCCL's
// order.
//
// With PXN, data for a rank on another rail goes to the rank of the own node that is on that rail,
// which forwards it. Such messages have lanes of their own: by destination's node before, by source
// after they are forwarded.
#include "apps/workload/collective/algorithms/program.h"

static const char *refuses(const app__program_t *program)
{
    return program->kind == APP__COLL_ALL_TO_ALL ? NULL : "does all-to-all";
}

static uint32_t most_local(const app__layout_t *layout)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < layout->nodes; i++) {
        const uint32_t size = layout->node_first[i + 1] - layout->node_first[i];
        most = SIM_MAX(size, most);
    }
    return most;
}

static void plan(app__program_t *program)
{
    const uint32_t nodes = program->layout->nodes;
    const uint32_t locals = most_local(program->layout);
    const uint32_t more = program->pxn ? SIM_MAX(nodes, locals) : 0;
    program->lanes = program->channels * (1 + more);
    program->chunks = program->channels;
    program->pairs = true;
}

// Returns the rank that forwards from one rank to another, or APP__NO_RANK.
static uint32_t relay_of(const app__program_t *program, uint32_t from, uint32_t to)
{
    const app__layout_t *const layout = program->layout;
    if (!program->pxn || layout->node[from] == layout->node[to] ||
        layout->rail[from] == layout->rail[to]) {
        return APP__NO_RANK;
    }
    return app__layout_on_rail(layout, layout->node[from], layout->rail[to]);
}

// The k-th message that a rank forwards: from a rank of its node to a rank of another node.
typedef struct forward {
    uint32_t from;
    uint32_t to;
} forward_t;

// Returns how many pairs a rank forwards for, and the pair number `wanted`.
static uint32_t forwards(const app__program_t *program, uint32_t rank, uint32_t wanted,
                         forward_t *found)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t node = layout->node[rank];
    const uint32_t first = layout->node_first[node];
    const uint32_t sources = layout->node_first[node + 1] - first - 1; // all but the rank itself
    uint32_t count = 0;
    if (!program->pxn || sources == 0) {
        return 0;
    }
    for (uint32_t other = 0; other < layout->nodes; other++) {
        const uint32_t to =
            other == node ? APP__NO_RANK : app__layout_on_rail(layout, other, layout->rail[rank]);
        if (to == APP__NO_RANK) {
            continue;
        }
        if (wanted >= count && wanted < count + sources) {
            const uint32_t at = wanted - count;
            *found = (forward_t){layout->order[first + at + (at >= layout->local[rank])], to};
        }
        count += sources;
    }
    return count;
}

// Fills the sending or the receiving step of a pair at one of its ends.
static void fill_end(const app__program_t *program, uint32_t from, uint32_t to, bool sends,
                     uint32_t channel, app__step_t *step)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t relay = relay_of(program, from, to);
    const bool direct = relay == APP__NO_RANK;
    step->what =
        (uint8_t)(APP__STEP_PAIR | (sends ? APP__STEP_SEND : APP__STEP_RECV | APP__STEP_STORE) |
                  (sends && direct ? APP__STEP_FINAL : 0));
    step->from_chunk = from;
    step->to_chunk = to;
    step->count = channel;
    step->send_peer = direct ? to : relay;
    step->recv_peer = direct ? from : relay;
    step->send_lane = direct ? 0 : program->channels * (1 + layout->node[to]);
    step->recv_lane = direct ? 0 : program->channels * (1 + layout->local[from]);
}

// Fills the step of the rank that forwards a pair's messages.
static void fill_relay(const app__program_t *program, const forward_t *pair, uint32_t channel,
                       app__step_t *step)
{
    const app__layout_t *const layout = program->layout;
    step->what = APP__STEP_PAIR | APP__STEP_RECV | APP__STEP_SEND | APP__STEP_FINAL;
    step->from_chunk = pair->from;
    step->to_chunk = pair->to;
    step->count = channel;
    step->recv_peer = pair->from;
    step->send_peer = pair->to;
    step->recv_lane = program->channels * (1 + layout->node[pair->to]);
    step->send_lane = program->channels * (1 + layout->local[pair->from]);
}

// -- all pairs at once: a block for each pair and channel

static uint32_t direct_blocks(const app__program_t *program, uint32_t rank)
{
    forward_t none;
    return program->channels *
           (2 * (program->ranks - 1) + forwards(program, rank, UINT32_MAX, &none));
}

// A block's channel and pair, and what it does for it.
typedef struct part {
    uint32_t channel;
    uint32_t from;
    uint32_t to;
    bool sends;
    bool forwards;
} part_t;

static part_t direct_part(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const uint32_t n = program->ranks;
    const uint32_t at = block / program->channels;
    part_t part = {.channel = block % program->channels, .from = rank, .to = rank};
    if (at < n - 1) {
        part.to = (rank + 1 + at) % n;
        part.sends = true;
    } else if (at < 2 * (n - 1)) {
        part.from = (rank + n - 1 - (at - (n - 1))) % n;
    } else {
        forward_t forward = {0, 0};
        (void)forwards(program, rank, at - 2 * (n - 1), &forward);
        part.from = forward.from;
        part.to = forward.to;
        part.forwards = true;
    }
    return part;
}

static app__block_t direct_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const part_t part = direct_part(program, rank, block);
    return (app__block_t){.channel = part.channel, .steps = 1};
}

static void direct_step(const app__program_t *program, uint32_t rank, uint32_t block,
                        uint32_t index, app__step_t *step)
{
    const part_t part = direct_part(program, rank, block);
    SIM_CHECK(index == 0);
    if (part.forwards) {
        const forward_t pair = {part.from, part.to};
        fill_relay(program, &pair, part.channel, step);
    } else {
        fill_end(program, part.from, part.to, part.sends, part.channel, step);
    }
}

const app__algorithm_t app__direct = {
    .name = "direct",
    .refuses = refuses,
    .plan = plan,
    .blocks = direct_blocks,
    .block = direct_block,
    .step = direct_step,
};

// -- NCCL's order: in each round, a rank sends to one rank and receives from another

// Returns how far away the node of round `round` is: 0, 1, 3, 6, 10..., modulo a power of 2.
static uint32_t node_distance(uint32_t nodes, uint32_t round)
{
    uint32_t power = 1;
    uint32_t distance = 0;
    while (power < nodes) {
        power *= 2;
    }
    for (uint32_t i = 1, at = 0;; i++) { // skips the distances that no node has
        if (distance < nodes && at++ == round) {
            return distance;
        }
        distance = (distance + i) % power;
    }
}

// Returns the rank that a rank sends to (or receives from) in a round.
static uint32_t partner(const app__program_t *program, uint32_t rank, uint32_t round, bool sends)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t size = layout->per_node;
    if (size == 0) { // unequal nodes: one round after the other through all ranks
        return (rank + (sends ? round : layout->ranks - round)) % layout->ranks;
    }
    const uint32_t away = node_distance(layout->nodes, round / size);
    const uint32_t step = round % size;
    const uint32_t node =
        (layout->node[rank] + (sends ? away : layout->nodes - away)) % layout->nodes;
    const uint32_t local = (layout->local[rank] + (sends ? step : size - step)) % size;
    return layout->order[layout->node_first[node] + local];
}

// Rounds of a channel: round 0 is the rank's own data, which stays.
static uint32_t rounds_of(const app__program_t *program, uint32_t channel)
{
    const uint32_t nodes = program->layout->nodes;
    const uint32_t count = program->by_node ? nodes : program->ranks - 1;
    const uint32_t own = count / program->channels + (channel < count % program->channels);
    return program->by_node ? own * program->layout->per_node - (channel == 0) : own;
}

// Returns the round that is a channel's step `index`.
static uint32_t round_at(const app__program_t *program, uint32_t channel, uint32_t index)
{
    const uint32_t size = program->layout->per_node;
    if (!program->by_node) {
        return 1 + index * program->channels + channel;
    }
    const uint32_t at = index + (channel == 0);
    return (channel + at / size * program->channels) * size + at % size;
}

static const char *pairwise_refuses(const app__program_t *program)
{
    return program->kind != APP__COLL_ALL_TO_ALL ? "does all-to-all" : NULL;
}

// A round belongs to one channel, which carries the whole message. With by_node, the rounds to
// the ranks of one node are those of one channel (NCCL: ncclP2pChannelBaseForRound).
static void pairwise_plan(app__program_t *program)
{
    plan(program);
    program->chunks = 1;
}

// Each channel has a block that sends and one that receives; those that forward are as above.
static uint32_t pairwise_blocks(const app__program_t *program, uint32_t rank)
{
    forward_t none;
    return 2 * program->channels + forwards(program, rank, UINT32_MAX, &none);
}

static bool pairwise_forward(const app__program_t *program, uint32_t rank, uint32_t block,
                             forward_t *forward)
{
    if (block < 2 * program->channels) {
        return false;
    }
    (void)forwards(program, rank, block - 2 * program->channels, forward);
    return true;
}

static app__block_t pairwise_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    forward_t forward = {0, 0};
    if (pairwise_forward(program, rank, block, &forward)) {
        return (app__block_t){.channel = 0, .steps = 1};
    }
    return (app__block_t){.channel = 0, .steps = rounds_of(program, block / 2)};
}

static void pairwise_step(const app__program_t *program, uint32_t rank, uint32_t block,
                          uint32_t index, app__step_t *step)
{
    forward_t forward = {0, 0};
    if (pairwise_forward(program, rank, block, &forward)) {
        fill_relay(program, &forward, 0, step);
        return;
    }
    const bool sends = block % 2 == 0;
    const uint32_t round = round_at(program, block / 2, index);
    const uint32_t other = partner(program, rank, round, sends);
    fill_end(program, sends ? rank : other, sends ? other : rank, sends, 0, step);
}

const app__algorithm_t app__pairwise = {
    .name = "pairwise",
    .refuses = pairwise_refuses,
    .plan = pairwise_plan,
    .blocks = pairwise_blocks,
    .block = pairwise_block,
    .step = pairwise_step,
};

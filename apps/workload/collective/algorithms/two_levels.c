// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/two_levels.c - all-reduce in two levels: within nodes, and
// between them on each rail; reduce-scatter and all-gather in the NVSwitch of one node.
//
// Each rank of a node owns a shard of the buffer. The node reduces the shards: along a ring
// (hierarchical), or in its NVSwitch (NVLS). The owners of a shard reduce it between nodes: along a
// ring, or by the double binary tree (NVLS tree). Then the node gathers the shards.
#include "apps/workload/collective/algorithms/tree.h"

// The place of a rank among the nodes.
typedef struct spot {
    uint32_t size;  // ranks of a node
    uint32_t nodes; // nodes
    uint32_t local;
    uint32_t node;
} spot_t;

static spot_t spot_of(const app__program_t *program, uint32_t rank)
{
    const app__layout_t *const layout = program->layout;
    return (spot_t){layout->per_node, layout->nodes, layout->local[rank], layout->node[rank]};
}

static uint32_t rank_of(const app__program_t *program, uint32_t node, uint32_t local)
{
    return program->layout->order[program->layout->node_first[node] + local];
}

static const char *refuses(const app__program_t *program)
{
    return program->kind != APP__COLL_ALL_REDUCE ? "does all-reduce"
           : program->layout->per_node == 0      ? "needs nodes with equal numbers of ranks"
                                                 : NULL;
}

static const char *switch_refuses(const app__program_t *program)
{
    return program->switched && program->layout->per_node > 1
               ? "has no NVSwitch that reduces where NVSwitches are nodes of the network"
               : NULL;
}

static const char *nvls_refuses(const app__program_t *program)
{
    const bool halves =
        program->kind == APP__COLL_REDUCE_SCATTER || program->kind == APP__COLL_ALL_GATHER;
    const char *const refusal = halves && program->layout->nodes == 1 ? NULL : refuses(program);
    const char *const by_switch = switch_refuses(program);
    return by_switch != NULL ? by_switch
           : refusal != NULL && program->kind != APP__COLL_ALL_REDUCE
               ? "does all-reduce, and within one node reduce-scatter and all-gather"
               : refusal;
}

static const char *nvls_tree_refuses(const app__program_t *program)
{
    const char *const by_switch = switch_refuses(program);
    return by_switch != NULL ? by_switch : refuses(program);
}

// A shard has a chunk for each node.
static void plan_rings(app__program_t *program)
{
    program->lanes = 2 * program->channels;
    program->chunks = program->channels * program->ranks;
    program->step_chunks = program->layout->nodes;
    program->waits = true;
}

static void plan_tree(app__program_t *program)
{
    program->lanes = 2 * program->channels;
    program->chunks = program->channels * program->layout->per_node;
    program->waits = true;
}

// Sets the chunks of a shard; each rank of a node owns one of them.
static void set_shard(app__step_t *step, uint32_t channel, const spot_t *spot, uint32_t shard,
                      uint32_t chunks)
{
    step->from_chunk = (channel * spot->size + shard) * chunks;
    step->to_chunk = step->from_chunk;
    step->count = chunks;
}

// -- between nodes: a ring of the shard's owners

static uint32_t ring_steps(const spot_t *spot)
{
    return spot->nodes > 1 ? 2 * spot->nodes - 1 : 0;
}

static void ring_step(const app__program_t *program, const spot_t *spot, uint32_t channel,
                      uint32_t index, app__step_t *step)
{
    const uint32_t n = spot->nodes;
    SIM_CHECK(n > 0);
    const bool result = index >= n - 1;
    const uint32_t behind = result ? index - (n - 1) : index + 1;
    set_shard(step, channel, spot, spot->local, n);
    step->from_chunk += (spot->node + 2 * n - behind) % n;
    step->to_chunk = step->from_chunk;
    step->count = 1;
    step->send_peer = rank_of(program, (spot->node + 1) % n, spot->local);
    step->recv_peer = rank_of(program, (spot->node + n - 1) % n, spot->local);
    step->what =
        (uint8_t)((index > 0 ? APP__STEP_RECV : 0) | (index < 2 * n - 2 ? APP__STEP_SEND : 0) |
                  (index > 0 && index <= n - 1 ? APP__STEP_REDUCE : 0) |
                  (index >= n - 1 ? APP__STEP_STORE : 0));
}

// -- hierarchical: rings in the nodes, too

static uint32_t one_block(const app__program_t *program, uint32_t rank)
{
    (void)rank;
    return program->ranks > 1 ? program->channels : 0;
}

static app__block_t hierarchical_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const spot_t spot = spot_of(program, rank);
    const uint32_t inside = spot.size > 1 ? spot.size : 0;
    return (app__block_t){.channel = block, .steps = 2 * inside + ring_steps(&spot)};
}

// A ring within the node: reduce-scatter or all-gather of shards.
static void inside_step(const app__program_t *program, const spot_t *spot, uint32_t channel,
                        uint32_t index, bool reduces, app__step_t *step)
{
    const uint32_t size = spot->size;
    const bool last = index + 1 == size;
    set_shard(step, channel, spot, (spot->local + 2 * size - index - (reduces ? 1 : 0)) % size,
              spot->nodes);
    step->send_peer = rank_of(program, spot->node, (spot->local + 1) % size);
    step->recv_peer = rank_of(program, spot->node, (spot->local + size - 1) % size);
    step->what = (uint16_t)((index > 0 ? APP__STEP_RECV : 0) | (last ? 0 : APP__STEP_SEND) |
                            (index > 0 && reduces ? APP__STEP_REDUCE : 0) |
                            (index > 0 && (last || !reduces) ? APP__STEP_STORE : 0) |
                            (!reduces && index + 2 == size ? APP__STEP_FINAL : 0));
}

static void hierarchical_step(const app__program_t *program, uint32_t rank, uint32_t block,
                              uint32_t index, app__step_t *step)
{
    const spot_t spot = spot_of(program, rank);
    const uint32_t inside = spot.size > 1 ? spot.size : 0;
    const uint32_t between = ring_steps(&spot);
    if (index < inside) {
        inside_step(program, &spot, block, index, true, step);
    } else if (index < inside + between) {
        ring_step(program, &spot, block, index - inside, step);
    } else {
        inside_step(program, &spot, block, index - inside - between, false, step);
    }
}

const app__algorithm_t app__hierarchical = {
    .name = "hierarchical",
    .refuses = refuses,
    .plan = plan_rings,
    .blocks = one_block,
    .block = hierarchical_block,
    .step = hierarchical_step,
};

// -- NVLS: four blocks of a channel. CONTRIBUTE sends the shards to their owners, REDUCE adds them
// up and goes on between nodes, SPREAD sends the owner's result, COLLECT receives the others'.

enum { CONTRIBUTE, REDUCE, SPREAD, COLLECT, NVLS_BLOCKS };

static uint32_t nvls_blocks(const app__program_t *program, uint32_t rank)
{
    (void)rank;
    return program->ranks > 1 ? NVLS_BLOCKS * program->channels : 0;
}

// Returns how many chunks a shard has.
static uint32_t shard_chunks(const app__program_t *program)
{
    return program->algorithm == &app__nvls ? program->layout->nodes : 1;
}

// The node's place in the tree between nodes.
typedef struct branch {
    app__tree_t tree;
    uint32_t children[2];
    uint32_t count;
} branch_t;

static branch_t branch_of(const app__program_t *program, uint32_t node, uint32_t channel)
{
    branch_t branch = {.tree = app__tree_of(program->layout->nodes, node, channel % 2 != 0)};
    for (int i = 0; i < 2; i++) {
        if (branch.tree.children[i] != APP__NO_RANK) {
            branch.children[branch.count++] = branch.tree.children[i];
        }
    }
    return branch;
}

// Returns the steps of REDUCE between nodes, and those of SPREAD.
static uint32_t up_steps(const app__program_t *program, const spot_t *spot, uint32_t channel)
{
    if (program->algorithm == &app__nvls) {
        return ring_steps(spot);
    }
    const uint32_t count = branch_of(program, spot->node, channel).count;
    return spot->nodes > 1 ? (count > 0 ? count : 1) : 0;
}

static uint32_t down_steps(const app__program_t *program, const spot_t *spot, uint32_t channel)
{
    return program->algorithm == &app__nvls ? 0 : up_steps(program, spot, channel);
}

static app__block_t nvls_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const spot_t spot = spot_of(program, rank);
    const uint32_t channel = block / NVLS_BLOCKS;
    const uint32_t others = spot.size - 1;
    const uint32_t adds = program->kind == APP__COLL_ALL_GATHER ? 0 : others;
    const uint32_t spreads = program->kind == APP__COLL_REDUCE_SCATTER ? 0 : others;
    const uint32_t steps[NVLS_BLOCKS] = {
        [CONTRIBUTE] = adds,
        [REDUCE] = adds + up_steps(program, &spot, channel),
        [SPREAD] = down_steps(program, &spot, channel) + spreads,
        [COLLECT] = spreads,
    };
    return (app__block_t){.channel = channel, .steps = steps[block % NVLS_BLOCKS]};
}

static void tree_up(const app__program_t *program, const spot_t *spot, uint32_t channel,
                    uint32_t index, app__step_t *step)
{
    const branch_t branch = branch_of(program, spot->node, channel);
    if (branch.count > 0) {
        step->what = APP__STEP_RECV | APP__STEP_REDUCE;
        step->recv_peer = rank_of(program, branch.children[index], spot->local);
    }
    if (index + 1 >= branch.count && branch.tree.parent != APP__NO_RANK) {
        step->what |= APP__STEP_SEND;
        step->send_peer = rank_of(program, branch.tree.parent, spot->local);
    } else {
        step->what |= APP__STEP_STORE;
    }
}

static void tree_down(const app__program_t *program, const spot_t *spot, uint32_t channel,
                      uint32_t index, app__step_t *step)
{
    const branch_t branch = branch_of(program, spot->node, channel);
    if (index == 0 && branch.tree.parent != APP__NO_RANK) {
        step->what = APP__STEP_RECV | APP__STEP_STORE;
        step->recv_peer = rank_of(program, branch.tree.parent, spot->local);
    }
    if (index < branch.count) {
        step->what |= APP__STEP_SEND;
        step->send_peer = rank_of(program, branch.children[index], spot->local);
    }
}

// Makes a step of SPREAD wait until the block REDUCE has all of it.
static void wait_for_reduce(const app__program_t *program, uint32_t rank, uint32_t block,
                            app__step_t *step)
{
    const uint32_t steps = nvls_block(program, rank, block - SPREAD + REDUCE).steps;
    if (steps > 0) {
        step->wait_block = block - SPREAD + REDUCE;
        step->wait_step = steps - 1;
    }
}

// Returns the shard that the rank at a place of its node owns: its part of a reduce-scatter.
static uint32_t shard_of(const app__program_t *program, const spot_t *spot, uint32_t local)
{
    return program->kind == APP__COLL_ALL_REDUCE ? local : rank_of(program, spot->node, local);
}

static void spread_step(const app__program_t *program, const spot_t *spot, uint32_t channel,
                        uint32_t index, app__step_t *step)
{
    step->what = (uint16_t)(APP__STEP_SEND | APP__STEP_FINAL | APP__STEP_SPREAD);
    step->send_peer = rank_of(program, spot->node, (spot->local + 1 + index) % spot->size);
    step->send_lane = program->channels;
    set_shard(step, channel, spot, shard_of(program, spot, spot->local), shard_chunks(program));
}

static void nvls_step(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                      app__step_t *step)
{
    const spot_t spot = spot_of(program, rank);
    const uint32_t channel = block / NVLS_BLOCKS;
    const uint32_t part = block % NVLS_BLOCKS;
    const uint32_t others = spot.size - 1;
    const uint32_t down = down_steps(program, &spot, channel);
    const uint32_t next = (spot.local + 1 + index) % spot.size;
    const uint32_t previous = (spot.local + 2 * spot.size - 1 - index) % spot.size;
    const uint32_t chunks = shard_chunks(program);
    set_shard(step, channel, &spot, shard_of(program, &spot, spot.local), chunks);
    if (part == CONTRIBUTE) {
        set_shard(step, channel, &spot, shard_of(program, &spot, next), chunks);
        step->what = APP__STEP_SEND | APP__STEP_SUM;
        step->send_peer = rank_of(program, spot.node, next);
    } else if (part == COLLECT) {
        set_shard(step, channel, &spot, shard_of(program, &spot, previous), chunks);
        step->what = APP__STEP_RECV | APP__STEP_STORE;
        step->recv_peer = rank_of(program, spot.node, previous);
        step->recv_lane = program->channels;
    } else if (part == REDUCE && index < others) {
        step->what = APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_STORE;
        step->recv_peer = rank_of(program, spot.node, previous);
    } else if (part == REDUCE && program->algorithm == &app__nvls) {
        ring_step(program, &spot, channel, index - others, step);
    } else if (part == REDUCE) {
        tree_up(program, &spot, channel, index - others, step);
    } else if (index < down) {
        tree_down(program, &spot, channel, index, step);
    } else {
        spread_step(program, &spot, channel, index - down, step);
    }
    const bool root =
        down > 0 && branch_of(program, spot.node, channel).tree.parent == APP__NO_RANK;
    if (part == SPREAD && index == 0 && (down == 0 || root)) {
        wait_for_reduce(program, rank, block, step);
    }
}

const app__algorithm_t app__nvls = {
    .name = "nvls",
    .refuses = nvls_refuses,
    .plan = plan_rings,
    .blocks = nvls_blocks,
    .block = nvls_block,
    .step = nvls_step,
};

const app__algorithm_t app__nvls_tree = {
    .name = "nvls-tree",
    .refuses = nvls_tree_refuses,
    .plan = plan_tree,
    .blocks = nvls_blocks,
    .block = nvls_block,
    .step = nvls_step,
};

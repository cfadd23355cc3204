// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/tree.c - the double binary tree: all-reduce.
//
// A chain leads through each node to its head, and a binary tree joins the heads. Channels of odd
// number use a second tree, in which the leaves of the first one are inner nodes. One block of a
// channel reduces towards the root, the other one sends results down. (NCCL, src/graph/trees.cc)
#include "apps/workload/collective/algorithms/tree.h"

// Fills the tree of a rank r among n, whose root is 0.
static app__tree_t first_tree(uint32_t n, uint32_t r)
{
    app__tree_t tree = {APP__NO_RANK, {APP__NO_RANK, APP__NO_RANK}};
    uint32_t bit = 1;
    while (bit < n && (bit & r) == 0) {
        bit *= 2;
    }
    if (r == 0) {
        tree.children[1] = n > 1 ? bit / 2 : APP__NO_RANK;
        return tree;
    }
    const uint32_t up = (r ^ bit) | (bit * 2);
    uint32_t half = bit / 2;
    tree.parent = up >= n ? r ^ bit : up;
    tree.children[0] = half == 0 ? APP__NO_RANK : r - half;
    while (half > 0 && r + half >= n) {
        half /= 2;
    }
    tree.children[1] = half == 0 ? APP__NO_RANK : r + half;
    return tree;
}

// Renames a rank of the second tree to that of the first one, or back.
static uint32_t rename_rank(uint32_t n, uint32_t r, bool back)
{
    if (r == APP__NO_RANK) {
        return r;
    }
    return n % 2 == 0 ? n - 1 - r : (r + (back ? 1 : n - 1)) % n;
}

app__tree_t app__tree_of(uint32_t n, uint32_t r, bool second)
{
    if (!second) {
        return first_tree(n, r);
    }
    app__tree_t tree = first_tree(n, rename_rank(n, r, false));
    tree.parent = rename_rank(n, tree.parent, true);
    tree.children[0] = rename_rank(n, tree.children[0], true);
    tree.children[1] = rename_rank(n, tree.children[1], true);
    return tree;
}

// The neighbours of a rank: on the way up it receives from its children and sends to its parent.
typedef struct kin {
    uint32_t parent; // APP__NO_RANK: the root
    uint32_t children[3];
    uint32_t count;
} kin_t;

static uint32_t size_of(const app__layout_t *layout, uint32_t node)
{
    return layout->node_first[node + 1] - layout->node_first[node];
}

// Returns the rank at a place of a node's chain. It begins at another rank in each channel.
static uint32_t in_chain(const app__layout_t *layout, uint32_t node, uint32_t channel,
                         uint32_t place)
{
    const uint32_t size = size_of(layout, node);
    return layout->order[layout->node_first[node] + (channel / 2 + place) % size];
}

static kin_t kin_of(const app__program_t *program, uint32_t rank, uint32_t channel)
{
    const app__layout_t *const layout = program->layout;
    const uint32_t node = layout->node[rank];
    const uint32_t size = size_of(layout, node);
    const uint32_t place = (layout->local[rank] + size - channel / 2 % size) % size;
    kin_t kin = {.parent = APP__NO_RANK};
    if (place + 1 < size) {
        kin.children[kin.count++] = in_chain(layout, node, channel, place + 1);
    }
    if (place > 0) {
        kin.parent = in_chain(layout, node, channel, place - 1);
        return kin;
    }
    const app__tree_t tree = app__tree_of(layout->nodes, node, channel % 2 != 0);
    for (int i = 0; i < 2; i++) {
        if (tree.children[i] != APP__NO_RANK) {
            kin.children[kin.count++] = in_chain(layout, tree.children[i], channel, 0);
        }
    }
    if (tree.parent != APP__NO_RANK) {
        kin.parent = in_chain(layout, tree.parent, channel, 0);
    }
    return kin;
}

static const char *refuses(const app__program_t *program)
{
    return program->kind == APP__COLL_ALL_REDUCE ? NULL : "does all-reduce";
}

static void plan(app__program_t *program)
{
    program->lanes = program->channels;
    program->chunks = program->channels;
    program->waits = true;
}

static uint32_t blocks(const app__program_t *program, uint32_t rank)
{
    (void)rank;
    return program->ranks > 1 ? 2 * program->channels : 0;
}

static app__block_t block_at(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const kin_t kin = kin_of(program, rank, block / 2);
    return (app__block_t){.channel = block / 2, .steps = kin.count > 0 ? kin.count : 1};
}

// The block that reduces: a step for each child; the last one sends to the parent.
static void step_up(const kin_t *kin, uint32_t index, app__step_t *step)
{
    const bool last = index + 1 >= kin->count;
    if (kin->count > 0) {
        step->what = APP__STEP_RECV | APP__STEP_REDUCE;
        step->recv_peer = kin->children[index];
    }
    if (last && kin->parent != APP__NO_RANK) {
        step->what |= APP__STEP_SEND;
        step->send_peer = kin->parent;
    } else {
        step->what |= APP__STEP_STORE;
    }
}

// The block that sends results down: a step for each child; the first one receives them.
static void step_down(const app__program_t *program, const kin_t *kin, uint32_t block,
                      uint32_t index, app__step_t *step)
{
    if (index == 0 && kin->parent != APP__NO_RANK) {
        step->what = APP__STEP_RECV | APP__STEP_STORE;
        step->recv_peer = kin->parent;
    } else if (kin->parent == APP__NO_RANK) {
        step->wait_block = block - 1;
        step->wait_step = kin->count - 1;
    }
    if (index < kin->count) {
        const uint32_t child = kin->children[index];
        const bool leaf = kin_of(program, child, block / 2).count == 0;
        step->what |= (uint8_t)(APP__STEP_SEND | (leaf ? APP__STEP_FINAL : 0));
        step->send_peer = child;
    }
}

static void step_of(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                    app__step_t *step)
{
    const kin_t kin = kin_of(program, rank, block / 2);
    step->from_chunk = block / 2;
    step->to_chunk = block / 2;
    step->count = 1;
    if (block % 2 == 0) {
        step_up(&kin, index, step);
    } else {
        step_down(program, &kin, block, index, step);
    }
}

const app__algorithm_t app__tree = {
    .name = "tree",
    .refuses = refuses,
    .plan = plan,
    .blocks = blocks,
    .block = block_at,
    .step = step_of,
};

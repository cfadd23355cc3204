// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/program.h - how an algorithm does a collective: a program for
// each rank.
#ifndef APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_H
#define APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_H

#include "apps/workload/collective/algorithms/program_file.h"

typedef struct app__algorithm app__algorithm_t;

// Where the ranks of a group are. A node is an NVLink domain: a server, or a rack of GPUs.
typedef struct app__layout {
    uint32_t ranks;
    uint32_t nodes;
    uint32_t per_node;    // ranks of each node; 0: nodes have unequal numbers
    uint32_t *node;       // per rank: its node, by first appearance
    uint32_t *local;      // per rank: its place among the group's ranks of the node
    uint32_t *rail;       // per rank: its place among all ranks of the node: messages between ranks
                          // with the same rail do not cross rails
    uint32_t *order;      // ranks by (node, local)
    uint32_t *node_first; // per node: index in order; nodes + 1 values
} app__layout_t;

// The program of one collective: what its algorithm needs to know to say any step.
typedef struct app__program {
    const app__algorithm_t *algorithm;
    const app__program_file_t *file; // NULL: the algorithm computes its steps
    const app__layout_t *layout;
    uint32_t ranks;
    uint32_t root;
    uint32_t channels;    // that the caller wants
    uint32_t lanes;       // channels that connections have, relays included; set by plan
    uint32_t chunks;      // of a loop; set by plan. APP__STEP_PAIR: of a pair
    uint8_t kind;         // app__coll_kind_t
    uint32_t step_chunks; // maximum number of chunks of a step; set by plan
    bool waits;           // some steps wait for other blocks; set by plan
    bool pairs;           // sizes are those of pairs; set by plan
    bool equal_chunks;    // all chunks have the same size, rounded up; set by plan
    bool switched; // within a node, messages go over the network: it has an NVSwitch as a node
    bool pxn;      // messages change rails within the sender's node
    bool by_node;  // pairwise: a channel does all rounds to one node, as NCCL's do
    // Rings of two channels change places from node to node, so that none crosses rails.
    bool alternates;
} app__program_t;

struct app__algorithm {
    const char *name; // "ring"
    // Returns NULL, or why the algorithm cannot do the collective: "needs a power of 2 of ranks".
    const char *(*refuses)(const app__program_t *program);
    // Sets what an algorithm decides; what it leaves alone is 0, and step_chunks 1.
    void (*plan)(app__program_t *program);
    uint32_t (*blocks)(const app__program_t *program, uint32_t rank);
    app__block_t (*block)(const app__program_t *program, uint32_t rank, uint32_t block);
    void (*step)(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                 app__step_t *step); // all members are 0, wait_block is APP__NO_BLOCK
};

extern const app__algorithm_t app__ring;
extern const app__algorithm_t app__tree;             // double binary tree
extern const app__algorithm_t app__halving_doubling; // recursive, by halves of the buffer
extern const app__algorithm_t app__hierarchical;     // in the node, by rails, in the node
extern const app__algorithm_t app__pat;              // parallel aggregated trees
extern const app__algorithm_t app__nvls;             // reduction in the NVSwitch, ring by rails
extern const app__algorithm_t app__nvls_tree;        // reduction in the NVSwitch, tree by rails
extern const app__algorithm_t app__chain;            // broadcast, reduce
extern const app__algorithm_t app__pairwise;         // all-to-all in NCCL's order
extern const app__algorithm_t app__direct;           // all-to-all, all pairs at once
extern const app__algorithm_t app__all_pairs;        // all-reduce, all pairs at once
extern const app__algorithm_t app__from_file;        // steps of program->file

// Returns the number of a node's rank with a rail, or APP__NO_RANK.
#define APP__NO_RANK UINT32_MAX
uint32_t app__layout_on_rail(const app__layout_t *layout, uint32_t node, uint32_t rail);

// Returns step `index` of a block.
app__step_t app__program_step(const app__program_t *program, uint32_t rank, uint32_t block,
                              uint32_t index);

// How a buffer is cut: loops, chunks of a loop, slices of a step.
typedef struct app__cut {
    uint64_t bytes;       // of the buffer, or of the largest pair
    uint64_t chunk_bytes; // at most, of one chunk
    uint32_t chunks;      // of a loop
    uint32_t loops;
    bool equal;
} app__cut_t;

#define APP__LOOPS_MAX UINT32_MAX // stands for as many or more
// Cuts a buffer into chunks of at most chunk_max bytes; 0: into one loop.
app__cut_t app__cut(uint64_t bytes, uint32_t chunks, uint64_t chunk_max, bool equal);
// Returns the bytes of `count` chunks from `first` on in a loop. A buffer of fewer bytes than the
// cut's (a smaller pair) is cut into the same loops.
uint64_t app__cut_bytes(const app__cut_t *cut, uint64_t bytes, uint32_t loop, uint32_t first,
                        uint32_t count);

#endif // APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_H

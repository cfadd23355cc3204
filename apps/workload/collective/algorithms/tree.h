// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/tree.h - NCCL's binary trees of nodes.
#ifndef APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_TREE_H
#define APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_TREE_H

#include "apps/workload/collective/algorithms/program.h"

typedef struct app__tree {
    uint32_t parent; // APP__NO_RANK: the root
    uint32_t children[2];
} app__tree_t;

// Returns the place of node r among n in the first or the second tree.
app__tree_t app__tree_of(uint32_t n, uint32_t r, bool second);

#endif // APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_TREE_H

// SPDX-License-Identifier: Apache-2.0
// kernel/engine/sort.h - sorts a node's mail of one window.
#ifndef KERNEL_ENGINE_SORT_H
#define KERNEL_ENGINE_SORT_H

#include "kernel/engine/unit.h"
#include "kernel/engine_internal.h"

// Copies `count` messages of the current window from `from` to `to`, which must not overlap, in the
// order in which the node takes them: by time, then as sim->order says.
void sim__sort_mail(sim_thread_t *thread, sim_node_t *node, const sim_mail_t *from, size_t count,
                    sim_mail_t *to);
void sim__sort_by_rank(sim_node_t *node, sim_mail_t *mail, size_t count);
// Leaves messages behind the end of a clipped window as they are: they are sorted again.
void sim__sort_by_rotor(sim_node_t *node, sim_mail_t *mail, size_t count);
void sim__add_ties(sim_node_t *node, uint64_t count); // as if there had been so many more

#endif // KERNEL_ENGINE_SORT_H

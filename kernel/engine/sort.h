// SPDX-License-Identifier: Apache-2.0
// kernel/engine/sort.h - sorts a node's mail of one window.
#ifndef KERNEL_ENGINE_SORT_H
#define KERNEL_ENGINE_SORT_H

#include "kernel/engine_internal.h"

// Copies `count` messages of the current window from `from` to `to`, which must not overlap, in the
// order in which the node takes them: by time, then as sim->order says.
void sim__sort_mail(sim_thread_t *thread, sim_node_t *node, const sim_mail_t *from, size_t count,
                    sim_mail_t *to);

#endif // KERNEL_ENGINE_SORT_H

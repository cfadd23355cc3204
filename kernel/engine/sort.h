// SPDX-License-Identifier: Apache-2.0
// kernel/engine/sort.h - a window's mail of one node in its order.
#ifndef KERNEL_ENGINE_SORT_H
#define KERNEL_ENGINE_SORT_H

#include "kernel/engine_internal.h"

// Puts `count` messages of the window that the thread runs from `from` into `to`, which does not
// overlap it, in order of (time, tie rank at the node).
void sim__sort_mail(sim_thread_t *thread,
                    const sim_node_t *node,
                    const sim_mail_t *from,
                    size_t count,
                    sim_mail_t *to);

#endif // KERNEL_ENGINE_SORT_H

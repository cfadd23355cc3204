// SPDX-License-Identifier: Apache-2.0
// kernel/engine/mail.h - messages in flight, and a node's mail of a window.
#ifndef KERNEL_ENGINE_MAIL_H
#define KERNEL_ENGINE_MAIL_H

#include "kernel/engine/thread.h"

extern const sim_mail_t sim__no_mail[SIM_MAIL_PAD]; // mail of a node that has none in this window

// Gathers a node's arrivals of this window in node->mail, sorted, with a sentinel (key UINT64_MAX)
// behind them. Entries behind the sentinel are no messages: they may be prefetched, never read.
void sim__gather_mail(sim_thread_t *thread, sim_node_t *node);
// Recycles the mailbox that a node, alone in its unit, has read in place.
void sim__mail_done(sim_thread_t *thread);

// Adds the message to a mailbox of the slot that is full, in larger memory.
void sim__mailbox_grow(sim_worker_t *worker, uint32_t slot, sim_mailbox_t *box,
                       const sim_channel_t *channel, sim_time_t within_ps, void *message);

// Puts a message into the thread's mailbox of that slot for the node, which this rank runs, and
// marks the node's unit as active.
void sim__mailbox_put(sim_thread_t *thread, uint32_t slot, uint32_t node, sim_mail_t mail);
// Frees the memory of one of the thread's mailboxes.
void sim__mailbox_empty(sim_thread_t *thread, sim_mailbox_t *box);
// Puts the mail that the node has not taken back into its thread's mailbox of this window.
void sim__mail_return(sim_thread_t *thread, const sim_node_t *node);

void sim__send_by_slots(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps,
                        void *message);

#endif // KERNEL_ENGINE_MAIL_H

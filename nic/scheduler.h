// SPDX-License-Identifier: Apache-2.0
// nic/scheduler.h - the choice of a NIC's queue pair that sends next, as a table of operations.
//
// Packets of data do not exist before the moment they are sent: a NIC whose port is free asks its
// scheduler for a queue pair, and that queue pair's transport for a packet. Acknowledgements and
// CNPs are built at once and wait in the port's queues. The NIC chooses the class: PFC frames, the
// class of CNPs, the others by deficit round robin; in a class waiting packets of the port's queue
// go first. The NIC also keeps queue pairs to their rates. The scheduler chooses among the queue
// pairs of a class that may send now:
//
//     join    a queue pair may send now: work, window and rate allow it
//     leave   it may not send any more
//     next    the scheduler names the queue pair that sends
//     sent    a packet of the queue pair has left, and it may send another one now
//
// A scheduler with a `loop` does all of that itself, classes and rates included: its NICs call the
// loop and nothing else. compat/hpcc/scan.c is one.
//
// nic.scheduler chooses a scheduler by name from nic_scheduler_all and from those that plug-ins
// (examples/plugins/shortest.c) and programs add (nic/extra.h); or a program sets its own in
// nic_config_t.custom_scheduler. Operations run in events of the host and must not post, wait or
// call other queue pairs.
#ifndef NIC_SCHEDULER_H
#define NIC_SCHEDULER_H

#include "kernel/attribute.h"
#include "nic/host.h"

SIM_C_BEGIN

typedef struct nic_schedule_loop {
    // Called when the queue pair may be able to send (nic_scheduler_can_send says so now): work was
    // posted, an acknowledgement came, READs are to be answered.
    void (*ready)(nic_qp_t *qp);
    // Called when the queue pair does not work any more, or drains. The loop forgets it: it may be
    // freed afterwards.
    void (*stopped)(nic_qp_t *qp);
    // Called when the queue pair's congestion control was called: rate or window may have changed.
    void (*controlled)(nic_qp_t *qp);
    // Called when the port is free, because it wakes or after nic_scheduler_kick. Sends the next
    // packet.
    void (*port_free)(nic_t *nic);
    // Called in nic_scheduler_transmit when a packet of the queue pair, `bytes` long on the link
    // without preamble and gap, was handed to the port. All other effects of the packet come later.
    void (*sent)(nic_qp_t *qp, uint32_t bytes);
    // Takes a packet that has arrived. It goes to nic_scheduler_receive, or to
    // net_port_control_received and is consumed.
    void (*arrived)(nic_t *nic, net_packet_t *packet);
    // Returns the queue of the port in which acknowledgements of class `priority` wait.
    uint8_t (*answer_queue)(const nic_t *nic, uint8_t priority);
    // True: ACKs that acknowledge nothing new go to congestion control, too.
    bool hears_late_acks;
} nic_schedule_loop_t;

struct nic_scheduler_ops {
    const char *name;              // "ring"
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    size_t state_bytes;            // state of a NIC, zeroed; 0: none
    size_t qp_state_bytes;         // state of a queue pair, zeroed; a multiple of SIM_CACHE_LINE
    // Prepares the zeroed state. config is that of attrs, or nic_config_t.custom_scheduler_config.
    // May be NULL.
    void (*create)(nic_t *nic, const void *config);
    void (*destroy)(nic_t *nic); // frees what create and others made, but for the state itself

    void (*join)(nic_t *nic, nic_qp_t *qp);
    void (*leave)(nic_t *nic, nic_qp_t *qp);          // qp has joined
    nic_qp_t *(*next)(nic_t *nic, uint32_t priority); // returns one that has joined; there is one
    void (*sent)(nic_t *nic, nic_qp_t *qp, uint32_t bytes); // NULL: nothing to do
    // A loop that replaces the four operations above, with the ideal NIC only. NULL: the NIC's own
    // loop.
    const nic_schedule_loop_t *loop;
};

// All schedulers of the library, found by name; ends with NULL.
extern const nic_scheduler_ops_t *const nic_scheduler_all[];
// The scheduler that serves the queue pairs of a class in turn, a packet each, in the order in
// which they joined. O(1) a packet.
extern const nic_scheduler_ops_t nic_scheduler_ring;

// -- for schedulers

// Returns the scheduler of a NIC.
const nic_scheduler_ops_t *nic_scheduler_ops(const nic_t *nic);
// Each returns the scheduler's state of a NIC, or of a queue pair. A scheduler without state_bytes,
// or without qp_state_bytes, must not call it.
void *nic_scheduler_state(const nic_t *nic);
void *nic_scheduler_qp_state(const nic_qp_t *qp);
// Returns the priority class that the queue pair sends in, 0 to 7.
uint32_t nic_scheduler_class(const nic_qp_t *qp);
// Returns the rest of the message that the queue pair sends next, in bytes of payload. It is 0 if
// nothing is left, or if the queue pair only answers READs.
uint64_t nic_scheduler_left_bytes(const nic_qp_t *qp);

// -- for loops

// Returns the port that the NIC sends through.
net_port_t *nic_scheduler_port(const nic_t *nic);
// Returns true in an event of the NIC's host, and false before the run.
bool nic_scheduler_in_event(const nic_t *nic);
// Returns true if the queue pair's work, window and state allow a packet now, whatever its rate.
bool nic_scheduler_can_send(const nic_qp_t *qp);
// Returns true if a part of what was posted has not been sent.
bool nic_scheduler_unsent(const nic_qp_t *qp);
// Returns true if all that was posted is acknowledged, and no READ waits for an answer.
bool nic_scheduler_finished(const nic_qp_t *qp);
// Returns the queue pair's congestion control, which holds its rate in bit/s.
const nic_cc_t *nic_scheduler_cc(const nic_qp_t *qp);
// Reports to the congestion control that the queue pair sent `bytes`.
void nic_scheduler_tell_sent(nic_qp_t *qp, uint32_t bytes);
// Returns nic_cc_t.rate_set, and resets it.
bool nic_scheduler_take_rate_set(nic_qp_t *qp);
// Sends a packet of the queue pair; the port is free. Returns false if no packet was built, because
// a work request failed.
bool nic_scheduler_transmit(nic_t *nic, nic_qp_t *qp);
// Sends the first packet that waits in a queue of the port; the port is free.
void nic_scheduler_transmit_queued(nic_t *nic, uint32_t queue);
// Makes the NIC call port_free when the event is over, or when the port is free.
void nic_scheduler_kick(nic_t *nic);
// Gives a packet that has arrived to the protocol, and takes it.
void nic_scheduler_receive(nic_t *nic, net_packet_t *packet);
// Frees a packet that has reached its end.
void nic_scheduler_consume(nic_t *nic, net_packet_t *packet);

SIM_C_END

#endif // NIC_SCHEDULER_H

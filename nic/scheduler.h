// SPDX-License-Identifier: Apache-2.0
// nic/scheduler.h - who of a NIC's queue pairs sends next, as a table of operations.
//
// Packets of data do not exist before the moment they are sent: a NIC whose port is free asks its
// scheduler for a queue pair, and that one's transport for a packet. Acknowledgements and CNPs are
// built at once and wait in the port's queues. The NIC chooses the class (PFC frames, the class of
// CNPs, the others by deficit round robin; in a class what waits in its queue first) and keeps
// queue pairs to their rates; of those of a class that may send now the scheduler chooses one:
//
//     join    it may send now: work, window and rate allow it
//     leave   it may not any more
//     next    whose turn it is
//     sent    a packet of it has left, and it may send another one now
//
// A scheduler with a `loop` does all of that itself, classes and rates included: its NICs call the
// loop and nothing else. compat/hpcc/scan.c is one.
//
// It is chosen by name, nic.scheduler, from nic_scheduler_all and what programs add (nic/extra.h),
// or is a program's own: nic_config_t.custom_scheduler. examples/custom_scheduler.c is one.
// Operations run in events of the host and must not post, wait or call other queue pairs.
#ifndef NIC_SCHEDULER_H
#define NIC_SCHEDULER_H

#include "kernel/attribute.h"
#include "net/port.h"
#include "nic/host.h"

SIM_C_BEGIN

typedef struct nic_schedule_loop {
    // The queue pair may be able to send (nic_scheduler_can_send says so now): work was posted, an
    // acknowledgement came, READs are to be answered.
    void (*ready)(nic_qp_t *qp);
    // It does not work any more, or drains: forget it. It may be no longer there afterwards.
    void (*stopped)(nic_qp_t *qp);
    // Its congestion control was called: rate or window may be others.
    void (*controlled)(nic_qp_t *qp);
    // The port is free: send what is next. Called when the port wakes, and after
    // nic_scheduler_kick.
    void (*port_free)(nic_t *nic);
    // A packet of the queue pair, `bytes` long on the link without preamble and gap, was handed to
    // the port; what else follows from it comes after. In nic_scheduler_transmit.
    void (*sent)(nic_qp_t *qp, uint32_t bytes);
    // A packet has arrived; to nic_scheduler_receive, or net_port_pause_received and consumed.
    void (*arrived)(nic_t *nic, net_packet_t *packet);
    // The queue of the port in which acknowledgements wait that are sent in class `priority`.
    uint8_t (*answer_queue)(const nic_t *nic, uint8_t priority);
    // Acknowledgements of what is acknowledged already go to congestion control, too.
    bool hears_late_acks;
} nic_schedule_loop_t;

struct nic_scheduler_ops {
    const char *name;              // "ring"
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    size_t state_bytes;            // of a NIC, zeroed; 0: none
    size_t qp_state_bytes;         // of a queue pair, zeroed; a multiple of SIM_CACHE_LINE
    // config: of attrs, or nic_config_t.custom_scheduler_config. NULL: nothing to do.
    void (*create)(nic_t *nic, const void *config);
    void (*destroy)(nic_t *nic); // frees what create and others made, but for the state itself

    void (*join)(nic_t *nic, nic_qp_t *qp);
    void (*leave)(nic_t *nic, nic_qp_t *qp);          // it has joined
    nic_qp_t *(*next)(nic_t *nic, uint32_t priority); // of those that have joined: there is one
    void (*sent)(nic_t *nic, nic_qp_t *qp, uint32_t bytes); // NULL: nothing to do
    // Instead of the four above; with the ideal NIC only. NULL: the NIC's own.
    const nic_schedule_loop_t *loop;
};

// By name; ends with NULL.
extern const nic_scheduler_ops_t *const nic_scheduler_all[];
// Those of a class in turn, a packet each: in the order in which they joined. O(1) a packet.
extern const nic_scheduler_ops_t nic_scheduler_ring;

// -- for schedulers

void *nic_scheduler_state(const nic_t *nic);      // only where state_bytes is not 0
void *nic_scheduler_qp_state(const nic_qp_t *qp); // only where qp_state_bytes is not 0
uint32_t nic_scheduler_class(const nic_qp_t *qp);
// What is left of the message it sends next, in bytes of payload. 0: nothing, or it only answers
// READs.
uint64_t nic_scheduler_left_bytes(const nic_qp_t *qp);

// -- for loops

net_port_t *nic_scheduler_port(const nic_t *nic);
bool nic_scheduler_in_event(const nic_t *nic);        // of its host; else before the run
bool nic_scheduler_can_send(const nic_qp_t *qp);      // as far as work and windows go
bool nic_scheduler_unsent(const nic_qp_t *qp);        // something posted is not sent
bool nic_scheduler_finished(const nic_qp_t *qp);      // all is acknowledged, no READ to be answered
const nic_cc_t *nic_scheduler_cc(const nic_qp_t *qp); // its rate
void nic_scheduler_tell_sent(nic_qp_t *qp, uint32_t bytes); // to its congestion control
bool nic_scheduler_take_rate_set(nic_qp_t *qp);             // nic_cc_t.rate_set, which is reset
// The port is free: a packet of it leaves. False: none was built, because a work request failed.
bool nic_scheduler_transmit(nic_t *nic, nic_qp_t *qp);
// The port is free: the first packet that waits in a queue of it leaves.
void nic_scheduler_transmit_queued(nic_t *nic, uint32_t queue);
// port_free is called when the event is over, or when the port is free.
void nic_scheduler_kick(nic_t *nic);
void nic_scheduler_receive(nic_t *nic, net_packet_t *packet); // the protocol's turn
void nic_scheduler_consume(nic_t *nic, net_packet_t *packet); // it has reached its end

SIM_C_END

#endif // NIC_SCHEDULER_H

// SPDX-License-Identifier: Apache-2.0
// nic/device.h - what happens between a program's verbs and the wire inside a NIC, as a table of
// operations: what posting, packets, payloads, completions and responses cost and when they are
// through.
//
// The protocol (queue pairs, transports, congestion control) is the same in every NIC. A device
// holds it back: work requests that are still on their way to the NIC, packets that wait for a
// processing unit, completions that are not in memory yet. An operation that is NULL takes no time:
// the ideal device has none.
//
//     sending                                     receiving
//     post       work requests were posted        arrive      a packet has left the link
//       nic_device_hold, _release                   nic_device_receive     the protocol's turn
//     sent       a packet of it has left          payload     what it brought goes to memory
//     moved      the send queue's position did    completion  one is to be written
//     done       a work request is finished         nic_device_complete    programs see it
//     respond    a READ or atomic is to be        wrote       a WRITE is to be seen in memory
//       nic_device_respond   answered               nic_device_wrote
//     answer     an ACK or NAK was made
//       nic_device_answer
//
// A device is chosen by nic.model, from nic_device_all and what programs add (nic/extra.h), or is a
// program's own: nic_config_t.custom_device. Operations run in events of the host; time passes by
// timers of the device's own, in its state.
#ifndef NIC_DEVICE_H
#define NIC_DEVICE_H

#include "nic/core.h"
#include "nic/host.h"

SIM_C_BEGIN

struct nic_device_ops {
    const char *name;      // "ideal"
    size_t qp_state_bytes; // of a queue pair, a multiple of SIM_CACHE_LINE; 0: none

    // -- life. create returns the NIC's state, nic_device_state from then on, and config is that of
    // its row, or nic_config_t.custom_device_config.
    void *(*create)(nic_t *nic, const void *config);
    void (*destroy)(nic_t *nic);
    void (*qp_created)(nic_qp_t *qp); // its state is zeroed
    void (*qp_connected)(nic_qp_t *qp);
    void (*qp_changed)(nic_qp_t *qp); // its context in the host's memory is another one: its state
    void (*qp_closed)(nic_qp_t *qp);  // an error, a reset or its end: nothing of it goes on
    void (*qp_flushed)(nic_qp_t *qp); // its send queue is empty
    // As new: what is under way to or from it has no effect. Of its work requests, so many were not
    // finished.
    void (*qp_reset)(nic_qp_t *qp, uint32_t unfinished);
    void (*qp_destroyed)(nic_qp_t *qp, uint32_t unfinished);
    void (*cq_created)(nic_cq_t *cq);
    void (*pd_created)(nic_t *nic, uint32_t number);
    void (*mr_registered)(nic_t *nic, uint32_t key);
    void (*mr_deregistered)(nic_t *nic, uint32_t key);

    // -- sending
    // The last `count` work requests of the send queue were posted, by a Doorbell or one by one.
    void (*post)(nic_qp_t *qp, uint32_t count, bool doorbell);
    void (*post_receive)(nic_t *nic, uint32_t count);
    uint32_t (*inline_max)(const nic_t *nic); // bytes; NULL: any
    void (*sent)(nic_t *nic, nic_qp_t *qp, bool response);
    void (*moved)(nic_qp_t *qp);   // ahead
    void (*rewound)(nic_qp_t *qp); // back: packets are to be sent again
    void (*done)(nic_qp_t *qp);    // the oldest work request
    // The protocol has executed a READ, whose first data are `bytes` at address, or an atomic:
    // until nic_device_respond it is not answered.
    void (*respond)(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic);
    // An ACK or NAK, which is the device's: to nic_device_answer, at once or later, in order.
    void (*answer)(nic_qp_t *qp, net_packet_t *packet);

    // -- receiving
    // A packet has arrived and is the device's, until it goes to nic_device_receive.
    void (*arrive)(nic_t *nic, net_packet_t *packet);
    void (*payload)(nic_t *nic, uint32_t bytes);
    // In a host with limits (nic/fabric.h): memory takes what came then.
    void (*lands)(nic_t *nic, sim_time_t time_ps);
    void (*atomic_done)(nic_t *nic, uint32_t rkey);
    void (*wrote)(nic_qp_t *qp, uint64_t address, uint32_t bytes);
    // A completion: to nic_device_complete, at once or later, in order for each queue.
    void (*completion)(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc);
    void (*completed)(nic_t *nic); // one is in its queue

    // -- the host's side
    // A program took so many out; core (NULL: none) may be made to spend time on that.
    void (*polled)(nic_t *nic, nic_core_t *core, uint32_t count);
    sim_time_t (*host_read_ps)(nic_t *nic,
                               uint32_t bytes); // memory read from now on: when it is here
    sim_time_t (*host_write_ps)(nic_t *nic, uint32_t bytes);

    // -- inspection
    void (*check_qp)(const nic_qp_t *qp); // SIM_CHECKs what must hold after an event
    bool (*conserved)(const nic_t *nic);  // at the end of a run: see nic_conserved
};

extern const nic_device_ops_t *const nic_device_all[]; // ends with NULL
extern const nic_device_ops_t nic_device_ideal;
extern const nic_device_ops_t nic_device_rnic;

// -- for devices

void *nic_device_state(const nic_t *nic);
void *nic_device_qp_state(const nic_qp_t *qp); // only where qp_state_bytes is not 0
sim_node_t *nic_device_node(nic_t *nic);       // for timers and the time
nic_qp_t *nic_device_find_qp(const nic_t *nic, uint32_t number); // NULL: there is none

// Nothing of its send queue leaves before the release.
void nic_device_hold(nic_qp_t *qp);
void nic_device_release(nic_qp_t *qp);
// The oldest READ or atomic that waits for it may be answered.
void nic_device_respond(nic_qp_t *qp);
// An ACK or NAK goes, now or when the port is free. Takes the packet.
void nic_device_answer(nic_t *nic, net_packet_t *packet);
// The protocol's turn. Takes the packet.
void nic_device_receive(nic_t *nic, net_packet_t *packet);
// seen_ps: from when on a core that polls the queue finds it; others are told now.
void nic_device_complete(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);
void nic_device_wrote(nic_qp_t *qp, uint64_t address, uint32_t bytes);

SIM_C_END

#endif // NIC_DEVICE_H

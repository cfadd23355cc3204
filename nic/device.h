// SPDX-License-Identifier: Apache-2.0
// nic/device.h - the inside of a NIC, between a program's verbs and the wire, as a table of
// operations: the costs of posting, packets, payloads, completions and responses, and when they
// are done.
//
// The protocol (queue pairs, transports, congestion control) is the same in every NIC. A device
// delays it: work requests still travel to the NIC, packets wait for a processing unit, completions
// are not in memory yet. An operation that is NULL takes no time; the ideal device has none.
//
//     sending                                     receiving
//     post       work requests were posted        arrive      a packet has left the link
//       nic_device_hold, _release                   nic_device_receive     the protocol's turn
//     sent       one of its packets has left      payload     a packet's payload goes to memory
//     moved      the send position went ahead     completion  a completion is to be written
//     done       a work request is finished         nic_device_complete    programs see it
//     respond    a READ or atomic is to be        wrote       a WRITE is to be seen in memory
//       nic_device_respond   answered               nic_device_wrote
//     answer     an ACK or NAK was made
//       nic_device_answer
//
// nic.model chooses a device from nic_device_all and from what programs add (nic/extra.h); or a
// program brings its own in nic_config_t.custom_device. Operations run in events of the host. A
// device makes time pass by timers of its own, in its state.
//
// The devices of this tree also use nic/device_view_internal.h, which saves them calls for every
// packet: positions in queues, steps of the host, and memory to prefetch.
#ifndef NIC_DEVICE_H
#define NIC_DEVICE_H

#include "nic/core.h"
#include "nic/host.h"
#include "nic/trace.h"

SIM_C_BEGIN

struct nic_device_ops {
    const char *name;      // "ideal"
    size_t qp_state_bytes; // state of a queue pair, a multiple of SIM_CACHE_LINE; 0: none

    // -- life
    // Returns the NIC's state, which nic_device_state returns from then on. config is that of the
    // device's row, or nic_config_t.custom_device_config.
    void *(*create)(nic_t *nic, const void *config);
    void (*destroy)(nic_t *nic);
    void (*qp_created)(nic_qp_t *qp); // the QP's device state is zeroed
    void (*qp_connected)(nic_qp_t *qp);
    void (*qp_changed)(
        nic_qp_t *qp); // the QP's state, and so its context in host memory, has changed
    void (*qp_closed)(
        nic_qp_t *qp); // after an error, a reset or its end the QP does nothing any more
    void (*qp_flushed)(nic_qp_t *qp); // the QP's send queue is empty
    // Called when the queue pair is as new: packets still in flight to or from it have no effect.
    // `unfinished` of its work requests were not finished.
    void (*qp_reset)(nic_qp_t *qp, uint32_t unfinished);
    void (*qp_destroyed)(nic_qp_t *qp, uint32_t unfinished);
    void (*cq_created)(nic_cq_t *cq);
    // Called when a core polls the queue from now on, when it has overflowed, or another size.
    void (*cq_changed)(nic_cq_t *cq);
    void (*pd_created)(nic_t *nic, uint32_t number);
    void (*mr_registered)(nic_t *nic, uint32_t key);
    void (*mr_deregistered)(nic_t *nic, uint32_t key);

    // -- sending
    // Called when the last `count` work requests of the send queue were posted, by a Doorbell or
    // one by one.
    void (*post)(nic_qp_t *qp, uint32_t count, bool doorbell);
    void (*post_receive)(nic_t *nic, uint32_t count);
    uint32_t (*inline_max)(const nic_t *nic); // largest inline payload in bytes; NULL: any
    void (*sent)(nic_t *nic, nic_qp_t *qp, bool response);
    void (*moved)(nic_qp_t *qp);   // the send position went ahead
    void (*rewound)(nic_qp_t *qp); // the send position went back: packets are sent again
    void (*done)(nic_qp_t *qp);    // the oldest work request is finished
    // Called when the protocol has executed an atomic, or a READ whose first data are `bytes` at
    // `address`. The protocol answers it when the device calls nic_device_respond.
    void (*respond)(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic);
    // Takes an ACK or NAK. It goes to nic_device_answer, at once or later, in order.
    void (*answer)(nic_qp_t *qp, net_packet_t *packet);

    // -- receiving
    // Takes a packet that has arrived. It goes to nic_device_receive.
    void (*arrive)(nic_t *nic, net_packet_t *packet);
    void (*payload)(nic_t *nic, uint32_t bytes);
    // Called in a host with limits (nic/fabric.h): memory has the data that came last from time_ps
    // on.
    void (*lands)(nic_t *nic, sim_time_t time_ps);
    void (*atomic_done)(nic_t *nic, uint32_t rkey);
    void (*wrote)(nic_qp_t *qp, uint64_t address, uint32_t bytes);
    // Takes a completion. It goes to nic_device_complete, at once or later, in order for each
    // queue.
    void (*completion)(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc);
    void (*completed)(nic_t *nic); // a completion is in its queue

    // -- the host's side
    // Called when `count` completions were taken out of a queue.
    void (*taken)(nic_t *nic, uint32_t count);
    // Makes `core` spend the time of a poll that found `count` completions.
    void (*polled)(nic_t *nic, nic_core_t *core, uint32_t count);
    // Each reads or writes host memory at an address from now on, and returns when that is done.
    sim_time_t (*host_read_ps)(nic_t *nic, uint64_t address, uint32_t bytes);
    sim_time_t (*host_write_ps)(nic_t *nic, uint64_t address, uint32_t bytes);

    // -- inspection
    void (*check_qp)(const nic_qp_t *qp); // SIM_CHECKs what must hold after an event
    // Returns the rate of frames of the NIC to itself; NULL: that of its link.
    uint64_t (*loopback_bps)(const nic_t *nic);
    bool (*conserved)(const nic_t *nic); // at the end of a run: see nic_conserved
    void (*digest)(const nic_t *nic, sim_digest_t *digest); // adds the device's counters
};

extern const nic_device_ops_t *const nic_device_all[]; // ends with NULL
extern const nic_device_ops_t nic_device_ideal;
extern const nic_device_ops_t nic_device_rnic;

// -- for devices: where they are

const nic_device_ops_t *nic_device_of(const nic_t *nic);
void *nic_device_state(const nic_t *nic);
void *nic_device_qp_state(const nic_qp_t *qp); // only where qp_state_bytes is not 0
sim_node_t *nic_device_node(nic_t *nic);       // for timers and the time
net_port_t *nic_device_port(const nic_t *nic); // to drop packets
// Asks the peers of all ports of the NIC to stop these classes for the time, or to go on (0).
void nic_device_pause(const nic_t *nic, uint8_t classes, uint16_t quanta);
// Returns how long that time is on the NIC's fastest port.
sim_time_t nic_device_pause_ps(const nic_t *nic, uint16_t quanta);

// -- for devices: the NIC's knowledge

// Returns the queue pair of that number, or NULL.
nic_qp_t *nic_device_find_qp(const nic_t *nic, uint32_t number);

// The content of a queue pair's context, in the NIC and in host memory.
typedef struct nic_device_context {
    nic_qp_type_t type;
    nic_qp_state_t state;
    uint32_t pd_number; // numbers begin with 1
    uint32_t send_cq_number;
    uint32_t recv_cq_number;
    uint32_t access; // nic_access_t bits
    uint32_t mtu_bytes;
    uint32_t send_psn;    // 24 bits: of the next packet to send
    uint32_t receive_psn; // 24 bits: of the next packet expected
} nic_device_context_t;
nic_device_context_t nic_device_context(const nic_qp_t *qp);

// The content of a queue pair's context that no packet changes: its address path, and its timers.
typedef struct nic_device_connection {
    bool connected; // else, and on a UD queue pair, the address path is zeros
    uint8_t to_mac[6];
    uint8_t from_mac[6];
    uint8_t to_ip[16]; // as net_interface_ip writes it
    uint8_t from_ip[16];
    uint32_t remote_qpn;
    uint32_t udp_source_port;
    uint32_t hop_limit;
    uint32_t dscp;
    uint32_t timeout; // exponent
    uint32_t retry_count;
    uint32_t rnr_timer; // code
    uint32_t rnr_retry;
} nic_device_connection_t;
nic_device_connection_t nic_device_connection(const nic_qp_t *qp);

typedef struct nic_device_counts {
    uint64_t finished;      // number of work requests
    uint64_t retransmitted; // number of packets
} nic_device_counts_t;
nic_device_counts_t nic_device_counts(const nic_qp_t *qp);

// Makes the protocol go on from these PSNs, as the context says that the NIC has fetched. They are
// those that the protocol had last, unless the context is wrong.
void nic_device_take_positions(nic_qp_t *qp, uint32_t send_psn, uint32_t receive_psn);

// The content of the context of a completion queue or of a shared receive queue.
typedef struct nic_device_queue {
    uint32_t number;
    uint32_t entries;
    uint32_t vector; // number of the core that polls it, among those of its host; else 0
    bool polled;     // by a core
    bool shared;     // a shared receive queue
    bool overflowed;
} nic_device_queue_t;
// Finds a queue by the key of nic_store_kind_t's NIC_STORE_CQ. Returns false, and leaves *queue, if
// there is none.
bool nic_device_find_queue(const nic_t *nic, uint64_t key, nic_device_queue_t *queue);

// The memory region that a key stands for.
typedef struct nic_device_region {
    uint64_t address;
    uint64_t length_bytes;
    uint32_t access; // nic_access_t bits
    uint32_t pd_number;
} nic_device_region_t;
// Returns false if no region has this key; *region is unchanged then.
bool nic_device_find_region(const nic_t *nic, uint32_t key, nic_device_region_t *region);

// Returns how many completions wait in the NIC's queues, for `conserved`.
uint64_t nic_device_waiting_completions(const nic_t *nic);

// -- for devices: calls into the protocol

// Holds the send queue: no request leaves before the release.
void nic_device_hold(nic_qp_t *qp);
void nic_device_release(nic_qp_t *qp);
// Gives the queue pair its turn, if it can send.
void nic_device_schedule(nic_qp_t *qp);
// Lets the oldest READ or atomic that waits for it be answered.
void nic_device_respond(nic_qp_t *qp);
// Sends an ACK or NAK, now or when the port is free. Takes the packet.
void nic_device_answer(nic_t *nic, net_packet_t *packet);
// Returns whether the device is to say when packets came, by the second function, before it gives
// them to the protocol.
bool nic_device_tells_arrivals(const nic_t *nic);
void nic_device_arrived(nic_t *nic, sim_time_t arrived_ps);
// Each gives the protocol a packet, and takes it. The second is for a packet whose queue pair is
// known.
void nic_device_receive(nic_t *nic, net_packet_t *packet);
void nic_device_receive_for(nic_qp_t *qp, net_packet_t *packet);
// Puts a completion into its queue. A core that polls the queue sees it from seen_ps on; programs
// without a core are informed now.
void nic_device_complete(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);
// Informs the program of a WRITE that lies in memory.
void nic_device_wrote(nic_qp_t *qp, uint64_t address, uint32_t bytes);

// Returns true if somebody listens to one of the points (nic_trace_point_t bits).
bool nic_device_traced(const nic_t *nic, uint32_t points);
// Reports a value, and the value before, to listeners; qp may be NULL.
void nic_device_trace(const nic_t *nic, const nic_qp_t *qp, nic_trace_point_t point, uint64_t value,
                      uint64_t before);

// -- for devices: the memory of a host with limits (nic/fabric.h)

// Returns true if the host has limits. Only then may the functions below be called.
bool nic_device_bound(const nic_t *nic);
// Books a read or write of payload from now on. Returns when it is done.
sim_time_t nic_device_dma(nic_t *nic, uint64_t address, uint64_t bytes, bool to_memory);
// Books a read or write of the rings and contexts that the driver keeps for the NIC in the memory
// of the NIC's socket. Returns when it is done.
sim_time_t nic_device_dma_own(nic_t *nic, sim_time_t now_ps, uint64_t bytes, bool to_memory);
// Books a read or write of rings at nic.host.location, where those of a GPU that posts lie.
sim_time_t nic_device_dma_default(nic_t *nic, sim_time_t now_ps, uint64_t bytes, bool to_memory);
// Books a write of a core of the NIC's socket into the NIC. Returns when it is done.
sim_time_t nic_device_dma_from_core(nic_t *nic, sim_time_t now_ps, uint64_t bytes);
// Returns from when on at most `waiting_bytes` of what the NIC wrote wait for memory.
sim_time_t nic_device_dma_room_ps(const nic_t *nic, uint64_t waiting_bytes);
// Returns the PCIe lanes of the NIC's place; 0: the layout does not say. Any host may be asked.
uint32_t nic_device_lanes(const nic_t *nic);

SIM_C_END

#endif // NIC_DEVICE_H

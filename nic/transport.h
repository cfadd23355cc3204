// SPDX-License-Identifier: Apache-2.0
// nic/transport.h - reliable transports as a table of operations: which packet is sent next, how
// packets that arrive are handled, and how losses are repaired.
//
// The NIC owns a queue pair's work: send queue, receives, completions, READs to be answered,
// congestion control, the turn to send. A transport owns the order in which packets leave and are
// taken, the way of acknowledging, and the time of retransmissions. Both ends of a connection must
// run the same transport. It is chosen by name ("nic.transport"), or by queue pair
// (nic_qp_init_attr_t.transport), where a program may bring its own: examples/custom_transport.c.
//
//     sending                                      receiving
//     ready         may a packet go now?           request       a packet of the peer's requests
//     next_packet   which one: built then            nic_transport_execute   when its turn has come
//       nic_transport_new_packet                     nic_transport_place     its payload, before
//       nic_transport_repeat_packet                  nic_transport_acknowledge, _answer
//     acknowledged  an ACK or NAK came             (READs are answered by the NIC, in order)
//     responded     data of a READ or atomic came
//       nic_transport_advance, nic_transport_accept
//     timeout       the retransmission timer
//
// Positions are 64-bit PSNs; packets carry the low 24 bits. Before una_psn everything is
// acknowledged, from next_psn on nothing is sent; the peer has executed what is before
// expected_psn. Messages complete in the order they were posted, whatever order their packets
// arrive in.
//
// Rules for all operations. They run in events of the queue pair's host, and must not block, wait
// or call another queue pair. Applications are not called from within anything named here:
// completions are handed over when the NIC has finished the event, so a queue pair does not
// vanish inside an operation; it may go to the error state (`failed` below), after which
// there is nothing more to do for it. A packet handed to an operation belongs to it: it goes to
// nic_transport_execute or nic_transport_accept, is kept, or ends in nic_transport_consume. Time is
// made by timers of one's own, in the state, cancelled by `close`.
//
// Transports other than go-back-N need from here:
// - Out of order (IRN, SDR-RDMA, OmniDMA's Adamap): a request ahead of expected_psn is kept, packet
//   and all: its payload goes to memory when it comes (nic_transport_place, which needs the address
//   in the packet: NIC_PACKET_ADDRESSED), the rest when the gap is closed, by executing what was
//   kept in order of the PSNs. The kept packets are the simulator's form of a NIC's bitmaps; the
//   transport counts the memory of the NIC that these bitmaps take.
// - Selective retransmission: queues of PSNs are the transport's own; nic_transport_repeat_packet
//   builds any packet in [una_psn, next_psn) again, in O(log of the work requests under way).
// - Feedback: an ACK or NAK may carry words beyond its AETH (nic_transport_answer), or only its
//   PSN.
// - Timers: nic_transport_timer_* are the queue pair's one timer with the standard's time-out; RTO
//   low and high, scans and deadlines are sim_timer_t's in the state.
// - State on both sides: one struct per queue pair, state_bytes, beginning with nic_transport_t.
//   The state that queue pairs of a NIC share (a buffer, a free list) is another one,
//   nic_state_bytes.
// - Costs: a read of the host's memory, nic_transport_host_read_ps; a core's work, nic/core.h.
// - Numbers: rows of counters over the NIC's shared state, shown with the NIC's others.
#ifndef NIC_TRANSPORT_H
#define NIC_TRANSPORT_H

#include "kernel/attribute.h"
#include "nic/host.h"

SIM_C_BEGIN

// The start of a transport's state of a queue pair, set by the NIC.
typedef struct nic_transport {
    const nic_transport_ops_t *ops;
    const void *config; // the transport's config struct for this host; NULL: it has none
    void *nic_state;    // shared by the queue pairs of the NIC; NULL: nic_state_bytes is 0
    nic_t *nic;
    nic_qp_t *qp;
} nic_transport_t;

// The work that transports did, added up over NICs, for reports of applications.
typedef struct nic_transport_totals {
    uint64_t retransmitted;
    uint64_t by_round[16]; // first, second... retransmissions; the last: or more
    uint64_t rounds_max;
    uint64_t nodes_max;  // records of losses held by the queue pairs of a NIC, as sampled
    uint64_t nodes_peak; // records held at any time, at most
    // Percentiles of the samples from the start to the last progress, both included; between two
    // samples on the straight line.
    double nodes_p50;
    double nodes_p95;
    double nodes_p99;
    double nodes_mean;
    // The mean from two round trips after the first packet to the last new one; 0: there is none.
    double nodes_steady;
    uint64_t core_ps;    // time that hosts' cores took to insert records of losses
    uint64_t blocks_max; // blocks of a host's memory that hold records of losses
    uint64_t host_bytes_max;
    uint64_t host_grown;           // times that memory grew by a chunk
    uint64_t host_shrunk;          // times that it gave a chunk back
    uint64_t host_refused;         // times that it was needed and there was none
    uint64_t pipeline_ps;          // time for which receive pipelines stood still
    uint64_t nic_bytes_per_qp;     // the NIC's memory for repairs
    uint64_t nic_bytes_per_qp_max; // memory that was used, where it is not constant
    uint64_t prefetch_hits;
    uint64_t prefetch_stalls;
    uint64_t stalled_ps;
    uint64_t dma_reads;
    uint64_t dma_writes;
    uint64_t table_access;
    uint64_t table_hits;
    uint64_t duplicates;
    uint64_t dropped; // packets that arrived, but could not be recorded, and so were not taken
    uint64_t timeouts;
    uint64_t went_back; // sequence NAKs after which go-back-N went back
    uint64_t parity;    // packets of an erasure code
    uint64_t decoded;   // packets made from parity
    uint64_t fallbacks; // groups whose parity did not suffice
    uint64_t repaired;  // packets that were missed and came
    uint64_t repair_ps; // sum of the times for which they were missed
    uint64_t repair_ps_max;
    uint64_t work; // steps of the NIC's control path for repairs
} nic_transport_totals_t;

// The packets and memory that transports hold now, added up over queue pairs, for series.
typedef struct nic_transport_gauges {
    uint64_t missing_packets; // receivers: packets missing although a later one has come
    uint64_t ahead_packets;   // receivers: packets that wait for missing ones
    uint64_t list_maps;       // adamap: closed maps
    uint64_t chain_maps;      // adamap: closed maps in the host
    uint64_t table_maps;      // adamap: entries of look-up tables
    uint64_t used_blocks;     // adamap: blocks of the host's memory for maps
    uint64_t free_blocks;
    uint64_t host_bytes;
    uint64_t resend_packets;  // senders: packets that wait to be sent again
    uint64_t again_stretches; // responders: answers to be given again
} nic_transport_gauges_t;

struct nic_transport_ops {
    const char *name;              // "go-back-n"
    size_t state_bytes;            // state of a queue pair, a nic_transport_t first; 0: none
    size_t nic_state_bytes;        // shared state of a NIC; 0: none
    const sim_attr_table_t *attrs; // "nic.irn."; NULL: no parameters
    // True: the transport retransmits by time-outs of its own, which know the path; nic.timeout,
    // however short for that path, causes none.
    bool own_timeouts;
    // True: it has a congestion control of its own, and nic.congestion-control must be none.
    bool own_control;
    // The algorithm that its queue pairs then have: its operations are absent but for the metrics,
    // which show the transport's own control. NULL: nic_cc_none.
    const struct nic_cc_ops *cc;
    // Returns the name of that control for people. NULL: the transport's own name.
    const char *(*control)(const nic_config_t *config);
    // Returns whether the packets of one queue pair take several paths by its choice. NULL: they
    // keep one.
    bool (*spreads)(const nic_config_t *config);
    // Added to the opcodes of packets on their way, which the receiving NIC takes off: ROCE_UET or
    // ROCE_MRC. 0: they are RoCE packets.
    uint8_t wire;
    const nic_counter_info_t
        *counters; // offsets in the NIC's state; ends with a NULL name; or NULL

    // Called when the first queue pair of this transport is made on a NIC, with the NIC's shared
    // state, zeroed.
    void (*nic_create)(nic_t *nic, void *nic_state, const void *config);
    void (*nic_destroy)(nic_t *nic, void *nic_state);
    // Called when the queue pair got connected: its PSNs are known, its state is zeroed but for
    // nic_transport_t.
    void (*open)(nic_qp_t *qp);
    // Called when the PSN of the first packet to send was changed after `open`, before anything is
    // sent. May be NULL.
    void (*sender_set)(nic_qp_t *qp);
    // Called when the queue pair sends and takes nothing any more (error, reset, destroyed), once
    // after each open. It cancels timers, frees what the state owns and consumes the packets kept.
    void (*close)(nic_qp_t *qp);

    // Returns whether a packet of a request may leave now. It is called often and must not change
    // anything. An operation that makes it true later calls nic_transport_schedule.
    bool (*ready)(const nic_qp_t *qp);
    // Returns the packet that leaves now; ready was true when it was asked last, or became true at
    // nic_transport_schedule. Returns NULL if there is none after all: an ACK came for it, or a
    // work request failed (nic_transport_new_packet returned NULL). Then ready is false too.
    net_packet_t *(*next_packet)(nic_t *nic, nic_qp_t *qp);
    // Each takes a packet: an ACK or NAK, or the response to a READ or atomic. If the queue pair is
    // closed, the packet is only consumed.
    void (*acknowledged)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
    void (*responded)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
    // Called when the timer of nic_transport_timer_arm fired.
    void (*timeout)(nic_qp_t *qp);

    // Takes a request of the peer, which may come in any order.
    void (*request)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

    // Called when the request whose turn it is was refused for now, since no receive is posted. Its
    // RNR NAK is made, expected_psn stays.
    void (*not_ready)(nic_qp_t *qp);

    // Returns the bytes of the NIC's memory that a queue pair takes for repairs, where that is a
    // constant.
    uint64_t (*nic_bytes)(const void *config);

    // Adds the work of the NIC's queue pairs to the totals; open ones count as far as they have
    // come.
    void (*totals)(const nic_t *nic, const void *nic_state, nic_transport_totals_t *totals);

    // Each adds what is held now: by a queue pair, or by its NIC for all of them.
    void (*gauges)(const nic_qp_t *qp, nic_transport_gauges_t *sums);
    void (*nic_gauges)(const void *nic_state, nic_transport_gauges_t *sums);
    // The tables of the fields of a queue pair's state, and of a NIC's shared state, for spans that
    // are repeated (kernel/fields.h). NULL: no span with this transport is repeated.
    const struct sim_fields *fields;
    const struct sim_fields *share_fields;

    // Called with each answer that the NIC builds by itself: responses to READs and atomics, NAKs
    // of requests that cannot be executed. It may change opcode, length and path. NULL: nothing.
    void (*dress)(nic_qp_t *qp, net_packet_t *answer);

    // Returns whether no path of a plane of the NIC is usable, so that packets take other planes.
    // NULL: the NIC's own view decides.
    bool (*plane_out)(const nic_qp_t *qp, uint32_t plane);
    // Returns whether a work request (nic_wr_opcode_t) can be carried; one that cannot completes
    // with NIC_WC_LOC_QP_OP_ERR. NULL: all can.
    bool (*allows)(const void *config, uint8_t opcode);
    // Fails with a message for a config that attributes alone do not rule out. NULL: there is none.
    sim_err_t (*check_config)(const void *config, sim_message_t *message);

    // Says why nothing moves, for stall reports. Returns false if the transport has nothing to say;
    // then the NIC says what it knows.
    bool (*explain)(const nic_qp_t *qp, sim_message_t *why);
    // Called after each event of the host in builds with dear checks. It SIM_CHECKs the invariants.
    void (*check)(const nic_qp_t *qp);
    // May be NULL if there is nothing to do: nic_create to close, timeout, not_ready, nic_bytes,
    // totals, gauges, explain, check.
};

// All transports of the library, found by name; ends with NULL.
extern const nic_transport_ops_t *const nic_transport_all[];

extern const nic_transport_ops_t nic_transport_gbn;
extern const nic_transport_ops_t nic_transport_irn;
extern const nic_transport_ops_t nic_transport_adamap;
extern const nic_transport_ops_t nic_transport_sdr;
extern const nic_transport_ops_t nic_transport_uec_rud;
extern const nic_transport_ops_t nic_transport_uec_rod;
extern const nic_transport_ops_t nic_transport_mrc;

// -- looking at a queue pair

// Returns the transport of a queue pair.
const nic_transport_ops_t *nic_transport_ops(const nic_qp_t *qp);
// Each returns the transport's state of a queue pair. The transport must have state_bytes.
nic_transport_t *nic_transport_of(nic_qp_t *qp);
const nic_transport_t *nic_transport_of_const(const nic_qp_t *qp);

typedef struct nic_transport_view {
    uint64_t una_psn;
    uint64_t next_psn;
    uint64_t expected_psn;
    uint64_t in_flight_bytes; // payload of SENDs and WRITEs in [una_psn, next_psn)
    uint64_t window_bytes;    // congestion control's; nic_transport_new_ready keeps to it
    uint32_t mtu_bytes;
    uint32_t retry_count;
    sim_time_t timeout_ps; // time-out of the standard; NEVER: none
    sim_time_t since_ps;   // time of the last progress, or of the first packet after a rest
    sim_time_t rtt_ps;     // round trip of the idle path; 0: no algorithm or window asked for it
    bool blocked;          // nothing may be sent now: the receiver was not ready, or failed
    bool failed;           // the send queue does not work any more
    bool refused;          // the receiving side said no for good: it takes nothing more
} nic_transport_view_t;
nic_transport_view_t nic_transport_look(const nic_qp_t *qp);
sim_node_t *nic_transport_node(const nic_qp_t *qp); // for timers and the time
// Returns the 64-bit PSN nearest to `near_psn` that a packet's 24 bits stand for.
uint64_t nic_transport_psn(uint32_t wire_psn, uint64_t near_psn);

// -- sending

// Returns whether a packet that was never sent may leave: work is posted, and window, fences,
// limits of READs, congestion control and RNR waits allow it.
bool nic_transport_new_ready(const nic_qp_t *qp);
enum { NIC_PACKET_ADDRESSED = 1 << 0 }; // each packet of a WRITE has its own RETH, 16 bytes more
// Builds the next packet that was never sent, and moves next_psn and the send queue's position.
// Returns NULL, and builds nothing, if the work request failed before its first packet
// (protection).
net_packet_t *nic_transport_new_packet(nic_qp_t *qp, uint32_t flags);
// Builds a packet in [una_psn, next_psn) once more; for a READ, a request for the rest of it from
// psn on. The packet asks for an ACK. Returns NULL if there is no such packet, since its work
// request is finished.
net_packet_t *nic_transport_repeat_packet(nic_qp_t *qp, uint64_t psn, uint32_t flags);
// Gives the queue pair its turn, or takes it away, since ready may have changed. To be called at
// the end of an operation that changes it.
void nic_transport_schedule(nic_qp_t *qp);

// Acknowledges everything before end_psn: moves una_psn and completes work requests, but stops at a
// READ or atomic without all its responses. Resets the retry counts. cause: the ACK, which
// congestion control hears of with what was new (nak: a sequence error); NULL: none. Afterwards
// una_psn says how far it came.
void nic_transport_advance(nic_qp_t *qp, uint64_t end_psn, const net_packet_t *cause, bool nak);
// Accepts the response of una_psn, which must be a READ's or an atomic's, and moves una_psn by one.
// Takes the packet. placed: see nic_transport_execute.
void nic_transport_accept(nic_qp_t *qp, net_packet_t *packet, bool placed);
// Returns whether una_psn belongs to a READ or atomic, which only responses acknowledge.
bool nic_transport_expects_response(const nic_qp_t *qp);
// Handles the NAK codes that stand for RNR waits and errors. Returns false for a sequence error or
// a positive ACK, which are the transport's to handle.
bool nic_transport_refused(nic_qp_t *qp, const net_packet_t *packet);
// Uses up one retry. Returns false if none was left; the queue pair has failed then.
bool nic_transport_retry(nic_qp_t *qp);
void nic_transport_fail(nic_qp_t *qp, nic_wc_status_t status);
// Each arms or cancels the queue pair's timer. It is also cancelled when nothing is left to be
// acknowledged.
void nic_transport_timer_arm(nic_qp_t *qp, sim_time_t time_ps);
void nic_transport_timer_cancel(nic_qp_t *qp);

// -- receiving

// Executes the request that has the PSN expected_psn: checks, memory, receives, completion, READs.
// Takes the packet. placed: nic_transport_place was called for it. Acknowledges nothing. Returns
// false if the request was refused: a NAK is on its way, and expected_psn stays.
bool nic_transport_execute(nic_qp_t *qp, net_packet_t *packet, bool placed);
// Writes the payload of a request or response ahead of its turn to memory. Returns false if it must
// wait for its turn: a SEND, whose receive is not known yet; a WRITE without an address, or where
// it may not write.
bool nic_transport_place(nic_qp_t *qp, net_packet_t *packet);
// Answers a READ or atomic request before expected_psn again. others_too: forgets all later
// answers, since the requester goes back. Returns false if the request is neither of the two.
bool nic_transport_repeat_answer(nic_qp_t *qp, const net_packet_t *packet, bool others_too);
// Sends an ACK of everything before expected_psn. cause: the packet that made it necessary, for
// congestion control and round trips; may be NULL.
void nic_transport_acknowledge(nic_qp_t *qp, const net_packet_t *cause);
// Builds an acknowledgement with a PSN and syndrome of the transport's own (ROCE_SYNDROME_...), and
// extra_bytes behind its AETH that belong to the frame. It passes READ responses. The caller fills
// it in (net_packet_aside), then sends it by nic_transport_send.
net_packet_t *nic_transport_answer(nic_qp_t *qp, uint64_t psn, uint32_t syndrome,
                                   uint32_t extra_bytes, const net_packet_t *cause);
void nic_transport_send(nic_qp_t *qp, net_packet_t *answer);
void nic_transport_consume(nic_qp_t *qp, net_packet_t *packet);

// -- numbers

// Calls fn for each counter of each transport that the NIC's queue pairs use. Returns false if
// there is none.
typedef void (*nic_transport_counter_fn)(const nic_transport_ops_t *ops,
                                         const nic_counter_info_t *info, uint64_t value, void *ctx);
bool nic_transport_each_counter(const nic_t *nic, nic_transport_counter_fn fn, void *ctx);

// Returns NULL if queue pairs that choose no transport carry a work request (nic_wr_opcode_t), else
// the name of the transport that does not.
const char *nic_transport_refuses(const nic_config_t *config, uint8_t opcode);
// Returns the transport of queue pairs that choose none. *nic_bytes is the NIC's memory that each
// of them takes for repairs; 0: it depends on the path, or there is none.
const nic_transport_ops_t *nic_transport_usual(const nic_t *nic, uint64_t *nic_bytes);

// Adds the work of the NIC's transports to the totals.
void nic_transport_add_totals(const nic_t *nic, nic_transport_totals_t *totals);

// Counts the frames lost on the network's links so far, and the events in which they were lost. On
// a link without a model of its own each loss is one event.
void nic_link_losses(const net_t *net, uint64_t *lost, uint64_t *events);

// -- costs

// Each lets the NIC read or write `bytes` of the host's memory at an address from now on, and
// returns when that is done: over PCIe in a detailed NIC, over the host's fabric (nic/fabric.h)
// where that has limits, else now.
sim_time_t nic_transport_host_read_ps(nic_qp_t *qp, uint64_t address, uint32_t bytes);
sim_time_t nic_transport_host_write_ps(nic_qp_t *qp, uint64_t address, uint32_t bytes);

SIM_C_END

#endif // NIC_TRANSPORT_H

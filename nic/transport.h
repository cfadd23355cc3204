// SPDX-License-Identifier: Apache-2.0
// nic/transport.h - reliable transports as a table of operations: what is sent next, what is made
// of packets that come, and of those that do not.
//
// The NIC owns a queue pair's work: send queue, receives, completions, READs to be answered,
// congestion control, the turn to send. A transport owns the order in which packets leave and are
// taken, what is acknowledged how, and what is sent again when. Both ends of a connection must run
// the same one. It is chosen by name ("nic.transport"), or by queue pair
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
// What the transports that are not go-back-N need from here:
// - Out of order (IRN, SDR-RDMA, OmniDMA's Adamap): a request ahead of expected_psn is kept, packet
//   and all: its payload goes to memory when it comes (nic_transport_place, which needs the address
//   in the packet: NIC_PACKET_ADDRESSED), the rest when the gap is closed, by executing what was
//   kept in order of the PSNs. The kept packets are the simulator's form of what a NIC knows by
//   bits; what those bits take of the NIC's memory is the transport's to count.
// - Selective retransmission: queues of PSNs are the transport's own; nic_transport_repeat_packet
//   builds any packet in [una_psn, next_psn) again, in O(log of the work requests under way).
// - Feedback: an ACK or NAK may carry words beyond its AETH (nic_transport_answer), or only its
//   PSN.
// - Timers: nic_transport_timer_* are the queue pair's one timer with the standard's time-out; RTO
//   low and high, scans and deadlines are sim_timer_t's in the state.
// - State on both sides: one struct per queue pair, state_bytes, beginning with nic_transport_t.
//   What queue pairs of a NIC share (a buffer, a free list) is another one, nic_state_bytes.
// - Costs: a read of the host's memory, nic_transport_host_read_ps; a core's work, nic/core.h.
// - Numbers: rows of counters over the NIC's shared state, shown with the NIC's others.
#ifndef NIC_TRANSPORT_H
#define NIC_TRANSPORT_H

#include "kernel/attribute.h"
#include "nic/host.h"

SIM_C_BEGIN

// The start of a transport's state of a queue pair. Set by the NIC.
typedef struct nic_transport {
    const nic_transport_ops_t *ops;
    const void *config; // the transport's config struct for this host; NULL: it has none
    void *nic_state;    // shared by the queue pairs of the NIC; NULL: nic_state_bytes is 0
    nic_t *nic;
    nic_qp_t *qp;
} nic_transport_t;

// What transports did, added up over NICs: for reports of applications.
typedef struct nic_transport_totals {
    uint64_t retransmitted;
    uint64_t by_round[16]; // first, second... retransmissions; the last: or more
    uint64_t rounds_max;
    uint64_t nodes_max;  // records of losses held by the queue pairs of a NIC, as sampled
    uint64_t nodes_peak; // the same, at any time
    double nodes_p50;    // of the samples from the start to the last progress, both included;
    double nodes_p95;    // between two samples on the straight line
    double nodes_p99;
    double nodes_mean;
    // Mean from two round trips after the first packet to the last new one; 0: there is none.
    double nodes_steady;
    uint64_t core_ps;    // time that hosts' cores took to insert them
    uint64_t blocks_max; // of a host's memory that hold them
    uint64_t host_bytes_max;
    uint64_t host_grown; // times that memory grew, and was refused
    uint64_t host_refused;
    uint64_t nic_bytes_per_qp;     // of the NIC's memory for repairs
    uint64_t nic_bytes_per_qp_max; // where it is not constant, what was used
    uint64_t prefetch_hits;
    uint64_t prefetch_stalls;
    uint64_t stalled_ps;
    uint64_t dma_reads;
    uint64_t dma_writes;
    uint64_t table_access;
    uint64_t table_hits;
    uint64_t duplicates;
    uint64_t dropped; // arrived, but could not be recorded, and so not taken
    uint64_t timeouts;
    uint64_t went_back; // sequence NAKs after which go-back-N went back
    uint64_t parity;    // packets of an erasure code
    uint64_t decoded;   // packets that they stood for
    uint64_t fallbacks; // groups of them that did not suffice
    uint64_t repaired;  // packets that were missed
    uint64_t repair_ps; // until they came, summed
    uint64_t repair_ps_max;
    uint64_t work; // steps of the NIC's control path for them
} nic_transport_totals_t;

// What transports hold now, added up over queue pairs: for series.
typedef struct nic_transport_gauges {
    uint64_t missing_packets; // receivers: a later one has come
    uint64_t ahead_packets;   // that wait for those
    uint64_t list_maps;       // adamap: closed maps
    uint64_t chain_maps;      // of them, in the host
    uint64_t table_maps;      // entries of look-up tables
    uint64_t used_blocks;     // of the host's memory for them
    uint64_t free_blocks;
    uint64_t host_bytes;
    uint64_t resend_packets;  // senders: that wait to be sent again
    uint64_t again_stretches; // responders: answers to be given again
} nic_transport_gauges_t;

struct nic_transport_ops {
    const char *name;              // "go-back-n"
    size_t state_bytes;            // of a queue pair, a nic_transport_t first; 0: it keeps none
    size_t nic_state_bytes;        // of a NIC; 0: none
    const sim_attr_table_t *attrs; // "nic.irn."; NULL: no parameters
    // It sends again by time-outs of its own, which know the path: nic.timeout, however short for
    // that path, is no reason to.
    bool own_timeouts;
    const nic_counter_info_t
        *counters; // offsets in the NIC's state; ends with a NULL name; or NULL

    // The shared state of a NIC, zeroed: called when its first queue pair of this transport is
    // made.
    void (*nic_create)(nic_t *nic, void *nic_state, const void *config);
    void (*nic_destroy)(nic_t *nic, void *nic_state);
    // The queue pair got connected: its PSNs are known, its state is zeroed but for
    // nic_transport_t.
    void (*open)(nic_qp_t *qp);
    // It sends and takes nothing any more (error, reset, destroyed): cancel timers, free what the
    // state owns, consume packets kept. Follows each open once.
    void (*close)(nic_qp_t *qp);

    // Whether a packet of a request may leave now. Called often, must not change anything. Whatever
    // makes it true later calls nic_transport_schedule.
    bool (*ready)(const nic_qp_t *qp);
    // The packet that leaves now; ready was true when it last was asked or made so by
    // nic_transport_schedule. NULL: nothing after all (an ACK took away what was to be sent, or a
    // work request failed: nic_transport_new_packet returned NULL); ready says so too then.
    net_packet_t *(*next_packet)(nic_t *nic, nic_qp_t *qp);
    // An ACK or NAK came, or a READ's or atomic's response. The queue pair may be closed: consume
    // it.
    void (*acknowledged)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
    void (*responded)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
    // The timer of nic_transport_timer_arm fired.
    void (*timeout)(nic_qp_t *qp);

    // A request came, in whatever order.
    void (*request)(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

    // The request whose turn it is was refused for now, as no receive is posted: its RNR NAK is
    // made, expected_psn stays.
    void (*not_ready)(nic_qp_t *qp);

    // Bytes of the NIC's memory that a queue pair takes for repairs, where that is a constant.
    uint64_t (*nic_bytes)(const void *config);

    // Adds what queue pairs of the NIC did to the totals; open ones count as far as they have come.
    void (*totals)(const nic_t *nic, const void *nic_state, nic_transport_totals_t *totals);

    // Adds what a queue pair, or its NIC for all of them, holds now.
    void (*gauges)(const nic_qp_t *qp, nic_transport_gauges_t *sums);
    void (*nic_gauges)(const void *nic_state, nic_transport_gauges_t *sums);

    // For stall reports: why nothing moves. False: nothing to say, the NIC says what it knows.
    bool (*explain)(const nic_qp_t *qp, sim_message_t *why);
    // Called after each event of the host in builds with dear checks: SIM_CHECKs what must hold.
    void (*check)(const nic_qp_t *qp);
}; // NULL where there is nothing to do: nic_create to close, timeout, not_ready, nic_bytes, totals,
    // gauges, explain, check

// By name; ends with NULL.
extern const nic_transport_ops_t *const nic_transport_all[];

extern const nic_transport_ops_t nic_transport_gbn;
extern const nic_transport_ops_t nic_transport_irn;
extern const nic_transport_ops_t nic_transport_adamap;
extern const nic_transport_ops_t nic_transport_sdr;

// -- looking at a queue pair

// Its state; only of transports with state_bytes.
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
    sim_time_t timeout_ps; // of the standard; NEVER: none
    sim_time_t since_ps;   // of the last progress, or when the first packet left after a rest
    sim_time_t rtt_ps;     // of the idle path, where an algorithm or a window asked for it; else 0
    bool blocked;          // nothing may be sent now: the receiver was not ready, or failed
    bool failed;           // the send queue does not work any more
    bool refused;          // the receiving side said no for good: it takes nothing more
} nic_transport_view_t;
nic_transport_view_t nic_transport_look(const nic_qp_t *qp);
sim_node_t *nic_transport_node(const nic_qp_t *qp); // for timers and the time
// The 64-bit PSN nearest to `near_psn` that a packet's 24 bits stand for.
uint64_t nic_transport_psn(uint32_t wire_psn, uint64_t near_psn);

// -- sending

// Whether something never sent may be: work is posted, window, fences and limits of READs allow it,
// congestion control and RNR waits too.
bool nic_transport_new_ready(const nic_qp_t *qp);
enum { NIC_PACKET_ADDRESSED = 1 << 0 }; // each packet of a WRITE has its own RETH, 16 bytes more
// The next packet never sent: moves next_psn, and the send queue's position. NULL: the work request
// failed before its first packet (protection); nothing was built.
net_packet_t *nic_transport_new_packet(nic_qp_t *qp, uint32_t flags);
// A packet in [una_psn, next_psn) once more. Of a READ: a request for the rest of it from psn on.
// It asks for an ACK. NULL: its work request is done with, there is no such packet.
net_packet_t *nic_transport_repeat_packet(nic_qp_t *qp, uint64_t psn, uint32_t flags);
// ready may have changed: the queue pair gets its turn, or loses it. To be called when an operation
// is done with what changes it.
void nic_transport_schedule(nic_qp_t *qp);

// Everything before end_psn has arrived: moves una_psn, completes work requests, stops at a READ or
// atomic without all its responses. Resets the retry counts. cause: the ACK, told to congestion
// control with what was new (nak: a sequence error); NULL: none. Afterwards una_psn tells how far.
void nic_transport_advance(nic_qp_t *qp, uint64_t end_psn, const net_packet_t *cause, bool nak);
// The response of una_psn, which must be a READ's or an atomic's: moves una_psn by one. Takes the
// packet. placed: as for nic_transport_execute.
void nic_transport_accept(nic_qp_t *qp, net_packet_t *packet, bool placed);
// Whether una_psn belongs to a READ or atomic, which only responses acknowledge.
bool nic_transport_expects_response(const nic_qp_t *qp);
// An ACK's payload-carrying NAK codes: RNR waits and errors. True: dealt with; false: a sequence
// error or a positive ACK, which are the transport's.
bool nic_transport_refused(nic_qp_t *qp, const net_packet_t *packet);
// One retry is used up. False: none was left, and the queue pair has failed.
bool nic_transport_retry(nic_qp_t *qp);
void nic_transport_fail(nic_qp_t *qp, nic_wc_status_t status);
// The queue pair's timer. It is cancelled when nothing is left to be acknowledged.
void nic_transport_timer_arm(nic_qp_t *qp, sim_time_t time_ps);
void nic_transport_timer_cancel(nic_qp_t *qp);

// -- receiving

// Executes the request that has the PSN expected_psn: checks, memory, receives, completion, READs.
// Takes the packet. placed: nic_transport_place was called for it. Acknowledges nothing. False: it
// was refused, a NAK is on its way, and expected_psn stays.
bool nic_transport_execute(nic_qp_t *qp, net_packet_t *packet, bool placed);
// The payload of a request or response ahead of its turn goes to memory. False: it must wait for
// its turn (a SEND, whose receive is not known yet; a WRITE without an address, or where it may not
// write).
bool nic_transport_place(nic_qp_t *qp, net_packet_t *packet);
// A request before expected_psn: a READ or atomic is answered again. others_too: and all that was
// to be answered after it is forgotten, since the requester goes back. False: neither of the two.
bool nic_transport_repeat_answer(nic_qp_t *qp, const net_packet_t *packet, bool others_too);
// Sends an ACK of everything before expected_psn. cause: the packet that made it necessary, for
// congestion control and round trips; may be NULL.
void nic_transport_acknowledge(nic_qp_t *qp, const net_packet_t *cause);
// An acknowledgement with a PSN and syndrome of the transport's own (ROCE_SYNDROME_...), and
// extra_bytes behind its AETH that belong to the frame. It passes READ responses. Returned to be
// filled in (net_packet_aside), then sent by nic_transport_send.
net_packet_t *nic_transport_answer(nic_qp_t *qp,
                                   uint64_t psn,
                                   uint32_t syndrome,
                                   uint32_t extra_bytes,
                                   const net_packet_t *cause);
void nic_transport_send(nic_qp_t *qp, net_packet_t *answer);
void nic_transport_consume(nic_qp_t *qp, net_packet_t *packet);

// -- numbers

// Calls fn for each counter of each transport that the NIC's queue pairs use. False: there is none.
typedef void (*nic_transport_counter_fn)(const nic_transport_ops_t *ops,
                                         const nic_counter_info_t *info,
                                         uint64_t value,
                                         void *ctx);
bool nic_transport_each_counter(const nic_t *nic, nic_transport_counter_fn fn, void *ctx);

// The transport of queue pairs that do not say; what each takes of the NIC's memory for repairs:
// 0: that depends on the path, or it keeps nothing.
const nic_transport_ops_t *nic_transport_usual(const nic_t *nic, uint64_t *nic_bytes);

// Adds what the NIC's transports did.
void nic_transport_add_totals(const nic_t *nic, nic_transport_totals_t *totals);

// What they hold now: series "nic[HOST].transport.NAME" (observe). O(queue pairs) a reading.
typedef struct nic_transport_metric {
    const char *name; // with the prefix "transport."
    const char *unit;
    const char *help;
    size_t offset; // in nic_transport_gauges_t
} nic_transport_metric_t;
extern const nic_transport_metric_t nic_transport_metrics[]; // ends with a NULL name
uint64_t nic_transport_metric_read(const nic_t *nic, const nic_transport_metric_t *metric);
uint64_t nic_qp_resend_packets(const nic_qp_t *qp); // that wait to be sent again

// Frames lost on the network's links so far, and in how many events: where a link has no model of
// its own each loss is one.
void nic_link_losses(const net_t *net, uint64_t *lost, uint64_t *events);

// -- costs

// The NIC reads or writes so much of the host's memory from now on: when it has it. Over PCIe in a
// detailed NIC; now in an ideal one.
sim_time_t nic_transport_host_read_ps(nic_qp_t *qp, uint32_t bytes);
sim_time_t nic_transport_host_write_ps(nic_qp_t *qp, uint32_t bytes);

SIM_C_END

#endif // NIC_TRANSPORT_H

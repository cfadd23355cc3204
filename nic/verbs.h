// SPDX-License-Identifier: Apache-2.0
// nic/verbs.h - the only way into a NIC: protection domains, memory regions, completion queues,
// queue pairs, work requests. Names follow libibverbs; semantics follow the InfiniBand
// Architecture Specification vol. 1 (chapters 9 to 11), over RoCEv2 (annex A17).
//
// Everything is asynchronous: posting returns at once, a completion arrives later in simulated time
// in a CQ, to be polled or announced by a callback. All calls of one NIC happen in events of its
// own host (or before the run). Objects belong to their NIC and are destroyed with it; QPs can be
// destroyed earlier.
//
// Memory has contents where someone wrote them (nic/memory.h); the rest reads as zeros at no cost.
#ifndef NIC_VERBS_H
#define NIC_VERBS_H

#include "net/node.h"

SIM_C_BEGIN

typedef struct nic nic_t;
typedef struct nic_pd nic_pd_t;
typedef struct nic_mr nic_mr_t;
typedef struct nic_cq nic_cq_t;
typedef struct nic_qp nic_qp_t;
typedef struct nic_srq nic_srq_t;
typedef struct nic_transport_ops nic_transport_ops_t; // nic/transport.h
typedef struct nic_device_ops nic_device_ops_t;       // nic/device.h
typedef struct nic_scheduler_ops nic_scheduler_ops_t; // nic/scheduler.h

// -- hosts (nic/host.h makes them); a NIC per network port, in order of the host's links
net_node_t *nic_node(const nic_t *nic);
uint32_t nic_interface(const nic_t *nic); // the NIC's address

// -- protection domains and memory regions

typedef enum nic_access {
    NIC_ACCESS_LOCAL_WRITE = 1 << 0,
    NIC_ACCESS_REMOTE_WRITE = 1 << 1,
    NIC_ACCESS_REMOTE_READ = 1 << 2,
    NIC_ACCESS_REMOTE_ATOMIC = 1 << 3,
} nic_access_t;

nic_pd_t *nic_pd_alloc(nic_t *nic);

// Registers [address, address + length_bytes) with the rights in access (nic_access_t bits).
// SIM_ERR_INVALID: empty, wraps, or remote write/atomic without local write.
SIM_MUST_CHECK sim_err_t nic_mr_register(nic_pd_t *pd, uint64_t address, uint64_t length_bytes,
                                         uint32_t access, nic_mr_t **mr);
void nic_mr_deregister(nic_mr_t *mr);
// Lets peers name the region's first byte by `iova` (ibv_reg_mr_iova), before the first packet for
// it. Work requests of the host's own programs use addresses in its memory.
void nic_mr_set_iova(nic_mr_t *mr, uint64_t iova);
uint32_t nic_mr_lkey(const nic_mr_t *mr);
uint32_t nic_mr_rkey(const nic_mr_t *mr);
// Each reads or writes an 8-byte word of the region in host memory, at an address that is a
// multiple of 8. Atomics change such words, and write the original value into the requester's
// memory.
uint64_t nic_mr_read64(const nic_mr_t *mr, uint64_t address);
void nic_mr_write64(nic_mr_t *mr, uint64_t address, uint64_t value);

// -- completion queues

typedef enum nic_wc_status {
    NIC_WC_SUCCESS,
    NIC_WC_LOC_LEN_ERR,
    NIC_WC_LOC_QP_OP_ERR,
    NIC_WC_LOC_PROT_ERR,
    NIC_WC_WR_FLUSH_ERR,
    NIC_WC_BAD_RESP_ERR,
    NIC_WC_LOC_ACCESS_ERR,
    NIC_WC_REM_INV_REQ_ERR,
    NIC_WC_REM_ACCESS_ERR,
    NIC_WC_REM_OP_ERR,
    NIC_WC_RETRY_EXC_ERR,
    NIC_WC_RNR_RETRY_EXC_ERR,
    NIC_WC_GENERAL_ERR,
} nic_wc_status_t;
const char *nic_wc_status_text(nic_wc_status_t status);

typedef enum nic_wc_opcode {
    NIC_WC_SEND,
    NIC_WC_RDMA_WRITE,
    NIC_WC_RDMA_READ,
    NIC_WC_COMP_SWAP,
    NIC_WC_FETCH_ADD,
    NIC_WC_RECV,
    NIC_WC_RECV_RDMA_WITH_IMM,
} nic_wc_opcode_t;

enum { NIC_WC_WITH_IMM = 1 << 0 };

typedef struct nic_wc {
    uint64_t wr_id;
    nic_wc_status_t status;
    nic_wc_opcode_t opcode; // valid on success
    uint32_t byte_len;      // received or read
    uint32_t imm_data;      // valid if wc_flags has NIC_WC_WITH_IMM
    uint32_t qp_num;
    union {
        struct {
            uint32_t src_qp;        // UD
            uint32_t src_interface; // UD
        };
        uint64_t atomic_original; // atomics: the word before the operation
    };
    uint32_t wc_flags;
} nic_wc_t;

// Called when completions were added to a CQ that was empty, at the end of the host's event. The
// NIC is at rest then, so the callback may do anything, destroy the queue pair included.
typedef void (*nic_cq_fn)(nic_cq_t *cq, void *ctx);

// Creates a completion queue for capacity >= 1 completions. An overflow is an error of the QPs that
// use it (11.2.8: the CQ and its QPs stop). fn may be NULL; the program polls then.
nic_cq_t *nic_cq_create(nic_t *nic, uint32_t capacity, nic_cq_fn fn, void *ctx);
// Takes up to count completions out, oldest first; returns how many.
uint32_t nic_poll_cq(nic_cq_t *cq, uint32_t count, nic_wc_t *wc);
// Returns how many completions wait to be polled. Of a queue that a core polls (nic/core.h), only
// those that the core can see at this point of its step.
uint32_t nic_cq_waiting(const nic_cq_t *cq);
nic_t *nic_cq_nic(const nic_cq_t *cq);
bool nic_cq_overflowed(const nic_cq_t *cq);

// -- shared receive queues

// Creates a queue of receives for any number of QPs of the NIC. A message that needs a receive
// takes the oldest one.
nic_srq_t *nic_srq_create(nic_pd_t *pd, uint32_t max_wr);
// Returns how many receives no message has taken.
uint32_t nic_srq_posted(const nic_srq_t *srq);
// Called for the event "SRQ limit reached" (IBA vol. 1, 10.2.9), at the end of the packet's event:
// a message took a receive, and fewer than the limit are left.
typedef void (*nic_srq_limit_fn)(nic_srq_t *srq, void *ctx);
// Sets the limit, at most max_wr. fn is called once; the limit is 0 (none) afterwards, and may be
// set again.
void nic_srq_set_limit(nic_srq_t *srq, uint32_t limit, nic_srq_limit_fn fn, void *ctx);

// -- queue pairs

typedef enum nic_qp_type { NIC_QPT_RC, NIC_QPT_UC, NIC_QPT_UD } nic_qp_type_t;

typedef enum nic_qp_state {
    NIC_QPS_RESET,
    NIC_QPS_INIT,
    NIC_QPS_RTR,
    NIC_QPS_RTS,
    NIC_QPS_SQE, // UC, UD: send queue stopped by an error
    NIC_QPS_ERR,
    NIC_QPS_SQD, // requests that were begun go on, all others wait
} nic_qp_state_t;

typedef struct nic_qp_init_attr {
    nic_qp_type_t qp_type;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    uint32_t max_send_wr;                 // >= 1
    uint32_t max_recv_wr;                 // 0 allowed
    nic_srq_t *srq;                       // queue that receives come from; NULL: the QP's own
    bool sq_sig_all;                      // every send work request completes with a CQE
    uint32_t qp_num;                      // 0: the NIC chooses; 1: management datagrams, UD only
    void *ctx;                            // the program's, for nic_qp_ctx
    const nic_transport_ops_t *transport; // transport of an RC queue pair; NULL: the NIC's, as it
                                          // must be in ranks (kernel/ranks.h)
} nic_qp_init_attr_t;

// Creates a QP in the state RESET. SIM_ERR_EXISTS: qp_num is in use; SIM_ERR_FULL: no number is
// left.
SIM_MUST_CHECK sim_err_t nic_qp_create(nic_pd_t *pd, const nic_qp_init_attr_t *attr, nic_qp_t **qp);
// Destroys a QP. Outstanding work ends without completions; packets in flight to it are dropped.
void nic_qp_destroy(nic_qp_t *qp);

// The attributes that ibv_modify_qp sets on the way to RTS.
typedef struct nic_qp_attr {
    uint32_t dest_interface;     // RC, UC
    uint32_t dest_qp_num;        // RC, UC
    uint32_t rq_psn;             // first PSN expected, 24 bits
    uint32_t sq_psn;             // first PSN sent, 24 bits
    uint32_t rq_msn;             // messages the peer has sent to this number before, 24 bits
    uint32_t path_mtu;           // 256, 512, 1024, 2048 or 4096; with nic.frames bare up to 9216
    uint32_t timeout;            // local ACK timeout 4.096 us x 2^timeout, 1..31; 0: never
    uint32_t retry_cnt;          // 0..7
    uint32_t rnr_retry;          // 0..7; 7: for ever
    uint32_t min_rnr_timer;      // code 0..31, IBA table 45
    uint32_t max_rd_atomic;      // READs and atomics outstanding as requester, 1..255
    uint32_t max_dest_rd_atomic; // accepted as responder
    uint32_t access;             // nic_access_t bits a peer may use
    uint32_t qkey;               // UD
    uint8_t priority;            // 802.1p class of all packets that this QP sends, except CNPs
    uint8_t dscp;                // DSCP of the same packets
    uint16_t hashed_port;        // port that load balancers hash as well; 0: none
    uint16_t udp_source_port;    // 0: derived from the two QP numbers, 0xc000 or above
    uint64_t rate_max_bps;       // SIM_AUTO: line rate
    uint64_t window_bytes;       // limit of unacknowledged bytes; SIM_AUTO: the NIC's attribute
} nic_qp_attr_t;
// Fills attr from the NIC's attributes.
void nic_qp_attr_default(const nic_t *nic, nic_qp_attr_t *attr);

// Moves a QP from RESET to RTS in one step, through INIT and RTR. Values are checked as by the
// verbs.
SIM_MUST_CHECK sim_err_t nic_qp_connect(nic_qp_t *qp, const nic_qp_attr_t *attr,
                                        sim_message_t *message);
// Makes one transition of ibv_modify_qp (10.3.1). SIM_ERR_STATE: there is no such transition.
//   RESET to INIT; INIT to RTR, which reads attr and lets the QP receive and answer; RTR to RTS,
//   which lets it send, and reads sq_psn, timeout, retry_cnt, rnr_retry and max_rd_atomic again if
//   attr is not NULL; SQE to RTS; RTS to SQD, which lets its send queue drain, and back;
//   any but RESET to ERR, as nic_qp_to_error; any to RESET, where outstanding work ends without
//   completions.
// attr may be NULL in all transitions but INIT to RTR.
SIM_MUST_CHECK sim_err_t nic_qp_modify(nic_qp_t *qp, nic_qp_state_t state,
                                       const nic_qp_attr_t *attr, sim_message_t *message);
// Returns true if the state is SQD and all requests that were begun are finished: the standard's
// event "send queue drained".
bool nic_qp_drained(const nic_qp_t *qp);
// Moves a QP into the error state. Everything posted completes with WR_FLUSH_ERR.
void nic_qp_to_error(nic_qp_t *qp);

uint32_t nic_qp_num(const nic_qp_t *qp);
nic_qp_state_t nic_qp_state(const nic_qp_t *qp);
void *nic_qp_ctx(const nic_qp_t *qp); // nic_qp_init_attr_t.ctx
nic_t *nic_qp_nic(const nic_qp_t *qp);
// Returns the interface that the QP is connected to; NET_INTERFACES_MAX before that, and for UD.
uint32_t nic_qp_destination(const nic_qp_t *qp);
// Returns the UDP source port that a QP of these numbers gets if its attributes name none. Ports
// are spread over the range, so that QPs are spread over equal paths.
uint16_t nic_derived_source_port(uint32_t interface, uint32_t qp_num, uint32_t dest_interface,
                                 uint32_t dest_qp_num);
// Returns the UDP source port of what this QP sends; 0 before it is connected.
uint16_t nic_qp_udp_source_port(const nic_qp_t *qp);
// Returns the 5-tuple hash of what this QP sends, which selects among equal paths.
uint32_t nic_qp_flow_hash(const nic_qp_t *qp);
// Returns true if nothing posted is unfinished, and nothing received waits to be answered.
bool nic_qp_quiet(const nic_qp_t *qp);
// Returns the next PSN expected from the peer, 24 bits: rq_psn of ibv_query_qp.
uint32_t nic_qp_rq_psn(const nic_qp_t *qp);
// Returns the first PSN that is not acknowledged: 64 bits, counted from the sq_psn of connecting.
// For a QP in the error state, it is the first PSN that was not sent.
uint64_t nic_qp_una_psn(const nic_qp_t *qp);
// Returns how many send work requests succeeded since the QP was created, signaled or not, modulo
// 2^32.
uint32_t nic_qp_sends_done(const nic_qp_t *qp);
// Returns how many packets this QP has sent again: requests, and READ responses that the peer asked
// for again.
uint64_t nic_qp_retransmitted_packets(const nic_qp_t *qp);

// Called in an event of the host when a WRITE without immediate from the peer lies whole in memory,
// at `address`. A program that polls its memory sees the data at this moment; it has no completion.
typedef void (*nic_write_fn)(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
// Sets the callback for WRITEs of RC and UC; NULL: none.
void nic_qp_on_write(nic_qp_t *qp, nic_write_fn fn, void *ctx);

// Called when a request for an unknown QP number arrives. It may create, connect and return that
// QP; if it returns NULL, the packet is dropped, as ACKs, READ responses and CNPs always are. So a
// program with millions of connections needs state for the live ones only.
typedef nic_qp_t *(*nic_accept_fn)(nic_t *nic, uint32_t qp_num, void *ctx);
void nic_on_unknown_qp(nic_t *nic, nic_accept_fn fn, void *ctx);

// -- work requests

typedef enum nic_wr_opcode {
    NIC_WR_SEND,
    NIC_WR_SEND_WITH_IMM,
    NIC_WR_RDMA_WRITE,
    NIC_WR_RDMA_WRITE_WITH_IMM,
    NIC_WR_RDMA_READ,
    NIC_WR_ATOMIC_CMP_AND_SWP, // RC, 8 bytes, aligned
    NIC_WR_ATOMIC_FETCH_AND_ADD,
} nic_wr_opcode_t;

enum {
    NIC_SEND_SIGNALED = 1 << 0,
    NIC_SEND_FENCE = 1 << 1,
    NIC_SEND_SOLICITED = 1 << 2,
    NIC_SEND_INLINE = 1 << 3,
};

typedef struct nic_sge {
    uint64_t addr;
    uint64_t length; // a message is at most 2^31 bytes
    uint32_t lkey;
} nic_sge_t;

#define NIC_SGES_MAX 30u // places of a work request, at most

typedef struct nic_send_wr {
    uint64_t wr_id;
    nic_wr_opcode_t opcode;
    uint32_t send_flags;
    nic_sge_t sge;            // place of the message in memory, if num_sge is 0
    const nic_sge_t *sg_list; // places of the message, in order, if num_sge is not 0
    uint32_t num_sge;         // 0: sge. Atomics have one place
    uint32_t imm_data;
    struct {
        uint64_t remote_addr;
        uint32_t rkey;
    } rdma;
    struct {
        uint32_t remote_interface;
        uint32_t remote_qpn;
        uint32_t remote_qkey;
    } ud;
    struct {
        uint64_t remote_addr; // a multiple of 8
        uint64_t compare_add; // compared with the word, or added to it
        uint64_t swap;
        uint32_t rkey;
    } atomic; // sge: 8 bytes for the original value
    // Names the message in random draws with network.draws: packet. Collectives give each message
    // the label of its counterpart in the call before. 0: a number of its own.
    uint64_t label;
    const struct nic_send_wr *next; // next of a list, see nic_post_send_list
} nic_send_wr_t;

typedef struct nic_recv_wr {
    uint64_t wr_id;
    nic_sge_t sge;
    const nic_sge_t *sg_list; // num_sge of them, or num_sge is 0 and sge is meant
    uint32_t num_sge;
} nic_recv_wr_t;

// Returns the largest payload in bytes that may be flagged NIC_SEND_INLINE; UINT32_MAX: any.
uint32_t nic_inline_max(const nic_t *nic);

// Each posts one work request. Lists of places are copied. With the detailed NIC a payload flagged
// NIC_SEND_INLINE travels within the WQE; without the flag the NIC reads it from host memory.
// Posting in a step of a core (nic/core.h) costs that core time.
//   SIM_ERR_FULL: the queue holds max_send_wr (max_recv_wr) already.
//   SIM_ERR_STATE: the QP's state does not allow it. (In the error state it is allowed, and
//   completes as flushed 1 us later.)
//   SIM_ERR_INVALID: the transport has no such verb, or there are more than NIC_SGES_MAX places.
//   SIM_ERR_RANGE: longer than a message can be (UD: than the path MTU; inline: than
//   nic.detailed.wqe.inline-max of the detailed NIC).
// Wrong keys and bounds are found later, when the NIC works on the request: it completes with an
// error.
SIM_MUST_CHECK sim_err_t nic_post_send(nic_qp_t *qp, const nic_send_wr_t *wr);
SIM_MUST_CHECK sim_err_t nic_post_recv(nic_qp_t *qp, const nic_recv_wr_t *wr);

// Posts a list of work requests, linked by `next`, with one Doorbell. The detailed NIC reads them
// from host memory together, while nic_post_send and a list of one write the WQE itself into the
// NIC. At the first error the requests before it are posted; *bad (may be NULL) is the one refused.
SIM_MUST_CHECK sim_err_t nic_post_send_list(nic_qp_t *qp, const nic_send_wr_t *wr,
                                            const nic_send_wr_t **bad);
// Posts `count` receives with one Doorbell. *posted (may be NULL) is how many were posted.
SIM_MUST_CHECK sim_err_t nic_post_recv_list(nic_qp_t *qp, const nic_recv_wr_t *wr, uint32_t count,
                                            uint32_t *posted);
// Posts receives to a shared queue. nic_post_recv on one of its QPs is SIM_ERR_INVALID.
SIM_MUST_CHECK sim_err_t nic_post_srq_recv(nic_srq_t *srq, const nic_recv_wr_t *wr, uint32_t count,
                                           uint32_t *posted);

SIM_C_END

#endif // NIC_VERBS_H

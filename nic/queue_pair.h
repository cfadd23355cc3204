// SPDX-License-Identifier: Apache-2.0
// nic/queue_pair.h - queue pairs: creating, destroying, asking them.
#ifndef NIC_QUEUE_PAIR_H
#define NIC_QUEUE_PAIR_H

#include "nic/nic.h"

SIM_C_BEGIN

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
    bool grh;                             // UD: receives begin with 40 bytes for the header
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

uint32_t nic_qp_num(const nic_qp_t *qp);
nic_qp_state_t nic_qp_state(const nic_qp_t *qp);
void *nic_qp_ctx(const nic_qp_t *qp); // nic_qp_init_attr_t.ctx
nic_t *nic_qp_nic(const nic_qp_t *qp);
// Returns the interface that the QP is connected to; NET_INTERFACES_MAX before that, and for UD.
uint32_t nic_qp_destination(const nic_qp_t *qp);
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

SIM_C_END

#endif // NIC_QUEUE_PAIR_H

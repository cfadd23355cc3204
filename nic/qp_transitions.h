// SPDX-License-Identifier: Apache-2.0
// nic/qp_transitions.h - the states of queue pairs: connecting them, ending them.
#ifndef NIC_QP_TRANSITIONS_H
#define NIC_QP_TRANSITIONS_H

#include "nic/queue_pair.h"

SIM_C_BEGIN

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
//   attr is not NULL; SQE to RTS; RTS to SQD, which lets its send queue drain, and back; RTS to
//   RTS; any but RESET to ERR, as nic_qp_to_error; any to RESET, where outstanding work ends
//   without completions.
// Transitions to RTS take access, qkey and min_rnr_timer from attr if it is not NULL.
// attr may be NULL in all transitions but INIT to RTR.
SIM_MUST_CHECK sim_err_t nic_qp_modify(nic_qp_t *qp, nic_qp_state_t state,
                                       const nic_qp_attr_t *attr, sim_message_t *message);
// Returns true if the state is SQD and all requests that were begun are finished: the standard's
// event "send queue drained".
bool nic_qp_drained(const nic_qp_t *qp);
// Moves a QP into the error state. Everything posted completes with WR_FLUSH_ERR.
void nic_qp_to_error(nic_qp_t *qp);

// Returns the UDP source port that a QP of these numbers gets if its attributes name none. Ports
// are spread over the range, so that QPs are spread over equal paths.
uint16_t nic_derived_source_port(uint32_t interface, uint32_t qp_num, uint32_t dest_interface,
                                 uint32_t dest_qp_num);

SIM_C_END

#endif // NIC_QP_TRANSITIONS_H

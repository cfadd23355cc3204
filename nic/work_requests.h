// SPDX-License-Identifier: Apache-2.0
// nic/work_requests.h - what programs post to queue pairs.
#ifndef NIC_WORK_REQUESTS_H
#define NIC_WORK_REQUESTS_H

#include "nic/queue_pair.h"

SIM_C_BEGIN

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

SIM_C_END

#endif // NIC_WORK_REQUESTS_H

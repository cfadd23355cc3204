// SPDX-License-Identifier: Apache-2.0
// nic/completion_queue.h - completion queues and work completions.
#ifndef NIC_COMPLETION_QUEUE_H
#define NIC_COMPLETION_QUEUE_H

#include "nic/nic.h"

SIM_C_BEGIN

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

enum {
    NIC_WC_WITH_IMM = 1 << 0,
    NIC_WC_SOLICITED = 1 << 1, // the sender has set NIC_SEND_SOLICITED
    NIC_WC_GRH = 1 << 2,       // the receive begins with the header; byte_len counts it
};

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
// The two halves of nic_poll_cq, for a caller that looks at completions before its program polls:
// the first takes no time of the core, the second takes that of a poll that found `count`.
uint32_t nic_cq_take(nic_cq_t *cq, uint32_t count, nic_wc_t *wc);
void nic_cq_spend_poll(const nic_cq_t *cq, uint32_t count);
// Returns how many completions wait to be polled. Of a queue that a core polls (nic/core.h), only
// those that the core can see at this point of its step.
uint32_t nic_cq_waiting(const nic_cq_t *cq);
// Returns true if the queue has no completion, not even one that its core cannot see yet.
bool nic_cq_is_empty(const nic_cq_t *cq);
// Gives a CQ another capacity. Returns false if more completions wait.
SIM_MUST_CHECK bool nic_cq_resize(nic_cq_t *cq, uint32_t capacity);
nic_t *nic_cq_nic(const nic_cq_t *cq);
bool nic_cq_overflowed(const nic_cq_t *cq);

SIM_C_END

#endif // NIC_COMPLETION_QUEUE_H

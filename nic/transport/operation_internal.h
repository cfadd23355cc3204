// SPDX-License-Identifier: Apache-2.0
// nic/transport/operation_internal.h - the kind of each request, for the NIC that receives it.
//
// Transports number their operations alike in the low five bits of the opcode (IBA vol. 1, 9.2.1).
// Not every transport has each: UC has no READ and no atomics, UD only the SENDs of one packet; the
// receiving sides of UC and UD look for IS_SEND and IS_WRITE.
#ifndef NIC_TRANSPORT_OPERATION_INTERNAL_H
#define NIC_TRANSPORT_OPERATION_INTERNAL_H

#include "kernel/base.h"
#include "net/wire/roce.h"
#include "nic/completion_queue.h"

enum {
    IS_SEND = 1,
    IS_WRITE = 2,
    IS_FIRST = 4,
    IS_LAST = 8,
    HAS_IMM = 16,
    IS_READ = 32,
    IS_ATOMIC = 64,
    SOLICITED = 128, // no kind: the packet's bit, which goes the same way
};

// Returns the flags of the completion of a receive.
static inline uint32_t nic__wc_flags(uint32_t operation)
{
    return ((operation & HAS_IMM) != 0 ? NIC_WC_WITH_IMM : 0u) |
           ((operation & SOLICITED) != 0 ? NIC_WC_SOLICITED : 0u);
}

static const uint8_t nic__operations[32] = {
    [ROCE_SEND_FIRST] = IS_SEND | IS_FIRST,
    [ROCE_SEND_MIDDLE] = IS_SEND,
    [ROCE_SEND_LAST] = IS_SEND | IS_LAST,
    [ROCE_SEND_LAST_IMM] = IS_SEND | IS_LAST | HAS_IMM,
    [ROCE_SEND_ONLY] = IS_SEND | IS_FIRST | IS_LAST,
    [ROCE_SEND_ONLY_IMM] = IS_SEND | IS_FIRST | IS_LAST | HAS_IMM,
    [ROCE_WRITE_FIRST] = IS_WRITE | IS_FIRST,
    [ROCE_WRITE_MIDDLE] = IS_WRITE,
    [ROCE_WRITE_LAST] = IS_WRITE | IS_LAST,
    [ROCE_WRITE_LAST_IMM] = IS_WRITE | IS_LAST | HAS_IMM,
    [ROCE_WRITE_ONLY] = IS_WRITE | IS_FIRST | IS_LAST,
    [ROCE_WRITE_ONLY_IMM] = IS_WRITE | IS_FIRST | IS_LAST | HAS_IMM,
    [ROCE_READ_REQUEST] = IS_READ | IS_FIRST | IS_LAST,
    [ROCE_COMPARE_SWAP] = IS_ATOMIC | IS_FIRST | IS_LAST,
    [ROCE_FETCH_ADD] = IS_ATOMIC | IS_FIRST | IS_LAST,
};

#endif // NIC_TRANSPORT_OPERATION_INTERNAL_H

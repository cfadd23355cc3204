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

#include "nic/completion_queue.h"
#include "nic/memory_region.h"
#include "nic/qp_transitions.h"
#include "nic/shared_receive_queue.h"

SIM_C_BEGIN

SIM_C_END

#endif // NIC_VERBS_H

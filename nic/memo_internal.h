// SPDX-License-Identifier: Apache-2.0
// nic/memo_internal.h - the state of NICs, at rest or at work.
#ifndef NIC_MEMO_INTERNAL_H
#define NIC_MEMO_INTERNAL_H

#include "nic/memo.h"

// Does what nic_memo_list does. at_work: queue pairs may be, and have rows for periods within
// messages (kernel/period.h).
void nic__memo_list(const net_t *net, sim_memo_list_t *list, sim_time_t *rest_ps, bool at_work);

#endif // NIC_MEMO_INTERNAL_H

// SPDX-License-Identifier: Apache-2.0
// nic/verbs/hand_over.h - informs programs of what happened, at the end of an event.
#ifndef NIC_VERBS_HAND_OVER_H
#define NIC_VERBS_HAND_OVER_H

#include "nic/objects/objects.h"

// Informs programs of all that was noted, at the end of an event.
void nic__hand_over(nic_host_t *host);
// Does the same for a call that a program makes before the run.
void nic__hand_over_outside(nic_host_t *host);

#endif // NIC_VERBS_HAND_OVER_H

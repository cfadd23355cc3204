// SPDX-License-Identifier: Apache-2.0
// nic/rails.h - equal rails: where every NIC of a host does the same, one of them is simulated.
//
// On rails, NIC k of each host is at switch k. If all NICs of a host post equal messages at equal
// times, to hosts of the same switch, all rails do the same. So the first one is simulated, and
// what happens at its queue pairs happens at those of the others. After the run their counters are
// those of the first. That posts are equal is checked; whatever depends on a tie or a draw of a
// switch is found, too. The run must then be repeated without this. docs/models/fast-forward.md
#ifndef NIC_RAILS_H
#define NIC_RAILS_H

#include "nic/host.h"

SIM_C_BEGIN

typedef struct nic_rails nic_rails_t;

// Lets the first NIC of each host lead the others, before the run. NULL: the rails are not equal.
nic_rails_t *nic_rails_create(net_t *net);
void nic_rails_destroy(nic_rails_t *rails); // NULL is allowed; before the network
// Returns, after the run, why it must be repeated without this; NULL: it need not. whole: nobody
// else has interrupted it.
const char *nic_rails_apart(nic_rails_t *rails, bool whole);
// Gives the rails that follow their counters, after the run, if it need not be repeated. Returns
// the frames that they sent; *count becomes the number of rails.
uint64_t nic_rails_settle(nic_rails_t *rails, uint64_t *count);

SIM_C_END

#endif // NIC_RAILS_H

// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/losses.h - losses of links by the rules of HPCC's simulator.
#ifndef COMPAT_HPCC_LOSSES_H
#define COMPAT_HPCC_LOSSES_H

#include "compat/hpcc/hpcc_internal.h"

// losses.c: prepares the losses of links, once ports exist.
void compat__losses_prepare(compat_hpcc_t *rules);
void compat__losses_free(compat_hpcc_t *rules);

#endif // COMPAT_HPCC_LOSSES_H

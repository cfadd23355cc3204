// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/adapt.h - thresholds that adapt, and policies that follow miniatures.
#ifndef NIC_STORE_TIERED_RULES_ADAPT_H
#define NIC_STORE_TIERED_RULES_ADAPT_H

#include "nic/store/tiered/object.h"

// The resources that were busy in the last interval of adaptation.
typedef struct tiered_busy {
    bool links;  // PCIe or the link of L2 is nearly full
    bool l2;     // the link of L2 is
    bool driver; // the driver's core is busy, by adaptive.cpu
} tiered_busy_t;

void nic__tiered_adapt(tiered_t *tiered); // the thresholds of both partitions

void nic__tiered_shadows_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_shadows_fini(tiered_t *tiered);
// Puts a token that was used, and is not in L1, where the way in use wants it.
void nic__tiered_place(tiered_t *tiered, tiered_token_t *token);
// Lets a partition follow the miniature that costs least.
void nic__tiered_follow(tiered_t *tiered, uint32_t p, const tiered_busy_t *busy);

#endif // NIC_STORE_TIERED_RULES_ADAPT_H

// SPDX-License-Identifier: Apache-2.0
// nic/path/reps.h - REPS: sending again along paths whose packets came back unmarked.
//
// An entropy is a number that the network hashes to a path. Any transport may use this part: it
// draws an entropy for each packet, and says which entropies come back. It knows no packets.
// Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying", arXiv 2407.21625.
// Page: docs/models/reps.md.
#ifndef NIC_PATH_REPS_H
#define NIC_PATH_REPS_H

#include "kernel/random.h"
#include "nic/host.h"

// The state of one connection; zeros are its beginning.
typedef struct nic_reps {
    uint16_t ring[NIC_REPS_CACHE_MAX]; // entropies that came back, oldest overwritten first
    uint8_t next;                      // the place that is written next
    uint8_t filled;                    // places written so far
    uint8_t fresh;                     // the latest ones, which were not used again yet
    uint8_t again;                     // the place that is used next while the ring is frozen
    bool frozen;
    uint32_t explore; // packets that still take random entropies
    sim_time_t thaw_ps;
} nic_reps_t;

// Returns the entropy of the next packet, below `entropies` (1 to 65536).
uint16_t nic__reps_next_entropy(nic_reps_t *reps, const nic_reps_config_t *config,
                                sim_random_t *random, uint32_t entropies, sim_time_t now_ps);

// Notes that a packet with this entropy arrived, and whether it was marked, which only frees a
// frozen ring whose time is over.
void nic__reps_ack(nic_reps_t *reps, const nic_reps_config_t *config, uint16_t entropy, bool marked,
                   sim_time_t now_ps);

// Notes a time-out: the ring freezes. While the sender explores after a frozen ring, it does not.
// Returns whether it froze now.
bool nic__reps_timeout(nic_reps_t *reps, const nic_reps_config_t *config, sim_time_t now_ps);

#endif // NIC_PATH_REPS_H

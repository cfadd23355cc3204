// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/paths.h - the entropy value of each packet, which the network hashes to a path.
// Page: docs/models/uec.md.
#ifndef NIC_TRANSPORT_UEC_PATHS_H
#define NIC_TRANSPORT_UEC_PATHS_H

#include "kernel/random.h"
#include "nic/path/reps.h"

typedef enum nic_uec_spray {
    NIC_UEC_ONE,       // one value for all packets
    NIC_UEC_OBLIVIOUS, // all in turn, in an order that is drawn anew each time
    NIC_UEC_BITMAP,    // likewise, without those that were marked, trimmed or lost
    NIC_UEC_MIXED,     // those that came back unmarked, else as bitmap
    NIC_UEC_REPS,      // those that came back unmarked, else random (nic/path/reps.h)
} nic_uec_spray_t;

// A packet with an entropy value has one of these fates.
typedef enum nic_uec_fate {
    NIC_UEC_GOOD,
    NIC_UEC_MARKED,
    NIC_UEC_TRIMMED,
    NIC_UEC_LOST,
} nic_uec_fate_t;

typedef struct nic_uec_paths {
    nic_uec_spray_t spray;
    uint32_t count; // power of two
    uint32_t next;  // position in the order
    uint32_t shuffle;
    uint8_t *penalties; // by value; NULL: not used
    uint16_t *good;     // ring of values that came back
    uint32_t good_capacity;
    uint32_t good_first; // both run freely
    uint32_t good_end;
    sim_random_t random;
    const nic_reps_config_t *reps_config;
    nic_reps_t reps;
} nic_uec_paths_t;

// count: a power of two, at most 16384.
void nic__uec_paths_init(nic_uec_paths_t *paths, nic_uec_spray_t spray, uint32_t count,
                         const nic_reps_config_t *reps_config, uint64_t seed, uint64_t id);
void nic__uec_paths_fini(nic_uec_paths_t *paths);
// Returns a value for a control packet, and takes none out of turn.
static inline uint32_t nic__uec_paths_any(const nic_uec_paths_t *paths)
{
    return (paths->next ^ paths->shuffle) & (paths->count - 1);
}
// Returns the value of the next packet, below count.
uint32_t nic__uec_paths_next(nic_uec_paths_t *paths, sim_time_t now_ps);
void nic__uec_paths_heard(nic_uec_paths_t *paths, uint32_t entropy, nic_uec_fate_t fate,
                          sim_time_t now_ps);

#endif // NIC_TRANSPORT_UEC_PATHS_H

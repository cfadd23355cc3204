// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/evs.h - the entropy values (EVs) of a queue pair: one stands for one path, and
// each has a state. Page: docs/models/mrc.md.
//
// EVs form equal blocks, one for each plane. Some of a block are active and take packets in turn,
// in an order that is drawn anew each round; the others replace active ones whose path has failed.
// Source: MRC Specification 1.0, section 9 (figure 5), and arXiv 2605.04333.
// Cost: O(1) a packet; O(EVs of a plane) when a path fails or comes back.
#ifndef NIC_TRANSPORT_MRC_EVS_H
#define NIC_TRANSPORT_MRC_EVS_H

#include "kernel/attribute.h"
#include "kernel/random.h"

#define NIC_EVS_MAX 8192u // of a queue pair, all planes together
#define NIC_EV_NONE UINT32_MAX

typedef enum nic_ev_state {
    NIC_EV_GOOD,
    NIC_EV_SKIP, // passed over once, or for a time
    NIC_EV_BAD,  // ASSUMED_BAD: no data until probes come back
    NIC_EV_DENIED,
} nic_ev_state_t;

// A packet with an EV has one of these fates.
typedef enum nic_ev_fate {
    NIC_EV_ARRIVED,
    NIC_EV_MARKED,
    NIC_EV_TRIMMED,
    NIC_EV_LOST,
} nic_ev_fate_t;

// State of a bad path after its last probe if that was marked.
typedef enum nic_evs_marked {
    NIC_EVS_MARKED_SKIP,
    NIC_EVS_MARKED_GOOD,
} nic_evs_marked_t;

typedef struct nic_evs_config {
    uint64_t active; // of all planes
    uint64_t backup;
    char *denied;            // a list, "3, 8-11"
    sim_time_t skip_ps;      // SIM_AUTO: until its turn has passed once
    uint64_t losses;         // in a row that make a path bad
    sim_time_t probe_ps;     // from a loss to the first probe of its path
    sim_time_t probe_max_ps; // probes without an answer double the time, up to this
    uint64_t probes;         // in a row that make it good again
    nic_evs_marked_t marked;
} nic_evs_config_t;

typedef struct nic_ev {
    uint8_t state;      // nic_ev_state_t
    bool active;        // it is in the order of its plane
    bool probing;       // a probe is under way
    uint8_t losses;     // in a row
    uint8_t answers;    // to probes, in a row
    uint8_t unanswered; // probes, in a row
    sim_time_t time_ps; // SKIP: its end; BAD: when the next probe is due
} nic_ev_t;

typedef struct nic_evs_plane {
    uint32_t usable; // active ones that are GOOD or SKIP
    uint32_t next;   // position in the round
    uint32_t mask;   // that shuffles it
} nic_evs_plane_t;

typedef struct nic_evs {
    const nic_evs_config_t *config;
    nic_ev_t *evs;   // by number: plane x block + index
    uint16_t *order; // by plane, `active` of each: index in the block
    nic_evs_plane_t *planes;
    uint32_t plane_count;
    uint32_t block;  // EVs of a plane
    uint32_t active; // of a plane
    uint32_t round;  // active, rounded up to a power of two
    uint32_t bad;    // EVs in that state
    sim_random_t random;
} nic_evs_t;

// Fails with a message if the list of denied EVs cannot be read, or leaves no EV in some plane.
SIM_MUST_CHECK sim_err_t nic__evs_check(const nic_evs_config_t *config, sim_message_t *message);
void nic__evs_init(nic_evs_t *evs, const nic_evs_config_t *config, uint32_t planes, uint64_t seed,
                   uint64_t id);
void nic__evs_fini(nic_evs_t *evs);

static inline bool nic__evs_usable(const nic_evs_t *evs, uint32_t plane)
{
    return evs->planes[plane].usable != 0;
}
static inline uint32_t nic__evs_plane(const nic_evs_t *evs, uint32_t ev)
{
    return ev / evs->block;
}
// Returns the EV of the next packet in a plane; NIC_EV_NONE: no path of it is usable.
uint32_t nic__evs_next(nic_evs_t *evs, uint32_t plane, sim_time_t now_ps);
// Takes in what became of a packet. Returns true if a path was found bad.
bool nic__evs_heard(nic_evs_t *evs, uint32_t ev, nic_ev_fate_t fate, sim_time_t now_ps);

// Returns an EV whose probe is due, and notes that it is sent now; NIC_EV_NONE: none is.
uint32_t nic__evs_probe(nic_evs_t *evs, sim_time_t now_ps);
// Returns when the next probe is due; SIM_TIME_NEVER: no path is bad.
sim_time_t nic__evs_probe_due_ps(const nic_evs_t *evs);
// Takes in the answer to a probe. Returns true if the path is good again.
bool nic__evs_probed(nic_evs_t *evs, uint32_t ev, bool marked, sim_time_t now_ps);

// Makes all bad paths good, as at the beginning.
void nic__evs_reset(nic_evs_t *evs);

#endif // NIC_TRANSPORT_MRC_EVS_H

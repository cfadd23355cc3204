// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/paths.c - the entropy value of each packet. Sources: docs/models/uec.md.
#include "nic/transport/uec/paths.h"

#define PENALTY_MAX 15u
#define FIRST_GOOD 16u

static void shuffle(nic_uec_paths_t *paths)
{
    paths->next = 0;
    paths->shuffle = (uint32_t)sim_random_below(&paths->random, paths->count);
}

void nic__uec_paths_init(nic_uec_paths_t *paths, nic_uec_spray_t spray, uint32_t count,
                         const nic_reps_config_t *reps_config, uint64_t seed, uint64_t id)
{
    SIM_CHECK(count != 0 && (count & (count - 1)) == 0);
    *paths = (nic_uec_paths_t){.spray = spray, .count = count, .reps_config = reps_config};
    sim_random_init(&paths->random, seed, id, "uec-paths");
    if (spray == NIC_UEC_BITMAP || spray == NIC_UEC_MIXED) {
        paths->penalties = sim_alloc_array(count, sizeof(*paths->penalties));
    }
    shuffle(paths);
}

void nic__uec_paths_fini(nic_uec_paths_t *paths)
{
    sim_free(paths->penalties);
    sim_free(paths->good);
    paths->penalties = NULL;
    paths->good = NULL;
    paths->good_capacity = paths->good_first = paths->good_end = 0;
}

// Returns the value at the present position, and moves on.
static uint32_t step(nic_uec_paths_t *paths)
{
    const uint32_t entropy = (paths->next ^ paths->shuffle) & (paths->count - 1);
    if (++paths->next == paths->count) {
        shuffle(paths);
    }
    return entropy;
}

// Skips values with a penalty. A packet pays one point of the first that it skips, also the last
// point: that value has its turn the next time.
static uint32_t step_over(nic_uec_paths_t *paths)
{
    uint32_t entropy = step(paths);
    if (paths->penalties[entropy] == 0) {
        return entropy;
    }
    paths->penalties[entropy]--;
    uint32_t skipped = 0;
    do {
        entropy = step(paths);
    } while (paths->penalties[entropy] != 0 && ++skipped < paths->count);
    return entropy;
}

uint32_t nic__uec_paths_next(nic_uec_paths_t *paths, sim_time_t now_ps)
{
    switch (paths->spray) {
    case NIC_UEC_ONE:
        return paths->shuffle;
    case NIC_UEC_OBLIVIOUS:
        return step(paths);
    case NIC_UEC_MIXED:
        if (paths->good_first != paths->good_end) {
            return paths->good[paths->good_first++ & (paths->good_capacity - 1)];
        }
        break;
    case NIC_UEC_REPS:
        return nic__reps_next_entropy(&paths->reps, paths->reps_config, &paths->random,
                                      paths->count, now_ps);
    case NIC_UEC_BITMAP:
        break;
    }
    return step_over(paths);
}

static void keep(nic_uec_paths_t *paths, uint32_t entropy)
{
    if (paths->good_end - paths->good_first == paths->good_capacity) {
        const uint32_t capacity = paths->good_capacity == 0 ? FIRST_GOOD : paths->good_capacity * 2;
        uint16_t *const good = sim_alloc_array(capacity, sizeof(*good));
        for (uint32_t i = paths->good_first; i != paths->good_end; i++) {
            good[i & (capacity - 1)] = paths->good[i & (paths->good_capacity - 1)];
        }
        sim_free(paths->good);
        paths->good = good;
        paths->good_capacity = capacity;
    }
    paths->good[paths->good_end++ & (paths->good_capacity - 1)] = (uint16_t)entropy;
}

// REPS: a packet that came back, or a time-out.
static void hear_reps(nic_uec_paths_t *paths, uint32_t entropy, nic_uec_fate_t fate,
                      sim_time_t now_ps)
{
    if (fate == NIC_UEC_LOST) {
        (void)nic__reps_timeout(&paths->reps, paths->reps_config, now_ps);
    } else if (fate != NIC_UEC_TRIMMED) {
        nic__reps_ack(&paths->reps, paths->reps_config, (uint16_t)entropy, fate == NIC_UEC_MARKED,
                      now_ps);
    }
}

void nic__uec_paths_heard(nic_uec_paths_t *paths, uint32_t entropy, nic_uec_fate_t fate,
                          sim_time_t now_ps)
{
    static const uint8_t points[] =
        {[NIC_UEC_GOOD] = 0, [NIC_UEC_MARKED] = 1, [NIC_UEC_TRIMMED] = 4, [NIC_UEC_LOST] = 15};
    if (paths->spray == NIC_UEC_REPS && entropy < paths->count) {
        hear_reps(paths, entropy, fate, now_ps);
        return;
    }
    if (entropy >= paths->count || paths->penalties == NULL) {
        return;
    }
    if (fate == NIC_UEC_GOOD) {
        if (paths->spray == NIC_UEC_MIXED) {
            keep(paths, entropy);
        }
        return;
    }
    const uint32_t sum = paths->penalties[entropy] + (uint32_t)points[fate];
    paths->penalties[entropy] = (uint8_t)SIM_MIN(sum, PENALTY_MAX);
}

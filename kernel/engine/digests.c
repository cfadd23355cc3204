// SPDX-License-Identifier: Apache-2.0
// kernel/engine/digests.c - the digests of nodes after a run.
//
// Each value of a digest needs the result of the one before it, so the digest of a single node
// mostly waits for multiplications. The values of a few nodes are collected first and then mixed in
// by turns.
#include "kernel/digest.h"
#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"

#define LANES 4u
#define ROOM 4096u // values of a node that can wait; a switch of 64 ports has 3700

// Mixes in the values that wait, but for the first `done`.
static void mix_rest(sim_digest_t *digest, uint64_t *room, size_t done)
{
    for (const uint64_t *value = room + done; value < digest->next; value++) {
        digest->value = sim__digest_mix(digest->value, *value);
    }
    digest->next = room;
}

void sim__digest_full(sim_digest_t *digest, uint64_t value)
{
    if (digest->end == NULL) {
        digest->value = sim__digest_mix(digest->value, value);
        return;
    }
    mix_rest(digest, digest->end - ROOM, 0);
    *digest->next++ = value;
}

// Mixes in all values that wait, and returns the sum of the digests, which begin anew at 0.
static uint64_t mix_together(sim_digest_t digests[LANES], uint64_t (*rooms)[ROOM])
{
    uint64_t values[LANES];
    size_t common = ROOM;
    for (uint32_t i = 0; i < LANES; i++) {
        values[i] = digests[i].value;
        common = sim__least((size_t)(digests[i].next - rooms[i]), common);
    }
    for (size_t v = 0; v < common; v++) {
        values[0] = sim__digest_mix(values[0], rooms[0][v]);
        values[1] = sim__digest_mix(values[1], rooms[1][v]);
        values[2] = sim__digest_mix(values[2], rooms[2][v]);
        values[3] = sim__digest_mix(values[3], rooms[3][v]);
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        digests[i].value = values[i];
        mix_rest(&digests[i], rooms[i], common);
        sum += digests[i].value;
        digests[i].value = 0;
    }
    return sum;
}

void sim__sum_digests(sim_thread_t *thread)
{
    uint64_t(*const rooms)[ROOM] = sim_alloc_array(LANES, sizeof(*rooms));
    sim_digest_t digests[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        digests[i] = (sim_digest_t){0, rooms[i], rooms[i] + ROOM};
    }
    uint32_t lane = 0;
    for (uint32_t u = thread->first_bit; u < thread->end_bit; u++) {
        const sim_unit_t *const unit = thread->seats[u - thread->first_bit].unit;
        for (uint32_t m = 0; m < unit->count; m++) {
            const sim_node_t *const node = unit->members[m];
            digests[lane].value = sim_mix64((uint64_t)node->index + 1);
            sim_digest_add(&digests[lane], node->digest);
            sim_digest_add(&digests[lane], node->happened);
            if (node->ops->digest != NULL) {
                node->ops->digest(node, &digests[lane]);
            }
            lane = (lane + 1) % LANES;
            thread->digest += lane == 0 ? mix_together(digests, rooms) : 0;
        }
    }
    thread->digest += mix_together(digests, rooms);
    sim_free(rooms);
}

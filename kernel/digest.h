// SPDX-License-Identifier: Apache-2.0
// kernel/digest.h - the digest of a run.
#ifndef KERNEL_DIGEST_H
#define KERNEL_DIGEST_H

#include "kernel/base.h"

SIM_C_BEGIN

// The digest of a run covers when and where messages arrived, what nodes decided and finished
// (sim_happened in kernel/event.h), and their final counters. It leaves out how many events that
// took: a wake or a timer that the engine can do without makes no difference.
typedef struct sim_digest {
    uint64_t value;
    uint64_t *next; // where the next value waits to be mixed in
    uint64_t *end;  // of that room; NULL: there is none, so values are mixed in at once
} sim_digest_t;
static inline uint64_t sim__digest_mix(uint64_t digest, uint64_t value)
{
    return sim_mix64(digest ^ value) + UINT64_C(0x9e3779b97f4a7c15);
}
// Mixes a value in when the room is full, or there is none.
void sim__digest_full(sim_digest_t *digest, uint64_t value);
// Mixes a value into the digest; the order of values matters.
static inline void sim_digest_add(sim_digest_t *digest, uint64_t value)
{
    if (digest->next == digest->end) {
        sim__digest_full(digest, value);
    } else {
        *digest->next++ = value;
    }
}

struct sim_thread;
// Adds the digests of the thread's nodes to its own, after the last event.
void sim__sum_digests(struct sim_thread *thread);

SIM_C_END

#endif // KERNEL_DIGEST_H

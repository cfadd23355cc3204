// SPDX-License-Identifier: Apache-2.0
// kernel/engine/timers/wheel.h - a node's timers that are due soon, in buckets, and later ones
// in a list.
//
// A detailed NIC arms a timer for almost everything it does, mostly a few hundred nanoseconds
// ahead. A bucket is a sorted list of timers due in the same 4 ns; 512 buckets make a turn of 2.1
// us. A bit for each bucket says whether it is empty. So arming, cancelling and finding the next
// timer touch one or two cache lines each. Timers due after a turn are mostly retransmission
// timers. They all run equally long, so each is due after those armed before and is appended to the
// `late` list. A timer that fits neither (it is due before the end of that list, or its bucket is
// too full) goes to the node's heap (timer.c). The earlier of wheel and heap fires
// first, so the order of timers is equal with a wheel and without.
//
// Every entry of a bucket is due within a turn from the node's now, and no entry is ever overdue,
// so a bucket never mixes two turns. Functions are inline because timer.c is their
// only caller, once for each event.
#ifndef KERNEL_ENGINE_TIMERS_WHEEL_H
#define KERNEL_ENGINE_TIMERS_WHEEL_H

#include "kernel/timer.h"

SIM_C_BEGIN

#define SIM_WHEEL_BITS 12u // width of a bucket: 2^12 ps
#define SIM_WHEEL_BUCKETS 512u
#define SIM_WHEEL_LATE SIM_WHEEL_BUCKETS // index of the `late` list
#define SIM_WHEEL_STEPS_MAX 32u          // along a bucket to find a place: beyond, it is too full

typedef struct sim_wheel_entry {
    sim_time_t time_ps;
    uint64_t sequence;
    sim_timer_t *timer;
    uint32_t next;     // entry of the bucket; 0: this is the last
    uint32_t previous; // entry of the bucket before this one; in the first entry: the last one
    uint32_t bucket;
} sim_wheel_entry_t;

typedef struct sim_wheel {
    sim_wheel_entry_t *entries; // [0] has no timer and is never due
    uint32_t earliest;          // entry that is due first; 0: the wheel is empty
    uint32_t count;             // entries in use
    uint32_t late_count;        // those of them in the `late` list
    uint32_t free;              // entries not in use, linked by next; 0: none
    uint32_t entry_count;
    uint64_t occupied[SIM_WHEEL_BUCKETS / 64];
    uint32_t first[SIM_WHEEL_BUCKETS + 1];
} sim_wheel_t;

sim_wheel_t *sim__wheel_create(void);
void sim__wheel_destroy(sim_wheel_t *wheel); // NULL is allowed
void sim__wheel_grow(sim_wheel_t *wheel);    // adds entries; none may be free

// Returns whether time_ps lies within a turn from now_ps.
static inline bool sim__wheel_reaches(sim_time_t now_ps, sim_time_t time_ps)
{
    return (time_ps >> SIM_WHEEL_BITS) - (now_ps >> SIM_WHEEL_BITS) < SIM_WHEEL_BUCKETS;
}

static inline uint32_t sim__wheel_bucket(sim_time_t time_ps)
{
    return (uint32_t)(time_ps >> SIM_WHEEL_BITS) & (SIM_WHEEL_BUCKETS - 1);
}

// Inserts an entry into a bucket that is not empty, behind all entries that are not due later.
// Returns false if its place is more than SIM_WHEEL_STEPS_MAX entries from the end.
static inline bool sim__wheel_insert(sim_wheel_t *wheel, uint32_t bucket, uint32_t index)
{
    sim_wheel_entry_t *const entries = wheel->entries;
    const sim_time_t time_ps = entries[index].time_ps;
    const uint32_t first = wheel->first[bucket];
    const uint32_t last = entries[first].previous;
    uint32_t after = last;
    for (uint32_t steps = 0; entries[after].time_ps > time_ps; steps++) {
        if (SIM_UNLIKELY(steps == SIM_WHEEL_STEPS_MAX)) {
            return false;
        }
        if (after == first) {
            entries[index].next = first;
            entries[index].previous = last;
            entries[first].previous = index;
            wheel->first[bucket] = index;
            return true;
        }
        after = entries[after].previous;
    }
    const uint32_t next = entries[after].next;
    entries[index].next = next;
    entries[index].previous = after;
    entries[after].next = index;
    entries[next == 0 ? first : next].previous = index;
    return true;
}

// Fills the next free entry and returns its index; it stays free until sim__wheel_take.
static inline uint32_t sim__wheel_fill(sim_wheel_t *wheel, sim_timer_t *timer, sim_time_t time_ps,
                                       uint64_t sequence, uint32_t bucket)
{
    const uint32_t index = wheel->free;
    sim_wheel_entry_t *const entry = &wheel->entries[index];
    entry->time_ps = time_ps;
    entry->sequence = sequence;
    entry->timer = timer;
    entry->bucket = bucket;
    return index;
}

// Takes the entry that was filled; `free` is the next free one.
static inline void sim__wheel_take(sim_wheel_t *wheel, uint32_t index, uint32_t free)
{
    const sim_wheel_entry_t *const entry = &wheel->entries[index];
    wheel->free = free;
    wheel->count++;
    entry->timer->position = SIM_TIMER_IN_WHEEL | index;
    if (entry->time_ps < wheel->entries[wheel->earliest].time_ps) {
        wheel->earliest = index;
    }
}

// Adds a timer due within a turn. Returns false if its bucket is too full. An entry must be free
// and the sequence higher than all before.
static inline bool sim__wheel_add(sim_wheel_t *wheel, sim_timer_t *timer, sim_time_t time_ps,
                                  uint64_t sequence)
{
    const uint32_t bucket = sim__wheel_bucket(time_ps);
    const uint32_t free = wheel->entries[wheel->free].next;
    const uint32_t index = sim__wheel_fill(wheel, timer, time_ps, sequence, bucket);
    if (wheel->first[bucket] == 0) {
        wheel->entries[index].next = 0;
        wheel->entries[index].previous = index;
        wheel->first[bucket] = index;
        wheel->occupied[bucket / 64] |= UINT64_C(1) << (bucket % 64);
    } else if (SIM_UNLIKELY(!sim__wheel_insert(wheel, bucket, index))) {
        return false;
    }
    sim__wheel_take(wheel, index, free);
    return true;
}

// Appends a timer due more than one wheel turn ahead to the `late` list. Returns false if the
// list's last timer is due later than this one (the caller then uses the heap).
static inline bool sim__wheel_add_late(sim_wheel_t *wheel, sim_timer_t *timer, sim_time_t time_ps,
                                       uint64_t sequence)
{
    sim_wheel_entry_t *const entries = wheel->entries;
    const uint32_t first = wheel->first[SIM_WHEEL_LATE];
    const uint32_t last = first == 0 ? wheel->free : entries[first].previous;
    if (first != 0 && entries[last].time_ps > time_ps) {
        return false;
    }
    const uint32_t free = entries[wheel->free].next;
    const uint32_t index = sim__wheel_fill(wheel, timer, time_ps, sequence, SIM_WHEEL_LATE);
    entries[last].next = index;
    entries[index].previous = last;
    entries[index].next = 0;
    if (first == 0) {
        wheel->first[SIM_WHEEL_LATE] = index;
    } else {
        entries[first].previous = index;
    }
    wheel->late_count++;
    sim__wheel_take(wheel, index, free);
    return true;
}

// Returns the first entry of the first bucket, from this one on, that is not empty; one must be.
static inline uint32_t sim__wheel_find(const sim_wheel_t *wheel, uint32_t bucket)
{
    uint32_t word = bucket / 64;
    uint64_t bits = wheel->occupied[word] & (UINT64_MAX << (bucket % 64));
    while (bits == 0) {
        word = (word + 1) % (SIM_WHEEL_BUCKETS / 64);
        bits = wheel->occupied[word];
    }
    return wheel->first[word * 64 + (uint32_t)__builtin_ctzll(bits)];
}

// Frees an entry that is in no bucket any more.
static inline void sim__wheel_forget(sim_wheel_t *wheel, uint32_t index)
{
    sim_wheel_entry_t *const entry = &wheel->entries[index];
    entry->timer->position = SIM_TIMER_UNARMED;
    entry->next = wheel->free;
    wheel->free = index;
    wheel->count--;
}

// Removes an entry that is the first of its bucket from it.
static inline void sim__wheel_shift(sim_wheel_t *wheel, uint32_t index)
{
    const sim_wheel_entry_t *const entry = &wheel->entries[index];
    const uint32_t bucket = entry->bucket;
    const uint32_t next = entry->next;
    wheel->first[bucket] = next;
    if (next != 0) {
        wheel->entries[next].previous = entry->previous;
    } else if (bucket != SIM_WHEEL_LATE) {
        wheel->occupied[bucket / 64] &= ~(UINT64_C(1) << (bucket % 64));
    }
    wheel->late_count -= bucket == SIM_WHEEL_LATE;
}

// Removes the earliest timer, which is the first of its bucket, and finds the next earliest.
static inline void sim__wheel_pop(sim_wheel_t *wheel)
{
    const sim_wheel_entry_t *const entries = wheel->entries;
    const uint32_t index = wheel->earliest;
    const uint32_t bucket = sim__wheel_bucket(entries[index].time_ps);
    SIM_ASSERT(index != 0 && wheel->first[entries[index].bucket] == index);
    sim__wheel_shift(wheel, index);
    sim__wheel_forget(wheel, index);
    const uint32_t soon = wheel->count == wheel->late_count ? 0 : sim__wheel_find(wheel, bucket);
    const uint32_t late = wheel->first[SIM_WHEEL_LATE];
    const bool later = late == 0 || entries[soon].time_ps < entries[late].time_ps ||
                       (entries[soon].time_ps == entries[late].time_ps &&
                        entries[soon].sequence < entries[late].sequence);
    wheel->earliest = later ? soon : late;
}

// Removes a timer that is in the wheel.
static inline void sim__wheel_remove(sim_wheel_t *wheel, const sim_timer_t *timer)
{
    const uint32_t index = timer->position & ~SIM_TIMER_IN_WHEEL;
    if (index == wheel->earliest) {
        sim__wheel_pop(wheel);
        return;
    }
    sim_wheel_entry_t *const entries = wheel->entries;
    const uint32_t bucket = entries[index].bucket;
    const uint32_t first = wheel->first[bucket];
    if (index == first) {
        sim__wheel_shift(wheel, index);
    } else {
        const uint32_t next = entries[index].next;
        const uint32_t previous = entries[index].previous;
        entries[previous].next = next;
        entries[next == 0 ? first : next].previous = previous;
        wheel->late_count -= bucket == SIM_WHEEL_LATE;
    }
    sim__wheel_forget(wheel, index);
}

SIM_C_END

#endif // KERNEL_ENGINE_TIMERS_WHEEL_H

// SPDX-License-Identifier: Apache-2.0
// kernel/engine/wheel.h - a node's timers that are due soon: buckets of time, each a short sorted
// list; and those due later that are armed in the order in which they are due, in one list.
//
// A detailed NIC arms a timer for almost everything it does, most of them a few hundred nanoseconds
// ahead. A bucket is 4 ns of time, 512 of them turn round in 2.1 us, and a bit for each says
// whether anything is in it, so that arming, cancelling and finding the next one touch a line or
// two each. What is due later than that are retransmission timers, mostly: all take equally long,
// so that each is due after those armed before it, and goes behind them. What would have to go
// between them, or into a bucket that is too full, goes to the heap (kernel/engine/timer.c), which
// takes the earlier of both: the order of timers is the same with a wheel and without.
//
// Every entry of a bucket is due within a turn of the node's present: time never runs past one, so
// a bucket never holds entries of two turns. The functions are inline because
// kernel/engine/timer.c is their one caller, once for each event.
#ifndef KERNEL_ENGINE_WHEEL_H
#define KERNEL_ENGINE_WHEEL_H

#include "kernel/timer.h"

SIM_C_BEGIN

#define SIM_WHEEL_BITS 12u // of picoseconds: a bucket
#define SIM_WHEEL_BUCKETS 512u
#define SIM_WHEEL_LATE SIM_WHEEL_BUCKETS // the list of what is due later
#define SIM_WHEEL_STEPS_MAX 32u          // along a bucket, to find a place in it

typedef struct sim_wheel_entry {
    sim_time_t time_ps;
    uint64_t sequence;
    sim_timer_t *timer;
    uint32_t next;     // in the bucket, in order; 0: none
    uint32_t previous; // of the first: the last
    uint32_t bucket;
} sim_wheel_entry_t;

typedef struct sim_wheel {
    sim_wheel_entry_t *entries; // [0]: of no timer, and due never
    uint32_t earliest;          // entry of all; 0: none
    uint32_t count;             // of all
    uint32_t late_count;        // of those, of the list LATE
    uint32_t free;              // entries not in use, linked by next
    uint32_t entry_count;
    uint64_t occupied[SIM_WHEEL_BUCKETS / 64];
    uint32_t first[SIM_WHEEL_BUCKETS + 1];
} sim_wheel_t;

sim_wheel_t *sim__wheel_create(void);
void sim__wheel_destroy(sim_wheel_t *wheel); // NULL is allowed
void sim__wheel_grow(sim_wheel_t *wheel);    // no entry is free

static inline bool sim__wheel_reaches(sim_time_t now_ps, sim_time_t time_ps)
{
    return (time_ps >> SIM_WHEEL_BITS) - (now_ps >> SIM_WHEEL_BITS) < SIM_WHEEL_BUCKETS;
}

static inline uint32_t sim__wheel_bucket(sim_time_t time_ps)
{
    return (uint32_t)(time_ps >> SIM_WHEEL_BITS) & (SIM_WHEEL_BUCKETS - 1);
}

// The new entry's place in a bucket that has some: behind all that are not due later. False: that
// is too far to look for.
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

// Fills the next free entry in, which is not taken yet.
static inline uint32_t sim__wheel_fill(sim_wheel_t *wheel,
                                       sim_timer_t *timer,
                                       sim_time_t time_ps,
                                       uint64_t sequence,
                                       uint32_t bucket)
{
    const uint32_t index = wheel->free;
    sim_wheel_entry_t *const entry = &wheel->entries[index];
    entry->time_ps = time_ps;
    entry->sequence = sequence;
    entry->timer = timer;
    entry->bucket = bucket;
    return index;
}

// That entry is taken: behind it, `free` is the next one.
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

// An entry is free. False: its bucket is too full. The sequence is higher than any before.
static inline bool sim__wheel_add(sim_wheel_t *wheel,
                                  sim_timer_t *timer,
                                  sim_time_t time_ps,
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

// The same of what is due later than a turn. False: something in the list is due after it.
static inline bool sim__wheel_add_late(sim_wheel_t *wheel,
                                       sim_timer_t *timer,
                                       sim_time_t time_ps,
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

// The first entry from this bucket on; there is one.
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

static inline void sim__wheel_forget(sim_wheel_t *wheel, uint32_t index)
{
    sim_wheel_entry_t *const entry = &wheel->entries[index];
    entry->timer->position = SIM_TIMER_UNARMED;
    entry->next = wheel->free;
    wheel->free = index;
    wheel->count--;
}

// The first of its bucket leaves it.
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

// The earliest one leaves: the first of its bucket.
static inline void sim__wheel_pop(sim_wheel_t *wheel)
{
    const sim_wheel_entry_t *const entries = wheel->entries;
    const uint32_t index = wheel->earliest;
    const uint32_t bucket = sim__wheel_bucket(entries[index].time_ps);
    sim__wheel_shift(wheel, index);
    sim__wheel_forget(wheel, index);
    const uint32_t soon = wheel->count == wheel->late_count ? 0 : sim__wheel_find(wheel, bucket);
    const uint32_t late = wheel->first[SIM_WHEEL_LATE];
    const bool later = late == 0 || entries[soon].time_ps < entries[late].time_ps ||
                       (entries[soon].time_ps == entries[late].time_ps &&
                        entries[soon].sequence < entries[late].sequence);
    wheel->earliest = later ? soon : late;
}

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

#endif // KERNEL_ENGINE_WHEEL_H

// SPDX-License-Identifier: Apache-2.0
// kernel/fifo_number.c - after a window: what number each of its places is.
//
// The events of a window that took places are put into the order in which one list for all nodes
// would have run them, (time, place); their ranks in it, and in each the order of taking, are the
// numbers. They are spread over buckets of time, mostly of one instant, and a bucket is sorted by
// insertion. A place is mostly a number, of an earlier window; one of this window was taken by an
// event further up the order, of an earlier bucket or of the same. In buckets with one of the
// latter, and in large ones, the lists of the units are merged through a heap instead: in its own
// unit's list an event comes after the one that scheduled it, so whatever is first in a list is
// known.
#include "kernel/fifo_internal.h"

#define RANK_SORT_MAX 8u
#define INSERTION_SORT_MAX 64u

// What is left in a bucket of one unit's list.
typedef struct sim_fifo_run {
    const sim_fifo_record_t *first;
    const sim_fifo_record_t *end;
    uint64_t place; // of the first, a number
} run_t;

#define POSITION_MASK ((1u << SIM__FIFO_RECORD_BITS) - 1)

static inline struct sim_fifo_log *log_of(const sim_t *sim, const sim_fifo_record_t *record)
{
    return sim->threads[record->index >> SIM__FIFO_RECORD_BITS]->fifo;
}

static inline void give_rank(const sim_t *sim, const sim_fifo_record_t *record, uint32_t rank)
{
    struct sim_fifo_log *const log = log_of(sim, record);
    log->ranks[log->slot][record->index & POSITION_MASK] = rank;
}

// The record that took the place of this one, in this window.
static inline const sim_fifo_record_t *parent_of(const struct sim_fifo_log *log,
                                                 const sim_fifo_record_t *record)
{
    const uint64_t taken = (record->place & ~SIM__FIFO_HERE) >> SIM__FIFO_ARMED_BITS;
    return &log->records[taken >> SIM__FIFO_MINOR_BITS];
}

static inline uint64_t number_of(const sim_t *sim, const sim_fifo_record_t *record)
{
    const bool here = (record->place & SIM__FIFO_HERE) != 0;
    return here ? sim__fifo_local_number(log_of(sim, record), record->place) : record->place;
}

static inline bool before(uint32_t a_ps, uint64_t a_place, uint32_t b_ps, uint64_t b_place)
{
    return a_ps != b_ps ? a_ps < b_ps : a_place < b_place;
}

// -- merging the lists of units

static void sift_down(run_t *heap, size_t count, size_t i, run_t run)
{
    for (;;) {
        size_t child = i * 2 + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && before(heap[child + 1].first->within_ps,
                                        heap[child + 1].place,
                                        heap[child].first->within_ps,
                                        heap[child].place)) {
            child++;
        }
        if (!before(heap[child].first->within_ps,
                    heap[child].place,
                    run.first->within_ps,
                    run.place)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = run;
}

// Behind the last record of the unit that wrote this one.
static uint32_t list_end(const struct sim_fifo_log *log, uint32_t position)
{
    size_t low = 0;
    size_t high = log->visit_count; // visits[low] <= position < visits[high]
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (log->visits[middle] <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high < log->visit_count ? log->visits[high] : (uint32_t)log->record_count;
}

static size_t split(sim_t *sim, const sim_fifo_record_t *records, size_t count)
{
    struct sim_fifo *const fifo = sim->fifo;
    size_t run_count = 0;
    for (size_t i = 0; i < count;) {
        const sim_fifo_record_t *const first = &records[i];
        const uint32_t end = (first->index & ~POSITION_MASK) |
                             list_end(log_of(sim, first), first->index & POSITION_MASK);
        while (i < count && records[i].index >= first->index && records[i].index < end) {
            i++;
        }
        SIM_GROW(fifo->runs, run_count, &fifo->run_capacity);
        fifo->runs[run_count++] = (run_t){first, &records[i], 0};
    }
    return run_count;
}

static uint32_t merge(sim_t *sim, const sim_fifo_record_t *records, size_t count, uint32_t rank)
{
    size_t run_count = split(sim, records, count);
    run_t *const heap = sim->fifo->runs;
    for (size_t i = 0; i < run_count; i++) {
        heap[i].place = number_of(sim, heap[i].first);
    }
    for (size_t i = run_count / 2; i-- > 0;) {
        sift_down(heap, run_count, i, heap[i]);
    }
    while (run_count > 0) {
        run_t run = heap[0];
        give_rank(sim, run.first, rank++);
        if (++run.first == run.end) {
            run = heap[--run_count];
        } else {
            run.place = number_of(sim, run.first);
        }
        if (run_count > 0) {
            sift_down(heap, run_count, 0, run);
        }
    }
    return rank;
}

// -- buckets

// Puts numbers for places. False: one has none yet.
static bool resolve(const sim_t *sim, sim_fifo_record_t *records, size_t count, uint32_t shift)
{
    for (size_t i = 0; i < count; i++) {
        if (SIM_UNLIKELY((records[i].place & SIM__FIFO_HERE) != 0)) {
            const struct sim_fifo_log *const log = log_of(sim, &records[i]);
            if (parent_of(log, &records[i])->within_ps >> shift == records[i].within_ps >> shift) {
                return false;
            }
            records[i].place = sim__fifo_local_number(log, records[i].place);
        }
    }
    return true;
}

// Each one's rank is the number of those before it: nothing for a branch predictor to guess.
static void rank_all(const sim_t *sim,
                     const sim_fifo_record_t *records,
                     size_t count,
                     uint32_t first_rank)
{
    uint32_t ranks[RANK_SORT_MAX] = {0};
    for (size_t i = 1; i < count; i++) {
        const uint32_t within_ps = records[i].within_ps;
        const uint64_t place = records[i].place;
        uint32_t earlier = 0;
        for (size_t j = 0; j < i; j++) {
            const uint32_t is_earlier =
                (uint32_t)(records[j].within_ps < within_ps) |
                ((uint32_t)(records[j].within_ps == within_ps) & (records[j].place <= place));
            earlier += is_earlier;
            ranks[j] += 1 - is_earlier;
        }
        ranks[i] = earlier;
    }
    for (size_t i = 0; i < count; i++) {
        give_rank(sim, &records[i], first_rank + ranks[i]);
    }
}

static void insertion_sort(sim_fifo_record_t *records, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const sim_fifo_record_t record = records[i];
        size_t j = i;
        while (j > 0 && before(record.within_ps,
                               record.place,
                               records[j - 1].within_ps,
                               records[j - 1].place)) {
            records[j] = records[j - 1];
            j--;
        }
        records[j] = record;
    }
}

static uint32_t number_bucket(sim_t *sim,
                              sim_fifo_record_t *records,
                              size_t count,
                              uint32_t shift,
                              uint32_t rank)
{
    if (count > 1) {
        if (count > INSERTION_SORT_MAX || !resolve(sim, records, count, shift)) {
            return merge(sim, records, count, rank);
        }
        if (count <= RANK_SORT_MAX) {
            rank_all(sim, records, count, rank);
            return rank + (uint32_t)count;
        }
        insertion_sort(records, count);
    }
    for (size_t i = 0; i < count; i++) {
        give_rank(sim, &records[i], rank++);
    }
    return rank;
}

// -- all

// Room for the ranks of the window just run; returns how many there will be.
static size_t make_tables(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    if (fifo->next_rank == 0) {
        fifo->next_rank = (fifo->next_number >> SIM__FIFO_MINOR_BITS) + 1;
    }
    size_t count = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        struct sim_fifo_log *const log = sim->threads[t]->fifo;
        const uint32_t slot = log->slot;
        if (log->rank_capacity[slot] < log->record_count) {
            log->rank_capacity[slot] = log->record_count * 2;
            sim_free(log->ranks[slot]);
            log->ranks[slot] = sim_alloc_array(log->rank_capacity[slot], sizeof(uint32_t));
        }
        log->rank_base[slot] = fifo->next_rank;
        count += log->record_count;
    }
    SIM_CHECKF(count < UINT32_MAX, "%zu events in a window", count);
    if (fifo->sorted_capacity < count) {
        fifo->sorted_capacity = count * 2;
        sim_free(fifo->sorted);
        fifo->sorted = sim_alloc_array(fifo->sorted_capacity, sizeof(*fifo->sorted));
    }
    return count;
}

void sim__fifo_number(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    sim_fifo_spread_t *const spread = &fifo->spread;
    const size_t count = make_tables(sim);
    if (count == 0) {
        return;
    }
    uint32_t *const starts = sim__fifo_spread(spread, count, sim->window_ps);
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const struct sim_fifo_log *const log = sim->threads[t]->fifo;
        for (size_t i = 0; i < log->record_count; i++) {
            starts[log->records[i].within_ps >> spread->shift]++;
        }
    }
    sim__fifo_spread_sum(spread);
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const struct sim_fifo_log *const log = sim->threads[t]->fifo;
        for (size_t i = 0; i < log->record_count; i++) {
            const sim_fifo_record_t record = log->records[i];
            fifo->sorted[starts[record.within_ps >> spread->shift]++] = record;
        }
    }
    // Each start has moved to the end of its bucket.
    uint32_t rank = 0;
    uint32_t first = 0;
    for (uint32_t b = 0; b < spread->buckets; b++) {
        const uint32_t end = starts[b];
        if (end > first) {
            rank = number_bucket(sim, fifo->sorted + first, end - first, spread->shift, rank);
        }
        first = end;
    }
    SIM_CHECK(rank == count);
    fifo->next_rank += count;
}

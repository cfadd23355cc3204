// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo_number.c - after a window: what number each of its places is.
//
// The events of a window that took places are put into the order in which one list for all nodes
// would have run them, (time, place); their ranks in it, and in each the order of taking, are the
// numbers. They are spread over buckets of time, mostly of one instant, and a bucket is sorted by
// insertion. A place is mostly a number, of an earlier window; one of this window was taken by an
// event further up the order, of an earlier bucket or of the same. In buckets with one of the
// latter, and in large ones, the lists of the units are merged through a heap instead: in its own
// unit's list an event comes after the one that scheduled it, so whatever is first in a list is
// known.
#include "kernel/order/fifo_internal.h"

#define PER_BUCKET 4u   // about
#define BUCKETS_MIN 64u // of few, each in a bucket of its own is cheapest
#define RANK_SORT_MAX 12u
#define INSERTION_SORT_MAX 64u

// What is left in a bucket of one unit's list.
typedef struct sim_fifo_run {
    const sim_fifo_record_t *first;
    const sim_fifo_record_t *end;
    uint64_t place; // of the first, a number
} run_t;

#define POSITION_MASK ((1u << SIM__FIFO_RECORD_BITS) - 1)

// What all of it needs: by thread, the records and the ranks to be given.
typedef struct window {
    sim_t *sim;
    uint64_t rank_base;
    uint32_t shift; // of times to buckets
    const sim_fifo_record_t *records[SIM_THREADS_MAX];
    uint32_t *ranks[SIM_THREADS_MAX];
} window_t;

static inline void give_rank(const window_t *window, uint32_t index, uint32_t rank)
{
    window->ranks[index >> SIM__FIFO_RECORD_BITS][index & POSITION_MASK] = rank;
}

static inline bool is_here(uint64_t place)
{
    return (place & SIM__FIFO_HERE) != 0;
}

// Which of its thread's records took this place of the window.
static inline uint32_t taker_of(uint64_t place)
{
    return (uint32_t)((place & ~SIM__FIFO_HERE) >> (SIM__FIFO_ARMED_BITS + SIM__FIFO_MINOR_BITS));
}

static inline uint64_t number_of(const window_t *window, uint32_t thread, uint64_t place)
{
    const uint64_t minor = place >> SIM__FIFO_ARMED_BITS & (SIM__FIFO_MINORS - 1);
    const uint64_t rank = window->rank_base + window->ranks[thread][taker_of(place)];
    return rank << SIM__FIFO_MINOR_BITS | minor;
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

static uint64_t place_of(const window_t *window, const sim_fifo_record_t *record)
{
    return is_here(record->place)
               ? number_of(window, record->index >> SIM__FIFO_RECORD_BITS, record->place)
               : record->place;
}

static size_t split(const window_t *window, const sim_fifo_record_t *records, size_t count)
{
    struct sim_fifo *const fifo = window->sim->fifo;
    size_t run_count = 0;
    for (size_t i = 0; i < count;) {
        const sim_fifo_record_t *const first = &records[i];
        const uint32_t thread = first->index >> SIM__FIFO_RECORD_BITS;
        const struct sim_fifo_log *const log = window->sim->threads[thread]->fifo;
        const uint32_t end =
            (first->index & ~POSITION_MASK) + list_end(log, first->index & POSITION_MASK);
        while (i < count && records[i].index >= first->index && records[i].index < end) {
            i++;
        }
        SIM_GROW(fifo->runs, run_count, &fifo->run_capacity);
        fifo->runs[run_count++] = (run_t){first, &records[i], 0};
    }
    return run_count;
}

static uint32_t merge(const window_t *window,
                      const sim_fifo_record_t *records,
                      size_t count,
                      uint32_t rank)
{
    size_t run_count = split(window, records, count);
    run_t *const heap = window->sim->fifo->runs;
    for (size_t i = 0; i < run_count; i++) {
        heap[i].place = place_of(window, heap[i].first);
    }
    for (size_t i = run_count / 2; i-- > 0;) {
        sift_down(heap, run_count, i, heap[i]);
    }
    while (run_count > 0) {
        run_t run = heap[0];
        give_rank(window, run.first->index, rank++);
        if (++run.first == run.end) {
            run = heap[--run_count];
        } else {
            run.place = place_of(window, run.first);
        }
        if (run_count > 0) {
            sift_down(heap, run_count, 0, run);
        }
    }
    return rank;
}

// -- buckets

// Puts numbers for places. False: one has none yet.
static inline bool resolve(const window_t *window, sim_fifo_record_t *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = records[i].place;
        if (!is_here(place)) {
            continue;
        }
        const uint32_t thread = records[i].index >> SIM__FIFO_RECORD_BITS;
        const sim_fifo_record_t *const taker = &window->records[thread][taker_of(place)];
        if (taker->within_ps >> window->shift == records[i].within_ps >> window->shift) {
            return false;
        }
        records[i].place = number_of(window, thread, place);
    }
    return true;
}

// Each one's rank is the number of those before it: nothing for a branch predictor to guess.
static void rank_all(const window_t *window,
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
        give_rank(window, records[i].index, first_rank + ranks[i]);
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

static uint32_t number_bucket(const window_t *window,
                              sim_fifo_record_t *records,
                              size_t count,
                              uint32_t rank)
{
    if (count > 1) {
        if (count > INSERTION_SORT_MAX || !resolve(window, records, count)) {
            return merge(window, records, count, rank);
        }
        if (count <= RANK_SORT_MAX) {
            rank_all(window, records, count, rank);
            return rank + (uint32_t)count;
        }
        insertion_sort(records, count);
    }
    for (size_t i = 0; i < count; i++) {
        give_rank(window, records[i].index, rank++);
    }
    return rank;
}

// -- all

// Room for the ranks of the window just run; returns how many there will be.
static size_t make_tables(window_t *window)
{
    const sim_t *const sim = window->sim;
    struct sim_fifo *const fifo = sim->fifo;
    if (fifo->next_rank == 0) {
        fifo->next_rank = (fifo->next_number >> SIM__FIFO_MINOR_BITS) + 1;
    }
    window->rank_base = fifo->next_rank;
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
        window->records[t] = log->records;
        window->ranks[t] = log->ranks[slot];
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

// Puts the records of all threads into fifo->sorted, bucket by bucket; the starts become the ends.
static void spread_records(const window_t *window, size_t count)
{
    const sim_t *const sim = window->sim;
    sim_fifo_spread_t *const spread = &sim->fifo->spread;
    sim_fifo_record_t *const sorted = sim->fifo->sorted;
    const size_t few = count < BUCKETS_MIN / 4 ? count * 4 : BUCKETS_MIN;
    const size_t wanted = count / PER_BUCKET < few ? few : count / PER_BUCKET;
    uint32_t *const starts = sim__fifo_spread(spread, wanted, sim->window_ps);
    const uint32_t shift = spread->shift;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_fifo_record_t *const records = window->records[t];
        const size_t record_count = sim->threads[t]->fifo->record_count;
        for (size_t i = 0; i < record_count; i++) {
            starts[records[i].within_ps >> shift]++;
        }
    }
    sim__fifo_spread_sum(spread);
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_fifo_record_t *const records = window->records[t];
        const size_t record_count = sim->threads[t]->fifo->record_count;
        for (size_t i = 0; i < record_count; i++) {
            sorted[starts[records[i].within_ps >> shift]++] = records[i];
        }
    }
}

void sim__fifo_number(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    window_t window; // its arrays as far as there are threads
    window.sim = sim;
    const size_t count = make_tables(&window);
    if (count == 0) {
        return;
    }
    spread_records(&window, count);
    window.shift = fifo->spread.shift;
    uint32_t rank = 0;
    uint32_t first = 0;
    for (uint32_t b = 0; b < fifo->spread.buckets; b++) {
        const uint32_t end = fifo->spread.starts[b];
        if (end > first) {
            rank = number_bucket(&window, fifo->sorted + first, end - first, rank);
        }
        first = end;
    }
    SIM_CHECK(rank == count);
    fifo->next_rank += count;
}

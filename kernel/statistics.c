// SPDX-License-Identifier: Apache-2.0
// kernel/statistics.c - exact percentiles and means of integers.
//
// Up to HELD_MAX values are held as they are. Then they are sorted and become a run: the
// differences from one value to the next, with seven bits in each byte. Two runs of one level are
// merged into one of the next level, as in a binary counter, so there are few runs and each value
// is merged a logarithmic number of times. The more values there are, the fewer bytes a difference
// takes.
//
// Sums are integers of 128 bits and become a double once, so a mean does not depend on the order of
// the values.
#include "kernel/statistics.h"

#include <stdlib.h>
#include <string.h>

#define HELD_MAX ((size_t)1 << 16) // a capacity that SIM_GROW gives
#define NUMBER_BYTES_MAX 10u
#define MARK_VALUES ((size_t)4096) // from one mark to the next

// A place from which a run can be read on: mark i stands before its value i * MARK_VALUES.
typedef struct run_mark {
    size_t at;
    uint64_t before; // the value before it
} run_mark_t;

typedef struct sim_sample_run {
    uint8_t *bytes;
    size_t size;
    size_t count;
    unsigned level;
    run_mark_t *marks; // NULL: none were made
} sim_sample_run_t;

// -- runs

typedef struct reader {
    const uint8_t *at;
    size_t left;
    uint64_t value; // the latest
} reader_t;

static reader_t reader_of(const sim_sample_run_t *run)
{
    return (reader_t){.at = run->bytes, .left = run->count};
}

static bool read_value(reader_t *reader)
{
    if (reader->left == 0) {
        return false;
    }
    uint64_t difference = 0;
    unsigned shift = 0;
    for (; (*reader->at & 0x80) != 0; shift += 7) {
        difference |= (uint64_t)(*reader->at++ & 0x7f) << shift;
    }
    difference |= (uint64_t)*reader->at++ << shift;
    reader->left--;
    reader->value += difference;
    return true;
}

static size_t write_difference(uint8_t *bytes, uint64_t difference)
{
    size_t size = 0;
    for (; difference >= 0x80; difference >>= 7) {
        bytes[size++] = (uint8_t)(difference | 0x80);
    }
    bytes[size++] = (uint8_t)difference;
    return size;
}

static void run_fini(sim_sample_run_t *run)
{
    sim_free(run->bytes);
    sim_free(run->marks);
}

static uint8_t *shrink(uint8_t *bytes, size_t size)
{
    return sim_realloc_array(bytes, size + 1, 1);
}

// Merges two runs. The result takes no more bytes than both: differences only become smaller.
static sim_sample_run_t merge(const sim_sample_run_t *a, const sim_sample_run_t *b)
{
    sim_sample_run_t run = {
        .bytes = sim_alloc(a->size + b->size + 1),
        .count = a->count + b->count,
        .level = SIM_MAX(a->level, b->level) + 1,
    };
    reader_t left = reader_of(a);
    reader_t right = reader_of(b);
    bool has_left = read_value(&left);
    bool has_right = read_value(&right);
    uint64_t before = 0;
    while (has_left || has_right) {
        const bool takes_left = has_left && (!has_right || left.value <= right.value);
        const uint64_t value = takes_left ? left.value : right.value;
        run.size += write_difference(run.bytes + run.size, value - before);
        before = value;
        if (takes_left) {
            has_left = read_value(&left);
        } else {
            has_right = read_value(&right);
        }
    }
    SIM_CHECK(run.size <= a->size + b->size);
    run.bytes = shrink(run.bytes, run.size);
    return run;
}

static void merge_last_two(sim_sample_set_t *set)
{
    sim_sample_run_t *const a = &set->runs[set->run_count - 2];
    sim_sample_run_t *const b = &set->runs[set->run_count - 1];
    const sim_sample_run_t merged = merge(a, b);
    run_fini(a);
    run_fini(b);
    *a = merged;
    set->run_count--;
}

// -- values held

static int compare_values(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

// Sorts by counting, byte by byte from the lowest, and skips bytes that are equal in all values.
// Fast for many numbers of few bytes.
static void sort_by_bytes(uint64_t *values, size_t count)
{
    uint64_t *const space = sim_alloc_array(count, sizeof(*space));
    uint64_t *from = values;
    uint64_t *to = space;
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        differ |= values[i] ^ values[0];
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xff) == 0) {
            continue;
        }
        size_t ends[257] = {0}; // of the values of a byte, where the next one's begin
        for (size_t i = 0; i < count; i++) {
            ends[(from[i] >> shift & 0xff) + 1]++;
        }
        for (unsigned byte = 1; byte < 256; byte++) {
            ends[byte] += ends[byte - 1];
        }
        for (size_t i = 0; i < count; i++) {
            to[ends[from[i] >> shift & 0xff]++] = from[i];
        }
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != values) {
        memcpy(values, from, count * sizeof(*values));
    }
    sim_free(space);
}

#define BY_BYTES_MIN 256u // fewer values are sorted faster by comparisons

static void sort_held(sim_sample_set_t *set)
{
    if (set->sorted) {
        return;
    }
    if (set->held >= BY_BYTES_MIN) {
        sort_by_bytes(set->values, set->held);
    } else {
        qsort(set->values, set->held, sizeof(*set->values), compare_values);
    }
    set->sorted = true;
}

// Turns the values held into a run.
static void pack(sim_sample_set_t *set)
{
    sort_held(set);
    sim_sample_run_t run = {
        .bytes = sim_alloc(set->held * NUMBER_BYTES_MAX + 1),
        .count = set->held,
    };
    uint64_t before = 0;
    for (size_t i = 0; i < set->held; i++) {
        run.size += write_difference(run.bytes + run.size, set->values[i] - before);
        before = set->values[i];
    }
    run.bytes = shrink(run.bytes, run.size);
    SIM_APPEND(set->runs, set->run_count, set->run_capacity, run);
    set->held = 0;
    set->sorted = true;
    while (set->run_count > 1 &&
           set->runs[set->run_count - 2].level <= set->runs[set->run_count - 1].level) {
        merge_last_two(set);
    }
}

// Merges all values into one run.
static void collapse(sim_sample_set_t *set)
{
    if (set->held > 0) {
        pack(set);
    }
    while (set->run_count > 1) {
        merge_last_two(set);
    }
}

static void mark(sim_sample_run_t *run)
{
    run->marks = sim_alloc_array(run->count / MARK_VALUES + 1, sizeof(*run->marks));
    reader_t reader = reader_of(run);
    for (size_t i = 0; i < run->count; i++) {
        if (i % MARK_VALUES == 0) {
            run->marks[i / MARK_VALUES] =
                (run_mark_t){(size_t)(reader.at - run->bytes), reader.value};
        }
        (void)read_value(&reader);
    }
}

// Returns the value at that place, from 0, in ascending order.
static uint64_t value_at(sim_sample_set_t *set, size_t place)
{
    if (set->run_count == 0) {
        sort_held(set);
        return set->values[place];
    }
    collapse(set);
    sim_sample_run_t *const run = &set->runs[0];
    if (run->marks == NULL) {
        mark(run);
    }
    const run_mark_t *const from = &run->marks[place / MARK_VALUES];
    reader_t reader = {run->bytes + from->at, run->count, from->before};
    for (size_t i = 0; i <= place % MARK_VALUES; i++) {
        (void)read_value(&reader);
    }
    return reader.value;
}

// -- sets

void sim_sample_set_init(sim_sample_set_t *set)
{
    *set = (sim_sample_set_t){.sorted = true};
}

void sim_sample_set_fini(sim_sample_set_t *set)
{
    for (size_t i = 0; i < set->run_count; i++) {
        run_fini(&set->runs[i]);
    }
    sim_free(set->runs);
    sim_free(set->values);
    sim_sample_set_init(set);
}

void sim_sample_set_add(sim_sample_set_t *set, uint64_t value)
{
    if (set->held == set->capacity) {
        if (set->held == HELD_MAX) {
            pack(set);
        } else {
            SIM_GROW(set->values, set->held, &set->capacity);
        }
    }
    // Values that are added in ascending order need no sorting.
    set->sorted = set->held == 0 || (set->sorted && set->values[set->held - 1] <= value);
    set->values[set->held++] = value;
    set->count++;
    set->sum_low += value;
    set->sum_high += set->sum_low < value;
}

void sim_sample_set_add_all(sim_sample_set_t *set, const sim_sample_set_t *from)
{
    for (size_t i = 0; i < from->held; i++) {
        sim_sample_set_add(set, from->values[i]);
    }
    for (size_t i = 0; i < from->run_count; i++) {
        reader_t reader = reader_of(&from->runs[i]);
        while (read_value(&reader)) {
            sim_sample_set_add(set, reader.value);
        }
    }
}

uint64_t sim_sample_set_percentile(sim_sample_set_t *set, uint64_t numerator, uint64_t denominator)
{
    SIM_CHECKF(denominator > 0 && numerator <= denominator, "percentile %" PRIu64 "/%" PRIu64,
               numerator, denominator);
    if (set->count == 0) {
        return 0;
    }
    // Nearest rank: the least rank, from 1, that is at least p times the count.
    const sim_wide_t scaled = (sim_wide_t)numerator * set->count;
    const size_t rank = (size_t)(scaled / denominator) + (scaled % denominator != 0 ? 1U : 0U);
    SIM_CHECK(rank <= set->count);
    return value_at(set, rank == 0 ? 0 : rank - 1);
}

double sim_sample_set_mean(const sim_sample_set_t *set)
{
    const sim_wide_t sum = (sim_wide_t)set->sum_high << 64 | set->sum_low;
    return set->count == 0 ? 0.0 : (double)sum / (double)set->count;
}

uint64_t sim_sample_set_max(const sim_sample_set_t *set)
{
    uint64_t max = 0;
    for (size_t i = 0; i < set->held; i++) {
        max = SIM_MAX(set->values[i], max);
    }
    for (size_t i = 0; i < set->run_count; i++) {
        reader_t reader = reader_of(&set->runs[i]);
        while (read_value(&reader)) {
        }
        max = SIM_MAX(reader.value, max);
    }
    return max;
}

// Carries the values held and those of runs, in any order: neither sums nor percentiles depend on
// it.
void sim_sample_set_carry(sim_sample_set_t *set, sim_carry_t *carry)
{
    size_t count = set->count;
    SIM_CARRY(carry, count);
    if (!sim_carry_leaves(carry)) {
        SIM_CHECK(set->count == 0);
        for (size_t i = 0; i < count; i++) {
            sim_sample_set_add(set, sim_reader_u64(carry->from));
        }
        return;
    }
    sim_buffer_put(carry->to, set->values, set->held * sizeof(*set->values));
    for (size_t i = 0; i < set->run_count; i++) {
        reader_t reader = reader_of(&set->runs[i]);
        while (read_value(&reader)) {
            sim_buffer_put_u64(carry->to, reader.value);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// kernel/order/event_list.c - room for events, and what is due later than a turn of the buckets.
#include "kernel/order/event_list.h"

static_assert(SIM_LIST_BUCKETS / 64 == 64, "a word has a bit for each word");

sim_event_list_t *sim__list_create(void)
{
    sim_event_list_t *const list = sim_alloc_lines(sizeof(*list));
    list->late_bucket = UINT64_MAX;
    list->soonest = UINT64_MAX;
    list->event_capacity = 64;
    list->events = sim_alloc_array(list->event_capacity, sizeof(*list->events));
    list->events[0] = (sim_list_event_t){.what.message = list};
    list->event_count = 1;
    return list;
}

void sim__list_destroy(sim_event_list_t *list)
{
    if (list != NULL) {
        sim_free(list->events);
        sim_free(list->late);
        sim_free(list);
    }
}

// -- later than a turn

static inline bool is_before(const sim_list_late_t *a, const sim_list_late_t *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

static void note_earliest(sim_event_list_t *list)
{
    list->late_bucket =
        list->late_count == 0 ? UINT64_MAX : list->late[0].time_ps >> SIM_LIST_BUCKET_BITS;
}

static void add_late(sim_event_list_t *list, const sim_list_late_t *late)
{
    SIM_GROW(list->late, list->late_count, &list->late_capacity);
    sim_list_late_t *const heap = list->late;
    size_t i = list->late_count++;
    while (i > 0 && is_before(late, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = *late;
    note_earliest(list);
}

static void remove_late(sim_event_list_t *list)
{
    sim_list_late_t *const heap = list->late;
    const sim_list_late_t last = heap[--list->late_count];
    const size_t count = list->late_count;
    size_t i = 0;
    for (size_t child = 1; child < count; child = i * 2 + 1) {
        child += child + 1 < count && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    note_earliest(list);
}

// -- adding

static uint32_t take_free(sim_event_list_t *list)
{
    const uint32_t free = list->free;
    if (free != 0) {
        list->free = list->events[free].next;
        return free;
    }
    SIM_CHECK(list->event_count < UINT32_MAX);
    SIM_GROW(list->events, list->event_count, &list->event_capacity);
    return list->event_count++;
}

static void add_soon(sim_event_list_t *list, uint64_t bucket, uint64_t order, sim_list_what_t what)
{
    const uint32_t added = take_free(list);
    list->events[added] = (sim_list_event_t){.order = order, .what = what};
    sim__list_link(list, sim__list_index(bucket), added);
    list->soonest = bucket < list->soonest ? bucket : list->soonest;
}

void sim__list_add_slow(sim_event_list_t *list,
                        sim_time_t time_ps,
                        uint64_t order,
                        sim_list_what_t what)
{
    const uint64_t bucket = time_ps >> SIM_LIST_BUCKET_BITS;
    SIM_CHECK(bucket >= list->bucket);
    if (bucket - list->bucket < SIM_LIST_BUCKETS) {
        add_soon(list, bucket, order, what);
    } else {
        add_late(list, &(sim_list_late_t){time_ps, order, what});
    }
}

void sim__list_recall(sim_event_list_t *list)
{
    const uint64_t bucket = list->late_bucket;
    while (list->late_bucket == bucket) {
        const sim_list_late_t late = list->late[0];
        remove_late(list);
        add_soon(list, bucket, late.order, late.what);
    }
}

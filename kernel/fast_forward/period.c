// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward/period.c - compares copies of a state a period apart, and adds whole periods.
#include "kernel/fast_forward_period.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/engine/far.h"
#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"
#include "kernel/fast_forward/value.h"

// -- nodes

// The fields of a node that events change, and what must stay: its timers.
// clang-format off
static const sim_field_t node_rows[] = {
    SIM_FIELD(sim_node_t, timer_ps, FIXED), SIM_FIELD(sim_node_t, now_ps, UNTIL),
    SIM_FIELD(sim_node_t, digest, IGNORE), SIM_FIELD(sim_node_t, events, COUNT),
    SIM_FIELD(sim_node_t, timer_sequence, FIXED), SIM_FIELD(sim_node_t, armed, FIXED),
    SIM_FIELD(sim_node_t, ties, LAST), SIM_FIELD(sim_node_t, tied_ps, UNTIL),
};
// clang-format on
// The part of a node from one field to another.
#define NODE(name_, first_, last_)                                                                 \
    {                                                                                              \
        .name = (name_), .from = offsetof(sim_node_t, first_),                                     \
        .bytes = offsetof(sim_node_t, last_) + sizeof(((sim_node_t *)NULL)->last_) -               \
                 offsetof(sim_node_t, first_),                                                     \
        .rows = node_rows, .row_count = SIM_COUNT_OF(node_rows), .row_bytes = sizeof(sim_field_t), \
    }
static const sim_fields_t clock_table = NODE("timers of a node", timer_ps, events);
static const sim_fields_t free_clock_table = NODE("clock of a node", now_ps, events);
static const sim_fields_t sequence_table = NODE("timers of a node", timer_sequence, timer_sequence);
static const sim_fields_t armed_table = NODE("timers of a node", armed, armed);
static const sim_fields_t ties_table = NODE("ties of a node", ties, tied_ps);
static const sim_fields_t noted_ties_table = NODE("ties of a node", tied_ps, tied_ps);

void sim_state_add_clock(sim_state_t *state, sim_node_t *node)
{
    sim_state_add(state, &free_clock_table, &node->now_ps);
}

void sim_state_add_node(sim_state_t *state, sim_node_t *node)
{
    sim_state_add(state, &clock_table, &node->timer_ps);
    sim_state_add(state, &sequence_table, &node->timer_sequence);
    sim_state_add(state, &armed_table, node->armed);
}

void sim_state_add_ties(sim_state_t *state, sim_node_t *node, bool noted)
{
    sim_state_add(state, noted ? &noted_ties_table : &ties_table,
                  noted ? &node->tied_ps : &node->ties);
}

// -- rows

// Returns whether a time moved along with the period, or stayed and is over, or is none.
static bool time_repeats(uint64_t a, sim_time_t a_ps, uint64_t b, sim_time_t b_ps, bool until)
{
    const bool none = b == 0 || b == SIM_TIME_NEVER;
    return b - a == b_ps - a_ps ? !none : a == b && (none || (until && a <= a_ps));
}

static bool field_repeats(const sim_field_t *field, const char *a, sim_time_t a_ps, const char *b,
                          sim_time_t b_ps)
{
    switch (field->repeat) {
    case SIM_REPEAT_FIXED:
    case SIM_REPEAT_STATE:
    case SIM_REPEAT_LAST:
    case SIM_REPEAT_BREAK:
        return memcmp(a, b, field->bytes) == 0;
    case SIM_REPEAT_UNTIL:
    case SIM_REPEAT_SINCE:
        return time_repeats(sim__field_value(a, field->bytes), a_ps,
                            sim__field_value(b, field->bytes), b_ps,
                            field->repeat == SIM_REPEAT_UNTIL);
    case SIM_REPEAT_NUMBER:
    case SIM_REPEAT_COUNT:
    case SIM_REPEAT_MOST:
    case SIM_REPEAT_MOST_AND_FLAG:
    case SIM_REPEAT_IGNORE:
        break;
    }
    return true;
}

bool sim_state_repeats(const sim_state_t *state, const char *a, sim_time_t a_ps, const char *b,
                       sim_time_t b_ps, const char **name)
{
    size_t offset = 0;
    *name = sim_state_changed(state, a, b, &offset);
    for (size_t i = 0; i < state->count && *name == NULL; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        for (size_t f = 0; f < type->flat.count; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            if (!field_repeats(field, a + field->offset, a_ps, b + field->offset, b_ps)) {
                *name = type->name;
            }
        }
        a += type->bytes;
        b += type->bytes;
    }
    return *name == NULL;
}

void sim_state_add_periods(const sim_state_t *state, const char *a, const char *b,
                           sim_time_t period_ps, uint64_t count)
{
    for (size_t i = 0; i < state->count; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        char *const at = state->parts[i].at;
        for (size_t f = 0; f < type->flat.count; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            const bool counts =
                field->repeat == SIM_REPEAT_COUNT || field->repeat == SIM_REPEAT_NUMBER;
            if (!counts && field->repeat != SIM_REPEAT_UNTIL && field->repeat != SIM_REPEAT_SINCE) {
                continue;
            }
            const uint64_t before = sim__field_value(a + field->offset, field->bytes);
            const uint64_t after = sim__field_value(b + field->offset, field->bytes);
            const uint64_t step = counts ? after - before : after == before ? 0 : period_ps;
            sim__field_set(at + field->offset, field->bytes, after + count * step);
        }
        a += type->bytes;
        b += type->bytes;
    }
}

// -- what is to come

static int compare_flights(const void *left, const void *right)
{
    const sim_flight_t *const a = left;
    const sim_flight_t *const b = right;
    return a->node != b->node         ? (a->node < b->node ? -1 : 1)
           : a->time_ps != b->time_ps ? (a->time_ps < b->time_ps ? -1 : 1)
           : a->port != b->port       ? (a->port < b->port ? -1 : 1)
                                      : 0;
}

static void add(sim_flights_t *flights, sim_flight_t flight)
{
    SIM_APPEND(flights->items, flights->count, flights->capacity, flight);
}

// Returns the window of a slot: the one being run, or one of those that follow.
static uint64_t window_of_slot(const sim_t *sim, uint32_t slot)
{
    return sim->window + ((slot - (uint32_t)sim->window) & (SIM_SLOTS - 1));
}

static void list_thread(const sim_t *sim, const sim_thread_t *thread, sim_flights_t *flights)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        const sim_time_t start_ps = sim__window_start(sim, window_of_slot(sim, slot));
        for (uint32_t n = 0; n < sim->node_count; n++) {
            const sim_mailbox_t *const box = &thread->worker.boxes[slot][n];
            for (uint32_t i = 0; i < sim__mailbox_count(box); i++) {
                const sim_mail_t *const mail = &box->mail[i];
                add(flights, (sim_flight_t){start_ps + (mail->key >> SIM_PORT_BITS), n,
                                            sim_mail_port(mail), mail->message});
            }
        }
    }
    for (unsigned to = 0; to < sim->thread_count; to++) {
        for (unsigned parity = 0; parity < 2; parity++) {
            const sim_parcels_t *const parcels = &thread->parcels[to][parity];
            for (size_t i = 0; i < parcels->count; i++) {
                const sim_parcel_t *const parcel = &parcels->items[i];
                add(flights,
                    (sim_flight_t){parcel->arrive_ps, sim__ends(sim, parcel->channel)->to->index,
                                   parcel->channel->port, parcel->message});
            }
        }
    }
}

static void list_far(const sim_t *sim, sim_flights_t *flights)
{
    for (size_t i = 0; i < sim->channel_count; i++) {
        const uint32_t to = sim->channel_ends[i].to->index;
        const sim_far_ring_t *const far = sim->far[i];
        const sim_channel_t *const channel =
            &sim->channel_blocks[i / SIM_CHANNEL_BLOCK][i % SIM_CHANNEL_BLOCK];
        for (uint32_t l = 0; far != NULL && l < SIM_RING_COUNT(far); l++) {
            const sim_far_letter_t *const letter = &SIM_RING_AT(far, far->first + l);
            add(flights, (sim_flight_t){letter->arrive_ps, to, channel->port, letter->message});
        }
    }
}

void sim_flights_list(const sim_t *sim, sim_flights_t *flights)
{
    flights->count = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        list_thread(sim, sim->threads[t], flights);
    }
    list_far(sim, flights);
    if (flights->count > 0) {
        qsort(flights->items, flights->count, sizeof(*flights->items), compare_flights);
    }
    for (uint32_t n = 0; n < sim->node_count; n++) {
        const sim_node_t *const node = sim->nodes[n];
        for (uint32_t w = node->wake_first; w < node->wake_end; w++) {
            const sim_wake_t *const wake = &node->wakes[w];
            add(flights, (sim_flight_t){wake->time_ps, n, sim_wake_port(wake), NULL});
        }
        // The next wake may have no entry, and says less than its port where it has one.
        add(flights, (sim_flight_t){node->wake_ps, n, UINT32_MAX, NULL});
    }
}

void sim_flights_fini(sim_flights_t *flights)
{
    sim_free(flights->items);
    *flights = (sim_flights_t){0};
}

sim_time_t sim_next_timer_ps(const sim_t *sim)
{
    sim_time_t least_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_time_t timer_ps = sim->nodes[i]->timer_ps;
        least_ps = SIM_MIN(timer_ps, least_ps);
    }
    return least_ps;
}

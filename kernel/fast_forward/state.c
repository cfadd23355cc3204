// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward/state.c - compares, copies and changes lists of structs by their tables.
#include "kernel/fast_forward.h"

#include <string.h>

#include "kernel/engine/thread.h"
#include "kernel/engine/timers/timers.h"
#include "kernel/engine_internal.h"
#include "kernel/fast_forward/value.h"

// Returns the type of structs with that table, which is added if it is new.
static const sim_state_type_t *type_of(sim_state_t *state, const sim_fields_t *table)
{
    for (size_t t = 0; t < state->type_count; t++) {
        if (state->types[t]->table == table) {
            return state->types[t];
        }
    }
    sim_state_type_t *const type = sim_alloc(sizeof(*type));
    *type = (sim_state_type_t){table->name, table->bytes, table,
                               sim_fields_flatten(table, SIM_REPEATED_FIELDS)};
    SIM_APPEND(state->types, state->type_count, state->type_capacity, type);
    return type;
}

void sim_state_add(sim_state_t *state, const sim_fields_t *table, void *at)
{
    const sim_state_part_t part = {type_of(state, table), at};
    SIM_APPEND(state->parts, state->count, state->capacity, part);
    state->bytes += table->bytes;
}

void sim_state_fini(sim_state_t *state)
{
    for (size_t t = 0; t < state->type_count; t++) {
        sim_flat_fields_fini(&state->types[t]->flat);
        sim_free(state->types[t]);
    }
    sim_free(state->types);
    sim_free(state->parts);
    *state = (sim_state_t){0};
}

bool sim_state_same_structs(const sim_state_t *a, const sim_state_t *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same =
            a->parts[i].at == b->parts[i].at && a->parts[i].type->table == b->parts[i].type->table;
    }
    return same;
}

char *sim_state_copy(const sim_state_t *state)
{
    char *const copy = sim_alloc(state->bytes + 1);
    char *to = copy;
    for (size_t i = 0; i < state->count; i++) {
        memcpy(to, state->parts[i].at, state->parts[i].type->bytes);
        to += state->parts[i].type->bytes;
    }
    return copy;
}

// -- values

static bool is_time(uint64_t value)
{
    return value != 0 && value != SIM_TIME_NEVER;
}

// Returns whether two values of a field mean the same at the start of a span.
static bool same_start(const sim_field_t *field, const char *now, sim_time_t now_ps,
                       const char *then, sim_time_t then_ps)
{
    switch (field->repeat) {
    case SIM_REPEAT_STATE:
        return memcmp(now, then, field->bytes) == 0;
    case SIM_REPEAT_UNTIL: {
        const uint64_t a = sim__field_value(now, field->bytes);
        const uint64_t b = sim__field_value(then, field->bytes);
        return (a <= now_ps && b <= then_ps) || a == b || a - now_ps == b - then_ps;
    }
    case SIM_REPEAT_SINCE: {
        const uint64_t a = sim__field_value(now, field->bytes);
        const uint64_t b = sim__field_value(then, field->bytes);
        return a == b ? !is_time(a) || now_ps == then_ps
                      : is_time(a) && is_time(b) && a - now_ps == b - then_ps;
    }
    case SIM_REPEAT_FIXED:
    case SIM_REPEAT_LAST:
    case SIM_REPEAT_NUMBER:
    case SIM_REPEAT_COUNT:
    case SIM_REPEAT_BREAK:
    case SIM_REPEAT_MOST:
    case SIM_REPEAT_MOST_AND_FLAG:
    case SIM_REPEAT_IGNORE:
        break;
    }
    return true;
}

#define FLAG (UINT64_C(1) << 63)

// Returns the value that a field has after a span, if it is `value` before.
static uint64_t after_span(const sim_field_t *field, uint64_t value, uint64_t start, uint64_t end,
                           sim_time_t shift_ps)
{
    switch (field->repeat) {
    case SIM_REPEAT_COUNT:
    case SIM_REPEAT_BREAK:
        return value + (end - start);
    case SIM_REPEAT_MOST:
        return SIM_MAX(end, value);
    case SIM_REPEAT_MOST_AND_FLAG: {
        const uint64_t most = (end & ~FLAG) > (value & ~FLAG) ? end & ~FLAG : value & ~FLAG;
        return most | ((end | value) & FLAG);
    }
    case SIM_REPEAT_UNTIL:
    case SIM_REPEAT_SINCE:
        return end == start ? value : is_time(end) ? end + shift_ps : end;
    case SIM_REPEAT_FIXED:
    case SIM_REPEAT_STATE:
    case SIM_REPEAT_LAST:
    case SIM_REPEAT_NUMBER:
    case SIM_REPEAT_IGNORE:
        break;
    }
    return value;
}

static void apply_field(const sim_field_t *field, char *at, const char *start, const char *end,
                        sim_time_t shift_ps)
{
    if (field->repeat == SIM_REPEAT_STATE || field->repeat == SIM_REPEAT_LAST ||
        field->repeat == SIM_REPEAT_NUMBER) {
        memcpy(at, end, field->bytes);
    } else if (field->repeat != SIM_REPEAT_IGNORE) {
        sim__field_set(at, field->bytes,
                       after_span(field, sim__field_value(at, field->bytes),
                                  sim__field_value(start, field->bytes),
                                  sim__field_value(end, field->bytes), shift_ps));
    }
}

// Overwrites the fields with rows in a struct, so that only bytes without one are compared.
static void blank(const sim_state_type_t *type, char *copy)
{
    for (size_t f = 0; f < type->flat.count; f++) {
        memset(copy + type->flat.fields[f].offset, 0, type->flat.fields[f].bytes);
    }
}

// Returns whether two structs are equal in bytes without rows. If not, *offset is that of one.
static bool same_fixed(const sim_state_type_t *type, const char *a, const char *b, char *scratch,
                       size_t *offset)
{
    char *const left = scratch;
    char *const right = scratch + type->bytes;
    if (memcmp(a, b, type->bytes) == 0) {
        return true;
    }
    memcpy(left, a, type->bytes);
    memcpy(right, b, type->bytes);
    blank(type, left);
    blank(type, right);
    if (memcmp(left, right, type->bytes) == 0) {
        return true;
    }
    *offset = 0;
    while (left[*offset] == right[*offset]) {
        ++*offset;
    }
    return false;
}

static char *scratch_for(const sim_state_t *state)
{
    size_t most = 0;
    for (size_t i = 0; i < state->count; i++) {
        most = SIM_MAX(state->parts[i].type->bytes, most);
    }
    return sim_alloc(2 * most + 1);
}

// -- lists

bool sim_state_equal(const sim_state_t *state, const char *copy, sim_time_t then_ps,
                     sim_time_t now_ps)
{
    char *const scratch = scratch_for(state);
    bool equal = true;
    for (size_t i = 0; i < state->count && equal; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        const char *const at = state->parts[i].at;
        size_t offset = 0;
        equal = same_fixed(type, at, copy, scratch, &offset);
        for (size_t f = 0; f < type->flat.count && equal; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            equal = same_start(field, at + field->offset, now_ps, copy + field->offset, then_ps);
        }
        copy += type->bytes;
    }
    sim_free(scratch);
    return equal;
}

const char *sim_state_changed(const sim_state_t *state, const char *start, const char *end,
                              size_t *offset)
{
    char *const scratch = scratch_for(state);
    const char *changed = NULL;
    for (size_t i = 0; i < state->count && changed == NULL; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        if (!same_fixed(type, start, end, scratch, offset)) {
            changed = type->name;
        }
        start += type->bytes;
        end += type->bytes;
    }
    sim_free(scratch);
    return changed;
}

void sim_state_repeat_span(const sim_state_t *state, const char *start, const char *end,
                           sim_time_t shift_ps)
{
    for (size_t i = 0; i < state->count; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        char *const at = state->parts[i].at;
        for (size_t f = 0; f < type->flat.count; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            apply_field(field, at + field->offset, start + field->offset, end + field->offset,
                        shift_ps);
        }
        start += type->bytes;
        end += type->bytes;
    }
}

void sim_state_copy_counts(const sim_state_t *from, const sim_state_t *to)
{
    SIM_CHECK(from->count == to->count);
    for (size_t i = 0; i < from->count; i++) {
        const sim_state_type_t *const type = from->parts[i].type;
        SIM_CHECK(type->table == to->parts[i].type->table);
        for (size_t f = 0; f < type->flat.count; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            if (field->repeat == SIM_REPEAT_COUNT || field->repeat == SIM_REPEAT_MOST ||
                field->repeat == SIM_REPEAT_MOST_AND_FLAG) {
                memcpy((char *)to->parts[i].at + field->offset,
                       (const char *)from->parts[i].at + field->offset, field->bytes);
            }
        }
    }
}

bool sim_state_same_span(const sim_state_t *state, const char *const a[2], const char *const b[2],
                         sim_time_t shift_ps, const char **name)
{
    size_t at = 0;
    for (size_t i = 0; i < state->count; i++) {
        const sim_state_type_t *const type = state->parts[i].type;
        char *const want = sim_alloc(type->bytes + 1);
        memcpy(want, b[0] + at, type->bytes);
        bool same = true;
        for (size_t f = 0; f < type->flat.count && same; f++) {
            const sim_field_t *const field = &type->flat.fields[f];
            const size_t offset = at + field->offset;
            apply_field(field, want + field->offset, a[0] + offset, a[1] + offset, shift_ps);
            same = field->repeat == SIM_REPEAT_IGNORE || field->repeat == SIM_REPEAT_LAST ||
                   field->repeat == SIM_REPEAT_NUMBER ||
                   field->repeat == SIM_REPEAT_UNTIL || // nobody reads these at rest
                   memcmp(want + field->offset, b[1] + offset, field->bytes) == 0;
        }
        sim_free(want);
        at += type->bytes;
        if (!same) {
            *name = type->name;
            return false;
        }
    }
    return true;
}

// -- the engine

static bool mail_is_empty(const sim_t *sim, const sim_thread_t *thread)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        for (size_t i = 0; i < sim->node_count; i++) {
            if (thread->worker.boxes[slot][i].filled_bytes != 0) {
                return false;
            }
        }
    }
    for (unsigned to = 0; to < sim->thread_count; to++) {
        if (thread->parcels[to][0].count != 0 || thread->parcels[to][1].count != 0) {
            return false;
        }
    }
    return true;
}

bool sim_only_timers_left(const sim_t *sim)
{
    for (size_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i]->wake_ps != SIM_TIME_NEVER) {
            return false;
        }
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        if (sim->far[i] != NULL && SIM_RING_COUNT(sim->far[i]) != 0) {
            return false;
        }
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        if (!mail_is_empty(sim, sim->threads[t])) {
            return false;
        }
    }
    return true;
}

uint64_t sim_timer_number(const sim_node_t *node, const sim_timer_t *timer)
{
    SIM_CHECK(sim_timer_armed(timer));
    return (timer->position & SIM_TIMER_IN_WHEEL) != 0
               ? node->wheel->entries[timer->position & ~SIM_TIMER_IN_WHEEL].sequence
               : node->timers[timer->position].sequence;
}

uint32_t sim_timers_armed(const sim_node_t *node)
{
    return sim__timers_armed(node);
}

bool sim_has_samplers(const sim_t *sim)
{
    return sim->sampler_count != 0;
}

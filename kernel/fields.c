// SPDX-License-Identifier: Apache-2.0
// kernel/fields.c - reads tables of fields: for fast-forward, for ranks and for digests.
#include "kernel/fields.h"

#include <string.h>

static const sim_field_t *row_at(const sim_fields_t *fields, size_t row)
{
    return (const sim_field_t *)(const void *)((const char *)fields->rows +
                                               row * fields->row_bytes);
}

// Returns whether the row is a field of the struct, or of the part of it, that a table is for.
static bool belongs(const sim_fields_t *fields, const sim_field_t *field)
{
    return field->count != 0 && field->bytes != 0 && field->part == fields->part &&
           field->offset >= fields->from && field->offset < fields->from + fields->bytes;
}

static bool chosen(const sim_field_t *field, sim_field_choice_t choice)
{
    return choice == SIM_ALL_FIELDS ||
           (choice == SIM_REPEATED_FIELDS ? field->repeat != SIM_REPEAT_FIXED
                                          : (field->uses & SIM_CARRIED) != 0);
}

// Appends the elements of a field that lies base bytes further on.
static void flatten_field(sim_flat_fields_t *flat, const sim_field_t *field, size_t base)
{
    for (uint32_t e = 0; e < field->count; e++) {
        SIM_GROW(flat->fields, flat->count, &flat->capacity);
        sim_field_t *const element = &flat->fields[flat->count++];
        *element = *field;
        element->offset = (uint16_t)(base + field->offset + e * field->stride);
        element->count = 1;
    }
}

static void flatten(sim_flat_fields_t *flat, const sim_fields_t *fields, sim_field_choice_t choice,
                    bool at_work, size_t base)
{
    for (size_t r = 0; r < fields->row_count; r++) {
        sim_field_t field = *row_at(fields, r);
        if (!belongs(fields, &field)) {
            continue;
        }
        field.repeat = at_work ? field.within : field.repeat;
        if (field.inner != NULL) {
            flatten(flat, field.inner, choice, at_work, base + field.offset - fields->from);
        } else if (chosen(&field, choice)) {
            flatten_field(flat, &field, base - fields->from);
        }
    }
}

sim_flat_fields_t sim_fields_flatten(const sim_fields_t *fields, sim_field_choice_t choice)
{
    sim_flat_fields_t flat = {0};
    flatten(&flat, fields, choice, fields->at_work, 0);
    return flat;
}

void sim_flat_fields_fini(sim_flat_fields_t *flat)
{
    sim_free(flat->fields);
    *flat = (sim_flat_fields_t){0};
}

void sim_fields_carry(const sim_flat_fields_t *flat, void *object, sim_carry_t *carry)
{
    for (size_t f = 0; f < flat->count; f++) {
        sim_carry(carry, (char *)object + flat->fields[f].offset, flat->fields[f].bytes);
    }
}

// Returns the value of an unsigned field.
static uint64_t read_value(const void *at, uint16_t bytes)
{
    uint32_t word = 0;
    uint64_t value = 0;
    if (bytes == sizeof(uint8_t)) {
        return *(const uint8_t *)at;
    }
    if (bytes == sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        return word;
    }
    SIM_CHECK(bytes == sizeof(value));
    memcpy(&value, at, sizeof(value));
    return value;
}

void sim_fields_digest(const sim_fields_t *fields, const void *object, sim_digest_t *digest)
{
    for (size_t r = 0; r < fields->row_count; r++) {
        const sim_field_t *const field = row_at(fields, r);
        if ((field->uses & SIM_DIGESTED) == 0 || field->part != fields->part) {
            continue;
        }
        const char *const at = (const char *)object + field->offset;
        for (uint32_t e = 0; e < field->count; e++) {
            sim_digest_add(digest, read_value(at + e * field->stride, field->bytes));
        }
    }
}

size_t sim_fields_first_gap(const sim_fields_t *fields)
{
    sim_flat_fields_t flat = sim_fields_flatten(fields, SIM_ALL_FIELDS);
    uint8_t *const rows = sim_alloc(fields->bytes + 1);
    for (size_t f = 0; f < flat.count; f++) {
        const sim_field_t *const field = &flat.fields[f];
        for (size_t b = field->offset; b < (size_t)field->offset + field->bytes; b++) {
            rows[b < fields->bytes ? b : fields->bytes]++;
        }
    }
    size_t gap = 0;
    while (gap < fields->bytes && rows[gap] == 1) {
        gap++;
    }
    sim_free(rows);
    sim_flat_fields_fini(&flat);
    return gap;
}

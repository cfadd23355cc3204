// SPDX-License-Identifier: Apache-2.0
// kernel/fields.h - tables of the fields of structs: what fast-forward, ranks and digests do with
// each.
//
// A table has a row for each field of a struct. The row says how fast-forward repeats a change of
// the field, whether its value is carried to rank 0, and whether it is part of the digest. A row
// may be the first member of a larger one, which also says how a field is shown (net/port.h).
//
// A byte without a row must not change in a span of time that fast-forward repeats. So a field that
// nobody thought of costs a repetition, and never a wrong result; tests/nic/test_fields.c finds it.
#ifndef KERNEL_FIELDS_H
#define KERNEL_FIELDS_H

#include "kernel/ranks.h"
#include "kernel/sim.h"

SIM_C_BEGIN

// How fast-forward repeats a change of a field (docs/models/fast-forward.md).
typedef enum sim_repeat {
    SIM_REPEAT_FIXED,  // equal at the start, and unchanged by the span; else it is not repeated
    SIM_REPEAT_STATE,  // equal at the start; becomes what the span left
    SIM_REPEAT_LAST,   // any value at the start, which nobody reads; becomes what the span left
    SIM_REPEAT_NUMBER, // like LAST; within a period (kernel/fast_forward_period.h) it grows by as
                       // much
    SIM_REPEAT_COUNT,  // any value at the start; grows by as much. Of 4 or 8 bytes; may wrap
    SIM_REPEAT_BREAK,  // like COUNT; ends a period (kernel/fast_forward_period.h)
    SIM_REPEAT_MOST,   // a largest value so far, of 8 bytes
    SIM_REPEAT_MOST_AND_FLAG, // likewise, in the lower 63 bits; the upper bit stays set once it is
    SIM_REPEAT_UNTIL,         // a time that matters only while it is in the future
    SIM_REPEAT_SINCE,         // a time whose distance matters; 0 and NEVER are no times
    SIM_REPEAT_IGNORE,        // not part of the state: a place in memory, or a hint
} sim_repeat_t;

// Further uses of a field, a bit each.
enum {
    SIM_CARRIED = 1 << 0,  // its value is carried to rank 0 after a run in ranks
    SIM_DIGESTED = 1 << 1, // its value is part of the digest; of 1, 4 or 8 bytes
};

typedef struct sim_fields sim_fields_t;

// A field, or an array with a number for each class or the like.
typedef struct sim_field {
    const char *name;
    uint16_t offset;           // of the first element in the struct
    uint16_t bytes;            // of an element
    uint16_t count;            // number of elements; 0: the row is no field
    uint16_t stride;           // bytes from an element to the next
    uint8_t part;              // of a table of several structs: number of the field's struct
    uint8_t repeat;            // sim_repeat_t between messages, where all is at rest
    uint8_t within;            // sim_repeat_t within messages
    uint8_t uses;              // SIM_CARRIED, SIM_DIGESTED
    const sim_fields_t *inner; // the table of a field that is a struct; else NULL
} sim_field_t;

// clang-format off
// The contents of a row: a field, every element of an array, and a field in every element of an
// array of structs. repeat_ and within_ are names of SIM_REPEAT_.
#define SIM_FIELD_OF(type_, member_, repeat_, within_, uses_)                                    \
    .name = #member_, .offset = offsetof(type_, member_), .count = 1,                            \
    .bytes = sizeof(((type_ *)NULL)->member_), .stride = sizeof(((type_ *)NULL)->member_),       \
    .repeat = SIM_REPEAT_##repeat_, .within = SIM_REPEAT_##within_, .uses = (uses_)
#define SIM_FIELD_EACH(type_, array_, repeat_, within_, uses_)                                   \
    SIM_FIELD_EACH_IN(type_, array_, array_[0], repeat_, within_, uses_)
#define SIM_FIELD_EACH_IN(type_, array_, member_, repeat_, within_, uses_)                       \
    .name = #member_, .offset = offsetof(type_, member_),                                        \
    .count = SIM_COUNT_OF(((type_ *)NULL)->array_),                                              \
    .bytes = sizeof(((type_ *)NULL)->member_), .stride = sizeof(((type_ *)NULL)->array_[0]),     \
    .repeat = SIM_REPEAT_##repeat_, .within = SIM_REPEAT_##within_, .uses = (uses_)
// The bytes between two fields, or behind the last one: bit-fields, which have no address, and
// padding.
#define SIM_FIELD_BETWEEN(type_, before_, after_, repeat_, uses_)                                \
    .name = "between " #before_ " and " #after_, .count = 1,                                     \
    .offset = offsetof(type_, before_) + sizeof(((type_ *)NULL)->before_),                       \
    .bytes = offsetof(type_, after_) - offsetof(type_, before_) -                                \
             sizeof(((type_ *)NULL)->before_),                                                   \
    .repeat = SIM_REPEAT_##repeat_, .within = SIM_REPEAT_##repeat_, .uses = (uses_)
#define SIM_FIELD_BEHIND(type_, last_)                                                           \
    .name = "behind " #last_, .count = 1,                                                        \
    .offset = offsetof(type_, last_) + sizeof(((type_ *)NULL)->last_),                           \
    .bytes = sizeof(type_) - offsetof(type_, last_) - sizeof(((type_ *)NULL)->last_)
// A row of a field that nothing else is done with.
#define SIM_FIELD(type_, member_, repeat_) {SIM_FIELD_OF(type_, member_, repeat_, repeat_, 0)}
#define SIM_FIELD_ARRAY(type_, member_, repeat_) {SIM_FIELD_EACH(type_, member_, repeat_, repeat_, 0)}
#define SIM_FIELD_BITS(type_, before_, after_) {SIM_FIELD_BETWEEN(type_, before_, after_, FIXED, 0)}
#define SIM_FIELD_REST(type_, last_) {SIM_FIELD_BEHIND(type_, last_)}
#define SIM_FIELD_INNER(type_, member_, table_)                                                  \
    {SIM_FIELD_OF(type_, member_, FIXED, FIXED, 0), .inner = (table_)}
// clang-format on

// The table of a struct, or of the part of one from the byte `from` on.
struct sim_fields {
    const char *name;
    size_t bytes;
    size_t from;
    const void *rows; // each begins with a sim_field_t; in any order
    size_t row_count;
    size_t row_bytes;
    uint8_t part; // number of the struct: rows of other ones are left out
    bool at_work; // sim_field_t.within applies, not repeat
};
#define SIM_FIELDS(name_, bytes_, rows_)                                                       \
    {                                                                                          \
        .name = (name_), .bytes = (bytes_), .rows = (rows_), .row_count = SIM_COUNT_OF(rows_), \
        .row_bytes = sizeof(*(rows_)),                                                         \
    }

// The rows of one struct, with a row for each element of an array and for each field of an inner
// struct, in the order of the table.
typedef struct sim_flat_fields {
    sim_field_t *fields;
    size_t count;
    size_t capacity;
} sim_flat_fields_t;
// Makes them of all rows, of those that fast-forward repeats (not FIXED), or of carried ones.
typedef enum sim_field_choice {
    SIM_ALL_FIELDS,
    SIM_REPEATED_FIELDS,
    SIM_CARRIED_FIELDS
} sim_field_choice_t;
sim_flat_fields_t sim_fields_flatten(const sim_fields_t *fields, sim_field_choice_t choice);
void sim_flat_fields_fini(sim_flat_fields_t *flat);

// Carries these fields of a struct to rank 0.
void sim_fields_carry(const sim_flat_fields_t *flat, void *object, sim_carry_t *carry);
// Adds all digested fields of a struct to a digest, in the order of the table.
void sim_fields_digest(const sim_fields_t *fields, const void *object, sim_digest_t *digest);
// Returns the first byte of the struct, from `from` on, that has no row or several; the struct's
// size: there is none.
size_t sim_fields_first_gap(const sim_fields_t *fields);

SIM_C_END

#endif // KERNEL_FIELDS_H

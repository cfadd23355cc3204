// SPDX-License-Identifier: Apache-2.0
// kernel/fields.h - tables of the fields of structs, and how fast-forward repeats a change of each.
//
// A table has a row for each field that a span of time may change. A byte without a row must not
// change: then the span cannot be repeated. So a field that nobody thought of costs a repetition,
// and never a wrong result. docs/models/fast-forward.md
#ifndef KERNEL_FIELDS_H
#define KERNEL_FIELDS_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef enum sim_repeat {
    SIM_REPEAT_FIXED,  // no row: equal at the start, and unchanged by the span
    SIM_REPEAT_STATE,  // equal at the start; becomes what the span left
    SIM_REPEAT_LAST,   // any value at the start, which nobody reads; becomes what the span left
    SIM_REPEAT_NUMBER, // likewise; within a period (kernel/fast_forward_period.h) it grows by as
                       // much
    SIM_REPEAT_COUNT,  // any value at the start; grows by as much. Of 4 or 8 bytes; may wrap
    SIM_REPEAT_BREAK,  // likewise; ends a period (kernel/fast_forward_period.h)
    SIM_REPEAT_MOST,   // a largest value so far, of 8 bytes
    SIM_REPEAT_MOST_AND_FLAG, // likewise, in the lower 63 bits; the upper bit stays set once it is
    SIM_REPEAT_UNTIL,         // a time that matters only while it is in the future
    SIM_REPEAT_SINCE,         // a time whose distance matters; 0 and NEVER are no times
    SIM_REPEAT_IGNORE,        // not part of the state: a place in memory, or a hint
} sim_repeat_t;

typedef struct sim_field {
    uint16_t offset;
    uint16_t bytes;
    sim_repeat_t kind;
} sim_field_t;
#define SIM_FIELD(type_, member_, kind_)                                               \
    {                                                                                  \
        offsetof(type_, member_), sizeof(((type_ *)NULL)->member_), SIM_REPEAT_##kind_ \
    }

// A kind of struct, or the part of one from its begin on.
typedef struct sim_fields {
    const char *name;
    size_t bytes;
    const sim_field_t *fields; // in any order, apart from each other
    size_t field_count;
} sim_fields_t;
#define SIM_FIELDS(name_, bytes_, fields_)            \
    {                                                 \
        name_, bytes_, fields_, SIM_COUNT_OF(fields_) \
    }

SIM_C_END

#endif // KERNEL_FIELDS_H

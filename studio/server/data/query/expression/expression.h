// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/expression.h - the small language of filters and derived
// columns.
//
//     fct_ns > 10us and src ~ "host1*"
//     in(bytes / fct_ns, "Gbps")      if(bytes < 10KB, "s", "l")
//
//     or      and {"or" and}
//     and     not {"and" not}
//     not     "not" not | compare
//     compare sum [("=" "!=" "<" "<=" ">" ">=" "~" "!~") sum] | sum "in" "(" sum {"," sum} ")"
//     sum     product {("+" | "-") product}
//     product sign {("*" | "/" | "%") sign}
//     sign    "-" sign | power
//     power   value ["^" sign]
//     value   NUMBER [UNIT] | "TEXT" | 'TEXT' | NAME | `NAME` | NAME "(" [or {"," or}] ")"
//             | "(" or ")" | true | false | missing
//
// Types are known before anything is computed, and so are units: adding or comparing nanoseconds
// and microseconds converts, nanoseconds and bytes is an error at its column. A plain number takes
// the unit of what it is compared with. A value may be missing: then so is what is computed from
// it, and a comparison with it is false.
//
// Nothing here loops or recurses deeper than a limit, whatever the text is.
#ifndef STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H
#define STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H

#include "studio/server/data/import/table.h"

#define STUDIO_EXPRESSION_BYTES_MAX 8192u
#define STUDIO_EXPRESSION_DEPTH_MAX 90u
#define STUDIO_EXPRESSION_NODES_MAX 2000u
#define STUDIO_BATCH_ROWS 1024u

// A value in a batch; its type is its column's. Of a bool the number is 0 or 1.
typedef union studio_slot {
    double number;    // NAN: missing
    const char *text; // NULL: missing
} studio_slot_t;

// What an expression may name.
typedef struct studio_variable {
    const char *name;
    const char *unit;
    studio_type_t type;
} studio_variable_t;

typedef struct studio_unit {
    int8_t time; // exponents
    int8_t bits;
    int8_t packets;
    bool plain;    // a number without a unit
    double factor; // to s, bits, packets
} studio_unit_t;

typedef struct studio_expression studio_expression_t;

typedef struct studio_place_error {
    size_t column; // in characters, from 1
    char expected[160];
    sim_message_t message;
} studio_place_error_t;

// NULL: *error says where and why. variables are looked up by name now, by index when it is
// computed.
studio_expression_t *studio_expression_parse(const char *text,
                                             const studio_variable_t *variables,
                                             size_t variable_count,
                                             studio_place_error_t *error);
void studio_expression_destroy(studio_expression_t *expression); // NULL is allowed
studio_type_t studio_expression_type(const studio_expression_t *expression);
// Valid as long as the expression.
const char *studio_expression_unit(const studio_expression_t *expression);
// Whether the variable is looked at.
bool studio_expression_uses(const studio_expression_t *expression, size_t variable);

// Computes up to STUDIO_BATCH_ROWS rows: columns[i] are the values of variable i, NULL where it is
// not used. Texts made are the expression's and live as long as it.
void studio_expression_evaluate(studio_expression_t *expression,
                                const studio_slot_t *const *columns,
                                size_t rows,
                                studio_slot_t *out);

// "10us" as a number in the given unit; false: no number, or another kind of unit.
bool studio_number_in(const char *text, const char *unit, double *value);
// False: the unit is not known.
bool studio_unit_find(const char *name, size_t size, studio_unit_t *unit);
// Shell patterns: * ? [a-z].
bool studio_glob(const char *pattern, const char *text);
// Whether the part is in the text, capital and small letters alike.
bool studio_text_has(const char *text, const char *part);
// {functions, operators, units} for people and completion.
json_t *studio_expression_help(void);

#endif // STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H

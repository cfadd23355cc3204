// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/expression.h - the language of filters and derived columns.
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
// Types and units are checked before anything is computed. Adding or comparing nanoseconds and
// microseconds converts them; nanoseconds and bytes give an error with its column. A plain number
// takes the unit of the other operand. If an operand is missing, the result is missing, too, and a
// comparison is false. Loops and recursion are limited for any text.
#ifndef STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H
#define STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H

#include "studio/server/data/import/table.h"

#define STUDIO_EXPRESSION_BYTES_MAX 8192u
#define STUDIO_EXPRESSION_DEPTH_MAX 90u
#define STUDIO_EXPRESSION_NODES_MAX 2000u
#define STUDIO_BATCH_ROWS 1024u

// A value in a batch; its column has the type. A bool is a number, 0 or 1.
typedef union studio_slot {
    double number;    // NAN: missing
    const char *text; // NULL: missing
} studio_slot_t;

// A column that an expression may name.
typedef struct studio_variable {
    const char *name;
    const char *unit;
    studio_type_t type;
} studio_variable_t;

typedef struct studio_unit {
    int8_t time; // exponents of the dimensions
    int8_t bits;
    int8_t packets;
    bool plain;    // the number has no unit
    double factor; // to s, bits, packets
} studio_unit_t;

typedef struct studio_expression studio_expression_t;

typedef struct studio_place_error {
    size_t column; // in characters, from 1
    char expected[160];
    sim_message_t message;
} studio_place_error_t;

// Parses an expression; returns NULL, with reason and place in *error, if it is wrong. Variables
// are found by name here and by index when the expression is computed.
studio_expression_t *studio_expression_parse(const char *text, const studio_variable_t *variables,
                                             size_t variable_count, studio_place_error_t *error);
void studio_expression_destroy(studio_expression_t *expression); // NULL is allowed
studio_type_t studio_expression_type(const studio_expression_t *expression);
// Returns the unit of the value; the text lives as long as the expression.
const char *studio_expression_unit(const studio_expression_t *expression);
// Returns whether the expression reads the variable.
bool studio_expression_uses(const studio_expression_t *expression, size_t variable);

// Computes up to STUDIO_BATCH_ROWS rows. columns[i] holds the values of variable i, NULL if it is
// not used. The expression owns new texts.
void studio_expression_evaluate(studio_expression_t *expression,
                                const studio_slot_t *const *columns, size_t rows,
                                studio_slot_t *out);

// Converts a text such as "10us" to the given unit; returns false if it is no number or the unit is
// of another kind.
bool studio_number_in(const char *text, const char *unit, double *value);
// Finds a unit by name; returns false if it is unknown.
bool studio_unit_find(const char *name, size_t size, studio_unit_t *unit);
// Matches a shell pattern: * ? [a-z].
bool studio_glob(const char *pattern, const char *text);
// Returns whether the text contains the part, ignoring case.
bool studio_text_has(const char *text, const char *part);
// Returns {functions, operators, units}, for people and for completion.
json_t *studio_expression_help(void);

#endif // STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/expression_internal.h - shared by parsing and computing.
#ifndef STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_INTERNAL_H
#define STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_INTERNAL_H

#include "studio/server/data/query/expression/expression.h"
#include "studio/server/data/texts.h"

#define STUDIO_ARGUMENTS_MAX 16u

typedef enum studio_op {
    STUDIO_OP_NUMBER,
    STUDIO_OP_LITERAL, // a text
    STUDIO_OP_VARIABLE,
    STUDIO_OP_OR,
    STUDIO_OP_AND,
    STUDIO_OP_NOT,
    STUDIO_OP_EQUAL,
    STUDIO_OP_UNEQUAL,
    STUDIO_OP_LESS,
    STUDIO_OP_LESS_EQUAL,
    STUDIO_OP_MORE,
    STUDIO_OP_MORE_EQUAL,
    STUDIO_OP_LIKE,
    STUDIO_OP_UNLIKE,
    STUDIO_OP_IN,
    STUDIO_OP_ADD,
    STUDIO_OP_SUBTRACT,
    STUDIO_OP_MULTIPLY,
    STUDIO_OP_DIVIDE,
    STUDIO_OP_REST,
    STUDIO_OP_POWER,
    STUDIO_OP_MINUS,
    STUDIO_OP_SCALE, // multiplies by number, to convert units
    STUDIO_OP_CALL,
} studio_op_t;

typedef enum studio_call {
    STUDIO_CALL_ABS,
    STUDIO_CALL_FLOOR,
    STUDIO_CALL_CEIL,
    STUDIO_CALL_ROUND,
    STUDIO_CALL_SQRT,
    STUDIO_CALL_EXP,
    STUDIO_CALL_LOG,
    STUDIO_CALL_LOG2,
    STUDIO_CALL_LOG10,
    STUDIO_CALL_MIN,
    STUDIO_CALL_MAX,
    STUDIO_CALL_BIN,
    STUDIO_CALL_LOG_BIN,
    STUDIO_CALL_IF,
    STUDIO_CALL_COALESCE,
    STUDIO_CALL_IS_MISSING,
    STUDIO_CALL_IN,
    STUDIO_CALL_CONTAINS,
    STUDIO_CALL_STARTS,
    STUDIO_CALL_ENDS,
    STUDIO_CALL_LENGTH,
    STUDIO_CALL_LOWER,
    STUDIO_CALL_UPPER,
    STUDIO_CALL_BEFORE,
    STUDIO_CALL_AFTER,
    STUDIO_CALL_JOIN,
    STUDIO_CALL_NUMBER,
    STUDIO_CALL_TEXT,
    STUDIO_CALL_COUNT,
} studio_call_t;

typedef struct studio_node {
    studio_op_t op;
    studio_type_t type;
    studio_unit_t unit;
    bool constant; // made of literals only; without a unit it takes its neighbour's
    size_t column; // place in the text, from 1
    double number;
    char *text;
    size_t variable;
    studio_call_t call;
    uint32_t arguments[STUDIO_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t depth; // of the tree below the node
} studio_node_t;

struct studio_expression {
    studio_node_t *nodes;
    size_t count;
    size_t capacity;
    uint32_t root;
    char unit[48];
    studio_slot_t *buffers; // one row of batches per level, for computing
    size_t buffer_count;
    studio_texts_t pool; // texts made by the expression
};

typedef struct studio_function {
    const char *name;
    // "n": number, "t": text, "b": bool, "?": any; "*": more like the last one
    const char *arguments;
    char result; // as above; "=": the type of the last argument
    studio_call_t call;
    const char *help;
} studio_function_t;

extern const studio_function_t studio__functions[STUDIO_CALL_COUNT];

const char *studio__unit_name(const studio_unit_t *unit, char *text, size_t size);

#endif // STUDIO_SERVER_DATA_QUERY_EXPRESSION_EXPRESSION_INTERNAL_H

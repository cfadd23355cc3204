// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/parser.h - the state of the parser: the text, the tree, the
// first error.
#ifndef STUDIO_SERVER_DATA_QUERY_EXPRESSION_PARSER_H
#define STUDIO_SERVER_DATA_QUERY_EXPRESSION_PARSER_H

#include "studio/server/data/query/expression/expression_internal.h"

typedef struct studio__parser {
    const char *text;
    size_t at;
    const studio_variable_t *variables;
    size_t variable_count;
    studio_expression_t *made;
    studio_place_error_t *error;
    unsigned depth;
    bool failed;
} studio__parser_t;

#define STUDIO_NO_NODE UINT32_MAX // result after an error

// -- tree.c: errors, words, nodes with their types and units

// Returns the column of a byte of the text, in characters, from 1.
size_t studio__parse_column(const studio__parser_t *parser, size_t at);
// Keeps the first error. Always returns STUDIO_NO_NODE.
uint32_t studio__parse_fail(studio__parser_t *parser, size_t column, const char *format, ...)
    SIM_PRINTF(3, 4);
// Reports an error at the parser's place, with what was expected there.
uint32_t studio__parse_fail_here(studio__parser_t *parser, const char *expected);

void studio__parse_spaces(studio__parser_t *parser);
bool studio__is_name_sign(char sign);
// Skips the sign, or the whole word, if it comes next; returns whether it did.
bool studio__take_sign(studio__parser_t *parser, const char *sign);

// Returns a node; the pointer is valid until the next node is added.
studio_node_t *studio__node_at(const studio__parser_t *parser, uint32_t index);
uint32_t studio__node_add(studio__parser_t *parser, studio_op_t op, studio_type_t type,
                          size_t column);
// Makes a node the next argument of another node.
void studio__node_adopt(studio__parser_t *parser, uint32_t node, uint32_t argument);
uint32_t studio__node_binary(studio__parser_t *parser, studio_op_t op, studio_type_t type,
                             uint32_t left, uint32_t right, size_t column);
// Returns a node that multiplies this node by factor.
uint32_t studio__node_scaled(studio__parser_t *parser, uint32_t node, double factor);
// Checks a node's type; returns false, with an error, if it differs, or if an error came before.
bool studio__node_is_of(studio__parser_t *parser, uint32_t node, studio_type_t type);

bool studio__same_dimension(const studio_unit_t *a, const studio_unit_t *b);
// Converts two numbers to the unit of the first one that has one. Returns false, with an error, if
// their units are of different kinds.
bool studio__units_agree(studio__parser_t *parser, uint32_t *left, uint32_t *right, size_t column);

// -- value.c: numbers, texts, columns, calls, and what stands in parentheses
uint32_t studio__parse_value(studio__parser_t *parser);

// -- parse.c: operators
uint32_t studio__parse_or(studio__parser_t *parser);

#endif // STUDIO_SERVER_DATA_QUERY_EXPRESSION_PARSER_H

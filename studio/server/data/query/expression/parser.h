// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/parser.h - what the files that read expressions share: the
// text, the tree
// that is made of it, and the first error.
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

#define STUDIO_NO_NODE UINT32_MAX // behind an error

// -- tree.c: errors, words, nodes with their types and units

// Column of a byte of the text, from 1, in letters.
size_t studio__parse_column(const studio__parser_t *parser, size_t at);
// Keeps the first error. Always STUDIO_NO_NODE.
uint32_t studio__parse_fail(studio__parser_t *parser, size_t column, const char *format, ...)
    SIM_PRINTF(3, 4);
// The same of what stands at the place of the parser.
uint32_t studio__parse_fail_here(studio__parser_t *parser, const char *expected);

void studio__parse_spaces(studio__parser_t *parser);
bool studio__is_name_sign(char sign);
// Whether the text goes on with the sign, which is then passed over; of words: the whole word.
bool studio__take_sign(studio__parser_t *parser, const char *sign);

// Until the next one is added.
studio_node_t *studio__node_at(const studio__parser_t *parser, uint32_t index);
uint32_t studio__node_add(studio__parser_t *parser,
                          studio_op_t op,
                          studio_type_t type,
                          size_t column);
// Makes a node the next argument of another.
void studio__node_adopt(studio__parser_t *parser, uint32_t node, uint32_t argument);
uint32_t studio__node_binary(studio__parser_t *parser,
                             studio_op_t op,
                             studio_type_t type,
                             uint32_t left,
                             uint32_t right,
                             size_t column);
// The node times a factor.
uint32_t studio__node_scaled(studio__parser_t *parser, uint32_t node, double factor);
// False: it has another type, which is an error, or there was one before.
bool studio__node_is_of(studio__parser_t *parser, uint32_t node, studio_type_t type);

bool studio__same_dimension(const studio_unit_t *a, const studio_unit_t *b);
// Brings two numbers to the unit of the first one that has one. False: they are of different
// kinds.
bool studio__units_agree(studio__parser_t *parser, uint32_t *left, uint32_t *right, size_t column);

// -- value.c: numbers, texts, columns, calls, and what stands in parentheses
uint32_t studio__parse_value(studio__parser_t *parser);

// -- parse.c: operators
uint32_t studio__parse_or(studio__parser_t *parser);

#endif // STUDIO_SERVER_DATA_QUERY_EXPRESSION_PARSER_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/tree.c - words and nodes of an expression, and checks of
// types and units.
#include "studio/server/data/query/expression/parser.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t studio__parse_column(const studio__parser_t *parser, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++) {
        column += ((uint8_t)parser->text[i] & 0xc0) != 0x80;
    }
    return column;
}

uint32_t studio__parse_fail(studio__parser_t *parser, size_t column, const char *format, ...)
{
    if (!parser->failed) {
        parser->failed = true;
        va_list arguments;
        va_start(arguments, format);
        // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is in the line before
        (void)vsnprintf(parser->error->message.text, sizeof(parser->error->message.text), format,
                        arguments);
        va_end(arguments);
        parser->error->column = column;
    }
    return STUDIO_NO_NODE;
}

uint32_t studio__parse_fail_here(studio__parser_t *parser, const char *expected)
{
    if (!parser->failed) {
        (void)snprintf(parser->error->expected, sizeof(parser->error->expected), "%s", expected);
    }
    const char *const rest = parser->text + parser->at;
    if (*rest == '\0') {
        return studio__parse_fail(parser, studio__parse_column(parser, parser->at),
                                  "the expression ends here, expected %s", expected);
    }
    int size = 1;
    while (size < 4 && ((uint8_t)rest[size] & 0xc0) == 0x80) {
        size++;
    }
    return studio__parse_fail(parser, studio__parse_column(parser, parser->at),
                              "'%.*s' is not allowed here, expected %s", size, rest, expected);
}

studio_node_t *studio__node_at(const studio__parser_t *parser, uint32_t index)
{
    return &parser->made->nodes[index];
}

uint32_t studio__node_add(studio__parser_t *parser, studio_op_t op, studio_type_t type,
                          size_t column)
{
    studio_expression_t *const made = parser->made;
    if (made->count >= STUDIO_EXPRESSION_NODES_MAX) {
        return studio__parse_fail(parser, column, "the expression has more than 2000 parts");
    }
    SIM_GROW(made->nodes, made->count, &made->capacity);
    made->nodes[made->count] = (studio_node_t){.op = op,
                                               .type = type,
                                               .unit = {.plain = true, .factor = 1},
                                               .column = column,
                                               .depth = 1};
    return (uint32_t)made->count++;
}

void studio__node_adopt(studio__parser_t *parser, uint32_t node, uint32_t argument)
{
    studio_node_t *const parent = studio__node_at(parser, node);
    const uint32_t depth = studio__node_at(parser, argument)->depth + 1;
    SIM_CHECK(parent->count < STUDIO_ARGUMENTS_MAX);
    parent->arguments[parent->count++] = argument;
    parent->depth = SIM_MAX(depth, parent->depth);
}

// -- words

void studio__parse_spaces(studio__parser_t *parser)
{
    parser->at += strspn(parser->text + parser->at, " \t\r\n");
}

bool studio__is_name_sign(char sign)
{
    return isalnum((unsigned char)sign) != 0 || sign == '_' || sign == '.' ||
           ((uint8_t)sign & 0x80) != 0;
}

bool studio__take_sign(studio__parser_t *parser, const char *sign)
{
    studio__parse_spaces(parser);
    const size_t size = strlen(sign);
    if (strncmp(parser->text + parser->at, sign, size) != 0) {
        return false;
    }
    if (isalpha((unsigned char)sign[0]) != 0 &&
        studio__is_name_sign(parser->text[parser->at + size])) {
        return false;
    }
    parser->at += size;
    return true;
}

// -- units

bool studio__same_dimension(const studio_unit_t *a, const studio_unit_t *b)
{
    return a->time == b->time && a->bits == b->bits && a->packets == b->packets;
}

uint32_t studio__node_scaled(studio__parser_t *parser, uint32_t node, double factor)
{
    const studio_node_t have = *studio__node_at(parser, node);
    const uint32_t scale = studio__node_add(parser, STUDIO_OP_SCALE, STUDIO_NUMBER, have.column);
    if (scale != STUDIO_NO_NODE) {
        studio__node_at(parser, scale)->number = factor;
        studio__node_at(parser, scale)->unit = have.unit;
        studio__node_at(parser, scale)->constant = have.constant;
        studio__node_adopt(parser, scale, node);
    }
    return scale;
}

// Converts two numbers to the unit of the first one that has one. Returns false, with an error, if
// their units are of different kinds.
bool studio__units_agree(studio__parser_t *parser, uint32_t *left, uint32_t *right, size_t column)
{
    if (parser->failed) {
        return false;
    }
    studio_node_t *const a = studio__node_at(parser, *left);
    studio_node_t *const b = studio__node_at(parser, *right);
    if (a->type != STUDIO_NUMBER || b->type != STUDIO_NUMBER || (a->unit.plain && b->unit.plain)) {
        return true;
    }
    if (a->unit.plain && a->constant) {
        a->unit = b->unit;
        return true;
    }
    if (b->unit.plain && b->constant) {
        b->unit = a->unit;
        return true;
    }
    char names[2][48];
    if (a->unit.plain || b->unit.plain || !studio__same_dimension(&a->unit, &b->unit)) {
        (void)studio__parse_fail(
            parser, column, "'%s' and '%s' are different units, expected the same on both sides",
            a->unit.plain ? "(none)" : studio__unit_name(&a->unit, names[0], 48),
            b->unit.plain ? "(none)" : studio__unit_name(&b->unit, names[1], 48));
        return false;
    }
    const double from = b->unit.factor;
    const double to = a->unit.factor;
    if (fabs(from - to) > 1e-9 * to) {
        const studio_unit_t unit = a->unit;
        *right = studio__node_scaled(parser, *right, from / to);
        if (*right == STUDIO_NO_NODE) {
            return false;
        }
        studio__node_at(parser, *right)->unit = unit;
    }
    return true;
}

bool studio__node_is_of(studio__parser_t *parser, uint32_t node, studio_type_t type)
{
    if (parser->failed || node == STUDIO_NO_NODE) {
        return false;
    }
    const studio_node_t *const have = studio__node_at(parser, node);
    if (have->type == type) {
        return true;
    }
    (void)studio__parse_fail(parser, have->column, "this is a %s, expected a %s",
                             studio_type_name(have->type), studio_type_name(type));
    return false;
}

uint32_t studio__node_binary(studio__parser_t *parser, studio_op_t op, studio_type_t type,
                             uint32_t left, uint32_t right, size_t column)
{
    if (parser->failed) {
        return STUDIO_NO_NODE;
    }
    const uint32_t node = studio__node_add(parser, op, type, column);
    if (node == STUDIO_NO_NODE) {
        return STUDIO_NO_NODE;
    }
    studio__node_adopt(parser, node, left);
    studio__node_adopt(parser, node, right);
    studio_node_t *const made = studio__node_at(parser, node);
    made->constant =
        studio__node_at(parser, left)->constant && studio__node_at(parser, right)->constant;
    if (made->depth > STUDIO_EXPRESSION_DEPTH_MAX * 4) {
        return studio__parse_fail(parser, column, "the expression is nested too deeply");
    }
    return node;
}

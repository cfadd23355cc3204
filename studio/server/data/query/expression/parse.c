// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/parse.c - parses a text into a tree with types and units, by
// operator precedence.
#include "studio/server/data/query/expression/parser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool enter(studio__parser_t *parser)
{
    if (++parser->depth > STUDIO_EXPRESSION_DEPTH_MAX) {
        (void)studio__parse_fail(parser, studio__parse_column(parser, parser->at),
                                 "more than %u parentheses and signs are nested",
                                 STUDIO_EXPRESSION_DEPTH_MAX);
    }
    return !parser->failed;
}

static uint32_t parse_sign(studio__parser_t *parser);

static uint32_t parse_power(studio__parser_t *parser)
{
    const uint32_t base = studio__parse_value(parser);
    studio__parse_spaces(parser);
    const size_t column = studio__parse_column(parser, parser->at);
    if (parser->failed || !studio__take_sign(parser, "^")) {
        return base;
    }
    const uint32_t exponent = parse_sign(parser);
    if (!studio__node_is_of(parser, base, STUDIO_NUMBER) ||
        !studio__node_is_of(parser, exponent, STUDIO_NUMBER)) {
        return STUDIO_NO_NODE;
    }
    if (!studio__node_at(parser, base)->unit.plain) {
        return studio__parse_fail(parser, column,
                                  "a value with a unit has no power here; use * instead");
    }
    return studio__node_binary(parser, STUDIO_OP_POWER, STUDIO_NUMBER, base, exponent, column);
}

static uint32_t parse_sign(studio__parser_t *parser)
{
    studio__parse_spaces(parser);
    const size_t column = studio__parse_column(parser, parser->at);
    if (!enter(parser)) {
        return STUDIO_NO_NODE;
    }
    uint32_t result = STUDIO_NO_NODE;
    if (studio__take_sign(parser, "-")) {
        const uint32_t value = parse_sign(parser);
        if (studio__node_is_of(parser, value, STUDIO_NUMBER)) {
            result = studio__node_scaled(parser, value, -1);
            if (result != STUDIO_NO_NODE) {
                studio__node_at(parser, result)->column = column;
            }
        }
    } else {
        result = parse_power(parser);
    }
    parser->depth--;
    return result;
}

static uint32_t multiply(studio__parser_t *parser, studio_op_t op, uint32_t left, uint32_t right,
                         size_t column)
{
    if (!studio__node_is_of(parser, left, STUDIO_NUMBER) ||
        !studio__node_is_of(parser, right, STUDIO_NUMBER)) {
        return STUDIO_NO_NODE;
    }
    if (op == STUDIO_OP_REST && !studio__units_agree(parser, &left, &right, column)) {
        return STUDIO_NO_NODE;
    }
    const uint32_t node = studio__node_binary(parser, op, STUDIO_NUMBER, left, right, column);
    if (node == STUDIO_NO_NODE) {
        return node;
    }
    const studio_unit_t a = studio__node_at(parser, left)->unit;
    const studio_unit_t b = studio__node_at(parser, right)->unit;
    const int sign = op == STUDIO_OP_DIVIDE ? -1 : 1;
    studio_unit_t *const unit = &studio__node_at(parser, node)->unit;
    if (op == STUDIO_OP_REST) {
        *unit = a;
        return node;
    }
    const int time = a.time + sign * b.time;
    const int bits = a.bits + sign * b.bits;
    const int packets = a.packets + sign * b.packets;
    if (abs(time) > 9 || abs(bits) > 9 || abs(packets) > 9) {
        return studio__parse_fail(parser, column, "the power of the unit is larger than 9");
    }
    *unit = (studio_unit_t){(int8_t)time, (int8_t)bits, (int8_t)packets, a.plain && b.plain,
                            op == STUDIO_OP_DIVIDE ? a.factor / b.factor : a.factor * b.factor};
    if (time == 0 && bits == 0 && packets == 0 && !unit->plain) {
        // The units cancel, as in us / ns, and leave a plain factor.
        const double factor = unit->factor;
        *unit = (studio_unit_t){.plain = true, .factor = 1};
        return fabs(factor - 1) > 1e-12 ? studio__node_scaled(parser, node, factor) : node;
    }
    return node;
}

static uint32_t parse_product(studio__parser_t *parser)
{
    uint32_t left = parse_sign(parser);
    while (!parser->failed) {
        studio__parse_spaces(parser);
        const size_t column = studio__parse_column(parser, parser->at);
        const studio_op_t op = studio__take_sign(parser, "*")   ? STUDIO_OP_MULTIPLY
                               : studio__take_sign(parser, "/") ? STUDIO_OP_DIVIDE
                               : studio__take_sign(parser, "%") ? STUDIO_OP_REST
                                                                : STUDIO_OP_NUMBER;
        if (op == STUDIO_OP_NUMBER) {
            break;
        }
        left = multiply(parser, op, left, parse_sign(parser), column);
    }
    return left;
}

static uint32_t parse_sum(studio__parser_t *parser)
{
    uint32_t left = parse_product(parser);
    while (!parser->failed) {
        studio__parse_spaces(parser);
        const size_t column = studio__parse_column(parser, parser->at);
        const studio_op_t op = studio__take_sign(parser, "+")   ? STUDIO_OP_ADD
                               : studio__take_sign(parser, "-") ? STUDIO_OP_SUBTRACT
                                                                : STUDIO_OP_NUMBER;
        if (op == STUDIO_OP_NUMBER) {
            break;
        }
        uint32_t right = parse_product(parser);
        if (!studio__node_is_of(parser, left, STUDIO_NUMBER) ||
            !studio__node_is_of(parser, right, STUDIO_NUMBER) ||
            !studio__units_agree(parser, &left, &right, column)) {
            return STUDIO_NO_NODE;
        }
        const studio_unit_t unit = studio__node_at(parser, left)->unit;
        left = studio__node_binary(parser, op, STUDIO_NUMBER, left, right, column);
        if (left != STUDIO_NO_NODE) {
            studio__node_at(parser, left)->unit = unit;
        }
    }
    return left;
}

static uint32_t parse_in(studio__parser_t *parser, uint32_t left, size_t column)
{
    if (!studio__take_sign(parser, "(")) {
        return studio__parse_fail_here(parser, "'(' and a list");
    }
    uint32_t result = STUDIO_NO_NODE;
    do {
        uint32_t value = left;
        uint32_t right = parse_sum(parser);
        if (parser->failed ||
            !studio__node_is_of(parser, right, studio__node_at(parser, left)->type) ||
            !studio__units_agree(parser, &value, &right, column)) {
            return STUDIO_NO_NODE;
        }
        const uint32_t equal =
            studio__node_binary(parser, STUDIO_OP_EQUAL, STUDIO_BOOL, value, right, column);
        result =
            result == STUDIO_NO_NODE || equal == STUDIO_NO_NODE
                ? equal
                : studio__node_binary(parser, STUDIO_OP_OR, STUDIO_BOOL, result, equal, column);
    } while (!parser->failed && studio__take_sign(parser, ","));
    if (!parser->failed && !studio__take_sign(parser, ")")) {
        return studio__parse_fail_here(parser, "',' or ')'");
    }
    return result;
}

static uint32_t parse_compare(studio__parser_t *parser)
{
    static const struct {
        const char *sign;
        studio_op_t op;
    } signs[] = {
        {"==", STUDIO_OP_EQUAL},      {"=", STUDIO_OP_EQUAL},       {"!=", STUDIO_OP_UNEQUAL},
        {"<>", STUDIO_OP_UNEQUAL},    {"<=", STUDIO_OP_LESS_EQUAL}, {"<", STUDIO_OP_LESS},
        {">=", STUDIO_OP_MORE_EQUAL}, {">", STUDIO_OP_MORE},        {"!~", STUDIO_OP_UNLIKE},
        {"~", STUDIO_OP_LIKE},        {"in", STUDIO_OP_IN},
    };
    uint32_t left = parse_sum(parser);
    studio__parse_spaces(parser);
    const size_t column = studio__parse_column(parser, parser->at);
    size_t i = 0;
    while (!parser->failed && i < SIM_COUNT_OF(signs) &&
           !studio__take_sign(parser, signs[i].sign)) {
        i++;
    }
    if (parser->failed || i == SIM_COUNT_OF(signs)) {
        return left;
    }
    if (signs[i].op == STUDIO_OP_IN) {
        return parse_in(parser, left, column);
    }
    uint32_t right = parse_sum(parser);
    if (parser->failed || !studio__node_is_of(parser, right, studio__node_at(parser, left)->type)) {
        return STUDIO_NO_NODE;
    }
    const bool like = signs[i].op == STUDIO_OP_LIKE || signs[i].op == STUDIO_OP_UNLIKE;
    if (like && !studio__node_is_of(parser, left, STUDIO_TEXT)) {
        return STUDIO_NO_NODE;
    }
    return studio__units_agree(parser, &left, &right, column)
               ? studio__node_binary(parser, signs[i].op, STUDIO_BOOL, left, right, column)
               : STUDIO_NO_NODE;
}

static uint32_t parse_not(studio__parser_t *parser)
{
    studio__parse_spaces(parser);
    const size_t column = studio__parse_column(parser, parser->at);
    if (!enter(parser)) {
        return STUDIO_NO_NODE;
    }
    uint32_t result = STUDIO_NO_NODE;
    if (studio__take_sign(parser, "not")) {
        const uint32_t value = parse_not(parser);
        if (studio__node_is_of(parser, value, STUDIO_BOOL)) {
            result = studio__node_add(parser, STUDIO_OP_NOT, STUDIO_BOOL, column);
            if (result != STUDIO_NO_NODE) {
                studio__node_adopt(parser, result, value);
            }
        }
    } else {
        result = parse_compare(parser);
    }
    parser->depth--;
    return result;
}

// Parses operands with a word between them: "a and b and c".
static uint32_t parse_words(studio__parser_t *parser, const char *word, studio_op_t op,
                            uint32_t (*parse)(studio__parser_t *parser))
{
    uint32_t left = parse(parser);
    while (!parser->failed) {
        studio__parse_spaces(parser);
        const size_t column = studio__parse_column(parser, parser->at);
        if (!studio__take_sign(parser, word)) {
            break;
        }
        const uint32_t right = parse(parser);
        left = studio__node_is_of(parser, left, STUDIO_BOOL) &&
                       studio__node_is_of(parser, right, STUDIO_BOOL)
                   ? studio__node_binary(parser, op, STUDIO_BOOL, left, right, column)
                   : STUDIO_NO_NODE;
    }
    return left;
}

static uint32_t parse_and(studio__parser_t *parser)
{
    return parse_words(parser, "and", STUDIO_OP_AND, parse_not);
}

uint32_t studio__parse_or(studio__parser_t *parser)
{
    if (!enter(parser)) {
        return STUDIO_NO_NODE;
    }
    const uint32_t left = parse_words(parser, "or", STUDIO_OP_OR, parse_and);
    SIM_CHECK(parser->depth > 0);
    parser->depth--;
    return left;
}

studio_expression_t *studio_expression_parse(const char *text, const studio_variable_t *variables,
                                             size_t variable_count, studio_place_error_t *error)
{
    studio_expression_t *const made = sim_alloc(sizeof(*made));
    *error = (studio_place_error_t){.column = 1};
    studio__parser_t parser = {.text = text,
                               .variables = variables,
                               .variable_count = variable_count,
                               .made = made,
                               .error = error};
    if (strlen(text) > STUDIO_EXPRESSION_BYTES_MAX) {
        (void)studio__parse_fail(&parser, 1, "the expression has more than 8192 characters");
    } else {
        made->root = studio__parse_or(&parser);
        studio__parse_spaces(&parser);
        if (!parser.failed && text[parser.at] != '\0') {
            (void)studio__parse_fail_here(&parser, "an operator, or the end");
        }
    }
    if (parser.failed) {
        studio_expression_destroy(made);
        return NULL;
    }
    const studio_node_t *const root = &made->nodes[made->root];
    if (root->type == STUDIO_NUMBER) {
        (void)studio__unit_name(&root->unit, made->unit, sizeof(made->unit));
    }
    made->buffer_count = 2 * (size_t)root->depth + 2;
    made->buffers = sim_alloc_array(made->buffer_count * STUDIO_BATCH_ROWS, sizeof(*made->buffers));
    return made;
}

// SPDX-License-Identifier: Apache-2.0
// studio/data/expression_parse.c - from text to a tree with types and units.
#include "studio/data/expression_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const studio_function_t studio__functions[STUDIO_CALL_COUNT] = {
    {"abs", "n", '=', STUDIO_CALL_ABS, "without its sign"},
    {"floor", "n", '=', STUDIO_CALL_FLOOR, "the whole number below"},
    {"ceil", "n", '=', STUDIO_CALL_CEIL, "the whole number above"},
    {"round", "n", '=', STUDIO_CALL_ROUND, "the nearest whole number"},
    {"sqrt", "n", 'n', STUDIO_CALL_SQRT, "square root"},
    {"exp", "n", 'n', STUDIO_CALL_EXP, "e to this power"},
    {"log", "n", 'n', STUDIO_CALL_LOG, "natural logarithm"},
    {"log2", "n", 'n', STUDIO_CALL_LOG2, "logarithm to base 2"},
    {"log10", "n", 'n', STUDIO_CALL_LOG10, "logarithm to base 10"},
    {"min", "nn*", '=', STUDIO_CALL_MIN, "the least of them"},
    {"max", "nn*", '=', STUDIO_CALL_MAX, "the greatest of them"},
    {"bin", "nn", '=', STUDIO_CALL_BIN, "begin of the bin of that width: bin(fct_ns, 10us)"},
    {"log_bin", "nn", '=', STUDIO_CALL_LOG_BIN, "the power of the second at or below the first"},
    {"if", "b??", '=', STUDIO_CALL_IF, "the second where the first is true, else the third"},
    {"coalesce", "??*", '=', STUDIO_CALL_COALESCE, "the first that is not missing"},
    {"is_missing", "?", 'b', STUDIO_CALL_IS_MISSING, "whether there is no value"},
    {"in", "nt", 'n', STUDIO_CALL_IN, "the same in another unit: in(bytes / fct_ns, \"Gbps\")"},
    {"contains", "tt", 'b', STUDIO_CALL_CONTAINS, "whether the second is in the first"},
    {"starts", "tt", 'b', STUDIO_CALL_STARTS, "whether the first begins with the second"},
    {"ends", "tt", 'b', STUDIO_CALL_ENDS, "whether the first ends with the second"},
    {"length", "t", 'n', STUDIO_CALL_LENGTH, "bytes of a text"},
    {"lower", "t", 't', STUDIO_CALL_LOWER, "in small letters"},
    {"upper", "t", 't', STUDIO_CALL_UPPER, "in capital letters"},
    {"before", "tt", 't', STUDIO_CALL_BEFORE, "what is before the second: before(port, \"->\")"},
    {"after", "tt", 't', STUDIO_CALL_AFTER, "what is behind the second"},
    {"join", "tt*", 't', STUDIO_CALL_JOIN, "all one after the other"},
    {"number", "t", 'n', STUDIO_CALL_NUMBER, "the number that the text is"},
    {"text", "n", 't', STUDIO_CALL_TEXT, "the number as a text"},
};
// clang-format on

typedef struct parser {
    const char *text;
    size_t at;
    const studio_variable_t *variables;
    size_t variable_count;
    studio_expression_t *made;
    studio_place_error_t *error;
    unsigned depth;
    bool failed;
} parser_t;

#define NO_NODE UINT32_MAX

static size_t column_of(const parser_t *parser, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++) {
        column += ((uint8_t)parser->text[i] & 0xc0) != 0x80;
    }
    return column;
}

static uint32_t fail(parser_t *parser, size_t column, const char *format, ...) SIM_PRINTF(3, 4);

static uint32_t fail(parser_t *parser, size_t column, const char *format, ...)
{
    if (!parser->failed) {
        parser->failed = true;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(parser->error->message.text,
                        sizeof(parser->error->message.text),
                        format,
                        arguments);
        va_end(arguments);
        parser->error->column = column;
    }
    return NO_NODE;
}

static uint32_t fail_here(parser_t *parser, const char *expected)
{
    if (!parser->failed) {
        (void)snprintf(parser->error->expected, sizeof(parser->error->expected), "%s", expected);
    }
    const char *const rest = parser->text + parser->at;
    if (*rest == '\0') {
        return fail(parser, column_of(parser, parser->at), "it ends here, expected %s", expected);
    }
    int size = 1;
    while (size < 4 && ((uint8_t)rest[size] & 0xc0) == 0x80) {
        size++;
    }
    return fail(parser,
                column_of(parser, parser->at),
                "'%.*s' has no place here, expected %s",
                size,
                rest,
                expected);
}

static studio_node_t *node_at(const parser_t *parser, uint32_t index)
{
    return &parser->made->nodes[index];
}

static uint32_t add(parser_t *parser, studio_op_t op, studio_type_t type, size_t column)
{
    studio_expression_t *const made = parser->made;
    if (made->count >= STUDIO_EXPRESSION_NODES_MAX) {
        return fail(parser, column, "an expression of more than 2000 parts");
    }
    SIM_GROW(made->nodes, made->count, &made->capacity);
    made->nodes[made->count] = (studio_node_t){.op = op,
                                               .type = type,
                                               .unit = {.plain = true, .factor = 1},
                                               .column = column,
                                               .depth = 1};
    return (uint32_t)made->count++;
}

static void adopt(parser_t *parser, uint32_t node, uint32_t argument)
{
    studio_node_t *const parent = node_at(parser, node);
    const uint32_t depth = node_at(parser, argument)->depth + 1;
    parent->arguments[parent->count++] = argument;
    parent->depth = depth > parent->depth ? depth : parent->depth;
}

// -- words

static void skip_spaces(parser_t *parser)
{
    parser->at += strspn(parser->text + parser->at, " \t\r\n");
}

static bool is_name_sign(char sign)
{
    return isalnum((unsigned char)sign) != 0 || sign == '_' || sign == '.' ||
           ((uint8_t)sign & 0x80) != 0;
}

static bool take_sign(parser_t *parser, const char *sign)
{
    skip_spaces(parser);
    const size_t size = strlen(sign);
    if (strncmp(parser->text + parser->at, sign, size) != 0) {
        return false;
    }
    if (isalpha((unsigned char)sign[0]) != 0 && is_name_sign(parser->text[parser->at + size])) {
        return false;
    }
    parser->at += size;
    return true;
}

static uint32_t parse_or(parser_t *parser);

// -- units

static bool same_dimension(const studio_unit_t *a, const studio_unit_t *b)
{
    return a->time == b->time && a->bits == b->bits && a->packets == b->packets;
}

static uint32_t scaled(parser_t *parser, uint32_t node, double factor)
{
    const studio_node_t have = *node_at(parser, node);
    const uint32_t scale = add(parser, STUDIO_OP_SCALE, STUDIO_NUMBER, have.column);
    if (scale != NO_NODE) {
        node_at(parser, scale)->number = factor;
        node_at(parser, scale)->unit = have.unit;
        node_at(parser, scale)->constant = have.constant;
        adopt(parser, scale, node);
    }
    return scale;
}

// Brings two numbers to the unit of the first one that has one. False: they are of different
// kinds.
static bool agree(parser_t *parser, uint32_t *left, uint32_t *right, size_t column)
{
    if (parser->failed) {
        return false;
    }
    studio_node_t *const a = node_at(parser, *left);
    studio_node_t *const b = node_at(parser, *right);
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
    if (a->unit.plain || b->unit.plain || !same_dimension(&a->unit, &b->unit)) {
        (void)fail(parser,
                   column,
                   "'%s' and '%s' are different units, expected the same on both sides",
                   a->unit.plain ? "(none)" : studio__unit_name(&a->unit, names[0], 48),
                   b->unit.plain ? "(none)" : studio__unit_name(&b->unit, names[1], 48));
        return false;
    }
    const double from = b->unit.factor;
    const double to = a->unit.factor;
    if (fabs(from - to) > 1e-9 * to) {
        const studio_unit_t unit = a->unit;
        *right = scaled(parser, *right, from / to);
        if (*right == NO_NODE) {
            return false;
        }
        node_at(parser, *right)->unit = unit;
    }
    return true;
}

static bool is_of(parser_t *parser, uint32_t node, studio_type_t type)
{
    if (parser->failed || node == NO_NODE) {
        return false;
    }
    const studio_node_t *const have = node_at(parser, node);
    if (have->type == type) {
        return true;
    }
    (void)fail(parser,
               have->column,
               "a %s, expected a %s",
               studio_type_name(have->type),
               studio_type_name(type));
    return false;
}

static uint32_t binary(parser_t *parser,
                       studio_op_t op,
                       studio_type_t type,
                       uint32_t left,
                       uint32_t right,
                       size_t column)
{
    if (parser->failed) {
        return NO_NODE;
    }
    const uint32_t node = add(parser, op, type, column);
    if (node == NO_NODE) {
        return NO_NODE;
    }
    adopt(parser, node, left);
    adopt(parser, node, right);
    studio_node_t *const made = node_at(parser, node);
    made->constant = node_at(parser, left)->constant && node_at(parser, right)->constant;
    if (made->depth > STUDIO_EXPRESSION_DEPTH_MAX * 4) {
        return fail(parser, column, "an expression that is nested too deeply");
    }
    return node;
}

// -- values

static uint32_t parse_number(parser_t *parser)
{
    const size_t from = parser->at;
    char *end = NULL;
    const double number = strtod(parser->text + from, &end);
    parser->at = (size_t)(end - parser->text);
    const uint32_t node = add(parser, STUDIO_OP_NUMBER, STUDIO_NUMBER, column_of(parser, from));
    if (node == NO_NODE) {
        return node;
    }
    studio_node_t *const made = node_at(parser, node);
    made->number = number;
    made->constant = true;
    size_t size = 0;
    while (isalpha((unsigned char)end[size]) != 0 ||
           (size > 0 && end[size] == '/' && isalpha((unsigned char)end[size + 1]) != 0)) {
        size++;
    }
    // "10bytes/fct_ns" is a division: the longest unit that is known.
    size_t known = size;
    while (known > 0 &&
           !(studio_unit_find(end, known, &made->unit) && (known == size || end[known] == '/'))) {
        known--;
    }
    if (size > 0 && known == 0) {
        return fail(parser,
                    column_of(parser, parser->at),
                    "'%.*s' is no unit, expected one such as ns, us, KB, MiB, Gbps, packets",
                    (int)(size < 20 ? size : 20),
                    end);
    }
    if (!isfinite(number)) {
        return fail(parser, column_of(parser, from), "a number that is too large");
    }
    parser->at += known;
    return node;
}

static uint32_t parse_text(parser_t *parser, char quote)
{
    const size_t from = ++parser->at;
    const char *const end = strchr(parser->text + from, quote);
    if (end == NULL) {
        return fail(parser, column_of(parser, from - 1), "a text that does not end");
    }
    const uint32_t node = add(parser, STUDIO_OP_LITERAL, STUDIO_TEXT, column_of(parser, from - 1));
    if (node != NO_NODE) {
        const size_t size = (size_t)(end - parser->text) - from;
        node_at(parser, node)->text = sim_format("%.*s", (int)size, parser->text + from);
        node_at(parser, node)->constant = true;
        parser->at = from + size + 1;
    }
    return node;
}

static uint32_t parse_variable(parser_t *parser, const char *name, size_t size, size_t column)
{
    for (size_t i = 0; i < parser->variable_count; i++) {
        const studio_variable_t *const variable = &parser->variables[i];
        if (strlen(variable->name) == size && memcmp(variable->name, name, size) == 0) {
            const uint32_t node = add(parser, STUDIO_OP_VARIABLE, variable->type, column);
            if (node != NO_NODE) {
                node_at(parser, node)->variable = i;
                (void)studio_unit_find(variable->unit,
                                       strlen(variable->unit),
                                       &node_at(parser, node)->unit);
            }
            return node;
        }
    }
    char names[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < parser->variable_count && used < 120; i++) {
        used += (size_t)snprintf(names + used,
                                 sizeof(names) - used,
                                 "%s%.30s",
                                 i > 0 ? ", " : "",
                                 parser->variables[i].name);
    }
    return fail(parser,
                column,
                "no column is called '%.*s', expected one of %s%s",
                (int)(size < 60 ? size : 60),
                name,
                names,
                used >= 120 ? "..." : "");
}

static bool take_arguments(parser_t *parser, uint32_t call)
{
    if (take_sign(parser, ")")) {
        return true;
    }
    for (;;) {
        const uint32_t argument = parse_or(parser);
        if (parser->failed) {
            return false;
        }
        if (node_at(parser, call)->count == STUDIO_ARGUMENTS_MAX) {
            (void)fail(parser, node_at(parser, call)->column, "more than 16 arguments");
            return false;
        }
        adopt(parser, call, argument);
        if (take_sign(parser, ")")) {
            return true;
        }
        if (!take_sign(parser, ",")) {
            (void)fail_here(parser, "',' or ')'");
            return false;
        }
    }
}

// What "n", "t", "b", "?" ask for; the sign for argument i of a pattern with "*" at its end.
static char asked_for(const char *pattern, size_t i)
{
    const size_t size = strlen(pattern);
    if (pattern[size - 1] == '*' && i + 1 >= size - 1) {
        return pattern[size - 2];
    }
    return i < size && pattern[i] != '*' ? pattern[i] : '\0';
}

static bool check_arguments(parser_t *parser, uint32_t call, const studio_function_t *function)
{
    const studio_node_t *const node = node_at(parser, call);
    const size_t size = strlen(function->arguments);
    const size_t least = function->arguments[size - 1] == '*' ? size - 1 : size;
    for (size_t i = 0; i < node->count; i++) {
        const char asked = asked_for(function->arguments, i);
        if (asked == '\0') {
            (void)fail(parser, node->column, "%s() takes %zu arguments", function->name, least);
            return false;
        }
        const studio_type_t type = asked == 't'   ? STUDIO_TEXT
                                   : asked == 'b' ? STUDIO_BOOL
                                                  : STUDIO_NUMBER;
        if (asked != '?' && !is_of(parser, node->arguments[i], type)) {
            return false;
        }
    }
    if (node->count < least) {
        (void)fail(parser,
                   node->column,
                   "%s() takes %zu arguments, here are %u",
                   function->name,
                   least,
                   node->count);
        return false;
    }
    return true;
}

// All arguments from the first on of one type and unit.
static bool unify_arguments(parser_t *parser, uint32_t call, uint32_t first)
{
    for (uint32_t i = first + 1; i < node_at(parser, call)->count; i++) {
        uint32_t left = node_at(parser, call)->arguments[first];
        uint32_t right = node_at(parser, call)->arguments[i];
        const size_t column = node_at(parser, right)->column;
        if (!is_of(parser, right, node_at(parser, left)->type) ||
            !agree(parser, &left, &right, column)) {
            return false;
        }
        studio_node_t *const node = node_at(parser, call);
        node->arguments[i] = right;
        const uint32_t depth = node_at(parser, right)->depth + 1;
        node->depth = depth > node->depth ? depth : node->depth;
    }
    return true;
}

static uint32_t finish_in(parser_t *parser, uint32_t call)
{
    const studio_node_t *const value = node_at(parser, node_at(parser, call)->arguments[0]);
    const studio_node_t *const name = node_at(parser, node_at(parser, call)->arguments[1]);
    studio_unit_t unit;
    if (name->op != STUDIO_OP_LITERAL || !studio_unit_find(name->text, strlen(name->text), &unit)) {
        return fail(parser, name->column, "no unit, expected one such as \"us\" or \"Gbps\"");
    }
    if (value->unit.plain || !same_dimension(&value->unit, &unit)) {
        char have[48];
        return fail(parser,
                    value->column,
                    "its unit is '%s', which is no '%s'",
                    value->unit.plain ? "(none)" : studio__unit_name(&value->unit, have, 48),
                    name->text);
    }
    const uint32_t scale =
        scaled(parser, node_at(parser, call)->arguments[0], value->unit.factor / unit.factor);
    if (scale != NO_NODE) {
        node_at(parser, scale)->unit = unit;
    }
    return scale;
}

static uint32_t parse_call(parser_t *parser, const char *name, size_t size, size_t column)
{
    const studio_function_t *function = NULL;
    for (size_t i = 0; i < STUDIO_CALL_COUNT; i++) {
        if (strlen(studio__functions[i].name) == size &&
            memcmp(studio__functions[i].name, name, size) == 0) {
            function = &studio__functions[i];
        }
    }
    if (function == NULL) {
        return fail(parser,
                    column,
                    "no function is called '%.*s'",
                    (int)(size < 60 ? size : 60),
                    name);
    }
    const uint32_t call = add(parser, STUDIO_OP_CALL, STUDIO_NUMBER, column);
    if (call == NO_NODE || !take_arguments(parser, call) ||
        !check_arguments(parser, call, function)) {
        return NO_NODE;
    }
    node_at(parser, call)->call = function->call;
    if (function->call == STUDIO_CALL_IN) {
        return finish_in(parser, call);
    }
    const uint32_t first = function->call == STUDIO_CALL_IF ? 1 : 0;
    const bool alike = function->result == '=';
    if (alike && !unify_arguments(parser, call, first)) {
        return NO_NODE;
    }
    studio_node_t *const node = node_at(parser, call);
    const studio_node_t *const like = node_at(parser, node->arguments[first]);
    node->type = alike                     ? like->type
                 : function->result == 'b' ? STUDIO_BOOL
                 : function->result == 't' ? STUDIO_TEXT
                                           : STUDIO_NUMBER;
    if (alike && like->type == STUDIO_NUMBER) {
        node->unit = like->unit;
    }
    return call;
}

static uint32_t parse_named(parser_t *parser)
{
    const size_t from = parser->at;
    const char *const name = parser->text + from;
    size_t size = 0;
    while (is_name_sign(name[size])) {
        size++;
    }
    const size_t column = column_of(parser, from);
    parser->at += size;
    if (size == 4 && memcmp(name, "true", 4) == 0) {
        const uint32_t node = add(parser, STUDIO_OP_NUMBER, STUDIO_BOOL, column);
        if (node != NO_NODE) {
            node_at(parser, node)->number = 1;
        }
        return node;
    }
    if (size == 5 && memcmp(name, "false", 5) == 0) {
        return add(parser, STUDIO_OP_NUMBER, STUDIO_BOOL, column);
    }
    if (size == 7 && memcmp(name, "missing", 7) == 0) {
        const uint32_t node = add(parser, STUDIO_OP_NUMBER, STUDIO_NUMBER, column);
        if (node != NO_NODE) {
            node_at(parser, node)->number = (double)NAN;
            node_at(parser, node)->constant = true;
        }
        return node;
    }
    if (take_sign(parser, "(")) {
        return parse_call(parser, name, size, column);
    }
    return parse_variable(parser, name, size, column);
}

static uint32_t parse_value(parser_t *parser)
{
    skip_spaces(parser);
    const char sign = parser->text[parser->at];
    if (sign == '(') {
        parser->at++;
        const uint32_t inner = parse_or(parser);
        if (!parser->failed && !take_sign(parser, ")")) {
            return fail_here(parser, "')'");
        }
        return inner;
    }
    if (sign == '"' || sign == '\'') {
        return parse_text(parser, sign);
    }
    if (sign == '`') {
        const char *const name = parser->text + parser->at + 1;
        const char *const end = strchr(name, '`');
        const size_t column = column_of(parser, parser->at);
        if (end == NULL) {
            return fail(parser, column, "a name that does not end, expected '`'");
        }
        parser->at += (size_t)(end - name) + 2;
        return parse_variable(parser, name, (size_t)(end - name), column);
    }
    if (isdigit((unsigned char)sign) != 0 ||
        (sign == '.' && isdigit((unsigned char)parser->text[parser->at + 1]) != 0)) {
        return parse_number(parser);
    }
    if (is_name_sign(sign)) {
        return parse_named(parser);
    }
    return fail_here(parser, "a number, a text, a column or a function");
}

// -- operators

static bool enter(parser_t *parser)
{
    if (++parser->depth > STUDIO_EXPRESSION_DEPTH_MAX) {
        (void)fail(parser,
                   column_of(parser, parser->at),
                   "more than %u parentheses and signs within each other",
                   STUDIO_EXPRESSION_DEPTH_MAX);
    }
    return !parser->failed;
}

static uint32_t parse_sign(parser_t *parser);

static uint32_t parse_power(parser_t *parser)
{
    const uint32_t base = parse_value(parser);
    skip_spaces(parser);
    const size_t column = column_of(parser, parser->at);
    if (parser->failed || !take_sign(parser, "^")) {
        return base;
    }
    const uint32_t exponent = parse_sign(parser);
    if (!is_of(parser, base, STUDIO_NUMBER) || !is_of(parser, exponent, STUDIO_NUMBER)) {
        return NO_NODE;
    }
    if (!node_at(parser, base)->unit.plain) {
        return fail(parser, column, "a power of what has a unit: use * instead");
    }
    return binary(parser, STUDIO_OP_POWER, STUDIO_NUMBER, base, exponent, column);
}

static uint32_t parse_sign(parser_t *parser)
{
    skip_spaces(parser);
    const size_t column = column_of(parser, parser->at);
    if (!enter(parser)) {
        return NO_NODE;
    }
    uint32_t result = NO_NODE;
    if (take_sign(parser, "-")) {
        const uint32_t value = parse_sign(parser);
        if (is_of(parser, value, STUDIO_NUMBER)) {
            result = scaled(parser, value, -1);
            if (result != NO_NODE) {
                node_at(parser, result)->column = column;
            }
        }
    } else {
        result = parse_power(parser);
    }
    parser->depth--;
    return result;
}

static uint32_t multiply(parser_t *parser,
                         studio_op_t op,
                         uint32_t left,
                         uint32_t right,
                         size_t column)
{
    if (!is_of(parser, left, STUDIO_NUMBER) || !is_of(parser, right, STUDIO_NUMBER)) {
        return NO_NODE;
    }
    if (op == STUDIO_OP_REST && !agree(parser, &left, &right, column)) {
        return NO_NODE;
    }
    const uint32_t node = binary(parser, op, STUDIO_NUMBER, left, right, column);
    if (node == NO_NODE) {
        return node;
    }
    const studio_unit_t a = node_at(parser, left)->unit;
    const studio_unit_t b = node_at(parser, right)->unit;
    const int sign = op == STUDIO_OP_DIVIDE ? -1 : 1;
    studio_unit_t *const unit = &node_at(parser, node)->unit;
    if (op == STUDIO_OP_REST) {
        *unit = a;
        return node;
    }
    const int time = a.time + sign * b.time;
    const int bits = a.bits + sign * b.bits;
    const int packets = a.packets + sign * b.packets;
    if (abs(time) > 9 || abs(bits) > 9 || abs(packets) > 9) {
        return fail(parser, column, "a unit to a power of more than 9");
    }
    *unit = (studio_unit_t){(int8_t)time,
                            (int8_t)bits,
                            (int8_t)packets,
                            a.plain && b.plain,
                            op == STUDIO_OP_DIVIDE ? a.factor / b.factor : a.factor * b.factor};
    if (time == 0 && bits == 0 && packets == 0 && !unit->plain) {
        // A plain ratio: what is left of us / ns is a factor.
        const double factor = unit->factor;
        *unit = (studio_unit_t){.plain = true, .factor = 1};
        return fabs(factor - 1) > 1e-12 ? scaled(parser, node, factor) : node;
    }
    return node;
}

static uint32_t parse_product(parser_t *parser)
{
    uint32_t left = parse_sign(parser);
    while (!parser->failed) {
        skip_spaces(parser);
        const size_t column = column_of(parser, parser->at);
        const studio_op_t op = take_sign(parser, "*")   ? STUDIO_OP_MULTIPLY
                               : take_sign(parser, "/") ? STUDIO_OP_DIVIDE
                               : take_sign(parser, "%") ? STUDIO_OP_REST
                                                        : STUDIO_OP_NUMBER;
        if (op == STUDIO_OP_NUMBER) {
            break;
        }
        left = multiply(parser, op, left, parse_sign(parser), column);
    }
    return left;
}

static uint32_t parse_sum(parser_t *parser)
{
    uint32_t left = parse_product(parser);
    while (!parser->failed) {
        skip_spaces(parser);
        const size_t column = column_of(parser, parser->at);
        const studio_op_t op = take_sign(parser, "+")   ? STUDIO_OP_ADD
                               : take_sign(parser, "-") ? STUDIO_OP_SUBTRACT
                                                        : STUDIO_OP_NUMBER;
        if (op == STUDIO_OP_NUMBER) {
            break;
        }
        uint32_t right = parse_product(parser);
        if (!is_of(parser, left, STUDIO_NUMBER) || !is_of(parser, right, STUDIO_NUMBER) ||
            !agree(parser, &left, &right, column)) {
            return NO_NODE;
        }
        const studio_unit_t unit = node_at(parser, left)->unit;
        left = binary(parser, op, STUDIO_NUMBER, left, right, column);
        if (left != NO_NODE) {
            node_at(parser, left)->unit = unit;
        }
    }
    return left;
}

static uint32_t parse_in(parser_t *parser, uint32_t left, size_t column)
{
    if (!take_sign(parser, "(")) {
        return fail_here(parser, "'(' and a list");
    }
    uint32_t result = NO_NODE;
    do {
        uint32_t value = left;
        uint32_t right = parse_sum(parser);
        if (parser->failed || !is_of(parser, right, node_at(parser, left)->type) ||
            !agree(parser, &value, &right, column)) {
            return NO_NODE;
        }
        const uint32_t equal = binary(parser, STUDIO_OP_EQUAL, STUDIO_BOOL, value, right, column);
        result = result == NO_NODE || equal == NO_NODE
                     ? equal
                     : binary(parser, STUDIO_OP_OR, STUDIO_BOOL, result, equal, column);
    } while (!parser->failed && take_sign(parser, ","));
    if (!parser->failed && !take_sign(parser, ")")) {
        return fail_here(parser, "',' or ')'");
    }
    return result;
}

static uint32_t parse_compare(parser_t *parser)
{
    static const struct {
        const char *sign;
        studio_op_t op;
    } signs[] = {
        {"==", STUDIO_OP_EQUAL},
        {"=", STUDIO_OP_EQUAL},
        {"!=", STUDIO_OP_UNEQUAL},
        {"<>", STUDIO_OP_UNEQUAL},
        {"<=", STUDIO_OP_LESS_EQUAL},
        {"<", STUDIO_OP_LESS},
        {">=", STUDIO_OP_MORE_EQUAL},
        {">", STUDIO_OP_MORE},
        {"!~", STUDIO_OP_UNLIKE},
        {"~", STUDIO_OP_LIKE},
        {"in", STUDIO_OP_IN},
    };
    uint32_t left = parse_sum(parser);
    skip_spaces(parser);
    const size_t column = column_of(parser, parser->at);
    size_t i = 0;
    while (!parser->failed && i < SIM_COUNT_OF(signs) && !take_sign(parser, signs[i].sign)) {
        i++;
    }
    if (parser->failed || i == SIM_COUNT_OF(signs)) {
        return left;
    }
    if (signs[i].op == STUDIO_OP_IN) {
        return parse_in(parser, left, column);
    }
    uint32_t right = parse_sum(parser);
    if (parser->failed || !is_of(parser, right, node_at(parser, left)->type)) {
        return NO_NODE;
    }
    const bool like = signs[i].op == STUDIO_OP_LIKE || signs[i].op == STUDIO_OP_UNLIKE;
    if (like && !is_of(parser, left, STUDIO_TEXT)) {
        return NO_NODE;
    }
    return agree(parser, &left, &right, column)
               ? binary(parser, signs[i].op, STUDIO_BOOL, left, right, column)
               : NO_NODE;
}

static uint32_t parse_not(parser_t *parser)
{
    skip_spaces(parser);
    const size_t column = column_of(parser, parser->at);
    if (!enter(parser)) {
        return NO_NODE;
    }
    uint32_t result = NO_NODE;
    if (take_sign(parser, "not")) {
        const uint32_t value = parse_not(parser);
        if (is_of(parser, value, STUDIO_BOOL)) {
            result = add(parser, STUDIO_OP_NOT, STUDIO_BOOL, column);
            if (result != NO_NODE) {
                adopt(parser, result, value);
            }
        }
    } else {
        result = parse_compare(parser);
    }
    parser->depth--;
    return result;
}

static uint32_t parse_and(parser_t *parser)
{
    uint32_t left = parse_not(parser);
    while (!parser->failed) {
        skip_spaces(parser);
        const size_t column = column_of(parser, parser->at);
        if (!take_sign(parser, "and")) {
            break;
        }
        const uint32_t right = parse_not(parser);
        left = is_of(parser, left, STUDIO_BOOL) && is_of(parser, right, STUDIO_BOOL)
                   ? binary(parser, STUDIO_OP_AND, STUDIO_BOOL, left, right, column)
                   : NO_NODE;
    }
    return left;
}

static uint32_t parse_or(parser_t *parser)
{
    if (!enter(parser)) {
        return NO_NODE;
    }
    uint32_t left = parse_and(parser);
    while (!parser->failed) {
        skip_spaces(parser);
        const size_t column = column_of(parser, parser->at);
        if (!take_sign(parser, "or")) {
            break;
        }
        const uint32_t right = parse_and(parser);
        left = is_of(parser, left, STUDIO_BOOL) && is_of(parser, right, STUDIO_BOOL)
                   ? binary(parser, STUDIO_OP_OR, STUDIO_BOOL, left, right, column)
                   : NO_NODE;
    }
    parser->depth--;
    return left;
}

studio_expression_t *studio_expression_parse(const char *text,
                                             const studio_variable_t *variables,
                                             size_t variable_count,
                                             studio_place_error_t *error)
{
    studio_expression_t *const made = sim_alloc(sizeof(*made));
    *error = (studio_place_error_t){.column = 1};
    parser_t parser = {.text = text,
                       .variables = variables,
                       .variable_count = variable_count,
                       .made = made,
                       .error = error};
    if (strlen(text) > STUDIO_EXPRESSION_BYTES_MAX) {
        (void)fail(&parser, 1, "an expression of more than 8192 letters");
    } else {
        made->root = parse_or(&parser);
        skip_spaces(&parser);
        if (!parser.failed && text[parser.at] != '\0') {
            (void)fail_here(&parser, "an operator, or the end");
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

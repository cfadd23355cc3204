// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/value.c - parses values: numbers with units, texts, columns,
// function calls.
#include "studio/server/data/query/expression/parser.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const studio_function_t studio__functions[STUDIO_CALL_COUNT] = {
    {"abs", "n", '=', STUDIO_CALL_ABS, "the number without its sign"},
    {"floor", "n", '=', STUDIO_CALL_FLOOR, "the next whole number at or below it"},
    {"ceil", "n", '=', STUDIO_CALL_CEIL, "the next whole number at or above it"},
    {"round", "n", '=', STUDIO_CALL_ROUND, "the nearest whole number"},
    {"sqrt", "n", 'n', STUDIO_CALL_SQRT, "the square root of the number"},
    {"exp", "n", 'n', STUDIO_CALL_EXP, "e raised to this power"},
    {"log", "n", 'n', STUDIO_CALL_LOG, "the natural logarithm of the number"},
    {"log2", "n", 'n', STUDIO_CALL_LOG2, "logarithm to base 2"},
    {"log10", "n", 'n', STUDIO_CALL_LOG10, "logarithm to base 10"},
    {"min", "nn*", '=', STUDIO_CALL_MIN, "the least of the arguments"},
    {"max", "nn*", '=', STUDIO_CALL_MAX, "the greatest of the arguments"},
    {"bin", "nn", '=', STUDIO_CALL_BIN, "the begin of the bin of this width: bin(fct_ns, 10us)"},
    {"log_bin", "nn", '=', STUDIO_CALL_LOG_BIN, "the largest power of the second argument at or below the first"},
    {"if", "b??", '=', STUDIO_CALL_IF, "the second argument where the first is true, else the third"},
    {"coalesce", "??*", '=', STUDIO_CALL_COALESCE, "the first argument that is not missing"},
    {"is_missing", "?", 'b', STUDIO_CALL_IS_MISSING, "whether the value is missing"},
    {"in", "nt", 'n', STUDIO_CALL_IN, "the value in another unit: in(bytes / fct_ns, \"Gbps\")"},
    {"contains", "tt", 'b', STUDIO_CALL_CONTAINS, "whether the first text contains the second"},
    {"starts", "tt", 'b', STUDIO_CALL_STARTS, "whether the first text begins with the second"},
    {"ends", "tt", 'b', STUDIO_CALL_ENDS, "whether the first text ends with the second"},
    {"length", "t", 'n', STUDIO_CALL_LENGTH, "number of bytes of the text"},
    {"lower", "t", 't', STUDIO_CALL_LOWER, "the text in small letters"},
    {"upper", "t", 't', STUDIO_CALL_UPPER, "the text in capital letters"},
    {"before", "tt", 't', STUDIO_CALL_BEFORE, "the part before the second text: before(port, \"->\")"},
    {"after", "tt", 't', STUDIO_CALL_AFTER, "the part behind the second text"},
    {"join", "tt*", 't', STUDIO_CALL_JOIN, "all texts joined one after the other"},
    {"number", "t", 'n', STUDIO_CALL_NUMBER, "the number that the text contains"},
    {"text", "n", 't', STUDIO_CALL_TEXT, "the number as a text"},
};
// clang-format on

static uint32_t parse_number(studio__parser_t *parser)
{
    const size_t from = parser->at;
    char *end = NULL;
    const double number = strtod(parser->text + from, &end);
    parser->at = (size_t)(end - parser->text);
    const uint32_t node = studio__node_add(parser, STUDIO_OP_NUMBER, STUDIO_NUMBER,
                                           studio__parse_column(parser, from));
    if (node == STUDIO_NO_NODE) {
        return node;
    }
    studio_node_t *const made = studio__node_at(parser, node);
    made->number = number;
    made->constant = true;
    size_t size = 0;
    while (isalpha((unsigned char)end[size]) != 0 ||
           (size > 0 && end[size] == '/' && isalpha((unsigned char)end[size + 1]) != 0)) {
        size++;
    }
    // Takes the longest known unit, so that "10bytes/fct_ns" is a division.
    size_t known = size;
    while (known > 0 &&
           !(studio_unit_find(end, known, &made->unit) && (known == size || end[known] == '/'))) {
        known--;
    }
    if (size > 0 && known == 0) {
        return studio__parse_fail(
            parser, studio__parse_column(parser, parser->at),
            "'%.*s' is no unit, expected one such as ns, us, KB, MiB, Gbps, packets",
            (int)SIM_MIN(size, 20), end);
    }
    if (!isfinite(number)) {
        return studio__parse_fail(parser, studio__parse_column(parser, from),
                                  "the number is too large");
    }
    parser->at += known;
    return node;
}

static uint32_t parse_text(studio__parser_t *parser, char quote)
{
    const size_t from = ++parser->at;
    const char *const end = strchr(parser->text + from, quote);
    if (end == NULL) {
        return studio__parse_fail(parser, studio__parse_column(parser, from - 1),
                                  "the text lacks its closing quote");
    }
    const uint32_t node = studio__node_add(parser, STUDIO_OP_LITERAL, STUDIO_TEXT,
                                           studio__parse_column(parser, from - 1));
    if (node != STUDIO_NO_NODE) {
        const size_t size = (size_t)(end - parser->text) - from;
        studio__node_at(parser, node)->text = sim_format("%.*s", (int)size, parser->text + from);
        studio__node_at(parser, node)->constant = true;
        parser->at = from + size + 1;
    }
    return node;
}

static uint32_t parse_variable(studio__parser_t *parser, const char *name, size_t size,
                               size_t column)
{
    for (size_t i = 0; i < parser->variable_count; i++) {
        const studio_variable_t *const variable = &parser->variables[i];
        if (strlen(variable->name) == size && memcmp(variable->name, name, size) == 0) {
            const uint32_t node =
                studio__node_add(parser, STUDIO_OP_VARIABLE, variable->type, column);
            if (node != STUDIO_NO_NODE) {
                studio__node_at(parser, node)->variable = i;
                (void)studio_unit_find(variable->unit, strlen(variable->unit),
                                       &studio__node_at(parser, node)->unit);
            }
            return node;
        }
    }
    char names[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < parser->variable_count && used < 120; i++) {
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.30s", i > 0 ? ", " : "",
                                 parser->variables[i].name);
    }
    return studio__parse_fail(parser, column, "there is no column '%.*s', expected one of %s%s",
                              (int)SIM_MIN(size, 60), name, names, used >= 120 ? "..." : "");
}

static bool take_arguments(studio__parser_t *parser, uint32_t call)
{
    if (studio__take_sign(parser, ")")) {
        return true;
    }
    for (;;) {
        const uint32_t argument = studio__parse_or(parser);
        if (parser->failed) {
            return false;
        }
        if (studio__node_at(parser, call)->count == STUDIO_ARGUMENTS_MAX) {
            (void)studio__parse_fail(parser, studio__node_at(parser, call)->column,
                                     "the function has more than 16 arguments");
            return false;
        }
        studio__node_adopt(parser, call, argument);
        if (studio__take_sign(parser, ")")) {
            return true;
        }
        if (!studio__take_sign(parser, ",")) {
            (void)studio__parse_fail_here(parser, "',' or ')'");
            return false;
        }
    }
}

// Returns the type code ("n", "t", "b", "?") of argument i; "*" at the end of a pattern repeats the
// last one.
static char asked_for(const char *pattern, size_t i)
{
    const size_t size = strlen(pattern);
    if (pattern[size - 1] == '*' && i + 1 >= size - 1) {
        return pattern[size - 2];
    }
    return i < size && pattern[i] != '*' ? pattern[i] : '\0';
}

static bool check_arguments(studio__parser_t *parser, uint32_t call,
                            const studio_function_t *function)
{
    const studio_node_t *const node = studio__node_at(parser, call);
    const size_t size = strlen(function->arguments);
    const size_t least = function->arguments[size - 1] == '*' ? size - 1 : size;
    for (size_t i = 0; i < node->count; i++) {
        const char asked = asked_for(function->arguments, i);
        if (asked == '\0') {
            (void)studio__parse_fail(parser, node->column, "%s() takes %zu arguments",
                                     function->name, least);
            return false;
        }
        const studio_type_t type = asked == 't'   ? STUDIO_TEXT
                                   : asked == 'b' ? STUDIO_BOOL
                                                  : STUDIO_NUMBER;
        if (asked != '?' && !studio__node_is_of(parser, node->arguments[i], type)) {
            return false;
        }
    }
    if (node->count < least) {
        (void)studio__parse_fail(parser, node->column, "%s() takes %zu arguments, but %u are given",
                                 function->name, least, node->count);
        return false;
    }
    return true;
}

// Gives all arguments from `first` on one type and unit.
static bool unify_arguments(studio__parser_t *parser, uint32_t call, uint32_t first)
{
    for (uint32_t i = first + 1; i < studio__node_at(parser, call)->count; i++) {
        uint32_t left = studio__node_at(parser, call)->arguments[first];
        uint32_t right = studio__node_at(parser, call)->arguments[i];
        const size_t column = studio__node_at(parser, right)->column;
        if (!studio__node_is_of(parser, right, studio__node_at(parser, left)->type) ||
            !studio__units_agree(parser, &left, &right, column)) {
            return false;
        }
        studio_node_t *const node = studio__node_at(parser, call);
        node->arguments[i] = right;
        const uint32_t depth = studio__node_at(parser, right)->depth + 1;
        node->depth = SIM_MAX(depth, node->depth);
    }
    return true;
}

static uint32_t finish_in(studio__parser_t *parser, uint32_t call)
{
    const studio_node_t *const value =
        studio__node_at(parser, studio__node_at(parser, call)->arguments[0]);
    const studio_node_t *const name =
        studio__node_at(parser, studio__node_at(parser, call)->arguments[1]);
    studio_unit_t unit;
    if (name->op != STUDIO_OP_LITERAL || !studio_unit_find(name->text, strlen(name->text), &unit)) {
        return studio__parse_fail(parser, name->column,
                                  "this is no unit, expected one such as \"us\" or \"Gbps\"");
    }
    if (value->unit.plain || !studio__same_dimension(&value->unit, &unit)) {
        char have[48];
        return studio__parse_fail(
            parser, value->column, "the unit '%s' cannot be converted to '%s'",
            value->unit.plain ? "(none)" : studio__unit_name(&value->unit, have, 48), name->text);
    }
    const uint32_t scale = studio__node_scaled(parser, studio__node_at(parser, call)->arguments[0],
                                               value->unit.factor / unit.factor);
    if (scale != STUDIO_NO_NODE) {
        studio__node_at(parser, scale)->unit = unit;
    }
    return scale;
}

static uint32_t parse_call(studio__parser_t *parser, const char *name, size_t size, size_t column)
{
    const studio_function_t *function = NULL;
    for (size_t i = 0; i < STUDIO_CALL_COUNT; i++) {
        if (strlen(studio__functions[i].name) == size &&
            memcmp(studio__functions[i].name, name, size) == 0) {
            function = &studio__functions[i];
        }
    }
    if (function == NULL) {
        return studio__parse_fail(parser, column, "there is no function '%.*s'",
                                  (int)SIM_MIN(size, 60), name);
    }
    const uint32_t call = studio__node_add(parser, STUDIO_OP_CALL, STUDIO_NUMBER, column);
    if (call == STUDIO_NO_NODE || !take_arguments(parser, call) ||
        !check_arguments(parser, call, function)) {
        return STUDIO_NO_NODE;
    }
    studio__node_at(parser, call)->call = function->call;
    if (function->call == STUDIO_CALL_IN) {
        return finish_in(parser, call);
    }
    const uint32_t first = function->call == STUDIO_CALL_IF ? 1 : 0;
    const bool alike = function->result == '=';
    if (alike && !unify_arguments(parser, call, first)) {
        return STUDIO_NO_NODE;
    }
    studio_node_t *const node = studio__node_at(parser, call);
    const studio_node_t *const like = studio__node_at(parser, node->arguments[first]);
    node->type = alike                     ? like->type
                 : function->result == 'b' ? STUDIO_BOOL
                 : function->result == 't' ? STUDIO_TEXT
                                           : STUDIO_NUMBER;
    if (alike && like->type == STUDIO_NUMBER) {
        node->unit = like->unit;
    }
    return call;
}

static uint32_t parse_named(studio__parser_t *parser)
{
    const size_t from = parser->at;
    const char *const name = parser->text + from;
    size_t size = 0;
    while (studio__is_name_sign(name[size])) {
        size++;
    }
    const size_t column = studio__parse_column(parser, from);
    parser->at += size;
    if (size == 4 && memcmp(name, "true", 4) == 0) {
        const uint32_t node = studio__node_add(parser, STUDIO_OP_NUMBER, STUDIO_BOOL, column);
        if (node != STUDIO_NO_NODE) {
            studio__node_at(parser, node)->number = 1;
        }
        return node;
    }
    if (size == 5 && memcmp(name, "false", 5) == 0) {
        return studio__node_add(parser, STUDIO_OP_NUMBER, STUDIO_BOOL, column);
    }
    if (size == 7 && memcmp(name, "missing", 7) == 0) {
        const uint32_t node = studio__node_add(parser, STUDIO_OP_NUMBER, STUDIO_NUMBER, column);
        if (node != STUDIO_NO_NODE) {
            studio__node_at(parser, node)->number = (double)NAN;
            studio__node_at(parser, node)->constant = true;
        }
        return node;
    }
    if (studio__take_sign(parser, "(")) {
        return parse_call(parser, name, size, column);
    }
    return parse_variable(parser, name, size, column);
}

uint32_t studio__parse_value(studio__parser_t *parser)
{
    studio__parse_spaces(parser);
    const char sign = parser->text[parser->at];
    if (sign == '(') {
        parser->at++;
        const uint32_t inner = studio__parse_or(parser);
        if (!parser->failed && !studio__take_sign(parser, ")")) {
            return studio__parse_fail_here(parser, "')'");
        }
        return inner;
    }
    if (sign == '"' || sign == '\'') {
        return parse_text(parser, sign);
    }
    if (sign == '`') {
        const char *const name = parser->text + parser->at + 1;
        const char *const end = strchr(name, '`');
        const size_t column = studio__parse_column(parser, parser->at);
        if (end == NULL) {
            return studio__parse_fail(parser, column, "the name lacks its closing '`'");
        }
        parser->at += (size_t)(end - name) + 2;
        return parse_variable(parser, name, (size_t)(end - name), column);
    }
    if (isdigit((unsigned char)sign) != 0 ||
        (sign == '.' && isdigit((unsigned char)parser->text[parser->at + 1]) != 0)) {
        return parse_number(parser);
    }
    if (studio__is_name_sign(sign)) {
        return parse_named(parser);
    }
    return studio__parse_fail_here(parser, "a number, a text, a column or a function");
}

// SPDX-License-Identifier: Apache-2.0
// world/values/expression.c - computes the expressions of a scenario.
//
// The parser descends recursively and computes while it reads. Fractions are reduced after each
// step, in 128 bits; what does not fit in 64 bits is refused.
#include "world/values/expression.h"

#include "kernel/attribute.h"
#include "kernel/parse.h"
#include "world/values/file_number.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32u
#define NAME_BYTES_MAX 64u
#define ROOT_MAX 63

__extension__ typedef __int128 signed_wide_t;

typedef struct parser {
    const char *text; // the whole expression, for messages
    const char *at;
    const world_place_t *place;
    world_name_value_fn value_of;
    void *ctx;
    world_error_t *error;
    unsigned depth;
} parser_t;

static const char *const unit_names[] = {"a plain number", "bytes", "a time", "a rate"};

// -- numbers

static signed_wide_t common_factor(signed_wide_t a, signed_wide_t b)
{
    a = a < 0 ? -a : a;
    while (b != 0) {
        const signed_wide_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Stores num / den without common factors. Returns false if it does not fit.
static bool store(world_number_t *number, world_unit_t unit, signed_wide_t num, signed_wide_t den)
{
    SIM_CHECK(den != 0);
    if (den < 0) {
        num = -num;
        den = -den;
    }
    const signed_wide_t factor = common_factor(num, den);
    num /= factor;
    den /= factor;
    if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX) {
        return false;
    }
    *number = (world_number_t){.unit = unit, .num = (int64_t)num, .den = (int64_t)den};
    return true;
}

bool world_number_read(const char *text, world_number_t *number)
{
    sim_message_t message;
    uint64_t value;
    sim_ratio_t ratio;
    const bool negative = text[0] == '-' && text[1] >= '0' && text[1] <= '9';
    const int64_t sign = negative ? -1 : 1;
    text += negative;
    // The parsers of attributes also accept words and lists of units; a number begins with a digit.
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    if (sim_parse_count(text, &value, &message) == SIM_OK) {
        return store(number, WORLD_UNIT_NONE, (signed_wide_t)value * sign, 1);
    }
    if (strpbrk(text, "%/eE") == NULL && sim_parse_ratio(text, &ratio, &message) == SIM_OK) {
        return store(number, WORLD_UNIT_NONE, (signed_wide_t)ratio.num * sign, ratio.den);
    }
    if (sim_parse_bytes(text, &value, &message) == SIM_OK) {
        return store(number, WORLD_UNIT_BYTES, (signed_wide_t)value * sign, 1);
    }
    if (sim_parse_time(text, &value, &message) == SIM_OK && value != SIM_TIME_NEVER) {
        return store(number, WORLD_UNIT_TIME, (signed_wide_t)value * sign, 1);
    }
    if (sim_parse_rate(text, &value, &message) == SIM_OK) {
        return store(number, WORLD_UNIT_RATE, (signed_wide_t)value * sign, 1);
    }
    return false;
}

char *world_number_text(const world_number_t *number)
{
    static const char *const suffixes[] = {"", "B", "ps", "bps"};
    SIM_CHECK(number->den == 1);
    return sim_format("%" PRId64 "%s", number->num, suffixes[number->unit]);
}

// -- the parser

static sim_err_t fail(parser_t *parser, sim_err_t code, const char *problem, const char *expected)
{
    world_shown_t shown;
    return world_fail(parser->error, code, parser->place, "$(%s): %s, expected %s",
                      world_show(&shown, parser->text), problem, expected);
}

static sim_err_t fail_at(parser_t *parser, const char *expected)
{
    world_shown_t shown;
    char *const problem =
        *parser->at == '\0' ? sim_strdup("the expression ends too early")
                            : sim_format("'%s' is not understood", world_show(&shown, parser->at));
    const sim_err_t result = fail(parser, SIM_ERR_INVALID, problem, expected);
    sim_free(problem);
    return result;
}

static sim_err_t too_large(parser_t *parser)
{
    return fail(parser, SIM_ERR_RANGE, "a number is too large", "numbers below 2^63");
}

static sim_err_t wrong_units(parser_t *parser, char operation, const world_number_t *a,
                             const world_number_t *b)
{
    char *const problem =
        sim_format("%s %c %s has no meaning", unit_names[a->unit], operation, unit_names[b->unit]);
    const sim_err_t result = fail(parser, SIM_ERR_INVALID, problem, "units that go together");
    sim_free(problem);
    return result;
}

static void skip_blanks(parser_t *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n') {
        parser->at++;
    }
}

static bool take(parser_t *parser, char c)
{
    skip_blanks(parser);
    if (*parser->at != c) {
        return false;
    }
    parser->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static sim_err_t parse_sum(parser_t *parser, world_number_t *number);

static sim_err_t add(parser_t *parser, char operation, world_number_t *a, const world_number_t *b)
{
    if (a->unit != b->unit) {
        return wrong_units(parser, operation, a, b);
    }
    const signed_wide_t left = (signed_wide_t)a->num * b->den;
    const signed_wide_t right = (signed_wide_t)b->num * a->den;
    return store(a, a->unit, operation == '+' ? left + right : left - right,
                 (signed_wide_t)a->den * b->den)
               ? SIM_OK
               : too_large(parser);
}

static sim_err_t multiply(parser_t *parser, world_number_t *a, const world_number_t *b)
{
    if (a->unit != WORLD_UNIT_NONE && b->unit != WORLD_UNIT_NONE) {
        return wrong_units(parser, '*', a, b);
    }
    return store(a, a->unit != WORLD_UNIT_NONE ? a->unit : b->unit, (signed_wide_t)a->num * b->num,
                 (signed_wide_t)a->den * b->den)
               ? SIM_OK
               : too_large(parser);
}

static sim_err_t divide(parser_t *parser, world_number_t *a, const world_number_t *b)
{
    if (b->unit != WORLD_UNIT_NONE && a->unit != b->unit) {
        return wrong_units(parser, '/', a, b);
    }
    if (b->num == 0) {
        return fail(parser, SIM_ERR_RANGE, "a division by zero", "another divisor");
    }
    return store(a, b->unit == WORLD_UNIT_NONE ? a->unit : WORLD_UNIT_NONE,
                 (signed_wide_t)a->num * b->den, (signed_wide_t)a->den * b->num)
               ? SIM_OK
               : too_large(parser);
}

// Rounds down: whole numbers stay as they are.
static void round_down(world_number_t *number)
{
    const int64_t rest = number->num % number->den;
    number->num = number->num / number->den - (rest < 0);
    number->den = 1;
}

static void round_up(world_number_t *number)
{
    number->num = -number->num;
    round_down(number);
    number->num = -number->num;
}

// Returns whether base^n is at least x.
static bool reaches(int64_t base, int64_t n, const world_number_t *x)
{
    signed_wide_t power = 1;
    for (int64_t i = 0; i < n; i++) {
        power *= base;
        if (power > INT64_MAX) {
            return true; // x is below 2^63
        }
    }
    return power * x->den >= x->num;
}

static sim_err_t take_root(parser_t *parser, world_number_t *x, const world_number_t *n)
{
    const bool good = x->unit == WORLD_UNIT_NONE && n->unit == WORLD_UNIT_NONE && x->num >= 0 &&
                      n->den == 1 && n->num >= 1 && n->num <= ROOT_MAX;
    if (!good) {
        return fail(parser, SIM_ERR_RANGE, "root(x, n) cannot be computed",
                    "x from 0 on and n from 1 to 63, both without units");
    }
    int64_t low = 0; // does not reach x, unless x is 0
    int64_t high = x->num > 0 ? INT64_MAX : 0;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (reaches(middle, n->num, x)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *x = (world_number_t){WORLD_UNIT_NONE, high, 1};
    return SIM_OK;
}

// Sets a to the smaller or larger of the two.
static sim_err_t choose(parser_t *parser, bool smaller, world_number_t *a, const world_number_t *b)
{
    if (a->unit != b->unit) {
        return wrong_units(parser, ',', a, b);
    }
    const bool less = (signed_wide_t)b->num * a->den < (signed_wide_t)a->num * b->den;
    if (less == smaller) {
        *a = *b;
    }
    return SIM_OK;
}

typedef enum function {
    FUNCTION_MIN,
    FUNCTION_MAX,
    FUNCTION_CEIL,
    FUNCTION_FLOOR,
    FUNCTION_ROOT
} function_t;
static const char *const function_names[] = {"min", "max", "ceil", "floor", "root"};

// Asks for a number about the file that a parameter names: "ranks(NAME)".
static sim_err_t call_about_file(parser_t *parser, const char *function, world_number_t *number)
{
    char name[NAME_BYTES_MAX + 1];
    size_t size = 0;
    skip_blanks(parser);
    for (; is_letter(*parser->at) || is_digit(*parser->at); parser->at++) {
        if (size < NAME_BYTES_MAX) {
            name[size++] = *parser->at;
        }
    }
    name[size] = '\0';
    if (!take(parser, ')')) {
        return fail_at(parser, "the name of a parameter, and ')'");
    }
    char *const asked = sim_format("%s(%s)", function, name);
    const sim_err_t result =
        parser->value_of(asked, parser->place, number, parser->error, parser->ctx);
    sim_free(asked);
    return result;
}

static sim_err_t call(parser_t *parser, const char *name, world_number_t *number)
{
    if (world_is_file_function(name)) {
        return call_about_file(parser, name, number);
    }
    size_t f = 0;
    while (f < SIM_COUNT_OF(function_names) && strcmp(function_names[f], name) != 0) {
        f++;
    }
    if (f == SIM_COUNT_OF(function_names)) {
        char *const problem = sim_format("unknown function '%s'", name);
        const sim_err_t result = fail(parser, SIM_ERR_UNKNOWN, problem,
                                      "one of min, max, ceil, floor, root, " WORLD_FILE_FUNCTIONS);
        sim_free(problem);
        return result;
    }
    const function_t function = (function_t)f;
    sim_err_t result = parse_sum(parser, number);
    size_t count = 1;
    while (result == SIM_OK && take(parser, ',')) {
        world_number_t next;
        result = parse_sum(parser, &next);
        count++;
        if (result == SIM_OK && function <= FUNCTION_MAX) {
            result = choose(parser, function == FUNCTION_MIN, number, &next);
        } else if (result == SIM_OK && function == FUNCTION_ROOT && count == 2) {
            result = take_root(parser, number, &next);
        }
    }
    if (result != SIM_OK) {
        return result;
    }
    const size_t wanted = function == FUNCTION_ROOT ? 2 : function <= FUNCTION_MAX ? count : 1;
    if (count != wanted) {
        return fail(parser, SIM_ERR_INVALID, "a function has the wrong number of values",
                    "ceil(x), floor(x) or root(x, n)");
    }
    if (function == FUNCTION_CEIL) {
        round_up(number);
    } else if (function == FUNCTION_FLOOR) {
        round_down(number);
    }
    return take(parser, ')') ? SIM_OK : fail_at(parser, "')'");
}

static sim_err_t parse_name(parser_t *parser, world_number_t *number)
{
    char name[NAME_BYTES_MAX + 1];
    size_t size = 0;
    for (; is_letter(*parser->at) || is_digit(*parser->at); parser->at++) {
        if (size < NAME_BYTES_MAX) {
            name[size++] = *parser->at;
        }
    }
    name[size] = '\0';
    if (take(parser, '(')) {
        return call(parser, name, number);
    }
    return parser->value_of(name, parser->place, number, parser->error, parser->ctx);
}

static sim_err_t parse_literal(parser_t *parser, world_number_t *number)
{
    char text[NAME_BYTES_MAX + 1];
    size_t size = 0;
    const char *at = parser->at;
    for (; is_digit(*at) || is_letter(*at) || *at == '.'; at++) {
        if (size < NAME_BYTES_MAX) {
            text[size++] = *at;
        }
    }
    text[size] = '\0';
    if (!world_number_read(text, number)) {
        return fail_at(parser, "a number such as 64, 64KiB, 10us or 400Gbps");
    }
    parser->at = at;
    return SIM_OK;
}

static sim_err_t parse_factor(parser_t *parser, world_number_t *number)
{
    *number = (world_number_t){WORLD_UNIT_NONE, 0, 1};
    if (parser->depth == DEPTH_MAX) {
        return fail(parser, SIM_ERR_RANGE, "it is nested too deeply", "at most 32 levels");
    }
    parser->depth++;
    sim_err_t result = SIM_OK;
    if (take(parser, '-')) {
        result = parse_factor(parser, number);
        number->num = result == SIM_OK ? -number->num : 0;
    } else if (take(parser, '(')) {
        result = parse_sum(parser, number);
        if (result == SIM_OK && !take(parser, ')')) {
            result = fail_at(parser, "')'");
        }
    } else if (is_letter(*parser->at)) {
        result = parse_name(parser, number);
    } else if (is_digit(*parser->at)) {
        result = parse_literal(parser, number);
    } else {
        result = fail_at(parser, "a number or the name of a parameter");
    }
    parser->depth--;
    return result;
}

static sim_err_t parse_product(parser_t *parser, world_number_t *number)
{
    sim_err_t result = parse_factor(parser, number);
    while (result == SIM_OK) {
        const bool times = take(parser, '*');
        if (!times && !take(parser, '/')) {
            return SIM_OK;
        }
        world_number_t next;
        result = parse_factor(parser, &next);
        if (result == SIM_OK) {
            result = times ? multiply(parser, number, &next) : divide(parser, number, &next);
        }
    }
    return result;
}

static sim_err_t parse_sum(parser_t *parser, world_number_t *number)
{
    sim_err_t result = parse_product(parser, number);
    while (result == SIM_OK) {
        const bool plus = take(parser, '+');
        if (!plus && !take(parser, '-')) {
            return SIM_OK;
        }
        world_number_t next;
        result = parse_product(parser, &next);
        if (result == SIM_OK) {
            result = add(parser, plus ? '+' : '-', number, &next);
        }
    }
    return result;
}

sim_err_t world_expression_value(const char *text, const world_place_t *place,
                                 world_name_value_fn value_of, void *ctx, world_number_t *number,
                                 world_error_t *error)
{
    parser_t parser = {.text = text,
                       .at = text,
                       .place = place,
                       .value_of = value_of,
                       .ctx = ctx,
                       .error = error};
    sim_err_t result = parse_sum(&parser, number);
    skip_blanks(&parser);
    if (result == SIM_OK && *parser.at != '\0') {
        result = fail_at(&parser, "+, -, *, / or the end");
    }
    if (result == SIM_OK && number->den != 1) {
        char *const problem =
            sim_format("the result %" PRId64 "/%" PRId64 " is not whole", number->num, number->den);
        result = fail(&parser, SIM_ERR_RANGE, problem,
                      "a whole number: choose other values, or round with ceil(...) or floor(...)");
        sim_free(problem);
    }
    return result;
}

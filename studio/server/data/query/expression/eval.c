// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/eval.c - computes expressions, a batch of rows at a time.
#include "studio/server/data/query/expression/expression_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES_MAX ((size_t)64 << 20)
#define TEXT_BYTES_MAX 4096u

typedef struct work {
    studio_expression_t *expression;
    const studio_slot_t *const *columns;
    size_t rows;
} work_t;

void studio_expression_destroy(studio_expression_t *expression)
{
    if (expression == NULL) {
        return;
    }
    for (size_t i = 0; i < expression->count; i++) {
        sim_free(expression->nodes[i].text);
    }
    studio_texts_fini(&expression->pool);
    SIM_FREE_ALL(expression->nodes, expression->buffers, expression);
}

studio_type_t studio_expression_type(const studio_expression_t *expression)
{
    return expression->nodes[expression->root].type;
}

const char *studio_expression_unit(const studio_expression_t *expression)
{
    return expression->unit;
}

bool studio_expression_uses(const studio_expression_t *expression, size_t variable)
{
    for (size_t i = 0; i < expression->count; i++) {
        const studio_node_t *const node = &expression->nodes[i];
        if (node->op == STUDIO_OP_VARIABLE && node->variable == variable) {
            return true;
        }
    }
    return false;
}

// -- texts that are made

// Copies a text into the pool; returns NULL (missing) once the pool holds more than 64 MiB.
static const char *pool_put(studio_texts_t *pool, const char *text)
{
    return studio_texts_put(pool, text, POOL_BYTES_MAX);
}

// -- numbers

static double power_at_or_below(double value, double base)
{
    if (!(value > 0) || !(base > 1)) {
        return (double)NAN;
    }
    double power = pow(base, floor(log(value) / log(base)));
    // Rounding can make the power one step too large.
    power = power > value ? power / base : power;
    return power * base <= value ? power * base : power;
}

static double number_of(studio_call_t call, double a, double b)
{
    switch ((int)call) {
    case STUDIO_CALL_ABS:
        return fabs(a);
    case STUDIO_CALL_FLOOR:
        return floor(a);
    case STUDIO_CALL_CEIL:
        return ceil(a);
    case STUDIO_CALL_ROUND:
        return round(a);
    case STUDIO_CALL_SQRT:
        return sqrt(a);
    case STUDIO_CALL_EXP:
        return exp(a);
    case STUDIO_CALL_LOG:
        return log(a);
    case STUDIO_CALL_LOG2:
        return log2(a);
    case STUDIO_CALL_LOG10:
        return log10(a);
    case STUDIO_CALL_MIN:
        return fmin(a, b);
    case STUDIO_CALL_MAX:
        return fmax(a, b);
    case STUDIO_CALL_BIN:
        return b > 0 ? floor(a / b) * b : (double)NAN;
    default:
        SIM_CHECK(call == STUDIO_CALL_LOG_BIN);
        return power_at_or_below(a, b);
    }
}

// Returns NAN (missing) for an infinite or undefined result, such as a division by zero.
static double finite_or_missing(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

static double arithmetic(studio_op_t op, double a, double b)
{
    switch ((int)op) {
    case STUDIO_OP_ADD:
        return a + b;
    case STUDIO_OP_SUBTRACT:
        return a - b;
    case STUDIO_OP_MULTIPLY:
        return a * b;
    case STUDIO_OP_DIVIDE:
        return a / b;
    case STUDIO_OP_REST:
        return fmod(a, b);
    default:
        SIM_CHECK(op == STUDIO_OP_POWER);
        return pow(a, b);
    }
}

static bool compared(studio_op_t op, int order)
{
    switch ((int)op) {
    case STUDIO_OP_EQUAL:
        return order == 0;
    case STUDIO_OP_UNEQUAL:
        return order != 0;
    case STUDIO_OP_LESS:
        return order < 0;
    case STUDIO_OP_LESS_EQUAL:
        return order <= 0;
    case STUDIO_OP_MORE:
        return order > 0;
    default:
        SIM_CHECK(op == STUDIO_OP_MORE_EQUAL);
        return order >= 0;
    }
}

static bool texts_compared(studio_op_t op, const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return false;
    }
    if (op == STUDIO_OP_LIKE || op == STUDIO_OP_UNLIKE) {
        return studio_glob(b, a) == (op == STUDIO_OP_LIKE);
    }
    return compared(op, strcmp(a, b));
}

static void evaluate(work_t *work, uint32_t index, studio_slot_t *out, size_t level);

static studio_slot_t *buffer(const work_t *work, size_t level)
{
    SIM_CHECK(level < work->expression->buffer_count);
    return work->expression->buffers + level * STUDIO_BATCH_ROWS;
}

static void evaluate_binary(work_t *work, const studio_node_t *node, studio_slot_t *out,
                            size_t level)
{
    studio_slot_t *const right = buffer(work, level);
    const bool texts = work->expression->nodes[node->arguments[0]].type == STUDIO_TEXT;
    evaluate(work, node->arguments[0], out, level);
    evaluate(work, node->arguments[1], right, level + 1);
    for (size_t i = 0; i < work->rows; i++) {
        const double a = texts ? 0 : out[i].number;
        const double b = texts ? 0 : right[i].number;
        double value = 0;
        if (texts) {
            value = texts_compared(node->op, out[i].text, right[i].text);
        } else if (node->op == STUDIO_OP_OR) {
            value = a > 0 || b > 0;
        } else if (node->op == STUDIO_OP_AND) {
            value = a > 0 && b > 0;
        } else if (node->type == STUDIO_BOOL) {
            value = !isnan(a) && !isnan(b) && compared(node->op, (a > b) - (a < b));
        } else {
            value = finite_or_missing(arithmetic(node->op, a, b));
        }
        out[i].number = value;
    }
}

// -- functions of text

static const char *text_part(work_t *work, studio_call_t call, const char *text, const char *sign)
{
    const char *const found = sign[0] != '\0' ? strstr(text, sign) : NULL;
    if (found == NULL) {
        return call == STUDIO_CALL_BEFORE ? text : NULL;
    }
    if (call == STUDIO_CALL_AFTER) {
        return found + strlen(sign);
    }
    char part[TEXT_BYTES_MAX];
    (void)snprintf(part, sizeof(part), "%.*s", (int)(found - text), text);
    return pool_put(&work->expression->pool, part);
}

static const char *in_letters(work_t *work, studio_call_t call, const char *text)
{
    char letters[TEXT_BYTES_MAX];
    size_t size = 0;
    for (; text[size] != '\0' && size + 1 < sizeof(letters); size++) {
        letters[size] = (char)(call == STUDIO_CALL_LOWER ? tolower((unsigned char)text[size])
                                                         : toupper((unsigned char)text[size]));
    }
    letters[size] = '\0';
    return pool_put(&work->expression->pool, letters);
}

static bool text_test(studio_call_t call, const char *a, const char *b)
{
    const size_t size_a = strlen(a);
    const size_t size_b = strlen(b);
    if (call == STUDIO_CALL_CONTAINS) {
        return strstr(a, b) != NULL;
    }
    if (size_b > size_a) {
        return false;
    }
    return memcmp(call == STUDIO_CALL_STARTS ? a : a + size_a - size_b, b, size_b) == 0;
}

static studio_slot_t of_two_texts(work_t *work, studio_call_t call, const char *a, const char *b)
{
    const bool test =
        call == STUDIO_CALL_CONTAINS || call == STUDIO_CALL_STARTS || call == STUDIO_CALL_ENDS;
    if (test) {
        return (studio_slot_t){.number = a != NULL && b != NULL && text_test(call, a, b)};
    }
    if (a == NULL || b == NULL) {
        return (studio_slot_t){.text = NULL};
    }
    if (call != STUDIO_CALL_JOIN) {
        return (studio_slot_t){.text = text_part(work, call, a, b)};
    }
    char joined[TEXT_BYTES_MAX];
    (void)snprintf(joined, sizeof(joined), "%.2000s%.2000s", a, b);
    return (studio_slot_t){.text = pool_put(&work->expression->pool, joined)};
}

static studio_slot_t of_one(work_t *work, studio_call_t call, studio_type_t type,
                            studio_slot_t value)
{
    studio_slot_t none = {.number = (double)NAN};
    char text[64];
    char *end = NULL;
    switch ((int)call) {
    case STUDIO_CALL_IS_MISSING:
        return (studio_slot_t){.number = type == STUDIO_TEXT ? value.text == NULL
                                                             : isnan(value.number) != 0};
    case STUDIO_CALL_LENGTH:
        return value.text != NULL ? (studio_slot_t){.number = (double)strlen(value.text)} : none;
    case STUDIO_CALL_LOWER:
    case STUDIO_CALL_UPPER:
        return (studio_slot_t){.text =
                                   value.text != NULL ? in_letters(work, call, value.text) : NULL};
    case STUDIO_CALL_NUMBER:
        if (value.text != NULL && value.text[0] != '\0') {
            const double number = strtod(value.text, &end);
            none.number = *end == '\0' && isfinite(number) ? number : none.number;
        }
        return none;
    case STUDIO_CALL_TEXT:
        if (isnan(value.number)) {
            return (studio_slot_t){.text = NULL};
        }
        (void)snprintf(text, sizeof(text), "%.15g", value.number);
        return (studio_slot_t){.text = pool_put(&work->expression->pool, text)};
    default:
        return (studio_slot_t){.number = finite_or_missing(number_of(call, value.number, 0))};
    }
}

static studio_slot_t of_two(work_t *work, studio_call_t call, studio_type_t type, studio_slot_t a,
                            studio_slot_t b)
{
    if (call == STUDIO_CALL_COALESCE) {
        const bool missing = type == STUDIO_TEXT ? a.text == NULL : isnan(a.number) != 0;
        return missing ? b : a;
    }
    if (type == STUDIO_TEXT) {
        return of_two_texts(work, call, a.text, b.text);
    }
    return (studio_slot_t){.number = finite_or_missing(number_of(call, a.number, b.number))};
}

static void evaluate_if(work_t *work, const studio_node_t *node, studio_slot_t *out, size_t level)
{
    studio_slot_t *const condition = buffer(work, level);
    studio_slot_t *const otherwise = buffer(work, level + 1);
    evaluate(work, node->arguments[0], condition, level + 1);
    evaluate(work, node->arguments[1], out, level + 1);
    evaluate(work, node->arguments[2], otherwise, level + 2);
    for (size_t i = 0; i < work->rows; i++) {
        out[i] = condition[i].number > 0 ? out[i] : otherwise[i];
    }
}

static void evaluate_call(work_t *work, const studio_node_t *node, studio_slot_t *out, size_t level)
{
    if (node->call == STUDIO_CALL_IF) {
        evaluate_if(work, node, out, level);
        return;
    }
    const studio_type_t type = work->expression->nodes[node->arguments[0]].type;
    evaluate(work, node->arguments[0], out, level);
    if (node->count == 1) {
        for (size_t i = 0; i < work->rows; i++) {
            out[i] = of_one(work, node->call, type, out[i]);
        }
        return;
    }
    studio_slot_t *const next = buffer(work, level);
    for (uint32_t argument = 1; argument < node->count; argument++) {
        evaluate(work, node->arguments[argument], next, level + 1);
        for (size_t i = 0; i < work->rows; i++) {
            out[i] = of_two(work, node->call, type, out[i], next[i]);
        }
    }
}

static void evaluate(work_t *work, uint32_t index, studio_slot_t *out, size_t level)
{
    const studio_node_t *const node = &work->expression->nodes[index];
    const size_t rows = work->rows;
    switch ((int)node->op) {
    case STUDIO_OP_NUMBER:
        for (size_t i = 0; i < rows; i++) {
            out[i].number = node->number;
        }
        break;
    case STUDIO_OP_LITERAL:
        for (size_t i = 0; i < rows; i++) {
            out[i].text = node->text;
        }
        break;
    case STUDIO_OP_VARIABLE:
        memcpy(out, work->columns[node->variable], rows * sizeof(*out));
        break;
    case STUDIO_OP_NOT:
        evaluate(work, node->arguments[0], out, level);
        for (size_t i = 0; i < rows; i++) {
            out[i].number = !(out[i].number > 0);
        }
        break;
    case STUDIO_OP_SCALE:
        evaluate(work, node->arguments[0], out, level);
        for (size_t i = 0; i < rows; i++) {
            out[i].number = finite_or_missing(out[i].number * node->number);
        }
        break;
    case STUDIO_OP_CALL:
        evaluate_call(work, node, out, level);
        break;
    default:
        evaluate_binary(work, node, out, level);
        break;
    }
}

void studio_expression_evaluate(studio_expression_t *expression,
                                const studio_slot_t *const *columns, size_t rows,
                                studio_slot_t *out)
{
    SIM_CHECK(rows <= STUDIO_BATCH_ROWS);
    work_t work = {.expression = expression, .columns = columns, .rows = rows};
    evaluate(&work, expression->root, out, 0);
}

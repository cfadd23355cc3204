// SPDX-License-Identifier: Apache-2.0
// labels: clang
// studio/tests/fuzz/fuzz_studio_expression.c - fuzzes parsing and computing of expressions.
//
// An expression that is accepted is computed on rows with missing values, infinities' neighbours
// and empty texts. An error must have a message and a column within the text; numbers that come
// out are finite or missing, bools 0 or 1.
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "studio/server/data/query/expression/expression.h"

#define ROWS 8u

static void check_error(const studio_place_error_t *error, size_t size)
{
    SIM_CHECK(error->message.text[0] != '\0');
    SIM_CHECK(error->column >= 1 && error->column <= size + 2);
}

static void compute(studio_expression_t *expression)
{
    static const double numbers[ROWS] = {0, 1, -1, 1e300, -1e-300, 4.5, 1e9, 7};
    static const char *const texts[ROWS] = {"", "a", "host1->leaf0", "12.5", "*", "[", "\xff", "b"};
    studio_slot_t columns[2][ROWS];
    studio_slot_t out[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        columns[0][i].number = i == 7 ? (double)NAN : numbers[i];
        columns[1][i].text = i == 7 ? NULL : texts[i];
    }
    const studio_slot_t *const given[] = {columns[0], columns[1], columns[0]};
    studio_expression_evaluate(expression, given, ROWS, out);
    for (size_t i = 0; i < ROWS; i++) {
        switch (studio_expression_type(expression)) {
        case STUDIO_TEXT:
            SIM_CHECK(out[i].text == NULL || strlen(out[i].text) < 100000);
            break;
        case STUDIO_BOOL:
            SIM_CHECK(!(out[i].number < 0) && !(out[i].number > 1));
            break;
        case STUDIO_NUMBER:
        default:
            SIM_CHECK(isnan(out[i].number) || isfinite(out[i].number));
            break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const studio_variable_t variables[] = {{"a", "ns", STUDIO_NUMBER},
                                                  {"t", "", STUDIO_TEXT},
                                                  {"x", "", STUDIO_NUMBER}};
    char *const text = sim_alloc(size + 1);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    studio_place_error_t error;
    studio_expression_t *const expression =
        studio_expression_parse(text, variables, SIM_COUNT_OF(variables), &error);
    if (expression == NULL) {
        check_error(&error, size);
    } else {
        compute(expression);
    }
    studio_expression_destroy(expression);
    sim_free(text);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Goal: expressions are computed exactly, and what has no value is refused with a reason.
// Method: a table of expressions over two names, with the text of the value or part of the message.
// Does not pin: where expressions may stand (tests/cli/test_cli_parameters.sh, tests/golden/bad).
#include "world/values/expression.h"

#include "tests/check_main.h"

#include <string.h>

static sim_err_t value_of(const char *name, const world_place_t *place, world_number_t *number,
                          world_error_t *error, void *ctx)
{
    (void)ctx;
    const char *const text = strcmp(name, "gpus") == 0   ? "64"
                             : strcmp(name, "size") == 0 ? "1MiB"
                                                         : NULL;
    if (text == NULL) {
        return world_fail(error, SIM_ERR_UNKNOWN, place, "unknown name %s", name);
    }
    ck_assert(world_number_read(text, number));
    return SIM_OK;
}

static const struct {
    const char *text;
    const char *value; // or part of the message
} rows[] = {
    {"1", "1"},
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"10 - 4 - 3", "3"},
    {"24 / 4 / 3", "2"},
    {"2 * -3", "-6"},
    {"- -3", "3"},
    {"gpus / 8", "8"},
    {"gpus / 3 * 3", "64"}, // a rest within is no error
    {"gpus/3", "the result 64/3 is not whole"},
    {"ceil(gpus / 3)", "22"},
    {"floor(gpus / 3)", "21"},
    {"ceil(-gpus / 3)", "-21"},
    {"floor(-gpus / 3)", "-22"},
    {"0.25 * gpus", "16"},
    {"min(3, gpus, 2)", "2"},
    {"max(3, gpus, 2)", "64"},
    {"max(7 / 2, 10 / 3) * 2", "7"},
    {"root(64, 3)", "4"},
    {"root(65, 3)", "5"},
    {"root(1000000007, 1)", "1000000007"},
    {"root(0, 2)", "0"},
    {"root(9223372036854775807, 2)", "3037000500"},
    {"2 * ceil(root(4 * gpus, 3) / 2)", "8"}, // the smallest fat-tree of 64 hosts
    {"size / gpus", "16384B"},
    {"size / 64KiB", "16"},
    {"3 * size + 1KB", "3146728B"},
    {"2us * 3 + 5ps", "6000005ps"},
    {"400Gbps / 8", "50000000000bps"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775807 + 1", "a number is too large"},
    {"9223372036854775807 * 9223372036854775807", "a number is too large"},
    {"1 / 9223372036854775807 / 3 * 3", "a number is too large"},
    {"1 / 0", "a division by zero"},
    {"gpus / (8 - 2 * 4)", "a division by zero"},
    {"size + 1", "bytes + a plain number has no meaning"},
    {"size * size", "bytes * bytes has no meaning"},
    {"1 / size", "a plain number / bytes has no meaning"},
    {"max(size, 1us)", "bytes , a time has no meaning"},
    {"root(size, 2)", "root(x, n) cannot be computed"},
    {"root(-1, 2)", "root(x, n) cannot be computed"},
    {"root(4)", "wrong number of values"},
    {"ceil(1, 2)", "wrong number of values"},
    {"sqrt(4)", "unknown function 'sqrt'"},
    {"gpu", "unknown name gpu"},
    {"2 * path_links(file)", "unknown name path_links(file)"},
    {"host_rate(2 + 3)", "the name of a parameter"},
    {"", "the expression ends too early"},
    {"1 +", "the expression ends too early"},
    {"(1", "the expression ends too early"},
    {"1 2", "'2' is not understood"},
    {"1 )", "')' is not understood"},
    {"3x", "'3x' is not understood"},
    {"64 % 3", "'% 3' is not understood"},
    {"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))", "nested too deeply"},
};

START_TEST(expressions_are_exact)
{
    const world_place_t place = {"x.yaml", 3, 7};
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        world_number_t number;
        world_error_t error;
        const bool good =
            world_expression_value(rows[i].text, &place, value_of, NULL, &number, &error) == SIM_OK;
        char *const text = good ? world_number_text(&number) : sim_strdup(error.text);
        const bool same =
            good ? strcmp(text, rows[i].value) == 0
                 : strstr(text, rows[i].value) != NULL && strncmp(text, "x.yaml:3:7: ", 12) == 0;
        ck_assert_msg(same, "%s: %s, expected %s", rows[i].text, text, rows[i].value);
        sim_free(text);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(expressions_are_exact))

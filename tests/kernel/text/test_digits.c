// SPDX-License-Identifier: Apache-2.0
// tests/kernel/text/test_digits.c - numbers for people have no exponent.
//
// Goal: sim_digits rounds to significant digits, leaves out zeros at the end of a fraction, and
// writes an exponent for numbers without end only.
// Method: rows of values and texts. Not pinned: numbers of 10^18 and more.
#include "kernel/digits.h"

#include <math.h>

#include "tests/check_main.h"

START_TEST(digits_have_no_exponent)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {
        {0, 3, "0"},
        {1, 3, "1"},
        {1.5, 3, "1.5"},
        {17891, 3, "17900"},
        {1666330, 6, "1666330"},
        {1666333.3, 6, "1666330"},
        {2.472e7, 4, "24720000"},
        {0.000123456, 3, "0.000123"},
        {1e-6, 3, "0.000001"},
        {999.96, 4, "1000"},
        {-12.5, 3, "-12.5"},
        {123456789012345678.0, 18, "123456789012345680"},
        {(double)INFINITY, 3, "-"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        sim_digits_t buffer;
        ck_assert_pstr_eq(sim_digits(&buffer, rows[i].value, rows[i].digits), rows[i].text);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(digits_have_no_exponent))

// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: CSV files are read back exactly: columns by name in any order, quotes, numbers without
// rounding; what is no such file is refused with its place.
// Method: files made here, cells and numbers compared; each kind of damage.
// Not pinned: line breaks within quotes, which the program never writes.
#include "results/csv.h"

#include "tests/check_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"time_ns", "path"};

// Writes a file, which the caller removes.
static void put(const char *path, const char *text, size_t size)
{
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static sim_err_t open_text(const char *text, results_csv_t **csv, world_error_t *error)
{
    char path[] = "/tmp/test_cli_csv.XXXXXX";
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    (void)close(file);
    put(path, text, strlen(text));
    const sim_err_t result = results_csv_open(path, names, 2, csv, error);
    (void)remove(path);
    return result;
}

START_TEST(cells_are_found_by_name)
{
    results_csv_t *csv = NULL;
    world_error_t error;
    ck_assert_int_eq(open_text("path,else,time_ns,more\n"
                               "\"a,b\",x,1.250,\n"
                               "\"say \"\"hi\"\"\",,3,y\r\n"
                               "plain,\"\",0.001,z\n",
                               &csv, &error),
                     SIM_OK);
    static const struct {
        const char *path;
        uint64_t time_ps;
    } rows[] = {{"a,b", 1250}, {"say \"hi\"", 3000}, {"plain", 1}};
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        bool end = true;
        uint64_t time_ps = 0;
        ck_assert_int_eq(results_csv_next(csv, &end, &error), SIM_OK);
        ck_assert(!end);
        ck_assert_str_eq(results_csv_text(csv, 1), rows[i].path);
        ck_assert_int_eq(results_csv_number(csv, 0, 1000, &time_ps, &error), SIM_OK);
        ck_assert_uint_eq(time_ps, rows[i].time_ps);
    }
    bool end = false;
    ck_assert_int_eq(results_csv_next(csv, &end, &error), SIM_OK);
    ck_assert(end);
    results_csv_close(csv);
}
END_TEST

START_TEST(numbers_are_exact_or_refused)
{
    static const struct {
        const char *text;
        uint64_t one;
        bool good;
        uint64_t value;
    } cases[] = {
        {"18446744073709551615", 1, true, UINT64_MAX},
        {"18446744073709551616", 1, false, 0},
        {"18446744073709551.615", 1000, true, UINT64_MAX},
        {"18446744073709551.616", 1000, false, 0},
        {"1.234567", 1000000, true, 1234567},
        {"1.2345670", 1000000, true, 1234567},
        {"1.2345671", 1000000, false, 0},
        {"0", 1, true, 0},
        {"007", 1, true, 7},
        {"1.5", 1, false, 0},
        {"", 1, false, 0},
        {".5", 10, false, 0},
        {"5.", 10, false, 0},
        {"1.2.3", 1000, false, 0},
        {"-1", 1, false, 0},
        {" 1", 1, false, 0},
        {"1e3", 1, false, 0},
        {"nan", 1, false, 0},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        char text[128];
        (void)snprintf(text, sizeof(text), "time_ns,path\n%s,x\n", cases[i].text);
        results_csv_t *csv = NULL;
        world_error_t error = {.text = ""};
        bool end = true;
        uint64_t value = 0;
        ck_assert_int_eq(open_text(text, &csv, &error), SIM_OK);
        ck_assert_int_eq(results_csv_next(csv, &end, &error), SIM_OK);
        const sim_err_t result = results_csv_number(csv, 0, cases[i].one, &value, &error);
        ck_assert_msg((result == SIM_OK) == cases[i].good, "'%s': %s", cases[i].text, error.text);
        if (cases[i].good) {
            ck_assert_uint_eq(value, cases[i].value);
        } else {
            ck_assert_ptr_nonnull(strstr(error.text, ":2:1: time_ns is '"));
        }
        results_csv_close(csv);
    }
}
END_TEST

START_TEST(what_is_no_table_is_refused)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "no column 'time_ns'"},
        {"\n", "no column 'time_ns'"},
        {"time_ns,value\n", "no column 'path'"},
        {"time_ns,path", ":1:1: the file ends within this row"},
        {"time_ns,pa", ":1:1: the file ends within this row"},
        {"time_ns,path\n1,a\n2,b", ":3:1: the file ends within this row"},
        {"time_ns,path\n1\n", ":2:1: not as many cells"},
        {"time_ns,path\n1,\"x\n", ":2:1: not as many cells as the first row, or quotes that"},
        {"time_ns,path\n1,\"x\"y\n", ":2:1: not as many cells"},
        {"time_ns,path\n1,a\n\n", ":3:1: not as many cells"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        results_csv_t *csv = NULL;
        world_error_t error = {.text = ""};
        bool end = false;
        sim_err_t result = open_text(cases[i].text, &csv, &error);
        while (result == SIM_OK && !end) {
            result = results_csv_next(csv, &end, &error);
        }
        ck_assert_msg((result == SIM_OK) == (cases[i].says == NULL), "%zu: %s", i, error.text);
        if (cases[i].says != NULL) {
            ck_assert_msg(strstr(error.text, cases[i].says) != NULL, "%s", error.text);
        }
        results_csv_close(csv);
    }
    results_csv_t *csv = NULL;
    world_error_t error;
    ck_assert_int_eq(results_csv_open("/nowhere/x.csv", names, 2, &csv, &error), SIM_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/x.csv"));
}
END_TEST

// Rows are longer than the reader's first buffer, and longer than a row may be.
START_TEST(long_rows)
{
    for (size_t size = 100; size < (size_t)4 << 20; size = size * 5 + 1) {
        char path[] = "/tmp/test_cli_csv.XXXXXX";
        const int file = mkstemp(path);
        ck_assert_int_ge(file, 0);
        (void)close(file);
        char *const text = sim_alloc(size + 64);
        const size_t head = (size_t)sprintf(text, "time_ns,path\n7,");
        memset(text + head, 'x', size);
        text[head + size] = '\n';
        put(path, text, head + size + 1);
        sim_free(text);
        results_csv_t *csv = NULL;
        world_error_t error;
        bool end = true;
        ck_assert_int_eq(results_csv_open(path, names, 2, &csv, &error), SIM_OK);
        const sim_err_t result = results_csv_next(csv, &end, &error);
        ck_assert_int_eq(result, size < (size_t)1 << 20 ? SIM_OK : SIM_ERR_INVALID);
        if (result == SIM_OK) {
            ck_assert_uint_eq(strlen(results_csv_text(csv, 1)), size);
        }
        results_csv_close(csv);
        (void)remove(path);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(cells_are_found_by_name), CHECK_TEST(numbers_are_exact_or_refused),
           CHECK_TEST(what_is_no_table_is_refused), CHECK_TEST(long_rows))

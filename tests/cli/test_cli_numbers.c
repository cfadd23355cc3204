// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: quantities for people have four digits and the right unit, slowdowns are exact, a run's
// share of progress is what it should be, CSV cells are quoted as RFC 4180 says.
// Method: tables of values, with the edges where the unit changes and numbers beyond 2^53.
#include "cli/progress.h"
#include "results/file.h"
#include "results/results.h"
#include "world/format.h"

#include "tests/check_main.h"

#include <string.h>

START_TEST(quantities_take_the_unit_that_fits)
{
    world_text_t text;
    ck_assert_str_eq(world_format_time(&text, 0), "0 ps");
    ck_assert_str_eq(world_format_time(&text, 999), "999 ps");
    ck_assert_str_eq(world_format_time(&text, 1000), "1.000 ns");
    ck_assert_str_eq(world_format_time(&text, 12345678), "12.35 us");
    ck_assert_str_eq(world_format_time(&text, 123 * SIM_PS_PER_MS), "123.0 ms");
    ck_assert_str_eq(world_format_time(&text, 5000 * SIM_PS_PER_S), "5000 s");
    ck_assert_str_eq(world_format_time(&text, SIM_TIME_NEVER), "never");
    ck_assert_str_eq(world_format_bytes(&text, 1), "1 B");
    ck_assert_str_eq(world_format_bytes(&text, 64000), "64.00 KB");
    ck_assert_str_eq(world_format_rate(&text, UINT64_C(400000000000)), "400.0 Gbps");
    ck_assert_str_eq(world_format_count(&text, 99999), "99999");
    ck_assert_str_eq(world_format_count(&text, 12345678), "12.35 M");
    ck_assert_str_eq(world_format_count(&text, 2.5e9), "2.50 G");
    ck_assert_str_eq(world_format_percent(&text, 0.1234), "12.3 %");
}
END_TEST

// A run that ends within a frame has sent part of it: it never counts more than the link can carry.
START_TEST(a_frame_under_way_counts_as_far_as_it_is_out)
{
    static net_class_t classes[NET_PRIORITIES][NET_CLASS_PORTS];
    net_node_t node = {.port_count = 1};
    const net_line_t line = {.rate_bps = 8 * UINT64_C(1000000000)}; // 1 ns a byte
    net_port_t port = {
        .line = &line,
        .classes = classes,
        .node = &node,
    };
    ck_assert_double_eq(results_port_utilisation(&port, 0, 0), 0.0);
    ck_assert_double_eq(results_port_utilisation(&port, 0, SIM_PS_PER_US), 0.0);
    port.classes[3]->tx_bytes = 400;
    port.classes[7]->tx_bytes = 100;
    port.busy_until_ps = 600 * SIM_PS_PER_NS;
    ck_assert_double_eq_tol(results_port_utilisation(&port, 0, SIM_PS_PER_US), 0.5, 1e-12);
    // A frame of 4000 bytes began at 600 ns, with 24 bytes around it.
    port.classes[3]->tx_bytes += 4000;
    port.busy_until_ps = 4624 * SIM_PS_PER_NS;
    ck_assert_double_eq_tol(results_port_utilisation(&port, 0, 1000 * SIM_PS_PER_NS), 0.876, 1e-12);
    ck_assert_double_eq_tol(results_port_utilisation(&port, 0, 4000 * SIM_PS_PER_NS), 0.969, 1e-12);
    ck_assert_double_eq_tol(results_port_utilisation(&port, 0, 9000 * SIM_PS_PER_NS), 0.5, 1e-12);
    // The share is that of the time since 4.5 us after the start of the run.
    ck_assert_double_eq_tol(
        results_port_utilisation(&port, 4500 * SIM_PS_PER_NS, 9000 * SIM_PS_PER_NS), 1.0, 1e-12);
    ck_assert_double_eq(results_port_utilisation(&port, SIM_PS_PER_US, SIM_PS_PER_US), 0.0);
    // The run ends within the preamble of the very first frame.
    port.classes[3]->tx_bytes = 1000;
    port.classes[7]->tx_bytes = 0;
    port.busy_until_ps = 1024 * SIM_PS_PER_NS;
    ck_assert_double_eq(results_port_utilisation(&port, 0, 5 * SIM_PS_PER_NS), 0.0);
}
END_TEST

START_TEST(slowdown_is_exact_and_rounded_down)
{
    app_flow_result_t flow = {.start_ps = 5, .end_ps = 5 + 4, .ideal_ps = 3};
    ck_assert_uint_eq(results_flow_slowdown(&flow), 1333333);
    // Times whose product with a million does not fit 64 bits.
    flow = (app_flow_result_t){.end_ps = UINT64_C(1) << 62, .ideal_ps = UINT64_C(1) << 61};
    ck_assert_uint_eq(results_flow_slowdown(&flow), 2 * RESULTS_SLOWDOWN_ONE);
}
END_TEST

START_TEST(progress_is_the_larger_share)
{
    ck_assert(cli_progress_share(5, SIM_TIME_NEVER, 0, 0) < 0);
    ck_assert_double_eq(cli_progress_share(5, 10, 0, 0), 0.5);
    ck_assert_double_eq(cli_progress_share(5, 10, 3, 4), 0.75);
    ck_assert_double_eq(cli_progress_share(5, SIM_TIME_NEVER, 1, 4), 0.25);
    ck_assert_double_eq(cli_progress_share(20, 10, 0, 4), 1);
}
END_TEST

START_TEST(files_hold_what_was_put)
{
    char path[] = "/tmp/rocesim-test-XXXXXX";
    const int made = mkstemp(path);
    ck_assert_int_ge(made, 0);
    results_file_t *file = NULL;
    world_error_t error;
    ck_assert_int_eq(results_file_open(path, &file, &error), SIM_OK);
    results_file_put_ns(file, 1234567);
    results_file_put(file, " ");
    results_file_put_ns(file, 5000);
    results_file_put(file, " ");
    results_file_put_u64(file, UINT64_MAX);
    results_file_put(file, " ");
    results_file_put_csv(file, "plain");
    results_file_put(file, " ");
    results_file_put_csv(file, "a,\"b\"");
    ck_assert_int_eq(results_file_close(file, &error), SIM_OK);
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(world_read_file(path, 1000, &text, &size, &error), SIM_OK);
    ck_assert_str_eq(text, "1234.567 5 18446744073709551615 plain \"a,\"\"b\"\"\"");
    sim_free(text);
    ck_assert_int_eq(world_read_file(path, 3, &text, &size, &error), SIM_ERR_RANGE);
    remove(path);
}
END_TEST

// Cells of any length, before, across and beyond the end of a buffer, come out as they were put.
START_TEST(files_keep_pieces_of_any_length_in_order)
{
    enum { LONGEST = 150000, PIECES = 40 };
    char path[] = "/tmp/rocesim-test-XXXXXX";
    ck_assert_int_ge(mkstemp(path), 0);
    char *const piece = sim_alloc(LONGEST + 1);
    char *const expected = sim_alloc((size_t)PIECES * (LONGEST + 2) + 1);
    size_t expected_size = 0;
    results_file_t *file = NULL;
    world_error_t error;
    ck_assert_int_eq(results_file_open(path, &file, &error), SIM_OK);
    for (size_t i = 0; i < PIECES; i++) {
        const size_t size = i % 4 == 0 ? LONGEST / (i + 1) : i * 40;
        memset(piece, (int)('a' + i % 26), size);
        piece[size] = '\0';
        if (i % 2 == 0) {
            results_file_put(file, piece);
        } else {
            results_file_print(file, "%s", piece);
        }
        results_file_put_char(file, '\n');
        memcpy(expected + expected_size, piece, size);
        expected[expected_size + size] = '\n';
        expected_size += size + 1;
    }
    ck_assert_int_eq(results_file_close(file, &error), SIM_OK);
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(world_read_file(path, 10000000, &text, &size, &error), SIM_OK);
    ck_assert_uint_eq(size, expected_size);
    ck_assert_mem_eq(text, expected, size);
    sim_free(text);
    sim_free(expected);
    sim_free(piece);
    remove(path);
}
END_TEST

START_TEST(write_errors_are_reported_at_close)
{
    results_file_t *file = NULL;
    world_error_t error;
    ck_assert_int_eq(results_file_open("/dev/full", &file, &error), SIM_OK);
    for (unsigned i = 0; i < 100000; i++) {
        results_file_put(file, "0123456789"); // more than any buffer
    }
    ck_assert_int_eq(results_file_close(file, &error), SIM_ERR_IO);
    ck_assert_msg(strncmp(error.text, "/dev/full: cannot write", 23) == 0, "%s", error.text);
    ck_assert_int_eq(results_file_open("/dev/full", &file, &error), SIM_OK);
    results_file_put(file, "x"); // fails when it is flushed
    ck_assert_int_eq(results_file_close(file, &error), SIM_ERR_IO);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_frame_under_way_counts_as_far_as_it_is_out),
           CHECK_TEST(quantities_take_the_unit_that_fits),
           CHECK_TEST(slowdown_is_exact_and_rounded_down), CHECK_TEST(progress_is_the_larger_share),
           CHECK_TEST(files_hold_what_was_put),
           CHECK_TEST(files_keep_pieces_of_any_length_in_order),
           CHECK_TEST(write_errors_are_reported_at_close))

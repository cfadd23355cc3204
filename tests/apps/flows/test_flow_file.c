// SPDX-License-Identifier: Apache-2.0
// test_flow_file.c - flows from other simulators' files (apps/flow_file.h), CDFs
// likewise.
//
// Goal: each row is what the simulator would start, to the nanosecond; formats are told apart.
// Method: files in memory; starts against what a double of seconds, cut to whole nanoseconds, is.
// Not pinned: wrong files, which tests/cli/hpcc/test_cli_hpcc.sh has by their messages.
#include "apps/flow_file.h"

#include <string.h>

#include "tests/check_main.h"

static app_flow_file_t parse(const char *text)
{
    app_flow_file_t file;
    sim_message_t message = {.text = ""};
    const sim_err_t error = app_flow_file_parse(app_flow_file_detect(text, strlen(text)), "f", text,
                                                strlen(text), NULL, NULL, &file, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return file;
}

START_TEST(formats_are_told_apart)
{
    static const struct {
        const char *text;
        app_flow_format_t format;
    } texts[] = {
        {"\n 2 \n0 1 3 100 5 2\n", APP_FLOW_HPCC},
        {"0\n", APP_FLOW_HPCC},
        {"# x\nNodes 4\n", APP_FLOW_HTSIM},
        {"Connections 4\n", APP_FLOW_HTSIM},
        {"host0 host1 1MB 0us\n", APP_FLOW_ROWS},
        {"src,dst,bytes,start\n", APP_FLOW_ROWS},
        {"", APP_FLOW_ROWS},
        {"1 2 3 4\n", APP_FLOW_ROWS},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(texts); i++) {
        ck_assert_msg(app_flow_file_detect(texts[i].text, strlen(texts[i].text)) == texts[i].format,
                      "%s", texts[i].text);
    }
}
END_TEST

START_TEST(hpcc_rows_are_numbered)
{
    app_flow_file_t file = parse("4\n0 1 3 100 5 2\n1 0 3 100 6 2\n0 1 4 200 7 2\n0 1 3 100 8 2\n");
    static const uint16_t ports[] = {10000, 10000, 10001, 10002};
    ck_assert_uint_eq(file.count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(file.rows[i].source_port, ports[i]);
        ck_assert_uint_eq(file.rows[i].bytes, 5 + i);
    }
    ck_assert_uint_eq(file.rows[2].priority, 4);
    ck_assert_uint_eq(file.rows[2].destination_port, 200);
    ck_assert_uint_eq(file.rows[2].line, 4);
    app_flow_file_fini(&file);
}
END_TEST

// Seconds go through a double: what lies below a nanosecond by however little is
// the one before.
static const struct {
    const char *text;
    uint64_t start_ps;
} starts[] = {
    {"2", UINT64_C(2000000000000)},         {"2.000000001", UINT64_C(2000000001000)},
    {"2.1", UINT64_C(2100000000000)},       {"2.3", UINT64_C(2299999999000)},
    {"2.0000005", UINT64_C(2000000500000)}, {"1e-9", 0}, // 64 bits of fraction are not enough,
    {"0.1", UINT64_C(100000000000)},        {"2000100ns", UINT64_C(2000100000)},
    {"2.5ms", UINT64_C(2500000000)},
};

START_TEST(starts_are_those_of_the_simulator)
{
    char text[96];
    snprintf(text, sizeof(text), "1\n0 1 3 100 5 %s\n", starts[_i].text);
    app_flow_file_t file = parse(text);
    ck_assert_uint_eq(file.rows[0].start_ps, starts[_i].start_ps);
    app_flow_file_fini(&file);
}
END_TEST

START_TEST(conweave_rows_have_no_port)
{
    app_flow_file_t file = parse("1\n7 9 3 12345 0.000000100\n");
    ck_assert_uint_eq(file.rows[0].source, 7);
    ck_assert_uint_eq(file.rows[0].destination, 9);
    ck_assert_uint_eq(file.rows[0].bytes, 12345);
    ck_assert_uint_eq(file.rows[0].destination_port, 0);
    app_flow_file_fini(&file);
}
END_TEST

START_TEST(htsim_starts_are_picoseconds)
{
    app_flow_file_t file =
        parse("Nodes 4\nConnections 2\n#\n3->0 id 2 start 16700001 size 3000000000\n"
              "1->2 size 64 start 0.0\n");
    ck_assert_uint_eq(file.count, 2);
    ck_assert_uint_eq(file.rows[0].source, 3);
    ck_assert_uint_eq(file.rows[0].destination, 0);
    ck_assert_uint_eq(file.rows[0].start_ps, 16700001); // a float would lose the last digit
    ck_assert_uint_eq(file.rows[0].bytes, UINT64_C(3000000000)); // an int would not hold it
    ck_assert_uint_eq(file.rows[0].priority, APP_FLOW_AS_THE_NIC);
    ck_assert_uint_eq(file.rows[0].source_port, 0);
    ck_assert_uint_eq(file.rows[1].start_ps, 0);
    app_flow_file_fini(&file);
}
END_TEST

// Flow sizes as fractions are the same distribution as in percent.
START_TEST(cdf_takes_percent_and_fractions)
{
    static const char *const texts[] = {"0 0\n1000 15\n10000 62.5\n100000 100\n",
                                        "0 0\n1000 0.15\n10000 0.625\n100000 1.0\n"};
    uint64_t means[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        sim_cdf_t *cdf = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_msg(sim_cdf_parse(texts[i], strlen(texts[i]), &cdf, &message) == SIM_OK, "%s",
                      message.text);
        means[i] = sim_cdf_mean_q16(cdf);
        sim_cdf_destroy(cdf);
    }
    ck_assert_uint_eq(means[0], means[1]);
}
END_TEST

// Triggers are numbered by their ids, wherever they stand.
START_TEST(htsim_triggers_have_numbers)
{
    app_flow_file_t file = parse("Nodes 4\ntrigger id 30 barrier count 1\n"
                                 "0->1 start 5 size 10 send_done_trigger 4 recv_done_trigger 30\n"
                                 "0->2 trigger 4 size 10\n1->3 trigger 30 size 10\n"
                                 "trigger id 4 multishot\n");
    ck_assert_uint_eq(file.trigger_count, 2);
    ck_assert_uint_eq(file.triggers[0].id, 4);
    ck_assert_int_eq(file.triggers[0].kind, APP_TRIGGER_MULTISHOT);
    ck_assert_uint_eq(file.triggers[1].count, 1);
    ck_assert_uint_eq(file.count, 3);
    ck_assert_uint_eq(file.rows[0].start_ps, 5);
    ck_assert_uint_eq(file.rows[0].chain.started_by, 0);
    ck_assert_uint_eq(file.rows[0].chain.sent, 1);
    ck_assert_uint_eq(file.rows[0].chain.received, 2);
    ck_assert_uint_eq(file.rows[1].start_ps, SIM_TIME_NEVER);
    ck_assert_uint_eq(file.rows[1].chain.started_by, 1);
    ck_assert_uint_eq(file.rows[2].chain.started_by, 2);
    app_flow_file_fini(&file);
}
END_TEST

CHECK_MAIN(CHECK_TEST(htsim_triggers_have_numbers), CHECK_TEST(formats_are_told_apart),
           CHECK_TEST(hpcc_rows_are_numbered),
           CHECK_LOOP(starts_are_those_of_the_simulator, 0, (int)SIM_COUNT_OF(starts)),
           CHECK_TEST(conweave_rows_have_no_port), CHECK_TEST(htsim_starts_are_picoseconds),
           CHECK_TEST(cdf_takes_percent_and_fractions))

// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_attribute.c - numbers with units, ratios and tables of kernel/attribute.h.
//
// Goal: text becomes exactly the integer it says or a message that says what was expected; what is
// printed reads back to the same value for every type; an error changes nothing.
// Method: rows of text and value worked out by hand; sweeps over digits, units and random values
// against integer arithmetic; every refusal by its whole message; round trips.
// Not pinned: which unit prints, beyond the rule it follows.
#include "kernel/attribute.h"

#include <string.h>

#include "kernel/parse.h"
#include "tests/check_main.h"

typedef sim_err_t (*parse_fn)(const char *text, uint64_t *number, sim_message_t *message);

typedef struct row {
    const char *text;
    uint64_t number;
} row_t;

#define NUMBER_MAX (UINT64_MAX - 2) // above it: auto and never

static void assert_rows(parse_fn parse, const row_t *rows, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint64_t number = 0;
        sim_message_t message = {.text = ""};
        ck_assert_msg(parse(rows[i].text, &number, &message) == SIM_OK, "%s", message.text);
        ck_assert_msg(number == rows[i].number, "\"%s\" is %" PRIu64 ", got %" PRIu64, rows[i].text,
                      rows[i].number, number);
    }
}

typedef struct refusal {
    const char *text;
    sim_err_t error;
    const char *message;
} refusal_t;

static void assert_refusals(parse_fn parse, const refusal_t *rows, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint64_t number = 4711;
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(parse(rows[i].text, &number, &message), rows[i].error);
        ck_assert_str_eq(message.text, rows[i].message);
        ck_assert_uint_eq(number, 4711);
        ck_assert_int_eq(parse(rows[i].text, &number, NULL), rows[i].error);
    }
}

// -- numbers

START_TEST(sizes_are_exact)
{
    static const row_t rows[] = {
        {"0", 0},
        {"4096", 4096},
        {"100B", 100},
        {"64KB", 64000},
        {"64kB", 64000},
        {"64KiB", 65536},
        {"64 KiB", 65536},
        {" 64KiB\t", 65536},
        {"9MB", 9000000},
        {"1.5KB", 1500},
        {"1.5KiB", 1536},
        {"0.0009765625MiB", 1024},
        {"2GB", UINT64_C(2000000000)},
        {"2GiB", UINT64_C(2147483648)},
        {"3TB", UINT64_C(3000000000000)},
        {"3TiB", UINT64_C(3298534883328)},
        {"007", 7},
        {"1.000000000000000000000000000KB", 1000},
        {"18446744073709551613", NUMBER_MAX},
        {"18446744073709.551613MB", NUMBER_MAX},
        {"0000000000000000000000000000018446744073709551613B", NUMBER_MAX},
    };
    assert_rows(sim_parse_bytes, rows, SIM_COUNT_OF(rows));
}
END_TEST

#define EXPECTED_BYTES ": expected bytes such as 64KB or 4096"
#define TOO_LARGE "\" is too large: expected at most 18446744073709551613"

START_TEST(sizes_are_refused)
{
    static const refusal_t rows[] = {
        {"", SIM_ERR_INVALID, "\"\" is not a size" EXPECTED_BYTES},
        {" \t ", SIM_ERR_INVALID, "\"\" is not a size" EXPECTED_BYTES},
        {"10 apples", SIM_ERR_INVALID, "\"10 apples\" is not a size" EXPECTED_BYTES},
        {"KB", SIM_ERR_INVALID, "\"KB\" is not a size" EXPECTED_BYTES},
        {"10us", SIM_ERR_INVALID, "\"10us\" is not a size" EXPECTED_BYTES},
        {"10kib", SIM_ERR_INVALID, "\"10kib\" is not a size" EXPECTED_BYTES},
        {"10KBx", SIM_ERR_INVALID, "\"10KBx\" is not a size" EXPECTED_BYTES},
        {"10KB 5", SIM_ERR_INVALID, "\"10KB 5\" is not a size" EXPECTED_BYTES},
        {"1e3", SIM_ERR_INVALID, "\"1e3\" is not a size" EXPECTED_BYTES},
        {"0x10", SIM_ERR_INVALID, "\"0x10\" is not a size" EXPECTED_BYTES},
        {"+5", SIM_ERR_INVALID, "\"+5\" is not a size" EXPECTED_BYTES},
        {".5KB", SIM_ERR_INVALID, "\".5KB\" is not a size" EXPECTED_BYTES},
        {"5.KB", SIM_ERR_INVALID, "\"5.KB\" is not a size" EXPECTED_BYTES},
        {"1,5KB", SIM_ERR_INVALID, "\"1,5KB\" is not a size" EXPECTED_BYTES},
        {"-1", SIM_ERR_RANGE, "\"-1\" is negative" EXPECTED_BYTES},
        {"-64KB", SIM_ERR_RANGE, "\"-64KB\" is negative" EXPECTED_BYTES},
        {"0.5", SIM_ERR_INVALID, "\"0.5\" is finer than one byte" EXPECTED_BYTES},
        {"1.0001KB", SIM_ERR_INVALID, "\"1.0001KB\" is finer than one byte" EXPECTED_BYTES},
        {"0.00000000000000000001TB", SIM_ERR_INVALID,
         "\"0.00000000000000000001TB\" is finer than one byte" EXPECTED_BYTES},
        {"18446744073709551614", SIM_ERR_RANGE, "\"18446744073709551614" TOO_LARGE " bytes"},
        {"18446744073709551616", SIM_ERR_RANGE, "\"18446744073709551616" TOO_LARGE " bytes"},
        {"99999999TB", SIM_ERR_RANGE, "\"99999999TB" TOO_LARGE " bytes"},
        {"340282366920938463463374607431768211456KB", SIM_ERR_RANGE,
         "\"340282366920938463463374607431768211456KB" TOO_LARGE " bytes"},
        {"a\nb\x7f", SIM_ERR_INVALID, "\"a\\x0ab\\x7f\" is not a size" EXPECTED_BYTES},
    };
    assert_refusals(sim_parse_bytes, rows, SIM_COUNT_OF(rows));
}
END_TEST

START_TEST(times_are_exact)
{
    static const row_t rows[] = {
        {"0s", 0},
        {"300ps", 300},
        {"0.5ns", 500},
        {"0.001ns", 1},
        {"10us", 10 * SIM_PS_PER_US},
        {"20 ms", 20 * SIM_PS_PER_MS},
        {"2s", 2 * SIM_PS_PER_S},
        {"1.5min", 90 * SIM_PS_PER_S},
        {"0.000000000001s", 1},
        {"3.000000000007s", 3 * SIM_PS_PER_S + 7},
        {"18446744.073709551613s", NUMBER_MAX},
        {"never", SIM_TIME_NEVER},
    };
    assert_rows(sim_parse_time, rows, SIM_COUNT_OF(rows));
}
END_TEST

#define EXPECTED_TIME ": expected a time such as 10us"

START_TEST(times_are_refused)
{
    static const refusal_t rows[] = {
        {"", SIM_ERR_INVALID, "\"\" is not a time" EXPECTED_TIME},
        {"10", SIM_ERR_INVALID, "\"10\" has no unit" EXPECTED_TIME},
        {"0", SIM_ERR_INVALID, "\"0\" has no unit" EXPECTED_TIME},
        {"-10us", SIM_ERR_RANGE, "\"-10us\" is negative" EXPECTED_TIME},
        {"-us", SIM_ERR_INVALID, "\"-us\" is not a time" EXPECTED_TIME},
        {"10Mbps", SIM_ERR_INVALID, "\"10Mbps\" is not a time" EXPECTED_TIME},
        {"10usec", SIM_ERR_INVALID, "\"10usec\" is not a time" EXPECTED_TIME},
        {"10US", SIM_ERR_INVALID, "\"10US\" is not a time" EXPECTED_TIME},
        {"nevermore", SIM_ERR_INVALID, "\"nevermore\" is not a time" EXPECTED_TIME},
        {"0.1ps", SIM_ERR_INVALID, "\"0.1ps\" is finer than 1ps" EXPECTED_TIME},
        {"0.0001ns", SIM_ERR_INVALID, "\"0.0001ns\" is finer than 1ps" EXPECTED_TIME},
        {"18446744.073709551614s", SIM_ERR_RANGE, "\"18446744.073709551614s" TOO_LARGE "ps"},
        {"400000min", SIM_ERR_RANGE, "\"400000min" TOO_LARGE "ps"},
    };
    assert_refusals(sim_parse_time, rows, SIM_COUNT_OF(rows));
}
END_TEST

START_TEST(rates_are_exact)
{
    static const row_t rows[] = {
        {"0bps", 0},
        {"1bps", 1},
        {"100Gbps", UINT64_C(100000000000)},
        {"2.5Gbps", UINT64_C(2500000000)},
        {"40Mbps", 40000000},
        {"9.6Kbps", 9600},
        {"9.6kbps", 9600},
        {"9.6Kb/s", 9600},
        {"9.6kb/s", 9600},
        {"3Mb/s", 3000000},
        {"3Gb/s", UINT64_C(3000000000)},
        {"1.6Tbps", UINT64_C(1600000000000)},
        {"1.6Tb/s", UINT64_C(1600000000000)},
        {"7b/s", 7},
    };
    assert_rows(sim_parse_rate, rows, SIM_COUNT_OF(rows));
}
END_TEST

#define EXPECTED_RATE ": expected a rate such as 100Gbps"

START_TEST(rates_are_refused)
{
    static const refusal_t rows[] = {
        {"", SIM_ERR_INVALID, "\"\" is not a rate" EXPECTED_RATE},
        {"100", SIM_ERR_INVALID, "\"100\" has no unit" EXPECTED_RATE},
        {"100G", SIM_ERR_INVALID, "\"100G\" is not a rate" EXPECTED_RATE},
        {"100GB", SIM_ERR_INVALID, "\"100GB\" is not a rate" EXPECTED_RATE},
        {"100GBps", SIM_ERR_INVALID, "\"100GBps\" is not a rate" EXPECTED_RATE},
        {"never", SIM_ERR_INVALID, "\"never\" is not a rate" EXPECTED_RATE},
        {"-1Gbps", SIM_ERR_RANGE, "\"-1Gbps\" is negative" EXPECTED_RATE},
        {"0.5bps", SIM_ERR_INVALID, "\"0.5bps\" is finer than 1bps" EXPECTED_RATE},
        {"20000000Tbps", SIM_ERR_RANGE, "\"20000000Tbps" TOO_LARGE "bps"},
    };
    assert_refusals(sim_parse_rate, rows, SIM_COUNT_OF(rows));
}
END_TEST

#define EXPECTED_COUNT ": expected a whole number such as 12"

START_TEST(counts_are_whole)
{
    static const row_t rows[] = {{"0", 0},
                                 {"12", 12},
                                 {"4.0", 4},
                                 {"18446744073709551613", NUMBER_MAX}};
    assert_rows(sim_parse_count, rows, SIM_COUNT_OF(rows));
    static const refusal_t refused[] = {
        {"", SIM_ERR_INVALID, "\"\" is not a count" EXPECTED_COUNT},
        {"12KB", SIM_ERR_INVALID, "\"12KB\" is not a count" EXPECTED_COUNT},
        {"1 2", SIM_ERR_INVALID, "\"1 2\" is not a count" EXPECTED_COUNT},
        {"-12", SIM_ERR_RANGE, "\"-12\" is negative" EXPECTED_COUNT},
        {"1.5", SIM_ERR_INVALID, "\"1.5\" is finer than 1" EXPECTED_COUNT},
        {"18446744073709551615", SIM_ERR_RANGE, "\"18446744073709551615" TOO_LARGE},
    };
    assert_refusals(sim_parse_count, refused, SIM_COUNT_OF(refused));
}
END_TEST

// A number of picoseconds is written in any unit, with as many decimals as it needs.
START_TEST(decimals_scale_without_rounding)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    sim_random_t random;
    sim_random_init(&random, 1, 0, "decimals");
    for (int i = 0; i < 2000; ++i) {
        const uint64_t time_ps = sim_random_u64(&random) >> (1 + sim_random_below(&random, 60));
        uint64_t power = 1;
        for (int u = 0; u < (int)SIM_COUNT_OF(units); ++u) {
            power *= 1000;
            char text[64];
            snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64 "%s", time_ps / power,
                     3 * (u + 1), time_ps % power, units[u]);
            uint64_t parsed = 0;
            ck_assert_msg(sim_parse_time(text, &parsed, NULL) == SIM_OK, "%s", text);
            ck_assert_msg(parsed == time_ps, "%s", text);
        }
    }
}
END_TEST

START_TEST(long_text_is_cut_in_messages)
{
    char text[1000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + 65, "\xc3\xa4\xc3\xa4\xc3\xa4", 6); // a cut within one would be no UTF-8
    uint64_t number;
    sim_message_t message;
    ck_assert_int_eq(sim_parse_bytes(text, &number, &message), SIM_ERR_INVALID);
    ck_assert_uint_lt(strlen(message.text), 130);
    const char *const cut = strstr(message.text, "...\"");
    ck_assert_ptr_nonnull(cut);
    ck_assert(cut[-1] == 'x' || (unsigned char)cut[-1] == 0xa4);
}
END_TEST

// -- ratios

START_TEST(ratios_are_exact)
{
    static const struct {
        const char *text;
        sim_ratio_t ratio;
    } rows[] = {
        {"0", {0, 1}},
        {"0%", {0, 1}},
        {"0/7", {0, 1}},
        {"1", {1, 1}},
        {"0.2", {1, 5}},
        {"20%", {1, 5}},
        {"1e-12", {1, UINT64_C(1000000000000)}},
        {"2.5E-3", {1, 400}},
        {"20 %", {1, 5}},
        {"12.5%", {1, 8}},
        {"1/8", {1, 8}},
        {"2/16", {1, 8}},
        {" 1/8 ", {1, 8}},
        {"3/2", {3, 2}},
        {"150%", {3, 2}},
        {"1.5", {3, 2}},
        {"0.0000000000000000001", {1, UINT64_C(10000000000000000000)}},
        {"0.00000000000000001%", {1, UINT64_C(10000000000000000000)}},
        {"1/18446744073709551615", {1, UINT64_MAX}},
        {"18446744073709551615/18446744073709551615", {1, 1}},
        {"18446744073709551615", {UINT64_MAX, 1}},
        {"18446744073709551615.0", {UINT64_MAX, 1}},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        sim_ratio_t ratio = {77, 77};
        sim_message_t message = {.text = ""};
        ck_assert_msg(sim_parse_ratio(rows[i].text, &ratio, &message) == SIM_OK, "%s",
                      message.text);
        ck_assert_uint_eq(ratio.num, rows[i].ratio.num);
        ck_assert_uint_eq(ratio.den, rows[i].ratio.den);
    }
}
END_TEST

#define EXPECTED_RATIO ": expected a ratio such as 0.2, 20% or 1/8"

START_TEST(ratios_are_refused)
{
    static const refusal_t rows[] = {
        {"", SIM_ERR_INVALID, "\"\" is not a ratio" EXPECTED_RATIO},
        {"half", SIM_ERR_INVALID, "\"half\" is not a ratio" EXPECTED_RATIO},
        {"%", SIM_ERR_INVALID, "\"%\" is not a ratio" EXPECTED_RATIO},
        {"20%%", SIM_ERR_INVALID, "\"20%%\" is not a ratio" EXPECTED_RATIO},
        {"20% of", SIM_ERR_INVALID, "\"20% of\" is not a ratio" EXPECTED_RATIO},
        {"1/", SIM_ERR_INVALID, "\"1/\" is not a ratio" EXPECTED_RATIO},
        {"1e3", SIM_ERR_INVALID, "\"1e3\" is not a ratio" EXPECTED_RATIO},
        {"1e-", SIM_ERR_INVALID, "\"1e-\" is not a ratio" EXPECTED_RATIO},
        {"1e-5%", SIM_ERR_INVALID, "\"1e-5%\" is not a ratio" EXPECTED_RATIO},
        {"1e-20", SIM_ERR_INVALID, "\"1e-20\" is not a ratio" EXPECTED_RATIO},
        {"1/8%", SIM_ERR_INVALID, "\"1/8%\" is not a ratio" EXPECTED_RATIO},
        {"1/8/2", SIM_ERR_INVALID, "\"1/8/2\" is not a ratio" EXPECTED_RATIO},
        {"1/0.5", SIM_ERR_INVALID, "\"1/0.5\" is not a ratio" EXPECTED_RATIO},
        {"0.5/2", SIM_ERR_INVALID, "\"0.5/2\" is not a ratio" EXPECTED_RATIO},
        {"1/-8", SIM_ERR_INVALID, "\"1/-8\" is not a ratio" EXPECTED_RATIO},
        {"-1/8", SIM_ERR_RANGE, "\"-1/8\" is negative" EXPECTED_RATIO},
        {"1/0", SIM_ERR_INVALID, "\"1/0\" divides by zero" EXPECTED_RATIO},
        {"0/0", SIM_ERR_INVALID, "\"0/0\" divides by zero" EXPECTED_RATIO},
        {"1/18446744073709551616", SIM_ERR_RANGE,
         "\"1/18446744073709551616\" has too many digits" EXPECTED_RATIO},
        {"18446744073709551616", SIM_ERR_RANGE,
         "\"18446744073709551616\" has too many digits" EXPECTED_RATIO},
        {"0.00000000000000000001", SIM_ERR_RANGE,
         "\"0.00000000000000000001\" has too many digits" EXPECTED_RATIO},
        {"18446744073709551615.5", SIM_ERR_RANGE,
         "\"18446744073709551615.5\" has too many digits" EXPECTED_RATIO},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        sim_ratio_t ratio = {77, 78};
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(sim_parse_ratio(rows[i].text, &ratio, &message), rows[i].error);
        ck_assert_str_eq(message.text, rows[i].message);
        ck_assert_uint_eq(ratio.num, 77);
        ck_assert_uint_eq(ratio.den, 78);
    }
}
END_TEST

// -- tables

typedef struct config {
    bool pfc;
    uint64_t hosts;
    uint64_t kmin_bytes;
    sim_time_t delay_ps;
    uint64_t rate_bps;
    sim_ratio_t pmax;
    uint32_t scheduler;
    char *name;
    uint8_t lossless;
    uint32_t weights[8];
    uint64_t headroom_bytes;
} config_t;

enum { PFC, HOSTS, KMIN, DELAY, RATE, PMAX, SCHEDULER, NAME, LOSSLESS, WEIGHTS, HEADROOM };

// clang-format off
static const sim_attr_t attrs[] = {
    [PFC] = SIM_ATTR("port.pfc", BOOL, config_t, pfc,
             .default_text = "on",
             .help = "whether it pauses"),
    [HOSTS] = SIM_ATTR("port.hosts", COUNT, config_t, hosts,
             .default_text = "8", .min_text = "1",
             .help = "hosts"),
    [KMIN] = SIM_ATTR("port.kmin", BYTES, config_t, kmin_bytes,
             .default_text = "400KB", .min_text = "0", .max_text = "4GB",
             .help = "marks from here"),
    [DELAY] = SIM_ATTR("port.delay", TIME, config_t, delay_ps,
             .default_text = "1us", .max_text = "100ms",
             .help = "delay"),
    [RATE] = SIM_ATTR("port.rate", RATE, config_t, rate_bps,
             .default_text = "2.5Gbps",
             .help = "rate"),
    [PMAX] = SIM_ATTR("port.pmax", RATIO, config_t, pmax,
             .default_text = "20%", .min_text = "1/1000", .max_text = "1",
             .help = "most"),
    [SCHEDULER] = SIM_ATTR("port.scheduler", ENUM, config_t, scheduler,
             .default_text = "dwrr", .choices = "strict|dwrr|fifo",
             .help = "who is next"),
    [NAME] = SIM_ATTR("port.name", STRING, config_t, name,
             .default_text = "",
             .help = "name"),
    [LOSSLESS] = SIM_ATTR("port.lossless", PRIORITIES, config_t, lossless,
             .default_text = "[3, 4]",
             .help = "paused"),
    [WEIGHTS] = SIM_ATTR("port.weights", WEIGHTS, config_t, weights,
             .default_text = "1", .min_text = "1", .max_text = "1000",
             .help = "shares"),
    [HEADROOM] = SIM_ATTR("port.headroom", BYTES, config_t, headroom_bytes,
             .auto_ok = true, .default_text = "auto", .max_text = "1GB",
             .help = "room"),
};
// clang-format on

static const sim_attr_table_t table = {"port", "node", sizeof(config_t), attrs,
                                       SIM_COUNT_OF(attrs)};

START_TEST(defaults_fill_the_struct)
{
    config_t config;
    memset(&config, 0xff, sizeof(config));
    sim_attrs_default(&table, &config);
    ck_assert(config.pfc);
    ck_assert_uint_eq(config.hosts, 8);
    ck_assert_uint_eq(config.kmin_bytes, 400000);
    ck_assert_uint_eq(config.delay_ps, SIM_PS_PER_US);
    ck_assert_uint_eq(config.rate_bps, UINT64_C(2500000000));
    ck_assert_uint_eq(config.pmax.num, 1);
    ck_assert_uint_eq(config.pmax.den, 5);
    ck_assert_uint_eq(config.scheduler, 1);
    ck_assert_str_eq(config.name, "");
    ck_assert_uint_eq(config.lossless, 1U << 3 | 1U << 4);
    for (int i = 0; i < 8; ++i) {
        ck_assert_uint_eq(config.weights[i], 1);
    }
    ck_assert_uint_eq(config.headroom_bytes, SIM_AUTO);
    sim_attrs_fini(&table, &config);
    ck_assert_ptr_null(config.name);
}
END_TEST

START_TEST(paths_are_found_whole)
{
    ck_assert_ptr_eq(sim_attr_find(&table, "port.kmin"), &attrs[KMIN]);
    ck_assert_ptr_eq(sim_attr_find(&table, "port.headroom"), &attrs[HEADROOM]);
    ck_assert_ptr_null(sim_attr_find(&table, "kmin"));
    ck_assert_ptr_null(sim_attr_find(&table, "port.kmi"));
    ck_assert_ptr_null(sim_attr_find(&table, "port.kminx"));
    ck_assert_ptr_null(sim_attr_find(&table, ""));
}
END_TEST

START_TEST(copies_are_deep)
{
    config_t from;
    sim_attrs_default(&table, &from);
    ck_assert_int_eq(sim_attr_set(&attrs[NAME], &from, "uplink 1", NULL), SIM_OK);
    config_t to;
    memset(&to, 0xff, sizeof(to));
    sim_attrs_copy(&table, &to, &from);
    ck_assert_str_eq(to.name, "uplink 1");
    ck_assert_ptr_ne(to.name, from.name);
    ck_assert_uint_eq(to.kmin_bytes, from.kmin_bytes);
    sim_attrs_fini(&table, &from);
    ck_assert_str_eq(to.name, "uplink 1");

    config_t again;
    sim_attrs_copy(&table, &again, &from); // after fini: its string is gone
    ck_assert_ptr_null(again.name);
    sim_attrs_fini(&table, &again);
    sim_attrs_fini(&table, &to);
}
END_TEST

// Rows of text and the text expected back; NULL: it reads back as it was written.
static const struct {
    int attr;
    const char *text;
    const char *expected;
} round_trips[] = {
    {PFC, "true", NULL},
    {PFC, "false", NULL},
    {PFC, "on", "true"},
    {PFC, "off", "false"},
    {HOSTS, "1", NULL},
    {HOSTS, "4096", NULL},
    {HOSTS, "1000000", NULL},
    {KMIN, "0", NULL},
    {KMIN, "1", NULL},
    {KMIN, "999", NULL},
    {KMIN, "1000", "1KB"},
    {KMIN, "1024", "1KiB"},
    {KMIN, "1024KB", NULL},
    {KMIN, "1000KiB", "1024KB"},
    {KMIN, "64KiB", NULL},
    {KMIN, "65536", "64KiB"},
    {KMIN, "1536KiB", NULL},
    {KMIN, "3MiB", NULL},
    {KMIN, "1GiB", NULL},
    {KMIN, "4GB", NULL},
    {KMIN, "1.5MB", "1500KB"},
    {DELAY, "0s", NULL},
    {DELAY, "0ps", "0s"},
    {DELAY, "1ps", NULL},
    {DELAY, "0.5ns", "500ps"},
    {DELAY, "1500ns", NULL},
    {DELAY, "1000us", "1ms"},
    {DELAY, "100ms", NULL},
    {RATE, "0bps", NULL},
    {RATE, "2.5Gbps", "2500Mbps"},
    {RATE, "100Gbps", NULL},
    {RATE, "1000Gb/s", "1Tbps"},
    {RATE, "9600bps", NULL},
    {RATE, "9Kbps", NULL},
    {PMAX, "1/8", NULL},
    {PMAX, "0.125", "1/8"},
    {PMAX, "20%", "0.2"},
    {PMAX, "1/5", "0.2"},
    {PMAX, "50%", "0.5"},
    {PMAX, "1/3", NULL},
    {PMAX, "0.01", NULL},
    {PMAX, "0.123456789", NULL},
    {PMAX, "1", NULL},
    {PMAX, "1/128", NULL},
    {SCHEDULER, "strict", NULL},
    {SCHEDULER, "dwrr", NULL},
    {SCHEDULER, " fifo ", "fifo"},
    {NAME, "", NULL},
    {NAME, " a \"b\" | c\n", NULL},
    {LOSSLESS, "[]", NULL},
    {LOSSLESS, "[ ]", "[]"},
    {LOSSLESS, "3", "[3]"},
    {LOSSLESS, "[4,3]", "[3, 4]"},
    {LOSSLESS, "[ 0 , 7 ]", "[0, 7]"},
    {LOSSLESS, "[0, 1, 2, 3, 4, 5, 6, 7]", NULL},
    {WEIGHTS, "5", "[5, 5, 5, 5, 5, 5, 5, 5]"},
    {WEIGHTS, "[1, 2, 3, 4, 5, 6, 7, 1000]", NULL},
    {HEADROOM, "auto", NULL},
    {HEADROOM, "20KB", NULL},
};

START_TEST(values_read_back)
{
    config_t config;
    sim_attrs_default(&table, &config);
    for (size_t i = 0; i < SIM_COUNT_OF(round_trips); ++i) {
        const sim_attr_t *const attr = &attrs[round_trips[i].attr];
        const char *const text = round_trips[i].text;
        sim_message_t message = {.text = ""};
        ck_assert_msg(sim_attr_set(attr, &config, text, &message) == SIM_OK, "%s", message.text);
        char *const got = sim_attr_get(attr, &config);
        ck_assert_str_eq(got, round_trips[i].expected == NULL ? text : round_trips[i].expected);

        config_t again;
        sim_attrs_default(&table, &again);
        ck_assert_int_eq(sim_attr_set(attr, &again, got, &message), SIM_OK);
        char *const twice = sim_attr_get(attr, &again);
        ck_assert_str_eq(twice, got);
        sim_free(twice);
        sim_free(got);
        sim_attrs_fini(&table, &again);
    }
    sim_attrs_fini(&table, &config);
}
END_TEST

// The printed text of any number of any type reads back to the number.
START_TEST(any_number_reads_back)
{
    sim_attr_t attr = {.path = "x.y", .default_text = "0", .offset = 0};
    static const sim_attr_type_t types[] = {SIM_ATTR_COUNT, SIM_ATTR_BYTES, SIM_ATTR_TIME,
                                            SIM_ATTR_RATE};
    sim_random_t random;
    sim_random_init(&random, 2, 0, "round trips");
    for (int i = 0; i < 4000; ++i) {
        uint64_t number = sim_random_u64(&random) >> sim_random_below(&random, 64);
        // Half of the numbers are round, because these print with units.
        for (uint64_t zeros = sim_random_below(&random, 13); zeros > 0; --zeros) {
            number = number > NUMBER_MAX / 10 ? number / 10 : number;
            number = number / 10 * 10;
            number *= i % 2 == 0 ? 10 : 1;
        }
        number = number > NUMBER_MAX ? NUMBER_MAX : number;
        for (size_t t = 0; t < SIM_COUNT_OF(types); ++t) {
            attr.type = types[t];
            char *const text = sim_attr_get(&attr, &number);
            uint64_t back = ~number;
            sim_message_t message = {.text = ""};
            ck_assert_msg(sim_attr_set(&attr, &back, text, &message) == SIM_OK, "%s", message.text);
            ck_assert_uint_eq(back, number);
            sim_free(text);
        }
    }
    attr.type = SIM_ATTR_TIME;
    const sim_time_t never = SIM_TIME_NEVER;
    char *const text = sim_attr_get(&attr, &never);
    ck_assert_str_eq(text, "never");
    sim_free(text);
}
END_TEST

START_TEST(any_ratio_reads_back)
{
    const sim_attr_t attr = {.path = "x.y", .type = SIM_ATTR_RATIO, .default_text = "0"};
    sim_random_t random;
    sim_random_init(&random, 3, 0, "ratios");
    for (int i = 0; i < 4000; ++i) {
        sim_ratio_t ratio = {sim_random_u64(&random) >> sim_random_below(&random, 64),
                             sim_random_u64(&random) >> sim_random_below(&random, 63) | 1};
        char *const text = sim_attr_get(&attr, &ratio);
        sim_ratio_t back = {0, 0};
        ck_assert_msg(sim_attr_set(&attr, &back, text, NULL) == SIM_OK, "%s", text);
        // The ratio read back is equal and in lowest terms.
        ck_assert((sim_wide_t)back.num * ratio.den == (sim_wide_t)ratio.num * back.den);
        ck_assert_uint_le(back.den, ratio.den);
        sim_free(text);
    }
}
END_TEST

#define EXPECTED_PRIORITIES ": expected priorities 0 .. 7 such as [3, 4], 3 or []"
#define EXPECTED_WEIGHTS ": expected 8 weights such as [1, 1, 1, 4, 1, 1, 1, 1], or one for all"

static const struct {
    int attr;
    sim_err_t error;
    const char *text;
    const char *message;
} refused[] = {
    {PFC, SIM_ERR_INVALID, "maybe",
     "\"maybe\" is neither true nor false: expected true, false, on or off"},
    {HOSTS, SIM_ERR_RANGE, "0", "0 is out of range: expected at least 1"},
    {HOSTS, SIM_ERR_INVALID, "auto", "\"auto\" is not a count" EXPECTED_COUNT},
    {KMIN, SIM_ERR_RANGE, "5GB", "5GB is out of range: expected 0 .. 4GB"},
    {KMIN, SIM_ERR_RANGE, "4000000001", "4000000001 is out of range: expected 0 .. 4GB"},
    {KMIN, SIM_ERR_INVALID, "10 apples", "\"10 apples\" is not a size" EXPECTED_BYTES},
    {KMIN, SIM_ERR_INVALID, "never", "\"never\" is not a size" EXPECTED_BYTES},
    {DELAY, SIM_ERR_RANGE, "100.000000001ms",
     "100.000000001ms is out of range: expected at most 100ms"},
    {DELAY, SIM_ERR_RANGE, "never", "never is out of range: expected at most 100ms"},
    {DELAY, SIM_ERR_INVALID, "10", "\"10\" has no unit" EXPECTED_TIME},
    {RATE, SIM_ERR_INVALID, "fast", "\"fast\" is not a rate" EXPECTED_RATE},
    {PMAX, SIM_ERR_RANGE, "0.00099999", "0.00099999 is out of range: expected 1/1000 .. 1"},
    {PMAX, SIM_ERR_RANGE, "100.1%", "100.1% is out of range: expected 1/1000 .. 1"},
    {SCHEDULER, SIM_ERR_UNKNOWN, "dwr",
     "\"dwr\" is not one of strict, dwrr, fifo; did you mean \"dwrr\"?"},
    {SCHEDULER, SIM_ERR_UNKNOWN, "Strict",
     "\"Strict\" is not one of strict, dwrr, fifo; did you mean \"strict\"?"},
    {SCHEDULER, SIM_ERR_UNKNOWN, "random", "\"random\" is not one of strict, dwrr, fifo"},
    {SCHEDULER, SIM_ERR_UNKNOWN, "strict|dwrr", "\"strict|dwrr\" is not one of strict, dwrr, fifo"},
    {SCHEDULER, SIM_ERR_UNKNOWN, "", "\"\" is not one of strict, dwrr, fifo"},
    {LOSSLESS, SIM_ERR_INVALID, "", "\"\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "high", "\"high\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "3, 4", "\"3, 4\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "[3, 4", "\"[3, 4\" is not a list" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "3]", "\"3]\" is not a list" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "[", "\"[\" is not a list" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "]", "\"]\" is not a list" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "[3,,4]", "\"\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "[3,]", "\"\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_INVALID, "[[3]]", "\"[3]\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_RANGE, "[-3]", "\"-3\" is not a priority" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_RANGE, "[8]", "there is no priority 8" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_EXISTS, "[3, 3]", "priority 3 is listed twice" EXPECTED_PRIORITIES},
    {LOSSLESS, SIM_ERR_RANGE, "[0, 1, 2, 3, 4, 5, 6, 7, 7]",
     "\"[0, 1, 2, 3, 4, 5, 6, 7, 7]\" has too many items" EXPECTED_PRIORITIES},
    {WEIGHTS, SIM_ERR_INVALID, "[5]", "\"[5]\" is a list of 1" EXPECTED_WEIGHTS},
    {WEIGHTS, SIM_ERR_INVALID, "[]", "\"[]\" is a list of 0" EXPECTED_WEIGHTS},
    {WEIGHTS, SIM_ERR_INVALID, "[1, 2, 3, 4, 5, 6, 7]",
     "\"[1, 2, 3, 4, 5, 6, 7]\" is a list of 7" EXPECTED_WEIGHTS},
    {WEIGHTS, SIM_ERR_RANGE, "[1, 1, 1, 1, 1, 1, 1, 0]",
     "[1, 1, 1, 1, 1, 1, 1, 0] is out of range: expected 1 .. 1000"},
    {WEIGHTS, SIM_ERR_RANGE, "4294967296",
     "weight 4294967296 is too large: expected at most 4294967295"},
    {HEADROOM, SIM_ERR_RANGE, "2GB", "2GB is out of range: expected at most 1GB, or auto"},
    {HEADROOM, SIM_ERR_INVALID, "automatic",
     "\"automatic\" is not a size" EXPECTED_BYTES ", or auto"},
};

START_TEST(refusals_say_why_and_change_nothing)
{
    config_t config;
    sim_attrs_default(&table, &config);
    config_t before;
    memcpy(&before, &config, sizeof(config));
    for (size_t i = 0; i < SIM_COUNT_OF(refused); ++i) {
        const sim_attr_t *const attr = &attrs[refused[i].attr];
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(sim_attr_set(attr, &config, refused[i].text, &message), refused[i].error);
        ck_assert_str_eq(message.text, refused[i].message);
        ck_assert_int_eq(sim_attr_set(attr, &config, refused[i].text, NULL), refused[i].error);
        ck_assert_mem_eq(&config, &before, sizeof(config));
    }
    sim_attrs_fini(&table, &config);
}
END_TEST

static void default_of(sim_attr_t attr)
{
    const sim_attr_table_t wrong = {"port", "node", sizeof(config_t), &attr, 1};
    config_t config;
    sim_attrs_default(&wrong, &config);
}

START_TEST(default_out_of_range_is_a_bug)
{
    sim_attr_t attr = attrs[KMIN];
    attr.default_text = "5GB";
    default_of(attr);
}
END_TEST

START_TEST(range_without_a_unit_is_a_bug)
{
    sim_attr_t attr = attrs[DELAY];
    attr.max_text = "100";
    default_of(attr);
}
END_TEST

START_TEST(path_of_another_table_is_a_bug)
{
    sim_attr_t attr = attrs[KMIN];
    attr.path = "portal.kmin";
    default_of(attr);
}
END_TEST

START_TEST(field_outside_its_struct_is_a_bug)
{
    sim_attr_t attr = attrs[KMIN];
    attr.offset = sizeof(config_t) - 4;
    default_of(attr);
}
END_TEST

CHECK_MAIN(CHECK_TEST(sizes_are_exact), CHECK_TEST(sizes_are_refused), CHECK_TEST(times_are_exact),
           CHECK_TEST(times_are_refused), CHECK_TEST(rates_are_exact),
           CHECK_TEST(rates_are_refused), CHECK_TEST(counts_are_whole),
           CHECK_TEST(decimals_scale_without_rounding), CHECK_TEST(long_text_is_cut_in_messages),
           CHECK_TEST(ratios_are_exact), CHECK_TEST(ratios_are_refused),
           CHECK_TEST(defaults_fill_the_struct), CHECK_TEST(paths_are_found_whole),
           CHECK_TEST(copies_are_deep), CHECK_TEST(values_read_back),
           CHECK_TEST(any_number_reads_back), CHECK_TEST(any_ratio_reads_back),
           CHECK_TEST(refusals_say_why_and_change_nothing),
           CHECK_SIGNAL(default_out_of_range_is_a_bug, SIGABRT),
           CHECK_SIGNAL(range_without_a_unit_is_a_bug, SIGABRT),
           CHECK_SIGNAL(path_of_another_table_is_a_bug, SIGABRT),
           CHECK_SIGNAL(field_outside_its_struct_is_a_bug, SIGABRT))

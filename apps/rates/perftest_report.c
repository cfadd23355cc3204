// SPDX-License-Identifier: Apache-2.0
// apps/rates/perftest_report.c - measures a perftest and prints the table of the tool.
//
// Columns have the meaning of the tools': average bandwidth from the first post to the last
// completion; peak bandwidth of the best interval from any post to any later completion, computed
// for up to 20000 messages; latencies of all iterations, sorted.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/hosts.h"
#include "apps/rates/perftest_internal.h"
#include "apps/report_rows.h"

#define PEAK_MESSAGES_MAX 20000u

static const char *const titles[] = {
    [APP__PERFTEST_WRITE_BW] = "RDMA_Write BW Test",
    [APP__PERFTEST_READ_BW] = "RDMA_Read BW Test",
    [APP__PERFTEST_SEND_BW] = "Send BW Test",
    [APP__PERFTEST_WRITE_LAT] = "RDMA_Write Latency Test",
    [APP__PERFTEST_READ_LAT] = "RDMA_Read Latency Test",
    [APP__PERFTEST_SEND_LAT] = "Send Latency Test",
    [APP__PERFTEST_ATOMIC_BW] = "Atomic FETCH_AND_ADD BW Test",
    [APP__PERFTEST_ATOMIC_LAT] = "Atomic FETCH_AND_ADD Latency Test",
};

// -- measuring

static double gbps(uint64_t bytes, double time_ps)
{
    return time_ps > 0.0 ? (double)bytes * 8000.0 / time_ps : 0.0;
}

// Returns the shortest time per message of any interval; it compares times and counts as fractions.
static double best_time_ps(const app__perftest_t *test)
{
    double best_ps = (double)(test->completed_ps[0] - test->posted_ps[0]);
    double best_count = 1.0;
    for (uint64_t first = 0; first < test->completed; first++) {
        for (uint64_t last = first; last < test->completed; last++) {
            const double time_ps = (double)(test->completed_ps[last] - test->posted_ps[first]);
            const double count = (double)(last - first + 1);
            if (time_ps * best_count < best_ps * count) {
                best_ps = time_ps;
                best_count = count;
            }
        }
    }
    return best_ps / best_count;
}

// Returns the shortest time per message between any two completions. Unreliable messages complete
// when their last packet is sent, so the time from a post would leave out that packet.
static double best_unreliable_ps(const app__perftest_t *test, double average_ps)
{
    double best_ps = average_ps;
    for (uint64_t first = 0; first < test->completed; first++) {
        for (uint64_t last = first + 1; last < test->completed; last++) {
            const double time_ps = (double)(test->completed_ps[last] - test->completed_ps[first]);
            const double one_ps = time_ps / (double)(last - first);
            best_ps = one_ps > 0 && one_ps < best_ps ? one_ps : best_ps;
        }
    }
    return best_ps;
}

static void measure_bandwidth(const app__perftest_t *test, app__perftest_row_t *row)
{
    const double time_ps = (double)(test->completed_ps[test->completed - 1] - test->posted_ps[0]);
    const uint64_t ways = test->both_ways ? 2 : 1;
    row->average_gbps = gbps(ways * row->bytes * row->iterations, time_ps);
    row->rate_mpps = (double)(ways * row->iterations) * 1e6 / time_ps;
    if (row->iterations <= PEAK_MESSAGES_MAX) {
        const double best_ps = test->connection == APP__PERFTEST_RC
                                   ? best_time_ps(test)
                                   : best_unreliable_ps(test, time_ps / (double)row->iterations);
        row->peak_gbps = gbps(ways * row->bytes, best_ps);
    }
}

static int compare_times(const void *left, const void *right)
{
    const sim_time_t a = *(const sim_time_t *)left;
    const sim_time_t b = *(const sim_time_t *)right;
    return a < b ? -1 : a > b;
}

static void measure_latency(const app__perftest_t *test, app__perftest_row_t *row)
{
    const uint64_t count = row->iterations;
    const uint64_t parts = app__perftest_is_fetch(test) ? 1 : 2;
    sim_time_t *const times_ps = sim_alloc_array(count, sizeof(*times_ps));
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        times_ps[i] = (test->completed_ps[i] - test->posted_ps[i]) / parts;
        sum += (double)times_ps[i];
    }
    qsort(times_ps, count, sizeof(*times_ps), compare_times);
    row->min_ps = times_ps[0];
    row->max_ps = times_ps[count - 1];
    row->typical_ps =
        count % 2 == 1 ? times_ps[count / 2] : (times_ps[count / 2 - 1] + times_ps[count / 2]) / 2;
    row->average_ps = sum / (double)count;
    double squares = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        const double difference = (double)times_ps[i] - row->average_ps;
        squares += difference * difference;
    }
    row->deviation_ps = sqrt(squares / (double)count);
    row->p99_ps = times_ps[(count * 99 + 99) / 100 - 1];
    row->p999_ps = times_ps[(count * 999 + 999) / 1000 - 1];
    sim_free(times_ps);
}

void app__perftest_measure(app__perftest_t *test)
{
    app__perftest_row_t *const row = &test->rows[test->row_count++];
    *row = (app__perftest_row_t){.bytes = test->sizes[test->size_index],
                                 .iterations = test->completed};
    if (app__perftest_is_latency(test)) {
        measure_latency(test, row);
    } else {
        measure_bandwidth(test, row);
    }
}

// -- reporting

static const app__perftest_t *test_of(const app_t *app)
{
    return (const app__perftest_t *)(const void *)app;
}

// A row as it is reported; each number belongs to one of the two kinds of tests.
typedef struct row_report {
    uint64_t bytes;
    uint64_t iterations;
    bool latency;
    double numbers[10]; // indexed by the enumeration below
} row_report_t;

enum { T_MIN, T_MAX, T_TYPICAL, T_AVG, T_STDEV, T_P99, T_P999, BW_PEAK, BW_AVERAGE, MESSAGE_RATE };

typedef struct perftest_report {
    row_report_t one; // row of the only size
    bool several;
    row_report_t sizes[APP__PERFTEST_SIZES_MAX];
    sim_report_list_t list;
} perftest_report_t;

static row_report_t report_of(const app__perftest_t *test, const app__perftest_row_t *row)
{
    return (row_report_t){
        .bytes = row->bytes,
        .iterations = row->iterations,
        .latency = app__perftest_is_latency(test),
        .numbers =
            {
                [T_MIN] = (double)row->min_ps / 1e6,
                [T_MAX] = (double)row->max_ps / 1e6,
                [T_TYPICAL] = (double)row->typical_ps / 1e6,
                [T_AVG] = row->average_ps / 1e6,
                [T_STDEV] = row->deviation_ps / 1e6,
                [T_P99] = (double)row->p99_ps / 1e6,
                [T_P999] = (double)row->p999_ps / 1e6,
                [BW_PEAK] = row->peak_gbps,
                [BW_AVERAGE] = row->average_gbps,
                [MESSAGE_RATE] = row->rate_mpps,
            },
    };
}

static void fill_report(const void *object, void *filled)
{
    const app__perftest_t *const test = object;
    perftest_report_t *const report = filled;
    for (uint32_t i = 0; i < test->row_count; i++) {
        report->sizes[i] = report_of(test, &test->rows[i]);
    }
    report->several = test->size_count > 1;
    report->one = report->sizes[0];
    report->list = (sim_report_list_t){report->sizes, test->row_count};
}

static bool get_number(const row_report_t *row, int index, sim_report_value_t *value)
{
    value->real = row->numbers[index];
    return row->iterations != 0 && row->latency == (index <= T_P999);
}

// Rows of an item of the list, and of the whole test where there is only one size.
#define NUMBERS(X)                                                               \
    X(t_min, T_MIN, "us", "shortest time of a message")                          \
    X(t_max, T_MAX, "us", "longest time of a message")                           \
    X(t_typical, T_TYPICAL, "us", "median time of a message")                    \
    X(t_avg, T_AVG, "us", "mean time of a message")                              \
    X(t_stdev, T_STDEV, "us", "standard deviation of a message's time")          \
    X(t_p99, T_P99, "us", "99th percentile of a message's time")                 \
    X(t_p999, T_P999, "us", "99.9th percentile of a message's time")             \
    X(bw_peak, BW_PEAK, "Gbps", "highest bandwidth of any interval of messages") \
    X(bw_average, BW_AVERAGE, "Gbps", "average bandwidth over all messages")     \
    X(message_rate, MESSAGE_RATE, "Mpps", "messages per second, in millions")
#define GETTERS(name, index, unit_, help_)                                    \
    static bool get_##name(const void *object, sim_report_value_t *value)     \
    {                                                                         \
        return get_number(object, index, value);                              \
    }                                                                         \
    static bool get_one_##name(const void *object, sim_report_value_t *value) \
    {                                                                         \
        const perftest_report_t *const report = object;                       \
        return !report->several && get_number(&report->one, index, value);    \
    }
NUMBERS(GETTERS)

// Reads the best number of all sizes: the largest, or the smallest of latencies.
static bool get_best(const perftest_report_t *report, int index, sim_report_value_t *value)
{
    bool found = false;
    for (size_t i = 0; report->several && i < report->list.count; i++) {
        sim_report_value_t one = {0};
        if (get_number(&report->sizes[i], index, &one)) {
            const bool better = index <= T_P999 ? one.real < value->real : one.real > value->real;
            value->real = !found || better ? one.real : value->real;
            found = true;
        }
    }
    return found;
}

static bool get_best_average(const void *object, sim_report_value_t *value)
{
    return get_best(object, BW_AVERAGE, value);
}

static bool get_best_typical(const void *object, sim_report_value_t *value)
{
    return get_best(object, T_TYPICAL, value);
}

static bool get_iterations(const void *object, sim_report_value_t *value)
{
    const perftest_report_t *const report = object;
    value->whole = report->one.iterations;
    return !report->several && report->one.iterations != 0;
}

static bool get_sizes(const void *object, sim_report_value_t *value)
{
    const perftest_report_t *const report = object;
    value->list = report->list;
    return report->several;
}

// clang-format off
#define ROW(name_, index, unit_, help_) \
    {.name = #name_, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, .get = get_##name_, .shown = true},
#define ONE(name_, index, unit_, help_) \
    {.name = #name_, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, .get = get_one_##name_, .shown = true},
static const sim_report_row_t size_rows[] = {
    APP__WHOLE(row_report_t, bytes, "bytes", "bytes of a message"),
    APP__WHOLE(row_report_t, iterations, "", "number of messages of this size"),
    NUMBERS(ROW)
};
static const sim_report_table_t size_table = {
    .rows = size_rows, .count = SIM_COUNT_OF(size_rows), .bytes = sizeof(row_report_t),
};
static const sim_report_row_t rows[] = {
    {.name = "iterations", .kind = SIM_REPORT_U64, .unit = "", .help =
     "number of messages, in a test with one size",
     .get = get_iterations, .shown = true},
    NUMBERS(ONE)
    {.name = "bw_average_max", .kind = SIM_REPORT_REAL, .unit = "Gbps", .help =
     "highest average bandwidth of any size, in a test with several sizes", .get = get_best_average, .shown = true},
    {.name = "t_typical_min", .kind = SIM_REPORT_REAL, .unit = "us", .help =
     "shortest median time of any size, in a test with several sizes", .get = get_best_typical, .shown = true},
    {.name = "sizes", .kind = SIM_REPORT_LIST, .of = SIM_REPORT_OBJECT, .unit = "", .table = &size_table,
     .help = "results per message size, in a test with several sizes", .get = get_sizes},
};
// clang-format on
const sim_report_table_t app__perftest_report = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(perftest_report_t),
    .fill = fill_report,
};

static void print_row(const app__perftest_t *test, const app__perftest_row_t *row,
                      void (*write)(const char *text, void *ctx), void *ctx)
{
    char line[256];
    if (app__perftest_is_latency(test)) {
        snprintf(line, sizeof(line),
                 " %-7" PRIu64 " %-11" PRIu64
                 "    %-11.2f    %-11.2f  %-15.2f  %-11.2f    %-11.2f     "
                 "%-20.2f   %-.2f\n",
                 row->bytes, row->iterations, (double)row->min_ps / 1e6, (double)row->max_ps / 1e6,
                 (double)row->typical_ps / 1e6, row->average_ps / 1e6, row->deviation_ps / 1e6,
                 (double)row->p99_ps / 1e6, (double)row->p999_ps / 1e6);
    } else {
        snprintf(line, sizeof(line),
                 " %-7" PRIu64 "    %-11" PRIu64 "    %-15.2f    %-18.2f   %-.6f\n", row->bytes,
                 row->iterations, row->peak_gbps, row->average_gbps, row->rate_mpps);
    }
    write(line, ctx);
}

void app__perftest_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    static const char rule[] =
        "--------------------------------------------------------------------"
        "-------------------\n";
    const app__perftest_t *const test = test_of(app);
    char line[512];
    write(rule, ctx);
    snprintf(line, sizeof(line), "                    %s%s\n", titles[test->kind],
             test->both_ways ? " (bidirectional)" : "");
    write(line, ctx);
    snprintf(line, sizeof(line),
             " client %.200s, server %.200s\n number of qps : %" PRIu64 "   tx depth : %" PRIu64
             "\n",
             app__host_name(app->net, test->client->interface),
             app__host_name(app->net, test->server->interface), test->qp_count, test->tx_depth);
    write(line, ctx);
    write(rule, ctx);
    write(
        app__perftest_is_latency(test)
            ? " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]  t_avg[usec]    "
              "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
            : " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
        ctx);
    for (uint32_t i = 0; i < test->row_count; i++) {
        print_row(test, &test->rows[i], write, ctx);
    }
    if (test->status != NIC_WC_SUCCESS) {
        snprintf(line, sizeof(line), " Completion with error: %s\n",
                 nic_wc_status_text((nic_wc_status_t)test->status));
        write(line, ctx);
    } else if (!test->ended) {
        write(" (not finished)\n", ctx);
    }
    write(rule, ctx);
}

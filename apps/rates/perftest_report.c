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

__extension__ typedef __int128 signed_wide_t;

// A time per message, as a fraction.
typedef struct pace {
    sim_time_t time_ps;
    uint64_t count;
} pace_t;

// Looks for an interval, from the begin of one message to the end of the same or a later one, that
// has the largest gain over a pace: time at that pace less its own. `apart` is the least number of
// messages between the two. Returns whether one has a gain, and its pace.
static bool find_faster(const sim_time_t *begins_ps, const sim_time_t *ends_ps, uint64_t messages,
                        uint64_t apart, pace_t *pace)
{
    const signed_wide_t time_ps = pace->time_ps;
    const signed_wide_t count = pace->count;
    signed_wide_t best = 0;
    signed_wide_t least = 0;
    uint64_t least_first = 0;
    uint64_t firsts = 0; // number of messages at which an interval that ends here may begin
    for (uint64_t last = 0; last < messages; last++) {
        while (firsts + apart <= last && begins_ps[firsts] < ends_ps[last]) {
            const signed_wide_t before = time_ps * firsts - count * begins_ps[firsts];
            if (firsts == 0 || before < least) {
                least = before;
                least_first = firsts;
            }
            firsts++;
        }
        const signed_wide_t gain = time_ps * (last + 1 - apart) - count * ends_ps[last] - least;
        if (firsts > 0 && gain > best) {
            best = gain;
            *pace =
                (pace_t){ends_ps[last] - begins_ps[least_first], last + 1 - apart - least_first};
        }
    }
    return best > 0;
}

// Returns the shortest time per message of any interval. Each pass looks for the interval with the
// largest gain over the pace of the one before (Dinkelbach 1967, for ratios), so a few suffice.
// Unreliable messages complete when their last packet is sent, so their intervals begin at a
// completion: the time from a post would leave out that packet.
static double best_time_ps(const app__perftest_end_t *end, uint64_t messages)
{
    const bool reliable = end->test->config.connection == APP__PERFTEST_RC;
    const sim_time_t *const begins_ps = reliable ? end->posted_ps : end->completed_ps;
    pace_t pace = {end->completed_ps[messages - 1] - end->posted_ps[0], messages};
    while (find_faster(begins_ps, end->completed_ps, messages, reliable ? 0 : 1, &pace)) {
    }
    return (double)pace.time_ps / (double)pace.count;
}

static void measure_bandwidth(const app__perftest_end_t *end, app__perftest_row_t *row)
{
    const double time_ps = (double)(end->completed_ps[row->iterations - 1] - end->posted_ps[0]);
    row->average_gbps = gbps(row->bytes * row->iterations, time_ps);
    row->rate_mpps = (double)row->iterations * 1e6 / time_ps;
    if (row->iterations <= PEAK_MESSAGES_MAX) {
        row->peak_gbps = gbps(row->bytes, best_time_ps(end, row->iterations));
    }
}

static int compare_times(const void *left, const void *right)
{
    const sim_time_t a = *(const sim_time_t *)left;
    const sim_time_t b = *(const sim_time_t *)right;
    return a < b ? -1 : a > b;
}

static void measure_latency(const app__perftest_end_t *end, app__perftest_row_t *row)
{
    const uint64_t count = row->iterations;
    const uint64_t parts = app__perftest_is_fetch(end->test->config.test) ? 1 : 2;
    sim_time_t *const times_ps = sim_alloc_array(count, sizeof(*times_ps));
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        times_ps[i] = (end->completed_ps[i] - end->posted_ps[i]) / parts;
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

void app__perftest_measure(app__perftest_end_t *end)
{
    app__perftest_row_t *const row = &end->rows[end->row_count++];
    *row = (app__perftest_row_t){.bytes = end->test->sizes[end->size_index],
                                 .iterations = end->completed};
    if (app__perftest_is_latency(end->test->config.test)) {
        measure_latency(end, row);
    } else {
        measure_bandwidth(end, row);
    }
}

// Returns a row as the tool prints it: in a test of both directions with the sums of what each end
// measured.
static app__perftest_row_t printed(const app__perftest_t *test, uint32_t index)
{
    const app__perftest_end_t *const server = &test->ends[APP__RESPONDER];
    app__perftest_row_t row = test->ends[APP__REQUESTER].rows[index];
    if (index < server->row_count) {
        row.peak_gbps += server->rows[index].peak_gbps;
        row.average_gbps += server->rows[index].average_gbps;
        row.rate_mpps += server->rows[index].rate_mpps;
    }
    return row;
}

// -- reporting

// clang-format off
#define LATENCY_ROWS(X) \
    X(t_min, REAL, "us", true, "shortest time of a message") \
    X(t_max, REAL, "us", true, "longest time of a message") \
    X(t_typical, REAL, "us", true, "median time of a message") \
    X(t_avg, REAL, "us", true, "mean time of a message") \
    X(t_stdev, REAL, "us", true, "standard deviation of a message's time") \
    X(t_p99, REAL, "us", true, "99th percentile of a message's time") \
    X(t_p999, REAL, "us", true, "99.9th percentile of a message's time")
#define BANDWIDTH_ROWS(X) \
    X(bw_peak, REAL, "Gbps", true, "highest bandwidth of any interval of messages") \
    X(bw_average, REAL, "Gbps", true, "average bandwidth over all messages") \
    X(message_rate, REAL, "Mpps", true, "messages per second, in millions")
// clang-format on
// A size as it is reported; one of the two kinds of tests gives the numbers.
typedef struct size_report {
    uint64_t bytes;
    uint64_t iterations;
    bool latency;
    bool bandwidth;
    LATENCY_ROWS(APP__MEMBER)
    BANDWIDTH_ROWS(APP__MEMBER)
} size_report_t;

typedef struct perftest_report {
    uint64_t iterations;
    size_report_t one; // the only size
    bool only;         // there is only one, with messages
    bool latencies;    // there are several, with messages
    bool bandwidths;
    double t_typical_min;
    double bw_average_max;
    size_report_t sizes[APP__PERFTEST_SIZES_MAX];
    sim_report_list_t list; // of these, if there are several
} perftest_report_t;

static size_report_t report_of(const app__perftest_t *test, const app__perftest_row_t *row)
{
    const bool latency = app__perftest_is_latency(test->config.test);
    return (size_report_t){
        .bytes = row->bytes,
        .iterations = row->iterations,
        .latency = latency,
        .bandwidth = !latency,
        .t_min = (double)row->min_ps / 1e6,
        .t_max = (double)row->max_ps / 1e6,
        .t_typical = (double)row->typical_ps / 1e6,
        .t_avg = row->average_ps / 1e6,
        .t_stdev = row->deviation_ps / 1e6,
        .t_p99 = (double)row->p99_ps / 1e6,
        .t_p999 = (double)row->p999_ps / 1e6,
        .bw_peak = row->peak_gbps,
        .bw_average = row->average_gbps,
        .message_rate = row->rate_mpps,
    };
}

static void fill_report(const void *object, void *filled)
{
    const app__perftest_t *const test = object;
    perftest_report_t *const report = filled;
    const bool several = test->size_count > 1;
    const uint32_t row_count = test->ends[APP__REQUESTER].row_count;
    for (uint32_t i = 0; i < row_count; i++) {
        size_report_t *const size = &report->sizes[i];
        const app__perftest_row_t row = printed(test, i);
        *size = report_of(test, &row);
        report->latencies = several && size->latency;
        report->bandwidths = several && size->bandwidth;
        report->t_typical_min =
            i == 0 ? size->t_typical : SIM_MIN(size->t_typical, report->t_typical_min);
        report->bw_average_max = SIM_MAX(size->bw_average, report->bw_average_max);
    }
    if (several) {
        report->list = (sim_report_list_t){report->sizes, row_count};
    } else if (row_count > 0) {
        report->only = true;
        report->one = report->sizes[0];
        report->iterations = report->one.iterations;
    }
}

// clang-format off
#define LATENCY(...) APP__ROW_IF(size_report_t, latency, __VA_ARGS__)
#define BANDWIDTH(...) APP__ROW_IF(size_report_t, bandwidth, __VA_ARGS__)
static const sim_report_row_t size_rows[] = {
    APP__ROW(size_report_t, bytes, U64, "bytes", true, "bytes of a message")
    APP__ROW(size_report_t, iterations, U64, "", true, "number of messages of this size")
    LATENCY_ROWS(LATENCY)
    BANDWIDTH_ROWS(BANDWIDTH)
};
static const sim_report_table_t size_table = APP__TABLE(size_rows, size_report_t);
#define ONE(given_, name_, unit_, help_) \
    {#name_, SIM_REPORT_REAL, unit_, help_, .offset = offsetof(perftest_report_t, one.name_), \
     .given = offsetof(perftest_report_t, one.given_), .shown = true},
#define ONE_LATENCY(name_, kind_, unit_, shown_, help_) ONE(latency, name_, unit_, help_)
#define ONE_BANDWIDTH(name_, kind_, unit_, shown_, help_) ONE(bandwidth, name_, unit_, help_)
static const sim_report_row_t rows[] = {
    APP__ROW_IF(perftest_report_t, only, iterations, U64, "", true, "number of messages, in a test with one size")
    LATENCY_ROWS(ONE_LATENCY)
    BANDWIDTH_ROWS(ONE_BANDWIDTH)
    APP__ROW_IF(perftest_report_t, bandwidths, bw_average_max, REAL, "Gbps", true, "highest average bandwidth of any size, in a test with several sizes")
    APP__ROW_IF(perftest_report_t, latencies, t_typical_min, REAL, "us", true, "shortest median time of any size, in a test with several sizes")
    {"sizes", SIM_REPORT_LIST, "", "results per message size, in a test with several sizes",
     .offset = offsetof(perftest_report_t, list), .of = SIM_REPORT_OBJECT, .table = &size_table, .optional = true},
};
// clang-format on
const sim_report_table_t app__perftest_report = APP__FILLED(rows, perftest_report_t, fill_report);

static void print_row(const app__perftest_t *test, const app__perftest_row_t *row,
                      void (*write)(const char *text, void *ctx), void *ctx)
{
    char line[256];
    if (app__perftest_is_latency(test->config.test)) {
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
    const app__perftest_t *const test = (const app__perftest_t *)(const void *)app;
    const app__perftest_end_t *const client = &test->ends[APP__REQUESTER];
    char line[512];
    write(rule, ctx);
    snprintf(line, sizeof(line), "                    %s%s\n", titles[test->config.test],
             test->config.both_ways ? " (bidirectional)" : "");
    write(line, ctx);
    snprintf(line, sizeof(line),
             " client %.200s, server %.200s\n number of qps : %" PRIu64 "   tx depth : %" PRIu64
             "\n",
             app__host_name(app->net, client->endpoint->interface),
             app__host_name(app->net, test->ends[APP__RESPONDER].endpoint->interface),
             test->config.qps, test->config.tx_depth);
    write(line, ctx);
    write(rule, ctx);
    write(
        app__perftest_is_latency(test->config.test)
            ? " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]  t_avg[usec]    "
              "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
            : " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
        ctx);
    for (uint32_t i = 0; i < client->row_count; i++) {
        const app__perftest_row_t row = printed(test, i);
        print_row(test, &row, write, ctx);
    }
    if (test->status != NIC_WC_SUCCESS) {
        snprintf(line, sizeof(line), " Completion with error: %s\n",
                 nic_wc_status_text((nic_wc_status_t)test->status));
        write(line, ctx);
    } else if (!client->ended) {
        write(" (not finished)\n", ctx);
    }
    write(rule, ctx);
}

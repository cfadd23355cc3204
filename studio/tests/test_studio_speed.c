// SPDX-License-Identifier: Apache-2.0
// labels: study
// studio/tests/test_studio_speed.c - the speed of a run with 10^6 flows and 10^7 points of series.
//
// Goal: on two cores the studio opens such a run in 2 s and filters it in 300 ms.
// Method: the test writes a folder with rocesim's columns, imports it and takes the best processor
// time of three, as other work may be going on; rates are printed. Not pinned: correctness.
#include "tests/check_main.h"

#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "studio/server/data/analysis/analysis.h"
#include "studio/server/data/import/import.h"
#include "studio/server/data/import/points.h"
#include "studio/server/data/query/query.h"
#include "studio/server/data/query/search.h"
#include "studio/server/data/query/sql.h"

#define FLOWS 1000000
#define PATHS 100
#define SAMPLES 100000 // of each path

static char folder[64];
static char result_folder[96];
static char index_folder[96];
static studio_sources_t sources;

// Returns the processor time of this process, which has one thread. It is independent of other
// load.
static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static FILE *make(const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/%s", result_folder, name);
    FILE *const stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    return stream;
}

static void make_flows(void)
{
    FILE *const stream = make("flows.csv");
    fputs("flow_id,src,dst,src_port,bytes,start_ns,end_ns,fct_ns,ideal_fct_ns,slowdown,"
          "retransmitted_packets,app,priority,delivered_bytes,failed_ns,status\n",
          stream);
    for (uint64_t i = 0; i < FLOWS; i++) {
        const uint64_t draw = sim_mix64(i);
        const uint64_t bytes = 1000 + draw % 1000000;
        const uint64_t fct = bytes / 10 + draw % 777;
        fprintf(stream,
                "%" PRIu64 ",host%u,host%u,%u,%" PRIu64 ",%" PRIu64 ".%03u,%" PRIu64
                ".%03u,%" PRIu64 ".120,%" PRIu64 ",1.%06u,0,poisson,3,%" PRIu64 ",,success\n",
                i, (unsigned)(draw >> 20 & 255), (unsigned)(draw >> 30 & 255),
                49152 + (unsigned)(draw >> 40 & 16383), bytes, i * 100, (unsigned)(draw % 1000),
                i * 100 + fct, (unsigned)(draw % 1000), fct, bytes / 12, (unsigned)(draw % 1000000),
                bytes);
    }
    fclose(stream);
}

static void make_series(void)
{
    FILE *const stream = make("series.csv");
    fputs("time_ns,path,value\n", stream);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        for (uint64_t path = 0; path < PATHS; path++) {
            fprintf(stream,
                    "%" PRIu64 ",port[leaf%" PRIu64 "->host%" PRIu64 "].queue_bytes[3],%" PRIu64
                    "\n",
                    i * 1000, path / 16, path, sim_mix64(i * PATHS + path) % 1000000);
        }
    }
    fclose(stream);
}

static double ask(const char *body)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        const double began_s = cpu_seconds();
        studio_query_t *query = NULL;
        studio_place_error_t error;
        json_t *const json = json_loads(body, 0, NULL);
        ck_assert_ptr_nonnull(json);
        const sim_err_t code = studio_query_open(&sources, json, STUDIO_JSON, NULL, &query, &error);
        ck_assert_msg(code == SIM_OK, "%s", error.message.text);
        studio_out_t out = {.bytes = NULL};
        while (studio_query_write(query, &out)) {
        }
        studio_query_close(query);
        json_decref(json);
        studio_out_fini(&out);
        const double seconds = cpu_seconds() - began_s;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void within(const char *what, double seconds, double most)
{
    printf("%-60s %8.1f ms\n", what, seconds * 1000);
    ck_assert_msg(seconds < most, "%s: %.3f s, expected %.3f", what, seconds, most);
}

static double draw_curves(size_t curves)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/series.points", index_folder);
    const double began_s = cpu_seconds();
    studio_points_t *points = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(studio_points_open(path, &points, &message), SIM_OK);
    studio_pixel_t pixels[1000];
    for (size_t i = 0; i < curves; i++) {
        ck_assert_uint_eq(
            studio_points_draw(&points->series[i], 0, INT64_C(99999000000), 1000, pixels), 1000);
    }
    studio_points_close(points);
    return cpu_seconds() - began_s;
}

static double analyse(const char *steps)
{
    const double began_s = cpu_seconds();
    studio_analysis_t *const analysis = sim_alloc(sizeof(*analysis));
    studio_place_error_t error;
    int step = 0;
    json_t *const json = json_loads(steps, 0, NULL);
    ck_assert_ptr_nonnull(json);
    const sim_err_t code = studio_analysis_run(analysis, &sources, json, NULL, &step, &error);
    ck_assert_msg(code == SIM_OK, "step %d: %s", step, error.message.text);
    studio_analysis_fini(analysis);
    sim_free(analysis);
    json_decref(json);
    return cpu_seconds() - began_s;
}

static double run_sql(const char *text)
{
    const double began_s = cpu_seconds();
    studio_sql_t *sql = NULL;
    studio_place_error_t error;
    studio_out_t out = {.bytes = NULL};
    ck_assert_int_eq(studio_sql_open(&sources, text, 0, 60, STUDIO_JSON, NULL, &sql, &error),
                     SIM_OK);
    ck_assert_int_eq(studio_sql_begin(sql, &error), SIM_OK);
    while (studio_sql_write(sql, &out)) {
    }
    studio_sql_close(sql);
    studio_out_fini(&out);
    return cpu_seconds() - began_s;
}

static void measure(void)
{
    within("open: the first page of flows", ask("{\"table\":\"flows\",\"limit\":200}"), 2);
    within("open: the first page of series", ask("{\"table\":\"series\",\"limit\":200}"), 2);
    within("open: 16 curves of 1000 pixels", draw_curves(16), 2);
    within("filter flows: fct_ns > 99us, by the filter builder",
           ask("{\"table\":\"flows\",\"filter\":[{\"column\":\"fct_ns\",\"op\":\">\",\"value\":"
               "\"99us\"}]}"),
           0.3);
    within("filter flows: src = host7 and bytes < 10KB",
           ask("{\"table\":\"flows\",\"filter\":[{\"column\":\"src\",\"op\":\"=\",\"value\":"
               "\"host7\"},"
               "{\"column\":\"bytes\",\"op\":\"<\",\"value\":\"10KB\"}]}"),
           0.3);
    within("filter flows: an expression",
           ask("{\"table\":\"flows\",\"where\":\"in(bytes / fct_ns, \\\"Gbps\\\") < 70 and src ~ "
               "\\\"host1*\\\"\"}"),
           0.3);
    within(
        "order flows by slowdown, the first 100",
        ask("{\"table\":\"flows\",\"limit\":100,\"order\":[{\"column\":\"slowdown\",\"descending\":"
            "true}]}"),
        0.3);
    within("filter series: value > 999000",
           ask("{\"table\":\"series\",\"filter\":[{\"column\":\"value\",\"op\":\">\",\"value\":"
               "999000}]}"),
           0.3);
    within(
        "filter series: a path and a range of time",
        ask("{\"table\":\"series\",\"from_ns\":5000000,\"to_ns\":6000000,\"filter\":[{\"column\":"
            "\"path\",\"op\":\"contains\",\"value\":\"host7\"}]}"),
        0.3);
    within("sql: count, mean by src over all flows",
           run_sql("select src, count(*), avg(fct_ns) from flows group by src"), 10);
    within("analysis: p99 of goodput by src over all flows",
           analyse("[{\"do\":\"choose\",\"table\":\"flows\"},{\"do\":\"derive\",\"name\":\"g\","
                   "\"expression\":\"in(bytes / fct_ns, \\\"Gbps\\\")\"},{\"do\":\"group\",\"by\":["
                   "\"src\"],\"take\":[{\"function\":\"p99\",\"column\":\"g\"}]}]"),
           10);
}

START_TEST(a_large_run_opens_and_filters_at_once)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/test_studio_speed.%d", (int)getpid());
    (void)snprintf(result_folder, sizeof(result_folder), "%s/result", folder);
    (void)snprintf(index_folder, sizeof(index_folder), "%s/index", folder);
    (void)mkdir(folder, 0700);
    (void)mkdir(result_folder, 0700);
    FILE *const stream = make("summary.json");
    fputs("{\"version\": \"1\", \"digest\": \"00\"}\n", stream);
    fclose(stream);
    make_flows();
    make_series();
    studio_progress_t progress = {.part = ""};
    sim_message_t message = {.text = ""};
    const double began_s = cpu_seconds();
    const sim_err_t code = studio_import(result_folder, NULL, index_folder, &progress, &message);
    const double seconds = cpu_seconds() - began_s;
    ck_assert_msg(code == SIM_OK, "%s", message.text);
    printf("import: %.1f s, %.2f M rows/s, %.0f MB/s\n", seconds,
           (FLOWS + (double)PATHS * SAMPLES) / seconds / 1e6,
           (double)atomic_load(&progress.bytes_done) / seconds / 1e6);
    studio_sources_add(&sources, 1, "large", result_folder, index_folder);
    measure();
    studio_sources_fini(&sources);
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_large_run_opens_and_filters_at_once))

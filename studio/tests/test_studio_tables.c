// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_tables.c - result folders as tables: reading returns what was written.
//
// Goal: exact decimals, missing cells, skipped blocks, orders, formats, series reduced to pixels,
// searches, SQL that only reads, and messages for damaged folders.
// Method: the test writes a folder, imports and queries it. Not pinned: speed (test_studio_speed).
#include "tests/check_main.h"

#include <math.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "studio/server/data/import/import.h"
#include "studio/server/data/import/points.h"
#include "studio/server/data/query/query.h"
#include "studio/server/data/query/search.h"
#include "studio/server/data/query/sql.h"

#define FLOWS 40000
#define SAMPLES 30000

static char folder[64];
static char result_folder[96];
static char index_folder[96];
static studio_sources_t sources;

static FILE *make(const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/%s", result_folder, name);
    FILE *const stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    return stream;
}

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/test_studio_tables.%d", (int)getpid());
    (void)snprintf(result_folder, sizeof(result_folder), "%s/result", folder);
    (void)snprintf(index_folder, sizeof(index_folder), "%s/index", folder);
    (void)mkdir(folder, 0700);
    (void)mkdir(result_folder, 0700);
    FILE *stream = make("summary.json");
    fputs("{\"version\": \"1\", \"digest\": \"00\", \"flows\": {\"count\": 3}}\n", stream);
    fclose(stream);
    stream = make("flows.csv");
    fputs("flow_id,src,dst,bytes,start_ns,end_ns,fct_ns\n", stream);
    for (int i = 0; i < FLOWS; i++) {
        fprintf(stream, "%d,host%d,\"odd, \"\"name\"\"\",%d,%d.%03d,", i, i % 7, i % 1000, i,
                i % 1000);
        if (i % 10 == 3) {
            fputs(",\n", stream); // neither end nor time
        } else {
            fprintf(stream, "%d,%d.5\n", i + 50, i % 100);
        }
    }
    fclose(stream);
    stream = make("events.csv");
    fputs("time_ns,event,port,priority,reason\n5,drop,leaf0->host1,3,buffer\n"
          "7.25,paused,host1->leaf0,3,leaf0->host1\n9,resumed,host1->leaf0,3,\n",
          stream);
    fclose(stream);
    stream = make("series.csv");
    fputs("time_ns,path,value\n", stream);
    for (int i = 0; i < SAMPLES; i++) {
        fprintf(stream, "%d,port[a->b].queue_bytes,%d\n", i, i * 7919 % 10007);
        fprintf(stream, "%d,nic[a].tx_packets,%d\n", i, i);
    }
    fclose(stream);
}

static void remove_all(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
}

static void set_up(void)
{
    studio_progress_t progress = {.part = ""};
    sim_message_t message;
    make_folder();
    const sim_err_t code = studio_import(result_folder, NULL, index_folder, &progress, &message);
    ck_assert_msg(code == SIM_OK, "%s", message.text);
    studio_sources_add(&sources, 12, "first", result_folder, index_folder);
}

static void tear_down(void)
{
    studio_sources_fini(&sources);
    remove_all();
}

// The answer to a query; freed by the caller.
static char *ask(const char *body, const char *format)
{
    studio_format_t kind;
    studio_query_t *query = NULL;
    studio_place_error_t error;
    json_t *const json = json_loads(body, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert(studio_format_find(format, &kind));
    const sim_err_t code = studio_query_open(&sources, json, kind, NULL, &query, &error);
    ck_assert_msg(code == SIM_OK, "%s", error.message.text);
    studio_out_t out = {.bytes = NULL};
    while (studio_query_write(query, &out)) {
    }
    studio_query_close(query);
    json_decref(json);
    return out.bytes;
}

static void answers(const char *body, const char *format, const char *expected)
{
    char *const text = ask(body, format);
    ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "got      %.300s\nexpected %s",
                  text, expected);
    sim_free(text);
}

static json_int_t matched(const char *body)
{
    char *const text = ask(body, "json");
    json_t *const json = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(json);
    const json_int_t count = json_integer_value(json_object_get(json, "matched"));
    json_decref(json);
    sim_free(text);
    return count;
}

START_TEST(rows_come_out_as_they_went_in)
{
    set_up();
    answers("{\"table\":\"flows\",\"limit\":2,\"offset\":2}", "csv",
            "flow_id,src,dst,bytes,start_ns,end_ns,fct_ns\n"
            "2,host2,\"odd, \"\"name\"\"\",2,2.002,52,2.5\n"
            "3,host3,\"odd, \"\"name\"\"\",3,3.003,,\n");
    answers(
        "{\"table\":\"flows\",\"limit\":1,\"offset\":3,\"columns\":[\"dst\",\"end_ns\",\"run\"]}",
        "ndjson", "{\"dst\":\"odd, \\\"name\\\"\",\"end_ns\":null,\"run\":12}\n");
    answers("{\"table\":\"events\",\"columns\":[\"time_ns\",\"event\",\"reason\"]}", "csv",
            "time_ns,event,reason\n5,drop,buffer\n7.25,paused,leaf0->host1\n9,resumed,\n");
    tear_down();
}
END_TEST

START_TEST(filters_choose_what_they_say)
{
    set_up();
    ck_assert_int_eq(matched("{\"table\":\"flows\"}"), FLOWS);
    ck_assert_int_eq(
        matched("{\"table\":\"flows\",\"filter\":[{\"column\":\"end_ns\",\"op\":\"missing\"}]}"),
        FLOWS / 10);
    // Blocks of 16384 rows: the last one alone can hold.
    ck_assert_int_eq(
        matched("{\"table\":\"flows\",\"filter\":[{\"column\":\"flow_id\",\"op\":\">=\","
                "\"value\":39990}]}"),
        10);
    ck_assert_int_eq(
        matched("{\"table\":\"flows\",\"filter\":[{\"column\":\"start_ns\",\"op\":\"between\","
                "\"value\":[\"10us\",\"10.01us\"]},{\"column\":\"src\",\"op\":\"in\",\"value\":"
                "[\"host1\",\"host2\"]}]}"),
        2);
    ck_assert_int_eq(matched("{\"table\":\"flows\",\"filter\":[{\"any\":[{\"column\":\"flow_id\","
                             "\"op\":\"=\",\"value\":5},{\"column\":\"flow_id\",\"op\":\"=\","
                             "\"value\":39999}]}]}"),
                     2);
    ck_assert_int_eq(matched("{\"table\":\"flows\",\"where\":\"fct_ns > 0.099us and src ~ "
                             "\\\"host[01]\\\"\"}"),
                     115);
    // A flow lives from its start to its end; one without an end for ever.
    ck_assert_int_eq(matched("{\"table\":\"flows\",\"from_ns\":39000,\"to_ns\":39010.5}"), 3956);
    tear_down();
}
END_TEST

START_TEST(orders_put_missing_last)
{
    set_up();
    answers("{\"table\":\"flows\",\"columns\":[\"flow_id\",\"fct_ns\"],\"limit\":2,\"order\":[{"
            "\"column\":\"fct_ns\",\"descending\":true}]}",
            "csv", "flow_id,fct_ns\n99,99.5\n199,99.5\n");
    answers(
        "{\"table\":\"flows\",\"columns\":[\"flow_id\"],\"limit\":1,\"offset\":39999,\"order\":[{"
        "\"column\":\"fct_ns\"}]}",
        "csv", "flow_id\n39993\n");
    answers(
        "{\"table\":\"flows\",\"columns\":[\"flow_id\",\"src\"],\"limit\":2,\"order\":[{\"column\":"
        "\"src\",\"descending\":true},{\"column\":\"flow_id\",\"descending\":true}]}",
        "csv", "flow_id,src\n39997,host6\n39990,host6\n");
    tear_down();
}
END_TEST

// Least and greatest of each pixel as a walk over all points finds them.
START_TEST(pixels_hold_least_and_greatest)
{
    set_up();
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/series.points", index_folder);
    studio_points_t *points = NULL;
    sim_message_t message;
    ck_assert_int_eq(studio_points_open(path, &points, &message), SIM_OK);
    ck_assert_uint_eq(points->count, 2);
    const studio_series_t *const series = &points->series[0];
    ck_assert_str_eq(series->of, "a->b");
    ck_assert_str_eq(series->metric, "queue_bytes");
    ck_assert_uint_eq(series->count, SAMPLES);
    for (uint64_t from = 0; from < SAMPLES; from += 997) {
        for (uint64_t size = 1; from + size <= SAMPLES; size = size * 3 + 1) {
            double least = (double)INFINITY;
            double most = -(double)INFINITY;
            for (uint64_t i = from; i < from + size; i++) {
                least = fmin(least, (double)(i * 7919 % 10007));
                most = fmax(most, (double)(i * 7919 % 10007));
            }
            const studio_span_t span = studio_points_span(series, from, from + size);
            ck_assert_double_eq(span.least, least);
            ck_assert_double_eq(span.most, most);
        }
    }
    studio_pixel_t pixels[100];
    ck_assert_uint_eq(studio_points_draw(series, 0, INT64_C(29999000), 100, pixels), 100);
    ck_assert_int_eq(pixels[0].time_ps, 0);
    ck_assert_double_eq(pixels[99].last, (double)(INT64_C(29999) * 7919 % 10007));
    // Few enough to be sent as they are.
    ck_assert_uint_eq(studio_points_draw(series, 5000, 9000, 100, pixels), 5);
    ck_assert_double_eq(pixels[4].least, 9 * 7919 % 10007);
    ck_assert_uint_eq(studio_points_draw_rate(&points->series[1], 0, 29999000, 100, pixels), 100);
    ck_assert_double_eq_tol(pixels[50].most, 1e9, 1);
    studio_points_close(points);
    tear_down();
}
END_TEST

START_TEST(words_are_found)
{
    set_up();
    static const struct {
        const char *words;
        size_t hits;
    } cases[] = {
        {"DROP", 1},
        {"drop leaf0", 1},
        {"paused host1", 1},
        {"-paused event:", 0},
        {"host1->leaf0", 2},
        {"\"host1->leaf0\" -resumed", 1},
        {"event:drop priority:3", 1},
        {"nowhere", 0},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        studio_out_t out = {.bytes = NULL};
        sim_message_t message;
        const sim_err_t code = studio_search(&sources, cases[i].words, 50, NULL, &out, &message);
        if (code != SIM_OK) {
            ck_assert_str_eq(cases[i].words, "-paused event:");
            continue;
        }
        json_t *const json = json_loads(out.bytes, 0, NULL);
        ck_assert_ptr_nonnull(json);
        ck_assert_msg(json_array_size(json_object_get(json, "hits")) == cases[i].hits, "%s: %s",
                      cases[i].words, out.bytes);
        json_decref(json);
        studio_out_fini(&out);
    }
    tear_down();
}
END_TEST

static sim_err_t run_sql(const char *text, studio_format_t format, studio_out_t *out, char *why)
{
    studio_sql_t *sql = NULL;
    studio_place_error_t error;
    sim_err_t code = studio_sql_open(&sources, text, 0, 60, format, NULL, &sql, &error);
    if (code == SIM_OK) {
        code = studio_sql_begin(sql, &error);
    }
    while (code == SIM_OK && studio_sql_write(sql, out)) {
    }
    studio_sql_close(sql);
    (void)snprintf(why, 600, "%s", code == SIM_OK ? "" : error.message.text);
    return code;
}

START_TEST(sql_reads)
{
    set_up();
    char why[600];
    studio_out_t out = {.bytes = NULL};
    ck_assert_int_eq(run_sql("select src, count(*) n, sum(bytes) from flows where flow_id >= 39990 "
                             "group by src order by n desc, src limit 2",
                             STUDIO_CSV, &out, why),
                     SIM_OK);
    ck_assert_str_eq(out.bytes, "src,n,sum(bytes)\nhost0,2,1989\nhost1,2,1991\n");
    studio_out_fini(&out);
    ck_assert_int_eq(
        run_sql("select e.event, f.flow_id from events e join (select * from flows where "
                "flow_id < 3) f on f.flow_id = e.priority - 1",
                STUDIO_CSV, &out, why),
        SIM_OK);
    ck_assert_str_eq(out.bytes, "event,flow_id\ndrop,2\npaused,2\nresumed,2\n");
    studio_out_fini(&out);
    tear_down();
}
END_TEST

START_TEST(sql_does_nothing_else)
{
    static const char *const refused[] = {
        "attach database '/etc/passwd' as p",
        "attach database '/tmp/x.sqlite' as p",
        "create table t(a)",
        "create virtual table t using rocesim",
        "insert into flows values(1)",
        "delete from flows",
        "update flows set bytes = 0",
        "drop table flows",
        "pragma journal_mode",
        "pragma temp_store_directory = '/tmp'",
        "select load_extension('x.so')",
        "vacuum into '/tmp/test_studio_vacuum.sqlite'",
        "begin",
        "select 1; select 2",
        "select * from nowhere",
        "select * from \"../flows\"",
        "",
        "detach main",
        "explain select 1; drop table flows",
        "with x as (select 1) delete from flows",
    };
    set_up();
    for (size_t i = 0; i < SIM_COUNT_OF(refused); i++) {
        char why[600];
        studio_out_t out = {.bytes = NULL};
        ck_assert_msg(run_sql(refused[i], STUDIO_JSON, &out, why) != SIM_OK, "%s", refused[i]);
        ck_assert_str_ne(why, "");
        studio_out_fini(&out);
    }
    ck_assert_int_ne(access("/tmp/test_studio_vacuum.sqlite", F_OK), 0);
    char why[600];
    studio_out_t out = {.bytes = NULL};
    ck_assert_int_ne(run_sql("select zeroblob(100000000)", STUDIO_JSON, &out, why), SIM_OK);
    studio_out_fini(&out);
    tear_down();
}
END_TEST

static void replace(const char *name, const char *text, size_t size)
{
    FILE *const stream = make(name);
    ck_assert_uint_eq(fwrite(text, 1, size, stream), size);
    fclose(stream);
}

static void refuses(const char *needle)
{
    studio_progress_t progress = {.part = ""};
    sim_message_t message = {.text = ""};
    const sim_err_t code = studio_import(result_folder, NULL, index_folder, &progress, &message);
    ck_assert_msg(code != SIM_OK && strstr(message.text, needle) != NULL, "%s", message.text);
    char path[160];
    (void)snprintf(path, sizeof(path), "%s.new", index_folder);
    ck_assert_int_ne(access(path, F_OK), 0);
}

START_TEST(damaged_folders_end_in_a_message)
{
    make_folder();
    replace("events.csv", "time_ns,event\n1,drop\n2\n", 23);
    refuses("events.csv:3: not as many cells");
    replace("events.csv", "time_ns,event\nx,drop\n", 21);
    make_folder();
    replace("series.csv", "time_ns,path,value\n1,a,2\n2,b,\"3\n", 33);
    refuses("series.csv:3");
    replace("series.csv", "", 0);
    refuses("series.csv");
    replace("series.csv", "a,a\n", 4);
    refuses("two columns of one name");
    char *const long_row = sim_alloc(3 << 20);
    memset(long_row, 'x', 3 << 20);
    replace("series.csv", long_row, 3 << 20);
    sim_free(long_row);
    refuses("more than 1 MiB");
    replace("summary.json", "{", 1);
    refuses("summary.json");
    remove_all();
}
END_TEST

// An index that a crash left incomplete is imported again; a file that was cut is reported.
START_TEST(a_cut_index_is_imported_again)
{
    set_up();
    json_t *state = studio_import_state(result_folder, index_folder);
    ck_assert_ptr_nonnull(state);
    json_decref(state);
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/flows.table", index_folder);
    ck_assert_int_eq(truncate(path, 5000), 0);
    studio_table_t *table = NULL;
    sim_message_t message;
    ck_assert_int_eq(studio_table_open(path, &table, &message), SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "import the run again"));
    // Other results in the folder are another import.
    replace("events.csv", "time_ns,event\n", 14);
    ck_assert_ptr_null(studio_import_state(result_folder, index_folder));
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_TEST(rows_come_out_as_they_went_in), CHECK_TEST(filters_choose_what_they_say),
           CHECK_TEST(orders_put_missing_last), CHECK_TEST(pixels_hold_least_and_greatest),
           CHECK_TEST(words_are_found), CHECK_TEST(sql_reads), CHECK_TEST(sql_does_nothing_else),
           CHECK_TEST(damaged_folders_end_in_a_message), CHECK_TEST(a_cut_index_is_imported_again))

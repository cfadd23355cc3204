// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_expression.c - the expression language and the steps of an analysis.
//
// Goal: values, units and places of errors are right; too deep or too long texts are refused.
// Method: values computed by hand, statistics compared with closed forms. Not pinned: speed.
#include "tests/check_main.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "studio/server/data/analysis/analysis.h"
#include "studio/server/data/import/import.h"
#include "studio/server/data/query/expression/expression.h"

static const studio_variable_t variables[] = {{"fct_ns", "ns", STUDIO_NUMBER},
                                              {"bytes", "bytes", STUDIO_NUMBER},
                                              {"n", "", STUDIO_NUMBER},
                                              {"src", "", STUDIO_TEXT},
                                              {"odd name", "", STUDIO_NUMBER}};

static studio_slot_t value_of(const char *text, studio_type_t type, studio_expression_t **kept)
{
    static const char host[] = "leaf0->host5";
    studio_place_error_t error;
    studio_expression_t *const parsed =
        studio_expression_parse(text, variables, SIM_COUNT_OF(variables), &error);
    ck_assert_msg(parsed != NULL, "%s: %zu: %s", text, error.column, error.message.text);
    ck_assert_msg(studio_expression_type(parsed) == type, "%s", text);
    const studio_slot_t values[] = {{.number = 2000},
                                    {.number = 1000},
                                    {.number = (double)NAN},
                                    {.text = host},
                                    {.number = 3}};
    const studio_slot_t *const columns[] = {&values[0], &values[1], &values[2], &values[3],
                                            &values[4]};
    studio_slot_t out;
    studio_expression_evaluate(parsed, columns, 1, &out);
    *kept = parsed;
    return out;
}

static double number_of(const char *text)
{
    studio_expression_t *kept = NULL;
    const studio_slot_t value = value_of(text, STUDIO_NUMBER, &kept);
    studio_expression_destroy(kept);
    return value.number;
}

static bool holds(const char *text)
{
    studio_expression_t *kept = NULL;
    const studio_slot_t value = value_of(text, STUDIO_BOOL, &kept);
    studio_expression_destroy(kept);
    return value.number > 0;
}

START_TEST(numbers_are_computed)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3 ^ 2", 19},
        {"-2 ^ 2", -4},
        {"(1 - 4) % 2", -1},
        {"2 ^ 3 ^ 2", 512},
        {"fct_ns + 1us", 3000},
        {"1us + fct_ns", 3},
        {"in(bytes / fct_ns, \"Gbps\")", 4},
        {"in(fct_ns, \"us\")", 2},
        {"fct_ns / 1us", 2},
        {"bin(fct_ns, 300)", 1800},
        {"bin(fct_ns, 0.3us)", 1800},
        {"log_bin(bytes, 10)", 1000},
        {"min(3, 1, 2)", 1},
        {"max(fct_ns, 3us)", 3000},
        {"if(bytes < 1MB, 1, 2)", 1},
        {"coalesce(n, 7)", 7},
        {"length(src)", 12},
        {"number(after(src, \"host\"))", 5},
        {"`odd name` * 2", 6},
        {"sqrt(9) + abs(-1) + floor(1.5) + ceil(1.5) + round(2.5)", 10},
        {"1e3 + .5", 1000.5},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        const double value = number_of(cases[i].text);
        ck_assert_msg(fabs(value - cases[i].value) < 1e-9 * fmax(1, fabs(value)),
                      "%s = %.17g, expected %.17g", cases[i].text, value, cases[i].value);
    }
    ck_assert(isnan(number_of("n + 1")));
    ck_assert(isnan(number_of("1 / 0")));
    ck_assert(isnan(number_of("sqrt(-1)")));
}
END_TEST

START_TEST(conditions_hold_or_not)
{
    static const char *const true_ones[] = {
        "fct_ns > 1us and bytes <= 1KB",
        "src ~ \"leaf?->host*\"",
        "src ~ 'leaf[0-3]*'",
        "not src = 'x'",
        "n = n or true",
        "not n > 0",
        "src in ('a', 'leaf0->host5')",
        "bytes in (1KB, 2KB)",
        "starts(src, \"leaf\") and ends(src, \"5\") and contains(src, \"->\")",
        "is_missing(n)",
        "upper(before(src, \"->\")) = \"LEAF0\"",
        "join(src, \"!\") = 'leaf0->host5!'",
        "text(bytes) = \"1000\"",
        "src !~ \"spine*\"",
        "src < 'z'",
        "1 < 2",
        "fct_ns == 2000",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(true_ones); i++) {
        ck_assert_msg(holds(true_ones[i]), "%s", true_ones[i]);
    }
    ck_assert(!holds("n > 0"));
    ck_assert(!holds("n != 0"));
    ck_assert(!holds("false or bytes > 2KB"));
}
END_TEST

START_TEST(errors_say_where)
{
    static const struct {
        const char *text;
        size_t column;
        const char *needle;
    } cases[] = {
        {"bytes > 10us", 7, "different units"},
        {"fct_ns + ", 10, "ends here"},
        {"nothing > 1", 1, "there is no column"},
        {"(1 + 2", 7, "expected ')'"},
        {"1 +* 2", 4, "not allowed here"},
        {"\xc3\xbc\xc3\xbc > 1", 1, "there is no column"},
        {"bytes > 1 and src", 15, "expected a bool"},
        {"src + 1", 1, "expected a number"},
        {"10parsec", 3, "no unit"},
        {"foo(1)", 1, "no function"},
        {"abs(1, 2)", 1, "takes 1"},
        {"min(1)", 1, "takes 2"},
        {"in(n, \"us\")", 4, "the unit '(none)' cannot be converted"},
        {"in(fct_ns, \"bytes\")", 4, "to 'bytes'"},
        {"\"open", 1, "lacks its closing quote"},
        {"1 2", 3, "not allowed here"},
        {"", 1, "ends here"},
        {"fct_ns ^ 2", 8, "with a unit has no power"},
        {"src ~ 3", 7, "expected a text"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        studio_place_error_t error;
        ck_assert_ptr_null(
            studio_expression_parse(cases[i].text, variables, SIM_COUNT_OF(variables), &error));
        ck_assert_msg(error.column == cases[i].column &&
                          strstr(error.message.text, cases[i].needle) != NULL,
                      "%s: %zu: %s", cases[i].text, error.column, error.message.text);
    }
}
END_TEST

// Neither the stack nor the time gives way.
START_TEST(bombs_end_in_a_message)
{
    static const char *const pieces[] = {"(",      "-",   "not ", "abs(", "1+",
                                         "1 in (", "if(", "2^",   "a."};
    for (size_t i = 0; i < SIM_COUNT_OF(pieces); i++) {
        for (size_t size = 500; size <= 100000; size *= 10) {
            char *const text = sim_alloc(size + 16);
            while (strlen(text) + strlen(pieces[i]) < size && strlen(text) < 9000) {
                memcpy(text + strlen(text), pieces[i], strlen(pieces[i]));
            }
            memcpy(text + strlen(text), "1", 2);
            studio_place_error_t error;
            studio_expression_t *const parsed =
                studio_expression_parse(text, variables, SIM_COUNT_OF(variables), &error);
            ck_assert_msg(parsed != NULL || error.message.text[0] != '\0', "%.20s", text);
            studio_expression_destroy(parsed);
            sim_free(text);
        }
    }
    // A pattern of stars is no exponential search.
    char *const letters = sim_alloc(5001);
    memset(letters, 'a', 5000);
    ck_assert(!studio_glob("*a*a*a*a*a*a*a*a*a*a*b", letters));
    sim_free(letters);
}
END_TEST

// -- steps

static char folder[64];

static studio_sources_t import_values(void)
{
    char path[128];
    char index[128];
    (void)snprintf(folder, sizeof(folder), "/tmp/test_studio_expression.%d", (int)getpid());
    (void)mkdir(folder, 0700);
    (void)snprintf(path, sizeof(path), "%s/summary.json", folder);
    FILE *stream = fopen(path, "w");
    fputs("{\"version\": \"1\", \"digest\": \"00\", \"seed\": 1}", stream);
    fclose(stream);
    (void)snprintf(path, sizeof(path), "%s/values.csv", folder);
    stream = fopen(path, "w");
    fputs("cc,seed,x,y\n", stream);
    for (int i = 1; i <= 100; i++) {
        fprintf(stream, "%s,%d,%d,%d\n", i % 2 == 0 ? "a" : "b", (i + 1) / 2, i,
                i % 2 == 0 ? 3 * i + 7 : 2 * i);
    }
    fputs("a,,1000,\n", stream);
    fclose(stream);
    (void)snprintf(index, sizeof(index), "%s/index", folder);
    studio_progress_t progress = {.part = ""};
    sim_message_t message = {.text = ""};
    ck_assert_msg(studio_import(folder, NULL, index, &progress, &message) == SIM_OK, "%s",
                  message.text);
    studio_sources_t sources = {.sources = NULL};
    studio_sources_add(&sources, 5, "five", folder, index);
    return sources;
}

static void shows(const studio_sources_t *sources, const char *steps, const char *expected)
{
    studio_analysis_t *const analysis = sim_alloc(sizeof(*analysis));
    studio_place_error_t error;
    int step = 0;
    char *const whole = sim_format("[{\"do\":\"choose\",\"table\":\"values\"},%s]", steps);
    json_t *const json = json_loads(whole, 0, NULL);
    ck_assert_msg(json != NULL, "%s", whole);
    const sim_err_t code = studio_analysis_run(analysis, sources, json, NULL, &step, &error);
    ck_assert_msg(code == SIM_OK, "%s: step %d: %s", steps, step, error.message.text);
    studio_out_t out = {.bytes = NULL};
    studio_frame_csv(&analysis->results[analysis->count - 1].frame, &out);
    ck_assert_msg(strcmp(out.bytes, expected) == 0, "%s\ngot\n%sexpected\n%s", steps, out.bytes,
                  expected);
    studio_out_fini(&out);
    studio_analysis_fini(analysis);
    json_decref(json);
    sim_free(whole);
    sim_free(analysis);
}

START_TEST(steps_do_what_they_say)
{
    studio_sources_t sources = import_values();
    shows(&sources,
          "{\"do\":\"group\",\"by\":[\"cc\"],\"take\":[{\"function\":\"count\"},{\"function\":"
          "\"sum\","
          "\"column\":\"y\"},{\"function\":\"p99\",\"column\":\"y\"},{\"function\":\"count\","
          "\"column\":"
          "\"y\",\"as\":\"ys\"}]}",
          "cc,count,sum_y,p99_y,ys\nb,50,5000,198,50\na,51,8000,307,50\n");
    shows(&sources,
          "{\"do\":\"filter\",\"where\":\"x <= "
          "4\"},{\"do\":\"derive\",\"name\":\"z\",\"expression\":\"x * "
          "10\"},{\"do\":\"sort\",\"by\":[{\"column\":\"cc\"},{\"column\":\"z\",\"descending\":"
          "true}]}",
          "cc,seed,x,y,run,run_name,z\na,2,4,19,5,five,40\na,1,2,13,5,five,20\nb,2,3,6,5,five,30\n"
          "b,1,1,2,5,five,10\n");
    shows(&sources, "{\"do\":\"percentiles\",\"column\":\"x\",\"points\":[50,99.9]}",
          "percent,x\n50,51\n99.9,1000\n");
    shows(&sources,
          "{\"do\":\"pivot\",\"rows\":[\"run\"],\"columns\":\"cc\",\"function\":\"max\",\"column\":"
          "\"y\"}",
          "run,b,a\n5,198,307\n");
    shows(&sources,
          "{\"do\":\"filter\",\"where\":\"x <= "
          "100\"},{\"do\":\"histogram\",\"column\":\"x\",\"bins\":2}",
          "from,to,count,share\n1,50.5,50,0.5\n50.5,100,50,0.5\n");
    shows(&sources, "{\"do\":\"filter\",\"where\":\"x <= 4\"},{\"do\":\"cdf\",\"column\":\"x\"}",
          "x,share\n1,0.25\n2,0.5\n3,0.75\n4,1\n");
    shows(&sources,
          "{\"do\":\"fit\",\"x\":\"x\",\"y\":\"y\",\"by\":[\"cc\"]},{\"do\":\"limit\",\"rows\":2}",
          "cc,slope,offset,r2,count,words\nb,2,0,1,50,y = 2 x + 0\na,3,7,1,50,y = 3 x + 7\n");
    shows(&sources, "{\"do\":\"outliers\",\"column\":\"x\",\"method\":\"iqr\"}",
          "cc,seed,x,y,run,run_name\na,,1000,,5,five\n");
    // Pairs of the same seed: 3 (2 s) + 7 - 2 (2 s - 1) = 2 s + 9, of s = 1 to 50 in the mean 60.
    shows(&sources,
          "{\"do\":\"filter\",\"where\":\"x <= "
          "100\"},{\"do\":\"means\",\"value\":\"y\",\"versus\":\"cc\","
          "\"base\":\"b\"},{\"do\":\"derive\",\"name\":\"d\",\"expression\":\"round(difference)\"},"
          "{\"do\":"
          "\"derive\",\"name\":\"m\",\"expression\":\"round(mean)\"},{\"do\":"
          "\"group\",\"by\":[\"cc\",\"count\",\"m\",\"d\",\"stars\"],\"take\":[{\"function\":"
          "\"count\"}]}",
          "cc,count,m,d,stars,count\nb,50,100,,,1\na,50,160,60,*,1\n");
    studio_sources_fini(&sources);
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
}
END_TEST

CHECK_MAIN(CHECK_TEST(numbers_are_computed), CHECK_TEST(conditions_hold_or_not),
           CHECK_TEST(errors_say_where), CHECK_TEST(bombs_end_in_a_message),
           CHECK_TEST(steps_do_what_they_say))

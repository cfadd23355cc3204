// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: drawn requests have the means and deviations of their distributions, traces are read to the
// token and the picosecond, and wrong settings and files are refused by name and place.
// Method: closed forms over 20,000 and more draws of a fixed seed; cases worked out by hand.
// Not pinned: the numbers that a seed draws.
#include <math.h>

#include "apps/request_trace.h"
#include "apps/serving/arrivals/lengths.h"
#include "apps/serving/arrivals/requests.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define DRAWS 40000
#define MS SIM_PS_PER_MS

// -- a generator without a program around it

typedef struct settings {
    app__requests_config_t requests;
} settings_t;

// clang-format off
static const sim_attr_t rows[] = {
    APP__REQUESTS_ATTRS("traffic.serving", settings_t, requests),
};
// clang-format on

static const sim_attr_table_t table = {"traffic.serving", "application", sizeof(settings_t), rows,
                                       SIM_COUNT_OF(rows)};

static const char *file_text;
static char notes[2000];

static sim_err_t read_file(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx)
{
    (void)ctx;
    if (file_text == NULL) {
        return sim_fail(message, SIM_ERR_IO, "cannot read %s", name);
    }
    *text = sim_strdup(file_text);
    *size = strlen(file_text);
    return SIM_OK;
}

static void keep_note(const char *text, void *ctx)
{
    (void)ctx;
    const size_t used = strlen(notes);
    snprintf(notes + used, sizeof(notes) - used, "%s\n", text);
}

static sim_err_t try(const char *settings, uint32_t index, app__requests_t *requests,
                     sim_message_t *message)
{
    world_t world;
    settings_t config;
    world_init(&world);
    world_build(&world, "star", "hosts=2");
    sim_attrs_default(&table, &config);
    notes[0] = '\0';
    sim_err_t error = world_set(&table, &config, settings, message);
    if (error == SIM_OK) {
        const app_context_t context = {
            .net = world.net,
            .index = index,
            .read_file = read_file,
            .note = keep_note,
            .memory_max_bytes = UINT64_C(1) << 30,
        };
        error = app__requests_create(&context, &config.requests, 0, requests, message);
    }
    sim_attrs_fini(&table, &config);
    world_fini(&world);
    return error;
}

static app__requests_t make(const char *settings)
{
    app__requests_t requests;
    sim_message_t message = {.text = ""};
    const sim_err_t error = try(settings, 0, &requests, &message);
    ck_assert_msg(error == SIM_OK, "%s: %s", settings, message.text);
    return requests;
}

// -- numbers

START_TEST(functions_are_those_of_libm)
{
    for (int i = -1000; i <= 1000; i++) {
        const double x = pow(1.99, i);
        ck_assert_double_eq_tol(app__ln(x), log(x), 1e-13 * fabs(log(x)) + 1e-16);
    }
    for (int i = -1860; i <= 1860; i++) {
        const double x = 0.37 * i;
        ck_assert_double_eq_tol(app__exp(x) / exp(x), 1.0, 1e-13);
    }
    ck_assert_double_eq(app__ln(1.0), 0.0);
    ck_assert_double_eq(app__exp(0.0), 1.0);
    ck_assert_double_eq(app__exp(-1e9), 0.0);
    ck_assert(isfinite(app__exp(1e9)));
}
END_TEST

typedef struct moments {
    double mean;
    double cv;
    double skew;
} moments_t;

static moments_t moments(const double *values, size_t count)
{
    moments_t result = {0};
    double squares = 0.0;
    double cubes = 0.0;
    for (size_t i = 0; i < count; i++) {
        result.mean += values[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double off = values[i] - result.mean;
        squares += off * off / (double)count;
        cubes += off * off * off / (double)count;
    }
    result.cv = sqrt(squares) / result.mean;
    result.skew = cubes / pow(squares, 1.5);
    return result;
}

// A gamma distribution of shape k and mean 1 has variance 1 / k and skewness 2 / sqrt(k).
static const double shapes[] = {0.0625, 0.25, 0.7, 1.0, 4.0, 100.0};

START_TEST(gamma_has_its_moments)
{
    static double values[4 * DRAWS];
    sim_random_t random;
    sim_random_init(&random, 7, 0, "gamma");
    for (size_t i = 0; i < SIM_COUNT_OF(values); i++) {
        values[i] = app__draw_gamma(&random, shapes[_i]);
    }
    const moments_t m = moments(values, SIM_COUNT_OF(values));
    ck_assert_double_eq_tol(m.mean, 1.0, 0.03);
    ck_assert_double_eq_tol(m.cv * sqrt(shapes[_i]), 1.0, 0.03);
    ck_assert_double_eq_tol(m.skew * sqrt(shapes[_i]) / 2.0, 1.0, 0.08);
}
END_TEST

START_TEST(normal_has_its_quantiles)
{
    static const double points[] = {-2.0, -1.0, 0.0, 0.5, 1.6449};
    size_t below[SIM_COUNT_OF(points)] = {0};
    sim_random_t random;
    sim_random_init(&random, 7, 0, "normal");
    for (size_t i = 0; i < 4 * DRAWS; i++) {
        const double x = app__draw_normal(&random);
        for (size_t p = 0; p < SIM_COUNT_OF(points); p++) {
            below[p] += x < points[p];
        }
    }
    for (size_t p = 0; p < SIM_COUNT_OF(points); p++) {
        const double expected = 0.5 * erfc(-points[p] / sqrt(2.0));
        ck_assert_double_eq_tol((double)below[p] / (4.0 * DRAWS), expected, 0.005);
    }
}
END_TEST

// -- lengths

static const struct {
    const char *text;
    const char *file;
    double mean;
    double cv;
    uint32_t min;
    uint32_t max;
} lengths[] = {
    {"300", NULL, 300.0, 0.0, 300, 300},
    {"uniform 101 200", NULL, 150.5, 0.19180, 101, 200},
    {"exponential 500", NULL, 500.0, 1.0, 1, 20000},
    {"lognormal 2048 0.5", NULL, 2048.0, 0.5, 1, 60000},
    {"lognormal 2048 1.3", NULL, 2048.0, 1.3, 1, 100000},
    {"sizes.txt", "99 0\n100 25\n199 25\n200 100\n", 175.0, 0.24744, 100, 200},
};

START_TEST(lengths_have_their_moments)
{
    static double values[DRAWS];
    char settings[200];
    snprintf(settings, sizeof(settings), "requests=%d; output-tokens=%s; prompt-tokens=1", DRAWS,
             lengths[_i].text);
    file_text = lengths[_i].file;
    app__requests_t requests = make(settings);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < requests.count; i++) {
        const app__request_t *const request = &requests.items[i];
        ck_assert_uint_ge(request->output_tokens, lengths[_i].min);
        ck_assert_uint_le(request->output_tokens, lengths[_i].max);
        values[i] = request->output_tokens;
        sum += request->output_tokens;
    }
    const moments_t m = moments(values, DRAWS);
    ck_assert_double_eq_tol(m.mean / lengths[_i].mean, 1.0, 0.02);
    ck_assert_double_eq_tol(m.cv, lengths[_i].cv, 0.03 * lengths[_i].cv + 1e-12);
    ck_assert_uint_eq(requests.output_tokens, sum);
    ck_assert_uint_eq(requests.prompt_tokens, DRAWS);
    app__requests_fini(&requests);
}
END_TEST

START_TEST(lengths_are_cut_to_the_most)
{
    app__requests_t requests = make("requests=1000; prompt-tokens=uniform 1 1000; tokens-max=600; "
                                    "output-tokens=601");
    ck_assert_uint_eq(requests.longest, 600 + 600);
    ck_assert_uint_eq(requests.output_tokens, 600000);
    ck_assert_ptr_nonnull(strstr(notes, "are cut to tokens-max, 600"));
    app__requests_fini(&requests);
}
END_TEST

// -- arrivals

// Gaps of an interrupted Poisson process with mean times of on and off have the squared coefficient
// of variation 1 + 2 l o / (o + f)^2, where l is the rate within bursts, o = 1 / on, f = 1 / off.
static const struct {
    const char *settings;
    double mean_s;
    double cv;
} gaps[] = {
    {"arrivals=constant; rate=7", 1.0 / 7, 0.0},
    {"arrivals=poisson; rate=20", 0.05, 1.0},
    {"arrivals=poisson; rate=20; time-scale=0.5", 0.025, 1.0},
    {"arrivals=gamma; arrival-cv=0.5; rate=3", 1.0 / 3, 0.5},
    {"arrivals=gamma; arrival-cv=2; rate=3", 1.0 / 3, 2.0},
    {"arrivals=bursts; burst-on=1s; burst-off=3s; rate=2", 0.5, 3.1623},
    {"arrivals=bursts; burst-on=1s; burst-off=0s; rate=2", 0.5, 1.0},
};

START_TEST(gaps_have_their_moments)
{
    static double values[DRAWS];
    char settings[200];
    snprintf(settings, sizeof(settings), "requests=%d; %s", DRAWS, gaps[_i].settings);
    app__requests_t requests = make(settings);
    sim_time_t before_ps = 0;
    for (uint32_t i = 0; i < requests.count; i++) {
        ck_assert_uint_eq(requests.items[i].after, APP__REQUEST_NONE);
        ck_assert_uint_ge(requests.items[i].arrival_ps, before_ps);
        values[i] = (double)(requests.items[i].arrival_ps - before_ps) / 1e12;
        before_ps = requests.items[i].arrival_ps;
    }
    const moments_t m = moments(values, SIM_COUNT_OF(values));
    ck_assert_double_eq_tol(m.mean / gaps[_i].mean_s, 1.0, 0.04);
    ck_assert_double_eq_tol(m.cv, gaps[_i].cv, 0.04 * gaps[_i].cv + 1e-9);
    ck_assert_uint_eq(requests.clients, 0);
    app__requests_fini(&requests);
}
END_TEST

START_TEST(equal_gaps_do_not_drift)
{
    app__requests_t requests = make("arrivals=constant; rate=3; requests=3000");
    ck_assert_uint_eq(requests.items[0].arrival_ps, SIM_PS_PER_S / 3);
    ck_assert_uint_eq(requests.items[2999].arrival_ps, 1000 * SIM_PS_PER_S);
    app__requests_fini(&requests);
}
END_TEST

START_TEST(streams_do_not_depend_on_each_other)
{
    app__requests_t a = make("requests=500; rate=2");
    app__requests_t b = make("requests=500; arrivals=bursts; prefixes=9; output-tokens=1");
    app__requests_t c;
    sim_message_t message;
    ck_assert_int_eq(try("requests=500; rate=2", 1, &c, &message), SIM_OK);
    uint32_t equal = 0;
    for (uint32_t i = 0; i < 500; i++) {
        ck_assert_uint_eq(a.items[i].prompt_tokens, b.items[i].prompt_tokens);
        equal += a.items[i].arrival_ps == c.items[i].arrival_ps;
    }
    ck_assert_uint_eq(equal, 0);
    app__requests_fini(&a);
    app__requests_fini(&b);
    app__requests_fini(&c);
}
END_TEST

// -- clients and conversations

START_TEST(clients_wait_for_their_requests)
{
    app__requests_t requests = make("requests=4000; clients=16; think=2s");
    double thinking_s = 0.0;
    ck_assert_uint_eq(requests.clients, 16);
    for (uint32_t i = 0; i < requests.count; i++) {
        const app__request_t *const request = &requests.items[i];
        ck_assert_uint_eq(request->after, i < 16 ? APP__REQUEST_NONE : i - 16);
        ck_assert(i == 0 || i >= 16 || request->arrival_ps >= request[-1].arrival_ps);
        thinking_s += (double)request->arrival_ps / 1e12;
    }
    ck_assert_double_eq_tol(thinking_s / 4000, 2.0, 0.1);
    app__requests_fini(&requests);
    requests = make("requests=3; clients=16");
    ck_assert_uint_eq(requests.clients, 3);
    ck_assert_uint_eq(requests.items[2].arrival_ps, 0);
    app__requests_fini(&requests);
}
END_TEST

// Each turn begins with all of the turn before, and conversations have nothing in common.
START_TEST(refused_clients_wait)
{
    app__requests_t requests = make("clients=5; requests=20000; refused-wait=40ms; think=3ms");
    double sum = 0.0;
    for (uint32_t i = 0; i < requests.count; i++) {
        sum += (double)requests.items[i].refused_ps;
    }
    ck_assert_double_eq_tol(sum / requests.count, 40e9, 40e9 * 0.03);
    const sim_time_t think_ps = requests.items[77].arrival_ps;
    app__requests_fini(&requests);
    // The wait has a random stream of its own.
    requests = make("clients=5; requests=100; refused-wait=0s; think=3ms");
    ck_assert_uint_eq(requests.items[77].arrival_ps, think_ps);
    ck_assert_uint_eq(requests.items[77].refused_ps, 0);
    app__requests_fini(&requests);
}
END_TEST

START_TEST(turns_continue_their_conversation)
{
    app__requests_t requests = make("requests=120; clients=4; turns=10; prompt-tokens=uniform 300 "
                                    "900; output-tokens=100; block-tokens=64; tokens-max=1000000");
    for (uint32_t i = 0; i < requests.count; i++) {
        const app__request_t *const now = &requests.items[i];
        const bool begins = i / 4 % 10 == 0;
        ck_assert_uint_eq(now->block_count, now->prompt_tokens / 64);
        if (begins) {
            ck_assert_uint_le(now->prompt_tokens, 900);
        } else {
            const app__request_t *const before = &requests.items[now->after];
            ck_assert_uint_ge(now->prompt_tokens, before->prompt_tokens + 100 + 300);
        }
        if (i < 4) {
            continue;
        }
        const app__request_t *const before = &requests.items[now->after];
        for (uint32_t b = 0; b < before->block_count && b < now->block_count; b++) {
            ck_assert((app__request_block(&requests, now, b) ==
                       app__request_block(&requests, before, b)) == !begins);
        }
        ck_assert(app__request_block(&requests, now, 0) !=
                  app__request_block(&requests, now - 1, 0));
    }
    app__requests_fini(&requests);
    // A conversation ends early where its next prompt would be too long.
    requests = make("requests=9; clients=1; turns=9; prompt-tokens=300; output-tokens=100; "
                    "tokens-max=1000");
    ck_assert_uint_eq(requests.items[1].prompt_tokens, 700);
    ck_assert_uint_eq(requests.items[2].prompt_tokens, 300);
    app__requests_fini(&requests);
}
END_TEST

// -- prefixes

// Prefix n of N is chosen with probability 1 / (n H_N); the share of prompts with one is given.
START_TEST(prefixes_are_chosen_by_zipf)
{
    app__requests_t requests = make("requests=40000; prefixes=10; prefix-share=0.75; "
                                    "prefix-tokens=1000; prompt-tokens=uniform 3000 5000");
    const double harmonic = 2.9289682539682538;
    uint32_t counts[11] = {0};
    uint64_t first[10];
    uint32_t known = 0;
    for (uint32_t i = 0; i < requests.count; i++) {
        const uint64_t block = app__request_block(&requests, &requests.items[i], 0);
        uint32_t at = 0;
        while (at < known && first[at] != block) {
            at++;
        }
        if (at == known && known < 10 && i < 400) {
            first[known++] = block;
        }
        counts[at < 10 ? at : 10]++;
        // 1000 tokens are one whole block; the second one is the prompt's own.
        ck_assert(i == 0 || app__request_block(&requests, &requests.items[i], 1) !=
                                app__request_block(&requests, &requests.items[i - 1], 1));
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < 10; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    ck_assert_double_eq_tol(most / 40000.0, 0.75 / harmonic, 0.01);
    app__requests_fini(&requests);
}
END_TEST

START_TEST(prefixes_leave_a_token_to_the_prompt)
{
    app__requests_t requests =
        make("requests=100; prefixes=1; prefix-tokens=1024; prompt-tokens=1024");
    // The second block ends with the prompt's last token, which is its own.
    for (uint32_t i = 1; i < 100; i++) {
        const app__request_t *const request = &requests.items[i];
        ck_assert_uint_eq(request->block_count, 2);
        ck_assert_uint_eq(app__request_block(&requests, request, 0), requests.blocks[0]);
        ck_assert_uint_ne(app__request_block(&requests, request, 1), requests.blocks[1]);
    }
    app__requests_fini(&requests);
}
END_TEST

// -- traces

#define MOONCAKE                                                                                \
    "{\"timestamp\": 100, \"input_length\": 1200, \"output_length\": 5, \"hash_ids\": [7, 8, "  \
    "9]}\n"                                                                                     \
    "{\"timestamp\": 350, \"input_length\": 600, \"output_length\": 0, \"hash_ids\": [7, 5]}\n" \
    "{\"timestamp\": 400, \"input_length\": 512, \"output_length\": 9, \"hash_ids\": [7, 6]}\n"
#define AZURE                                     \
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n" \
    "2024-02-28 23:59:59.9799600,4808,10\r\n"     \
    "\r\n"                                        \
    "2024-02-29 00:00:00.0319600,0,8\r\n"         \
    "2024-03-01 00:00:00,110,27"
#define BURSTGPT                                                                    \
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total " \
    "tokens,Log Type\n"                                                             \
    "45,,,ChatGPT,472,18,490,Conversation log\n45.25,,,GPT-4,300,200,500,API log\n" \
    "46.000000000001,,,GPT-4,3,20,23,API log\n"

static const struct {
    const char *text;
    const char *settings;
    sim_time_t arrivals_ps[3];
    uint32_t prompts[3];
    uint32_t outputs[3];
    uint32_t blocks[3];
} traces[] = {
    {MOONCAKE, "", {0, 250 * MS, 300 * MS}, {1200, 600, 512}, {5, 1, 9}, {3, 2, 1}},
    {MOONCAKE,
     "time-scale=1/2; tokens-max=500",
     {0, 125 * MS, 150 * MS},
     {500, 500, 500},
     {5, 1, 9},
     {1, 1, 1}},
    {MOONCAKE,
     "timestamp-unit=s; block-tokens=600",
     {0, 250 * SIM_PS_PER_S, 300 * SIM_PS_PER_S},
     {1200, 600, 512},
     {5, 1, 9},
     {2, 1, 1}},
    {MOONCAKE,
     "arrivals=constant; rate=2",
     {500 * MS, 1000 * MS, 1500 * MS},
     {1200, 600, 512},
     {5, 1, 9},
     {3, 2, 1}},
    {MOONCAKE, "rate=4", {0, 5 * 500 * MS / 6, 500 * MS}, {1200, 600, 512}, {5, 1, 9}, {3, 2, 1}},
    {MOONCAKE,
     "prompt-tokens=700; output-tokens=7",
     {0, 250 * MS, 300 * MS},
     {700, 700, 700},
     {7, 7, 7},
     {2, 2, 2}},
    {"TIMESTAMP,\"ContextTokens\", GeneratedTokens\n\"2024-02-28 23:59:59\",\"9\",1\n"
     "2024-02-28 23:59:59,7,2\n2024-02-29 00:00:00,8,3\n",
     "rate=1/3",
     {0, 0, 6 * SIM_PS_PER_S},
     {9, 7, 8},
     {1, 2, 3},
     {0, 0, 0}},
    {AZURE, "", {0, 52 * MS, UINT64_C(86400020040000000)}, {4808, 1, 110}, {10, 8, 27}, {0, 0, 0}},
    {AZURE,
     "prefixes=1; prefix-tokens=2000",
     {0, 52 * MS, UINT64_C(86400020040000000)},
     {4808, 1, 110},
     {10, 8, 27},
     {9, 0, 0}},
    {BURSTGPT, "", {0, 250 * MS, SIM_PS_PER_S + 1}, {472, 300, 3}, {18, 200, 20}, {0, 0, 0}},
    {"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,4808,10\n5e-05,3180,8\n0.098189,110,"
     "27\n",
     "",
     {0, 50 * SIM_PS_PER_US, 98189 * SIM_PS_PER_US},
     {4808, 3180, 110},
     {10, 8, 27},
     {0, 0, 0}},
    {",num_decode_tokens,num_prefill_tokens\n0,1,4\n1,2,5\n2,3,6\n",
     "arrivals=constant; rate=1000",
     {MS, 2 * MS, 3 * MS},
     {4, 5, 6},
     {1, 2, 3},
     {0, 0, 0}},
    {"request_id,arrival_timestamp,prompt_size,token_size\n0,0,9,1\n1,0.5,8,2\n2,1.25,7,3\n",
     "",
     {0, 500 * MS, 1250 * MS},
     {9, 8, 7},
     {1, 2, 3},
     {0, 0, 0}},
    {"input_toks\toutput_toks\tarrival_time_ns\n10\t70\t46926808\n22\t104\t347938952\n16\t69\t"
     "479613521\n",
     "",
     {0, UINT64_C(301012144000), UINT64_C(432686713000)},
     {10, 22, 16},
     {70, 104, 69},
     {0, 0, 0}},
};

START_TEST(traces_are_read)
{
    char settings[200];
    snprintf(settings, sizeof(settings), "trace=t; %s", traces[_i].settings);
    file_text = traces[_i].text;
    app__requests_t requests = make(settings);
    ck_assert_uint_eq(requests.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const app__request_t *const request = &requests.items[i];
        ck_assert_uint_eq(request->arrival_ps, traces[_i].arrivals_ps[i]);
        ck_assert_uint_eq(request->prompt_tokens, traces[_i].prompts[i]);
        ck_assert_uint_eq(request->output_tokens, traces[_i].outputs[i]);
        ck_assert_uint_eq(request->block_count, traces[_i].blocks[i]);
    }
    app__requests_fini(&requests);
}
END_TEST

START_TEST(parts_of_traces_are_read)
{
    file_text = MOONCAKE;
    app__requests_t requests = make("trace=t; trace-skip=1; requests=1");
    ck_assert_uint_eq(requests.count, 1);
    ck_assert_uint_eq(requests.items[0].arrival_ps, 0);
    ck_assert_uint_eq(requests.items[0].prompt_tokens, 600);
    ck_assert_uint_eq(app__request_block(&requests, &requests.items[0], 1), 5);
    ck_assert_ptr_nonnull(strstr(notes, "t: 1 of its 3 requests is used, since `requests` is 1"));
    app__requests_fini(&requests);
    requests = make("trace=t; requests=10; clients=2");
    ck_assert_uint_eq(requests.count, 3);
    ck_assert_uint_eq(requests.items[2].after, 0);
    ck_assert_ptr_nonnull(strstr(notes, "t has 3 requests of the 10 that are wanted"));
    ck_assert_ptr_nonnull(strstr(notes, "1 prompt or output has no token"));
    ck_assert_ptr_null(strstr(notes, "`rate`"));
    ck_assert_ptr_null(strstr(notes, "drawn"));
    app__requests_fini(&requests);
    requests = make("trace=t; clients=2; rate=3; prompt-tokens=9");
    ck_assert_ptr_nonnull(strstr(notes, "`rate` has no effect with clients"));
    ck_assert_ptr_nonnull(strstr(notes, "t: prompt-tokens are drawn, and not those of the trace"));
    app__requests_fini(&requests);
    file_text = "{\"input_length\": 5, \"output_length\": 1}\n";
    requests = make("trace=t; rate=10");
    ck_assert_ptr_nonnull(strstr(notes, "have no timestamp, so they arrive at random"));
    ck_assert_uint_gt(requests.items[0].arrival_ps, 0);
    app__requests_fini(&requests);
}
END_TEST

// Rows that are out of order are sorted, and dates with offsets are one scale of time.
START_TEST(dates_are_compared_across_zones)
{
    static const char text[] = "Model,GeneratedTokens,TIMESTAMP,ContextTokens\n"
                               "\"x, \"\"y\"\"\",1,2024-05-12T02:00:01.5+02:00,10\n"
                               "x,2,2024-05-12 00:00:01Z,20\n"
                               "x,3.0,2024-05-11 20:30:00.250-03:30,30\n";
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    ck_assert_msg(app__trace_read("t", text, strlen(text), 9, &trace, &message) == SIM_OK, "%s",
                  message.text);
    ck_assert_uint_eq(trace.late, 2);
    static const uint64_t tokens[] = {30, 20, 10};
    static const uint64_t times_ms[] = {0, 750, 1250};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(trace.prompts[i].input_tokens, tokens[i]);
        ck_assert_uint_eq(trace.prompts[i].timestamp_ms, times_ms[i]);
    }
    app__mooncake_trace_fini(&trace);
}
END_TEST

// -- refusals

#define CSV "TIMESTAMP,ContextTokens,GeneratedTokens\n"
#define ROW "2023-11-16 18:17:03,1,1\n"

// Turns of sessions begin after the one before has ended; hash ids are numbers or texts.
#define TURNS                                                                               \
    "{\"session_id\": \"a\", \"timestamp\": 5, \"input_length\": 9, \"output_length\": 1, " \
    "\"hash_ids\": [\"x1\", 7]}\n"                                                          \
    "{\"session_id\": 4, \"timestamp\": 6, \"input_length\": 9, \"output_length\": 1, "     \
    "\"hash_ids\": [\"x1\", \"7\"]}\n"                                                      \
    "{\"session_id\": \"a\", \"delay\": 2.5, \"input_length\": 8, \"hash_ids\": [\"x2\"]}\n"

START_TEST(turns_of_sessions_follow_each_other)
{
    file_text = TURNS;
    app__requests_t requests = make("trace=t; block-tokens=4; output-tokens=3");
    ck_assert_uint_eq(requests.count, 3);
    ck_assert_uint_eq(requests.items[1].after, APP__REQUEST_NONE);
    ck_assert_uint_eq(requests.items[1].arrival_ps, MS);
    ck_assert_uint_eq(requests.items[2].after, 0);
    ck_assert_uint_eq(requests.items[2].arrival_ps, 5 * MS / 2);
    ck_assert_uint_eq(requests.items[2].output_tokens, 3);
    ck_assert_uint_eq(requests.items[2].block_count, 1);
    ck_assert_uint_eq(requests.blocks[1], 7);
    ck_assert_uint_eq(requests.blocks[2], requests.blocks[0]);
    ck_assert_uint_eq(requests.blocks[3], 7);
    ck_assert_uint_ne(requests.blocks[4], requests.blocks[0]);
    ck_assert_ptr_nonnull(strstr(notes, "t: 1 of its requests is a later turn of a session"));
    app__requests_fini(&requests);
    requests = make("trace=t; output-tokens=3; trace-skip=1"); // its first turn is left out
    ck_assert_uint_eq(requests.items[1].after, APP__REQUEST_NONE);
    app__requests_fini(&requests);
    requests = make("trace=t; output-tokens=3; arrivals=constant; rate=2");
    ck_assert_uint_eq(requests.items[1].arrival_ps, SIM_PS_PER_S);
    ck_assert_uint_eq(requests.items[2].after, 0);
    app__requests_fini(&requests);
    file_text = "{\"session_id\": \"s\", \"arrival_time_ns\": 7000, \"sub_requests\": ["
                "{\"input_toks\": 5, \"output_toks\": 1, \"tool_duration_ns\": 300}, "
                "{\"input_toks\": 6, \"output_toks\": 2}]}\n"
                "{\"arrival_time_ns\": 9000, \"input_toks\": 7, \"output_toks\": 3}\n";
    requests = make("trace=t");
    ck_assert_uint_eq(requests.count, 3);
    ck_assert_uint_eq(requests.items[1].after, 0);
    ck_assert_uint_eq(requests.items[1].arrival_ps, 300 * SIM_PS_PER_NS);
    ck_assert_uint_eq(requests.items[2].arrival_ps, 2000 * SIM_PS_PER_NS);
    ck_assert_uint_eq(requests.items[2].prompt_tokens, 7);
    app__requests_fini(&requests);
}
END_TEST

static const struct {
    const char *settings;
    const char *text;
    const char *expected; // the beginning of the message
} refusals[] = {
    {"prompt-tokens=0", NULL, "prompt-tokens: \"0\", expected a number of tokens from 1 to"},
    {"prompt-tokens=-5", NULL, "prompt-tokens: \"-5\", expected"},
    {"prompt-tokens=1e99", NULL, "prompt-tokens: cannot read 1e99"},
    {"prompt-tokens=", NULL, "prompt-tokens: \"\", expected"},
    {"prompt-tokens=100000001", NULL, "prompt-tokens: \"100000001\", expected"},
    {"output-tokens=uniform 5 4", NULL, "output-tokens: \"uniform 5 4\", expected"},
    {"output-tokens=uniform 5", NULL, "output-tokens: \"uniform 5\", expected"},
    {"output-tokens=lognormal 0 1", NULL, "output-tokens: \"lognormal 0 1\", expected"},
    {"output-tokens=lognormal 9 1 1", NULL, "output-tokens: \"lognormal 9 1 1\", expected"},
    {"output-tokens=exponential x", NULL, "output-tokens: \"exponential x\", expected"},
    {"prefix-tokens=no.txt", NULL, "prefix-tokens: cannot read no.txt"},
    {"prefix-tokens=c.txt", "1 0\n2 x\n", "c.txt:2:3: "},
    {"arrivals=trace", NULL, "trace is not set, expected a file of requests"},
    {"trace-skip=4", NULL, "trace-skip: 4, expected 0 without a trace"},
    {"arrivals=clients", NULL, "clients: 0, expected at least 1"},
    {"clients=4; arrivals=gamma", NULL, "clients: 4, expected 0 unless"},
    {"turns=2", NULL, "turns: 2, expected 1 without clients"},
    {"turns=2; clients=2; trace=t", MOONCAKE, "turns: 2, expected 1 with a trace"},
    {"trace=t", NULL, "trace: cannot read t"},
    {"trace=t; trace-skip=3", MOONCAKE, "trace-skip: 3, but t has 3 requests, expected less"},
    {"trace=t; prefixes=2", MOONCAKE, "prefixes: 2, expected 0, since t tells by hash_ids"},
    {"trace=t; time-scale=1000000", AZURE, "time-scale: request 2 arrives after more than 53"},
    {"rate=0.0001; requests=2000", NULL, "rate: request "},
    {"requests=100000000", NULL, "requests: 100000000 requests take some 7.2 GB of memory"},
    {"trace=t; rate=2; time-scale=3", MOONCAKE, "time-scale is set beside rate, expected only one"},
    {"trace=t; rate=2",
     "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1}\n"
     "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1}\n",
     "rate is set, but all requests of t have one time"},

    {"trace=t; arrivals=trace", "{\"input_length\": 5, \"output_length\": 1}\n",
     "t:1:1: the requests have no timestamp, expected one in each"},
    {"trace=t", "", "t:1:1: the trace is empty, expected JSON lines with"},
    {"trace=t", "\r\n \n", "t:1:1: the trace is empty, expected JSON lines with"},
    {"trace=t", "a,b,c\n1,2,3\n", "t:1:1: no trace of requests, expected JSON lines with"},
    {"trace=t", "{\"timestamp\": 5}\n", "t:1:1: no trace of requests, expected JSON lines"},
    {"trace=t", "TIMESTAMP,GeneratedTokens\n", "t:1:1: the first line has no column ContextTokens"},
    {"trace=t", "TIMESTAMP,ContextTokens\n2023-11-16 18:17:03,5\n",
     "t:2:1: the request has no GeneratedTokens"},
    {"trace=t", "{x,TIMESTAMP,ContextTokens,GeneratedTokens\n",
     "t:1:1: no trace of requests, expected"},
    {"trace=t", "\nTimestamp,Request Tokens,Response tokens\n1,2,3\n",
     "t:2:1: the first line has no column Request tokens, expected Timestamp, Request"},
    {"trace=t", "TIMESTAMP,b,c\n1,2,3\n", "t:1:1: no trace of requests, expected JSON lines with"},
    {"trace=t", "{\"input_length\": 5}\n", "t:1:1: the request has no output_length"},
    {"trace=t; prompt-tokens=3", "{\"input_length\": 5}\n",
     "t:1:1: the request has no output_length, expected input_length and output_length, or "
     "output-tokens in the scenario"},
    {"trace=t", "{\"input_length\": -5}\n", "t:1:18: expected a whole number"},
    {"trace=t", CSV, "t:1:1: the trace has no request, expected a row for each"},
    {"trace=t", CSV ROW "2023-11-16 18:17:03,1\n", "t:3:1: the row has 2 cells, expected 3"},
    {"trace=t", CSV ROW "# 5\n", "t:3:1: the row has 1 cell, expected 3"},
    {"trace=t", CSV ROW "2023-11-16 18:17:03,\"1,5\",1\n", "t:3:22: expected a number of tokens"},
    {"trace=t", "TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n",
     "t:1:41: the column is there twice, expected it once"},
    {"trace=t", CSV ROW "2023-11-16 18:17:03,x,1\n", "t:3:21: expected a number of tokens, 0 to"},
    {"trace=t", CSV "2023-11-16 18:17:03,1,1.5\n", "t:2:23: expected a number of tokens"},
    {"trace=t", CSV "2023-11-16 18:17:03,1,-1\n", "t:2:23: expected a number of tokens"},
    {"trace=t", CSV "2023-11-16 18:17:03,200000000,1\n", "t:2:21: expected a number of tokens"},
    {"trace=t", CSV "2023-02-29 18:17:03,1,1\n", "t:2:1: expected a time such as 2023-11-16"},
    {"trace=t", CSV "2023-13-16 18:17:03,1,1\n", "t:2:1: expected a time such as 2023-11-16"},
    {"trace=t", CSV "2023-11-16 18:17,1,1\n", "t:2:1: expected a time such as 2023-11-16"},
    {"trace=t", CSV "2023-11-16 18:17:03.,1,1\n", "t:2:1: expected a time such as 2023-11-16"},
    {"trace=t", CSV "17,1,1\n", "t:2:1: expected a time such as 2023-11-16"},
    {"trace=t", CSV ROW "2024-11-16 18:17:03,1,1\n", "t:3:1: the time is more than 104 days"},
    {"trace=t", "Timestamp,Request tokens,Response tokens\nnoon,1,1\n",
     "t:2:1: expected a time in seconds, such as 12 or 12.5"},
};

START_TEST(wrong_settings_and_files_are_refused)
{
    for (size_t i = 0; i < SIM_COUNT_OF(refusals); i++) {
        app__requests_t requests;
        sim_message_t message = {.text = ""};
        file_text = refusals[i].text;
        ck_assert_int_ne(try(refusals[i].settings, 0, &requests, &message), SIM_OK);
        const char *const expected = refusals[i].expected;
        ck_assert_msg(strncmp(message.text, expected, strlen(expected)) == 0,
                      "%s: \"%s\", expected \"%s\"", refusals[i].settings, message.text, expected);
        ck_assert_ptr_null(requests.items);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(functions_are_those_of_libm),
           CHECK_LOOP(gamma_has_its_moments, 0, SIM_COUNT_OF(shapes)),
           CHECK_TEST(normal_has_its_quantiles),
           CHECK_LOOP(lengths_have_their_moments, 0, SIM_COUNT_OF(lengths)),
           CHECK_TEST(lengths_are_cut_to_the_most),
           CHECK_LOOP(gaps_have_their_moments, 0, SIM_COUNT_OF(gaps)),
           CHECK_TEST(equal_gaps_do_not_drift), CHECK_TEST(streams_do_not_depend_on_each_other),
           CHECK_TEST(clients_wait_for_their_requests), CHECK_TEST(refused_clients_wait),
           CHECK_TEST(turns_continue_their_conversation), CHECK_TEST(prefixes_are_chosen_by_zipf),
           CHECK_TEST(prefixes_leave_a_token_to_the_prompt),
           CHECK_LOOP(traces_are_read, 0, SIM_COUNT_OF(traces)),
           CHECK_TEST(parts_of_traces_are_read), CHECK_TEST(dates_are_compared_across_zones),
           CHECK_TEST(turns_of_sessions_follow_each_other),
           CHECK_TEST(wrong_settings_and_files_are_refused))

// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_loggp.c - schedules on an ideal network against closed forms and against
// the times of LogGOPSim.
//
// Goal: both semantics, rendezvous, processors, NICs and unexpected messages take the times of the
// model; every public run of LogGOPSim and of ATLAHS's LogGOPSim is equal to the ns, for each rank.
// Method: closed forms for schedules written here; tables of peers' runs where they exist. Not
// pinned: rows of schedules that the peers do not run to the end.
#include "tests/check_main.h"

#include "apps/workload/formats/format.h"
#include "apps/workload/ideal/loggp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC "../shared/data/ai/"

// The parameters of LogGOPSim's default, in ns: L 2500, o 1500, g 1000, G 6, S 65535.
static app__loggp_t defaults(app__semantics_t semantics)
{
    return (app__loggp_t){
        .semantics = semantics,
        .latency_ps = 2500 * SIM_PS_PER_NS,
        .send_ps = 1500 * SIM_PS_PER_NS,
        .recv_ps = 1500 * SIM_PS_PER_NS,
        .gap_ps = 1000 * SIM_PS_PER_NS,
        .byte_gap_ps = 6 * SIM_PS_PER_NS,
        .eager_max_bytes = 65535,
        .calc_scale = {1, 1},
    };
}

static app__schedule_t *read_text(const char *text, size_t size)
{
    const app__workload_file_t file = {.name = "x", .text = text, .size_bytes = size};
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = app__format_read(&file, &schedule, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return schedule;
}

// Returns when the last rank of a schedule ends, in ns.
static uint64_t end_ns(const char *text, const app__loggp_t *loggp, uint64_t *unfinished)
{
    app__schedule_t *const schedule = read_text(text, strlen(text));
    app__loggp_result_t result;
    app__loggp_run(schedule, loggp, &result);
    const uint64_t end = result.end_ps / SIM_PS_PER_NS;
    *unfinished = result.unfinished;
    app__loggp_fini(&result);
    app__schedule_destroy(schedule);
    return end;
}

#define PAIR(first, second) "num_ranks 2\nrank 0 {\n" first "}\nrank 1 {\n" second "}\n"

START_TEST(messages_take_the_closed_form)
{
    static const struct {
        const char *text;
        uint64_t spcl_ns;
        uint64_t atlahs_ns;
    } rows[] = {
        // o + L + o and G for 99 bytes; ATLAHS has g at the receiver, too
        {PAIR("send 100b to 1\n", "recv 100b from 0\n"), 6094, 7094},
        // an empty message has one byte
        {PAIR("send 0b to 1\n", "recv 0b from 0\n"), 5500, 6500},
        // the second message waits for the first one's g and G
        {PAIR("send 1000b to 1\nsend 1000b to 1\n", "recv 1000b from 0\nrecv 1000b from 0\n"),
         5500 + 2 * 5994 + 1500, 6994 + 4000 + 5994 + 1000 + 1500},
        // a message of 70000 bytes waits for its receive at 500000; the send ends with it
        {PAIR("s: send 70000b to 1\nd: calc 7\nd requires s\n",
              "c: calc 500000\nr: recv 70000b from 0\nr requires c\n"),
         500000 + 1500 + 69999 * 6, 502507},
        // a computation occupies the processor that the message needs
        {PAIR("send 1b to 1\n", "recv 1b from 0\ncalc 100000\n"), 101500, 102500},
        // another processor: only ATLAHS looks at the receive's
        {PAIR("send 1b to 1\n", "recv 1b from 0 cpu 1\ncalc 100000\n"), 101500, 100000},
        // a computation for which nothing waits
        {PAIR("calc 5\ncalc 6 cpu 1\n", ""), 6, 6},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        uint64_t unfinished = 0;
        const app__loggp_t spcl = defaults(APP__SEMANTICS_SPCL);
        const app__loggp_t atlahs = defaults(APP__SEMANTICS_ATLAHS);
        const uint64_t ends[2] = {end_ns(rows[i].text, &spcl, &unfinished),
                                  end_ns(rows[i].text, &atlahs, &unfinished)};
        ck_assert_msg(ends[0] == rows[i].spcl_ns, "%s\nspcl: %" PRIu64 ", expected %" PRIu64,
                      rows[i].text, ends[0], rows[i].spcl_ns);
        ck_assert_msg(ends[1] == rows[i].atlahs_ns, "%s\natlahs: %" PRIu64 ", expected %" PRIu64,
                      rows[i].text, ends[1], rows[i].atlahs_ns);
        ck_assert_uint_eq(unfinished, 0);
    }
}
END_TEST

START_TEST(overhead_of_bytes_counts)
{
    app__loggp_t loggp = defaults(APP__SEMANTICS_SPCL);
    uint64_t unfinished = 0;
    loggp.byte_overhead_ps =
        10 * SIM_PS_PER_NS; // longer than G: it takes its place at the receiver
    ck_assert_uint_eq(end_ns(PAIR("send 100b to 1\n", "recv 100b from 0\n"), &loggp, &unfinished),
                      5500 + 990);
    loggp.semantics = APP__SEMANTICS_ATLAHS;
    ck_assert_uint_eq(end_ns(PAIR("send 100b to 1\n", "recv 100b from 0\n"), &loggp, &unfinished),
                      6500 + 594 + 2 * 990);
}
END_TEST

START_TEST(what_has_no_partner_does_not_finish)
{
    const app__loggp_t loggp = defaults(APP__SEMANTICS_SPCL);
    uint64_t unfinished = 0;
    // The receive with the wildcard takes the message that the other receive names.
    (void)end_ns("num_ranks 3\nrank 0 {\nr: recv 1b from -1 tag -1\nrecv 2b from 2 tag 5\n}\n"
                 "rank 1 {\nw: calc 9000\ns: send 1b to 0 tag 3\ns requires w\n}\n"
                 "rank 2 {\nsend 2b to 0 tag 5\n}\n",
                 &loggp, &unfinished);
    ck_assert_uint_eq(unfinished, 1);
}
END_TEST

// -- public runs

static char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *const text = sim_alloc(1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, file);
    text[*size] = '\0';
    (void)fclose(file);
    return text;
}

typedef struct row {
    char file[100];
    char simulator[40];
    char params[20];
    double ns[4]; // L, o, g, G
    uint64_t eager_max;
    uint64_t finish_ns; // 0: the peer did not finish
} row_t;

static bool read_row(const char *line, row_t *row)
{
    *row = (row_t){.finish_ns = 0};
    return sscanf(line, "%99[^,],%39[^,],%19[^,],%lf,%lf,%lf,%lf,%" SCNu64 ",%" SCNu64, row->file,
                  row->simulator, row->params, &row->ns[0], &row->ns[1], &row->ns[2], &row->ns[3],
                  &row->eager_max, &row->finish_ns) >= 9;
}

static sim_time_t ps_of(double ns)
{
    return (sim_time_t)(ns * 1000 + 0.5);
}

// Compares the ends of ranks with the table of the peer's; returns how many it has.
static unsigned compare_ranks(const char *table, const row_t *row,
                              const app__loggp_result_t *result)
{
    char begin[200];
    unsigned found = 0;
    snprintf(begin, sizeof(begin), "%s,%s,%s,", row->file, row->simulator, row->params);
    for (const char *at = strstr(table, begin); at != NULL; at = strstr(at + 1, begin)) {
        unsigned rank = 0;
        uint64_t end = 0;
        ck_assert_int_eq(sscanf(at + strlen(begin), "%u,%" SCNu64, &rank, &end), 2);
        ck_assert_msg(result->ranks[rank].end_ps == end * SIM_PS_PER_NS,
                      "%s%u: %" PRIu64 " ps, expected %" PRIu64 " ns", begin, rank,
                      result->ranks[rank].end_ps, end);
        found++;
    }
    return found;
}

static unsigned compare_row(const char *table, const row_t *row, unsigned *ranks)
{
    char path[300];
    size_t size = 0;
    const bool spcl = strcmp(row->simulator, "LogGOPSim") == 0;
    snprintf(path, sizeof(path), PUBLIC "data/goal/%s.goal", row->file);
    char *const text = read_file(path, &size);
    if (text == NULL) {
        return 0;
    }
    app__schedule_t *const schedule = read_text(text, size);
    const app__loggp_t loggp = {
        .semantics = spcl ? APP__SEMANTICS_SPCL : APP__SEMANTICS_ATLAHS,
        .ties = spcl ? APP__TIES_FILE : APP__TIES_HEAP,
        .latency_ps = ps_of(row->ns[0]),
        .send_ps = ps_of(row->ns[1]),
        .recv_ps = ps_of(row->ns[1]),
        .gap_ps = ps_of(row->ns[2]),
        .byte_gap_ps = ps_of(row->ns[3]),
        .eager_max_bytes = row->eager_max,
        .calc_scale = {1, 1},
    };
    app__loggp_result_t result;
    app__loggp_run(schedule, &loggp, &result);
    ck_assert_msg(result.end_ps == row->finish_ns * SIM_PS_PER_NS,
                  "%s %s %s: %" PRIu64 " ps, expected %" PRIu64 " ns", row->file, row->simulator,
                  row->params, result.end_ps, row->finish_ns);
    // LogGOPSim sorts the operations of a rank of a2av by type and leaves equal ones unordered.
    if (!spcl || strncmp(row->file, "a2av", 4) != 0) {
        *ranks += compare_ranks(table, row, &result);
    }
    app__loggp_fini(&result);
    app__schedule_destroy(schedule);
    sim_free(text);
    return 1;
}

START_TEST(public_runs_are_equal)
{
    size_t size = 0;
    unsigned compared = 0;
    unsigned ranks = 0;
    char *const runs = read_file(PUBLIC "runs/loggopsim/runs.csv", &size);
    if (runs == NULL) {
        printf("skip: no " PUBLIC "\n");
        return;
    }
    char *const table = read_file(PUBLIC "runs/loggopsim/per_host.csv", &size);
    ck_assert_ptr_nonnull(table);
    for (char *line = strtok(runs, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        row_t row;
        // hand_*: ATLAHS's program has no wildcards, and LogGOPSim lets an operation on another
        // processor start before what it requires (docs/models/workload.md).
        if (read_row(line, &row) && strncmp(row.file, "hand_", 5) != 0) {
            compared += compare_row(table, &row, &ranks);
        }
    }
    ck_assert_uint_gt(compared, 40);
    ck_assert_uint_gt(ranks, 200);
    sim_free(runs);
    sim_free(table);
}
END_TEST

CHECK_MAIN(CHECK_TEST(messages_take_the_closed_form), CHECK_TEST(overhead_of_bytes_counts),
           CHECK_TEST(what_has_no_partner_does_not_finish), CHECK_TEST(public_runs_are_equal))

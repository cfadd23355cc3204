// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_msccl.c - algorithms in MSCCL's XML: reading, verification, errors.
//
// Goal: a correct algorithm is read step by step; one that does not do its collective is refused
// with the step, the rank or the chunk. Method: small algorithms written here, each broken in one
// place; public ones, with the counts of an independent parser, where they exist.
#include "tests/check_main.h"

#include "apps/workload/collective/msccl/msccl.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "../shared/data/ai"
#define PLACE "cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
#define STEP(s, type, from, to)                                       \
    "<step s=\"" s "\" type=\"" type "\" srcbuf=\"i\" srcoff=\"" from \
    "\" dstbuf=\"i\" dstoff=\"" to "\" " PLACE "\n"
#define GPU(id, peer, mine, other)                                                                \
    "<gpu id=\"" id "\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\">\n"                          \
    "<tb id=\"0\" send=\"" peer "\" recv=\"" peer "\" chan=\"0\">\n" STEP("0", "s", other, other) \
        STEP("1", "rrcs", mine, mine) STEP("2", "r", other, other) "</tb></gpu>\n"
#define ALGO "<algo name=\"two\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" "

// Each rank sends the other's chunk, adds its own to what comes, sends the sum and takes the rest.
static const char good[] = ALGO "coll=\"allreduce\" inplace=\"1\">\n" GPU("0", "1", "0", "1")
    GPU("1", "0", "1", "0") "</algo>\n";

static sim_err_t read_text(const char *text, app__msccl_t *msccl, sim_message_t *message)
{
    const app__workload_file_t file = {.name = "x", .text = text, .size_bytes = strlen(text)};
    return app__msccl_read(&file, msccl, message);
}

START_TEST(an_algorithm_is_read)
{
    app__msccl_t msccl;
    sim_message_t message = {.text = ""};
    ck_assert_msg(read_text(good, &msccl, &message) == SIM_OK, "%s", message.text);
    const app__program_file_t *const program = msccl.program;
    ck_assert_str_eq(program->name, "two");
    ck_assert_uint_eq(program->kind, APP__COLL_ALL_REDUCE);
    ck_assert_uint_eq(program->ranks, 2);
    ck_assert_uint_eq(program->block_count, 2);
    ck_assert_uint_eq(program->step_count, 6);
    ck_assert_uint_eq(msccl.chunks_sent, 4);
    const app__step_t *const step = &program->steps[1];
    ck_assert_uint_eq(step->what,
                      APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_STORE | APP__STEP_SEND);
    ck_assert_uint_eq(step->send_peer, 1);
    ck_assert_uint_eq(step->recv_peer, 1);
    ck_assert_uint_eq(step->wait_block, APP__NO_BLOCK);
    app__msccl_fini(&msccl);
}
END_TEST

// Replaces the first `from` behind the first `behind` of the good text.
static void check_broken(const char *behind, const char *from, const char *to, const char *said)
{
    char text[sizeof(good) + 200];
    app__msccl_t msccl;
    sim_message_t message = {.text = ""};
    const char *const at = strstr(strstr(good, behind), from);
    ck_assert_ptr_nonnull(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    ck_assert_msg(read_text(text, &msccl, &message) != SIM_OK, "%s", text);
    ck_assert_msg(strstr(message.text, said) != NULL, "said %s, expected %s", message.text, said);
    app__msccl_fini(&msccl);
}

START_TEST(wrong_algorithms_are_refused)
{
    // Three messages where the other rank wants two; a sum that is not sent on.
    check_broken("gpu id=\"1\"", "type=\"rrcs\"", "type=\"rrc\"",
                 "x:6:1: gpu 0: the step waits for a message or a step that never comes");
    check_broken("gpu id=\"0\"", "type=\"rrcs\"", "type=\"rcs\"",
                 "x:5:1: gpu 0 has not the result in chunk 0 of its output at the end (this step");
    check_broken("gpu id=\"0\"", "type=\"r\"", "type=\"nop\"",
                 "x:2:1: gpu 0 has not the result in chunk 1 of its output at the end, expected");
    check_broken("gpu id=\"0\"", "type=\"r\"", "type=\"rrc\"",
                 "x:6:1: gpu 0: the step adds the data of a rank twice");
    check_broken("gpu id=\"1\"", "srcoff=\"1\"", "srcoff=\"0\"", "reduces two different chunks");
    check_broken("<algo", "inplace=\"1\"", "inplace=\"0\"",
                 "has not the result in chunk 0 of its output");
    check_broken("<algo", "allreduce", "alltoall", "reduces two different chunks");
}
END_TEST

START_TEST(errors_have_places)
{
    check_broken("<algo", "<algo", "<algorithm", "x:1:1: the element is wrong here");
    check_broken("<algo", "allreduce", "allreduced", "x:1:1: the collective is unknown");
    check_broken("<gpu", "id=\"0\"", "id=\"7\"", "x:2:1: the number is wrong: '7'");
    check_broken("<tb", "send=\"1\"", "send=\"0\"", "x:3:1: the peer is the rank itself");
    check_broken("<tb", "send=\"1\"", "send=\"-1\"", "x:4:1: the block has no peer for the step");
    check_broken("<step", "type=\"s\"", "type=\"q\"", "x:4:1: the step is unknown: 'q'");
    check_broken("<step", "srcbuf=\"i\"", "srcbuf=\"x\"", "x:4:1: the buffer is unknown: 'x'");
    check_broken("<step", "srcoff=\"1\"", "srcoff=\"2\"", "x:4:1: the step leaves the buffer: '2'");
    check_broken("<step", "depid=\"-1\"", "depid=\"3\"", "expected deps from 0");
    check_broken("<step", "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"9\"",
                 "x:4:1: gpu 0 waits for step 9 of tb 0, which it does not have");
    check_broken("<step", "/>", ">", "x:");
    check_broken("<algo", "<algo", "<!DOCTYPE a><algo", "there is a document type");
    check_broken("<algo", "ngpus=\"2\"", "ngpus=\"3\"", "fewer gpus than ngpus");
}
END_TEST

START_TEST(mutations_are_survived)
{
    char text[sizeof(good)];
    memcpy(text, good, sizeof(good));
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        app__msccl_t msccl;
        sim_message_t message = {.text = ""};
        for (unsigned bit = 0; bit < 7; bit++) {
            text[i] = (char)(good[i] ^ 1 << bit);
            (void)read_text(text, &msccl, &message);
            app__msccl_fini(&msccl);
        }
        text[i] = '\0';
        (void)read_text(text, &msccl, &message);
        app__msccl_fini(&msccl);
        text[i] = good[i];
    }
}
END_TEST

// -- public algorithms, counted by an independent parser

static unsigned files_compared;

static void check_row(char *row)
{
    char *columns[21] = {NULL};
    char path[500];
    for (size_t i = 0; i < SIM_COUNT_OF(columns) && row != NULL; i++) {
        columns[i] = strsep(&row, ",");
    }
    ck_assert_ptr_nonnull(columns[18]);
    snprintf(path, sizeof(path), FOLDER "/data/%s", columns[0]);
    FILE *const stream = fopen(path, "rb");
    if (stream == NULL) {
        return; // some are kept apart
    }
    char *const text = sim_alloc(1 << 20);
    text[fread(text, 1, (1 << 20) - 1, stream)] = '\0';
    (void)fclose(stream);
    app__msccl_t msccl;
    sim_message_t message = {.text = ""};
    ck_assert_msg(read_text(text, &msccl, &message) == SIM_OK, "%s: %s", path, message.text);
    const uint64_t counts[] = {msccl.program->ranks,  msccl.program->channels,
                               msccl.program->chunks, msccl.program->block_count,
                               msccl.line_count,      msccl.types[0],
                               msccl.types[1],        msccl.types[2],
                               msccl.types[3],        msccl.types[4],
                               msccl.types[5],        msccl.types[6],
                               msccl.types[7],        msccl.types[8],
                               msccl.chunks_sent,     msccl.depends};
    for (size_t i = 0; i < SIM_COUNT_OF(counts); i++) {
        ck_assert_msg(counts[i] == strtoull(columns[3 + i], NULL, 10), "%s: column %zu is %llu",
                      path, 3 + i, (unsigned long long)counts[i]);
    }
    files_compared++;
    app__msccl_fini(&msccl);
    sim_free(text);
}

START_TEST(public_counts_are_equal)
{
    char row[1000];
    FILE *const table = fopen(FOLDER "/expected/msccl_counts.csv", "r");
    if (table == NULL) {
        printf("skip: no " FOLDER "\n");
        return;
    }
    ck_assert_ptr_nonnull(fgets(row, sizeof(row), table));
    while (fgets(row, sizeof(row), table) != NULL) {
        check_row(row);
    }
    (void)fclose(table);
    ck_assert_uint_gt(files_compared, 3);
}
END_TEST

CHECK_MAIN(CHECK_TEST(an_algorithm_is_read), CHECK_TEST(wrong_algorithms_are_refused),
           CHECK_TEST(errors_have_places), CHECK_TEST(mutations_are_survived),
           CHECK_TEST(public_counts_are_equal))

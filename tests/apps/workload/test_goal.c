// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_goal.c - GOAL schedules: text, binary, counts and errors.
//
// Goal: the reader takes what the format allows, refuses what it does not with the place of the
// error, counts messages, chains and partners, and writes the binary format that it reads.
// Method: schedules written here; public ones with their reference binaries where they exist.
#include "tests/check_main.h"

#include "apps/workload/formats/format.h"
#include "apps/workload/formats/goal.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC "../shared/data/ai/data/goal"

static const char two_ranks[] = "// a comment\n"
                                "num_ranks 3\n"
                                "rank 0 {\n"
                                "/* two\n"
                                "lines */\n"
                                "c: calc 1000 cpu 2\n"
                                "s: send 1000b to 1 tag 3 cpu 1 nic 2\n"
                                "s requires c\n"
                                "t: send 0b to 1\n"
                                "t irequires s\n"
                                "}\n"
                                "rank 1 {\n"
                                "recv 1000b from -1 tag -1\n"
                                "recv 0b from 0\n"
                                "}\n";

static sim_err_t read_bytes(const char *text, size_t size_bytes, app__schedule_t **schedule,
                            sim_message_t *message)
{
    const app__workload_file_t file = {.name = "x", .text = text, .size_bytes = size_bytes};
    return app__format_read(&file, schedule, message);
}

static app__schedule_t *read_good(const char *text)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = read_bytes(text, strlen(text), &schedule, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return schedule;
}

START_TEST(text_is_read)
{
    app__schedule_t *const schedule = read_good(two_ranks);
    const app__schedule_counts_t *const counts = &schedule->counts;
    ck_assert_uint_eq(schedule->rank_count, 3);
    ck_assert_uint_eq(counts->sends, 2);
    ck_assert_uint_eq(counts->recvs, 2);
    ck_assert_uint_eq(counts->calcs, 1);
    ck_assert_uint_eq(counts->bytes, 1000);
    ck_assert_uint_eq(counts->calc_ns, 1000);
    ck_assert_uint_eq(counts->requires, 1);
    ck_assert_uint_eq(counts->irequires, 1);
    ck_assert_uint_eq(counts->unmatched_sends + counts->unmatched_recvs + counts->stuck, 0);
    ck_assert_uint_eq(counts->depth, 3); // the computation and both messages
    ck_assert_uint_eq(counts->cpu_max, 2);
    ck_assert_uint_eq(counts->nic_max, 2);
    const app__op_t *const send = &schedule->ranks[0].ops[1];
    ck_assert_uint_eq(send->needs, 1);
    ck_assert_uint_eq(send->irequired_count, 1);
    ck_assert_uint_eq(schedule->ranks[0].next[send->irequired_first], 2);
    ck_assert_uint_eq(schedule->ranks[1].ops[0].peer, APP__ANY);
    ck_assert_uint_eq(schedule->ranks[2].count, 0);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(partners_are_counted)
{
    app__schedule_t *schedule = read_good("num_ranks 2\nrank 0 {\nsend 1b to 1 tag 1\n"
                                          "send 1b to 1 tag 1\nsend 1b to 1 tag 2\n}\n"
                                          "rank 1 {\nrecv 1b from 0 tag 1\n"
                                          "recv 1b from -1 tag 9\n}\n");
    ck_assert_uint_eq(schedule->counts.unmatched_sends, 2);
    ck_assert_uint_eq(schedule->counts.unmatched_recvs, 1);
    app__schedule_destroy(schedule);
    // Each rank sends only after it has received: nothing can start.
    schedule = read_good("num_ranks 2\nrank 0 {\nr: recv 1b from 1\ns: send 1b to 1\n"
                         "s requires r\n}\nrank 1 {\nr: recv 1b from 0\ns: send 1b to 0\n"
                         "s requires r\n}\n");
    ck_assert_uint_eq(schedule->counts.stuck, 4);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(a_rank_sends_to_itself)
{
    app__schedule_t *const schedule =
        read_good("num_ranks 1\nrank 0 {\nsend 5b to 0\nrecv 5b from 0\n}\n");
    ck_assert_uint_eq(schedule->counts.sends, 1);
    ck_assert_uint_eq(schedule->counts.unmatched_sends, 0);
    ck_assert_uint_eq(schedule->counts.unmatched_recvs, 0);
    ck_assert_uint_eq(schedule->counts.depth, 1);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(errors_have_places)
{
    static const struct {
        const char *text;
        const char *said;
    } wrong[] = {
        {"", "x:1:1: this is no GOAL schedule"},
        {"num_ranks 0\n", "x:1:11: there is no rank"},
        {"num_ranks 99999999\n", "x:1:11: the number is wrong"},
        {"num_ranks 2\nrank 2 {\n}\n", "x:2:6: the number is wrong"},
        {"num_ranks 2\nrank 0 {\n", "the file ends within a rank"},
        {"num_ranks 2\nrank 0 {\nsend 5 to 1\n}\n", "x:3:6: the number is wrong: '5'"},
        {"num_ranks 2\nrank 0 {\nsend 5b from 1\n}\n", "x:3:9: a word is missing"},
        {"num_ranks 2\nrank 0 {\nsend 5b to 1 cpu 1 tag 2\n}\n",
         "x:3:20: there is an unknown word"},
        {"num_ranks 2\nrank 0 {\ncalc 5 nic 1\n}\n", "there is an unknown word: 'nic'"},
        {"num_ranks 2\nrank 0 {\na: calc 5\na: calc 6\n}\n", "x:4:1: the label is used twice"},
        {"num_ranks 2\nrank 0 {\na: calc 5\na requires b\nb: calc 1\n}\n",
         "x:4:12: there is no such label before this line: 'b'"},
        {"num_ranks 2\nrank 0 {\na: jump 5\n}\n", "the operation is unknown: 'jump'"},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "the rank stands twice"},
        {"num_ranks 2\nrank 0 {\nsend 99999999999999999999b to 1\n}\n", "the number is wrong"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_ne(read_bytes(wrong[i].text, strlen(wrong[i].text), &schedule, &message),
                         SIM_OK);
        ck_assert_msg(strstr(message.text, wrong[i].said) != NULL, "%s\nsaid %s", wrong[i].text,
                      message.text);
    }
}
END_TEST

START_TEST(binary_comes_back)
{
    app__schedule_t *const schedule = read_good(two_ranks);
    app__schedule_t *again = NULL;
    char *bytes[2];
    size_t sizes[2];
    sim_message_t message = {.text = ""};
    app__goal_write_binary(schedule, &bytes[0], &sizes[0]);
    ck_assert_int_eq(read_bytes(bytes[0], sizes[0], &again, &message), SIM_OK);
    app__goal_write_binary(again, &bytes[1], &sizes[1]);
    ck_assert_uint_eq(sizes[0], sizes[1]);
    ck_assert_mem_eq(bytes[0], bytes[1], sizes[0]);
    app__schedule_destroy(again);
    // Each truncation and each flipped byte is an error or another schedule, never a crash.
    for (size_t i = 0; i < sizes[0]; i++) {
        if (read_bytes(bytes[0], i, &again, &message) == SIM_OK) {
            app__schedule_destroy(again);
        }
        bytes[0][i] = (char)~bytes[0][i];
        if (read_bytes(bytes[0], sizes[0], &again, &message) == SIM_OK) {
            app__schedule_destroy(again);
        } else if (i >= 8) { // behind what tells the format
            ck_assert_msg(strncmp(message.text, "x: byte ", 8) == 0, "said %s", message.text);
        }
        bytes[0][i] = (char)~bytes[0][i];
    }
    sim_free(bytes[0]);
    sim_free(bytes[1]);
    app__schedule_destroy(schedule);
}
END_TEST

static char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *const text = sim_alloc(1 << 22);
    *size = fread(text, 1, 1 << 22, file);
    (void)fclose(file);
    return text;
}

// Compares the binary that is written from a text with that of the reference converter.
static bool same_binary(const char *name)
{
    char path[600];
    size_t sizes[3];
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    snprintf(path, sizeof(path), PUBLIC "/%s.goal", name);
    char *const text = read_file(path, &sizes[0]);
    snprintf(path, sizeof(path), PUBLIC "/bin/%s.bin", name);
    char *const wanted = read_file(path, &sizes[1]);
    bool same = text != NULL && wanted != NULL;
    if (same && read_bytes(text, sizes[0], &schedule, &message) == SIM_OK) {
        char *made = NULL;
        app__goal_write_binary(schedule, &made, &sizes[2]);
        same = sizes[1] == sizes[2] && memcmp(made, wanted, sizes[1]) == 0;
        sim_free(made);
        app__schedule_destroy(schedule);
    }
    sim_free(text);
    sim_free(wanted);
    return same;
}

START_TEST(public_schedules_are_equal)
{
    DIR *const folder = opendir(PUBLIC);
    unsigned compared = 0;
    if (folder == NULL) {
        printf("skip: no " PUBLIC "\n");
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[300];
        char path[600];
        const char *const dot = strstr(entry->d_name, ".goal");
        if (dot == NULL || dot[5] != '\0') {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(dot - entry->d_name), entry->d_name);
        snprintf(path, sizeof(path), PUBLIC "/bin/%s.bin", name);
        if (access(path, R_OK) == 0) {
            ck_assert_msg(same_binary(name), "%s differs", name);
            compared++;
        }
    }
    (void)closedir(folder);
    ck_assert_uint_gt(compared, 5);
}
END_TEST

CHECK_MAIN(CHECK_TEST(text_is_read), CHECK_TEST(partners_are_counted),
           CHECK_TEST(a_rank_sends_to_itself), CHECK_TEST(errors_have_places),
           CHECK_TEST(binary_comes_back), CHECK_TEST(public_schedules_are_equal))

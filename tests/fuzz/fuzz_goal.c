// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_goal.c - GOAL schedules of any bytes: refused, or written as binary and read
// again.
#include "apps/workload/formats/format.h"
#include "apps/workload/formats/goal.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define RANKS_MAX 1000u // more take long to compare

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    app__schedule_t *schedule = NULL;
    app__schedule_t *again = NULL;
    sim_message_t message = {.text = ""};
    const app__workload_file_t file = {
        .name = "goal",
        .text = (const char *)data,
        .size_bytes = size,
    };
    const app__format_t *const format = app__format_of(&file);
    if (format != &app__format_goal_binary && format != &app__format_goal_text) {
        return 0; // a file of another format
    }
    if (app__format_read(&file, &schedule, &message) != SIM_OK) {
        SIM_CHECKF(strncmp(message.text, "goal:", 5) == 0, "message \"%s\"", message.text);
        return 0;
    }
    if (schedule->rank_count <= RANKS_MAX && schedule->counts.colls == 0 &&
        schedule->refusal == NULL) {
        char *bytes = NULL;
        size_t size_bytes = 0;
        app__goal_write_binary(schedule, &bytes, &size_bytes);
        const app__workload_file_t written = {
            .name = "goal",
            .text = bytes,
            .size_bytes = size_bytes,
        };
        const sim_err_t error = app__format_read(&written, &again, &message);
        SIM_CHECKF(error == SIM_OK, "%s", message.text);
        const app__schedule_counts_t *const one = &schedule->counts;
        const app__schedule_counts_t *const two = &again->counts;
        SIM_CHECK(one->sends == two->sends && one->recvs == two->recvs);
        SIM_CHECK(one->bytes == two->bytes && one->calc_ns == two->calc_ns);
        SIM_CHECK(one->requires == two->requires && one->irequires == two->irequires);
        SIM_CHECK(one->depth == two->depth && one->stuck == two->stuck);
        app__schedule_destroy(again);
        sim_free(bytes);
    }
    app__schedule_destroy(schedule);
    return 0;
}

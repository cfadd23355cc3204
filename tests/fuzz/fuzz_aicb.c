// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_aicb.c - workload texts of AICB of any bytes: refused, or schedules that can end.
#include "apps/workload/formats/aicb.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define RANKS_MAX 64u // more take long to make

static bool is_small(const app__workload_file_t *file)
{
    app__aicb_t aicb;
    const sim_err_t error = app__aicb_read(file, &aicb, NULL);
    const bool small = error != SIM_OK || (aicb.all_gpus <= RANKS_MAX && aicb.tp <= RANKS_MAX &&
                                           aicb.tp * aicb.pp * aicb.ep <= RANKS_MAX);
    app__aicb_fini(&aicb);
    return small;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned simai = 0; simai < 2; simai++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        const app__workload_file_t file = {
            .name = "aicb",
            .text = (const char *)data,
            .size_bytes = size,
            .ranks = 8,
            .aicb_simai = simai == 1,
        };
        if (!app__aicb_recognises(&file) || !is_small(&file)) {
            return 0;
        }
        if (app__format_read(&file, &schedule, &message) != SIM_OK) {
            SIM_CHECKF(strncmp(message.text, "aicb:", 5) == 0, "message \"%s\"", message.text);
            continue;
        }
        const app__schedule_counts_t *const counts = &schedule->counts;
        SIM_CHECKF(counts->stuck == 0 && counts->unmatched_sends == 0, "%.*s", (int)size,
                   (const char *)data);
        SIM_CHECK(counts->unmatched_recvs == 0 && schedule->note_count > 0);
        app__schedule_destroy(schedule);
    }
    return 0;
}

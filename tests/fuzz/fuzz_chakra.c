// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_chakra.c - Chakra traces of any bytes: refused, or schedules whose counts agree.
#include "apps/workload/formats/format.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    const app__workload_file_t file = {
        .name = "t.0.et",
        .text = (const char *)data,
        .size_bytes = size,
    };
    if (app__format_of(&file) != &app__format_chakra) {
        return 0; // a file of another format
    }
    if (app__format_read(&file, &schedule, &message) != SIM_OK) {
        SIM_CHECKF(strncmp(message.text, "t.0.et:", 7) == 0, "message \"%s\"", message.text);
        return 0;
    }
    const app__schedule_counts_t *const counts = &schedule->counts;
    uint64_t nodes = 0;
    for (size_t i = 0; i < schedule->fact_count; i++) {
        nodes = strcmp(schedule->facts[i].name, "nodes") == 0 ? schedule->facts[i].number : nodes;
    }
    SIM_CHECK(counts->sends + counts->recvs + counts->calcs + counts->colls == nodes);
    app__schedule_destroy(schedule);
    return 0;
}

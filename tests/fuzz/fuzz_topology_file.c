// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_topology_file.c - any bytes as a topology file: refused with a place, or a graph.
#include "topologies/topology_file.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void hear(const char *text, void *ctx)
{
    (void)ctx;
    SIM_CHECKF(strncmp(text, "f:", 2) == 0, "note \"%s\"", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    topo_file_t *file = NULL;
    sim_message_t message = {.text = ""};
    const char *const text = size > 0 ? (const char *)data : "";
    const sim_err_t error =
        topo_file_parse(TOPO_FILE_AUTO, "f", text, size, hear, NULL, &file, &message);
    if (error != SIM_OK) {
        SIM_CHECKF(strncmp(message.text, "f:", 2) == 0, "message \"%s\"", message.text);
        SIM_CHECK(file == NULL);
        return 0;
    }
    for (size_t i = 0; i < file->link_count; i++) {
        const topo_file_link_t *const link = &file->links[i];
        SIM_CHECK(link->a < file->node_count && link->b < file->node_count);
        SIM_CHECK(link->a != link->b);
        SIM_CHECK(link->rate_bps > 0 && link->delay_ps > 0 && link->delay_ps <= SIM_PS_PER_S);
        SIM_CHECK(link->loss_rate.den > 0 && link->loss_rate.num <= link->loss_rate.den);
    }
    topo_file_destroy(file);
    return 0;
}

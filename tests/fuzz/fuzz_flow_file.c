// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_flow_file.c - any bytes as a flow file: refused with a place, or rows in range.
#include "apps/flow_file.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void hear(const char *text, void *ctx)
{
    (void)ctx;
    SIM_CHECKF(strncmp(text, "f:", 2) == 0, "note \"%s\"", text);
}

static void try_format(app_flow_format_t format, const char *text, size_t size)
{
    app_flow_file_t file;
    sim_message_t message = {.text = ""};
    const sim_err_t error =
        app_flow_file_parse(format, "f", text, size, hear, NULL, &file, &message);
    if (error != SIM_OK) {
        SIM_CHECKF(strncmp(message.text, "f:", 2) == 0, "message \"%s\"", message.text);
    }
    for (size_t i = 0; i < file.count; i++) {
        const app_flow_row_t *const row = &file.rows[i];
        SIM_CHECK(row->source != row->destination && row->bytes > 0);
        const app_flow_chain_t *const chain = &row->chain;
        SIM_CHECK(row->start_ps <= 10000 * SIM_PS_PER_S ||
                  (row->start_ps == SIM_TIME_NEVER && chain->started_by != 0));
        SIM_CHECK(error != SIM_OK ||
                  (chain->started_by <= file.trigger_count && chain->sent <= file.trigger_count &&
                   chain->received <= file.trigger_count));
        SIM_CHECK(row->priority < 8 || row->priority == APP_FLOW_AS_THE_NIC);
    }
    app_flow_file_fini(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = size > 0 ? (const char *)data : "";
    SIM_CHECK(app_flow_file_detect(text, size) != APP_FLOW_AUTO);
    try_format(APP_FLOW_HPCC, text, size);
    try_format(APP_FLOW_HTSIM, text, size);
    return 0;
}

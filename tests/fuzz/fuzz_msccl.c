// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_msccl.c - MSCCL algorithms and MSCCL++ plans of any bytes: refused, or they end.
#include "apps/workload/collective/msccl/lower.h"
#include "apps/workload/collective/msccl/msccl.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    app__msccl_t msccl;
    sim_message_t message = {.text = ""};
    const app__workload_file_t file = {
        .name = "algo",
        .text = (const char *)data,
        .size_bytes = size,
    };
    const bool plan = size > 0 && data[0] == '{';
    const sim_err_t error = plan ? app__mscclpp_read(&file, &msccl, &message)
                                 : app__msccl_read(&file, &msccl, &message);
    if (error != SIM_OK) {
        SIM_CHECKF(strncmp(message.text, "algo:", 5) == 0, "message \"%s\"", message.text);
    } else {
        SIM_CHECK(app__msccl_verify(&msccl, &message) == SIM_OK);
        SIM_CHECK(msccl.line_count == msccl.program->step_count);
    }
    app__msccl_fini(&msccl);
    return 0;
}

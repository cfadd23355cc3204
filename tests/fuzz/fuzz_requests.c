// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_requests.c - bytes as a trace of requests: refused with a place, or the requests
// are in order of time and their blocks fill the list of blocks.
#include <string.h>

#include "apps/request_trace.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    // Nothing stands behind the text, so that a sanitizer sees a read beyond its end.
    char *const text = sim_alloc(size);
    memcpy(text, data, size);
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    if (app__trace_read("t", text, size, 1000, &trace, &message) != SIM_OK) {
        SIM_CHECK(strncmp(message.text, "t:", 2) == 0);
        SIM_CHECK(message.placed);
    } else {
        size_t ids = 0;
        SIM_CHECK(app__trace_detect(text, size) != APP__TRACE_NONE);
        SIM_CHECK(trace.count >= 1 && trace.count <= 1000);
        for (size_t i = 0; i < trace.count; i++) {
            const app__mooncake_prompt_t *const prompt = &trace.prompts[i];
            const app__mooncake_prompt_t *const before = &trace.prompts[i > 0 ? i - 1 : 0];
            SIM_CHECK(prompt->timestamp_ms >= before->timestamp_ms);
            SIM_CHECK(prompt->timestamp_ms > before->timestamp_ms ||
                      prompt->timestamp_rest_ps >= before->timestamp_rest_ps);
            SIM_CHECK(prompt->timestamp_rest_ps < SIM_PS_PER_MS);
            ids += prompt->id_count;
        }
        SIM_CHECK(ids == trace.id_count);
        app__mooncake_trace_fini(&trace);
    }
    sim_free(text);
    return 0;
}

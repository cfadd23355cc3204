// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_cdf.c - flow-size files of any bytes: refused with a place, or a distribution.
#include "kernel/random.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sim_cdf_t *cdf = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = sim_cdf_parse((const char *)data, size, &cdf, &message);
    if (error != SIM_OK) {
        SIM_CHECK(cdf == NULL);
        SIM_CHECKF(strncmp(message.text, "line ", 5) == 0, "message \"%s\"", message.text);
        return 0;
    }
    const uint64_t mean_q16 = sim_cdf_mean_q16(cdf);
    SIM_CHECKF(mean_q16 >= 1 << 16, "mean %" PRIu64, mean_q16);
    SIM_CHECKF(mean_q16 >> 16 <= SIM_CDF_VALUE_MAX, "mean %" PRIu64, mean_q16);
    sim_random_t random;
    sim_random_init(&random, size, 0, "fuzz");
    for (int i = 0; i < 32; ++i) {
        const uint64_t value = sim_cdf_draw(cdf, &random);
        SIM_CHECKF(value >= 1 && value <= SIM_CDF_VALUE_MAX, "value %" PRIu64, value);
    }
    sim_cdf_destroy(cdf);
    return 0;
}

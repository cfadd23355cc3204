// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_hpcc_config.c - any bytes as a config of HPCC's simulator: refused with a place,
// or values that are there.
#include "tests/fuzz/fuzz.h"

#include "cli/hpcc/config.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world_error_t error;
    const char *const text = size > 0 ? (const char *)data : "";
    cli_hpcc_config_t *const config = cli_hpcc_config_parse("f", text, size);
    if (cli_hpcc_config_check(config, &error) != SIM_OK) {
        SIM_CHECKF(strncmp(error.text, "f:", 2) == 0, "%s", error.text);
        SIM_CHECKF(strchr(error.text, '\n') == NULL, "%s", error.text);
        cli_hpcc_config_destroy(config);
        return 0;
    }
    for (cli_hpcc_key_t key = 0; key < CLI_HPCC_KEY_COUNT; key++) {
        SIM_CHECK(!config->values[key].given || config->values[key].has);
        SIM_CHECK(config->values[key].place.line > 0);
    }
    SIM_CHECK(cli_hpcc_text(config, CLI_HPCC_SIMULATOR_STOP_TIME) != NULL);
    for (size_t i = 0; i < config->pmax.count; i++) {
        const sim_ratio_t number = config->pmax.rows[i].number;
        SIM_CHECK(number.den > 0 && number.num <= number.den);
        SIM_CHECK(cli_hpcc_find(&config->pmax, config->pmax.rows[i].rate_bps) ==
                  &config->pmax.rows[i]);
    }
    cli_hpcc_config_destroy(config);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_scenario.c - any bytes as a scenario: refused with a place, or understood.
//
// A scenario that is understood is written with its defaults, read again and written again: both
// texts must be the same. Nothing is built, so that a scenario of millions of hosts costs nothing
// here.
#include "tests/fuzz/fuzz.h"

#include "world/scenario.h"

#include <string.h>

#define FILE_NAME "fuzz.yaml"

static char *resolve(const char *bytes, size_t size, world_error_t *error)
{
    world_scenario_t *scenario = NULL;
    const sim_err_t result = world_scenario_parse(NULL, FILE_NAME, bytes, size, &scenario, error);
    SIM_CHECK((result == SIM_OK) == (scenario != NULL));
    if (result != SIM_OK) {
        return NULL;
    }
    char *const text = world_scenario_resolved(scenario);
    world_scenario_destroy(scenario);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world_error_t error;
    char *const once = resolve(size > 0 ? (const char *)data : "", size, &error);
    if (once == NULL) {
        SIM_CHECKF(strncmp(error.text, FILE_NAME ":", strlen(FILE_NAME) + 1) == 0, "%s",
                   error.text);
        SIM_CHECKF(strchr(error.text, '\n') == NULL, "%s", error.text);
        return 0;
    }
    char *const twice = resolve(once, strlen(once), &error);
    SIM_CHECKF(twice != NULL, "%s\n%s", error.text, once);
    SIM_CHECKF(strcmp(once, twice) == 0, "%s\n%s", once, twice);
    sim_free(once);
    sim_free(twice);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/library/further_errors.h - what else is wrong with a scenario, behind the first
// error.
#ifndef STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H
#define STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H

#include "world/scenario.h"

typedef void (*studio__error_fn)(const char *text, void *ctx);

// Calls fn for each further error of the scenario, at most seven, each found once the lines of
// those before it were left out. first: the message of the first one, as world_scenario_load of
// "-" gives it. yaml ends with a zero behind its size bytes.
void studio__further_errors(const char *yaml,
                            size_t size,
                            const world_override_t *overrides,
                            size_t count,
                            const char *first,
                            studio__error_fn fn,
                            void *ctx);

#endif // STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H

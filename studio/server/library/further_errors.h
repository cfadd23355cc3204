// SPDX-License-Identifier: Apache-2.0
// studio/server/library/further_errors.h - finds the errors of a scenario behind the first one.
#ifndef STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H
#define STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H

#include "world/scenario.h"
#include "world/world.h"

typedef void (*studio__error_fn)(const char *text, void *ctx);

// Calls fn for each further error, at most 19; each is found after the entries or lines of the
// earlier ones were blanked. first is the first error's message, as world_scenario_load of "-"
// gives it. A zero follows the size bytes of yaml. Returns true if these are all errors: the rest
// can be built, and what was blanked had no entries of its own.
bool studio__further_errors(const char *yaml, size_t size, const world_override_t *overrides,
                            size_t count, const char *first, studio__error_fn fn, void *ctx);

#endif // STUDIO_SERVER_LIBRARY_FURTHER_ERRORS_H

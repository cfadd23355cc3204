// SPDX-License-Identifier: Apache-2.0
// studio/server/library/scenario_check.h - checks a scenario with rocesim's own loader.
//
// A scenario is untrusted text. A confined process (studio/server/process/confine.h) reads it
// within a few seconds, so that no scenario can harm the server.
#ifndef STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H
#define STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

#include "studio/server/studio.h"

#include <jansson.h>

typedef enum studio_check_what {
    STUDIO_CHECK_ALL,      // errors, warnings, and the size of the run
    STUDIO_CHECK_TOPOLOGY, // nodes and links
} studio_check_what_t;

// Checks a scenario for a user; user decides whose turn it takes. set is an array of "path=value",
// or NULL. library names the scenario of the library that relative file names start from, or NULL.
// Returns {"errors": [{message, line?, column?, after?}], ...}, never NULL, owned by the caller;
// after: the error was found after the lines of earlier ones were blanked.
json_t *studio_check(studio_t *studio, int64_t user, studio_check_what_t what, const char *yaml,
                     const json_t *set, const char *library);

// Runs in the confined process: reads the scenario from the standard input and prints the answer.
// arguments: what, folder ("": none), "path=value"...
int studio_check_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

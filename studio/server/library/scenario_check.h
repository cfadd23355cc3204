// SPDX-License-Identifier: Apache-2.0
// studio/server/library/scenario_check.h - rocesim's own checker, asked in a process of its own.
//
// A scenario is somebody's text: what reads it is confined (studio/server/runs/process/confine.h)
// and has a few
// seconds, so that a bomb of any kind is an answer and no more.
#ifndef STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H
#define STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

#include "studio/server/studio.h"

#include <jansson.h>

typedef enum studio_check_what {
    STUDIO_CHECK_ALL,      // errors, warnings, what a run would be
    STUDIO_CHECK_TOPOLOGY, // nodes and links
} studio_check_what_t;

// user is whose turn it takes. set is an array of "path=value", or NULL; library the name of a
// scenario of the library whose folder file names start from, or NULL. The caller's reference,
// never NULL: {"errors": [{message, line?, column?, after?}], ...}; after: found once the lines of
// the errors before it were left out.
json_t *studio_check(studio_t *studio,
                     int64_t user,
                     studio_check_what_t what,
                     const char *yaml,
                     const json_t *set,
                     const char *library);

// In the process of its own: the scenario on the standard input, the answer on the standard output.
// arguments: what, folder ("": none), "path=value"...
int studio_check_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

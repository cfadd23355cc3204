// SPDX-License-Identifier: Apache-2.0
// studio/server/library/scenario_check.h - checks a scenario with rocesim's own loader.
//
// A scenario is untrusted text. A confined process (studio/server/process/confine.h) reads it
// within a few seconds, so that no scenario can harm the server.
#ifndef STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H
#define STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

#include "studio/server/library/place.h"

#include <jansson.h>

typedef enum studio_check_what {
    STUDIO_CHECK_ALL,      // errors, warnings, and the size of the run
    STUDIO_CHECK_TOPOLOGY, // nodes and links
} studio_check_what_t;

// The folds that a drawing of a large network opens (studio_drawing_init).
typedef struct studio_check_folds {
    const char *open; // NULL: none
    const char *find; // NULL: no node
} studio_check_folds_t;

// Checks a scenario for a user, with each of the runs' lists of settings ["path=value"...]. The
// first run is built as a whole. The others are read, and those with a value that no run before had
// are built, as far as processor time allows. Returns {"errors": [{message, line?, column?, after?,
// set?}], busy?, ...}, never NULL, owned by the caller. after: the error was found after the lines
// of earlier ones were blanked; set: the settings of the run that has it, if it is not the first;
// busy: nothing was checked; refusal: why a scenario without errors cannot be run here.
// folds: for a topology, NULL: none.
json_t *studio_check(studio_t *studio, const studio_user_t *user, studio_check_what_t what,
                     const char *yaml, const json_t *runs, const studio_place_t *place,
                     const studio_check_folds_t *folds);

// Runs in the confined process: reads the scenario and the runs' settings from the standard input
// and prints the answer.
// arguments: what, the library's folder, the user's files, the folder where file names start, the
// opened folds, a node whose folds are opened ("": none).
int studio_check_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_SCENARIO_CHECK_H

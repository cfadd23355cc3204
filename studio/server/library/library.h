// SPDX-License-Identifier: Apache-2.0
// studio/server/library/library.h - the scenarios and studies to begin with, each with its
// question.
//
// Read once when the server starts; names are paths below the library's folder, without ".yaml".
#ifndef STUDIO_SERVER_LIBRARY_LIBRARY_H
#define STUDIO_SERVER_LIBRARY_LIBRARY_H

#include "studio/server/studio.h"

typedef struct studio_library studio_library_t;

// A folder that is not there makes an empty library.
studio_library_t *studio_library_load(const char *folder);
void studio_library_destroy(studio_library_t *library);

// The text of a scenario; NULL: there is none of this name.
const char *studio_library_yaml(const studio_library_t *library, const char *name);

// The script below the library's folder that runs a study, and the study's name for it. False:
// there is none, or it is for the command line alone.
bool studio_library_study(const studio_library_t *library,
                          const char *name,
                          const char **runner,
                          const char **study);

#endif // STUDIO_SERVER_LIBRARY_LIBRARY_H

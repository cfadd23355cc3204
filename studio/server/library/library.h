// SPDX-License-Identifier: Apache-2.0
// studio/server/library/library.h - the shipped scenarios and studies, each with its question.
//
// They are read once when the server starts. Their names are paths below the library's folder,
// without ".yaml".
#ifndef STUDIO_SERVER_LIBRARY_LIBRARY_H
#define STUDIO_SERVER_LIBRARY_LIBRARY_H

#include "studio/server/studio.h"

#include <jansson.h>

typedef struct studio_library studio_library_t;

// Reads the library; a missing folder gives an empty one.
studio_library_t *studio_library_load(const char *folder);
void studio_library_destroy(studio_library_t *library);

// Returns the text of a scenario; NULL if there is none of this name.
const char *studio_library_yaml(const studio_library_t *library, const char *name);

// Finds the script that runs a study (a path below the library's folder) and the study's name for
// that script. Returns false if there is no such study, or if only the command line can run it.
bool studio_library_study(const studio_library_t *library, const char *name, const char **runner,
                          const char **study);

// Returns the parameters of a study, [{name, quick, all}] with the values that it takes by default;
// owned by the caller. The script calls pick NAME "QUICK" "ALL", or seeds ALL.
json_t *studio_library_parameters(const studio_library_t *library, const char *name);
// Returns whether the settings NAME=VALUE fit the study: values of its parameters are lists of
// words. Sets a message otherwise. Other names are attributes of its scenarios, which its runs
// check.
SIM_MUST_CHECK bool studio_library_settings(const studio_library_t *library, const char *name,
                                            const json_t *set, sim_message_t *message);

// Returns a file's text, freed with sim_free; NULL if it cannot be read, is too long or no UTF-8.
char *studio_read_text(const char *path, size_t bytes_max);
// Returns the scenario in a saved document, freed with sim_free; NULL if the user may not see it.
char *studio_document_yaml(studio_t *studio, const studio_user_t *user, int64_t document);

#endif // STUDIO_SERVER_LIBRARY_LIBRARY_H

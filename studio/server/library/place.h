// SPDX-License-Identifier: Apache-2.0
// studio/server/library/place.h - where relative file names in a scenario start.
#ifndef STUDIO_SERVER_LIBRARY_PLACE_H
#define STUDIO_SERVER_LIBRARY_PLACE_H

#include "studio/server/http/route.h"

typedef struct studio_place {
    const char *entry;  // beside this scenario of the library, then in the user's files; or NULL
    const char *folder; // otherwise in this folder of the user's own files; "": the top
} studio_place_t;

// Reads the members library and folder of a request; returns 0 or the status of the answer.
int studio_take_place(studio_request_t *request, studio_response_t *response,
                      studio_place_t *place);

// Returns these folders as the attribute `folder` of a scenario takes them, with absolute paths and
// ':' between them; "": there are none. Free the text with sim_free.
char *studio_place_folders(const studio_t *studio, const char *user, const studio_place_t *place);

// Removes a folder in front of the names of files in a text: a user knows them without it.
void studio_names_shorten(char *text, const char *folder);

#endif // STUDIO_SERVER_LIBRARY_PLACE_H

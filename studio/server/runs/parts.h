// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/parts.h - functions shared by the files with routes of runs.
#ifndef STUDIO_SERVER_RUNS_PARTS_H
#define STUDIO_SERVER_RUNS_PARTS_H

#include "studio/server/http/route.h"

int studio__post_runs(studio_request_t *request, studio_response_t *response);
int studio__post_again(studio_request_t *request, studio_response_t *response);

// Returns a file's text, freed with sim_free; NULL if it cannot be read, is too long or no UTF-8.
char *studio_read_text(const char *path, size_t bytes_max);
// Returns the scenario in a saved document, freed with sim_free; NULL if the user may not see it.
char *studio_document_yaml(studio_t *studio, const studio_user_t *user, int64_t document);

#endif // STUDIO_SERVER_RUNS_PARTS_H

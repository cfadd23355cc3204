// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/parts.h - functions shared by the files with routes of runs.
#ifndef STUDIO_SERVER_RUNS_PARTS_H
#define STUDIO_SERVER_RUNS_PARTS_H

#include "studio/server/http/route.h"

int studio__post_cancel_many(studio_request_t *request, studio_response_t *response);
int studio__post_delete_many(studio_request_t *request, studio_response_t *response);
int studio__post_remove_many(studio_request_t *request, studio_response_t *response);

#endif // STUDIO_SERVER_RUNS_PARTS_H

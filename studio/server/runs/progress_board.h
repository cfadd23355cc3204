// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/progress_board.h - the last progress of each running run.
//
// The queue's thread writes it, routes and events read it: it has its own lock.
#ifndef STUDIO_SERVER_RUNS_PROGRESS_BOARD_H
#define STUDIO_SERVER_RUNS_PROGRESS_BOARD_H

#include "kernel/base.h"

#include <jansson.h>

typedef struct studio_board studio_board_t;

studio_board_t *studio_board_create(void);
void studio_board_destroy(studio_board_t *board); // NULL is allowed

// Replaces the progress of a run; takes the reference.
void studio_board_put(studio_board_t *board, int64_t run, json_t *progress);
// Forgets a run that has ended.
void studio_board_drop(studio_board_t *board, int64_t run);
// Returns the last progress of a running run, owned by the caller; NULL if there is none.
json_t *studio_board_find(studio_board_t *board, int64_t run);

#endif // STUDIO_SERVER_RUNS_PROGRESS_BOARD_H

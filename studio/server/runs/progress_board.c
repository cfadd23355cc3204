// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/progress_board.c - the last progress of each running run.
#include "studio/server/runs/progress_board.h"

#include <pthread.h>

typedef struct entry {
    int64_t run;
    json_t *progress;
} entry_t;

struct studio_board {
    pthread_mutex_t lock;
    entry_t *entries; // at most one per run
    size_t count;
    size_t capacity;
};

studio_board_t *studio_board_create(void)
{
    studio_board_t *const board = sim_alloc(sizeof(*board));
    SIM_CHECK(pthread_mutex_init(&board->lock, NULL) == 0);
    return board;
}

void studio_board_destroy(studio_board_t *board)
{
    if (board == NULL) {
        return;
    }
    for (size_t i = 0; i < board->count; i++) {
        json_decref(board->entries[i].progress);
    }
    SIM_CHECK(pthread_mutex_destroy(&board->lock) == 0);
    sim_free(board->entries);
    sim_free(board);
}

// Returns the index of a run; count if the board does not have it. Needs the lock.
static size_t place_of(const studio_board_t *board, int64_t run)
{
    size_t index = 0;
    while (index < board->count && board->entries[index].run != run) {
        index++;
    }
    return index;
}

void studio_board_put(studio_board_t *board, int64_t run, json_t *progress)
{
    SIM_CHECK(run > 0 && progress != NULL);
    SIM_CHECK(pthread_mutex_lock(&board->lock) == 0);
    const size_t index = place_of(board, run);
    if (index == board->count) {
        SIM_APPEND(board->entries, board->count, board->capacity, (entry_t){.run = run});
    }
    json_decref(board->entries[index].progress);
    board->entries[index].progress = progress;
    SIM_CHECK(pthread_mutex_unlock(&board->lock) == 0);
}

void studio_board_drop(studio_board_t *board, int64_t run)
{
    SIM_CHECK(pthread_mutex_lock(&board->lock) == 0);
    const size_t index = place_of(board, run);
    if (index < board->count) {
        json_decref(board->entries[index].progress);
        board->entries[index] = board->entries[--board->count];
    }
    SIM_CHECK(place_of(board, run) == board->count);
    SIM_CHECK(pthread_mutex_unlock(&board->lock) == 0);
}

json_t *studio_board_find(studio_board_t *board, int64_t run)
{
    SIM_CHECK(pthread_mutex_lock(&board->lock) == 0);
    const size_t index = place_of(board, run);
    json_t *const progress =
        index < board->count ? json_copy(board->entries[index].progress) : NULL;
    SIM_CHECK(pthread_mutex_unlock(&board->lock) == 0);
    return progress;
}

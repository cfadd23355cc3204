// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/numbers.h - the numbers of runs: each is given out once.
//
// The database knows the last number that was given out. The file DATA/numbers repeats it outside
// of the database, with the database's identity and the number of its starts. So a start of the
// server notices that a database was lost, or replaced by an older or a foreign one. The database
// is always written first: the file never knows more than the database that belongs to it.
#ifndef STUDIO_SERVER_RUNS_CONSISTENCY_NUMBERS_H
#define STUDIO_SERVER_RUNS_CONSISTENCY_NUMBERS_H

#include "studio/server/studio.h"

typedef struct studio_numbers studio_numbers_t;

// Numbers that both the file and the database have.
typedef struct studio_mark {
    char identity[33]; // of the database, 32 hexadecimal digits; "": none yet
    int64_t starts;    // of the server
    int64_t last;      // the last number of a run that was given out
} studio_mark_t;

// Reads DATA/numbers; returns false if there is no such file or it is damaged.
bool studio_mark_read(const char *data, studio_mark_t *mark);
// Returns what the database knows.
studio_mark_t studio_mark_of_store(struct studio_store *store);
// Never gives out the numbers up to last. Returns false if that could not be written.
SIM_MUST_CHECK bool studio_numbers_skip(struct studio_store *store, int64_t last);

// Counts a start in the database and in the file, and gives the database an identity if it has
// none. A full disk keeps the counts as they are.
studio_numbers_t *studio_numbers_create(studio_t *studio);
void studio_numbers_destroy(studio_numbers_t *numbers);
// Reserves count numbers that follow each other and returns the first; 0 if they could not be
// written. A number that its caller does not use is lost. Call it outside of transactions.
int64_t studio_numbers_take(studio_numbers_t *numbers, size_t count);

#endif // STUDIO_SERVER_RUNS_CONSISTENCY_NUMBERS_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/library/library_internal.h - the entries of the library.
#ifndef STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H
#define STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H

#include "studio/server/library/library.h"

#include <pthread.h>

#define STUDIO__CHECKS_MAX 35u

typedef struct studio__entry {
    char *name; // path below the folder: "cache/zipf"
    bool is_study;
    bool is_sweep;       // a study that is a sweep, not a script
    const char *command; // runs a scenario in which processes of this machine take part; or NULL
    char *question;      // what `rocesim list` prints: it asks or says what the entry is about
    char *text;
    char *runner; // runs the study: "cache/run"; NULL: a scenario
    char *study;  // the study's name for its runner: "zipf"
} studio__entry_t;

struct studio_library {
    pthread_mutex_t gate; // protects the fields up to checks; its condition signals a free place
    pthread_cond_t gate_free;
    struct {
        int64_t user; // 0: the place is free
        bool runs;
    } checks[STUDIO__CHECKS_MAX]; // running and waiting checks
    unsigned running;
    studio__entry_t *entries; // sorted by name
    size_t count;
    size_t capacity;
};

// Output of a process that checks something.
typedef struct studio__answer {
    char *text; // freed with sim_free; no zero follows it
    size_t length;
    size_t capacity;
    bool late;
    const char *failure; // why nothing was checked; NULL: it was
} studio__answer_t;

// Runs `rocesim-studio` with this line when it is the user's turn, gives it the input, and returns
// the status of waitpid.
int studio__check_run(studio_library_t *library, int64_t user, const char *const *line,
                      const char *input, size_t length, studio__answer_t *answer);

#endif // STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/library/library_internal.h - the entries of the library.
#ifndef STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H
#define STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H

#include "studio/server/library/library.h"

#include <pthread.h>

#define STUDIO__CHECKS_MAX 35u

typedef struct studio__entry {
    char *name; // "cache/zipf"
    bool is_study;
    char *title;    // the first line of its comment, or its name
    char *question; // "description:", or what stands behind the name; "" if none
    char *text;
    char *runner; // of a study that a server can run: "cache/run"; NULL
    char *study;  // and what its runner calls it: "zipf"
} studio__entry_t;

struct studio_library {
    pthread_mutex_t gate; // checks that are going on: a few at a time
    pthread_cond_t gate_free;
    struct {
        int64_t user; // 0: free
        bool runs;
    } checks[STUDIO__CHECKS_MAX]; // going on, and waiting
    unsigned running;
    studio__entry_t *entries; // by name
    size_t count;
    size_t capacity;
};

#endif // STUDIO_SERVER_LIBRARY_LIBRARY_INTERNAL_H

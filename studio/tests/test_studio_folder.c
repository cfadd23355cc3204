// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_folder.c - folders that are removed.
//
// Goal: two threads that remove one folder at once both succeed, since the trash is also emptied by
// a clock. Method: many files, two threads, several rounds. Not pinned: which thread removes what.
#include "tests/check_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "studio/server/store/folder.h"

enum { ROUNDS = 20, FILES = 300 };

typedef struct removal {
    const char *path;
    atomic_int *ready;
    bool good;
} removal_t;

static void *remove_folder(void *ctx)
{
    removal_t *const removal = ctx;
    atomic_fetch_add(removal->ready, 1);
    while (atomic_load(removal->ready) < 2) {
    }
    removal->good = studio_folder_remove(removal->path);
    return NULL;
}

static void fill(const char *path)
{
    char name[300];
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)snprintf(name, sizeof name, "%s/inner", path);
    ck_assert_int_eq(mkdir(name, 0700), 0);
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "%s/%s%d", path, i % 2 == 0 ? "inner/" : "", i);
        FILE *const file = fopen(name, "w");
        ck_assert_ptr_nonnull(file);
        (void)fclose(file);
    }
}

START_TEST(two_that_remove_one_folder_both_succeed)
{
    char folder[] = "/tmp/rocesim-folder-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[200];
    (void)snprintf(path, sizeof path, "%s/run", folder);
    for (int round = 0; round < ROUNDS; round++) {
        fill(path);
        atomic_int ready = 0;
        removal_t removals[2] = {{.path = path, .ready = &ready}, {.path = path, .ready = &ready}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(pthread_create(&threads[i], NULL, remove_folder, &removals[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            (void)pthread_join(threads[i], NULL);
        }
        ck_assert(removals[0].good);
        ck_assert(removals[1].good);
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

CHECK_MAIN(CHECK_TEST(two_that_remove_one_folder_both_succeed))

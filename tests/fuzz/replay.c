// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/replay.c - runs a fuzz target over its corpus without a fuzzer.
//
//     replay_fuzz_x [--mutations N] FILE_OR_FOLDER...
//
// Every file is given to the target as it is, then N times with a few bytes changed, cut or
// repeated by a generator of fixed seed, so that every build type tries the target on broken input
// and always on the same. A failure is the target's own abort; the last line names the input.
#include "tests/fuzz/fuzz.h"

#include "kernel/base.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_BYTES_MAX ((size_t)1 << 20)

typedef struct paths {
    char **items;
    size_t count;
    size_t capacity;
} paths_t;

static _Noreturn void fail(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(EXIT_FAILURE);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_path(paths_t *paths, char *path)
{
    SIM_GROW(paths->items, paths->count, &paths->capacity);
    paths->items[paths->count++] = path;
}

// Takes a file, or every file of a folder (folders in it are left out).
static void collect(paths_t *paths, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        fail(path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        add_path(paths, sim_strdup(path));
        return;
    }
    DIR *folder = opendir(path);
    if (folder == NULL) {
        fail(path, strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *inner = sim_format("%s/%s", path, entry->d_name);
        if (stat(inner, &status) == 0 && S_ISREG(status.st_mode)) {
            add_path(paths, inner);
        } else {
            sim_free(inner);
        }
    }
    closedir(folder);
}

static uint8_t *read_input(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail(path, strerror(errno));
    }
    uint8_t *bytes = sim_alloc(INPUT_BYTES_MAX);
    *size = fread(bytes, 1, INPUT_BYTES_MAX, file);
    if (ferror(file) || fgetc(file) != EOF) {
        fail(path, "cannot be read, or is larger than 1 MiB");
    }
    fclose(file);
    return bytes;
}

// Runs the target on a copy of exactly `size` bytes, so that AddressSanitizer sees reads past the
// end.
static void run_exact(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = sim_alloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    LLVMFuzzerTestOneInput(copy, size);
    sim_free(copy);
}

static uint64_t draw(uint64_t *state, uint64_t bound)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix64(*state) % bound;
}

// Changes bytes in place and returns the new size, never larger than the old.
static size_t mutate(uint8_t *bytes, size_t size, uint64_t *state)
{
    for (uint64_t changes = 1 + draw(state, 4); changes > 0 && size > 0; --changes) {
        size_t at = (size_t)draw(state, size);
        switch (draw(state, 5)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << draw(state, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)draw(state, 256);
            break;
        case 2:
            bytes[at] = draw(state, 2) == 0 ? 0x00 : 0xff;
            break;
        case 3: {
            size_t from = (size_t)draw(state, size);
            size_t length = size - (at > from ? at : from);
            memmove(bytes + at, bytes + from, (size_t)draw(state, length + 1));
            break;
        }
        default:
            size = at;
            break;
        }
    }
    return size;
}

static void replay(const char *path, unsigned long mutations)
{
    size_t size = 0;
    uint8_t *bytes = read_input(path, &size);
    uint8_t *changed = sim_alloc(size > 0 ? size : 1);
    printf("%s: %zu bytes\n", path, size);
    fflush(stdout);
    run_exact(bytes, size);
    uint64_t state = size;
    for (unsigned long i = 0; i < mutations && size > 0; ++i) {
        memcpy(changed, bytes, size);
        run_exact(changed, mutate(changed, size, &state));
    }
    sim_free(changed);
    sim_free(bytes);
}

int main(int argc, char **argv)
{
    unsigned long mutations = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--mutations") == 0) {
        mutations = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    paths_t paths = {0};
    for (int i = first; i < argc; ++i) {
        collect(&paths, argv[i]);
    }
    if (paths.count == 0) {
        fail(argv[0], "no input: give files or folders with files");
    }
    qsort(paths.items, paths.count, sizeof(*paths.items), compare_paths);
    for (size_t i = 0; i < paths.count; ++i) {
        replay(paths.items[i], mutations);
        sim_free(paths.items[i]);
    }
    printf("%zu inputs, %lu mutations of each\n", paths.count, mutations);
    sim_free(paths.items);
    return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/numbers.c - numbers of runs, repeated in DATA/numbers.
#include "studio/server/runs/consistency/numbers.h"

#include "studio/server/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// One line of a fixed length, so that a change needs no disk space.
#define LINE_FORMAT "rocesim-studio %-32s %20" PRId64 " %20" PRId64 "\n"
#define LINE_BYTES (15 + 32 + 2 * 21 + 1)

struct studio_numbers {
    studio_t *studio;
    pthread_mutex_t lock; // held while both places are written
    studio_mark_t mark;   // as it is in the file
};

static char *path_in(const char *data)
{
    return sim_format("%s/numbers", data);
}

bool studio_mark_read(const char *data, studio_mark_t *mark)
{
    char line[LINE_BYTES + 1] = "";
    char *const path = path_in(data);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const ssize_t length = fd < 0 ? -1 : read(fd, line, LINE_BYTES);
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    memset(mark, 0, sizeof(*mark));
    return length == LINE_BYTES &&
           // NOLINTNEXTLINE(cert-err34-c): a damaged file gives a number that is too small
           sscanf(line, "rocesim-studio %32s %" SCNd64 " %" SCNd64, mark->identity, &mark->starts,
                  &mark->last) == 3;
}

static bool write_mark(const char *data, const studio_mark_t *mark)
{
    char line[LINE_BYTES + 1];
    char *const path = path_in(data);
    const int length =
        snprintf(line, sizeof(line), LINE_FORMAT, mark->identity, mark->starts, mark->last);
    SIM_CHECK(length == LINE_BYTES);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool good =
        fd >= 0 && pwrite(fd, line, LINE_BYTES, 0) == LINE_BYTES && fdatasync(fd) == 0;
    if (!good) {
        fprintf(stderr, "rocesim studio: %s: %s\n", path, strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    return good;
}

// -- what the database knows

#define LAST "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0)"

studio_mark_t studio_mark_of_store(studio_store_t *store)
{
    studio_mark_t mark = {.identity = ""};
    studio_rows_t *const rows =
        studio_rows_open(store,
                         "SELECT (SELECT value FROM settings WHERE name = 'identity'),"
                         " (SELECT value FROM settings WHERE name = 'starts'),"
                         " max(" LAST ", coalesce((SELECT max(id) FROM runs), 0))",
                         "");
    if (studio_rows_next(rows)) {
        const char *const identity = studio_rows_text(rows, 0);
        snprintf(mark.identity, sizeof(mark.identity), "%s", identity == NULL ? "" : identity);
        mark.starts = studio_rows_int(rows, 1);
        mark.last = studio_rows_int(rows, 2);
    }
    (void)studio_rows_close(rows);
    return mark;
}

bool studio_numbers_skip(studio_store_t *store, int64_t last)
{
    return studio_store_do(store,
                           "INSERT INTO sqlite_sequence(name, seq) SELECT 'runs', 0"
                           " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'runs')",
                           "") &&
           studio_store_do(store,
                           "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'runs'", "i",
                           last);
}

static bool set(studio_store_t *store, const char *name, const char *value)
{
    return studio_store_do(store,
                           "INSERT INTO settings VALUES (?, ?)"
                           " ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                           "ss", name, value);
}

static bool count_start(studio_store_t *store, studio_mark_t *mark)
{
    if (mark->identity[0] == '\0') {
        uint8_t bytes[16];
        randombytes_buf(bytes, sizeof(bytes));
        (void)sodium_bin2hex(mark->identity, sizeof(mark->identity), bytes, sizeof(bytes));
    }
    mark->starts++;
    char starts[24];
    snprintf(starts, sizeof(starts), "%" PRId64, mark->starts);
    if (!studio_store_begin(store)) {
        return false;
    }
    if (!set(store, "identity", mark->identity) || !set(store, "starts", starts)) {
        studio_store_rollback(store);
        return false;
    }
    return studio_store_commit(store);
}

// -- giving out

studio_numbers_t *studio_numbers_create(studio_t *studio)
{
    studio_numbers_t *const numbers = sim_alloc(sizeof(*numbers));
    numbers->studio = studio;
    SIM_CHECK(pthread_mutex_init(&numbers->lock, NULL) == 0);
    studio_mark_t mark = studio_mark_of_store(studio->store);
    if (count_start(studio->store, &mark)) {
        (void)write_mark(studio->options.data, &mark);
    }
    numbers->mark = studio_mark_of_store(studio->store);
    return numbers;
}

void studio_numbers_destroy(studio_numbers_t *numbers)
{
    if (numbers != NULL) {
        (void)pthread_mutex_destroy(&numbers->lock);
        sim_free(numbers);
    }
}

// Moves the last number in the database on by count, and returns it; 0 on failure.
static int64_t move_on(studio_store_t *store, size_t count)
{
    if (!studio_store_begin(store)) {
        return 0;
    }
    const int64_t last = studio_mark_of_store(store).last + (int64_t)count;
    if (!studio_numbers_skip(store, last)) {
        studio_store_rollback(store);
        return 0;
    }
    return studio_store_commit(store) ? last : 0;
}

int64_t studio_numbers_take(studio_numbers_t *numbers, size_t count)
{
    SIM_CHECK(count > 0);
    SIM_CHECK(pthread_mutex_lock(&numbers->lock) == 0);
    const int64_t last = move_on(numbers->studio->store, count);
    if (last > 0 && numbers->mark.identity[0] != '\0') {
        numbers->mark.last = last;
        (void)write_mark(numbers->studio->options.data, &numbers->mark);
    }
    SIM_CHECK(pthread_mutex_unlock(&numbers->lock) == 0);
    return last == 0 ? 0 : last - (int64_t)count + 1;
}

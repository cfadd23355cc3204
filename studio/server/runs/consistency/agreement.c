// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/agreement.c - compares the data folder with the database.
#include "studio/server/runs/consistency/agreement.h"

#include "studio/server/runs/consistency/label.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 20u
#define JOURNAL "studio.sqlite-wal"

// -- before the database is opened

// Returns the size of a file in the folder; -1 if there is none.
static int64_t size_of(const char *data, const char *name)
{
    struct stat status;
    char *const path = sim_format("%s/%s", data, name);
    const bool good = lstat(path, &status) == 0;
    sim_free(path);
    return good ? (int64_t)status.st_size : -1;
}

// Returns the number that a folder's name is, written as the server writes it; 0: it is none.
static int64_t number_of(const char *name)
{
    const size_t length = strlen(name);
    return length > 18 || name[0] == '0' || strspn(name, "0123456789") != length
               ? 0
               : (int64_t)strtoll(name, NULL, 10);
}

typedef struct contents {
    size_t runs;
    bool is_used;          // something that only a server which has worked leaves behind
    char foreign[256 + 8]; // a name that no studio has written; "": there is none
} contents_t;

static void note_foreign(contents_t *contents, const char *folder, const char *name)
{
    if (contents->foreign[0] == '\0') {
        snprintf(contents->foreign, sizeof(contents->foreign), "%s%s", folder, name);
    }
}

static void look_inside(const char *data, const char *name, contents_t *contents)
{
    char *const path = sim_format("%s/%s", data, name);
    char *const prefix = sim_format("%s/", name);
    DIR *const folder = opendir(path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL;
         entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (strcmp(name, "files") == 0) {
            contents->is_used = true;
        } else if (strcmp(name, "runs") == 0 && number_of(entry->d_name) > 0) {
            contents->runs++;
            contents->is_used = true;
        } else {
            note_foreign(contents, prefix, entry->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    sim_free(prefix);
    sim_free(path);
}

// Looks at everything in a folder that has no database.
static void look_at_folder(const char *data, contents_t *contents)
{
    static const char *const known[] = {".", "..", "lock", "reserve", "lost+found"};
    static const char *const folders[] = {"tmp", "runs", "files"};
    DIR *const folder = opendir(data);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL;
         entry = readdir(folder)) {
        const char *const name = entry->d_name;
        bool is_known = false;
        for (size_t i = 0; i < SIM_COUNT_OF(known); i++) {
            is_known = is_known || strcmp(name, known[i]) == 0;
        }
        for (size_t i = 0; i < SIM_COUNT_OF(folders); i++) {
            if (strcmp(name, folders[i]) == 0) {
                is_known = true;
                look_inside(data, name, contents);
            }
        }
        if (strcmp(name, "numbers") == 0 || strncmp(name, "studio.sqlite.before-", 21) == 0 ||
            strcmp(name, JOURNAL) == 0) {
            is_known = true;
            contents->is_used = contents->is_used || size_of(data, name) > 0;
        }
        if (!is_known && strncmp(name, "studio.sqlite", 13) != 0) {
            note_foreign(contents, "", name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

// Renames the journal of a database that is lost: SQLite would remove it.
static sim_err_t keep_journal(const char *data, sim_message_t *message)
{
    char *const from = sim_format("%s/" JOURNAL, data);
    char *to = sim_format("%s/" JOURNAL ".kept", data);
    for (unsigned i = 2; access(to, F_OK) == 0; i++) {
        sim_free(to);
        to = sim_format("%s/" JOURNAL ".kept-%u", data, i);
    }
    sim_err_t result = SIM_OK;
    if (access(from, F_OK) == 0 && rename(from, to) != 0) {
        result = sim_fail(message, SIM_ERR_IO, "%s: %s", from, strerror(errno));
    }
    sim_free(to);
    sim_free(from);
    return result;
}

// Fails if something in the folder cannot be read and written: it would seem to be missing.
static sim_err_t check_access(const char *data, const char *name, int mode, sim_message_t *message)
{
    char *const path = sim_format("%s/%s", data, name);
    const sim_err_t result =
        access(path, mode) == 0 || errno == ENOENT
            ? SIM_OK
            : sim_fail(message, SIM_ERR_IO, "%s cannot be read and written: %s", path,
                       strerror(errno));
    sim_free(path);
    return result;
}

sim_err_t studio_agreement_before(const char *data, bool adopt, sim_message_t *message)
{
    contents_t contents = {.foreign = ""};
    sim_err_t result = check_access(data, "studio.sqlite", R_OK | W_OK, message);
    static const char *const folders[] = {"runs", "files"};
    for (size_t i = 0; i < SIM_COUNT_OF(folders) && result == SIM_OK; i++) {
        result = check_access(data, folders[i], R_OK | W_OK | X_OK, message);
    }
    if (result != SIM_OK) {
        return result;
    }
    const int64_t database_bytes = size_of(data, "studio.sqlite");
    if (database_bytes > 0) {
        return SIM_OK;
    }
    look_at_folder(data, &contents);
    if (!contents.is_used && contents.foreign[0] != '\0') {
        return sim_fail(message, SIM_ERR_STATE,
                        "%s holds %s and no data of a studio, expected a new or an empty folder: "
                        "name one with --data DIR",
                        data, contents.foreign);
    }
    if (contents.is_used && !adopt) {
        return sim_fail(
            message, SIM_ERR_STATE,
            "%s: the database studio.sqlite is %s, although a studio has used this folder (%zu "
            "folders of runs). Nothing was changed. Put the database back, or restore a backup "
            "into a new folder, or start with --adopt: it takes the runs in; users, tokens and "
            "saved work are lost with the database",
            data, database_bytes == 0 ? "empty" : "missing", contents.runs);
    }
    return contents.is_used ? keep_journal(data, message) : SIM_OK;
}

// -- what the opened database and the folders say

static void find(studio_agreement_t *agreement, char *finding)
{
    SIM_APPEND(agreement->findings, agreement->finding_count, agreement->finding_capacity, finding);
}

typedef struct numbers {
    int64_t *list;
    size_t count;
    size_t capacity;
} numbers_t;

static int by_number(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool has(const numbers_t *numbers, int64_t number)
{
    return numbers->count > 0 && bsearch(&number, numbers->list, numbers->count,
                                         sizeof(*numbers->list), by_number) != NULL;
}

static numbers_t read_folders(const char *data)
{
    numbers_t numbers = {0};
    char *const path = sim_format("%s/runs", data);
    DIR *const folder = opendir(path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL;
         entry = readdir(folder)) {
        const int64_t number = number_of(entry->d_name);
        if (number > 0) {
            SIM_APPEND(numbers.list, numbers.count, numbers.capacity, number);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (numbers.count > 0) {
        qsort(numbers.list, numbers.count, sizeof(*numbers.list), by_number);
    }
    sim_free(path);
    return numbers;
}

// Returns the runs that have a folder: all but those whose removal has begun.
static numbers_t read_entries(studio_store_t *store)
{
    numbers_t numbers = {0};
    studio_rows_t *const rows =
        studio_rows_open(store, "SELECT id FROM runs WHERE trashed_ms IS NOT 1 ORDER BY id", "");
    while (studio_rows_next(rows)) {
        SIM_APPEND(numbers.list, numbers.count, numbers.capacity, studio_rows_int(rows, 0));
    }
    (void)studio_rows_close(rows);
    return numbers;
}

static bool is_entry(studio_store_t *store, int64_t run)
{
    return studio_store_int(store, 0, "SELECT count(*) FROM runs WHERE id = ?", "i", run) > 0;
}

static bool is_unfinished(const char *data, int64_t run)
{
    char *const name = sim_format("runs/%" PRId64 "/" STUDIO_UNCOMMITTED, run);
    const bool found = size_of(data, name) >= 0;
    sim_free(name);
    return found;
}

// Compares the two counts of starts and of numbers.
static void compare_marks(const char *data, const studio_mark_t *of_store,
                          studio_agreement_t *agreement)
{
    studio_mark_t mark;
    if (!studio_mark_read(data, &mark)) {
        return; // written by an earlier version, or restored
    }
    agreement->highest = SIM_MAX(agreement->highest, mark.last);
    if (of_store->identity[0] != '\0' && strcmp(of_store->identity, mark.identity) != 0) {
        find(agreement, sim_strdup("the database belongs to another data folder"));
    } else if (of_store->starts < mark.starts || of_store->identity[0] == '\0') {
        find(agreement, sim_format("the database is older than the folder: it knows %" PRId64
                                   " starts of the server, and the folder %" PRId64,
                                   of_store->starts, mark.starts));
    }
    if (mark.last > of_store->last) {
        find(agreement, sim_format("the database knows runs up to number %" PRId64
                                   ", and number %" PRId64 " was given out",
                                   of_store->last, mark.last));
    }
}

static void note_folder(const char *data, int64_t run, studio_agreement_t *agreement)
{
    char *const folder = sim_format("%s/runs/%" PRId64, data, run);
    json_t *const label = studio_label_read(folder);
    const char *const name = json_string_value(json_object_get(label, "name"));
    const char *const owner = json_string_value(json_object_get(label, "owner"));
    find(agreement, sim_format("runs/%" PRId64 "%s%s%s%s has no entry in the database", run,
                               name == NULL ? "" : " ", name == NULL ? "" : name,
                               owner == NULL ? "" : " of ", owner == NULL ? "" : owner));
    SIM_APPEND(agreement->folders, agreement->folder_count, agreement->folder_capacity, run);
    json_decref(label);
    sim_free(folder);
}

static void note_entry(studio_store_t *store, int64_t run, studio_agreement_t *agreement)
{
    studio_rows_t *const rows = studio_rows_open(
        store, "SELECT name FROM runs WHERE id = ? AND trashed_ms IS NOT 1", "i", run);
    const char *const name = studio_rows_next(rows) ? studio_rows_text(rows, 0) : NULL;
    if (name != NULL) { // it was not removed meanwhile
        find(agreement, sim_format("run %" PRId64 " %s of the database has no folder", run, name));
        SIM_APPEND(agreement->entries, agreement->entry_count, agreement->entry_capacity, run);
    }
    (void)studio_rows_close(rows);
}

void studio_agreement_look(const char *data, studio_store_t *store, studio_agreement_t *agreement)
{
    // A number is given out before its folder is made, and the folder before its entry: what is
    // made meanwhile has a number, and what is removed meanwhile is looked for again.
    const numbers_t folders = read_folders(data);
    const numbers_t entries = read_entries(store);
    const studio_mark_t mark = studio_mark_of_store(store);
    memset(agreement, 0, sizeof(*agreement));
    compare_marks(data, &mark, agreement);
    for (size_t i = 0; i < folders.count; i++) {
        const int64_t run = folders.list[i];
        const bool unfinished = is_unfinished(data, run) && run <= mark.last;
        agreement->highest = SIM_MAX(agreement->highest, run);
        if (unfinished) {
            SIM_APPEND(agreement->unfinished, agreement->unfinished_count,
                       agreement->unfinished_capacity, run);
        } else if (!has(&entries, run) && !is_entry(store, run)) {
            note_folder(data, run, agreement);
        }
    }
    for (size_t i = 0; i < entries.count; i++) {
        char *const name = sim_format("runs/%" PRId64, entries.list[i]);
        if (!has(&folders, entries.list[i]) && size_of(data, name) < 0) {
            note_entry(store, entries.list[i], agreement);
        }
        sim_free(name);
    }
    sim_free(folders.list);
    sim_free(entries.list);
}

sim_err_t studio_agreement_judge(const char *data, const studio_agreement_t *agreement,
                                 sim_message_t *message)
{
    if (agreement->finding_count == 0) {
        return SIM_OK;
    }
    const size_t shown = SIM_MIN(agreement->finding_count, SHOWN_MAX);
    fprintf(stderr, "rocesim studio: the folders and the database in %s disagree:\n", data);
    for (size_t i = 0; i < shown; i++) {
        fprintf(stderr, "    %s\n", agreement->findings[i]);
    }
    if (agreement->finding_count > shown) {
        fprintf(stderr, "    and %zu more\n", agreement->finding_count - shown);
    }
    return sim_fail(message, SIM_ERR_STATE,
                    "%s: no run was changed. Put back the database that belongs to these folders, "
                    "or restore a backup into a new folder, or start with --adopt: it makes "
                    "entries for folders that have none, and marks runs without a folder as failed",
                    data);
}

void studio_agreement_fini(studio_agreement_t *agreement)
{
    sim_free_each(agreement->findings, agreement->finding_count);
    SIM_FREE_ALL(agreement->findings, agreement->folders, agreement->entries,
                 agreement->unfinished);
    memset(agreement, 0, sizeof(*agreement));
}

void studio_agreement_settle(const studio_t *studio, const studio_agreement_t *agreement)
{
    for (size_t i = 0; i < agreement->unfinished_count; i++) {
        const int64_t run = agreement->unfinished[i];
        char *const folder = sim_format("%s/runs/%" PRId64, studio->options.data, run);
        if (is_entry(studio->store, run)) {
            studio_run_folder_commit(folder);
        } else {
            (void)studio_folder_remove(folder);
        }
        sim_free(folder);
    }
}

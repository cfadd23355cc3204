// SPDX-License-Identifier: Apache-2.0
// studio/server/backup.c - copies a studio's data, and restores it.
//
// SQLite copies the database at one moment while the server may work. The files of finished runs
// never change, so they are copied afterwards. Files of unfinished runs are left out; these runs
// start again where the backup is restored.
#include "studio/server/backup.h"

#include "studio/server/runs/consistency/agreement.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_NAME "files.txt"
#define DEPTH_MAX 8u
#define BLOCK_BYTES ((size_t)1 << 16)
#define LINE_BYTES 8192

typedef struct copy {
    const char *from;
    const char *to;
    FILE *list; // list of hashes; NULL: none is written
    sim_message_t *message;
} copy_t;

static sim_err_t fail(const copy_t *copy, const char *path)
{
    return sim_fail(copy->message, SIM_ERR_IO, "%s: %s", path, strerror(errno));
}

// -- a file

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);
        if (written <= 0) {
            return false;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

// Copies a file and hashes it; to < 0 only hashes it.
static bool pass(int from, int to, uint8_t hash[crypto_generichash_BYTES])
{
    crypto_generichash_state state;
    char *const block = sim_alloc(BLOCK_BYTES);
    ssize_t size = 0;
    bool good = crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES) == 0;
    while (good && (size = read(from, block, BLOCK_BYTES)) > 0) {
        (void)crypto_generichash_update(&state, (const uint8_t *)block, (size_t)size);
        good = to < 0 || write_all(to, block, (size_t)size);
    }
    (void)crypto_generichash_final(&state, hash, crypto_generichash_BYTES);
    sim_free(block);
    return good && size == 0 && (to < 0 || fsync(to) == 0);
}

static sim_err_t hash_file(const copy_t *copy, const char *path, char text[65])
{
    uint8_t hash[crypto_generichash_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool good = fd >= 0 && pass(fd, -1, hash);
    if (fd >= 0) {
        (void)close(fd);
    }
    (void)sodium_bin2hex(text, 65, hash, sizeof(hash));
    return good ? SIM_OK : fail(copy, path);
}

static sim_err_t copy_file(const copy_t *copy, const char *name)
{
    uint8_t hash[crypto_generichash_BYTES];
    char text[2 * sizeof(hash) + 1];
    char *const from = sim_format("%s/%s", copy->from, name);
    char *const to = sim_format("%s/%s", copy->to, name);
    const int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    sim_err_t result = SIM_OK;
    if (in < 0 || out < 0 || !pass(in, out, hash)) {
        result = fail(copy, in < 0 ? from : to);
    }
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    (void)sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
    if (result == SIM_OK && copy->list != NULL && fprintf(copy->list, "%s  %s\n", text, name) < 0) {
        result = fail(copy, LIST_NAME);
    }
    sim_free(to);
    sim_free(from);
    return result;
}

// -- a folder

static sim_err_t make(const copy_t *copy, const char *name)
{
    char *const path = name[0] == '\0' ? sim_strdup(copy->to) : sim_format("%s/%s", copy->to, name);
    const sim_err_t result = mkdir(path, 0700) == 0 || errno == EEXIST ? SIM_OK : fail(copy, path);
    sim_free(path);
    return result;
}

static sim_err_t copy_folder(const copy_t *copy, const char *name, unsigned depth)
{
    char *const path = sim_format("%s/%s", copy->from, name);
    DIR *const folder = opendir(path);
    sim_err_t result = folder == NULL ? fail(copy, path) : make(copy, name);
    if (depth > DEPTH_MAX) {
        result = sim_fail(copy->message, SIM_ERR_IO, "%s: the folders are nested too deeply", path);
    }
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder);
         entry != NULL && result == SIM_OK; entry = readdir(folder)) {
        struct stat status;
        char *const inner = sim_format("%s/%s", name, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISDIR(status.st_mode)) {
                result = copy_folder(copy, inner, depth + 1);
            } else if (S_ISREG(status.st_mode) && strpbrk(entry->d_name, "\r\n") == NULL) {
                result = copy_file(copy, inner);
            }
        }
        sim_free(inner);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    sim_free(path);
    return result;
}

// -- backup

// Returns the name of a folder beside this one, which no other process has made.
static char *part_of(const char *folder)
{
    return sim_format("%s.part-%ld", folder, (long)getpid());
}

static bool is_there(const copy_t *copy, const char *name)
{
    char *const path = sim_format("%s/%s", copy->from, name);
    const bool found = access(path, F_OK) == 0;
    sim_free(path);
    return found;
}

// Copies what an unfinished run needs to start again.
static sim_err_t copy_order(const copy_t *copy, const char *folder)
{
    static const char *const names[] = {"scenario.yaml", "run.json"};
    sim_err_t result = make(copy, folder);
    for (size_t i = 0; i < SIM_COUNT_OF(names) && result == SIM_OK; i++) {
        char *const name = sim_format("%s/%s", folder, names[i]);
        result = is_there(copy, name) ? copy_file(copy, name) : SIM_OK;
        sim_free(name);
    }
    return result;
}

// Copies the folders of finished runs, and the orders of the others. The copy of the database
// forgets runs that were removed since it was made.
static sim_err_t copy_runs(const copy_t *copy, studio_store_t *store)
{
    sim_err_t result = make(copy, "runs");
    studio_rows_t *const rows =
        studio_rows_open(store,
                         "SELECT id, state IN ('done', 'failed', 'cancelled') FROM runs"
                         " ORDER BY id",
                         "");
    while (result == SIM_OK && studio_rows_next(rows)) {
        const int64_t run = studio_rows_int(rows, 0);
        char *const name = sim_format("runs/%" PRId64, run);
        if (!is_there(copy, name)) {
            (void)studio_store_do(store, "DELETE FROM runs WHERE id = ?", "i", run);
        } else {
            result =
                studio_rows_int(rows, 1) != 0 ? copy_folder(copy, name, 0) : copy_order(copy, name);
        }
        sim_free(name);
    }
    return studio_rows_close(rows) || result != SIM_OK
               ? result
               : sim_fail(copy->message, SIM_ERR_IO,
                          "the database of the studio cannot be read: %s",
                          studio_store_reason(store));
}

// Puts the unfinished runs of the copy back into the queue.
static bool settle(studio_store_t *store)
{
    return studio_store_do(store,
                           "UPDATE runs SET state = 'queued', started_ms = NULL, attempt = 1"
                           " WHERE state IN ('starting', 'running')",
                           "") &&
           studio_store_do(store, "DELETE FROM sessions", "") &&
           studio_store_do(store, "PRAGMA wal_checkpoint(TRUNCATE)", "") &&
           studio_store_do(store, "PRAGMA journal_mode=DELETE", "");
}

static sim_err_t list_database(const copy_t *copy)
{
    char text[65];
    char *const path = sim_format("%s/studio.sqlite", copy->to);
    sim_err_t result = hash_file(copy, path, text);
    if (result == SIM_OK && fprintf(copy->list, "%s  studio.sqlite\n", text) < 0) {
        result = fail(copy, LIST_NAME);
    }
    sim_free(path);
    return result;
}

// Refuses a folder whose runs and database disagree: its copy would lack runs.
static sim_err_t check_agreement(const copy_t *copy, studio_store_t *store)
{
    studio_agreement_t agreement;
    studio_agreement_look(copy->from, store, &agreement);
    const sim_err_t result = studio_agreement_judge(copy->from, &agreement, copy->message);
    studio_agreement_fini(&agreement);
    return result;
}

static sim_err_t copy_data(copy_t *copy)
{
    char *const from = sim_format("%s/studio.sqlite", copy->from);
    char *const to = sim_format("%s/studio.sqlite", copy->to);
    studio_store_t *store = NULL;
    sim_err_t result = access(from, R_OK) == 0 ? SIM_OK : fail(copy, from);
    if (result == SIM_OK) {
        result = studio_agreement_before(copy->from, false, copy->message);
    }
    if (result == SIM_OK) {
        result = studio_store_open(from, studio_migrations_all, &store, copy->message);
    }
    if (result == SIM_OK) {
        result = check_agreement(copy, store);
    }
    if (result == SIM_OK) {
        result = studio_store_copy(store, to, copy->message);
    }
    studio_store_close(store);
    store = NULL;
    if (result == SIM_OK) {
        result = studio_store_open(to, studio_migrations_all, &store, copy->message);
    }
    if (result == SIM_OK) {
        result = copy_runs(copy, store);
    }
    if (result == SIM_OK && !settle(store)) {
        result = sim_fail(copy->message, SIM_ERR_IO, "%s cannot be written: %s", to,
                          studio_store_reason(store));
    }
    studio_store_close(store);
    if (result == SIM_OK) {
        result = list_database(copy);
    }
    sim_free(to);
    sim_free(from);
    return result;
}

static sim_err_t backup(const char *data, const char *folder, sim_message_t *message)
{
    char *const part = part_of(folder);
    char *const list = sim_format("%s/" LIST_NAME, part);
    copy_t copy = {.from = data, .to = part, .message = message};
    sim_err_t result = SIM_OK;
    if (access(folder, F_OK) == 0) {
        result =
            sim_fail(message, SIM_ERR_EXISTS, "%s exists already, expected a new name", folder);
    } else if (mkdir(part, 0700) != 0 || (copy.list = fopen(list, "we")) == NULL) {
        result = fail(&copy, part);
    }
    if (result == SIM_OK) {
        result = copy_data(&copy);
    }
    if (copy.list != NULL) {
        const bool good = fflush(copy.list) == 0 && fsync(fileno(copy.list)) == 0;
        if ((fclose(copy.list) != 0 || !good) && result == SIM_OK) {
            result = fail(&copy, list);
        }
    }
    if (result == SIM_OK && rename(part, folder) != 0) {
        result = fail(&copy, folder);
    }
    if (result != SIM_OK && result != SIM_ERR_EXISTS) {
        const int reason = errno;
        (void)studio_folder_remove(part);
        errno = reason;
    }
    sim_free(list);
    sim_free(part);
    return result;
}

// -- restore

static sim_err_t restore_file(const copy_t *copy, const char *hash, char *name)
{
    // Accepts only names below the folder that backup itself writes.
    if (name[0] == '/' || strstr(name, "..") != NULL ||
        (strcmp(name, "studio.sqlite") != 0 && strncmp(name, "runs/", 5) != 0)) {
        return sim_fail(copy->message, SIM_ERR_INVALID,
                        "%s: the list names %s, which is no file of a backup", copy->from, name);
    }
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const sim_err_t result = make(copy, name);
        *slash = '/';
        if (result != SIM_OK) {
            return result;
        }
    }
    char text[65];
    char *const path = sim_format("%s/%s", copy->from, name);
    sim_err_t result = hash_file(copy, path, text);
    if (result == SIM_OK && strcmp(text, hash) != 0) {
        result =
            sim_fail(copy->message, SIM_ERR_INVALID, "%s differs from what was backed up", path);
    }
    sim_free(path);
    return result == SIM_OK ? copy_file(copy, name) : result;
}

static sim_err_t restore_all(const copy_t *copy, FILE *list)
{
    char line[LINE_BYTES];
    bool database = false;
    sim_err_t result = make(copy, "");
    if (result == SIM_OK) {
        result = make(copy, "runs");
    }
    while (result == SIM_OK && fgets(line, sizeof(line), list) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strlen(line) < 67 || line[64] != ' ') {
            return sim_fail(copy->message, SIM_ERR_INVALID,
                            "%s is no backup: its list of files is missing or damaged", copy->from);
        }
        line[64] = '\0';
        result = restore_file(copy, line, line + 66);
        database = database || strcmp(line + 66, "studio.sqlite") == 0;
    }
    return result != SIM_OK || database
               ? result
               : sim_fail(copy->message, SIM_ERR_INVALID, "%s is an incomplete backup", copy->from);
}

static sim_err_t restore(const char *data, const char *folder, sim_message_t *message)
{
    char *const part = part_of(data);
    char *const name = sim_format("%s/" LIST_NAME, folder);
    const copy_t copy = {.from = folder, .to = part, .message = message};
    FILE *const list = fopen(name, "re");
    sim_err_t result = SIM_OK;
    if (list == NULL) {
        result = fail(&copy, name);
    } else if (access(data, F_OK) == 0 && rmdir(data) != 0) {
        result = sim_fail(message, SIM_ERR_EXISTS,
                          "%s is not empty; name a new folder with --data DIR", data);
    } else if (mkdir(part, 0700) != 0) {
        result = fail(&copy, part);
    } else {
        result = restore_all(&copy, list);
        if (result == SIM_OK && rename(part, data) != 0) {
            result = fail(&copy, data);
        }
        if (result != SIM_OK) {
            (void)studio_folder_remove(part);
        }
    }
    if (list != NULL) {
        (void)fclose(list);
    }
    sim_free(name);
    sim_free(part);
    return result;
}

int studio_copy_command(const studio_arguments_t *arguments)
{
    const char *const data = arguments->options.data;
    sim_message_t message;
    (void)umask(0077);
    const bool back = arguments->command == STUDIO_RESTORE;
    const sim_err_t result = back ? restore(data, arguments->folder, &message)
                                  : backup(data, arguments->folder, &message);
    if (result != SIM_OK) {
        fprintf(stderr, "rocesim studio: %s\n", message.text);
        return result == SIM_ERR_IO ? 1 : 2;
    }
    printf("%s %s\n", back ? "restored" : "backed up", back ? data : arguments->folder);
    return fflush(stdout) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/adoption.c - takes in runs that the database does not know.
//
// The label in the folder names the owner. A user who is not known any more gets an account without
// a password, for which an administrator makes a link. Sharing and notes are lost.
#include "studio/server/accounts/accounts.h"
#include "studio/server/process/child.h"
#include "studio/server/runs/consistency/agreement.h"
#include "studio/server/runs/consistency/label.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/runs/finish.h"
#include "studio/server/runs/values.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Owns runs whose owner is not known. No person can have a name with this sign.
#define NOBODY "owner:unknown"

static int64_t find_owner(studio_t *studio, const char *name)
{
    const bool known = name != NULL;
    const char *const owner = known ? name : NOBODY;
    const int64_t user =
        studio_store_int(studio->store, 0, "SELECT id FROM users WHERE name = ?", "s", owner);
    return user > 0 ? user
                    : studio_user_create(studio, owner,
                                         known ? STUDIO_ROLE_USER : STUDIO_ROLE_VIEWER, NULL);
}

// Returns the group of the label, made again if it is lost; a new one if it belongs to another
// user. 0 on failure.
static int64_t find_group(studio_t *studio, const json_t *label, int64_t owner, const char *name,
                          int64_t created_ms)
{
    const int64_t wanted = json_integer_value(json_object_get(label, "group"));
    const int64_t has = studio_store_int(studio->store, 0,
                                         "SELECT owner FROM run_groups WHERE id = ?", "i", wanted);
    if (has == owner) {
        return wanted;
    }
    return studio_store_insert(studio->store,
                               "INSERT INTO run_groups(id, name, owner, created_ms, plan)"
                               " VALUES (CASE WHEN ? THEN ? END, ?, ?, ?, '{}')",
                               "iisii", (int64_t)(wanted > 0 && has == 0), wanted, name, owner,
                               created_ms);
}

// Returns the last attempt that began; 0 if none did.
static int64_t last_attempt(const char *folder)
{
    int64_t last = 0;
    DIR *const list = opendir(folder);
    for (const struct dirent *entry = list == NULL ? NULL : readdir(list); entry != NULL;
         entry = readdir(list)) {
        char *end = NULL;
        const bool begun = strncmp(entry->d_name, "begun.", 6) == 0;
        if (begun || strncmp(entry->d_name, "exit.", 5) == 0) {
            const int64_t attempt = strtoll(entry->d_name + (begun ? 6 : 5), &end, 10);
            last = *end == '\0' ? SIM_MAX(last, attempt) : last;
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return last;
}

// Returns when a file of the folder changed, in ms since 1970; otherwise if there is none.
static int64_t changed_ms(const char *folder, const char *name, int64_t attempt, int64_t otherwise)
{
    struct stat status;
    char *const path = attempt > 0 ? sim_format("%s/%s.%" PRId64, folder, name, attempt)
                                   : sim_format("%s/%s", folder, name);
    const bool good = stat(path, &status) == 0;
    sim_free(path);
    return good ? (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000
                : otherwise;
}

static bool insert_entry(studio_t *studio, int64_t run, const json_t *label, const char *folder,
                         int64_t attempt)
{
    const char *const label_name = json_string_value(json_object_get(label, "name"));
    char *const name =
        label_name == NULL ? sim_format("run %" PRId64, run) : sim_strdup(label_name);
    const int64_t created = json_object_get(label, "created_ms") == NULL
                                ? changed_ms(folder, "scenario.yaml", 0, studio_now_ms())
                                : (int64_t)json_integer_value(json_object_get(label, "created_ms"));
    const int64_t owner = find_owner(studio, json_string_value(json_object_get(label, "owner")));
    const int64_t group = owner == 0 ? 0 : find_group(studio, label, owner, name, created);
    char *const set = json_dumps(json_object_get(label, "set"), JSON_COMPACT);
    char *const limits = json_dumps(json_object_get(label, "limits"), JSON_COMPACT);
    const bool good =
        group > 0 &&
        studio_store_do(studio->store,
                        "INSERT INTO runs(id, run_group, name, owner, shared, state, overrides,"
                        " library, limits, attempt, created_ms, started_ms, size_bytes, study,"
                        " made_by, folder) VALUES (?, ?, ?, ?, 0, 'running', ?, ?, ?, ?, ?,"
                        " nullif(?, 0), ?, ?, nullif(?, 0), ?)",
                        "iisisssiiiisis", run, group, name, owner, set,
                        json_string_value(json_object_get(label, "library")), limits,
                        SIM_MAX(attempt, 1), created,
                        attempt == 0 ? INT64_C(0) : changed_ms(folder, "begun", attempt, 0),
                        (int64_t)studio_folder_bytes(folder),
                        json_string_value(json_object_get(label, "study")),
                        (int64_t)json_integer_value(json_object_get(label, "made_by")),
                        json_string_value(json_object_get(label, "folder")));
    free(limits);
    free(set);
    sim_free(name);
    return good;
}

// Sets the state of a run without an attempt: a study made it, or it had not begun.
static bool set_unbegun(studio_t *studio, int64_t run, const char *folder)
{
    char *const path = sim_format("%s/result/summary.json", folder);
    json_t *const summary = json_load_file(path, 0, NULL);
    const char *const ended = json_string_value(json_object_get(summary, "ended"));
    const bool good = studio_store_do(
        studio->store,
        "UPDATE runs SET state = CASE WHEN ? THEN 'done' ELSE 'cancelled' END, ended = ?,"
        " message = CASE WHEN ? THEN '' ELSE 'it had not begun when the server took it in from"
        " its folder' END, ended_ms = ? WHERE id = ?",
        "isiii", (int64_t)(summary != NULL), summary == NULL || ended != NULL ? ended : "",
        (int64_t)(summary != NULL), changed_ms(folder, "result", 0, studio_now_ms()), run);
    const bool kept = good && studio_values_keep(studio, run, folder);
    json_decref(summary);
    sim_free(path);
    return kept;
}

static bool adopt_folder(studio_t *studio, int64_t run)
{
    char *const folder = sim_format("%s/runs/%" PRId64, studio->options.data, run);
    json_t *const label = studio_label_read(folder);
    const int64_t attempt = last_attempt(folder);
    studio_exit_t exit;
    bool good = insert_entry(studio, run, label, folder, attempt);
    if (good && attempt == 0) {
        good = set_unbegun(studio, run, folder);
    } else if (good && studio_exit_read(folder, attempt, &exit)) {
        good = studio_run_record(studio, run, &exit, json_object_get(label, "study") != NULL) &&
               studio_store_do(studio->store, "UPDATE runs SET ended_ms = ? WHERE id = ?", "ii",
                               changed_ms(folder, "exit", attempt, studio_now_ms()), run);
    } // otherwise the queue finds its process, or begins it again
    json_decref(label);
    sim_free(folder);
    return good;
}

static bool mark_entry(studio_t *studio, int64_t run)
{
    return studio_store_do(studio->store,
                           "UPDATE runs SET state = 'failed', ended = NULL, size_bytes = 0,"
                           " message = 'the folder of this run is lost' WHERE id = ?",
                           "i", run);
}

static void print_entry(studio_t *studio, int64_t run, const char *what)
{
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT r.name, u.name, r.state FROM runs r JOIN users u ON u.id = r.owner WHERE r.id = ?",
        "i", run);
    if (studio_rows_next(rows)) {
        printf("%s run %" PRId64 " %s of %s: %s\n", what, run, studio_rows_text(rows, 0),
               studio_rows_text(rows, 1), studio_rows_text(rows, 2));
    }
    (void)studio_rows_close(rows);
}

static bool adopt_all(studio_t *studio, const studio_agreement_t *agreement)
{
    bool good = studio_numbers_skip(studio->store, agreement->highest);
    for (size_t i = 0; good && i < agreement->folder_count; i++) {
        good = adopt_folder(studio, agreement->folders[i]);
    }
    for (size_t i = 0; good && i < agreement->entry_count; i++) {
        good = mark_entry(studio, agreement->entries[i]);
    }
    return good;
}

sim_err_t studio_agreement_adopt(studio_t *studio, const studio_agreement_t *agreement,
                                 sim_message_t *message)
{
    bool good = studio_store_begin(studio->store);
    if (good && !adopt_all(studio, agreement)) {
        studio_store_rollback(studio->store);
        good = false;
    } else if (good) {
        good = studio_store_commit(studio->store);
    }
    if (!good) {
        return sim_fail(message, SIM_ERR_IO, "%s: the database cannot be written: %s",
                        studio->options.data, studio_store_reason(studio->store));
    }
    for (size_t i = 0; i < agreement->folder_count; i++) {
        print_entry(studio, agreement->folders[i], "took in");
    }
    for (size_t i = 0; i < agreement->entry_count; i++) {
        print_entry(studio, agreement->entries[i], "found no folder of");
    }
    if (agreement->finding_count > 0) {
        studio_audit(studio, NULL, "", "server.adopt", "%zu folders, %zu runs without a folder",
                     agreement->folder_count, agreement->entry_count);
    }
    return SIM_OK;
}

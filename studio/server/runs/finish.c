// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/finish.c - starts runs, records how they ended, and describes them as JSON.
#include "studio/server/runs/finish.h"

#include "studio/server/files/files.h"
#include "studio/server/http/target.h"
#include "studio/server/library/place.h"
#include "studio/server/runs/progress_board.h"
#include "studio/server/runs/study.h"
#include "studio/server/runs/values.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_BYTES 2000u
#define LEFT_BYTES_MIN ((uint64_t)1 << 20) // for the message of a run that has no room

// -- beginning

static char *run_folder(const studio_t *studio, int64_t run)
{
    return sim_format("%s/runs/%" PRId64, studio->options.data, run);
}

// Returns rocesim's arguments; the caller frees each one and the array.
static char **arguments_of(const studio_t *studio, const json_t *overrides, const char *folder,
                           uint64_t ranks)
{
    size_t count = 0;
    char **const list = sim_alloc_array(19 + 2 * json_array_size(overrides), sizeof(*list));
    static const char *const fixed[] = {"rocesim",  "run",     "scenario.yaml",
                                        "-o",       "result",  "--progress",
                                        "progress", "--quiet", "--explain"};
    for (size_t i = 0; i < SIM_COUNT_OF(fixed); i++) {
        list[count++] = sim_strdup(fixed[i]);
    }
    if (folder[0] != '\0') {
        list[count++] = sim_strdup("--set");
        list[count++] = sim_format("folder=%s", folder);
    }
    for (size_t i = 0; i < json_array_size(overrides); i++) {
        list[count++] = sim_strdup("--set");
        list[count++] = sim_strdup(json_string_value(json_array_get(overrides, i)));
    }
    // The last option wins: a server shares its processors, and results do not depend on threads.
    list[count++] = sim_strdup("--threads");
    list[count++] = sim_format("%" PRIu64, studio->options.run_threads);
    if (ranks > 1) {
        list[count++] = sim_strdup("--ranks");
        list[count++] = sim_format("%" PRIu64, ranks);
    }
    return list;
}

static void free_arguments(char **list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        sim_free(list[i]);
    }
    sim_free(list);
}

// Returns the command that runs a study, and removes what an earlier attempt has left in result/.
static char **study_line(const studio_t *studio, const char *study, const json_t *set,
                         const char *folder)
{
    char *const result = sim_format("%s/result", folder);
    (void)studio_folder_remove(result);
    sim_free(result);
    return studio_study_line(studio, study, set);
}

// Returns the processes of a run, at most those that the server allows now. Orders of earlier
// versions name none.
static uint64_t ranks_of(const studio_t *studio, const json_t *limits)
{
    const json_int_t asked = json_integer_value(json_object_get(limits, "ranks"));
    const uint64_t ranks = asked < 1 ? 1 : (uint64_t)asked;
    return SIM_MIN(ranks, studio->options.run_ranks);
}

uint64_t studio_runs_bytes(studio_t *studio, int64_t user)
{
    // The files of runs that a study made are the study's own.
    return (uint64_t)studio_store_int(
        studio->store, 0,
        "SELECT coalesce(sum(size_bytes), 0) FROM runs r WHERE owner = ? AND (made_by IS NULL"
        " OR NOT EXISTS (SELECT 1 FROM runs s WHERE s.id = r.made_by))",
        "i", user);
}

// Returns the bytes that the owner of a run may still fill with files of runs.
static uint64_t left_of(studio_t *studio, int64_t run)
{
    const uint64_t quota = studio->options.user_run_bytes;
    const uint64_t used = studio_runs_bytes(
        studio,
        studio_store_int(studio->store, 0, "SELECT owner FROM runs WHERE id = ?", "i", run));
    return used < quota ? SIM_MAX(quota - used, LEFT_BYTES_MIN) : LEFT_BYTES_MIN;
}

pid_t studio_run_spawn(studio_t *studio, int64_t run, int64_t attempt)
{
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT r.overrides, library, r.limits, r.study, r.folder, u.name"
                         " FROM runs r JOIN users u ON u.id = r.owner WHERE r.id = ?",
                         "i", run);
    if (!studio_rows_next(rows)) {
        (void)studio_rows_close(rows);
        return -1;
    }
    json_t *const overrides = json_loads(studio_rows_text(rows, 0), 0, NULL);
    char *const study =
        studio_rows_text(rows, 3) == NULL ? NULL : sim_strdup(studio_rows_text(rows, 3));
    char *const own = studio_files_folder(studio, studio_rows_text(rows, 5), "");
    const studio_place_t place = {.entry = studio_rows_text(rows, 1),
                                  .folder = studio_rows_text(rows, 4)};
    char *const start = place.entry == NULL && place.folder == NULL // of a study
                            ? sim_strdup("")
                            : studio_place_folders(studio, studio_rows_text(rows, 5), &place);
    json_t *const limits = json_loads(studio_rows_text(rows, 2), 0, NULL);
    (void)studio_rows_close(rows);
    const uint64_t ranks = ranks_of(studio, limits);
    char *const relative = run_folder(studio, run);
    char *const folder = realpath(relative, NULL);
    char *const program = realpath(studio->options.program, NULL);
    char *const readable = realpath(studio->options.scenarios, NULL);
    char *const files = study == NULL ? realpath(own, NULL) : NULL;
    char **const arguments = study == NULL ? arguments_of(studio, overrides, start, ranks)
                                           : study_line(studio, study, overrides, relative);
    const studio_child_t child = {
        .folder = folder == NULL ? relative : folder,
        .attempt = attempt,
        .program = program == NULL ? studio->options.program : program,
        .readable = readable == NULL ? "" : readable,
        .files = files == NULL ? "" : files,
        .time_s = (uint64_t)json_integer_value(json_object_get(limits, "time_s")),
        .memory_bytes = (uint64_t)json_integer_value(json_object_get(limits, "memory_bytes")),
        .disk_bytes = SIM_MIN(studio->options.disk_bytes_max, left_of(studio, run)),
        .disk_bytes_free = studio->options.disk_bytes_free,
        .ranks = study == NULL ? ranks : 1,
    };
    const pid_t process = studio_child_spawn(&child, (const char *const *)arguments);
    free_arguments(arguments);
    sim_free(study);
    free(files);
    sim_free(own);
    free(readable);
    free(program);
    free(folder);
    sim_free(relative);
    sim_free(start);
    json_decref(limits);
    json_decref(overrides);
    return process;
}

// -- ending

// Returns how the run ended according to its results, freed with sim_free; NULL if there are none.
static char *read_ended(const char *folder)
{
    char *const path = sim_format("%s/result/summary.json", folder);
    json_t *const summary = json_load_file(path, 0, NULL);
    const char *const ended = json_string_value(json_object_get(summary, "ended"));
    char *const copy = summary == NULL ? NULL : sim_strdup(ended == NULL ? "" : ended);
    json_decref(summary);
    sim_free(path);
    return copy;
}

static bool is_remark(const char *line)
{
    return strncmp(line, "note: ", 6) == 0 || strncmp(line, "warning: ", 9) == 0;
}

// Reads the error message of a run from its log: what stalled it, which stands below its report, or
// the first line that is no remark. last: the last line instead, where a study says what failed. ""
// if there is none.
static void read_log(const char *folder, bool last, char text[MESSAGE_BYTES + 1])
{
    char line[MESSAGE_BYTES + 1];
    bool is_found = false;
    char *const path = sim_format("%s/log", folder);
    FILE *const file = fopen(path, "re");
    text[0] = '\0';
    while (file != NULL && !is_found && fgets(line, (int)MESSAGE_BYTES, file) != NULL) {
        is_found = !last && strncmp(line, "stalled: ", 9) == 0;
        if (is_found || ((last || text[0] == '\0') && !is_remark(line) && line[0] != '\n')) {
            memcpy(text, line, sizeof(line));
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    sim_free(path);
    size_t length = strcspn(text, "\n");
    text[length] = '\0';
    while (!studio_text_is_clean(text, length)) {
        text[--length] = '\0';
    }
}

// full: the disk is full now. A program that cannot write then ends by itself, perhaps without a
// message, since its log is on that disk.
static char *message_of(const studio_exit_t *exit, const char *folder, bool of_study, bool full)
{
    char log[MESSAGE_BYTES + 1];
    read_log(folder, of_study, log);
    if (strcmp(exit->reason, "time") == 0) {
        return sim_format("stopped at the run's time limit, after %.0f s", exit->wall_s);
    }
    if (strcmp(exit->reason, "memory") == 0 || strstr(log, "rocesim: out of memory") != NULL) {
        return sim_strdup("stopped at the run's memory limit");
    }
    if (strcmp(exit->reason, "disk") == 0) {
        return sim_strdup("stopped because the run's files reached the limit, or all files of "
                          "your runs their quota");
    }
    if (strcmp(exit->reason, "full") == 0 ||
        (full && exit->status != 0 && exit->signal == 0 && log[0] == '\0')) {
        return sim_strdup("stopped because the disk is full");
    }
    if (strcmp(exit->reason, "lost") == 0) {
        return sim_strdup("the run's process disappeared several times");
    }
    if (exit->status == 0) {
        return sim_strdup("");
    }
    if (exit->signal != 0) {
        return sim_format("ended by signal %d (%s)%s%s", exit->signal, strsignal(exit->signal),
                          log[0] == '\0' ? "" : ": ", log);
    }
    return sim_strdup(log[0] == '\0' ? "failed without an error message" : log);
}

// Returns a text about the run, freed with sim_free; NULL: there is none.
static char *text_of(studio_t *studio, const char *sql, int64_t run)
{
    studio_rows_t *const rows = studio_rows_open(studio->store, sql, "i", run);
    const char *const text = studio_rows_next(rows) ? studio_rows_text(rows, 0) : NULL;
    char *const copy = text == NULL ? NULL : sim_strdup(text);
    (void)studio_rows_close(rows);
    return copy;
}

// Removes the server's folders from the names of files in a message.
static void shorten_names(studio_t *studio, int64_t run, char *message)
{
    char *const owner = text_of(
        studio, "SELECT u.name FROM runs r JOIN users u ON u.id = r.owner WHERE r.id = ?", run);
    char *const own = studio_files_folder(studio, owner == NULL ? "" : owner, "");
    const char *const folders[] = {own, studio->options.scenarios};
    for (size_t i = 0; i < SIM_COUNT_OF(folders); i++) {
        char *const whole = realpath(folders[i], NULL);
        studio_names_shorten(message, whole == NULL ? "" : whole);
        free(whole);
    }
    sim_free(own);
    sim_free(owner);
}

bool studio_run_record(studio_t *studio, int64_t run, const studio_exit_t *exit, bool of_study)
{
    char *const folder = run_folder(studio, run);
    char *const ended = of_study ? NULL : read_ended(folder);
    const bool full = exit->status != 0 && studio_reserve_look(studio->reserve);
    char *const message = message_of(exit, folder, of_study, full);
    shorten_names(studio, run, message);
    const bool good = exit->status == 0 && (of_study || ended != NULL);
    const bool kept = studio_store_do(
        studio->store,
        "UPDATE runs SET state = CASE WHEN ? THEN 'done' WHEN cancelling OR ?"
        " THEN 'cancelled' ELSE 'failed' END, ended = ?,"
        " message = CASE WHEN cancelling OR ? THEN '' ELSE ? END,"
        " cancelling = 0, ended_ms = ?, size_bytes = ? WHERE id = ?",
        "iisisiii", (int64_t)good, (int64_t)(strcmp(exit->reason, "cancelled") == 0), ended,
        (int64_t)(strcmp(exit->reason, "cancelled") == 0), message, studio_now_ms(),
        (int64_t)studio_folder_bytes(folder), run);
    const bool whole = kept && (ended == NULL || studio_values_keep(studio, run, folder));
    SIM_FREE_ALL(message, ended, folder);
    return whole;
}

bool studio_run_finish(studio_t *studio, int64_t run, const studio_exit_t *exit)
{
    SIM_CHECK(run > 0);
    char *const study = text_of(studio, "SELECT study FROM runs WHERE id = ?", run);
    studio_made_t made = {.count = 0};
    bool kept = (study == NULL || studio_study_link(studio, run, study, &made)) &&
                studio_store_begin(studio->store);
    if (kept) {
        kept = studio_study_insert(studio, run, &made) &&
               studio_run_record(studio, run, exit, study != NULL);
        if (kept) {
            kept = studio_store_commit(studio->store);
        } else {
            studio_store_rollback(studio->store);
        }
    }
    studio_study_settle(studio, &made, kept);
    sim_free(study);
    return kept;
}

// -- notifying

static json_t *number_json(const studio_rows_t *rows, int column)
{
    return studio_rows_is_null(rows, column) ? json_null()
                                             : json_integer(studio_rows_int(rows, column));
}

static json_t *text_json(const studio_rows_t *rows, int column)
{
    const char *const text = studio_rows_text(rows, column);
    return text == NULL || text[0] == '\0' ? json_null() : json_string(text);
}

// Returns the value of "seed=7" among the settings.
static json_t *seed_of(const json_t *set)
{
    for (size_t i = json_array_size(set); i > 0; i--) {
        const char *const text = json_string_value(json_array_get(set, i - 1));
        if (text != NULL && strncmp(text, "seed=", 5) == 0) {
            return json_string(text + 5);
        }
    }
    return json_null();
}

static void add_progress(studio_t *studio, int64_t run, json_t *json)
{
    json_t *const progress = studio_board_find(studio->board, run);
    const json_t *const share = json_object_get(progress, "share");
    const json_t *const left_s = json_object_get(progress, "left_s");
    const bool known = json_number_value(share) >= 0 && progress != NULL;
    const bool timed = known && json_number_value(left_s) >= 0;
    (void)json_object_set_new(json, "progress",
                              known ? json_real(json_number_value(share)) : json_null());
    (void)json_object_set_new(json, "eta_s",
                              timed ? json_real(json_number_value(left_s)) : json_null());
    (void)json_object_set_new(json, "live", progress == NULL ? json_null() : progress);
}

json_t *studio_run_row_json(studio_t *studio, const studio_rows_t *rows)
{
    const char *const state = studio_rows_text(rows, 6);
    const bool starting = strcmp(state, "starting") == 0;
    json_t *const set = json_loads(studio_rows_text(rows, 10), 0, NULL);
    json_t *const json = json_pack(
        "{s:I, s:I, s:s, s:{s:I, s:s}, s:b, s:s, s:b, s:o, s:o, s:s, s:o, s:o, s:o}", "id",
        (json_int_t)studio_rows_int(rows, 0), "group", (json_int_t)studio_rows_int(rows, 1), "name",
        studio_rows_text(rows, 2), "owner", "id", (json_int_t)studio_rows_int(rows, 3), "name",
        studio_rows_text(rows, 4), "shared", (int)studio_rows_int(rows, 5), "state",
        starting ? "running" : state, "cancelling", (int)studio_rows_int(rows, 12), "ended",
        text_json(rows, 7), "message", text_json(rows, 8), "notes", studio_rows_text(rows, 9),
        "seed", seed_of(set), "set", set == NULL ? json_array() : set, "library",
        text_json(rows, 11));
    if (json == NULL) {
        return NULL;
    }
    (void)json_object_set_new(json, "has_result", json_boolean(!studio_rows_is_null(rows, 7)));
    (void)json_object_set_new(json, "created_ms", number_json(rows, 13));
    (void)json_object_set_new(json, "started_ms", number_json(rows, 14));
    (void)json_object_set_new(json, "ended_ms", number_json(rows, 15));
    (void)json_object_set_new(json, "size_bytes", json_integer(studio_rows_int(rows, 16)));
    (void)json_object_set_new(json, "trashed_ms", number_json(rows, 17));
    (void)json_object_set_new(json, "attempt", json_integer(studio_rows_int(rows, 18)));
    (void)json_object_set_new(json, "study", text_json(rows, 19));
    (void)json_object_set_new(json, "made_by", number_json(rows, 20));
    (void)json_object_set_new(json, "folder", text_json(rows, 21));
    if (starting || strcmp(state, "running") == 0) {
        add_progress(studio, studio_rows_int(rows, 0), json);
    }
    return json;
}

json_t *studio_run_json(studio_t *studio, int64_t run)
{
    json_t *json = NULL;
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT " STUDIO_RUN_COLUMNS " FROM runs r JOIN users u ON u.id = r.owner WHERE r.id = ?",
        "i", run);
    if (studio_rows_next(rows)) {
        json = studio_run_row_json(studio, rows);
    }
    (void)studio_rows_close(rows);
    return json;
}

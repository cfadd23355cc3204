// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/worker.c - the thread that imports, one run after the other.
//
// Pending imports are listed in memory only. After a crash the next request for a run's data asks
// again, and the server restarts unfinished imports when it starts.
#include "studio/server/data/data.h"

#include "studio/server/data/import/import.h"
#include "studio/server/runs/runs.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAITING_MAX 100000u
#define FAILURES_MAX 1000u
#define TELL_EVERY_NS 300000000L

typedef struct wanted {
    int64_t run;
    char *folder;
} wanted_t;

typedef struct failure {
    int64_t run;
    sim_message_t message;
} failure_t;

struct studio_data {
    studio_t *studio;
    studio_turns_t *turns;
    pthread_t thread;
    pthread_t teller;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    wanted_t *waiting;
    size_t waiting_count;
    size_t waiting_capacity;
    int64_t importing; // 0: none
    double began_s;
    studio_progress_t progress;
    failure_t *failures; // the most recent ones
    size_t failure_count;
    size_t failure_capacity;
    bool ending;
};

static json_t *state_of(studio_data_t *data, int64_t run);

studio_turns_t *studio_data_turns(studio_data_t *data)
{
    return data->turns;
}

static void forget_failure(studio_data_t *data, int64_t run)
{
    for (size_t i = 0; i < data->failure_count; i++) {
        if (data->failures[i].run == run) {
            data->failures[i] = data->failures[--data->failure_count];
            return;
        }
    }
}

static void note_failure(studio_data_t *data, int64_t run, const sim_message_t *message)
{
    forget_failure(data, run);
    if (data->failure_count == FAILURES_MAX) {
        data->failures[0] = data->failures[--data->failure_count];
    }
    SIM_APPEND(data->failures, data->failure_count, data->failure_capacity,
               (failure_t){run, *message});
}

static void tell(studio_data_t *data, int64_t run, json_t *state)
{
    char *const text = json_dumps(state, JSON_COMPACT);
    if (text != NULL) {
        studio_run_tell(data->studio, run, "import", text);
    }
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    json_decref(state);
}

static void import_one(studio_data_t *data, const wanted_t *wanted)
{
    char *const result = sim_format("%s/result", wanted->folder);
    char *const log = sim_format("%s/log", wanted->folder);
    char *const index = sim_format("%s/index", wanted->folder);
    sim_message_t message = {.text = ""};
    const sim_err_t code =
        studio_reserve_look(data->studio->reserve)
            ? sim_fail(&message, SIM_ERR_IO, "the disk is full; import the run again later")
            : studio_import(result, log, index, &data->progress, &message);
    (void)pthread_mutex_lock(&data->lock);
    if (code != SIM_OK && code != SIM_ERR_STATE) {
        note_failure(data, wanted->run, &message);
    }
    data->importing = 0;
    (void)pthread_mutex_unlock(&data->lock);
    if (code == SIM_OK) {
        // A capture of a user's files had no process that measured it.
        (void)studio_store_do(data->studio->store,
                              "UPDATE runs SET size_bytes = ? WHERE id = ? AND ended = 'capture'",
                              "ii", (int64_t)studio_folder_bytes(wanted->folder), wanted->run);
    }
    json_t *state = code == SIM_OK ? studio_import_state(result, index) : NULL;
    if (state != NULL) {
        json_object_set_new(state, "state", json_string("done"));
    } else {
        state = json_pack("{s:s,s:s}", "state", "failed", "message", message.text);
    }
    tell(data, wanted->run, state);
    SIM_FREE_ALL(index, log, result);
}

static void *work(void *ctx)
{
    studio_data_t *const data = ctx;
    (void)pthread_mutex_lock(&data->lock);
    while (!data->ending) {
        if (data->waiting_count == 0) {
            (void)pthread_cond_wait(&data->changed, &data->lock);
            continue;
        }
        const wanted_t wanted = data->waiting[0];
        data->waiting_count--;
        memmove(data->waiting, data->waiting + 1, data->waiting_count * sizeof(*data->waiting));
        data->importing = wanted.run;
        data->began_s = studio_seconds();
        forget_failure(data, wanted.run);
        atomic_store(&data->progress.part, "");
        atomic_store(&data->progress.rows, 0);
        atomic_store(&data->progress.bytes_done, 0);
        (void)pthread_cond_broadcast(&data->changed);
        (void)pthread_mutex_unlock(&data->lock);
        import_one(data, &wanted);
        sim_free(wanted.folder);
        (void)pthread_mutex_lock(&data->lock);
    }
    (void)pthread_mutex_unlock(&data->lock);
    return NULL;
}

// Reports the progress of the current import to those who watch the run.
static void *tell_progress(void *ctx)
{
    studio_data_t *const data = ctx;
    (void)pthread_mutex_lock(&data->lock);
    while (!data->ending) {
        if (data->importing == 0) {
            (void)pthread_cond_wait(&data->changed, &data->lock);
            continue;
        }
        const int64_t run = data->importing;
        json_t *const state = state_of(data, run);
        (void)pthread_mutex_unlock(&data->lock);
        tell(data, run, state);
        const struct timespec pause = {0, TELL_EVERY_NS};
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&data->lock);
    }
    (void)pthread_mutex_unlock(&data->lock);
    return NULL;
}

// Returns the state of a run's import; NULL if none is under way and none failed. Needs the lock.
static json_t *state_of(studio_data_t *data, int64_t run)
{
    if (data->importing == run) {
        const double seconds = studio_seconds() - data->began_s;
        const double rows = (double)atomic_load(&data->progress.rows);
        const double bytes = (double)atomic_load(&data->progress.bytes_done);
        const double rate = seconds > 0 ? 1 / seconds : 0;
        return json_pack("{s:s,s:s,s:I,s:I,s:I,s:f,s:f,s:f}", "state", "importing", "part",
                         atomic_load(&data->progress.part), "bytes_done", (json_int_t)bytes,
                         "bytes_total", (json_int_t)atomic_load(&data->progress.bytes_total),
                         "rows", (json_int_t)rows, "seconds", seconds, "rows_per_s", rows * rate,
                         "bytes_per_s", bytes * rate);
    }
    for (size_t i = 0; i < data->waiting_count; i++) {
        if (data->waiting[i].run == run) {
            return json_pack("{s:s,s:I}", "state", "waiting", "before", (json_int_t)i);
        }
    }
    for (size_t i = 0; i < data->failure_count; i++) {
        if (data->failures[i].run == run) {
            return json_pack("{s:s,s:s}", "state", "failed", "message",
                             data->failures[i].message.text);
        }
    }
    return NULL;
}

// Returns whether the run's import is waiting or running. Needs the lock.
static bool is_under_way(const studio_data_t *data, int64_t run)
{
    bool found = data->importing == run;
    for (size_t i = 0; i < data->waiting_count && !found; i++) {
        found = data->waiting[i].run == run;
    }
    return found;
}

static void want(studio_data_t *data, int64_t run, const char *folder)
{
    if (data->waiting_count < WAITING_MAX) {
        SIM_APPEND(data->waiting, data->waiting_count, data->waiting_capacity,
                   (wanted_t){run, sim_strdup(folder)});
        (void)pthread_cond_broadcast(&data->changed);
    }
}

static json_t *done_of(const char *folder)
{
    char *const result = sim_format("%s/result", folder);
    char *const index = sim_format("%s/index", folder);
    json_t *const state = studio_import_state(result, index);
    sim_free(index);
    sim_free(result);
    if (state == NULL) {
        return NULL;
    }
    const double seconds = json_number_value(json_object_get(state, "seconds"));
    const double rows = json_number_value(json_object_get(state, "rows"));
    const double bytes = json_number_value(json_object_get(state, "bytes"));
    const double rate = seconds > 0 ? 1 / seconds : 0;
    json_object_set_new(state, "state", json_string("done"));
    json_object_set_new(state, "rows_per_s", json_real(rows * rate));
    json_object_set_new(state, "bytes_per_s", json_real(bytes * rate));
    return state;
}

json_t *studio_data_want(studio_data_t *data, int64_t run, const char *folder, bool again,
                         bool *done)
{
    json_t *state = again ? NULL : done_of(folder);
    *done = state != NULL;
    (void)pthread_mutex_lock(&data->lock);
    if (again) {
        forget_failure(data, run);
    }
    if (!*done || is_under_way(data, run)) {
        json_decref(state);
        state = state_of(data, run);
    }
    if (state == NULL) {
        want(data, run, folder);
        state = state_of(data, run);
    }
    (void)pthread_mutex_unlock(&data->lock);
    return state != NULL ? state : json_pack("{s:s}", "state", "none");
}

static void run_ended(studio_t *studio, const studio_run_t *run, void *ctx)
{
    studio_data_t *const data = ctx;
    (void)studio;
    if (!run->has_result) {
        return;
    }
    (void)pthread_mutex_lock(&data->lock);
    want(data, run->id, run->folder);
    (void)pthread_mutex_unlock(&data->lock);
}

// Restarts the imports that an earlier server did not finish.
static void want_unfinished(studio_data_t *data)
{
    char *const runs = sim_format("%s/runs", data->studio->options.data);
    DIR *const directory = opendir(runs);
    const struct dirent *entry = NULL;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char *end = NULL;
        const long long run = strtoll(entry->d_name, &end, 10);
        char *const begun = sim_format("%s/%s/index.new", runs, entry->d_name);
        if (*end == '\0' && run > 0 && access(begun, F_OK) == 0) {
            char *const folder = sim_format("%s/%s", runs, entry->d_name);
            want(data, run, folder);
            sim_free(folder);
        }
        sim_free(begun);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    sim_free(runs);
}

studio_data_t *studio_data_create(studio_t *studio)
{
    studio_data_t *const data = sim_alloc(sizeof(*data));
    data->studio = studio;
    atomic_store(&data->progress.part, "");
    data->turns = studio_turns_create();
    SIM_CHECK(pthread_mutex_init(&data->lock, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&data->changed, NULL) == 0);
    want_unfinished(data);
    SIM_CHECK(pthread_create(&data->thread, NULL, work, data) == 0);
    SIM_CHECK(pthread_create(&data->teller, NULL, tell_progress, data) == 0);
    studio_on_run_end(studio, run_ended, data);
    return data;
}

void studio_data_destroy(studio_data_t *data)
{
    if (data == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&data->lock);
    data->ending = true;
    atomic_store(&data->progress.stop, true);
    (void)pthread_cond_broadcast(&data->changed);
    (void)pthread_mutex_unlock(&data->lock);
    (void)pthread_join(data->thread, NULL);
    (void)pthread_join(data->teller, NULL);
    for (size_t i = 0; i < data->waiting_count; i++) {
        sim_free(data->waiting[i].folder);
    }
    studio_turns_destroy(data->turns);
    (void)pthread_cond_destroy(&data->changed);
    (void)pthread_mutex_destroy(&data->lock);
    SIM_FREE_ALL(data->waiting, data->failures, data);
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/queue.c - the thread that starts and ends runs.
#include "studio/server/runs/queue.h"

#include "studio/server/accounts/accounts.h"
#include "studio/server/process/child.h"
#include "studio/server/runs/events.h"
#include "studio/server/runs/finish.h"
#include "studio/server/runs/progress_board.h"
#include "studio/server/runs/trash.h"
#include "studio/server/runs/values.h"
#include "studio/server/store/database.h"
#include "studio/server/store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MS 200
#define QUIET_MS 2000
#define HOUR_MS INT64_C(3600000)
#define HOOKS_MAX 4u
#define ATTEMPTS_MAX 3
#define PROGRESS_BYTES 1024u
#define FILLED_AT_ONCE 50u
#define BEGIN_MS 30000 // milliseconds in which a started process must claim its attempt

typedef struct active {
    int64_t run;
    int64_t attempt;
    pid_t process; // the watching process, if this server started it; 0: an earlier server did
    int64_t spawned_ms;
    bool begun;
    bool told; // it was asked to end
    char line[PROGRESS_BYTES];
} active_t;

struct studio_runs {
    studio_t *studio;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ending;
    bool news; // something changed since the thread last looked
    active_t *active;
    size_t active_count;
    size_t active_capacity;
    const char *blocked;
    int64_t cleaned_ms; // when the trash was last cleaned
    int64_t filled;     // the last run whose values were looked for; INT64_MAX: all were
    struct {
        studio_run_end_fn fn;
        void *ctx;
    } hooks[HOOKS_MAX];
    size_t hook_count;
};

studio_runs_t *studio_runs_create(studio_t *studio)
{
    studio_runs_t *const runs = sim_alloc(sizeof(*runs));
    pthread_condattr_t attributes;
    runs->studio = studio;
    runs->blocked = "";
    SIM_CHECK(pthread_mutex_init(&runs->lock, NULL) == 0);
    SIM_CHECK(pthread_condattr_init(&attributes) == 0);
    SIM_CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    SIM_CHECK(pthread_cond_init(&runs->wake, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    return runs;
}

void studio_on_run_end(studio_t *studio, studio_run_end_fn fn, void *ctx)
{
    studio_runs_t *const runs = studio->runs;
    SIM_CHECK(!runs->started && runs->hook_count < HOOKS_MAX);
    runs->hooks[runs->hook_count].fn = fn;
    runs->hooks[runs->hook_count].ctx = ctx;
    runs->hook_count++;
}

void studio_run_tell(studio_t *studio, int64_t id, const char *event, const char *json)
{
    studio_run_t run;
    if (studio_run_find(studio, NULL, id, &run)) {
        studio_events_publish(studio->events, id, run.owner, run.shared, event, json);
    }
}

void studio_run_tell_state(studio_t *studio, int64_t run)
{
    json_t *const json = studio_run_json(studio, run);
    char *const text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
    if (text != NULL) {
        studio_run_tell(studio, run, "state", text);
    }
    free(text);
    json_decref(json);
}

// -- those that run

static void add_active(studio_runs_t *runs, const active_t *active)
{
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    SIM_APPEND(runs->active, runs->active_count, runs->active_capacity, *active);
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
}

static void drop_active(studio_runs_t *runs, size_t index)
{
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    SIM_CHECK(index < runs->active_count);
    studio_board_drop(runs->studio->board, runs->active[index].run);
    runs->active[index] = runs->active[--runs->active_count];
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
}

static void tell_hooks(studio_runs_t *runs, int64_t id)
{
    studio_run_t run;
    if (studio_run_find(runs->studio, NULL, id, &run)) {
        for (size_t i = 0; i < runs->hook_count; i++) {
            runs->hooks[i].fn(runs->studio, &run, runs->hooks[i].ctx);
        }
    }
}

// Reports the end of a run, and for a study the ends of the runs that it made.
static void tell_end(studio_runs_t *runs, int64_t id)
{
    int64_t made = 0;
    studio_run_tell_state(runs->studio, id);
    tell_hooks(runs, id);
    do {
        made = studio_store_int(runs->studio->store, 0,
                                "SELECT min(id) FROM runs WHERE made_by = ? AND id > ?", "ii", id,
                                made);
        if (made > 0) {
            studio_run_tell_state(runs->studio, made);
            tell_hooks(runs, made);
        }
    } while (made > 0);
}

static void ended(studio_runs_t *runs, size_t index, const studio_exit_t *exit)
{
    studio_t *const studio = runs->studio;
    const int64_t id = runs->active[index].run;
    if (!studio_run_finish(studio, id, exit)) {
        return; // full disk: the thread tries again
    }
    drop_active(runs, index);
    tell_end(runs, id);
}

// Ends a run whose process disappeared without an exit file: a crash of the machine, or a kill.
static void lost(studio_runs_t *runs, size_t index)
{
    const active_t active = runs->active[index];
    if (active.attempt >= ATTEMPTS_MAX || active.told) {
        const studio_exit_t exit = {.status = -1, .signal = SIGKILL, .reason = "lost"};
        ended(runs, index, &exit);
        return;
    }
    if (studio_store_do(runs->studio->store,
                        "UPDATE runs SET state = 'queued', attempt = attempt + 1, message ="
                        " 'started again, because the process had disappeared' WHERE id = ?",
                        "i", active.run)) {
        drop_active(runs, index);
        studio_run_tell_state(runs->studio, active.run);
    }
}

static void read_progress(studio_runs_t *runs, active_t *active, const char *folder)
{
    char line[PROGRESS_BYTES + 1];
    char *const path = sim_format("%s/progress", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, line, PROGRESS_BYTES);
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    if (length != (ssize_t)PROGRESS_BYTES || memcmp(line, active->line, PROGRESS_BYTES) == 0) {
        return;
    }
    memcpy(active->line, line, PROGRESS_BYTES);
    json_t *const progress = json_loadb(line, PROGRESS_BYTES, 0, NULL);
    if (progress == NULL) {
        return; // the file was being written
    }
    (void)json_object_set_new(progress, "id", json_integer(active->run));
    char *const text = json_dumps(progress, JSON_COMPACT);
    // Owner and sharing may have changed since the run began, so they are read again.
    studio_run_tell(runs->studio, active->run, "progress", text == NULL ? "{}" : text);
    free(text);
    studio_board_put(runs->studio->board, active->run, progress);
}

static void spawn(studio_runs_t *runs, active_t *active)
{
    active->process = studio_run_spawn(runs->studio, active->run, active->attempt);
    active->spawned_ms = studio_clock_ms();
    if (active->process < 0) {
        active->process = 0;
    }
}

// A process that is asked twice to end ends at once, so each server asks it only once.
static void pass_cancel(studio_runs_t *runs, active_t *active, const studio_begun_t *begun)
{
    const int64_t wanted = studio_store_int(
        runs->studio->store, 0, "SELECT cancelling FROM runs WHERE id = ?", "i", active->run);
    if (wanted == 1 && !active->told) {
        (void)kill(begun->process, SIGTERM);
        active->told = true;
    }
}

// Checks the state of a running run; returns whether its entry is still in the list.
static bool look_at(studio_runs_t *runs, size_t index)
{
    active_t *const active = &runs->active[index];
    studio_begun_t begun;
    studio_exit_t exit;
    char *const folder = sim_format("%s/runs/%" PRId64, runs->studio->options.data, active->run);
    const size_t before = runs->active_count;
    if (active->process > 0 && waitpid(active->process, NULL, WNOHANG) == active->process) {
        active->process = 0;
    }
    if (studio_exit_read(folder, active->attempt, &exit)) {
        ended(runs, index, &exit);
    } else if (studio_begun_read(folder, active->attempt, &begun)) {
        // This is asked before the exit file is read again: the run may end in between.
        const bool alive = studio_begun_alive(&begun);
        if (alive) {
            if (!active->begun) {
                active->begun = studio_store_do(runs->studio->store,
                                                "UPDATE runs SET state = 'running' WHERE id = ?",
                                                "i", active->run);
                studio_run_tell_state(runs->studio, active->run);
            }
            pass_cancel(runs, active, &begun);
            read_progress(runs, active, folder);
        } else if (studio_exit_read(folder, active->attempt, &exit)) {
            ended(runs, index, &exit);
        } else {
            lost(runs, index);
        }
    } else if (active->process == 0 &&
               studio_clock_ms() - active->spawned_ms > (active->spawned_ms == 0 ? 0 : BEGIN_MS)) {
        spawn(runs, active);
    }
    sim_free(folder);
    return runs->active_count == before;
}

// -- those that wait

static bool has_room(studio_runs_t *runs)
{
    struct statvfs disk;
    const uint64_t needed = runs->studio->options.disk_bytes_free;
    const bool full = statvfs(runs->studio->options.data, &disk) == 0 &&
                      (uint64_t)disk.f_bavail * disk.f_frsize < needed;
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    runs->blocked = full ? "the disk is full; runs wait until there is room" : "";
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
    return !full;
}

// Starts the next run: the oldest one of the user with the fewest running runs. Among users with
// equally many it is the user whose last start is longest ago.
static bool begin_next(studio_runs_t *runs)
{
    studio_t *const studio = runs->studio;
    active_t active = {0};
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT min(r.id), r.attempt FROM runs r WHERE r.state = 'queued'"
        " AND r.trashed_ms IS NULL GROUP BY r.owner ORDER BY"
        " (SELECT count(*) FROM runs o WHERE o.owner = r.owner"
        " AND o.state IN ('starting', 'running')),"
        " (SELECT coalesce(max(o.started_ms), 0) FROM runs o WHERE o.owner = r.owner),"
        " min(r.id) LIMIT 1",
        "");
    const bool found = studio_rows_next(rows);
    if (found) {
        active.run = studio_rows_int(rows, 0);
        active.attempt = studio_rows_int(rows, 1);
    }
    if (!studio_rows_close(rows) || !found ||
        studio_store_change(studio->store,
                            "UPDATE runs SET state = 'starting', started_ms = ?"
                            " WHERE id = ? AND state = 'queued'",
                            "ii", studio_now_ms(), active.run) != 1) {
        return false;
    }
    spawn(runs, &active);
    add_active(runs, &active);
    return true;
}

// Takes over the runs that an earlier server left running or was about to start.
static void adopt(studio_runs_t *runs)
{
    studio_rows_t *const rows =
        studio_rows_open(runs->studio->store,
                         "SELECT id, attempt FROM runs"
                         " WHERE state IN ('starting', 'running') ORDER BY id",
                         "");
    while (studio_rows_next(rows)) {
        const active_t active = {
            .run = studio_rows_int(rows, 0),
            .attempt = studio_rows_int(rows, 1),
        };
        add_active(runs, &active);
    }
    (void)studio_rows_close(rows);
}

// -- the thread

// Stores the values of some runs that an earlier version has ended.
static void fill_values(studio_runs_t *runs)
{
    for (unsigned i = 0; i < FILLED_AT_ONCE && runs->filled != INT64_MAX; i++) {
        const int64_t run = studio_values_fill(runs->studio, runs->filled);
        runs->filled = run == 0 ? INT64_MAX : run;
    }
}

static void turn(studio_runs_t *runs)
{
    // Before ends of runs are recorded, which needs space on a full disk.
    if (studio_reserve_look(runs->studio->reserve)) {
        studio_trash_empty(runs->studio);
    }
    for (size_t i = 0; i < runs->active_count;) {
        i += look_at(runs, i);
    }
    while (runs->active_count < runs->studio->options.jobs && has_room(runs) && begin_next(runs)) {
    }
    fill_values(runs);
    const int64_t now_ms = studio_clock_ms();
    if (runs->cleaned_ms == 0 || now_ms - runs->cleaned_ms > HOUR_MS) {
        runs->cleaned_ms = now_ms;
        studio_trash_clean(runs->studio);
        studio_sessions_clean(runs->studio);
    }
}

static void *work(void *ctx)
{
    studio_runs_t *const runs = ctx;
    adopt(runs);
    for (bool ending = false; !ending;) {
        turn(runs);
        SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
        const long wait_ms = runs->active_count > 0 ? BUSY_MS : QUIET_MS;
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += wait_ms % 1000 * 1000000L;
        until.tv_sec += wait_ms / 1000 + until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (!runs->ending && !runs->news) {
            (void)pthread_cond_timedwait(&runs->wake, &runs->lock, &until);
        }
        runs->news = false;
        ending = runs->ending;
        SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
    }
    return NULL;
}

bool studio_runs_start(studio_runs_t *runs)
{
    errno = pthread_create(&runs->thread, NULL, work, runs);
    runs->started = errno == 0;
    return runs->started;
}

void studio_runs_wake(studio_runs_t *runs)
{
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    runs->news = true;
    (void)pthread_cond_signal(&runs->wake);
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
}

void studio_runs_stop(studio_runs_t *runs)
{
    if (runs == NULL || !runs->started) {
        return;
    }
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    runs->ending = true;
    (void)pthread_cond_signal(&runs->wake);
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
    (void)pthread_join(runs->thread, NULL);
    runs->started = false;
}

void studio_runs_destroy(studio_runs_t *runs)
{
    if (runs == NULL) {
        return;
    }
    SIM_CHECK(!runs->started);
    (void)pthread_cond_destroy(&runs->wake);
    (void)pthread_mutex_destroy(&runs->lock);
    sim_free(runs->active);
    sim_free(runs);
}

const char *studio_runs_blocked(studio_runs_t *runs)
{
    SIM_CHECK(pthread_mutex_lock(&runs->lock) == 0);
    const char *const blocked = runs->blocked;
    SIM_CHECK(pthread_mutex_unlock(&runs->lock) == 0);
    return blocked;
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/serve.c - creates the parts of the server in order and destroys them in reverse.
#include "studio/server/serve.h"

#include "studio/server/accounts/accounts.h"
#include "studio/server/backup.h"
#include "studio/server/data/analysis/figure_child.h"
#include "studio/server/data/data.h"
#include "studio/server/data/query/sql_child.h"
#include "studio/server/files/files.h"
#include "studio/server/http/page.h"
#include "studio/server/http/route.h"
#include "studio/server/http/server.h"
#include "studio/server/library/library.h"
#include "studio/server/library/scenario_check.h"
#include "studio/server/library/study_check.h"
#include "studio/server/process/child.h"
#include "studio/server/process/confine.h"
#include "studio/server/runs/consistency/agreement.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/runs/events.h"
#include "studio/server/runs/progress_board.h"
#include "studio/server/runs/queue.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 20
#define LOCK_PAUSE_MS 50L

static const studio_route_t *const tables[] = {
    studio_account_routes,  studio_user_routes,     studio_server_routes,
    studio_document_routes, studio_library_routes,  studio_own_file_routes,
    studio_run_routes,      studio_run_file_routes, studio_data_routes,
};

studio_route_t *studio_routes_join(void)
{
    studio_route_t *joined = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(tables); i++) {
        for (const studio_route_t *route = tables[i]; route->path != NULL; route++) {
            SIM_APPEND(joined, count, capacity, *route);
        }
    }
    SIM_GROW(joined, count, &capacity);
    memset(&joined[count], 0, sizeof(joined[count]));
    return joined;
}

// -- the folder

static sim_err_t make_folder(const char *path, sim_message_t *message)
{
    char *const copy = sim_strdup(path);
    sim_err_t result = SIM_OK;
    for (char *slash = strchr(copy + 1, '/'); result == SIM_OK;
         slash = slash == NULL ? NULL : strchr(slash + 1, '/')) {
        if (slash != NULL) {
            *slash = '\0';
        }
        // Only the server's own user may read the data folder.
        if (mkdir(copy, slash == NULL ? 0700 : 0755) != 0 && errno != EEXIST) {
            result = sim_fail(message, SIM_ERR_IO, "%s: %s", copy, strerror(errno));
        }
        if (slash == NULL) {
            break;
        }
        *slash = '/';
    }
    sim_free(copy);
    return result;
}

// Takes the lock, with a few retries: a process that a killed server was just starting holds its
// lock for a moment.
static bool take_lock(int fd)
{
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
    bool taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    for (int i = 0; i < LOCK_TRIES && !taken; i++) {
        (void)nanosleep(&pause, NULL);
        taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    return taken;
}

// Locks the data folder against a second server; returns -1 with a message if one has it.
static int lock_folder(const char *data, sim_message_t *message)
{
    char *const path = sim_format("%s/lock", data);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        (void)sim_fail(message, SIM_ERR_IO, "%s: %s", path, strerror(errno));
    } else if (!take_lock(fd)) {
        (void)sim_fail(
            message, SIM_ERR_STATE,
            "%s: another studio uses this folder; stop it, or choose another folder with --data",
            data);
        (void)close(fd);
        sim_free(path);
        return -1;
    }
    sim_free(path);
    return fd;
}

// -- the first administrator

static sim_err_t make_first_user(studio_t *studio, sim_message_t *message)
{
    const char *const name = studio->options.first_user;
    FILE *const file = fopen(studio->options.password, "re");
    char password[STUDIO_PASSWORD_BYTES_MAX + 3] = "";
    if (file == NULL) {
        return sim_fail(message, SIM_ERR_IO, "%s: %s", studio->options.password, strerror(errno));
    }
    if (fgets(password, sizeof(password), file) == NULL) {
        password[0] = '\0';
    }
    (void)fclose(file);
    password[strcspn(password, "\r\n")] = '\0';
    const char *refused = studio_name_refuse(name);
    refused = refused == NULL ? studio_password_refuse(password, name) : refused;
    sim_err_t result = SIM_OK;
    if (refused != NULL) {
        result = sim_fail(message, SIM_ERR_INVALID, "--first-user: %s", refused);
    } else if (studio_user_create_first(studio, name, password) == 0) {
        result = sim_fail(message, SIM_ERR_IO,
                          "--first-user: the user %s could not be stored in the database: %s", name,
                          studio_store_reason(studio->store));
    } else {
        studio_audit(studio, NULL, "", "user.create", "%s, administrator (--first-user)", name);
    }
    sodium_memzero(password, sizeof(password));
    return result;
}

static sim_err_t greet(studio_t *studio, const studio_server_t *server, sim_message_t *message)
{
    studio_secret_t secret;
    if (!studio_user_any(studio) && studio->options.first_user != NULL) {
        const sim_err_t result = make_first_user(studio, message);
        if (result != SIM_OK) {
            return result;
        }
    }
    if (!studio_user_any(studio)) {
        if (!studio_link_create(studio, 0, &secret)) {
            return sim_fail(message, SIM_ERR_IO,
                            "studio.sqlite in the data folder cannot be written: %s",
                            studio_store_reason(studio->store));
        }
        printf("Nobody can log in yet. This link creates the administrator; it works once, within "
               "7 days:\n"
               "    %s/#once=%s\n",
               studio_server_url(server), secret.text);
    }
    printf("rocesim studio: %s\n", studio_server_url(server));
    return fflush(stdout) == 0
               ? SIM_OK
               : sim_fail(message, SIM_ERR_IO, "the standard output cannot be written: %s",
                          strerror(errno));
}

// -- serving

static void wait_for_end(const sigset_t *signals)
{
    int number = 0;
    while (sigwait(signals, &number) != 0) {
    }
}

static void end_parts(studio_t *studio, studio_route_t *routes)
{
    SIM_CHECK(atomic_load(&studio->stopping));
    studio_runs_destroy(studio->runs);
    studio_board_destroy(studio->board);
    studio_events_destroy(studio->events);
    studio_numbers_destroy(studio->numbers);
    studio_library_destroy(studio->library);
    studio_files_destroy(studio->files);
    studio_store_close(studio->store);
    studio_reserve_destroy(studio->reserve);
    studio_logins_destroy(studio->logins);
    studio_page_destroy(studio->page);
    sim_free(routes);
}

static sim_err_t make_folders(const studio_t *studio, sim_message_t *message)
{
    static const char *const names[] = {"runs", "files"};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(names) && result == SIM_OK; i++) {
        char *const path = sim_format("%s/%s", studio->options.data, names[i]);
        result = make_folder(path, message);
        sim_free(path);
    }
    return result;
}

// Makes DATA/tmp, empty, for temporary files of SQLite and of figures: they use the watched disk,
// and no other user can read them.
static sim_err_t make_temporary(const studio_t *studio, sim_message_t *message)
{
    char *const path = sim_format("%s/tmp", studio->options.data);
    sim_err_t result =
        studio_folder_remove(path)
            ? make_folder(path, message)
            : sim_fail(message, SIM_ERR_IO, "%s: cannot be emptied: %s", path, strerror(errno));
    if (result == SIM_OK) {
        sqlite3_temp_directory = sqlite3_mprintf("%s", path);
    }
    sim_free(path);
    return result;
}

// Compares the database with the folders, and takes in what the database lacks if it may.
static sim_err_t agree(studio_t *studio, sim_message_t *message)
{
    studio_agreement_t agreement;
    studio_agreement_look(studio->options.data, studio->store, &agreement);
    const sim_err_t result =
        studio->options.adopt ? studio_agreement_adopt(studio, &agreement, message)
                              : studio_agreement_judge(studio->options.data, &agreement, message);
    if (result == SIM_OK) {
        studio_agreement_settle(studio, &agreement);
    }
    studio_agreement_fini(&agreement);
    return result;
}

static sim_err_t open_data(studio_t *studio, sim_message_t *message)
{
    char *const path = sim_format("%s/studio.sqlite", studio->options.data);
    sim_err_t result =
        studio_agreement_before(studio->options.data, studio->options.adopt, message);
    if (result == SIM_OK) {
        // Before the database is opened, which writes to it.
        studio->reserve = studio_reserve_create(studio->options.data);
        result = make_temporary(studio, message);
    }
    if (result == SIM_OK) {
        result = studio_store_open(path, studio_migrations_all, &studio->store, message);
    }
    sim_free(path);
    return result == SIM_OK ? agree(studio, message) : result;
}

static sim_err_t serve_folder(studio_t *studio, const sigset_t *signals, sim_message_t *message)
{
    studio_server_t *server = NULL;
    studio_route_t *const routes = studio_routes_join();
    sim_err_t result = open_data(studio, message);
    if (result == SIM_OK) {
        studio->routes = routes;
        studio->logins = studio_logins_create();
        studio->page = studio_page_load(studio->options.page);
        studio->files = studio_files_create(studio);
        studio->library = studio_library_load(studio->options.scenarios);
        studio->events = studio_events_create();
        studio->board = studio_board_create();
        studio->numbers = studio_numbers_create(studio);
        studio->runs = studio_runs_create(studio);
        result = make_folders(studio, message);
    }
    if (result == SIM_OK) {
        studio->data = studio_data_create(studio);
    }
    if (result == SIM_OK) {
        result = studio_server_start(studio, &server, message);
    }
    if (result == SIM_OK && !studio_runs_start(studio->runs)) {
        result = sim_fail(message, SIM_ERR_IO, "the thread of the queue could not be started: %s",
                          strerror(errno));
    }
    if (result == SIM_OK) {
        result = greet(studio, server, message);
    }
    if (result == SIM_OK) {
        wait_for_end(signals);
    }
    atomic_store(&studio->stopping, true);
    studio_runs_stop(studio->runs);
    if (studio->events != NULL) {
        studio_events_wake(studio->events);
    }
    studio_server_stop(server);
    studio_data_destroy(studio->data);
    end_parts(studio, routes);
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    return result;
}

static int serve(const studio_arguments_t *arguments)
{
    studio_t studio = {
        .options = arguments->options,
        .find_token = studio_token_find,
        .find_session = studio_session_find,
    };
    sim_message_t message;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    // All threads inherit the block, so that only wait_for_end receives the signals.
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)umask(0077);
    sim_err_t result = SIM_OK;
    if (!studio_confine_possible() && !studio.options.unconfined) {
        result =
            sim_fail(&message, SIM_ERR_INVALID,
                     "this kernel has no Landlock (Linux 5.19 or later), which keeps scenarios "
                     "away from the server's files; use --unconfined only if you trust everybody "
                     "who may order runs");
    }
    if (result == SIM_OK) {
        result = make_folder(studio.options.data, &message);
    }
    int lock = -1;
    if (result == SIM_OK) {
        lock = lock_folder(studio.options.data, &message);
        result = lock < 0 ? SIM_ERR_STATE : serve_folder(&studio, &signals, &message);
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    if (result != SIM_OK) {
        fprintf(stderr, "rocesim studio: %s\n", message.text);
        return result == SIM_ERR_INVALID ? 2 : 1;
    }
    return 0;
}

int studio_command(const studio_arguments_t *arguments)
{
    if (sodium_init() < 0) {
        fprintf(stderr, "rocesim studio: libsodium finds no source of random numbers\n");
        return 1;
    }
    switch (arguments->command) {
    case STUDIO_SERVE:
        return serve(arguments);
    case STUDIO_BACKUP:
    case STUDIO_RESTORE:
        return studio_copy_command(arguments);
    case STUDIO_RUN_CHILD:
        return studio_child_main(arguments->rest);
    case STUDIO_CHECK_CHILD:
        return studio_check_main(arguments->rest);
    case STUDIO_SQL_CHILD:
        return studio_sql_child_main(arguments->rest);
    case STUDIO_FIGURE_CHILD:
        return studio_figure_child_main(arguments->rest);
    case STUDIO_TRIAL_CHILD:
        return studio_trial_main(arguments->rest);
    case STUDIO_HELP:
        fputs(studio_help_text(), stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    case STUDIO_VERSION:
        break;
    }
    printf("rocesim-studio %s\n", ROCESIM_VERSION);
    return fflush(stdout) == 0 ? 0 : 1;
}

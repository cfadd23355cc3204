// SPDX-License-Identifier: Apache-2.0
// studio/server/library/scenario_check.c - asks a confined process to read a scenario.
#include "studio/server/library/scenario_check.h"

#include "studio/server/files/files.h"
#include "studio/server/library/library_internal.h"
#include "studio/server/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The child has a limit of processor time; this limit ends one that does not get any.
#define WALL_MS INT64_C(600000)
#define ANSWER_BYTES_MAX ((size_t)64 << 20)

// A check takes memory and a processor, so few run at once and others wait. The limits per user
// keep one who asks again and again from blocking the others.
#define AT_ONCE 3u
#define OF_A_USER 2u
#define OF_A_USER_WITH_WAITING 10u

static unsigned count_of(const studio_library_t *library, int64_t user, bool running)
{
    unsigned count = 0;
    for (size_t i = 0; i < STUDIO__CHECKS_MAX; i++) {
        count += library->checks[i].user == user && (library->checks[i].runs || !running);
    }
    return count;
}

// Takes a place and returns it; STUDIO__CHECKS_MAX if too many checks wait.
static size_t enter(studio_library_t *library, int64_t user)
{
    size_t place = 0;
    SIM_CHECK(pthread_mutex_lock(&library->gate) == 0);
    while (place < STUDIO__CHECKS_MAX && library->checks[place].user != 0) {
        place++;
    }
    if (count_of(library, user, false) >= OF_A_USER_WITH_WAITING) {
        place = STUDIO__CHECKS_MAX;
    }
    if (place < STUDIO__CHECKS_MAX) {
        library->checks[place].user = user;
        while (library->running == AT_ONCE || count_of(library, user, true) >= OF_A_USER) {
            (void)pthread_cond_wait(&library->gate_free, &library->gate);
        }
        library->checks[place].runs = true;
        library->running++;
    }
    SIM_CHECK(pthread_mutex_unlock(&library->gate) == 0);
    return place;
}

static void leave(studio_library_t *library, size_t place)
{
    SIM_CHECK(pthread_mutex_lock(&library->gate) == 0);
    library->checks[place].user = 0;
    library->checks[place].runs = false;
    library->running--;
    (void)pthread_cond_broadcast(&library->gate_free);
    SIM_CHECK(pthread_mutex_unlock(&library->gate) == 0);
}

static json_t *failure(const char *message)
{
    return json_pack("{s:[{s:s}], s:[]}", "errors", "message", message, "warnings");
}

typedef struct asked {
    pid_t process;
    int to;   // the child's standard input
    int from; // the child's standard output
} asked_t;

static bool ask(const char *const *line, asked_t *asked)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0) {
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        const int reason = errno;
        (void)close(in[0]);
        (void)close(in[1]);
        errno = reason;
        return false;
    }
    const char *const environment[] = {"LC_ALL=C", NULL};
    posix_spawn_file_actions_t actions;
    SIM_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    (void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    asked->process = studio_spawn(line, environment, &actions, 0);
    const int reason = errno;
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    asked->to = in[1];
    asked->from = out[0];
    if (asked->process < 0) {
        (void)close(in[1]);
        (void)close(out[0]);
    }
    errno = reason;
    return asked->process >= 0;
}

static bool take_some(studio__answer_t *answer, int from)
{
    SIM_RESERVE(answer->text, answer->length + 65536, &answer->capacity);
    const ssize_t size = read(from, answer->text + answer->length, 65536);
    answer->length += size > 0 ? (size_t)size : 0;
    return size > 0 && answer->length < ANSWER_BYTES_MAX;
}

// Writes the input and reads the answer at the same time, as far as the child is ready.
static void talk(asked_t *asked, const char *input, size_t left, studio__answer_t *answer)
{
    const int64_t until_ms = studio_clock_ms() + WALL_MS;
    (void)fcntl(asked->to, F_SETFL, O_NONBLOCK);
    for (bool more = true; more;) {
        struct pollfd polled[2] = {{asked->from, POLLIN, 0}, {asked->to, POLLOUT, 0}};
        const int64_t wait_ms = until_ms - studio_clock_ms();
        if (asked->to >= 0 && left == 0) {
            (void)close(asked->to);
            asked->to = -1;
        }
        if (wait_ms <= 0) {
            answer->late = true;
            return;
        }
        if (poll(polled, asked->to >= 0 ? 2 : 1, (int)wait_ms) <= 0) {
            continue;
        }
        if (asked->to >= 0 && polled[1].revents != 0) {
            const ssize_t size = write(asked->to, input, left);
            input += SIM_MAX(size, 0);
            left -= size > 0 ? (size_t)size : 0;
            left = size < 0 && errno != EAGAIN ? 0 : left; // the child reads no further
        }
        if (polled[0].revents != 0) {
            more = take_some(answer, asked->from);
        }
    }
}

// Parses the last complete answer: the child gives a second one if it finds an error later.
static json_t *parse(const studio__answer_t *answer)
{
    json_t *last = NULL;
    for (size_t at = 0; at < answer->length;) {
        json_error_t error;
        json_t *const next =
            json_loadb(answer->text + at, answer->length - at, JSON_DISABLE_EOF_CHECK, &error);
        if (next == NULL) {
            break;
        }
        json_decref(last);
        last = next;
        at += (size_t)error.position;
    }
    return last;
}

static json_t *judge(const studio__answer_t *answer, int status)
{
    if (answer->failure != NULL) {
        json_t *const failed = failure(answer->failure);
        (void)json_object_set_new(failed, "busy", json_true());
        return failed;
    }
    json_t *const json = parse(answer);
    if (json != NULL) {
        return json;
    }
    if (answer->late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        return failure("the check takes too long; the scenario is too large to be checked here");
    }
    return failure("the check failed or needs more memory than it may use; the scenario is too "
                   "large to be checked here");
}

int studio__check_run(studio_library_t *library, int64_t user, const char *const *line,
                      const char *input, size_t length, studio__answer_t *answer)
{
    asked_t asked;
    int status = 0;
    const size_t place = enter(library, user);
    if (place == STUDIO__CHECKS_MAX) {
        answer->failure = "too many scenarios are being checked; try again";
        return 0;
    }
    if (ask(line, &asked)) {
        talk(&asked, input, length, answer);
        if (answer->late) {
            (void)kill(asked.process, SIGKILL);
        }
        (void)close(asked.from);
        if (asked.to >= 0) {
            (void)close(asked.to);
        }
        while (waitpid(asked.process, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        answer->failure = "the process that checks scenarios could not be started; try again";
    }
    leave(library, place);
    return status;
}

json_t *studio_check(studio_t *studio, const studio_user_t *user, studio_check_what_t what,
                     const char *yaml, const json_t *runs, const studio_place_t *place,
                     const studio_check_folds_t *folds)
{
    char *const readable = realpath(studio->options.scenarios, NULL);
    char *const own = studio_files_folder(studio, user->name, "");
    char *const files = realpath(own, NULL);
    char *const start = studio_place_folders(studio, user->name, place);
    const char *const line[] = {"rocesim-studio",
                                "check",
                                what == STUDIO_CHECK_TOPOLOGY ? "topology" : "all",
                                readable == NULL ? "" : readable,
                                files == NULL ? "" : files,
                                start,
                                folds == NULL || folds->open == NULL ? "" : folds->open,
                                folds == NULL || folds->find == NULL ? "" : folds->find,
                                NULL};
    // The scenario, a zero byte, the settings of each run.
    char *const settings = json_dumps(runs, JSON_COMPACT);
    const size_t yaml_bytes = strlen(yaml) + 1;
    const size_t settings_bytes = settings == NULL ? 0 : strlen(settings);
    char *const input = sim_alloc(yaml_bytes + settings_bytes + 1);
    memcpy(input, yaml, yaml_bytes);
    if (settings_bytes > 0) {
        memcpy(input + yaml_bytes, settings, settings_bytes);
    }
    studio__answer_t answer = {0};
    const int status = studio__check_run(studio->library, user->id, line, input,
                                         yaml_bytes + settings_bytes, &answer);
    json_t *const json = judge(&answer, status);
    sim_free(answer.text);
    sim_free(input);
    free(settings);
    sim_free(start);
    free(files);
    sim_free(own);
    free(readable);
    return json;
}

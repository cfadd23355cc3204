// SPDX-License-Identifier: Apache-2.0
// cli/serve/limits.c - what a client may use: memory, time of a call, idle time.
//
// A timer of processor time looks every 20 ms, so a process that waits is never woken. A signal
// handler can reach nothing but statics: this file has those of its process.
#define _GNU_SOURCE // ppoll
#include "cli/serve/limits.h"
#include "cli/serve/serve.h"

#include "kernel/attribute.h"
#include "kernel/parse.h"
#include "world/format.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_US 20000
#define CLIENTS_MAX 256u
#define TOKEN_BYTES_MAX ((size_t)4096)

static serve_limits_t watched;
static sim_t *volatile watched_sim;
static int watched_out = -1;
static uint64_t call_began_ns;
static volatile sig_atomic_t reason_now;
static volatile sig_atomic_t passes_to;
static volatile pid_t
    *present; // shared by the processes of a session: the one that goes on with it

// -- options

static sim_err_t read_one(const char *option, const char *text,
                          sim_err_t (*parse)(const char *text, uint64_t *value,
                                             sim_message_t *message),
                          uint64_t *value, world_error_t *error)
{
    sim_message_t message = {.text = ""};
    if (text == NULL) {
        return SIM_OK;
    }
    if (parse(text, value, &message) != SIM_OK) {
        return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim serve: %s: %s", option,
                          message.text);
    }
    if (*value == 0) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim serve: %s: 0 lets no client do anything, expected more", option);
    }
    return SIM_OK;
}

static sim_err_t read_token(const char *file_name, char **token, world_error_t *error)
{
    char *text = NULL;
    size_t size = 0;
    if (file_name == NULL) {
        return SIM_OK;
    }
    const sim_err_t result = world_read_file(file_name, TOKEN_BYTES_MAX, &text, &size, error);
    if (result != SIM_OK) {
        return result;
    }
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0') {
        sim_free(text);
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim serve: --token %s: the first line is empty, expected a token",
                          file_name);
    }
    *token = text;
    return SIM_OK;
}

static sim_err_t parse_time(const char *text, uint64_t *ps, sim_message_t *message)
{
    sim_time_t time_ps = 0;
    const sim_err_t result = sim_parse_time(text, &time_ps, message);
    *ps = time_ps;
    return result;
}

sim_err_t serve_limits_read(const cli_args_t *args, serve_limits_t *limits, world_error_t *error)
{
    uint64_t call_ps = 0;
    uint64_t idle_ps = 0;
    *limits = (serve_limits_t){.clients = CLIENTS_MAX};
    sim_err_t result = read_token(args->token, &limits->token, error);
    if (result == SIM_OK) {
        result = read_one("--clients", args->clients, sim_parse_count, &limits->clients, error);
    }
    if (result == SIM_OK) {
        result = read_one("--client-memory", args->client_memory, sim_parse_bytes,
                          &limits->memory_bytes, error);
    }
    if (result == SIM_OK) {
        result = read_one("--call-time", args->call_time, parse_time, &call_ps, error);
    }
    if (result == SIM_OK) {
        result = read_one("--idle-time", args->idle_time, parse_time, &idle_ps, error);
    }
    limits->call_ns = (call_ps + SIM_PS_PER_NS - 1) / SIM_PS_PER_NS;
    limits->idle_ms = (idle_ps + SIM_PS_PER_MS - 1) / SIM_PS_PER_MS;
    return result;
}

void serve_limits_fini(serve_limits_t *limits)
{
    sim_free(limits->token);
}

// -- signals

static void end_session(int number)
{
    (void)number;
    const bool known = reason_now == SERVE_REASON_STOPPED;
    reason_now = SERVE_REASON_STOPPED;
    if (!known && passes_to > 0) {
        (void)kill((pid_t)passes_to, SIGTERM);
    }
    if (!known && present != NULL && *present > 0 && *present != getpid()) {
        (void)kill(*present, SIGTERM);
    }
    if (watched_sim != NULL) {
        sim_interrupt(watched_sim);
    }
}

static void handle(int number, void (*fn)(int number), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = fn;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void serve_end_by_signals(void)
{
    handle(SIGTERM, end_session, 0); // it ends serve_wait()
    handle(SIGINT, end_session, 0);
}

int serve_wait(struct pollfd *files, size_t count, int most_ms)
{
    const struct timespec time = {most_ms / 1000, most_ms % 1000 * 1000000L};
    sigset_t ends;
    sigset_t before;
    int ready = -1;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    errno = EINTR;
    if (reason_now == SERVE_REASON_NONE) {
        ready = ppoll(files, count, most_ms < 0 ? NULL : &time, &before);
    }
    const int error = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ready;
}

void serve_pass_signals_to(pid_t child)
{
    passes_to = (sig_atomic_t)child;
    if (child > 0 && reason_now == SERVE_REASON_STOPPED) {
        (void)kill(child, SIGTERM); // the signal came before
    }
}

void serve_go_on_here(void)
{
    if (present == NULL) {
        void *const page =
            mmap(NULL, sizeof(*present), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        present = page == MAP_FAILED ? NULL : page;
    }
    if (present != NULL) {
        *present = getpid();
    }
}

void serve_end_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void serve_adopt(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void serve_change_parent(void (*leave)(void *ctx), void *ctx)
{
    const pid_t parent = getppid();
    (void)prctl(PR_SET_PDEATHSIG, 0);
    leave(ctx);
    while (getppid() == parent) {
        (void)poll(NULL, 0, 1);
    }
    serve_end_with_parent();
}

// -- looking

static uint64_t processor_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t memory_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static bool is_gone(int out)
{
    struct pollfd client = {.fd = out, .events = 0};
    return poll(&client, 1, 0) == 1 && (client.revents & (POLLERR | POLLHUP)) != 0;
}

static void look(int number)
{
    (void)number;
    serve_reason_t found = SERVE_REASON_NONE;
    if (watched.memory_bytes > 0 && memory_bytes() > watched.memory_bytes) {
        found = SERVE_REASON_MEMORY;
    } else if (watched.call_ns > 0 && processor_ns() - call_began_ns > watched.call_ns) {
        found = SERVE_REASON_TIME;
    } else if (is_gone(watched_out)) {
        found = SERVE_REASON_GONE;
    }
    if (found != SERVE_REASON_NONE && reason_now == SERVE_REASON_NONE) {
        reason_now = (sig_atomic_t)found;
        if (watched_sim != NULL) {
            sim_interrupt(watched_sim);
        }
    }
}

void serve_watch(const serve_limits_t *limits, sim_t *sim, int out)
{
    const struct timeval every = {0, LOOK_EVERY_US};
    const struct itimerval timer = {every, every};
    watched = *limits;
    watched_sim = sim;
    watched_out = out;
    serve_call_begins();
    handle(SIGPROF, look, SA_RESTART);
    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

void serve_watch_ends(void)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    (void)setitimer(ITIMER_PROF, &none, NULL);
    handle(SIGPROF, SIG_IGN, 0); // one may be on its way
    watched_sim = NULL;
}

void serve_call_begins(void)
{
    call_began_ns = watched.call_ns > 0 ? processor_ns() : 0;
}

void serve_note_reason(serve_reason_t reason)
{
    reason_now = (sig_atomic_t)reason;
}

serve_reason_t serve_look(void)
{
    if (watched.memory_bytes > 0 && memory_bytes() > watched.memory_bytes &&
        reason_now == SERVE_REASON_NONE) {
        reason_now = SERVE_REASON_MEMORY; // the timer may not have looked during short calls
    }
    return serve_reason();
}

serve_reason_t serve_reason(void)
{
    return (serve_reason_t)reason_now;
}

char *serve_reason_text(const serve_limits_t *limits, serve_reason_t reason)
{
    switch (reason) {
    case SERVE_REASON_MEMORY:
        return sim_format("the session holds more than %.6g MB (--client-memory), and ends",
                          (double)limits->memory_bytes / 1e6);
    case SERVE_REASON_TIME:
        return sim_format("the call took more than %.6g s (--call-time); the session ends",
                          (double)limits->call_ns / 1e9);
    case SERVE_REASON_IDLE:
        return sim_format("no call came for %.6g s (--idle-time); the session ends",
                          (double)limits->idle_ms / 1e3);
    case SERVE_REASON_NONE:
    case SERVE_REASON_GONE:
    case SERVE_REASON_STOPPED:
        break;
    }
    return sim_strdup("the server ends");
}

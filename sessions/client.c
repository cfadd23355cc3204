// SPDX-License-Identifier: Apache-2.0
// sessions/client.c - the C library of sessions: it starts `rocesim serve` or connects to one, and
// turns calls into lines of JSON. docs/sessions.md
#include "sessions/rocesim_session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define ERROR_BYTES 1024u

struct rocesim_session {
    int socket_fd; // -1: closed
    pid_t child;   // 0: none
    FILE *in;
    char *line;
    size_t line_capacity;
    json_t *hosts;
    uint64_t now_ps;
    uint64_t open; // transfers that wait or run
    bool stalled;
    rocesim_completion_t *completions;
    size_t completion_capacity;
    bool finished;
    bool unusable; // opening it failed
    char error[ERROR_BYTES];
};

static int fail(rocesim_session_t *session, const char *text)
{
    snprintf(session->error, sizeof(session->error), "%s", text);
    return -1;
}

// -- talking

static int send_text(rocesim_session_t *session, const char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = send(session->socket_fd, text + done, size - done, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return fail(session, "the session has ended: its process does not answer");
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

// Reads an answer. Returns NULL with an error, also if it says that the call was refused.
static json_t *read_answer(rocesim_session_t *session)
{
    const ssize_t size = getline(&session->line, &session->line_capacity, session->in);
    json_t *answer = size > 0 ? json_loadb(session->line, (size_t)size, 0, NULL) : NULL;
    if (answer == NULL) {
        (void)fail(session, "the session has ended without an answer");
        return NULL;
    }
    if (!json_is_true(json_object_get(answer, "ok"))) {
        const char *const text = json_string_value(json_object_get(answer, "message"));
        (void)fail(session, text != NULL ? text : "the session refused the call");
        json_decref(answer);
        return NULL;
    }
    return answer;
}

// Makes a call. Takes `arguments`.
static json_t *make_call(rocesim_session_t *session, const char *name, json_t *arguments)
{
    json_t *answer = NULL;
    if (session->unusable) {
        json_decref(arguments); // the error says why it could not be opened
        return NULL;
    }
    session->error[0] = '\0';
    if (session->socket_fd < 0 || session->finished) {
        (void)fail(session, "the session has ended");
        json_decref(arguments);
        return NULL;
    }
    (void)json_object_set_new(arguments, "call", json_string(name));
    char *const text = json_dumps(arguments, JSON_COMPACT);
    json_decref(arguments);
    if (text == NULL) {
        (void)fail(session, "no memory is left");
    } else {
        // A program that has refused the scenario has said why, and may be gone.
        const size_t size = strlen(text);
        text[size] = '\n'; // in place of the end of the string
        (void)send_text(session, text, size + 1);
        answer = read_answer(session);
    }
    free(text);
    return answer;
}

static uint64_t number_at(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

static void set_number(json_t *object, const char *name, uint64_t number)
{
    (void)json_object_set_new(object, name, json_integer((json_int_t)number));
}

// -- opening and closing

static int start_program(rocesim_session_t *session, const char *scenario,
                         const rocesim_session_options_t *options)
{
    int ends[2];
    const char *const own = options->program != NULL ? options->program : getenv("ROCESIM");
    const char *const program = own != NULL && own[0] != '\0' ? own : "rocesim";
    const char **const words = calloc(options->setting_count * 2 + 8, sizeof(*words));
    if (words == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        free((void *)words);
        return fail(session, "the system gives no socket");
    }
    size_t count = 0;
    words[count++] = program;
    words[count++] = "serve";
    if (options->folder != NULL) {
        words[count++] = "-o";
        words[count++] = options->folder;
    }
    for (size_t i = 0; i < options->setting_count; i++) {
        words[count++] = "--set";
        words[count++] = options->settings[i];
    }
    words[count++] = "--";
    words[count] = scenario;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawnp(&session->child, program, &actions, NULL,
                                   (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    free((void *)words);
    (void)close(ends[1]);
    session->socket_fd = ends[0];
    if (error != 0) {
        session->child = 0;
        snprintf(session->error, sizeof(session->error), "%s cannot be started: %s", program,
                 strerror(error));
        return -1;
    }
    return 0;
}

static int connect_unix(rocesim_session_t *session, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        return fail(session, "the name of the socket is too long");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    session->socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (session->socket_fd < 0 ||
        connect(session->socket_fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        return fail(session, strerror(errno));
    }
    return 0;
}

static int connect_port(rocesim_session_t *session, const char *port)
{
    const int on = 1;
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    session->socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (session->socket_fd < 0 ||
        setsockopt(session->socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
        connect(session->socket_fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        return fail(session, strerror(errno));
    }
    return 0;
}

static int connect_to(rocesim_session_t *session, const char *server)
{
    static const char unix_prefix[] = "unix:";
    static const char port_prefix[] = "127.0.0.1:";
    if (strncmp(server, unix_prefix, strlen(unix_prefix)) == 0) {
        return connect_unix(session, server + strlen(unix_prefix));
    }
    if (strncmp(server, port_prefix, strlen(port_prefix)) == 0) {
        return connect_port(session, server + strlen(port_prefix));
    }
    return fail(session, "server: expected unix:PATH or 127.0.0.1:PORT");
}

static int greet(rocesim_session_t *session, const char *token)
{
    const int copy = fcntl(session->socket_fd, F_DUPFD_CLOEXEC, 0);
    session->in = copy < 0 ? NULL : fdopen(copy, "r");
    if (session->in == NULL) {
        return fail(session, "the system gives no file");
    }
    json_t *const arguments = json_object();
    if (token != NULL) {
        (void)json_object_set_new(arguments, "token", json_string(token));
    }
    json_t *const answer = make_call(session, "hello", arguments);
    if (answer == NULL) {
        return -1;
    }
    session->hosts = json_incref(json_object_get(answer, "hosts"));
    json_decref(answer);
    return 0;
}

rocesim_session_t *rocesim_session_open(const char *scenario,
                                        const rocesim_session_options_t *options)
{
    static const rocesim_session_options_t none = {NULL, NULL, NULL, NULL, NULL, 0};
    const rocesim_session_options_t *const given = options == NULL ? &none : options;
    rocesim_session_t *const session = calloc(1, sizeof(*session));
    if (session == NULL) {
        return NULL;
    }
    session->socket_fd = -1;
    const int started = given->server != NULL ? connect_to(session, given->server)
                                              : start_program(session, scenario, given);
    session->unusable = started != 0 || greet(session, given->token) != 0;
    return session;
}

void rocesim_session_close(rocesim_session_t *session)
{
    if (session == NULL) {
        return;
    }
    if (session->in != NULL) {
        (void)fclose(session->in);
    }
    if (session->socket_fd >= 0) {
        (void)close(session->socket_fd);
    }
    while (session->child > 0 && waitpid(session->child, NULL, 0) < 0 && errno == EINTR) {
    }
    json_decref(session->hosts);
    free(session->line);
    free(session->completions);
    free(session);
}

const char *rocesim_session_error(const rocesim_session_t *session)
{
    return session->error;
}

size_t rocesim_session_host_count(const rocesim_session_t *session)
{
    return json_array_size(session->hosts);
}

const char *rocesim_session_host_name(const rocesim_session_t *session, size_t host)
{
    return json_string_value(json_array_get(session->hosts, host));
}

uint64_t rocesim_session_now_ps(const rocesim_session_t *session)
{
    return session->now_ps;
}

// -- transfers

static json_t *describe(const rocesim_transfer_t *transfer)
{
    static const char *const verbs[] = {"write", "send", "read"};
    json_t *const object = json_object();
    set_number(object, "src", transfer->source);
    set_number(object, "dst", transfer->destination);
    set_number(object, "bytes", transfer->bytes);
    if (transfer->at_ps != ROCESIM_NOW) {
        set_number(object, "at", transfer->at_ps);
    }
    if (transfer->verb > ROCESIM_WRITE && transfer->verb <= ROCESIM_READ) {
        (void)json_object_set_new(object, "verb", json_string(verbs[transfer->verb]));
    }
    if (transfer->priority >= 0) {
        set_number(object, "priority", (uint64_t)transfer->priority);
    }
    if (transfer->source_port != 0) {
        set_number(object, "source_port", transfer->source_port);
    }
    if (transfer->reuse != 0) {
        (void)json_object_set_new(object, "reuse", json_true());
    }
    if (transfer->delivery != 0) {
        (void)json_object_set_new(object, "delivery", json_true());
    }
    if (transfer->tag != 0) {
        set_number(object, "tag", transfer->tag);
    }
    if (transfer->after_count > 0) {
        json_t *const after = json_array();
        for (size_t i = 0; i < transfer->after_count; i++) {
            (void)json_array_append_new(after, json_integer((json_int_t)transfer->after[i]));
        }
        (void)json_object_set_new(object, "after", after);
    }
    return object;
}

static json_t *describe_all(const rocesim_transfer_t *transfers, size_t count)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, describe(&transfers[i]));
    }
    return list;
}

int rocesim_session_submit(rocesim_session_t *session, const rocesim_transfer_t *transfer,
                           uint64_t *id)
{
    json_t *const answer = make_call(session, "submit", describe(transfer));
    if (answer == NULL) {
        return -1;
    }
    if (id != NULL) {
        *id = number_at(answer, "transfer");
    }
    json_decref(answer);
    return 0;
}

int rocesim_session_submit_many(rocesim_session_t *session, const rocesim_transfer_t *transfers,
                                size_t count, uint64_t *ids)
{
    json_t *const arguments = json_object();
    (void)json_object_set_new(arguments, "transfers", describe_all(transfers, count));
    json_t *const answer = make_call(session, "submit", arguments);
    if (answer == NULL) {
        return -1;
    }
    const json_t *const numbers = json_object_get(answer, "transfers");
    for (size_t i = 0; ids != NULL && i < count; i++) {
        ids[i] = (uint64_t)json_integer_value(json_array_get(numbers, i));
    }
    json_decref(answer);
    return 0;
}

// -- programs

// Makes a call with a program. Returns NULL with an error.
static json_t *call_with_program(rocesim_session_t *session, const char *name,
                                 const rocesim_program_t *program)
{
    json_error_t wrong;
    json_t *const attributes = json_loads(program->attributes, 0, &wrong);
    if (attributes == NULL) {
        snprintf(session->error, sizeof(session->error), "attributes: %s", wrong.text);
        return NULL;
    }
    json_t *const arguments = json_object();
    (void)json_object_set_new(arguments, program->kind, attributes);
    if (program->at_ps != ROCESIM_NOW) {
        set_number(arguments, "at", program->at_ps);
    }
    if (program->per_rank != 0) {
        (void)json_object_set_new(arguments, "per_rank", json_true());
    }
    if (program->tag != 0) {
        set_number(arguments, "tag", program->tag);
    }
    return make_call(session, name, arguments);
}

int rocesim_session_submit_program(rocesim_session_t *session, const rocesim_program_t *program,
                                   uint64_t *id)
{
    json_t *const answer = call_with_program(session, "submit", program);
    if (answer == NULL) {
        return -1;
    }
    if (id != NULL) {
        *id = number_at(answer, "transfer");
    }
    json_decref(answer);
    return 0;
}

// Reads the answer to an estimate. An estimate that fails is an error.
static int take_estimate(rocesim_session_t *session, json_t *answer, uint64_t *took_ps)
{
    if (answer == NULL) {
        return -1;
    }
    const char *const status = json_string_value(json_object_get(answer, "status"));
    const bool failed = status != NULL;
    char text[200];
    snprintf(text, sizeof(text), "it would fail: %s", status != NULL ? status : "");
    *took_ps = number_at(answer, "took_ps");
    json_decref(answer);
    return failed ? fail(session, text) : 0;
}

int rocesim_session_estimate_program(rocesim_session_t *session, const rocesim_program_t *program,
                                     uint64_t *took_ps)
{
    return take_estimate(session, call_with_program(session, "estimate", program), took_ps);
}

// -- time

static rocesim_outcome_t outcome_of(const json_t *object)
{
    static const char *const names[] = {"done", "failed", "cancelled", "delivered"};
    const char *const text = json_string_value(json_object_get(object, "outcome"));
    size_t outcome = 0;
    while (text != NULL && outcome < ROCESIM_DELIVERED && strcmp(text, names[outcome]) != 0) {
        outcome++;
    }
    return (rocesim_outcome_t)outcome;
}

static uint64_t delivered_of(const json_t *object)
{
    return json_object_get(object, "delivered_ps") == NULL ? ROCESIM_NEVER
                                                           : number_at(object, "delivered_ps");
}

// Takes the completions and the time of an answer, which may be NULL.
static int take_progress(rocesim_session_t *session, json_t *answer,
                         const rocesim_completion_t **completions, size_t *count)
{
    const json_t *const list = json_object_get(answer, "completions");
    const size_t ended = json_array_size(list);
    *count = 0;
    *completions = session->completions;
    if (answer == NULL) {
        return -1;
    }
    if (ended > session->completion_capacity) {
        rocesim_completion_t *const more = realloc(session->completions, ended * 2 * sizeof(*more));
        if (more == NULL) {
            json_decref(answer);
            return fail(session, "no memory is left");
        }
        session->completions = more;
        session->completion_capacity = ended * 2;
    }
    for (size_t i = 0; i < ended; i++) {
        const json_t *const object = json_array_get(list, i);
        const json_t *const rank = json_object_get(object, "rank");
        session->completions[i] = (rocesim_completion_t){
            .transfer = number_at(object, "transfer"),
            .tag = number_at(object, "tag"),
            .rank = rank == NULL ? ROCESIM_WHOLE : (uint32_t)json_integer_value(rank),
            .start_ps = number_at(object, "start_ps"),
            .end_ps = number_at(object, "end_ps"),
            .outcome = outcome_of(object),
            .delivered_ps = delivered_of(object),
        };
    }
    session->now_ps = number_at(answer, "now_ps");
    session->open = number_at(answer, "open");
    session->stalled = json_is_true(json_object_get(answer, "stalled"));
    *completions = session->completions;
    *count = ended;
    json_decref(answer);
    return 0;
}

int rocesim_session_advance(rocesim_session_t *session, uint64_t until_ps,
                            const rocesim_completion_t **completions, size_t *count)
{
    json_t *const arguments = json_object();
    set_number(arguments, "until_ps", until_ps);
    return take_progress(session, make_call(session, "advance", arguments), completions, count);
}

int rocesim_session_next_completion(rocesim_session_t *session, uint64_t until_ps,
                                    const rocesim_completion_t **completions, size_t *count)
{
    json_t *const arguments = json_object();
    if (until_ps < ROCESIM_NEVER) {
        set_number(arguments, "until_ps", until_ps);
    }
    return take_progress(session, make_call(session, "next_completion", arguments), completions,
                         count);
}

void rocesim_session_set_slack(rocesim_session_t *session, uint64_t slack_ps)
{
    (void)session;
    (void)slack_ps;
}

uint64_t rocesim_session_open_transfers(const rocesim_session_t *session)
{
    return session->open;
}

int rocesim_session_stalled(const rocesim_session_t *session)
{
    return session->stalled;
}

int rocesim_session_cancel(rocesim_session_t *session, uint64_t id)
{
    json_t *const arguments = json_object();
    set_number(arguments, "transfer", id);
    json_t *const answer = make_call(session, "cancel", arguments);
    json_decref(answer);
    return answer == NULL ? -1 : 0;
}

int rocesim_session_estimate(rocesim_session_t *session, const rocesim_transfer_t *transfer,
                             uint64_t *took_ps)
{
    return take_estimate(session, make_call(session, "estimate", describe(transfer)), took_ps);
}

int rocesim_session_estimate_many(rocesim_session_t *session, const rocesim_transfer_t *transfers,
                                  size_t count, int alone, rocesim_estimate_t *estimates)
{
    json_t *const arguments = json_object();
    (void)json_object_set_new(arguments, "transfers", describe_all(transfers, count));
    if (alone != 0) {
        (void)json_object_set_new(arguments, "alone", json_true());
    }
    json_t *const answer = make_call(session, "estimate", arguments);
    const json_t *const list = json_object_get(answer, "estimates");
    for (size_t i = 0; answer != NULL && i < count; i++) {
        const json_t *const object = json_array_get(list, i);
        estimates[i] =
            (rocesim_estimate_t){number_at(object, "start_ps"), number_at(object, "end_ps"),
                                 outcome_of(object), delivered_of(object)};
    }
    json_decref(answer);
    return answer == NULL ? -1 : 0;
}

int rocesim_session_mark(rocesim_session_t *session)
{
    json_t *const answer = make_call(session, "mark", json_object());
    json_decref(answer);
    return answer == NULL ? -1 : 0;
}

int rocesim_session_back(rocesim_session_t *session)
{
    json_t *const answer = make_call(session, "back", json_object());
    if (answer == NULL) {
        return -1;
    }
    session->now_ps = number_at(answer, "now_ps");
    json_decref(answer);
    return 0;
}

int rocesim_session_drop(rocesim_session_t *session)
{
    json_t *const answer = make_call(session, "drop", json_object());
    json_decref(answer);
    return answer == NULL ? -1 : 0;
}

int rocesim_session_finish(rocesim_session_t *session, char **summary)
{
    json_t *const answer = make_call(session, "finish", json_object());
    session->finished = true;
    if (answer == NULL) {
        return -1;
    }
    *summary = json_dumps(json_object_get(answer, "summary"), JSON_INDENT(2));
    json_decref(answer);
    return *summary == NULL ? fail(session, "no memory is left") : 0;
}

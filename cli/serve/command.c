// SPDX-License-Identifier: Apache-2.0
// cli/serve/command.c - `rocesim serve`: listens, and gives each client a process of its own.
//
// A client that fails, takes too much memory or dies ends its own process only. The server listens
// on a Unix socket, on a loopback address, or talks to one client over its standard input and
// output.
#include "cli/serve/limits.h"
#include "cli/serve/serve.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG 64

static void on_stop(int number)
{
    (void)number;
    serve_note_reason(SERVE_REASON_STOPPED);
}

static void on_child(int number)
{
    (void)number; // it ends serve_wait()
}

static void handle(int number, void (*fn)(int number))
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = fn;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static int fail(const char *listen, const char *problem)
{
    fprintf(stderr, "rocesim serve: --listen %s: %s\n", listen, problem);
    return -1;
}

static int listen_unix(const char *listen, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
        return fail(listen, "expected the name of a socket of at most 107 bytes");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0) {
        return fail(listen, strerror(errno));
    }
    // A socket that a server has left behind, which nobody listens on, is replaced.
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) &&
        connect(socket_fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)unlink(path);
    }
    const mode_t before = umask(077);
    const int bound = bind(socket_fd, (const struct sockaddr *)&address, sizeof(address));
    (void)umask(before);
    if (bound != 0) {
        (void)close(socket_fd);
        return fail(listen, strerror(errno));
    }
    return socket_fd;
}

static int listen_loopback(const char *listen, const char *port)
{
    char *end = NULL;
    const unsigned long number = strtoul(port, &end, 10);
    if (*port < '0' || *port > '9' || *end != '\0' || number > UINT16_MAX) {
        return fail(listen, "expected a port from 0 to 65535 (0: any free one)");
    }
    const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)number),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    socklen_t size = sizeof(address);
    if (socket_fd < 0 || setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(socket_fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(socket_fd, (struct sockaddr *)&address, &size) != 0) {
        const int error = errno;
        if (socket_fd >= 0) {
            (void)close(socket_fd);
        }
        return fail(listen, strerror(error));
    }
    printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
    return socket_fd;
}

static int open_listener(const char *where)
{
    static const char unix_prefix[] = "unix:";
    static const char loopback_prefix[] = "127.0.0.1:";
    int socket_fd = -1;
    if (strncmp(where, unix_prefix, strlen(unix_prefix)) == 0) {
        socket_fd = listen_unix(where, where + strlen(unix_prefix));
        if (socket_fd >= 0) {
            printf("listening on %s\n", where);
        }
    } else if (strncmp(where, loopback_prefix, strlen(loopback_prefix)) == 0) {
        socket_fd = listen_loopback(where, where + strlen(loopback_prefix));
    } else {
        return fail(where,
                    "expected stdio, unix:PATH or 127.0.0.1:PORT; other machines come by a tunnel "
                    "(ssh -L, stunnel), since the protocol is not encrypted");
    }
    if (socket_fd >= 0 && listen(socket_fd, BACKLOG) != 0) {
        (void)close(socket_fd);
        return fail(where, strerror(errno));
    }
    fflush(stdout);
    return socket_fd;
}

// Serves one client in this process, which is its own, and ends the process.
static _Noreturn void serve_client(const cli_args_t *args, const serve_limits_t *limits, int client,
                                   unsigned number)
{
    static const rlim_t core_none = 0;
    const struct rlimit no_core = {core_none, core_none};
    char *const folder =
        args->folder == NULL ? NULL : sim_format("%s/session-%u", args->folder, number);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    serve_end_with_parent();
    handle(SIGCHLD, SIG_DFL);
    const int status = serve_conversation(args, limits, client, client, folder);
    sim_free(folder);
    (void)close(client);
    _exit(status);
}

static unsigned reap(unsigned clients)
{
    while (clients > 0 && waitpid(-1, NULL, WNOHANG) > 0) {
        clients--;
    }
    return clients;
}

static int serve_all(const cli_args_t *args, const serve_limits_t *limits, int listener)
{
    unsigned clients = 0;
    unsigned number = 0;
    while (serve_reason() == SERVE_REASON_NONE) {
        struct pollfd next = {.fd = listener, .events = POLLIN};
        const int client = serve_wait(&next, 1, -1) > 0 ? accept(listener, NULL, NULL) : -1;
        clients = reap(clients);
        if (client < 0) {
            continue; // a signal
        }
        const pid_t child = clients < limits->clients ? fork() : -1;
        if (child == 0) {
            (void)close(listener);
            serve_client(args, limits, client, number);
        }
        if (child > 0) {
            clients++;
            number++;
        } else {
            static const char busy[] =
                "{\"ok\":false,\"error\":\"busy\",\"message\":\"the server has no room for "
                "another client\"}\n";
            const ssize_t written = write(client, busy, sizeof(busy) - 1);
            (void)written;
        }
        (void)close(client);
    }
    return CLI_EXIT_DONE;
}

// Prints what is wrong with the scenario once, here, and not for each client.
static int check_scenario(const cli_args_t *args)
{
    world_scenario_t *scenario = NULL;
    world_error_t error;
    sim_err_t result = world_scenario_load(NULL, args->operands[0], args->overrides,
                                           args->override_count, &scenario, &error);
    if (result == SIM_OK) {
        result = world_scenario_for_session(scenario, &error);
    }
    world_scenario_destroy(scenario);
    return result == SIM_OK ? CLI_EXIT_DONE : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
}

static int listen_and_serve(const cli_args_t *args, const serve_limits_t *limits)
{
    int status = check_scenario(args);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    handle(SIGCHLD, on_child);
    const int listener = open_listener(args->listen);
    if (listener < 0) {
        return CLI_EXIT_BAD_INPUT;
    }
    status = serve_all(args, limits, listener);
    (void)close(listener);
    if (strncmp(args->listen, "unix:", 5) == 0) {
        (void)unlink(args->listen + 5);
    }
    return status;
}

int cli_command_serve(const cli_args_t *args)
{
    serve_limits_t limits;
    world_error_t error;
    int status = CLI_EXIT_DONE;
    handle(SIGPIPE, SIG_IGN);
    if (serve_limits_read(args, &limits, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else if (args->listen == NULL || strcmp(args->listen, "stdio") == 0) {
        status = serve_conversation(args, &limits, STDIN_FILENO, STDOUT_FILENO, args->folder);
    } else {
        status = listen_and_serve(args, &limits);
    }
    serve_limits_fini(&limits);
    return status;
}

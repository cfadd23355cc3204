// SPDX-License-Identifier: Apache-2.0
// programs/remote/sshd.c - the server of ssh.c on a simulated host. The simulator starts it when
// the first command comes.

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/remote/session.h"

static bool send_part(int session, session_kind_t kind, const void *bytes, size_t count)
{
    char part[sizeof(session_header_t) + 32768];
    const session_header_t header = {.kind = kind, .bytes = (uint32_t)count};
    memcpy(part, &header, sizeof header);
    memcpy(part + sizeof header, bytes, count);
    const size_t total = sizeof header + count;
    for (size_t done = 0; done < total;) {
        const ssize_t sent = send(session, part + done, total - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        done += sent < 0 ? 0 : (size_t)sent;
    }
    return true;
}

// Starts the command with two pipes for what it prints. Returns its process.
static pid_t start(const char *command, int outputs[2])
{
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        const char *home = getenv("HOME");
        if (home != NULL && chdir(home) != 0) {
            perror(home);
        }
        const int null = open("/dev/null", O_RDONLY);
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0 &&
            dup2(err[1], STDERR_FILENO) >= 0) {
            closefrom(STDERR_FILENO + 1);
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        }
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    outputs[0] = out[0];
    outputs[1] = err[0];
    return child;
}

// Passes on what the command prints until nobody can print any more. Returns false if the client is
// gone.
static bool pass_on(int session, const int outputs[2])
{
    struct pollfd ends[] = {{.fd = outputs[0], .events = POLLIN},
                            {.fd = outputs[1], .events = POLLIN},
                            {.fd = session, .events = POLLIN}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        char bytes[32768];
        if (poll(ends, 3, -1) < 0) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            if (ends[i].fd < 0 || ends[i].revents == 0) {
                continue;
            }
            const ssize_t got = read(ends[i].fd, bytes, sizeof bytes);
            if (got <= 0) {
                ends[i].fd = -1;
            } else if (!send_part(session, i == 0 ? SESSION_OUTPUT : SESSION_ERROR, bytes,
                                  (size_t)got)) {
                return false;
            }
        }
        if (ends[2].revents != 0) {
            return false;
        }
    }
    return true;
}

static _Noreturn void serve(int session)
{
    static char command[SESSION_COMMAND_MAX];
    size_t length = 0;
    while (memchr(command, '\0', length) == NULL) {
        const ssize_t got = read(session, command + length, sizeof command - length);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            _exit(1);
        }
        length += got < 0 ? 0 : (size_t)got;
    }
    int outputs[2];
    int status = 127 << 8;
    const pid_t child = start(command, outputs);
    if (child > 0 && !pass_on(session, outputs)) {
        (void)kill(child, SIGHUP);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const unsigned char end =
        (unsigned char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    (void)send_part(session, SESSION_END, &end, 1);
    _exit(0);
}

int main(void)
{
    const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(SESSION_PORT)};
    if (listener < 0 || bind(listener, (const struct sockaddr *)&any, sizeof any) != 0 ||
        listen(listener, SOMAXCONN) != 0) {
        perror("sshd");
        return 1;
    }
    for (;;) {
        const int session = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (session < 0) {
            continue;
        }
        const pid_t child = fork();
        if (child == 0) {
            close(listener);
            serve(session);
        }
        if (child < 0) {
            perror("sshd");
        }
        close(session);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

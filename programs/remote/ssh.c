// SPDX-License-Identifier: Apache-2.0
// programs/remote/ssh.c - the command ssh of simulated hosts: runs a command on another one.
//
// This program knows the command line of OpenSSH's ssh. Nobody logs in, and nothing is encrypted.

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "programs/remote/session.h"

#define STATUS_FAILED 255 // as of OpenSSH
#define FLAGS "1246AaCfGgKkMNnqsTtVvXxYy"
#define OPTIONS "BbcDEeFIiJLlmOopQRSWw" // these have a value

static _Noreturn void fail(const char *host, const char *reason)
{
    fprintf(stderr, "ssh: %s: %s\n", host, reason);
    exit(STATUS_FAILED);
}

// Connects to the server of a host. Returns a socket.
static int open_session(const char *host)
{
    char port[8];
    struct addrinfo *found = NULL;
    const struct addrinfo wish = {.ai_socktype = SOCK_STREAM};
    snprintf(port, sizeof port, "%u", SESSION_PORT);
    const int error = getaddrinfo(host, port, &wish, &found);
    if (error != 0) {
        fail(host, gai_strerror(error));
    }
    const int session = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    if (session < 0 || connect(session, found->ai_addr, found->ai_addrlen) != 0) {
        fail(host, errno == ECONNREFUSED
                       ? "the host runs no commands of others; \"programs: {ssh: on}\" in the "
                         "scenario lets hosts do that"
                       : strerror(errno));
    }
    freeaddrinfo(found);
    return session;
}

static void send_all(const char *host, int session, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t sent = write(session, bytes, count);
        if (sent < 0 && errno != EINTR) {
            fail(host, strerror(errno));
        }
        bytes += sent < 0 ? 0 : sent;
        count -= sent < 0 ? 0 : (size_t)sent;
    }
}

static void receive_all(const char *host, int session, void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t got = read(session, (char *)bytes + done, count - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            fail(host, got == 0 ? "the connection was closed" : strerror(errno));
        }
        done += (size_t)got;
    }
}

// Shows what the command prints, and returns its exit status.
static int follow(const char *host, int session)
{
    static char bytes[65536];
    for (;;) {
        session_header_t header;
        receive_all(host, session, &header, sizeof header);
        if (header.bytes > sizeof bytes) {
            fail(host, "the server is another one");
        }
        receive_all(host, session, bytes, header.bytes);
        if (header.kind == SESSION_END) {
            return (unsigned char)bytes[0];
        }
        const int to = header.kind == SESSION_ERROR ? STDERR_FILENO : STDOUT_FILENO;
        send_all("the output", to, bytes, header.bytes);
    }
}

int main(int argc, char **argv)
{
    static char command[SESSION_COMMAND_MAX];
    size_t length = 0;
    int at = 1;
    const char *host = NULL;
    // Options may stand before and behind the host.
    for (; at < argc && (host == NULL || argv[at][0] == '-'); at++) {
        const char *letter = argv[at];
        if (letter[0] != '-') {
            const char *user = strrchr(letter, '@');
            host = user == NULL ? letter : user + 1;
            continue;
        }
        if (strcmp(letter, "--") == 0) {
            continue;
        }
        while (*++letter != '\0' && strchr(FLAGS, *letter) != NULL) {
        }
        if (*letter != '\0' && strchr(OPTIONS, *letter) == NULL) {
            fail(argv[at], "this option is unknown");
        }
        at += *letter != '\0' && letter[1] == '\0'; // the value is the next word
    }
    for (; at < argc; at++) {
        const int more = snprintf(command + length, sizeof command - length, "%s%s",
                                  length == 0 ? "" : " ", argv[at]);
        length += (size_t)more;
        if (length >= sizeof command) {
            fail(host, "the command is too long");
        }
    }
    if (host == NULL || length == 0) {
        fprintf(stderr, "usage: ssh HOST COMMAND [WORD...]\n");
        return STATUS_FAILED;
    }
    const int session = open_session(host);
    send_all(host, session, command, length + 1);
    return follow(host, session);
}

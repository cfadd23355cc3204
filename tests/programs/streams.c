// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams.c - stream sockets whose reader is slow, or goes away.
//
// The server reads nothing for 10 ms, and then all bytes, in order. The client waits for it: it may
// be some MiB ahead. A second connection is closed by the server, and a third one when it ends; the
// client's writes to both end with EPIPE or ECONNRESET. Beside a timer that is due more often than
// a connection takes, the client closes a socket whose connect() a signal has interrupted: the
// server sees its end. It connects to a second port, too, where the server closes the listener
// without having accepted: the client sees the end of that connection.
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                           \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                \
        }                                                           \
    } while (0)

#define TOTAL_BYTES (64u << 20)
#define AHEAD_BYTES (16u << 20) // more than a writer may be ahead
#define PIECE_BYTES 40000u
#define SLEEP_US 10000

static uint8_t pattern(uint64_t at)
{
    return (uint8_t)(at * 7 + at / 4099);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int listen_at(uint16_t port)
{
    const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(bind(listener, (const struct sockaddr *)&here, sizeof here) == 0);
    EXPECT(listen(listener, 2) == 0);
    return listener;
}

static void serve(void)
{
    static uint8_t bytes[PIECE_BYTES];
    const int listener = listen_at(7000);
    const int deaf = listen_at(7001);
    const int slow = accept(listener, NULL, NULL);
    EXPECT(slow >= 0);
    usleep(SLEEP_US);
    uint64_t done = 0;
    for (ssize_t got; (got = read(slow, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < got; i++, done++) {
            EXPECT(bytes[i] == pattern(done));
        }
    }
    EXPECT(done == TOTAL_BYTES);
    close(slow);
    const int interrupted = accept(listener, NULL, NULL);
    EXPECT(interrupted >= 0 && read(interrupted, bytes, 1) <= 0);
    const int second = accept(listener, NULL, NULL);
    EXPECT(second >= 0 && read(second, bytes, 1) == 1);
    close(deaf);
    const int closed = accept(listener, NULL, NULL);
    EXPECT(closed >= 0);
    close(closed);
    EXPECT(accept(listener, NULL, NULL) >= 0);
    usleep(SLEEP_US);
}

static int reach(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    EXPECT(getaddrinfo(host, port, &hints, &found) == 0);
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    const int error = connect(made, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
    freeaddrinfo(found);
    if (error != 0) {
        close(made);
        errno = error;
        return -1;
    }
    return made;
}

// Writes up to `total` bytes without waiting, from the position `at` on. Returns the new position.
static uint64_t write_some(int to, uint64_t at, uint64_t total, int flags)
{
    static uint8_t bytes[PIECE_BYTES];
    while (at < total) {
        const size_t count = total - at < sizeof bytes ? total - at : sizeof bytes;
        for (size_t i = 0; i < count; i++) {
            bytes[i] = pattern(at + i);
        }
        const ssize_t sent = send(to, bytes, count, flags | MSG_NOSIGNAL);
        if (sent < 0) {
            break;
        }
        at += (uint64_t)sent;
    }
    return at;
}

static void write_to_slow(const char *host)
{
    const int slow = reach(host, "7000");
    const double begun_us = now_us();
    const uint64_t ahead = write_some(slow, 0, TOTAL_BYTES, MSG_DONTWAIT);
    EXPECT(ahead < AHEAD_BYTES && errno == EAGAIN && now_us() - begun_us < SLEEP_US * 0.5);
    struct pollfd room = {.fd = slow, .events = POLLOUT};
    EXPECT(poll(&room, 1, 0) == 0);
    EXPECT(poll(&room, 1, -1) == 1 && room.revents == POLLOUT);
    EXPECT(now_us() - begun_us > SLEEP_US * 0.9);
    EXPECT(write_some(slow, ahead, TOTAL_BYTES, 0) == TOTAL_BYTES);
    close(slow);
}

// Writes to a socket that the server closes at once, or keeps until it ends, without a read.
static void write_to_nobody(const char *host)
{
    const int closed = reach(host, "7000");
    EXPECT(write_some(closed, 0, TOTAL_BYTES, 0) < AHEAD_BYTES);
    EXPECT(errno == EPIPE || errno == ECONNRESET);
    uint8_t byte;
    EXPECT(read(closed, &byte, 1) <= 0);
}

static void note(int number)
{
    (void)number;
}

static void connect_beside_timers(const char *host)
{
    const struct itimerspec each = {{.tv_nsec = 7000}, {.tv_nsec = 7000}};
    const struct itimerval once = {.it_value = {.tv_usec = 10}};
    const struct sigaction action = {.sa_handler = note};
    EXPECT(timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &each, NULL) == 0);
    EXPECT(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &once, NULL) == 0);
    EXPECT(reach(host, "7000") < 0 && errno == EINTR);
    const int second = reach(host, "7000");
    const int unheard = reach(host, "7001");
    uint8_t byte = 1;
    EXPECT(second >= 0 && unheard >= 0);
    EXPECT(write(second, &byte, 1) == 1);
    EXPECT(read(unheard, &byte, 1) <= 0);
}

int main(int count, char **arguments)
{
    int devices = 0;
    ibv_free_device_list(ibv_get_device_list(&devices));
    EXPECT(devices == 1);
    if (count > 1) {
        write_to_slow(arguments[1]);
        connect_beside_timers(arguments[1]);
        write_to_nobody(arguments[1]);
        write_to_nobody(arguments[1]);
    } else {
        serve();
    }
    return 0;
}

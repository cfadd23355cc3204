// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams.c - stream sockets whose reader is slow, or goes away.
//
// The server reads nothing for 10 ms, and then all bytes, in order. The client waits for it: it may
// be some MiB ahead. A second connection is closed by the server, and a third one when it ends; the
// client's writes to both end with EPIPE or ECONNRESET.
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

static void serve(void)
{
    static uint8_t bytes[PIECE_BYTES];
    const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(7000)};
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(bind(listener, (const struct sockaddr *)&here, sizeof here) == 0);
    EXPECT(listen(listener, 2) == 0);
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
    const int closed = accept(listener, NULL, NULL);
    EXPECT(closed >= 0);
    close(closed);
    EXPECT(accept(listener, NULL, NULL) >= 0);
    usleep(SLEEP_US);
}

static int reach(const char *host)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    EXPECT(getaddrinfo(host, "7000", &hints, &found) == 0);
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(connect(made, found->ai_addr, found->ai_addrlen) == 0);
    freeaddrinfo(found);
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
    const int slow = reach(host);
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
    const int closed = reach(host);
    EXPECT(write_some(closed, 0, TOTAL_BYTES, 0) < AHEAD_BYTES);
    EXPECT(errno == EPIPE || errno == ECONNRESET);
    uint8_t byte;
    EXPECT(read(closed, &byte, 1) <= 0);
}

int main(int count, char **arguments)
{
    int devices = 0;
    ibv_free_device_list(ibv_get_device_list(&devices));
    EXPECT(devices == 1);
    if (count > 1) {
        write_to_slow(arguments[1]);
        write_to_nobody(arguments[1]);
        write_to_nobody(arguments[1]);
    } else {
        serve();
    }
    return 0;
}

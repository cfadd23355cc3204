// SPDX-License-Identifier: Apache-2.0
// cli/serve/lines.c - reads lines from a client and writes answers to it.
#include "cli/serve/lines.h"
#include "cli/serve/limits.h"
#include "cli/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1 << 16)
#define WRITE_BYTES ((size_t)1 << 16)

// Reads some input, which is there. Returns false at its end.
static bool read_some(serve_lines_t *lines)
{
    SIM_RESERVE(lines->input, lines->input_count + READ_BYTES, &lines->input_capacity);
    for (;;) {
        const ssize_t count = read(lines->in, lines->input + lines->input_count, READ_BYTES);
        if (count > 0) {
            lines->input_count += (size_t)count;
            return true;
        }
        if (count == 0 || errno != EINTR || serve_reason() != SERVE_REASON_NONE) {
            lines->ended = true;
            return false;
        }
    }
}

// Writes some bytes if the client has room for them. Returns how many it has taken.
static size_t write_some(serve_lines_t *lines, const char *bytes, size_t size)
{
    ssize_t count = send(lines->out, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) {
        struct pollfd output = {.fd = lines->out, .events = POLLOUT};
        // So many bytes fit into a pipe that has room.
        const bool room = poll(&output, 1, 0) == 1 && (output.revents & POLLNVAL) == 0;
        count = room ? write(lines->out, bytes, SIM_MIN(size, (size_t)PIPE_BUF)) : 0;
    }
    if (count < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
        lines->broken = true;
    }
    return count > 0 ? (size_t)count : 0;
}

// Lets the client send nothing more, so that it does not wait for that.
static void close_input(const serve_lines_t *lines)
{
    const int nothing =
        shutdown(lines->in, SHUT_RD) != 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (nothing >= 0) { // it is a pipe
        (void)dup2(nothing, lines->in);
        (void)close(nothing);
    }
}

// Waits until the client takes output. Meanwhile it may send calls, which are kept.
static void wait_for_room(serve_lines_t *lines)
{
    const bool reads = !lines->ended && !lines->unread;
    const int most_ms = lines->idle_ms == 0 || lines->idle_ms > INT_MAX ? -1 : (int)lines->idle_ms;
    struct pollfd both[2] = {
        {.fd = lines->out, .events = POLLOUT},
        {.fd = reads ? lines->in : -1, .events = POLLIN},
    };
    const int ready = serve_wait(both, 2, most_ms);
    if (ready == 0) {
        serve_note_reason(SERVE_REASON_IDLE);
        lines->broken = true;
    } else if (ready < 0) {
        lines->broken = errno != EINTR || serve_reason() != SERVE_REASON_NONE;
    } else if (reads && (both[1].revents & (POLLIN | POLLHUP)) != 0) {
        (void)read_some(lines);
        if (lines->input_count - lines->taken > SERVE_UNREAD_BYTES_MAX) {
            lines->unread = true;
            close_input(lines);
        }
    }
}

void serve_flush(serve_lines_t *lines)
{
    size_t written = 0;
    while (written < lines->output_count && !lines->broken) {
        const size_t count =
            write_some(lines, lines->output + written, lines->output_count - written);
        written += count;
        if (count == 0 && !lines->broken) {
            wait_for_room(lines);
        }
    }
    lines->output_count = 0;
}

void serve_put(serve_lines_t *lines, const char *text, size_t size)
{
    SIM_RESERVE(lines->output, lines->output_count + size, &lines->output_capacity);
    memcpy(lines->output + lines->output_count, text, size);
    lines->output_count += size;
    if (lines->output_count >= WRITE_BYTES) {
        serve_flush(lines);
    }
}

// Waits for input. Returns false if none comes in time, or if the session has to end.
static bool wait_for_input(const serve_lines_t *lines)
{
    struct pollfd input = {.fd = lines->in, .events = POLLIN};
    const int most_ms = lines->idle_ms < INT_MAX ? (int)lines->idle_ms : INT_MAX;
    int ready = 0;
    do {
        ready = serve_wait(&input, 1, lines->idle_ms == 0 ? -1 : most_ms);
    } while (ready < 0 && errno == EINTR && serve_reason() == SERVE_REASON_NONE);
    if (ready == 0) {
        serve_note_reason(SERVE_REASON_IDLE);
    }
    return ready > 0;
}

// Reads some more input. Returns false at its end.
static bool read_more(serve_lines_t *lines)
{
    const size_t before = lines->input_count;
    serve_flush(lines);
    if (lines->input_count > before) {
        return true; // it came while the client took output
    }
    if (lines->ended || lines->unread) {
        return false;
    }
    if (!wait_for_input(lines)) {
        lines->ended = true;
        return false;
    }
    return read_some(lines);
}

// Moves what has not been taken to the beginning of the input, and returns its size.
static size_t drop_taken(serve_lines_t *lines)
{
    lines->input_count -= lines->taken;
    if (lines->input_count > 0) {
        memmove(lines->input, lines->input + lines->taken, lines->input_count);
    }
    lines->taken = 0;
    return lines->input_count;
}

// Returns a last line without an end, or NULL.
static char *take_rest(serve_lines_t *lines, size_t *size)
{
    *size = lines->input_count;
    if (*size == 0 || lines->broken || serve_reason() != SERVE_REASON_NONE) {
        return NULL;
    }
    SIM_RESERVE(lines->input, *size + 1, &lines->input_capacity);
    lines->input[*size] = '\0';
    lines->taken = *size;
    return lines->input;
}

char *serve_line(serve_lines_t *lines, size_t *size)
{
    size_t searched = lines->taken;
    for (;;) {
        if (lines->unread) {
            return NULL;
        }
        char *const begin = lines->input + lines->taken;
        char *const end = lines->input_count > searched
                              ? memchr(lines->input + searched, '\n', lines->input_count - searched)
                              : NULL;
        if (end != NULL) {
            *end = '\0';
            *size = (size_t)(end - begin);
            lines->taken += *size + 1;
            return begin;
        }
        searched = drop_taken(lines);
        if (searched > SERVE_LINE_BYTES_MAX) {
            lines->too_long = true;
            return NULL;
        }
        if (lines->ended || lines->broken || !read_more(lines)) {
            return take_rest(lines, size);
        }
    }
}

void serve_lines_fini(serve_lines_t *lines)
{
    serve_flush(lines);
    sim_free(lines->input);
    sim_free(lines->output);
}

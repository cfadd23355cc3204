// SPDX-License-Identifier: Apache-2.0
// cli/meta/http.c - a minimal client of plain HTTP/1.1, with one connection per request.
#include "cli/meta/http.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define WAIT_S 10
#define RECEIVE_BYTES 4096u
#define ANSWER_MAX_BYTES (UINT64_C(1) << 30)

static bool split_url(const char *url, const char *default_port, char host[256], char port[16])
{
    const char *const scheme = strstr(url, "://");
    if (scheme != NULL && strncmp(url, "http://", 7) != 0) {
        return false;
    }
    const char *const start = scheme == NULL ? url : scheme + 3;
    const size_t size = strcspn(start, "/");
    const char *const colon = memchr(start, ':', size);
    const size_t host_size = colon == NULL ? size : (size_t)(colon - start);
    const size_t port_size = colon == NULL ? 0 : size - host_size - 1;
    if (host_size == 0 || host_size > 255 || port_size > 15 || (colon != NULL && port_size == 0)) {
        return false;
    }
    snprintf(host, 256, "%.*s", (int)host_size, start);
    snprintf(port, 16, "%.*s", (int)port_size, colon == NULL ? "" : colon + 1);
    if (colon == NULL) {
        snprintf(port, 16, "%s", default_port);
    }
    return true;
}

sim_err_t cli_socket_open(const char *url, const char *default_port, cli_socket_t *link,
                          world_error_t *error)
{
    char host[256];
    char port[16];
    *link = (cli_socket_t){.fd = -1};
    if (!split_url(url, default_port, host, port)) {
        return world_fail(error, SIM_ERR_INVALID, NULL, "%s: expected http://HOST:PORT", url);
    }
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int failed = getaddrinfo(host, port, &hints, &found);
    if (failed != 0) {
        return world_fail(error, SIM_ERR_IO, NULL, "%s: %s", url, gai_strerror(failed));
    }
    int reason = 0;
    for (const struct addrinfo *a = found; a != NULL && link->fd < 0; a = a->ai_next) {
        link->fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (link->fd >= 0 && connect(link->fd, a->ai_addr, a->ai_addrlen) != 0) {
            reason = errno;
            close(link->fd);
            link->fd = -1;
        }
    }
    freeaddrinfo(found);
    if (link->fd < 0) {
        return world_fail(error, SIM_ERR_IO, NULL, "%s: %s", url, strerror(reason));
    }
    const struct timeval wait = {.tv_sec = WAIT_S};
    (void)setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    (void)setsockopt(link->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    return SIM_OK;
}

void cli_socket_close(cli_socket_t *link)
{
    if (link->fd >= 0) {
        close(link->fd);
    }
    sim_free(link->buffer);
    *link = (cli_socket_t){.fd = -1};
}

sim_err_t cli_socket_send(cli_socket_t *link, const char *bytes, size_t size, world_error_t *error)
{
    while (size > 0) {
        const ssize_t sent = send(link->fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return world_fail(error, SIM_ERR_IO, NULL, "the service does not listen: %s",
                              strerror(errno));
        }
        bytes += sent;
        size -= (size_t)sent;
    }
    return SIM_OK;
}

static sim_err_t receive(cli_socket_t *link, world_error_t *error)
{
    if (link->at > 0) {
        memmove(link->buffer, link->buffer + link->at, link->size - link->at);
        link->size -= link->at;
        link->at = 0;
    }
    SIM_RESERVE(link->buffer, link->size + RECEIVE_BYTES + 1, &link->capacity);
    const ssize_t got = recv(link->fd, link->buffer + link->size, RECEIVE_BYTES, 0);
    if (got <= 0) {
        return world_fail(error, SIM_ERR_IO, NULL,
                          "the service stopped in the middle of an answer%s%s", got < 0 ? ": " : "",
                          got < 0 ? strerror(errno) : "");
    }
    link->size += (size_t)got;
    return SIM_OK;
}

sim_err_t cli_socket_line(cli_socket_t *link, const char **line, world_error_t *error)
{
    for (;;) {
        char *const start = link->buffer == NULL ? NULL : link->buffer + link->at;
        char *const end = start == NULL ? NULL : memchr(start, '\n', link->size - link->at);
        if (end != NULL) {
            link->at = (size_t)(end - link->buffer) + 1;
            *end = '\0';
            if (end > start && end[-1] == '\r') {
                end[-1] = '\0';
            }
            *line = start;
            return SIM_OK;
        }
        const sim_err_t result = receive(link, error);
        if (result != SIM_OK) {
            return result;
        }
    }
}

sim_err_t cli_socket_take(cli_socket_t *link, size_t size, const char **bytes, world_error_t *error)
{
    while (link->size - link->at < size) {
        const sim_err_t result = receive(link, error);
        if (result != SIM_OK) {
            return result;
        }
    }
    *bytes = link->buffer + link->at;
    link->at += size;
    return SIM_OK;
}

// -- HTTP

static void append(char **text, size_t *size, const char *more, size_t count)
{
    *text = sim_realloc_array(*text, *size + count + 1, 1);
    memcpy(*text + *size, more, count);
    *size += count;
    (*text)[*size] = '\0';
}

static bool number(const char *text, int base, uint64_t *value)
{
    *value = 0;
    const char *at = text;
    for (; *at != '\0' && *at != ';' && *at != ' '; at++) {
        const char *const digits = "0123456789abcdefABCDEF";
        const char *const digit = strchr(digits, *at);
        uint64_t d = digit == NULL ? 99 : (uint64_t)(digit - digits);
        d = d > 15 && d < 22 ? d - 6 : d;
        if (d >= (uint64_t)base || *value > ANSWER_MAX_BYTES) {
            return false;
        }
        *value = *value * (uint64_t)base + d;
    }
    return at != text && *value <= ANSWER_MAX_BYTES;
}

static sim_err_t take_chunks(cli_socket_t *link, char **answer, world_error_t *error)
{
    size_t size = 0;
    for (;;) {
        const char *line = NULL;
        uint64_t count = 0;
        sim_err_t result = cli_socket_line(link, &line, error);
        if (result == SIM_OK && !number(line, 16, &count)) {
            result = world_fail(error, SIM_ERR_IO, NULL, "an answer that is no HTTP: %.60s", line);
        }
        if (result != SIM_OK || count == 0) {
            return result;
        }
        const char *bytes = NULL;
        result = cli_socket_take(link, (size_t)count, &bytes, error);
        if (result == SIM_OK) {
            append(answer, &size, bytes, (size_t)count);
            result = cli_socket_line(link, &line, error);
        }
        if (result != SIM_OK) {
            return result;
        }
    }
}

static sim_err_t take_answer(cli_socket_t *link, char **answer, world_error_t *error)
{
    const char *line = NULL;
    char status[128];
    uint64_t length = 0;
    bool chunked = false;
    sim_err_t result = cli_socket_line(link, &line, error);
    if (result != SIM_OK) {
        return result;
    }
    snprintf(status, sizeof(status), "%s", line);
    do {
        result = cli_socket_line(link, &line, error);
        if (result == SIM_OK && strncasecmp(line, "content-length: ", 16) == 0 &&
            !number(line + 16, 10, &length)) {
            result = world_fail(error, SIM_ERR_IO, NULL, "an answer that is no HTTP: %.60s", line);
        }
        chunked =
            chunked || (result == SIM_OK && strcasecmp(line, "transfer-encoding: chunked") == 0);
    } while (result == SIM_OK && line[0] != '\0');
    *answer = sim_alloc(1);
    if (result == SIM_OK && chunked) {
        result = take_chunks(link, answer, error);
    } else if (result == SIM_OK) {
        const char *bytes = NULL;
        size_t size = 0;
        result = cli_socket_take(link, (size_t)length, &bytes, error);
        if (result == SIM_OK) {
            append(answer, &size, bytes, (size_t)length);
        }
    }
    if (result == SIM_OK && strstr(status, " 200") == NULL) {
        result =
            world_fail(error, SIM_ERR_IO, NULL, "the service says %s: %.200s", status, *answer);
    }
    return result;
}

sim_err_t cli_http_post(const char *url, const char *path, const char *body, char **answer,
                        world_error_t *error)
{
    cli_socket_t link;
    *answer = NULL;
    sim_err_t result = cli_socket_open(url, "2379", &link, error);
    if (result != SIM_OK) {
        return result;
    }
    char *const request =
        sim_format("POST %s HTTP/1.1\r\nHost: rocesim\r\nConnection: close\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   path, strlen(body), body);
    result = cli_socket_send(&link, request, strlen(request), error);
    sim_free(request);
    if (result == SIM_OK) {
        result = take_answer(&link, answer, error);
    }
    if (result != SIM_OK) {
        sim_free(*answer);
        *answer = NULL;
    }
    cli_socket_close(&link);
    return result;
}

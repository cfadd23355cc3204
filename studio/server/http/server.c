// SPDX-License-Identifier: Apache-2.0
// studio/server/http/server.c - runs one thread per connection and limits the time of requests.
#include "studio/server/http/server.h"

#include "studio/server/http/http_internal.h"
#include "studio/server/http/listen.h"

#include "kernel/list.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTIONS_MAX 512u
#define CONNECTIONS_PER_ADDRESS_MAX 128u // except on loopback, where all clients share one address
// With more connections than this, each new one ends the one that has waited longest for a request.
#define CONNECTIONS_CROWDED (CONNECTIONS_MAX - 64u)
#define IDLE_S 30u
#define HEADER_MS INT64_C(20000) // for the headers, counted from the end of the previous request
#define BODY_MS INT64_C(20000)   // for the body, plus 1 s per BODY_BYTES_PER_S
#define BODY_BYTES_PER_S 65536u
#define REAP_MS 1000
// A refused file is read and dropped up to this length, so that its sender sees the answer.
#define DROPPED_BYTES_MAX (UINT64_C(64) << 20)
#define CONNECTION_BYTES ((size_t)32768) // libmicrohttpd's buffer for the headers
#define TLS_FILE_BYTES_MAX 262144

typedef struct connection {
    int fd;
    int64_t deadline_ms; // when the current request must be complete; INT64_MAX: no limit
    int64_t waiting_ms;  // since when it has sent no complete headers; INT64_MAX: it has
    sim_link_t link;
} connection_t;

struct studio_server {
    studio_t *studio;
    struct MHD_Daemon *daemon;
    studio_listen_t listen;
    char *url;
    char *cert;
    char *key;
    pthread_mutex_t lock; // protects the list of connections
    sim_list_t connections;
    unsigned connection_count;
    pthread_t reaper;
    pthread_cond_t wake;
    bool reaping;
    bool ending;
};

// -- time that a request has

static connection_t *connection_of(struct MHD_Connection *from)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(from, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void set_deadline(studio_server_t *server, struct MHD_Connection *from, int64_t deadline_ms)
{
    connection_t *const connection = connection_of(from);
    if (connection != NULL) {
        SIM_CHECK(pthread_mutex_lock(&server->lock) == 0);
        connection->deadline_ms = deadline_ms;
        SIM_CHECK(pthread_mutex_unlock(&server->lock) == 0);
    }
}

// Notes that a connection waits for the headers of a request, or that they have come.
static void set_waiting(studio_server_t *server, struct MHD_Connection *from, bool waiting)
{
    connection_t *const connection = connection_of(from);
    if (connection != NULL) {
        SIM_CHECK(pthread_mutex_lock(&server->lock) == 0);
        connection->waiting_ms = waiting ? studio_clock_ms() : INT64_MAX;
        SIM_CHECK(pthread_mutex_unlock(&server->lock) == 0);
    }
}

// Ends the connection that has waited longest for a request, so that half-open connections keep
// nobody out. Needs the lock.
static void end_idlest(studio_server_t *server)
{
    connection_t *idlest = NULL;
    for (connection_t *c = SIM_LIST_FIRST(&server->connections, connection_t, link); c != NULL;
         c = SIM_LIST_NEXT(c, connection_t, link)) {
        if (c->waiting_ms != INT64_MAX && (idlest == NULL || c->waiting_ms < idlest->waiting_ms)) {
            idlest = c;
        }
    }
    if (idlest != NULL) {
        (void)shutdown(idlest->fd, SHUT_RDWR); // libmicrohttpd sees the end and closes the socket
        idlest->waiting_ms = INT64_MAX;
    }
}

static void on_connection(void *ctx, struct MHD_Connection *from, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    studio_server_t *const server = ctx;
    SIM_CHECK(pthread_mutex_lock(&server->lock) == 0);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_t *const connection = sim_alloc(sizeof(*connection));
        connection->fd =
            MHD_get_connection_info(from, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        connection->waiting_ms = studio_clock_ms();
        connection->deadline_ms = connection->waiting_ms + HEADER_MS;
        server->connection_count++;
        if (server->connection_count > CONNECTIONS_CROWDED) {
            end_idlest(server);
        }
        sim_list_push_first(&server->connections, &connection->link);
        *socket_context = connection;
    } else {
        connection_t *const connection = *socket_context;
        sim_list_remove(&server->connections, &connection->link);
        SIM_CHECK(server->connection_count > 0);
        server->connection_count--;
        sim_free(connection);
        *socket_context = NULL;
    }
    SIM_CHECK(pthread_mutex_unlock(&server->lock) == 0);
}

static void *reap(void *ctx)
{
    studio_server_t *const server = ctx;
    SIM_CHECK(pthread_mutex_lock(&server->lock) == 0);
    while (!server->ending) {
        const int64_t now_ms = studio_clock_ms();
        for (connection_t *c = SIM_LIST_FIRST(&server->connections, connection_t, link); c != NULL;
             c = SIM_LIST_NEXT(c, connection_t, link)) {
            if (c->deadline_ms < now_ms) {
                // libmicrohttpd sees the end and closes the socket
                (void)shutdown(c->fd, SHUT_RDWR);
            }
        }
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += REAP_MS / 1000;
        (void)pthread_cond_timedwait(&server->wake, &server->lock, &until);
    }
    SIM_CHECK(pthread_mutex_unlock(&server->lock) == 0);
    return NULL;
}

// -- a request

// Creates the request from the target as sent: libmicrohttpd has decoded nothing yet.
static void *on_target(void *ctx, const char *target, struct MHD_Connection *connection)
{
    const studio_server_t *const server = ctx;
    studio_request_t *const request = sim_alloc(sizeof(*request));
    request->studio = server->studio;
    request->connection = connection;
    request->target_good = studio_target_parse(target, &request->target);
    return request;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request_ctx,
                         enum MHD_RequestTerminationCode code)
{
    (void)code;
    if (*request_ctx != NULL) {
        studio__request_destroy(*request_ctx);
        *request_ctx = NULL;
    }
    set_deadline(ctx, connection, studio_clock_ms() + HEADER_MS);
    set_waiting(ctx, connection, true);
}

static bool is_api(const studio_target_t *target)
{
    return target->segment_count > 0 && strcmp(target->segments[0], "api") == 0;
}

static enum MHD_Result send_response(studio_request_t *request, studio_response_t *response,
                                     bool is_page)
{
    studio__response_harden(request->studio, response, is_page);
    const enum MHD_Result queued =
        MHD_queue_response(request->connection, (unsigned)response->status, response->made);
    studio__response_fini(response);
    return queued;
}

static studio_response_t response_of(const studio_request_t *request)
{
    const char *const encodings = studio_request_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    return (studio_response_t){
        .accept_range = studio_request_header(request, MHD_HTTP_HEADER_RANGE),
        .gzip = encodings != NULL && strstr(encodings, "gzip") != NULL,
    };
}

// Prepares a route whose body is a file. Returns true if the request was answered.
static bool prepare(studio_request_t *request, studio_response_t *response, enum MHD_Result *result)
{
    if (request->route->body != studio_body_file ||
        request->route->handler(request, response) == 0) {
        return false;
    }
    if (studio_request_body_bytes(request) > DROPPED_BYTES_MAX) {
        *result = send_response(request, response, false);
        return true;
    }
    request->early = sim_alloc(sizeof(*request->early));
    *request->early = *response;
    return false;
}

// Checks the headers and answers all requests that need no handler. Returns true if the request was
// answered; *result is then the result of sending.
static bool begin(studio_server_t *server, studio_request_t *request, const char *method,
                  enum MHD_Result *result)
{
    studio_response_t response = response_of(request);
    const bool is_head = strcmp(method, "HEAD") == 0;
    request->begun = true;
    studio__note_address(request);
    set_waiting(server, request->connection, false);
    if (studio__guard_headers(request, &response) != 0) {
        *result = send_response(request, &response, false);
        return true;
    }
    if (!request->target_good) {
        (void)studio_response_error(&response, 400,
                                    "the path or the query of the request is malformed");
        *result = send_response(request, &response, false);
        return true;
    }
    if (studio__guard_host(request, &response) != 0) {
        *result = send_response(request, &response, false);
        return true;
    }
    if (is_api(&request->target)) {
        if (studio__guard(request, &response, is_head ? "GET" : method) != 0) {
            *result = send_response(request, &response, false);
            return true;
        }
        const uint64_t body_bytes = studio_request_body_bytes(request);
        set_deadline(server, request->connection,
                     studio_clock_ms() + BODY_MS + (int64_t)(body_bytes / BODY_BYTES_PER_S) * 1000);
        return prepare(request, &response, result);
    }
    int status = 405;
    if (strcmp(method, "GET") == 0 || is_head) {
        status = studio__page_answer(request, &response);
    } else {
        studio_response_header(&response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        (void)studio_response_error(&response, status, "this address accepts only GET and HEAD");
    }
    *result = send_response(request, &response, status < 400);
    return true;
}

// Writes a part of the body into its file. After a failure the rest is dropped.
static void write_body(studio_request_t *request, const char *data, size_t size_bytes)
{
    while (size_bytes > 0 && request->body_error == 0) {
        const ssize_t written = write(request->body_fd, data, size_bytes);
        if (written < 0 && errno != EINTR) {
            request->body_error = errno;
        }
        data += SIM_MAX(written, 0);
        size_bytes -= (size_t)SIM_MAX(written, 0);
    }
}

static bool take_body(studio_request_t *request, const char *data, size_t size_bytes)
{
    const size_t most =
        request->route->body_bytes_max == 0 ? STUDIO_BODY_BYTES : request->route->body_bytes_max;
    if (size_bytes > most - request->body_bytes) {
        return false;
    }
    if (request->early != NULL || request->body_end != NULL) {
        request->body_bytes += size_bytes;
        if (request->early == NULL) {
            write_body(request, data, size_bytes);
        }
        return true;
    }
    SIM_RESERVE(request->body, request->body_bytes + size_bytes, &request->body_capacity);
    memcpy(request->body + request->body_bytes, data, size_bytes);
    request->body_bytes += size_bytes;
    return true;
}

static enum MHD_Result answer(studio_server_t *server, studio_request_t *request)
{
    studio_response_t response = response_of(request);
    set_deadline(server, request->connection, INT64_MAX);
    if (request->early != NULL) {
        const enum MHD_Result sent = send_response(request, request->early, false);
        sim_free(request->early);
        request->early = NULL;
        return sent;
    }
    int status = studio__request_parse(request, &response);
    if (status == 0) {
        status = request->route->handler(request, &response);
    }
    SIM_CHECKF(response.made != NULL && response.status == status, "%s", request->route->path);
    return send_response(request, &response, false);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size_bytes, void **request_ctx)
{
    studio_server_t *const server = ctx;
    studio_request_t *const request = *request_ctx;
    (void)url;
    (void)version;
    SIM_CHECK(request != NULL && request->connection == connection);
    // A request with a body is checked before its body is read; a refusal closes the connection.
    // Other requests are answered when they are complete.
    enum MHD_Result result = MHD_YES;
    if (!request->called) {
        request->called = true;
        const bool has_body =
            studio_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH) != NULL ||
            studio_request_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
        if (has_body) {
            (void)begin(server, request, method, &result);
        }
        return result;
    }
    if (*size_bytes > 0) {
        if (!take_body(request, data, *size_bytes)) {
            return MHD_NO; // more bytes than Content-Length announced
        }
        *size_bytes = 0;
        return MHD_YES;
    }
    if (!request->begun && begin(server, request, method, &result)) {
        return result;
    }
    return answer(server, request);
}

// -- starting and ending

static char *read_tls_file(const char *path, sim_message_t *message)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0 ||
        status.st_size > TLS_FILE_BYTES_MAX) {
        (void)sim_fail(message, SIM_ERR_IO, "%s: %s", path,
                       fd < 0 ? strerror(errno) : "expected a PEM file");
        if (fd >= 0) {
            (void)close(fd);
        }
        return NULL;
    }
    char *text = sim_alloc((size_t)status.st_size + 1);
    const ssize_t got = read(fd, text, (size_t)status.st_size);
    if (got != status.st_size) {
        (void)sim_fail(message, SIM_ERR_IO, "%s: the file cannot be read: %s", path,
                       got < 0 ? strerror(errno) : "it became shorter");
        sim_free(text);
        text = NULL;
    }
    (void)close(fd);
    return text;
}

static void ignore_log(void *ctx, const char *format, va_list arguments)
{
    (void)ctx; // errors of clients are not logged
    (void)format;
    (void)arguments;
}

static struct MHD_Daemon *start_daemon(studio_server_t *server)
{
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG |
                           (server->cert == NULL ? 0u : (unsigned)MHD_USE_TLS);
    // clang-format off
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, server->listen.fd,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        server->listen.loopback ? 0u : CONNECTIONS_PER_ADDRESS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, server->cert == NULL ? none : tls,
        MHD_OPTION_END);
    // clang-format on
}

static void destroy(studio_server_t *server)
{
    (void)pthread_cond_destroy(&server->wake);
    (void)pthread_mutex_destroy(&server->lock);
    SIM_FREE_ALL(server->url, server->cert, server->key, server);
}

static sim_err_t start(studio_server_t *server, sim_message_t *message)
{
    const studio_options_t *const options = &server->studio->options;
    if (options->tls_cert != NULL) {
        server->cert = read_tls_file(options->tls_cert, message);
        server->key = server->cert == NULL ? NULL : read_tls_file(options->tls_key, message);
        if (server->key == NULL) {
            return SIM_ERR_IO;
        }
    }
    const sim_err_t result =
        studio_listen_open(options->listen, server->cert != NULL || options->listen_anywhere,
                           &server->listen, message);
    if (result != SIM_OK) {
        return result;
    }
    server->studio->tls = server->cert != NULL;
    server->url = sim_format("%s://%s:%u", server->cert == NULL ? "http" : "https",
                             server->listen.host, server->listen.port);
    server->daemon = start_daemon(server);
    if (server->daemon == NULL) {
        (void)close(server->listen.fd);
        return sim_fail(
            message, SIM_ERR_IO, "%s: the server does not start%s", server->url,
            server->cert == NULL ? "" : "; check that the certificate and the key belong together");
    }
    server->reaping = pthread_create(&server->reaper, NULL, reap, server) == 0;
    return SIM_OK;
}

sim_err_t studio_server_start(studio_t *studio, studio_server_t **server, sim_message_t *message)
{
    studio_server_t *const made = sim_alloc(sizeof(*made));
    made->studio = studio;
    SIM_CHECK(pthread_mutex_init(&made->lock, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&made->wake, NULL) == 0);
    const sim_err_t result = start(made, message);
    if (result != SIM_OK) {
        destroy(made);
        return result;
    }
    *server = made;
    return SIM_OK;
}

const char *studio_server_url(const studio_server_t *server)
{
    return server->url;
}

void studio_server_stop(studio_server_t *server)
{
    if (server == NULL) {
        return;
    }
    MHD_stop_daemon(server->daemon); // closes the socket, too
    SIM_CHECK(pthread_mutex_lock(&server->lock) == 0);
    server->ending = true;
    (void)pthread_cond_signal(&server->wake);
    SIM_CHECK(pthread_mutex_unlock(&server->lock) == 0);
    if (server->reaping) {
        (void)pthread_join(server->reaper, NULL);
    }
    destroy(server);
}

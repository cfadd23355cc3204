// SPDX-License-Identifier: Apache-2.0
// cli/meta/http.h - just enough of a client: a connection, bytes, an HTTP request.
#ifndef CLI_META_HTTP_H
#define CLI_META_HTTP_H

#include "world/error.h"

typedef struct cli_socket {
    int fd;
    char *buffer; // received and not taken yet
    size_t size;
    size_t capacity;
    size_t at;
} cli_socket_t;

// "http://127.0.0.1:2379", "127.0.0.1:11211": host and port; default_port where there is none.
SIM_MUST_CHECK sim_err_t cli_socket_open(const char *url,
                                         const char *default_port,
                                         cli_socket_t *link,
                                         world_error_t *error);
void cli_socket_close(cli_socket_t *link);
SIM_MUST_CHECK sim_err_t cli_socket_send(cli_socket_t *link,
                                         const char *bytes,
                                         size_t size,
                                         world_error_t *error);
// A line without its end, or size bytes; valid until the next call.
SIM_MUST_CHECK sim_err_t cli_socket_line(cli_socket_t *link,
                                         const char **line,
                                         world_error_t *error);
SIM_MUST_CHECK sim_err_t cli_socket_take(cli_socket_t *link,
                                         size_t size,
                                         const char **bytes,
                                         world_error_t *error);

// POSTs a body of JSON and returns that of the answer, which is then the caller's (sim_free). Any
// status but 200 is an error.
SIM_MUST_CHECK sim_err_t cli_http_post(const char *url,
                                       const char *path,
                                       const char *body,
                                       char **answer,
                                       world_error_t *error);

#endif // CLI_META_HTTP_H

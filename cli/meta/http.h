// SPDX-License-Identifier: Apache-2.0
// cli/meta/http.h - a minimal TCP and HTTP client for metadata services.
#ifndef CLI_META_HTTP_H
#define CLI_META_HTTP_H

#include "world/error.h"

typedef struct cli_socket {
    int fd;
    char *buffer; // bytes received and not consumed yet
    size_t size;
    size_t capacity;
    size_t at;
} cli_socket_t;

// Connects to a host and port, such as "http://127.0.0.1:2379" or "127.0.0.1:11211". Without a port
// in the text, default_port is used.
SIM_MUST_CHECK sim_err_t cli_socket_open(const char *url, const char *default_port,
                                         cli_socket_t *link, world_error_t *error);
void cli_socket_close(cli_socket_t *link);
SIM_MUST_CHECK sim_err_t cli_socket_send(cli_socket_t *link, const char *bytes, size_t size,
                                         world_error_t *error);
// Reads a line without its line end, or `size` bytes. The result is valid until the next call.
SIM_MUST_CHECK sim_err_t cli_socket_line(cli_socket_t *link, const char **line,
                                         world_error_t *error);
SIM_MUST_CHECK sim_err_t cli_socket_take(cli_socket_t *link, size_t size, const char **bytes,
                                         world_error_t *error);

// POSTs a JSON body and sets the body of the answer, which the caller frees with sim_free. Any HTTP
// status but 200 is an error.
SIM_MUST_CHECK sim_err_t cli_http_post(const char *url, const char *path, const char *body,
                                       char **answer, world_error_t *error);

#endif // CLI_META_HTTP_H

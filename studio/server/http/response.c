// SPDX-License-Identifier: Apache-2.0
// studio/server/http/response.c - builds the answers of handlers.
#include "studio/server/http/http_internal.h"
#include "studio/server/store/database.h"
#include "studio/server/store/reserve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define STREAM_BLOCK_BYTES ((size_t)65536)
#define GZIP_BYTES_MIN ((size_t)2048)

static void add_header(studio_response_t *response, const char *name, const char *value)
{
    SIM_CHECKF(MHD_add_response_header(response->made, name, value) == MHD_YES, "%s", name);
}

static int made(studio_response_t *response, int status, const char *type,
                struct MHD_Response *mhd_response)
{
    SIM_CHECK(response->made == NULL);
    if (mhd_response == NULL) {
        sim_out_of_memory(1, STREAM_BLOCK_BYTES);
    }
    response->made = mhd_response;
    response->status = status;
    if (type != NULL) {
        add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    }
    for (size_t i = 0; i < response->header_count; i++) {
        add_header(response, response->headers[i].name, response->headers[i].value);
    }
    return status;
}

int studio_response_status(const studio_response_t *response)
{
    return response->status;
}

void studio_response_header(studio_response_t *response, const char *name, const char *value)
{
    SIM_CHECK(response->header_count < STUDIO__HEADERS_MAX);
    // A line break in a value would begin another header.
    SIM_CHECK(strpbrk(value, "\r\n") == NULL);
    response->headers[response->header_count].name = sim_strdup(name);
    response->headers[response->header_count].value = sim_strdup(value);
    response->header_count++;
}

void studio__response_fini(studio_response_t *response)
{
    for (size_t i = 0; i < response->header_count; i++) {
        sim_free(response->headers[i].name);
        sim_free(response->headers[i].value);
    }
    if (response->made != NULL) {
        MHD_destroy_response(response->made);
    }
}

// -- JSON

// Compresses bytes with gzip; returns NULL if the result is not smaller.
static unsigned char *compress_bytes(const char *bytes, size_t size_bytes, size_t *packed_bytes)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    if (size_bytes > UINT32_MAX / 2 ||
        deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return NULL;
    }
    unsigned char *const packed = sim_alloc(size_bytes);
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size_bytes;
    stream.next_out = packed;
    stream.avail_out = (uInt)size_bytes;
    const int result = deflate(&stream, Z_FINISH);
    *packed_bytes = (size_t)stream.total_out;
    (void)deflateEnd(&stream);
    if (result != Z_STREAM_END) {
        sim_free(packed);
        return NULL;
    }
    return packed;
}

// Answers with text, which was allocated by malloc and is freed with the response.
static int finish_text(studio_response_t *response, int status, const char *type, char *text)
{
    const size_t size_bytes = strlen(text);
    size_t packed_bytes = 0;
    unsigned char *const packed = response->gzip && size_bytes >= GZIP_BYTES_MIN
                                      ? compress_bytes(text, size_bytes, &packed_bytes)
                                      : NULL;
    if (packed == NULL) {
        return made(response, status, type,
                    MHD_create_response_from_buffer(size_bytes, text, MHD_RESPMEM_MUST_FREE));
    }
    free(text);
    (void)made(response, status, type,
               MHD_create_response_from_buffer(packed_bytes, packed, MHD_RESPMEM_MUST_FREE));
    add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    add_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
    return status;
}

int studio_response_json(studio_response_t *response, int status, json_t *json)
{
    char *const text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    if (text == NULL) {
        return studio_response_error(response, 500,
                                     "the server could not write its answer as JSON");
    }
    return finish_text(response, status, "application/json", text);
}

static int send_error(studio_response_t *response, int status, json_t *error)
{
    return studio_response_json(response, status, json_pack("{s:o}", "error", error));
}

int studio_response_error(studio_response_t *response, int status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    json_t *message = json_string(text);
    if (message == NULL) { // the text was cut inside a character
        message = json_string("the request cannot be answered");
    }
    return send_error(response, status, json_pack("{s:o}", "message", message));
}

int studio_response_error_at(studio_response_t *response, int status, int line, int column,
                             const char *expected, const char *message)
{
    if (line == 0) { // the error belongs to no line, such as a setting of the order
        return send_error(response, status,
                          json_pack("{s:s, s:s*}", "message", message, "expected", expected));
    }
    return send_error(response, status,
                      json_pack("{s:s, s:{s:i, s:i}, s:s*}", "message", message, "where", "line",
                                line, "column", column, "expected", expected));
}

int studio_response_store_failed(studio_response_t *response, studio_t *studio)
{
    if (studio_store_is_full(studio->store)) {
        return studio_response_error(response, 507,
                                     "the disk is full and nothing was changed; empty the trash or "
                                     "ask the administrator");
    }
    return studio_response_error(
        response, 500, "the server's database could not be written; its error output says why");
}

int studio_response_disk_full(studio_response_t *response, studio_t *studio)
{
    return studio_reserve_look(studio->reserve)
               ? studio_response_error(response, 507,
                                       "the disk is full and nothing was changed; delete runs and "
                                       "empty the trash, or ask the administrator")
               : 0;
}

int studio_response_none(studio_response_t *response)
{
    return made(response, 204, NULL,
                MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

int studio_response_bytes(studio_response_t *response, int status, const char *type,
                          const void *bytes, size_t size_bytes)
{
    void *const copy = (void *)(uintptr_t)bytes;
    return made(response, status, type,
                MHD_create_response_from_buffer(size_bytes, copy, MHD_RESPMEM_MUST_COPY));
}

// -- files

// Returns `attachment; filename*=UTF-8''...`; escapes all but letters, digits, '.', '-' and '_'.
static char *disposition(const char *name)
{
    static const char digits[] = "0123456789ABCDEF";
    char *const escaped = sim_alloc(3 * strlen(name) + 1);
    char *to = escaped;
    for (const char *c = name; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        if ((byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
            byte == '.' || byte == '-' || byte == '_') {
            *to++ = *c;
        } else {
            *to++ = '%';
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
        }
    }
    char *const text = sim_format("attachment; filename*=UTF-8''%s", escaped);
    sim_free(escaped);
    return text;
}

int studio_response_file(studio_response_t *response, const char *type, int fd, const char *name)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        (void)close(fd);
        return studio_response_error(response, 404, "the run has no such file");
    }
    const uint64_t size_bytes = (uint64_t)status.st_size;
    uint64_t first = 0;
    uint64_t count = 0;
    const studio_range_kind_t kind =
        studio_range_parse(response->accept_range, size_bytes, &first, &count);
    if (kind == STUDIO_RANGE_NONE) {
        (void)close(fd);
        char *const range = sim_format("bytes */%" PRIu64, size_bytes);
        studio_response_header(response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
        sim_free(range);
        return studio_response_error(
            response, 416, "the range lies beyond the end of the file, which has %" PRIu64 " bytes",
            size_bytes);
    }
    (void)made(response, kind == STUDIO_RANGE_PART ? 206 : 200, type,
               MHD_create_response_from_fd_at_offset64(count, fd, first));
    add_header(response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    if (kind == STUDIO_RANGE_PART) {
        char *const range = sim_format("bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first,
                                       first + count - 1, size_bytes);
        add_header(response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
        sim_free(range);
    }
    if (name != NULL) {
        char *const text = disposition(name);
        add_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, text);
        sim_free(text);
    }
    return response->status;
}

// -- streams

typedef struct stream {
    studio_stream_fn fill;
    studio_stream_end_fn end;
    void *ctx;
} stream_t;

static ssize_t fill_stream(void *ctx, uint64_t position, char *buffer, size_t size_bytes)
{
    const stream_t *const stream = ctx;
    (void)position;
    const ssize_t filled = stream->fill(stream->ctx, buffer, size_bytes);
    if (filled == 0) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    return filled < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : filled;
}

static void end_stream(void *ctx)
{
    stream_t *const stream = ctx;
    if (stream->end != NULL) {
        stream->end(stream->ctx);
    }
    sim_free(stream);
}

int studio_response_stream(studio_response_t *response, int status, const char *type,
                           studio_stream_fn fill, studio_stream_end_fn end, void *ctx)
{
    stream_t *const stream = sim_alloc(sizeof(*stream));
    *stream = (stream_t){fill, end, ctx};
    return made(response, status, type,
                MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, fill_stream,
                                                  stream, end_stream));
}

// -- headers that every answer has

void studio__response_harden(const studio_t *studio, studio_response_t *response, bool is_page)
{
    // Pages bring their own policy. All other answers are data: the browser must not run them.
    if (!is_page) {
        add_header(response, "Content-Security-Policy",
                   "default-src 'none'; frame-ancestors 'none'; sandbox");
        add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "X-Frame-Options", "DENY");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    add_header(response, "Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    if (studio->tls) {
        add_header(response, "Strict-Transport-Security", "max-age=31536000");
    }
}

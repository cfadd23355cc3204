// SPDX-License-Identifier: Apache-2.0
// studio/server/http/page.c - serves the page from memory, compressed and cached, with a content
// security policy that runs the page's own scripts only.
#include "studio/server/http/page.h"

#include "studio/server/http/http_internal.h"
#include "studio/server/http/secrets.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 500u
#define FILE_BYTES_MAX (16 << 20)
#define DEPTH_MAX 4u
#define NONCE_MARK "{{nonce}}"

typedef struct page_file {
    char *name; // path below the folder
    char *bytes;
    size_t size_bytes;
    char etag[32]; // with its quotes, as in the header
} page_file_t;

struct studio_page {
    page_file_t *files;
    size_t count;
    size_t capacity;
};

// clang-format off
static const struct {
    const char *ending;
    const char *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
    {".map", "application/json"},
};
// clang-format on

static const char missing[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>rocesim studio</title>"
    "<p>The page is not built: <code>make studio</code> builds it. The interface for programs "
    "works "
    "without it: docs/studio.md.</p></html>\n";

static const char *type_of(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(types); i++) {
        if (sim_ends_with(name, types[i].ending)) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

// -- loading

static void set_etag(page_file_t *file)
{
    uint8_t hash[crypto_generichash_BYTES_MIN];
    char text[2 * sizeof(hash) + 1];
    (void)crypto_generichash(hash, sizeof(hash), (const uint8_t *)file->bytes, file->size_bytes,
                             NULL, 0);
    (void)sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
    snprintf(file->etag, sizeof(file->etag), "\"%.24s\"", text);
}

static void load_file(studio_page_t *page, int folder, const char *entry, const char *name)
{
    const int fd = openat(folder, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_BYTES_MAX &&
        page->count < FILES_MAX) {
        char *const bytes = sim_alloc((size_t)status.st_size + 1);
        const ssize_t size = read(fd, bytes, (size_t)status.st_size);
        SIM_GROW(page->files, page->count, &page->capacity);
        page_file_t *const file = &page->files[page->count++];
        *file = (page_file_t){sim_strdup(name), bytes, size < 0 ? 0 : (size_t)size, ""};
        set_etag(file);
    }
    (void)close(fd);
}

static void load_folder(studio_page_t *page, int fd, const char *prefix, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char *const name = sim_format("%s%s", prefix, entry->d_name);
        const int inner =
            openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (inner >= 0 && depth < DEPTH_MAX) {
            char *const longer = sim_format("%s/", name);
            load_folder(page, inner, longer, depth + 1);
            sim_free(longer);
        } else if (inner >= 0) {
            (void)close(inner);
        } else {
            load_file(page, dirfd(folder), entry->d_name, name);
        }
        sim_free(name);
    }
    (void)closedir(folder);
}

studio_page_t *studio_page_load(const char *folder)
{
    studio_page_t *const page = sim_alloc(sizeof(*page));
    const int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        load_folder(page, fd, "", 0);
    }
    SIM_CHECK(page->count <= FILES_MAX);
    return page;
}

void studio_page_destroy(studio_page_t *page)
{
    if (page != NULL) {
        for (size_t i = 0; i < page->count; i++) {
            sim_free(page->files[i].name);
            sim_free(page->files[i].bytes);
        }
        sim_free(page->files);
        sim_free(page);
    }
}

static const page_file_t *find(const studio_page_t *page, const char *name)
{
    for (size_t i = 0; i < page->count; i++) {
        if (strcmp(page->files[i].name, name) == 0) {
            return &page->files[i];
        }
    }
    return NULL;
}

// -- answering

static void add_policy(studio_response_t *response, const char *nonce)
{
    char *const policy =
        sim_format("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; "
                   "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
                   "worker-src 'self'; manifest-src 'self'; form-action 'self'; "
                   "base-uri 'none'; frame-ancestors 'none'",
                   nonce);
    studio_response_header(response, "Content-Security-Policy", policy);
    sim_free(policy);
}

// Returns a copy of the text with the nonce in place of each mark; freed with sim_free.
static char *with_nonce(const char *bytes, const char *nonce)
{
    char *text = sim_strdup(bytes);
    for (char *mark = strstr(text, NONCE_MARK); mark != NULL; mark = strstr(text, NONCE_MARK)) {
        *mark = '\0';
        char *const longer = sim_format("%s%s%s", text, nonce, mark + strlen(NONCE_MARK));
        sim_free(text);
        text = longer;
    }
    return text;
}

static int answer_index(studio_response_t *response, const char *bytes)
{
    studio_secret_t nonce;
    studio_secret_make(&nonce);
    add_policy(response, nonce.text);
    studio_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    char *const text = with_nonce(bytes, nonce.text);
    (void)studio_response_bytes(response, 200, type_of(".html"), text, strlen(text));
    sim_free(text);
    return response->status;
}

static int answer_file(const studio_request_t *request, studio_response_t *response,
                       const page_file_t *file)
{
    const char *const known = studio_request_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    char *const packed_name = sim_format("%s.gz", file->name);
    const page_file_t *const packed =
        response->gzip ? find(request->studio->page, packed_name) : NULL;
    sim_free(packed_name);
    const bool hashed = strncmp(file->name, "assets/", 7) == 0;
    add_policy(response, "none");
    studio_response_header(response, MHD_HTTP_HEADER_ETAG, file->etag);
    studio_response_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
    studio_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                           hashed ? "public, max-age=31536000, immutable" : "no-cache");
    if (known != NULL && strcmp(known, file->etag) == 0) {
        return studio_response_bytes(response, 304, type_of(file->name), "", 0);
    }
    if (packed != NULL) {
        studio_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    }
    const page_file_t *const sent = packed == NULL ? file : packed;
    return studio_response_bytes(response, 200, type_of(file->name), sent->bytes, sent->size_bytes);
}

int studio__page_answer(studio_request_t *request, studio_response_t *response)
{
    const studio_page_t *const page = request->studio->page;
    const studio_target_t *const target = &request->target;
    if (target->segment_count == 0 ||
        (target->segment_count == 1 && strcmp(target->segments[0], "index.html") == 0)) {
        const page_file_t *const index = find(page, "index.html");
        return answer_index(response, index == NULL ? missing : index->bytes);
    }
    char name[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < target->segment_count && length < sizeof(name); i++) {
        const int added = snprintf(name + length, sizeof(name) - length, "%s%s", i == 0 ? "" : "/",
                                   target->segments[i]);
        length += added < 0 ? 0 : (size_t)added;
    }
    const page_file_t *const file = length < sizeof(name) ? find(page, name) : NULL;
    return file == NULL ? studio_response_error(response, 404, "this server has no such address")
                        : answer_file(request, response, file);
}

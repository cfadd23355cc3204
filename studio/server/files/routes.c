// SPDX-License-Identifier: Apache-2.0
// studio/server/files/routes.c - routes of the files that users bring.
#include "studio/server/accounts/accounts.h"
#include "studio/server/files/files.h"
#include "studio/server/http/route.h"
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *file_json(const char *path, const struct stat *status)
{
    return json_pack("{s:s, s:I, s:I}", "path", path, "size_bytes", (json_int_t)status->st_size,
                     "changed_ms",
                     (json_int_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000);
}

// Lists the files below an open folder, which it closes.
static void list_folder(json_t *list, int fd, const char *prefix, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        char *const path = sim_format("%s%s", prefix, entry->d_name);
        if (S_ISREG(status.st_mode)) {
            (void)json_array_append_new(list, file_json(path, &status));
        } else if (S_ISDIR(status.st_mode) && depth < STUDIO_FILE_DEPTH_MAX) {
            const int inner = openat(dirfd(folder), entry->d_name,
                                     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            char *const longer = sim_format("%s/", path);
            if (inner >= 0) {
                list_folder(list, inner, longer, depth + 1);
            }
            sim_free(longer);
        }
        sim_free(path);
    }
    (void)closedir(folder);
}

static int get_files(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const user = studio_request_user(request)->name;
    const studio_files_use_t use = studio_files_used(studio->files, user);
    char *const top = studio_files_folder(studio, user, "");
    json_t *const list = json_array();
    const int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        list_folder(list, fd, "", 0);
    }
    sim_free(top);
    return studio_response_json(
        response, 200,
        json_pack("{s:o, s:I, s:I, s:I, s:I}", "files", list, "used_bytes", (json_int_t)use.bytes,
                  "quota_bytes", (json_int_t)studio->options.user_files_bytes, "count",
                  (json_int_t)use.count, "count_max", (json_int_t)STUDIO_FILES_MAX));
}

static void audit(studio_request_t *request, const char *action, const char *path)
{
    studio_audit(studio_request_studio(request), studio_request_user(request),
                 studio_request_address(request), action, "%s", path);
}

// -- uploads

static void end_upload(void *ctx)
{
    studio_upload_end(ctx);
}

// Refuses a file that does not fit before its body is read.
static int before_put(studio_request_t *request, studio_response_t *response)
{
    studio_files_error_t error;
    studio_upload_t *const upload = studio_upload_begin(
        studio_request_studio(request)->files, studio_request_user(request)->name,
        studio_request_path(request, "path"), studio_request_body_bytes(request), &error);
    if (upload == NULL) {
        return studio_response_error(response, error.status, "%s", error.text);
    }
    studio_request_keep_body(request, upload->fd, end_upload, upload);
    return 0;
}

static int put_file(studio_request_t *request, studio_response_t *response)
{
    studio_upload_t *const upload = studio_request_body_ctx(request);
    if (upload == NULL) {
        return before_put(request, response);
    }
    const char *const path = studio_request_path(request, "path");
    const int failed = studio_request_body_error(request);
    studio_files_error_t error;
    struct stat status;
    if (failed != 0) {
        const bool full = failed == ENOSPC || failed == EDQUOT || failed == EFBIG;
        return full ? studio_response_error(response, 507,
                                            "the disk is full, so the file was not kept")
                    : studio_response_error(response, 500, "the file cannot be kept: %s",
                                            strerror(failed));
    }
    if (!studio_upload_keep(upload, path, &error)) {
        return studio_response_error(response, error.status, "%s", error.text);
    }
    SIM_CHECK(fstat(upload->fd, &status) == 0);
    audit(request, "file.upload", path);
    return studio_response_json(response, 201, file_json(path, &status));
}

// -- one file

static int not_there(studio_response_t *response)
{
    return studio_response_error(response, 404, "you have no such file");
}

static int get_file(studio_request_t *request, studio_response_t *response)
{
    const char *const path = studio_request_path(request, "path");
    struct stat status;
    char *const top =
        studio_files_folder(studio_request_studio(request), studio_request_user(request)->name, "");
    const int fd =
        studio_files_path_refuse(path) == NULL ? studio_open_below(top, path, O_RDONLY) : -1;
    sim_free(top);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return not_there(response);
    }
    const char *const slash = strrchr(path, '/');
    return studio_response_file(response, "application/octet-stream", fd,
                                slash == NULL ? path : slash + 1);
}

static int delete_file(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const path = studio_request_path(request, "path");
    studio_files_error_t error;
    if (!studio_files_remove(studio->files, studio_request_user(request)->name, path, &error)) {
        return studio_response_error(response, error.status, "%s", error.text);
    }
    audit(request, "file.remove", path);
    return studio_response_none(response);
}

// clang-format off
const studio_route_t studio_own_file_routes[] = {
    {"GET", "/api/v1/files", STUDIO_ROLE_USER, "Lists the user's own files", NULL, NULL,
     "{files: [{path, size_bytes, changed_ms}], used_bytes, quota_bytes, count, count_max}", get_files, 0},
    {"GET", "/api/v1/files/{path...}", STUDIO_ROLE_USER, "Returns a file, or a range of it", NULL, NULL, "the file", get_file, 0},
    {"PUT", "/api/v1/files/{path...}", STUDIO_ROLE_USER, "Keeps a file, in folders that are made; replaces a file of this name",
     NULL, studio_body_file, "{path, size_bytes, changed_ms}; 507: it does not fit into the quota", put_file,
     (size_t)1 << 50},
    {"DELETE", "/api/v1/files/{path...}", STUDIO_ROLE_USER, "Removes a file, or a folder with all in it, for good", NULL, NULL, "nothing",
     delete_file, 0},
    {0},
};
// clang-format on

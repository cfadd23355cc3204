// SPDX-License-Identifier: Apache-2.0
// studio/server/files/files.h - the files that users bring: scenarios, workloads, traces, captures.
//
// A user's files are in DATA/files/NAME, which only this user's requests and runs can read. Names
// of users never change. A quota limits their bytes and their number; what an upload will need is
// reserved before its body is read, so that uploads at the same time cannot exceed it.
#ifndef STUDIO_SERVER_FILES_FILES_H
#define STUDIO_SERVER_FILES_FILES_H

#include "studio/server/studio.h"

#define STUDIO_FILES_MAX 5000u        // files and folders of one user
#define STUDIO_FILE_BLOCK_BYTES 4096u // each file and folder counts in whole blocks
#define STUDIO_FILE_PATH_BYTES_MAX 512u
#define STUDIO_FILE_NAME_BYTES_MAX 128u
#define STUDIO_FILE_DEPTH_MAX 8u

typedef struct studio_files studio_files_t;

studio_files_t *studio_files_create(const studio_t *studio);
void studio_files_destroy(studio_files_t *files);

// Returns why a path of a file is refused; NULL if it is good.
const char *studio_files_path_refuse(const char *path);
// Returns the user's folder, or the folder `below` in it if that is not ""; freed with sim_free.
// The folder may be missing.
char *studio_files_folder(const studio_t *studio, const char *user, const char *below);

// Files of a user: bytes in whole blocks, and the number of files and folders.
typedef struct studio_files_use {
    uint64_t bytes;
    uint64_t count;
} studio_files_use_t;
studio_files_use_t studio_files_used(studio_files_t *files, const char *user);

// Why a change of files was refused.
typedef struct studio_files_error {
    int status; // of the answer
    char text[256];
} studio_files_error_t;

// One file on its way.
typedef struct studio_upload {
    studio_files_t *files;
    char user[STUDIO_NAME_BYTES_MAX + 1];
    char *part;     // path of the temporary file
    int fd;         // of the temporary file
    uint64_t bytes; // reserved for it, in whole blocks
    bool kept;      // it has its name
} studio_upload_t;

// Reserves room for a file of size_bytes and opens a temporary file. Returns NULL with an error.
studio_upload_t *studio_upload_begin(studio_files_t *files, const char *user, const char *path,
                                     uint64_t size_bytes, studio_files_error_t *error);
// Gives the file its name, in folders that are made, and replaces a file of that name. Returns
// false with an error.
SIM_MUST_CHECK bool studio_upload_keep(studio_upload_t *upload, const char *path,
                                       studio_files_error_t *error);
// Removes the temporary file unless it was kept, and returns the room.
void studio_upload_end(studio_upload_t *upload);

// Removes a file, or a folder with all in it, and folders around it that are empty then. Returns
// false with an error.
SIM_MUST_CHECK bool studio_files_remove(studio_files_t *files, const char *user, const char *path,
                                        studio_files_error_t *error);

#endif // STUDIO_SERVER_FILES_FILES_H

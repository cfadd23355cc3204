// SPDX-License-Identifier: Apache-2.0
// studio/server/store/folder.h - folders and the files below them. Links are never followed.
#ifndef STUDIO_SERVER_STORE_FOLDER_H
#define STUDIO_SERVER_STORE_FOLDER_H

#include "kernel/base.h"

// Removes a folder and all in it. Returns false with errno if something is left.
bool studio_folder_remove(const char *path);
// Returns the bytes of all files below a folder.
uint64_t studio_folder_bytes(const char *folder);
// Opens a file below the folder; neither path nor links can lead outside. Returns -1 with errno.
int studio_open_below(const char *folder, const char *path, uint64_t flags);

#endif // STUDIO_SERVER_STORE_FOLDER_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/tar.h - a gzipped tar archive of small files, in memory.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_TAR_H
#define STUDIO_SERVER_DATA_ANALYSIS_TAR_H

#include "studio/server/data/text_buffer.h"

// Adds a file to the tar in out; the path has at most 99 characters.
void studio_tar_add(studio_out_t *out, const char *path, const char *bytes, size_t size,
                    bool program);
// Ends the tar and compresses it into gzip. Equal files give equal archives.
void studio_tar_gzip(studio_out_t *tar, studio_out_t *gzip);

#endif // STUDIO_SERVER_DATA_ANALYSIS_TAR_H

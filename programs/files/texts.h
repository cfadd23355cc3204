// SPDX-License-Identifier: Apache-2.0
// programs/files/texts.h - files below /proc whose text the library writes.
#ifndef PROGRAMS_FILES_TEXTS_H
#define PROGRAMS_FILES_TEXTS_H

// Returns the text of a file, which the caller frees, or NULL if the file is one of this machine.
// `place` is the path of this machine that stands for `path`.
char *texts_of(const char *path, const char *place);

#endif // PROGRAMS_FILES_TEXTS_H

// SPDX-License-Identifier: Apache-2.0
// kernel/own_file.h - opens a file for writing that no other process may write at the same time.
//
// The lock is flock's: it belongs to the open file and dies with the process that opened it.
#ifndef KERNEL_OWN_FILE_H
#define KERNEL_OWN_FILE_H

#include "kernel/base.h"

SIM_C_BEGIN

// Opens the file with O_WRONLY or O_RDWR, creates it if need be, locks it and empties it. Returns
// the descriptor, which the caller closes; -1 with errno where that fails. EBUSY: another process
// (or another part of this one) writes the file; nothing is changed then. Devices and pipes are
// neither locked nor emptied. A file system without locks gives none.
int sim_own_file_open(const char *path, int access_mode);

// Returns the text for the errno of a failure: "another process writes this file" for EBUSY.
const char *sim_own_file_reason(int error);

SIM_C_END

#endif // KERNEL_OWN_FILE_H

// SPDX-License-Identifier: Apache-2.0
// cli/workload/matrix.h - `rocesim check FILE` on htsim's connection matrices (.cm).
#ifndef CLI_WORKLOAD_MATRIX_H
#define CLI_WORKLOAD_MATRIX_H

#include "kernel/base.h"

// Returns whether a text begins like a connection matrix.
bool cli_matrix_is(const char *text, size_t size_bytes);
// Describes one. Returns the exit status.
int cli_matrix_check(const char *name, const char *text, size_t size_bytes, bool json);

#endif // CLI_WORKLOAD_MATRIX_H

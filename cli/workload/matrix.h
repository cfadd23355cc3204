// SPDX-License-Identifier: Apache-2.0
// cli/workload/matrix.h - `rocesim check FILE` on files of flows and of their sizes.
#ifndef CLI_WORKLOAD_MATRIX_H
#define CLI_WORKLOAD_MATRIX_H

#include "kernel/base.h"

// Returns whether a text begins like htsim's connection matrix, or flows of HPCC's simulator.
bool cli_matrix_is(const char *text, size_t size_bytes);
// Describes one. Returns the exit status.
int cli_matrix_check(const char *name, const char *text, size_t size_bytes, bool json);

// -- sizes.c

// Returns whether a text looks like a distribution of flow sizes: rows of two numbers.
bool cli_sizes_is(const char *text, size_t size_bytes);
// Describes it. Returns the exit status.
int cli_sizes_check(const char *name, const char *text, size_t size_bytes, bool json);

#endif // CLI_WORKLOAD_MATRIX_H

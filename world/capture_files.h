// SPDX-License-Identifier: Apache-2.0
// world/capture_files.h - the files of a capture.
#ifndef WORLD_CAPTURE_FILES_H
#define WORLD_CAPTURE_FILES_H

#include "world/captures.h"
#include "world/world.h"

SIM_C_BEGIN

// A file of a capture, and the ports whose frames it gets.
typedef struct world_capture_file {
    char *name; // in the folder captures/
    net_port_t *const *ports;
    size_t port_count; // >= 1
} world_capture_file_t;
typedef struct world_capture_files {
    world_capture_file_t *items;
    size_t count;
    net_port_t **ports; // of all files, file by file
} world_capture_files_t;
// Finds the files of a capture: one, or one per port for {port} in its name, one per node for
// {node} alone. Free them with world_capture_files_fini, also on failure. Fails like
// world_find_ports.
SIM_MUST_CHECK sim_err_t world_capture_files(const world_t *world, const world_capture_t *capture,
                                             world_capture_files_t *files, world_error_t *error);
void world_capture_files_fini(world_capture_files_t *files);
// Returns the name of the file that a capture named `file`, with {port} and {node}, has for the
// port of that name (net_port_name). Free it with sim_free.
char *world_capture_file_name(const char *file, const char *port);

// Checks the files of all captures of the scenario.
SIM_MUST_CHECK sim_err_t world__check_captures(const world_t *world, world_error_t *error);

SIM_C_END

#endif // WORLD_CAPTURE_FILES_H

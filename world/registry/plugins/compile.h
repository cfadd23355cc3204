// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/compile.h - turns a plug-in's file into an object that can be loaded.
#ifndef WORLD_REGISTRY_PLUGINS_COMPILE_H
#define WORLD_REGISTRY_PLUGINS_COMPILE_H

#include "world/error.h"

// Reads a whole file into memory that the caller frees with sim_free; NULL: it cannot be read.
char *world__plugin_read(const char *path, size_t *size);

// Sets *object to the path of the object that a file of C (absolute path) is compiled to. An object
// that was compiled from the same files before is taken from the cache. Free it with sim_free.
SIM_MUST_CHECK sim_err_t world__plugin_compile(const char *file, char **object,
                                               world_error_t *error);

#endif // WORLD_REGISTRY_PLUGINS_COMPILE_H

// SPDX-License-Identifier: Apache-2.0
// cli/library.h - the scenarios that come with rocesim, which every command knows by name.
//
// The library is the folder `scenarios` of the source tree or of an installation. The name of a
// scenario is its path in this folder without ".yaml": training/gpt. Studies are sweeps,
// NAME.sweep.yaml, or scripts.
#ifndef CLI_LIBRARY_H
#define CLI_LIBRARY_H

#include "cli/args.h"

typedef struct cli_library_entry {
    char *name;
    char *path;
    char *question; // the scenario's first comment or its description, in one line
    bool is_study;  // a sweep or a script: it runs and compares many simulations
    double seconds; // measured time of a run with its defaults on one core; below 0: not known
} cli_library_entry_t;

typedef struct cli_library {
    char *folder; // NULL: there is no library
    cli_library_entry_t *entries;
    size_t count;
    size_t capacity;
} cli_library_t;

// Reads the library, sorted by name. Call cli_library_fini afterwards.
void cli_library_load(cli_library_t *library);
void cli_library_fini(cli_library_t *library);

// Returns the file of a scenario that a person named, freed with sim_free: `name` itself if there
// is a file of that name or if it looks like a file's name, otherwise the file of the library's
// scenario. Returns NULL with an error, which names similar scenarios, if there is none.
char *cli_library_find(const char *name, world_error_t *error);
// Returns the scenario that the file `beside` names, freed with sim_free: a file relative to its
// folder, otherwise the library's scenario of that name; without either, the path of the former.
char *cli_library_beside(const char *beside, const char *name);
// Returns the folder of a template (a folder that `rocesim new` copies), freed with sim_free; NULL:
// there is no template of that name.
char *cli_library_template(const char *name);
// Returns whether the library has a scenario of this name.
bool cli_library_has(const char *name);

// Returns whether the file is a sweep of the library.
bool cli_library_is_sweep(const char *path);

// Replaces the name of a scenario among the operands by its file, in commands that take a scenario,
// and the name of a sweep in `sweep`.
SIM_MUST_CHECK sim_err_t cli_library_resolve(cli_args_t *args, world_error_t *error);

// The commands `rocesim list`, `show` and `new`. Each returns the exit status.
int cli_command_list(const cli_args_t *args);
int cli_command_show(const cli_args_t *args);
int cli_command_new(const cli_args_t *args);

#endif // CLI_LIBRARY_H

// SPDX-License-Identifier: Apache-2.0
// cli/import/import.h - `rocesim import`: scenarios from the files of real fabrics.
// docs/formats/import.md
#ifndef CLI_IMPORT_IMPORT_H
#define CLI_IMPORT_IMPORT_H

#include "cli/args.h"

// Reads the files and folders among the operands, writes a scenario to args->folder (NULL or "-":
// the standard output) and prints what became of the files. Returns the exit status.
int cli_command_import(const cli_args_t *args);

#endif // CLI_IMPORT_IMPORT_H

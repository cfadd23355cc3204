// SPDX-License-Identifier: Apache-2.0
// cli/import/import.h - `rocesim import`: scenarios from the files of real fabrics.
// docs/formats/import.md
#ifndef CLI_IMPORT_IMPORT_H
#define CLI_IMPORT_IMPORT_H

#include "cli/args.h"

// Reads the files and folders among the operands, writes a scenario to args->folder (NULL or "-":
// the standard output) and prints what became of the files. Returns the exit status.
int cli_command_import(const cli_args_t *args);

// Returns the name of the format of a text if import reads it, else NULL; lists of links do not
// count, since any table may be one. A 0 follows the text's last byte. The string is static.
const char *cli_import_format(const char *path, const char *text, size_t size_bytes);

#endif // CLI_IMPORT_IMPORT_H

// SPDX-License-Identifier: Apache-2.0
// cli/scratch.h - folders for files that nobody keeps.
#ifndef CLI_SCRATCH_H
#define CLI_SCRATCH_H

// Makes a folder in $TMPDIR or /tmp. Returns its path, freed with sim_free; NULL, with a reason in
// errno, if there can be none.
char *cli_scratch_make(void);

// Removes a folder with all that is in it.
void cli_scratch_remove(char *folder);

#endif // CLI_SCRATCH_H

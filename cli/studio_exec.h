// SPDX-License-Identifier: Apache-2.0
// cli/studio_exec.h - `rocesim studio`, which is a separate, optional program.
#ifndef CLI_STUDIO_EXEC_H
#define CLI_STUDIO_EXEC_H

// Replaces this process by rocesim-studio, with the arguments behind "studio" (argv[1]). Returns
// only if that program is missing: prints a message and returns the exit status.
int cli_studio_exec(int argc, const char *const *argv);

#endif // CLI_STUDIO_EXEC_H

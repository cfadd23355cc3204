// SPDX-License-Identifier: Apache-2.0
// cli/studio_exec.h - `rocesim studio`: a program of its own, which not everybody builds.
#ifndef CLI_STUDIO_EXEC_H
#define CLI_STUDIO_EXEC_H

// Becomes rocesim-studio, with what stands behind "studio" (argv[1]). Returns the exit status, with
// a message, only where it is not there.
int cli_studio_exec(int argc, const char *const *argv);

#endif // CLI_STUDIO_EXEC_H

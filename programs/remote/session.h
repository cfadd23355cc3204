// SPDX-License-Identifier: Apache-2.0
// programs/remote/session.h - what the commands ssh and sshd of simulated hosts say to each other.
//
// The client sends the command and a zero byte. The server answers with parts, each a header and
// bytes; the last one is the end of the command.
#ifndef PROGRAMS_REMOTE_SESSION_H
#define PROGRAMS_REMOTE_SESSION_H

#include <stdint.h>

#define SESSION_PORT 22u
#define SESSION_COMMAND_MAX 131072u // bytes of a command, its zero byte included

typedef enum session_kind {
    SESSION_OUTPUT = 1, // bytes of the command's standard output
    SESSION_ERROR,      // bytes of its standard error output
    SESSION_END,        // one byte: the exit status, as a shell shows it
} session_kind_t;

typedef struct session_header {
    uint32_t kind; // session_kind_t
    uint32_t bytes;
} session_header_t;

#endif // PROGRAMS_REMOTE_SESSION_H

// SPDX-License-Identifier: Apache-2.0
// programs/files/terminals.c - terminals that programs make for their children, as mpirun does.
//
// The kernel hands on what is written to a terminal by a thread of its own, at a time of this
// machine. So both ends are those of a pair of sockets here, which does so at once. A mark of the
// sockets tells programs, which the children become, what they are.

#include "programs/files/terminals.h"

#include <errno.h>
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/turn.h"

#define MARK 6 // SO_PRIORITY, which means nothing for such sockets
#define NAME "/dev/pts/0"
#define ROWS 24
#define COLUMNS 80

static int option_of(int descriptor, int name)
{
    int value = 0;
    socklen_t bytes = sizeof value;
    return system_call(SYS_getsockopt, descriptor, SOL_SOCKET, name, &value, &bytes) == 0 ? value
                                                                                          : -1;
}

bool terminals_has(int descriptor)
{
    const int before = errno;
    const bool has = turn_on() && option_of(descriptor, SO_PRIORITY) == MARK &&
                     option_of(descriptor, SO_DOMAIN) == AF_UNIX;
    errno = before;
    return has;
}

PROGRAM_EXPORT int openpty(int *master, int *slave, char *name, const struct termios *attributes,
                           const struct winsize *size)
{
    const int mark = MARK;
    int ends[2];
    if (!turn_on()) {
        return PROGRAM_NEXT(openpty)(master, slave, name, attributes, size);
    }
    if (system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        system_call(SYS_setsockopt, ends[i], SOL_SOCKET, SO_PRIORITY, &mark, sizeof mark);
    }
    *master = ends[0];
    *slave = ends[1];
    if (name != NULL) {
        memcpy(name, NAME, sizeof NAME);
    }
    return 0;
}

PROGRAM_EXPORT int forkpty(int *master, char *name, const struct termios *attributes,
                           const struct winsize *size)
{
    int slave;
    if (!turn_on()) {
        return PROGRAM_NEXT(forkpty)(master, name, attributes, size);
    }
    if (openpty(master, &slave, name, attributes, size) != 0) {
        return -1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(*master);
        (void)setsid();
        for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
            (void)dup2(slave, stream);
        }
    }
    if (pid != 0 || slave > STDERR_FILENO) {
        (void)close(slave);
    }
    return pid;
}

PROGRAM_EXPORT int isatty(int descriptor)
{
    return terminals_has(descriptor) ? 1 : PROGRAM_NEXT(isatty)(descriptor);
}

PROGRAM_EXPORT int tcgetattr(int descriptor, struct termios *attributes)
{
    if (!terminals_has(descriptor)) {
        return PROGRAM_NEXT(tcgetattr)(descriptor, attributes);
    }
    memset(attributes, 0, sizeof *attributes);
    attributes->c_cflag = CREAD | CS8;
    attributes->c_lflag = ISIG | ICANON;
    return cfsetspeed(attributes, B38400);
}

PROGRAM_EXPORT int tcsetattr(int descriptor, int when, const struct termios *attributes)
{
    return terminals_has(descriptor) ? 0 : PROGRAM_NEXT(tcsetattr)(descriptor, when, attributes);
}

bool terminals_control(unsigned long request, void *argument)
{
    if (request == TIOCGWINSZ) {
        *(struct winsize *)argument = (struct winsize){.ws_row = ROWS, .ws_col = COLUMNS};
    }
    return request == TIOCGWINSZ || request == TIOCSWINSZ || request == TIOCSCTTY;
}

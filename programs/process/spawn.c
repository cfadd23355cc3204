// SPDX-License-Identifier: Apache-2.0
// programs/process/spawn.c - posix_spawn() and popen(), made of fork() and exec().
//
// The C library makes such children by clone(), where the library of programs does not see them.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/files/streams.h"
#include "programs/turn.h"

// -- posix_spawn

// An action of glibc's posix_spawn_file_actions_t, in the order in which they were added.
typedef struct action {
    enum { DO_CLOSE, DO_DUP2, DO_OPEN, DO_CHDIR, DO_FCHDIR, DO_CLOSEFROM, DO_TCSETPGRP } kind;
    union {
        struct {
            int descriptor;
            int copy;
        } dup2; // DO_CLOSE, DO_FCHDIR, DO_CLOSEFROM and DO_TCSETPGRP have the first one
        struct {
            int descriptor;
            char *path;
            int flags;
            mode_t mode;
        } open;
        struct {
            char *path;
        } chdir;
    } of;
} action_t;

// Opens a file as the descriptor that the action names.
static int open_as(const action_t *action)
{
    const int made = open(action->of.open.path, action->of.open.flags, action->of.open.mode);
    if (made < 0 || made == action->of.open.descriptor) {
        return made;
    }
    const int result = dup2(made, action->of.open.descriptor);
    close(made);
    return result;
}

static int do_action(const action_t *action)
{
    const int descriptor = action->of.dup2.descriptor;
    switch (action->kind) {
    case DO_CLOSE:
        (void)close(descriptor); // one that is closed is no error
        return 0;
    case DO_DUP2:
        if (descriptor == action->of.dup2.copy) {
            return fcntl(descriptor, F_SETFD, 0);
        }
        return dup2(descriptor, action->of.dup2.copy);
    case DO_OPEN:
        return open_as(action);
    case DO_CHDIR:
        return chdir(action->of.chdir.path);
    case DO_FCHDIR:
        return fchdir(descriptor);
    case DO_CLOSEFROM:
        closefrom(descriptor);
        return 0;
    case DO_TCSETPGRP: // there is no terminal
    default:
        return 0;
    }
}

static void set_signals(const posix_spawnattr_t *attributes, short flags)
{
    sigset_t set;
    if ((flags & POSIX_SPAWN_SETSIGDEF) != 0 &&
        posix_spawnattr_getsigdefault(attributes, &set) == 0) {
        for (int number = 1; number < NSIG; number++) {
            if (sigismember(&set, number) == 1) {
                (void)signal(number, SIG_DFL);
            }
        }
    }
    if ((flags & POSIX_SPAWN_SETSIGMASK) != 0 &&
        posix_spawnattr_getsigmask(attributes, &set) == 0) {
        (void)sigprocmask(SIG_SETMASK, &set, NULL);
    }
}

// Becomes the program, or ends with the status 127, as POSIX wants it.
static _Noreturn void become(const char *path, const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const words[],
                             char *const environment[])
{
    short flags = 0;
    if (attributes != NULL && posix_spawnattr_getflags(attributes, &flags) == 0) {
        set_signals(attributes, flags);
    }
    const action_t *list =
        actions == NULL ? NULL : (const action_t *)(const void *)actions->__actions;
    for (int i = 0; list != NULL && i < actions->__used; i++) {
        if (do_action(&list[i]) < 0) {
            _exit(127);
        }
    }
    execve(path, words, environment == NULL ? environ : environment);
    if (errno == ENOEXEC) {
        execle("/bin/sh", "sh", path, (char *)NULL, environment == NULL ? environ : environment);
    }
    _exit(127);
}

PROGRAM_EXPORT int posix_spawn(pid_t *pid, const char *path,
                               const posix_spawn_file_actions_t *actions,
                               const posix_spawnattr_t *attributes, char *const words[],
                               char *const environment[])
{
    if (!turn_on()) {
        return PROGRAM_NEXT(posix_spawn)(pid, path, actions, attributes, words, environment);
    }
    if (access(path, X_OK) != 0) {
        return errno;
    }
    const pid_t child = fork();
    if (child == 0) {
        become(path, actions, attributes, words, environment);
    }
    if (child < 0) {
        return errno;
    }
    if (pid != NULL) {
        *pid = child;
    }
    return 0;
}

PROGRAM_EXPORT int posix_spawnp(pid_t *pid, const char *file,
                                const posix_spawn_file_actions_t *actions,
                                const posix_spawnattr_t *attributes, char *const words[],
                                char *const environment[])
{
    if (!turn_on()) {
        return PROGRAM_NEXT(posix_spawnp)(pid, file, actions, attributes, words, environment);
    }
    if (strchr(file, '/') != NULL) {
        return posix_spawn(pid, file, actions, attributes, words, environment);
    }
    const char *at = getenv("PATH");
    int error = ENOENT;
    for (at = at == NULL ? "/bin:/usr/bin" : at; *at != '\0'; at += *at == ':') {
        char path[4096];
        const int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", length, at, file);
        at += length;
        if (access(path, X_OK) == 0) {
            return posix_spawn(pid, path, actions, attributes, words, environment);
        }
        error = errno == EACCES ? EACCES : error;
    }
    return error;
}

// -- clone

// A child with memory of its own, or one that lets its parent wait as vfork() does, is one of
// fork(). A thread that is made so may call nothing that is simulated.
PROGRAM_EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list list;
    va_start(list, argument);
    pid_t *parent_tid = va_arg(list, pid_t *);
    void *local = va_arg(list, void *);
    pid_t *child_tid = va_arg(list, pid_t *);
    va_end(list);
    if (!turn_on() || (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) {
        return PROGRAM_NEXT(clone)(function, stack, flags, argument, parent_tid, local, child_tid);
    }
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(function(argument));
    }
    if (pid > 0 && (flags & CLONE_PARENT_SETTID) != 0) {
        *parent_tid = pid;
    }
    return pid;
}

// -- popen

typedef struct stream {
    FILE *file;
    pid_t child;
    struct stream *next;
} stream_t;

static stream_t *streams;

PROGRAM_EXPORT FILE *popen(const char *command, const char *type)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(popen)(command, type);
    }
    const bool reads = strchr(type, 'r') != NULL;
    stream_t *stream = malloc(sizeof *stream);
    int ends[2];
    if (stream == NULL || (!reads && strchr(type, 'w') == NULL) || pipe2(ends, O_CLOEXEC) != 0) {
        free(stream);
        errno = stream == NULL ? ENOMEM : EINVAL;
        return NULL;
    }
    const int own = ends[reads ? 0 : 1];
    const int other = ends[reads ? 1 : 0];
    const pid_t child = fork();
    if (child == 0) {
        if (dup2(other, reads ? STDOUT_FILENO : STDIN_FILENO) >= 0) {
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        }
        _exit(127);
    }
    const int error = errno;
    close(other);
    *stream = (stream_t){.child = child, .next = streams};
    stream->file = child < 0 ? NULL : streams_open(own, reads ? "r" : "w");
    if (stream->file == NULL) {
        close(own);
        free(stream);
        errno = error;
        return NULL;
    }
    if (strchr(type, 'e') == NULL) {
        (void)fcntl(own, F_SETFD, 0);
    }
    streams = stream;
    return stream->file;
}

PROGRAM_EXPORT int pclose(FILE *file)
{
    stream_t **at = &streams;
    while (*at != NULL && (*at)->file != file) {
        at = &(*at)->next;
    }
    stream_t *stream = *at;
    if (stream == NULL) {
        return turn_on() ? (errno = ECHILD, -1) : PROGRAM_NEXT(pclose)(file);
    }
    int status = -1;
    *at = stream->next;
    (void)fclose(file);
    while (waitpid(stream->child, &status, 0) < 0 && errno == EINTR) {
    }
    free(stream);
    return status;
}

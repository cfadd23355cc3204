// SPDX-License-Identifier: Apache-2.0
// tests/forks/forks.c - the program rocesim for scripts that start it hundreds of times.
//
//     rocesim_forks --forks      reads requests from stdin, answers "PROCESS STATUS" on stdout
//     rocesim_forks ARGUMENT...  is rocesim itself (a sweep starts its own program for each run)
//
// A request is a list of texts that each end with a zero byte: the process that asks, the numbers
// of three of its open files (the command's stdin, stdout and stderr), seconds of processor time
// (0: no limit), the number of arguments, and the arguments. The command runs in a forked child, in
// the working folder of the process that asks. A fork takes a sixth of the time of a start, which
// loads 25 libraries. The function `rocesim` of tests/script.sh writes the requests.
#include "cli/command.h"
#include "kernel/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 1000
#define ALARM_FACTOR 20 // seconds of wall time for each second of processor time, as in script.sh
#define ALARM_MAX_S 1200

typedef struct request {
    long process;
    int files[3];
    unsigned limit_s;
    int argument_count; // including the name of the program
    char *arguments[ARGUMENTS_MAX + 2];
} request_t;

// Reads one text, which the caller frees. Returns NULL at the end of the input.
static char *read_text(FILE *input)
{
    char *text = NULL;
    size_t room_bytes = 0;
    if (getdelim(&text, &room_bytes, '\0', input) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

// Reads one number. Returns -1 at the end of the input.
static long read_number(FILE *input)
{
    char *const text = read_text(input);
    const long number = text != NULL ? strtol(text, NULL, 10) : -1;
    free(text);
    return number;
}

// Returns false at the end of the input.
static bool read_request(FILE *input, request_t *request)
{
    request->process = read_number(input);
    for (int i = 0; i < 3; i++) {
        request->files[i] = (int)read_number(input);
    }
    const long limit_s = read_number(input);
    const long count = read_number(input);
    if (count < 0) {
        return false;
    }
    SIM_CHECK(count <= ARGUMENTS_MAX);
    request->limit_s = (unsigned)limit_s;
    request->argument_count = (int)count + 1;
    request->arguments[0] = strdup("rocesim");
    for (long i = 1; i <= count; i++) {
        request->arguments[i] = read_text(input);
        SIM_CHECK(request->arguments[i] != NULL);
    }
    request->arguments[count + 1] = NULL;
    return true;
}

// Makes a file of the process that asks the child's standard file number `to`.
static void take_file(const request_t *request, int to)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/fd/%d", request->process, request->files[to]);
    const int file = open(path, to == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_APPEND);
    SIM_CHECKF(file >= 0, "%s cannot be opened", path);
    if (file != to) {
        dup2(file, to);
        close(file);
    }
}

// Runs the command in the child, and ends the child.
static void run_command(const request_t *request)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/cwd", request->process);
    SIM_CHECKF(chdir(path) == 0, "%s cannot be entered", path);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        take_file(request, file);
    }
    if (request->limit_s > 0) {
        const struct rlimit limit = {.rlim_cur = request->limit_s, .rlim_max = request->limit_s};
        setrlimit(RLIMIT_CPU, &limit);
        alarm(SIM_MIN(request->limit_s * ALARM_FACTOR, ALARM_MAX_S));
    }
    exit(cli_main(request->argument_count, (const char *const *)request->arguments));
}

static void serve(void)
{
    // Programs that commands start see neither end of the conversation.
    FILE *const input = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), "r");
    const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    SIM_CHECK(input != NULL && output >= 0);
    request_t request;
    while (read_request(input, &request)) {
        const pid_t child = fork();
        SIM_CHECK(child >= 0);
        if (child == 0) {
            run_command(&request);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0) {
            SIM_CHECK(errno == EINTR);
        }
        dprintf(output, "%ld %d\n", request.process,
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        for (int i = 0; i < request.argument_count; i++) {
            free(request.arguments[i]);
        }
    }
    fclose(input);
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "--forks") != 0) {
        return cli_main(argc, (const char *const *)argv);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM); // where the script is killed
    serve();
    return 0;
}

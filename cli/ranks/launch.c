// SPDX-License-Identifier: Apache-2.0
// cli/ranks/launch.c - `rocesim run --ranks N`: starts the same command line N times with mpirun.
//
// mpirun prints a page about every exit status but 0, so ranks exit with 0, and rank 0 writes the
// status of the run into a file of the launcher's. mpirun reports a rank that dies.
#include "cli/ranks/ranks.h"

#include "cli/command.h"
#include "cli/ranks/watch.h"
#include "kernel/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_VARIABLE "ROCESIM_RANKS_STATUS"
#define SIGN_IN_VARIABLE "ROCESIM_RANKS_SIGN_IN"
#define TERMINAL_VARIABLE "ROCESIM_RANKS_TERMINAL"
#define COMMAND_NOT_FOUND 127

sim_err_t cli_ranks_wanted(const cli_args_t *args, unsigned *count, world_error_t *error)
{
    const char *const command = cli_command_name(args->command);
    char *end = NULL;
    const unsigned long value = strtoul(args->ranks, &end, 10);
    if (args->ranks[0] < '0' || args->ranks[0] > '9' || *end != '\0' || value < 1 ||
        value > SIM_RANKS_MAX) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim %s: --ranks is '%s', expected a whole number from 1 to %u",
                          command, world_show(&shown, args->ranks), SIM_RANKS_MAX);
    }
    char *const library = cli_ranks_library();
    const bool has_mpi = library != NULL;
    sim_free(library);
    *count = (unsigned)value;
    return has_mpi ? SIM_OK
                   : world_fail(error, SIM_ERR_STATE, NULL,
                                "rocesim %s: --ranks needs MPI, which this build has not; expected "
                                "a build with libopenmpi-dev installed",
                                command);
}

size_t cli_ranks_words(const cli_args_t *args, const char **words)
{
    size_t count = 0;
    bool options_end = false;
    for (int i = 1; i < args->argc; i++) {
        const char *const word = args->argv[i];
        options_end |= strcmp(word, "--") == 0;
        if (!options_end && strcmp(word, "--ranks") == 0) {
            i++; // and its value
        } else if (options_end || (strncmp(word, "--ranks=", strlen("--ranks=")) != 0 &&
                                   strcmp(word, "--print-slurm") != 0)) {
            words[count++] = word;
        }
    }
    return count;
}

// The words before the number of ranks; `program` and the words of args come behind it.
static const char **mpirun_arguments(const cli_args_t *args, const char *number,
                                     const char *program)
{
    static const char *const begin[] = {
        "mpirun", "--oversubscribe", "--bind-to", "none", "--stdin", "none",
        // Shared memory alone; containers do not allow one process to read another's.
        "--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none",
        // Looking for all other ways to send takes half of the time in which ranks start.
        "--mca", "pml", "ob1", "--mca", "osc", "sm", "--mca", "coll", "basic,libnbc,self,tuned",
        // A rank that waits lets others run: there may be fewer cores than ranks.
        "--mca", "mpi_yield_when_idle", "1", "-x", STATUS_VARIABLE, "-x", SIGN_IN_VARIABLE, "-x",
        TERMINAL_VARIABLE, "-n"};
    const size_t begin_count = SIM_COUNT_OF(begin);
    const char **const line = sim_alloc_array(begin_count + (size_t)args->argc + 5, sizeof(*line));
    size_t count = 0;
    for (size_t i = 0; i < begin_count; i++) {
        line[count++] = begin[i];
        if (i == 0 && geteuid() == 0) {
            line[count++] = "--allow-run-as-root";
        }
    }
    line[count++] = number;
    line[count++] = program;
    (void)cli_ranks_words(args, line + count);
    return line;
}

// Starts mpirun. folder: for temporary files, also those of the ranks. *messages is a pipe from its
// standard error and that of all ranks.
static pid_t start(const cli_args_t *args, unsigned count, const char *folder, int *messages)
{
    int ends[2] = {-1, -1};
    *messages = -1;
    if (pipe(ends) == 0) {
        *messages = ends[0];
        (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    }
    char number[16];
    snprintf(number, sizeof(number), "%u", count);
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[SIM_MAX(0, length)] = '\0';
    const char **const line = mpirun_arguments(args, number, program);
    const pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0); // Ctrl-C is for the launcher alone
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)setenv("TMPDIR", folder, 1);
        (void)setenv("HWLOC_COMPONENTS", "-gl,-opencl,-pci,-linuxio", 0); // ranks use no devices
        const int in = open("/dev/null", O_RDONLY);
        if (in >= 0) {
            (void)dup2(in, STDIN_FILENO);
        }
        if (ends[1] >= 0) {
            (void)dup2(ends[1], STDERR_FILENO);
        }
        (void)execvp(line[0], (char *const *)(uintptr_t)line);
        _exit(COMMAND_NOT_FOUND);
    }
    if (ends[1] >= 0) {
        (void)close(ends[1]);
    }
    sim_free(line);
    return child;
}

// -- messages of mpirun

#define PAGE_BYTES 4096u
#define LINE_BYTES 1024u

// The first rank that died; -1: none is known.
typedef struct death {
    int rank;
    char machine[64];
    char how[96];
} death_t;

// mpirun puts its own words on pages, between two lines of dashes.
typedef struct page {
    bool is_open;
    size_t size;
    char text[PAGE_BYTES];
} page_t;

// Returns the text behind `words` in a page, or NULL. page NULL: returns NULL.
static const char *behind(const char *page, const char *words)
{
    const char *const at = page == NULL ? NULL : strstr(page, words);
    return at == NULL ? NULL : at + strlen(words);
}

// Reads which rank died, and how, from a page. Returns whether the page says nothing else.
static bool tells_death(const char *page, death_t *death)
{
    const char *const rank = behind(page, "mpirun noticed that process rank ");
    const char *const machine = behind(rank, " on node ");
    const char *const signal = behind(machine, " exited on signal ");
    const char *const place = behind(behind(page, "Process name: [["), "],");
    const char *const status = behind(place, "Exit code:");
    death_t found = {.rank = -1};
    if (signal != NULL) {
        found.rank = (int)strtol(rank, NULL, 10);
        snprintf(found.machine, sizeof(found.machine), "%.*s", (int)strcspn(machine, " "), machine);
        snprintf(found.how, sizeof(found.how), "was ended by signal %.*s",
                 (int)strcspn(signal, ".\n"), signal);
    } else if (status != NULL) {
        found.rank = (int)strtol(place, NULL, 10);
        snprintf(found.how, sizeof(found.how), "ended with status %ld", strtol(status, NULL, 10));
    } else {
        return behind(page, "Primary job") != NULL;
    }
    if (death->rank < 0) {
        *death = found;
    }
    return true;
}

static void take_line(const char *line, page_t *page, death_t *death)
{
    const bool is_edge = strspn(line, "-") > 70;
    if (!is_edge && !page->is_open) {
        // This is how mpirun finds out that a rank died while it signed in there.
        if (strstr(line, "PMIX ERROR: UNREACHABLE in file ") == NULL) {
            fputs(line, stderr);
        }
        return;
    }
    if (!is_edge) {
        const size_t room = sizeof(page->text) - page->size;
        const int size = snprintf(page->text + page->size, room, "%s", line);
        page->size += size < 0 ? 0 : (size_t)size < room ? (size_t)size : room - 1;
        return;
    }
    if (page->is_open && !tells_death(page->text, death)) {
        fprintf(stderr, "%s%s%s", line, page->text, line);
    }
    page->is_open = !page->is_open;
    page->size = 0;
    page->text[0] = '\0';
}

// Passes on what the ranks say, until all have ended, but for mpirun's pages about their deaths.
static void pass_on(int messages, cli_ranks_watch_t *watch, death_t *death)
{
    page_t page = {.text = ""};
    char line[LINE_BYTES];
    size_t size = 0;
    ssize_t got = 0;
    while (cli_ranks_watch_wait(watch, messages) &&
           ((got = read(messages, line + size, 1)) > 0 || (got < 0 && errno == EINTR))) {
        size += got > 0;
        if (size == sizeof(line) - 1 || (size > 0 && line[size - 1] == '\n')) {
            line[size] = '\0';
            take_line(line, &page, death);
            size = 0;
        }
    }
    line[size] = '\0';
    take_line(line, &page, death);
    fputs(page.text, stderr); // of a page that did not end
    (void)close(messages);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Returns the exit status that rank 0 wrote; -1: none, since the ranks did not come to their end.
static int read_status(const char *file)
{
    char text[8] = "";
    FILE *const opened = fopen(file, "re");
    const bool any = opened != NULL && fgets(text, sizeof(text), opened) != NULL;
    if (opened != NULL) {
        (void)fclose(opened);
    }
    return any && text[0] >= '0' && text[0] <= '2' ? text[0] - '0' : -1;
}

// Says how the ranks ended where they did not come to their end. status: mpirun's.
static int report_end(const cli_args_t *args, int status, const death_t *death,
                      const cli_ranks_watch_t *watch)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == COMMAND_NOT_FOUND) {
        fprintf(stderr, "rocesim: mpirun cannot be started, expected the package openmpi-bin to be "
                        "installed\n");
        return CLI_EXIT_BAD_INPUT;
    }
    const char *ended = "others";
    if (watch->signals > 0) {
        fprintf(stderr, "rocesim: interrupted");
        ended = "ranks";
    } else if (WIFSIGNALED(status) && !watch->ended_mpirun) {
        const int signal = WTERMSIG(status);
        fprintf(stderr, "rocesim: mpirun was ended by signal %d (%s)", signal, strsignal(signal));
        ended = "ranks";
    } else if (death->rank >= 0) {
        const char *const on = death->machine[0] != '\0' ? " on " : "";
        fprintf(stderr, "rocesim: rank %d%s%s %s", death->rank, on, death->machine, death->how);
    } else if (watch->first >= 0) {
        fprintf(stderr, "rocesim: rank %d died", watch->first);
    } else {
        fprintf(stderr, "rocesim: a rank died");
    }
    fprintf(stderr, " before the run was over, and all %s were ended", ended);
    char *const unfinished =
        args->folder == NULL ? NULL : sim_format("%s/.unfinished", args->folder);
    if (unfinished != NULL && access(unfinished, F_OK) == 0) {
        fprintf(stderr, "; what was written so far is in %s", unfinished);
    }
    sim_free(unfinished);
    fputc('\n', stderr);
    return CLI_EXIT_FAILED;
}

// Makes an empty file, whose name the ranks find in their environment. Returns its name, which the
// caller frees; NULL: it cannot be made, which was said.
static char *make_file(const char *folder, const char *name, const char *variable)
{
    char *file = sim_format("%s/%s", folder, name);
    FILE *const opened = fopen(file, "we");
    if (opened == NULL) {
        fprintf(stderr, "rocesim: %s: cannot write: %s\n", file, strerror(errno));
        sim_free(file);
        return NULL;
    }
    (void)fclose(opened);
    (void)setenv(variable, file, 1);
    return file;
}

// Starts the ranks and waits for them, with files in the folder.
static int launch(const cli_args_t *args, unsigned count, const char *folder)
{
    char *const file = make_file(folder, "status", STATUS_VARIABLE);
    char *const list = file == NULL ? NULL : make_file(folder, "sign-in", SIGN_IN_VARIABLE);
    if (list == NULL) {
        sim_free(file);
        return CLI_EXIT_FAILED;
    }
    const char *const terminal = isatty(STDERR_FILENO) == 1 ? ttyname(STDERR_FILENO) : NULL;
    (void)setenv(TERMINAL_VARIABLE, terminal != NULL ? terminal : "", 1);
    int messages = -1;
    death_t death = {.rank = -1};
    cli_ranks_watch_t watch;
    cli_ranks_watch_begin(&watch, list, count);
    watch.status = file;
    watch.mpirun = start(args, count, folder, &messages);
    if (messages >= 0 && watch.mpirun > 0) {
        pass_on(messages, &watch, &death);
    }
    cli_ranks_watch_end(&watch);
    const int ended = watch.mpirun > 0 ? wait_for(watch.mpirun) : COMMAND_NOT_FOUND << 8;
    const int status = read_status(file);
    sim_free(file);
    sim_free(list);
    return status >= 0 ? status : report_end(args, ended, &death, &watch);
}

int cli_ranks_launch(const cli_args_t *args, unsigned count)
{
    sim_scratch_t scratch = {0};
    if (!sim_scratch_make(&scratch, NULL, "rocesim-ranks")) {
        fprintf(stderr, "rocesim: cannot make a folder for temporary files: %s\n", strerror(errno));
        return CLI_EXIT_FAILED;
    }
    const int status = launch(args, count, scratch.folder);
    sim_scratch_remove(&scratch);
    return status;
}

void cli_ranks_begin(void)
{
    const char *const file = getenv(SIGN_IN_VARIABLE);
    if (file != NULL && file[0] != '\0') {
        cli_ranks_sign_in(file);
    }
}

int cli_ranks_terminal(void)
{
    const char *const name = getenv(TERMINAL_VARIABLE);
    return name != NULL && name[0] != '\0' ? open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1;
}

int cli_ranks_status(const sim_ranks_t *ranks, int status)
{
    const char *const file = getenv(STATUS_VARIABLE);
    if (ranks == NULL || file == NULL) {
        return ranks == NULL || ranks->rank == 0 ? status : CLI_EXIT_DONE;
    }
    if (ranks->rank == 0) {
        FILE *const opened = fopen(file, "we");
        if (opened == NULL) {
            return status;
        }
        fprintf(opened, "%d\n", status);
        (void)fclose(opened);
    }
    return CLI_EXIT_DONE;
}

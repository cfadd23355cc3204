// SPDX-License-Identifier: Apache-2.0
// apps/programs/process.c - starting and ending a process.
//
// The process gets a fixed environment, no randomised addresses, no terminal, and a group of its
// own, so that all it may have started ends with it. The kernel kills it when the simulator dies.
#define _GNU_SOURCE
#include "apps/programs/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_STACK_BYTES (UINT64_C(64) << 10)
#define END_MS 5000u // that a process may take for its end
#define STATUS_NOT_STARTED 127
#define FIELDS_TO_THREADS 18u // of /proc/PID/stat, from the name to the number of threads
#define ENVIRONMENT_MAX 64u
// Size of the file of a process's pages. The file has it from the beginning, since the process may
// make no file longer than programs.output-max.
#define MEMORY_FILE_BYTES (UINT64_C(1) << 46)

static int memory_file(const char *name, uint64_t bytes, int seals)
{
    const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ((bytes != 0 && ftruncate(file, (off_t)bytes) != 0) ||
                      fcntl(file, F_ADD_SEALS, seals) != 0)) {
        const int reason = errno;
        close(file);
        errno = reason;
        return -1;
    }
    return file;
}

// Opens a file without a name for what a process prints: on a disk, if there is one.
static int output_file(void)
{
    const int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 ? file : memfd_create("output", MFD_CLOEXEC);
}

sim_err_t app__process_create(const app__process_plan_t *plan, app__process_t **process,
                              sim_message_t *message)
{
    app__process_t *const made = sim_alloc(sizeof(*made));
    *made = (app__process_t){.parent = -1, .control = -1, .memory = -1, .out = -1, .err = -1};
    memcpy(made->allowed, plan->allowed, sizeof(made->allowed));
    made->may_spin = CPU_COUNT((const cpu_set_t *)(void *)made->allowed) > 1;
    made->beside = APP__NOT_PLACED;
    made->spins.credit = APP__SPINS_CREDIT;
    made->shared_bytes = sizeof(program_shared_t) + plan->host_count * sizeof(program_host_t);
    const int shared = memory_file("shared", made->shared_bytes, F_SEAL_SHRINK | F_SEAL_GROW);
    made->memory = memory_file("memory", MEMORY_FILE_BYTES, F_SEAL_SHRINK);
    void *bytes = MAP_FAILED;
    if (shared >= 0) {
        bytes = mmap(NULL, made->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
        made->control = shared; // until the start
    }
    made->shared = bytes == MAP_FAILED ? NULL : bytes;
    made->out = output_file();
    made->err = output_file();
    if (made->shared == NULL || made->memory < 0 || made->out < 0 || made->err < 0) {
        const sim_err_t error = sim_fail(
            message, SIM_ERR_IO,
            "the system gives it no shared memory or no file for its output: %s", strerror(errno));
        app__process_destroy(made);
        return error;
    }
    made->shared->version = PROGRAM_VERSION;
    *process = made;
    return SIM_OK;
}

// The library puts the runtime of AddressSanitizer first (programs/process/sanitizers.c).
#define STACK_BYTES (8u << 20)
#define ASAN_OPTIONS "ASAN_OPTIONS="
#define ASAN_ANY_ORDER "verify_asan_link_order=0"

// -- the child, before exec, in the memory of its parent: only calls that are safe there

typedef struct child {
    char **words;
    char **environment;
    const char *path; // of the program
    int control;
    int shared;
    int memory;
    int out;
    int err;
    int report; // takes errno if something fails
    rlim_t output_max_bytes;
    pid_t parent;
} child_t;

static void limit(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) == 0) {
        now.rlim_cur = SIM_MIN(most, now.rlim_max);
        (void)setrlimit(resource, &now);
    }
}

static _Noreturn void become(const child_t *child)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent) {
        _exit(127);
    }
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < 32; number++) {
        (void)signal(number, SIG_DFL);
    }
    limit(RLIMIT_NOFILE, 4096);
    limit(RLIMIT_STACK, STACK_BYTES); // the kernel places all memory by it
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, child->output_max_bytes);
    (void)personality(ADDR_NO_RANDOMIZE);
    const int null = open("/dev/null", O_RDONLY);
    const int from[] = {null, child->out, child->err, child->control, child->shared, child->memory};
    const int to[] = {0, 1, 2, PROGRAM_CONTROL_FD, PROGRAM_SHARED_FD, PROGRAM_MEMORY_FD};
    // Numbers above all that are in use, first: none of the targets is closed by another.
    int high[SIM_COUNT_OF(from)];
    bool moved = true;
    for (size_t i = 0; i < SIM_COUNT_OF(from); i++) {
        high[i] = fcntl(from[i], F_DUPFD, PROGRAM_MEMORY_FD + 1);
        moved = moved && high[i] >= 0;
    }
    const int report = fcntl(child->report, F_DUPFD_CLOEXEC, PROGRAM_MEMORY_FD + 1);
    for (size_t i = 0; i < SIM_COUNT_OF(from) && moved; i++) {
        moved = dup2(high[i], to[i]) >= 0;
        (void)close(high[i]);
    }
    // Nothing else that the simulator has open is the program's.
    (void)close_range(3, PROGRAM_CONTROL_FD - 1, 0);
    (void)close_range(PROGRAM_MEMORY_FD + 1, (unsigned)report - 1, 0);
    (void)close_range((unsigned)report + 1, ~0u, 0);
    if (moved) {
        execve(child->path, child->words, child->environment);
    }
    const int reason = errno;
    (void)!write(report, &reason, sizeof(reason));
    _exit(STATUS_NOT_STARTED);
}

static int begin_child(void *ctx)
{
    become(ctx);
}

// Starts the child. Memory is not copied: this thread waits until the child has called exec.
static pid_t start(child_t *child)
{
    char *const stack = sim_alloc(CHILD_STACK_BYTES);
    const pid_t pid =
        clone(begin_child, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, child);
    const int reason = errno;
    sim_free(stack);
    errno = reason;
    return pid;
}

// -- the parent

// Returns the path of a command: itself if it has a slash, else the first of `path` that is there.
// Free it with sim_free. NULL: there is none.
static char *find_command(const char *word, const char *path)
{
    if (strchr(word, '/') != NULL) {
        return sim_strdup(word);
    }
    const char *at = path;
    while (*at != '\0') {
        const size_t length = strcspn(at, ":");
        char *const candidate = sim_format("%.*s/%s", (int)length, at, word);
        if (access(candidate, X_OK) == 0) {
            return candidate;
        }
        sim_free(candidate);
        at += length + (at[length] == ':');
    }
    return NULL;
}

typedef struct environment {
    char *entries[ENVIRONMENT_MAX + 1];
    size_t count;
} environment_t;

static void add_variable(environment_t *environment, char *entry)
{
    if (environment->count < ENVIRONMENT_MAX) {
        environment->entries[environment->count++] = entry;
        environment->entries[environment->count] = NULL;
    } else {
        sim_free(entry);
    }
}

static void make_environment(const app__process_plan_t *plan, environment_t *environment)
{
    environment->count = 0;
    add_variable(environment, sim_format("PATH=%s", plan->path));
    add_variable(environment, sim_format("HOME=%s", plan->home));
    add_variable(environment, sim_strdup("LANG=C.UTF-8"));
    add_variable(environment, sim_strdup(PROGRAM_ENVIRONMENT "=1"));
    // Programs that open libibverbs.so.1 by name get what is preloaded. The second file only stands
    // where a program looks for librdmacm.so.1: all functions are those of the first.
    add_variable(environment, sim_format("LD_PRELOAD=%s/libibverbs.so.1:%s/librdmacm.so.1",
                                         plan->verbs_folder, plan->verbs_folder));
    const char *at = plan->environment == NULL ? "" : plan->environment;
    for (at += strspn(at, " \t\n"); *at != '\0'; at += strspn(at, " \t\n")) {
        const size_t length = strcspn(at, " \t\n");
        const bool asan = strncmp(at, ASAN_OPTIONS, strlen(ASAN_OPTIONS)) == 0;
        add_variable(environment,
                     sim_format("%.*s%s", (int)length, at, asan ? ":" ASAN_ANY_ORDER : ""));
        at += length;
    }
    // The first of equal names counts: programs.environment may have another one.
    if (plan->temporary != NULL) {
        add_variable(environment, sim_format("TMPDIR=%s", plan->temporary));
    }
    add_variable(environment, sim_strdup(ASAN_OPTIONS ASAN_ANY_ORDER));
    // LLVM's runtimes would start a program that names functions, without a call of this library.
    static const char *const runtimes[] = {"ASAN", "LSAN", "UBSAN"};
    for (size_t i = 0; i < SIM_COUNT_OF(runtimes); i++) {
        add_variable(environment, sim_format("%s_SYMBOLIZER_PATH=", runtimes[i]));
    }
    // OpenMP's threads would count before they wait, which takes no simulated time.
    add_variable(environment, sim_strdup("GOMP_SPINCOUNT=0"));
    // Python would do less in the second run than in the first one.
    add_variable(environment, sim_strdup("PYTHONDONTWRITEBYTECODE=1"));
}

static sim_err_t refuse_start(sim_message_t *message, const char *word, int reason)
{
    return sim_fail(message, SIM_ERR_IO, "the command \"%s\" cannot be started: %s", word,
                    strerror(reason));
}

// Makes a socket for turns and a pipe for the reason of a failure, and forks.
static sim_err_t fork_child(app__process_t *process, const app__process_plan_t *plan, char *path,
                            environment_t *environment, sim_message_t *message)
{
    int turns[2];
    int report[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, turns) != 0) {
        return refuse_start(message, plan->words[0], errno);
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        const int reason = errno;
        close(turns[0]);
        close(turns[1]);
        return refuse_start(message, plan->words[0], reason);
    }
    child_t child = {
        .words = plan->words,
        .environment = environment->entries,
        .path = path,
        .control = turns[1],
        .shared = process->control,
        .memory = process->memory,
        .out = process->out,
        .err = process->err,
        .report = report[1],
        .output_max_bytes = plan->output_max_bytes,
        .parent = getpid(),
    };
    const pid_t pid = start(&child);
    int reason = pid < 0 ? errno : 0;
    close(turns[1]);
    close(report[1]);
    close(process->control); // the shared memory's file
    process->control = turns[0];
    process->pid = pid < 0 ? 0 : pid;
    process->is_child = pid > 0;
    if (pid > 0) {
        (void)setpgid(pid, pid);
        ssize_t got;
        do {
            got = read(report[0], &reason, sizeof(reason));
        } while (got < 0 && errno == EINTR);
        reason = got == (ssize_t)sizeof(reason) ? reason : 0;
    }
    close(report[0]);
    if (pid > 0 && reason != 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        process->pid = 0;
    }
    return reason == 0 ? SIM_OK : refuse_start(message, plan->words[0], reason);
}

sim_err_t app__process_start(app__process_t *process, const app__process_plan_t *plan,
                             sim_message_t *message)
{
    char *const path = find_command(plan->words[0], plan->path);
    if (path == NULL) {
        return refuse_start(message, plan->words[0], ENOENT);
    }
    environment_t environment;
    make_environment(plan, &environment);
    const sim_err_t error = fork_child(process, plan, path, &environment, message);
    sim_free_each(environment.entries, environment.count);
    sim_free(path);
    return error;
}

// -- the end

// Returns true if a process is gone, or is a zombie without other threads: these may still hold its
// files when the first one is a zombie, and the parent's SIGCHLD comes when they are gone.
static bool is_gone(pid_t pid)
{
    char path[64];
    char line[256] = "";
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return true;
    }
    const bool read = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    const char *field = read ? strrchr(line, ')') : NULL;
    if (field == NULL || strncmp(field, ") Z", 3) != 0) {
        return field == NULL;
    }
    for (uint32_t i = 0; i < FIELDS_TO_THREADS && field != NULL; i++) {
        field = strchr(field + 1, ' ');
    }
    return field == NULL || strtol(field, NULL, 10) <= 1;
}

bool app__process_is_dead(const app__process_t *process)
{
    siginfo_t info = {0};
    if (process->is_child) {
        return waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid != 0;
    }
    return process->pid > 0 && is_gone(process->pid);
}

bool app__process_dies_by(const app__process_t *process, int signal)
{
    static const int harmless[] = {0,       SIGCHLD, SIGCONT, SIGURG, SIGWINCH,
                                   SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    char path[64];
    char line[256];
    uint64_t spared = 0; // signals that the process blocks, ignores or handles
    for (size_t i = 0; i < SIM_COUNT_OF(harmless); i++) {
        if (signal == harmless[i]) {
            return false;
        }
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)process->pid);
    FILE *const file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0 ||
            strncmp(line, "SigCgt:", 7) == 0) {
            spared |= strtoull(line + 7, NULL, 16);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return signal == SIGKILL || (signal <= 64 && (spared >> (signal - 1) & 1) == 0);
}

int app__process_end(app__process_t *process, bool kill_at_once)
{
    int status = W_EXITCODE(STATUS_NOT_STARTED, 0);
    app__process_leave(process);
    if (process->pid <= 0) {
        return status;
    }
    for (uint64_t waited_ms = 0;
         !kill_at_once && waited_ms < END_MS && !app__process_is_dead(process); waited_ms += 2) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    (void)kill(-process->pid, SIGKILL);
    (void)kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    process->pid = 0;
    if (process->control >= 0) {
        close(process->control);
        process->control = -1;
    }
    return status;
}

int app__process_map(int file, uint64_t offset, uint64_t length_bytes, void **bytes)
{
    struct stat status;
    if (fstat(file, &status) != 0) {
        return errno;
    }
    const uint64_t pages = ((uint64_t)status.st_size + SIM_PAGE_BYTES - 1) / SIM_PAGE_BYTES;
    if (offset + length_bytes < offset || offset + length_bytes > pages * SIM_PAGE_BYTES) {
        return EINVAL;
    }
    void *const at =
        mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    if (at == MAP_FAILED) {
        return errno;
    }
    *bytes = at;
    return 0;
}

static void close_if_open(int *file)
{
    if (*file >= 0) {
        close(*file);
        *file = -1;
    }
}

void app__process_destroy(app__process_t *process)
{
    if (process == NULL) {
        return;
    }
    SIM_CHECK(process->pid == 0);
    for (size_t i = 0; i < process->mapping_count; i++) {
        (void)munmap(process->mappings[i].bytes, process->mappings[i].length_bytes);
    }
    sim_free(process->mappings);
    if (process->shared != NULL) {
        (void)munmap(process->shared, process->shared_bytes);
    }
    close_if_open(&process->control);
    close_if_open(&process->memory);
    close_if_open(&process->out);
    close_if_open(&process->err);
    sim_free(process);
}

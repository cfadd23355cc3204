// SPDX-License-Identifier: Apache-2.0
// studio/server/process/child.c - the process that watches one run.
#include "studio/server/process/child.h"

#include "studio/server/process/confine.h"
#include "studio/server/process/spawn.h"
#include "studio/server/store/folder.h"
#include "studio/server/studio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 250
#define DISK_LOOKS 8 // the disk is checked at every eighth look
// milliseconds from SIGTERM, after which rocesim writes its results, to SIGKILL
#define END_MS 10000
#define RESERVED_BYTES 512u
#define NICENESS 5

void studio__begun_self(studio_begun_t *begun);

// -- the server's side

static char *number_text(uint64_t number)
{
    return sim_format("%" PRIu64, number);
}

enum { FIXED = 12 };

pid_t studio_child_spawn(const studio_child_t *child, const char *const *arguments)
{
    size_t count = 0;
    while (arguments[count] != NULL) {
        count++;
    }
    const char **const line = sim_alloc_array(FIXED + count + 1, sizeof(*line));
    char *numbers[] = {
        number_text((uint64_t)child->attempt), number_text(child->time_s),
        number_text(child->memory_bytes),      number_text(child->disk_bytes),
        number_text(child->disk_bytes_free),   number_text(child->ranks),
    };
    const char *const fixed[FIXED] = {"rocesim-studio", "child",         child->folder, numbers[0],
                                      child->program,   child->readable, child->files,  numbers[1],
                                      numbers[2],       numbers[3],      numbers[4],    numbers[5]};
    memcpy(line, fixed, sizeof(fixed));
    memcpy(line + FIXED, arguments, count * sizeof(*arguments));
    // The scripts of studies start this program.
    char *const program = sim_format("ROCESIM=%s", child->program);
    char *const temporary = sim_format("TMPDIR=%s", child->folder);
    // The ranks of a run share memory by files, for which they may use the run's folder alone.
    char *const shared = sim_format("OMPI_MCA_btl_vader_backing_directory=%s", child->folder);
    const char *const environment[] = {
        "PATH=/usr/bin:/bin", "LC_ALL=C", program, temporary, shared, NULL};
    const pid_t process = studio_spawn(line, environment, NULL, POSIX_SPAWN_SETSID);
    const int reason = errno;
    sim_free_each(numbers, SIM_COUNT_OF(numbers));
    SIM_FREE_ALL(shared, temporary, program, line);
    errno = reason;
    return process;
}

// -- its own side

typedef struct watch {
    studio_child_t child;
    const char *const *arguments;
    char *exit_path; // exit.N.PID, whose disk space is already reserved
    pid_t process;
    int64_t begun_ms;
    int64_t ending_ms; // when the run was asked to end; 0: not yet
    const char *reason;
    uint64_t memory_bytes;
} watch_t;

// Claims the attempt; true for exactly one process.
static bool take_attempt(const studio_child_t *child)
{
    studio_begun_t self;
    studio__begun_self(&self);
    char *const part = sim_format("begun.%" PRId64 ".%ld", child->attempt, (long)self.process);
    char *const whole = sim_format("begun.%" PRId64, child->attempt);
    FILE *const file = fopen(part, "we");
    bool good = file != NULL;
    if (good) {
        good = fprintf(file, "{\"process\": %ld, \"start\": %" PRIu64 ", \"boot\": \"%s\"}\n",
                       (long)self.process, self.start, self.boot) > 0 &&
               fflush(file) == 0 && fsync(fileno(file)) == 0;
        good = fclose(file) == 0 && good && link(part, whole) == 0;
        (void)unlink(part);
    }
    sim_free(part);
    sim_free(whole);
    return good;
}

// Reserves the disk space of the exit file while there is some; no other process uses this file.
static bool reserve_exit(watch_t *watch)
{
    char spaces[RESERVED_BYTES];
    memset(spaces, ' ', sizeof(spaces));
    watch->exit_path = sim_format("exit.%" PRId64 ".%ld", watch->child.attempt, (long)getpid());
    const int fd = open(watch->exit_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool good =
        fd >= 0 && write(fd, spaces, sizeof(spaces)) == (ssize_t)sizeof(spaces) && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

static void write_exit(const watch_t *watch, int status)
{
    char text[RESERVED_BYTES];
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    const double cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                         (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    memset(text, ' ', sizeof(text));
    const int length = snprintf(
        text, sizeof(text),
        "{\"status\": %d, \"signal\": %d, \"reason\": \"%s\", \"wall_s\": %.3f, "
        "\"cpu_s\": %.3f, \"memory_bytes\": %" PRIu64 "}",
        WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        watch->reason, (double)(studio_clock_ms() - watch->begun_ms) / 1e3, cpu_s,
        (uint64_t)usage.ru_maxrss * 1024);
    SIM_CHECK(length > 0 && (size_t)length < sizeof(text));
    text[length] = ' ';
    char *const whole = sim_format("exit.%" PRId64, watch->child.attempt);
    const int fd = open(watch->exit_path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!pwrite(fd, text, sizeof(text), 0);
        (void)fsync(fd);
        (void)close(fd);
        (void)rename(watch->exit_path, whole);
    }
    sim_free(whole);
}

static void become_rocesim(const watch_t *watch)
{
    const studio_child_t *const child = &watch->child;
    const char *const files[] = {child->files, NULL};
    const studio_confine_t confine = {
        .writable = child->folder,
        .readable = child->readable[0] == '\0' ? NULL : child->readable,
        .also_readable = child->files[0] == '\0' ? NULL : files,
        .program = child->program,
        .memory_bytes = child->memory_bytes,
        .file_bytes = child->disk_bytes,
        .mpi = child->ranks > 1,
    };
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0); // so that processes it starts end with it
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int log = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (in >= 0 && log >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
        dup2(log, STDERR_FILENO) >= 0 && studio_confine(&confine)) {
        const char *const first = watch->arguments[0];
        (void)execv(first[0] == '/' ? first : child->program,
                    (char *const *)(uintptr_t)watch->arguments);
    }
    fprintf(stderr, "%s: cannot be started: %s\n", child->program, strerror(errno));
    (void)fflush(stderr);
    _exit(126);
}

// Sends a signal to the process and to all that it started.
static void tell_group(const watch_t *watch, int signal)
{
    if (kill(-watch->process, signal) != 0) {
        (void)kill(watch->process, signal); // it has no group yet
    }
}

static void end_process(watch_t *watch, const char *reason)
{
    if (watch->ending_ms == 0) {
        watch->ending_ms = studio_clock_ms();
        watch->reason = reason;
        tell_group(watch, SIGTERM);
    }
}

static uint64_t memory_of(pid_t process)
{
    char path[64];
    unsigned long long total = 0;
    unsigned long long resident = 0;
    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)process);
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes valid numbers
    if (fscanf(file, "%llu %llu", &total, &resident) != 2) {
        resident = 0;
    }
    (void)fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

// Returns whether the disk is full: a running run may use half of the space that a new run needs,
// and nothing when the server has released its reserve, the file DATA/reserve.
static bool is_disk_full(const studio_child_t *child)
{
    struct statvfs disk;
    struct stat reserve;
    return (statvfs(".", &disk) == 0 &&
            (uint64_t)disk.f_bavail * disk.f_frsize < child->disk_bytes_free / 2) ||
           (stat("../../reserve", &reserve) == 0 && reserve.st_size == 0);
}

static void look(watch_t *watch, uint64_t count)
{
    const studio_child_t *const child = &watch->child;
    const int64_t now_ms = studio_clock_ms();
    if ((uint64_t)(now_ms - watch->begun_ms) > child->time_s * 1000) {
        end_process(watch, "time");
    }
    if (memory_of(watch->process) > child->memory_bytes) {
        end_process(watch, "memory");
    }
    if (count % DISK_LOOKS == 0) {
        if (studio_folder_bytes(".") > child->disk_bytes) {
            end_process(watch, "disk");
        }
        if (is_disk_full(child)) {
            end_process(watch, "full");
        }
    }
    if (watch->ending_ms != 0 && now_ms - watch->ending_ms > END_MS) {
        tell_group(watch, SIGKILL);
    }
}

static int wait_for_end(watch_t *watch, const sigset_t *signals)
{
    int status = 0;
    for (uint64_t count = 0;; count++) {
        const struct timespec period = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000000L};
        const int number = sigtimedwait(signals, NULL, &period);
        if (number == SIGTERM || number == SIGINT) {
            end_process(watch, "cancelled");
        }
        if (waitpid(watch->process, &status, WNOHANG) == watch->process) {
            (void)kill(-watch->process, SIGKILL); // processes that a script may have left
            return status;
        }
        look(watch, count);
    }
}

static bool read_arguments(watch_t *watch, const char *const *arguments)
{
    for (size_t i = 0; i < FIXED - 2; i++) {
        if (arguments[i] == NULL) {
            return false;
        }
    }
    watch->child = (studio_child_t){
        .folder = arguments[0],
        .attempt = strtoll(arguments[1], NULL, 10),
        .program = arguments[2],
        .readable = arguments[3],
        .files = arguments[4],
        .time_s = strtoull(arguments[5], NULL, 10),
        .memory_bytes = strtoull(arguments[6], NULL, 10),
        .disk_bytes = strtoull(arguments[7], NULL, 10),
        .disk_bytes_free = strtoull(arguments[8], NULL, 10),
        .ranks = strtoull(arguments[9], NULL, 10),
    };
    watch->arguments = arguments + FIXED - 2;
    return watch->arguments[0] != NULL && chdir(watch->child.folder) == 0;
}

int studio_child_main(const char *const *arguments)
{
    watch_t watch = {.reason = "", .begun_ms = studio_clock_ms()};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    if (!read_arguments(&watch, arguments) || !reserve_exit(&watch) ||
        !take_attempt(&watch.child)) {
        if (watch.exit_path != NULL) {
            (void)unlink(watch.exit_path);
        }
        sim_free(watch.exit_path);
        return 1; // another process has the attempt, or the disk is full: nothing has begun
    }
    watch.process = fork();
    int status = 126 << 8;
    if (watch.process == 0) {
        become_rocesim(&watch);
    }
    if (watch.process > 0) {
        status = wait_for_end(&watch, &signals);
    } else {
        watch.reason = "start";
    }
    write_exit(&watch, status);
    sim_free(watch.exit_path);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// cli/plugins/confine.c - takes rights away from this process, for good: files by Landlock, system
// calls by a filter of seccomp.
//
// The filter names what a simulation with one thread needs. Everything else raises SIGSYS: other
// processes, threads, sockets, signals to others, timers, changes of the handlers that report
// crashes.
#define _GNU_SOURCE // O_PATH

#include "cli/plugins/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// A right of newer kernels that the headers of Debian 12 do not name.
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)

#define READING \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                      \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)
#define NEVER                                                                                     \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

// -- files

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static bool allow(int ruleset, const char *path, uint64_t access)
{
    const int fd = open(path, O_PATH | O_CLOEXEC);
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    const bool good = fd >= 0 && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
                                         &rule, 0) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

// Allows reading everywhere (or nowhere else), and writing below the folder and to the file.
static bool confine_files(const char *folder, const char *file, bool reads)
{
    const int version = landlock_version();
    uint64_t handled = READING | WRITING | NEVER;
    handled |= version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
    handled |= version >= 3 ? ACCESS_FS_TRUNCATE : 0;
    const uint64_t of_file = (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_TRUNCATE) & handled;
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
    const bool good = ruleset >= 0 && (!reads || allow(ruleset, "/", READING)) &&
                      (folder == NULL || allow(ruleset, folder, handled & ~(uint64_t)NEVER)) &&
                      (file == NULL || allow(ruleset, file, of_file)) &&
                      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    if (ruleset >= 0) {
        (void)close(ruleset);
    }
    return good;
}

// -- system calls

#define ARGUMENT(index) \
    ((uint32_t)(offsetof(struct seccomp_data, args) + (index)*8u)) // its low half
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_EQUAL(value, then, other) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (other))
#define IF_ANY(bits, then, other) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (then), (other))

// System calls that are allowed whatever their arguments are.
static const int harmless[] = {
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_fstat,
    SYS_lseek,
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_brk,
    SYS_rt_sigreturn,
    SYS_pread64,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_mremap,
    SYS_madvise,
    SYS_dup,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_exit,
    SYS_exit_group,
    SYS_uname,
    SYS_fcntl,
    SYS_flock,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
    SYS_getcwd,
    SYS_fchmod,
    SYS_umask,
    SYS_gettimeofday,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_times,
    SYS_getuid,
    SYS_getgid,
    SYS_geteuid,
    SYS_getegid,
    SYS_sigaltstack,
    SYS_statfs,
    SYS_fstatfs,
    SYS_futex,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_getdents64,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_openat,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_renameat2,
    SYS_getrandom,
    SYS_newfstatat,
    SYS_statx,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_membarrier,
    SYS_ioctl,
    SYS_memfd_create,
#ifdef SYS_open
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_readlink,
    SYS_chmod,
    SYS_dup2,
    SYS_time,
    SYS_getdents,
    SYS_arch_prctl,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    // These take further rights away.
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
    SYS_dup3,
    SYS_nanosleep,
    SYS_clock_nanosleep,
};

// Signals whose handlers may be changed: the others report crashes and calls that do not return.
static const int changeable[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE, SIGXFSZ, SIGWINCH};

typedef struct filter {
    struct sock_filter code[256];
    unsigned short count;
} filter_t;

static void add(filter_t *filter, struct sock_filter line)
{
    SIM_CHECK(filter->count < SIM_COUNT_OF(filter->code));
    filter->code[filter->count++] = line;
}

static void begin_filter(filter_t *filter)
{
    filter->count = 0;
    add(filter, (struct sock_filter)LOAD(offsetof(struct seccomp_data, arch)));
    add(filter, (struct sock_filter)IF_EQUAL(ARCHITECTURE, 1, 0));
    add(filter, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
    add(filter, (struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
}

static bool use_filter(filter_t *filter)
{
    struct sock_fprog program = {.len = filter->count, .filter = filter->code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// Adds: the call is allowed if its argument is one of the values.
static void add_call_with(filter_t *filter, int call, unsigned argument, const int *values,
                          size_t count)
{
    add(filter, (struct sock_filter)IF_EQUAL((uint32_t)call, 0, (uint8_t)(2 * count + 2)));
    add(filter, (struct sock_filter)LOAD(ARGUMENT(argument)));
    for (size_t i = 0; i < count; i++) {
        add(filter, (struct sock_filter)IF_EQUAL((uint32_t)values[i], 0, 1));
        add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    }
    add(filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
}

static bool confine_calls(void)
{
    static const int unblock[] = {SIG_UNBLOCK};
    static const int tighten[] = {PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP};
    const int own[] = {(int)getpid()};
    filter_t filter;
    begin_filter(&filter);
    for (size_t i = 0; i < SIM_COUNT_OF(harmless); i++) {
        add(&filter, (struct sock_filter)IF_EQUAL((uint32_t)harmless[i], 0, 1));
        add(&filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    }
    add_call_with(&filter, SYS_rt_sigaction, 0, changeable, SIM_COUNT_OF(changeable));
    add_call_with(&filter, SYS_rt_sigprocmask, 0, unblock, SIM_COUNT_OF(unblock));
    add_call_with(&filter, SYS_prctl, 0, tighten, SIM_COUNT_OF(tighten));
    add_call_with(&filter, SYS_tgkill, 0, own, SIM_COUNT_OF(own)); // abort() raises a signal
    // Limits are read, not changed: the new ones (argument 2) are a null pointer.
    static const int none[] = {0};
    add_call_with(&filter, SYS_prlimit64, 2, none, SIM_COUNT_OF(none));
    add(&filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
    return ARCHITECTURE != 0 && use_filter(&filter);
}

sim_err_t cli_plugins_confine(const char *folder, const char *file, world_error_t *error)
{
    if (landlock_version() >= 1 && confine_files(folder, file, true) && confine_calls()) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_STATE, NULL,
                      "rocesim run: --plugin-limits needs a kernel with Landlock (Linux 5.13) and "
                      "seccomp on x86-64 or aarch64, and this one refuses them; expected the run "
                      "without this option");
}

void cli_plugins_confine_reading(const char *folder, const char *file)
{
    static const int opens[] = {
        SYS_openat,
#ifdef SYS_open
        SYS_open,
#endif
    };
    filter_t filter;
    begin_filter(&filter);
    for (size_t i = 0; i < SIM_COUNT_OF(opens); i++) {
        const unsigned flags = opens[i] == SYS_openat ? 2 : 1;
        add(&filter, (struct sock_filter)IF_EQUAL((uint32_t)opens[i], 0, 4));
        add(&filter, (struct sock_filter)LOAD(ARGUMENT(flags)));
        add(&filter,
            (struct sock_filter)IF_ANY(O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY | O_PATH, 1, 0));
        add(&filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
        add(&filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    }
    add(&filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    SIM_CHECK(confine_files(folder, file, false) && use_filter(&filter));
}

const char *cli_plugins_call_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SYS_openat, "open"},
        {SYS_execve, "exec"},
        {SYS_clone, "clone"},
        {SYS_socket, "socket"},
        {SYS_connect, "connect"},
        {SYS_kill, "kill"},
        {SYS_ptrace, "ptrace"},
        {SYS_setitimer, "setitimer"},
        {SYS_rt_sigaction, "sigaction"},
        {SYS_rt_sigprocmask, "sigprocmask"},
        {SYS_prlimit64, "setrlimit"},
        {SYS_bpf, "bpf"},
        {SYS_tgkill, "kill"},
        {SYS_socketpair, "socketpair"},
        {SYS_ppoll, "poll"},
        {SYS_rt_sigsuspend, "sigsuspend"},
        {SYS_pidfd_open, "pidfd_open"},
        {SYS_process_vm_writev, "process_vm_writev"},
        {SYS_io_uring_setup, "io_uring_setup"},
        {SYS_symlinkat, "symlink"},
        {SYS_linkat, "link"},
        {SYS_setuid, "setuid"},
#ifdef SYS_open
        {SYS_open, "open"},
        {SYS_fork, "fork"},
        {SYS_vfork, "vfork"},
        {SYS_pause, "pause"},
        {SYS_poll, "poll"},
        {SYS_select, "select"},
        {SYS_alarm, "alarm"},
        {SYS_symlink, "symlink"},
        {SYS_link, "link"},
#endif
        {SYS_clone3, "clone"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "a system call";
}

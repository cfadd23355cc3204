// SPDX-License-Identifier: Apache-2.0
// studio/server/process/confine.c - confines a process with Landlock and resource limits.
#include "studio/server/process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Rights of newer kernels that the headers of Debian 12 do not name.
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)
#define ACCESS_FS_REFER LANDLOCK_ACCESS_FS_REFER
#define ACCESS_NET_BOTH UINT64_C(3) // bind and connect of TCP

#define READING \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                      \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)
#define NEVER                                                                                     \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

#define OF_MPI (LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO)

typedef struct ruleset {
    uint64_t files;
    uint64_t net;
} ruleset_t;

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool studio_confine_possible(void)
{
    return landlock_version() >= 2; // version 1 forbids moving files between folders
}

bool studio_confine_limits_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#else
    return true;
#endif
#else
    return true;
#endif
}

// A path that does not exist needs no rule.
static bool allow(int ruleset, const char *path, uint64_t access, uint64_t handled)
{
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    }
    const struct landlock_path_beneath_attr rule = {
        .allowed_access = access & handled,
        .parent_fd = fd,
    };
    const long result =
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    (void)close(fd);
    return result == 0;
}

// mpirun reads the system's configuration, and gives its processes terminals.
static bool allow_mpi(int ruleset, uint64_t handled)
{
    static const char *const folders[] = {"/etc", "/proc", "/sys"};
    bool good = allow(ruleset, "/dev/ptmx",
                      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE, handled) &&
                allow(ruleset, "/dev/pts",
                      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE, handled);
    for (size_t i = 0; good && i < SIM_COUNT_OF(folders); i++) {
        good = allow(ruleset, folders[i], READING & ~LANDLOCK_ACCESS_FS_EXECUTE, handled);
    }
    return good;
}

static bool allow_all(int ruleset, const studio_confine_t *confine, uint64_t handled)
{
    // Folders of programs and libraries, and harmless devices.
    static const char *const system[] = {"/usr", "/lib", "/lib64", "/bin"};
    static const char *const files[] = {"/etc/ld.so.cache", "/dev/urandom", "/dev/zero"};
    bool good = true;
    for (size_t i = 0; i < SIM_COUNT_OF(system); i++) {
        good = good && allow(ruleset, system[i], READING, handled);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        good = good && allow(ruleset, files[i], LANDLOCK_ACCESS_FS_READ_FILE, handled);
    }
    good = good && allow(ruleset, "/dev/null",
                         LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE, handled);
    const char *const plugins = getenv("ROCESIM_PLUGIN_FOLDER");
    if (good && plugins != NULL && plugins[0] != '\0') {
        good = allow(ruleset, plugins, READING, handled);
    }
    good = good && (!confine->mpi || allow_mpi(ruleset, handled));
    // The sanitizers' runtime reads the process's own memory map.
    good = good && (studio_confine_limits_memory() ||
                    allow(ruleset, "/proc",
                          LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, handled));
    if (good && confine->program != NULL) {
        good = allow(ruleset, confine->program,
                     LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE, handled);
    }
    if (good && confine->readable != NULL) {
        good = allow(ruleset, confine->readable, READING & ~LANDLOCK_ACCESS_FS_EXECUTE, handled);
    }
    for (size_t i = 0; good && confine->also_readable != NULL && confine->also_readable[i] != NULL;
         i++) {
        good = allow(ruleset, confine->also_readable[i], READING & ~LANDLOCK_ACCESS_FS_EXECUTE,
                     handled);
    }
    if (good && confine->writable != NULL) {
        good = allow(ruleset, confine->writable,
                     (READING & ~LANDLOCK_ACCESS_FS_EXECUTE) | WRITING | ACCESS_FS_TRUNCATE |
                         ACCESS_FS_REFER | (confine->mpi ? OF_MPI : 0),
                     handled);
    }
    return good;
}

static bool apply_landlock(const studio_confine_t *confine)
{
    const int version = landlock_version();
    if (version < 2) {
        return true;
    }
    ruleset_t attributes = {.files = READING | WRITING | NEVER | ACCESS_FS_REFER};
    attributes.files |= version >= 3 ? ACCESS_FS_TRUNCATE : 0;
    attributes.net = version >= 4 && !confine->mpi ? ACCESS_NET_BOTH : 0;
    const size_t size = version >= 4 ? sizeof(attributes) : sizeof(attributes.files);
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0) {
        return false;
    }
    const bool good = allow_all(ruleset, confine, attributes.files) &&
                      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    (void)close(ruleset);
    return good;
}

static bool limit(int which, uint64_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)which, &now) != 0) {
        return false;
    }
    const rlim_t wanted = now.rlim_max < most ? now.rlim_max : (rlim_t)most;
    const struct rlimit set = {wanted, wanted};
    return setrlimit((__rlimit_resource_t)which, &set) == 0;
}

bool studio_confine(const studio_confine_t *confine)
{
    bool good = limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, 4096) &&
                limit(RLIMIT_FSIZE, confine->file_bytes);
    if (good && studio_confine_limits_memory()) {
        good = limit(RLIMIT_AS, confine->memory_bytes);
    }
    if (good && confine->cpu_s > 0) {
        good = limit(RLIMIT_CPU, confine->cpu_s);
    }
    return good && apply_landlock(confine);
}

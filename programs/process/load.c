// SPDX-License-Identifier: Apache-2.0
// programs/process/load.c - programs that load libibverbs or librdmacm themselves get this library.

#include <dlfcn.h>
#include <string.h>

#include "programs/spin/loops.h"
#include "programs/time/rewrite.h"
#include "programs/turn.h"

// Returns a handle of this library.
static void *own_handle(int flags)
{
    Dl_info info;
    if (dladdr(&turn_shared, &info) == 0 || info.dli_fname == NULL) {
        return NULL;
    }
    return PROGRAM_NEXT(dlopen)(info.dli_fname, flags);
}

static bool is_own(const char *file)
{
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    return name != NULL &&
           (strncmp(name, "libibverbs.so", 13) == 0 || strncmp(name, "librdmacm.so", 12) == 0);
}

PROGRAM_EXPORT void *dlopen(const char *file, int flags)
{
    if (turn_on() && is_own(file)) {
        return own_handle(flags);
    }
    void *handle = PROGRAM_NEXT(dlopen)(file, flags);
    if (turn_on()) {
        rewrite_all();
        spin_load();
    }
    return handle;
}

PROGRAM_EXPORT int dlclose(void *handle)
{
    const int result = PROGRAM_NEXT(dlclose)(handle);
    if (turn_on()) {
        spin_load();
    }
    return result;
}

// This library's functions have no versions.
PROGRAM_EXPORT void *dlvsym(void *restrict handle, const char *restrict name,
                            const char *restrict version)
{
    if (turn_on() &&
        (strncmp(version, "IBVERBS_", 8) == 0 || strncmp(version, "RDMACM_", 7) == 0)) {
        return dlsym(handle, name);
    }
    return PROGRAM_NEXT(dlvsym)(handle, name, version);
}

// SPDX-License-Identifier: Apache-2.0
// programs/cm/rsockets.c - sockets over RDMA: those of the machine's librdmacm, on this library.
//
// They are a protocol above verbs and connections. The machine's library is loaded beside this one,
// whose functions come first wherever it calls rdma_*() and ibv_*(). It also reads a few fields of
// identifiers by itself (programs/cm/ids.h). Where it is not installed, there are no such sockets.

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "programs/cm/ids.h"
#include "programs/process/code.h"

// All arguments are integers or pointers, and at most six.
typedef long (*function_t)(long a, long b, long c, long d, long e, long f);

static function_t find(const char *name)
{
    static const char *const places[] = {
        "/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
        "/usr/lib64/librdmacm.so.1",
        "/usr/lib/librdmacm.so.1",
    };
    static void *library;
    for (size_t i = 0; i < sizeof places / sizeof *places && library == NULL; i++) {
        library = PROGRAM_NEXT(dlopen)(places[i], RTLD_NOW | RTLD_LOCAL);
    }
    function_t function = NULL;
    void *found = library == NULL || !turn_on() ? NULL : dlsym(library, name);
    memcpy(&function, &found, sizeof function);
    return function;
}

#define FORWARD(name)                                                                        \
    long name(long a, long b, long c, long d, long e, long f);                               \
    PROGRAM_EXPORT CODE_OF_PROGRAM long name(long a, long b, long c, long d, long e, long f) \
    {                                                                                        \
        static function_t function;                                                          \
        function = function == NULL ? find(#name) : function;                                \
        return function == NULL ? cm_return(EOPNOTSUPP) : function(a, b, c, d, e, f);        \
    }

// clang-format off
FORWARD(raccept)
FORWARD(rbind)
FORWARD(rclose)
FORWARD(rconnect)
FORWARD(rfcntl)
FORWARD(rgetpeername)
FORWARD(rgetsockname)
FORWARD(rgetsockopt)
FORWARD(riomap)
FORWARD(riounmap)
FORWARD(riowrite)
FORWARD(rlisten)
FORWARD(rpoll)
FORWARD(rread)
FORWARD(rreadv)
FORWARD(rrecv)
FORWARD(rrecvfrom)
FORWARD(rrecvmsg)
FORWARD(rselect)
FORWARD(rsend)
FORWARD(rsendmsg)
FORWARD(rsendto)
FORWARD(rsetsockopt)
FORWARD(rshutdown)
FORWARD(rsocket)
FORWARD(rwrite)
FORWARD(rwritev)
// clang-format on

// SPDX-License-Identifier: Apache-2.0
// programs/cm/rsockets.c - sockets over RDMA, which are not simulated. Programs refer to them
// beside what they use.

#include <errno.h>

#include "programs/turn.h"

#define NOTHING(name)              \
    long name(void);               \
    PROGRAM_EXPORT long name(void) \
    {                              \
        errno = EOPNOTSUPP;        \
        return -1;                 \
    }

// clang-format off
NOTHING(raccept)
NOTHING(rbind)
NOTHING(rclose)
NOTHING(rconnect)
NOTHING(rfcntl)
NOTHING(rgetpeername)
NOTHING(rgetsockname)
NOTHING(rgetsockopt)
NOTHING(riomap)
NOTHING(riounmap)
NOTHING(riowrite)
NOTHING(rlisten)
NOTHING(rpoll)
NOTHING(rread)
NOTHING(rreadv)
NOTHING(rrecv)
NOTHING(rrecvfrom)
NOTHING(rrecvmsg)
NOTHING(rselect)
NOTHING(rsend)
NOTHING(rsendmsg)
NOTHING(rsendto)
NOTHING(rsetsockopt)
NOTHING(rshutdown)
NOTHING(rsocket)
NOTHING(rwrite)
NOTHING(rwritev)
// clang-format on

// SPDX-License-Identifier: Apache-2.0
// programs/files/load.c - the load and the memory of the host, which are the same at any time: no
// load, and half of this machine's memory is free.

#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/turn.h"

PROGRAM_EXPORT int sysinfo(struct sysinfo *system)
{
    struct timespec now = {0};
    struct sysinfo real = {0};
    const int error = (int)system_call(SYS_sysinfo, &real);
    if (!turn_on() || error != 0) {
        *system = real;
        return error;
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    *system = (struct sysinfo){.uptime = now.tv_sec,
                               .totalram = real.totalram,
                               .freeram = real.totalram / 2,
                               .procs = 1,
                               .mem_unit = real.mem_unit};
    return 0;
}

PROGRAM_EXPORT long get_avphys_pages(void)
{
    return turn_on() ? sysconf(_SC_PHYS_PAGES) / 2 : PROGRAM_NEXT(get_avphys_pages)();
}

PROGRAM_EXPORT int getloadavg(double averages[], int count)
{
    if (!turn_on() || count < 0) {
        return PROGRAM_NEXT(getloadavg)(averages, count);
    }
    count = count < 3 ? count : 3;
    memset(averages, 0, (size_t)count * sizeof *averages);
    return count;
}

// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/machine.c - a program that test_programs_files.sh starts.
//
// Prints what differs from run to run on a machine: random bytes of the kernel, load, free memory,
// faults, and names of temporary files.
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define RANDOM_BYTES 16

int main(int count, char **words)
{
    const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
    char file[1024];
    char folder[1024];
    struct sysinfo system;
    struct rusage usage;
    double load[3];
    if (count < 2 || random == NULL) {
        return 1;
    }
    for (int i = 0; i < RANDOM_BYTES; i++) {
        printf("%02x", random[i]);
    }
    snprintf(file, sizeof file, "%s/fileXXXXXX.text", words[1]);
    snprintf(folder, sizeof folder, "%s/folderXXXXXX", words[1]);
    const int made = mkstemps(file, 5);
    if (made < 0 || mkdtemp(folder) == NULL || sysinfo(&system) != 0 ||
        getrusage(RUSAGE_SELF, &usage) != 0 || getloadavg(load, 3) != 3) {
        return 1;
    }
    printf("\n%s\n%s\n", file, folder);
    printf("%ld s, %lu, %lu of %lu free, %ld pages\n", system.uptime, system.loads[0],
           system.freeram, system.totalram, sysconf(_SC_AVPHYS_PAGES));
    printf("%ld KB, %ld and %ld faults, %ld switches, load %g\n", usage.ru_maxrss, usage.ru_minflt,
           usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw, load[0]);
    return unlink(file) != 0 || rmdir(folder) != 0 || close(made) != 0;
}

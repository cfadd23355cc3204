// SPDX-License-Identifier: Apache-2.0
// programs/files/texts.c - files whose text the library writes: of the system, which is simulated,
// of the names of hosts, and of the program's processes, whose numbers are not this machine's.

#include "programs/files/texts.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "programs/process/processes.h"
#include "programs/process/random.h"
#include "programs/system.h"
#include "programs/turn.h"

#define TEXT_BYTES 8192
#define STAT_FIELDS 52
#define STARTED_TICKS 360000 // an hour after the machine, as clocks say

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// -- the system

static void put_processor(FILE *text)
{
    const uint64_t khz = turn_shared->tsc_hz / 1000;
    (void)fprintf(text,
                  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                  "model name\t: simulated\nstepping\t: 1\n"
                  "cpu MHz\t\t: %lu.%03lu\ncache size\t: 32768 KB\nphysical id\t: 0\n"
                  "siblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nfpu\t\t: yes\n"
                  "flags\t\t: fpu tsc msr cx8 cmov mmx fxsr sse sse2 rdtscp lm constant_tsc "
                  "nonstop_tsc ssse3 cx16 sse4_1 sse4_2 popcnt\n"
                  "clflush size\t: 64\ncache_alignment\t: 64\n\n",
                  (unsigned long)(khz / 1000), (unsigned long)(khz % 1000));
}

static void put_uptime(FILE *text)
{
    const uint64_t ms = now_ms();
    (void)fprintf(text, "%lu.%02lu 0.00\n", (unsigned long)(ms / 1000),
                  (unsigned long)(ms / 10 % 100));
}

static void put_load(FILE *text)
{
    (void)fprintf(text, "0.00 0.00 0.00 1/1 %d\n", getpid());
}

static void put_memory(FILE *text)
{
    struct sysinfo system;
    (void)sysinfo(&system);
    const unsigned long kb = system.totalram * system.mem_unit / 1024;
    (void)fprintf(text,
                  "MemTotal:       %lu kB\nMemFree:        %lu kB\nMemAvailable:   %lu kB\n"
                  "Buffers:        0 kB\nCached:         0 kB\nSwapCached:     0 kB\n"
                  "SwapTotal:      0 kB\nSwapFree:       0 kB\nShmem:          0 kB\n"
                  "Hugepagesize:   2048 kB\n",
                  kb, kb / 2, kb / 2);
}

static void put_uuid(FILE *text)
{
    uint8_t uuid[16];
    random_fill(uuid, sizeof uuid);
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof uuid; i++) {
        (void)fprintf(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    }
    (void)fprintf(text, "\n");
}

// Nobody counts the time of cores.
static void put_stat(FILE *text)
{
    static const char none[] = " 0 0 0 0 0 0 0 0 0 0\n";
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)fprintf(text, "cpu %s", none);
    for (uint32_t core = 0; core < turn_shared->cores; core++) {
        (void)fprintf(text, "cpu%u%s", core, none);
    }
    (void)fprintf(text,
                  "intr 0\nctxt 0\nbtime %lu\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n",
                  (unsigned long)now.tv_sec - (unsigned long)(now_ms() / 1000));
}

// -- processes

// Returns the number that the program sees of any of its processes; 0: it is none of them.
static long number_of(long real)
{
    for (pid_t pid = processes_next(0); pid >= 0; pid = processes_next(pid + 1)) {
        if (processes_real(pid) == (pid_t)real) {
            return pid;
        }
    }
    return real == system_call(SYS_getpid) ? getpid() : 0;
}

// Copies a line of numbers. Those of processes are shown as the program knows them; times, faults
// and the processor would be other ones in each run.
static void copy_stat(FILE *text, const char *real)
{
    const char *at = strrchr(real, ')');
    if (at == NULL) {
        return;
    }
    (void)fprintf(text, "%ld %.*s", number_of(strtol(real, NULL, 10)),
                  (int)(at + 1 - strchr(real, '(')), strchr(real, '('));
    at++;
    for (int field = 3; field <= STAT_FIELDS && *at == ' '; field++) {
        const char *value = at + 1;
        at = value + strcspn(value, " \n");
        const bool is_other = field == 8 || (field >= 10 && field <= 17) || field == 39;
        const long number = field >= 4 && field <= 6 ? number_of(strtol(value, NULL, 10)) : -1;
        if (number == 0) { // of a process that is none of the program's
            (void)fprintf(text, " %d", field == 4 ? 1 : processes_next(0));
        } else if (number > 0) {
            (void)fprintf(text, " %ld", number);
        } else if (field == 22) {
            (void)fprintf(text, " %d", STARTED_TICKS);
        } else {
            (void)fprintf(text, " %.*s", is_other ? 1 : (int)(at - value), is_other ? "0" : value);
        }
    }
    (void)fprintf(text, "\n");
}

static void copy_status(FILE *text, const char *real)
{
    static const char *const numbers[] = {
        "Tgid:", "Pid:", "PPid:", "NStgid:", "NSpid:", "NSpgid:", "NSsid:"};
    for (const char *line = real; *line != '\0';) {
        const char *end = line + strcspn(line, "\n");
        size_t i = 0;
        while (i < sizeof numbers / sizeof *numbers &&
               strncmp(line, numbers[i], strlen(numbers[i])) != 0) {
            i++;
        }
        if (i < sizeof numbers / sizeof *numbers) {
            const long number = number_of(strtol(line + strlen(numbers[i]), NULL, 10));
            (void)fprintf(text, "%s\t%ld\n", numbers[i], number != 0 ? number : 1);
        } else if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
            (void)fprintf(text, "Cpus_allowed_list:\t0-%u\n", (unsigned)turn_shared->cores - 1);
        } else if (strstr(line, "ctxt_switches:") != NULL && strstr(line, "ctxt_switches:") < end) {
            (void)fprintf(text, "%.*s:\t0\n", (int)strcspn(line, ":"), line);
        } else if (strncmp(line, "Cpus_allowed:", 13) != 0) {
            (void)fprintf(text, "%.*s\n", (int)(end - line), line);
        }
        line = *end == '\n' ? end + 1 : end;
    }
}

// Reads a file of this machine. Returns false if there is none.
static bool read_file(const char *path, char bytes[TEXT_BYTES])
{
    const int descriptor = (int)system_call(SYS_openat, -1, path, 0);
    const long got = descriptor < 0 ? -1 : system_call(SYS_read, descriptor, bytes, TEXT_BYTES - 1);
    if (descriptor >= 0) {
        system_call(SYS_close, descriptor);
    }
    bytes[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

static void put_process(FILE *text, const char *path, const char *rest)
{
    char real[TEXT_BYTES];
    if (read_file(path, real)) {
        (strcmp(rest, "stat") == 0 ? copy_stat : copy_status)(text, real);
    }
}

// Writes the names of all hosts, of which programs on resolvers of their own read.
static void put_hosts(FILE *text)
{
    (void)fprintf(text, "127.0.0.1\tlocalhost\n");
    for (uint64_t i = 0; i < turn_shared->host_count; i++) {
        char address[INET6_ADDRSTRLEN] = "";
        const program_host_t *host = turn_host(i);
        struct in6_addr v6;
        memcpy(&v6, host->address, sizeof v6);
        if (IN6_IS_ADDR_V4MAPPED(&v6)) {
            (void)inet_ntop(AF_INET, &v6.s6_addr[12], address, sizeof address);
        } else {
            (void)inet_ntop(AF_INET6, &v6, address, sizeof address);
        }
        (void)fprintf(text, "%s\t%.*s\n", address, (int)sizeof host->name, host->name);
    }
}

static void put_hostname(FILE *text)
{
    (void)fprintf(text, "%s\n", turn_shared->host_name);
}

// Writes the text of a file, or nothing.
static void put_file(FILE *text, const char *path, const char *place)
{
    static const struct {
        const char *path;
        void (*put)(FILE *text);
    } files[] = {
        {"/proc/cpuinfo", put_processor}, {"/proc/uptime", put_uptime},
        {"/proc/loadavg", put_load},      {"/proc/stat", put_stat},
        {"/etc/hosts", put_hosts},        {"/etc/hostname", put_hostname},
        {"/proc/meminfo", put_memory},    {"/proc/sys/kernel/random/uuid", put_uuid},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(path, files[i].path) == 0) {
            files[i].put(text);
            return;
        }
    }
    const char *name = path + strlen("/proc/");
    const char *rest = name + (strncmp(name, "self", 4) == 0 ? 4 : strspn(name, "0123456789"));
    if (strncmp(path, "/proc/", strlen("/proc/")) == 0 && rest != name &&
        (strcmp(rest, "/stat") == 0 || strcmp(rest, "/status") == 0)) {
        put_process(text, place, rest + 1);
    }
}

char *texts_of(const char *path, const char *place)
{
    char *bytes = NULL;
    size_t count = 0;
    if (path == NULL || (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/etc/host", 9) != 0) ||
        !turn_on() || !turn_is_mine() || turn_busy()) {
        return NULL;
    }
    FILE *text = open_memstream(&bytes, &count);
    if (text == NULL) {
        return NULL;
    }
    put_file(text, path, place);
    if (fclose(text) != 0 || count == 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

// SPDX-License-Identifier: Apache-2.0
// studio/server/process/child_files.c - reads who runs an attempt and how it ended.
#include "studio/server/process/child.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Returns when a process began, in ticks since boot; 0 if it has ended. The value is read from
// /proc/PID/stat, behind the process's name, which may contain any characters.
static uint64_t start_of(pid_t process)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)process);
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    const char *const name_end = strrchr(text, ')');
    char state = 0;
    uint64_t start = 0;
    if (name_end == NULL ||
        // NOLINTNEXTLINE(cert-err34-c): the kernel writes valid numbers
        sscanf(name_end,
               ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &state, &start) != 2) {
        return 0;
    }
    return state == 'Z' || state == 'X' ? 0 : start;
}

static void read_boot(char boot[40])
{
    boot[0] = '\0';
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(boot, 40, file) == NULL) {
            boot[0] = '\0';
        }
        (void)fclose(file);
        boot[strcspn(boot, "\n")] = '\0';
    }
}

void studio__begun_self(studio_begun_t *begun);
void studio__begun_self(studio_begun_t *begun)
{
    begun->process = getpid();
    begun->start = start_of(begun->process);
    read_boot(begun->boot);
}

static json_t *load(const char *folder, const char *name, int64_t attempt)
{
    char *const path = sim_format("%s/%s.%" PRId64, folder, name, attempt);
    json_t *const json = json_load_file(path, 0, NULL);
    sim_free(path);
    return json;
}

static void take_text(const json_t *json, const char *name, char *text, size_t size)
{
    const char *const value = json_string_value(json_object_get(json, name));
    snprintf(text, size, "%s", value == NULL ? "" : value);
}

bool studio_begun_read(const char *folder, int64_t attempt, studio_begun_t *begun)
{
    json_t *const json = load(folder, "begun", attempt);
    if (json == NULL) {
        return false;
    }
    begun->process = (pid_t)json_integer_value(json_object_get(json, "process"));
    begun->start = (uint64_t)json_integer_value(json_object_get(json, "start"));
    take_text(json, "boot", begun->boot, sizeof(begun->boot));
    json_decref(json);
    return true;
}

bool studio_begun_alive(const studio_begun_t *begun)
{
    char boot[40];
    read_boot(boot);
    return begun->process > 1 && strcmp(boot, begun->boot) == 0 && begun->start != 0 &&
           start_of(begun->process) == begun->start;
}

bool studio_exit_read(const char *folder, int64_t attempt, studio_exit_t *exit)
{
    json_t *const json = load(folder, "exit", attempt);
    if (json == NULL) {
        return false;
    }
    *exit = (studio_exit_t){
        .status = (int)json_integer_value(json_object_get(json, "status")),
        .signal = (int)json_integer_value(json_object_get(json, "signal")),
        .wall_s = json_number_value(json_object_get(json, "wall_s")),
        .cpu_s = json_number_value(json_object_get(json, "cpu_s")),
        .memory_bytes = (uint64_t)json_integer_value(json_object_get(json, "memory_bytes")),
    };
    take_text(json, "reason", exit->reason, sizeof(exit->reason));
    json_decref(json);
    return true;
}

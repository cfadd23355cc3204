// SPDX-License-Identifier: Apache-2.0
// world/scenario/capture_names.c - the names of capture files, with {port} or {node} in them
// (docs/formats/captures.md).
#include "world/scenario/capture_names.h"

#include "world/capture_files.h"

#include <string.h>

#define FIELD_SIZE 6u // of "{port}" and of "{node}"

// Appends a name of a port or node to a file name; "->" becomes '-', and characters that are
// awkward in file names become '_'. The buffer has room.
static char *append_name(char *to, const char *name)
{
    for (const char *p = name; *p != '\0'; p++) {
        if (p[0] == '-' && p[1] == '>') {
            continue;
        }
        const bool word = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                          (*p >= 'A' && *p <= 'Z') || strchr("._-", *p) != NULL;
        *to++ = *p == '>' ? '-' : word ? *p : '_';
    }
    *to = '\0';
    return to;
}

char *world__capture_default_name(const char *ports)
{
    static const char end[] = ".pcap.gz";
    char *const name = sim_alloc(strlen(ports) + sizeof(end));
    memcpy(append_name(name, ports), end, sizeof(end));
    return name;
}

bool world__capture_is_pattern(const char *file)
{
    return strpbrk(file, "{}") != NULL;
}

static bool is_field(const char *text)
{
    return strncmp(text, "{port}", FIELD_SIZE) == 0 || strncmp(text, "{node}", FIELD_SIZE) == 0;
}

bool world__capture_pattern_ok(const char *file)
{
    const char *p = file;
    while (*p != '\0') {
        if (!is_field(p) && (*p == '{' || *p == '}')) {
            return false;
        }
        p += is_field(p) ? FIELD_SIZE : 1;
    }
    return true;
}

char *world_capture_file_name(const char *file, const char *port)
{
    char *const node = sim_strdup(port);
    char *const arrow = strstr(node, "->");
    if (arrow != NULL) {
        *arrow = '\0';
    }
    size_t size = 1;
    for (const char *p = file; *p != '\0'; p++) {
        size += *p == '{' ? strlen(port) : 1;
    }
    char *const name = sim_alloc(size);
    char *to = name;
    const char *p = file;
    while (*p != '\0') {
        if (is_field(p)) {
            to = append_name(to, strncmp(p, "{port}", FIELD_SIZE) == 0 ? port : node);
            p += FIELD_SIZE;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
    sim_free(node);
    return name;
}

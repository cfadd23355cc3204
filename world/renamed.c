// SPDX-License-Identifier: Apache-2.0
// world/renamed.c - attributes that had other names, old and new.
#include "world/renamed.h"

#include <stddef.h>
#include <string.h>

static const char *const names[][2] = {
    {"nic.rate-change", "nic.scan.rate-change"},
    {"nic.rate-bound", "nic.scan.rate-bound"},
    {"nic.ack-pause-class", "nic.scan.ack-pause-class"},
};

const char *world_renamed(const char *path)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i][0], path) == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

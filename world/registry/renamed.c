// SPDX-License-Identifier: Apache-2.0
// world/registry/renamed.c - attributes that had other names, old and new.
#include "world/registry/renamed.h"

#include <stddef.h>
#include <string.h>

static const world_renamed_t renamed[] = {
    {"nic.rate-change", "nic.scan.rate-change", NULL},
    {"nic.rate-bound", "nic.scan.rate-bound", NULL},
    {"nic.ack-pause-class", "nic.scan.ack-pause-class", NULL},
    {"nic.detailed.cpu.clock", "nic.host.clock", NULL},
    {"nic.detailed.cpu.clock-all", "nic.host.clock-all", NULL},
    {"nic.detailed.cpu.clock-all-from", "nic.host.clock-all-from", NULL},
    {"nic.frame-header", NULL, "nic: {frames: bare, bare: {header: 48}}"},
    {"nic.frame-ack", NULL, "nic: {frames: bare, bare: {ack: 60}}"},
    {"nic.any-mtu", NULL, "nic: {frames: bare}, which has any MTU"},
};

const world_renamed_t *world_renamed(const char *path)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
        if (strcmp(renamed[i].before, path) == 0) {
            return &renamed[i];
        }
    }
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// cli/live/sysfs.c - the counters of all NICs as files, as Linux shows those of a host.
//
// Each NIC is a device of class/infiniband with one port. Files are replaced whole, so a reader
// never sees a part of a number.
#include "cli/live/targets.h"

#include "net/ports.h"
#include "nic/host.h"
#include "nic/port_counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct sysfs {
    char *folder;
} sysfs_t;

// Makes a folder and those above it.
static bool make_folders(char *path)
{
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p == '/') {
            *p = '\0';
            const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
            *p = '/';
            if (!made) {
                return false;
            }
        }
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char *const path = sim_format("%s/%s", folder, name);
    char *const aside = sim_format("%s.part", path);
    FILE *const file = fopen(aside, "we");
    const bool written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL && fclose(file) == 0 && written) {
        (void)rename(aside, path);
    }
    sim_free(aside);
    sim_free(path);
}

static void put_number(const char *folder, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    put_file(folder, name, text);
}

// Returns the folder of a NIC's device. Slashes of "host0/nic1" cannot stand in a file's name.
static char *device_of(const sysfs_t *sysfs, const world_nic_t *nic)
{
    char *const name = sim_strdup(nic->name);
    for (char *p = name; *p != '\0'; p++) {
        *p = *p == '/' ? '_' : *p;
    }
    char *const path = sim_format("%s/class/infiniband/%s", sysfs->folder, name);
    sim_free(name);
    return path;
}

static sim_err_t put_device(const sysfs_t *sysfs, const world_t *world, size_t i,
                            world_error_t *error)
{
    static const char *const folders[] = {"counters", "hw_counters"};
    const net_port_t *const port = net_interface_port(world->net, (uint32_t)i);
    char *const device = device_of(sysfs, &world->nics[i]);
    char *const own = sim_format("%s/ports/1", device);
    sim_err_t result = SIM_OK;
    for (size_t f = 0; f < SIM_COUNT_OF(folders) && result == SIM_OK; f++) {
        char *const path = sim_format("%s/%s", own, folders[f]);
        if (!make_folders(path)) {
            result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot make the folder: %s",
                                strerror(errno));
        }
        sim_free(path);
    }
    if (result == SIM_OK) {
        char *const rate =
            sim_format("%" PRIu64 " Gb/sec (4X)\n", port->line->rate_bps / UINT64_C(1000000000));
        put_file(device, "board_id", "rocesim\n");
        put_file(device, "fw_ver", "0.0.0\n");
        put_file(device, "hca_type", "rocesim\n");
        put_file(device, "node_type", "1: CA\n");
        put_file(own, "state", "4: ACTIVE\n");
        put_file(own, "phys_state", "5: LinkUp\n");
        put_file(own, "link_layer", "Ethernet\n");
        put_file(own, "rate", rate);
        sim_free(rate);
    }
    sim_free(own);
    sim_free(device);
    return result;
}

static sim_err_t open_tree(const world_t *world, const char *where, void **target,
                           world_error_t *error)
{
    sysfs_t *const sysfs = sim_alloc(sizeof(*sysfs));
    sysfs->folder = sim_strdup(where);
    *target = sysfs;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < world->nic_count && result == SIM_OK; i++) {
        result = put_device(sysfs, world, i, error);
    }
    if (result != SIM_OK) {
        sim_free(sysfs->folder);
        sim_free(sysfs);
    }
    return result;
}

static void publish_tree(void *target, const world_t *world, sim_time_t now_ps)
{
    const sysfs_t *const sysfs = target;
    for (size_t i = 0; i < world->nic_count; i++) {
        const world_nic_t *const nic = &world->nics[i];
        if (!world_nic_exists(world, nic)) {
            continue;
        }
        char *const device = device_of(sysfs, nic);
        char *const counters = sim_format("%s/ports/1/counters", device);
        char *const more = sim_format("%s/ports/1/hw_counters", device);
        const nic_t *const own = world_nic_of(world, nic);
        const char *const held = (const char *)nic_get_counters(own);
        for (const nic_port_counter_info_t *row = nic_port_counter_infos; row->name != NULL;
             row++) {
            put_number(counters, row->name, nic_port_counter(own, row, now_ps));
        }
        for (const nic_counter_info_t *row = nic_counter_infos; row->name != NULL; row++) {
            uint64_t value = 0;
            memcpy(&value, held + row->field.offset, sizeof(value));
            put_number(more, row->name, value);
        }
        SIM_FREE_ALL(more, counters, device);
    }
}

static void close_tree(void *target, const world_t *world, sim_time_t now_ps)
{
    sysfs_t *const sysfs = target;
    publish_tree(sysfs, world, now_ps);
    sim_free(sysfs->folder);
    sim_free(sysfs);
}

const live_target_ops_t live__sysfs = {"sysfs", NULL, open_tree, publish_tree, close_tree};

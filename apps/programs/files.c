// SPDX-License-Identifier: Apache-2.0
// apps/programs/files.c - writes the files of a host's devices. Paths and texts are those of Linux.
#define _GNU_SOURCE
#include "apps/programs/files.h"

#include "apps/programs/guest.h"
#include "kernel/scratch.h"
#include "nic/host.h"
#include "nic/port_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 512
#define PATH_BYTES 256
#define PORT_CAPABILITIES 0x04010000 // connection manager, GIDs of IP addresses

// The folder of a host, made when a program of the host has asked for it.
typedef struct folder {
    char *path;
    char *temporary;  // the folder of temporary files in it
    bool begun;       // the folders of the devices are there
    uint32_t parts;   // of the files that are there, as program_files_t
    uint64_t *values; // of the files that change, in the order in which they are written
    size_t value_count;
    size_t value_capacity;
} folder_t;

struct app__files {
    const net_t *net;
    folder_t *folders; // by interface of the host's first NIC
    size_t folder_count;
    pthread_mutex_t lock;  // of the next two, which programs of several threads may make
    sim_scratch_t scratch; // has the folders of all hosts
    sim_scratch_t traces;
};

// A folder in which files are written.
typedef struct place {
    int root; // descriptor of the host's folder
    int here; // descriptor of the folder `prefix` in it; -1: not open yet
    char prefix[PATH_BYTES];
    int error;        // the first one; 0: none
    folder_t *folder; // of the host
    size_t value;     // index of the next one in folder->values
} place_t;

app__files_t *app__files_create(const net_t *net)
{
    app__files_t *const files = sim_alloc(sizeof(*files));
    files->net = net;
    files->folder_count = net_interface_count(net);
    files->folders = sim_alloc_array(files->folder_count + 1, sizeof(*files->folders));
    SIM_CHECK(pthread_mutex_init(&files->lock, NULL) == 0);
    return files;
}

void app__files_destroy(app__files_t *files)
{
    if (files == NULL) {
        return;
    }
    for (size_t i = 0; i < files->folder_count; i++) {
        sim_free(files->folders[i].path);
        sim_free(files->folders[i].values);
        sim_free(files->folders[i].temporary);
    }
    sim_scratch_remove(&files->scratch);
    sim_scratch_remove(&files->traces);
    pthread_mutex_destroy(&files->lock);
    sim_free(files->folders);
    sim_free(files);
}

// Returns a folder of all hosts, made if it is not there; NULL: it cannot be.
static const char *scratch_of(app__files_t *files, sim_scratch_t *scratch, const char *parent,
                              const char *name)
{
    pthread_mutex_lock(&files->lock);
    const bool made = scratch->folder != NULL || sim_scratch_make(scratch, parent, name);
    pthread_mutex_unlock(&files->lock);
    return made ? scratch->folder : NULL;
}

const char *app__files_traces(app__program_t *program)
{
    app__files_t *const files = program->files;
    return scratch_of(files, &files->traces, program->permission->scratch, "rocesim-trace");
}

// -- writing

static void note(place_t *place, bool done)
{
    place->error = done || place->error != 0 ? place->error : errno;
}

// Makes the folders of a path up to its last slash. Most of the time only the last is missing.
static void make_folders(int root, char *path)
{
    char *const slash = strrchr(path, '/');
    if (slash == NULL) {
        return;
    }
    *slash = '\0';
    if (mkdirat(root, path, 0755) != 0 && errno == ENOENT) {
        make_folders(root, path);
        (void)mkdirat(root, path, 0755);
    }
    *slash = '/';
}

// Returns a descriptor of the folder in which files are written now.
static int inside(place_t *place)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    if (place->here < 0 && place->prefix[0] != '\0') {
        place->here = openat(place->root, place->prefix, flags);
        if (place->here < 0) {
            make_folders(place->root, place->prefix);
            place->here = openat(place->root, place->prefix, flags);
        }
    }
    return place->here < 0 ? place->root : place->here;
}

SIM_PRINTF(2, 3) static void enter(place_t *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(place->prefix, sizeof(place->prefix), format, arguments);
    va_end(arguments);
    if (place->here >= 0) {
        close(place->here);
        place->here = -1;
    }
}

static void put_bytes(place_t *place, const char *name, const void *bytes, size_t count)
{
    char path[PATH_BYTES];
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    int file = openat(inside(place), name, flags, 0644);
    if (file < 0) {
        (void)snprintf(path, sizeof(path), "%s", name);
        make_folders(inside(place), path);
        file = openat(inside(place), name, flags, 0644);
    }
    note(place, file >= 0 && write(file, bytes, count) == (ssize_t)count);
    if (file >= 0) {
        close(file);
    }
}

SIM_PRINTF(3, 4) static void put(place_t *place, const char *name, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text) - 1, format, arguments);
    va_end(arguments);
    const size_t bytes = SIM_MIN((size_t)length, sizeof(text) - 2);
    text[bytes] = '\n';
    put_bytes(place, name, text, bytes + 1);
}

SIM_PRINTF(3, 4) static void point(place_t *place, const char *name, const char *format, ...)
{
    char path[PATH_BYTES];
    char target[PATH_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(target, sizeof(target), format, arguments);
    va_end(arguments);
    if (symlinkat(target, inside(place), name) != 0) {
        (void)snprintf(path, sizeof(path), "%s", name);
        make_folders(inside(place), path);
        note(place, symlinkat(target, inside(place), name) == 0 || errno == EEXIST);
    }
}

// Makes a folder.
static void put_folder(place_t *place, const char *name)
{
    note(place, mkdirat(inside(place), name, 0755) == 0 || errno == EEXIST);
}

// -- what does not change

// Writes the table of a port's GIDs, of the NIC with this index on its host.
static void put_gids(place_t *place, const program_device_t *device, uint32_t index)
{
    const uint8_t *const gid = device->gid;
    char text[40];
    char name[32];
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(text + i * 5, 6, "%02x%02x%s", gid[i * 2], gid[i * 2 + 1], i < 7 ? ":" : "");
    }
    for (uint32_t i = 0; i < PROGRAM_GIDS; i++) {
        (void)snprintf(name, sizeof(name), "gids/%u", i);
        put(place, name, "%s", text);
        (void)snprintf(name, sizeof(name), "gid_attrs/types/%u", i);
        put(place, name, "%s", device->lid == 0 ? "RoCE v2" : "IB/RoCE v1");
        if (device->lid == 0) {
            (void)snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", i);
            put(place, name, "eth%u", index);
        }
    }
}

static void put_guid(place_t *place, const char *name, uint64_t guid)
{
    put(place, name, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48), (unsigned)(guid >> 32 & 0xffff),
        (unsigned)(guid >> 16 & 0xffff), (unsigned)(guid & 0xffff));
}

// Writes the cores of the host as Linux writes sets of them.
static void put_cores(place_t *place, const char *map, const char *list, uint32_t cores)
{
    char text[TEXT_BYTES] = "";
    size_t length = 0;
    for (uint32_t word = (cores + 31) / 32; word-- > 0;) {
        const uint32_t here = SIM_MIN(cores - word * 32, 32u);
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%08x%s",
                                   UINT32_MAX >> (32 - here), word > 0 ? "," : "");
    }
    put(place, map, "%s", text);
    put(place, list, "0-%u", cores - 1);
}

// Writes the only NUMA node of the host, whatever this machine has.
static void put_node(place_t *place, uint32_t cores)
{
    static const char *const sets[] = {"online", "possible", "has_cpu", "has_memory",
                                       "has_normal_memory"};
    enter(place, "sys/devices/system/node/");
    for (size_t i = 0; i < SIM_COUNT_OF(sets); i++) {
        put(place, sets[i], "0");
    }
    enter(place, "sys/devices/system/node/node0/");
    put_cores(place, "cpumap", "cpulist", cores);
    put(place, "distance", "10");
    put(place, "meminfo", "Node 0 MemTotal: %u kB\nNode 0 MemFree: %u kB", 1u << 26, 1u << 26);
    enter(place, "%s", "");
}

#define DEVICE_FOLDER "sys/devices/pci0000:00/0000:%02x:00.0/"
#define DEVICE_LINK "../../devices/pci0000:00/0000:%02x:00.0/"

static void put_interface(place_t *place, uint32_t index, const program_device_t *device)
{
    const uint8_t *const mac = device->mac;
    char name[PATH_BYTES];
    enter(place, DEVICE_FOLDER "net/eth%u/", index + 1, index);
    put(place, "address", "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
        mac[5]);
    put(place, "broadcast", "ff:ff:ff:ff:ff:ff");
    put(place, "addr_len", "6");
    put(place, "type", "1");
    put(place, "flags", "0x1003");
    put(place, "ifindex", "%u", index + 2);
    put(place, "iflink", "%u", index + 2);
    put(place, "dev_id", "0x0");
    put(place, "dev_port", "0");
    put(place, "duplex", "full");
    put(place, "speed", "%" PRIu64, device->rate_bps / 1000000);
    put(place, "mtu", "%u", device->mtu_bytes > 1024 ? 9000u : 1500u);
    put(place, "tx_queue_len", "1000");
    put(place, "uevent", "INTERFACE=eth%u\nIFINDEX=%u", index, index + 2);
    point(place, "device", "../..");
    point(place, "subsystem", "../../../../../class/net");
    put_folder(place, "statistics");
    enter(place, "sys/class/net/");
    (void)snprintf(name, sizeof(name), "eth%u", index);
    point(place, name, DEVICE_LINK "net/%s", index + 1, name);
}

static void put_verbs(place_t *place, uint32_t index, const program_device_t *device,
                      const char *host)
{
    char name[PATH_BYTES];
    enter(place, DEVICE_FOLDER "infiniband/%s/", index + 1, device->name);
    put(place, "node_type", "1: CA");
    put(place, "node_desc", "%s %s", host, device->name);
    put(place, "fw_ver", "rocesim");
    put(place, "hca_type", "rocesim");
    put(place, "board_id", "rocesim");
    put(place, "hw_rev", "0");
    put_guid(place, "node_guid", device->guid);
    put_guid(place, "sys_image_guid", device->guid);
    point(place, "device", "../..");
    point(place, "subsystem", "../../../../../class/infiniband");
    enter(place, DEVICE_FOLDER "infiniband/%s/ports/1/", index + 1, device->name);
    put_gids(place, device, index);
    put_folder(place, "counters");
    put_folder(place, "hw_counters");
    put(place, "pkeys/0", "0xffff");
    put(place, "link_layer", "%s", device->lid == 0 ? "Ethernet" : "InfiniBand");
    put(place, "lid", "0x%x", device->lid);
    put(place, "sm_lid", "0x%x", device->lid == 0 ? 0u : 1u);
    put(place, "lid_mask_count", "0");
    put(place, "sm_sl", "0");
    put(place, "cap_mask", "0x%08x", PORT_CAPABILITIES);
    put(place, "rate", "%" PRIu64 " Gb/sec", device->rate_bps / 1000000000);
    enter(place, DEVICE_FOLDER "infiniband_verbs/uverbs%u/", index + 1, index);
    put(place, "ibdev", "%s", device->name);
    put(place, "abi_version", "1");
    put(place, "dev", "231:%u", 192 + index);
    point(place, "device", "../..");
    enter(place, "sys/class/infiniband/");
    point(place, device->name, DEVICE_LINK "infiniband/%s", index + 1, device->name);
    (void)snprintf(name, sizeof(name), "uverbs%u", index);
    enter(place, "sys/class/infiniband_verbs/");
    point(place, name, DEVICE_LINK "infiniband_verbs/%s", index + 1, name);
    enter(place, "dev/infiniband/");
    point(place, name, "/dev/null"); // a character device that all may open
}

// Writes what libpci reads: a device without a region of memory, an interrupt or capabilities.
static void put_pci(place_t *place, uint32_t index, const program_shared_t *shared)
{
    static const uint8_t config[64] = {[0x0b] = 0x02}; // a network adapter
    static const char region[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    char regions[7 * sizeof(region)] = "";
    for (size_t i = 0; i < 7; i++) {
        (void)snprintf(regions + i * strlen(region), sizeof(region), "%s", region);
    }
    enter(place, DEVICE_FOLDER, index + 1);
    put_bytes(place, "config", config, sizeof(config));
    put_bytes(place, "resource", regions, strlen(regions));
    put(place, "irq", "0");
    put(place, "vendor", "0x0000");
    put(place, "device", "0x0000");
    put(place, "subsystem_vendor", "0x0000");
    put(place, "subsystem_device", "0x0000");
    put(place, "class", "0x020000");
    put(place, "revision", "0x00");
    put_cores(place, "local_cpus", "local_cpulist", shared->cores);
    put(place, "numa_node", "0");
}

// Makes the folders in which programs look for devices, so that they see which parts there are.
static void put_folders(place_t *place, uint32_t device_count)
{
    static const char *const classes[] = {"infiniband", "infiniband_verbs", "net", "misc"};
    char name[PATH_BYTES];
    for (uint32_t i = 0; i < device_count; i++) {
        (void)snprintf(name, sizeof(name), "0000:%02x:00.0", i + 1);
        enter(place, "sys/bus/pci/devices/");
        point(place, name, "../../../devices/pci0000:00/%s", name);
        enter(place, DEVICE_FOLDER, i + 1);
        for (size_t j = 0; j + 1 < SIM_COUNT_OF(classes); j++) {
            put_folder(place, classes[j]);
        }
    }
    enter(place, "sys/class/");
    for (size_t i = 0; i < SIM_COUNT_OF(classes); i++) {
        put_folder(place, classes[i]);
    }
}

// Adds to a text of `size` bytes what fits.
SIM_PRINTF(3, 4) static void add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

// Writes what Linux shows of the network: interfaces, addresses of IPv6, and routes.
static void put_network(place_t *place, const program_shared_t *shared)
{
    static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};
    char dev[PROGRAM_DEVICES_MAX * 128] =
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
        "drop fifo colls carrier compressed\n"
        "    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    char route[PROGRAM_DEVICES_MAX * 128] =
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
    char inet6[PROGRAM_DEVICES_MAX * 64] = "";
    for (uint32_t i = 0; i < shared->device_count; i++) {
        const uint8_t *const gid = shared->devices[i].gid;
        add(dev, sizeof(dev), "  eth%u: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", i);
        if (memcmp(gid, v4_prefix, sizeof(v4_prefix)) == 0) {
            add(route, sizeof(route), "eth%u\t%08X\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n",
                i, gid[12]);
            continue;
        }
        for (size_t byte = 0; byte < 16; byte++) {
            add(inet6, sizeof(inet6), "%02x", gid[byte]);
        }
        add(inet6, sizeof(inet6), " %02x 40 00 80 eth%u\n", i + 2, i);
    }
    enter(place, "proc/net/");
    put_bytes(place, "dev", dev, strlen(dev));
    put_bytes(place, "route", route, strlen(route));
    put_bytes(place, "if_inet6", inet6, strlen(inet6));
    put_bytes(place, "ipv6_route", "", 0);
    put(place, "arp",
        "IP address       HW type     Flags       HW address            Mask     Device");
    enter(place, "%s", "");
    point(place, "proc/self/net", "../net");
}

static void put_loopback(place_t *place)
{
    enter(place, "sys/class/net/");
    point(place, "lo", "../../devices/virtual/net/lo");
    enter(place, "sys/devices/virtual/net/lo/");
    put(place, "address", "00:00:00:00:00:00");
    put(place, "type", "772");
    put(place, "flags", "0x9");
    put(place, "ifindex", "1");
    put(place, "iflink", "1");
    put(place, "mtu", "65536");
    put(place, "operstate", "unknown");
}

static void put_system(place_t *place, const char *host, uint64_t id)
{
    const uint64_t other = sim_mix64(id + 1);
    enter(place, "%s", "");
    put(place, "proc/sys/kernel/random/boot_id", "%08x-%04x-4%03x-8%03x-%012" PRIx64,
        (unsigned)(id >> 32), (unsigned)(id >> 16 & 0xffff), (unsigned)(id & 0xfff),
        (unsigned)(other >> 48 & 0xfff), other & 0xffffffffffff);
    put(place, "etc/machine-id", "%016" PRIx64 "%016" PRIx64, sim_mix64(id), other);
    put(place, "proc/sys/kernel/hostname", "%s", host);
}

// Writes what does not change of some parts (program_files_t).
static void put_parts(place_t *place, const program_shared_t *shared, uint32_t parts, uint64_t id)
{
    if ((parts & PROGRAM_FILES_NET) != 0) {
        put_network(place, shared);
    }
    if ((parts & PROGRAM_FILES_NODES) != 0) {
        put_node(place, shared->cores);
    }
    if ((parts & PROGRAM_FILES_SYSTEM) != 0) {
        put_system(place, shared->host_name, id);
    }
    for (uint32_t i = 0; i < shared->device_count; i++) {
        if ((parts & PROGRAM_FILES_NET) != 0) {
            put_interface(place, i, &shared->devices[i]);
        }
        if ((parts & PROGRAM_FILES_VERBS) != 0) {
            put_verbs(place, i, &shared->devices[i], shared->host_name);
        }
        if ((parts & PROGRAM_FILES_PCI) != 0) {
            put_pci(place, i, shared);
        }
    }
    if ((parts & PROGRAM_FILES_NET) != 0) {
        put_loopback(place);
    }
    if ((parts & PROGRAM_FILES_VERBS) != 0) {
        enter(place, "%s", "");
        point(place, "dev/infiniband/rdma_cm", "/dev/null");
        put(place, "sys/class/infiniband_verbs/abi_version", "6");
        put(place, "sys/class/misc/rdma_cm/abi_version", "4");
    }
}

// -- what changes

// Returns whether the next value is another one than at the last call, or new, and keeps it.
static bool changes(place_t *place, uint64_t value)
{
    folder_t *const folder = place->folder;
    const size_t index = place->value++;
    if (index == folder->value_count) {
        SIM_APPEND(folder->values, folder->value_count, folder->value_capacity, value);
        return true;
    }
    const bool changed = folder->values[index] != value;
    folder->values[index] = value;
    return changed;
}

static void put_number(place_t *place, const char *name, uint64_t value)
{
    if (changes(place, value)) {
        put(place, name, "%" PRIu64, value);
    }
}

static void put_rows(place_t *place, const char *folder, const nic_t *nic,
                     const nic_port_counter_info_t *rows, sim_time_t now_ps)
{
    char name[PATH_BYTES];
    for (const nic_port_counter_info_t *row = rows; row->name != NULL; row++) {
        (void)snprintf(name, sizeof(name), "%s/%s", folder, row->name);
        put_number(place, name, nic_port_counter(nic, row, now_ps));
    }
}

// Writes the state and the counters of a device, of the parts that are there.
static void put_changes(place_t *place, const net_t *net, const program_device_t *device,
                        const nic_t *nic, uint32_t index, sim_time_t now_ps)
{
    const net_port_t *const port = net_interface_port(net, nic_interface(nic));
    const nic_counters_t *const counters = nic_get_counters(nic);
    const uint32_t parts = place->folder->parts;
    const bool counts = (parts & PROGRAM_FILES_COUNTERS) != 0;
    const bool changed = changes(place, port->down);
    if ((parts & PROGRAM_FILES_VERBS) != 0) {
        enter(place, DEVICE_FOLDER "infiniband/%s/ports/1/", index + 1, device->name);
        if (changed) {
            put(place, "state", port->down ? "1: DOWN" : "4: ACTIVE");
            put(place, "phys_state", port->down ? "3: Disabled" : "5: LinkUp");
        }
        if (counts) {
            put_rows(place, "counters", nic, nic_port_counter_infos, now_ps);
        }
        for (const nic_counter_info_t *row = nic_counter_infos; counts && row->name != NULL;
             row++) {
            char name[PATH_BYTES];
            uint64_t value = 0;
            (void)snprintf(name, sizeof(name), "hw_counters/%s", row->name);
            memcpy(&value, (const char *)counters + row->field.offset, sizeof(value));
            put_number(place, name, value);
        }
    }
    if ((parts & PROGRAM_FILES_NET) != 0) {
        enter(place, DEVICE_FOLDER "net/eth%u/", index + 1, index);
        if (changed) {
            put(place, "operstate", port->down ? "down" : "up");
            put(place, "carrier", port->down ? "0" : "1");
        }
        if (counts) {
            put_rows(place, "statistics", nic, nic_interface_counter_infos, now_ps);
        }
    }
}

// -- the call

// Returns the folder of the program's host, made if it is not there; NULL: it cannot be.
static folder_t *folder_of(app__program_t *program)
{
    app__files_t *const files = program->files;
    const uint32_t host = nic_interface(nic_at(program->node, 0));
    folder_t *const folder = &files->folders[host];
    if (folder->path == NULL) {
        char path[32];
        const char *const scratch =
            scratch_of(files, &files->scratch, program->permission->files, "rocesim-scratch");
        if (scratch == NULL) {
            return NULL;
        }
        (void)snprintf(path, sizeof(path), "%u/dev/shm/", host);
        make_folders(files->scratch.lock, path);
        (void)snprintf(path, sizeof(path), "%u/tmp/", host);
        make_folders(files->scratch.lock, path);
        folder->path = sim_format("%s/%u", scratch, host);
        folder->temporary = sim_format("%s/tmp", folder->path);
    }
    return folder;
}

const char *app__files_temporary(app__program_t *program)
{
    const folder_t *const folder = folder_of(program);
    return folder == NULL ? NULL : folder->temporary;
}

int app__files_call(app__program_t *program)
{
    app__files_t *const files = program->files;
    program_shared_t *const shared = program->process->shared;
    folder_t *const folder = folder_of(program);
    if (folder == NULL) {
        return errno;
    }
    if (strlen(folder->path) >= sizeof(shared->files)) {
        return ENAMETOOLONG;
    }
    place_t place = {
        .root = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC),
        .here = -1,
        .folder = folder,
    };
    if (place.root < 0) {
        return errno;
    }
    if (!folder->begun) {
        folder->begun = true;
        put_folders(&place, shared->device_count);
    }
    const uint32_t missing = shared->call.flags & PROGRAM_FILES_ALL & ~folder->parts;
    if (missing != 0) {
        const uint32_t host = nic_interface(nic_at(program->node, 0));
        const uint64_t seed = sim_options(net_sim(files->net))->seed;
        put_parts(&place, shared, missing, sim_mix64(seed ^ ((uint64_t)host << 20) ^ 0xb007));
        folder->parts |= missing;
        folder->value_count = 0;
    }
    for (uint32_t i = 0; i < shared->device_count; i++) {
        put_changes(&place, files->net, &shared->devices[i], nic_at(program->node, (uint8_t)i), i,
                    nic_core_now_ps(program->core));
    }
    enter(&place, "%s", "");
    close(place.root);
    (void)snprintf(shared->files, sizeof(shared->files), "%s", folder->path);
    return place.error;
}

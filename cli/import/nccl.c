// SPDX-License-Identifier: Apache-2.0
// cli/import/nccl.c - reads NCCL's topology of a server (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE).
//
// The file is XML: <system> has a <cpu> for each NUMA node, which has <pci> devices in a tree. A
// class of 0x0302 is a GPU, 0x0200 and 0x0207 are NICs, 0x0604 is a PCIe switch. Dumps have <gpu>,
// <nic> and <net speed="100000"> inside as well, with the speed in Mbit/s.
#include "cli/import/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64u
#define NICS_MAX 64u

// clang-format off
static const import_key_t keys[] = {
    {"system", "cpu", IMPORT_BECAME, "nic.host.sockets"},
    {"system", "pci class 0x0302", IMPORT_BECAME, "nic.host.gpus"},
    {"system", "pci class 0x0200, 0x0207", IMPORT_BECAME, "a NIC of each host"},
    {"system", "pci class 0x0604", IMPORT_BECAME, "nic.host.nics-per-switch"},
    {"system", "net speed", IMPORT_BECAME, "the rate of the hosts' links"},
    {"system", "link_speed, link_width", IMPORT_BECAME, "nic.host.nic-link and nic.host.gpu-link: transfers a second times lanes, less 2/130"},
    {"system", "nvlink", IMPORT_IGNORED, "a workload says how its GPUs are joined (docs/models/workload.md)"},
};
// clang-format on

typedef struct tag {
    const char *begin; // behind '<'
    size_t size_bytes;
    bool closes; // </x>
    bool empty;  // <x/>
    world_place_t place;
} tag_t;

typedef struct server {
    uint32_t sockets;
    uint32_t gpus;
    uint32_t nics;
    uint32_t nets; // NICs of a dump, also those without a PCI device
    uint32_t switches_with_nics;
    uint32_t nvlinks;
    uint64_t rate_bps; // of a NIC; 0: not known
    uint64_t gpu_link_bps;
    uint64_t nic_link_bps;
} server_t;

// Finds the next tag from *at on, leaves out comments and declarations. Returns false at the end.
static bool next_tag(const char **at, world_place_t *place, tag_t *tag)
{
    for (const char *p = *at; *p != '\0'; p++) {
        place->line += *p == '\n';
        if (*p != '<') {
            continue;
        }
        if (strncmp(p, "<!--", 4) == 0) {
            const char *const end = strstr(p, "-->");
            for (; end != NULL && p < end; p++) {
                place->line += *p == '\n';
            }
            continue;
        }
        const size_t size = strcspn(p, ">");
        if (p[1] == '?' || p[1] == '!' || p[size] != '>') {
            continue;
        }
        *tag =
            (tag_t){.begin = p + 1, .size_bytes = size - 1, .closes = p[1] == '/', .place = *place};
        tag->empty = p[size - 1] == '/';
        for (const char *c = p; c < p + size; c++) {
            place->line += *c == '\n';
        }
        *at = p + size + 1;
        return true;
    }
    return false;
}

static bool tag_is(const tag_t *tag, const char *name)
{
    const char *const begin = tag->begin + (tag->closes ? 1 : 0);
    const size_t size = strlen(name);
    return strncmp(begin, name, size) == 0 && strchr(" \t\r\n/>", begin[size]) != NULL;
}

// Returns the value of an attribute, or NULL. Free it with sim_free.
static char *value_of(const tag_t *tag, const char *name)
{
    const size_t size = strlen(name);
    for (const char *p = tag->begin; p + size + 2 < tag->begin + tag->size_bytes; p++) {
        if ((p[0] == ' ' || p[0] == '\n' || p[0] == '\t') && strncmp(p + 1, name, size) == 0 &&
            p[size + 1] == '=' && (p[size + 2] == '"' || p[size + 2] == '\'')) {
            const char quote[] = {p[size + 2], '\0'};
            return sim_format("%.*s", (int)strcspn(p + size + 3, quote), p + size + 3);
        }
    }
    return NULL;
}

// Returns the rate of a PCIe link: "16 GT/s" of version 4 and "16.0 GT/s PCIe" are the same.
static uint64_t pcie_bps(const tag_t *tag)
{
    char *const speed = value_of(tag, "link_speed");
    char *const width = value_of(tag, "link_width");
    const double transfers = speed != NULL ? strtod(speed, NULL) : 0;
    const double lanes = width != NULL ? strtod(width, NULL) : 0;
    sim_free(speed);
    sim_free(width);
    const double encoding = transfers > 5.5 ? 128.0 / 130.0 : 0.8;
    const double bps = transfers * lanes * encoding * 1e9;
    return bps > 0 && bps < 1e14 ? (uint64_t)(bps / 1e9) * 1000000000 : 0;
}

static void take_device(server_t *server, const tag_t *tag, bool *has_nic)
{
    char *const class = value_of(tag, "class");
    if (class != NULL && strncmp(class, "0x03", 4) == 0) {
        server->gpus++;
        server->gpu_link_bps = pcie_bps(tag);
    } else if (class != NULL && strncmp(class, "0x02", 4) == 0) {
        server->nics++;
        server->nic_link_bps = pcie_bps(tag);
        *has_nic = true;
    }
    sim_free(class);
}

static sim_err_t take_speed(server_t *server, const tag_t *tag, world_error_t *error)
{
    char *const speed = value_of(tag, "speed");
    if (speed != NULL) {
        char *end = NULL;
        const uint64_t mbps = strtoull(speed, &end, 10);
        if (end == speed || *end != '\0' || mbps == 0 || mbps > 100000000) {
            world_shown_t shown;
            const sim_err_t result = world_fail(error, SIM_ERR_INVALID, &tag->place,
                                                "speed is '%s', expected Mbit/s, such as 400000",
                                                world_show(&shown, speed));
            sim_free(speed);
            return result;
        }
        server->rate_bps = mbps * 1000000;
    }
    sim_free(speed);
    return SIM_OK;
}

// Reads the whole tree. A <pci> that has devices below it is a PCIe switch.
static sim_err_t take_server(server_t *server, const import_file_t *file, world_error_t *error)
{
    bool nics_below[DEPTH_MAX + 1] = {false};
    bool devices_below[DEPTH_MAX + 1] = {false};
    uint32_t depth = 0;
    world_place_t place = {file->name, 1, 1};
    const char *at = file->text;
    tag_t tag;
    sim_err_t result = SIM_OK;
    while (result == SIM_OK && next_tag(&at, &place, &tag)) {
        if (tag_is(&tag, "cpu") && !tag.closes) {
            server->sockets++;
        } else if (tag_is(&tag, "nvlink") && !tag.closes) {
            server->nvlinks++;
        } else if (tag_is(&tag, "net") && !tag.closes) {
            server->nets++;
            result = take_speed(server, &tag, error);
        }
        if (!tag_is(&tag, "pci")) {
            continue;
        }
        if (tag.closes) {
            server->switches_with_nics += depth > 0 && devices_below[depth] && nics_below[depth];
            depth -= depth > 0;
            continue;
        }
        take_device(server, &tag, &nics_below[depth]);
        devices_below[depth] = true;
        if (!tag.empty) {
            if (depth == DEPTH_MAX) {
                return world_fail(error, SIM_ERR_RANGE, &tag.place,
                                  "PCI devices nested more than %u deep, expected fewer",
                                  DEPTH_MAX);
            }
            depth++;
            nics_below[depth] = devices_below[depth] = false;
        }
    }
    return result;
}

static char *add_line(char *lines, char *more)
{
    char *const all = sim_format("%s%s", lines != NULL ? lines : "", more);
    sim_free(lines);
    sim_free(more);
    return all;
}

// Two such servers behind one switch, for a file that comes without a fabric.
static void add_servers(import_fabric_t *fabric, const server_t *server, const world_place_t *place)
{
    for (uint32_t s = 0; s < 2; s++) {
        char *const name = sim_format("server%u", s);
        const uint32_t host = import_fabric_node(fabric, name, place);
        fabric->nodes[host].kind = IMPORT_HOST;
        const uint32_t leaf = import_fabric_node(fabric, "switch0", place);
        fabric->nodes[leaf].kind = IMPORT_SWITCH;
        for (uint32_t n = 0; n < server->nics; n++) {
            char *const down = sim_format("%s.%u", name, n);
            char *const up = sim_format("nic%u", n);
            import_port_t *const port = import_fabric_port(&fabric->nodes[leaf], down, place);
            port->rate_bps = server->rate_bps;
            (void)import_port_peer(port, name, up, NULL);
            sim_free(down);
            sim_free(up);
        }
        sim_free(name);
    }
    import_note(fabric, IMPORT_ASSUMED, place,
                "no other file says what servers are joined to: two of them are behind one switch");
}

static sim_err_t read_nccl(import_fabric_t *fabric, const import_file_t *file, world_error_t *error)
{
    server_t server = {0};
    const world_place_t place = {file->name, 1, 1};
    const sim_err_t result = take_server(&server, file, error);
    if (result != SIM_OK) {
        return result;
    }
    server.nics = server.nics > 0 ? server.nics : server.nets;
    if (server.nics == 0 || server.nics > NICS_MAX || server.gpus > 64) {
        return world_fail(error, SIM_ERR_RANGE, &place,
                          "a server of %u NICs and %u GPUs, expected 1 to %u NICs (<pci> of class "
                          "0x0200 or 0x0207) and at most 64 GPUs",
                          server.nics, server.gpus, NICS_MAX);
    }
    char *lines = NULL;
    if (server.sockets > 1) {
        lines = add_line(lines, sim_format("sockets: %u\n", SIM_MIN(server.sockets, 8u)));
    }
    if (server.gpus > 0) {
        lines = add_line(lines, sim_format("gpus: %u\n", server.gpus));
    }
    if (server.switches_with_nics > 0) {
        const uint32_t each =
            (server.nics + server.switches_with_nics - 1) / server.switches_with_nics;
        lines = add_line(lines, sim_format("nics-per-switch: %u\n", each));
    }
    if (server.nic_link_bps > 0) {
        lines = add_line(
            lines, sim_format("nic-link: %" PRIu64 "Gbps\n", server.nic_link_bps / 1000000000));
    }
    if (server.gpus > 0 && server.gpu_link_bps > 0) {
        lines = add_line(
            lines, sim_format("gpu-link: %" PRIu64 "Gbps\n", server.gpu_link_bps / 1000000000));
    }
    sim_free(fabric->host_values);
    fabric->host_values = lines;
    fabric->usual_rate_bps = server.rate_bps;
    for (size_t k = 0; k < SIM_COUNT_OF(keys); k++) {
        const bool has[] = {server.sockets > 0,
                            server.gpus > 0,
                            true,
                            server.switches_with_nics > 0,
                            server.rate_bps > 0,
                            server.nic_link_bps > 0,
                            server.nvlinks > 0};
        if (has[k]) {
            import_note_key(fabric, &import_nccl, keys[k].table, keys[k].field, &place);
        }
    }
    if (fabric->node_count == 0) {
        add_servers(fabric, &server, &place);
    }
    return SIM_OK;
}

static bool is_nccl(const import_file_t *file)
{
    return strstr(file->text, "<system") != NULL && strstr(file->text, "<cpu") != NULL;
}

const import_format_t import_nccl = {
    .name = "NCCL's topology XML of a server",
    .is = is_nccl,
    .read = read_nccl,
    .keys = keys,
    .key_count = SIM_COUNT_OF(keys),
};

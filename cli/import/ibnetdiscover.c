// SPDX-License-Identifier: Apache-2.0
// cli/import/ibnetdiscover.c - reads the output of ibnetdiscover, with and without -p.
//
// Without -p, each node begins with `Switch 36 "S-GUID" # "description" ...` or `Ca 1 "H-GUID"`,
// and a line `[port] "GUID"[port] # "description" lid 4 4xEDR` follows for each link. With -p,
// each line is a link: `CA 44 1 0xGUID 4x FDR - SW 2 17 0xGUID ( 'node1 HCA-1' - 'leaf1' )`.
#include "cli/import/format.h"

#include "kernel/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
static const import_key_t keys[] = {
    {"ibnetdiscover", "Switch", IMPORT_BECAME, "a switch, with the name in its description, or its GUID"},
    {"ibnetdiscover", "Ca", IMPORT_BECAME, "a NIC of the host that the first word of its description names"},
    {"ibnetdiscover", "[port]", IMPORT_BECAME, "a link"},
    {"ibnetdiscover", "4xEDR", IMPORT_BECAME, "the rate of a link: lanes times the data rate of a lane"},
    {"ibnetdiscover", "lid", IMPORT_IGNORED, "packets take all shortest paths"},
    {"ibnetdiscover", "Aggregation Node", IMPORT_IGNORED, "switches do not reduce data"},
    {"ibnetdiscover", "InfiniBand", IMPORT_ASSUMED, "links carry Ethernet frames, and PFC stands for the credits of InfiniBand"},
};

// Data rates of a lane, after the encoding, in Mbit/s.
static const struct {
    const char *name;
    uint64_t mbps;
} lanes[] = {
    {"SDR", 2000}, {"DDR", 4000}, {"QDR", 8000}, {"FDR10", 10000}, {"FDR", 13636},
    {"EDR", 25000}, {"HDR", 50000}, {"NDR", 100000}, {"XDR", 200000},
};
// clang-format on

typedef struct reader {
    import_fabric_t *fabric;
    const import_file_t *file;
    sim_map_t guids; // GUID -> number of the node
    world_error_t *error;
} reader_t;

static bool is_ibnetdiscover(const import_file_t *file)
{
    const char *const text = file->text;
    return strstr(text, "Topology file: generated on") != NULL ||
           strstr(text, "switchguid=") != NULL || strstr(text, "\nSwitch\t") != NULL ||
           strncmp(text, "Switch\t", 7) == 0 ||
           ((strncmp(text, "SW ", 3) == 0 || strncmp(text, "CA ", 3) == 0 ||
             strstr(text, "\nCA ") != NULL || strstr(text, "\nSW ") != NULL) &&
            strstr(text, " 0x") != NULL && strstr(text, "DR") != NULL);
}

// Returns bits per second of a text that contains "4xEDR" or "4x EDR"; 0: none.
static uint64_t rate_of(const char *text)
{
    for (const char *x = strchr(text, 'x'); x != NULL; x = strchr(x + 1, 'x')) {
        if (x == text || !isdigit((unsigned char)x[-1])) {
            continue;
        }
        const char *digits = x - 1;
        while (digits > text && isdigit((unsigned char)digits[-1])) {
            digits--;
        }
        const char *const name = x + 1 + strspn(x + 1, " ");
        const size_t size = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        for (size_t i = 0; i < SIM_COUNT_OF(lanes); i++) {
            if (strlen(lanes[i].name) == size && strncmp(lanes[i].name, name, size) == 0) {
                return strtoull(digits, NULL, 10) * lanes[i].mbps * 1000000;
            }
        }
    }
    return 0;
}

// Returns the text between the next pair of `quote` from *at on, and advances *at behind it; NULL:
// there is none in the line.
static char *quoted(const char **at, char quote)
{
    const char *const begin = strchr(*at, quote);
    const char *const end = begin != NULL ? strchr(begin + 1, quote) : NULL;
    if (end == NULL) {
        return NULL;
    }
    *at = end + 1;
    return sim_format("%.*s", (int)(end - begin - 1), begin + 1);
}

// Returns the name of a switch in its description: of "MF0;leaf1:MQM8700/U1" it is leaf1, with what
// follows the model if that is more than one chip. NULL: the description names a product.
static char *switch_name(const char *description)
{
    const char *const semicolon = strchr(description, ';');
    const char *const name = semicolon != NULL ? semicolon + 1 : description;
    const size_t size = strcspn(name, ":");
    const char *const slash = strchr(name + size, '/');
    const bool one = slash == NULL || strcmp(slash, "/U1") == 0;
    if (size == 0 || (semicolon == NULL && strpbrk(name, " ") != NULL)) {
        return NULL;
    }
    return sim_format("%.*s%s", (int)size, name, one ? "" : slash);
}

// Returns the node of a GUID, which is made if it is new.
static uint32_t node_of(reader_t *reader, const char *guid, const char *description, bool is_switch,
                        const world_place_t *place)
{
    const uint64_t hash = sim_map_hash(guid, strlen(guid));
    const uint64_t known = sim_map_get(&reader->guids, hash);
    if (known != SIM_MAP_NONE) {
        return (uint32_t)known;
    }
    char *label = NULL;
    if (description != NULL) {
        const bool product = strstr(description, "Mellanox Technologies") != NULL ||
                             strncmp(description, "localhost", 9) == 0;
        label = product     ? NULL
                : is_switch ? switch_name(description)
                            : sim_format("%.*s", (int)strcspn(description, " "), description);
    }
    const size_t before = reader->fabric->node_count;
    uint32_t node = IMPORT_NONE;
    if (label != NULL && label[0] != '\0') {
        node = import_fabric_node(reader->fabric, label, place);
    }
    // Two switches of one name, or a product's name in place of one: the GUID tells them apart.
    if (node == IMPORT_NONE || (is_switch && reader->fabric->node_count == before)) {
        node = import_fabric_node(reader->fabric, guid, place);
    }
    sim_free(label);
    reader->fabric->nodes[node].kind = is_switch ? IMPORT_SWITCH : IMPORT_HOST;
    sim_map_add(&reader->guids, hash, node);
    return node;
}

// Adds a port and what it is joined to. Ports have the name GUID[number].
static sim_err_t add_cable(reader_t *reader, uint32_t a, const char *a_guid, unsigned long a_port,
                           uint32_t b, const char *b_guid, unsigned long b_port, uint64_t rate_bps,
                           const world_place_t *place)
{
    char *const near = sim_format("%s[%lu]", a_guid, a_port);
    char *const far = sim_format("%s[%lu]", b_guid, b_port);
    import_port_t *port = import_fabric_port(&reader->fabric->nodes[b], far, place);
    port->rate_bps = rate_bps;
    port = import_fabric_port(&reader->fabric->nodes[a], near, place);
    port->rate_bps = rate_bps;
    sim_err_t result = SIM_OK;
    if (!import_port_peer(port, reader->fabric->nodes[b].label, far, NULL)) {
        result = world_fail(reader->error, SIM_ERR_INVALID, place,
                            "port %lu of %s has two links, expected one", a_port,
                            reader->fabric->nodes[a].name);
    }
    sim_free(near);
    sim_free(far);
    return result;
}

static bool is_aggregation(const char *text)
{
    return strstr(text, "Aggregation Node") != NULL;
}

// -- without -p

typedef struct section {
    char *guid;
    uint32_t node;
    bool left_out; // an aggregation node
} section_t;

static void begin_section(reader_t *reader, const char *line, section_t *section,
                          const world_place_t *place)
{
    const char *at = line;
    sim_free(section->guid);
    section->guid = quoted(&at, '"');
    char *const description = quoted(&at, '"');
    section->left_out = section->guid == NULL || is_aggregation(line);
    if (!section->left_out) {
        section->node = node_of(reader, section->guid, description, line[0] == 'S', place);
    }
    sim_free(description);
}

static sim_err_t take_port_line(reader_t *reader, const char *line, const section_t *section,
                                const world_place_t *place)
{
    if (section->guid == NULL || section->left_out || is_aggregation(line)) {
        return SIM_OK;
    }
    const char *at = line;
    char *const far = quoted(&at, '"');
    if (far == NULL || at[0] != '[') {
        sim_free(far);
        return world_fail(reader->error, SIM_ERR_INVALID, place,
                          "a port without a neighbour, expected [1] \"H-0002c90300a0b0c0\"[1] ...");
    }
    const unsigned long near_port = strtoul(line + 1, NULL, 10);
    const unsigned long far_port = strtoul(at + 1, NULL, 10);
    char *const description = quoted(&at, '"');
    const uint32_t node = node_of(reader, far, description, far[0] == 'S', place);
    const sim_err_t result = add_cable(reader, section->node, section->guid, near_port, node, far,
                                       far_port, rate_of(at), place);
    sim_free(description);
    sim_free(far);
    return result;
}

// -- with -p

// Reads one end: `CA 44 1 0xGUID`. Returns NULL if the line has another form.
static char *end_of(const char **at, bool *is_switch, unsigned long *port)
{
    *at += strspn(*at, " \t");
    *is_switch = strncmp(*at, "SW", 2) == 0;
    if (!*is_switch && strncmp(*at, "CA", 2) != 0) {
        return NULL;
    }
    char *end = NULL;
    (void)strtoul(*at + 2, &end, 10);
    *port = strtoul(end, &end, 10);
    end += strspn(end, " \t");
    const size_t size = strcspn(end, " \t\r");
    if (strncmp(end, "0x", 2) != 0) {
        return NULL;
    }
    *at = end + size;
    return sim_format("%.*s", (int)size, end);
}

static sim_err_t take_link_line(reader_t *reader, const char *line, const world_place_t *place)
{
    const char *at = line;
    bool is_switch[2];
    unsigned long ports[2];
    char *const near = end_of(&at, &is_switch[0], &ports[0]);
    const char *const dash = strstr(at, " - ");
    if (near == NULL || dash == NULL || is_aggregation(line)) {
        sim_free(near);
        return SIM_OK; // a port without a link
    }
    const uint64_t rate_bps = rate_of(at);
    at = dash + 3;
    char *const far = end_of(&at, &is_switch[1], &ports[1]);
    sim_err_t result = SIM_OK;
    if (far != NULL) {
        char *const near_text = quoted(&at, '\'');
        char *const far_text = quoted(&at, '\'');
        const uint32_t a = node_of(reader, near, near_text, is_switch[0], place);
        const uint32_t b = node_of(reader, far, far_text, is_switch[1], place);
        result = add_cable(reader, a, near, ports[0], b, far, ports[1], rate_bps, place);
        sim_free(near_text);
        sim_free(far_text);
    }
    sim_free(near);
    sim_free(far);
    return result;
}

static sim_err_t read_ibnetdiscover(import_fabric_t *fabric, const import_file_t *file,
                                    world_error_t *error)
{
    reader_t reader = {.fabric = fabric, .file = file, .error = error};
    section_t section = {0};
    world_place_t place = {file->name, 1, 1};
    sim_err_t result = SIM_OK;
    const char *next = file->text;
    for (; *next != '\0' && result == SIM_OK; place.line++) {
        const size_t size = strcspn(next, "\n");
        char *const line = sim_format("%.*s", (int)SIM_MIN(size, (size_t)4000), next);
        next += size + (next[size] == '\n' ? 1 : 0);
        if (strncmp(line, "Switch\t", 7) == 0 || strncmp(line, "Switch ", 7) == 0 ||
            strncmp(line, "Ca\t", 3) == 0 || strncmp(line, "Ca ", 3) == 0 ||
            strncmp(line, "Rt\t", 3) == 0) {
            begin_section(&reader, line, &section, &place);
        } else if (line[0] == '[') {
            result = take_port_line(&reader, line, &section, &place);
        } else if (strncmp(line, "CA ", 3) == 0 || strncmp(line, "SW ", 3) == 0) {
            result = take_link_line(&reader, line, &place);
        }
        sim_free(line);
    }
    for (size_t k = 0; k < SIM_COUNT_OF(keys); k++) {
        import_note_key(fabric, &import_ibnetdiscover, keys[k].table, keys[k].field,
                        WORLD_FILE(file->name));
    }
    sim_free(section.guid);
    sim_map_fini(&reader.guids);
    return result;
}

const import_format_t import_ibnetdiscover = {
    .name = "the output of ibnetdiscover",
    .is = is_ibnetdiscover,
    .read = read_ibnetdiscover,
    .keys = keys,
    .key_count = SIM_COUNT_OF(keys),
};

// SPDX-License-Identifier: Apache-2.0
// cli/import/lldp_others.c - reads neighbours of LLDP as lldpctl prints them for people, and as
// Arista's EOS prints them as JSON.
//
// lldpctl prints a paragraph for each neighbour: "Interface:    swp1, via: LLDP, RID: 1, ...", and
// below it "SysName:", "PortID:      ifname swp47", "PortDescr:", "Capability:   Bridge, on". EOS
// has {"lldpNeighbors": [{"port": ..., "neighborDevice": ..., "neighborPort": ...}]}, and with
// `detail` {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [{"systemName": ...}]}}}.
#include "cli/import/lldp.h"

#include <string.h>

// clang-format off
static const import_key_t text_keys[] = {
    {"lldpctl", "Interface", IMPORT_BECAME, "a port of the node"},
    {"lldpctl", "SysName (or ChassisID)", IMPORT_BECAME, "the node at the other end of its link"},
    {"lldpctl", "PortID", IMPORT_BECAME, "the port at the other end"},
    {"lldpctl", "PortDescr", IMPORT_BECAME, "another name of the port at the other end"},
    {"lldpctl", "Capability", IMPORT_BECAME, "a neighbour that is a bridge or a router is a switch, others are hosts"},
};
static const import_key_t eos_keys[] = {
    {"lldpNeighbors", "port", IMPORT_BECAME, "a port of the switch"},
    {"lldpNeighbors", "neighborDevice (or systemName)", IMPORT_BECAME, "the node at the other end of its link"},
    {"lldpNeighbors", "neighborPort (or interfaceId)", IMPORT_BECAME, "the port at the other end"},
    {"lldpNeighbors", "systemCapabilities", IMPORT_BECAME, "a neighbour that is a bridge or a router is a switch, others are hosts"},
};
// clang-format on

// -- lldpctl

// A neighbour of whose paragraph some lines were read. All texts are owned.
typedef struct paragraph {
    char *port;
    char *name;
    char *chassis;
    char *peer_port;
    char *peer_alias;
    bool forwards;
    world_place_t place;
} paragraph_t;

static bool is_text(const import_file_t *file)
{
    const char *const interface = strstr(file->text, "Interface:");
    return interface != NULL && strstr(interface, "via: LLDP") != NULL &&
           strstr(interface, "ChassisID:") != NULL;
}

static void clear(paragraph_t *paragraph)
{
    SIM_FREE_ALL(paragraph->port, paragraph->name, paragraph->chassis, paragraph->peer_port,
                 paragraph->peer_alias);
    *paragraph = (paragraph_t){0};
}

// Returns the value of a line "  KEY:   value", or NULL if the line has another key. `typed`: a
// word for the type of the value comes before it ("mac", "ifname").
static char *value_of(const char *line, size_t size, const char *key, bool typed)
{
    const size_t length = strlen(key);
    const char *at = line + strspn(line, " \t");
    const char *end = line + size;
    if (strncmp(at, key, length) != 0 || at[length] != ':') {
        return NULL;
    }
    at += length + 1;
    at += strspn(at, " \t");
    if (typed && at < end) {
        at += strcspn(at, " \t\r\n");
        at += strspn(at, " \t");
    }
    while (end > at && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t')) {
        end--;
    }
    return at < end ? sim_format("%.*s", (int)(end - at), at) : NULL;
}

static void keep(char **kept, char *value)
{
    if (*kept == NULL) {
        *kept = value;
    } else {
        sim_free(value);
    }
}

static void take_line(paragraph_t *paragraph, const char *line, size_t size)
{
    keep(&paragraph->name, value_of(line, size, "SysName", false));
    keep(&paragraph->chassis, value_of(line, size, "ChassisID", true));
    keep(&paragraph->peer_port, value_of(line, size, "PortID", true));
    keep(&paragraph->peer_alias, value_of(line, size, "PortDescr", false));
    char *const able = value_of(line, size, "Capability", false);
    if (able != NULL && (strcmp(able, "Bridge, on") == 0 || strcmp(able, "Router, on") == 0)) {
        paragraph->forwards = true;
    }
    sim_free(able);
}

static sim_err_t end_paragraph(import_fabric_t *fabric, uint32_t node, bool of_host,
                               paragraph_t *paragraph, world_error_t *error)
{
    const char *const name = paragraph->name != NULL ? paragraph->name : paragraph->chassis;
    sim_err_t result = SIM_OK;
    if (paragraph->port != NULL && name != NULL &&
        (of_host || !import_lldp_is_management(paragraph->port))) {
        result = import_lldp_add(
            fabric, node, paragraph->port, name, paragraph->peer_port, paragraph->peer_alias,
            paragraph->forwards ? IMPORT_SWITCH : IMPORT_UNKNOWN, &paragraph->place, error);
    }
    clear(paragraph);
    return result;
}

// Returns the interface of a first line of a paragraph, without what follows it; NULL: it is none.
static char *interface_of(const char *line, size_t size)
{
    char *const text = value_of(line, size, "Interface", false);
    if (text != NULL) {
        text[strcspn(text, ",")] = '\0';
    }
    return text;
}

static const char *line_after(const char *line, size_t size)
{
    return line + size + (line[size] == '\n');
}

// Returns whether all interfaces of the file are NICs: then it is of a host.
static bool is_of_host(const import_file_t *file)
{
    bool nics = true;
    for (const char *line = file->text; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        char *const interface = interface_of(line, size);
        nics = nics && (interface == NULL || import_lldp_is_nic(interface));
        sim_free(interface);
        line = line_after(line, size);
    }
    return nics;
}

static sim_err_t read_text(import_fabric_t *fabric, const import_file_t *file, world_error_t *error)
{
    world_place_t place = {file->name, 1, 1};
    const bool of_host = is_of_host(file);
    const uint32_t node =
        import_lldp_local(fabric, file, of_host ? IMPORT_HOST : IMPORT_SWITCH, &place);
    paragraph_t paragraph = {0};
    sim_err_t result = SIM_OK;
    for (const char *line = file->text; *line != '\0' && result == SIM_OK; place.line++) {
        const size_t size = strcspn(line, "\n");
        char *const interface = interface_of(line, size);
        if (interface != NULL) {
            result = end_paragraph(fabric, node, of_host, &paragraph, error);
            paragraph.port = interface;
            paragraph.place = place;
        } else {
            take_line(&paragraph, line, size);
        }
        line = line_after(line, size);
    }
    if (result == SIM_OK) {
        result = end_paragraph(fabric, node, of_host, &paragraph, error);
    }
    clear(&paragraph);
    import_lldp_note_keys(fabric, &import_lldp_text, WORLD_FILE(file->name));
    return result;
}

const import_format_t import_lldp_text = {
    .name = "neighbours of LLDP as text (lldpctl)",
    .is = is_text,
    .read = read_text,
    .keys = text_keys,
    .key_count = SIM_COUNT_OF(text_keys),
};

// -- EOS

// Returns the mapping of a file that has the neighbours: the file's own, or that of the first
// result of eAPI with one; NULL: there is none.
static const world_tree_t *neighbours_of(const world_tree_t *json)
{
    const world_tree_t *const own = json != NULL && json->kind == WORLD_TREE_MAP
                                        ? world_tree_value(json, "lldpNeighbors")
                                        : NULL;
    const world_tree_t *const results =
        json != NULL && json->kind == WORLD_TREE_MAP ? world_tree_value(json, "result") : NULL;
    for (size_t i = 0;
         own == NULL && results != NULL && results->kind == WORLD_TREE_LIST && i < results->count;
         i++) {
        const world_tree_t *const found = results->entries[i].value;
        const world_tree_t *const list =
            found->kind == WORLD_TREE_MAP ? world_tree_value(found, "lldpNeighbors") : NULL;
        if (list != NULL) {
            return list;
        }
    }
    return own;
}

static bool is_eos(const import_file_t *file)
{
    const world_tree_t *const list = neighbours_of(file->json);
    return list != NULL && list->kind != WORLD_TREE_SCALAR;
}

static const world_tree_t *member(const world_tree_t *tree, const char *key)
{
    return tree != NULL && tree->kind == WORLD_TREE_MAP ? world_tree_value(tree, key) : NULL;
}

// Returns the text of the first of two members that exists; NULL: none does.
static const char *text_of(const world_tree_t *tree, const char *key, const char *other)
{
    const world_tree_t *value = member(tree, key);
    value = value != NULL ? value : member(tree, other);
    return value != NULL && value->kind == WORLD_TREE_SCALAR && !value->is_null &&
                   value->text[0] != '\0'
               ? value->text
               : NULL;
}

static bool is_true(const world_tree_t *tree, const char *key)
{
    const char *const text = text_of(tree, key, key);
    return text != NULL && strcmp(text, "true") == 0;
}

static sim_err_t take_neighbour(import_fabric_t *fabric, uint32_t node, const char *port,
                                const world_tree_t *neighbour, world_error_t *error)
{
    const world_tree_t *const able = member(neighbour, "systemCapabilities");
    const world_tree_t *const far = member(neighbour, "neighborInterfaceInfo");
    const char *const name = text_of(neighbour, "neighborDevice", "systemName");
    const char *const peer_port = far != NULL ? text_of(far, "interfaceId_v2", "interfaceId")
                                              : text_of(neighbour, "neighborPort", "interfaceId");
    const char *const own = port != NULL ? port : text_of(neighbour, "port", "localPort");
    if (own == NULL || name == NULL || import_lldp_is_management(own)) {
        return SIM_OK;
    }
    // Older versions print the port in quotation marks: "\"Ethernet1\"".
    const size_t quoted = peer_port != NULL && peer_port[0] == '"';
    char *const bare =
        peer_port != NULL
            ? sim_format("%.*s", (int)strcspn(peer_port + quoted, "\""), peer_port + quoted)
            : NULL;
    const sim_err_t result = import_lldp_add(
        fabric, node, own, name, bare, text_of(far, "interfaceDescription", ""),
        is_true(able, "bridge") || is_true(able, "router") ? IMPORT_SWITCH : IMPORT_UNKNOWN,
        &neighbour->place, error);
    sim_free(bare);
    return result;
}

static sim_err_t read_eos(import_fabric_t *fabric, const import_file_t *file, world_error_t *error)
{
    const world_tree_t *const list = neighbours_of(file->json);
    const uint32_t node = import_lldp_local(fabric, file, IMPORT_SWITCH, &file->json->place);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        const char *const port = list->entries[i].key != NULL ? list->entries[i].key->text : NULL;
        const world_tree_t *const entry = list->entries[i].value;
        const world_tree_t *const inside = member(entry, "lldpNeighborInfo");
        const world_tree_t *const several = inside != NULL                   ? inside
                                            : entry->kind == WORLD_TREE_LIST ? entry
                                                                             : NULL;
        if (several == NULL) {
            result = take_neighbour(fabric, node, port, entry, error);
        }
        for (size_t n = 0; several != NULL && several->kind == WORLD_TREE_LIST &&
                           n < several->count && result == SIM_OK;
             n++) {
            result = take_neighbour(fabric, node, port, several->entries[n].value, error);
        }
    }
    import_lldp_note_keys(fabric, &import_lldp_eos, &file->json->place);
    return result;
}

const import_format_t import_lldp_eos = {
    .name = "neighbours of LLDP as JSON of Arista's EOS (show lldp neighbors | json)",
    .is = is_eos,
    .read = read_eos,
    .keys = eos_keys,
    .key_count = SIM_COUNT_OF(eos_keys),
};

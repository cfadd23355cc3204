// SPDX-License-Identifier: Apache-2.0
// cli/import/lldp.c - reads neighbours of LLDP: `show lldp table` of SONiC, and the JSON of lldpd.
//
// lldpcli prints `-f json` with values as members ("chassis": {"leaf1": {...}}) and `-f json0` with
// lists ("chassis": [{"name": [{"value": "leaf1"}]}]). Neither says whose neighbours they are: that
// is the prompt before the command, or the name of the file.
#include "cli/import/lldp.h"

#include "kernel/words.h"

#include <string.h>

// clang-format off
static const import_key_t table_keys[] = {
    {"show lldp table", "LocalPort", IMPORT_BECAME, "a port of the switch"},
    {"show lldp table", "RemoteDevice", IMPORT_BECAME, "the node at the other end of its link"},
    {"show lldp table", "RemotePortID", IMPORT_BECAME, "the port at the other end"},
    {"show lldp table", "RemotePortDescr", IMPORT_BECAME, "another name of the port at the other end"},
    {"show lldp table", "Capability", IMPORT_BECAME, "a neighbour that is a bridge or a router (B, R) is a switch, others are hosts"},
};
static const import_key_t json_keys[] = {
    {"lldp", "interface", IMPORT_BECAME, "a port of the switch"},
    {"lldp", "chassis", IMPORT_BECAME, "the node at the other end of its link"},
    {"lldp", "port id", IMPORT_BECAME, "the port at the other end"},
    {"lldp", "port descr", IMPORT_BECAME, "another name of the port at the other end"},
    {"lldp", "capability", IMPORT_BECAME, "a neighbour that is a bridge or a router is a switch, others are hosts"},
};
// clang-format on

sim_err_t import_lldp_add(import_fabric_t *fabric, uint32_t node, const char *port_name,
                          const char *peer, const char *peer_port, const char *peer_alias,
                          import_kind_t kind, const world_place_t *place, world_error_t *error)
{
    const uint32_t number = import_fabric_node(fabric, peer, place);
    import_node_t *const far = &fabric->nodes[number];
    if (!far->described && far->kind == IMPORT_UNKNOWN) {
        far->kind = kind;
    }
    import_port_t *const port = import_fabric_port(&fabric->nodes[node], port_name, place);
    if (!import_port_peer(port, peer, peer_port, peer_alias)) {
        world_shown_t shown[3];
        return world_fail(error, SIM_ERR_INVALID, place,
                          "port %s has the neighbours %s and %s, expected one",
                          world_show(&shown[0], port->name), world_show(&shown[1], port->peer),
                          world_show(&shown[2], peer));
    }
    return SIM_OK;
}

bool import_lldp_is_management(const char *port)
{
    return strcmp(port, "eth0") == 0 || strncmp(port, "mgmt", 4) == 0 ||
           strncmp(port, "Management", 10) == 0;
}

// -- show lldp table

static bool is_table(const import_file_t *file)
{
    const char *const title = strstr(file->text, "LocalPort");
    return title != NULL && strstr(title, "RemoteDevice") != NULL;
}

// Returns the name in a prompt before a command, or NULL: "admin@leaf1:~$ show lldp table",
// "leaf1#show lldp neighbors | json".
static char *name_in_prompt(const import_file_t *file)
{
    static const char *const commands[] = {"show lldp", "lldpctl", "lldpcli"};
    const char *command = NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(commands) && command == NULL; i++) {
        command = strstr(file->text, commands[i]);
    }
    const char *begin = command;
    while (begin != NULL && begin > file->text && begin[-1] != '\n') {
        begin--;
    }
    const char *const at = begin != NULL ? strchr(begin, '@') : NULL;
    const char *const name = at != NULL && at < command ? at + 1 : begin;
    const size_t size = name != NULL ? strcspn(name, ":~$#> \t\r\n") : 0;
    return size > 0 && name + size < command ? sim_format("%.*s", (int)size, name) : NULL;
}

uint32_t import_lldp_local(import_fabric_t *fabric, const import_file_t *file, import_kind_t kind,
                           const world_place_t *place)
{
    char *name = name_in_prompt(file);
    name = name != NULL ? name : import_name_of_file(file->name);
    const uint32_t node = import_fabric_node(fabric, name, place);
    import_node_t *const local = &fabric->nodes[node];
    if (kind == IMPORT_SWITCH || local->kind == IMPORT_UNKNOWN) {
        local->kind = kind;
    }
    sim_free(name);
    return node;
}

void import_lldp_note_keys(import_fabric_t *fabric, const import_format_t *format,
                           const world_place_t *place)
{
    for (size_t k = 0; k < format->key_count; k++) {
        import_note_key(fabric, format, format->keys[k].table, format->keys[k].field, place);
    }
}

#define COLUMNS 5u

// Returns the cell of a column: from its first dash to the beginning of the next column.
static char *cell(const char *line, size_t size, const size_t begins[COLUMNS + 1], size_t column)
{
    size_t begin = begins[column];
    size_t end = SIM_MIN(begins[column + 1], size);
    while (begin < end && (line[begin] == ' ' || line[begin] == '\t')) {
        begin++;
    }
    while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\r')) {
        end--;
    }
    return begin < end ? sim_format("%.*s", (int)(end - begin), line + begin) : NULL;
}

static sim_err_t take_row(import_fabric_t *fabric, uint32_t node, char *cells[COLUMNS],
                          const world_place_t *place, world_error_t *error)
{
    if (cells[0] == NULL || cells[1] == NULL || import_lldp_is_management(cells[0])) {
        return SIM_OK;
    }
    const char *const able = cells[3];
    const bool forwards = able != NULL && (strchr(able, 'B') != NULL || strchr(able, 'R') != NULL);
    return import_lldp_add(fabric, node, cells[0], cells[1], cells[2], cells[4],
                           forwards ? IMPORT_SWITCH : IMPORT_UNKNOWN, place, error);
}

static sim_err_t read_table(import_fabric_t *fabric, const import_file_t *file,
                            world_error_t *error)
{
    world_place_t place = {file->name, 1, 1};
    const uint32_t node = import_lldp_local(fabric, file, IMPORT_SWITCH, &place);
    size_t begins[COLUMNS + 1] = {0};
    bool in_table = false;
    sim_err_t result = SIM_OK;
    const char *next = file->text;
    for (place.line = 1; *next != '\0' && result == SIM_OK; place.line++) {
        const char *const line = next;
        const size_t size = strcspn(line, "\n");
        next = line + size + (line[size] == '\n' ? 1 : 0);
        if (strncmp(line, "----", 4) == 0) {
            size_t column = 0;
            for (size_t i = 0; i < size && column < COLUMNS; i++) {
                if (line[i] == '-' && (i == 0 || line[i - 1] == ' ')) {
                    begins[column++] = i;
                }
            }
            // The last line of the table has dashes, too, but fewer columns.
            in_table = column == COLUMNS;
            begins[COLUMNS] = SIZE_MAX;
            continue;
        }
        if (!in_table || size == 0 || strncmp(line, "Total", 5) == 0) {
            continue;
        }
        char *cells[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++) {
            cells[c] = begins[c] < size ? cell(line, size, begins, c) : NULL;
        }
        result = take_row(fabric, node, cells, &place, error);
        sim_free_each(cells, COLUMNS);
    }
    import_lldp_note_keys(fabric, &import_lldp_table, WORLD_FILE(file->name));
    return result;
}

const import_format_t import_lldp_table = {
    .name = "`show lldp table` of SONiC",
    .is = is_table,
    .read = read_table,
    .keys = table_keys,
    .key_count = SIM_COUNT_OF(table_keys),
};

// -- JSON

static bool is_json(const import_file_t *file)
{
    return file->json != NULL && file->json->kind == WORLD_TREE_MAP &&
           world_tree_value(file->json, "lldp") != NULL;
}

// Returns a member of a mapping, or of the first mapping of a list; NULL: there is none.
static const world_tree_t *member(const world_tree_t *tree, const char *key)
{
    while (tree != NULL && tree->kind == WORLD_TREE_LIST) {
        tree = tree->count > 0 ? tree->entries[0].value : NULL;
    }
    return tree != NULL && tree->kind == WORLD_TREE_MAP ? world_tree_value(tree, key) : NULL;
}

// Returns the text of a member: "x", {"value": "x"} or [{"value": "x"}]; NULL: there is none.
static const char *text_of(const world_tree_t *tree, const char *key)
{
    const world_tree_t *value = member(tree, key);
    if (value != NULL && value->kind != WORLD_TREE_SCALAR) {
        value = member(value, "value");
    }
    return value != NULL && value->kind == WORLD_TREE_SCALAR && !value->is_null ? value->text
                                                                                : NULL;
}

static bool forwards(const world_tree_t *chassis)
{
    const world_tree_t *const list = member(chassis, "capability");
    for (size_t i = 0; list != NULL && list->kind == WORLD_TREE_LIST && i < list->count; i++) {
        const char *const type = text_of(list->entries[i].value, "type");
        const char *const enabled = text_of(list->entries[i].value, "enabled");
        if (type != NULL && (strcmp(type, "Bridge") == 0 || strcmp(type, "Router") == 0) &&
            (enabled == NULL || strcmp(enabled, "true") == 0)) {
            return true;
        }
    }
    return false;
}

// Returns the name of an interface of the list, and its values: {"eth1": {...}}, or an entry of a
// list that has its name as a key or as a value. NULL: it has no name.
static const char *interface_at(const world_tree_t *list, size_t i, const world_tree_t **interface)
{
    const world_tree_t *const item = list->entries[i].value;
    const char *const port =
        list->entries[i].key != NULL ? list->entries[i].key->text : text_of(item, "name");
    *interface = item;
    if (port == NULL && item->kind == WORLD_TREE_MAP && item->count == 1) {
        *interface = item->entries[0].value;
        return item->entries[0].key->text;
    }
    return port;
}

bool import_lldp_is_nic(const char *name)
{
    static const char *const words[] = {"en", "ib", "roce", "rdma", "mlx", "hsn", "rail", "bond"};
    for (size_t w = 0; w < SIM_COUNT_OF(words); w++) {
        if (strncmp(name, words[w], strlen(words[w])) == 0) {
            return true;
        }
    }
    return strncmp(name, "eth", 3) == 0 && name[3] >= '0' && name[3] <= '9';
}

// Returns whether all interfaces of the file are NICs: then it is of a host.
static bool is_of_host(const world_tree_t *list)
{
    size_t count = 0;
    for (size_t i = 0; list != NULL && list->kind != WORLD_TREE_SCALAR && i < list->count; i++) {
        const world_tree_t *interface = NULL;
        const char *const name = interface_at(list, i, &interface);
        count += name != NULL;
        if (name != NULL && !import_lldp_is_nic(name)) {
            return false;
        }
    }
    return count > 0;
}

static sim_err_t take_interface(import_fabric_t *fabric, uint32_t node, const char *port_name,
                                bool of_host, const world_tree_t *interface,
                                const world_place_t *place, world_error_t *error)
{
    const world_tree_t *chassis = member(interface, "chassis");
    const char *name = text_of(chassis, "name");
    if (name == NULL && chassis != NULL && chassis->kind == WORLD_TREE_MAP && chassis->count > 0 &&
        chassis->entries[0].value->kind == WORLD_TREE_MAP &&
        strcmp(chassis->entries[0].key->text, "id") != 0) {
        name = chassis->entries[0].key->text;
        chassis = chassis->entries[0].value;
    }
    if (name == NULL) {
        name = text_of(chassis, "id");
    }
    if (name == NULL || name[0] == '\0' || (!of_host && import_lldp_is_management(port_name))) {
        return SIM_OK;
    }
    const world_tree_t *const port = member(interface, "port");
    return import_lldp_add(fabric, node, port_name, name, text_of(port, "id"),
                           text_of(port, "descr"),
                           forwards(chassis) ? IMPORT_SWITCH : IMPORT_UNKNOWN, place, error);
}

static sim_err_t read_json(import_fabric_t *fabric, const import_file_t *file, world_error_t *error)
{
    const world_tree_t *const list = member(world_tree_value(file->json, "lldp"), "interface");
    const bool of_host = is_of_host(list);
    const uint32_t node =
        import_lldp_local(fabric, file, of_host ? IMPORT_HOST : IMPORT_SWITCH, &file->json->place);
    if (of_host) {
        import_note(fabric, IMPORT_ASSUMED, &file->json->place,
                    "a file of neighbours is of a host if its interfaces have names of NICs");
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0;
         list != NULL && list->kind != WORLD_TREE_SCALAR && i < list->count && result == SIM_OK;
         i++) {
        const world_tree_t *interface = NULL;
        const char *const port = interface_at(list, i, &interface);
        if (port != NULL) {
            result = take_interface(fabric, node, port, of_host, interface,
                                    &list->entries[i].value->place, error);
        }
    }
    import_lldp_note_keys(fabric, &import_lldp_json, &file->json->place);
    return result;
}

const import_format_t import_lldp_json = {
    .name = "neighbours of LLDP as JSON (lldpcli -f json)",
    .is = is_json,
    .read = read_json,
    .keys = json_keys,
    .key_count = SIM_COUNT_OF(json_keys),
};

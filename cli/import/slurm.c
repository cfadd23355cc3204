// SPDX-License-Identifier: Apache-2.0
// cli/import/slurm.c - reads Slurm's topology.conf: switches, and the nodes or switches below each.
//
// Lines are `SwitchName=leaf1 Nodes=node[1-16,20]` or `SwitchName=spine Switches=leaf[1-4]`, as
// slurm's topology.conf(5) describes; of topology/block `BlockName=b1 Nodes=...`. topology.yaml(5)
// has the same as `switch: leaf1` with `nodes` and `children`, and may describe several networks.
#include "cli/import/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES_MAX 20000u // of one line

// clang-format off
static const import_key_t keys[] = {
    {"topology.conf", "SwitchName", IMPORT_BECAME, "a switch"},
    {"topology.conf", "Switches", IMPORT_BECAME, "the switches that it has a link to"},
    {"topology.conf", "Nodes", IMPORT_BECAME, "the hosts that it has a link to"},
    {"topology.conf", "LinkSpeed", IMPORT_IGNORED, "the manual gives no unit"},
    {"topology.conf", "BlockName", IMPORT_ASSUMED, "a block is a switch, and all blocks have a link to one more switch"},
    {"topology.conf", "BlockSizes", IMPORT_IGNORED, "it is about the placement of jobs"},
    {"topology.yaml", "switch, children, nodes", IMPORT_BECAME, "a switch with its links, as SwitchName, Switches and Nodes are in topology.conf"},
    {"topology.yaml", "block, nodes", IMPORT_ASSUMED, "a block is a switch, as BlockName is in topology.conf"},
    {"topology.yaml", "flat, ring, torus3d", IMPORT_IGNORED, "these have no switches"},
};
// clang-format on

typedef sim_err_t (*name_fn)(void *ctx, const char *name);

typedef struct reader {
    import_fabric_t *fabric;
    world_place_t place;
    uint32_t parent;
    import_kind_t kind;
    size_t names;
    world_error_t *error;
} reader_t;

static sim_err_t too_many(const reader_t *reader)
{
    return world_fail(reader->error, SIM_ERR_RANGE, &reader->place,
                      "more than %u names in one line, expected fewer", NAMES_MAX);
}

// Adds a link from the line's switch to a node.
static sim_err_t add_child(reader_t *reader, const char *name)
{
    if (++reader->names > NAMES_MAX) {
        return too_many(reader);
    }
    const uint32_t node = import_fabric_node(reader->fabric, name, &reader->place);
    if (node == reader->parent) {
        return world_fail(reader->error, SIM_ERR_INVALID, &reader->place,
                          "a switch below itself, expected other names");
    }
    if (reader->fabric->nodes[node].kind == IMPORT_UNKNOWN) {
        reader->fabric->nodes[node].kind = reader->kind;
    }
    import_node_t *const parent = &reader->fabric->nodes[reader->parent];
    char *const down = sim_format("to %s", name);
    char *const up = sim_format("to %s", parent->label);
    import_port_t *const port = import_fabric_port(parent, down, &reader->place);
    (void)import_port_peer(port, name, up, NULL);
    sim_free(down);
    sim_free(up);
    return SIM_OK;
}

// Calls add_child for each name of a list with brackets: node[1-3,07]-ib,login. `before` is what
// stands before `text`; `text` ends with a 0.
static sim_err_t expand(reader_t *reader, const char *before, const char *text)
{
    const char *const open = strchr(text, '[');
    const char *const close = open != NULL ? strchr(open, ']') : NULL;
    if (open != NULL && close == NULL) {
        return world_fail(reader->error, SIM_ERR_INVALID, &reader->place,
                          "a list of names without a ']', expected such as node[1-4,7]");
    }
    if (close == NULL) {
        char *const name = sim_format("%s%s", before, text);
        const sim_err_t result = name[0] != '\0' ? add_child(reader, name) : SIM_OK;
        sim_free(name);
        return result;
    }
    sim_err_t result = SIM_OK;
    for (const char *at = open + 1; at < close && result == SIM_OK;) {
        char *end = NULL;
        const unsigned long first = strtoul(at, &end, 10);
        const int digits = (int)(end - at);
        unsigned long last = first;
        if (end < close && *end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        if (digits == 0 || digits > 9 || end > close || (*end != ',' && *end != ']') ||
            last < first) {
            return world_fail(reader->error, SIM_ERR_INVALID, &reader->place,
                              "a range of names that cannot be read, expected such as "
                              "node[1-4,7]");
        }
        if (last - first >= NAMES_MAX) {
            return too_many(reader);
        }
        for (unsigned long i = first; i <= last && result == SIM_OK; i++) {
            char *const begin =
                sim_format("%s%.*s%0*lu", before, (int)(open - text), text, digits, i);
            result = expand(reader, begin, close + 1);
            sim_free(begin);
        }
        at = end + 1;
    }
    return result;
}

// Splits a list at the commas outside of brackets.
static sim_err_t take_list(reader_t *reader, const char *list, import_kind_t kind)
{
    sim_err_t result = SIM_OK;
    reader->kind = kind;
    for (const char *at = list; *at != '\0' && result == SIM_OK;) {
        size_t size = 0;
        for (bool inside = false; at[size] != '\0' && (inside || at[size] != ','); size++) {
            inside = at[size] == '[' || (inside && at[size] != ']');
        }
        char *const item = sim_format("%.*s", (int)size, at);
        result = expand(reader, "", item);
        sim_free(item);
        at += size + (at[size] == ',' ? 1 : 0);
    }
    return result;
}

// Returns the value of KEY=VALUE in a line, or NULL. Keys have no case.
static char *value_of(const char *line, const char *key)
{
    const size_t size = strlen(key);
    for (const char *at = line; *at != '\0'; at += strcspn(at, " \t")) {
        at += strspn(at, " \t");
        if (strncasecmp(at, key, size) == 0 && at[size] == '=') {
            return sim_format("%.*s", (int)strcspn(at + size + 1, " \t\r"), at + size + 1);
        }
    }
    return NULL;
}

static sim_err_t take_line(reader_t *reader, const char *line)
{
    char *const name = value_of(line, "SwitchName");
    char *const block = name == NULL ? value_of(line, "BlockName") : NULL;
    const char *const label = name != NULL ? name : block;
    if (label == NULL || label[0] == '\0') {
        sim_free(name);
        sim_free(block);
        return SIM_OK;
    }
    reader->names = 0;
    reader->parent = import_fabric_node(reader->fabric, label, &reader->place);
    reader->fabric->nodes[reader->parent].kind = IMPORT_SWITCH;
    char *const nodes = value_of(line, "Nodes");
    char *const switches = value_of(line, "Switches");
    sim_err_t result = switches != NULL ? take_list(reader, switches, IMPORT_SWITCH) : SIM_OK;
    if (result == SIM_OK && nodes != NULL) {
        result = take_list(reader, nodes, IMPORT_HOST);
    }
    if (result == SIM_OK && block != NULL) {
        reader->parent = import_fabric_node(reader->fabric, "blocks", &reader->place);
        reader->fabric->nodes[reader->parent].kind = IMPORT_SWITCH;
        reader->kind = IMPORT_SWITCH;
        result = add_child(reader, block);
    }
    for (size_t k = 0; k < SIM_COUNT_OF(keys); k++) {
        char *const value = value_of(line, keys[k].field);
        if (value != NULL) {
            import_note_key(reader->fabric, &import_slurm, keys[k].table, keys[k].field,
                            &reader->place);
        }
        sim_free(value);
    }
    SIM_FREE_ALL(name, block, nodes, switches);
    return result;
}

// -- topology.yaml

static const char *text_at(const world_tree_t *map, const char *key)
{
    const world_tree_t *const value =
        map->kind == WORLD_TREE_MAP ? world_tree_value(map, key) : NULL;
    return value != NULL && value->kind == WORLD_TREE_SCALAR && !value->is_null ? value->text
                                                                                : NULL;
}

static const world_tree_t *list_at(const world_tree_t *map, const char *key, const char *inner)
{
    const world_tree_t *value = map->kind == WORLD_TREE_MAP ? world_tree_value(map, key) : NULL;
    value = value != NULL && value->kind == WORLD_TREE_MAP ? world_tree_value(value, inner) : NULL;
    return value != NULL && value->kind == WORLD_TREE_LIST ? value : NULL;
}

// Takes a switch or a block as the line of topology.conf that says the same.
static sim_err_t take_entries(reader_t *reader, const world_tree_t *list, const char *name,
                              const char *keyword)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; list != NULL && i < list->count && result == SIM_OK; i++) {
        const world_tree_t *const entry = list->entries[i].value;
        const char *const label = text_at(entry, name);
        const char *const nodes = text_at(entry, "nodes");
        const char *const children = text_at(entry, "children");
        reader->place = entry->place;
        char *const line =
            sim_format("%s=%s%s%s%s%s", keyword, label != NULL ? label : "",
                       nodes != NULL ? " Nodes=" : "", nodes != NULL ? nodes : "",
                       children != NULL ? " Switches=" : "", children != NULL ? children : "");
        result = take_line(reader, line);
        sim_free(line);
    }
    return result;
}

// Reads the first topology of the file that has switches or blocks.
static sim_err_t read_yaml(reader_t *reader, const import_file_t *file)
{
    const world_tree_t *const root = file->tree;
    for (size_t i = 0; i < root->count; i++) {
        const world_tree_t *const topology = root->entries[i].value;
        const world_tree_t *const switches = list_at(topology, "tree", "switches");
        const world_tree_t *const blocks = list_at(topology, "block", "blocks");
        if (switches == NULL && blocks == NULL) {
            continue;
        }
        if (root->count > 1) {
            import_note(reader->fabric, IMPORT_ASSUMED, &topology->place,
                        "a file with several topologies: the first one with switches or blocks "
                        "counts");
        }
        const sim_err_t result = take_entries(reader, switches, "switch", "SwitchName");
        return result != SIM_OK ? result : take_entries(reader, blocks, "block", "BlockName");
    }
    return SIM_OK;
}

static sim_err_t read_slurm(import_fabric_t *fabric, const import_file_t *file,
                            world_error_t *error)
{
    reader_t reader = {.fabric = fabric, .place = {file->name, 1, 1}, .error = error};
    if (file->tree != NULL) {
        return read_yaml(&reader, file);
    }
    char *line = sim_format("%s", "");
    sim_err_t result = SIM_OK;
    int number = 1;
    for (const char *next = file->text; *next != '\0' && result == SIM_OK; number++) {
        const size_t size = strcspn(next, "\n");
        size_t used = strcspn(next, "#\n");
        const bool goes_on = used == size && used > 0 && next[used - 1] == '\\';
        used -= goes_on ? 1 : 0;
        reader.place.line = line[0] == '\0' ? number : reader.place.line;
        char *const whole = sim_format("%s%.*s", line, (int)used, next);
        sim_free(line);
        line = whole;
        next += size + (next[size] == '\n' ? 1 : 0);
        if (!goes_on) {
            result = take_line(&reader, line);
            sim_free(line);
            line = sim_format("%s", "");
        }
    }
    if (result == SIM_OK && line[0] != '\0') {
        result = take_line(&reader, line);
    }
    sim_free(line);
    return result;
}

// Returns whether a line begins with SwitchName= or BlockName=, or a list of YAML has topologies.
static bool is_slurm(const import_file_t *file)
{
    const world_tree_t *const tree = file->tree;
    if (tree != NULL) {
        return tree->kind == WORLD_TREE_LIST && tree->count > 0 &&
               text_at(tree->entries[0].value, "topology") != NULL;
    }
    for (const char *at = file->text; at != NULL && *at != '\0';) {
        at += strspn(at, " \t");
        if (strncasecmp(at, "SwitchName=", 11) == 0 || strncasecmp(at, "BlockName=", 10) == 0) {
            return true;
        }
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

const import_format_t import_slurm = {
    .name = "Slurm's topology.conf and topology.yaml",
    .is = is_slurm,
    .read = read_slurm,
    .keys = keys,
    .key_count = SIM_COUNT_OF(keys),
};

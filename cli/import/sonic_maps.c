// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic_maps.c - SONiC's maps between DSCPs, traffic classes, queues and PFC priorities.
//
// A class of the scenario is a traffic class. Tables of queues and PFC priorities are turned into
// traffic classes by the maps that PORT_QOS_MAP names. A number that a map leaves out maps to
// itself.
#include "cli/import/sonic_maps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DSCPS 64u

static const struct {
    const char *field; // of PORT_QOS_MAP
    const char *table;
    uint32_t keys; // larger ones, such as traffic class 8, have no class of the scenario
} maps[] = {
    [IMPORT_MAP_DSCP] = {"dscp_to_tc_map", "DSCP_TO_TC_MAP", DSCPS},
    [IMPORT_MAP_QUEUE] = {"tc_to_queue_map", "TC_TO_QUEUE_MAP", IMPORT_CLASSES},
    [IMPORT_MAP_GROUP] = {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", IMPORT_CLASSES},
    [IMPORT_MAP_PFC] = {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", IMPORT_CLASSES},
};

void import_sonic_name_maps(import_sonic_reader_t *reader, const world_tree_t *fields,
                            const world_place_t *place)
{
    for (size_t m = 0; m < IMPORT_MAPS; m++) {
        char *const name = import_sonic_reference(import_sonic_field(fields, maps[m].field));
        if (name != NULL && reader->map_names[m] != NULL &&
            strcmp(name, reader->map_names[m]) != 0) {
            import_note(reader->fabric, IMPORT_ASSUMED, place,
                        "ports of a switch have different maps (PORT_QOS_MAP %s): all have that of "
                        "the first port",
                        maps[m].field);
        }
        if (reader->map_names[m] == NULL) {
            reader->map_names[m] = name;
        } else {
            sim_free(name);
        }
    }
}

// Returns the entry TABLE|NAME, in either form of the file; NULL: there is none.
static const world_tree_t *find_map(const world_tree_t *root, const char *table, const char *name)
{
    char *const flat = sim_format("%s|%s", table, name);
    const world_tree_t *found = world_tree_value(root, flat);
    const world_tree_t *const whole = world_tree_value(root, table);
    if (found == NULL && whole != NULL && whole->kind == WORLD_TREE_MAP) {
        found = world_tree_value(whole, name);
    }
    sim_free(flat);
    return found != NULL && found->kind == WORLD_TREE_MAP ? found : NULL;
}

// Reads {"0": "0", "1": "1"...} into to[0] to to[maps[m].keys - 1].
static sim_err_t read_map(const import_sonic_reader_t *reader, size_t m, uint8_t *to)
{
    const world_tree_t *const map =
        find_map(reader->file->json, maps[m].table, reader->map_names[m]);
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const world_tree_t *const value = map->entries[i].value;
        const char *const key = map->entries[i].key->text;
        char *key_end = NULL;
        char *end = NULL;
        const unsigned long number = strtoul(key, &key_end, 10);
        const unsigned long target =
            value->kind == WORLD_TREE_SCALAR ? strtoul(value->text, &end, 10) : 0;
        if (key_end == key || *key_end != '\0' || value->kind != WORLD_TREE_SCALAR ||
            end == value->text || *end != '\0' || number >= DSCPS || target >= DSCPS) {
            world_shown_t shown;
            return world_fail(reader->error, SIM_ERR_INVALID, &value->place,
                              "an entry of %s is '%s', expected two whole numbers below %u",
                              maps[m].table, world_show(&shown, key), DSCPS);
        }
        if (number < maps[m].keys) {
            to[number] = (uint8_t)target;
        } else {
            import_note(reader->fabric, IMPORT_IGNORED, &value->place,
                        "%s %s: a scenario has the classes 0 to 7", maps[m].table, key);
        }
    }
    return SIM_OK;
}

static sim_err_t read_maps(const import_sonic_reader_t *reader, uint8_t to[IMPORT_MAPS][DSCPS])
{
    sim_err_t result = SIM_OK;
    for (size_t m = 0; m < IMPORT_MAPS; m++) {
        for (size_t i = 0; i < DSCPS; i++) {
            to[m][i] = m == IMPORT_MAP_DSCP ? UINT8_MAX : (uint8_t)i;
        }
        if (result == SIM_OK && reader->map_names[m] != NULL) {
            result = read_map(reader, m, to[m]);
        }
    }
    return result;
}

// Returns the traffic classes that a map sends to numbers of `mask`.
static uint32_t classes_to(const uint8_t *to, uint32_t mask)
{
    uint32_t classes = 0;
    for (uint32_t c = 0; c < IMPORT_CLASSES; c++) {
        classes |= to[c] < IMPORT_CLASSES && (mask >> to[c] & 1u) != 0 ? 1u << c : 0;
    }
    return classes;
}

// Turns the PFC priorities of a port into traffic classes: those whose queue a pause stops.
static void turn_port(const import_sonic_reader_t *reader, uint8_t to[IMPORT_MAPS][DSCPS],
                      import_port_t *port)
{
    uint32_t queues = 0;
    for (uint32_t p = 0; p < IMPORT_CLASSES; p++) {
        queues |= (port->set.lossless >> p & 1u) != 0 ? 1u << (to[IMPORT_MAP_PFC][p] & 31u) : 0;
    }
    port->set.lossless = classes_to(to[IMPORT_MAP_QUEUE], queues);
    if (port->set.groups != 0 &&
        (port->set.lossless & ~classes_to(to[IMPORT_MAP_GROUP], port->set.groups)) != 0) {
        import_note(reader->fabric, IMPORT_ASSUMED, &port->place,
                    "a lossless class whose priority group has no profile with headroom has the "
                    "headroom of the port's other classes");
    }
}

// Returns which DSCPs reach the lossless classes: "DSCP 3, 26: class 3; DSCP 4: class 4".
static char *dscps_of(const uint8_t *class_of, uint32_t lossless)
{
    char *text = NULL;
    for (uint32_t c = 0; c < IMPORT_CLASSES; c++) {
        bool first = true;
        for (uint32_t d = 0; d < DSCPS; d++) {
            if ((lossless >> c & 1u) == 0 || class_of[d] != c) {
                continue;
            }
            char *const more = sim_format("%s%s%u", text != NULL ? text : "",
                                          !first         ? ", "
                                          : text != NULL ? "; DSCP "
                                                         : "DSCP ",
                                          d);
            sim_free(text);
            text = more;
            first = false;
        }
        if (!first) {
            char *const more = sim_format("%s: class %u", text, c);
            sim_free(text);
            text = more;
        }
    }
    return text;
}

sim_err_t import_sonic_use_maps(import_sonic_reader_t *reader)
{
    uint8_t to[IMPORT_MAPS][DSCPS];
    const sim_err_t result = read_maps(reader, to);
    if (result != SIM_OK) {
        return result;
    }
    uint32_t weights[IMPORT_CLASSES];
    memcpy(weights, reader->weights, sizeof(weights));
    for (uint32_t c = 0; c < IMPORT_CLASSES; c++) {
        const uint8_t queue = to[IMPORT_MAP_QUEUE][c];
        reader->weights[c] = queue < IMPORT_CLASSES ? weights[queue] : 0;
        for (uint32_t d = 0; d < c; d++) {
            if (to[IMPORT_MAP_QUEUE][d] == queue && reader->scheduler_count > 0) {
                import_note(
                    reader->fabric, IMPORT_ASSUMED, &reader->file->json->place,
                    "traffic classes that share a queue of a switch have a queue each, and all "
                    "these queues have one weight");
            }
        }
    }
    reader->ecn_classes = classes_to(to[IMPORT_MAP_QUEUE], reader->ecn_classes);
    reader->strict_classes = classes_to(to[IMPORT_MAP_QUEUE], reader->strict_classes);
    import_node_t *const node = &reader->fabric->nodes[reader->node];
    uint32_t lossless = 0;
    for (size_t p = 0; p < node->port_count; p++) {
        turn_port(reader, to, &node->ports[p]);
        lossless |= node->ports[p].set.lossless;
    }
    reader->dscps = dscps_of(to[IMPORT_MAP_DSCP], lossless);
    if (reader->dscps == NULL && lossless != 0 && reader->map_names[IMPORT_MAP_DSCP] != NULL &&
        find_map(reader->file->json, maps[IMPORT_MAP_DSCP].table,
                 reader->map_names[IMPORT_MAP_DSCP]) != NULL) {
        import_note(reader->fabric, IMPORT_ASSUMED, &node->place,
                    "no DSCP reaches a lossless class of the switch: traffic of the scenario is in "
                    "one of them nevertheless");
    }
    return SIM_OK;
}

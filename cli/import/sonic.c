// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic.c - reads config_db.json of SONiC: ports, neighbours, buffers, ECN, QoS, PFC.
//
// The file is {"TABLE": {"KEY": {"FIELD": "VALUE"}}} or {"TABLE|KEY": {"FIELD": "VALUE"}}; keys of
// several parts are joined by '|', ports of one key by ','. Sources: sonic-swss' schema and YANG
// models; SONiC's documents on buffers, QoS and the PFC watchdog.
#include "cli/import/sonic.h"
#include "cli/import/sonic_maps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILES_MAX 4096u

typedef struct profile {
    const char *name;
    import_limits_t set;
    uint64_t size_bytes; // SIM_AUTO: not given
    bool lossless;       // it has xoff, or a name of profiles with headroom
    bool egress;
    bool ecn;
} profile_t;

typedef struct scheduler {
    const char *name;
    bool strict;
    uint32_t weight; // 0: not given
} scheduler_t;

// An entry of a table: its key and its fields.
typedef struct entry {
    const char *table;
    const char *key; // behind "TABLE|"
    const world_tree_t *fields;
    const world_tree_t *at; // where the key stands
} entry_t;

typedef import_sonic_reader_t reader_t;
typedef sim_err_t (*entry_fn)(reader_t *reader, const entry_t *entry);

// -- values

const char *import_sonic_field(const world_tree_t *fields, const char *field)
{
    const world_tree_t *const value =
        fields->kind == WORLD_TREE_MAP ? world_tree_value(fields, field) : NULL;
    return value != NULL && value->kind == WORLD_TREE_SCALAR && !value->is_null ? value->text
                                                                                : NULL;
}

// Reads a whole number of a field. *number stays as it is if there is none.
static sim_err_t number_of(const reader_t *reader, const entry_t *entry, const char *field,
                           uint64_t max, uint64_t *number)
{
    const char *const text = import_sonic_field(entry->fields, field);
    if (text == NULL || text[0] == '\0') {
        return SIM_OK;
    }
    char *end = NULL;
    const bool digits = strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;
    const uint64_t value = digits ? strtoull(text, &end, 10) : 0;
    if (!digits || value > max) {
        world_shown_t shown;
        return world_fail(reader->error, SIM_ERR_INVALID,
                          &world_tree_value(entry->fields, field)->place,
                          "%s of %s is '%s', expected a whole number up to %" PRIu64, field,
                          entry->table, world_show(&shown, text), max);
    }
    *number = value;
    return SIM_OK;
}

// Reads the exponent of a threshold, -8 to 8.
static sim_err_t exponent_of(const reader_t *reader, const entry_t *entry, const char *field,
                             int *exponent)
{
    const char *const text = import_sonic_field(entry->fields, field);
    if (text == NULL) {
        return SIM_OK;
    }
    char *end = NULL;
    const long value = strtol(text, &end, 10);
    if (text[0] == '\0' || *end != '\0' || value < -10 || value > 10) {
        world_shown_t shown;
        return world_fail(reader->error, SIM_ERR_INVALID,
                          &world_tree_value(entry->fields, field)->place,
                          "%s of %s is '%s', expected a power of two from -10 to 10", field,
                          entry->table, world_show(&shown, text));
    }
    *exponent = (int)value;
    return SIM_OK;
}

// Reads classes: "3,4", "3-4", "3". Returns false if the text is none.
static bool classes_of(const char *text, uint32_t *mask)
{
    *mask = 0;
    for (const char *p = text; *p != '\0';) {
        if (*p < '0' || *p > '9') {
            return false;
        }
        char *end = NULL;
        const unsigned long first = strtoul(p, &end, 10);
        unsigned long last = first;
        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        for (unsigned long c = first; c <= last && c < 32; c++) {
            *mask |= c < IMPORT_CLASSES ? 1u << c : 0;
        }
        p = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0') {
            return false;
        }
    }
    return text[0] != '\0';
}

char *import_sonic_reference(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    const char *const bar = strrchr(text, '|');
    const char *const begin = bar != NULL ? bar + 1 : text + (text[0] == '[' ? 1 : 0);
    const size_t size = strlen(begin);
    return sim_format("%.*s", (int)(size > 0 && begin[size - 1] == ']' ? size - 1 : size), begin);
}

// Calls `fn` for each port of a list "Ethernet0,Ethernet4".
static sim_err_t each_port(reader_t *reader, const entry_t *entry, const char *list,
                           const void *value,
                           sim_err_t (*fn)(reader_t *reader, const entry_t *entry,
                                           import_port_t *port, const void *value))
{
    char *const names = sim_format("%s", list);
    char *rest = names;
    sim_err_t result = SIM_OK;
    for (char *name = strsep(&rest, ","); name != NULL && result == SIM_OK;
         name = strsep(&rest, ",")) {
        import_node_t *const node = &reader->fabric->nodes[reader->node];
        if (name[0] == '\0') {
            continue;
        }
        import_port_t *const port = import_fabric_find_port(node, name);
        if (port != NULL) {
            result = fn(reader, entry, port, value);
        } else if (strncmp(name, "Ethernet", 8) == 0) {
            import_note(reader->fabric, IMPORT_IGNORED, &entry->at->place,
                        "an entry of %s for a port that the table PORT does not have",
                        entry->table);
        }
    }
    sim_free(names);
    return result;
}

// -- tables

static sim_err_t take_port(reader_t *reader, const entry_t *entry)
{
    import_port_t *const port =
        import_fabric_port(&reader->fabric->nodes[reader->node], entry->key, &entry->at->place);
    uint64_t mbps = 0;
    const sim_err_t result = number_of(reader, entry, "speed", 100000000, &mbps);
    const char *const alias = import_sonic_field(entry->fields, "alias");
    const char *const status = import_sonic_field(entry->fields, "admin_status");
    if (alias != NULL && port->alias == NULL) {
        port->alias = sim_format("%s", alias);
    }
    port->listed = true;
    port->rate_bps = mbps * 1000000;
    port->is_down = status != NULL && strcmp(status, "down") == 0;
    return result;
}

static sim_err_t take_length(reader_t *reader, const entry_t *entry)
{
    import_node_t *const node = &reader->fabric->nodes[reader->node];
    for (size_t i = 0; entry->fields->kind == WORLD_TREE_MAP && i < entry->fields->count; i++) {
        const world_tree_entry_t *const row = &entry->fields->entries[i];
        import_port_t *const port = import_fabric_find_port(node, row->key->text);
        if (port == NULL || row->value->kind != WORLD_TREE_SCALAR) {
            continue;
        }
        char *end = NULL;
        const double metres = strtod(row->value->text, &end);
        if (end == row->value->text || strcmp(end, "m") != 0 || metres < 0 || metres > 1e6) {
            world_shown_t shown;
            return world_fail(reader->error, SIM_ERR_INVALID, &row->value->place,
                              "the length of a cable is '%s', expected metres, such as 5m or 300m",
                              world_show(&shown, row->value->text));
        }
        port->length_cm = (uint64_t)(metres * 100 + 0.5);
    }
    return SIM_OK;
}

static sim_err_t set_neighbour(reader_t *reader, const entry_t *entry, import_port_t *port,
                               const void *value)
{
    const char *const name = value;
    if (!import_port_peer(port, name, import_sonic_field(entry->fields, "port"), NULL)) {
        world_shown_t shown[2];
        return world_fail(reader->error, SIM_ERR_INVALID, &entry->at->place,
                          "port %s has the neighbours %s and %s, expected one", port->name,
                          world_show(&shown[0], port->peer), world_show(&shown[1], name));
    }
    return SIM_OK;
}

static sim_err_t take_neighbour(reader_t *reader, const entry_t *entry)
{
    const char *const name = import_sonic_field(entry->fields, "name");
    if (name == NULL || name[0] == '\0') {
        return SIM_OK;
    }
    return each_port(reader, entry, entry->key, name, set_neighbour);
}

static sim_err_t take_neighbour_type(reader_t *reader, const entry_t *entry)
{
    static const char *const switches[] = {"Router", "Switch", "Leaf", "Spine", "ToR",
                                           "T0",     "T1",     "T2",   "T3",    "Fabric"};
    const char *const type = import_sonic_field(entry->fields, "type");
    if (type == NULL) {
        return SIM_OK;
    }
    const uint32_t number = import_fabric_node(reader->fabric, entry->key, &entry->at->place);
    import_node_t *const node = &reader->fabric->nodes[number];
    bool is_switch = false;
    for (size_t i = 0; i < SIM_COUNT_OF(switches); i++) {
        is_switch = is_switch || strstr(type, switches[i]) != NULL;
    }
    if (!node->described) {
        node->kind = is_switch ? IMPORT_SWITCH : IMPORT_HOST;
    }
    return SIM_OK;
}

static sim_err_t take_pool(reader_t *reader, const entry_t *entry)
{
    const bool lossy = strstr(entry->key, "lossy") != NULL;
    uint64_t *const bytes =
        strncmp(entry->key, "egress", 6) == 0 ? &reader->egress_pool_bytes : &reader->pool_bytes;
    if (lossy && *bytes != SIM_AUTO) {
        return SIM_OK;
    }
    uint64_t shared = 0; // 0: ports share no headroom
    sim_err_t result = number_of(reader, entry, "size", UINT64_C(64000000000), bytes);
    if (result == SIM_OK && bytes == &reader->pool_bytes) {
        result = number_of(reader, entry, "xoff", UINT64_C(64000000000), &shared);
        reader->headroom_pool_bytes = shared != 0 ? shared : reader->headroom_pool_bytes;
    }
    return result;
}

static const import_limits_t no_limits = {
    .headroom_bytes = SIM_AUTO,
    .reserved_bytes = SIM_AUTO,
    .xon_offset_bytes = SIM_AUTO,
    .threshold_bytes = SIM_AUTO,
    .alpha_exponent = INT_MAX,
    .kmin_bytes = SIM_AUTO,
    .kmax_bytes = SIM_AUTO,
};

static sim_err_t take_profile(reader_t *reader, const entry_t *entry)
{
    profile_t profile = {.name = entry->key, .set = no_limits, .size_bytes = SIM_AUTO};
    const uint64_t max = UINT64_C(64000000000);
    sim_err_t result = number_of(reader, entry, "xoff", max, &profile.set.headroom_bytes);
    result = result != SIM_OK ? result : number_of(reader, entry, "size", max, &profile.size_bytes);
    result = result != SIM_OK
                 ? result
                 : number_of(reader, entry, "xon_offset", max, &profile.set.xon_offset_bytes);
    result = result != SIM_OK
                 ? result
                 : number_of(reader, entry, "static_th", max, &profile.set.threshold_bytes);
    result = result != SIM_OK
                 ? result
                 : exponent_of(reader, entry, "dynamic_th", &profile.set.alpha_exponent);
    const char *const pool = import_sonic_field(entry->fields, "pool");
    profile.lossless =
        profile.set.headroom_bytes != SIM_AUTO || strncmp(entry->key, "pg_lossless", 11) == 0;
    profile.egress = pool != NULL && strstr(pool, "egress") != NULL;
    if (profile.size_bytes != SIM_AUTO && profile.lossless) {
        // Some switches count the headroom as a part of the size, others do not.
        const uint64_t headroom =
            profile.set.headroom_bytes != SIM_AUTO ? profile.set.headroom_bytes : 0;
        profile.set.reserved_bytes =
            profile.size_bytes > headroom ? profile.size_bytes - headroom : profile.size_bytes;
    }
    SIM_APPEND(reader->profiles, reader->profile_count, reader->profile_capacity, profile);
    return result;
}

static sim_err_t take_wred(reader_t *reader, const entry_t *entry)
{
    profile_t profile = {.name = entry->key, .set = no_limits};
    const uint64_t max = UINT64_C(4000000000);
    uint64_t percent = 100;
    sim_err_t result =
        number_of(reader, entry, "green_min_threshold", max, &profile.set.kmin_bytes);
    result = result != SIM_OK
                 ? result
                 : number_of(reader, entry, "green_max_threshold", max, &profile.set.kmax_bytes);
    result = result != SIM_OK ? result
                              : number_of(reader, entry, "green_drop_probability", 100, &percent);
    const char *const ecn = import_sonic_field(entry->fields, "ecn");
    profile.set.pmax_percent = (uint32_t)percent;
    profile.ecn = ecn != NULL && (strcmp(ecn, "ecn_all") == 0 || strstr(ecn, "green") != NULL) &&
                  profile.set.kmin_bytes != SIM_AUTO && profile.set.kmax_bytes != SIM_AUTO;
    if (profile.ecn && profile.set.kmin_bytes > profile.set.kmax_bytes) {
        return world_fail(reader->error, SIM_ERR_RANGE, &entry->at->place,
                          "green_min_threshold is larger than green_max_threshold, expected a "
                          "smaller or equal one");
    }
    SIM_APPEND(reader->profiles, reader->profile_count, reader->profile_capacity, profile);
    return result;
}

static const profile_t *find_profile(const reader_t *reader, const char *name)
{
    for (size_t i = 0; name != NULL && i < reader->profile_count; i++) {
        if (strcmp(reader->profiles[i].name, name) == 0) {
            return &reader->profiles[i];
        }
    }
    return NULL;
}

// Takes the speed and the length of a port from the name of a profile,
// pg_lossless_100000_5m_profile, where nothing else says them.
static void take_from_name(import_port_t *port, const char *name)
{
    unsigned mbps = 0;
    unsigned metres = 0;
    // NOLINTNEXTLINE(cert-err34-c): the widths keep the numbers small
    if (sscanf(name, "pg_lossless_%8u_%6um_", &mbps, &metres) == 2) {
        port->rate_bps = port->rate_bps != 0 ? port->rate_bps : (uint64_t)mbps * 1000000;
        port->length_cm = port->length_cm != SIM_AUTO ? port->length_cm : (uint64_t)metres * 100;
    }
}

static sim_err_t set_group(reader_t *reader, const entry_t *entry, import_port_t *port,
                           const void *value)
{
    const profile_t *const profile = value;
    const char *const bar = strchr(entry->key, '|');
    uint32_t classes = 0;
    if (bar != NULL && classes_of(bar + 1, &classes) && profile->lossless) {
        const import_limits_t before = port->set;
        port->set = profile->set;
        if (before.groups != 0 && before.headroom_bytes != profile->set.headroom_bytes) {
            port->set.headroom_bytes = SIM_MIN(before.headroom_bytes, profile->set.headroom_bytes);
            import_note(reader->fabric, IMPORT_ASSUMED, &entry->at->place,
                        "classes of a port have different headroom: all of its classes have the "
                        "smallest");
        }
        port->set.kmin_bytes = before.kmin_bytes;
        port->set.kmax_bytes = before.kmax_bytes;
        port->set.pmax_percent = before.pmax_percent;
        port->set.lossless = before.lossless;
        port->set.groups = before.groups | classes;
        take_from_name(port, profile->name);
    }
    return SIM_OK;
}

// Returns the part of a key before '|', to be freed with sim_free.
static char *ports_of_key(const char *key)
{
    return sim_format("%.*s", (int)strcspn(key, "|"), key);
}

static sim_err_t take_group(reader_t *reader, const entry_t *entry)
{
    char *const name = import_sonic_reference(import_sonic_field(entry->fields, "profile"));
    const profile_t *const profile = find_profile(reader, name);
    sim_err_t result = SIM_OK;
    if (profile != NULL) {
        char *const ports = ports_of_key(entry->key);
        result = each_port(reader, entry, ports, profile, set_group);
        sim_free(ports);
    } else if (name != NULL && strcmp(name, "NULL") != 0 && strcmp(name, "0") != 0) {
        import_note(reader->fabric, IMPORT_ASSUMED, &entry->at->place,
                    "a profile that the file does not have (%s): the headroom is computed", name);
    }
    sim_free(name);
    return result;
}

// The queues of lossy classes decide how long a lossy queue may be.
static sim_err_t take_buffer_queue(reader_t *reader, const entry_t *entry)
{
    char *const name = import_sonic_reference(import_sonic_field(entry->fields, "profile"));
    const profile_t *const profile = find_profile(reader, name);
    if (profile != NULL && profile->egress && strstr(name, "lossless") == NULL &&
        profile->set.alpha_exponent != INT_MAX) {
        if (reader->lossy_exponent != INT_MAX &&
            reader->lossy_exponent != profile->set.alpha_exponent) {
            import_note(reader->fabric, IMPORT_ASSUMED, &entry->at->place,
                        "lossy queues of a switch have different thresholds: all have that of the "
                        "last one in the file");
        }
        reader->lossy_exponent = profile->set.alpha_exponent;
    }
    sim_free(name);
    return SIM_OK;
}

static sim_err_t take_scheduler(reader_t *reader, const entry_t *entry)
{
    const char *const type = import_sonic_field(entry->fields, "type");
    uint64_t weight = 0;
    const sim_err_t result = number_of(reader, entry, "weight", 255, &weight);
    SIM_APPEND(
        reader->schedulers, reader->scheduler_count, reader->scheduler_capacity,
        (scheduler_t){entry->key, type != NULL && strcmp(type, "STRICT") == 0, (uint32_t)weight});
    return result;
}

static sim_err_t set_queue(reader_t *reader, const entry_t *entry, import_port_t *port,
                           const void *value)
{
    const profile_t *const profile = value;
    (void)reader;
    (void)entry;
    // If queues of a port have different profiles, the lowest threshold counts.
    if (port->set.kmin_bytes == SIM_AUTO || profile->set.kmin_bytes < port->set.kmin_bytes) {
        port->set.kmin_bytes = profile->set.kmin_bytes;
        port->set.kmax_bytes = profile->set.kmax_bytes;
        port->set.pmax_percent = profile->set.pmax_percent;
    }
    return SIM_OK;
}

static sim_err_t take_queue(reader_t *reader, const entry_t *entry)
{
    const char *const bar = strrchr(entry->key, '|');
    uint32_t classes = 0;
    if (bar == NULL || !classes_of(bar + 1, &classes)) {
        return SIM_OK;
    }
    sim_err_t result = SIM_OK;
    char *const wred = import_sonic_reference(import_sonic_field(entry->fields, "wred_profile"));
    char *const scheduler = import_sonic_reference(import_sonic_field(entry->fields, "scheduler"));
    const profile_t *const profile = find_profile(reader, wred);
    if (profile != NULL && profile->ecn) {
        char *const ports = ports_of_key(entry->key);
        reader->ecn_classes |= classes;
        result = each_port(reader, entry, ports, profile, set_queue);
        sim_free(ports);
    }
    for (size_t i = 0; scheduler != NULL && i < reader->scheduler_count; i++) {
        const scheduler_t *const row = &reader->schedulers[i];
        for (uint32_t c = 0; c < IMPORT_CLASSES && strcmp(row->name, scheduler) == 0; c++) {
            if ((classes >> c & 1u) != 0) {
                reader->strict_classes |= row->strict ? 1u << c : 0;
                reader->weights[c] = row->strict ? 0 : row->weight;
            }
        }
    }
    sim_free(wred);
    sim_free(scheduler);
    return result;
}

static sim_err_t set_pfc(reader_t *reader, const entry_t *entry, import_port_t *port,
                         const void *value)
{
    (void)reader;
    (void)entry;
    port->set.lossless = *(const uint32_t *)value;
    return SIM_OK;
}

static sim_err_t take_qos_map(reader_t *reader, const entry_t *entry)
{
    const char *const text = import_sonic_field(entry->fields, "pfc_enable");
    uint32_t classes = 0;
    if (strncmp(entry->key, "Ethernet", 8) == 0) {
        import_sonic_name_maps(reader, entry->fields, &entry->at->place);
    }
    if (text == NULL || text[0] == '\0') {
        return SIM_OK;
    }
    if (!classes_of(text, &classes)) {
        world_shown_t shown;
        return world_fail(
            reader->error, SIM_ERR_INVALID, &world_tree_value(entry->fields, "pfc_enable")->place,
            "pfc_enable is '%s', expected classes, such as 3,4", world_show(&shown, text));
    }
    return each_port(reader, entry, entry->key, &classes, set_pfc);
}

static sim_err_t take_watchdog(reader_t *reader, const entry_t *entry)
{
    const char *const action = import_sonic_field(entry->fields, "action");
    if (strcmp(entry->key, "GLOBAL") == 0) {
        return SIM_OK;
    }
    reader->watchdog = action == NULL || strcmp(action, "drop") == 0 ? "drop"
                       : strcmp(action, "forward") == 0              ? "ignore"
                                                                     : "off";
    const sim_err_t result = number_of(reader, entry, "detection_time", 100000, &reader->detect_ms);
    return result != SIM_OK
               ? result
               : number_of(reader, entry, "restoration_time", 100000, &reader->restore_ms);
}

// In the order in which they are read: profiles before those that name them.
static const struct {
    const char *table;
    entry_fn take;
} tables[] = {
    {"PORT", take_port},
    {"CABLE_LENGTH", take_length},
    {"DEVICE_NEIGHBOR", take_neighbour},
    {"DEVICE_NEIGHBOR_METADATA", take_neighbour_type},
    {"BUFFER_POOL", take_pool},
    {"BUFFER_PROFILE", take_profile},
    {"WRED_PROFILE", take_wred},
    {"SCHEDULER", take_scheduler},
    {"BUFFER_PG", take_group},
    {"BUFFER_QUEUE", take_buffer_queue},
    {"QUEUE", take_queue},
    {"PORT_QOS_MAP", take_qos_map},
    {"PFC_WD", take_watchdog},
};

// -- the file

// Calls `fn` for each entry of a table, in either form of the file.
static sim_err_t each_entry(reader_t *reader, const char *table, entry_fn fn)
{
    const world_tree_t *const root = reader->file->json;
    const size_t size = strlen(table);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < root->count && result == SIM_OK; i++) {
        const world_tree_entry_t *const top = &root->entries[i];
        const char *const key = top->key->text;
        if (strncmp(key, table, size) != 0 || (key[size] != '\0' && key[size] != '|')) {
            continue;
        }
        if (key[size] == '|') {
            const entry_t entry = {table, key + size + 1, top->value, top->key};
            result = fn(reader, &entry);
            continue;
        }
        for (size_t k = 0;
             top->value->kind == WORLD_TREE_MAP && k < top->value->count && result == SIM_OK; k++) {
            const world_tree_entry_t *const row = &top->value->entries[k];
            const entry_t entry = {table, row->key->text, row->value, row->key};
            result = fn(reader, &entry);
        }
    }
    return result;
}

// Notes each key of an entry.
static sim_err_t note_entry(reader_t *reader, const entry_t *entry)
{
    import_fabric_t *const fabric = reader->fabric;
    import_note_key(fabric, &import_sonic, entry->table, "", &entry->at->place);
    for (size_t i = 0; entry->fields->kind == WORLD_TREE_MAP && i < entry->fields->count; i++) {
        const world_tree_t *const field = entry->fields->entries[i].key;
        import_note_key(fabric, &import_sonic, entry->table, field->text, &field->place);
    }
    return SIM_OK;
}

static void note_all(reader_t *reader)
{
    const world_tree_t *const root = reader->file->json;
    for (size_t i = 0; i < root->count; i++) {
        const world_tree_entry_t *const top = &root->entries[i];
        char *const table = ports_of_key(top->key->text);
        bool known = false;
        for (size_t k = 0; k < import_sonic.key_count; k++) {
            known = known || strcmp(import_sonic.keys[k].table, table) == 0;
        }
        if (!known) {
            import_note(reader->fabric, IMPORT_IGNORED, &top->key->place, "table %.40s: not used",
                        table);
        } else if (strchr(top->key->text, '|') != NULL) {
            const entry_t entry = {table, "", top->value, top->key};
            (void)note_entry(reader, &entry);
        } else {
            (void)each_entry(reader, table, note_entry);
        }
        sim_free(table);
    }
}

// Adds the ports that a key names: "Ethernet0,Ethernet4|3-4", or "switch|asic0|Ethernet0|3".
static void add_ports_of_key(reader_t *reader, const char *key, const world_place_t *place)
{
    char *const names = sim_format("%s", key);
    char *rest = names;
    for (char *name = strsep(&rest, ",|"); name != NULL; name = strsep(&rest, ",|")) {
        if (strncmp(name, "Ethernet", 8) == 0) {
            import_port_t *const port =
                import_fabric_port(&reader->fabric->nodes[reader->node], name, place);
            port->listed = true;
        }
    }
    sim_free(names);
}

static sim_err_t take_ports_of_key(reader_t *reader, const entry_t *entry)
{
    add_ports_of_key(reader, entry->key, &entry->at->place);
    return SIM_OK;
}

static sim_err_t take_ports_of_lengths(reader_t *reader, const entry_t *entry)
{
    for (size_t i = 0; entry->fields->kind == WORLD_TREE_MAP && i < entry->fields->count; i++) {
        const world_tree_t *const key = entry->fields->entries[i].key;
        add_ports_of_key(reader, key->text, &key->place);
    }
    return SIM_OK;
}

static sim_err_t count_entry(reader_t *reader, const entry_t *entry)
{
    (void)entry;
    reader->listed_ports++;
    return SIM_OK;
}

// A file with a part of the configuration, such as its buffers, may have no table PORT. Then the
// other tables say which ports there are.
static sim_err_t find_ports(reader_t *reader)
{
    static const char *const others[] = {"BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP"};
    sim_err_t result = each_entry(reader, "PORT", count_entry);
    if (result != SIM_OK || reader->listed_ports > 0) {
        return result;
    }
    for (size_t t = 0; t < SIM_COUNT_OF(others) && result == SIM_OK; t++) {
        result = each_entry(reader, others[t], take_ports_of_key);
    }
    result = result != SIM_OK ? result : each_entry(reader, "CABLE_LENGTH", take_ports_of_lengths);
    import_note(reader->fabric, IMPORT_ASSUMED, &reader->file->json->place,
                "a file without the table PORT: the ports that other tables name are up");
    return result;
}

static sim_err_t take_hostname(reader_t *reader, const entry_t *entry)
{
    const char *const name = import_sonic_field(entry->fields, "hostname");
    if (name != NULL && name[0] != '\0' && reader->node == IMPORT_NONE) {
        reader->node = import_fabric_node(reader->fabric, name, &entry->at->place);
    }
    return SIM_OK;
}

static bool is_configured(const import_node_t *node)
{
    return node->described && node->value_count > 0;
}

sim_err_t import_sonic_read(import_fabric_t *fabric, const import_file_t *file,
                            world_error_t *error)
{
    reader_t reader = {
        .fabric = fabric,
        .file = file,
        .node = IMPORT_NONE,
        .pool_bytes = SIM_AUTO,
        .egress_pool_bytes = SIM_AUTO,
        .headroom_pool_bytes = SIM_AUTO,
        .lossy_exponent = INT_MAX,
        .detect_ms = SIM_AUTO,
        .restore_ms = SIM_AUTO,
        .error = error,
    };
    (void)each_entry(&reader, "DEVICE_METADATA", take_hostname);
    if (reader.node == IMPORT_NONE) {
        char *const name = import_name_of_file(file->name);
        reader.node = import_fabric_node(fabric, name, &file->json->place);
        import_note(fabric, IMPORT_ASSUMED, &file->json->place,
                    "a switch whose file has no hostname has the file's name");
        sim_free(name);
    }
    if (is_configured(&fabric->nodes[reader.node])) {
        // Switches keep the hostname of an image, such as "sonic", until somebody changes it.
        char *const name = import_name_of_file(file->name);
        reader.node = import_fabric_node(fabric, name, &file->json->place);
        sim_free(name);
        import_note(fabric, IMPORT_ASSUMED, &file->json->place,
                    "a switch whose hostname another switch has, too, has the file's name");
    }
    import_node_t *const node = &fabric->nodes[reader.node];
    if (is_configured(node)) {
        return world_fail(error, SIM_ERR_INVALID, &file->json->place,
                          "a second configuration of switch %s, expected one file for each",
                          node->name);
    }
    node->described = true;
    node->kind = IMPORT_SWITCH;
    sim_err_t result = find_ports(&reader);
    for (size_t t = 0; t < SIM_COUNT_OF(tables) && result == SIM_OK; t++) {
        result = each_entry(&reader, tables[t].table, tables[t].take);
    }
    result = result != SIM_OK ? result : import_sonic_use_maps(&reader);
    if (result == SIM_OK) {
        import_sonic_add_values(&reader);
        note_all(&reader);
    }
    sim_free_each(reader.map_names, IMPORT_MAPS);
    SIM_FREE_ALL(reader.dscps, reader.profiles, reader.schedulers);
    return result;
}

bool import_sonic_is(const import_file_t *file)
{
    static const char *const tables_of_it[] = {
        "PORT",           "DEVICE_METADATA", "DEVICE_NEIGHBOR", "BUFFER_PG",
        "CABLE_LENGTH",   "BUFFER_POOL",     "BUFFER_PROFILE",  "BUFFER_QUEUE",
        "PORT_QOS_MAP",   "WRED_PROFILE",    "SCHEDULER",       "PFC_WD",
        "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "QUEUE",           "MAP_PFC_PRIORITY_TO_QUEUE",
    };
    for (size_t i = 0;
         file->json != NULL && file->json->kind == WORLD_TREE_MAP && i < file->json->count; i++) {
        const char *const key = file->json->entries[i].key->text;
        const size_t size = strcspn(key, "|");
        for (size_t t = 0; t < SIM_COUNT_OF(tables_of_it); t++) {
            if (strlen(tables_of_it[t]) == size && strncmp(key, tables_of_it[t], size) == 0) {
                return true;
            }
        }
    }
    return false;
}

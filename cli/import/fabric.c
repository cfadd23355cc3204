// SPDX-License-Identifier: Apache-2.0
// cli/import/fabric.c - collects nodes and ports from files and makes cables of them.
#include "cli/import/fabric.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#define USUAL_RATE_BPS UINT64_C(100000000000)
#define USUAL_LENGTH_CM UINT64_C(500)

static char *copy(const char *text)
{
    return text == NULL ? NULL : sim_format("%s", text);
}

void import_fabric_fini(import_fabric_t *fabric)
{
    for (size_t n = 0; n < fabric->node_count; n++) {
        import_node_t *const node = &fabric->nodes[n];
        for (size_t p = 0; p < node->port_count; p++) {
            SIM_FREE_ALL(node->ports[p].name, node->ports[p].alias, node->ports[p].peer,
                         node->ports[p].peer_port, node->ports[p].peer_alias);
        }
        for (size_t v = 0; v < node->value_count; v++) {
            SIM_FREE_ALL(node->values[v].path, node->values[v].text, node->values[v].source);
        }
        SIM_FREE_ALL(node->ports, node->values, node->name, node->label);
    }
    for (size_t i = 0; i < fabric->note_count; i++) {
        sim_free(fabric->notes[i].text);
    }
    sim_map_fini(&fabric->labels);
    sim_map_fini(&fabric->names);
    SIM_FREE_ALL(fabric->nodes, fabric->links, fabric->notes, fabric->host_values);
    *fabric = (import_fabric_t){0};
}

void import_note(import_fabric_t *fabric, import_note_kind_t kind, const world_place_t *place,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sim_format_list(format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < fabric->note_count; i++) {
        import_note_t *const note = &fabric->notes[i];
        if (note->kind == kind && strcmp(note->text, text) == 0) {
            note->count++;
            sim_free(text);
            return;
        }
    }
    const world_place_t nowhere = {0};
    SIM_APPEND(fabric->notes, fabric->note_count, fabric->note_capacity,
               (import_note_t){kind, text, place != NULL ? *place : nowhere, 1});
}

// -- nodes and ports

// Returns a name that a scenario accepts: letters, digits, '.', '_', '/' and single '-' within.
static char *plain_name(const char *label)
{
    char *const name = sim_format("%.60s", label);
    size_t size = 0;
    for (const char *p = name; *p != '\0'; p++) {
        const bool word = isalnum((unsigned char)*p) || *p == '.' || *p == '/';
        char c = word || *p == '-' ? *p : '_';
        if (c == '-' && (size == 0 || name[size - 1] == '-')) {
            c = '_';
        }
        name[size++] = c;
    }
    while (size > 0 && name[size - 1] == '-') {
        name[--size] = '\0';
    }
    name[size] = '\0';
    if (size == 0) {
        sim_free(name);
        return sim_format("node");
    }
    return name;
}

static bool name_taken(const import_fabric_t *fabric, const char *name)
{
    SIM_MAP_EACH (n, &fabric->names, sim_map_hash(name, strlen(name))) {
        if (strcmp(fabric->nodes[n].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Returns the length of a label without a domain. An address keeps its dots.
static size_t short_size(const char *label)
{
    const size_t size = strcspn(label, ".");
    return strspn(label, "0123456789.") == strlen(label) ? strlen(label) : size;
}

static bool same_label(const char *a, const char *b)
{
    if (strcasecmp(a, b) == 0) {
        return true;
    }
    const size_t a_size = short_size(a);
    const size_t b_size = short_size(b);
    // One of both has no domain: two names with different domains are two nodes.
    return a_size == b_size && strncasecmp(a, b, a_size) == 0 &&
           (a[a_size] == '\0' || b[b_size] == '\0');
}

// Returns the hash of a label without its domain, in small letters.
static uint64_t label_hash(const char *label)
{
    char small[64];
    const size_t size = SIM_MIN(short_size(label), sizeof(small));
    for (size_t i = 0; i < size; i++) {
        small[i] = (char)tolower((unsigned char)label[i]);
    }
    return sim_map_hash(small, size);
}

uint32_t import_fabric_node(import_fabric_t *fabric, const char *label, const world_place_t *place)
{
    const uint64_t hash = label_hash(label);
    SIM_MAP_EACH (n, &fabric->labels, hash) {
        if (same_label(fabric->nodes[n].label, label)) {
            return (uint32_t)n;
        }
    }
    char *name = plain_name(label);
    for (unsigned i = 2; name_taken(fabric, name); i++) {
        sim_free(name);
        char *const base = plain_name(label);
        name = sim_format("%.50s_%u", base, i);
        sim_free(base);
    }
    SIM_APPEND(fabric->nodes, fabric->node_count, fabric->node_capacity,
               (import_node_t){.name = name, .label = copy(label), .place = *place});
    const uint32_t number = (uint32_t)(fabric->node_count - 1);
    sim_map_add(&fabric->labels, hash, number);
    sim_map_add(&fabric->names, sim_map_hash(name, strlen(name)), number);
    return number;
}

import_port_t *import_fabric_find_port(import_node_t *node, const char *name)
{
    if (name == NULL || name[0] == '\0') {
        return NULL;
    }
    for (size_t p = 0; p < node->port_count; p++) {
        const import_port_t *const port = &node->ports[p];
        if (strcmp(port->name, name) == 0 ||
            (port->alias != NULL && strcmp(port->alias, name) == 0)) {
            return &node->ports[p];
        }
    }
    return NULL;
}

import_port_t *import_fabric_port(import_node_t *node, const char *name, const world_place_t *place)
{
    import_port_t *const found = import_fabric_find_port(node, name);
    if (found != NULL) {
        return found;
    }
    const import_limits_t nothing = {
        .headroom_bytes = SIM_AUTO,
        .reserved_bytes = SIM_AUTO,
        .xon_offset_bytes = SIM_AUTO,
        .threshold_bytes = SIM_AUTO,
        .alpha_exponent = INT_MAX,
        .kmin_bytes = SIM_AUTO,
        .kmax_bytes = SIM_AUTO,
    };
    SIM_APPEND(node->ports, node->port_count, node->port_capacity,
               (import_port_t){
                   .name = copy(name),
                   .length_cm = SIM_AUTO,
                   .link = IMPORT_NONE,
                   .set = nothing,
                   .place = *place,
               });
    return &node->ports[node->port_count - 1];
}

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

bool import_port_peer(import_port_t *port, const char *peer, const char *peer_port,
                      const char *peer_alias)
{
    if (port->peer != NULL && !same_label(port->peer, peer)) {
        return false;
    }
    if (port->peer == NULL) {
        port->peer = copy(peer);
    }
    if (port->peer_port == NULL && given(peer_port)) {
        port->peer_port = copy(peer_port);
    }
    if (port->peer_alias == NULL && given(peer_alias)) {
        port->peer_alias = copy(peer_alias);
    }
    return true;
}

void import_node_value(import_node_t *node, const char *path, char *text, const char *source)
{
    SIM_APPEND(node->values, node->value_count, node->value_capacity,
               (import_value_t){copy(path), text, copy(source)});
}

// -- cables

// Returns the port at the far end of a port of `near`: the one that its neighbour's name says, or
// one that names this node and no other port of it.
static uint32_t far_port(import_node_t *near, const import_port_t *port, import_node_t *far)
{
    const import_port_t *named = import_fabric_find_port(far, port->peer_port);
    named = named != NULL ? named : import_fabric_find_port(far, port->peer_alias);
    if (named != NULL) {
        return (uint32_t)(named - far->ports);
    }
    for (size_t p = 0; p < far->port_count; p++) {
        import_port_t *const other = &far->ports[p];
        if (other->link != IMPORT_NONE || other == port || other->peer == NULL ||
            !same_label(other->peer, near->label)) {
            continue;
        }
        const import_port_t *back = import_fabric_find_port(near, other->peer_port);
        back = back != NULL ? back : import_fabric_find_port(near, other->peer_alias);
        if (back == NULL || back == port) {
            return (uint32_t)p;
        }
    }
    char *const name =
        port->peer_port != NULL ? copy(port->peer_port) : sim_format("port%zu", far->port_count);
    const import_port_t *const made = import_fabric_port(far, name, &port->place);
    sim_free(name);
    return (uint32_t)(made - far->ports);
}

static void add_link(import_fabric_t *fabric, uint32_t a, uint32_t a_port, uint32_t b,
                     uint32_t b_port)
{
    import_port_t *const near = &fabric->nodes[a].ports[a_port];
    import_port_t *const far = &fabric->nodes[b].ports[b_port];
    near->link = far->link = (uint32_t)fabric->link_count;
    uint64_t rate_bps = near->rate_bps != 0 ? near->rate_bps : far->rate_bps;
    if (far->rate_bps != 0 && far->rate_bps != rate_bps) {
        rate_bps = SIM_MIN(rate_bps, far->rate_bps);
        import_note(fabric, IMPORT_ASSUMED, &near->place,
                    "the two ends of a cable have different speeds: the cable has the lower one");
    }
    if (rate_bps == 0) {
        rate_bps = fabric->usual_rate_bps != 0 ? fabric->usual_rate_bps : USUAL_RATE_BPS;
        import_note(fabric, IMPORT_ASSUMED, &near->place,
                    "no file says the speed of a cable: it has %" PRIu64 " Gbit/s",
                    rate_bps / 1000000000);
    }
    uint64_t length_cm = near->length_cm != SIM_AUTO ? near->length_cm : far->length_cm;
    if (far->length_cm != SIM_AUTO && far->length_cm != length_cm) {
        length_cm = SIM_MAX(length_cm, far->length_cm);
        import_note(fabric, IMPORT_ASSUMED, &near->place,
                    "the two ends of a cable have different lengths: the cable has the longer one");
    }
    if (length_cm == SIM_AUTO) {
        length_cm = USUAL_LENGTH_CM;
        import_note(fabric, IMPORT_ASSUMED, &near->place,
                    "no file says the length of a cable: it is 5 m long");
    }
    SIM_APPEND(fabric->links, fabric->link_count, fabric->link_capacity,
               (import_link_t){{a, b}, {a_port, b_port}, rate_bps, length_cm});
}

static sim_err_t join_port(import_fabric_t *fabric, uint32_t node, uint32_t port,
                           world_error_t *error)
{
    const import_port_t near = fabric->nodes[node].ports[port];
    if (near.link != IMPORT_NONE || near.peer == NULL || near.is_down) {
        return SIM_OK;
    }
    const uint32_t far = import_fabric_node(fabric, near.peer, &near.place);
    world_shown_t shown[3];
    if (far == node) {
        import_note(fabric, IMPORT_IGNORED, &near.place,
                    "a cable from a switch to itself: it carries nothing");
        return SIM_OK;
    }
    const uint32_t end =
        far_port(&fabric->nodes[node], &fabric->nodes[node].ports[port], &fabric->nodes[far]);
    const import_port_t *const other = &fabric->nodes[far].ports[end];
    if (other->link != IMPORT_NONE) {
        return world_fail(error, SIM_ERR_INVALID, &near.place,
                          "port %s is said to be joined to port %s of %s, which has another cable, "
                          "expected one cable for each port",
                          world_show(&shown[0], near.name), world_show(&shown[1], other->name),
                          world_show(&shown[2], fabric->nodes[far].name));
    }
    if (other->is_down) {
        import_note(fabric, IMPORT_IGNORED, &near.place,
                    "a cable whose other end is down by its administrator");
        return SIM_OK;
    }
    add_link(fabric, node, port, far, end);
    return SIM_OK;
}

// Puts a host at each port of a described switch that is up and has no neighbour.
static void add_hosts_at_free_ports(import_fabric_t *fabric)
{
    const size_t count = fabric->node_count;
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t p = 0; p < fabric->nodes[n].port_count; p++) {
            const import_port_t port = fabric->nodes[n].ports[p];
            if (!port.listed || port.is_down || port.link != IMPORT_NONE) {
                continue;
            }
            char *const label = sim_format("%s_%s", fabric->nodes[n].name, port.name);
            const uint32_t host = import_fabric_node(fabric, label, &port.place);
            fabric->nodes[host].kind = IMPORT_HOST;
            (void)import_fabric_port(&fabric->nodes[host], "port0", &port.place);
            import_note(fabric, IMPORT_ASSUMED, &port.place,
                        "a port is up and no file says what it is joined to: it has a host "
                        "(--no-hosts: it has none)");
            add_link(fabric, n, p, host, 0);
            sim_free(label);
        }
    }
}

// Decides what nodes are of which no file says it.
static void decide_kinds(import_fabric_t *fabric)
{
    for (size_t n = 0; n < fabric->node_count; n++) {
        import_node_t *const node = &fabric->nodes[n];
        if (node->kind == IMPORT_UNKNOWN) {
            node->kind = node->described ? IMPORT_SWITCH : IMPORT_HOST;
            import_note(fabric, IMPORT_ASSUMED, &node->place,
                        node->described ? "a node with a file of its own is a switch"
                                        : "a neighbour without a file of its own is a host");
        } else if (node->kind == IMPORT_SWITCH && node->port_count == 1) {
            import_note(fabric, IMPORT_ASSUMED, &node->place,
                        "a switch with one link, since no file says what else is joined to it: no "
                        "traffic crosses it");
        }
    }
}

sim_err_t import_fabric_join(import_fabric_t *fabric, bool adds_hosts, world_error_t *error)
{
    for (uint32_t n = 0; n < fabric->node_count; n++) {
        for (uint32_t p = 0; p < fabric->nodes[n].port_count; p++) {
            const sim_err_t result = join_port(fabric, n, p, error);
            if (result != SIM_OK) {
                return result;
            }
        }
    }
    decide_kinds(fabric);
    if (adds_hosts) {
        add_hosts_at_free_ports(fabric);
    }
    if (fabric->link_count == 0) {
        return world_fail(
            error, SIM_ERR_INVALID, NULL,
            "the files describe no cable, expected neighbours of ports (DEVICE_NEIGHBOR, "
            "LLDP, a list of links) or ports that are up");
    }
    return SIM_OK;
}

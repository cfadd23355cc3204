// SPDX-License-Identifier: Apache-2.0
// cli/import/fabric.h - the network that imported files describe: nodes, their ports, and cables.
//
// Every reader adds ports with what it knows about their other ends. import_fabric_join makes
// cables of them when all files are read, since one file often knows only one end.
#ifndef CLI_IMPORT_FABRIC_H
#define CLI_IMPORT_FABRIC_H

#include "cli/import/note.h"
#include "kernel/attribute.h"
#include "kernel/map.h"

#define IMPORT_CLASSES 8u
#define IMPORT_NONE UINT32_MAX

typedef enum import_kind {
    IMPORT_UNKNOWN,
    IMPORT_HOST,
    IMPORT_SWITCH,
} import_kind_t;

// The limits that a switch's configuration sets for one of its ports. SIM_AUTO: it sets none.
typedef struct import_limits {
    uint64_t headroom_bytes;
    uint64_t reserved_bytes;
    uint64_t xon_offset_bytes;
    uint64_t threshold_bytes; // fixed XOFF threshold
    int alpha_exponent;       // the dynamic one is 2 to this power; INT_MAX: not given
    uint64_t kmin_bytes;      // SIM_AUTO: no ECN profile
    uint64_t kmax_bytes;
    uint32_t pmax_percent;
    uint32_t lossless; // mask of classes with PFC
    uint32_t groups;   // mask of priority groups with headroom
} import_limits_t;

typedef struct import_port {
    char *name;
    char *alias; // another name of the port; NULL: none
    char *peer;  // name of the node at the other end; NULL: not known
    char *peer_port;
    char *peer_alias;    // another name of that port
    uint64_t rate_bps;   // 0: not known
    uint64_t length_cm;  // of the cable; SIM_AUTO: not known
    uint32_t link;       // its cable; IMPORT_NONE: none
    bool is_down;        // by its administrator
    bool listed;         // its switch's configuration lists it
    import_limits_t set; // what the switch's configuration says
    world_place_t place;
} import_port_t;

// A value of the scenario for one switch, with what it was made of.
typedef struct import_value {
    char *path; // below "switch.", such as "pfc.alpha"
    char *text;
    char *source;
} import_value_t;

typedef struct import_node {
    char *name;
    char *label; // what the files call it
    import_kind_t kind;
    bool described; // by a file of its own
    import_port_t *ports;
    size_t port_count;
    size_t port_capacity;
    import_value_t *values;
    size_t value_count;
    size_t value_capacity;
    world_place_t place;
} import_node_t;

typedef struct import_link {
    uint32_t nodes[2];
    uint32_t ports[2];
    uint64_t rate_bps;
    uint64_t length_cm;
} import_link_t;

// Owns everything in it. All zeros is an empty one.
typedef struct import_fabric {
    import_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    sim_map_t labels; // of nodes: hash of the short label in small letters -> number
    sim_map_t names;
    import_link_t *links;
    size_t link_count;
    size_t link_capacity;
    import_note_t *notes;
    size_t note_count;
    size_t note_capacity;
    char *host_values;       // lines for the section nic; NULL: none
    uint64_t usual_rate_bps; // of ports whose rate no file says; 0: 100 Gbit/s
} import_fabric_t;

void import_fabric_fini(import_fabric_t *fabric);

// Returns the number of the node that the files call `label`, which is added if it is new. Labels
// that differ only in a domain behind the first dot, or in case, are one node.
uint32_t import_fabric_node(import_fabric_t *fabric, const char *label, const world_place_t *place);
// Returns the port of a node with this name or alias; NULL: it has none.
import_port_t *import_fabric_find_port(import_node_t *node, const char *name);
// Returns the port of a node with this name, which is added if it is new. Pointers to other ports
// of the node are invalid afterwards.
import_port_t *import_fabric_port(import_node_t *node, const char *name,
                                  const world_place_t *place);
// Says which port of which node is at the other end, by up to two names; these may be NULL. Returns
// false if the port already has another neighbour.
bool import_port_peer(import_port_t *port, const char *peer, const char *peer_port,
                      const char *peer_alias);

// Adds a value of a switch, and takes the ownership of `text`. `path` and `source` are copied.
void import_node_value(import_node_t *node, const char *path, char *text, const char *source);

// Notes what became of a part of a file. Equal texts are counted and keep their first place.
void import_note(import_fabric_t *fabric, import_note_kind_t kind, const world_place_t *place,
                 const char *format, ...) SIM_PRINTF(4, 5);

// Makes cables of ports that know each other, decides which nodes are hosts, and puts a host at
// each port that is up and has no neighbour if `adds_hosts`. Fails if a port has two neighbours, or
// if nothing is left of the network.
SIM_MUST_CHECK sim_err_t import_fabric_join(import_fabric_t *fabric, bool adds_hosts,
                                            world_error_t *error);

#endif // CLI_IMPORT_FABRIC_H

// SPDX-License-Identifier: Apache-2.0
// cli/import/lldp.h - what the readers of neighbours of LLDP have in common.
#ifndef CLI_IMPORT_LLDP_H
#define CLI_IMPORT_LLDP_H

#include "cli/import/format.h"

// Returns the node whose neighbours a file has: by the prompt before its command, or by its name.
// If other files say its kind, that kind stays.
uint32_t import_lldp_local(import_fabric_t *fabric, const import_file_t *file, import_kind_t kind,
                           const world_place_t *place);
// Notes one neighbour of a port. `peer_alias`: another name of the port of the neighbour.
SIM_MUST_CHECK sim_err_t import_lldp_add(import_fabric_t *fabric, uint32_t node,
                                         const char *port_name, const char *peer,
                                         const char *peer_port, const char *peer_alias,
                                         import_kind_t kind, const world_place_t *place,
                                         world_error_t *error);
// Returns whether a port is one of management, which has no part in the fabric.
bool import_lldp_is_management(const char *port);
// Returns whether an interface has a name that Linux gives to NICs: eth1, enp3s0f0, ib0.
bool import_lldp_is_nic(const char *name);
// Notes what all keys of the format became.
void import_lldp_note_keys(import_fabric_t *fabric, const import_format_t *format,
                           const world_place_t *place);

#endif // CLI_IMPORT_LLDP_H

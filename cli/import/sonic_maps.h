// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic_maps.h - SONiC's maps between DSCPs, traffic classes, queues and PFC priorities.
#ifndef CLI_IMPORT_SONIC_MAPS_H
#define CLI_IMPORT_SONIC_MAPS_H

#include "cli/import/sonic.h"

// Remembers the maps that an entry of PORT_QOS_MAP names.
void import_sonic_name_maps(import_sonic_reader_t *reader, const world_tree_t *fields,
                            const world_place_t *place);
// Turns numbers of queues and PFC priorities, in the reader and its ports, into traffic classes.
SIM_MUST_CHECK sim_err_t import_sonic_use_maps(import_sonic_reader_t *reader);

#endif // CLI_IMPORT_SONIC_MAPS_H

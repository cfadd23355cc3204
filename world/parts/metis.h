// SPDX-License-Identifier: Apache-2.0
// world/parts/metis.h - divides an irregular network by METIS.
#ifndef WORLD_PARTS_METIS_H
#define WORLD_PARTS_METIS_H

#include "world/parts/parts_internal.h"

// metis.c: sets rank_of by METIS, group by group. False: this build has no METIS, or METIS failed.
bool parts__by_metis(parts_t *parts);

#endif // WORLD_PARTS_METIS_H

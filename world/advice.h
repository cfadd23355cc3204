// SPDX-License-Identifier: Apache-2.0
// world/advice.h - what is probably not meant in a scenario that is valid.
#ifndef WORLD_ADVICE_H
#define WORLD_ADVICE_H

#include <stdio.h>

#include "world/world.h"

SIM_C_BEGIN

// Writes a line "warning: ..." for each finding, with what to set. Now: retransmission timeouts
// that the round trip exceeds on an idle network, so that everything would be sent again.
void world_advise(const world_t *world, FILE *out);

SIM_C_END

#endif // WORLD_ADVICE_H

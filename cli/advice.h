// SPDX-License-Identifier: Apache-2.0
// cli/advice.h - what is probably not meant in a scenario that is valid.
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include <stdio.h>

#include "cli/world.h"

// Writes a line "warning: ..." for each finding, with what to set. Now: retransmission timeouts
// that the round trip exceeds on an idle network, so that everything would be sent again.
void cli_advise(const cli_world_t *world, FILE *out);

#endif // CLI_ADVICE_H

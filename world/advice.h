// SPDX-License-Identifier: Apache-2.0
// world/advice.h - warnings about valid scenarios that probably do not mean what they say.
#ifndef WORLD_ADVICE_H
#define WORLD_ADVICE_H

#include <stdio.h>

#include "world/warnings.h"
#include "world/world.h"

SIM_C_BEGIN

// Adds a warning for each finding, with what to set. Findings are settings without an effect,
// settings that are known to be bad together,
// retransmission timeouts shorter than the round trip of an idle network, so that everything would
// be sent again, and classes of data that switches treat as another class, that are lossy where PFC
// protects other classes, or that are lossless on a part of their paths only.
void world_advise(const world_t *world, world_warnings_t *warnings);

// Prints the classes in use and how switches treat them, a line each.
void world_print_classes(const world_t *world, FILE *out);
// Returns how links hold back lossless classes, such as "by PFC"; controls has a bit for each
// net_flow_control_t among them.
const char *world__held_by(uint32_t controls);
void world__advise_classes(const world_t *world, world_warnings_t *warnings);

SIM_C_END

#endif // WORLD_ADVICE_H

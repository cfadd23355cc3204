// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/collisions.h - flows that share a port because of their hashes.
#ifndef CLI_EXPLAIN_CAUSES_COLLISIONS_H
#define CLI_EXPLAIN_CAUSES_COLLISIONS_H

#include "cli/explain/explain_internal.h"

// The outcome of random hashes for the flows of a port.
typedef struct explain_draws {
    uint32_t together;   // number of flows that share the port at one time
    uint32_t elsewhere;  // number of these flows that could take a path without it
    uint32_t candidates; // these and the other flows at that time that could pass it
    uint32_t least_most; // candidates on the fullest port, in the best draw
    double share_as_bad; // of the draws that are at least as bad
    double expected;     // candidates at this port, by the mean of the draws
    double fit;          // flows like those of this port that its rate would carry
} explain_draws_t;

// Returns the first time at which most of the flows that pass a port are under way.
sim_time_t cli__explain_time_of_most(const explain_t *explain, uint32_t uid);

// Draws other paths for the flows that could pass a port at the time at which most flows do, and
// counts how many meet at this port or at one that a switch could choose in its place: a port of
// the same node, or one to the same node.
explain_draws_t cli__explain_draw(const explain_t *explain, uint32_t uid);
// Returns whether flows that share a port would hardly share it if hashes spread them evenly.
bool cli__explain_is_collision(const explain_draws_t *draws);
// Adds what the draws say as evidence.
void cli__explain_tell_draws(explain_finding_t *finding, const explain_draws_t *draws);

#endif // CLI_EXPLAIN_CAUSES_COLLISIONS_H

// SPDX-License-Identifier: Apache-2.0
// apps/ideal.h - how long a transfer takes on an idle network: the closed form that flow completion
// times are compared with.
//
// From posting to the last completion at the requester. WRITE and SEND: the data frames, back to
// back, until the last bit of the last one is received; then the acknowledgement frame on its way
// back. READ: the request frame there, then the response frames back to back. Store and forward at
// each hop, exact to the picosecond, remainders of inexact rates included. Nothing else is in the
// way: no window, no pacing, enough work posted, acknowledgements of earlier messages never wait.
#ifndef APPS_IDEAL_H
#define APPS_IDEAL_H

#include "net/network.h"

typedef enum app_verb { APP_VERB_WRITE, APP_VERB_SEND, APP_VERB_READ } app_verb_t;

typedef struct app_ideal {
    const net_t *net;
    uint32_t requester; // interface that posts
    uint32_t responder;
    uint16_t udp_source_port; // of both directions: names the paths
    app_verb_t verb;
    uint32_t mtu_bytes;
    uint64_t message_bytes;
    uint64_t messages; // one after another, >= 1
} app_ideal_t;

// A message longer than this is posted in pieces of it (a message is at most 2^31 bytes).
#define APP_PIECE_BYTES (UINT64_C(1) << 30)

// NEVER: there is no path. Cost: O(messages x hops), whatever their length, where each rate is a
// whole number of picoseconds per byte; else O(frames x hops).
sim_time_t app_ideal_ps(const app_ideal_t *ideal);

#endif // APPS_IDEAL_H

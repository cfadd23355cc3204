// SPDX-License-Identifier: Apache-2.0
// apps/serving/messages.h - messages between the router and the nodes.
//
// A message has words of eight bytes, the first of which is its kind.
#ifndef APPS_SERVING_MESSAGES_H
#define APPS_SERVING_MESSAGES_H

#include "apps/mooncake/programs/programs.h"
#include "apps/serving/serving.h"

typedef enum app__serving_kind {
    // router to prefill node: request, decode node (and a high bit: it fetches), tokens of its own
    // and to fetch, source
    APP__SERVING_JOB,
    APP__SERVING_RESERVE,  // prefill to decode node: request, prefill node
    APP__SERVING_GRANT,    // decode to prefill node: request
    APP__SERVING_READY,    // prefill to decode node: request; all its KV data is there
    APP__SERVING_COMPUTED, // prefill node to router: request
    // decode node to router: request, whether it failed; or from either node: 1, and 1 since a
    // message about it did not get through
    APP__SERVING_ENDED,
    APP__SERVING_FETCH,    // prefill to decode node: request, tokens, prefill node
    APP__SERVING_FETCHED,  // decode to prefill node: request, whether it failed
    APP__SERVING_LOST,     // router to all nodes: none, lost node, how often it came back before
    APP__SERVING_BACK,     // router to all nodes: none, node, how often it came back
    APP__SERVING_GIVEN_UP, // router to both nodes: request, about which a message got lost
    APP__SERVING_BROKEN,   // any host to router: none, node that cannot work any more
    APP__SERVING_INSIDE,   // between the hosts of a node (hosts/members.c)
} app__serving_kind_t;
#define APP__SERVING_THROUGH_DECODE (UINT64_C(1) << 32)

#define APP__SERVING_MESSAGE_BYTES 40u

// Sends a message of a kind about a request, with three more words (NULL: 0), from a station to a
// peer's. The request fails if no answer comes for long.
void app__serving_send(const app__serving_t *serving, app__mc_station_t *from, uint32_t peer,
                       app__serving_kind_t kind, uint32_t number, const uint64_t words[3]);
// Lets go of a request that the router has given up, unless it runs in steps of its decode node.
void app__serving_on_given_up(app__serving_node_t *node, uint32_t number);

#endif // APPS_SERVING_MESSAGES_H

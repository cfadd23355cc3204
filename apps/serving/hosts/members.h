// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/members.h - messages between the leader of an instance and its other hosts.
#ifndef APPS_SERVING_HOSTS_MEMBERS_H
#define APPS_SERVING_HOSTS_MEMBERS_H

#include "apps/serving/node.h"

// Messages between the leader and one other host, in their order.
struct app__serving_link {
    uint64_t sent;    // messages so far
    uint64_t taken;   // messages of the other one that were handled
    sim_list_t early; // of the other one, which must wait for those before them
};

typedef enum app__serving_inside {
    APP__SERVING_STEP,      // leader to others: a step
    APP__SERVING_PART_GO,   // leader to others: request; the decode node has memory
    APP__SERVING_PART_DROP, // leader to others: request; it is not sent any more
    APP__SERVING_PEER_LOST, // leader to others: node
    APP__SERVING_PART_READ, // leader to others: request and source, tokens to fetch
    APP__SERVING_PART_KEEP, // leader to others: request, tokens to write to the store
    APP__SERVING_STEP_DONE, // last stage to leader: step
    APP__SERVING_PART_SENT, // others to leader: request, whether it failed
    APP__SERVING_PART_GOT,  // others to leader: request, whether fetching failed
} app__serving_inside_t;

// Sends two words to another host of the instance. Messages arrive once and in order.
void app__serving_send_to_host(app__serving_node_t *node, uint32_t to, app__serving_inside_t what,
                               uint64_t first, uint64_t second);
// Sends it to all hosts but the leader, which is the sender.
void app__serving_send_to_members(app__serving_node_t *leader, app__serving_inside_t what,
                                  uint64_t first, uint64_t second);
void app__serving_send_step(app__serving_node_t *leader, const app__serving_step_t *step);
// Handles a message of another host of the instance.
void app__serving_inside_arrived(app__serving_node_t *node, uint32_t from, const char *body,
                                 size_t size);
// Reports to the router that the instance cannot work any more: it is lost as a whole.
void app__serving_break(app__serving_node_t *node);
void app__serving_links_init(app__serving_node_t *node);
void app__serving_links_fini(app__serving_node_t *node);

#endif // APPS_SERVING_HOSTS_MEMBERS_H

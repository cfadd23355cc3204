// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/part.h - the KV data of a prompt that one host of a prefill node sends.
#ifndef APPS_SERVING_HOSTS_PART_H
#define APPS_SERVING_HOSTS_PART_H

#include "apps/serving/hosts/stage.h"

// The KV data of a prompt in the layers and heads of one host.
struct app__serving_part {
    sim_link_t link; // of hosts that do not lead: among the parts of the host
    app__serving_node_t *node;
    app__serving_job_t *job; // of the leader; else NULL
    uint32_t number;
    uint32_t peer;       // node that decodes
    uint64_t target;     // tokens of the prompt
    uint64_t computed;   // tokens that are computed in all layers of the host
    uint64_t open;       // tokens of the step under way
    uint64_t open_done;  // layers in which they are computed
    uint64_t *sent;      // by stage of the decode node: tokens x layers
    uint32_t under_way;  // transfers
    uint32_t sent_count; // stages
    bool granted;        // the decode node has memory
    bool failed;
    bool dropped;
};

void app__serving_part_init(app__serving_part_t *part, app__serving_node_t *node, uint32_t number,
                            uint32_t peer);
void app__serving_part_fini(app__serving_part_t *part);
// Counts the first tokens as sent: the decode node has them.
void app__serving_part_skip(app__serving_part_t *part, uint64_t tokens);
// Sends what is computed and not sent, if the decode node has memory.
void app__serving_part_send(app__serving_part_t *part);
// Returns whether all of it is sent and acknowledged, or it failed and nothing is under way.
bool app__serving_part_ended(const app__serving_part_t *part);
// Take a request's share of a step: the layers that are done, and the end of the stage. With
// `sends` they send it.
void app__serving_part_layers(app__serving_node_t *node, const app__serving_share_t *share,
                              uint64_t layers);
void app__serving_part_stepped(app__serving_node_t *node, const app__serving_share_t *share,
                               bool sends);
// Prepare the parts of a step at a host that does not lead.
void app__serving_parts_prepare(app__serving_node_t *node, const app__serving_step_t *step);
void app__serving_part_granted(app__serving_node_t *node, uint32_t number);
void app__serving_part_drop(app__serving_node_t *node, uint32_t number);
void app__serving_parts_fini(app__serving_node_t *node);

#endif // APPS_SERVING_HOSTS_PART_H

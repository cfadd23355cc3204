// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/hosts.h - instances of several hosts: pipeline stages, hosts that share the
// layers of a stage, and the KV data that each of them holds (docs/models/serving.md).
//
// An instance is a prefill or decode node. Its first host leads it: it forms the steps and talks to
// the router and to other leaders. Only events of a host touch the host's own state.
#ifndef APPS_SERVING_HOSTS_HOSTS_H
#define APPS_SERVING_HOSTS_HOSTS_H

#include "apps/mooncake/programs/programs.h"
#include "apps/workload/collective/program.h"

typedef struct app__serving app__serving_t;
typedef struct app__serving_node app__serving_node_t;
typedef struct app__serving_job app__serving_job_t;

#define APP__SERVING_GPUS_MAX 64u

// -- where a host is in its instance

// Messages between the leader and one other host, in their order.
typedef struct app__serving_link {
    uint64_t sent;         // messages so far
    uint64_t taken;        // messages of the other one that were handled
    app__mc_chain_t early; // of the other one, which must wait for those before them
} app__serving_link_t;

// What an immediate value tells: data of one GPU of the sender is there.
typedef enum app__serving_notice {
    APP__SERVING_PASSED,  // activations of a step, from the stage before
    APP__SERVING_REDUCED, // a step of the ring of an all-reduce
    APP__SERVING_NOTICES,
} app__serving_notice_t;

typedef struct app__serving_place {
    uint32_t leader;       // node
    uint32_t number;       // among the hosts of the instance: stage x tp_hosts + rank
    uint32_t first_member; // node of the second host; the others follow
    uint32_t host_count;
    uint32_t stages;
    uint32_t tp_hosts; // of each stage
    uint32_t stage;
    uint32_t rank; // among the hosts of the stage
    uint32_t gpus; // of this host
    uint64_t first_layer;
    uint64_t layers;
    uint64_t came[APP__SERVING_NOTICES][APP__SERVING_GPUS_MAX];
    uint64_t taken[APP__SERVING_NOTICES];
    app__serving_link_t *links; // of the leader: by number - 1; of another host: one, to the leader
    app__mc_chain_t passing;    // activations on their way to the next stage (stage.c)
    // The all-reduces of the present group of layers:
    uint32_t reduces_left;
    uint32_t ring_step;
    sim_time_t reduce_began_ps;
    sim_time_t reduced_ps; // waited for all-reduces of the step
    bool broken;           // the router has been told that the instance cannot work
} app__serving_place_t;

// -- steps

// A request's share of a step.
typedef struct app__serving_share {
    app__serving_job_t *job; // NULL but at the leader
    uint32_t number;         // of the attempt
    uint32_t peer;           // node that decodes it
    uint64_t before;         // tokens whose KV data is there before the step
    uint64_t tokens;
    bool sends; // its KV data goes to another node
    bool granted;
} app__serving_share_t;

// A step of an instance, at one of its hosts.
typedef struct app__serving_step {
    app__mc_link_t link;
    uint64_t id;
    sim_time_t began_ps; // at the leader
    sim_time_t step_ps;  // of all stages, without the network
    uint64_t tokens;
    uint8_t kind; // app__serving_operation_kind_t
    app__serving_share_t *shares;
    size_t share_count;
    size_t share_capacity;
} app__serving_step_t;

// -- KV data that a host sends

// The KV data of a prompt in the layers and heads of one host.
typedef struct app__serving_part {
    app__mc_link_t link; // of hosts that do not lead: among the parts of the host
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
} app__serving_part_t;

// -- place.c

// Returns the number of hosts of all instances beyond the first one of each.
uint32_t app__serving_member_count(const app__serving_t *serving);
// Sets the places of all prefill and decode nodes and of the further hosts of their instances.
void app__serving_set_places(app__serving_t *serving);
// Returns the node that is host `number` of the instance that a node leads.
uint32_t app__serving_host_of(const app__serving_t *serving, uint32_t leader, uint32_t number);
// Returns the first layer of a stage.
uint64_t app__serving_first_layer(uint64_t layers, uint64_t stages, uint64_t stage);
// Returns whether two nodes are hosts of one instance.
bool app__serving_same_instance(const app__serving_node_t *a, const app__serving_node_t *b);
// Refuses sizes that no instance can have. The message begins with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_check_shapes(const app__serving_t *serving,
                                                   sim_message_t *message);
// Returns how many steps an instance may have under way.
uint64_t app__serving_steps_max(const app__serving_node_t *node);

// -- stage.c

// Begins a step at its first stage, after the other hosts of the instance have been told.
void app__serving_step_begin(app__serving_node_t *node, app__serving_step_t *step);
// Goes on after the all-reduces of a group of layers, and after its exchange with experts.
void app__serving_reduced(app__serving_node_t *node);
void app__serving_exchanged(app__serving_node_t *node);
// Takes a step that the leader has told of.
void app__serving_step_arrived(app__serving_node_t *node, app__serving_step_t *step);
// Takes the news that data of a GPU of another host is there: app__serving_notice_t x 256 + GPU.
void app__serving_noticed(app__serving_node_t *node, uint32_t what);
// Frees a step.
void app__serving_step_free(app__serving_step_t *step);
void app__serving_stage_init(app__serving_node_t *node);
void app__serving_stage_fini(app__serving_node_t *node);

// -- ring.c

// The ring of the hosts of a stage.
typedef struct app__serving_ring {
    app__layout_t layout;
    app__program_t program;
} app__serving_ring_t;
void app__serving_ring_init(app__serving_t *serving);
void app__serving_ring_fini(app__serving_t *serving);
// Does the two all-reduces of the present group of layers, then calls app__serving_reduced.
void app__serving_reduce(app__serving_node_t *node);
// Goes on when data of another host is there.
void app__serving_reduce_on(app__serving_node_t *node);
// Returns the bytes of a GPU's share of an all-reduce over so many layers.
uint64_t app__serving_reduce_bytes(const app__serving_node_t *node, uint64_t tokens,
                                   uint64_t layers);
// Returns the activations of a step that a GPU sends to the next stage.
uint64_t app__serving_pass_bytes(const app__serving_node_t *node, uint64_t tokens);

// -- parts.c

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

// -- members.c: messages between the hosts of an instance

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

// Tells another host of the instance two words. Messages arrive once and in order.
void app__serving_send_to_host(app__serving_node_t *node, uint32_t to, app__serving_inside_t what,
                               uint64_t first, uint64_t second);
// Tells all hosts but the leader, which tells it.
void app__serving_send_to_members(app__serving_node_t *leader, app__serving_inside_t what,
                                  uint64_t first, uint64_t second);
void app__serving_send_step(app__serving_node_t *leader, const app__serving_step_t *step);
// Handles a message of another host of the instance.
void app__serving_inside_arrived(app__serving_node_t *node, uint32_t from, const char *body,
                                 size_t size);
// Tells the router that the instance cannot work any more: it is lost as a whole.
void app__serving_break(app__serving_node_t *node);
void app__serving_links_init(app__serving_node_t *node);
void app__serving_links_fini(app__serving_node_t *node);

#endif // APPS_SERVING_HOSTS_HOSTS_H

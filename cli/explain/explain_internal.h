// SPDX-License-Identifier: Apache-2.0
// cli/explain/explain_internal.h - a run as `rocesim explain` reads it back, and what it finds.
//
// load.c reads the result files and builds the network again, without running it. fair_share.c
// computes what the flows could have had. pauses.c joins pauses to trees. causes.c and hardware.c
// make findings of all that; print.c, queue_pairs.c and what_if.c show them.
#ifndef CLI_EXPLAIN_EXPLAIN_INTERNAL_H
#define CLI_EXPLAIN_EXPLAIN_INTERNAL_H

#include "net/port.h"
#include "results/result_folder.h"
#include "world/world.h"

#include <stdio.h>

#define EXPLAIN_NONE UINT32_MAX
#define EXPLAIN_ROOTS_MAX 4u // trees of pauses of one finding

typedef struct explain_flow {
    uint64_t id;
    uint32_t source; // interfaces, in the direction of the data
    uint32_t destination;
    uint32_t source_qp; // numbers of queue pairs; 0: not known
    uint32_t destination_qp;
    uint16_t source_port;
    bool reads; // the destination asked for the data
    uint64_t bytes;
    uint64_t delivered_bytes;
    sim_time_t start_ps;
    sim_time_t begin_ps; // when the flow is the first on its queue pair; start_ps or later
    sim_time_t end_ps;   // of the run, if the flow did not end
    bool ended;
    sim_time_t ideal_ps;
    uint64_t retransmitted;
    uint32_t first_hop;  // in explain_t.hops
    uint32_t hop_count;  // 0: the path is not known
    double shared_ps;    // time that fair sharing of full links costs it
    double excess_ps;    // time beyond that and its ideal time
    uint32_t bottleneck; // port at which it shares most; EXPLAIN_NONE: none
    double bottleneck_ps;
} explain_flow_t;

// A port, by its uid.
typedef struct explain_port {
    const net_port_t *port; // NULL: no such uid
    double utilisation;
    uint64_t queue_bytes_max;
    uint64_t discards;
    sim_time_t paused_ps; // its peer stopped it
    sim_time_t paused_by_priority_ps[NET_PRIORITIES];
    uint64_t tx_bytes;
    uint64_t tx_packets;
    uint64_t drops[NET_DROP_REASON_COUNT]; // rows of events.csv
    uint64_t full[NET_PRIORITIES];         // of them: drops of a class for want of buffer
    uint32_t downs;                        // times that its link went down
    sim_time_t down_ps;                    // first time
    uint8_t faults;                        // bit per net_fault_kind_t that began here
    uint32_t flow_count;
    uint32_t planes;  // ports that this one stands for: packets spread over a NIC's planes
    double shared_ps; // sum over the flows whose bottleneck it is
    uint32_t shared_flows;
    uint32_t shared_most; // flows that share it at one time
} explain_port_t;

// A pause of one class of a port.
typedef struct explain_stop {
    uint32_t port;
    uint32_t root;
    uint8_t priority;
    bool ended;
    sim_time_t from_ps;
    sim_time_t to_ps; // the run's end, if it did not end; known up to events_end_ps alone
} explain_stop_t;

// Where pauses began.
typedef struct explain_root {
    char *name;
    uint32_t port; // EXPLAIN_NONE: a host
    const net_node_t *node;
    sim_time_t first_ps;
    sim_time_t last_ps;
    sim_time_t paused_ps; // sum over ports
    uint64_t pauses;
    sim_time_t *by_port; // by uid
    uint32_t ports;      // that were stopped
    uint32_t hosts;      // among them
} explain_root_t;

typedef enum explain_kind {
    EXPLAIN_DEADLOCK,
    EXPLAIN_PAUSE_STORM,
    EXPLAIN_SLOW_RECEIVER,
    EXPLAIN_CORRUPTING_LINK,
    EXPLAIN_LINK_DOWN,
    EXPLAIN_DEGRADED_LINK,
    EXPLAIN_COLLISION,
    EXPLAIN_INCAST,
    EXPLAIN_OVERSUBSCRIBED,
    EXPLAIN_BUSY_SENDER,
    EXPLAIN_RETRANSMISSION,
    EXPLAIN_SLOW_HOST,
    EXPLAIN_LOSSY_LINKS,
    EXPLAIN_BURST,
    EXPLAIN_DROPS,
    EXPLAIN_PFC_MISMATCH,
} explain_kind_t;

typedef struct explain_remedy {
    char *set; // PATH=VALUE
    char *why;
} explain_remedy_t;

typedef struct explain_finding {
    explain_kind_t kind;
    uint32_t tier;                     // lower ones are told first
    double score_ps;                   // time lost; orders findings of a tier
    bool minor;                        // sharing that costs little and stops or loses nothing
    char *place;                       // "leaf0->host3", "host3" or "leaf0--spine1"
    uint32_t port;                     // EXPLAIN_NONE: none
    uint32_t roots[EXPLAIN_ROOTS_MAX]; // of the pauses that it caused, the longest first
    uint32_t root_count;
    char *sentence;
    char **evidence;
    size_t evidence_count;
    size_t evidence_capacity;
    uint32_t *flows; // that it slowed
    size_t flow_count;
    size_t flow_capacity;
    explain_remedy_t *remedies;
    size_t remedy_count;
    size_t remedy_capacity;
} explain_finding_t;

typedef struct explain {
    const char *folder;
    world_scenario_t *scenario;
    world_registry_t *registry;
    world_t *world;
    json_t *summary;
    sim_time_t end_ps;
    bool stalled;
    bool paths_known; // ECMP: flows keep their paths
    explain_port_t *ports;
    uint32_t port_count;
    explain_flow_t *flows;
    size_t flow_count;
    size_t flow_capacity;
    uint32_t *hops; // uids
    size_t hop_count;
    size_t hop_capacity;
    explain_stop_t *stops;
    size_t stop_count;
    size_t stop_capacity;
    explain_root_t *roots;
    size_t root_count;
    size_t root_capacity;
    uint64_t events_left_out;
    sim_time_t events_end_ps; // of the last row of events.csv
    uint32_t shared_epochs;
    double flows_ps; // sum of the times that flows took, without waits for their own queue pairs
    explain_finding_t *findings;
    size_t finding_count;
    size_t finding_capacity;
} explain_t;

// load.c
SIM_MUST_CHECK sim_err_t cli__explain_load(explain_t *explain, world_error_t *error);
void cli__explain_fini(explain_t *explain);
const char *cli__explain_port_name(const explain_t *explain, uint32_t uid);
// Returns the uid of the port of this name; EXPLAIN_NONE: none.
uint32_t cli__explain_port_find(const explain_t *explain, const char *name);

// fair_share.c: fills shared_ps, excess_ps and bottlenecks of flows and ports by max-min fairness.
void cli__explain_share(explain_t *explain);

// pauses.c
// Sorts the roots by time and sums their pauses.
void cli__explain_roots(explain_t *explain);
// Returns the port whose stop made the node of `uid`'s peer stop `uid`: the parent in the tree of
// the root. EXPLAIN_NONE: the root itself.
uint32_t cli__explain_parent(const explain_t *explain, const explain_root_t *root, uint32_t uid);
// Fills cycle with ports that wait for each other at the end. Returns how many.
size_t cli__explain_cycle(const explain_t *explain, size_t *cycle);

// causes.c, hardware.c
void cli__explain_find(explain_t *explain);
void cli__explain_hardware(explain_t *explain);

// losses.c
// Tells of links that lose more frames than others do, and of losses that all links have.
void cli__explain_losses(explain_t *explain);
// Tells of switches that dropped packets of a class which most other switches protect by PFC.
void cli__explain_mismatch(explain_t *explain);
// Tells of packets that hosts or switches dropped for reasons that no other finding is about.
void cli__explain_drops(explain_t *explain);
// Returns "leaf0--host3" for a port of the link; the caller frees it.
char *cli__explain_link_name(const explain_t *explain, uint32_t uid);
// Adds the flows whose data or answers pass the link, if they lost time; returns that time.
double cli__explain_flows_of_link(const explain_t *explain, explain_finding_t *finding,
                                  uint32_t uid, bool retransmitted);
// Offers selective retransmission, where the run had none.
void cli__explain_remedy_selective(const explain_t *explain, explain_finding_t *finding,
                                   const char *why);
explain_finding_t *cli__explain_add(explain_t *explain, explain_kind_t kind, uint32_t tier,
                                    char *place);
void cli__explain_evidence(explain_finding_t *finding, char *text);
void cli__explain_remedy(explain_finding_t *finding, const char *set, const char *why);
void cli__explain_flow(explain_finding_t *finding, uint32_t flow);
// Adds the number of a pause root to the finding, which keeps the first EXPLAIN_ROOTS_MAX.
void cli__explain_add_root(explain_finding_t *finding, uint32_t root);
// Returns whether the flow's path has the port.
bool cli__explain_passes(const explain_t *explain, const explain_flow_t *flow, uint32_t uid);
const char *cli__explain_kind_name(explain_kind_t kind);

// waits.c
// Tells of waits for retransmission, and of a slow host.
void cli__explain_waits(explain_t *explain);

// queue_pairs.c: the queue pairs behind a finding.
typedef struct explain_pair {
    uint32_t source; // interfaces, in the direction of the data
    uint32_t destination;
    uint32_t source_qp; // numbers; 0: not known
    uint32_t destination_qp;
    uint16_t source_port; // UDP
    uint32_t flows;
    uint64_t bytes;
    uint64_t retransmitted; // packets
} explain_pair_t;
// Returns the queue pairs whose data made the finding, or which it hit, the heaviest first: by
// packets sent again if the finding is about losses, else by bytes. The caller frees them.
explain_pair_t *cli__explain_pairs(const explain_t *explain, const explain_finding_t *finding,
                                   size_t *count);
void cli__explain_print_pairs(const explain_t *explain, const explain_finding_t *finding,
                              FILE *out);
json_t *cli__explain_pairs_json(const explain_t *explain, const explain_finding_t *finding);

// print.c
void cli__explain_print(const explain_t *explain, FILE *out);
json_t *cli__explain_json(const explain_t *explain);

// what_if.c
// Takes out remedies that the scenario refuses, and those that change nothing.
void cli__explain_keep_remedies(explain_t *explain);
// Runs the scenario again with each remedy of the first findings and prints, or adds to
// json (NULL: prints), how the results change.
SIM_MUST_CHECK sim_err_t cli__explain_what_if(const explain_t *explain, json_t *json,
                                              world_error_t *error);

// counters.c: explains measured counters.
SIM_MUST_CHECK sim_err_t cli__explain_counters(const char *counters, const char *topology,
                                               bool json, world_error_t *error);

#endif // CLI_EXPLAIN_EXPLAIN_INTERNAL_H

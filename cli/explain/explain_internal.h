// SPDX-License-Identifier: Apache-2.0
// cli/explain/explain_internal.h - a run as `rocesim explain` reads it back, and what it finds.
//
// load.c reads the result files and builds the network again, without running it. fair_share.c
// computes what the flows could have had. pauses.c joins pauses to trees. causes.c and hardware.c
// make findings of all that; print.c, queue_pairs.c and what_if.c show them.
#ifndef CLI_EXPLAIN_EXPLAIN_INTERNAL_H
#define CLI_EXPLAIN_EXPLAIN_INTERNAL_H

#include "cli/explain/run_data.h"
#include "nic/congestion.h"
#include "results/result_folder.h"
#include "world/world.h"

#include <stdio.h>

#define EXPLAIN_NONE UINT32_MAX
#define EXPLAIN_ROOTS_MAX 4u // trees of pauses of one finding

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
    EXPLAIN_WINDOW,
    EXPLAIN_READ_CREDIT,
    EXPLAIN_QUEUE_DEPTH,
    EXPLAIN_ECN_THRESHOLDS,
    EXPLAIN_ECN_OUT_OF_REACH,
    EXPLAIN_NO_CNPS,
    EXPLAIN_NO_REACTION,
    EXPLAIN_RATE_RECOVERY,
    EXPLAIN_REORDERING,
    EXPLAIN_SHORT_TIMEOUT,
    EXPLAIN_SMALL_BUFFER,
    EXPLAIN_LOSSY_CLASS,
    EXPLAIN_HEADROOM,
    EXPLAIN_STRAGGLER,
    EXPLAIN_LATE_DEPENDENCY,
    EXPLAIN_OVERLOAD,
    EXPLAIN_KV_TRANSFERS,
    EXPLAIN_CACHE_MISSES,
    EXPLAIN_PCIE,
    EXPLAIN_UNITS,
    EXPLAIN_POSTING_CORE,
    EXPLAIN_HOST_PATH,
    EXPLAIN_CREDIT_WAIT,
    EXPLAIN_LINK_RETRIES,
} explain_kind_t;

typedef struct explain_remedy {
    char *set; // PATH=VALUE
    char *why;
} explain_remedy_t;

typedef struct explain_finding {
    explain_kind_t kind;
    uint32_t tier;                     // lower ones are printed first
    double score_ps;                   // time lost; orders findings of a tier
    bool spread;                       // it is no fault of one place
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

typedef struct explain_passing {
    const uint32_t *flows;
    uint32_t count;
} explain_passing_t;

typedef struct explain {
    const char *folder;
    bool brief; // remedies are not wanted
    world_scenario_t *scenario;
    world_registry_t *registry;
    world_t *world;
    json_t *summary;
    sim_time_t end_ps;
    bool stalled;
    bool paths_known;   // flows keep their paths: switches and senders do not spread packets
    bool switches_keep; // switches do not
    explain_port_t *ports;
    uint32_t port_count;
    char *inside_busiest;          // the busiest part of a detailed NIC or its host; NULL: none
    double inside_busy;            // share of the time
    bool *held_hosts;              // by node: a limit inside the host is reported
    explain_nic_t *nics;           // by interface; zeros where the run has no nics.csv
    const nic_cc_ops_t **controls; // by interface; NULL: the transport has its own
    explain_flow_t *flows;
    size_t flow_count;
    size_t flow_capacity;
    uint32_t pair_count; // queue pairs of flows
    explain_app_t *apps;
    size_t app_count;
    size_t app_capacity;
    uint32_t *passing;    // flows by the port that they pass, in their order
    size_t *passing_from; // by port: its first one there; one more than ports
    uint32_t *hops;       // uids
    size_t hop_count;
    size_t hop_capacity;
    explain_stop_t *stops;
    size_t stop_count;
    size_t stop_capacity;
    explain_root_t *roots;
    size_t root_count;
    size_t root_capacity;
    uint64_t events_left_out;
    uint64_t flows_left_out;
    sim_time_t events_end_ps; // of the last row of events.csv
    uint32_t shared_epochs;
    double flows_ps;  // sum of the times that flows took, without waits for their own queue pairs
    double ideal_ps;  // sum of their ideal times
    double excess_ps; // sum of their times that fair shares do not explain
    explain_finding_t *findings;
    size_t finding_count;
    size_t finding_capacity;
} explain_t;

// load.c
SIM_MUST_CHECK sim_err_t cli__explain_load(explain_t *explain, world_error_t *error);
void cli__explain_fini(explain_t *explain);
const char *cli__explain_port_name(const explain_t *explain, uint32_t uid);

// causes.c
void cli__explain_find(explain_t *explain);

// Returns the port that was used for the largest share of the time; EXPLAIN_NONE: there is none.
uint32_t cli__explain_busiest_port(const explain_t *explain);
explain_finding_t *cli__explain_add(explain_t *explain, explain_kind_t kind, uint32_t tier,
                                    char *place);
void cli__explain_evidence(explain_finding_t *finding, char *text);
void cli__explain_remedy(explain_finding_t *finding, const char *set, const char *why);
// Adds a remedy that sets ATTRIBUTE=VALUE of `nic`: of one host if its NIC is unlike the others'.
void cli__explain_nic_remedy(const explain_t *explain, explain_finding_t *finding,
                             uint32_t interface, const char *set, const char *why);
void cli__explain_flow(explain_finding_t *finding, uint32_t flow);
// Adds the number of a pause root to the finding, which keeps the first EXPLAIN_ROOTS_MAX.
void cli__explain_add_root(explain_finding_t *finding, uint32_t root);
// Returns whether the flow's path has the port.
bool cli__explain_passes(const explain_t *explain, const explain_flow_t *flow, uint32_t uid);
// Returns the numbers of the flows that pass a port, in their order. They belong to the analysis.
explain_passing_t cli__explain_passing(const explain_t *explain, uint32_t uid);
const char *cli__explain_kind_name(explain_kind_t kind);

#endif // CLI_EXPLAIN_EXPLAIN_INTERNAL_H

// SPDX-License-Identifier: Apache-2.0
// apps/app.h - programs on the hosts, each kind a row of one table.
//
// An application is one entry of the scenario's `traffic` list: a kind, its attributes, the hosts
// it runs on. It is created before the run, drives its QPs from events of their hosts (timers and
// completions), and reports at the end. It uses the verbs of nic/ only.
#ifndef APPS_APP_H
#define APPS_APP_H

#include "kernel/report.h"
#include "nic/host.h"

SIM_C_BEGIN

typedef struct app app_t;

// What all applications of one network share: which QP number belongs to whom. Create it after
// net_build and before the first application; destroy it after the last one. One per network.
typedef struct app_runtime app_runtime_t;
struct app_mooncake_codec; // apps/mooncake.h
app_runtime_t *app_runtime_create(net_t *net);
void app_runtime_destroy(app_runtime_t *runtime);

// Interfaces that a host pattern of the scenario names ("host[*]", "host[0-15]", "leaf1/host*").
typedef struct app_hosts {
    uint32_t *interfaces; // in order of interface id
    size_t count;
} app_hosts_t;

// What an application gets from whoever wrote the scenario.
typedef struct app_context {
    net_t *net;
    app_runtime_t *runtime;    // the network's
    uint32_t index;            // of the entry in `traffic`, for random streams
    uint64_t memory_max_bytes; // that planned transfers may take; 0: no limit
    // Resolves a pattern; SIM_ERR_UNKNOWN with a message if it matches no host. The caller frees
    // hosts->interfaces with sim_free.
    sim_err_t (*hosts)(const char *pattern, app_hosts_t *hosts, sim_message_t *message, void *ctx);
    // Reads a whole file named in the scenario (relative to the scenario's folder).
    sim_err_t (
        *read_file)(const char *name, char **text, size_t *size, sim_message_t *message, void *ctx);
    // Hears of what is odd but no error, one line each; may be NULL.
    void (*note)(const char *text, void *ctx);
    void *ctx;
    const struct app_mooncake_codec *mooncake_codec; // NULL: there is none
} app_context_t;

// One finished or unfinished transfer, a row of flows.csv.
typedef struct app_flow_result {
    uint64_t flow_id; // unique in the run, in order of (application, start)
    uint32_t source;  // interface
    uint32_t destination;
    uint16_t udp_source_port;
    uint16_t service_port; // destination port in the file it comes from; 0: none
    uint32_t first_psn;    // of the requester's packets
    uint32_t mtu_bytes;    // payload of a full packet; 0: it has no packets of its own
    uint8_t priority;
    uint8_t dscp;
    bool reads; // the payload goes from the destination to the source
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t end_ps;        // last byte acknowledged at the sender; NEVER: unfinished or failed
    sim_time_t ideal_ps;      // closed form on the idle path it takes
    uint64_t delivered_bytes; // acknowledged so far; of an unfinished flow only
    sim_time_t failed_ps;     // 0: it has not failed
    uint64_t retransmitted_packets;
    // Where ties go by insertion: in which place it ended of its application's, from 1; else 0.
    uint32_t end_order;
    nic_wc_status_t status; // of what it failed with; SUCCESS also while it is unfinished
    const char *label;      // the application's name: "poisson", "incast"...
} app_flow_result_t;
typedef void (*app_flow_fn)(const app_flow_result_t *flow, void *ctx);

typedef struct app_ops {
    const char *name; // "poisson"
    const char *help;
    const sim_attr_table_t *attrs; // prefix "traffic.<name>."
    // Creates the application: resolves hosts, makes QPs or plans them, arms first timers. On error
    // nothing remains. The message starts with the attribute's name where one is at fault, or with
    // "FILE:LINE:COLUMN: " where a file is.
    SIM_MUST_CHECK sim_err_t (*create)(const app_context_t *context,
                                       const void *config,
                                       app_t **app,
                                       sim_message_t *message);
    void (*destroy)(app_t *app);
    // Before the run (what is planned), or after it (also when it was interrupted) and before
    // sim_destroy: one call per transfer, by start time. May be NULL.
    void (*flows)(const app_t *app, app_flow_fn fn, void *ctx);
    // Progress while running, between windows: transfers done and planned so far.
    void (*progress)(const app_t *app, uint64_t *done, uint64_t *planned);
    // At the same time: transfers under way, each as the part of its bytes that has arrived, as far
    // as its sender knows. May be NULL.
    double (*under_way)(const app_t *app);
    // What it tells after the run, rows about the app_t: they follow its kind in apps[] of
    // summary.json. May be NULL.
    const sim_report_table_t *report;
    // A table for the terminal in the style of the tool it imitates; NULL: none.
    void (*print)(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
} app_ops_t;

extern const app_ops_t *const app_all[]; // ends with NULL
const app_ops_t *app_find(const char *name);

// First member of every application.
struct app {
    const app_ops_t *ops;
    net_t *net;
    uint32_t index;
};

SIM_C_END

#endif // APPS_APP_H

// SPDX-License-Identifier: Apache-2.0
// apps/app.h - the interface of applications: programs that run on the hosts of a network.
//
// An application is one entry of the scenario's `traffic` list: a kind, its attributes and the
// hosts it runs on. It is created before the run, posts work in events of its hosts (timers and
// completions) and reports at the end. It uses only the verbs of nic/.
#ifndef APPS_APP_H
#define APPS_APP_H

#include "apps/app_results.h"
#include "apps/kv_plan.h"
#include "kernel/ranks.h"
#include "kernel/report.h"

SIM_C_BEGIN

typedef struct app app_t;

// State that all applications of one network share: it records which application owns a QP number.
// Create one per network, after net_build and before the first application; destroy it after the
// last application.
typedef struct app_runtime app_runtime_t;
struct app_mooncake_codec; // apps/mooncake.h
struct app_programs;       // apps/processes.h
struct app_programs_config;
app_runtime_t *app_runtime_create(net_t *net);
void app_runtime_destroy(app_runtime_t *runtime);

// Interfaces that match a host pattern of the scenario ("host[*]", "host[0-15]", "leaf1/host*").
typedef struct app_hosts {
    uint32_t *interfaces; // in order of interface id
    size_t count;
} app_hosts_t;

// The surroundings in which an application is created, filled in by the caller of create().
typedef struct app_context {
    net_t *net;
    app_runtime_t *runtime;    // of the network
    uint32_t index;            // place of the entry in `traffic`; selects the random streams
    uint64_t memory_max_bytes; // limit of the memory for an application; 0: no limit
    bool program;              // a session submits it: only applications with app_ops_t.program
    // Resolves a pattern; SIM_ERR_UNKNOWN with a message if it matches no host. The caller frees
    // hosts->interfaces with sim_free.
    sim_err_t (*hosts)(const char *pattern, app_hosts_t *hosts, sim_message_t *message, void *ctx);
    // Reads a whole file named in the scenario (relative to the scenario's folder).
    sim_err_t (*read_file)(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx);
    // Receives warnings, one line each; may be NULL.
    void (*note)(const char *text, void *ctx);
    void *ctx;
    const struct app_mooncake_codec *mooncake_codec;   // NULL: Mooncake cannot be used
    struct app_skips *skips;                           // apps/skips.h; NULL: nothing is skipped
    app_kv_read_fn read_kv_plan;                       // NULL: kv-matrix cannot read files
    const struct app_programs *programs;               // NULL: no processes may be started
    const struct app_programs_config *programs_config; // for them
} app_context_t;

// A session calls these functions of a program of ranks that it submits during the run
// (apps/submitted.h). All of them are called between two steps of the simulation.
typedef struct app_program_ops {
    uint32_t (*rank_count)(const app_t *app);
    // Returns whether all operations of a rank have ended, and fills *end if they have.
    bool (*rank_ended)(const app_t *app, uint32_t rank, app_rank_end_t *end);
    // Lets no rank begin anything more. Messages that are posted still arrive.
    void (*cancel)(app_t *app);
    // Frees the queue pairs of a program that has ended, if nothing more can come for them. Returns
    // false if something can.
    bool (*retire)(app_t *app);
} app_program_ops_t;

typedef struct app_tally {
    uint64_t succeeded;
    uint64_t failed;
    uint64_t measured; // those that succeeded within the measured span
    bool spans; // there is a measured span, and the program does not wait for answers after it
} app_tally_t;

typedef struct app_ops {
    const char *name; // "poisson"
    const char *help;
    const sim_attr_table_t *attrs; // prefix "traffic.<name>."
    bool by_steps; // it drives the run by steps (apps/simbricks.h), so nothing else can
    // The command that runs it, if processes of this machine take part; the studio and `rocesim
    // shell` let none take part. NULL: the simulation is all.
    const char *machine_command;
    const char *posts; // operations besides WRITE that it always posts on RC queue pairs, "READs";
                       // NULL: none, or its attributes decide
    // Creates the application: resolves hosts, makes or plans QPs, arms the first timers. After an
    // error nothing remains. The message starts with the attribute's name where an attribute is
    // wrong, or with "FILE:LINE:COLUMN: " where a file is wrong.
    SIM_MUST_CHECK sim_err_t (*create)(const app_context_t *context, const void *config,
                                       app_t **app, sim_message_t *message);
    void (*destroy)(app_t *app);
    // Calls fn once per transfer, in order of start time. May be called before the run (planned
    // transfers), or after it (also an interrupted one) and before sim_destroy. May be NULL.
    void (*flows)(const app_t *app, app_flow_fn fn, void *ctx);
    // Returns the number of messages that `flows` leaves out because of a maximum number of rows.
    // Called after the run. NULL: it leaves out none.
    uint64_t (*flows_left_out)(const app_t *app);
    // Calls fn for the messages that follow from a plan and are no flows before the run, such as
    // those of collectives. Called before the run. May be NULL.
    void (*loads)(const app_t *app, app_load_fn fn, void *ctx);
    // Calls fn (may be NULL) for at most `most` operations that have started, equally many of each
    // rank, by rank and number. Returns how many have started. Called after the run. May be NULL.
    uint64_t (*operations)(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
    // Calls fn for each rank of a program, with the interface that it has first. May be NULL.
    void (*places)(const app_t *app, app_place_fn fn, void *ctx);
    const char *place_word;           // what users call a rank of this application; NULL: rank
    const app_program_ops_t *program; // NULL: a session cannot submit it
    // Returns how many transfers are done and planned so far. Called during the run, between
    // windows.
    void (*progress)(const app_t *app, uint64_t *done, uint64_t *planned);
    // Returns the transfers in flight, each counted as the fraction of its bytes whose arrival its
    // sender knows of. Called between windows, too. May be NULL.
    double (*under_way)(const app_t *app);
    // Carries to rank 0 what a rank's hosts did, after a run in ranks (kernel/ranks.h). NULL: the
    // application does not run in ranks.
    void (*carry)(app_t *app, sim_carry_t *carry);
    // Writes lines about what the application will do and how, for `rocesim check`. NULL: none.
    void (*describe)(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
    // Rows about the app_t that are reported after the run; they follow its kind in apps[] of
    // summary.json. May be NULL.
    const sim_report_table_t *report;
    // Prints a table for the terminal in the style of the tool that it imitates; NULL: no table.
    void (*print)(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
    bool alone;       // that tool usually runs alone, so the terminal names other traffic below it
    bool prints_rows; // the shown rows of `report` stand on the terminal, too, below that table
    // Writes a line that begins with "warning: " for each problem that did not end the run. Called
    // after the run. NULL: no warnings.
    void (*warn)(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
    // Returns why the program failed as a whole, or NULL. Called after the run, by app_failure.
    // NULL: only `tally` decides.
    const char *(*failure)(const app_t *app);
    // Counts what became of the program's requests. Called after the run. NULL: it has none, as
    // flows.
    void (*tally)(const app_t *app, app_tally_t *tally);
    // Writes the files that the application's own attributes name. Called once, after the run.
    // Returns SIM_ERR_IO with a message that begins with the file's name. NULL: no such files.
    SIM_MUST_CHECK sim_err_t (*save)(const app_t *app, sim_message_t *message);
} app_ops_t;

extern const app_ops_t *const app_all[]; // ends with NULL

// First member of every application.
struct app {
    const app_ops_t *ops;
    net_t *net;
    uint32_t index;
};

// Returns why the program failed as a whole: it ended with an error, or without a success and with
// failures or lost packets. Returns NULL if it did not. Called after the run.
const char *app_failure(const app_t *app);
// Returns whether the program ended, did not fail, and saw no answer in its measured span, which is
// too short.
bool app_measured_nothing(const app_t *app);

SIM_C_END

#endif // APPS_APP_H

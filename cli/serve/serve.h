// SPDX-License-Identifier: Apache-2.0
// cli/serve/serve.h - `rocesim serve`: sessions that other programs drive, as lines of JSON.
//
// command.c listens and gives each client a process of its own. There, conversation.c builds the
// scenario and answers lines (lines.c), calls.c and submit.c carry out what they ask for, answers.c
// writes the answers, estimate.c tries things on copies, and snapshot.c keeps states to come back
// to.
// docs/sessions.md
#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "apps/submitted.h"
#include "cli/command.h"
#include "cli/serve/limits.h"
#include "cli/serve/lines.h"
#include "results/runner.h"

#include <jansson.h>
#include <sys/types.h>

#define SERVE_PROTOCOL 1
#define SERVE_LINE_BYTES_MAX ((size_t)16 << 20)
#define SERVE_UNREAD_BYTES_MAX ((size_t)64 << 20)
#define SERVE_MARKS_MAX 64u

int cli_command_serve(const cli_args_t *args);

// -- conversation.c

// A refusal that is kept for another process.
typedef struct serve_refusal {
    char code[16]; // empty: nothing was refused
    char text[WORLD_ERROR_BYTES];
} serve_refusal_t;

typedef struct serve_conversation {
    serve_lines_t lines;
    const cli_args_t *args;
    const serve_limits_t *limits;
    char *first_line; // that was read before the world was built; NULL: none
    bool confined;    // its client may name files below the folder of the scenario only
    char *folder;     // of this session's results; NULL: none
    world_scenario_t *scenario;
    world_t *world; // of the scenario, while it is simulated
    app_submitted_t *session;
    unsigned marks;
    int handovers[SERVE_MARKS_MAX]; // by mark: where input goes when the client comes back to it
    sim_time_t marked_ps[SERVE_MARKS_MAX]; // by mark: its time
    pid_t first;                           // first process of the session
    uint32_t found;                        // host that a name meant last
    serve_refusal_t *refusal;              // where refusals go; NULL: to the client
    bool finished;                         // the client has asked for the results
    uint64_t answers;                      // so far
    json_t *finish_id;
    json_t **tags; // by transfer; NULL: none
    size_t tag_count;
    size_t tag_capacity;
} serve_conversation_t;

// Serves one client until it finishes or goes. Returns the exit status.
int serve_conversation(const cli_args_t *args, const serve_limits_t *limits, int in, int out,
                       const char *folder);

#endif // CLI_SERVE_SERVE_H

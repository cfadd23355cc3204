// SPDX-License-Identifier: Apache-2.0
// cli/serve/serve.h - `rocesim serve`: sessions that other programs drive, as lines of JSON.
//
// command.c listens and gives each client a process of its own. There, conversation.c builds the
// scenario and answers lines (lines.c), calls.c and submit.c carry out what they ask for, answers.c
// writes the answers, next_completion.c looks ahead, and snapshot.c keeps states to come back to.
// docs/sessions.md
#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "apps/session.h"
#include "cli/command.h"
#include "results/runner.h"

#include <jansson.h>
#include <sys/types.h>

#define SERVE_PROTOCOL 1
#define SERVE_LINE_BYTES_MAX ((size_t)16 << 20)

int cli_command_serve(const cli_args_t *args);

// -- limits.c: what a client may use

typedef enum serve_reason {
    SERVE_REASON_NONE,
    SERVE_REASON_MEMORY,
    SERVE_REASON_TIME,
    SERVE_REASON_IDLE,
    SERVE_REASON_GONE,   // the client
    SERVE_REASON_STOPPED // SIGTERM or SIGINT
} serve_reason_t;

typedef struct serve_limits {
    uint64_t clients;
    uint64_t memory_bytes; // of a process; 0: no limit
    uint64_t call_ns;      // of processor time; 0: no limit
    uint64_t idle_ms;      // 0: no limit
    char *token;           // NULL: none is asked for
} serve_limits_t;

// Reads the limits from the options. SIM_ERR_INVALID: one is wrong; error says which. Free them
// with serve_limits_fini, also after an error.
SIM_MUST_CHECK sim_err_t serve_limits_read(const cli_args_t *args, serve_limits_t *limits,
                                           world_error_t *error);
void serve_limits_fini(serve_limits_t *limits);
// Lets SIGTERM and SIGINT end the session that this process holds, and the session of a child that
// has gone on from a mark.
void serve_end_by_signals(void);
void serve_pass_signals_to(pid_t child); // 0: to none
// Makes the kernel end this process with its parent.
void serve_end_with_parent(void);
// Watches this process while it uses the processor: a limit that is passed interrupts the
// simulation. Call it again in a process that was forked. `out` is the client's descriptor.
void serve_watch(const serve_limits_t *limits, sim_t *sim, int out);
// Watches no longer, before the simulation is destroyed: a later signal must not touch it.
void serve_watch_ends(void);
void serve_call_begins(void); // the time of a call counts from here
// Looks how much memory is used, where that is limited. Returns why the session has to end.
serve_reason_t serve_look(void);
void serve_note_reason(serve_reason_t reason);
// Returns why the session has to end.
serve_reason_t serve_reason(void);
// Returns a text about the limit that was passed. The caller frees it with sim_free.
char *serve_reason_text(const serve_limits_t *limits, serve_reason_t reason);

// -- lines.c: lines in and out of two file descriptors

typedef struct serve_lines {
    int in;
    int out;
    char *input; // bytes that were read
    size_t input_count;
    size_t input_capacity;
    size_t taken; // bytes at its beginning that have been returned as lines
    char *output; // bytes to write
    size_t output_count;
    size_t output_capacity;
    uint64_t idle_ms; // longest wait for input; 0: any
    bool ended;       // nothing more comes in
    bool broken;      // the client does not take what is written
    bool too_long;    // a line was longer than SERVE_LINE_BYTES_MAX
} serve_lines_t;

// Returns the next line without its end, NULL at the end of the input. Writes what waits before it
// blocks. The line is valid until the next call.
char *serve_line(serve_lines_t *lines, size_t *size);
void serve_put(serve_lines_t *lines, const char *text, size_t size);
void serve_flush(serve_lines_t *lines);
void serve_lines_fini(serve_lines_t *lines);

// -- conversation.c

// A refusal that is kept for another process.
typedef struct serve_refusal {
    char code[16]; // empty: nothing was refused
    char text[WORLD_ERROR_BYTES];
} serve_refusal_t;

#define SERVE_AHEAD_MAX 64u

// The times at which transfers end next, as a copy of the session has found out.
typedef struct serve_found {
    sim_time_t times_ps[SERVE_AHEAD_MAX]; // rising
    size_t count;                         // 0: none ends
    sim_time_t clear_ps;                  // count 0: none ends before it
    bool stalled;                         // none ends since nothing useful happens any more
} serve_found_t;

typedef struct serve_conversation {
    serve_lines_t lines;
    const cli_args_t *args;
    const serve_limits_t *limits;
    char *first_line; // that was read before the world was built; NULL: none
    bool confined;    // its client may name files below the folder of the scenario only
    char *folder;     // of this session's results; NULL: none
    world_scenario_t *scenario;
    world_t *world; // of the scenario, while it is simulated
    app_session_t *session;
    sim_time_t now_ps; // everything before it has happened
    unsigned marks;
    int handover;   // where input goes when the client comes back to a mark; -1: there is none
    uint32_t found; // host that a name meant last
    serve_refusal_t *refusal;  // where refusals go; NULL: to the client
    serve_found_t found_ahead; // what is still true of the last look ahead
    bool asked_before;         // next_completion was the last call that matters for it
    bool finished;             // the client has asked for the results
    uint64_t answers;          // so far
    json_t *finish_id;
    json_t **tags; // by transfer; NULL: none
    size_t tag_count;
    size_t tag_capacity;
} serve_conversation_t;

// Serves one client until it finishes or goes. Returns the exit status.
int serve_conversation(const cli_args_t *args, const serve_limits_t *limits, int in, int out,
                       const char *folder);

// -- calls.c

// A call that is being carried out.
typedef struct serve_call {
    serve_conversation_t *conversation;
    const json_t *arguments;
    const json_t *id; // NULL: none
} serve_call_t;

// Carries out one line and puts the answer. Returns false when the conversation is over.
bool serve_call(serve_conversation_t *conversation, const char *line, size_t size);
void serve_call_refuse(const serve_call_t *call, const char *code, const char *text);
// Runs everything before stop_ps; returns how the step ended.
sim_ended_t serve_step(serve_conversation_t *conversation, sim_time_t stop_ps);

// -- submit.c

// Carries out the call submit.
bool serve_submit(const serve_call_t *call);
// Submits what an object describes; sets its number and its start. Returns false after having
// refused it.
bool serve_submit_one(const serve_call_t *call, const json_t *object, uint64_t *number,
                      sim_time_t *at_ps);
// Reads a number from 0 to `most`, or takes the one that is used where the argument is missing
// (NULL: it must not be). Returns false after having refused the call.
bool serve_take_number(const serve_call_t *call, const json_t *object, const char *name,
                       uint64_t most, const uint64_t *missing, uint64_t *number);

// -- next_completion.c

// A question about what will happen.
typedef struct serve_ask {
    sim_time_t until_ps;
    uint64_t wanted; // transfer; UINT64_MAX: any
    size_t most;     // times to find, at most SERVE_AHEAD_MAX
} serve_ask_t;

// Runs on, by longer and longer steps, until enough transfers have ended or nothing can happen any
// more. It is called on a copy of the session.
void serve_look_ahead(serve_conversation_t *conversation, const serve_ask_t *ask,
                      serve_found_t *found);
// Runs up to 1 ps after the next completion, or to until_ps; with `stays` it does not move if none
// comes. Returns false if the system gives no copy.
bool serve_next(serve_conversation_t *conversation, sim_time_t until_ps, bool stays,
                sim_ended_t *ended);
// Runs on by steps of slack_ps until something has ended or nothing can happen any more.
sim_ended_t serve_go_on(serve_conversation_t *conversation, sim_time_t until_ps,
                        sim_time_t slack_ps);
// Forgets what was found out ahead, since the client has changed the session.
void serve_changed(serve_conversation_t *conversation);

// -- answers.c: an answer is begun, gets its fields, and is ended

void serve_begin(serve_conversation_t *conversation, const json_t *id);
void serve_field_number(serve_conversation_t *conversation, const char *name, uint64_t number);
void serve_field_text(serve_conversation_t *conversation, const char *name, const char *text);
void serve_field_true(serve_conversation_t *conversation, const char *name);
void serve_field_json(serve_conversation_t *conversation, const char *name, const json_t *value);
void serve_field_raw(serve_conversation_t *conversation, const char *name, const char *text);
void serve_put_number(serve_conversation_t *conversation, uint64_t number);
void serve_end(serve_conversation_t *conversation);
// Puts a whole answer with "ok": false; id may be NULL.
void serve_refuse(serve_conversation_t *conversation, const json_t *id, const char *code,
                  const char *text);
// Puts an answer with the time and everything that has ended since the last one.
void serve_answer_progress(serve_conversation_t *conversation, const json_t *id, sim_ended_t ended);

// -- snapshot.c

// Keeps the present state. Returns in the process that goes on from here, and again, later and in
// another process, when the client comes back; *back says which. False: the system gives no
// process.
bool serve_mark(serve_conversation_t *conversation, bool *back);
// Comes back to the latest state that was kept. Does not return.
void serve_back(serve_conversation_t *conversation);
// Runs fn on a copy of the present state and reads `size` bytes of its result. False: the copy came
// to no end.
bool serve_try(serve_conversation_t *conversation,
               void (*fn)(serve_conversation_t *conversation, const void *ctx, void *result),
               const void *ctx, void *result, size_t size);

#endif // CLI_SERVE_SERVE_H

// SPDX-License-Identifier: Apache-2.0
// cli/serve/calls.h - calls of a client: lines of JSON.
#ifndef CLI_SERVE_CALLS_H
#define CLI_SERVE_CALLS_H

#include "cli/serve/serve.h"

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

#endif // CLI_SERVE_CALLS_H

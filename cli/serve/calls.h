// SPDX-License-Identifier: Apache-2.0
// cli/serve/calls.h - calls of a client: lines of JSON.
#ifndef CLI_SERVE_CALLS_H
#define CLI_SERVE_CALLS_H

#include "cli/serve/serve.h"

// A call that is being carried out.
typedef struct serve_call {
    serve_conversation_t *conversation;
    const char *name;
    const json_t *arguments;
    const json_t *id; // NULL: none
} serve_call_t;

// Carries out one line and puts the answer. Returns false when the conversation is over.
bool serve_call(serve_conversation_t *conversation, const char *line, size_t size);
void serve_call_refuse(const serve_call_t *call, const char *code, const char *text);
// Carries out the call submit.
bool serve_submit(const serve_call_t *call);
// Submits what an object describes, and sets its number. Returns false after having refused it.
bool serve_submit_one(const serve_call_t *call, const json_t *object, uint64_t *number);
// Checks a call with a list of transfers, which are objects. Returns false after having refused it.
bool serve_check_list(const serve_call_t *call, const json_t *list, bool alone);
// Reads a number from 0 to `most`, or takes the one that is used where the argument is missing
// (NULL: it must not be). Returns false after having refused the call.
bool serve_take_number(const serve_call_t *call, const json_t *object, const char *name,
                       uint64_t most, const uint64_t *missing, uint64_t *number);
// Reads true or false, false where the argument is missing. Returns false likewise.
bool serve_take_flag(const serve_call_t *call, const json_t *object, const char *name, bool *flag);

#endif // CLI_SERVE_CALLS_H

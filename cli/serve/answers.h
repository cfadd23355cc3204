// SPDX-License-Identifier: Apache-2.0
// cli/serve/answers.h - writes answers: an answer is begun, gets its fields, and is ended.
#ifndef CLI_SERVE_ANSWERS_H
#define CLI_SERVE_ANSWERS_H

#include "cli/serve/serve.h"

void serve_begin(serve_conversation_t *conversation, const json_t *id);
void serve_field_number(serve_conversation_t *conversation, const char *name, uint64_t number);
// Adds "delivered_ps", unless it is SIM_TIME_NEVER.
void serve_field_delivered(serve_conversation_t *conversation, sim_time_t delivered_ps);
// Adds how a transfer ended: "outcome", and "status" if it failed.
void serve_field_outcome(serve_conversation_t *conversation, app_submitted_outcome_t outcome,
                         nic_wc_status_t status);
void serve_field_text(serve_conversation_t *conversation, const char *name, const char *text);
void serve_field_json(serve_conversation_t *conversation, const char *name, const json_t *value);
void serve_field_raw(serve_conversation_t *conversation, const char *name, const char *text);
void serve_put_number(serve_conversation_t *conversation, uint64_t number);
void serve_end(serve_conversation_t *conversation);
// Puts a whole answer with "ok": false; id may be NULL.
void serve_refuse(serve_conversation_t *conversation, const json_t *id, const char *code,
                  const char *text);
// Puts an answer with the time and everything that has ended since the last one.
void serve_answer_progress(serve_conversation_t *conversation, const json_t *id, sim_ended_t ended);

#endif // CLI_SERVE_ANSWERS_H

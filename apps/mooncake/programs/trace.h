// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/trace.h - reads traces of requests as JSON lines of Mooncake and
// LLMServingSim (docs/formats/peers.md).
#ifndef APPS_MOONCAKE_PROGRAMS_TRACE_H
#define APPS_MOONCAKE_PROGRAMS_TRACE_H

#include "apps/request_trace.h"

// Reads a trace: one JSON object per line, with input_length and output_length, and perhaps
// timestamp (12 or 12.5; read as milliseconds) and hash_ids (below 2^64 or texts, in any order,
// possibly repeated). Other members and empty lines are skipped. A prompt without timestamp whose
// session_id an earlier one has begins `delay` ms after that one has ended. LLMServingSim's names
// are input_toks, output_toks and arrival_time_ns, and sub_requests for the prompts of a session;
// vLLM's are prompt_len, output_len and arrival_time, in seconds and perhaps since 1970.
// Reads at most prompts_max prompts. A timestamp below an earlier one is raised to it, so that
// prompts keep the order of the trace. A missing length is 0 and counted in `lengthless`. An error
// message begins "NAME:LINE:COLUMN: ".
SIM_MUST_CHECK sim_err_t app__mooncake_trace_read(const char *name, const char *text, size_t size,
                                                  uint64_t prompts_max,
                                                  app__mooncake_trace_t *trace,
                                                  sim_message_t *message);

#endif // APPS_MOONCAKE_PROGRAMS_TRACE_H

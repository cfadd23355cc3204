// SPDX-License-Identifier: Apache-2.0
// cli/serve/estimate.h - finds out how long transfers would take.
#ifndef CLI_SERVE_ESTIMATE_H
#define CLI_SERVE_ESTIMATE_H

#include "cli/serve/calls.h"

// Carries out the call estimate.
bool serve_estimate(const serve_call_t *call);

#endif // CLI_SERVE_ESTIMATE_H

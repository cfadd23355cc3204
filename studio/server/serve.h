// SPDX-License-Identifier: Apache-2.0
// studio/server/serve.h - the commands of rocesim-studio.
#ifndef STUDIO_SERVER_SERVE_H
#define STUDIO_SERVER_SERVE_H

#include "studio/server/options.h"

// Runs the command and returns the exit status: 0 success, 1 failure, 2 bad input.
int studio_command(const studio_arguments_t *arguments);

// Returns the routes of all rooms in one table, ended by a zero row; free it with sim_free.
struct studio_route *studio_routes_join(void);

#endif // STUDIO_SERVER_SERVE_H

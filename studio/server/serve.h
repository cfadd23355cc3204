// SPDX-License-Identifier: Apache-2.0
// studio/server/serve.h - the commands of rocesim-studio.
#ifndef STUDIO_SERVER_SERVE_H
#define STUDIO_SERVER_SERVE_H

#include "studio/server/options.h"

// Does what was asked for and returns the exit status: 0 done, 1 failed, 2 bad input.
int studio_command(const studio_arguments_t *arguments);

// All rooms' tables in one, ended by a zero row; free with sim_free.
struct studio_route *studio_routes_join(void);

#endif // STUDIO_SERVER_SERVE_H

// SPDX-License-Identifier: Apache-2.0
// studio/runs/run_routes.c - the routes of runs.
#include "studio/http/route.h"

const studio_route_t studio_run_routes[] = {{0}};

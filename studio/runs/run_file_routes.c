// SPDX-License-Identifier: Apache-2.0
// studio/runs/run_file_routes.c - the routes of run_files.
#include "studio/http/route.h"

const studio_route_t studio_run_file_routes[] = {{0}};

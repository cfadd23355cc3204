// SPDX-License-Identifier: Apache-2.0
// studio/library/library_routes.c - the routes of librarys.
#include "studio/http/route.h"

const studio_route_t studio_library_routes[] = {{0}};

// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/orders/orders.h - the routes that make runs.
#ifndef STUDIO_SERVER_RUNS_ORDERS_ORDERS_H
#define STUDIO_SERVER_RUNS_ORDERS_ORDERS_H

#include "studio/server/http/route.h"

int studio__post_runs(studio_request_t *request, studio_response_t *response);
int studio__post_again(studio_request_t *request, studio_response_t *response);
int studio__post_capture(studio_request_t *request, studio_response_t *response);

#endif // STUDIO_SERVER_RUNS_ORDERS_ORDERS_H

// SPDX-License-Identifier: Apache-2.0
// studio/server/data/handlers.h - handlers of the routes of data, and what they share.
#ifndef STUDIO_SERVER_DATA_HANDLERS_H
#define STUDIO_SERVER_DATA_HANDLERS_H

#include "studio/server/data/query/expression/expression.h"
#include "studio/server/data/query/query.h"
#include "studio/server/data/query/scan.h"
#include "studio/server/http/route.h"
#include "studio/server/runs/runs.h"

// The run {run} of the path, with results. False: *status is that of the answer already given.
bool studio__data_run(studio_request_t *request,
                      studio_response_t *response,
                      studio_run_t *run,
                      int *status);
// The same, imported. The caller finishes *sources.
bool studio__data_source(studio_request_t *request,
                         studio_response_t *response,
                         studio_sources_t *sources,
                         int *status);
// Of a list of numbers of runs: all must be visible and imported.
bool studio__data_sources(studio_request_t *request,
                          studio_response_t *response,
                          const json_t *runs,
                          studio_sources_t *sources,
                          int *status);
// "1,2,3" of the query.
json_t *studio__data_run_list(const studio_request_t *request, const char *name);
// The body, or what ?body= has; a reference of the caller's. NULL: neither is an object.
json_t *studio__data_body(const studio_request_t *request);
// 400, or 404 of what is not known, with the place.
int studio__data_refuse(studio_response_t *response,
                        sim_err_t code,
                        const studio_place_error_t *error,
                        int step);
bool studio__data_cancelled(void *request);
// Answers the text as JSON and frees it.
int studio__data_answer(studio_response_t *response, studio_out_t *out);
// A number of the query; NAN: none, or no number.
double studio__data_real(const studio_request_t *request, const char *name);
json_t *studio__data_file(const char *folder, const char *name); // JSON; NULL: there is none

int studio_handle_import(studio_request_t *request, studio_response_t *response);
int studio_handle_import_again(studio_request_t *request, studio_response_t *response);
int studio_handle_summary(studio_request_t *request, studio_response_t *response);
int studio_handle_topology(studio_request_t *request, studio_response_t *response);
int studio_handle_tables(studio_request_t *request, studio_response_t *response);
int studio_handle_query(studio_request_t *request, studio_response_t *response);
int studio_handle_sql(studio_request_t *request, studio_response_t *response);
int studio_handle_search(studio_request_t *request, studio_response_t *response);
int studio_handle_series(studio_request_t *request, studio_response_t *response);
int studio_handle_map(studio_request_t *request, studio_response_t *response);
int studio_handle_captures(studio_request_t *request, studio_response_t *response);
int studio_handle_packets(studio_request_t *request, studio_response_t *response);
int studio_handle_packet(studio_request_t *request, studio_response_t *response);
int studio_handle_packet_find(studio_request_t *request, studio_response_t *response);
int studio_handle_packet_follow(studio_request_t *request, studio_response_t *response);
int studio_handle_analysis(studio_request_t *request, studio_response_t *response);
int studio_handle_analysis_check(studio_request_t *request, studio_response_t *response);
int studio_handle_analysis_functions(studio_request_t *request, studio_response_t *response);
int studio_handle_analysis_export(studio_request_t *request, studio_response_t *response);
int studio_handle_figure(studio_request_t *request, studio_response_t *response);
int studio_handle_figure_kinds(studio_request_t *request, studio_response_t *response);

#endif // STUDIO_SERVER_DATA_HANDLERS_H

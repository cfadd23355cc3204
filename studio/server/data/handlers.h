// SPDX-License-Identifier: Apache-2.0
// studio/server/data/handlers.h - handlers of the data routes, and their helpers.
#ifndef STUDIO_SERVER_DATA_HANDLERS_H
#define STUDIO_SERVER_DATA_HANDLERS_H

#include "studio/server/data/query/expression/expression.h"
#include "studio/server/data/query/query.h"
#include "studio/server/data/query/scan.h"
#include "studio/server/http/route.h"
#include "studio/server/network/network.h"
#include "studio/server/runs/runs.h"

// Finds the run {run} of the path, which must have results. Otherwise answers, sets *status and
// returns false.
bool studio__data_run(studio_request_t *request, studio_response_t *response, studio_run_t *run,
                      int *status);
// Opens the imported run {run} of the path as a source, which the caller finishes.
bool studio__data_source(studio_request_t *request, studio_response_t *response,
                         studio_sources_t *sources, int *status);
// Opens the runs of a list of numbers; all must be visible and imported.
bool studio__data_sources(studio_request_t *request, studio_response_t *response,
                          const json_t *runs, studio_sources_t *sources, int *status);
// Returns the list of numbers "1,2,3" of the query.
json_t *studio__data_run_list(const studio_request_t *request, const char *name);
// Returns the body, or the JSON in ?body=, owned by the caller; NULL if neither is an object.
json_t *studio__data_body(const studio_request_t *request);
// Answers an error with its place: 404 for an unknown name, else 400.
int studio__data_refuse(studio_response_t *response, sim_err_t code,
                        const studio_place_error_t *error, int step);
bool studio__data_cancelled(void *request);
// Answers the text as JSON and frees it.
int studio__data_answer(studio_response_t *response, studio_out_t *out);
// Returns a number of the query; NAN if it is absent or no number.
double studio__data_real(const studio_request_t *request, const char *name);
// reads a JSON file; NULL: there is none
json_t *studio__data_file(const char *folder, const char *name);
// Opens the network of a run, which the caller finishes; false: the run has none.
SIM_MUST_CHECK bool studio__data_network(const studio_source_t *source, studio_network_t *network);

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

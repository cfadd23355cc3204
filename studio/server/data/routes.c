// SPDX-License-Identifier: Apache-2.0
// studio/server/data/routes.c - the table of routes that read results.
#include "studio/server/data/data.h"
#include "studio/server/data/handlers.h"
#include "studio/server/http/route.h"
#include "studio/server/store/database.h"

#define RUN                                                         \
    {                                                               \
        "run", STUDIO_IN_PATH, "integer", true, "number of the run" \
    }
#define QUERY(name, type, help)                  \
    {                                            \
        name, STUDIO_IN_QUERY, type, false, help \
    }
#define BODY(name, type, required, help)           \
    {                                              \
        name, STUDIO_IN_BODY, type, required, help \
    }
#define BODY_TEXT QUERY("body", "string", "the JSON body, for links")
#define RUNS BODY("runs", "array", true, "numbers of runs")
#define FOLDS                                                               \
    QUERY("open", "string", "paths of folds to open, separated by commas"), \
        QUERY("find", "string", "name of a node whose folds are opened")
#define RANGE                                                        \
    QUERY("from_ns", "number", "begin of the range of time, in ns"), \
        QUERY("to_ns", "number", "end of the range of time, in ns")
#define END                                     \
    {                                           \
        NULL, STUDIO_IN_PATH, NULL, false, NULL \
    }

// -- requests that need much memory or time

static int in_turn(studio_request_t *request, studio_response_t *response,
                   studio_handler_fn handler)
{
    studio_turns_t *const turns = studio_data_turns(studio_request_studio(request)->data);
    const int64_t user = studio_request_user(request)->id;
    if (!studio_turns_enter(turns, user)) {
        return studio_response_error(response, 503,
                                     "too many requests of this kind wait; try again");
    }
    const int status = handler(request, response);
    studio_turns_leave(turns, user);
    return status;
}

static int sql_in_turn(studio_request_t *request, studio_response_t *response)
{
    return in_turn(request, response, studio_handle_sql);
}

static int analysis_in_turn(studio_request_t *request, studio_response_t *response)
{
    return in_turn(request, response, studio_handle_analysis);
}

static int analysis_export_in_turn(studio_request_t *request, studio_response_t *response)
{
    return in_turn(request, response, studio_handle_analysis_export);
}

static int figure_in_turn(studio_request_t *request, studio_response_t *response)
{
    return in_turn(request, response, studio_handle_figure);
}

// -- the table

// clang-format off
static const studio_parameter_t run_only[] = {RUN, END};
static const studio_parameter_t query_parameters[] = {
    RUNS, BODY("table", "string", true, "flows, ports, events, series, packets, log, summary..."),
    BODY("columns", "array", false, "names of columns (default: all)"),
    BODY("filter", "array", false, "[{column, op, value}, {any: [...]}]: conditions that must all hold"),
    BODY("where", "string", false, "a condition in the expression language"),
    BODY("from_ns", "number", false, "begin of the range of time, in ns"), BODY("to_ns", "number", false, "end of the range of time, in ns"),
    BODY("order", "array", false, "sorts the rows: [{column, descending}]"),
    BODY("limit", "integer", false, "largest number of rows"), BODY("offset", "integer", false, "number of rows to skip"),
    BODY("format", "string", false, "json, csv or ndjson"), END};
static const studio_parameter_t query_link[] = {BODY_TEXT, END};
static const studio_parameter_t sql_parameters[] = {
    RUNS, BODY("sql", "string", true, "one SELECT statement"), BODY("limit", "integer", false, "largest number of rows"),
    BODY("format", "string", false, "json, csv or ndjson"), END};
static const studio_parameter_t search_parameters[] = {
    QUERY("q", "string", "words, \"a phrase\", -without, column:word"),
    QUERY("runs", "string", "numbers of runs, separated by commas"), QUERY("limit", "integer", "largest number of hits"), END};
static const studio_parameter_t series_parameters[] = {
    RUN, QUERY("metric", "string", "name of a metric, such as queue_bytes[3]"), QUERY("of", "string", "names of the observed objects, separated by commas (default: all)"),
    QUERY("path", "string", "whole paths of series, separated by commas, instead of metric and of"), RANGE,
    QUERY("pixels", "integer", "largest number of points of each curve"),
    QUERY("rate", "integer", "1: returns the growth per second, for counters"), END};
static const studio_parameter_t map_parameters[] = {
    RUN, QUERY("metric", "string", "utilisation, queue, pause or drops"), RANGE,
    QUERY("at_ns", "number", "one moment in ns, instead of a range"), QUERY("frames", "integer", "number of frames that the time is divided into; a large network has fewer"), FOLDS, END};
static const studio_parameter_t topology_parameters[] = {
    RUN, FOLDS, QUERY("table", "string", "hops or packets: of a large network, only the links that this table names"), END};
static const studio_parameter_t packets_parameters[] = {
    RUN, {"file", STUDIO_IN_PATH, "string", true, "name of the capture"},
    QUERY("filter", "string", "filter in libpcap's language, which may name the run's hosts"),
    QUERY("qp", "integer", "number of a queue pair"), QUERY("src_port", "integer", "UDP source port of the packets"),
    QUERY("port", "string", "name of the port that captured the frames"), QUERY("way", "string", "sent or received: what that port did"),
    QUERY("note", "string", "text in the comments on frames, such as dropped"), RANGE,
    QUERY("bins", "integer", "counts of matching packets in this many equal parts of from_ns to to_ns, at most 1000"),
    QUERY("limit", "integer", "largest number of packets"), QUERY("offset", "integer", "number of packets to skip"), END};
static const studio_parameter_t packet_parameters[] = {
    RUN, {"file", STUDIO_IN_PATH, "string", true, "name of the capture"},
    {"packet", STUDIO_IN_PATH, "integer", true, "number of the packet, from 1"}, END};
static const studio_parameter_t find_parameters[] = {
    RUN, {"file", STUDIO_IN_PATH, "string", true, "name of the capture; -: any capture"},
    QUERY("time_ns", "number", "time of the packet, in ns"), QUERY("src", "string", "name of a host"), QUERY("dst", "string", "name of a host"),
    QUERY("psn", "integer", "packet sequence number"), QUERY("bytes", "integer", "size of the frame, in bytes"), END};
static const studio_parameter_t follow_parameters[] = {
    RUN, {"file", STUDIO_IN_PATH, "string", true, "name of the capture"},
    QUERY("n", "integer", "number of a packet of the conversation"),
    QUERY("hops", "integer", "1: returns the frames of this packet at all ports instead"), END};
static const studio_parameter_t analysis_parameters[] = {
    RUNS, BODY("steps", "array", true, "the steps, as docs/studio.md describes them"), END};
static const studio_parameter_t check_parameters[] = {
    BODY("expression", "string", true, "the expression to check"),
    BODY("columns", "array", false, "columns that the expression may name: [{name, type, unit}]"), END};
static const studio_parameter_t export_parameters[] = {
    RUNS, BODY("steps", "array", true, "the steps, as docs/studio.md describes them"), BODY("name", "string", false, "name of the folder"),
    BODY("figure", "object", false, "{step, x, y, by, kind, x_log, y_log, title}"), END};
static const studio_parameter_t figure_parameters[] = {
    RUNS, BODY("kind", "string", true, "slowdown, queue, queue-cdf, rate, series, pause, load, load-time"),
    BODY("app", "string", false, "for slowdown: name of the traffic"), BODY("format", "string", false, "json, gnuplot, svg or png"),
    END};
static const studio_parameter_t kinds_parameters[] = {QUERY("runs", "string", "numbers of runs, separated by commas"), END};

#define V STUDIO_ROLE_VIEWER
const studio_route_t studio_data_routes[] = {
    {"GET", "/api/v1/runs/{run}/import", V, "Returns the state of a run's import, and starts it if needed", run_only, NULL,
     "{state, part, bytes_done, bytes_total, rows, seconds, rows_per_s, bytes_per_s, message}", studio_handle_import, 0},
    {"POST", "/api/v1/runs/{run}/import", STUDIO_ROLE_USER, "Imports a run of the user again", run_only, NULL, "as GET", studio_handle_import_again, 0},
    {"GET", "/api/v1/runs/{run}/summary", V, "Describes a run in words and numbers", run_only, NULL,
     "{summary, manifest, words, tables}", studio_handle_summary, 0},
    {"GET", "/api/v1/runs/{run}/topology", V, "Returns nodes, ports and links", topology_parameters, NULL,
     "topology.json; from 3001 nodes on {nodes: [{name, kind, tier, hosts, switches, in, fold?}], links: [{..., count}], folded}",
     studio_handle_topology, 0},
    {"GET", "/api/v1/runs/{run}/tables", V, "Lists the tables, metrics and captures of a run", run_only, NULL,
     "{tables, metrics, captures}", studio_handle_tables, 0},
    {"POST", "/api/v1/query", V, "Returns the rows of a table that match a filter", query_parameters, NULL,
     "{columns, rows, matched, scanned, seconds}, or CSV or NDJSON", studio_handle_query, 0},
    {"GET", "/api/v1/query", V, "Does what POST does, as a link", query_link, NULL, "as POST", studio_handle_query, 0},
    {"POST", "/api/v1/sql", V, "Runs a read-only SQL statement", sql_parameters, NULL, "{columns, rows, more, seconds}, or CSV or NDJSON",
     sql_in_turn, 0},
    {"GET", "/api/v1/sql", V, "Does what POST does, as a link", query_link, NULL, "as POST", sql_in_turn, 0},
    {"GET", "/api/v1/search", V, "Searches words in the tables of runs", search_parameters, NULL, "{hits, more, seconds}",
     studio_handle_search, 0},
    {"GET", "/api/v1/runs/{run}/series", V, "Returns series, reduced to the least and greatest value of each pixel", series_parameters, NULL,
     "{from_ns, to_ns, curves}", studio_handle_series, 0},
    {"GET", "/api/v1/runs/{run}/map", V, "Returns the state of each port over time", map_parameters, NULL,
     "{metric, unit, source, time_ns, ports, most}", studio_handle_map, 0},
    {"GET", "/api/v1/runs/{run}/captures", V, "Lists the captures of a run", run_only, NULL, "{captures}", studio_handle_captures, 0},
    {"GET", "/api/v1/runs/{run}/captures/{file}", V, "Lists packets of a capture", packets_parameters, NULL,
     "{file, packets, matched, bins?}", studio_handle_packets, 0},
    {"GET", "/api/v1/runs/{run}/captures/{file}/find", V, "Finds the packet of an event", find_parameters, NULL,
     "{file, n, time_ns, apart_ns, exact}", studio_handle_packet_find, 0},
    {"GET", "/api/v1/runs/{run}/captures/{file}/follow", V, "Returns the packets of a queue pair, or one packet's hops", follow_parameters, NULL,
     "{a, b, packets, more}", studio_handle_packet_follow, 0},
    {"GET", "/api/v1/runs/{run}/captures/{file}/{packet}", V, "Returns the layers and bytes of a packet", packet_parameters, NULL,
     "{n, layers, hex, message, flow_id, previous, next}", studio_handle_packet, 0},
    {"POST", "/api/v1/analysis", V, "Runs a pipeline of steps over runs", analysis_parameters, NULL, "{steps}",
     analysis_in_turn, 0},
    {"POST", "/api/v1/analysis/check", V, "Returns the type and unit of an expression", check_parameters, NULL, "{type, unit}",
     studio_handle_analysis_check, 0},
    {"GET", "/api/v1/analysis/functions", V, "Lists the functions, operators, units and steps", NULL, NULL,
     "{functions, operators, units, steps}", studio_handle_analysis_functions, 0},
    {"POST", "/api/v1/analysis/export", V, "Returns an analysis as an archive (.tar.gz)", export_parameters, NULL, "a gzipped tar",
     analysis_export_in_turn, 0},
    {"GET", "/api/v1/analysis/export", V, "Does what POST does, as a link", query_link, NULL, "a gzipped tar",
     analysis_export_in_turn, 0},
    {"POST", "/api/v1/figure", V, "Returns a figure as rocesim plot draws it", figure_parameters, NULL,
     "{kind, words, note, missing?, panels}, or the file", figure_in_turn, 0},
    {"GET", "/api/v1/figure", V, "Does what POST does, as a link", query_link, NULL, "as POST", figure_in_turn, 0},
    {"GET", "/api/v1/figure/kinds", V, "Lists the kinds of figures that the runs have data for", kinds_parameters, NULL, "{kinds}",
     studio_handle_figure_kinds, 0},
    {NULL, NULL, V, NULL, NULL, NULL, NULL, NULL, 0},
};
// clang-format on

const studio_migration_t studio_data_migrations[] = {{0, NULL}};

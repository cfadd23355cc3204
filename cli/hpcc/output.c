// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/output.c - writes fct.txt and pfc.txt of `rocesim hpcc` in the simulator's formats.
#include "cli/hpcc/hpcc.h"
#include "cli/hpcc/monitors.h"
#include "cli/hpcc/output_internal.h"
#include "cli/hpcc/outputs.h"
#include "kernel/parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER_BYTES 48u // of a data packet, without INT
#define NS_PER_S UINT64_C(1000000000)
#define INTERVAL_US_MAX 1000000000u // of a monitor

uint32_t cli_hpcc_node_number(const net_node_t *node)
{
    const char *const name = node->sim.name;
    size_t size = strlen(name);
    while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9') {
        size--;
    }
    uint64_t number = 0;
    const bool numbered = sim_parse_count(name + size, &number, NULL) == SIM_OK;
    return numbered && number <= UINT32_MAX ? (uint32_t)number : node->sim.index;
}

uint32_t cli_hpcc_address(uint32_t number)
{
    return 0x0b000001u + (number / 256u << 16) + (number % 256u << 8);
}

// -- flows

typedef struct flow {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint64_t bytes;
    uint64_t standalone_ns;
    uint32_t order; // rank by end time; 0: ties are ordered by id
    uint64_t id;
    uint32_t source; // node number in the topology file, as for destination
    uint32_t destination;
    uint16_t source_port;
    uint16_t service_port;
} flow_t;

typedef struct flows {
    const world_t *world;
    flow_t *items;
    size_t count;
    size_t capacity;
} flows_t;

static uint32_t number_of(const world_t *world, uint32_t interface)
{
    return cli_hpcc_node_number(world_host_of(world, &world->nics[interface]));
}

static void take_flow(const app_flow_result_t *flow, void *ctx)
{
    flows_t *const flows = ctx;
    if (flow->end_ps == SIM_TIME_NEVER || flow->status != NIC_WC_SUCCESS) {
        return;
    }
    SIM_APPEND(flows->items, flows->count, flows->capacity,
               (flow_t){
                   .start_ps = flow->start_ps,
                   .end_ps = flow->end_ps,
                   .bytes = flow->bytes,
                   .order = flow->end_order,
                   .id = flow->flow_id,
                   .source = number_of(flows->world, flow->source),
                   .destination = number_of(flows->world, flow->destination),
                   .source_port = flow->udp_source_port,
                   .service_port = flow->service_port,
               });
}

static int compare_destinations(const void *a, const void *b)
{
    const flow_t *const x = a;
    const flow_t *const y = b;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

static int compare_ends(const void *a, const void *b)
{
    const flow_t *const x = a;
    const flow_t *const y = b;
    return 4 * SIM_COMPARE(x->end_ps, y->end_ps) + 2 * SIM_COMPARE(x->order, y->order) +
           SIM_COMPARE(x->id, y->id);
}

// Returns the simulator's ideal time: the base RTT plus the time of all bytes with headers at the
// lowest rate of the path.
static uint64_t standalone_ns(cli_hpcc_t *hpcc, const flow_t *flow)
{
    cli_hpcc_pair_t pair;
    if (!cli_hpcc_pair(hpcc->paths, flow->source, flow->destination, &pair)) {
        return 0;
    }
    const uint64_t payload = cli_hpcc_number(hpcc->config, CLI_HPCC_PACKET_PAYLOAD_SIZE);
    const uint64_t packets = (flow->bytes - 1) / payload + 1;
    const uint64_t total = flow->bytes + packets * HEADER_BYTES;
    return pair.rtt_ns + (uint64_t)((sim_wide_t)total * 8 * NS_PER_S / pair.rate_bps);
}

static void write_flows(cli_hpcc_t *hpcc, const world_t *world, results_file_t *file)
{
    flows_t flows = {.world = world};
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->flows != NULL) {
            app->ops->flows(app, take_flow, &flows);
        }
    }
    if (flows.count > 0) {
        // Sorting by destination needs one path search per destination.
        qsort(flows.items, flows.count, sizeof(*flows.items), compare_destinations);
        for (size_t i = 0; i < flows.count; i++) {
            flows.items[i].standalone_ns = standalone_ns(hpcc, &flows.items[i]);
        }
        qsort(flows.items, flows.count, sizeof(*flows.items), compare_ends);
    }
    const bool decimal = hpcc->config->values[CLI_HPCC_LB_MODE].given; // ConWeave
    for (size_t i = 0; i < flows.count; i++) {
        const flow_t *const flow = &flows.items[i];
        if (decimal) {
            results_file_print(file, "%u %u", flow->source, flow->destination);
        } else {
            results_file_print(file, "%08x %08x", cli_hpcc_address(flow->source),
                               cli_hpcc_address(flow->destination));
        }
        results_file_print(file, " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                           flow->source_port, flow->service_port, flow->bytes,
                           flow->start_ps / SIM_PS_PER_NS,
                           (flow->end_ps - flow->start_ps) / SIM_PS_PER_NS, flow->standalone_ns);
    }
    sim_free(flows.items);
}

// -- pauses

typedef struct pause_record {
    uint32_t number;
    uint32_t port;
    bool host;
    bool paused;
} pause_record_t;

static void write_pause(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    (void)node_index;
    cli_hpcc_outputs_t *const outputs = ctx;
    pause_record_t pause;
    SIM_CHECK(record_bytes == sizeof(pause));
    memcpy(&pause, record, sizeof(pause));
    results_file_print(outputs->pfc, "%" PRIu64 " %u %u %u %u\n", time_ps / SIM_PS_PER_NS,
                       pause.number, pause.host ? 0 : 1, pause.port, pause.paused ? 1 : 0);
}

// Records a pause. A PFC frame for several classes becomes several records, because the simulator
// sends one frame per class.
static void on_pause(const net_trace_t *trace, void *ctx)
{
    cli_hpcc_outputs_t *const outputs = ctx;
    const net_node_t *const node = trace->port->node;
    const net_pfc_t *const pfc = &trace->packet->pfc;
    for (unsigned p = 0; p < NET_PRIORITIES; p++) {
        if ((pfc->classes >> p & 1u) == 0) {
            continue;
        }
        const pause_record_t record = {
            .number = cli_hpcc_node_number(node),
            .port = trace->port->index + 1,
            .host = node->kind == NET_NODE_HOST,
            .paused = pfc->quanta[p] != 0,
        };
        cli__hpcc_put(outputs->pause_stream, trace, &record, sizeof(record));
    }
}

void cli__hpcc_put(sim_stream_t *stream, const net_trace_t *trace, const void *record,
                   size_t record_bytes)
{
    const sim_node_t *const node = &trace->port->node->sim;
    memcpy(sim_stream_put(stream, node, trace->time_ps, record_bytes), record, record_bytes);
}

static void attach_pauses(cli_hpcc_outputs_t *outputs)
{
    const net_t *const net = outputs->world->net;
    outputs->pause_stream = sim_stream_create(outputs->world->sim, write_pause, outputs);
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_listen(&node->ports[p], NET_TRACE_PFC, on_pause, outputs);
        }
    }
}

// -- opening and closing all outputs

// Opens an output: under its fixed name in the result folder, or under the name in the config.
// *file stays NULL if the config names none.
static sim_err_t open_output(const cli_hpcc_outputs_t *outputs, cli_hpcc_key_t key,
                             const char *fixed, results_file_t **file, world_error_t *error)
{
    const char *const named = cli_hpcc_text(outputs->hpcc->config, key);
    if (outputs->folder == NULL && named == NULL) {
        return SIM_OK;
    }
    char *const path =
        outputs->folder != NULL ? sim_format("%s/%s", outputs->folder, fixed) : sim_strdup(named);
    // A file without write permission is kept, even if the user (root) could overwrite it.
    struct stat status;
    sim_err_t result = SIM_OK;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0222) == 0) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                            "is protected against writing, expected another folder: -o DIR");
    } else {
        result = results_file_open(path, file, error);
    }
    sim_free(path);
    return result;
}

// Returns whether two names mean one file, whether it exists or is still to be created.
static bool same_file(const char *a, const char *b)
{
    struct stat of_a;
    struct stat of_b;
    const bool a_there = stat(a, &of_a) == 0;
    const bool b_there = stat(b, &of_b) == 0;
    if (a_there || b_there) {
        return a_there && b_there && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino &&
               S_ISREG(of_a.st_mode);
    }
    const char *const a_slash = strrchr(a, '/');
    const char *const b_slash = strrchr(b, '/');
    if (strcmp(a_slash != NULL ? a_slash + 1 : a, b_slash != NULL ? b_slash + 1 : b) != 0) {
        return false;
    }
    char *const a_folder =
        a_slash != NULL ? sim_format("%.*s/.", (int)(a_slash - a), a) : sim_strdup(".");
    char *const b_folder =
        b_slash != NULL ? sim_format("%.*s/.", (int)(b_slash - b), b) : sim_strdup(".");
    const bool same = stat(a_folder, &of_a) == 0 && stat(b_folder, &of_b) == 0 &&
                      of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    sim_free(a_folder);
    sim_free(b_folder);
    return same;
}

// Fails if an output has the name of an input or of another output, which it would destroy.
static sim_err_t check_names(const cli_hpcc_outputs_t *outputs, world_error_t *error)
{
    const cli_hpcc_t *const hpcc = outputs->hpcc;
    static const struct {
        cli_hpcc_key_t key;
        const char *name;
    } written[] = {
        {CLI_HPCC_FCT_OUTPUT_FILE, "FCT_OUTPUT_FILE"},
        {CLI_HPCC_PFC_OUTPUT_FILE, "PFC_OUTPUT_FILE"},
        {CLI_HPCC_QLEN_MON_FILE, "QLEN_MON_FILE"},
        {CLI_HPCC_BW_MON_FILE, "BW_MON_FILE"},
        {CLI_HPCC_RATE_MON_FILE, "RATE_MON_FILE"},
        {CLI_HPCC_CNP_MON_FILE, "CNP_MON_FILE"},
        {CLI_HPCC_TRACE_OUTPUT_FILE, "TRACE_OUTPUT_FILE"},
    };
    const char *const read[] = {hpcc->config->file_name, hpcc->topology_file.path,
                                hpcc->flow_file.path, hpcc->trace_file.path};
    const char *paths[SIM_COUNT_OF(written)];
    for (size_t i = 0; i < SIM_COUNT_OF(written); i++) {
        const bool used = written[i].key != CLI_HPCC_TRACE_OUTPUT_FILE || hpcc->traced_count > 0;
        paths[i] = used ? cli_hpcc_text(hpcc->config, written[i].key) : NULL;
        const world_place_t *const place = &hpcc->config->values[written[i].key].place;
        for (size_t r = 0; r < SIM_COUNT_OF(read) && paths[i] != NULL; r++) {
            if (read[r] != NULL && same_file(paths[i], read[r])) {
                return world_fail(error, SIM_ERR_EXISTS, place,
                                  "%s is %s, which is read, expected another file", written[i].name,
                                  paths[i]);
            }
        }
        for (size_t o = 0; o < i && paths[i] != NULL; o++) {
            if (paths[o] != NULL && same_file(paths[i], paths[o])) {
                return world_fail(error, SIM_ERR_EXISTS, place,
                                  "%s is %s, as %s is, expected another file", written[i].name,
                                  paths[i], written[o].name);
            }
        }
    }
    return SIM_OK;
}

// Returns whether the config has a key of SimAI's monitors: qlen.txt is then in its format.
static bool is_simai(const cli_hpcc_config_t *config)
{
    static const cli_hpcc_key_t keys[] = {CLI_HPCC_BW_MON_FILE,     CLI_HPCC_RATE_MON_FILE,
                                          CLI_HPCC_CNP_MON_FILE,    CLI_HPCC_MON_START,
                                          CLI_HPCC_MON_END,         CLI_HPCC_QP_MON_INTERVAL,
                                          CLI_HPCC_BW_MON_INTERVAL, CLI_HPCC_QLEN_MON_INTERVAL};
    bool given = false;
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        given = given || config->values[keys[i]].given;
    }
    return given;
}

static sim_err_t check_interval(const cli_hpcc_config_t *config, cli_hpcc_key_t key,
                                world_error_t *error)
{
    return cli_hpcc_number(config, key) > 0 && cli_hpcc_number(config, key) <= INTERVAL_US_MAX
               ? SIM_OK
               : world_fail(error, SIM_ERR_RANGE, &config->values[key].place,
                            "%s is %" PRIu64 ", expected 1 to %u us", cli_hpcc_key_name(key),
                            cli_hpcc_number(config, key), INTERVAL_US_MAX);
}

static sim_err_t open_monitors(cli_hpcc_outputs_t *outputs, world_error_t *error)
{
    static const struct {
        cli_hpcc_key_t key;
        const char *name;
        cli_hpcc_key_t interval;
    } files[] = {
        [CLI__HPCC_BANDWIDTH] = {CLI_HPCC_BW_MON_FILE, "bw.txt", CLI_HPCC_BW_MON_INTERVAL},
        [CLI__HPCC_RATES] = {CLI_HPCC_RATE_MON_FILE, "rate.txt", CLI_HPCC_QP_MON_INTERVAL},
        [CLI__HPCC_CNPS] = {CLI_HPCC_CNP_MON_FILE, "cnp.txt", CLI_HPCC_QP_MON_INTERVAL},
        [CLI__HPCC_QUEUES] = {CLI_HPCC_QLEN_MON_FILE, "qlen.txt", CLI_HPCC_QLEN_MON_INTERVAL},
    };
    const cli_hpcc_config_t *const config = outputs->hpcc->config;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(files) && result == SIM_OK; i++) {
        const bool hpcc = i == CLI__HPCC_QUEUES && !is_simai(config);
        if (cli_hpcc_text(config, files[i].key) != NULL) {
            result = hpcc ? SIM_OK : check_interval(config, files[i].interval, error);
            if (result == SIM_OK) {
                result = open_output(outputs, files[i].key, files[i].name,
                                     hpcc ? &outputs->qlen : &outputs->monitored[i], error);
            }
        }
    }
    return result;
}

static sim_err_t open_all(cli_hpcc_outputs_t *outputs, world_error_t *error)
{
    if (outputs->folder == NULL) {
        const sim_err_t names = check_names(outputs, error);
        if (names != SIM_OK) {
            return names;
        }
    }
    sim_err_t result =
        open_output(outputs, CLI_HPCC_FCT_OUTPUT_FILE, "fct.txt", &outputs->fct, error);
    if (result == SIM_OK) {
        result = open_output(outputs, CLI_HPCC_PFC_OUTPUT_FILE, "pfc.txt", &outputs->pfc, error);
    }
    if (result == SIM_OK) {
        result = open_monitors(outputs, error);
    }
    if (result == SIM_OK && outputs->hpcc->traced_count > 0) {
        result = open_output(outputs, CLI_HPCC_TRACE_OUTPUT_FILE, "packets.txt", &outputs->packets,
                             error);
    }
    return result;
}

sim_err_t cli_hpcc_outputs_open(cli_hpcc_t *hpcc, world_t *world, const char *folder,
                                cli_hpcc_outputs_t **outputs, world_error_t *error)
{
    cli_hpcc_outputs_t *const made = sim_alloc(sizeof(*made));
    made->hpcc = hpcc;
    made->world = world;
    made->folder = folder;
    const sim_err_t result = open_all(made, error);
    if (result != SIM_OK) {
        world_error_t ignored;
        made->world = NULL; // an error occurred, so closing must write nothing
        if (cli_hpcc_outputs_close(made, &ignored) != SIM_OK) {
            world_error_add(error, " (and %s)", ignored.text);
        }
        return result;
    }
    attach_pauses(made);
    if (made->qlen != NULL) {
        cli__hpcc_qlen_attach(made);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(made->monitored); i++) {
        if (made->monitored[i] != NULL) {
            cli__hpcc_monitor(made, (cli__hpcc_monitor_t)i, made->monitored[i]);
        }
    }
    if (made->packets != NULL) {
        cli__hpcc_trace_attach(made);
    }
    *outputs = made;
    return SIM_OK;
}

sim_err_t cli_hpcc_outputs_close(cli_hpcc_outputs_t *outputs, world_error_t *error)
{
    if (outputs->world != NULL) {
        write_flows(outputs->hpcc, outputs->world, outputs->fct);
        cli__hpcc_qlen_write(outputs);
    }
    results_file_t *const files[] = {
        outputs->fct,          outputs->pfc,          outputs->qlen,         outputs->packets,
        outputs->monitored[0], outputs->monitored[1], outputs->monitored[2], outputs->monitored[3]};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        world_error_t other;
        const sim_err_t closed = files[i] == NULL ? SIM_OK : results_file_close(files[i], &other);
        if (closed != SIM_OK && result == SIM_OK) {
            result = closed;
            *error = other;
        }
    }
    cli__hpcc_qlen_free(outputs->qlen_monitors);
    cli__hpcc_trace_free(outputs->trace);
    cli__hpcc_monitors_free(outputs->monitors);
    sim_free(outputs);
    return result;
}

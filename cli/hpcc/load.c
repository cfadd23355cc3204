// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/load.c - reads a config of the HPCC ns-3 simulator and the files it names.
#include "cli/hpcc/hpcc.h"

#include "world/yaml_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)

void cli_hpcc_note(cli_hpcc_t *hpcc, const world_place_t *place, const char *format, ...)
{
    world_error_t text;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text.text, sizeof(text.text), format, arguments);
    va_end(arguments);
    SIM_APPEND(hpcc->notes, hpcc->note_count, hpcc->note_capacity,
               place->line > 0 ? sim_format("note: %s:%d:%d: %s", place->origin, place->line,
                                            place->column, text.text)
                               : sim_format("note: %s: %s", place->origin, text.text));
}

// -- finding files

// Returns the folder of a path: "a/" for "a/b", "" for a path without a slash.
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? sim_strdup("") : sim_format("%.*s", (int)(slash - path) + 1, path);
}

// Returns the path of an input, or NULL if it is not found. The search order is: the current
// folder, as in the driver; the config's folder; the folder above (a config that names mix/x
// usually lies in mix itself); the config's folder with the file name alone.
static char *find_input(const char *config_name, const char *name)
{
    char *const folder = folder_of(config_name);
    const char *const slash = strrchr(name, '/');
    char *const candidates[] = {
        sim_strdup(name),
        sim_format("%s%s", folder, name),
        sim_format("%s../%s", folder, name),
        sim_format("%s%s", folder, slash != NULL ? slash + 1 : name),
    };
    char *found = NULL;
    int reason = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(candidates); i++) {
        const bool usable = i == 0 || name[0] != '/';
        if (found == NULL && usable && access(candidates[i], R_OK) == 0) {
            found = sim_strdup(candidates[i]);
        } else if (i == 0) {
            reason = errno;
        }
        sim_free(candidates[i]);
    }
    sim_free(folder);
    errno = reason;
    return found;
}

static void note_moved(cli_hpcc_t *hpcc, cli_hpcc_key_t key, const cli_hpcc_file_t *file)
{
    const cli_hpcc_value_t *const value = &hpcc->config->values[key];
    if (strcmp(file->path, value->text) != 0) {
        cli_hpcc_note(hpcc, &value->place, "%s is not in the current folder: %s is read",
                      value->text, file->path);
    }
}

static sim_err_t read_input(const cli_hpcc_t *hpcc, cli_hpcc_key_t key, cli_hpcc_file_t *file,
                            world_error_t *error)
{
    const cli_hpcc_value_t *const value = &hpcc->config->values[key];
    if (value->text == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &value->place,
                          "no %s, expected the name of a file, here or as %s",
                          cli_hpcc_key_name(key),
                          key == CLI_HPCC_FLOW_FILE ? "--flows FILE" : "--topology FILE");
    }
    file->path = find_input(hpcc->config->file_name, value->text);
    if (file->path == NULL) {
        const int reason = errno;
        world_shown_t shown;
        return world_fail(
            error, SIM_ERR_IO, &value->place,
            "%s %s cannot be read: %s, expected a file in the current folder or beside the config",
            cli_hpcc_key_name(key), world_show(&shown, value->text), strerror(reason));
    }
    return world_read_file(file->path, FILE_BYTES_MAX, &file->text, &file->size_bytes, error);
}

// -- reading the files

// Reads the topology file. Its notes are dropped, because the scenario reads the file again and
// reports them.
static sim_err_t read_topology(cli_hpcc_t *hpcc, world_error_t *error)
{
    sim_message_t message;
    sim_err_t result = read_input(hpcc, CLI_HPCC_TOPOLOGY_FILE, &hpcc->topology_file, error);
    if (result != SIM_OK) {
        return result;
    }
    const cli_hpcc_file_t *const file = &hpcc->topology_file;
    result = topo_file_parse(TOPO_FILE_HPCC, file->path, file->text, file->size_bytes, NULL, NULL,
                             &hpcc->topology, &message);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

static sim_err_t read_flows(cli_hpcc_t *hpcc, world_error_t *error)
{
    sim_message_t message;
    sim_err_t result = read_input(hpcc, CLI_HPCC_FLOW_FILE, &hpcc->flow_file, error);
    if (result != SIM_OK) {
        return result;
    }
    const cli_hpcc_file_t *const file = &hpcc->flow_file;
    result = app_flow_file_parse(APP_FLOW_HPCC, file->path, file->text, file->size_bytes, NULL,
                                 NULL, &hpcc->flows, &message);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

// Notes the ids of the trace file that are no nodes of the topology.
static void note_untraced(cli_hpcc_t *hpcc, uint64_t count, const world_place_t *first, uint64_t id)
{
    const uint64_t nodes = hpcc->topology->node_count;
    if (count == 1) {
        cli_hpcc_note(hpcc, first,
                      "node %" PRIu64 " is not traced: the topology has the nodes 0 to %" PRIu64,
                      id, nodes - 1);
    } else if (count > 1) {
        cli_hpcc_note(hpcc, first,
                      "%" PRIu64 " nodes, the first of them %" PRIu64
                      ", are not traced: the topology has the nodes 0 to %" PRIu64,
                      count, id, nodes - 1);
    }
}

// Reads the ids of traced nodes. Those that the topology lacks are passed over, as the simulator
// does; HPCC's own trace file has such ids.
static sim_err_t read_traced(cli_hpcc_t *hpcc, sim_message_t *message)
{
    sim_words_t words;
    sim_word_t word;
    uint64_t count = 0;
    uint64_t node = 0;
    const uint64_t nodes = hpcc->topology->node_count;
    const cli_hpcc_file_t *const file = &hpcc->trace_file;
    sim_words_init(&words, file->path, file->text, file->size_bytes);
    static const char what[] = "the number of traced nodes";
    sim_err_t result = sim_words_need(&words, &word, what, message);
    if (result == SIM_OK) {
        // Each id takes at least two bytes of the file.
        result = sim_word_count(&words, &word, what, 0, file->size_bytes, &count, message);
    }
    if (result != SIM_OK) {
        return result;
    }
    hpcc->traced = sim_alloc_array(count + 1, sizeof(*hpcc->traced));
    uint64_t unknown = 0;
    uint64_t unknown_first = 0;
    world_place_t place = {file->path, 1, 1};
    for (uint64_t i = 0; i < count; i++) {
        static const char id[] = "the id of a node";
        result = sim_words_need(&words, &word, id, message);
        if (result == SIM_OK) {
            result = sim_word_count(&words, &word, id, 0, UINT32_MAX, &node, message);
        }
        if (result != SIM_OK) {
            return result;
        }
        if (node < nodes) {
            hpcc->traced[hpcc->traced_count++] = (uint32_t)node;
        } else if (unknown++ == 0) {
            unknown_first = node;
            place = (world_place_t){file->path, (int)word.line, (int)word.column};
        }
    }
    note_untraced(hpcc, unknown, &place, unknown_first);
    return SIM_OK;
}

// Reads the trace file. A missing file traces no node, as in the driver.
static sim_err_t read_trace_file(cli_hpcc_t *hpcc, world_error_t *error)
{
    const cli_hpcc_value_t *const value = &hpcc->config->values[CLI_HPCC_TRACE_FILE];
    if (cli_hpcc_number(hpcc->config, CLI_HPCC_ENABLE_TRACE) == 0 || value->text == NULL) {
        return SIM_OK;
    }
    char *const path = find_input(hpcc->config->file_name, value->text);
    if (path == NULL) {
        cli_hpcc_note(hpcc, &value->place, "there is no %s: no node is traced", value->text);
        return SIM_OK;
    }
    sim_free(path);
    sim_err_t result = read_input(hpcc, CLI_HPCC_TRACE_FILE, &hpcc->trace_file, error);
    sim_message_t message;
    if (result == SIM_OK) {
        result = read_traced(hpcc, &message);
        if (result != SIM_OK) {
            return world_fail(error, result, NULL, "%s", message.text);
        }
    }
    return result;
}

// -- notes

// Keys that a simulator other than HPCC's has and rocesim does not model.
static const struct {
    const char *key; // or its begin, with a '*' behind it
    const char *owner;
    const char *effect; // of the key there
} peer_keys[] = {
    {"ns3::*", "SimAI", "sets an attribute of its models"},
    {"SEND_OUTPUT_FILE", "SimAI", "is an output file"},
    {"NIC_TOTAL_PAUSE_TIME", "SimAI", "pauses NICs"},
    {"GROUP_START{", "SimAI", "begins settings of some nodes"},
    {"TX_BW_MON_FILE", "SimAI", "is an output file"},
    {"RX_BW_MON_FILE", "SimAI", "is an output file"},
    {"FLOW_INPUT_FILE", "ConWeave", "is an output file"},
    {"CNP_OUTPUT_FILE", "ConWeave", "is an output file"},
    {"VOQ_MON_FILE", "ConWeave", "is an output file"},
    {"VOQ_MON_DETAIL_FILE", "ConWeave", "is an output file"},
    {"UPLINK_MON_FILE", "ConWeave", "is an output file"},
    {"CONN_MON_FILE", "ConWeave", "is an output file"},
    {"EST_ERROR_MON_FILE", "ConWeave", "is an output file"},
    {"SW_MONITORING_INTERVAL", "ConWeave", "is the interval of its outputs"},
    {"FLOWGEN_START_TIME", "ConWeave", "is a time of its run"},
    {"FLOWGEN_STOP_TIME", "ConWeave", "is a time of its run"},
    {"CONWEAVE_*", "ConWeave", "is a parameter of its load balancer"},
    {"LOAD", "ConWeave", "gives the load of the flow file"},
    {"RANDOM_SEED", "ConWeave", "is the seed, which is --seed here"},
    {"CLAMP_TARGET_RATE_AFTER_TIMER", "ns3-rdma", "is a parameter of its DCQCN"},
    {"PACKET_LEVEL_ECMP", "ns3-rdma", "sends each packet on a path of its own"},
    {"FLOW_LEVEL_ECMP", "ns3-rdma", "gives each flow a path, as here"},
    {"L2_WAIT_FOR_ACK", "ns3-rdma", "lets a sender wait for each ACK"},
    {"L2_TEST_READ", "ns3-rdma", "turns flows into reads, which is verb: read here"},
    {"TCP_FLOW_FILE", "ns3-rdma", "names flows of TCP"},
    {"APP_START_TIME", "ns3-rdma", "is a time of its run"},
    {"APP_STOP_TIME", "ns3-rdma", "is a time of its run"},
    {"CNP_INTERVAL", "ns3-rdma", "is the least time between two CNPs"},
    {"NP_SAMPLING_INTERVAL", "ns3-rdma", "is the period in which its receivers look for marks"},
    {"SEND_IN_CHUNKS", "ns3-rdma", "sends flows in parts"},
    {"KMAX", "ns3-rdma", "is the upper threshold of marking, which is KMAX_MAP here"},
    {"KMIN", "ns3-rdma", "is the lower threshold of marking, which is KMIN_MAP here"},
    {"PMAX", "ns3-rdma", "is the probability of marking, which is PMAX_MAP here"},
    {"DCTCP_GAIN", "ns3-rdma", "is the gain of its DCTCP"},
};

// Returns the row of the key; -1 if no simulator that we know has it.
static int owner_of(const char *key)
{
    for (size_t i = 0; i < SIM_COUNT_OF(peer_keys); i++) {
        const char *const name = peer_keys[i].key;
        const size_t size = strcspn(name, "*");
        const bool same =
            name[size] == '*' ? strncmp(key, name, size) == 0 : strcmp(key, name) == 0;
        if (same) {
            return (int)i;
        }
    }
    return -1;
}

// Notes the keys that another simulator uses and rocesim does not.
static void note_peer_keys(cli_hpcc_t *hpcc)
{
    const cli_hpcc_config_t *const config = hpcc->config;
    world_error_t text = {.text = ""};
    size_t count = 0;
    for (size_t i = 0; i < config->unknown_count; i++) {
        const int row = owner_of(config->unknown[i]);
        if (row >= 0) {
            world_error_add(&text, "%s %s (%s: it %s)", count++ > 0 ? "," : "", config->unknown[i],
                            peer_keys[row].owner, peer_keys[row].effect);
        }
    }
    if (count > 0) {
        cli_hpcc_note(hpcc, &config->unknown_place,
                      "keys that their simulator uses and rocesim does not:%s", text.text);
    }
}

static void note_unknown(cli_hpcc_t *hpcc)
{
    const cli_hpcc_config_t *const config = hpcc->config;
    const char *names[CLI_HPCC_KEY_COUNT];
    for (cli_hpcc_key_t key = 0; key < CLI_HPCC_KEY_COUNT; key++) {
        names[key] = cli_hpcc_key_name(key);
    }
    world_error_t text = {.text = ""};
    size_t count = 0;
    for (size_t i = 0; i < config->unknown_count; i++) {
        if (owner_of(config->unknown[i]) >= 0) {
            continue;
        }
        const char *const near = sim_nearest_name(config->unknown[i], names, CLI_HPCC_KEY_COUNT);
        world_error_add(&text, "%s %s", count++ > 0 ? "," : "", config->unknown[i]);
        if (near != NULL) {
            world_error_add(&text, " (did you mean %s?)", near);
        }
    }
    if (count > 0) {
        cli_hpcc_note(hpcc, &config->unknown_place,
                      "unknown keys, ignored as HPCC's, SimAI's and ConWeave's simulators do:%s",
                      text.text);
    }
}

static void note_key(cli_hpcc_t *hpcc, cli_hpcc_key_t key, const char *text)
{
    const world_place_t *const place = &hpcc->config->values[key].place;
    cli_hpcc_note(hpcc, place, "%s %s", cli_hpcc_key_name(key), text);
}

// Notes the keys whose documentation is wrong; they do what the driver's code does.
static void note_backward_keys(cli_hpcc_t *hpcc)
{
    const cli_hpcc_config_t *const config = hpcc->config;
    if (cli_hpcc_number(config, CLI_HPCC_L2_BACK_TO_ZERO) != 0) {
        note_key(hpcc, CLI_HPCC_L2_BACK_TO_ZERO,
                 "1 is go-back-0 as in its code; its documentation has the meaning reversed");
    }
    if (cli_hpcc_number(config, CLI_HPCC_L2_ACK_INTERVAL) > 1) {
        note_key(
            hpcc, CLI_HPCC_L2_ACK_INTERVAL,
            "holds back ACKs of the first bytes of a flow only, as in its code: a shorter flow "
            "that is no multiple of L2_CHUNK_SIZE never ends");
    }
    if (cli_hpcc_number(config, CLI_HPCC_USE_DYNAMIC_PFC_THRESHOLD) == 0) {
        note_key(hpcc, CLI_HPCC_USE_DYNAMIC_PFC_THRESHOLD,
                 "does nothing: thresholds are always dynamic in its code");
    }
    if (cli_hpcc_number(config, CLI_HPCC_ACK_HIGH_PRIO) != 0 && hpcc->compat) {
        note_key(hpcc, CLI_HPCC_ACK_HIGH_PRIO,
                 "gates the ACKs of hosts by another pause bit; switches never prefer ACKs, as in "
                 "its code");
    }
    if (cli_hpcc_number(config, CLI_HPCC_HAS_WIN) == 0 && hpcc->compat &&
        cli_hpcc_number(config, CLI_HPCC_CC_MODE) == 3) {
        note_key(hpcc, CLI_HPCC_HAS_WIN,
                 "0 lets HPCC divide queues by a window of 0, as in its code: flows end up at "
                 "MIN_RATE");
    }
    if (cli_hpcc_number(config, CLI_HPCC_LB_MODE) != 0) {
        note_key(hpcc, CLI_HPCC_LB_MODE,
                 "is not read: flows are spread by ECMP, or as --set network.load-balancer=drill, "
                 "conga, letflow or conweave says");
    }
}

// Puts the inputs that options give in the place of the config's.
static void put_given(cli_hpcc_t *hpcc)
{
    static const cli_hpcc_key_t keys[] = {CLI_HPCC_TOPOLOGY_FILE, CLI_HPCC_FLOW_FILE};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        cli_hpcc_value_t *const value = &hpcc->config->values[keys[i]];
        if (hpcc->given[i].name != NULL) {
            sim_free(value->text);
            value->text = sim_strdup(hpcc->given[i].name);
            value->place = (world_place_t){hpcc->given[i].shown, 0, 0};
            value->given = true;
            value->has = true;
        }
    }
}

sim_err_t cli_hpcc_load(cli_hpcc_t *hpcc, const char *file_name, world_error_t *error)
{
    sim_err_t result = cli_hpcc_config_load(file_name, &hpcc->config, error);
    if (result == SIM_OK) {
        put_given(hpcc);
        result = hpcc->override_count == 0 ? cli_hpcc_config_check(hpcc->config, error) : SIM_OK;
    }
    if (result == SIM_OK) {
        result = read_topology(hpcc, error);
    }
    if (result == SIM_OK) {
        result = read_flows(hpcc, error);
    }
    if (result == SIM_OK) {
        result = read_trace_file(hpcc, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    note_moved(hpcc, CLI_HPCC_TOPOLOGY_FILE, &hpcc->topology_file);
    note_moved(hpcc, CLI_HPCC_FLOW_FILE, &hpcc->flow_file);
    note_unknown(hpcc);
    note_peer_keys(hpcc);
    note_backward_keys(hpcc);
    hpcc->paths = cli_hpcc_paths_create(
        hpcc->topology, cli_hpcc_number(hpcc->config, CLI_HPCC_PACKET_PAYLOAD_SIZE));
    cli_hpcc_paths_max(hpcc->paths, &hpcc->rtt_ns_max, &hpcc->bdp_bytes_max);
    return SIM_OK;
}

static void file_fini(cli_hpcc_file_t *file)
{
    sim_free(file->path);
    sim_free(file->text);
}

void cli_hpcc_fini(cli_hpcc_t *hpcc)
{
    cli_hpcc_paths_destroy(hpcc->paths);
    app_flow_file_fini(&hpcc->flows);
    topo_file_destroy(hpcc->topology);
    sim_free(hpcc->traced);
    file_fini(&hpcc->topology_file);
    file_fini(&hpcc->flow_file);
    file_fini(&hpcc->trace_file);
    sim_free_each(hpcc->notes, hpcc->note_count);
    sim_free(hpcc->notes);
    cli_hpcc_config_destroy(hpcc->config);
}

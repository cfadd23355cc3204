// SPDX-License-Identifier: Apache-2.0
// cli/workload/peers.c - distinguishes topologies and settings of other programs from workloads.
//
// NCCL's XML of a server is counted; of the others, `rocesim check` says how a scenario uses them.
#include "cli/workload/peers.h"

#include "cli/command.h"
#include "cli/output.h"
#include "kernel/words.h"

#include <expat.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LOOKED_AT_BYTES ((size_t)1 << 16)
#define LINES_MAX 64u // that are looked at for Tiers
#define WORDS_MAX 3u

// How a scenario uses a file, or what has its place.
static const char in_topology[] = "a scenario uses it as topology: {file: {path: FILE}}";
static const char build_network[] = "rocesim params topology lists the networks that it builds";
static const char build_dragonfly[] =
    "topology: {dragonfly: {switches: a, hosts-per-switch: p, global-links: h}} or "
    "{slim-fly: {q: q}} builds it (rocesim params topology)";
static const char jobs[] = "the file lists jobs and machines without their messages; traffic of "
                           "kinds training and workload runs jobs";
static const char write_graph[] =
    "topology.file reads the formats of HPCC's simulator, SimAI and htsim";
static const char run_hpcc[] = "rocesim hpcc FILE runs it";
static const char nothing[] = "it has no counterpart here";
static const char simulated[] =
    "rocesim simulates what it gives; a workload needs the network only";
static const char run_matrix[] =
    "traffic of kind flows reads the matrices (.cm) and topology.file the topologies that it names";
static const char set_switch[] =
    "switch.buffer, switch.pfc and switch.ecn of a scenario say the same (rocesim params switch)";
static const char set_server[] =
    "topology.nics-per-host, nvlink-rate and nic.host of a scenario say the same";
static const char serve[] =
    "traffic of kind serving says the same (rocesim params traffic.serving)";
static const char measured[] =
    "it holds results, which rocesim calibrate compares by its own tables";
static const char convert_trace[] =
    "expected a trace of Chakra, which Chakra's converter makes of PyTorch's traces";
static const char one_a_line[] =
    "expected a request in each line, as `jq -c '.[]' FILE` writes them";
static const char count_tokens[] =
    "expected lengths in tokens: JSON lines with input_length and output_length";
static const char import_links[] = "rocesim import FILE -o SCENARIO makes a scenario of it";
static const char explain_counters[] =
    "rocesim explain TOPOLOGY --counters FILE reads it (docs/formats/counters.md)";
static const char read_run[] = "rocesim explain, plot, compare and diff read the folder of a run";
static const char in_flows[] = "a scenario uses it as traffic: [{flows: {file: FILE}}]";

// Files that are known by words that all stand in their first bytes; the special ones come first.
static const struct {
    const char *words[WORDS_MAX];
    const char *what;
    const char *use;
} peers[] = {
    {{"Link_speed_global_Gbps"}, "a dragonfly or Slim Fly of htsim", build_dragonfly},
    {{"topology dragonfly", "routers_per_group"}, "a dragonfly of htsim", build_dragonfly},
    {{"\"logical-dims\""}, "a network of ASTRA-sim", build_network},
    {{"topology: [", "topology_file:"},
     "a network of ASTRA-sim",
     "topology.file reads the file of links that it names"},
    {{"npus_count", "topology"}, "a network of ASTRA-sim", build_network},
    {{"\"topology-name\""}, "a network of ASTRA-sim", build_network},
    {{"\"dimensions-count\""}, "a network of ASTRA-sim", build_network},
    {{"scheduling-policy"}, "settings of ASTRA-sim's system", nothing},
    {{"all-reduce-implementation"}, "settings of ASTRA-sim's system", nothing},
    {{"memory-type\""}, "settings of ASTRA-sim's memory", nothing},
    {{"ENABLE_QCN"}, "a configuration of HPCC's simulator or SimAI", run_hpcc},
    {{"FLOW_FILE", "TOPOLOGY_FILE"}, "a configuration of HPCC's simulator or SimAI", run_hpcc},
    {{"CC_MODE", "PACKET_PAYLOAD_SIZE"}, "a configuration of HPCC's simulator or SimAI", run_hpcc},
    {{"allreduce,:"}, "a table of bus bandwidths (busbw) of SimAI", simulated},
    {{"allgather,:"}, "a table of bus bandwidths (busbw) of SimAI", simulated},
    {{"Size,", "Node", "NIC"}, "a table of bandwidth ratios of SimAI", simulated},
    {{"comm_type,comm_group,comm_group_size"},
     "a log of AICB",
     "expected its workload text, which AICB writes for SimAI"},
    {{"\"instances\"", "npu"}, "a cluster of LLMServingSim", serve},
    {{"\"instances\"", "num_nodes"}, "a cluster of LLMServingSim", serve},
    {{"instance id,request id", "TTFT"}, "results of LLMServingSim", measured},
    {{"prompt_throughput", "kv_cache_pct"}, "results of LLMServingSim", measured},
    {{"vllm_version"}, "settings of a run of vLLM", serve},
    {{"n_decode", "kv_decode", "time_us"}, "a profile of LLMServingSim", nothing},
    {{"layer,", "time_us"}, "a profile of LLMServingSim", nothing},
    {{"activated_experts", "time_us"}, "a profile of LLMServingSim", nothing},
    {{"layer_name,", "latency(ns)"}, "a profile of LLMServingSim", nothing},
    {{"replica_config"}, "a configuration of Vidur", serve},
    {{"replica_scheduler"}, "a configuration of Vidur", serve},
    {{"clusters:", "num_gpus"}, "a configuration of Vidur", serve},
    {{"time_stats."}, "a profile of Vidur", nothing},
    {{"\"hidden_size\"", "\"num_attention_heads\""}, "a model of Hugging Face", serve},
    {{"LPGROUPS"}, "a configuration of CODES", build_network},
    {{"[General]", "network"}, "a configuration of OMNeT++", build_network},
    {{"network", "submodules:"}, "a network of OMNeT++ (NED)", write_graph},
    {{"routing_function", "topology", ";"}, "a configuration of BookSim", build_network},
    {{"<FlowMonitor"}, "results of ns-3's flow monitor", measured},
    {{"<graphml"}, "a graph in GraphML", write_graph},
    {{"graph [", "node ["}, "a graph in GML", write_graph},
    {{"digraph ", "{", "->"}, "a graph of Graphviz", write_graph},
    {{"graph ", "{", "--"}, "a graph of Graphviz", write_graph},
    {{"interface Ethernet", "priority-flow-control"}, "a switch configuration", set_switch},
    {{"endpoints:", "kind"}, "a topology of containerlab", write_graph},
    {{"\"nodes\"", "\"links\"", "\"source\""}, "a graph of NetworkX (JSON)", write_graph},
    {{"\"nodes\"", "\"edges\""}, "a graph in JSON", write_graph},
    {{"\"src_dev\"", "\"dst_dev\""}, "a cluster of Mooncake's Transfer Engine", set_server},
    {{"!Experiment", "!Param"}, "a plan of experiments of htsim", run_matrix},
    {{"\"global_parameters\"", "\"experiments\""}, "a plan of experiments of htsim", run_matrix},
    {{"Running ./htsim"}, "output of htsim", measured},
    {{"Flow ", "flowId", "finished at"}, "output of htsim", measured},
    {{"sys[0] finished", "cycles"}, "output of ASTRA-sim", measured},
    {{"\"metadata_server\""}, "settings of Mooncake's programs", nothing},
    {{"\"cpu:0\"", "\"mlx5"}, "a priority matrix of Mooncake's Transfer Engine", set_server},
    {{"CPU Affinity", "GPU0"}, "a server, as `nvidia-smi topo -m` prints it", set_server},
    {{"CA 'mlx5"}, "NICs, as ibstat prints them", set_server},
    {{"hca_id:"}, "NICs, as ibv_devinfo prints them", set_server},
    {{"\"$schema\"", "\"properties\""}, "a JSON schema", nothing},
    {{"a_node", "b_node"}, "a list of links", import_links},
    {{"out-of-place", "busbw"}, "results of nccl-tests", measured},
    {{"NCCL INFO"}, "a log of NCCL", measured},
    {{"BW average"}, "results of perftest", measured},
    {{"BW_average"}, "results of perftest", measured},
    {{"t_avg[usec]"}, "results of perftest", measured},
    {{" BW Test", "Transport type"}, "results of perftest", measured},
    {{"Latency Test", "Transport type"}, "results of perftest", measured},
    {{"test_info", "Dual_port"}, "results of perftest", measured},
    {{"Client connecting to", "port"}, "results of iperf", measured},
    {{"\"connected\"", "\"intervals\"", "\"cpu_utilization"}, "results of iperf", measured},
    {{"NIC statistics:"}, "counters of a NIC, as ethtool prints them", explain_counters},
    {{"SAI_PORT_STAT_"}, "counters of switches (SONiC's COUNTERS_DB)", explain_counters},
    {{"Port Rx", "PFC0"},
     "counters of a switch, as `show pfc counters` prints them",
     explain_counters},
    {{"link mlx5", "rx_write_requests"},
     "counters of a NIC, as `rdma statistic` prints them",
     explain_counters},
    {{"mean_ttft_ms"}, "results of a benchmark of vLLM or SGLang", measured},
    {{"\"traceEvents\""}, "a timeline of a profiler", convert_trace},
    {{"\"pytorch_version\""}, "a trace of PyTorch", convert_trace},
    {{"\"schema\"", "\"nodes\"", "\"ctrl_deps\""}, "a trace of PyTorch", convert_trace},
    {{"\"conversations\"", "\"from\""}, "conversations of ShareGPT", count_tokens},
    {{"\"input_length\""}, "a list of requests in JSON", one_a_line},
    {{"\"messages\"", "\"role\""}, "texts of conversations", count_tokens},
    {{"\"text_input\""}, "prompts as texts", count_tokens},
    {{"\"prompt\""}, "prompts as texts", count_tokens},
    {{"import msccl"}, "a program in MSCCLang", "expected the XML that it prints"},
    {{"from msccl"}, "a program in MSCCLang", "expected the XML that it prints"},
    {{"\"sketch\"", "\"nnodes\""}, "a sketch of TACCL", "expected the XML that TACCL makes of it"},
    {{"\"1-Epoch_Duration\""}, "a schedule of TE-CCL", "expected the XML that TE-CCL makes of it"},
    {{"\"TopologyParams\""}, "an input of TE-CCL", "expected the XML that TE-CCL makes of it"},
    {{"cpu_milli", "memory_mib"}, "a trace of Alibaba's GPU clusters", jobs},
    {{"instance_sn,role,app_name"}, "a trace of Alibaba's GPU clusters", jobs},
    {{"gpu_model", "gpu_capacity_num"}, "a trace of Alibaba's GPU clusters", jobs},
    {{"job_name", "inst_id", "gpu"}, "a trace of Alibaba's GPU clusters", jobs},
    {{"job_name", "task_name", "plan_gpu"}, "a trace of Alibaba's GPU clusters", jobs},
    {{"gmt_create", "predict_type"}, "a trace of Alibaba's image generation", count_tokens},
    {{"apiVersion", "kind", "metadata"}, "an object of Kubernetes", nothing},
    {{"scenario:", "grid:"}, "a plan of a sweep", "rocesim sweep FILE runs it"},
    {{"scenario:", "constants:", "points:"},
     "a plan of constants",
     "rocesim calibrate FILE runs it"},
    {{"scenario:", "variants:"}, "a plan of a sweep", "rocesim sweep FILE runs it"},
    {{"scenario:", "expect:"}, "a list of expectations", "rocesim expect FILE checks them"},
    {{"cases:", "expect:"}, "a list of expectations", "rocesim expect FILE checks them"},
    {{"constants:", "points:"}, "a plan of constants", "rocesim calibrate FILE runs it"},
    {{"\"call\"", "\"submit\""},
     "calls of a session",
     "rocesim serve SCENARIO reads them from the "
     "standard input"},
    {{"\"wall_begun\"", "\"digest\""}, "the manifest of a run", read_run},
    {{"\"interfaces\"", "\"nodes\"", "\"links\""}, "the topology of a run", read_run},
    {{"\"outcome_digest\"", "\"sim_time_ps\""}, "the summary of a run", read_run},
    {{"time_ns,event,port"}, "the events of a run", read_run},
    {{"port,priority,from_ns,to_ns"}, "the pauses of a run", read_run},
    {{"app,kind,list,item"}, "the figures of the applications of a run", read_run},
    {{"nic,tx_packets,rx_packets"}, "the NICs of a run", read_run},
    {{"\"cells\"", "\"controls\"", "\"score\""},
     "the results of an arena",
     "rocesim arena "
     "--baseline FILE reads it"},
    {{"flow_id,src,dst,src_port"}, "the flows of a run", read_run},
    {{"port,rate_bps,tx_packets"}, "the ports of a run", read_run},
    {{"<!DOCTYPE html"}, "a web page", "expected the file that the page shows"},
    {{"<html"}, "a web page", "expected the file that the page shows"},
    {{"version https://git-lfs"},
     "a pointer of Git LFS",
     "expected the file itself, which `git lfs pull` brings"},
};

bool cli_has_word(const char *text, size_t size, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++) {
        if (text[i] == word[0] && memcmp(text + i, word, length) == 0) {
            return true;
        }
    }
    return false;
}

// Returns whether a text begins like a topology of HPCC's simulator or SimAI: two lines of numbers,
// and links with a rate and a delay below them.
static bool is_graph(sim_words_t words)
{
    sim_word_t word;
    uint64_t number = 0;
    size_t count = 0;
    for (; count < 3 && sim_words_next_in_line(&words, &word); count++) {
        if (sim_word_count(&words, &word, "", 0, UINT32_MAX, &number, NULL) != SIM_OK) {
            return false;
        }
    }
    while (count >= 3 && sim_words_next_line(&words)) {
        for (count = 0; sim_words_next_in_line(&words, &word); count++) {
            const size_t length = word.size_bytes;
            if (count == 2 && length > 3 && memcmp(word.text + length - 3, "bps", 3) == 0) {
                return true;
            }
        }
        count = 3;
    }
    return false;
}

// Returns whether one of the first lines of a text begins with Tiers, as topologies of htsim.
static bool is_tiers(sim_words_t words)
{
    sim_word_t word;
    for (unsigned line = 0; line < LINES_MAX; line++) {
        if (sim_words_next_in_line(&words, &word) && word.size_bytes == 5 &&
            strncasecmp(word.text, "tiers", 5) == 0) {
            return true;
        }
        if (!sim_words_next_line(&words)) {
            return false;
        }
    }
    return false;
}

// A row of results of HPCC's simulator: two addresses in hexadecimal first.
static bool is_fct(sim_words_t words)
{
    sim_word_t word;
    size_t addresses = 0;
    for (size_t i = 0; i < 2 && sim_words_next_in_line(&words, &word); i++) {
        addresses += word.size_bytes == 8 && word.text[0] == '0' && word.text[1] == 'b';
    }
    return addresses == 2 && sim_words_in_line(words) == 6;
}

// A row of fixed next hops: `node host n next:interface`.
static bool is_routes(sim_words_t words)
{
    sim_word_t word;
    uint64_t number = 0;
    for (size_t i = 0; i < 3; i++) {
        if (!sim_words_next_in_line(&words, &word) ||
            sim_word_count(&words, &word, "", 0, UINT32_MAX, &number, NULL) != SIM_OK) {
            return false;
        }
    }
    return number > 0 && sim_words_in_line(words) == number &&
           sim_words_next_in_line(&words, &word) && memchr(word.text, ':', word.size_bytes) != NULL;
}

// A row of rocesim's own list of flows: two hosts, bytes and a time with a unit.
static bool is_rows(sim_words_t words)
{
    sim_word_t word;
    const size_t count = sim_words_in_line(words);
    for (size_t i = 0; i < 4; i++) {
        if (!sim_words_next_in_line(&words, &word)) {
            return false;
        }
    }
    sim_time_t start_ps = 0;
    const char last = word.text[word.size_bytes - 1];
    return (count == 4 || count == 5) && last == 's' &&
           sim_word_time(&words, &word, "", "s", &start_ps, NULL) == SIM_OK;
}

// A trace file of HPCC's simulator: a count, and the ids of so many nodes.
static bool is_traced(sim_words_t words)
{
    sim_word_t word;
    uint64_t count = 0;
    uint64_t id = 0;
    if (sim_words_in_line(words) != 1 || !sim_words_next(&words, &word) ||
        sim_word_count(&words, &word, "", 1, UINT32_MAX, &count, NULL) != SIM_OK) {
        return false;
    }
    uint64_t ids = 0;
    while (sim_words_next(&words, &word) &&
           sim_word_count(&words, &word, "", 0, UINT32_MAX, &id, NULL) == SIM_OK) {
        ids++;
    }
    return ids == count;
}

// Queue lengths of HPCC's simulator: `time: N`, then rows of numbers.
static bool is_queues(sim_words_t words)
{
    sim_word_t word;
    uint64_t number = 0;
    return sim_words_in_line(words) == 2 && sim_words_next_in_line(&words, &word) &&
           word.size_bytes == 5 && memcmp(word.text, "time:", 5) == 0 &&
           sim_words_next_in_line(&words, &word) &&
           sim_word_count(&words, &word, "", 0, UINT64_MAX, &number, NULL) == SIM_OK;
}

// A count, and nothing behind it.
static bool is_count(sim_words_t words)
{
    sim_word_t word;
    uint64_t number = 0;
    return sim_words_next(&words, &word) &&
           sim_word_count(&words, &word, "", 0, UINT32_MAX, &number, NULL) == SIM_OK &&
           !sim_words_next(&words, &word);
}

static bool all_there(const char *text, size_t size, const char *const words[WORDS_MAX])
{
    for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++) {
        if (!cli_has_word(text, size, words[i])) {
            return false;
        }
    }
    return true;
}

bool cli_peer_of(const char *text, size_t size_bytes, cli_peer_t *peer)
{
    sim_words_t words;
    sim_words_init(&words, "", text, size_bytes);
    while (sim_words_in_line(words) == 0 && sim_words_next_line(&words)) {
    }
    const struct {
        bool (*is)(sim_words_t words);
        cli_peer_t peer;
    } shapes[] = {
        {is_graph, {"a topology of HPCC's simulator or SimAI", in_topology, true}},
        {is_tiers, {"a topology of htsim", in_topology, true}},
        {is_fct, {"completion times of HPCC's simulator (fct)", measured, false}},
        {is_routes, {"next hops of switches", "topology.file.routes reads it", false}},
        {is_queues, {"queue lengths of HPCC's simulator (qlen)", measured, false}},
        {is_count,
         {"a count without rows, as an empty list of flows or of traced nodes of HPCC's simulator",
          "expected as many rows below it", false}},
        {is_traced,
         {"a list of traced nodes of HPCC's simulator",
          "TRACE_FILE of a configuration that rocesim hpcc runs names it", false}},
        {is_rows, {"a list of flows", in_flows, false}},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(shapes); i++) {
        if (shapes[i].is(words)) {
            *peer = shapes[i].peer;
            return true;
        }
    }
    const size_t size = size_bytes < LOOKED_AT_BYTES ? size_bytes : LOOKED_AT_BYTES;
    for (size_t i = 0; i < SIM_COUNT_OF(peers); i++) {
        if (all_there(text, size, peers[i].words)) {
            *peer = (cli_peer_t){.use = peers[i].use};
            (void)snprintf(peer->what, sizeof(peer->what), "%s", peers[i].what);
            return true;
        }
    }
    return false;
}

// -- NCCL

typedef struct nccl_kind {
    const char *element;
    const char *name; // of its count
} nccl_kind_t;

// The elements that are counted.
static const nccl_kind_t kinds[] = {
    {"cpu", "cpus"}, {"pci", "pci"},        {"gpu", "gpus"},         {"nic", "nics"},
    {"net", "nets"}, {"nvlink", "nvlinks"}, {"channel", "channels"},
};

typedef struct nccl {
    uint64_t counts[SIM_COUNT_OF(kinds)];
    char version[16];
} nccl_t;

static void XMLCALL count_element(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    nccl_t *const nccl = XML_GetUserData((XML_Parser)ctx);
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        nccl->counts[i] += strcmp(name, kinds[i].element) == 0;
    }
    if (nccl->version[0] == '\0') {
        for (; attrs[0] != NULL; attrs += 2) {
            if (strcmp(attrs[0], "version") == 0) {
                snprintf(nccl->version, sizeof(nccl->version), "%.15s", attrs[1]);
            }
        }
    }
}

bool cli_nccl_is(const char *text, size_t size_bytes)
{
    static const char *const roots[] = {"<system", "<graphs"};
    size_t at = 0;
    while (at + 8 < size_bytes) {
        if (size_bytes - at > 4 && memcmp(text + at, "<!--", 4) == 0) {
            do {
                at++;
            } while (at + 8 < size_bytes && memcmp(text + at, "-->", 3) != 0);
            at += 3;
        } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
            at++;
        } else {
            return memcmp(text + at, roots[0], 7) == 0 || memcmp(text + at, roots[1], 7) == 0;
        }
    }
    return false;
}

static void print_json(const char *name, const nccl_t *nccl)
{
    json_t *const object = json_object();
    json_object_set_new(object, "file", json_string(name));
    json_object_set_new(object, "format", json_string("nccl-topology"));
    json_object_set_new(object, "version", json_string(nccl->version));
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        json_object_set_new(object, kinds[i].name, json_integer((json_int_t)nccl->counts[i]));
    }
    cli_print_json(object);
}

static void print_nccl(const char *name, const nccl_t *nccl)
{
    printf("%s: the topology of a server, or its channels, as NCCL has them (version %s)\n", name,
           nccl->version);
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        printf("  %-9s %" PRIu64 "\n", kinds[i].name, nccl->counts[i]);
    }
    printf(
        "  use       a run takes no such file; topology.nics-per-host and nvlink-rate say this\n");
}

static void XMLCALL begin_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    (void)XML_StopParser(ctx, XML_FALSE); // no entities: they can make a small file large
}

int cli_nccl_check(const char *name, const char *text, size_t size_bytes, bool json)
{
    nccl_t nccl = {.version = ""};
    XML_Parser parser = XML_ParserCreate(NULL);
    SIM_CHECK(parser != NULL);
    XML_SetUserData(parser, &nccl);
    XML_SetStartElementHandler(parser, count_element);
    XML_UseParserAsHandlerArg(parser);
    XML_SetStartDoctypeDeclHandler(parser, begin_doctype);
    const bool good = size_bytes < INT32_MAX &&
                      XML_Parse(parser, text, (int)size_bytes, XML_TRUE) == XML_STATUS_OK;
    if (good) {
        json ? print_json(name, &nccl) : print_nccl(name, &nccl);
    } else {
        fprintf(stderr, "%s:%lu:%lu: not valid XML: %s, expected a topology of NCCL\n", name,
                (unsigned long)XML_GetCurrentLineNumber(parser),
                (unsigned long)XML_GetCurrentColumnNumber(parser) + 1,
                XML_ErrorString(XML_GetErrorCode(parser)));
    }
    XML_ParserFree(parser);
    return good ? CLI_EXIT_DONE : CLI_EXIT_BAD_INPUT;
}

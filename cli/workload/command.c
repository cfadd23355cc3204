// SPDX-License-Identifier: Apache-2.0
// cli/workload/command.c - describes and converts files of workloads. docs/models/workload.md
#include "cli/import/import.h"
#include "cli/workload/workload.h"

#include "apps/workload/formats/format.h"
#include "apps/workload/formats/goal.h"
#include "apps/workload/results/summary.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/workload/matrix.h"
#include "cli/workload/peers.h"
#include "cli/workload/requests.h"
#include "topologies/topology_file.h"
#include "world/control_characters.h"
#include "world/format.h"
#include "world/yaml_tree.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)1 << 32)
#define TOLD_MAX 6u // operations that cannot end

// The parameters of `--set loggp.NAME=VALUE`: the network of bounds and estimates.
typedef struct check_config {
    app__loggp_t loggp;
    uint64_t ranks;
} check_config_t;

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(check_config_t, __VA_ARGS__)
static const sim_attr_t rows[] = {
    ATTR(ENUM, "loggp.semantics", loggp.semantics, "atlahs", "spcl|atlahs", "rules for receivers: those of LogGOPSim or those of ATLAHS"),
    ATTR(TIME, "loggp.latency", loggp.latency_ps, "3700ns", "0s", "1s", "time of a message in the network (L)"),
    ATTR(TIME, "loggp.send-overhead", loggp.send_ps, "200ns", "0s", "1s", "time of a processor for each send (o)"),
    ATTR(TIME, "loggp.recv-overhead", loggp.recv_ps, "200ns", "0s", "1s", "time of a processor for each receive (o)"),
    ATTR(TIME, "loggp.gap", loggp.gap_ps, "5ns", "0s", "1s", "time between two messages of a NIC (g)"),
    ATTR(TIME, "loggp.byte-gap", loggp.byte_gap_ps, "40ps", "0s", "100ns", "time of a byte (G)"),
    ATTR(TIME, "loggp.byte-overhead", loggp.byte_overhead_ps, "0s", "0s", "100ns", "time of a processor for each byte (O)"),
    ATTR(BYTES, "loggp.eager-max", loggp.eager_max_bytes, "1TiB", "0", "1TiB", "longest message that does not wait for its receive (S)"),
    ATTR(RATIO, "loggp.calc-scale", loggp.calc_scale, "1", "0", "1000", "factor on computations"),
    ATTR(COUNT, "loggp.ranks", ranks, "0", "0", "1000000", "number of ranks of a file that does not state it; 0: none"),
};
// clang-format on

static const sim_attr_table_t table = SIM_ATTR_TABLE("loggp", "simulation", check_config_t, rows);

static sim_err_t take_overrides(const cli_args_t *args, check_config_t *config,
                                world_error_t *error)
{
    for (size_t i = 0; i < args->override_count; i++) {
        const world_override_t *const given = &args->overrides[i];
        const char *const equals = strchr(given->text, '=');
        char *const path =
            sim_format("%.*s", (int)(equals != NULL ? equals - given->text : 0), given->text);
        const sim_attr_t *const attr = sim_attr_find(&table, path);
        sim_message_t message = {.text = "expected loggp.NAME=VALUE for a file of a workload, with "
                                         "a NAME that rocesim check --help lists"};
        const sim_err_t result =
            attr == NULL ? SIM_ERR_UNKNOWN : sim_attr_set(attr, config, equals + 1, &message);
        sim_free(path);
        if (result != SIM_OK) {
            world_shown_t shown;
            return world_fail(error, result, NULL, "%s: %s", world_show(&shown, given->shown),
                              message.text);
        }
    }
    return SIM_OK;
}

// Reads a file beside the workload, by its name.
static sim_err_t read_beside(const char *name, char **text, size_t *size, sim_message_t *message,
                             void *ctx)
{
    world_error_t error;
    (void)ctx;
    const sim_err_t result = world_read_file(name, FILE_BYTES_MAX, text, size, &error);
    return result == SIM_OK ? SIM_OK : sim_fail(message, result, "%s", error.text);
}

// Reads a regular file. Returns NULL, and no error, for anything else: it may be a pipe.
static char *read_regular(const char *name, size_t *size)
{
    struct stat status;
    char *text = NULL;
    world_error_t error;
    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode) ||
        world_read_file(name, FILE_BYTES_MAX, &text, size, &error) != SIM_OK) {
        return NULL;
    }
    return text;
}

// -- rocesim check FILE

typedef struct workload {
    const char *name;
    const app__format_t *format;
    const app__schedule_t *schedule;
    app__workload_summary_t summary;
} workload_t;

static const char *ns_text(char *buffer, size_t size, sim_time_t time_ps)
{
    world_text_t text;
    (void)snprintf(buffer, size, "%s", world_format_time(&text, time_ps));
    return buffer;
}

static void print_bounds(const app__workload_summary_t *summary)
{
    char texts[5][40];
    printf("  bound       %s: the longest of path %s, processor %s, sending NIC %s, receiving NIC "
           "%s\n",
           ns_text(texts[0], sizeof(texts[0]), summary->bound_ps),
           ns_text(texts[1], sizeof(texts[1]), summary->path_ps),
           ns_text(texts[2], sizeof(texts[2]), summary->cpu_ps),
           ns_text(texts[3], sizeof(texts[3]), summary->nic_send_ps),
           ns_text(texts[4], sizeof(texts[4]), summary->nic_receive_ps));
    if (!summary->estimated) {
        printf("  estimate    none: the schedule is too large for it\n");
    } else {
        printf("  estimate    %s on an ideal network (LogGP)%s\n",
               ns_text(texts[0], sizeof(texts[0]), summary->estimate_ps),
               summary->call_messages > 0 ? ", with collectives as rings" : "");
    }
}

#define OWN_OPERATIONS_MAX (UINT64_C(1) << 24)

static void print_calls(const app__schedule_t *schedule)
{
    uint64_t counts[APP__COLL_COUNT][APP__DIM_COUNT] = {{0}};
    uint64_t all_bytes[APP__COLL_COUNT][APP__DIM_COUNT] = {{0}};
    for (size_t i = 0; i < schedule->call_count; i++) {
        const app__call_t *const call = &schedule->calls[i];
        counts[call->kind][call->dimension]++;
        all_bytes[call->kind][call->dimension] += call->bytes;
    }
    for (uint32_t kind = 0; kind < APP__COLL_COUNT; kind++) {
        for (uint32_t dimension = 0; dimension < APP__DIM_COUNT; dimension++) {
            const uint64_t count = counts[kind][dimension];
            const uint64_t bytes = all_bytes[kind][dimension];
            world_text_t text;
            if (count > 0) {
                printf("  collective  %" PRIu64 " x %s, %s: %s\n", count,
                       app__coll_kind_name((app__coll_kind_t)kind),
                       app__dimension_name((app__dimension_t)dimension),
                       world_format_bytes(&text, bytes));
            }
        }
    }
}

static bool is_warning(const char *note)
{
    return strncmp(note, "warning: ", strlen("warning: ")) == 0;
}

// Prints what the ranks do.
static void print_operations(const workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    const app__workload_summary_t *const summary = &workload->summary;
    world_text_t texts[3];
    printf("  operations  %" PRIu64 " send%s, %" PRIu64 " receive%s, %" PRIu64
           " computation%s, %" PRIu64 " part%s of collectives; %" PRIu64 " requires, %" PRIu64
           " irequires\n",
           counts->sends, sim_plural(counts->sends), counts->recvs, sim_plural(counts->recvs),
           counts->calcs, sim_plural(counts->calcs), counts->colls, sim_plural(counts->colls),
           counts->requires, counts->irequires);
    printf("  messages    %s in all, from %s to %s, %" PRIu64 " size%s\n",
           world_format_bytes(&texts[0], counts->bytes),
           world_format_bytes(&texts[1], summary->message_bytes_min),
           world_format_bytes(&texts[2], summary->message_bytes_max), summary->message_sizes,
           sim_plural(summary->message_sizes));
    print_calls(workload->schedule);
    if (summary->call_messages > 0) {
        printf("              as rings %" PRIu64 " message%s, %s in all\n", summary->call_messages,
               sim_plural(summary->call_messages),
               world_format_size(&texts[0], summary->call_bytes));
    }
    printf("  computed    %s over all ranks\n",
           world_format_time(&texts[0], counts->calc_ns * SIM_PS_PER_NS));
    printf("  depth       %" PRIu32 " message%s and computations on the longest chain\n",
           counts->depth, sim_plural(counts->depth));
    print_bounds(summary);
}

static void print_workload(const workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    printf("%s: %s\n", workload->name, workload->format->what);
    printf("  ranks       %" PRIu32 ", with up to %u processor%s and %u NIC%s each\n",
           workload->schedule->rank_count, counts->cpu_max + 1u, sim_plural(counts->cpu_max + 1u),
           counts->nic_max + 1u, sim_plural(counts->nic_max + 1u));
    if (counts->sends + counts->recvs + counts->calcs + counts->colls > 0) {
        print_operations(workload); // the file of an algorithm has none
    }
    for (size_t i = 0; i < workload->schedule->note_count; i++) {
        if (!is_warning(workload->schedule->notes[i])) {
            printf("  file        %s\n", workload->schedule->notes[i]);
        }
    }
}

static void warn_operation(const char *text, void *ctx)
{
    fprintf(stderr, "warning: %s: %s\n", (const char *)ctx, text);
}

static void warn(const workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    if (workload->schedule->absent_rank != NULL) {
        fprintf(stderr, "warning: %s; `rocesim run` refuses the file\n",
                workload->schedule->absent_rank);
    }
    if (workload->schedule->refusal != NULL) {
        fprintf(stderr, "warning: %s: %s\n", workload->name, workload->schedule->refusal);
    }
    for (size_t i = 0; i < workload->schedule->note_count; i++) {
        if (is_warning(workload->schedule->notes[i])) {
            fprintf(stderr, "%s\n", workload->schedule->notes[i]);
        }
    }
    if (counts->unmatched_sends + counts->unmatched_recvs + counts->stuck > 0) {
        fprintf(stderr,
                "warning: %s: the schedule may not come to an end: sends without a receive: "
                "%" PRIu64 "; receives without a send: %" PRIu64
                "; operations that wait for each other or for a rank that never calls: %" PRIu64
                "\n",
                workload->name, counts->unmatched_sends, counts->unmatched_recvs, counts->stuck);
        app__schedule_print_problems(workload->schedule, TOLD_MAX, warn_operation,
                                     (void *)(uintptr_t)workload->name);
    } else if (workload->summary.unfinished > 0) {
        fprintf(stderr,
                "warning: %s: %" PRIu64 " operation%s not finish on an ideal network: a receive "
                "with a wildcard takes a message that another one waits for\n",
                workload->name, workload->summary.unfinished,
                workload->summary.unfinished == 1 ? " does" : "s do");
    }
    if (counts->size_mismatches > 0) {
        fprintf(stderr, "warning: %s: %" PRIu64 " receive%s another size than the message\n",
                workload->name, counts->size_mismatches,
                counts->size_mismatches == 1 ? " has" : "s have");
    }
}

// Adds what the format's reader says about the file.
static void set_facts(json_t *object, const app__schedule_t *schedule)
{
    json_t *const notes = json_array();
    for (size_t i = 0; i < schedule->fact_count; i++) {
        const app__fact_t *const fact = &schedule->facts[i];
        json_object_set_new(object, fact->name,
                            fact->text != NULL ? json_string(fact->text)
                                               : json_integer((json_int_t)fact->number));
    }
    for (size_t i = 0; i < schedule->note_count; i++) {
        json_array_append_new(notes, json_string(schedule->notes[i]));
    }
    json_object_set_new(object, "notes", notes);
}

static void set_ns(json_t *object, const char *name, sim_time_t time_ps)
{
    json_object_set_new(object, name, json_real((double)time_ps / SIM_PS_PER_NS));
}

static json_t *workload_json(const workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    const app__workload_summary_t *const summary = &workload->summary;
    json_t *const object = json_object();
    json_object_set_new(object, "file", json_string(workload->name));
    json_object_set_new(object, "format", json_string(workload->format->name));
    cli_json_set(object, "ranks", workload->schedule->rank_count);
    cli_json_set(object, "sends", counts->sends);
    cli_json_set(object, "recvs", counts->recvs);
    cli_json_set(object, "calcs", counts->calcs);
    cli_json_set(object, "collective_parts", counts->colls);
    cli_json_set(object, "collectives", workload->schedule->call_count);
    cli_json_set(object, "bytes", counts->bytes);
    cli_json_set(object, "calc_ns", counts->calc_ns);
    cli_json_set(object, "requires", counts->requires);
    cli_json_set(object, "irequires", counts->irequires);
    cli_json_set(object, "max_cpu", counts->cpu_max);
    cli_json_set(object, "max_nic", counts->nic_max);
    cli_json_set(object, "min_msg", summary->message_bytes_min);
    cli_json_set(object, "max_msg", summary->message_bytes_max);
    cli_json_set(object, "distinct_sizes", summary->message_sizes);
    cli_json_set(object, "collective_messages", summary->call_messages);
    json_object_set_new(object, "collective_bytes", json_real(summary->call_bytes));
    cli_json_set(object, "depth", counts->depth);
    cli_json_set(object, "matched", counts->sends - counts->unmatched_sends);
    cli_json_set(object, "unmatched_sends", counts->unmatched_sends);
    cli_json_set(object, "unmatched_recvs", counts->unmatched_recvs);
    cli_json_set(object, "size_mismatch", counts->size_mismatches);
    cli_json_set(object, "stuck", counts->stuck);
    set_ns(object, "bound_path_ns", summary->path_ps);
    set_ns(object, "bound_cpu_ns", summary->cpu_ps);
    set_ns(object, "bound_nic_tx_ns", summary->nic_send_ps);
    set_ns(object, "bound_nic_rx_ns", summary->nic_receive_ps);
    if (summary->estimated) {
        set_ns(object, "estimate_ns", summary->estimate_ps);
        cli_json_set(object, "estimate_unfinished", summary->unfinished);
    }
    set_facts(object, workload->schedule);
    return object;
}

static int describe(const workload_t *workload, bool json)
{
    if (json) {
        json_t *const object = workload_json(workload);
        cli_print_json(object);
    } else {
        print_workload(workload);
    }
    warn(workload);
    if (workload->schedule->flaw != NULL) {
        fprintf(stderr, "%s\n", workload->schedule->flaw);
    }
    return cli_finish_output(workload->schedule->flaw == NULL ? CLI_EXIT_DONE : CLI_EXIT_BAD_INPUT);
}

static int check_file(const cli_args_t *args, const app__workload_file_t *file)
{
    check_config_t config;
    world_error_t error;
    sim_message_t message = {.text = ""};
    app__schedule_t *schedule = NULL;
    workload_t workload = {.name = file->name, .format = app__format_of(file)};
    sim_attrs_default(&table, &config);
    int status = CLI_EXIT_BAD_INPUT;
    if (take_overrides(args, &config, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    app__workload_file_t complete = *file;
    complete.ranks = (uint32_t)config.ranks;
    complete.own_operations_max = OWN_OPERATIONS_MAX;
    if (app__format_read(&complete, &schedule, &message) != SIM_OK) {
        fprintf(stderr, "%s\n", message.text);
    } else {
        workload.schedule = schedule;
        app__workload_summarise(schedule, &config.loggp, NULL, &workload.summary);
        status = describe(&workload, args->json);
        app__schedule_destroy(schedule);
    }
    return status;
}

// The kind of a file, found by its content.
typedef enum kind {
    KIND_SCENARIO, // or no file that can be read at once
    KIND_REQUESTS,
    KIND_NCCL,
    KIND_FOREIGN,
    KIND_TOPOLOGY, // that topology.file reads
    KIND_OTHER,    // in no known format
    KIND_WORKLOAD,
    KIND_MATRIX,
    KIND_SIZES
} kind_t;

// Recognises the files of a real fabric.
static bool is_of_import(const app__workload_file_t *file, cli_peer_t *peer)
{
    const char *const what = cli_import_format(file->name, file->text, file->size_bytes);
    if (what != NULL) {
        *peer = (cli_peer_t){.use = "rocesim import FILE -o SCENARIO makes a scenario of it"};
        (void)snprintf(peer->what, sizeof(peer->what), "%s", what);
    }
    return what != NULL;
}

static kind_t kind_of(const app__workload_file_t *file, cli_peer_t *peer)
{
    const char *const text = file->text;
    const size_t size = file->size_bytes;
    if (text == NULL) {
        return KIND_SCENARIO;
    }
    if (cli_requests_is(text, size)) {
        return KIND_REQUESTS;
    }
    if (cli_nccl_is(text, size)) {
        return KIND_NCCL;
    }
    const app__format_t *const format = app__format_of(file);
    const bool scenario = format == NULL && cli_is_scenario(file->name, text, size);
    // MSCCL's reader takes every XML.
    if ((format == NULL || format == &app__format_msccl) && !scenario &&
        (is_of_import(file, peer) || cli_peer_of(text, size, peer))) {
        return peer->is_topology ? KIND_TOPOLOGY : KIND_FOREIGN;
    }
    const bool other_xml = format == &app__format_msccl && !cli_has_word(text, size, "<algo");
    if ((format != NULL && !other_xml) || scenario) {
        return format != NULL ? KIND_WORKLOAD : KIND_SCENARIO;
    }
    if (cli_matrix_is(text, size) || cli_sizes_is(text, size)) {
        return cli_matrix_is(text, size) ? KIND_MATRIX : KIND_SIZES;
    }
    cli_peer_unknown(text, size, peer);
    return KIND_OTHER;
}

// Reads a topology of another simulator as topology.file does. Prints what is wrong with it.
static bool is_sound_topology(const app__workload_file_t *file)
{
    topo_file_t *topology = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t result = topo_file_parse(TOPO_FILE_AUTO, file->name, file->text,
                                             file->size_bytes, NULL, NULL, &topology, &message);
    if (result != SIM_OK) {
        fprintf(stderr, "%s\n", message.text);
        return false;
    }
    topo_file_destroy(topology);
    return true;
}

bool cli_workload_check(const cli_args_t *args, int *status)
{
    size_t size = 0;
    const char *const name = args->operands[0];
    char *const text = read_regular(name, &size);
    const app__workload_file_t file = {
        .name = name,
        .text = text,
        .size_bytes = size,
        .read_file = read_beside,
    };
    cli_peer_t peer = {.use = NULL};
    const kind_t kind = kind_of(&file, &peer);
    switch (kind) {
    case KIND_REQUESTS:
        *status = cli_requests_check(name, text, size, args->json);
        break;
    case KIND_NCCL:
        *status = cli_nccl_check(name, text, size, args->json);
        break;
    case KIND_TOPOLOGY:
    case KIND_FOREIGN:
    case KIND_OTHER:
        if (kind != KIND_TOPOLOGY || is_sound_topology(&file)) {
            fprintf(stderr, "%s:1:1: the file is %s, expected a scenario or a workload: %s\n", name,
                    peer.what, peer.use);
        }
        *status = CLI_EXIT_BAD_INPUT;
        break;
    case KIND_WORKLOAD:
        *status = check_file(args, &file);
        break;
    case KIND_MATRIX:
        *status = cli_matrix_check(name, text, size, args->json);
        break;
    case KIND_SIZES:
        *status = cli_sizes_check(name, text, size, args->json);
        break;
    case KIND_SCENARIO:
        break;
    }
    sim_free(text);
    return kind != KIND_SCENARIO;
}

// Finds the kind of a file and, of one that a scenario uses, what it is called.
static kind_t describe_kind(const char *name, cli_peer_t *peer)
{
    static const cli_peer_t used[] = {
        [KIND_REQUESTS] = {.what = "a trace of requests",
                           .use = "traffic of kind serving reads it as trace: FILE",
                           false},
        [KIND_NCCL] = {.what = "a server in NCCL's XML", .use = "rocesim check describes it"},
        [KIND_WORKLOAD] = {.what = "a workload or the algorithm of a collective",
                           .use = "rocesim check describes it, and a scenario uses it as traffic: "
                                  "[{workload: {file: FILE}}] or as algorithm-file",
                           false},
        [KIND_MATRIX] = {.what = "a list of flows",
                         .use = "a scenario uses it as traffic: [{flows: {file: FILE}}]"},
        [KIND_SIZES] = {.what = "a distribution of flow sizes",
                        .use = "poisson and other traffic read it as sizes: FILE"},
    };
    size_t size = 0;
    char *const text = read_regular(name, &size);
    const app__workload_file_t file = {.name = name, .text = text, .size_bytes = size};
    const kind_t kind = kind_of(&file, peer);
    if (kind < SIM_COUNT_OF(used) && used[kind].use != NULL) {
        *peer = used[kind];
    }
    sim_free(text);
    return kind;
}

bool cli_workload_instead(const char *name)
{
    cli_peer_t peer = {.use = NULL};
    const kind_t kind = describe_kind(name, &peer);
    if (kind != KIND_SCENARIO) {
        fprintf(stderr, "%s:1:1: the file is %s, expected a scenario: %s\n", name, peer.what,
                peer.use);
    }
    return kind != KIND_SCENARIO;
}

char *cli_workload_kind(const char *path)
{
    cli_peer_t peer = {.use = NULL};
    const kind_t kind = describe_kind(path, &peer);
    if (kind == KIND_SCENARIO) {
        peer = (cli_peer_t){.what = "a scenario, or nearly one", .use = "rocesim run runs it"};
    }
    size_t size = 0;
    char *const text = read_regular(path, &size); // NULL also where it is compressed by others
    sim_free(text);
    return kind == KIND_OTHER || text == NULL
               ? NULL
               : sim_format("the file is %s: %s", peer.what, peer.use);
}

// -- rocesim convert

static int write_output(const char *name, const char *bytes, size_t size)
{
    FILE *const out = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");
    bool good = out != NULL && fwrite(bytes, 1, size, out) == size && fflush(out) == 0;
    const int reason = errno;
    if (out != NULL && out != stdout) {
        good = fclose(out) == 0 && good;
    }
    if (!good) {
        fprintf(stderr, "rocesim convert: cannot write %s: %s\n", name, strerror(reason));
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}

static int convert(const cli_args_t *args, const app__workload_file_t *file)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    if (app__format_read(file, &schedule, &message) != SIM_OK) {
        world_error_t error;
        (void)world_fail(&error, SIM_ERR_INVALID, NULL, "%s", message.text);
        world_error_about(&error, file->name, file->name);
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    int status = CLI_EXIT_BAD_INPUT;
    if (schedule->counts.colls > 0) {
        fprintf(stderr,
                "%s: the workload has collectives, expected one of sends, receives and "
                "computations, which GOAL can hold\n",
                file->name);
    } else {
        char *bytes = NULL;
        size_t size = 0;
        if (app__format_of(file) == &app__format_goal_binary) {
            app__goal_write_text(schedule, &bytes, &size);
        } else {
            app__goal_write_binary(schedule, &bytes, &size);
        }
        status = write_output(args->folder, bytes, size);
        sim_free(bytes);
    }
    app__schedule_destroy(schedule);
    return status;
}

int cli_command_convert(const cli_args_t *args)
{
    world_error_t error;
    char *text = NULL;
    size_t size = 0;
    if (args->folder == NULL) {
        fprintf(stderr, "rocesim convert: -o is missing, expected -o FILE, or -o - for the "
                        "standard output\n");
        return CLI_EXIT_BAD_INPUT;
    }
    if (world_read_file(args->operands[0], FILE_BYTES_MAX, &text, &size, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    const app__workload_file_t file = {
        .name = args->operands[0],
        .text = text,
        .size_bytes = size,
        .read_file = read_beside,
    };
    const int status = convert(args, &file);
    sim_free(text);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// apps/programs/program.c - programs as an application: attributes, creation and report
// (docs/models/programs.md).
#define _GNU_SOURCE
#include "apps/programs/files.h"
#include "apps/programs/management/servers.h"
#include "apps/programs/process_verbs.h"
#include "apps/programs/threads/forks.h"
#include "apps/programs/turns.h"
#include "apps/programs/verbs/events.h"
#include "apps/programs/verbs/foresight.h"
#include "apps/programs/verbs/posts.h"

#include "apps/report_rows.h"
#include "kernel/parse.h"
#include "kernel/steps.h"
#include "nic/device.h"
#include "nic/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "traffic.programs"
#define NUMBERS_MAX (1u << 16) // programs of a host
#define INLINE_MAX 1024u       // bytes of an inline payload, where the NIC sets no limit
#define AHEAD_PS SIM_PS_PER_US
#define DEVICE_MAX 11u  // characters of programs.device
#define LIDS_MAX 49151u // IBA vol. 1, 4.1.3: unicast LIDs

typedef struct program_config {
    char *host;
    char *command;
    sim_time_t start_ps;
    sim_time_t kill_ps; // SIM_TIME_NEVER: it is not killed
} program_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(program_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "host", host, "host0", "host on which the program runs"),
    ATTR(STRING, "command", command, "ib_write_bw", "command of the program, in words as a shell would split them, but without a shell: nothing in it is replaced"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "simulated time at which the program starts"),
    ATTR(TIME, "kill", kill_ps, "never", "0s", NULL, "simulated time at which the program is killed, as by SIGKILL, if it still runs; the run does not fail because of it"),
};

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(app_programs_config_t, __VA_ARGS__)
static const sim_attr_t shared_attrs[] = {
    ATTR(TIME, "programs.socket-latency", socket_latency_ps, "20us", "2ps", "10s", "time from a program's write to a stream socket until the other program can read the bytes"),
    ATTR(TIME, "programs.clock", clock_ps, "1ns", "1ps", "1ms", "time that a program takes for one look at a clock, if it makes more than 32 in a row; others take none, and show a later time than the look before"),
    ATTR(TIME, "programs.call", call_ps, "100ns", "0ps", "1ms", "time that a program takes for a call that is neither a look at a clock, a post nor a poll, such as the registration of memory"),
    ATTR(TIME, "programs.post", post_ps, "1ps", "0ps", "1ms", "time that a program takes for posting a work request to an ideal NIC; with a detailed NIC nic.detailed.cpu.* says it"),
    ATTR(TIME, "programs.poll", poll_ps, "1ps", "0ps", "1ms", "time that a program takes for a poll of a completion queue of an ideal NIC; with a detailed NIC nic.detailed.cpu.* says it"),
    ATTR(STRING, "programs.compute", compute, "none", "simulated time for what a program computes: none, or \"measured x FACTOR\", the processor time that it took times the factor; a run with measured times cannot be repeated exactly"),
    ATTR(COUNT, "programs.tsc", tsc_hz, "2000000000", "1000000", "10000000000", "rate of the time stamp counter that programs read, in Hz"),
    ATTR(TIME, "programs.epoch", epoch_ps, "0s", "0s", NULL, "clock of the hosts at the beginning of the simulation, as the time since midnight of 1 January 2026 UTC"),
    ATTR(BOOL, "programs.infiniband", infiniband, "off", "whether programs see ports of InfiniBand, and name peers by LIDs: 1 for the first NIC of the network, 2 for the second; packets stay those of RoCE v2"),
    ATTR(STRING, "programs.device", device, "rocesim", "name of verbs devices, without the number: with mlx5_ the first one of a host is mlx5_0"),
    ATTR(BOOL, "programs.huge-pages", huge_pages, "on", "whether hosts have huge pages: shmget() with SHM_HUGETLB and mmap() with MAP_HUGETLB give memory at a multiple of the size of a page, 2 MiB if they name none; off: they fail with ENOMEM"),
    ATTR(COUNT, "programs.cores", cores, "64", "1", "1024", "number of cores of each host, as programs see it; each thread has a core of its own in any case"),
    ATTR(TIME, "programs.patience", patience_ps, "60s", "1s", "10000s", "real time that a program may take between two calls before it is ended"),
    ATTR(BYTES, "programs.memory-max", memory_max_bytes, "16GiB", "0", "64TiB", "maximum size of the address space of one program; 0: no limit"),
    ATTR(BYTES, "programs.output-max", output_max_bytes, "256MiB", "1KiB", "1TiB", "maximum size of a file that a program writes, its output included"),
    ATTR(COUNT, "programs.flows-max", flows_max, "100000", "0", "100000000", "maximum number of flows of each program in flows.csv: the first ones"),
    ATTR(BOOL, "programs.ssh", ssh, "off", "whether programs start commands on other hosts by `ssh`, as mpirun does"),
    ATTR(STRING, "programs.environment", environment, "", "variables of the programs' environment, NAME=VALUE separated by blanks, besides PATH, HOME, USER and LANG"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", program_config_t, attrs);
const sim_attr_table_t app_programs_attrs =
    SIM_ATTR_TABLE("programs", "simulation", app_programs_config_t, shared_attrs);

uint64_t app_programs_compute_permille(const char *text)
{
    if (strcmp(text, "none") == 0) {
        return 0;
    }
    sim_ratio_t factor;
    sim_message_t message;
    const char *const start = "measured x ";
    if (strncmp(text, start, strlen(start)) != 0 ||
        sim_parse_ratio(text + strlen(start), &factor, &message) != SIM_OK || factor.den == 0) {
        return UINT64_MAX;
    }
    return factor.num * 1000 / factor.den;
}

// -- words of a command

// Returns whether a word without quotes is something that only a shell understands: `|`, `&&`, `;`,
// `>file` or `2>&1`. No such word is meant as an argument.
static bool is_for_shell(const char *word)
{
    const size_t digits = strspn(word, "0123456789");
    return strchr("|&;", word[0]) != NULL || word[digits] == '<' || word[digits] == '>';
}

// Splits a command into words: blanks separate them, quotes and backslashes keep blanks. Returns
// what is wrong with it, or NULL. Ends with NULL; free each word and the array.
static const char *split(const char *command, char ***words)
{
    const char *wrong = NULL;
    bool plain = true;
    size_t count = 0;
    size_t capacity = 0;
    char **list = NULL;
    char *const word = sim_alloc(strlen(command) + 1);
    size_t length = 0;
    bool inside = false;
    char quote = '\0';
    for (const char *at = command;; at++) {
        if (*at == '\0' || (quote == '\0' && strchr(" \t\n", *at) != NULL)) {
            if (inside) {
                word[length] = '\0';
                SIM_APPEND(list, count, capacity, sim_strdup(word));
                if (plain && is_for_shell(word)) {
                    wrong = "no shell reads it, expected quotes around |, &, ;, < and >, or sh -c "
                            "'...'";
                }
            }
            inside = false;
            plain = true;
            length = 0;
            if (*at == '\0') {
                break;
            }
            continue;
        }
        inside = true;
        plain = plain && strchr("\\'\"", *at) == NULL;
        if (*at == quote) {
            quote = '\0';
        } else if (quote == '\0' && (*at == '\'' || *at == '"')) {
            quote = *at;
        } else if (*at == '\\' && quote != '\'' && at[1] != '\0') {
            word[length++] = *++at;
        } else {
            word[length++] = *at;
        }
    }
    sim_free(word);
    SIM_APPEND(list, count, capacity, NULL);
    *words = list;
    return quote != '\0'     ? "a quote is not closed"
           : list[0] == NULL ? "the command has no words"
                             : wrong;
}

static void free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        sim_free(words[i]);
    }
    sim_free((void *)words);
}

// -- starting

static void fill_device(const app__program_t *program, uint8_t index, program_device_t *device)
{
    nic_t *const nic = nic_at(program->node, index);
    const nic_config_t *const config = nic_get_config(nic);
    const uint32_t interface = nic_interface(nic);
    (void)snprintf(device->name, sizeof(device->name), "%s%u", program->config->device, index);
    app__gid_of_interface(program->app.net, interface, device->gid);
    net_port_mac(net_interface_port(program->app.net, interface), device->mac);
    const uint8_t *const mac = device->mac;
    const uint8_t guid[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
    for (size_t i = 0; i < sizeof(guid); i++) {
        device->guid = device->guid << 8 | guid[i];
    }
    device->rate_bps = nic_rate_bps(nic);
    device->mtu_bytes = (uint32_t)config->mtu_bytes;
    device->inline_max = SIM_MIN(nic_inline_max(nic), INLINE_MAX);
    device->atomics = nic_transport_refuses(config, NIC_WR_ATOMIC_CMP_AND_SWP) == NULL;
    device->max_rd_atomic = (uint32_t)config->max_rd_atomic;
    device->lid = program->config->infiniband ? interface + 1 : 0;
}

static void fill_shared(app__program_t *program, program_shared_t *shared)
{
    const net_t *const net = program->app.net;
    const app_programs_config_t *const config = program->config;
    // 1 January 2026: whole seconds of Unix time.
    const uint64_t epoch_s = UINT64_C(1767225600);
    shared->device_count = SIM_MIN(nic_count(program->node), PROGRAM_DEVICES_MAX);
    bool ideal = true;
    for (uint32_t i = 0; i < shared->device_count; i++) {
        fill_device(program, (uint8_t)i, &shared->devices[i]);
        ideal = ideal && nic_device_of(nic_at(program->node, i)) == &nic_device_ideal;
    }
    (void)snprintf(shared->host_name, sizeof(shared->host_name), "%s", program->node->sim.name);
    shared->host_count = net_interface_count(net);
    program_host_t *const hosts = (program_host_t *)(void *)(shared + 1);
    for (uint32_t i = 0; i < shared->host_count; i++) {
        (void)snprintf(hosts[i].name, sizeof(hosts[i].name), "%s",
                       net_interface_node(net, i)->sim.name);
        app__gid_of_interface(net, i, hosts[i].address);
    }
    shared->epoch_ns = epoch_s * UINT64_C(1000000000) + config->epoch_ps / 1000;
    shared->tsc_hz = config->tsc_hz;
    shared->clock_ps = config->clock_ps;
    shared->call_ps = config->call_ps;
    shared->huge_pages = config->huge_pages;
    program->detailed = !ideal;
    shared->post_ps = ideal ? config->post_ps : PROGRAM_NEVER;
    shared->poll_ps = ideal ? config->poll_ps : PROGRAM_NEVER;
    shared->compute_permille = app_programs_compute_permille(config->compute);
    shared->ahead_ps = AHEAD_PS;
    shared->cores = (uint32_t)config->cores;
    shared->memory_max_bytes = config->memory_max_bytes;
    shared->seed = sim_mix64(sim_options(net_sim(net))->seed ^
                             ((uint64_t)program->node->sim.index << 20 | program->number));
    shared->now_ps = nic_core_now_ps(program->core);
    shared->bell = program->thread->bell;
}

// Makes the file of the program's trace, if there is to be one.
static sim_err_t begin_trace(app__program_t *program, sim_message_t *message)
{
    const app_programs_t *const permission = program->permission;
    if (!permission->traces) {
        return SIM_OK;
    }
    const char *const folder = app__files_traces(program);
    if (folder != NULL) {
        program->trace_path = sim_format("%s/XXXXXX", folder);
        program->trace = mkostemp(program->trace_path, O_CLOEXEC);
    }
    return program->trace >= 0
               ? SIM_OK
               : sim_fail(message, SIM_ERR_IO, "the file of its trace cannot be made in %s: %s",
                          permission->scratch, strerror(errno));
}

// Returns the variables of the program's environment, to be freed.
static char *environment_of(const app__program_t *program)
{
    const char *const own = program->config->environment;
    return program->trace < 0 ? sim_strdup(own == NULL ? "" : own)
                              : sim_format("%s %s=%s", own == NULL ? "" : own,
                                           PROGRAM_TRACE_ENVIRONMENT, program->trace_path);
}

static void end_trace(app__program_t *program)
{
    if (program->trace >= 0) {
        (void)close(program->trace);
        (void)unlink(program->trace_path);
    }
    sim_free(program->trace_path);
}

sim_err_t app__program_start(app__program_t *program, sim_message_t *message)
{
    const app_programs_t *const permission = program->permission;
    sim_err_t error = begin_trace(program, message);
    if (error != SIM_OK) {
        return error;
    }
    char *const environment = environment_of(program);
    const app__process_plan_t plan = {
        .words = program->words,
        .path = permission->path,
        .home = permission->home,
        .temporary = app__files_temporary(program),
        .verbs_folder = permission->verbs_folder,
        .environment = environment,
        .output_max_bytes = program->config->output_max_bytes,
        .host_count = net_interface_count(program->app.net),
        .allowed = program->allowed,
    };
    error = app__process_create(&plan, &program->process, message);
    if (error == SIM_OK) {
        program->first_process = program->process;
        program->process->number = program->number;
        fill_shared(program, program->process->shared);
        error = app__process_start(program->process, &plan, message);
    }
    sim_free(environment);
    return error;
}

// -- the application

static sim_err_t refuse(const app_context_t *context, const program_config_t *config,
                        sim_message_t *message)
{
    if (context->programs == NULL || context->program) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "the scenario would start \"%s\" on %s as a process of this machine; that "
                        "needs `--programs` with `rocesim run`, `sweep` or `expect`",
                        config->command, config->host);
    }
    if (context->programs->start && context->programs->verbs_folder == NULL) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "programs cannot run: this rocesim was built without their library, which "
                        "needs libibverbs-dev and Linux on x86-64");
    }
    if (app_programs_compute_permille(context->programs_config->compute) == UINT64_MAX) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "programs.compute is \"%s\", expected none or \"measured x FACTOR\"",
                        context->programs_config->compute);
    }
    const char *const device = context->programs_config->device;
    if (device[0] == '\0' || strlen(device) > DEVICE_MAX || strpbrk(device, "/ \t\n") != NULL) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "programs.device is \"%s\", expected a name of 1 to %u characters without "
                        "slashes and blanks",
                        device, DEVICE_MAX);
    }
    if (context->programs_config->infiniband && net_interface_count(context->net) > LIDS_MAX) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "programs.infiniband is on, but the network has %zu NICs, and there are "
                        "only %u LIDs",
                        net_interface_count(context->net), LIDS_MAX);
    }
    return SIM_OK;
}

// Makes a program of a host. Takes `words`.
static app__program_t *make_program(const app_context_t *context, net_node_t *node,
                                    const program_config_t *config, char **words)
{
    app__program_t *const program = sim_alloc(sizeof(*program));
    *program = (app__program_t){
        .app = {&app_program, context->net, context->index},
        .host_name = sim_strdup(node->sim.name),
        .command = sim_strdup(config->command),
        .words = words,
        .start_ps = config->start_ps,
        .permission = context->programs,
        .config = context->programs_config,
        .runtime = context->runtime,
        .node = node,
        .trace = -1,
        .ended_ps = SIM_TIME_NEVER,
        .begun_ps = SIM_TIME_NEVER,
    };
    if (context->programs->start) {
        program->sockets =
            app__runtime_sockets(context->runtime, program->config->socket_latency_ps);
        app__sockets_join(program->sockets, node);
        program->manager = app__cmas_of(app__runtime_managers(context->runtime), node);
        program->files = app__runtime_files(context->runtime);
        program->segments = app__segments_of(app__runtime_segments(context->runtime), node);
        app__program_init_control(program, config->kill_ps);
        program->chain = app__program_chain();
        app__processors_allowed(program->allowed);
        program->awaited = sim_alloc(sizeof(*program->awaited));
        program->thread = app__thread_add(program, -1);
        program->core = program->thread->core;
        program->flows.rows_max = program->config->flows_max;
        program->flows.first_id = app__reserve_flow_ids(context->runtime, program->flows.rows_max);
    }
    return program;
}

app__program_t *app__server_create(const app_context_t *context, net_node_t *node)
{
    char **const words = sim_alloc_array(2, sizeof(*words));
    words[0] = sim_strdup(context->programs->server);
    char command[] = "sshd";
    const program_config_t config = {.command = command, .kill_ps = SIM_TIME_NEVER};
    app__program_t *const server = make_program(context, node, &config, words);
    server->serves = true;
    return server;
}

// Makes the servers of ssh, if programs may want them and there are none yet.
static void open_servers(const app_context_t *context)
{
    app__servers_t **const servers = app__runtime_servers(context->runtime);
    if (context->programs_config->ssh && *servers == NULL) {
        *servers = app__servers_create(context);
    }
}

static sim_err_t program_create(const app_context_t *context, const void *config_void, app_t **app,
                                sim_message_t *message)
{
    const program_config_t *const config = config_void;
    sim_err_t error = refuse(context, config, message);
    app_hosts_t hosts = {0};
    char **words = NULL;
    const char *const wrong = error == SIM_OK ? split(config->command, &words) : NULL;
    if (wrong != NULL) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "command", ": \"%s\" is no command: %s",
                               config->command, wrong);
    }
    if (error == SIM_OK) {
        error = context->hosts(config->host, &hosts, message, context->ctx);
    }
    net_node_t *const node =
        error == SIM_OK ? net_interface_node(context->net, hosts.interfaces[0]) : NULL;
    for (size_t i = 1; i < hosts.count && error == SIM_OK; i++) {
        if (net_interface_node(context->net, hosts.interfaces[i]) != node) {
            error = sim_fail_about(message, SIM_ERR_INVALID, "host",
                                   ": %s names several hosts, expected one", config->host);
        }
    }
    sim_free(hosts.interfaces);
    if (error != SIM_OK) {
        free_words(words);
        return error;
    }
    app__program_t *const program = make_program(context, node, config, words);
    if (context->programs->start) {
        program->number = app__sockets_number(program->sockets, node);
        app__program_listen(program);
        nic_core_start(program->core, config->start_ps);
        sim_touch(&node->sim); // it may be added between two steps
        open_servers(context);
    }
    *app = &program->app;
    return SIM_OK;
}

static void program_destroy(app_t *app)
{
    app__program_t *const program = (app__program_t *)(void *)app;
    app_programs_stop(app);
    app__forks_destroy(program);
    app__process_destroy(program->first_process);
    end_trace(program);
    for (size_t i = 0; i < program->cq_count; i++) {
        SIM_FREE_ALL(program->cqs[i]->taken, program->cqs[i]->times, program->cqs[i]);
    }
    sim_free_each(program->srqs, program->srq_count);
    for (size_t i = 0; i < program->qp_count; i++) {
        sim_free(program->qps[i]->flows);
        sim_free(program->qps[i]);
    }
    sim_free_each(program->timers, program->timer_count);
    sim_free((void *)program->cqs);
    sim_free((void *)program->srqs);
    sim_free((void *)program->qps);
    sim_free((void *)program->timers);
    app__threads_destroy(program);
    SIM_FREE_ALL(program->awaited, program->pds, program->mrs, program->numbers, program->events,
                 program->flows.rows, program->chain);
    app__foresight_destroy(program);
    sim_map_fini(&program->mr_of_key);
    sim_map_fini(&program->qp_of_number);
    sim_free((void *)program->own_sockets.sockets);
    free_words(program->words);
    SIM_FREE_ALL(program->host_name, program->command, program);
}

bool app__program_failed(const app__program_t *program)
{
    return program->state != APP__PR_ENDED ||
           (!program->killed && (program->ends_badly || program->status != 0));
}

static void progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    *done = program->state == APP__PR_ENDED;
    *planned = 1;
}

// -- results

static void report_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    for (size_t i = 0; i < program->qp_count; i++) {
        if (program->qps[i]->qp != NULL) {
            app__pr_flows_settle(&program->flows, program->qps[i]);
        }
    }
    app__pr_flows_report(&program->flows, app->net, app->ops->name, fn, ctx);
}

static uint64_t flows_left_out(const app_t *app)
{
    const app__pr_flows_t *const flows = &((const app__program_t *)(const void *)app)->flows;
    return flows->begun - flows->row_count;
}

static void warn(const app_t *app, void (*write_text)(const char *text, void *ctx), void *ctx)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    const app__pr_flows_t *const flows = &program->flows;
    if (flows->begun > flows->row_count) {
        char *const text = sim_format(
            "warning: flows.csv has the first %zu of %" PRIu64 " flows of the program %s-%u, since "
            "programs.flows-max is %" PRIu64 "\n",
            flows->row_count, flows->begun, program->host_name, program->number, flows->rows_max);
        write_text(text, ctx);
        sim_free(text);
    }
}

const char *app__program_describe_end(const app__program_t *program)
{
    return program->state == APP__PR_WAITS_FOR_START
               ? "the program was not started: the run ended before the start time"
               : program->end.text;
}

static const char *failure(const app_t *app)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    return app__program_failed(program) ? app__program_describe_end(program) : NULL;
}

typedef struct report {
    const char *host;
    const char *command;
    const char *end;
    uint64_t number;
    uint64_t exit_status;
    bool succeeded;
    double start_us;
    double end_us;
    uint64_t calls;
    uint64_t posts;
    uint64_t polls;
    uint64_t socket_bytes;
    uint64_t flows;
} report_t;

static double microseconds(sim_time_t time_ps)
{
    return time_ps == SIM_TIME_NEVER ? (double)NAN : (double)time_ps / (double)SIM_PS_PER_US;
}

static void fill_report(const void *object, void *to)
{
    const app__program_t *const program = object;
    const bool exited = program->state == APP__PR_ENDED && WIFEXITED(program->status);
    *(report_t *)to = (report_t){
        .host = program->host_name,
        .command = program->command,
        .end = app__program_describe_end(program),
        .number = program->number,
        .exit_status = exited ? (uint64_t)WEXITSTATUS(program->status) : 128,
        .succeeded = !app__program_failed(program),
        .start_us = microseconds(program->begun_ps),
        .end_us = microseconds(program->ended_ps),
        .calls = program->calls,
        .posts = program->posts,
        .polls = program->polls,
        .socket_bytes = program->socket_bytes,
        .flows = program->flows.begun,
    };
}

// clang-format off
static const sim_report_row_t rows[] = {
    {"host", SIM_REPORT_STRING, "", "host on which the program ran", .offset = offsetof(report_t, host)},
    {"number", SIM_REPORT_U64, "", "number of the program among those of its host, as in the names of its output files", .offset = offsetof(report_t, number)},
    {"command", SIM_REPORT_STRING, "", "command of the program", .offset = offsetof(report_t, command)},
    {"end", SIM_REPORT_STRING, "", "how the program ended", .offset = offsetof(report_t, end)},
    {"exit_status", SIM_REPORT_U64, "", "exit status of the program; 128: it did not exit by itself", .offset = offsetof(report_t, exit_status)},
    {"succeeded", SIM_REPORT_BOOL, "", "whether the program ended by itself with status 0", .offset = offsetof(report_t, succeeded)},
    {"start_us", SIM_REPORT_REAL, "us", "simulated time at which the program started", .offset = offsetof(report_t, start_us)},
    {"end_us", SIM_REPORT_REAL, "us", "simulated time at which the program ended", .offset = offsetof(report_t, end_us)},
    {"calls", SIM_REPORT_U64, "", "number of calls that the simulator answered", .offset = offsetof(report_t, calls)},
    {"posts", SIM_REPORT_U64, "", "number of work requests that the program posted", .offset = offsetof(report_t, posts)},
    {"polls", SIM_REPORT_U64, "", "number of polls that reached the simulator", .offset = offsetof(report_t, polls)},
    {"socket_bytes", SIM_REPORT_U64, "bytes", "bytes that the program received through stream sockets", .offset = offsetof(report_t, socket_bytes)},
    {"flows", SIM_REPORT_U64, "", "number of flows of the program, with those that programs.flows-max leaves out", .offset = offsetof(report_t, flows)},
};
// clang-format on

static const sim_report_table_t report_table = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(report_t),
    .fill = fill_report,
};

static void print_file(int file, void (*write_text)(const char *text, void *ctx), void *ctx)
{
    char line[1024];
    FILE *const stream = fdopen(dup(file), "r");
    if (stream == NULL) {
        return;
    }
    rewind(stream);
    while (fgets(line, sizeof(line), stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *const text = sim_format("    %s\n", line);
        write_text(text, ctx);
        sim_free(text);
    }
    (void)fclose(stream);
}

static void print(const app_t *app, void (*write_text)(const char *text, void *ctx), void *ctx)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    if (program->serves && program->killed) {
        return; // its commands have printed into their programs' output
    }
    char *const text =
        sim_format("  program   %s-%u \"%s\": %s\n", program->host_name, program->number,
                   program->command, app__program_describe_end(program));
    write_text(text, ctx);
    sim_free(text);
    if (program->process != NULL && !program->permission->keeps_output) {
        print_file(program->process->out, write_text, ctx);
        print_file(program->process->err, write_text, ctx);
    }
}

static void describe(const app_t *app, void (*write_text)(const char *text, void *ctx), void *ctx)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    char *const text = sim_format("`rocesim run --programs` starts \"%s\" on %s\n",
                                  program->command, program->host_name);
    write_text(text, ctx);
    sim_free(text);
}

const app_ops_t app_program = {
    .name = "programs",
    .help =
        "processes of this machine whose verbs, sockets and clock are those of a simulated host",
    .attrs = &attr_table,
    .create = program_create,
    .destroy = program_destroy,
    .flows = report_flows,
    .flows_left_out = flows_left_out,
    .progress = progress,
    .warn = warn,
    .describe = describe,
    .failure = failure,
    .report = &report_table,
    .print = print,
    .machine_command = "rocesim run --programs",
};

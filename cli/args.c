// SPDX-License-Identifier: Apache-2.0
// cli/args.c - reads the command line. Options stand before or after operands, with their value
// as the next word or after '='; every word behind -- is an operand.
#include "cli/args.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct option {
    const char *name;
    bool has_value;
    unsigned commands; // bit per cli_command_t
    // The attribute that the option sets. It is quoted if a scenario may have a parameter of that
    // name. NULL: apply_option handles the option.
    const char *override;
} option_t;

#define FOR_RUN (1u << CLI_RUN | 1u << CLI_HPCC)
#define FOR_FILE                                                                   \
    (1u << CLI_PLOT | 1u << CLI_SWEEP | 1u << CLI_CALIBRATE | 1u << CLI_CONVERT |  \
     1u << CLI_TIMELINE | 1u << CLI_SERVE | 1u << CLI_CAPTURE | 1u << CLI_EXPECT | \
     1u << CLI_IMPORT | 1u << CLI_ARENA | 1u << CLI_WHAT_IF | 1u << CLI_HEADROOM)
#define FOR_SCENARIO                                                                    \
    (FOR_RUN | 1u << CLI_CHECK | 1u << CLI_TOPO | 1u << CLI_SERVE | 1u << CLI_WHAT_IF | \
     1u << CLI_HEADROOM)
#define FOR_JOBS (1u << CLI_SWEEP | 1u << CLI_ARENA | 1u << CLI_WHAT_IF)
#define FOR_STEPS (1u << CLI_SHELL)
#define FOR_PLUGIN                                                                          \
    (1u << CLI_RUN | 1u << CLI_CHECK | 1u << CLI_TOPO | 1u << CLI_SERVE | 1u << CLI_SWEEP | \
     1u << CLI_PARAMS | 1u << CLI_SCHEMA | 1u << CLI_ARENA | 1u << CLI_WHAT_IF |            \
     1u << CLI_EXPECT | 1u << CLI_CALIBRATE | FOR_STEPS)

static const option_t options[] = {
    {"-o", true, FOR_RUN | FOR_FILE | FOR_STEPS, NULL},
    {"--output", true, FOR_RUN | FOR_FILE | FOR_STEPS, NULL},
    {"-j", true, FOR_JOBS, NULL},
    {"--jobs", true, FOR_JOBS, NULL},
    {"--cc", true, 1u << CLI_ARENA, NULL},
    {"--cells", true, 1u << CLI_ARENA, NULL},
    {"--quick", false, 1u << CLI_ARENA | 1u << CLI_SWEEP, NULL},
    {"--seeds", true, 1u << CLI_ARENA | 1u << CLI_SWEEP, NULL},
    {"--hidden-seed", true, 1u << CLI_ARENA, NULL},
    {"--baseline", true, 1u << CLI_ARENA, NULL},
    {"--list", false, 1u << CLI_ARENA, NULL},
    {"--show", true, 1u << CLI_ARENA, NULL},
    {"--print-jobs", false, 1u << CLI_SWEEP, NULL},
    {"--slurm", false, 1u << CLI_SWEEP, NULL},
    {"--kind", true, 1u << CLI_PLOT | 1u << CLI_WHAT_IF, NULL},
    {"--at", true, 1u << CLI_WHAT_IF, NULL},
    {"--response", true, 1u << CLI_HEADROOM, NULL},
    {"--length", true, 1u << CLI_HEADROOM, NULL},
    {"--cell", true, 1u << CLI_HEADROOM, NULL},
    {"--mtu", true, 1u << CLI_HEADROOM, NULL},
    {"--burst", true, 1u << CLI_HEADROOM, NULL},
    {"--x", true, 1u << CLI_PLOT, NULL},
    {"--y", true, 1u << CLI_PLOT, NULL},
    {"--app", true, 1u << CLI_PLOT | 1u << CLI_COMPARE, NULL},
    {"--seeds", false, 1u << CLI_COMPARE, NULL},
    {"--csv", false, 1u << CLI_COMPARE, NULL},
    {"--a", true, 1u << CLI_DIFF, NULL},
    {"--b", true, 1u << CLI_DIFF, NULL},
    {"--listen", true, 1u << CLI_SERVE, NULL},
    {"--token", true, 1u << CLI_SERVE, NULL},
    {"--clients", true, 1u << CLI_SERVE, NULL},
    {"--client-memory", true, 1u << CLI_SERVE, NULL},
    {"--call-time", true, 1u << CLI_SERVE, NULL},
    {"--idle-time", true, 1u << CLI_SERVE, NULL},
    {"--from", true, 1u << CLI_TIMELINE | 1u << CLI_CAPTURE, NULL},
    {"--to", true, 1u << CLI_TIMELINE | 1u << CLI_CAPTURE, NULL},
    {"--events", true, 1u << CLI_TIMELINE, NULL},
    {"--packet", true, 1u << CLI_CAPTURE, NULL},
    {"--explain", false, 1u << CLI_RUN, NULL},
    {"--programs", false, 1u << CLI_RUN | 1u << CLI_SWEEP | 1u << CLI_EXPECT | FOR_STEPS, NULL},
    {"--program-trace", false, 1u << CLI_RUN | 1u << CLI_SHELL, NULL},
    {"--what-if", false, 1u << CLI_EXPLAIN, NULL},
    {"--counters", true, 1u << CLI_EXPLAIN, NULL},
    {"--junit", true, 1u << CLI_EXPECT, NULL},
    {"--comments", false, 1u << CLI_CAPTURE, NULL},
    {"--etcd", true, 1u << CLI_META, NULL},
    {"--memcached", true, 1u << CLI_META, NULL},
    {"--plugin", true, FOR_PLUGIN, NULL},
    {"--plugin-limits", false, 1u << CLI_RUN | 1u << CLI_SWEEP | 1u << CLI_ARENA, NULL},
    {"--set", true, FOR_SCENARIO | FOR_STEPS | 1u << CLI_ARENA | 1u << CLI_SWEEP, NULL},
    {"--seed", true, FOR_SCENARIO | FOR_STEPS, "\"seed\""},
    {"--tie-seed", true, FOR_SCENARIO | FOR_STEPS, "\"tie-seed\""},
    {"--until", true, FOR_SCENARIO | FOR_STEPS, "\"until\""},
    {"--threads", true, FOR_SCENARIO, "\"threads\""},
    {"--routes", true, 1u << CLI_HPCC, "topology.file.routes"},
    {"--topology", true, 1u << CLI_HPCC, "topology.file.path"},
    {"--topology", true, 1u << CLI_SHELL, NULL},
    {"--flows", true, 1u << CLI_HPCC, "traffic[0].flows.file"},
    {"--ranks", true, 1u << CLI_RUN | 1u << CLI_SWEEP | 1u << CLI_CHECK, NULL},
    {"--print-slurm", false, 1u << CLI_RUN, NULL},
    {"--yes", false, FOR_SCENARIO | FOR_STEPS, NULL},
    {"--progress", true, FOR_RUN, NULL},
    {"--quiet", false, FOR_RUN | FOR_JOBS | 1u << CLI_IMPORT | 1u << CLI_CALIBRATE, NULL},
    {"--json", false,
     FOR_RUN | FOR_STEPS | 1u << CLI_PARAMS | 1u << CLI_CHECK | 1u << CLI_PLOT | 1u << CLI_CAPTURE |
         1u << CLI_EXPLAIN | 1u << CLI_LIST | 1u << CLI_SHOW | 1u << CLI_ARENA | 1u << CLI_WHAT_IF |
         1u << CLI_HEADROOM,
     NULL},
    {"--no-hosts", false, 1u << CLI_IMPORT, NULL},
    {"--links", true, 1u << CLI_IMPORT, NULL},
    {"--live", true, 1u << CLI_RUN, NULL},
    {"--pace", true, 1u << CLI_RUN, NULL},
    {"--markdown", false, 1u << CLI_PARAMS | 1u << CLI_IMPORT, NULL},
    {"--outputs-markdown", false, 1u << CLI_PARAMS, NULL},
    {"--man", false, 1u << CLI_HELP, NULL},
    {"--completion", true, 1u << CLI_HELP, NULL},
    {"--help", false, ~0u, NULL},
    {"-h", false, ~0u, NULL},
};

static const struct {
    const char *name;
    cli_command_t command;
    size_t operands_min;
    size_t operands_max;
    const char *operands; // the expected operands, for messages
} commands[] = {
    {"list", CLI_LIST, 0, 1, "at most one word"},
    {"show", CLI_SHOW, 1, 1, "the name of one scenario"},
    {"new", CLI_NEW, 2, 2, "the name of a scenario, and of the file that becomes its copy"},
    {"expect", CLI_EXPECT, 1, SIZE_MAX, "files of expectations"},
    {"run", CLI_RUN, 1, 1, "one scenario, a name or a file"},
    {"hpcc", CLI_HPCC, 1, 1, "one config file"},
    {"check", CLI_CHECK, 1, 1, "one scenario, a name or a file, or a file of a workload"},
    {"topo", CLI_TOPO, 1, 1, "one scenario, a name or a file"},
    {"params", CLI_PARAMS, 0, 1, "at most one attribute path or scenario"},
    {"compare", CLI_COMPARE, 1, SIZE_MAX, "result folders"},
    {"plot", CLI_PLOT, 1, SIZE_MAX, "result folders"},
    {"diff", CLI_DIFF, 2, 2, "two result folders"},
    {"sweep", CLI_SWEEP, 1, 1, "one sweep file or scenario"},
    {"what-if", CLI_WHAT_IF, 1, 1, "one scenario, a name or a file"},
    {"headroom", CLI_HEADROOM, 1, 1, "one scenario, a name or a file"},
    {"arena", CLI_ARENA, 0, 0, "no operand"},
    {"timeline", CLI_TIMELINE, 1, 1, "one result folder"},
    {"capture", CLI_CAPTURE, 1, SIZE_MAX, "cut, merge, split, convert or follow, and files"},
    {"explain", CLI_EXPLAIN, 1, 1, "one result folder, or with --counters a topology file"},
    {"serve", CLI_SERVE, 1, 1, "one scenario, a name or a file"},
    {"shell", CLI_SHELL, 0, 1, "one scenario, or --topology"},
    {"convert", CLI_CONVERT, 1, 1, "one file of a workload"},
    {"import", CLI_IMPORT, 0, SIZE_MAX, "files and folders of a real fabric"},
    {"calibrate", CLI_CALIBRATE, 1, 1, "one calibration file"},
    {"schema", CLI_SCHEMA, 0, 1, "nothing, or: scenario"},
    {"mooncake-meta", CLI_META, 1, 2, "export, import or dump, and records"},
    {"help", CLI_HELP, 0, 1, "at most one command"},
};

const char *cli_command_name(cli_command_t command)
{
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        if (commands[i].command == command) {
            return commands[i].name;
        }
    }
    return "";
}

bool cli_command_at(size_t i, cli_command_t *command)
{
    if (i >= SIM_COUNT_OF(commands)) {
        return false;
    }
    *command = commands[i].command;
    return true;
}

const char *cli_option_at(cli_command_t command, size_t *i, bool *has_value)
{
    while (*i < SIM_COUNT_OF(options)) {
        const option_t *const option = &options[(*i)++];
        if ((option->commands >> command & 1u) != 0) {
            *has_value = option->has_value;
            return option->name;
        }
    }
    return NULL;
}

static bool find_command(const char *name, cli_command_t *command)
{
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            *command = commands[i].command;
            return true;
        }
    }
    return false;
}

static sim_err_t unknown_command(const char *name, world_error_t *error)
{
    const char *names[SIM_COUNT_OF(commands)];
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        names[i] = commands[i].name;
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, NULL, "rocesim: unknown command '%s'",
               world_show(&shown, name));
    world_error_add_nearest(error, name, names, SIM_COUNT_OF(names));
    world_error_add_expected(error,
                             "run, hpcc, check, topo, params, sweep, compare, plot or another "
                             "that rocesim --help lists");
    return SIM_ERR_UNKNOWN;
}

static void add_override(cli_args_t *args, const char *option, const char *path, const char *value)
{
    SIM_GROW(args->texts, args->text_count, &args->text_capacity);
    char *const shown = sim_format("%s %s", option, value);
    args->texts[args->text_count++] = shown;
    SIM_GROW(args->texts, args->text_count, &args->text_capacity);
    char *const text = path != NULL ? sim_format("%s=%s", path, value) : sim_strdup(value);
    args->texts[args->text_count++] = text;
    SIM_APPEND(args->overrides, args->override_count, args->override_capacity,
               (world_override_t){.shown = shown, .text = text});
}

// Notes a plug-in, and appends it to the plug-ins of the scenario. The name is relative to the
// current folder, as other names on the command line are.
static void add_plugin(cli_args_t *args, const char *option, const char *name)
{
    SIM_CHECK(name != NULL); // the option has a value
    SIM_APPEND(args->plugins, args->plugin_count, args->plugin_capacity, name);
    char *const real = realpath(name, NULL);
    char *const here = getcwd(NULL, 0);
    char *const absolute = real != NULL || name[0] == '/' || here == NULL
                               ? sim_strdup(real != NULL ? real : name)
                               : sim_format("%s/%s", here, name);
    json_t *const text = json_string(absolute);
    char *const quoted = json_dumps(text, JSON_ENCODE_ANY);
    add_override(args, option, "plugins[+]", quoted != NULL ? quoted : "");
    free(quoted);
    json_decref(text);
    sim_free(absolute);
    free(here);
    free(real);
}

static const option_t *find_option(const cli_args_t *args, const char *text, size_t size,
                                   world_error_t *error)
{
    const char *names[SIM_COUNT_OF(options)];
    size_t count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(options); i++) {
        if ((options[i].commands >> args->command & 1u) == 0) {
            continue;
        }
        names[count++] = options[i].name;
        if (strlen(options[i].name) == size && memcmp(options[i].name, text, size) == 0) {
            return &options[i];
        }
    }
    world_shown_t shown;
    const char *const command = cli_command_name(args->command);
    world_fail(error, SIM_ERR_UNKNOWN, NULL, "rocesim %s: unknown option '%s'", command,
               world_show(&shown, text));
    world_error_add_nearest(error, text, names, count);
    char *const where = sim_format("rocesim %s --help", command);
    world_error_add_names(error, names, count, where);
    sim_free(where);
    return NULL;
}

// Keeps an option that is one text. Returns whether it is one.
static bool apply_text(cli_args_t *args, const option_t *option, const char *value)
{
    const struct {
        const char *name;
        const char **value;
    } texts[] = {
        {"--x", &args->x},
        {"--y", &args->y},
        {"--app", &args->app},
        {"--a", &args->programs[0]},
        {"--b", &args->programs[1]},
        {"--etcd", &args->etcd},
        {"--memcached", &args->memcached},
        {"--progress", &args->progress},
        {"--ranks", &args->ranks},
        {"--from", &args->from},
        {"--to", &args->to},
        {"--completion", &args->shell},
        {"--events", &args->events},
        {"--packet", &args->packet},
        {"--topology", &args->topology},
        {"-j", &args->jobs},
        {"--jobs", &args->jobs},
        {"--cc", &args->controls},
        {"--cells", &args->cells},
        {"--show", &args->show_cell},
        {"--hidden-seed", &args->hidden_seed},
        {"--baseline", &args->baseline},
        {"--seeds", &args->seed_count}, // that of compare is a flag
        {"--listen", &args->listen},
        {"--token", &args->token},
        {"--clients", &args->clients},
        {"--client-memory", &args->client_memory},
        {"--call-time", &args->call_time},
        {"--idle-time", &args->idle_time},
        {"--junit", &args->junit},
        {"--at", &args->fail_at},
        {"--links", &args->links},
        {"--pace", &args->pace},
        {"--response", &args->response},
        {"--length", &args->length},
        {"--cell", &args->cell},
        {"--mtu", &args->mtu},
        {"--burst", &args->burst},
    };
    const bool is_text = option->override == NULL && option->has_value;
    for (size_t i = 0; is_text && i < SIM_COUNT_OF(texts); i++) {
        if (strcmp(option->name, texts[i].name) == 0) {
            *texts[i].value = value;
            return true;
        }
    }
    return false;
}

// Keeps an option that is only given or not. Returns whether it is one.
static bool apply_flag(cli_args_t *args, const option_t *option)
{
    const struct {
        const char *name;
        bool *value;
    } flags[] = {
        {"--programs", &args->starts_programs},
        {"--program-trace", &args->traces_programs},
        {"--explain", &args->explains},
        {"--what-if", &args->what_if},
        {"--plugin-limits", &args->plugin_limits},
        {"--print-jobs", &args->print_jobs},
        {"--print-slurm", &args->print_slurm},
        {"--slurm", &args->slurm},
        {"--quiet", &args->quiet},
        {"--comments", &args->comments},
        {"--json", &args->json},
        {"--seeds", &args->seeds},
        {"--list", &args->list_cells},
        {"--quick", &args->quick},
        {"--csv", &args->csv},
        {"--no-hosts", &args->no_hosts},
        {"--markdown", &args->markdown},
        {"--outputs-markdown", &args->outputs_markdown},
        {"--man", &args->manual},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(flags); i++) {
        if (strcmp(option->name, flags[i].name) == 0) {
            *flags[i].value = true;
            return true;
        }
    }
    return false;
}

static void apply_option(cli_args_t *args, const option_t *option, const char *value)
{
    if (apply_text(args, option, value) || apply_flag(args, option)) {
        return;
    }
    if (option->override != NULL || strcmp(option->name, "--set") == 0) {
        add_override(args, option->name, option->override, value);
    } else if (strcmp(option->name, "--plugin") == 0) {
        add_plugin(args, option->name, value);
    } else if (strcmp(option->name, "--yes") == 0) {
        add_override(args, option->name, "\"memory-max\"", "auto");
        add_override(args, option->name, "\"time-max\"", "auto");
    } else if (strcmp(option->name, "--live") == 0) {
        SIM_APPEND(args->live, args->live_count, args->live_capacity, value);
    } else if (strcmp(option->name, "--counters") == 0) {
        SIM_APPEND(args->counters, args->counter_count, args->counter_capacity, value);
    } else if (strcmp(option->name, "--kind") == 0) {
        SIM_APPEND(args->kinds, args->kind_count, args->kind_capacity, value);
    } else if (option->has_value) {
        args->folder = value;
    } else {
        args->help_of = args->command;
        args->command = CLI_HELP;
    }
}

// Reads the option argv[*index] and its value, if it takes one; advances *index past the value.
static sim_err_t take_option(cli_args_t *args, int argc, const char *const *argv, int *index,
                             world_error_t *error)
{
    const char *const text = argv[*index];
    const char *const equals = strchr(text, '=');
    const size_t size = equals != NULL ? (size_t)(equals - text) : strlen(text);
    const option_t *const option = find_option(args, text, size, error);
    if (option == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (option->has_value && value == NULL) {
        if (++*index >= argc) {
            return world_fail(error, SIM_ERR_INVALID, NULL,
                              "rocesim %s: option %s has no value, expected a value behind it",
                              cli_command_name(args->command), option->name);
        }
        value = argv[*index];
    } else if (!option->has_value && value != NULL) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim %s: option %s has a value, expected none",
                          cli_command_name(args->command), option->name);
    }
    apply_option(args, option, value);
    return SIM_OK;
}

static sim_err_t check_operands(const cli_args_t *args, world_error_t *error)
{
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        if (commands[i].command == args->command &&
            (args->operand_count < commands[i].operands_min ||
             args->operand_count > commands[i].operands_max)) {
            char *const count = args->operand_count == 0
                                    ? sim_strdup("nothing")
                                    : sim_format("%zu name%s", args->operand_count,
                                                 sim_plural(args->operand_count));
            world_fail(error, SIM_ERR_INVALID, NULL, "rocesim %s: %s given, expected %s",
                       commands[i].name, count, commands[i].operands);
            sim_free(count);
            return SIM_ERR_INVALID;
        }
    }
    if (args->folder != NULL && args->folder[0] == '\0') {
        return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim %s: -o is empty, expected a %s",
                          cli_command_name(args->command),
                          args->command == CLI_PLOT || args->command == CLI_CONVERT ||
                                  args->command == CLI_IMPORT || args->command == CLI_TIMELINE
                              ? "file"
                              : "folder");
    }
    return SIM_OK;
}

sim_err_t cli_args_parse(int argc, const char *const *argv, cli_args_t *args, world_error_t *error)
{
    *args = (cli_args_t){.command = CLI_HELP, .help_of = CLI_PROGRAM, .argc = argc, .argv = argv};
    if (argc < 2) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim: no command, expected run, hpcc, check, topo, params, sweep, "
                          "compare, plot or another that rocesim --help lists");
    }
    if (strcmp(argv[1], "--version") == 0) {
        args->command = CLI_VERSION;
        args->json = argc == 3 && strcmp(argv[2], "--json") == 0;
        if (argc > 2 && !args->json) {
            return world_fail(error, SIM_ERR_INVALID, NULL,
                              "rocesim --version: expected nothing or --json behind it");
        }
        return SIM_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return SIM_OK;
    }
    if (!find_command(argv[1], &args->command)) {
        return unknown_command(argv[1], error);
    }
    const bool explains = args->command == CLI_HELP;
    bool options_end = false;
    for (int i = 2; i < argc; i++) {
        if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (strcmp(argv[i], "--") == 0) {
                options_end = true;
                continue;
            }
            const sim_err_t result = take_option(args, argc, argv, &i, error);
            if (result != SIM_OK || (args->command == CLI_HELP && !explains)) {
                return result;
            }
            continue;
        }
        SIM_APPEND(args->operands, args->operand_count, args->operand_capacity, argv[i]);
    }
    if (args->command == CLI_HELP && args->operand_count == 1 &&
        !find_command(args->operands[0], &args->help_of)) {
        return unknown_command(args->operands[0], error);
    }
    return check_operands(args, error);
}

void cli_args_fini(cli_args_t *args)
{
    sim_free_each(args->texts, args->text_count);
    SIM_FREE_ALL(args->texts, args->overrides, args->operands, args->kinds, args->counters,
                 args->live, args->plugins);
}

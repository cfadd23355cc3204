// SPDX-License-Identifier: Apache-2.0
// cli/args.c - reading the command line. Options may stand before or after operands, with their
// value apart or after '='; what follows -- is operands.
#include "cli/args.h"

#include <string.h>

typedef struct option {
    const char *name;
    bool has_value;
    unsigned commands; // bit per cli_command_t
    // The attribute it sets, quoted where a scenario may call a parameter of its own so; NULL:
    // handled apart.
    const char *override;
} option_t;

#define FOR_RUN (1u << CLI_RUN | 1u << CLI_HPCC)
#define FOR_FILE (1u << CLI_PLOT | 1u << CLI_SWEEP | 1u << CLI_CALIBRATE)
#define FOR_SCENARIO (FOR_RUN | 1u << CLI_CHECK | 1u << CLI_TOPO)

static const option_t options[] = {
    {"-o", true, FOR_RUN | FOR_FILE, NULL},
    {"--output", true, FOR_RUN | FOR_FILE, NULL},
    {"-j", true, 1u << CLI_SWEEP, NULL},
    {"--print-jobs", false, 1u << CLI_SWEEP, NULL},
    {"--slurm", false, 1u << CLI_SWEEP, NULL},
    {"--kind", true, 1u << CLI_PLOT, NULL},
    {"--x", true, 1u << CLI_PLOT, NULL},
    {"--y", true, 1u << CLI_PLOT, NULL},
    {"--app", true, 1u << CLI_PLOT | 1u << CLI_COMPARE, NULL},
    {"--seeds", false, 1u << CLI_COMPARE, NULL},
    {"--csv", false, 1u << CLI_COMPARE, NULL},
    {"--a", true, 1u << CLI_DIFF, NULL},
    {"--b", true, 1u << CLI_DIFF, NULL},
    {"--etcd", true, 1u << CLI_META, NULL},
    {"--memcached", true, 1u << CLI_META, NULL},
    {"--set", true, FOR_SCENARIO, NULL},
    {"--seed", true, FOR_SCENARIO, "\"seed\""},
    {"--tie-seed", true, FOR_SCENARIO, "\"tie-seed\""},
    {"--until", true, FOR_SCENARIO, "\"until\""},
    {"--threads", true, FOR_SCENARIO, "\"threads\""},
    {"--routes", true, 1u << CLI_HPCC, "topology.file.routes"},
    {"--yes", false, FOR_SCENARIO, NULL},
    {"--progress", true, FOR_RUN, NULL},
    {"--quiet", false, FOR_RUN | 1u << CLI_SWEEP | 1u << CLI_CALIBRATE, NULL},
    {"--json", false, FOR_RUN | 1u << CLI_PARAMS, NULL},
    {"--markdown", false, 1u << CLI_PARAMS, NULL},
    {"--outputs-markdown", false, 1u << CLI_PARAMS, NULL},
    {"--help", false, ~0u, NULL},
    {"-h", false, ~0u, NULL},
};

static const struct {
    const char *name;
    cli_command_t command;
    size_t operands_min;
    size_t operands_max;
    const char *operands; // for messages
} commands[] = {
    {"run", CLI_RUN, 1, 1, "one scenario file"},
    {"hpcc", CLI_HPCC, 1, 1, "one config file"},
    {"check", CLI_CHECK, 1, 1, "one scenario file"},
    {"topo", CLI_TOPO, 1, 1, "one scenario file"},
    {"params", CLI_PARAMS, 0, 1, "at most one attribute path"},
    {"compare", CLI_COMPARE, 1, SIZE_MAX, "result folders"},
    {"plot", CLI_PLOT, 1, SIZE_MAX, "result folders"},
    {"diff", CLI_DIFF, 2, 2, "two result folders"},
    {"sweep", CLI_SWEEP, 1, 1, "one sweep file"},
    {"calibrate", CLI_CALIBRATE, 1, 1, "one calibration file"},
    {"schema", CLI_SCHEMA, 0, 1, "nothing, or: scenario"},
    {"mooncake-meta", CLI_META, 1, 2, "export, import or dump, and records"},
    {"help", CLI_HELP, 0, 1, "at most one command"},
};

static const char help_program[] =
    "rocesim: packet-level simulation of RoCEv2 networks\n"
    "\n"
    "  rocesim run SCENARIO.yaml [-o DIR]   simulates\n"
    "  rocesim hpcc CONFIG.txt [-o DIR]     runs a config of the HPCC ns-3 simulator\n"
    "  rocesim check SCENARIO.yaml          says what a run would be, without running\n"
    "  rocesim topo SCENARIO.yaml           prints the network in Graphviz DOT\n"
    "  rocesim params [PATH]                explains attributes\n"
    "  rocesim sweep SWEEP.yaml -o DIR -j N runs a scenario over parameters and seeds\n"
    "  rocesim calibrate PLAN.yaml          finds constants that fit measured points\n"
    "  rocesim diff DIR DIR                 says what differs, and from when on\n"
    "  rocesim schema [scenario]            prints parameters, fields and columns as JSON\n"
    "  rocesim mooncake-meta ACTION         takes Mooncake's records to etcd or memcached, or "
    "back\n"
    "  rocesim compare DIR DIR...           shows results side by side, or means over seeds\n"
    "  rocesim plot DIR... [-o FIGURE]      draws results\n"
    "  rocesim studio                       serves the studio: all of this in a browser\n"
    "  rocesim --version\n"
    "  rocesim COMMAND --help\n"
    "\n"
    "Exit status: 0 done; 1 the run failed (stalled, interrupted, an invariant broke, output "
    "could\n"
    "not be written); 2 bad input or usage, and nothing was written.\n";

static const char help_run[] =
    "rocesim run SCENARIO.yaml [options]\n"
    "\n"
    "SCENARIO.yaml is a file, a pipe, or - for the standard input.\n"
    "\n"
    "  -o DIR             write results there: scenario.yaml (resolved), summary.json, flows.csv,\n"
    "                     apps.csv, ports.csv, events.csv, pauses.csv, series.csv, captures/,\n"
    "                     manifest.json, topology.json,\n"
    "                     schema.json. DIR is made if it does not exist; it must be empty or hold "
    "the\n"
    "                     results of an earlier run, which are replaced when the new ones are "
    "whole\n"
    "                     (until then these are in DIR/.unfinished), and not the scenario itself.\n"
    "                     Without -o no file is written.\n"
    "  --set PATH=VALUE   set any attribute: nic.mtu=1024, topology.star.hosts=8,\n"
    "                     traffic[0].poisson.load=0.8, nodes.spine*.switch.buffer=64MB\n"
    "  --seed N           the same as --set seed=N\n"
    "  --tie-seed N       the same as --set tie-seed=N\n"
    "  --until TIME       the same as --set until=TIME\n"
    "  --threads N        the same as --set threads=N; results do not depend on it\n"
    "  --yes              run also what is beyond memory-max and time-max (8 GB, 10 hours) by\n"
    "                     estimate: the same as --set memory-max=auto --set time-max=auto\n"
    "  --progress FILE    keep how far the run is in FILE, as a line of JSON that is written "
    "over:\n"
    "                     for programs that start runs\n"
    "  --quiet            no progress line\n"
    "  --json             print summary.json instead of the summary for people\n"
    "\n"
    "Ctrl-C ends the run; what it has so far is written and the exit status is 1. Flows that fail\n"
    "(as when a link is down for good) are a result: they are counted, and the exit status is 0.\n"
    "Scenarios are explained in docs/formats/scenario.md, results in docs/formats/outputs.md.\n";

static const char help_hpcc[] =
    "rocesim hpcc CONFIG.txt [options]\n"
    "\n"
    "Runs a config.txt of the HPCC ns-3 simulator (or ConWeave's, SimAI's), unchanged: reads the\n"
    "topology, flow and trace files it names and writes fct, pfc, qlen and packet trace in its\n"
    "formats. Names are relative to the current folder, as there; inputs that are not found there\n"
    "are looked for beside CONFIG.txt.\n"
    "\n"
    "  -o DIR             write fct.txt, pfc.txt, qlen.txt and packets.txt there, and what\n"
    "                     `rocesim run -o` writes: summary.json, flows.csv, scenario.yaml...\n"
    "                     Without -o the files that the config names are written, and no others.\n"
    "  --set PATH=VALUE   set any attribute, on top of the config: nic.timeout=14\n"
    "  --set compat=off   our own models instead of those of the simulator\n"
    "  --routes FILE      next hops instead of searched ones; the same as\n"
    "                     --set topology.file.routes=FILE\n"
    "  --seed, --tie-seed, --until, --threads, --quiet, --json   as of `rocesim run`\n"
    "\n"
    "Formats and keys are explained in docs/formats/peers.md and docs/formats/hpcc.md.\n";

static const char help_check[] =
    "rocesim check SCENARIO.yaml [--set PATH=VALUE]... [--seed N] [--until TIME] [--yes]\n"
    "\n"
    "Reads the scenario and builds everything in memory, says what a run would be, how long it is\n"
    "likely to take, the class of packets at each hop of the paths in use, and what is odd about\n"
    "the network. Exit status 2 if a run would be refused; --yes: whatever its size.\n";

static const char help_topo[] =
    "rocesim topo SCENARIO.yaml [--set PATH=VALUE]...\n"
    "\n"
    "Prints the network in Graphviz DOT (rocesim topo x.yaml | dot -Tsvg > x.svg) and what is odd\n"
    "about it on stderr.\n";

static const char help_params[] =
    "rocesim params [PATH]\n"
    "\n"
    "Prints every attribute, or those whose path begins with PATH (switch.ecn, nic.mtu): default,\n"
    "meaning, accepted values.\n"
    "  --json               all of them as JSON: path, type, default, range, choices, meaning\n"
    "  --markdown           the page docs/formats/attributes.md\n"
    "  --outputs-markdown   the page docs/formats/outputs.md\n";

static const char help_sweep[] =
    "rocesim sweep SWEEP.yaml -o DIR [-j N]\n"
    "\n"
    "Runs a scenario for each combination of a grid of parameters (or each point of a list) and\n"
    "each seed. Each run has a folder DIR/runs/pNUMBER-sSEED; DIR/runs.csv has a row per run,\n"
    "DIR/points.csv one per point: mean and 95 % interval over the seeds.\n"
    "  -j N               runs at a time\n"
    "  --print-jobs       print one command per run, for a cluster's own scheduler, and run none\n"
    "  --slurm            print a job array for sbatch, and run none\n"
    "  --quiet            no progress line\n"
    "The same command again goes on where it was stopped or killed, and writes the same tables.\n"
    "Runs that fail are named, and not in the way of the others; the exit status is then 1.\n"
    "What stands in SWEEP.yaml: docs/formats/sweep.md. `rocesim plot DIR` draws the points.\n";

static const char help_diff[] =
    "rocesim diff A B [--a PROGRAM] [--b PROGRAM]\n"
    "\n"
    "Says what differs between two result folders: parameters, the first row in which events.csv\n"
    "and series.csv differ (what to observe to see more: docs/formats/scenario.md), the flows "
    "whose\n"
    "completion time moved most, fields of the summary. Exit status: 0 nothing differs but wall_\n"
    "values, 1 something does, 2 a folder cannot be read.\n"
    "\n"
    "Where the parameters are the same and the digests are not, both are run again, some times, "
    "to\n"
    "find the first event that differs: which node gets something at another time or from another\n"
    "port.\n"
    "  --a PROGRAM        the rocesim that made A, if it was not this one\n"
    "  --b PROGRAM        the same for B\n";

static const char help_schema[] =
    "rocesim schema [scenario]\n"
    "\n"
    "Prints what a result folder's schema.json holds, as JSON: the attributes (parameters), the\n"
    "columns of the CSV files (tables), and a JSON Schema of summary.json (summary), each with "
    "unit\n"
    "and meaning. With `scenario`: a JSON Schema of scenario files, for editors and the studio:\n"
    "every key with the values it takes, its default and meaning.\n";

static const char help_calibrate[] =
    "rocesim calibrate PLAN.yaml [-o CONSTANTS.yaml] [--quiet]\n"
    "\n"
    "Finds the constants of a scenario that come nearest to measured points, by least squares, "
    "and\n"
    "says how well they fit, how unsure each is, and what each point would have been without it.\n"
    "  -o CONSTANTS.yaml  writes them, each with its origin and error; a scenario includes the "
    "file\n"
    "                     by 'constants: CONSTANTS.yaml', a command by --set "
    "constants=CONSTANTS.yaml\n"
    "What a plan holds: docs/formats/calibrate.md.\n";

static const char help_meta[] =
    "rocesim mooncake-meta export DIR|FILE --etcd URL\n"
    "rocesim mooncake-meta import --etcd URL\n"
    "rocesim mooncake-meta dump DIR|FILE\n"
    "\n"
    "Records of Mooncake's Transfer Engine (docs/models/mooncake.md), as JSON: export puts those "
    "that a\n"
    "run's metadata node held (DIR), or of a file, into a service; import prints those whose keys\n"
    "begin with mooncake/; dump prints them without a service.\n"
    "  --etcd URL             http://HOST:PORT, by its v3 API\n"
    "  --memcached HOST:PORT  instead\n";

static const char help_compare[] =
    "rocesim compare DIR DIR... [--seeds] [--csv] [--app NAME]\n"
    "\n"
    "Prints the summaries of result folders (made by rocesim run -o DIR) side by side, under the\n"
    "parameters in which they differ.\n"
    "  --seeds            runs that differ in their seed alone make one column: the mean over "
    "seeds,\n"
    "                     its 95 % interval, and a star where it differs from the first column\n"
    "  --csv              a row per run (with --seeds: per column) with everything, as CSV\n"
    "  --app NAME         FCT and slowdown: only flows of that traffic, by its kind (poisson,\n"
    "                     incast...) or its number in the scenario (0, 1...)\n"
    "What each column means: docs/formats/compare.md.\n";

static const char help_plot[] =
    "rocesim plot DIR... [-o FILE] [--kind KIND[,KIND]...]\n"
    "\n"
    "Draws result folders (made by rocesim run -o DIR), several runs in one figure, by gnuplot.\n"
    "  -o FILE            plot.svg if not given; .svg, .png, .pdf, or .gnuplot for the script "
    "itself\n"
    "  --kind KIND        one of\n"
    "      slowdown       FCT slowdown by flow size: median, 95th and 99th percentile (flows.csv)\n"
    "      queue          queues and switch buffers over time (series.csv)\n"
    "      queue-cdf      share of time that a queue was at most so long (series.csv)\n"
    "      rate           sending rates of queue pairs over time (series.csv)\n"
    "      series         every other series over time (series.csv)\n"
    "      pause          when PFC stopped which port (pauses.csv)\n"
    "      load           utilisation of every link over the run (ports.csv)\n"
    "      load-time      utilisation of links over time (series.csv)\n"
    "      app-rate       bandwidth of applications over time, and links that went down "
    "(summary.json)\n"
    "      app-cdf        distributions of applications' times, such as of first tokens "
    "(summary.json)\n"
    "      sweep          the points of a sweep (points.csv of rocesim sweep)\n"
    "                     Without --kind: all that the folders have data for.\n"
    "  --app NAME         slowdown: only flows of that traffic (poisson, incast...)\n"
    "  --x NAME, --y NAME sweep: the parameter along x, the column of points.csv\n"
    "Of several kinds each has a file of its own: plot-slowdown.svg, plot-queue.svg...\n"
    "Figures and what they need: docs/formats/plots.md.\n";

const char *cli_help_text(cli_command_t command)
{
    switch (command) {
    case CLI_RUN:
        return help_run;
    case CLI_HPCC:
        return help_hpcc;
    case CLI_CHECK:
        return help_check;
    case CLI_TOPO:
        return help_topo;
    case CLI_PARAMS:
        return help_params;
    case CLI_COMPARE:
        return help_compare;
    case CLI_PLOT:
        return help_plot;
    case CLI_SCHEMA:
        return help_schema;
    case CLI_SWEEP:
        return help_sweep;
    case CLI_CALIBRATE:
        return help_calibrate;
    case CLI_META:
        return help_meta;
    case CLI_DIFF:
        return help_diff;
    case CLI_HELP:
    case CLI_VERSION:
        break;
    }
    return help_program;
}

static const char *command_name(cli_command_t command)
{
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        if (commands[i].command == command) {
            return commands[i].name;
        }
    }
    return "";
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
    world_fail(error,
               SIM_ERR_UNKNOWN,
               NULL,
               "rocesim: unknown command '%s'",
               world_show(&shown, name));
    world_error_add_nearest(error, name, names, SIM_COUNT_OF(names));
    world_error_add(error,
                    ", expected run, hpcc, check, topo, params, sweep, compare, plot or "
                    "another that rocesim --help lists");
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
    SIM_GROW(args->overrides, args->override_count, &args->override_capacity);
    args->overrides[args->override_count++] = (world_override_t){shown, text};
}

static const option_t *find_option(const cli_args_t *args,
                                   const char *text,
                                   size_t size,
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
    const char *const command = command_name(args->command);
    world_fail(error,
               SIM_ERR_UNKNOWN,
               NULL,
               "rocesim %s: unknown option '%s'",
               command,
               world_show(&shown, text));
    world_error_add_nearest(error, text, names, count);
    char *const where = sim_format("rocesim %s --help", command);
    world_error_add_names(error, names, count, where);
    sim_free(where);
    return NULL;
}

static void apply_option(cli_args_t *args, const option_t *option, const char *value)
{
    if (option->override != NULL || strcmp(option->name, "--set") == 0) {
        add_override(args, option->name, option->override, value);
    } else if (strcmp(option->name, "--yes") == 0) {
        add_override(args, option->name, "\"memory-max\"", "auto");
        add_override(args, option->name, "\"time-max\"", "auto");
    } else if (strcmp(option->name, "--kind") == 0) {
        SIM_GROW(args->kinds, args->kind_count, &args->kind_capacity);
        args->kinds[args->kind_count++] = value;
    } else if (strcmp(option->name, "--x") == 0) {
        args->x = value;
    } else if (strcmp(option->name, "--y") == 0) {
        args->y = value;
    } else if (strcmp(option->name, "--app") == 0) {
        args->app = value;
    } else if (strcmp(option->name, "--a") == 0) {
        args->programs[0] = value;
    } else if (strcmp(option->name, "--b") == 0) {
        args->programs[1] = value;
    } else if (strcmp(option->name, "--etcd") == 0) {
        args->etcd = value;
    } else if (strcmp(option->name, "--memcached") == 0) {
        args->memcached = value;
    } else if (strcmp(option->name, "--progress") == 0) {
        args->progress = value;
    } else if (strcmp(option->name, "-j") == 0) {
        args->jobs = value;
    } else if (option->has_value) {
        args->folder = value;
    } else if (strcmp(option->name, "--print-jobs") == 0) {
        args->print_jobs = true;
    } else if (strcmp(option->name, "--slurm") == 0) {
        args->slurm = true;
    } else if (strcmp(option->name, "--quiet") == 0) {
        args->quiet = true;
    } else if (strcmp(option->name, "--json") == 0) {
        args->json = true;
    } else if (strcmp(option->name, "--seeds") == 0) {
        args->seeds = true;
    } else if (strcmp(option->name, "--csv") == 0) {
        args->csv = true;
    } else if (strcmp(option->name, "--markdown") == 0) {
        args->markdown = true;
    } else if (strcmp(option->name, "--outputs-markdown") == 0) {
        args->outputs_markdown = true;
    } else {
        args->help_of = args->command;
        args->command = CLI_HELP;
    }
}

// Reads argv[*index], and its value where it has one.
static sim_err_t take_option(cli_args_t *args,
                             int argc,
                             const char *const *argv,
                             int *index,
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
            return world_fail(error,
                              SIM_ERR_INVALID,
                              NULL,
                              "rocesim %s: nothing after %s, expected a value",
                              command_name(args->command),
                              option->name);
        }
        value = argv[*index];
    } else if (!option->has_value && value != NULL) {
        return world_fail(error,
                          SIM_ERR_INVALID,
                          NULL,
                          "rocesim %s: a value for %s, expected none",
                          command_name(args->command),
                          option->name);
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
            return world_fail(error,
                              SIM_ERR_INVALID,
                              NULL,
                              "rocesim %s: %zu operands, expected %s",
                              commands[i].name,
                              args->operand_count,
                              commands[i].operands);
        }
    }
    if (args->folder != NULL && args->folder[0] == '\0') {
        return world_fail(error,
                          SIM_ERR_INVALID,
                          NULL,
                          "rocesim %s: -o is empty, expected a %s",
                          command_name(args->command),
                          args->command == CLI_PLOT ? "file" : "folder");
    }
    return SIM_OK;
}

sim_err_t cli_args_parse(int argc, const char *const *argv, cli_args_t *args, world_error_t *error)
{
    *args = (cli_args_t){.command = CLI_HELP, .help_of = CLI_HELP};
    if (argc < 2) {
        return world_fail(error,
                          SIM_ERR_INVALID,
                          NULL,
                          "rocesim: no command, expected run, hpcc, check, topo, params, sweep, "
                          "compare, plot or another that rocesim --help lists");
    }
    if (strcmp(argv[1], "--version") == 0) {
        args->command = CLI_VERSION;
        return SIM_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return SIM_OK;
    }
    if (!find_command(argv[1], &args->command)) {
        return unknown_command(argv[1], error);
    }
    bool options_end = false;
    for (int i = 2; i < argc; i++) {
        if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (strcmp(argv[i], "--") == 0) {
                options_end = true;
                continue;
            }
            const sim_err_t result = take_option(args, argc, argv, &i, error);
            if (result != SIM_OK || args->command == CLI_HELP) {
                return result;
            }
            continue;
        }
        SIM_GROW(args->operands, args->operand_count, &args->operand_capacity);
        args->operands[args->operand_count++] = argv[i];
    }
    if (args->command == CLI_HELP && args->operand_count == 1 &&
        !find_command(args->operands[0], &args->help_of)) {
        return unknown_command(args->operands[0], error);
    }
    return check_operands(args, error);
}

void cli_args_fini(cli_args_t *args)
{
    for (size_t i = 0; i < args->text_count; i++) {
        sim_free(args->texts[i]);
    }
    sim_free(args->texts);
    sim_free(args->overrides);
    sim_free(args->operands);
    sim_free(args->kinds);
}

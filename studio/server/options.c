// SPDX-License-Identifier: Apache-2.0
// studio/server/options.c - reads the command line of rocesim-studio and finds its files.
#include "studio/server/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "rocesim studio [options]\n"
    "rocesim studio backup [--data DIR] FOLDER\n"
    "rocesim studio restore [--data DIR] FOLDER\n"
    "\n"
    "Serves the studio: people log in with a browser, run simulations and analyse results.\n"
    "The first start prints a link that creates the administrator. Ctrl-C stops the server;\n"
    "runs continue without it, and the next start finds them again.\n"
    "\n"
    "  --data DIR          folder of all data of the studio\n"
    "                      (default ~/.local/share/rocesim-studio)\n"
    "  --adopt             take in what the database does not know: make entries for folders of\n"
    "                      runs without one, mark runs without a folder as failed, list both\n"
    "  --listen ADDRESS:PORT\n"
    "                      address to listen on; port 0 takes a free one\n"
    "                      (default 127.0.0.1:8080)\n"
    "  --tls-cert FILE     certificate chain in PEM; serves HTTPS, together with --tls-key\n"
    "  --tls-key FILE      private key of the certificate, in PEM\n"
    "  --without-tls       allow --listen on other addresses than loopback without TLS;\n"
    "                      use it only behind a proxy that speaks TLS\n"
    "  --unconfined        start although the kernel cannot confine runs: whoever may order\n"
    "                      runs then reads and writes all files that the server may\n"
    "  --host-name NAME    host name by which browsers may reach this server; separate\n"
    "                      several names by commas\n"
    "  --trusted-proxy ADDRESS\n"
    "                      address of a proxy in front of this server; its X-Forwarded-For says\n"
    "                      who asks. Separate several addresses by commas\n"
    "  --first-user NAME   create the first administrator without a link, together with\n"
    "                      --password-file\n"
    "  --password-file F   file whose first line is the password of --first-user\n"
    "  --jobs N            number of runs at the same time (default 2)\n"
    "  --run-threads N     threads of each run (default 1)\n"
    "  --run-ranks N       maximum number of processes of each run of an order (default 1);\n"
    "                      mpirun starts them, which may use the network and read /etc\n"
    "  --run-time S        seconds after which a run is stopped (default 86400)\n"
    "  --run-memory BYTES  memory limit of a run, such as 500MB or 8GB (default 8GB)\n"
    "  --run-disk BYTES    limit of the files of a run (default 10GB)\n"
    "  --disk-free BYTES   free disk space that a new run needs (default 1GB)\n"
    "  --user-files BYTES  quota of the files that a user uploads (default 1GB)\n"
    "  --user-runs BYTES   quota of the files of a user's runs, with those in the trash (default\n"
    "                      50GB)\n"
    "  --sql-time S        processor time of one SQL statement, in seconds (default 10)\n"
    "  --queue N           waiting runs allowed per user (default 2000)\n"
    "  --group N           runs allowed in one order (default 1000)\n"
    "  --page DIR          folder of the built page\n"
    "  --library DIR       folder of the shipped scenarios and studies\n"
    "  --program FILE      path of the program rocesim\n"
    "\n"
    "backup copies the data of a studio, which may be running, to a new FOLDER. restore creates\n"
    "a new data folder from such a copy. docs/studio.md explains everything else.\n";

const char *studio_help_text(void)
{
    return help;
}

typedef struct option {
    const char *name;
    size_t offset;
    enum { TEXT, FLAG, COUNT, BYTES } kind;
    uint64_t least;
    uint64_t most;
} option_t;

#define AT(member) offsetof(studio_options_t, member)

// clang-format off
static const option_t options[] = {
    {"--data", AT(data), TEXT, 0, 0},
    {"--adopt", AT(adopt), FLAG, 0, 0},
    {"--listen", AT(listen), TEXT, 0, 0},
    {"--tls-cert", AT(tls_cert), TEXT, 0, 0},
    {"--tls-key", AT(tls_key), TEXT, 0, 0},
    {"--without-tls", AT(listen_anywhere), FLAG, 0, 0},
    {"--unconfined", AT(unconfined), FLAG, 0, 0},
    {"--host-name", AT(host_names), TEXT, 0, 0},
    {"--trusted-proxy", AT(trusted_proxy), TEXT, 0, 0},
    {"--first-user", AT(first_user), TEXT, 0, 0},
    {"--password-file", AT(password), TEXT, 0, 0},
    {"--jobs", AT(jobs), COUNT, 1, 1024},
    {"--run-threads", AT(run_threads), COUNT, 1, 256},
    {"--run-ranks", AT(run_ranks), COUNT, 1, 64},
    {"--run-time", AT(run_s_max), COUNT, 1, UINT64_C(100000000)},
    {"--run-memory", AT(run_bytes_max), BYTES, UINT64_C(16) << 20, UINT64_C(1) << 50},
    {"--run-disk", AT(disk_bytes_max), BYTES, UINT64_C(1) << 16, UINT64_C(1) << 50},
    {"--disk-free", AT(disk_bytes_free), BYTES, 0, UINT64_C(1) << 50},
    {"--user-files", AT(user_files_bytes), BYTES, 0, UINT64_C(1) << 50},
    {"--user-runs", AT(user_run_bytes), BYTES, 0, UINT64_C(1) << 50},
    {"--sql-time", AT(sql_s_max), COUNT, 1, 3600},
    {"--queue", AT(queue_max), COUNT, 1, 1000000},
    {"--group", AT(group_max), COUNT, 1, 100000},
    {"--page", AT(page), TEXT, 0, 0},
    {"--library", AT(scenarios), TEXT, 0, 0},
    {"--program", AT(program), TEXT, 0, 0},
};
// clang-format on

static bool read_number(const option_t *option, const char *text, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    uint64_t unit = 1;
    if (option->kind == BYTES && strcmp(end, "MB") == 0) {
        unit = 1000000;
    } else if (option->kind == BYTES && strcmp(end, "GB") == 0) {
        unit = 1000000000;
    } else if (end[0] != '\0') {
        return false;
    }
    return errno == 0 && !__builtin_mul_overflow(value, unit, number) && *number >= option->least &&
           *number <= option->most;
}

static sim_err_t set(studio_options_t *to, const option_t *option, const char *text,
                     sim_message_t *message)
{
    char *const place = (char *)to + option->offset;
    if (option->kind == FLAG) {
        const bool on = true;
        memcpy(place, &on, sizeof(on));
    } else if (option->kind == TEXT) {
        memcpy(place, &text, sizeof(text));
    } else {
        uint64_t number;
        if (!read_number(option, text, &number)) {
            return sim_fail(message, SIM_ERR_RANGE,
                            "%s %s: expected a number from %" PRIu64 " to %" PRIu64, option->name,
                            text, option->least, option->most);
        }
        memcpy(place, &number, sizeof(number));
    }
    return SIM_OK;
}

static sim_err_t take_option(studio_arguments_t *arguments, const char *const *argv, int argc,
                             int *at, sim_message_t *message)
{
    const char *const text = argv[*at];
    const size_t length = strcspn(text, "=");
    for (size_t i = 0; i < SIM_COUNT_OF(options); i++) {
        const option_t *const option = &options[i];
        if (strlen(option->name) != length || strncmp(option->name, text, length) != 0) {
            continue;
        }
        const char *value = text[length] == '=' ? text + length + 1 : NULL;
        if (option->kind != FLAG && value == NULL) {
            if (*at + 1 == argc) {
                return sim_fail(message, SIM_ERR_INVALID,
                                "%s needs a value: expected %s VALUE or %s=VALUE", option->name,
                                option->name, option->name);
            }
            value = argv[++*at];
        }
        return set(&arguments->options, option, value, message);
    }
    return sim_fail(message, SIM_ERR_UNKNOWN,
                    "unknown option %s; rocesim studio --help lists all options", text);
}

// -- where things are

static const char *keep(studio_arguments_t *arguments, char *text)
{
    SIM_CHECK(arguments->memory_count < SIM_COUNT_OF(arguments->memory));
    arguments->memory[arguments->memory_count++] = text;
    return text;
}

// Finds a file of the build tree beside this program; if there is none, returns its place in an
// installation.
static const char *find(studio_arguments_t *arguments, const char *beside, const char *installed)
{
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (length < 0) {
        return beside;
    }
    folder[length] = '\0';
    char *const slash = strrchr(folder, '/');
    *slash = '\0';
    char *const first = sim_format("%s/%s", folder, beside);
    if (access(first, F_OK) == 0) {
        return keep(arguments, first);
    }
    sim_free(first);
    return keep(arguments, sim_format("%s/../../%s", folder, installed));
}

static const char *default_data(studio_arguments_t *arguments)
{
    const char *const shared = getenv("XDG_DATA_HOME");
    const char *const home = getenv("HOME");
    if (shared != NULL && shared[0] == '/') {
        return keep(arguments, sim_format("%s/rocesim-studio", shared));
    }
    return home == NULL || home[0] != '/'
               ? "rocesim-studio"
               : keep(arguments, sim_format("%s/.local/share/rocesim-studio", home));
}

static void set_defaults(studio_arguments_t *arguments)
{
    studio_options_t *const o = &arguments->options;
    o->data = o->data == NULL ? default_data(arguments) : o->data;
    o->page = o->page == NULL ? find(arguments, "studio-page", "share/rocesim/studio") : o->page;
    o->scenarios = o->scenarios == NULL ? find(arguments, "scenarios", "share/rocesim/scenarios")
                                        : o->scenarios;
    o->program = o->program == NULL ? find(arguments, "rocesim", "bin/rocesim") : o->program;
}

// Checks the paths that the command line names. Paths that the server found itself may be missing.
static sim_err_t check_named(const studio_options_t *o, sim_message_t *message)
{
    const struct {
        const char *option;
        const char *path;
        const char *inside;
        int access;
        const char *expected;
    } named[] = {
        {"--page", o->page, "/index.html", R_OK, "the folder of the built page"},
        {"--library", o->scenarios, "/", R_OK | X_OK, "a folder of scenarios"},
        {"--program", o->program, "", X_OK, "the program rocesim"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(named); i++) {
        if (named[i].path == NULL) {
            continue;
        }
        char *const path = sim_format("%s%s", named[i].path, named[i].inside);
        const bool there = access(path, named[i].access) == 0;
        const int reason = errno;
        sim_free(path);
        if (!there) {
            return sim_fail(message, SIM_ERR_INVALID, "%s %s: %s, expected %s", named[i].option,
                            named[i].path, strerror(reason), named[i].expected);
        }
    }
    return SIM_OK;
}

static sim_err_t check(const studio_arguments_t *arguments, sim_message_t *message)
{
    const studio_options_t *const o = &arguments->options;
    if ((o->tls_cert == NULL) != (o->tls_key == NULL)) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "--tls-cert and --tls-key must be given together");
    }
    if ((o->first_user == NULL) != (o->password == NULL)) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "--first-user and --password-file must be given together");
    }
    const bool copies = arguments->command == STUDIO_BACKUP || arguments->command == STUDIO_RESTORE;
    if (copies && arguments->folder == NULL) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "backup and restore need one argument, the FOLDER of the copy");
    }
    return SIM_OK;
}

static sim_err_t take_word(studio_arguments_t *arguments, const char *word, sim_message_t *message)
{
    const bool copies = arguments->command == STUDIO_BACKUP || arguments->command == STUDIO_RESTORE;
    if (copies && arguments->folder == NULL) {
        arguments->folder = word;
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_INVALID,
                    "unexpected argument %s; rocesim studio --help shows the usage", word);
}

sim_err_t studio_arguments_parse(int argc, const char *const *argv, studio_arguments_t *arguments,
                                 sim_message_t *message)
{
    memset(arguments, 0, sizeof(*arguments));
    arguments->options = (studio_options_t){
        .listen = "127.0.0.1:8080",
        .jobs = 2,
        .run_threads = 1,
        .run_ranks = 1,
        .run_s_max = 86400,
        .run_bytes_max = UINT64_C(8000000000),
        .disk_bytes_max = UINT64_C(10000000000),
        .disk_bytes_free = UINT64_C(1000000000),
        .user_files_bytes = UINT64_C(1000000000),
        .user_run_bytes = UINT64_C(50000000000),
        .sql_s_max = 10,
        .queue_max = 2000,
        .group_max = 1000,
    };
    sim_err_t result = SIM_OK;
    if (getenv("STUDIO_TRIAL") != NULL) {
        arguments->command = STUDIO_TRIAL_CHILD;
        arguments->rest = argv + 1;
        return SIM_OK;
    }
    for (int i = 1; i < argc && result == SIM_OK; i++) {
        const char *const text = argv[i];
        if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            arguments->command = STUDIO_HELP;
            return SIM_OK;
        }
        if (strcmp(text, "--version") == 0) {
            arguments->command = STUDIO_VERSION;
            return SIM_OK;
        }
        if (i == 1 && (strcmp(text, "child") == 0 || strcmp(text, "check") == 0 ||
                       strcmp(text, "draw") == 0 || strcmp(text, "sql") == 0)) {
            arguments->command = text[0] == 'd'   ? STUDIO_FIGURE_CHILD
                                 : text[0] == 's' ? STUDIO_SQL_CHILD
                                 : text[2] == 'i' ? STUDIO_RUN_CHILD
                                                  : STUDIO_CHECK_CHILD;
            arguments->rest = argv + 2;
            return SIM_OK;
        }
        if (i == 1 && strcmp(text, "backup") == 0) {
            arguments->command = STUDIO_BACKUP;
        } else if (i == 1 && strcmp(text, "restore") == 0) {
            arguments->command = STUDIO_RESTORE;
        } else {
            result = text[0] == '-' ? take_option(arguments, argv, argc, &i, message)
                                    : take_word(arguments, text, message);
        }
    }
    if (result == SIM_OK) {
        result = check_named(&arguments->options, message);
    }
    if (result == SIM_OK) {
        set_defaults(arguments);
        result = check(arguments, message);
    }
    return result;
}

void studio_arguments_fini(studio_arguments_t *arguments)
{
    sim_free_each(arguments->memory, arguments->memory_count);
}

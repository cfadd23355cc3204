// SPDX-License-Identifier: Apache-2.0
// cli/shell/commands.c - the lines of a shell: commands, and commands of hosts.
#include "cli/shell/commands.h"
#include "cli/shell/clock.h"
#include "cli/shell/started.h"
#include "kernel/parse.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "world/faults.h"
#include "world/format.h"
#include "world/names.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define FAULT_WORDS_MAX 12u // keys of a fault

typedef struct command {
    const char *name;
    const char *usage;
    const char *help;
    // Runs the command with the rest of the line, which begins with no blank.
    sim_err_t (*run)(cli_shell_t *shell, char *rest);
} command_t;

static sim_err_t refuse(cli_shell_t *shell, const char *expected, const char *rest)
{
    world_shown_t shown;
    return world_fail(&shell->error, SIM_ERR_INVALID, &shell->place, "'%s': expected %s",
                      world_show(&shown, rest), expected);
}

// Takes the next word of a line, ends it, and moves *rest behind it.
static char *take_word(char **rest)
{
    char *const word = *rest + strspn(*rest, BLANKS);
    char *end = word + strcspn(word, BLANKS);
    *rest = end + strspn(end, BLANKS);
    *end = '\0';
    return word;
}

// -- time

static void print_time(const cli_shell_t *shell)
{
    world_text_t time;
    printf("%s\n", world_format_time(&time, shell->now_ps));
}

static sim_err_t run_time(cli_shell_t *shell, char *rest)
{
    if (*rest != '\0') {
        return refuse(shell, "nothing behind time; `run 10ms` lets time pass", rest);
    }
    print_time(shell);
    return SIM_OK;
}

static sim_err_t run_run(cli_shell_t *shell, char *rest)
{
    sim_time_t time_ps = SIM_TIME_END;
    sim_message_t message;
    if (*rest != '\0' && sim_parse_time(rest, &time_ps, &message) != SIM_OK) {
        return world_fail(&shell->error, SIM_ERR_INVALID, &shell->place, "run: %s", message.text);
    }
    const sim_time_t left_ps = SIM_TIME_END - shell->now_ps;
    const cli_shell_passed_t passed =
        cli__shell_pass(shell, shell->now_ps + SIM_MIN(time_ps, left_ps), false);
    if (passed == CLI_SHELL_OVER) {
        fprintf(stderr, "the time of the scenario is over (until)\n");
    }
    return SIM_OK;
}

// -- programs

static sim_err_t run_wait(cli_shell_t *shell, char *rest)
{
    if (*rest != '\0') {
        return refuse(shell, "nothing behind wait, which waits for all programs", rest);
    }
    cli__shell_wait(shell);
    return SIM_OK;
}

static sim_err_t run_jobs(cli_shell_t *shell, char *rest)
{
    app_programs_view_t view;
    if (*rest != '\0') {
        return refuse(shell, "nothing behind jobs", rest);
    }
    for (size_t i = 0; cli__shell_next(shell, &i, &view) != NULL;) {
        const char *const words = view.state == APP_PROGRAMS_RUNS ? "the program waits"
                                  : view.state == APP_PROGRAMS_ENDED
                                      ? ""
                                      : "the program has not started";
        printf("%s-%u: %s%s: %s\n", view.host, view.number, words, view.text, view.command);
    }
    return SIM_OK;
}

static int signal_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"INT", SIGINT},   {"TERM", SIGTERM}, {"KILL", SIGKILL}, {"HUP", SIGHUP},
                   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM}};
    name += strncmp(name, "SIG", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < SIM_COUNT_OF(signals); i++) {
        if (strcmp(signals[i].name, name) == 0) {
            return signals[i].number;
        }
    }
    return 0;
}

static sim_err_t run_kill(cli_shell_t *shell, char *rest)
{
    const char *const name = take_word(&rest);
    const char *const word = take_word(&rest);
    const int number = *word == '\0' ? SIGTERM : signal_of(word);
    if (number == 0 || *rest != '\0') {
        return refuse(shell, "INT, TERM, KILL, HUP, QUIT, USR1, USR2 or ALRM", word);
    }
    app_programs_view_t view;
    app_t *app;
    for (size_t i = 0; (app = cli__shell_next(shell, &i, &view)) != NULL;) {
        char *const own = sim_format("%s-%u", view.host, view.number);
        const bool meant = strcmp(own, name) == 0;
        sim_free(own);
        if (meant && view.state == APP_PROGRAMS_ENDED) {
            return refuse(shell, "a program that has not ended", name);
        }
        if (meant) {
            app_programs_signal(app, number, shell->now_ps);
            (void)cli__shell_pass(shell, shell->now_ps + 1, false);
            return SIM_OK;
        }
    }
    return refuse(shell, "a program as `jobs` names it, such as host0-0", name);
}

// -- the network

static sim_err_t run_nodes(cli_shell_t *shell, char *rest)
{
    const net_t *const net = shell->world->net;
    if (*rest != '\0') {
        return refuse(shell, "nothing behind nodes", rest);
    }
    for (size_t i = 0; i < net_node_count(net); i++) {
        printf("%s\n", net_node_name(net, i));
    }
    return SIM_OK;
}

static sim_err_t run_hosts(cli_shell_t *shell, char *rest)
{
    const net_t *const net = shell->world->net;
    if (*rest != '\0') {
        return refuse(shell, "nothing behind hosts", rest);
    }
    for (size_t i = 0; i < net_node_count(net); i++) {
        if (net_kind_of(net, i) == NET_NODE_HOST) {
            printf("%s\n", net_node_name(net, i));
        }
    }
    return SIM_OK;
}

static sim_err_t run_links(cli_shell_t *shell, char *rest)
{
    const net_t *const net = shell->world->net;
    if (*rest != '\0') {
        return refuse(shell, "nothing behind links", rest);
    }
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_t link = net_link_at(net, i);
        const net_port_t *const port = net_port_at(link.a, link.a_port);
        world_text_t rate;
        world_text_t delay;
        printf("%s--%s %s %s%s\n", link.a->sim.name, link.b->sim.name,
               world_format_rate(&rate, port->line->rate_bps),
               world_format_time(&delay, port->line->delay_ps), port->down ? " down" : "");
    }
    return SIM_OK;
}

// Prints when a fault begins or ends.
static void print_fault(const cli_shell_t *shell, const char *part, const char *kind,
                        sim_time_t at_ps)
{
    world_text_t time;
    if (cli_input_is_terminal(shell->input)) {
        printf("%s: %s at %s\n", part, kind, world_format_time(&time, at_ps));
    }
}

static sim_err_t run_fault(cli_shell_t *shell, char *rest)
{
    const char *words[2 * FAULT_WORDS_MAX + 1] = {"part", NULL, "kind", NULL, NULL};
    size_t count = 4;
    sim_time_t for_ps = SIM_TIME_NEVER;
    sim_time_t at_ps = 0;
    const char *part = take_word(&rest);
    if (strcmp(part, "link") == 0) {
        part = take_word(&rest);
    }
    const char *const kind = take_word(&rest);
    if (*kind == '\0') {
        return refuse(shell, "a part and what happens to it: fault leaf0--spine1 down", part);
    }
    words[1] = part;
    words[3] = kind;
    while (*rest != '\0') {
        char *const word = take_word(&rest);
        char *const equals = strchr(word, '=');
        sim_message_t message;
        if (strcmp(word, "for") == 0) {
            if (sim_parse_time(take_word(&rest), &for_ps, &message) != SIM_OK) {
                return world_fail(&shell->error, SIM_ERR_INVALID, &shell->place, "fault: for: %s",
                                  message.text);
            }
        } else if (equals == NULL || count == 2 * FAULT_WORDS_MAX) {
            return refuse(shell, "for TIME, or NAME=VALUE as in `rocesim params faults`", word);
        } else {
            *equals = '\0';
            words[count++] = word;
            words[count++] = equals + 1;
        }
    }
    words[count] = NULL;
    const bool up = strcmp(kind, "up") == 0;
    if (up && (count > 4 || for_ps != SIM_TIME_NEVER)) {
        return refuse(shell, "nothing behind up", part);
    }
    const sim_err_t result =
        up ? world_end_fault(shell->world, shell->scenario, &shell->place, part, shell->now_ps,
                             &at_ps, &shell->error)
           : world_add_fault(shell->world, shell->scenario, &shell->place, words, shell->now_ps,
                             for_ps, &at_ps, &shell->error);
    if (result == SIM_OK) {
        print_fault(shell, part, kind, at_ps);
    }
    return result;
}

// -- the shell

static sim_err_t run_exit(cli_shell_t *shell, char *rest)
{
    if (*rest != '\0') {
        return refuse(shell, "nothing behind exit", rest);
    }
    shell->leaves = true;
    return SIM_OK;
}

static sim_err_t run_help(cli_shell_t *shell, char *rest);

// clang-format off
static const command_t commands[] = {
    {"run", "run [TIME]", "let simulated time pass; without TIME until nothing more happens", run_run},
    {"time", "time", "print the simulated time, which stands still while you type", run_time},
    {"wait", "wait", "wait for all programs", run_wait},
    {"jobs", "jobs", "list the programs and what each waits for, or how it ended", run_jobs},
    {"kill", "kill HOST-N [SIGNAL]", "send a signal to a program; TERM without SIGNAL", run_kill},
    {"fault", "fault PART KIND [for TIME] [NAME=VALUE]...", "let a link or a NIC fail now: fault leaf0--spine1 down; up ends it", run_fault},
    {"hosts", "hosts", "list the hosts", run_hosts},
    {"nodes", "nodes", "list hosts and switches", run_nodes},
    {"links", "links", "list links, their rates and delays, and which are down", run_links},
    {"help", "help", "print this list", run_help},
    {"exit", "exit", "end the shell and all programs, and write the results", run_exit},
};
// clang-format on

static sim_err_t run_help(cli_shell_t *shell, char *rest)
{
    if (*rest != '\0') {
        return refuse(shell, "nothing behind help", rest);
    }
    printf("%-20s %s\n", "HOST COMMAND", "run a command as a program of a host and wait for it");
    printf("%-20s %s\n", "HOST COMMAND &", "start a command in the background");
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        printf("%-20s %s\n", commands[i].usage, commands[i].help);
    }
    return SIM_OK;
}

const char *cli__shell_name_at(const void *ctx, size_t i)
{
    const cli_shell_t *const shell = ctx;
    if (i < SIM_COUNT_OF(commands)) {
        return commands[i].name;
    }
    const net_t *const net = shell->world->net;
    i -= SIM_COUNT_OF(commands);
    return i < net_node_count(net) ? net_node_name(net, i) : NULL;
}

// -- lines

static bool is_host(const cli_shell_t *shell, const char *name)
{
    const net_t *const net = shell->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        if (net_kind_of(net, i) == NET_NODE_HOST && strcmp(net_node_name(net, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static sim_err_t refuse_name(cli_shell_t *shell, const char *name)
{
    const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    const char *next;
    for (size_t i = 0; (next = cli__shell_name_at(shell, i)) != NULL; i++) {
        SIM_APPEND(names, count, capacity, next);
    }
    world_shown_t shown;
    (void)world_fail(&shell->error, SIM_ERR_UNKNOWN, &shell->place,
                     "'%s' is neither a command nor a host", world_show(&shown, name));
    (void)world_error_add_nearest(&shell->error, name, names, count);
    world_error_add_expected(&shell->error, "HOST COMMAND or what `help` lists");
    sim_free((void *)names);
    return SIM_ERR_UNKNOWN;
}

// Runs "HOST COMMAND" or "HOST COMMAND &".
static sim_err_t run_program(cli_shell_t *shell, const char *host, char *rest)
{
    size_t size = strlen(rest);
    while (size > 0 && strchr(BLANKS, rest[size - 1]) != NULL) {
        size--;
    }
    const bool background = size > 0 && rest[size - 1] == '&';
    for (size -= background; size > 0 && strchr(BLANKS, rest[size - 1]) != NULL; size--) {
    }
    rest[size] = '\0';
    if (size == 0) {
        return refuse(shell, "a command behind the host, such as `host0 ib_write_bw &`", host);
    }
    return cli__shell_start(shell, host, rest, background);
}

sim_err_t cli__shell_run_line(cli_shell_t *shell, char *line)
{
    char *rest = line;
    const char *const name = take_word(&rest);
    if (*name == '\0' || *name == '#') {
        return SIM_OK;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].run(shell, rest);
        }
    }
    return is_host(shell, name) ? run_program(shell, name, rest) : refuse_name(shell, name);
}

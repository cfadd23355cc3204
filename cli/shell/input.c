// SPDX-License-Identifier: Apache-2.0
// cli/shell/input.c - lines of a terminal or of a script.
//
// Signals are blocked but for the wait for input, so none is missed between a look at what it has
// changed and the wait.
#define _GNU_SOURCE // ppoll
#include "cli/shell/input.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ROCESIM_HAS_READLINE
#include <readline/history.h>
#include <readline/readline.h>
#endif

#define PROMPT "rocesim> "
#define READ_BYTES 4096u

struct cli_input {
    bool terminal;
    bool ended;
    bool too_long;
    FILE *screen; // of Readline: stdout shows control characters, and would show Readline's
    char *line;   // returned last
    char *bytes;  // without Readline: read and not yet returned
    size_t count;
    size_t capacity;
    cli_input_word_fn word;
    const void *ctx;
};

// The input whose line Readline edits. It is global because Readline's callbacks have no context
// argument.
static cli_input_t *edited;

// -- lines without an editor

// Takes the next whole line, or at the end of the input the rest. Returns NULL if there is none.
static char *take_line(cli_input_t *input)
{
    char *const end = input->count == 0 ? NULL : memchr(input->bytes, '\n', input->count);
    const size_t size = end != NULL ? (size_t)(end - input->bytes) : input->count;
    if (end == NULL && (!input->ended || size == 0)) {
        return NULL;
    }
    char *const line = sim_format("%.*s", (int)size, input->bytes);
    const size_t taken = size + (end != NULL);
    input->count -= taken;
    memmove(input->bytes, input->bytes + taken, input->count);
    return line;
}

static void read_some(cli_input_t *input)
{
    SIM_RESERVE(input->bytes, input->count + READ_BYTES, &input->capacity);
    const ssize_t got = read(STDIN_FILENO, input->bytes + input->count, READ_BYTES);
    if (got > 0) {
        input->count += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
        input->ended = true;
    }
    if (input->count > CLI_INPUT_LINE_MAX && memchr(input->bytes, '\n', input->count) == NULL) {
        input->count = 0;
        input->ended = true;
        input->too_long = true;
    }
}

// -- Readline

#ifdef ROCESIM_HAS_READLINE

static char *next_word(const char *text, int state)
{
    static size_t next; // Readline's interface: it counts up from 0 while `state` is not 0
    next = state == 0 ? 0 : next;
    for (;;) {
        const char *const word = edited->word(edited->ctx, next++);
        if (word == NULL) {
            return NULL;
        }
        if (strncmp(word, text, strlen(text)) == 0) {
            return sim_strdup(word); // Readline frees it, by free()
        }
    }
}

static char **complete(const char *text, int start, int end)
{
    (void)start;
    (void)end;
    return rl_completion_matches(text, next_word);
}

static void take_edited(char *line)
{
    if (line == NULL) {
        edited->ended = true;
        fputs("\n", stdout);
    } else {
        if (*line != '\0') {
            add_history(line);
        }
        edited->line = sim_strdup(line);
        free(line);
    }
    rl_callback_handler_remove();
}

static void begin_line(cli_input_t *input)
{
    edited = input;
    if (input->screen == NULL) {
        input->screen = fdopen(dup(STDOUT_FILENO), "w");
        rl_outstream = input->screen;
    }
    rl_readline_name = "rocesim";
    rl_catch_signals = 0;
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = " \t\n";
    rl_callback_handler_install(PROMPT, take_edited);
}

static void drop_line(void)
{
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_replace_line("", 0);
    (void)rl_crlf();
    (void)rl_on_new_line();
    rl_redisplay();
}

static void take_input(cli_input_t *input)
{
    (void)input;
    rl_callback_read_char();
}

static void end_line(cli_input_t *input)
{
    if (input->line == NULL && !input->ended) {
        rl_callback_handler_remove();
    }
}

#else

static void begin_line(cli_input_t *input)
{
    edited = input;
    fputs(PROMPT, stdout);
    fflush(stdout);
}

static void drop_line(void)
{
    edited->count = 0;
    fputs("\n" PROMPT, stdout);
    fflush(stdout);
}

static void take_input(cli_input_t *input)
{
    read_some(input);
    input->line = take_line(input);
}

static void end_line(cli_input_t *input)
{
    (void)input;
}

#endif

// -- both

cli_input_t *cli_input_open(cli_input_word_fn word, const void *ctx)
{
    cli_input_t *const input = sim_alloc(sizeof(*input));
    *input = (cli_input_t){.word = word, .ctx = ctx, .terminal = isatty(STDIN_FILENO) == 1};
    return input;
}

void cli_input_close(cli_input_t *input)
{
    if (input->screen != NULL) {
        (void)fclose(input->screen);
    }
    SIM_FREE_ALL(input->line, input->bytes, input);
}

bool cli_input_is_terminal(const cli_input_t *input)
{
    return input->terminal;
}

bool cli_input_is_too_long(const cli_input_t *input)
{
    return input->too_long;
}

char *cli_input_line(cli_input_t *input, bool (*stops)(void), bool (*interrupted)(void))
{
    sigset_t all;
    sigset_t before;
    sim_free(input->line);
    input->line = input->terminal ? NULL : take_line(input);
    fflush(stdout);
    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    const bool edits = input->terminal && !input->ended;
    if (edits) {
        begin_line(input);
    }
    while (input->line == NULL && !input->ended && !stops()) {
        struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
        const bool ready = ppoll(&wait, 1, NULL, &before) > 0;
        if (interrupted()) {
            if (!edits) {
                break;
            }
            drop_line();
        } else if (ready && edits) {
            take_input(input);
        } else if (ready) {
            read_some(input);
            input->line = take_line(input);
        }
    }
    if (edits) {
        end_line(input);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return input->line;
}

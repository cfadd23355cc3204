// SPDX-License-Identifier: Apache-2.0
// cli/manual.c - turns the texts of --help into manual pages, and the tables of commands and
// options into completions.
//
// A text of --help consists of paragraphs that blank lines divide. A paragraph whose lines begin
// with "rocesim" is a synopsis. A line that is indented by two spaces begins an entry: its name
// ends at two spaces or at the end of the line, and deeper lines continue its text. Entries that
// are indented by six spaces belong to the entry before them.
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

#define ENTRY_INDENT 2u
#define INNER_INDENT 6u

// The line at `text` without its line feed. Returns where the next line begins.
static const char *take_line(const char *text, const char **line, size_t *size)
{
    *line = text;
    *size = strcspn(text, "\n");
    return text[*size] == '\n' ? text + *size + 1 : text + *size;
}

static size_t indent_of(const char *line, size_t size)
{
    size_t indent = 0;
    while (indent < size && line[indent] == ' ') {
        indent++;
    }
    return indent;
}

// The size of an entry's name, which begins at `text`: up to two spaces or the end of the line.
static size_t name_size(const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] == ' ' && text[i + 1] == ' ') {
            return i;
        }
    }
    return size;
}

// -- roff

// Prints text so that roff shows it as it stands.
static void put_roff(const char *text, size_t size, FILE *out)
{
    if (size > 0 && (text[0] == '.' || text[0] == '\'')) {
        fputs("\\&", out);
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\') {
            fputs("\\e", out);
        } else if (text[i] == '-') {
            fputs("\\-", out);
        } else {
            fputc(text[i], out);
        }
    }
}

typedef struct page {
    FILE *out;
    bool synopsis; // the section SYNOPSIS is open
    bool options;  // the section OPTIONS or COMMANDS is open
    bool commands; // it is COMMANDS
    bool inner;    // an entry inside an entry is open
    bool blank;    // the line before was blank
    bool groups;   // the page lists commands in groups, and a line that ends with a colon names one
} page_t;

static void end_inner(page_t *page)
{
    if (page->inner) {
        fputs(".RE\n", page->out);
        page->inner = false;
    }
}

static void put_entry(page_t *page, const char *line, size_t size, size_t indent)
{
    if (indent >= INNER_INDENT && !page->inner) {
        fputs(".RS\n", page->out);
        page->inner = true;
    } else if (indent < INNER_INDENT) {
        end_inner(page);
    }
    const char *const name = line + indent;
    const size_t rest = size - indent;
    const size_t length = name_size(name, rest);
    fputs(".TP\n.B ", page->out);
    put_roff(name, length, page->out);
    fputc('\n', page->out);
    size_t at = length;
    while (at < rest && name[at] == ' ') {
        at++;
    }
    if (at < rest) {
        put_roff(name + at, rest - at, page->out);
        fputc('\n', page->out);
    }
}

static bool is_synopsis(const char *line, size_t size)
{
    return size > 8 && strncmp(line, "rocesim ", 8) == 0 &&
           (islower((unsigned char)line[8]) != 0 && memchr(line, '.', size) != line + size - 1);
}

// Returns whether an indented line begins an entry: an option, a command or an action. A line that
// continues the text of an entry is indented further than entries are.
static bool begins_entry(const char *line, size_t size, size_t indent)
{
    if (indent == ENTRY_INDENT) {
        return true;
    }
    return indent == INNER_INDENT && name_size(line + indent, size - indent) < size - indent;
}

static void put_line(page_t *page, const char *line, size_t size)
{
    const size_t indent = indent_of(line, size);
    if (size == 0) {
        page->blank = true;
        return;
    }
    if (indent == 0 && page->blank) {
        end_inner(page);
    }
    if (indent == 0 && is_synopsis(line, size) && (page->blank || page->synopsis)) {
        fputs(page->synopsis && !page->blank ? ".br\n" : ".PP\n", page->out);
        fputs(".B ", page->out);
        put_roff(line, size, page->out);
        fputc('\n', page->out);
        page->synopsis = true;
    } else if (begins_entry(line, size, indent)) {
        const bool option = line[indent] == '-';
        if (!page->options || (option && page->commands)) {
            end_inner(page);
            fputs(option ? ".SH OPTIONS\n" : ".SH COMMANDS\n", page->out);
            page->options = true;
            page->commands = !option;
        }
        put_entry(page, line, size, indent);
        page->synopsis = false;
    } else if (page->groups && page->blank && size > 0 && line[size - 1] == ':') {
        fputs(page->options ? ".SS " : ".SH COMMANDS\n.SS ", page->out);
        put_roff(line, size - 1, page->out);
        fputc('\n', page->out);
        page->options = true;
    } else {
        if (page->blank && indent == 0) {
            fputs(".PP\n", page->out);
        }
        put_roff(line + indent, size - indent, page->out);
        fputc('\n', page->out);
        page->synopsis = false;
    }
    page->blank = false;
}

// -- the list of commands in the program's text

// Finds the next line "  rocesim NAME ...  SUMMARY" at or behind `text`. Returns where the line
// after it begins; NULL: there is none.
static const char *next_command(const char *text, const char **name, size_t *name_length,
                                const char **summary, size_t *summary_length)
{
    static const char begin[] = "  rocesim ";
    while (*text != '\0') {
        const char *line;
        size_t size;
        text = take_line(text, &line, &size);
        const size_t skip = sizeof(begin) - 1;
        if (size <= skip || strncmp(line, begin, skip) != 0 ||
            islower((unsigned char)line[skip]) == 0) {
            continue;
        }
        *name = line + skip;
        *name_length = strcspn(*name, " \n");
        const size_t entry = name_size(line + ENTRY_INDENT, size - ENTRY_INDENT) + ENTRY_INDENT;
        size_t at = entry;
        while (at < size && line[at] == ' ') {
            at++;
        }
        *summary = line + at;
        *summary_length = size - at;
        return text;
    }
    return NULL;
}

// Prints the summary of the command: "simulate a scenario and write results to DIR".
static void put_summary(const char *command, FILE *out)
{
    const char *text = cli_help_text(CLI_PROGRAM);
    const char *name;
    const char *summary;
    size_t name_length;
    size_t summary_length;
    while ((text = next_command(text, &name, &name_length, &summary, &summary_length)) != NULL) {
        if (strlen(command) == name_length && strncmp(name, command, name_length) == 0) {
            put_roff(summary, summary_length, out);
            return;
        }
    }
    fputs("explain a command", out);
}

void cli_manual_page(cli_command_t command, FILE *out)
{
    const char *const name = command == CLI_PROGRAM ? "" : cli_command_name(command);
    const char *const dash = name[0] != '\0' ? "-" : "";
    fprintf(out,
            ".\\\" Made by `rocesim help --man` from the texts of --help.\n"
            ".TH ROCESIM%s%s 1 \"\" \"rocesim %s\"\n.SH NAME\nrocesim%s%s \\- ",
            dash, name, ROCESIM_VERSION, dash, name);
    if (command == CLI_PROGRAM) {
        fputs("packet\\-level simulation of RDMA networks", out);
    } else {
        put_summary(name, out);
    }
    fputs("\n", out);
    const char *text = cli_help_text(command);
    fputs(command == CLI_PROGRAM ? ".SH DESCRIPTION\n" : ".SH SYNOPSIS\n", out);
    page_t page = {.out = out, .blank = true, .groups = command == CLI_PROGRAM};
    bool described = command == CLI_PROGRAM;
    while (*text != '\0') {
        const char *line;
        size_t size;
        text = take_line(text, &line, &size);
        if (!described && size > 0 && !is_synopsis(line, size)) {
            fputs(".SH DESCRIPTION\n", out);
            described = true;
        }
        put_line(&page, line, size);
    }
    end_inner(&page);
    fputs(".SH SEE ALSO\n", out);
    if (command == CLI_PROGRAM) {
        const char *name_at;
        const char *summary;
        const char *last = "";
        size_t length;
        size_t summary_length;
        text = cli_help_text(CLI_PROGRAM);
        while ((text = next_command(text, &name_at, &length, &summary, &summary_length)) != NULL) {
            if (strncmp(last, name_at, length) != 0 && strncmp(name_at, "studio", length) != 0) {
                fprintf(out, ".BR rocesim\\-%.*s (1),\n", (int)length, name_at);
            }
            last = name_at;
        }
        fputs("the pages in /usr/share/doc/rocesim\n", out);
    } else {
        fputs(".BR rocesim (1)\n", out);
    }
}

// -- completions

// Prints the first sentence of an option's text, without what a shell would read as its own.
static void put_option_text(cli_command_t command, const char *option, FILE *out)
{
    const char *text = cli_help_text(command);
    const size_t option_size = strlen(option);
    bool found = false;
    char last = '\0';
    while (*text != '\0') {
        const char *line;
        size_t size;
        text = take_line(text, &line, &size);
        size_t at = indent_of(line, size);
        if (found && (size == 0 || at <= INNER_INDENT)) {
            return;
        }
        if (!found) {
            if (at != ENTRY_INDENT || strncmp(line + at, option, option_size) != 0 ||
                strchr(" ,\n", line[at + option_size]) == NULL) {
                continue;
            }
            found = true;
            at += name_size(line + at, size - at);
            at += indent_of(line + at, size - at);
        } else if (last != '\0') {
            fputc(' ', out);
        }
        for (; at < size; at++) {
            if (strchr(".:", line[at]) != NULL && (at + 1 == size || line[at + 1] == ' ')) {
                return;
            }
            if (strchr("[]'\"`\\$", line[at]) == NULL) {
                fputc(line[at], out);
                last = line[at];
            }
        }
    }
}

static void bash_options(cli_command_t command, FILE *out)
{
    fprintf(out, "    %s) options='", cli_command_name(command));
    bool has_value;
    const char *option;
    for (size_t i = 0; (option = cli_option_at(command, &i, &has_value)) != NULL;) {
        fprintf(out, "%s ", option);
    }
    fputs("' ;;\n", out);
}

static void bash_completion(FILE *out)
{
    fputs("# Completes rocesim's command lines in bash. Made by `rocesim help --completion bash`.\n"
          "_rocesim()\n{\n"
          "    local options='' command=${COMP_WORDS[1]:-} word=$2 before=$3 plugins=() i\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    cli_command_t command;
    for (size_t i = 0; cli_command_at(i, &command); i++) {
        fprintf(out, "%s ", cli_command_name(command));
    }
    fputs("studio --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; cli_command_at(i, &command); i++) {
        bash_options(command, out);
    }
    fputs("    esac\n"
          "    if [ \"$before\" = --set ]; then\n"
          "        compopt -o nospace\n"
          "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "            if [ \"${COMP_WORDS[i]}\" = --plugin ]; then\n"
          "                plugins+=(--plugin \"${COMP_WORDS[i + 1]}\")\n"
          "            fi\n"
          "        done\n"
          "        COMPREPLY=($(compgen -W \"$({ \"$1\" params \"${plugins[@]}\"; "
          "\"$1\" params \"${COMP_WORDS[2]}\"; } "
          "2>/dev/null |\n"
          "            sed -n 's/^\\([a-z][^ ]*\\) = .*/\\1=/p')\" -- \"$word\"))\n"
          "    elif [ \"$command\" = help ] && [[ $word != -* ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    for (size_t i = 0; cli_command_at(i, &command); i++) {
        fprintf(out, "%s ", cli_command_name(command));
    }
    fputs("' -- \"$word\"))\n"
          "    elif [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    else\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        case $command in run|check|topo|serve|params|show|new)\n"
          "            COMPREPLY+=($(compgen -W \"$(\"$1\" list --json 2>/dev/null |\n"
          "                sed -n 's/^ *\"name\": \"\\(.*\\)\",$/\\1/p')\" -- \"$word\")) ;;\n"
          "        esac\n"
          "    fi\n"
          "}\n"
          "complete -F _rocesim rocesim\n",
          out);
}

static bool takes_scenario(cli_command_t command)
{
    static const cli_command_t all[] = {CLI_RUN,    CLI_CHECK, CLI_TOPO, CLI_SERVE,
                                        CLI_PARAMS, CLI_SHOW,  CLI_NEW};
    for (size_t i = 0; i < SIM_COUNT_OF(all); i++) {
        if (all[i] == command) {
            return true;
        }
    }
    return false;
}

static void zsh_completion(FILE *out)
{
    fputs("#compdef rocesim\n"
          "# Completes rocesim's command lines in zsh. Made by `rocesim help --completion zsh`.\n"
          "local -a commands\n"
          "commands=(\n",
          out);
    const char *text = cli_help_text(CLI_PROGRAM);
    const char *last = "";
    const char *name;
    const char *summary;
    size_t length;
    size_t summary_length;
    while ((text = next_command(text, &name, &length, &summary, &summary_length)) != NULL) {
        if (strncmp(last, name, length) != 0) {
            fprintf(out, "    '%.*s:", (int)length, name);
            for (size_t i = 0; i < summary_length; i++) {
                if (summary[i] != '\'') {
                    fputc(summary[i], out);
                }
            }
            fputs("'\n", out);
        }
        last = name;
    }
    fputs(")\n"
          "_rocesim_scenarios() {\n"
          "    compadd -- ${(f)\"$(rocesim list --json 2>/dev/null |\n"
          "        sed -n 's/^ *\"name\": \"\\(.*\\)\",$/\\1/p')\"}\n"
          "    _files\n"
          "}\n"
          "if ((CURRENT == 2)); then\n"
          "    _describe command commands\n"
          "    return\n"
          "fi\n"
          "local command=$words[2]\n"
          "shift words\n"
          "((CURRENT--))\n"
          "case $command in\n",
          out);
    cli_command_t command;
    for (size_t c = 0; cli_command_at(c, &command); c++) {
        fprintf(out, "%s)\n    _arguments -s", cli_command_name(command));
        bool has_value;
        const char *option;
        for (size_t i = 0; (option = cli_option_at(command, &i, &has_value)) != NULL;) {
            fprintf(out, " \\\n        '*%s[", option);
            put_option_text(command, option, out);
            fputs(has_value ? "]:value:_files'" : "]'", out);
        }
        fprintf(out, " \\\n        '*:file:%s'\n    ;;\n",
                takes_scenario(command) ? "_rocesim_scenarios" : "_files");
    }
    fputs("*) _files ;;\nesac\n", out);
}

sim_err_t cli_manual_completion(const char *shell, FILE *out, world_error_t *error)
{
    if (strcmp(shell, "bash") == 0) {
        bash_completion(out);
    } else if (strcmp(shell, "zsh") == 0) {
        zsh_completion(out);
    } else {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim help: --completion %s, expected bash or zsh",
                          world_show(&shown, shell));
    }
    return SIM_OK;
}

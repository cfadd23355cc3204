// SPDX-License-Identifier: Apache-2.0
// cli/workload/unknown.c - distinguishes scenarios from other files, and describes files in no
// known format by what can be seen of them.
#include "cli/workload/peers.h"

#include "kernel/utf8.h"
#include "world/control_characters.h"
#include "world/scenario.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LOOKED_AT_BYTES ((size_t)1 << 16)
#define KEY_BYTES_MAX 40u
#define SHOWN_MAX 4u // columns and keys that are shown

static const char unknown_use[] =
    "rocesim does not know the format; docs/formats/peers.md lists those "
    "that it knows";

static const char numbers_use[] =
    "matrix_file of a kv-matrix reads a matrix of bytes, a row for each rank "
    "(docs/models/kv-matrix.md)";

// A position in a text whose keys are read one after another.
typedef struct keys {
    const char *text;
    size_t size;
    size_t at;
    bool braces; // the mapping is in braces, as in JSON; else its keys begin lines
    unsigned depth;
    char key[KEY_BYTES_MAX];
} keys_t;

static bool is_key_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static size_t skip_blanks(const char *text, size_t size)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && isspace((unsigned char)text[at])) {
        at++;
    }
    return at;
}

static void keys_init(keys_t *keys, const char *text, size_t size)
{
    const size_t begin = skip_blanks(text, size);
    *keys = (keys_t){.text = text, .size = SIM_MIN(size, LOOKED_AT_BYTES)};
    keys->braces = begin < size && text[begin] == '{';
    keys->at = keys->braces ? begin : begin > 0 && text[0] == '\xef' ? 3 : 0;
}

// Reads a word at the position, with or without quotes. Returns whether a colon follows: the word
// is a key.
static bool take_key(keys_t *keys)
{
    const char quote = keys->text[keys->at];
    const bool quoted = quote == '"' || quote == '\'';
    size_t length = 0;
    keys->at += quoted;
    while (keys->at < keys->size &&
           (quoted ? keys->text[keys->at] != quote : is_key_char(keys->text[keys->at]))) {
        if (length + 1 < sizeof(keys->key)) {
            keys->key[length++] = keys->text[keys->at];
        }
        keys->at += keys->text[keys->at] == '\\' ? 2 : 1;
    }
    keys->key[length] = '\0';
    keys->at += quoted;
    while (keys->at < keys->size && keys->text[keys->at] == ' ') {
        keys->at++;
    }
    return length > 0 && keys->at < keys->size && keys->text[keys->at] == ':';
}

// Advances to the next key of the outermost mapping. Returns false at the end of what is looked at.
static bool next_key(keys_t *keys)
{
    while (keys->at < keys->size) {
        const char c = keys->text[keys->at];
        if (keys->braces) {
            keys->depth += c == '{' || c == '[';
            keys->depth -= (c == '}' || c == ']') && keys->depth > 0;
            if ((is_key_char(c) || c == '"') && take_key(keys) && keys->depth == 1) {
                return true;
            }
            keys->at += !is_key_char(c) && c != '"';
            continue;
        }
        const bool found =
            (is_key_char(c) || c == '"') && take_key(keys) &&
            (keys->at + 1 == keys->size || isspace((unsigned char)keys->text[keys->at + 1]));
        const char *const newline = keys->at < keys->size
                                        ? memchr(keys->text + keys->at, '\n', keys->size - keys->at)
                                        : NULL;
        keys->at = newline != NULL ? (size_t)(newline - keys->text) + 1 : keys->size;
        if (found) {
            return true;
        }
    }
    return false;
}

// Returns whether a key says nothing about whose file it is: graphs in JSON have such keys, too.
static bool is_common(const char *key)
{
    static const char *const keys[] = {"name", "description", "nodes", "links"};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

// Returns whether a mapping with a topology is a network of ASTRA-sim or of containerlab.
static bool is_other_topology(const char *text, size_t size_bytes)
{
    static const char *const words[] = {"npus_count", "endpoints:", "topology: ["};
    const size_t size = SIM_MIN(size_bytes, LOOKED_AT_BYTES);
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        if (cli_has_word(text, size, words[i])) {
            return true;
        }
    }
    return false;
}

bool cli_is_scenario(const char *name, const char *text, size_t size_bytes)
{
    keys_t keys;
    size_t count = 0;
    size_t known = 0;
    for (keys_init(&keys, text, size_bytes); next_key(&keys);) {
        // Other programs write JSON with such keys, too: there the other keys count.
        if (!keys.braces &&
            (strcmp(keys.key, "topology") == 0 || strcmp(keys.key, "traffic") == 0)) {
            return !is_other_topology(text, size_bytes);
        }
        if (is_common(keys.key)) {
            continue;
        }
        count++;
        known += world_scenario_has_key(keys.key);
    }
    const char *const ending = strrchr(name, '.');
    const bool yaml =
        ending != NULL && (strcasecmp(ending, ".yaml") == 0 || strcasecmp(ending, ".yml") == 0);
    return count > 0 ? 2 * known >= count : yaml;
}

// Returns whether the beginning of a file cannot be a text.
static bool is_binary(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const size_t length = sim_utf8_bytes((const unsigned char *)text + i, size - i);
        if (text[i] == '\0' || (length == 0 && i + 4 < size)) {
            return true;
        }
        i += length > 0 ? length : 1;
    }
    return false;
}

// Writes the first words of a line, which a character separates, as 'a', 'b', ...
static void add_words(cli_peer_t *peer, const char *before, const char *line, size_t size,
                      char separator)
{
    (void)snprintf(peer->what, sizeof(peer->what), "%s", before);
    const char *const end = line + size;
    for (size_t i = 0; i < SHOWN_MAX && line <= end; i++) {
        const char *const next = memchr(line, separator, (size_t)(end - line));
        const char *const stop = next != NULL ? next : end;
        const size_t used = strlen(peer->what);
        char word[24];
        world_shown_t shown;
        (void)snprintf(word, sizeof(word), "%.*s", (int)(stop - line), line);
        (void)snprintf(peer->what + used, sizeof(peer->what) - used, "%s'%s'", i > 0 ? ", " : " ",
                       world_show(&shown, word));
        line = stop + 1;
    }
}

static void add_keys(cli_peer_t *peer, const char *before, keys_t *keys)
{
    (void)snprintf(peer->what, sizeof(peer->what), "%s", before);
    for (size_t i = 0; i < SHOWN_MAX && next_key(keys); i++) {
        const size_t used = strlen(peer->what);
        (void)snprintf(peer->what + used, sizeof(peer->what) - used, "%s'%.20s'",
                       i > 0 ? ", " : " with the keys ", keys->key);
    }
}

// Returns the character that separates at least two words of the line; 0: there is none.
static char separator_of(const char *line, size_t size)
{
    static const char separators[] = {',', '\t', ';', '|'};
    for (size_t i = 0; i < sizeof(separators); i++) {
        if (memchr(line, separators[i], size) != NULL) {
            return separators[i];
        }
    }
    return '\0';
}

// Returns whether a line has nothing but numbers and what separates them.
static bool is_numeric(const char *line, size_t size)
{
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        digits += isdigit((unsigned char)line[i]) != 0;
        if (!isdigit((unsigned char)line[i]) && strchr(",;|\t .+-eE", line[i]) == NULL) {
            return false;
        }
    }
    return digits > 0;
}

void cli_peer_unknown(const char *text, size_t size_bytes, cli_peer_t *peer)
{
    const size_t looked = SIM_MIN(size_bytes, LOOKED_AT_BYTES);
    const size_t begin = skip_blanks(text, looked);
    const char *const line = text + begin;
    const size_t left = looked - begin;
    const char *const newline = memchr(line, '\n', left);
    size_t length = newline != NULL ? (size_t)(newline - line) : left;
    keys_t keys;
    keys_init(&keys, text, looked);
    length -= length > 0 && line[length - 1] == '\r';
    *peer = (cli_peer_t){.use = unknown_use};
    if (left == 0) {
        *peer = (cli_peer_t){.what = "empty", .use = "nothing stands in it"};
    } else if (is_binary(text, looked)) {
        *peer = (cli_peer_t){.what = "no text", .use = unknown_use};
    } else if (*line == '{') {
        add_keys(peer, "JSON", &keys);
    } else if (*line == '[' && left > 1 && strchr("{[\" \r\n", line[1]) != NULL) {
        *peer = (cli_peer_t){.what = "a list in JSON", .use = unknown_use};
    } else if (*line == '<') {
        add_words(peer, "XML that begins with", line, length, '\0');
    } else if (next_key(&keys)) {
        keys_init(&keys, text, looked);
        add_keys(peer, "a mapping", &keys);
    } else if (is_numeric(line, length)) {
        *peer =
            (cli_peer_t){.what = "a table of numbers without names of columns", .use = numbers_use};
    } else if (separator_of(line, length) != '\0' && *line != '#') {
        add_words(peer, "a table with the columns", line, length, separator_of(line, length));
    } else {
        add_words(peer, "a text that begins with", line, length, '\0');
    }
}

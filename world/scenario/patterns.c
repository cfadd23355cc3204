// SPDX-License-Identifier: Apache-2.0
// world/scenario/patterns.c - matching names against patterns.
//
// A pattern is a sequence of elements (a literal character, ?, *, a bracket). The set of positions
// in the name that the elements so far can have reached is kept as a bit per position, so that
// there is no backtracking: brackets, like stars, can end in several places (1, 12, 123).
#include "world/patterns.h"

#include <string.h>

#define NAME_BYTES_MAX 512u
#define DIGITS_MAX 18u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Reads a number without leading zeros; 0 bytes: there is none.
static size_t read_number(const char *text, uint64_t *number)
{
    size_t size = 0;
    uint64_t value = 0;
    while (is_digit(text[size]) && size < DIGITS_MAX) {
        value = value * 10 + (uint64_t)(text[size] - '0');
        size++;
    }
    *number = value;
    return size > 1 && text[0] == '0' ? 0 : size;
}

// Reads one "4", "0-15" or "1-*" of a bracket. Returns its length, 0 if it is none of these.
static size_t read_range(const char *text, uint64_t *first, uint64_t *last)
{
    const size_t size = read_number(text, first);
    *last = *first;
    if (size == 0 || text[size] != '-') {
        return size;
    }
    if (text[size + 1] == '*') {
        *last = UINT64_MAX;
        return size + 2;
    }
    const size_t more = read_number(text + size + 1, last);
    return more == 0 || *last < *first ? 0 : size + 1 + more;
}

static sim_err_t check_bracket(const char *bracket, size_t *size, sim_message_t *message)
{
    const char *const end = strchr(bracket, ']');
    if (end == NULL) {
        return sim_fail(message, SIM_ERR_INVALID, "'[' without ']', expected [0-15] or [*]");
    }
    *size = (size_t)(end - bracket) + 1;
    const char *p = bracket + 1;
    if (*p == '*' && p + 1 == end) {
        return SIM_OK;
    }
    while (true) {
        uint64_t first;
        uint64_t last;
        const size_t bytes = read_range(p, &first, &last);
        p += bytes;
        if (bytes == 0 || (*p != ',' && p != end)) {
            return sim_fail(
                message, SIM_ERR_INVALID,
                "'%.*s' is no range of numbers, expected [0-15], [0,4,8-11], [1-*] or [*]",
                (int)SIM_MIN(*size, 64), bracket);
        }
        if (p == end) {
            return SIM_OK;
        }
        p++;
    }
}

// Returns whether the text is a list of patterns: its first bracket closes at the end and holds
// more than ranges of numbers.
static bool is_list(const char *pattern)
{
    unsigned depth = 0;
    bool more = false;
    if (pattern[0] != '[') {
        return false;
    }
    for (const char *p = pattern; *p != '\0'; p++) {
        depth += *p == '[';
        if (*p == ']' && --depth == 0) {
            return p[1] == '\0' && more;
        }
        more = more || (strchr("0123456789,-*[]", *p) == NULL);
    }
    return false;
}

static sim_err_t check_list(const char *pattern, sim_message_t *message)
{
    world_pattern_list_t list;
    const sim_err_t result = world_pattern_list_parse(pattern, &list, message);
    if (result == SIM_OK) {
        world_pattern_list_fini(&list);
    }
    return result;
}

static bool matches_list(const char *pattern, const char *name)
{
    world_pattern_list_t list;
    sim_message_t message;
    bool matches = false;
    if (world_pattern_list_parse(pattern, &list, &message) == SIM_OK) {
        for (size_t i = 0; i < list.count && !matches; i++) {
            matches = world_pattern_match(list.patterns[i], name);
        }
        world_pattern_list_fini(&list);
    }
    return matches;
}

sim_err_t world_pattern_check(const char *pattern, sim_message_t *message)
{
    if (is_list(pattern)) {
        return check_list(pattern, message);
    }
    if (*pattern == '\0') {
        return sim_fail(message, SIM_ERR_INVALID,
                        "an empty pattern, expected a name like host[0-3]");
    }
    if (strlen(pattern) > WORLD_PATTERN_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "a pattern of %zu characters, expected at most %u", strlen(pattern),
                        WORLD_PATTERN_BYTES_MAX);
    }
    for (const char *p = pattern; *p != '\0';) {
        size_t size = 1;
        if (*p == '[') {
            const sim_err_t result = check_bracket(p, &size, message);
            if (result != SIM_OK) {
                return result;
            }
        } else if (*p == ']') {
            return sim_fail(message, SIM_ERR_INVALID, "']' without '[', expected [0-15] or [*]");
        }
        p += size;
    }
    return SIM_OK;
}

bool world_pattern_is_literal(const char *pattern)
{
    return strpbrk(pattern, "*?[") == NULL;
}

static bool bracket_contains(const char *bracket, uint64_t number)
{
    const char *p = bracket + 1;
    if (*p == '*') {
        return true;
    }
    while (true) {
        uint64_t first;
        uint64_t last;
        p += read_range(p, &first, &last);
        if (number >= first && number <= last) {
            return true;
        }
        if (*p != ',') {
            return false;
        }
        p++;
    }
}

// Marks in `to` where a bracket can end that begins at `start`.
static void step_bracket(const char *bracket, const char *name, size_t start, bool *to)
{
    uint64_t number = 0;
    for (size_t i = start; is_digit(name[i]) && i - start < DIGITS_MAX; i++) {
        number = number * 10 + (uint64_t)(name[i] - '0');
        if ((i == start || name[start] != '0') && bracket_contains(bracket, number)) {
            to[i + 1] = true;
        }
    }
}

// Advances the set of reached positions over one element; returns the bytes of the element.
static size_t step(const char *element, const char *name, size_t length, bool *reached)
{
    bool next[NAME_BYTES_MAX + 1] = {false};
    size_t size = 1;
    if (*element == '[') {
        size = (size_t)(strchr(element, ']') - element) + 1;
    }
    bool open = false; // a star has begun
    for (size_t i = 0; i <= length; i++) {
        open = open || (*element == '*' && reached[i]);
        if (open) {
            next[i] = true;
        } else if (reached[i] && *element == '[') {
            step_bracket(element, name, i, next);
        } else if (reached[i] && i < length && (*element == '?' || *element == name[i])) {
            next[i + 1] = true;
        }
    }
    memcpy(reached, next, length + 1);
    return size;
}

bool world_pattern_match(const char *pattern, const char *name)
{
    if (world_pattern_is_literal(pattern)) {
        return strcmp(pattern, name) == 0;
    }
    if (is_list(pattern)) {
        return matches_list(pattern, name);
    }
    const size_t length = strlen(name);
    if (length > NAME_BYTES_MAX) {
        return false;
    }
    // Most names differ before the first wildcard.
    const size_t prefix = strcspn(pattern, "*?[");
    if (strncmp(pattern, name, prefix) != 0) {
        return false;
    }
    bool reached[NAME_BYTES_MAX + 1] = {false};
    reached[prefix] = true;
    for (const char *p = pattern + prefix; *p != '\0';) {
        p += step(p, name, length, reached);
    }
    return reached[length];
}

// Parses a list of pairs, "[a->b, c->d]": the first pair, and the others chained to it.
static sim_err_t parse_pairs(const char *pattern, const char *separator, const char *what,
                             world_pair_t *pair, sim_message_t *message)
{
    world_pattern_list_t list;
    *pair = (world_pair_t){NULL, NULL, NULL};
    sim_err_t result = world_pattern_list_parse(pattern, &list, message);
    if (result != SIM_OK) {
        return result;
    }
    world_pair_t *last = pair;
    for (size_t i = 0; i < list.count && result == SIM_OK; i++) {
        if (i > 0) {
            last->more = sim_alloc(sizeof(*last));
            last = last->more;
        }
        result = world_pair_parse(list.patterns[i], separator, what, last, message);
    }
    world_pattern_list_fini(&list);
    if (result != SIM_OK) {
        world_pair_fini(pair);
    }
    return result;
}

sim_err_t world_pair_parse(const char *pattern, const char *separator, const char *what,
                           world_pair_t *pair, sim_message_t *message)
{
    *pair = (world_pair_t){NULL, NULL, NULL};
    if (is_list(pattern)) {
        return parse_pairs(pattern, separator, what, pair, message);
    }
    if (strcmp(pattern, "*") == 0) {
        pair->left = sim_strdup("*");
        pair->right = sim_strdup("*");
        return SIM_OK;
    }
    const char *const middle = strstr(pattern, separator);
    if (middle == NULL) {
        const bool name = *pattern != '\0' && strpbrk(pattern, "-> ") == NULL;
        return name ? sim_fail(message, SIM_ERR_INVALID,
                               "no '%s' in it, did you mean '%.60s%s*'? Expected %s", separator,
                               pattern, separator, what)
                    : sim_fail(message, SIM_ERR_INVALID, "no '%s' in it, expected %s", separator,
                               what);
    }
    const char *const right = middle + strlen(separator);
    if (strstr(right, separator) != NULL) {
        return sim_fail(message, SIM_ERR_INVALID, "'%s' twice, expected %s", separator, what);
    }
    pair->left = sim_format("%.*s", (int)(middle - pattern), pattern);
    pair->right = sim_strdup(right);
    sim_err_t result = world_pattern_check(pair->left, message);
    if (result == SIM_OK) {
        result = world_pattern_check(pair->right, message);
    }
    if (result != SIM_OK) {
        world_pair_fini(pair);
    }
    return result;
}

void world_pair_fini(world_pair_t *pair)
{
    for (world_pair_t *more = pair->more; more != NULL;) {
        world_pair_t *const next = more->more;
        SIM_FREE_ALL(more->left, more->right, more);
        more = next;
    }
    sim_free(pair->left);
    sim_free(pair->right);
    *pair = (world_pair_t){NULL, NULL, NULL};
}

static bool port_matches(const world_pair_t *pair, const char *node_name, const char *port_name)
{
    const char *const middle = strstr(port_name, "->");
    if (middle == NULL || !world_pattern_match(pair->left, node_name)) {
        return false;
    }
    const char *const right = middle + 2;
    const char *const parallel = strchr(right, '#');
    const bool numbered = strchr(pair->right, '#') != NULL;
    if (world_pattern_match(pair->right, right)) {
        return true;
    }
    if (numbered == (parallel != NULL)) {
        return false;
    }
    // The first of parallel ports has no number in its name: it is #1.
    char *const peer =
        numbered ? sim_format("%s#1", right) : sim_format("%.*s", (int)(parallel - right), right);
    const bool matches = world_pattern_match(pair->right, peer);
    sim_free(peer);
    return matches;
}

bool world_port_match(const world_pair_t *pair, const char *node_name, const char *port_name)
{
    while (pair != NULL && !port_matches(pair, node_name, port_name)) {
        pair = pair->more;
    }
    return pair != NULL;
}

static bool end_matches(const char *pattern, const world_link_end_t *end)
{
    return world_pattern_match(pattern, end->node) ||
           (end->nic != NULL && world_pattern_match(pattern, end->nic));
}

static bool link_matches(const world_pair_t *pair, const world_link_end_t *a,
                         const world_link_end_t *b, uint32_t member)
{
    const char *const mark = strrchr(pair->right, '#');
    char *const right = mark == NULL ? sim_strdup(pair->right)
                                     : sim_format("%.*s", (int)(mark - pair->right), pair->right);
    bool matches = (end_matches(pair->left, a) && end_matches(right, b)) ||
                   (end_matches(pair->left, b) && end_matches(right, a));
    sim_free(right);
    if (matches && mark != NULL) {
        char *const number = sim_format("%" PRIu32, member);
        matches = world_pattern_match(mark + 1, number);
        sim_free(number);
    }
    return matches;
}

bool world_link_match(const world_pair_t *pair, const world_link_end_t *a,
                      const world_link_end_t *b, uint32_t member)
{
    while (pair != NULL && !link_matches(pair, a, b, member)) {
        pair = pair->more;
    }
    return pair != NULL;
}

bool world_left_match(const world_pair_t *pair, const world_link_end_t *end)
{
    while (pair != NULL && !end_matches(pair->left, end)) {
        pair = pair->more;
    }
    return pair != NULL;
}

bool world_link_is_numbered(const world_pair_t *pair)
{
    while (pair != NULL && strrchr(pair->right, '#') == NULL) {
        pair = pair->more;
    }
    return pair != NULL;
}

// -- lists

static sim_err_t list_add(world_pattern_list_t *list, const char *text, size_t size,
                          sim_message_t *message)
{
    while (size > 0 && *text == ' ') {
        text++;
        size--;
    }
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    SIM_GROW(list->patterns, list->count, &list->capacity);
    char *const pattern = sim_format("%.*s", (int)size, text);
    list->patterns[list->count++] = pattern;
    return world_pattern_check(pattern, message);
}

sim_err_t world_pattern_list_parse(const char *text, world_pattern_list_t *list,
                                   sim_message_t *message)
{
    *list = (world_pattern_list_t){NULL, 0, 0};
    const size_t size = strlen(text);
    sim_err_t result = SIM_OK;
    if (text[0] != '[' || text[size - 1] != ']') {
        result = list_add(list, text, size, message);
    } else {
        // Commas within the brackets of a pattern separate its ranges, not patterns.
        size_t start = 1;
        unsigned depth = 0;
        for (size_t i = 1; i < size && result == SIM_OK; i++) {
            if (depth == 0 && (text[i] == ',' || i == size - 1)) {
                result = list_add(list, text + start, i - start, message);
                start = i + 1;
            } else if (text[i] == '[') {
                depth++;
            } else if (text[i] == ']' && depth > 0) {
                depth--;
            }
        }
    }
    if (result != SIM_OK) {
        world_pattern_list_fini(list);
    }
    return result;
}

void world_pattern_list_fini(world_pattern_list_t *list)
{
    sim_free_each(list->patterns, list->count);
    sim_free(list->patterns);
    *list = (world_pattern_list_t){NULL, 0, 0};
}

// SPDX-License-Identifier: Apache-2.0
// world/patterns.h - patterns of names: which nodes, links and ports a scenario means.
//
//     *        any characters, also none
//     ?        one character
//     [0-15]   a number in the range, [0,4,8-11] in one of them, [1-*] from one on, [*] any;
//              written without leading zeros
// and everything else stands for itself: host[0-15], leaf*->host5, leaf0--spine?.
// Several patterns stand in brackets wherever one does: "[host0, host[8-11]]" (what a YAML list
// becomes as text), "[leaf0->host1, leaf1->*]", "[leaf0, leaf1]->host*".
//
// Matching takes time in proportion to pattern x name, whatever the pattern.
#ifndef WORLD_PATTERNS_H
#define WORLD_PATTERNS_H

#include "kernel/base.h"

SIM_C_BEGIN

#define WORLD_PATTERN_BYTES_MAX 1024u

// Checks a pattern. SIM_ERR_INVALID: the message says what is wrong with it.
SIM_MUST_CHECK sim_err_t world_pattern_check(const char *pattern, sim_message_t *message);

// Returns whether the whole name matches the pattern, which must have been checked.
bool world_pattern_match(const char *pattern, const char *name);

// Returns whether the pattern matches its own text only.
bool world_pattern_is_literal(const char *pattern);

// Patterns of two names joined by a separator ("->" for ports, "--" for links).
typedef struct world_pair {
    char *left;
    char *right;
    struct world_pair *more; // another alternative; NULL: none
} world_pair_t;
// Splits and checks a pattern of pairs; "*" alone means any pair. `what` says in messages what is
// expected: "leaf0->host5".
SIM_MUST_CHECK sim_err_t world_pair_parse(const char *pattern, const char *separator,
                                          const char *what, world_pair_t *pair,
                                          sim_message_t *message);
void world_pair_fini(world_pair_t *pair);

// Returns whether the pair means the port between two nodes ("leaf0->spine1#2"). A right pattern
// without '#' means all parallel ports, and #1 the first.
bool world_port_match(const world_pair_t *pair, const char *node_name, const char *port_name);
// An end of a link; nic: the node's NIC there, NULL: it has none.
typedef struct world_link_end {
    const char *node;
    const char *nic;
} world_link_end_t;
// Returns whether the pair means the link between a and b, in either direction. "leaf0--spine1"
// means all links between the two, "leaf0--spine1#2" the second of them; member: which of them the
// link is, from 1.
bool world_link_match(const world_pair_t *pair, const world_link_end_t *a,
                      const world_link_end_t *b, uint32_t member);
// Returns whether any alternative begins with that end.
bool world_left_match(const world_pair_t *pair, const world_link_end_t *end);
// Returns whether any alternative names a member (#2).
bool world_link_is_numbered(const world_pair_t *pair);

// Splits "[a, b]" into its members, or gives the one pattern; each is checked.
typedef struct world_pattern_list {
    char **patterns;
    size_t count;
    size_t capacity;
} world_pattern_list_t;
SIM_MUST_CHECK sim_err_t world_pattern_list_parse(const char *text, world_pattern_list_t *list,
                                                  sim_message_t *message);
void world_pattern_list_fini(world_pattern_list_t *list);

SIM_C_END

#endif // WORLD_PATTERNS_H

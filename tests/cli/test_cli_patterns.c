// SPDX-License-Identifier: Apache-2.0
// Goal: names, ports and links match the patterns of world/patterns.h, and no others do.
// Method: a table of patterns, names and answers worked out from the header's rules; a pattern made
// to blow up a backtracking matcher.
// Not pinned: the wording of messages.
#include "world/patterns.h"

#include "tests/check_main.h"

#include <string.h>
#include <time.h>

static const struct {
    const char *pattern;
    const char *name;
    bool matches;
} cases[] = {
    {"host0", "host0", true},
    {"host0", "host01", false},
    {"host", "host0", false},
    {"*", "anything/at-all", true},
    {"*", "", true},
    {"host*", "host", true},
    {"host*", "hos", false},
    {"*5", "host15", true},
    {"*5", "host51", false},
    {"h*t*1", "host11", true},
    {"host?", "host1", true},
    {"host?", "host", false},
    {"host?", "host12", false},
    {"host[0-15]", "host0", true},
    {"host[0-15]", "host15", true},
    {"host[0-15]", "host16", false},
    {"host[0-15]", "host1", true},
    {"host[0-15]", "host01", false},
    {"host[0-15]", "host", false},
    {"host[0-15]", "host5x", false},
    {"host[2,4,8-9]", "host4", true},
    {"host[2,4,8-9]", "host9", true},
    {"host[2,4,8-9]", "host3", false},
    {"host[*]", "host123456", true},
    {"host[*]", "hostx", false},
    {"host[*]", "host007", false},
    {"pod[1-2]host[*]", "pod1host77", true},
    {"pod[1-2]host[*]", "pod3host77", false},
    {"[1-2]*", "13", true}, // 1, then anything
    {"[1-2][3-4]", "13", true},
    {"[1-20][3-4]", "143", true}, // 14, 3
    {"[10-20][3-4]", "13", false},
};

START_TEST(patterns_match_as_the_header_says)
{
    sim_message_t message;
    ck_assert_int_eq(world_pattern_check(cases[_i].pattern, &message), SIM_OK);
    ck_assert_msg(world_pattern_match(cases[_i].pattern, cases[_i].name) == cases[_i].matches,
                  "%s against %s", cases[_i].pattern, cases[_i].name);
}
END_TEST

START_TEST(broken_patterns_are_refused)
{
    static const char *const broken[] = {
        "",         "host[",    "host]",    "host[]", "host[a]",     "host[3-1]", "host[01]",
        "host[1,]", "host[,1]", "host[1-]", "host[1", "host[1-2-3]", "host[*2]",  "[[1]]"};
    for (size_t i = 0; i < SIM_COUNT_OF(broken); i++) {
        sim_message_t message = {.text = ""};
        ck_assert_msg(world_pattern_check(broken[i], &message) == SIM_ERR_INVALID, "%s", broken[i]);
        ck_assert(strlen(message.text) > 0);
    }
}
END_TEST

START_TEST(matching_never_takes_exponential_time)
{
    char pattern[200];
    char name[200];
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i + 2 < sizeof(pattern); i += 2) {
        memcpy(pattern + i, "*a", 2);
    }
    pattern[198] = 'b';
    pattern[199] = '\0';
    const clock_t start = clock();
    ck_assert(!world_pattern_match(pattern, name));
    ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, 2);
}
END_TEST

START_TEST(ports_match_by_both_ends)
{
    static const struct {
        const char *pattern;
        const char *node;
        const char *port;
        bool matches;
    } ports[] = {
        {"leaf0->host5", "leaf0", "leaf0->host5", true},
        {"leaf0->host5", "leaf0", "leaf0->host51", false},
        {"leaf*->spine*", "leaf3", "leaf3->spine1", true},
        {"leaf*->spine*", "leaf3", "leaf3->host1", false},
        {"leaf0->spine1", "leaf0", "leaf0->spine1#2", true},
        {"leaf0->spine1#2", "leaf0", "leaf0->spine1#2", true},
        {"leaf0->spine1#1", "leaf0", "leaf0->spine1#2", false},
        {"leaf0->spine1#1", "leaf0", "leaf0->spine1", true}, // the first has no number
        {"leaf0->spine1#2", "leaf0", "leaf0->spine1", false},
        {"*->host5", "leaf0", "leaf0->host5", true},
        {"*", "leaf0", "leaf0->spine1#2", true},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(ports); i++) {
        world_pair_t pair;
        sim_message_t message;
        ck_assert_int_eq(world_pair_parse(ports[i].pattern, "->", "a port", &pair, &message),
                         SIM_OK);
        ck_assert_msg(world_port_match(&pair, ports[i].node, ports[i].port) == ports[i].matches,
                      "%s against %s", ports[i].pattern, ports[i].port);
        world_pair_fini(&pair);
    }
}
END_TEST

static bool meant(const world_pair_t *pair, const char *a, const char *b, uint32_t member)
{
    const world_link_end_t ends[] = {{a, NULL}, {b, NULL}};
    return world_link_match(pair, &ends[0], &ends[1], member);
}

START_TEST(links_match_either_way)
{
    world_pair_t pair;
    sim_message_t message;
    ck_assert_int_eq(world_pair_parse("leaf0--spine*", "--", "a link", &pair, &message), SIM_OK);
    ck_assert(meant(&pair, "leaf0", "spine3", 1));
    ck_assert(meant(&pair, "spine3", "leaf0", 2));
    ck_assert(!meant(&pair, "leaf1", "spine3", 1));
    ck_assert(!world_link_is_numbered(&pair));
    world_pair_fini(&pair);
    ck_assert_int_eq(world_pair_parse("leaf0", "--", "a link", &pair, &message), SIM_ERR_INVALID);
    ck_assert_int_eq(world_pair_parse("a--b--c", "--", "a link", &pair, &message), SIM_ERR_INVALID);
    ck_assert_int_eq(world_pair_parse("--b", "--", "a link", &pair, &message), SIM_ERR_INVALID);
}
END_TEST

START_TEST(a_number_means_one_of_several_links)
{
    world_pair_t pair;
    sim_message_t message;
    ck_assert_int_eq(world_pair_parse("leaf0--spine1#[2-3]", "--", "a link", &pair, &message),
                     SIM_OK);
    ck_assert(world_link_is_numbered(&pair));
    ck_assert(!meant(&pair, "leaf0", "spine1", 1));
    ck_assert(meant(&pair, "leaf0", "spine1", 2));
    ck_assert(meant(&pair, "spine1", "leaf0", 3));
    ck_assert(!meant(&pair, "leaf0", "spine1", 4));
    ck_assert(!meant(&pair, "leaf0", "spine2", 2));
    world_pair_fini(&pair);
}
END_TEST

START_TEST(a_link_is_meant_by_its_nics)
{
    const world_link_end_t host = {"host3", "host3/nic1"};
    const world_link_end_t leaf = {"leaf0", NULL};
    static const struct {
        const char *pattern;
        bool matches;
        bool begins; // with the host
    } links[] = {
        {"host3/nic1--*", true, true},
        {"leaf*--host3/nic1", true, false},
        {"host[0-3]/nic[1-2]--leaf0", true, true},
        {"host3--leaf0", true, true},
        {"host3/nic0--*", false, false},
        {"[host4--leaf0, host3/*--leaf0]", true, true},
        {"host3/nic1--leaf1", false, true},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(links); i++) {
        world_pair_t pair;
        sim_message_t message;
        ck_assert_int_eq(world_pair_parse(links[i].pattern, "--", "a link", &pair, &message),
                         SIM_OK);
        ck_assert_msg(world_link_match(&pair, &leaf, &host, 1) == links[i].matches, "%s",
                      links[i].pattern);
        ck_assert_msg(world_left_match(&pair, &host) == links[i].begins, "%s", links[i].pattern);
        world_pair_fini(&pair);
    }
}
END_TEST

START_TEST(lists_split_between_patterns_only)
{
    world_pattern_list_t list;
    sim_message_t message;
    ck_assert_int_eq(world_pattern_list_parse("[host0, host[2,4-5],x*]", &list, &message), SIM_OK);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.patterns[0], "host0");
    ck_assert_str_eq(list.patterns[1], "host[2,4-5]");
    ck_assert_str_eq(list.patterns[2], "x*");
    world_pattern_list_fini(&list);
    ck_assert_int_eq(world_pattern_list_parse("host[1-3]", &list, &message), SIM_OK);
    ck_assert_uint_eq(list.count, 1);
    world_pattern_list_fini(&list);
    ck_assert_int_eq(world_pattern_list_parse("[a, ]", &list, &message), SIM_ERR_INVALID);
    ck_assert_int_eq(world_pattern_list_parse("[]", &list, &message), SIM_ERR_INVALID);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(patterns_match_as_the_header_says, 0, (int)SIM_COUNT_OF(cases)),
           CHECK_TEST(broken_patterns_are_refused),
           CHECK_TEST(matching_never_takes_exponential_time), CHECK_TEST(ports_match_by_both_ends),
           CHECK_TEST(links_match_either_way), CHECK_TEST(a_number_means_one_of_several_links),
           CHECK_TEST(a_link_is_meant_by_its_nics), CHECK_TEST(lists_split_between_patterns_only))

// SPDX-License-Identifier: Apache-2.0
// tests/topologies/test_routes_file.c - files of next hops (topologies/routes_file.h).
//
// Goal: rows become ports in the order they are listed; every word that does not fit the topology
// is refused at its place.
// Method: a topology of four hosts, two leaves and two spines in memory, one thing wrong at a time.
// Not pinned: what the network does with routes (tests/net/test_routing_fixed.c).
#include "topologies/routes_file.h"

#include <string.h>

#include "tests/check_main.h"

// Hosts 0 and 1 on switch 4, 2 and 3 on switch 5 (3 with a second link, to 4), spines 6 and 7.
// Links of 4: 0, 1, 6, 7, 3.
static const char topology_text[] = "8 4 9\n4 5 6 7\n"
                                    "0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n"
                                    "3 5 1Gbps 1us 0\n4 6 1Gbps 1us 0\n4 7 1Gbps 1us 0\n"
                                    "5 6 1Gbps 1us 0\n5 7 1Gbps 1us 0\n3 4 1Gbps 1us 0\n";

static sim_err_t parse(const char *text, topo_routes_t *routes, sim_message_t *message)
{
    topo_file_t *file = NULL;
    ck_assert_int_eq(topo_file_parse(TOPO_FILE_HPCC, "t", topology_text, strlen(topology_text),
                                     NULL, NULL, &file, message),
                     SIM_OK);
    const sim_err_t error = topo_routes_parse(file, "r", text, strlen(text), routes, message);
    topo_file_destroy(file);
    return error;
}

START_TEST(rows_become_ports)
{
    topo_routes_t routes;
    sim_message_t message = {.text = ""};
    const sim_err_t error =
        parse("5 0 1 7:4\n0 2 1 4:1\n4 2 2 7:4\n 6:3\n4 1 1 1:2", &routes, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    // Only routes of switches remain, sorted by node and host.
    ck_assert_uint_eq(routes.count, 3);
    static const uint32_t expected[][5] = {{4, 1, 1, 1, 0}, {4, 2, 2, 3, 2}, {5, 0, 1, 3, 0}};
    for (size_t i = 0; i < 3; i++) {
        const topo_route_t *const row = &routes.rows[i];
        ck_assert_uint_eq(row->node, expected[i][0]);
        ck_assert_uint_eq(row->host, expected[i][1]);
        ck_assert_uint_eq(row->count, expected[i][2]);
        for (uint32_t p = 0; p < row->count; p++) {
            ck_assert_uint_eq(routes.ports[row->first + p], expected[i][3 + p]);
        }
    }
    topo_routes_fini(&routes);
}
END_TEST

static const struct {
    const char *text;
    const char *says;
} wrong[] = {
    {"", "r:1:1: there is no route"},
    {"4 2", "r:1:4: the file ends here, expected the number of next hops"},
    {"x 2 1 6:3", "r:1:1: 'x' is not the node of a route"},
    {"8 2 1 6:3", "r:1:1: '8' is not the node of a route"},
    {"4 6 1 6:3", "r:1:3: routes towards node 6, which is a switch"},
    {"5 3 1 3:2", "r:1:3: host 3 has 2 links"},
    {"3 2 1 5:1", "r:1:1: host 3 has 2 links"},
    {"2 2 1 5:1", "r:1:3: a route of node 2 to itself"},
    {"4 2 0", "r:1:5: '0' is not the number of next hops"},
    {"4 2 6 6:3", "r:1:5: '6' is not the number of next hops"},
    {"4 2 2 6:3", "r:1:10: the file ends here, expected a next hop"},
    {"4 2 1 6", "r:1:7: '6' where the row counts another next hop"},
    {"4 2 1 9:3", "r:1:7: '9' is not the node of a next hop"},
    {"4 2 1 6:6", "r:1:9: '6' is not the interface of a next hop"},
    {"4 2 1 6:0", "r:1:9: '0' is not the interface of a next hop"},
    {"4 2 1 6:4", "r:1:7: interface 4 of node 4 leads to node 7, expected 7 as its next hop"},
    {"4 2 1 1:2", "r:1:7: a next hop towards host 2 over host 1"},
    {"4 2 1 6:3\n5 0 1 6:3\n4 2 1 7:4",
     "r:3:1: the route of node 4 to host 2 stands in line 1 too"},
};

START_TEST(what_does_not_fit_is_refused)
{
    topo_routes_t routes;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(parse(wrong[_i].text, &routes, &message), SIM_OK);
    ck_assert_msg(strncmp(message.text, wrong[_i].says, strlen(wrong[_i].says)) == 0,
                  "'%s' for '%s'", message.text, wrong[_i].text);
    ck_assert_msg(strstr(message.text, "expected") != NULL, "%s", message.text);
    topo_routes_fini(&routes);
}
END_TEST

CHECK_MAIN(CHECK_TEST(rows_become_ports),
           CHECK_LOOP(what_does_not_fit_is_refused, 0, SIM_COUNT_OF(wrong)))

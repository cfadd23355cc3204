// SPDX-License-Identifier: Apache-2.0
// tests/results/test_counter_rows.c - every output finds every counter by its row.
//
// Goal: no row of a table of counters is left out because nobody asks for its group.
// Method: walks the rows of ports and NICs and looks for each in the fields of summary.json and in
// the columns of ports.csv. Not pinned: values, order (test_one_counter.sh adds a counter).
#include "results/tables/end_rows.h"
#include "tests/check_main.h"

#include "results/summary.h"
#include "results/tables/tables.h"

#include <string.h>

static bool is_field(const char *path)
{
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strcmp(fields[i].path, path) == 0;
    }
    sim_free(fields);
    return found;
}

static bool is_column(const char *name)
{
    for (results_file_column_t at = {0}; results_table_next(&results_port_table, &at);) {
        if (strcmp(at.name, name) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(rows_of_ports_are_told)
{
    size_t counters = 0;
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        ck_assert_msg(m->help[0] != '\0' && m->unit != NULL, "%s", m->name);
        if (m->total.group == NULL) {
            ck_assert_msg(m->column == NULL && m->total.field == NULL, "%s is no counter", m->name);
            continue;
        }
        counters++;
        ck_assert_msg(m->total.field == NULL || is_field(m->total.field), "%s", m->name);
        ck_assert_msg(m->column == NULL || is_column(m->column), "%s", m->name);
        ck_assert_msg(m->column != NULL || is_column(m->name), "%s", m->name);
        ck_assert_msg((m->total.line == NULL) == (m->total.words == NULL), "%s", m->name);
    }
    ck_assert_uint_gt(counters, 10);
}
END_TEST

START_TEST(totals_of_nics_are_told)
{
    size_t totals = 0;
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        totals += info->total.field != NULL;
        ck_assert_msg(info->total.field == NULL || is_field(info->total.field), "%s", info->name);
    }
    ck_assert_uint_ge(totals, 3);
}
END_TEST

// Each class of each counter by class is a column of its own, and so is each counter of the port.
START_TEST(columns_by_class_are_eight)
{
    size_t marked = 0;
    size_t sent = 0;
    for (results_file_column_t at = {0}; results_table_next(&results_port_table, &at);) {
        const char class[] = {(char)('0' + at.priority), '\0'};
        char *const name = results_file_column_name(&at, class);
        marked += strncmp(name, "ecn_marked_prio", strlen("ecn_marked_prio")) == 0;
        sent += strcmp(name, "tx_packets") == 0;
        sim_free(name);
    }
    ck_assert_uint_eq(marked, NET_PRIORITIES);
    ck_assert_uint_eq(sent, 1);
}
END_TEST

CHECK_MAIN(CHECK_TEST(rows_of_ports_are_told), CHECK_TEST(totals_of_nics_are_told),
           CHECK_TEST(columns_by_class_are_eight))

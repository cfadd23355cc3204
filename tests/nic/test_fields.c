// SPDX-License-Identifier: Apache-2.0
// tests/nic/test_fields.c - every byte of nodes, ports, NICs and queue pairs has a row in a table.
//
// Goal: who adds a field to a struct of the state must say what fast-forward, ranks and the digest
// do with it (kernel/fields.h).
// Method: lists the state of a small network, at rest and at work, with each congestion control
// that has a table, and looks for bytes of each struct that no row covers, or several. Changes a
// field of a struct that has no row: fast-forward must notice it.
// Not pinned: which rule a row has; tests of fast-forward compare results.
#include "tests/nic_pair.h"

#include "kernel/fast_forward_period.h"
#include "net/nodes.h"
#include "net/port_metrics.h"
#include "nic/device/rnic/rnic.h"
#include "nic/fast_forward.h"
#include "nic/objects/fields.h"

static void check_table(const sim_fields_t *table)
{
    const size_t gap = sim_fields_first_gap(table);
    ck_assert_msg(gap == table->bytes, "%s: byte %zu has no row, or several", table->name,
                  table->from + gap);
}

static void check_pair(const char *congestion_control, bool at_work)
{
    pair_config_t config;
    pair_config_init(&config);
    config.middle_bps = UINT64_C(50000000000);
    sim_free(config.nic.congestion_control);
    config.nic.congestion_control = sim_strdup(congestion_control);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    sim_state_t state = {0};
    sim_time_t rest_ps = 0;
    nic_state_list(pair->net, &state, &rest_ps, at_work);
    sim_state_add_node(&state, &net_node_at(pair->net, 0)->sim);
    ck_assert_uint_gt(state.type_count, 10);
    for (size_t t = 0; t < state.type_count; t++) {
        check_table(state.types[t]->table);
    }
    sim_state_fini(&state);
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(every_byte_has_one_row)
{
    static const char *const controls[] = {"none", "dcqcn", "hpcc"};
    for (size_t c = 0; c < SIM_COUNT_OF(controls); c++) {
        check_pair(controls[c], false);
        check_pair(controls[c], true);
    }
}
END_TEST

START_TEST(every_counter_has_a_row)
{
    check_table(&nic__counter_fields);
    check_table(&nic__rnic_counter_fields);
    for (uint32_t part = 0; part < NET_PORT_PARTS; part++) {
        check_table(&net__port_tables[part]);
    }
    size_t shown = 0;
    while (net_port_metrics[shown].name != NULL) {
        shown++;
    }
    ck_assert_uint_le(shown, NET_PORT_METRICS_MAX);
}
END_TEST

typedef struct sample {
    uint32_t a;
    uint32_t forgotten;
    uint64_t array[2];
    uint64_t bit : 1;
} sample_t;

static const sim_field_t sample_rows[] = {
    SIM_FIELD(sample_t, a, COUNT),
    {SIM_FIELD_EACH(sample_t, array, COUNT, FIXED, SIM_CARRIED | SIM_DIGESTED)},
    SIM_FIELD_REST(sample_t, array),
};
static const sim_fields_t sample_fields = SIM_FIELDS("sample", sizeof(sample_t), sample_rows);

START_TEST(a_field_without_a_row_is_found)
{
    ck_assert_uint_eq(sim_fields_first_gap(&sample_fields), offsetof(sample_t, forgotten));
    sample_t sample = {1, 2, {3, 4}, 0};
    sim_state_t state = {0};
    sim_state_add(&state, &sample_fields, &sample);
    char *const start = sim_state_copy(&state);
    sample.a++;
    sample.array[1]++;
    char *const counted = sim_state_copy(&state);
    sample.forgotten++;
    char *const changed = sim_state_copy(&state);
    size_t offset = 0;
    ck_assert_ptr_null(sim_state_changed(&state, start, counted, &offset));
    ck_assert_str_eq(sim_state_changed(&state, counted, changed, &offset), "sample");
    ck_assert_uint_eq(offset, offsetof(sample_t, forgotten));
    sim_state_repeat_span(&state, start, counted, 0);
    ck_assert_uint_eq(sample.a, 3);
    ck_assert_uint_eq(sample.array[1], 6);
    sim_free(start);
    sim_free(counted);
    sim_free(changed);
    sim_state_fini(&state);
}
END_TEST

START_TEST(values_are_carried_and_digested_in_order)
{
    sample_t from = {1, 2, {3, 4}, 0};
    sample_t to = {0};
    sim_flat_fields_t flat = sim_fields_flatten(&sample_fields, SIM_CARRIED_FIELDS);
    sim_buffer_t bytes = {0};
    sim_fields_carry(&flat, &from, &(sim_carry_t){.to = &bytes});
    ck_assert_uint_eq(bytes.count, sizeof(from.array));
    sim_reader_t reader = {bytes.bytes, bytes.count};
    sim_fields_carry(&flat, &to, &(sim_carry_t){.from = &reader});
    ck_assert_uint_eq(to.array[0], 3);
    ck_assert_uint_eq(to.array[1], 4);
    ck_assert_uint_eq(to.a, 0);
    sim_flat_fields_fini(&flat);
    sim_free(bytes.bytes);
    sim_digest_t digest = {0};
    sim_digest_t expected = {0};
    sim_fields_digest(&sample_fields, &from, &digest);
    sim_digest_add(&expected, 3);
    sim_digest_add(&expected, 4);
    ck_assert_uint_eq(digest.value, expected.value);
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_byte_has_one_row), CHECK_TEST(every_counter_has_a_row),
           CHECK_TEST(a_field_without_a_row_is_found),
           CHECK_TEST(values_are_carried_and_digested_in_order))

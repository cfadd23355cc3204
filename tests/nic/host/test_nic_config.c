// SPDX-License-Identifier: Apache-2.0
// Goal: the attributes of NICs have the documented defaults, are checked together, and copy deeply;
// counters and metrics have names and read what they say.
// Method: values set as text. Does not pin: what each attribute does (the other test_nic_ files).
#include "tests/nic_pair.h"

static void set(nic_config_t *config, const char *path, const char *text)
{
    sim_message_t message;
    const sim_attr_t *const attr = sim_attr_find(&nic_config_attrs, path);
    ck_assert_ptr_nonnull(attr);
    ck_assert_msg(sim_attr_set(attr, config, text, &message) == SIM_OK, "%s", message.text);
}

START_TEST(defaults_are_valid)
{
    sim_message_t message;
    nic_config_t config;
    nic_config_init(&config);
    ck_assert_msg(nic_config_check(&config, &message) == SIM_OK, "%s", message.text);
    ck_assert_uint_eq(config.mtu_bytes, 4096);
    ck_assert_str_eq(config.congestion_control, "dcqcn");
    ck_assert_uint_eq(config.cnp_interval_ps, 4 * SIM_PS_PER_US);
    ck_assert_uint_eq(config.window_bytes, SIM_AUTO);
    nic_config_fini(&config);
}
END_TEST

START_TEST(rules_between_values_are_checked)
{
    sim_message_t message;
    nic_config_t config;
    nic_config_init(&config);
    set(&config, "nic.mtu", "1500");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(message.text, "nic.mtu"));
    set(&config, "nic.mtu", "1024");
    set(&config, "nic.congestion-control", "dcqcm");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(message.text, "did you mean \"dcqcn\""));
    set(&config, "nic.congestion-control", "zzzzzzzz");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(message.text, "none, dcqcn"));
    set(&config, "nic.congestion-control", "dcqcn");
    set(&config, "nic.path-rtt", "hpccc");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    ck_assert_str_eq(message.about, "nic.path-rtt");
    set(&config, "nic.path-rtt", "frames");
    set(&config, "nic.model", "connectx-7");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(message.text, "nic: {model: detailed, profile: connectx-7}"));
    set(&config, "nic.model", "connectx-");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(message.text, "expected one of ideal, detailed"));
    nic_config_fini(&config);
}
END_TEST

START_TEST(copies_share_nothing)
{
    nic_config_t config;
    nic_config_t copy;
    nic_config_init(&config);
    nic_config_copy(&copy, &config);
    nic_config_fini(&config);
    ck_assert_str_eq(copy.congestion_control, "dcqcn");
    for (size_t i = 0; nic_cc_all[i] != NULL; i++) {
        ck_assert_int_eq(nic_config_part(&copy, nic_cc_all[i]->attrs) != NULL,
                         nic_cc_all[i]->attrs != NULL);
    }
    nic_config_fini(&copy);
}
END_TEST

// A host that equals another shares its configuration, and keeps it when the other goes.
START_TEST(hosts_share_equal_configurations)
{
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = 1});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    nic_config_t config;
    nic_config_init(&config);
    net_node_t *nodes[4];
    nodes[0] = nic_host_create(net, "a", &config);
    nodes[1] = nic_host_create(net, "equal", &config);
    set(&config, "nic.mtu", "2048");
    nodes[2] = nic_host_create(net, "other", &config);
    nodes[3] = nic_host_create_like(net, "like-a", nodes[0]);
    nic_config_fini(&config);
    net_link_add(net, nodes[0], nodes[1], &link);
    net_link_add(net, nodes[2], nodes[3], &link);
    sim_message_t message;
    ck_assert_msg(net_build(net, &message) == SIM_OK, "%s", message.text);
    const nic_config_t *const first = nic_get_config(nic_at(nodes[0], 0));
    ck_assert_ptr_eq(nic_get_config(nic_at(nodes[1], 0)), first);
    ck_assert_ptr_ne(nic_get_config(nic_at(nodes[2], 0)), first);
    ck_assert_uint_eq(nic_get_config(nic_at(nodes[2], 0))->mtu_bytes, 2048);
    ck_assert_ptr_eq(nic_get_config(nic_at(nodes[3], 0)), first);
    sim_destroy(sim);
    net_destroy(net);
    sim_attrs_fini(&net_config_attrs, &net_config);
}
END_TEST

START_TEST(queue_pairs_take_the_attributes)
{
    pair_config_t config;
    pair_config_init(&config);
    set(&config.nic, "nic.priority", "5");
    set(&config.nic, "nic.ack-priority", "7");
    set(&config.nic, "nic.ecn", "false");
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    const net_packet_t *const data = &pair_nth(pair, 0, 0)->packet;
    ck_assert_uint_eq(data->priority, 5);
    ck_assert_uint_eq(data->dscp, 40);
    ck_assert_uint_eq(data->ecn, NET_ECN_NOT_ECT);
    ck_assert_uint_ge(data->udp_source_port, ROCE_SOURCE_PORT_MIN);
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.priority, 7);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

START_TEST(counters_and_metrics_are_named)
{
    size_t count = 0;
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++, count++) {
        ck_assert_uint_lt(info->field.offset, sizeof(nic_counters_t));
    }
    ck_assert_uint_eq(count, sizeof(nic_counters_t) / sizeof(uint64_t)); // none is forgotten
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    for (const nic_qp_metric_t *metric = nic_qp_metrics; metric->name != NULL; metric++) {
        const uint64_t value =
            nic_qp_metric_is_traced(metric) ? 0 : nic_qp_metric_read(metric, qps.qp[0]);
        if (strcmp(metric->name, "rate_bps") == 0) {
            ck_assert_uint_eq(value, UINT64_C(100000000000));
        }
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_TEST(defaults_are_valid), CHECK_TEST(rules_between_values_are_checked),
           CHECK_TEST(copies_share_nothing), CHECK_TEST(hosts_share_equal_configurations),
           CHECK_TEST(queue_pairs_take_the_attributes), CHECK_TEST(counters_and_metrics_are_named))

// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/rules.c - the attributes "hpcc.", and the registration of the rules with a network.
#include "compat/hpcc/rules.h"

#include "compat/hpcc/cc_dcqcn.h"
#include "compat/hpcc/cc_dctcp.h"
#include "compat/hpcc/cc_timely.h"
#include "compat/hpcc/hpcc_internal.h"
#include "compat/hpcc/losses.h"
#include "compat/hpcc/pint.h"
#include "kernel/order/fifo.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_hpcc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(BOOL, "hpcc.pause-expires", pause_expires, "true", "true: a pause ends when its quanta have run out; false: only a resume frame ends it, as in simulators without that timer"),
    ATTR(BOOL, "hpcc.down-first", down_first, "false", "true: a packet that arrives at the same instant at which its link goes down is lost"),
    ATTR(COUNT, "hpcc.ecmp-port", ecmp_port, "4791", "0", "65535", "UDP destination port of data packets in the hash of network.load-balancer: hpcc; 0: each flow uses its own"),
    ATTR(ENUM, "hpcc.draws", draws, "own", "own|hpcc", "source of random numbers for marks, losses and PINT; hpcc: with ties by insertion, the numbers that the HPCC simulator draws with the seed as RngRun"),
    ATTR(COUNT, "hpcc.draws-used", draws_used, "0", "0", "1000000000", "random-number streams that the HPCC simulator's set-up uses up before the first draw"),
};
const sim_attr_table_t compat_hpcc_config_attrs = {
    "hpcc", "simulation", sizeof(compat_hpcc_config_t), attrs, SIM_COUNT_OF(attrs),
};
// clang-format on

// -- NICs

const nic_extra_t compat_hpcc_nic_rows[] = {
    {NIC_EXTRA_CC, "dcqcn-hpcc", &compat_dcqcn_hpcc_attrs, &compat_cc_dcqcn_hpcc},
    {NIC_EXTRA_CC, "dctcp-hpcc", &compat_dctcp_hpcc_attrs, &compat_cc_dctcp_hpcc},
    {NIC_EXTRA_CC, "timely-hpcc", &compat_timely_hpcc_attrs, &compat_cc_timely_hpcc},
    {NIC_EXTRA_FRAMES, "bare", &compat_hpcc_bare_config_attrs, &compat_hpcc_bare},
    {NIC_EXTRA_SCHEDULER, "scan", &compat_hpcc_scan_config_attrs, &compat_hpcc_scan},
    {NIC_EXTRA_PATH_RTT, "hpcc", NULL, &compat__hpcc_path_rtt},
};
const size_t compat_hpcc_nic_row_count = SIM_COUNT_OF(compat_hpcc_nic_rows);

// -- PINT

static void pint_init(void *ctx, net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps)
{
    compat_hpcc_t *const rules = ctx;
    sim_need_one_list(net_sim(rules->net));
    rules->pint = compat__pint_init(pint, base, rtt_ps);
}

static void pint_frame(void *ctx, net_meter_t *meter, sim_time_t now_ps, net_packet_t *packet,
                       uint64_t queue_bytes, bool asks)
{
    compat_hpcc_t *const rules = ctx;
    compat__pint_frame(rules->pint, rules->draws, meter, now_ps, packet, queue_bytes, asks);
}

// -- life

static void before_build(net_t *net, void *state)
{
    compat_hpcc_t *const rules = state;
    compat__decisions_prepare(rules);
    if (rules->draws != NULL) {
        const net_pint_ops_t ops = {
            .init = pint_init,
            .per_byte = compat__pint_log_rate,
            .frame = pint_frame,
            .ctx = rules,
        };
        net_set_pint(net, &ops);
    }
}

static void with_ports(net_t *net, void *state)
{
    (void)net;
    compat__losses_prepare(state);
}

static void destroy(void *state)
{
    compat_hpcc_t *const rules = state;
    compat__pint_destroy(rules->pint);
    compat__decisions_free(rules);
    compat__losses_free(rules);
    sim_free(rules->address_words);
    sim_free(rules);
}

void compat_hpcc_register(net_t *net, const compat_hpcc_config_t *config)
{
    compat_hpcc_t *const rules = sim_alloc(sizeof(*rules));
    rules->net = net;
    rules->config = *config;
    net_register_buffer(net, &compat__hpcc_buffer);
    net_register_balance(net, &compat__hpcc_balance);
    net_register_routes(net, &compat__hpcc_routes);
    net_register_timing(net, &compat__hpcc_timing);
    net_register_framing(net, &compat__hpcc_framing);
    const net_link_rules_t links = {
        .pauses_last = !config->pause_expires,
        .down_first = config->down_first,
    };
    net_set_link_rules(net, &links);
    const net_extension_t extension = {
        .name = COMPAT_HPCC_EXTENSION,
        .state = rules,
        .before_build = before_build,
        .with_ports = with_ports,
        .destroy = destroy,
    };
    net_extend(net, &extension);
}

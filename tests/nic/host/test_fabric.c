// SPDX-License-Identifier: Apache-2.0
// Goal: what NICs share inside a host bounds them together, and nothing else does: a PCIe switch's
// uplink, the link between sockets, a socket's memory, a GPU's link, a NIC's own link.
// Method: two hosts joined by as many links as they have NICs, one of the hosts with limits; long
// WRITEs and READs on each NIC, ideal and detailed; payload over time against the closed form: it
// is the rate of the slowest part over those that share it; 5 % less, or 2 % more, since 128 KiB
// that wait for an ideal receiver's memory count as arrived. A receiver slower than its link must
// pause it and lose nothing. Places that are listed: the same bounds follow the list; a list that
// does not fit is refused by name.
// Does not pin: the order in which NICs get their share.
#include <string.h>

#include "net/port_pause.h"
#include "nic/fabric.h"
#include "nic/host.h"
#include "tests/check_main.h"

#define GBPS UINT64_C(1000000000)
#define LINK_BPS (200 * GBPS)
#define NICS_MAX 4u
#define MEMORY UINT64_C(0x100000)
#define MEMORY_BYTES (UINT64_C(1) << 30)
#define MESSAGE_BYTES UINT64_C(200000)
#define MESSAGES 40u
#define FAR_PLACE (MEMORY + (UINT64_C(1) << 28))

typedef struct rig rig_t;

typedef struct flow {
    rig_t *rig;
    nic_qp_t *qp;
    nic_cq_t *cq;
    uint32_t done;
    sim_time_t end_ps;
    nic_send_wr_t wr;
    sim_timer_t timer;
} flow_t;

struct rig {
    sim_t *sim;
    net_t *net;
    net_node_t *host[2]; // the first has the limits
    uint32_t nics;
    nic_mr_t *mr[2][NICS_MAX];
    flow_t flows[2][NICS_MAX]; // by the host that posts
    nic_qp_t *qps[2][NICS_MAX];
};

static void on_done(nic_cq_t *cq, void *ctx)
{
    flow_t *const flow = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        ck_assert_int_eq(wc.status, NIC_WC_SUCCESS);
        flow->done++;
        flow->end_ps = nic_node(nic_qp_nic(flow->qp))->sim.now_ps;
    }
}

static void post(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    flow_t *const flow = SIM_CONTAINER_OF(timer, flow_t, timer);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        ck_assert_int_eq(nic_post_send(flow->qp, &flow->wr), SIM_OK);
    }
}

static void unlimited(nic_config_t *config, sim_name_t model)
{
    nic_config_init(config);
    sim_free(config->congestion_control);
    config->congestion_control = sim_strdup("none");
    config->model = model;
    config->profile = NIC_PROFILE_CONNECTX_6; // 252 Gbps of PCIe
    config->host.sockets = 2;
    config->host.gpus = 2;
}

static void connect(rig_t *rig, uint32_t n)
{
    sim_message_t message;
    for (uint32_t h = 0; h < 2; h++) {
        nic_t *const nic = nic_at(rig->host[h], n);
        nic_pd_t *const pd = nic_pd_alloc(nic);
        const uint32_t rights =
            NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ;
        ck_assert_int_eq(nic_mr_register(pd, MEMORY, MEMORY_BYTES, rights, &rig->mr[h][n]), SIM_OK);
        flow_t *const flow = &rig->flows[h][n];
        flow->rig = rig;
        flow->cq = nic_cq_create(nic, 1000, on_done, flow);
        const nic_qp_init_attr_t attr = {.send_cq = flow->cq,
                                         .recv_cq = flow->cq,
                                         .max_send_wr = 100,
                                         .sq_sig_all = true};
        ck_assert_int_eq(nic_qp_create(pd, &attr, &flow->qp), SIM_OK);
        sim_timer_init(&flow->timer, post);
    }
    for (uint32_t h = 0; h < 2; h++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nic_at(rig->host[h], n), &attr);
        attr.dest_interface = nic_interface(nic_at(rig->host[1 - h], n));
        attr.dest_qp_num = nic_qp_num(rig->flows[1 - h][n].qp);
        ck_assert_int_eq(nic_qp_connect(rig->flows[h][n].qp, &attr, &message), SIM_OK);
    }
}

static rig_t *make(const nic_config_t *config, uint32_t nics)
{
    sim_message_t message = {.text = ""};
    rig_t *const rig = sim_alloc(sizeof(*rig));
    ck_assert_msg(nic_config_check(config, &message) == SIM_OK, "%s", message.text);
    rig->nics = nics;
    rig->sim = sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    rig->net = net_create(rig->sim, &net_config);
    sim_attrs_fini(&net_config_attrs, &net_config);
    nic_config_t other;
    unlimited(&other, NIC_IDEAL);
    rig->host[0] = nic_host_create(rig->net, "bound", config);
    rig->host[1] = nic_host_create(rig->net, "free", &other);
    nic_config_fini(&other);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = LINK_BPS;
    link.delay_ps = 500000;
    for (uint32_t n = 0; n < nics; n++) {
        (void)net_link_add(rig->net, rig->host[0], rig->host[1], &link);
    }
    sim_attrs_fini(&net_link_config_attrs, &link);
    ck_assert_msg(net_build(rig->net, &message) == SIM_OK, "%s", message.text);
    for (uint32_t n = 0; n < nics; n++) {
        connect(rig, n);
    }
    return rig;
}

// Starts a flow of host `from` on NIC n; the bounded host's memory lies at `bound_address`.
static void flow(rig_t *rig, uint32_t from, uint32_t n, nic_wr_opcode_t opcode,
                 uint64_t bound_address)
{
    flow_t *const one = &rig->flows[from][n];
    one->wr = (nic_send_wr_t){
        .opcode = opcode,
        .sge = {from == 0 ? bound_address : MEMORY, MESSAGE_BYTES, nic_mr_lkey(rig->mr[from][n])},
        .rdma = {from == 0 ? MEMORY : bound_address, nic_mr_rkey(rig->mr[1 - from][n])},
    };
    sim_timer_arm(&rig->host[from]->sim, &one->timer, 1000);
}

static void run(rig_t *rig)
{
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(sim_run(rig->sim), SIM_ENDED_DONE);
    ck_assert_msg(net_conservation_ok(rig->net, &message), "%s", message.text);
    net_tally_t tally;
    uint64_t in_flight = 0;
    net_conservation(rig->net, &tally, &in_flight);
    ck_assert_uint_eq(tally.dropped, 0);
}

static void end(rig_t *rig)
{
    sim_destroy(rig->sim);
    net_destroy(rig->net);
    sim_free(rig);
}

// Returns the goodput in Gbps of `count` flows that ended together or before the last of them.
static double gbps(const rig_t *rig, uint32_t from, uint32_t first, uint32_t count)
{
    sim_time_t end_ps = 0;
    for (uint32_t n = first; n < first + count; n++) {
        ck_assert_uint_eq(rig->flows[from][n].done, MESSAGES);
        end_ps = rig->flows[from][n].end_ps > end_ps ? rig->flows[from][n].end_ps : end_ps;
    }
    return (double)(count * MESSAGES * MESSAGE_BYTES * 8) * 1000 / (double)end_ps;
}

#define NEAR(found, expected)                                             \
    ck_assert_msg((found) > (expected)*0.95 && (found) < (expected)*1.02, \
                  "%.2f Gbps, must be %.2f", (found), (double)(expected))

// Payload at the link's rate: of 200 Gbps, less 82 of every 4178 bytes.
#define LINE_GBPS 196.0

// Each way to move a payload from or to the bounded host.
static const struct {
    uint32_t from;
    nic_wr_opcode_t opcode;
} ways[] = {
    {0, NIC_WR_RDMA_WRITE}, // read from memory
    {1, NIC_WR_RDMA_READ},
    {1, NIC_WR_RDMA_WRITE}, // written to it
    {0, NIC_WR_RDMA_READ},
};
#define WAYS 4
#define CASES (2 * WAYS)
static const sim_name_t models[] = {{"ideal"}, {"detailed"}};

// Counts the bytes that a detailed NIC moves to and from memory besides payloads: CQEs of 64 bytes;
// WQEs that a core writes in lines of 64, and a line of each context that is not cached.
static void count_besides(const nic_t *nic, uint64_t bytes[2])
{
    nic_rnic_counters_t counters;
    bytes[0] = bytes[1] = 0;
    if (nic_get_rnic_counters(nic, &counters)) {
        ck_assert_uint_eq(counters.doorbells, 0);
        bytes[0] = 64 * counters.cqes_written;
        bytes[1] = 64 * (counters.mmio_lines + counters.context_misses + counters.wqe_misses +
                         counters.cq_misses + counters.translation_misses);
    }
}

// -- two NICs and an uplink

START_TEST(nics_behind_one_switch_share_its_uplink)
{
    const uint32_t from = ways[_i % WAYS].from;
    const nic_wr_opcode_t opcode = ways[_i % WAYS].opcode;
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    config.host.nics_per_switch = 2;
    config.host.uplink_bps = 100 * GBPS;
    rig_t *rig = make(&config, 4);
    for (uint32_t n = 0; n < 3; n++) { // two behind the first switch, one behind the second
        flow(rig, from, n, opcode, MEMORY);
    }
    run(rig);
    NEAR(gbps(rig, from, 0, 2), 100);
    NEAR(gbps(rig, from, 2, 1), 100);
    end(rig);
    // One flow alone gets the whole uplink.
    rig = make(&config, 4);
    flow(rig, from, 1, opcode, MEMORY);
    run(rig);
    NEAR(gbps(rig, from, 1, 1), 100);
    nic_part_t part;
    ck_assert(nic_host_part(rig->host[0], 0, &part));
    ck_assert_str_eq(part.name, "switch:0 up");
    ck_assert_uint_eq(part.rate_bps, 100 * GBPS);
    const bool written = _i % WAYS >= 2;
    uint64_t besides[2];
    count_besides(nic_at(rig->host[0], 1), besides);
    ck_assert_uint_eq(part.bytes, (written ? MESSAGES * MESSAGE_BYTES : 0) + besides[0]);
    ck_assert(nic_host_part(rig->host[0], 1, &part));
    ck_assert_uint_eq(part.bytes, (written ? 0 : MESSAGES * MESSAGE_BYTES) + besides[1]);
    ck_assert(!nic_host_part(rig->host[0], 4, &part));
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// The two directions of an uplink do not share.
START_TEST(directions_are_apart)
{
    nic_config_t config;
    unlimited(&config, models[_i]);
    config.host.nics_per_switch = 2;
    config.host.uplink_bps = 100 * GBPS;
    rig_t *const rig = make(&config, 2);
    flow(rig, 0, 0, NIC_WR_RDMA_WRITE, MEMORY);
    flow(rig, 1, 1, NIC_WR_RDMA_WRITE, MEMORY);
    run(rig);
    NEAR(gbps(rig, 0, 0, 1), 100);
    NEAR(gbps(rig, 1, 1, 1), 100);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

START_TEST(without_limits_each_has_its_line)
{
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    config.host.nics_per_switch = 2;
    rig_t *const rig = make(&config, 2);
    for (uint32_t n = 0; n < 2; n++) {
        flow(rig, ways[_i % WAYS].from, n, ways[_i % WAYS].opcode, MEMORY);
    }
    run(rig);
    ck_assert_double_gt(gbps(rig, ways[_i % WAYS].from, 0, 2), 2 * LINE_GBPS * 0.95);
    nic_part_t part;
    ck_assert(!nic_host_part(rig->host[0], 0, &part));
    end(rig);
    nic_config_fini(&config);
}
END_TEST

START_TEST(a_nic_has_its_own_link)
{
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    config.host.nic_bps = 80 * GBPS;
    rig_t *const rig = make(&config, 2);
    for (uint32_t n = 0; n < 2; n++) {
        flow(rig, ways[_i % WAYS].from, n, ways[_i % WAYS].opcode, MEMORY);
    }
    run(rig);
    NEAR(gbps(rig, ways[_i % WAYS].from, 0, 2), 160);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// -- sockets

// The second of two NICs is on the second socket; the first crosses over to that socket's memory.
START_TEST(far_memory_is_behind_the_socket_link)
{
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    config.host.socket_link_bps = 60 * GBPS;
    rig_t *const rig = make(&config, 2);
    nic_location_t second;
    sim_message_t message;
    ck_assert_int_eq(nic_location_parse(rig->host[0], "cpu:1", &second, &message), SIM_OK);
    nic_memory_place(rig->host[0], FAR_PLACE, 1 << 20, second);
    ck_assert_uint_eq(nic_memory_location(rig->host[0], FAR_PLACE).index, 1);
    ck_assert_uint_eq(nic_memory_location(rig->host[0], FAR_PLACE - 1).index, 0);
    ck_assert_int_eq(nic_distance(nic_at(rig->host[0], 0), second), NIC_OTHER_SOCKET);
    ck_assert_int_eq(nic_distance(nic_at(rig->host[0], 1), second), NIC_SAME_SOCKET);
    for (uint32_t n = 0; n < 2; n++) {
        flow(rig, ways[_i % WAYS].from, n, ways[_i % WAYS].opcode, FAR_PLACE);
    }
    run(rig);
    NEAR(gbps(rig, ways[_i % WAYS].from, 0, 1), 60);
    ck_assert_double_gt(gbps(rig, ways[_i % WAYS].from, 1, 1), LINE_GBPS * 0.95);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

START_TEST(memory_bounds_reads_and_writes_together)
{
    nic_config_t config;
    unlimited(&config, models[_i]);
    config.host.sockets = 1;
    config.host.memory_bps = 150 * GBPS;
    rig_t *const rig = make(&config, 2);
    flow(rig, 0, 0, NIC_WR_RDMA_WRITE, MEMORY);
    flow(rig, 1, 1, NIC_WR_RDMA_WRITE, MEMORY);
    run(rig);
    const sim_time_t first_ps = rig->flows[0][0].end_ps;
    const sim_time_t second_ps = rig->flows[1][1].end_ps;
    const sim_time_t end_ps = first_ps > second_ps ? first_ps : second_ps;
    const double sum = (double)(2 * MESSAGES * MESSAGE_BYTES * 8) * 1000 / (double)end_ps;
    NEAR(sum, 150);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// -- GPUs

// Two switches have two NICs and a GPU each. A NIC takes no uplink to its own GPU, and both uplinks
// to the other GPU.
START_TEST(a_gpu_behind_the_same_switch_needs_no_uplink)
{
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    config.host.nics_per_switch = 2;
    config.host.uplink_bps = 50 * GBPS;
    config.host.gpu_bps = 120 * GBPS;
    rig_t *const rig = make(&config, 4);
    nic_location_t gpu;
    sim_message_t message;
    ck_assert_int_eq(nic_location_parse(rig->host[0], "cuda:0", &gpu, &message), SIM_OK);
    nic_memory_place(rig->host[0], FAR_PLACE, 1 << 20, gpu);
    ck_assert_int_eq(nic_distance(nic_at(rig->host[0], 1), gpu), NIC_SAME_SWITCH);
    ck_assert_int_eq(nic_distance(nic_at(rig->host[0], 2), gpu), NIC_OTHER_SOCKET);
    flow(rig, ways[_i % WAYS].from, 0, ways[_i % WAYS].opcode, FAR_PLACE);
    flow(rig, ways[_i % WAYS].from, 3, ways[_i % WAYS].opcode, FAR_PLACE);
    run(rig);
    NEAR(gbps(rig, ways[_i % WAYS].from, 3, 1), 50);
    // Until the near flow is done, the other one gets the rest of the GPU's link.
    const double near = gbps(rig, ways[_i % WAYS].from, 0, 1);
    ck_assert_msg(near > 65 && near < 121, "%.2f Gbps", near);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

START_TEST(memory_lies_at_the_location_of_the_host)
{
    nic_config_t config;
    unlimited(&config, models[_i]);
    config.host.gpu_bps = 70 * GBPS;
    sim_free(config.host.location);
    config.host.location = sim_strdup("cuda:1");
    rig_t *const rig = make(&config, 1);
    flow(rig, 0, 0, NIC_WR_RDMA_WRITE, MEMORY);
    run(rig);
    NEAR(gbps(rig, 0, 0, 1), 70);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// -- places

static void set_text(char **text, const char *value)
{
    sim_free(*text);
    *text = sim_strdup(value);
}

// NICs 0 and 3 share a switch of the second socket, NIC 1 is at that socket's root, NIC 2 alone
// behind a switch of the first socket with four lanes (63 Gbps).
START_TEST(nics_are_where_the_list_says)
{
    nic_config_t config;
    unlimited(&config, models[_i / WAYS]);
    set_text(&config.host.nic_places, "[switch:1, cpu:1, switch:0/x4, switch:1]");
    set_text(&config.host.switch_places, "[cpu:0, cpu:1]");
    set_text(&config.host.gpu_places, "[switch:1, cpu:0]");
    config.host.uplink_bps = 100 * GBPS;
    rig_t *const rig = make(&config, 4);
    const uint32_t from = ways[_i % WAYS].from;
    for (uint32_t n = 0; n < 4; n++) {
        flow(rig, from, n, ways[_i % WAYS].opcode, MEMORY);
    }
    run(rig);
    NEAR(gbps(rig, from, 0, 1) + gbps(rig, from, 3, 1), 100);
    ck_assert_double_gt(gbps(rig, from, 1, 1), LINE_GBPS * 0.95);
    // A detailed NIC's lanes carry headers, too, which are at most a sixth of the bytes.
    const double lanes = gbps(rig, from, 2, 1);
    ck_assert_msg(lanes > 63 * 0.8 && lanes < 63 * 1.02, "%.2f Gbps", lanes);
    static const nic_distance_t distances[4][4] = {
        {NIC_OTHER_SOCKET, NIC_SAME_SOCKET, NIC_SAME_SWITCH, NIC_OTHER_SOCKET},
        {NIC_OTHER_SOCKET, NIC_SAME_SOCKET, NIC_SAME_SOCKET, NIC_OTHER_SOCKET},
        {NIC_SAME_SOCKET, NIC_OTHER_SOCKET, NIC_OTHER_SOCKET, NIC_SAME_SOCKET},
        {NIC_OTHER_SOCKET, NIC_SAME_SOCKET, NIC_SAME_SWITCH, NIC_OTHER_SOCKET},
    };
    for (uint32_t n = 0; n < 4; n++) {
        for (uint32_t l = 0; l < 4; l++) {
            const nic_location_t location = {.gpu = l >= 2, .index = l % 2};
            const nic_distance_t found = nic_distance(nic_at(rig->host[0], n), location);
            ck_assert_msg(found == distances[n][l], "NIC %u, place %u: %d", n, l, (int)found);
        }
    }
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// Listing the places that the rule would give changes nothing.
START_TEST(the_even_places_may_be_listed)
{
    sim_time_t ends_ps[2];
    for (uint32_t k = 0; k < 2; k++) {
        nic_config_t config;
        unlimited(&config, models[_i]);
        config.host.uplink_bps = 100 * GBPS;
        config.host.socket_link_bps = 60 * GBPS;
        if (k == 0) {
            config.host.nics_per_switch = 2;
        } else {
            set_text(&config.host.nic_places, "[switch:0, switch:0, switch:1, switch:1]");
            set_text(&config.host.gpu_places, "[switch:0, switch:1]");
        }
        rig_t *const rig = make(&config, 4);
        for (uint32_t n = 0; n < 4; n++) {
            flow(rig, 0, n, NIC_WR_RDMA_WRITE, MEMORY);
        }
        run(rig);
        ends_ps[k] = rig->flows[0][0].end_ps + rig->flows[0][3].end_ps;
        end(rig);
        nic_config_fini(&config);
    }
    ck_assert_uint_eq(ends_ps[0], ends_ps[1]);
}
END_TEST

START_TEST(wrong_places_are_refused)
{
    static const struct {
        const char *nics;
        const char *switches;
        const char *gpus;
        uint64_t nics_per_switch;
        const char *about;
    } wrong[] = {
        {"[cpu:2, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0, cpu:0, cpu:1]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0/x0, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0/x64, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0/8, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[switch:64, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[cuda:0, cpu:0]", "even", "even", 0, "nic.host.nic-places"},
        {"[]", "even", "even", 0, "nic.host.nic-places"},
        {"", "even", "even", 0, "nic.host.nic-places"},
        {"cpu:0, cpu:1", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0, cpu:1", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0, cpu:1]]", "even", "even", 0, "nic.host.nic-places"},
        {"[cpu:0, cpu:1,]", "even", "even", 0, "nic.host.nic-places"},
        {"evenly", "even", "even", 0, "nic.host.nic-places"},
        {"[switch:0, switch:0]", "even", "even", 2, "nic.host.nics-per-switch"},
        {"[switch:0, switch:1]", "[cpu:0]", "even", 0, "nic.host.switch-places"},
        {"even", "[cpu:0, cpu:1]", "even", 2, "nic.host.switch-places"},
        {"even", "[switch:0]", "even", 2, "nic.host.switch-places"},
        {"even", "even", "[cpu:0]", 0, "nic.host.gpu-places"},
        {"even", "even", "[cpu:0, cpu:1/x4]", 0, "nic.host.gpu-places"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        nic_config_t config;
        unlimited(&config, NIC_IDEAL);
        set_text(&config.host.nic_places, wrong[i].nics);
        set_text(&config.host.switch_places, wrong[i].switches);
        set_text(&config.host.gpu_places, wrong[i].gpus);
        config.host.nics_per_switch = wrong[i].nics_per_switch;
        sim_message_t message = {.text = ""};
        sim_t *const sim =
            sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER});
        net_config_t net_config;
        sim_attrs_default(&net_config_attrs, &net_config);
        net_t *const net = net_create(sim, &net_config);
        net_node_t *const hosts[2] = {nic_host_create(net, "wrong", &config),
                                      nic_host_create(net, "peer", &config)};
        net_link_config_t link;
        sim_attrs_default(&net_link_config_attrs, &link);
        for (uint32_t n = 0; n < 2; n++) {
            (void)net_link_add(net, hosts[0], hosts[1], &link);
        }
        ck_assert_msg(nic_host_check(hosts[0], &message) != SIM_OK, "row %zu", i);
        ck_assert_msg(strcmp(message.about, wrong[i].about) == 0, "row %zu: %s", i, message.text);
        sim_attrs_fini(&net_link_config_attrs, &link);
        sim_attrs_fini(&net_config_attrs, &net_config);
        sim_destroy(sim);
        net_destroy(net);
        nic_config_fini(&config);
    }
}
END_TEST

// -- what is no payload

// For a small WRITE, the memory moves the payload and the CQE, 64 bytes each.
START_TEST(cqes_take_memory_bandwidth)
{
    nic_config_t config;
    unlimited(&config, NIC_DETAILED);
    config.host.sockets = 1;
    config.host.memory_bps = GBPS / 10;
    rig_t *const rig = make(&config, 1);
    flow(rig, 0, 0, NIC_WR_RDMA_WRITE, MEMORY);
    rig->flows[0][0].wr.sge.length = 64;
    run(rig);
    ck_assert_uint_eq(rig->flows[0][0].done, MESSAGES);
    uint64_t besides[2];
    count_besides(nic_at(rig->host[0], 0), besides);
    nic_rnic_counters_t counters;
    ck_assert(nic_get_rnic_counters(nic_at(rig->host[0], 0), &counters));
    const uint64_t bytes = MESSAGES * 64 + besides[0] + besides[1] - 64 * counters.mmio_lines;
    nic_part_t part;
    ck_assert(nic_host_part(rig->host[0], 0, &part));
    ck_assert_str_eq(part.name, "cpu:0");
    ck_assert_uint_eq(part.bytes, bytes);
    const double expected_ps = (double)(bytes * 8) * 10000;
    const double found_ps = (double)rig->flows[0][0].end_ps;
    ck_assert_msg(found_ps > expected_ps && found_ps < expected_ps * 1.02,
                  "%.0f ps, must be little more than %.0f", found_ps, expected_ps);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

// -- a slow receiver, latency, names

START_TEST(a_slow_receiver_pauses_its_link)
{
    nic_config_t config;
    unlimited(&config, models[_i]);
    config.host.memory_bps = 40 * GBPS;
    rig_t *const rig = make(&config, 1);
    flow(rig, 1, 0, NIC_WR_RDMA_WRITE, MEMORY);
    run(rig);
    NEAR(gbps(rig, 1, 0, 1), 40);
    const net_port_t *const sender =
        net_interface_port(rig->net, nic_interface(nic_at(rig->host[1], 0)));
    ck_assert_uint_gt(net_port_paused_ps(sender, 3, rig->host[1]->sim.now_ps), 0);
    end(rig);
    nic_config_fini(&config);
}
END_TEST

START_TEST(the_socket_link_takes_time)
{
    sim_time_t ends_ps[2];
    for (uint32_t k = 0; k < 2; k++) {
        nic_config_t config;
        unlimited(&config, NIC_DETAILED);
        config.host.socket_link_ps = 300000;
        rig_t *const rig = make(&config, 2);
        nic_location_t second;
        sim_message_t message;
        ck_assert_int_eq(nic_location_parse(rig->host[0], "cpu:1", &second, &message), SIM_OK);
        nic_memory_place(rig->host[0], FAR_PLACE, 1 << 20, second);
        flow(rig, 0, 0, NIC_WR_RDMA_WRITE, k == 0 ? MEMORY : FAR_PLACE);
        run(rig);
        ends_ps[k] = rig->flows[0][0].end_ps;
        end(rig);
        nic_config_fini(&config);
    }
    ck_assert_uint_gt(ends_ps[1], ends_ps[0]);
}
END_TEST

START_TEST(locations_have_names)
{
    static const char *const wrong[] = {
        "cpu:2",  "cuda:2", "cpu", "cpu:", "cuda:-1", "gpu:0", "", "cpu:99999999999999999999",
        "cuda:0x"};
    nic_config_t config;
    unlimited(&config, NIC_IDEAL);
    rig_t *const rig = make(&config, 1);
    nic_location_t location;
    sim_message_t message;
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        ck_assert_int_eq(nic_location_parse(rig->host[0], wrong[i], &location, &message),
                         SIM_ERR_UNKNOWN);
    }
    ck_assert_int_eq(nic_location_parse(rig->host[0], "cuda:1", &location, &message), SIM_OK);
    ck_assert(location.gpu && location.index == 1);
    end(rig);
    sim_free(config.host.location);
    config.host.location = sim_strdup("cuda:7");
    ck_assert_int_eq(nic_config_check(&config, &message), SIM_ERR_UNKNOWN);
    nic_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(nics_behind_one_switch_share_its_uplink, 0, CASES),
           CHECK_LOOP(directions_are_apart, 0, 2),
           CHECK_LOOP(without_limits_each_has_its_line, 0, CASES),
           CHECK_LOOP(a_nic_has_its_own_link, 0, CASES),
           CHECK_LOOP(far_memory_is_behind_the_socket_link, 0, CASES),
           CHECK_LOOP(memory_bounds_reads_and_writes_together, 0, 2),
           CHECK_LOOP(a_gpu_behind_the_same_switch_needs_no_uplink, 0, CASES),
           CHECK_LOOP(memory_lies_at_the_location_of_the_host, 0, 2),
           CHECK_LOOP(a_slow_receiver_pauses_its_link, 0, 2),
           CHECK_TEST(the_socket_link_takes_time),
           CHECK_LOOP(nics_are_where_the_list_says, 0, CASES),
           CHECK_LOOP(the_even_places_may_be_listed, 0, 2), CHECK_TEST(wrong_places_are_refused),
           CHECK_TEST(cqes_take_memory_bandwidth), CHECK_TEST(locations_have_names))

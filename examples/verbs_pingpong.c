// SPDX-License-Identifier: Apache-2.0
// examples/verbs_pingpong.c - two hosts on one cable play ping-pong with SEND and RECV.
//
// Shows a network built by hand, the verbs (memory regions, completion queues, queue pairs,
// post_send, post_recv, poll_cq), a capture of everything on the cable, and a closed form that the
// measured round trips must equal.
//
//     verbs_pingpong [CAPTURE.pcap]
#include <stdio.h>
#include <stdlib.h>

#include "net/frame_opcodes.h"
#include "nic/host.h"
#include "pcap-out/capture.h"

#define ROUNDS 5
#define MESSAGE_BYTES 64
#define MEMORY 0x10000 // address of each host's buffer
#define LINK_BPS UINT64_C(100000000000)
#define LINK_DELAY_PS SIM_PS_PER_US

typedef struct player {
    nic_t *nic;
    nic_pd_t *pd;
    nic_mr_t *memory;
    nic_cq_t *cq;
    nic_qp_t *qp;
    bool serves; // begins each round
    uint32_t rounds_done;
    sim_time_t began_ps; // when the current round began
    sim_time_t round_ps[ROUNDS];
} player_t;

static void die(const char *what, const sim_message_t *message)
{
    fprintf(stderr, "verbs_pingpong: %s: %s\n", what, message->text);
    exit(1);
}

static void hit(player_t *player)
{
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_SEND,
        .sge = {MEMORY, MESSAGE_BYTES, nic_mr_lkey(player->memory)},
    };
    SIM_CHECK(nic_post_send(player->qp, &wr) == SIM_OK);
    player->began_ps = nic_node(player->nic)->sim.now_ps;
}

static void wait_for_ball(player_t *player)
{
    const nic_recv_wr_t wr = {.sge = {MEMORY, MESSAGE_BYTES, nic_mr_lkey(player->memory)}};
    SIM_CHECK(nic_post_recv(player->qp, &wr) == SIM_OK);
}

// Takes all completions; called when one arrives in an empty queue.
static void on_completion(nic_cq_t *cq, void *ctx)
{
    player_t *const player = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        SIM_CHECKF(wc.status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc.status));
        if (wc.opcode != NIC_WC_RECV) {
            continue;
        }
        if (player->serves) {
            player->round_ps[player->rounds_done] =
                nic_node(player->nic)->sim.now_ps - player->began_ps;
        }
        player->rounds_done++;
        if (player->serves && player->rounds_done == ROUNDS) {
            sim_work_end(&nic_node(player->nic)->sim, 1);
        }
        if (!player->serves || player->rounds_done < ROUNDS) {
            wait_for_ball(player);
            hit(player);
        }
    }
}

static void enter(player_t *player, nic_t *nic)
{
    player->nic = nic;
    player->pd = nic_pd_alloc(nic);
    SIM_CHECK(nic_mr_register(player->pd, MEMORY, MESSAGE_BYTES, NIC_ACCESS_LOCAL_WRITE,
                              &player->memory) == SIM_OK);
    player->cq = nic_cq_create(nic, 16, on_completion, player);
    const nic_qp_init_attr_t attr = {
        .qp_type = NIC_QPT_RC,
        .send_cq = player->cq,
        .recv_cq = player->cq,
        .max_send_wr = 4,
        .max_recv_wr = 4,
    };
    SIM_CHECK(nic_qp_create(player->pd, &attr, &player->qp) == SIM_OK);
}

static void connect_to(player_t *player, const player_t *other)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(player->nic, &attr);
    attr.dest_interface = nic_interface(other->nic);
    attr.dest_qp_num = nic_qp_num(other->qp);
    sim_message_t message;
    if (nic_qp_connect(player->qp, &attr, &message) != SIM_OK) {
        die("connect", &message);
    }
}

static net_t *build(sim_t *sim)
{
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = LINK_BPS;
    link.delay_ps = LINK_DELAY_PS;
    nic_config_t nic_config;
    nic_config_init(&nic_config);

    net_t *const net = net_create(sim, &net_config);
    net_node_t *const a = nic_host_create(net, "ping", &nic_config);
    net_node_t *const b = nic_host_create(net, "pong", &nic_config);
    net_link_add(net, a, b, &link);
    nic_config_fini(&nic_config);

    sim_message_t message;
    if (net_build(net, &message) != SIM_OK) {
        die("network", &message);
    }
    return net;
}

// Returns the time of one way: the ACK of the received ball leaves first, then the ball. The last
// bit of a frame's FCS arrives one delay after it was sent; the gap after it does not count.
static sim_time_t one_way_ps(const net_t *net)
{
    const net_port_t *const port = net_interface_port(net, 0);
    const uint32_t ack_bytes = net_frame_bytes(ROCE_RC | ROCE_ACKNOWLEDGE, 0, false, false);
    const uint32_t ball_bytes =
        net_frame_bytes(ROCE_RC | ROCE_SEND_ONLY, MESSAGE_BYTES, false, false);
    return net_port_frame_time_ps(port, ack_bytes) + net_port_frame_time_ps(port, ball_bytes) -
           port->line->gap_ps + port->line->delay_ps;
}

int main(int argc, char **argv)
{
    sim_t *const sim = sim_create(&(sim_options_t){
        .seed = 1,
        .threads = 1,
        .until_ps = SIM_TIME_NEVER,
        .stall_ps = SIM_PS_PER_S, // a lost ball ends the run as stalled
    });
    net_t *const net = build(sim);
    player_t players[2] = {{.serves = true}, {.serves = false}};
    for (uint32_t i = 0; i < 2; i++) {
        enter(&players[i], nic_of_interface(net, i));
    }
    connect_to(&players[0], &players[1]);
    connect_to(&players[1], &players[0]);

    const pcap_out_config_t config = {.path = argc > 1 ? argv[1] : "verbs_pingpong.pcap"};
    pcap_out_capture_t *capture = NULL;
    sim_message_t message;
    if (pcap_out_capture_open(sim, &config, &capture, &message) != SIM_OK) {
        die("capture", &message);
    }
    pcap_out_capture_port(capture, net_interface_port(net, 0));

    wait_for_ball(&players[0]);
    wait_for_ball(&players[1]);
    hit(&players[0]);
    sim_work_begin(&nic_node(players[0].nic)->sim, 1); // the whole game
    const sim_ended_t ended = sim_run(sim);

    const uint64_t frames = pcap_out_capture_frames(capture);
    if (pcap_out_capture_close(capture, &message) != SIM_OK) {
        die("capture", &message);
    }
    const sim_time_t expected_ps = 2 * one_way_ps(net);
    bool good = ended == SIM_ENDED_DONE && players[0].rounds_done == ROUNDS;
    for (uint32_t i = 0; i < players[0].rounds_done; i++) {
        printf("round %u: %" PRIu64 " ps\n", i + 1, players[0].round_ps[i]);
        // Before the very first ball there is nothing to acknowledge.
        good = good && (i == 0 || players[0].round_ps[i] == expected_ps);
    }
    printf("closed form: %" PRIu64 " ps from the second round on\n", expected_ps);
    printf("%s: %" PRIu64 " frames\n", config.path, frames);
    sim_destroy(sim);
    net_destroy(net);
    return good ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// tests/pcap-out/test_capture.c - captures at the ports of a running network (pcap-out/capture.h).
//
// Goal: a file has the frames of its ports, each once, with the right stamp to the picosecond (cut
// to nanoseconds) and bytes that parse; capturing changes nothing.
// Method: pairs of hosts made here for the purpose, one sending packets by the clock and one that
// answers with a pause; stamps from closed forms; files compared over threads.
// Not pinned: the file format (test_pcap_file.c), frames (test_frame.c), real hosts and switches.
#include "pcap-out/capture.h"
#include "pcap-out/fabric.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/port_pause.h"
#include "tests/check_main.h"

// labels: threads clang

#define PATH_BYTES 256
#define PAIRS_MAX 8
#define PACKETS 20u
#define PAUSE_AT 5u // the packet that is answered with a pause

enum {
    RATE_BPS = 100,               // Gbit/s
    PS_PER_BYTE = 80,             // at that rate
    DELAY_PS = 1000003,           // not whole nanoseconds
    PERIOD_PS = 333333,           // above the time of a frame
    PAYLOAD_BYTES = 1000,         //
    FRAME_BYTES = 58 + 16 + 1000, // Ethernet, IPv4, UDP, BTH, RETH, payload, ICRC
};

typedef struct peer {
    net_node_t node; // first
    sim_timer_t timer;
    uint32_t sent;
    uint32_t received;
    bool sender;
} peer_t;

typedef struct rig {
    sim_t *sim;
    net_t *net;
    peer_t *peers[2 * PAIRS_MAX]; // sender, receiver, sender...
} rig_t;

static void send_one(sim_node_t *node, sim_timer_t *timer)
{
    peer_t *const peer = SIM_CONTAINER_OF(node, peer_t, node.sim);
    net_port_t *const port = &peer->node.ports[0];
    net_packet_t *const packet = net_packet_new(&peer->node, FRAME_BYTES);
    *packet = (net_packet_t){
        .source = port->interface,
        .destination = port->peer->interface,
        .frame_bytes = FRAME_BYTES,
        .payload_bytes = PAYLOAD_BYTES,
        .udp_source_port = 0xc123,
        .kind = NET_PACKET_ROCE,
        .priority = 3,
        .ttl = 64,
        .opcode = ROCE_RC | ROCE_WRITE_ONLY,
        .psn = peer->sent,
        .destination_qp = 2,
    };
    net_packet_aside(packet)->reth.address = 4096;
    net_packet_aside(packet)->reth.rkey = 7;
    net_packet_aside(packet)->reth.length = PAYLOAD_BYTES;
    net_port_transmit(port, packet);
    if (++peer->sent < PACKETS) {
        sim_timer_arm(node, timer, node->now_ps + PERIOD_PS);
    }
}

static void run_peer(sim_node_t *node)
{
    peer_t *const peer = SIM_CONTAINER_OF(node, peer_t, node.sim);
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
        } else if (event.kind == SIM_EVENT_ARRIVAL) {
            net_packet_t *const packet = event.message;
            net_port_count_rx(&peer->node.ports[event.port], packet);
            net_packet_deliver(&peer->node, packet);
            if (!peer->sender && peer->received++ == PAUSE_AT) {
                net_port_pause_send(&peer->node.ports[0], 1u << 3, 100);
            }
        }
    }
}

static void destroy_peer(sim_node_t *node)
{
    peer_t *const peer = SIM_CONTAINER_OF(node, peer_t, node.sim);
    net_node_fini(&peer->node);
    sim_free(peer);
}

static void built(net_node_t *node)
{
    peer_t *const peer = SIM_CONTAINER_OF(node, peer_t, node);
    if (peer->sender) {
        sim_timer_init(&peer->timer, send_one);
        sim_timer_arm(&node->sim, &peer->timer, PERIOD_PS);
    }
}

static void rig_create(rig_t *rig, unsigned threads, unsigned pairs)
{
    static const sim_node_ops_t ops = {.kind = "peer", .run = run_peer, .destroy = destroy_peer};
    const sim_options_t options = {.seed = 1, .threads = threads, .until_ps = SIM_TIME_NEVER};
    const net_config_t config = {.forwarding = NET_FORWARDING_ROUTED};
    const net_link_config_t link = {
        .rate_bps = RATE_BPS * UINT64_C(1000000000),
        .delay_ps = DELAY_PS,
        .loss_rate = {0, 1},
        .bit_error_rate = {0, 1},
    };
    *rig = (rig_t){.sim = sim_create(&options)};
    rig->net = net_create(rig->sim, &config);
    for (unsigned i = 0; i < 2 * pairs; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%c%u", i % 2 == 0 ? 's' : 'r', i / 2);
        rig->peers[i] = sim_alloc(sizeof(peer_t));
        rig->peers[i]->sender = i % 2 == 0;
        net_node_init(rig->net, &rig->peers[i]->node, NET_NODE_HOST, &ops, name, built);
        if (i % 2 == 1) {
            net_link_add(rig->net, &rig->peers[i - 1]->node, &rig->peers[i]->node, &link);
        }
    }
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_build(rig->net, &message) == SIM_OK, "%s", message.text);
}

static void rig_destroy(rig_t *rig)
{
    sim_destroy(rig->sim);
    net_destroy(rig->net);
}

static net_port_t *port_of(const rig_t *rig, unsigned peer)
{
    return &rig->peers[peer]->node.ports[0];
}

static void make_path(char *path)
{
    const char *const base = getenv("TMPDIR");
    snprintf(path, PATH_BYTES, "%s/rocesim-capture-XXXXXX", base != NULL ? base : "/tmp");
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
}

static pcap_out_capture_t *open_or_die(sim_t *sim, const pcap_out_config_t *config)
{
    pcap_out_capture_t *capture = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(pcap_out_capture_open(sim, config, &capture, &message) == SIM_OK, "%s",
                  message.text);
    return capture;
}

// Runs one pair with a capture at one of its ports. Returns the frames it says it has.
static uint64_t capture_some(const pcap_out_config_t *config, unsigned peer, uint64_t *left_out)
{
    rig_t rig;
    rig_create(&rig, 1, 1);
    pcap_out_capture_t *const capture = open_or_die(rig.sim, config);
    pcap_out_capture_port(capture, port_of(&rig, peer));
    ck_assert_int_eq(sim_run(rig.sim), SIM_ENDED_DONE);
    const uint64_t frames = pcap_out_capture_frames(capture);
    *left_out = pcap_out_capture_left_out(capture);
    sim_message_t message = {.text = ""};
    ck_assert_msg(pcap_out_capture_close(capture, &message) == SIM_OK, "%s", message.text);
    rig_destroy(&rig);
    return frames;
}

static uint64_t capture_one(const pcap_out_config_t *config, unsigned peer)
{
    uint64_t left_out = 0;
    const uint64_t frames = capture_some(config, peer, &left_out);
    ck_assert_uint_eq(left_out, 0);
    return frames;
}

// -- reading back

typedef struct seen {
    uint64_t time_ns;
    uint32_t length;
    uint32_t original;
    net_frame_t frame; // without its payload; of a frame that is whole
} seen_t;

static size_t read_capture(const char *path, seen_t *seen, size_t capacity)
{
    char trouble[PCAP_ERRBUF_SIZE];
    pcap_t *const pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, trouble);
    ck_assert_msg(pcap != NULL, "%s", trouble);
    struct pcap_pkthdr *header;
    const u_char *bytes;
    size_t count = 0;
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        ck_assert_uint_lt(count, capacity);
        seen_t *const one = &seen[count++];
        one->time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
        one->length = header->caplen;
        one->original = header->len;
        if (one->length == one->original) {
            sim_message_t message = {.text = ""};
            ck_assert_msg(net_frame_parse(bytes, header->caplen, &one->frame, &message) == SIM_OK,
                          "%s", message.text);
            ck_assert(net_frame_icrc_ok(bytes, header->caplen, &one->frame));
            one->frame.payload = NULL;
        }
    }
    pcap_close(pcap);
    return count;
}

static sim_time_t sent_ps(uint32_t packet)
{
    return (packet + 1) * (sim_time_t)PERIOD_PS;
}

// Returns when a frame has arrived: preamble, frame and FCS, and the delay.
static sim_time_t arrival_ps(sim_time_t first_bit_ps, uint32_t frame_bytes)
{
    return first_bit_ps + (8 + frame_bytes + 4) * (sim_time_t)PS_PER_BYTE + DELAY_PS;
}

static void check_data(const seen_t *seen, uint32_t packet, const net_port_t *sender)
{
    ck_assert_uint_eq(seen->length, FRAME_BYTES);
    ck_assert(!seen->frame.is_pfc);
    ck_assert_uint_eq(seen->frame.psn, packet);
    ck_assert_uint_eq(seen->frame.payload_bytes, PAYLOAD_BYTES);
    ck_assert_uint_eq(seen->frame.reth.length, PAYLOAD_BYTES);
    ck_assert_uint_eq(seen->frame.source_mac[5], sender->uid);
    ck_assert_uint_eq(seen->frame.destination_mac[5], sender->peer->uid);
    ck_assert_uint_eq(seen->frame.ttl, 64);
}

// Both ways at the sender's port: what it sends by the first bit, the pause by its last.
START_TEST(stamps_are_exact_at_the_sender)
{
    char path[PATH_BYTES];
    make_path(path);
    const pcap_out_config_t config = {.path = path};
    ck_assert_uint_eq(capture_one(&config, 0), PACKETS + 1);

    rig_t rig; // for the ports' numbers
    rig_create(&rig, 1, 1);
    seen_t seen[PACKETS + 2];
    ck_assert_uint_eq(read_capture(path, seen, SIM_COUNT_OF(seen)), PACKETS + 1);
    uint32_t packet = 0;
    for (size_t i = 0; i <= PACKETS; i++) {
        ck_assert(i == 0 || seen[i].time_ns >= seen[i - 1].time_ns);
        if (seen[i].frame.is_pfc) {
            const sim_time_t paused_ps = arrival_ps(sent_ps(PAUSE_AT), FRAME_BYTES);
            ck_assert_uint_eq(seen[i].time_ns, arrival_ps(paused_ps, 60) / 1000);
            ck_assert_uint_eq(seen[i].length, 60);
            ck_assert_uint_eq(seen[i].frame.pfc_classes, 1u << 3);
            ck_assert_uint_eq(seen[i].frame.pfc_quanta[3], 100);
            ck_assert_uint_eq(seen[i].frame.source_mac[5], port_of(&rig, 1)->uid);
        } else {
            ck_assert_uint_eq(seen[i].time_ns, sent_ps(packet) / 1000);
            check_data(&seen[i], packet, port_of(&rig, 0));
            packet++;
        }
    }
    ck_assert_uint_eq(packet, PACKETS);
    rig_destroy(&rig);
    unlink(path);
}
END_TEST

START_TEST(stamps_are_exact_at_the_receiver)
{
    char path[PATH_BYTES];
    make_path(path);
    const pcap_out_config_t config = {.path = path, .direction = PCAP_OUT_RX};
    ck_assert_uint_eq(capture_one(&config, 1), PACKETS);

    rig_t rig;
    rig_create(&rig, 1, 1);
    seen_t seen[PACKETS];
    ck_assert_uint_eq(read_capture(path, seen, SIM_COUNT_OF(seen)), PACKETS);
    for (uint32_t i = 0; i < PACKETS; i++) {
        ck_assert_uint_eq(seen[i].time_ns, arrival_ps(sent_ps(i), FRAME_BYTES) / 1000);
        check_data(&seen[i], i, port_of(&rig, 0));
    }
    rig_destroy(&rig);
    unlink(path);
}
END_TEST

START_TEST(direction_and_filter_choose)
{
    static const struct {
        pcap_out_direction_t direction;
        const char *filter;
        uint32_t frames; // at the receiver
    } rows[] = {
        {PCAP_OUT_BOTH, NULL, PACKETS + 1},
        {PCAP_OUT_RX, "", PACKETS},
        {PCAP_OUT_TX, NULL, 1},
        {PCAP_OUT_BOTH, "ether proto 0x8808", 1},
        {PCAP_OUT_RX, "ether proto 0x8808", 0},
        {PCAP_OUT_BOTH, "udp dst port 4791", PACKETS},
        {PCAP_OUT_BOTH, "udp[19] < 4", 4}, // the last byte of the PSN
    };
    char path[PATH_BYTES];
    make_path(path);
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        const pcap_out_config_t config = {.path = path,
                                          .filter = rows[i].filter,
                                          .direction = rows[i].direction};
        ck_assert_uint_eq(capture_one(&config, 1), rows[i].frames);
        seen_t seen[PACKETS + 1];
        ck_assert_uint_eq(read_capture(path, seen, SIM_COUNT_OF(seen)), rows[i].frames);
    }
    unlink(path);
}
END_TEST

START_TEST(snap_length_keeps_the_original_length)
{
    char path[PATH_BYTES];
    make_path(path);
    const pcap_out_config_t config = {.path = path, .snaplen_bytes = 70, .direction = PCAP_OUT_TX};
    ck_assert_uint_eq(capture_one(&config, 0), PACKETS);
    seen_t seen[PACKETS];
    ck_assert_uint_eq(read_capture(path, seen, SIM_COUNT_OF(seen)), PACKETS);
    for (size_t i = 0; i < PACKETS; i++) {
        ck_assert_uint_eq(seen[i].length, 70);
        ck_assert_uint_eq(seen[i].original, FRAME_BYTES);
    }
    unlink(path);
}
END_TEST

// A file header of 24 bytes and three records of 16 and a frame: one byte less, and the third is
// out, as are all after it.
START_TEST(a_file_ends_at_its_largest_size)
{
    char path[PATH_BYTES];
    make_path(path);
    const uint64_t three = 24 + 3 * (16 + FRAME_BYTES);
    for (uint64_t less = 0; less < 2; less++) {
        const pcap_out_config_t config = {.path = path,
                                          .bytes_max = three - less,
                                          .direction = PCAP_OUT_TX};
        uint64_t left_out = 0;
        ck_assert_uint_eq(capture_some(&config, 0, &left_out), 3 - less);
        seen_t seen[PACKETS];
        ck_assert_uint_eq(read_capture(path, seen, SIM_COUNT_OF(seen)), 3 - less);
        ck_assert_uint_eq(left_out, PACKETS - 3 + less);
    }
    unlink(path);
}
END_TEST

static size_t read_file(const char *path, uint8_t *bytes, size_t capacity)
{
    FILE *const file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, capacity, file);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    return size;
}

// Captures all ports of pairs that run in step, so that every instant has a tie between nodes.
static uint64_t run_pairs(unsigned threads, const char *path)
{
    rig_t rig;
    rig_create(&rig, threads, PAIRS_MAX);
    pcap_out_capture_t *capture = NULL;
    if (path != NULL) {
        const pcap_out_config_t config = {.path = path, .filter = "len > 0"};
        capture = open_or_die(rig.sim, &config);
        for (unsigned i = 0; i < 2 * PAIRS_MAX; i++) {
            pcap_out_capture_port(capture, port_of(&rig, i));
        }
    }
    ck_assert_int_eq(sim_run(rig.sim), SIM_ENDED_DONE);
    const uint64_t digest = sim_digest(rig.sim);
    if (capture != NULL) {
        ck_assert_uint_eq(pcap_out_capture_frames(capture), 2 * PAIRS_MAX * (PACKETS + 1));
        ck_assert_int_eq(pcap_out_capture_close(capture, NULL), SIM_OK);
    }
    rig_destroy(&rig);
    return digest;
}

START_TEST(file_is_the_same_on_any_number_of_threads)
{
    enum { CAPACITY = 1 << 20 };
    static uint8_t first[CAPACITY];
    static uint8_t other[CAPACITY];
    char path[PATH_BYTES];
    make_path(path);
    const uint64_t digest = run_pairs(1, NULL);
    ck_assert_uint_eq(run_pairs(1, path), digest); // capturing changes nothing
    const size_t size = read_file(path, first, sizeof(first));
    for (unsigned threads = 1; threads <= 4; threads++) {
        ck_assert_uint_eq(run_pairs(threads, path), digest);
        ck_assert_uint_eq(read_file(path, other, sizeof(other)), size);
        ck_assert_mem_eq(first, other, size);
    }

    static seen_t seen[2 * PAIRS_MAX * (PACKETS + 1)];
    const size_t count = read_capture(path, seen, SIM_COUNT_OF(seen));
    ck_assert_uint_eq(count, SIM_COUNT_OF(seen));
    for (size_t i = 1; i < count; i++) {
        ck_assert(seen[i].time_ns >= seen[i - 1].time_ns);
    }
    unlink(path);
}
END_TEST

// Runs pairs with a ring of all ports. Returns whether the nodes handle each event in its turn.
static bool run_ring(bool every_port, const char *path)
{
    rig_t rig;
    rig_create(&rig, 2, PAIRS_MAX);
    const pcap_out_fabric_config_t config = {.capture = {.path = path},
                                             .application = "test",
                                             .section = "test",
                                             .nanoseconds = true,
                                             .every_port = every_port,
                                             .ring_bytes = UINT64_C(1) << 30};
    pcap_out_fabric_t *fabric = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(pcap_out_fabric_open(rig.net, &config, &fabric, &message) == SIM_OK, "%s",
                  message.text);
    for (unsigned i = 0; i < 2 * PAIRS_MAX; i++) {
        pcap_out_fabric_port(fabric, port_of(&rig, i));
    }
    const bool prompt = port_of(&rig, 0)->node->one_by_one;
    ck_assert_int_eq(sim_run(rig.sim), SIM_ENDED_DONE);
    pcap_out_fabric_end(fabric);
    ck_assert_uint_eq(pcap_out_fabric_frames(fabric), 2 * PAIRS_MAX * (PACKETS + 1));
    ck_assert_uint_eq(pcap_out_fabric_skipped(fabric), 0);
    ck_assert_int_eq(pcap_out_fabric_close(fabric, 0, 0, &message), SIM_OK);
    rig_destroy(&rig);
    return prompt;
}

START_TEST(a_ring_needs_no_events)
{
    enum { CAPACITY = 1 << 20 };
    static uint8_t all[CAPACITY];
    static uint8_t some[CAPACITY];
    char path[PATH_BYTES];
    make_path(path);
    ck_assert(!run_ring(true, path));
    const size_t bytes = read_file(path, all, CAPACITY);
    ck_assert(run_ring(false, path)); // which may have a port less, for all that it knows
    ck_assert_uint_eq(read_file(path, some, CAPACITY), bytes);
    ck_assert_mem_eq(all, some, bytes);
    remove(path);
}
END_TEST

START_TEST(errors_are_reported)
{
    rig_t rig;
    rig_create(&rig, 1, 1);
    sim_message_t message = {.text = ""};
    pcap_out_capture_t *capture = NULL;
    const pcap_out_config_t nowhere = {.path = "/nowhere/a.pcap"};
    ck_assert_int_eq(pcap_out_capture_open(rig.sim, &nowhere, &capture, &message), SIM_ERR_IO);
    ck_assert_ptr_null(capture);
    const pcap_out_config_t wrong = {.path = "/dev/null", .filter = "no filter"};
    ck_assert_int_eq(pcap_out_capture_open(rig.sim, &wrong, &capture, &message), SIM_ERR_INVALID);
    ck_assert_ptr_null(capture);

    const pcap_out_config_t full = {.path = "/dev/full"};
    capture = open_or_die(rig.sim, &full);
    pcap_out_capture_port(capture, port_of(&rig, 0));
    ck_assert_int_eq(sim_run(rig.sim), SIM_ENDED_DONE);
    ck_assert_int_eq(pcap_out_capture_close(capture, &message), SIM_ERR_IO);
    ck_assert_ptr_nonnull(strstr(message.text, "/dev/full: "));
    rig_destroy(&rig);
}
END_TEST

CHECK_MAIN(CHECK_TEST(stamps_are_exact_at_the_sender), CHECK_TEST(stamps_are_exact_at_the_receiver),
           CHECK_TEST(direction_and_filter_choose), CHECK_TEST(a_file_ends_at_its_largest_size),
           CHECK_TEST(snap_length_keeps_the_original_length),
           CHECK_TEST(file_is_the_same_on_any_number_of_threads),
           CHECK_TEST(a_ring_needs_no_events), CHECK_TEST(errors_are_reported))

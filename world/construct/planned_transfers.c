// SPDX-License-Identifier: Apache-2.0
// world/construct/planned_transfers.c - one pass over the planned transfers.
//
// Packets and hops are counted on the path that each transfer takes, with an ACK for every
// ack-interval packets. Where the run ends before they could be through, what an interface sends is
// cut to what its link carries in the time that is left after its first start.
#include "world/planned_transfers.h"
#include "kernel/digits.h"
#include "world/series.h"

#include <math.h>
#include <string.h>

#include "net/frame_opcodes.h"
#include "net/nodes.h"
#include "net/paths.h"
#include "world/construct/output_estimate.h"
#include "world/format.h"

// Measured on one thread of a server of 2022 (2.9 GHz) for stars, leaf-spines and fat-trees of 16
// to 128 hosts: 16 to 26 million a second; larger networks, out of the caches, are slower.
#define PACKET_HOPS_PER_S 15e6
// A detailed NIC adds its own events: 17 million where an ideal one has 25.
#define DETAILED_FACTOR 1.5
// Messages within hosts, of collectives of 8 to 64 ranks.
#define LOCAL_MESSAGES_PER_S 1e6

// The planned transfers that one interface requests, summed.
typedef struct sender {
    double bytes;
    double hops;
    sim_time_t first_ps;
} sender_t;

typedef struct pass {
    const world_t *world;
    world_survey_t *survey;
    sender_t *senders; // by interface
    size_t uid_count;
    bool has_slow_links; // below ORDINARY_BPS, or longer than ORDINARY_PS
    bool has_losses;     // some link loses or damages frames
} pass_t;

static size_t count_uids(const net_t *net)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        count += net_ports_of(net, i);
    }
    return count;
}

// -- classes by hop

static world_survey_kind_t *kind_of(pass_t *pass, uint8_t priority, uint8_t dscp, bool cnp)
{
    world_survey_t *const survey = pass->survey;
    for (size_t i = 0; i < survey->kind_count; i++) {
        world_survey_kind_t *const kind = &survey->kinds[i];
        if (kind->priority == priority && kind->dscp == dscp && kind->cnp == cnp) {
            return kind;
        }
    }
    if (survey->kind_count == WORLD_SURVEY_KINDS) {
        return NULL;
    }
    world_survey_kind_t *const kind = &survey->kinds[survey->kind_count++];
    *kind = (world_survey_kind_t){
        .priority = priority,
        .dscp = dscp,
        .cnp = cnp,
        .classes = sim_alloc(pass->uid_count + 1),
        .hops = sim_alloc(pass->uid_count + 1),
    };
    return kind;
}

// Marks the class of a kind of packet at each hop of the path. A switch that trusts the DSCP writes
// its class into the tag, which later switches that trust the tag read.
static void mark_path(world_survey_kind_t *kind, const net_path_t *path)
{
    uint32_t class = kind->priority;
    for (uint32_t i = 0; i < path->hop_count && i < SIM_COUNT_OF(path->ports); i++) {
        const net_port_t *const port = path->ports[i];
        if (port->node->kind == NET_NODE_SWITCH &&
            net_switch_config(port->node)->trust == NET_TRUST_DSCP) {
            class = kind->dscp >> 3;
        }
        SIM_CHECKF(class < NET_PRIORITIES, "class %u", class);
        kind->classes[port->uid] |= (uint8_t)(1u << class);
        if (kind->hops[port->uid] == 0 || kind->hops[port->uid] > i + 1) {
            kind->hops[port->uid] = (uint8_t)(i + 1);
        }
    }
}

static void mark_classes(pass_t *pass, const app_flow_result_t *flow, uint64_t transfers,
                         const net_path_t *forth, const net_path_t *back)
{
    world_survey_kind_t *const data = kind_of(pass, flow->priority, flow->dscp, false);
    if (data == NULL) {
        pass->survey->kinds_missed++;
    } else {
        data->transfers += transfers;
        mark_path(data, forth);
        mark_path(data, back);
    }
    // The receiver of data sends the CNPs.
    const uint32_t receiver = flow->reads ? flow->source : flow->destination;
    const nic_config_t *const config = nic_config_of_interface(pass->world->net, receiver);
    const uint64_t dscp =
        config->cnp_dscp == SIM_AUTO ? config->cnp_priority * 8 : config->cnp_dscp;
    world_survey_kind_t *const cnp =
        kind_of(pass, (uint8_t)config->cnp_priority, (uint8_t)dscp, true);
    if (cnp != NULL) {
        cnp->transfers += transfers;
        mark_path(cnp, flow->reads ? forth : back);
    }
}

// -- amounts

static void count_flow(pass_t *pass, const app_flow_result_t *flow, const net_path_t *forth,
                       const net_path_t *back)
{
    world_survey_t *const survey = pass->survey;
    const uint32_t answerer = flow->reads ? flow->source : flow->destination;
    const nic_config_t *const config = nic_config_of_interface(pass->world->net, answerer);
    const double packets =
        flow->mtu_bytes == 0 ? 0 : floor((double)flow->bytes / (double)flow->mtu_bytes) + 1;
    const net_path_t *const data = flow->reads ? back : forth;
    const net_path_t *const answers = flow->reads ? forth : back;
    const double acks = flow->reads ? 0 : packets / (double)config->ack_interval;
    survey->bytes += (double)flow->bytes;
    survey->packets += packets;
    sender_t *const sender = &pass->senders[flow->reads ? flow->destination : flow->source];
    sender->bytes += (double)flow->bytes;
    sender->hops += packets * data->hop_count + acks * answers->hop_count;
    const sim_time_t start_ps = flow->start_ps == SIM_TIME_NEVER ? 0 : flow->start_ps;
    sender->first_ps = SIM_MIN(start_ps, sender->first_ps);
}

// -- messages that start over

#define WQE_BYTES_MAX (UINT64_C(1) << 30)

static double power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
        result *= exponent % 2 == 1 ? base : 1;
        base *= base;
    }
    return result;
}

// Returns the probability that a packet is lost on the path, with independent losses on its links.
static double loss_of(const net_path_t *path, uint32_t frame_bytes)
{
    double arrives = 1;
    for (uint32_t i = 0; i < path->hop_count && i < SIM_COUNT_OF(path->ports); i++) {
        const net_link_config_t *const link = path->ports[i]->line->config;
        arrives *= 1 - (double)link->loss_rate.num / (double)link->loss_rate.den;
        arrives *= power(1 - (double)link->bit_error_rate.num / (double)link->bit_error_rate.den,
                         UINT64_C(8) * frame_bytes);
    }
    return 1 - arrives;
}

// Adds the losses of data packets that are to be expected. A loss model (link.loss-model) may lose
// more in bursts, on average as many.
static void count_losses(pass_t *pass, const app_flow_result_t *flow, const net_path_t *data)
{
    if (flow->mtu_bytes == 0 || !pass->has_losses) {
        return;
    }
    const uint64_t mtu = flow->mtu_bytes;
    const uint32_t frame_bytes = net_frame_bytes(ROCE_WRITE_MIDDLE, flow->mtu_bytes, false, false);
    const double lost = loss_of(data, frame_bytes);
    pass->survey->lossy = pass->survey->lossy || lost > 0;
    pass->survey->losses += lost * ((double)flow->bytes / (double)mtu + 1);
}

#define PATHS_DRAWN 16u

// Adds likewise for packets whose source ports, and so paths, are chosen as the run goes: the mean
// over random paths.
static void count_load_losses(pass_t *pass, const app_load_t *load, double packets)
{
    const uint32_t frame_bytes = net_frame_bytes(ROCE_WRITE_MIDDLE, load->mtu_bytes, false, false);
    for (uint32_t i = 0; i < PATHS_DRAWN && pass->has_losses; i++) {
        const uint32_t hash = (uint32_t)sim_mix64(i);
        net_path_t path;
        if (net_path_of(pass->world->net, load->source, load->destination, hash, &path)) {
            const double lost = loss_of(&path, frame_bytes);
            pass->survey->lossy = pass->survey->lossy || lost > 0;
            pass->survey->losses += lost * packets / PATHS_DRAWN;
        }
    }
}

static void count_attempts(pass_t *pass, const app_flow_result_t *flow, const net_path_t *data)
{
    const nic_config_t *const config = nic_config_of_interface(pass->world->net, flow->source);
    if (config->retransmission != NIC_GO_BACK_0 || flow->mtu_bytes == 0 ||
        strcmp(config->transport, "go-back-n") != 0) {
        return;
    }
    uint64_t bytes = SIM_MIN(flow->bytes, WQE_BYTES_MAX);
    bytes = config->chunk_bytes > 0 && config->chunk_bytes < bytes ? config->chunk_bytes : bytes;
    const uint64_t packets = (bytes + flow->mtu_bytes - 1) / flow->mtu_bytes;
    const uint32_t frame_bytes = net_frame_bytes(ROCE_WRITE_MIDDLE, flow->mtu_bytes, false, false);
    const double attempts = 1 / power(1 - loss_of(data, frame_bytes), packets);
    double *const most = &pass->survey->attempts;
    *most = SIM_MAX(attempts, *most);
}

// Links of at least ORDINARY_BPS and at most ORDINARY_PS carry ORDINARY_BYTES in hours, of the 106
// days that simulated time can express, even in packets of one byte.
#define ORDINARY_BPS UINT64_C(1000000000)
#define ORDINARY_PS SIM_PS_PER_S
#define ORDINARY_BYTES (UINT64_C(1) << 36)

// Looks at all links. Those that only other ranks have may be slow and lossy.
static void look_at_links(pass_t *pass)
{
    const net_t *const net = pass->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        const uint32_t port_count = node == NULL ? 0 : node->port_count;
        pass->has_slow_links |= node == NULL;
        pass->has_losses |= node == NULL;
        for (uint32_t p = 0; p < port_count; p++) {
            if (!net_port_exists(node, p)) {
                pass->has_slow_links = pass->has_losses = true;
                continue;
            }
            const net_line_t *const line = net_port_at(node, p)->line;
            pass->has_slow_links |= line->rate_bps < ORDINARY_BPS || line->delay_ps > ORDINARY_PS;
            pass->has_losses |=
                line->config->loss_rate.num > 0 || line->config->bit_error_rate.num > 0;
        }
    }
}

// Returns whether a transfer between linked hosts may take longer than simulated time can express.
static bool may_be_endless(const pass_t *pass, const app_flow_result_t *flow)
{
    return pass->has_slow_links || flow->bytes > ORDINARY_BYTES;
}

static void take_flow(const app_flow_result_t *flow, void *ctx)
{
    pass_t *const pass = ctx;
    world_survey_t *const survey = pass->survey;
    const net_t *const net = pass->world->net;
    const uint32_t from = flow->source;
    const uint32_t to = flow->destination;
    net_path_t forth;
    net_path_t back;
    const bool linked =
        net_path_of(net, from, to, net_flow_hash(net, from, to, flow->udp_source_port), &forth) &&
        net_path_of(net, to, from, net_flow_hash(net, to, from, flow->udp_source_port), &back);
    survey->transfers++;
    survey->endless +=
        (!linked || may_be_endless(pass, flow)) && app_flow_timed(flow).ideal_ps == SIM_TIME_NEVER;
    if (flow->start_ps != SIM_TIME_NEVER && flow->start_ps > survey->last_ps) {
        survey->last_ps = flow->start_ps;
    }
    if (flow->start_ps >= pass->world->scenario->run.until_ps && flow->start_ps != SIM_TIME_NEVER) {
        survey->late++;
        survey->late_first_ps = SIM_MIN(flow->start_ps, survey->late_first_ps);
        return;
    }
    if (!linked) {
        return;
    }
    count_flow(pass, flow, &forth, &back);
    count_losses(pass, flow, flow->reads ? &back : &forth);
    count_attempts(pass, flow, flow->reads ? &back : &forth);
    mark_classes(pass, flow, 1, &forth, &back);
}

// Counts messages that are not planned one by one, such as those of collectives.
static void take_load(const app_load_t *load, void *ctx)
{
    pass_t *const pass = ctx;
    world_survey_t *const survey = pass->survey;
    const net_t *const net = pass->world->net;
    const uint32_t from = load->source;
    const uint32_t to = load->destination;
    net_path_t forth;
    net_path_t back;
    if (load->local) {
        survey->local += load->messages;
        return;
    }
    if (load->messages <= 0 || load->start_ps >= pass->world->scenario->run.until_ps ||
        !net_path_of(net, from, to, net_flow_hash(net, from, to, 0), &forth) ||
        !net_path_of(net, to, from, net_flow_hash(net, to, from, 0), &back)) {
        return;
    }
    const double each = ceil(load->bytes / load->messages / (double)load->mtu_bytes);
    const double packets = load->messages * SIM_MAX(each, 1);
    const nic_config_t *const config = nic_config_of_interface(net, to);
    sender_t *const sender = &pass->senders[from];
    survey->transfers += (uint64_t)ceil(load->messages);
    survey->bytes += load->bytes;
    survey->packets += packets;
    sender->bytes += load->bytes;
    sender->hops +=
        packets * forth.hop_count + packets / (double)config->ack_interval * back.hop_count;
    sender->first_ps = SIM_MIN(load->start_ps, sender->first_ps);
    count_load_losses(pass, load, packets);
    const app_flow_result_t flow = {
        .source = from,
        .destination = to,
        .priority = load->priority,
        .dscp = load->dscp,
    };
    mark_classes(pass, &flow, (uint64_t)ceil(load->messages), &forth, &back);
}

// Returns the share of an interface's planned bytes that its link can carry before the run ends.
static double share_in_time(const pass_t *pass, uint32_t interface)
{
    const sender_t *const sender = &pass->senders[interface];
    const sim_time_t until_ps = pass->world->scenario->run.until_ps;
    const double left_s =
        until_ps > sender->first_ps ? (double)(until_ps - sender->first_ps) / 1e12 : 0;
    const double needed_s =
        sender->bytes * 8 /
        (double)nic_rate_bps(world_nic_of(pass->world, &pass->world->nics[interface]));
    return needed_s > left_s ? left_s / needed_s : 1;
}

world_survey_t *world_survey_create(const world_t *world)
{
    world_survey_t *const survey = sim_alloc(sizeof(*survey));
    survey->late_first_ps = SIM_TIME_NEVER;
    pass_t pass = {
        .world = world,
        .survey = survey,
        .senders = sim_alloc_array(world->nic_count + 1, sizeof(*pass.senders)),
        .uid_count = count_uids(world->net),
    };
    look_at_links(&pass);
    for (size_t i = 0; i < world->nic_count; i++) {
        pass.senders[i].first_ps = SIM_TIME_NEVER;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->flows != NULL) {
            app->ops->flows(app, take_flow, &pass);
        } else {
            survey->untold++;
        }
        if (app->ops->loads != NULL) {
            app->ops->loads(app, take_load, &pass);
        }
    }
    for (uint32_t i = 0; i < world->nic_count; i++) {
        if (pass.senders[i].hops > 0) {
            const double hops = pass.senders[i].hops * share_in_time(&pass, i);
            survey->packet_hops += hops;
            survey->wall_s += hops / PACKET_HOPS_PER_S *
                              (strcmp(nic_config_of_interface(world->net, (uint32_t)i)->model.text,
                                      NIC_DETAILED.text) == 0
                                   ? DETAILED_FACTOR
                                   : 1);
        }
    }
    survey->wall_s += survey->local / LOCAL_MESSAGES_PER_S;
    sim_free(pass.senders);
    return survey;
}

void world_survey_destroy(world_survey_t *survey)
{
    if (survey == NULL) {
        return;
    }
    for (size_t i = 0; i < survey->kind_count; i++) {
        sim_free(survey->kinds[i].classes);
        sim_free(survey->kinds[i].hops);
    }
    sim_free(survey);
}

// -- the estimate

// Returns a duration in words for people: seconds, minutes, hours or days.
static const char *duration_text(world_text_t *text, double seconds)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        if (seconds >= 2 * units[i].seconds) {
            (void)snprintf(text->text, sizeof(text->text), "%s %s",
                           SIM_DIGITS(seconds / units[i].seconds, 3), units[i].unit);
            return text->text;
        }
    }
    (void)snprintf(text->text, sizeof(text->text), seconds < 1 ? "less than 1 s" : "%.2g s",
                   seconds);
    return text->text;
}

void world_survey_print(const world_t *world, FILE *out)
{
    const world_survey_t *const survey = world->survey;
    if (survey->transfers == 0 && survey->local <= 0) {
        return;
    }
    world_text_t bytes;
    world_text_t duration;
    world_text_t packets;
    world_text_t hops;
    fprintf(out,
            "  estimate  %" PRIu64 " transfer%s of %s%s, %s packets; %s packet-hops before the end "
            "of the run",
            survey->transfers, sim_plural(survey->transfers),
            world_format_size(&bytes, survey->bytes), survey->transfers > 1 ? " together" : "",
            world_format_number(&packets, survey->packets),
            world_format_number(&hops, survey->packet_hops));
    if (survey->local > 0) {
        fprintf(out, " and %s messages within hosts", SIM_DIGITS(survey->local, 3));
    }
    fprintf(out, ", on one thread %s%s\n", duration_text(&duration, survey->wall_s),
            survey->untold > 0 ? ", without what other traffic decides as it goes" : "");
}

void world_survey_warn(const world_t *world, world_warnings_t *out)
{
    const world_survey_t *const survey = world->survey;
    if (survey == NULL) {
        return;
    }
    if (survey->late > 0) {
        world_text_t until;
        world_text_t first;
        world_warn(out, "not-begun",
                   "%" PRIu64 " transfer%s at or after the end of the run (until: %s), the "
                   "first at %s: not begun; expected a later until",
                   survey->late, survey->late == 1 ? " starts" : "s start",
                   world_format_time(&until, world->scenario->run.until_ps),
                   world_format_time(&first, survey->late_first_ps));
    }
    if (survey->endless > 0) {
        world_warn(out, "endless",
                   "%" PRIu64 " transfer%s longer than 106 days with the network to %s, and no "
                   "run does: expected fewer bytes or a higher rate",
                   survey->endless, survey->endless == 1 ? " takes" : "s take",
                   survey->endless == 1 ? "itself" : "themselves");
    }
}

sim_err_t world_survey_check(const world_t *world, world_error_t *error)
{
    const world_survey_t *const survey = world->survey;
    const sim_err_t result = world__observed_check(world, error);
    const sim_time_t allowed_ps = world->scenario->run.time_max_ps;
    if (result != SIM_OK || allowed_ps == SIM_AUTO ||
        (survey->wall_s + survey->observed.wall_s) * 1e12 <= (double)allowed_ps) {
        return result;
    }
    world_text_t bytes;
    world_text_t duration;
    world_text_t allowed;
    if (survey->observed.wall_s > survey->wall_s) {
        return world_fail(error, SIM_ERR_RANGE, &world->scenario->series[0].place,
                          "%.3g rows of series.csv take some %s to write, expected at most %s: a "
                          "longer 'every', fewer ports, a lower outputs.series-max, a higher "
                          "time-max, or --yes",
                          survey->observed.rows_written,
                          duration_text(&duration, survey->observed.wall_s),
                          duration_text(&allowed, (double)allowed_ps / 1e12));
    }
    return world_fail(error, SIM_ERR_RANGE, &world->scenario->traffic[0].place,
                      "%zu interface%s and %" PRIu64 " transfer%s of %s: %s packet-hops before "
                      "the end of the run take some %s on one thread, expected at most %s: an "
                      "earlier until, fewer or smaller transfers, a higher time-max, or --yes",
                      world->nic_count, sim_plural(world->nic_count), survey->transfers,
                      sim_plural(survey->transfers), world_format_size(&bytes, survey->bytes),
                      SIM_DIGITS(survey->packet_hops, 3), duration_text(&duration, survey->wall_s),
                      duration_text(&allowed, (double)allowed_ps / 1e12));
}

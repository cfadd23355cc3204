// SPDX-License-Identifier: Apache-2.0
// apps/herd/setup.c - creates HERD, the key-value cache of Kalia et al., SIGCOMM 2014, and the
// systems it is compared with (docs/models/herd.md): machines, memory, queue pairs, threads.
#include "apps/herd/herd.h"

#include "apps/app_internal.h"
#include "apps/herd/client.h"
#include "apps/herd/regions.h"
#include "apps/herd/worker.h"

#define LINE_BYTES 64u
#define PAGE_BYTES UINT64_C(4096)

static uint64_t lines(uint64_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

// -- memory

static uint32_t answer_bytes(const app__herd_t *herd)
{
    return (uint32_t)lines((uint64_t)herd->answer_slot_bytes + 1);
}

// Returns the number of answer buffers: a send queue per queue pair, and one that nobody writes to.
uint32_t app__herd_answer_buffers(const app__herd_t *herd)
{
    return 2 * APP__HERD_SEND_DEPTH * (uint32_t)(herd->config.ports * herd->config.qps_per_port) +
           2 * herd->client_count;
}

static uint64_t region_bytes(const app__herd_t *herd)
{
    return (uint64_t)herd->worker_count * herd->client_count * herd->window * herd->slot_bytes;
}

uint64_t app__herd_answers_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer)
{
    const uint64_t number = (uint64_t)worker * (app__herd_answer_buffers(herd) + 1) + buffer;
    return herd->memory_address + region_bytes(herd) + number * answer_bytes(herd);
}

uint64_t app__herd_received_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer)
{
    const uint64_t number = (uint64_t)worker * herd->client_count * herd->window + buffer;
    return app__herd_answers_address(herd, herd->worker_count, 0) + number * herd->slot_bytes;
}

uint64_t app__herd_table_address(const app__herd_t *herd)
{
    const bool sends = app__herd_sends(herd->config.request);
    const uint64_t end = app__herd_received_address(herd, sends ? herd->worker_count : 0, 0);
    return (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

uint64_t app__herd_store_bytes(const app__herd_t *herd)
{
    const uint64_t bytes = herd->image == NULL ? 0 : app_mica_shown_bytes(&herd->mica_config);
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static uint64_t server_bytes(const app__herd_t *herd)
{
    return app__herd_table_address(herd) - herd->memory_address +
           (herd->table_image == NULL ? herd->worker_count * app__herd_store_bytes(herd)
                                      : app_herd_table_bytes(herd->table_image));
}

static uint64_t client_bytes(const app__herd_t *herd)
{
    return lines((uint64_t)herd->ops_per_client *
                     (herd->slot_bytes + herd->answer_slot_bytes + herd->read_bytes) +
                 (uint64_t)herd->receives * herd->receive_bytes);
}

static nic_memory_t *memory_of(const app__machine_t *machine)
{
    return nic_host_memory((net_node_t *)nic_node(machine->endpoint->nic));
}

// -- threads

static void make_worker(app__herd_t *herd, uint32_t id)
{
    app__herd_worker_t *const worker = &herd->workers[id];
    const uint32_t qps = (uint32_t)(herd->config.ports * herd->config.qps_per_port);
    worker->herd = herd;
    worker->server = id / herd->worker_count;
    worker->index = id % herd->worker_count;
    worker->id = id;
    app__machine_t *const machine = &herd->machines[worker->server];
    app__thread_init(&worker->thread, machine, &herd->config.span, worker->index, app__herd_work,
                     worker);
    worker->memory = memory_of(machine);
    worker->qps = sim_alloc_array(qps, sizeof(*worker->qps));
    worker->cqs = sim_alloc_array(qps, sizeof(*worker->cqs));
    worker->posted = sim_alloc_array(qps, sizeof(*worker->posted));
    worker->answered = sim_alloc_array(qps, sizeof(*worker->answered));
    worker->ready = sim_alloc_array((size_t)herd->client_count * herd->window, 1);
    worker->stages = sim_alloc_array(herd->config.pipeline, sizeof(*worker->stages));
    worker->ready_count = sim_alloc_array(herd->client_count, sizeof(uint32_t));
    worker->expected = sim_alloc_array(herd->client_count, sizeof(uint32_t));
    worker->passed = sim_alloc_array(herd->client_count, sizeof(uint32_t));
    if (herd->image != NULL) {
        worker->mica = app_mica_create(&herd->mica_config, herd->image);
    }
}

// Wakes a worker that waits for a completion of its answers; otherwise it polls them only when
// needed.
static void answer_completed(nic_cq_t *cq, void *ctx)
{
    (void)cq;
    const app__herd_worker_t *const worker = ctx;
    if (worker->waits) {
        nic_core_wake(worker->thread.core);
    }
}

// Creates the workers' queue pairs, in parallel for all workers: first the first one of each.
static void make_worker_qps(app__herd_t *herd)
{
    const uint32_t all = herd->server_count * herd->worker_count;
    const uint32_t qps = (uint32_t)(herd->config.ports * herd->config.qps_per_port);
    for (uint32_t q = 0; q < qps && herd->config.answer == APP__HERD_BY_SEND; q++) {
        for (uint32_t w = 0; w < all; w++) {
            app__herd_worker_t *const worker = &herd->workers[w];
            worker->cqs[q] = nic_cq_create(worker->thread.machine->endpoint->nic,
                                           2 * APP__HERD_SEND_DEPTH, answer_completed, worker);
            worker->qps[q] = app__machine_qp(worker->thread.machine, NIC_QPT_UD, worker->cqs[q],
                                             APP__HERD_SEND_DEPTH, 0);
        }
    }
    const uint32_t depth = herd->client_count * herd->window;
    for (uint32_t w = 0; w < all && app__herd_sends(herd->config.request); w++) {
        app__herd_worker_t *const worker = &herd->workers[w];
        worker->requests_cq = app__thread_cq(&worker->thread);
        if (herd->config.request == APP__HERD_BY_SEND) {
            worker->requests =
                app__machine_qp(worker->thread.machine, NIC_QPT_UD, worker->requests_cq, 1, depth);
            app__herd_post_requests_receives(worker, 0, depth);
        }
    }
}

static bool needs_connection(const app__herd_t *herd)
{
    return herd->config.request != APP__HERD_BY_SEND || herd->config.answer != APP__HERD_BY_SEND;
}

static bool is_reliable(const app__herd_t *herd)
{
    return app__herd_is_reliable(herd->config.request) ||
           app__herd_is_reliable(herd->config.answer);
}

// Notes an answer that arrived by WRITE in the client's memory.
static void answer_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)byte_len;
    app__herd_client_t *const client = ctx;
    const app__herd_t *const herd = client->herd;
    const uint64_t number =
        (address - app__herd_answer_slot_address(client, 0)) / herd->answer_slot_bytes;
    SIM_CHECK(number < herd->ops_per_client);
    // There is at most one per request and one per retry; any more are already in the list.
    if (client->arrived_count < 2 * herd->ops_per_client) {
        client->arrived[client->arrived_count++] = (uint32_t)number;
    }
    nic_core_wake(client->thread.core);
}

// Prepares a client's connection for requests by SEND; all of them go to one worker.
static void receive_requests(app__herd_t *herd, app__herd_peer_t *peer)
{
    app__herd_worker_t *const worker =
        &herd->workers[peer->server * herd->worker_count + peer->client % herd->worker_count];
    peer->qp = app__machine_qp_apart(&herd->machines[peer->server], NIC_QPT_RC,
                                     herd->unused_cqs[peer->server], worker->requests_cq,
                                     2 * herd->window, herd->window);
    app__herd_post_requests_receives(worker, peer->client * herd->window, herd->window);
}

static void connect_client(app__herd_t *herd, app__herd_client_t *client, uint32_t server)
{
    const app__herd_config_t *const config = &herd->config;
    app__machine_t *const machine = &herd->machines[server];
    app__herd_peer_t *const peer = &herd->peers[server * herd->client_count + client->index];
    *peer = (app__herd_peer_t){.herd = herd, .server = server, .client = client->index};
    const uint32_t depth = 12 * (uint32_t)config->unsignaled + 2 * herd->ops_per_client;
    if (needs_connection(herd)) {
        const nic_qp_type_t type = is_reliable(herd) ? NIC_QPT_RC : NIC_QPT_UC;
        const bool receives = config->answer == APP__HERD_BY_SEND_RC;
        client->request_qps[server] =
            app__machine_qp_apart(client->thread.machine, type, client->sends_cq, client->cq, depth,
                                  receives ? herd->receives / herd->server_count : 0);
        if (config->request == APP__HERD_BY_SEND_RC) {
            receive_requests(herd, peer);
        } else {
            peer->qp = app__machine_qp(machine, type, herd->unused_cqs[server], depth, 0);
        }
        app__join(client->request_qps[server], peer->qp);
        nic_qp_on_write(peer->qp, app__herd_written, peer);
        nic_qp_on_write(client->request_qps[server], answer_written, client);
    }
    if (herd->reads && is_reliable(herd)) {
        client->read_qps[server] = client->request_qps[server]; // one connection serves both
    } else if (herd->reads) {
        client->read_qps[server] = app__machine_qp(client->thread.machine, NIC_QPT_RC, client->cq,
                                                   2 * herd->ops_per_client, 0);
        nic_qp_t *const server_qp =
            app__machine_qp(machine, NIC_QPT_RC, herd->unused_cqs[server], 1, 0);
        app__join(client->read_qps[server], server_qp);
    }
}

static void make_client(app__herd_t *herd, const app_context_t *context, uint32_t index)
{
    const app__herd_config_t *const config = &herd->config;
    app__herd_client_t *const client = &herd->clients[index];
    const uint32_t machines = herd->machine_count - herd->server_count;
    app__machine_t *const machine = &herd->machines[herd->server_count + index % machines];
    client->herd = herd;
    client->index = index;
    app__thread_init(&client->thread, machine, &config->span, index, app__herd_ask, client);
    client->thread.stopped_fn = app__herd_client_stopped;
    client->memory = memory_of(machine);
    client->memory_address = herd->memory_address + index / machines * client_bytes(herd);
    client->cq = app__thread_cq(&client->thread);
    const bool apart = app__herd_is_strict(config) && !(herd->reads && is_reliable(herd));
    client->sends_cq = apart ? app__thread_cq(&client->thread) : client->cq;
    client->seed = herd->first_seed;
    app_herd_fastrand_skip(&client->seed, (uint64_t)index * herd->key_count);
    app__random_init(&client->random, context, index, "herd");
    client->first = client->last = APP__HERD_NONE;
    client->arrival_ps = config->span.start_ps;
    app__herd_draw_chunk(client);
    const uint32_t workers = herd->server_count * herd->worker_count;
    client->ops = sim_alloc_array(herd->ops_per_client, sizeof(*client->ops));
    client->ring = sim_alloc_array(workers + herd->server_count, sizeof(*client->ring));
    client->ahead = sim_alloc_array(workers + herd->server_count, sizeof(*client->ahead));
    client->request_qps = sim_alloc_array(herd->server_count, sizeof(nic_qp_t *));
    client->arrived = sim_alloc_array(2 * (size_t)herd->ops_per_client, sizeof(uint32_t));
    client->free_receives = sim_alloc_array(herd->receives, sizeof(uint32_t));
    if (herd->reads) {
        client->read_qps = sim_alloc_array(herd->server_count, sizeof(nic_qp_t *));
    }
    sim_sample_set_init(&client->latencies);
    sim_timer_init(&client->timer, app__herd_timeout);
    sim_timer_init(&client->arrival_timer, app__herd_arrival);
    for (uint32_t s = 0; s < herd->server_count; s++) {
        connect_client(herd, client, s);
    }
    if (config->request == APP__HERD_BY_SEND || config->answer == APP__HERD_BY_SEND) {
        client->datagrams =
            app__machine_qp_apart(machine, NIC_QPT_UD, client->sends_cq, client->cq,
                                  config->request == APP__HERD_BY_SEND
                                      ? 12 * (uint32_t)config->unsignaled + 2 * herd->ops_per_client
                                      : 1,
                                  herd->receives);
    }
    if (app__herd_sends(config->answer)) {
        app__herd_first_receives(client);
    }
}

// -- creation

static sim_err_t find_machines(app__herd_t *herd, const app_context_t *context,
                               const app__herd_config_t *config, uint32_t **interfaces,
                               sim_message_t *message)
{
    app__places_t servers = {0};
    app__places_t clients = {0};
    sim_err_t error = app__machines_find(context, "server", config->server, 1, &servers, message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__machines_find(context, "clients-on", config->clients_on, 1, &clients, message);
    if (error != SIM_OK) {
        app__places_fini(&servers);
        return error;
    }
    herd->server_count = servers.host_count;
    herd->machine_count = servers.host_count + clients.host_count;
    *interfaces = sim_alloc_array(herd->machine_count, sizeof(**interfaces));
    for (uint32_t i = 0; i < herd->machine_count; i++) {
        const bool serves = i < servers.host_count;
        (*interfaces)[i] =
            serves ? servers.list.interfaces[i] : clients.list.interfaces[i - servers.host_count];
        for (uint32_t s = 0; !serves && s < servers.host_count && error == SIM_OK; s++) {
            if (!app__can_talk(context->net, (*interfaces)[s], (*interfaces)[i])) {
                error = app__cannot_talk(context->net, (*interfaces)[s], (*interfaces)[i],
                                         "clients-on", message);
            }
        }
    }
    app__places_fini(&servers);
    app__places_fini(&clients);
    if (error != SIM_OK) {
        sim_free(*interfaces);
    }
    return error;
}

static void choose_sizes(app__herd_t *herd)
{
    const app__herd_config_t *const config = &herd->config;
    const bool by_key = config->value_bytes == 0 && config->system != APP__HERD_ECHO;
    const uint32_t longest = (uint32_t)app__herd_longest_value(config);
    herd->reads = config->system == APP__HERD_PILAF || config->system == APP__HERD_FARM ||
                  config->system == APP__HERD_FARM_VAR;
    herd->worker_count = (uint32_t)config->workers;
    herd->client_count = (uint32_t)config->clients;
    herd->window = (uint32_t)config->window;
    // GETs by READ have slots of their own, a window per server, after the workers' slots.
    herd->ops_per_client =
        herd->server_count * (herd->worker_count + (herd->reads ? 1 : 0)) * herd->window;
    herd->value_bytes = by_key && !herd->reads ? 0 : longest;
    herd->large = longest > APP_HERD_SMALL_VALUE_MAX;
    herd->slot_bytes = app_herd_slot_bytes(longest);
    herd->answer_slot_bytes = (uint32_t)lines(longest + config->get_head + 1);
    herd->receive_bytes = (uint32_t)lines(longest + config->get_head + config->put_answer);
    // Receives for an answer to each request in flight and as many late ones, per connection where
    // there are connections.
    herd->receives =
        2 * (config->window_per == APP__HERD_PER_CLIENT ? herd->window : herd->ops_per_client) *
        (config->answer == APP__HERD_BY_SEND_RC ? herd->server_count : 1);
    herd->key_count = (uint32_t)config->keys;
    herd->mica_config = (app_mica_config_t){config->buckets, config->log_bytes, herd->large};
    herd->skew_permille = (uint32_t)(config->skew.num * 1000 / config->skew.den);
}

static void make_machines(app__herd_t *herd, const app_context_t *context,
                          const uint32_t *interfaces)
{
    const uint32_t client_machines = herd->machine_count - herd->server_count;
    const uint64_t per_machine = (herd->client_count + client_machines - 1) / client_machines;
    const uint64_t worker_qps =
        herd->worker_count * (herd->config.ports * herd->config.qps_per_port + 1);
    for (uint32_t m = 0; m < herd->machine_count; m++) {
        const bool serves = m < herd->server_count;
        app__machine_init(&herd->machines[m], context, interfaces[m],
                          serves ? server_bytes(herd) : per_machine * client_bytes(herd),
                          serves ? 2 * (uint64_t)herd->client_count + worker_qps
                                 : per_machine * (2 * (uint64_t)herd->server_count + 1));
    }
}

static void make_table_image(app__herd_t *herd)
{
    static const app_herd_table_kind_t kinds[] = {
        [APP__HERD_PILAF] = APP_HERD_CUCKOO,
        [APP__HERD_FARM] = APP_HERD_NEIGHBOURS,
        [APP__HERD_FARM_VAR] = APP_HERD_POINTERS,
    };
    const app_herd_table_kind_t kind = kinds[herd->config.system];
    herd->table_image = app_herd_table_populate(kind, herd->key_count, herd->value_bytes);
    const app_city128_t any = {0, 0};
    const uint32_t item = APP_HERD_KEY_BYTES + herd->value_bytes;
    herd->read_bytes =
        (uint32_t)lines(kind == APP_HERD_CUCKOO
                            ? APP_HERD_BUCKET_BYTES + item
                            : app_herd_table_neighbourhood(herd->table_image, any).bytes + item);
    SIM_CHECK(herd->read_bytes <= APP__HERD_READ_MAX);
}

// Returns a word of a worker's store, as the host's memory shows it.
static uint64_t shown_word(uint64_t address, const void *ctx)
{
    const app__herd_shown_t *const shown = ctx;
    const app__herd_t *const herd = shown->herd;
    const uint64_t offset = address - app__herd_table_address(herd);
    const uint64_t each = app__herd_store_bytes(herd);
    SIM_CHECK(each > 0);
    const app__herd_worker_t *const worker =
        &herd->workers[(uint64_t)shown->server * herd->worker_count + offset / each];
    const bool within = offset % each < app_mica_shown_bytes(&herd->mica_config);
    return within ? app_mica_word(worker->mica, offset % each) : 0;
}

static void show_stores(app__herd_t *herd)
{
    herd->tables = sim_alloc_array(herd->server_count, sizeof(*herd->tables));
    herd->shown = sim_alloc_array(herd->server_count, sizeof(*herd->shown));
    const uint64_t address = app__herd_table_address(herd);
    for (uint32_t s = 0; s < herd->server_count; s++) {
        nic_memory_t *const memory = memory_of(&herd->machines[s]);
        herd->shown[s] = (app__herd_shown_t){herd, s};
        if (herd->reads) {
            herd->tables[s] = app_herd_table_create(herd->table_image, memory, address);
        } else if (herd->image != NULL) {
            const uint64_t bytes = herd->worker_count * app__herd_store_bytes(herd);
            nic_memory_set_fill(memory, address, bytes, 8, shown_word, &herd->shown[s]);
        }
    }
}

static void make_threads(app__herd_t *herd, const app_context_t *context)
{
    const uint32_t workers = herd->server_count * herd->worker_count;
    herd->workers = sim_alloc_array(workers, sizeof(*herd->workers));
    herd->clients = sim_alloc_array(herd->client_count, sizeof(*herd->clients));
    herd->peers =
        sim_alloc_array((size_t)herd->server_count * herd->client_count, sizeof(*herd->peers));
    herd->pcie_seen = sim_alloc_array(herd->server_count, sizeof(*herd->pcie_seen));
    herd->unused_cqs = sim_alloc_array(herd->server_count, sizeof(*herd->unused_cqs));
    for (uint32_t s = 0; s < herd->server_count; s++) {
        nic_t *const nic = herd->machines[s].endpoint->nic;
        // With signal-all, answers by WRITE complete here, and any worker that polls takes them.
        const uint32_t room = herd->config.signal_all
                                  ? herd->client_count * (12 * (uint32_t)herd->config.unsignaled +
                                                          2 * herd->ops_per_client)
                                  : 1;
        herd->unused_cqs[s] = nic_cq_create(nic, room, NULL, NULL);
    }
    for (uint32_t w = 0; w < workers; w++) {
        make_worker(herd, w);
    }
    make_worker_qps(herd);
    for (uint32_t c = 0; c < herd->client_count; c++) {
        make_client(herd, context, c);
    }
}

// Refuses systems whose operations are not single messages, where the network carries messages.
static sim_err_t check_messages(const net_t *net, const app__herd_config_t *config,
                                sim_message_t *message)
{
    if (net_get_config(net)->model != NET_MODEL_MESSAGE) {
        return SIM_OK;
    }
    const bool calls = config->system == APP__HERD_HERD || config->system == APP__HERD_ECHO;
    const bool reliable =
        app__herd_is_reliable(config->request) || app__herd_is_reliable(config->answer);
    if (calls && !reliable) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_INVALID,
                          !calls                                   ? "system"
                          : app__herd_is_reliable(config->request) ? "request"
                                                                   : "answer",
                          ": network.model: message carries single messages, and %s, expected "
                          "%s or network.model: packet",
                          !calls ? "READs are answered by packets"
                                 : "reliable connections acknowledge them by packets",
                          !calls ? "system herd or echo" : "write-uc or send");
}

// Refuses values whose requests or answers are longer than a machine's MTU, where the network
// carries messages as units.
static sim_err_t check_lengths(const net_t *net, const app__herd_config_t *config,
                               const uint32_t *interfaces, uint32_t count, sim_message_t *message)
{
    const uint64_t value_bytes = app__herd_longest_value(config);
    const bool large = value_bytes > APP_HERD_SMALL_VALUE_MAX;
    const uint64_t longest = app_herd_request_bytes(true, (uint32_t)value_bytes, large);
    const bool messages = net_get_config(net)->model == NET_MODEL_MESSAGE;
    for (uint32_t i = 0; messages && i < count; i++) {
        const uint64_t mtu_bytes = nic_config_of_interface(net, interfaces[i])->mtu_bytes;
        if (longest > mtu_bytes) {
            return sim_fail_about(message, SIM_ERR_RANGE, "value",
                                  " makes requests of %" PRIu64 " bytes, expected at most nic.mtu "
                                  "(%" PRIu64 ") with network.model: message",
                                  longest, mtu_bytes);
        }
    }
    return SIM_OK;
}

static sim_err_t herd_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message)
{
    app__herd_config_t config = *(const app__herd_config_t *)config_void;
    sim_err_t error = app__herd_resolve(&config, message);
    if (error != SIM_OK) {
        return error;
    }
    error = check_messages(context->net, &config, message);
    if (error != SIM_OK) {
        return error;
    }
    if (config.service == APP__HERD_MICA) {
        const double entries = (double)config.buckets + 8 * (double)config.keys;
        error = app__check_memory(context, "index-buckets", entries, sizeof(uint32_t),
                                  "entries of the index and of keys", message);
        if (error != SIM_OK) {
            return error;
        }
    }
    app__herd_t *const herd = sim_alloc(sizeof(*herd));
    herd->app = (app_t){&app_herd, context->net, context->index};
    uint32_t *interfaces = NULL;
    error = find_machines(herd, context, &config, &interfaces, message);
    if (error == SIM_OK) {
        error = check_lengths(context->net, &config, interfaces, herd->machine_count, message);
        if (error != SIM_OK) {
            sim_free(interfaces);
        }
    }
    if (error != SIM_OK) {
        sim_free(herd);
        return error;
    }
    // the strings belong to the scenario
    config.server = config.clients_on = config.model_batch_table = NULL;
    herd->config = config;
    herd->first_seed = APP_HERD_SEED;
    if (config.draws == APP__HERD_DRAWS_SEED) {
        const uint64_t seed = sim_options(net_sim(context->net))->seed;
        app_herd_fastrand_skip(&herd->first_seed, sim_mix64(seed));
    }
    herd->memory_address = app__machine_address(context);
    choose_sizes(herd);
    if (herd->skew_permille != 0) {
        herd->zipf = app_herd_zipf_create(herd->key_count, herd->skew_permille);
    }
    if (herd->reads) {
        make_table_image(herd);
    } else if (config.service == APP__HERD_MICA) {
        herd->image = app_mica_populate(&herd->mica_config, herd->key_count, herd->value_bytes);
    }
    herd->machines = sim_alloc_array(herd->machine_count, sizeof(*herd->machines));
    make_machines(herd, context, interfaces);
    sim_free(interfaces);
    make_threads(herd, context);
    show_stores(herd);
    app__herd_note(herd, context);
    *app = &herd->app;
    return SIM_OK;
}

static void free_worker(app__herd_worker_t *worker)
{
    app_mica_destroy(worker->mica);
    SIM_FREE_ALL(worker->qps, worker->cqs, worker->posted, worker->answered, worker->ready,
                 worker->stages, worker->ready_count, worker->expected, worker->passed);
    app__herd_bins_fini(&worker->series);
    app__herd_counts_fini(&worker->batches);
}

static void free_client(app__herd_client_t *client)
{
    SIM_FREE_ALL(client->draws, client->ops, client->ring, client->ahead, client->request_qps,
                 client->read_qps, client->arrived, client->free_receives, client->records);
    app__herd_bins_fini(&client->series);
    app__herd_counts_fini(&client->answer_sizes);
    sim_sample_set_fini(&client->latencies);
}

static void herd_destroy(app_t *app)
{
    app__herd_t *const herd = (app__herd_t *)(void *)app;
    for (uint32_t w = 0; w < herd->server_count * herd->worker_count; w++) {
        free_worker(&herd->workers[w]);
    }
    for (uint32_t c = 0; c < herd->client_count; c++) {
        free_client(&herd->clients[c]);
    }
    for (uint32_t s = 0; s < herd->server_count; s++) {
        app_herd_table_destroy(herd->tables[s]);
    }
    sim_free(herd->tables);
    sim_free(herd->shown);
    app_herd_table_image_destroy(herd->table_image);
    app_herd_zipf_destroy(herd->zipf);
    app_mica_image_destroy(herd->image);
    SIM_FREE_ALL(herd->pcie_seen, herd->workers, herd->clients, herd->peers, herd->unused_cqs,
                 herd->machines, herd);
}

static void herd_tally(const app_t *app, app_tally_t *tally)
{
    const app__herd_t *const own = (const app__herd_t *)(const void *)app;
    tally->spans = true;
    for (uint32_t i = 0; i < own->client_count; i++) {
        const app__thread_t *const thread = &own->clients[i].thread;
        tally->succeeded += thread->total;
        tally->failed += thread->failed + own->clients[i].lost + own->clients[i].retried;
        tally->measured += thread->counted;
    }
}

const app_ops_t app_herd = {
    .name = "herd",
    .help = "the HERD key-value cache: WRITE requests, SEND responses, data in MICA's store",
    .attrs = &app__herd_attrs,
    .tally = herd_tally,
    .create = herd_create,
    .destroy = herd_destroy,
    .flows = app__herd_flows,
    .progress = app__herd_progress,
    .carry = app__herd_carry,
    .report = &app__herd_report,
};

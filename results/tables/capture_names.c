// SPDX-License-Identifier: Apache-2.0
// results/tables/capture_names.c - the files hosts and ethers next to captures.
#include "results/tables/capture_names.h"
#include "world/names.h"

#include "net/ports.h"
#include "results/file.h"

static void put_hosts(results_file_t *file, const void *what)
{
    const world_t *const world = what;
    const bool ipv6 = net_get_config(world->net)->ipv6;
    for (uint32_t i = 0; i < net_interface_count(world->net); i++) {
        uint8_t ip[16];
        net_interface_ip(world->net, i, ip);
        for (uint32_t b = 0; ipv6 && b < sizeof(ip); b += 2) {
            results_file_print(file, "%s%02x%02x", b > 0 ? ":" : "", ip[b], ip[b + 1]);
        }
        if (!ipv6) {
            results_file_print(file, "%u.%u.%u.%u", ip[0], ip[1], ip[2], ip[3]);
        }
        results_file_print(file, " %s\n", world_interface_name(world, i));
    }
}

static void put_ethers(results_file_t *file, const void *what)
{
    const world_t *const world = what;
    net_port_labels_t *const labels = net_port_labels_create(world->net);
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        net_node_t gone;
        const net_node_t *const node = net_node_view(world->net, i, &gone);
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_t idle;
            uint8_t mac[6];
            net_port_mac(net_port_look(node, p, &idle), mac);
            for (uint32_t b = 0; b < sizeof(mac); b++) {
                results_file_print(file, "%s%02x", b > 0 ? ":" : "", mac[b]);
            }
            results_file_print(file, " %s\n", net_port_label(labels, i, p));
        }
    }
    net_port_labels_destroy(labels);
}

sim_err_t results_write_names(const world_t *world, const char *folder, world_error_t *error)
{
    const sim_err_t result = results_file_write(folder, "hosts", put_hosts, world, error);
    return result == SIM_OK ? results_file_write(folder, "ethers", put_ethers, world, error)
                            : result;
}

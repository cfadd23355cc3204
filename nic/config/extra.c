// SPDX-License-Identifier: Apache-2.0
// nic/config/extra.c - parts of a NIC by name, the library's and a program's, and their configs.
#include <stdio.h>
#include <string.h>

#include "nic/cache_policy.h"
#include "nic/config/parts.h"
#include "nic/detail.h"
#include "nic/extra.h"
#include "nic/transport.h"

// -- kinds

typedef struct kind {
    const char *text;
    const char *attribute;
    const void *own; // an array of pointers to tables of operations, which begin with a name
} kind_t;

static const kind_t kinds[NIC_EXTRA_KIND_COUNT] = {
    [NIC_EXTRA_CC] = {"algorithm", "nic.congestion-control", nic_cc_all},
    [NIC_EXTRA_TRANSPORT] = {"transport", "nic.transport", nic_transport_all},
    [NIC_EXTRA_STORE] = {"store", "nic.detailed.store", nic_store_all},
    [NIC_EXTRA_POLICY] = {"policy", "nic.cache.policy", nic_policy_all},
    [NIC_EXTRA_SCHEDULER] = {"scheduler", "nic.scheduler", nic_scheduler_all},
    [NIC_EXTRA_FRAMES] = {"frames", "nic.frames", nic_frames_all},
    [NIC_EXTRA_DEVICE] = {"model", "nic.model", nic_device_all},
    [NIC_EXTRA_PATH_RTT] = {"path round trip", "nic.path-rtt", nic_path_rtt_all},
};
static_assert(offsetof(nic_cc_ops_t, name) == 0 && offsetof(nic_transport_ops_t, name) == 0 &&
                  offsetof(nic_store_ops_t, name) == 0 && offsetof(nic_policy_ops_t, name) == 0 &&
                  offsetof(nic_scheduler_ops_t, name) == 0 &&
                  offsetof(nic_frames_ops_t, name) == 0 && offsetof(nic_device_ops_t, name) == 0 &&
                  offsetof(nic_path_rtt_ops_t, name) == 0,
              "a table begins with its name");

const char *nic_extra_kind_text(nic_extra_kind_t kind)
{
    return kinds[kind].text;
}

const char *nic_extra_kind_attribute(nic_extra_kind_t kind)
{
    return kinds[kind].attribute;
}

const void *const *nic_extra_library(nic_extra_kind_t kind)
{
    return kinds[kind].own;
}

static const char *name_of(const void *ops)
{
    return *(const char *const *)ops;
}

// -- parts: the library's algorithms and transports, then the extras

static size_t list_count(const void *const *list)
{
    size_t count = 0;
    while (list[count] != NULL) {
        count++;
    }
    return count;
}

static size_t part_count(const nic_config_t *config)
{
    return list_count((const void *const *)nic_cc_all) +
           list_count((const void *const *)nic_transport_all) + config->extra_count;
}

static const sim_attr_table_t *table_at(const nic_config_t *config, size_t index)
{
    const size_t algorithms = list_count((const void *const *)nic_cc_all);
    const size_t transports = list_count((const void *const *)nic_transport_all);
    if (index < algorithms) {
        return nic_cc_all[index]->attrs;
    }
    return index < algorithms + transports ? nic_transport_all[index - algorithms]->attrs
                                           : config->extras[index - algorithms - transports].attrs;
}

void nic__parts_create(nic_config_t *to, const nic_config_t *from)
{
    to->parts = sim_alloc_array(part_count(to), sizeof(*to->parts));
    for (size_t i = 0; i < part_count(to); i++) {
        const sim_attr_table_t *const table = table_at(to, i);
        if (table == NULL) {
            continue;
        }
        to->parts[i] = sim_alloc(table->config_bytes);
        if (from != NULL) {
            sim_attrs_copy(table, to->parts[i], from->parts[i]);
        } else {
            sim_attrs_default(table, to->parts[i]);
        }
    }
}

bool nic__parts_equal(const nic_config_t *a, const nic_config_t *b)
{
    for (size_t i = 0; i < part_count(a); i++) {
        const sim_attr_table_t *const table = table_at(a, i);
        if (table != NULL && !sim_attrs_equal(table, a->parts[i], b->parts[i], 0, 0)) {
            return false;
        }
    }
    return true;
}

void nic__parts_destroy(nic_config_t *config)
{
    for (size_t i = 0; config->parts != NULL && i < part_count(config); i++) {
        if (config->parts[i] != NULL) {
            sim_attrs_fini(table_at(config, i), config->parts[i]);
            sim_free(config->parts[i]);
        }
    }
    sim_free(config->parts);
    config->parts = NULL;
}

bool nic_config_part_at(const nic_config_t *config, size_t index, const sim_attr_table_t **table,
                        void **part)
{
    size_t with_table = 0;
    for (size_t i = 0; i < part_count(config); i++) {
        if (config->parts[i] != NULL && with_table++ == index) {
            *table = table_at(config, i);
            *part = config->parts[i];
            return true;
        }
    }
    return false;
}

void *nic_config_part(const nic_config_t *config, const sim_attr_table_t *table)
{
    for (size_t i = 0; table != NULL && i < part_count(config); i++) {
        if (table_at(config, i) == table) {
            return config->parts[i];
        }
    }
    return NULL;
}

// -- by name

static const sim_attr_table_t *library_table(nic_extra_kind_t kind, const void *ops)
{
    return kind == NIC_EXTRA_CC          ? ((const nic_cc_ops_t *)ops)->attrs
           : kind == NIC_EXTRA_TRANSPORT ? ((const nic_transport_ops_t *)ops)->attrs
                                         : NULL;
}

const void *nic_config_find(const nic_config_t *config, nic_extra_kind_t kind, const char *name,
                            const void **part)
{
    *part = NULL;
    for (const void *const *ops = nic_extra_library(kind); *ops != NULL; ops++) {
        if (strcmp(name_of(*ops), name) == 0) {
            *part = nic_config_part(config, library_table(kind, *ops));
            return *ops;
        }
    }
    for (size_t i = 0; i < config->extra_count; i++) {
        const nic_extra_t *const extra = &config->extras[i];
        if (extra->kind == kind && strcmp(extra->name, name) == 0) {
            *part = nic_config_part(config, extra->attrs);
            return extra->ops;
        }
    }
    return NULL;
}

// Returns the chosen table. A table that the program passed itself takes precedence over a name.
static const void *chosen(const nic_config_t *config, nic_extra_kind_t kind, const char *name,
                          const void *custom, const void *custom_config, const void **part)
{
    if (custom != NULL) {
        *part = custom_config;
        return custom;
    }
    return nic_config_find(config, kind, name, part);
}

const nic_cc_ops_t *nic__config_cc(const nic_config_t *config, const void **part)
{
    const nic_transport_ops_t *const transport = nic__config_transport(config);
    if (transport != NULL && transport->own_control) {
        *part = NULL;
        return transport->cc != NULL ? transport->cc
                                     : nic_config_find(config, NIC_EXTRA_CC, "none", part);
    }
    return chosen(config, NIC_EXTRA_CC, config->congestion_control, config->custom_cc,
                  config->custom_cc_config, part);
}

const nic_scheduler_ops_t *nic__config_scheduler(const nic_config_t *config, const void **part)
{
    return chosen(config, NIC_EXTRA_SCHEDULER, config->scheduler, config->custom_scheduler,
                  config->custom_scheduler_config, part);
}

const nic_device_ops_t *nic__config_device(const nic_config_t *config, const void **part)
{
    return chosen(config, NIC_EXTRA_DEVICE, config->model.text, config->custom_device,
                  config->custom_device_config, part);
}

const nic_frames_ops_t *nic__config_frames(const nic_config_t *config, const void **part)
{
    return nic_config_find(config, NIC_EXTRA_FRAMES, config->frames, part);
}

const nic_path_rtt_ops_t *nic__config_path_rtt(const nic_config_t *config)
{
    const void *part;
    return nic_config_find(config, NIC_EXTRA_PATH_RTT, config->path_rtt.text, &part);
}

const nic_transport_ops_t *nic__config_transport(const nic_config_t *config)
{
    const void *part;
    return chosen(config, NIC_EXTRA_TRANSPORT, config->transport, config->custom_transport,
                  config->custom_transport_config, &part);
}

const char *nic_config_control(const nic_config_t *config)
{
    const nic_transport_ops_t *const transport = nic__config_transport(config);
    if (transport == NULL || !transport->own_control) {
        return config->congestion_control;
    }
    return transport->control != NULL ? transport->control(config) : transport->name;
}

bool nic_config_spreads(const nic_config_t *config)
{
    const nic_transport_ops_t *const transport = nic__config_transport(config);
    return config->repath != NIC_REPATH_OFF ||
           (transport != NULL && transport->spreads != NULL && transport->spreads(config));
}

// -- rules

// Returns all names of a kind, with one more name before them. Free with sim_free.
static const char **names_of(const nic_config_t *config, nic_extra_kind_t kind, const char *first,
                             size_t *count)
{
    const void *const *const library = nic_extra_library(kind);
    const char **const names =
        sim_alloc_array(1 + list_count(library) + config->extra_count, sizeof(*names));
    *count = 0;
    if (first != NULL) {
        names[(*count)++] = first;
    }
    for (size_t i = 0; library[i] != NULL; i++) {
        names[(*count)++] = name_of(library[i]);
    }
    for (size_t i = 0; i < config->extra_count; i++) {
        if (config->extras[i].kind == kind) {
            names[(*count)++] = config->extras[i].name;
        }
    }
    return names;
}

// Returns whether a detailed NIC can be this card.
static bool is_profile(const char *name)
{
    const char *words = NIC_PROFILE_CHOICES;
    const size_t size = strlen(name);
    while (words != NULL && (strcspn(words, "|") != size || strncmp(words, name, size) != 0)) {
        words = strchr(words, '|');
        words = words != NULL ? words + 1 : NULL;
    }
    return words != NULL;
}

// Fails unless `name` is one of the kind's names, or `first` (which may be NULL).
static sim_err_t check_name(const nic_config_t *config, nic_extra_kind_t kind, const char *first,
                            const char *name, const char *attribute, sim_message_t *message)
{
    size_t count;
    const char **const names = names_of(config, kind, first, &count);
    bool known = false;
    char text[256] = "";
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(text);
        known = known || strcmp(names[i], name) == 0;
        (void)snprintf(text + length, sizeof(text) - length, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    const char *const nearest = sim_nearest_name(name, names, count);
    sim_err_t result = SIM_OK;
    if (!known && kind == NIC_EXTRA_DEVICE && is_profile(name)) {
        result = sim_fail_about(message, SIM_ERR_UNKNOWN, attribute,
                                ": \"%s\" is a card, expected nic: {model: detailed, profile: %s}",
                                name, name);
    } else if (!known && nearest != NULL) {
        result =
            sim_fail_about(message, SIM_ERR_UNKNOWN, attribute,
                           ": no %s \"%s\", did you mean \"%s\"?", kinds[kind].text, name, nearest);
    } else if (!known) {
        result = sim_fail_about(message, SIM_ERR_UNKNOWN, attribute,
                                ": no %s \"%s\", expected one of %s", kinds[kind].text, name, text);
    }
    sim_free((void *)names);
    return result;
}

sim_err_t nic__check_parts(const nic_config_t *config, sim_message_t *message)
{
    const struct {
        nic_extra_kind_t kind;
        const char *first;
        const char *name;
    } chosen_ones[] = {
        {NIC_EXTRA_DEVICE, NULL, config->model.text},
        {NIC_EXTRA_SCHEDULER, NULL, config->scheduler},
        {NIC_EXTRA_FRAMES, NULL, config->frames},
        {NIC_EXTRA_STORE, "auto", config->store},
        {NIC_EXTRA_POLICY, "flat", config->cache.policy},
        {NIC_EXTRA_TRANSPORT, NULL, config->transport},
        {NIC_EXTRA_CC, NULL, config->congestion_control},
        {NIC_EXTRA_PATH_RTT, NULL, config->path_rtt.text},
    };
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(chosen_ones) && result == SIM_OK; i++) {
        result = check_name(config, chosen_ones[i].kind, chosen_ones[i].first, chosen_ones[i].name,
                            kinds[chosen_ones[i].kind].attribute, message);
    }
    if (result == SIM_OK) {
        result = check_name(config, NIC_EXTRA_POLICY, NULL, config->cache.other_policy,
                            "nic.cache.other.policy", message);
    }
    if (result != SIM_OK) {
        return result;
    }
    const void *part;
    const nic_scheduler_ops_t *const scheduler = nic__config_scheduler(config, &part);
    if (scheduler->loop != NULL && nic__config_device(config, &part) != &nic_device_ideal) {
        return sim_fail_about(message, SIM_ERR_INVALID, "nic.scheduler",
                              ": %s goes with nic.model ideal, expected ring", scheduler->name);
    }
    return SIM_OK;
}

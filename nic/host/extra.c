// SPDX-License-Identifier: Apache-2.0
// nic/host/extra.c - configs of rows that a program added.
#include "nic/extra.h"
#include "nic/nic_internal.h"
#include "nic/transport.h"

#include <string.h>

void nic_config_init_with(nic_config_t *config, const nic_extra_t *extras, size_t extra_count)
{
    nic_config_init(config);
    config->extras = extras;
    config->extra_count = extra_count;
    nic__extras_copy(config, NULL);
}

void nic__extras_copy(nic_config_t *to, const nic_config_t *from)
{
    to->extra_config = NULL;
    if (to->extra_count == 0) {
        return;
    }
    to->extra_config = sim_alloc_array(to->extra_count, sizeof(*to->extra_config));
    for (size_t i = 0; i < to->extra_count; i++) {
        const sim_attr_table_t *const table = to->extras[i].attrs;
        to->extra_config[i] = NULL;
        if (table != NULL) {
            to->extra_config[i] = sim_alloc(table->config_bytes);
            if (from != NULL) {
                sim_attrs_copy(table, to->extra_config[i], from->extra_config[i]);
            } else {
                sim_attrs_default(table, to->extra_config[i]);
            }
        }
    }
}

void nic__extras_fini(nic_config_t *config)
{
    for (size_t i = 0; i < config->extra_count; i++) {
        if (config->extra_config[i] != NULL) {
            sim_attrs_fini(config->extras[i].attrs, config->extra_config[i]);
            sim_free(config->extra_config[i]);
        }
    }
    sim_free(config->extra_config);
    config->extra_config = NULL;
    config->extra_count = 0;
}

const nic_extra_t *nic_config_extra(const nic_config_t *config,
                                    nic_extra_kind_t kind,
                                    const char *name,
                                    const void **row_config)
{
    for (size_t i = 0; i < config->extra_count; i++) {
        if (config->extras[i].kind == kind && strcmp(config->extras[i].name, name) == 0) {
            *row_config = config->extra_config[i];
            return &config->extras[i];
        }
    }
    return NULL;
}

const nic_cc_ops_t *nic__config_cc(const nic_config_t *config, const void **cc_config)
{
    *cc_config = config->custom_cc_config;
    if (config->custom_cc != NULL) {
        return config->custom_cc;
    }
    for (uint32_t i = 0; nic_cc_all[i] != NULL; i++) {
        if (strcmp(nic_cc_all[i]->name, config->congestion_control) == 0) {
            *cc_config = config->cc_config[i];
            return nic_cc_all[i];
        }
    }
    const nic_extra_t *const extra =
        nic_config_extra(config, NIC_EXTRA_CC, config->congestion_control, cc_config);
    return extra != NULL ? extra->ops : NULL;
}

const nic_scheduler_ops_t *nic__config_scheduler(const nic_config_t *config, const void **own)
{
    *own = config->custom_scheduler_config;
    if (config->custom_scheduler != NULL) {
        return config->custom_scheduler;
    }
    *own = NULL;
    const nic_scheduler_ops_t *const found = nic_scheduler_find(config->scheduler);
    const nic_extra_t *const extra =
        nic_config_extra(config, NIC_EXTRA_SCHEDULER, config->scheduler, own);
    return found != NULL ? found : extra != NULL ? extra->ops : NULL;
}

const nic_transport_ops_t *nic__config_transport(const nic_config_t *config)
{
    const nic_transport_ops_t *const found = config->custom_transport != NULL
                                                 ? config->custom_transport
                                                 : nic_transport_find(config->transport);
    const void *row_config;
    const nic_extra_t *const extra =
        nic_config_extra(config, NIC_EXTRA_TRANSPORT, config->transport, &row_config);
    return found != NULL ? found : extra != NULL ? extra->ops : NULL;
}

const void *nic__extra_config_of(const nic_config_t *config, const void *ops)
{
    for (size_t i = 0; i < config->extra_count; i++) {
        if (config->extras[i].ops == ops) {
            return config->extra_config[i];
        }
    }
    return NULL;
}

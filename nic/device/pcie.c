// SPDX-License-Identifier: Apache-2.0
// nic/device/pcie.c - transactions of a PCIe link: their bytes, and when each is through.
#include "nic/pcie.h"

// -- closed forms

uint64_t nic_pcie_mmio_bytes(const nic_pcie_config_t *config, uint64_t bytes)
{
    return nic__pcie_chunks(bytes, NIC_PCIE_LINE_BYTES) *
           (NIC_PCIE_LINE_BYTES + config->request_header_bytes);
}

uint64_t nic_pcie_doorbell_bytes(const nic_pcie_config_t *config)
{
    return NIC_PCIE_DOORBELL_BYTES + config->request_header_bytes;
}

uint64_t nic_pcie_request_bytes(const nic_pcie_config_t *config, uint64_t bytes)
{
    return nic__pcie_chunks(bytes, config->read_max_bytes) * config->request_header_bytes;
}

// -- time

// Returns the time of a byte in units of 2^-20 ps, rounded up, so that the link is never too fast.
static uint64_t byte_time(const nic_pcie_config_t *config, uint64_t overhead_permille)
{
    const uint64_t rate_bps = config->lanes * config->lane_rate_bps;
    SIM_CHECK(rate_bps != 0);
    const bool flits = config->flit_bytes != 0;
    const sim_wide_t work = ((sim_wide_t)8 * SIM_PS_PER_S << NIC_PCIE_FRACTION_BITS) *
                            (1000 + overhead_permille) * (flits ? NIC_PCIE_FLIT_BYTES : 1);
    const sim_wide_t rate = (sim_wide_t)rate_bps * 1000 * (flits ? NIC_PCIE_FLIT_TLP_BYTES : 1);
    return (uint64_t)((work + rate - 1) / rate);
}

// Returns the time of a flit, rounded up; 0 if the link has none.
static sim_time_t flit_ps(const nic_pcie_config_t *config)
{
    const uint64_t rate_bps = config->lanes * config->lane_rate_bps;
    return (config->flit_bytes * 8 * SIM_PS_PER_S + rate_bps - 1) / rate_bps;
}

void nic_pcie_init(nic_pcie_t *pcie, const nic_pcie_config_t *config)
{
    SIM_CHECK(config->tags != 0 && config->completion_max_bytes != 0 &&
              config->payload_max_bytes != 0 && config->read_max_bytes != 0);
    *pcie = (nic_pcie_t){
        .config = *config,
        .byte_time = byte_time(config, config->overhead_permille),
        .mmio_byte_time =
            byte_time(config, config->overhead_permille + config->mmio_overhead_permille),
        .tag_free_ps = sim_alloc_array(config->tags, sizeof(sim_time_t)),
    };
    if (config->ordered_bytes != 0) {
        pcie->ordered_byte_time =
            (config->write_latency_ps << NIC_PCIE_FRACTION_BITS) / config->ordered_bytes;
    }
    pcie->down.flit_ps = flit_ps(config);
    pcie->up.flit_ps = pcie->down.flit_ps;
    pcie->posted_ps = config->posted_bytes * pcie->byte_time >> NIC_PCIE_FRACTION_BITS;
}

void nic_pcie_fini(nic_pcie_t *pcie)
{
    sim_free(pcie->tag_free_ps);
    pcie->tag_free_ps = NULL;
}

sim_time_t nic_pcie_doorbell(nic_pcie_t *pcie, sim_time_t now_ps)
{
    const uint64_t sent_bytes = nic_pcie_doorbell_bytes(&pcie->config);
    nic__pcie_count(pcie, NIC_PCIE_DOORBELL, 1, sent_bytes);
    const sim_time_t link_ps = nic__pcie_book(&pcie->down, now_ps, sent_bytes, pcie->byte_time);
    return nic__pcie_and_beyond(pcie, now_ps, NIC_PCIE_DOORBELL_BYTES, NIC_PCIE_DOORBELL, link_ps) +
           pcie->config.write_latency_ps;
}

// Takes a tag for each request; the first that is not free yet holds the read back.
sim_time_t nic__pcie_take_tags(const nic_pcie_t *pcie, sim_time_t now_ps, uint64_t requests)
{
    sim_time_t start_ps = now_ps;
    uint64_t tag = pcie->tag_next;
    for (uint64_t i = 0; i < requests; i++) {
        const sim_time_t free_ps = pcie->tag_free_ps[tag];
        start_ps = SIM_MAX(free_ps, start_ps);
        tag = nic__pcie_next_tag(pcie, tag);
    }
    return start_ps;
}

void nic__pcie_give_tags(nic_pcie_t *pcie, sim_time_t free_ps, uint64_t requests)
{
    for (uint64_t i = 0; i < requests; i++) {
        pcie->tag_free_ps[pcie->tag_next] = free_ps;
        pcie->tag_next = nic__pcie_next_tag(pcie, pcie->tag_next);
    }
}

sim_time_t nic_pcie_read(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t bytes, nic_pcie_use_t use)
{
    return nic_pcie_read_at(pcie, now_ps, 0, bytes, use);
}

sim_time_t nic_pcie_prefetched(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t address,
                               uint64_t bytes)
{
    const uint64_t up_bytes = nic_pcie_request_bytes(&pcie->config, bytes);
    const uint64_t down_bytes = nic_pcie_completion_bytes_at(&pcie->config, address, bytes);
    nic__pcie_count(pcie, NIC_PCIE_PAYLOAD_READ,
                    nic__pcie_chunks(bytes, pcie->config.read_max_bytes), up_bytes + down_bytes);
    const sim_time_t asked_ps = nic__pcie_book(&pcie->up, now_ps, up_bytes, pcie->byte_time);
    const sim_time_t data_ps = nic__pcie_book(&pcie->down, now_ps, down_bytes, pcie->byte_time);
    return SIM_MAX(asked_ps, data_ps);
}

bool nic_pcie_conserved(const nic_pcie_t *pcie)
{
    uint64_t bytes = 0;
    for (uint32_t use = 0; use < NIC_PCIE_USE_COUNT; use++) {
        bytes += pcie->counters.bytes[use];
    }
    return bytes == pcie->down.bytes + pcie->up.bytes;
}

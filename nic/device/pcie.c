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
        .waiting_ps = SIM_TIME_NEVER,
        .coming_ps = SIM_TIME_NEVER,
    };
    if (config->response_bytes != 0) {
        pcie->response_byte_time =
            (config->read_latency_ps << NIC_PCIE_FRACTION_BITS) / config->response_bytes;
    }
    if (config->ordered_bytes != 0) {
        pcie->ordered_byte_time =
            (config->write_latency_ps << NIC_PCIE_FRACTION_BITS) / config->ordered_bytes;
    }
    pcie->down.flit_ps = flit_ps(config);
    pcie->up.flit_ps = pcie->down.flit_ps;
    pcie->requested_ps = config->requested_bytes == 0
                             ? SIM_TIME_NEVER
                             : config->requested_bytes * pcie->byte_time >> NIC_PCIE_FRACTION_BITS;
    pcie->posted_ps = config->posted_bytes * pcie->byte_time >> NIC_PCIE_FRACTION_BITS;
}

void nic_pcie_fini(nic_pcie_t *pcie)
{
    sim_free(pcie->tag_free_ps);
    pcie->tag_free_ps = NULL;
}

// -- writes of cores

// Returns the last write that the core does until time_ps. The first one that waits is among them,
// and the last one is not.
static nic_pcie_write_t *last_until(const nic_pcie_t *pcie, sim_time_t time_ps)
{
    nic_pcie_write_t *write = pcie->booked == NULL ? pcie->first : pcie->booked->next;
    if (pcie->inserted != NULL && pcie->inserted->time_ps <= time_ps) {
        write = pcie->inserted; // most often by the same core, so few lie between
    }
    while (write->next->time_ps <= time_ps) {
        write = write->next;
    }
    return write;
}

static inline uint64_t mmio_bytes(const nic_pcie_t *pcie, const nic_pcie_write_t *write)
{
    return write->lines * (NIC_PCIE_LINE_BYTES + pcie->config.request_header_bytes);
}

// Sets the time before which no write arrives: exact if the next one is booked, or if nothing else
// is booked before it.
static inline void set_coming(nic_pcie_t *pcie)
{
    const nic_pcie_write_t *const write = pcie->first;
    if (write == NULL) {
        pcie->coming_ps = SIM_TIME_NEVER;
    } else if (pcie->booked != NULL) {
        pcie->coming_ps = write->time_ps;
    } else {
        const uint64_t work = mmio_bytes(pcie, write) * pcie->mmio_byte_time;
        pcie->coming_ps = SIM_MAX(write->time_ps, pcie->down.free_ps) +
                          (work >> NIC_PCIE_FRACTION_BITS) + pcie->config.write_latency_ps;
    }
}

void nic_pcie_mmio(nic_pcie_t *pcie, nic_pcie_write_t *write, sim_time_t time_ps, uint64_t bytes)
{
    write->time_ps = time_ps;
    write->lines = (uint32_t)nic__pcie_chunks(bytes, NIC_PCIE_LINE_BYTES);
    nic_pcie_write_t *before = pcie->booked;
    if (pcie->waiting_ps <= time_ps) {
        before = pcie->last->time_ps <= time_ps ? pcie->last : last_until(pcie, time_ps);
    } else {
        pcie->waiting_ps = time_ps;
    }
    nic_pcie_write_t **const link = before == NULL ? &pcie->first : &before->next;
    write->next = *link;
    *link = write;
    pcie->last = write->next == NULL ? write : pcie->last;
    pcie->inserted = write;
    if (pcie->first == write) {
        set_coming(pcie);
    }
}

static void book_first_write(nic_pcie_t *pcie)
{
    nic_pcie_write_t *const write = pcie->booked == NULL ? pcie->first : pcie->booked->next;
    const sim_time_t now_ps = write->time_ps;
    const uint64_t bytes = mmio_bytes(pcie, write);
    nic__pcie_count(pcie, NIC_PCIE_WQE_MMIO, write->lines, bytes);
    const sim_time_t link_ps = nic__pcie_book(&pcie->down, now_ps, bytes, pcie->mmio_byte_time);
    write->time_ps = nic__pcie_and_beyond(pcie, now_ps, write->lines * NIC_PCIE_LINE_BYTES,
                                          NIC_PCIE_WQE_MMIO, link_ps) +
                     pcie->config.write_latency_ps;
    SIM_ASSERT(pcie->booked == NULL || pcie->booked->time_ps <= write->time_ps);
    pcie->booked = write;
    pcie->inserted = pcie->inserted == write ? NULL : pcie->inserted;
    pcie->waiting_ps = write->next == NULL ? SIM_TIME_NEVER : write->next->time_ps;
}

void nic__pcie_book_writes(nic_pcie_t *pcie, sim_time_t now_ps)
{
    while (pcie->waiting_ps <= now_ps) {
        book_first_write(pcie);
    }
}

// Books one write only: the NIC may read before the next one, when this one arrives.
nic_pcie_write_t *nic_pcie_take_write(nic_pcie_t *pcie, sim_time_t now_ps)
{
    if (pcie->booked == NULL && pcie->waiting_ps <= now_ps) {
        book_first_write(pcie);
    }
    nic_pcie_write_t *write = NULL;
    if (SIM_LIKELY(pcie->booked != NULL) && SIM_LIKELY(pcie->first->time_ps <= now_ps)) {
        write = pcie->first;
        pcie->first = write->next;
        pcie->booked = pcie->booked == write ? NULL : pcie->booked;
    }
    set_coming(pcie);
    return write;
}

// -- other transfers

sim_time_t nic_pcie_doorbell(nic_pcie_t *pcie, sim_time_t now_ps)
{
    const uint64_t sent_bytes = nic_pcie_doorbell_bytes(&pcie->config);
    nic__pcie_count(pcie, NIC_PCIE_DOORBELL, 1, sent_bytes);
    const sim_time_t link_ps = nic__pcie_book_down(pcie, now_ps, sent_bytes);
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
    const sim_time_t data_ps = nic__pcie_book_down(pcie, now_ps, down_bytes);
    const sim_time_t ahead_ps = down_bytes * pcie->byte_time >> NIC_PCIE_FRACTION_BITS;
    return SIM_MAX(asked_ps, data_ps) - ahead_ps;
}

bool nic_pcie_conserved(const nic_pcie_t *pcie)
{
    uint64_t bytes = 0;
    for (uint32_t use = 0; use < NIC_PCIE_USE_COUNT; use++) {
        bytes += pcie->counters.bytes[use];
    }
    return bytes == pcie->down.bytes + pcie->up.bytes;
}

// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/detail.c - constants of the detailed NIC: profiles, and the rules between
// constants.
#include "nic/detail.h"

#include "nic/host.h"

#include <string.h>

#define FIELD_COUNT (sizeof(nic_detail_t) / sizeof(uint64_t))

typedef struct row {
    const char *path;
    sim_attr_type_t type;
    const char *values[NIC_PROFILE_COUNT];
} row_t;

// clang-format off
#define ROW(prefix_, path_, type_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_) \
    {.path = prefix_ path_, .type = SIM_ATTR_##type_, .values = {cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_}},
#define NIC_ROW(field_, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_, origin_, help_) \
    ROW("nic.detailed.", path_, type_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_)
#define HOST_ROW(field_, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_, origin_, help_) \
    ROW("nic.host.", path_, type_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_)
static const row_t rows[] = {NIC_DETAIL_MAP(NIC_ROW) NIC_CLOCK_MAP(HOST_ROW)};
#undef HOST_ROW
#undef NIC_ROW
#undef ROW
// clang-format on
static_assert(SIM_COUNT_OF(rows) == FIELD_COUNT, "a row per field");

const char *nic_detail_text(const char *path, uint32_t profile)
{
    SIM_CHECK(profile < NIC_PROFILE_COUNT);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(rows[i].path, path) == 0) {
            return rows[i].values[profile];
        }
    }
    return NULL;
}

static uint64_t parse(const row_t *row, const char *text)
{
    uint64_t value = 0;
    const sim_attr_t attr = {.path = row->path, .type = row->type, .help = ""};
    sim_message_t message;
    SIM_CHECKF(sim_attr_set(&attr, &value, text, &message) == SIM_OK, "%s", message.text);
    return value;
}

void nic_detail_profile(uint32_t profile, nic_detail_t *detail)
{
    SIM_CHECK(profile < NIC_PROFILE_COUNT);
    uint64_t *const fields = (uint64_t *)detail;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        fields[i] = parse(&rows[i], rows[i].values[profile]);
    }
}

void nic_detail_resolve(const nic_config_t *config, nic_detail_t *detail)
{
    nic_detail_profile(config->profile, detail);
    uint64_t *const fields = (uint64_t *)detail;
    const uint64_t *const set = (const uint64_t *)&config->detail;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        fields[i] = set[i] == SIM_AUTO ? fields[i] : set[i];
    }
}

void nic_detail_pcie(const nic_detail_t *detail, nic_pcie_config_t *pcie)
{
    *pcie = (nic_pcie_config_t){
        .lanes = detail->lanes,
        .lane_rate_bps = detail->lane_rate_bps,
        .flit_bytes = detail->flit_bytes,
        .request_header_bytes = detail->request_header_bytes,
        .completion_header_bytes = detail->completion_header_bytes,
        .completion_max_bytes = detail->completion_max_bytes,
        .payload_max_bytes = detail->payload_max_bytes,
        .read_max_bytes = detail->read_max_bytes,
        .tags = detail->tags,
        .ordered_bytes = detail->ordered_bytes,
        .response_bytes = detail->response_bytes,
        .requested_bytes = detail->requested_bytes,
        .posted_bytes = detail->posted_bytes,
        .read_latency_ps = detail->read_latency_ps,
        .write_latency_ps = detail->write_latency_ps,
        .overhead_permille = detail->overhead_permille,
        .mmio_overhead_permille = detail->mmio_overhead_permille,
    };
}

sim_err_t nic_detail_check(const nic_detail_t *detail, sim_message_t *message)
{
    const uint64_t page = detail->page_bytes;
    if (page != 4096 && page != UINT64_C(2) << 20 && page != UINT64_C(1) << 30) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.detailed.translation.page",
                              ": %" PRIu64 " bytes, expected 4KiB, 2MiB or 1GiB", page);
    }
    if (detail->flit_bytes != 0 && detail->flit_bytes != NIC_PCIE_FLIT_BYTES) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.detailed.pcie.flit",
                              ": %" PRIu64 " bytes, expected 0 or %u", detail->flit_bytes,
                              NIC_PCIE_FLIT_BYTES);
    }
    if ((detail->atomic_locks & (detail->atomic_locks - 1)) != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.detailed.atomic.locks",
                              ": %" PRIu64 ", expected a power of two", detail->atomic_locks);
    }
    if (detail->cpu_clock_all_mhz > detail->cpu_clock_mhz) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.host.clock-all",
                              ": %" PRIu64 " MHz, expected at most nic.host.clock, %" PRIu64,
                              detail->cpu_clock_all_mhz, detail->cpu_clock_mhz);
    }
    if (detail->resume_bytes >= detail->pause_bytes ||
        detail->pause_bytes >= detail->buffer_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.detailed.receive-buffer",
                              ": resume %" PRIu64 ", pause %" PRIu64 ", bytes %" PRIu64
                              ", expected them to rise in this order",
                              detail->resume_bytes, detail->pause_bytes, detail->buffer_bytes);
    }
    return SIM_OK;
}

// SPDX-License-Identifier: Apache-2.0
// nic/config/iommu_rules.c - the attributes nic.host.iommu.: pages that NICs may not touch, and
// rules.
#include <stdlib.h>
#include <string.h>

#include "kernel/parse.h"
#include "nic/config/layout.h"

#define CONTEXT_BYTES 256u
#define CONTEXT_MEMORY (UINT64_C(1) << 50)

static const char *const kind_names[NIC_IOMMU_KIND_COUNT] = {"pd", "mr", "cq", "qp", "srq", "mtt"};

const char *nic_iommu_kind_name(nic_iommu_kind_t kind)
{
    return kind_names[kind];
}

uint64_t nic__context_address(uint32_t nic, nic_iommu_kind_t kind, uint32_t number)
{
    return CONTEXT_MEMORY + ((uint64_t)nic << 46) + ((uint64_t)kind << 42) +
           (uint64_t)number * CONTEXT_BYTES;
}

// Reads "KIND:NUMBER", the context of an object of the host's first NIC. Returns false if the text
// is something else.
static bool read_context(const char *item, uint64_t *address)
{
    for (uint32_t kind = 0; kind < NIC_IOMMU_KIND_COUNT; kind++) {
        const size_t length = strlen(kind_names[kind]);
        if (strncmp(item, kind_names[kind], length) != 0 || item[length] != ':') {
            continue;
        }
        const char *const digits = item + length + 1;
        char *end = NULL;
        const unsigned long long number = strtoull(digits, &end, 0);
        *address = nic__context_address(0, (nic_iommu_kind_t)kind, (uint32_t)number);
        return *digits >= '0' && *digits <= '9' && *end == '\0' && number <= UINT32_MAX;
    }
    return false;
}

bool nic__denied_range(const char **rest, uint32_t page_bits, nic_page_range_t *range)
{
    const char *const text = *rest + strspn(*rest, ", ");
    const size_t length = strcspn(text, ", ");
    char item[64];
    *rest = NULL;
    if (length == 0 || length >= sizeof(item) || strcmp(text, "none") == 0) {
        return false;
    }
    memcpy(item, text, length);
    item[length] = '\0';
    char *end = NULL;
    uint64_t address = strtoull(item, &end, 0);
    uint64_t bytes = CONTEXT_BYTES;
    sim_message_t message;
    const bool context = read_context(item, &address);
    if (!context &&
        (end == item || *end != '+' || sim_parse_bytes(end + 1, &bytes, &message) != SIM_OK ||
         bytes == 0 || address + (bytes - 1) < address)) {
        return false;
    }
    *range = (nic_page_range_t){address >> page_bits, (address + (bytes - 1)) >> page_bits};
    *rest = text[length + strspn(text + length, ", ")] != '\0' ? text + length : NULL;
    return true;
}

sim_err_t nic__iommu_check(const nic_host_config_t *config, sim_message_t *message)
{
    const char *rest = config->iommu_deny;
    while (rest != NULL && strcmp(config->iommu_deny, "none") != 0) {
        nic_page_range_t range;
        if (!nic__denied_range(&rest, 12, &range)) {
            return sim_fail_about(message, SIM_ERR_INVALID, "nic.host.iommu.deny",
                                  ": %s, expected none or a list of ADDRESS+BYTES such as "
                                  "0x100000+64KiB, or of contexts such as cq:3",
                                  config->iommu_deny);
        }
    }
    const uint64_t page_bytes = config->iommu_page_bytes;
    if (page_bytes != 1u << 12 && page_bytes != 1u << 21 && page_bytes != 1u << 30) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.host.iommu.page",
                              ": %" PRIu64 " bytes, expected 4KiB, 2MiB or 1GiB", page_bytes);
    }
    return SIM_OK;
}

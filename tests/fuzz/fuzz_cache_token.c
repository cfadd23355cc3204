// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_cache_token.c - bytes as tokens and as contexts: what decodes encodes to the same
// bytes, what does not fit is refused, nothing is read beyond its end.
//
// The first byte chooses: a token (0..127) of type byte % 4, or a context.
#include "nic/store/tiered/token.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void try_token(nic_token_type_t type, const uint8_t *data, size_t size)
{
    nic_context_t context = {.type = type};
    nic_token_type_t found;
    uint8_t version = 0;
    uint16_t index = 0;
    if (!nic_token_decode(data, size, &context)) {
        // Another layout, or a CQ whose logarithm is none.
        SIM_CHECK(size < nic_token_bytes(type) || data[0] != type || data[1] != NIC_TOKEN_VERSION ||
                  (type == NIC_TOKEN_CQ && (data[11] & NIC_CQ_LOG) != 0));
        return;
    }
    SIM_CHECK(nic_token_header(data, size, &found, &version, &index) && found == type);
    uint8_t again[NIC_TOKEN_BYTES_MAX];
    SIM_CHECK(nic_token_encode(&context, again));
    SIM_CHECK(memcmp(again, data, nic_token_bytes(type)) == 0);
}

static void try_context(nic_token_type_t type, const uint8_t *data, size_t size)
{
    nic_context_t context;
    if (!nic_context_decode(type, data, size, &context)) {
        SIM_CHECK(size < nic_context_bytes(type));
        return;
    }
    uint8_t bytes[NIC_CONTEXT_BYTES_MAX];
    nic_context_encode(&context, bytes);
    nic_context_t again;
    SIM_CHECK(nic_context_decode(type, bytes, nic_context_bytes(type), &again));
    // All made by memset and then filled: padding is equal too.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c)
    SIM_CHECK(memcmp(&again, &context, sizeof(context)) == 0);
    uint8_t token[NIC_TOKEN_BYTES_MAX];
    if (nic_token_encode(&context, token)) {
        SIM_CHECK(nic_token_decode(token, nic_token_bytes(type), &again));
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c)
        SIM_CHECK(memcmp(&again, &context, sizeof(context)) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const nic_token_type_t type = (nic_token_type_t)(data[0] % NIC_TOKEN_TYPE_COUNT);
    // The copy has exactly this size, so that AddressSanitizer finds a read beyond it.
    uint8_t *const copy = sim_alloc(size);
    memcpy(copy, data + 1, size - 1);
    if (data[0] < 128) {
        try_token(type, copy, size - 1);
    } else {
        try_context(type, copy, size - 1);
    }
    sim_free(copy);
    return 0;
}

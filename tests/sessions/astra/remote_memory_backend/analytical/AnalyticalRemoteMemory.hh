// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/remote_memory_backend/analytical/AnalyticalRemoteMemory.hh - a stand-in.
#include <string>

namespace Analytical {
struct AnalyticalRemoteMemory {
    explicit AnalyticalRemoteMemory(const std::string &) {}
};
} // namespace Analytical

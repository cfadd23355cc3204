// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/astra-sim/common/Logging.hh - a stand-in for ASTRA-sim's logs: none.
#include <string>

namespace AstraSim {
struct LoggerFactory {
    static void init(const std::string &, const std::string &) {}
    static void shutdown() {}
};
} // namespace AstraSim

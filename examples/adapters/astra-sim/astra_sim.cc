// SPDX-License-Identifier: Apache-2.0
// examples/adapters/astra-sim/astra_sim.cc - ASTRA-sim on a network of rocesim (README.md).
//
// The program takes the options of ASTRA-sim's own programs. --network-configuration is a scenario
// of rocesim, or a network of the analytical back end (.yml), from which it makes a scenario.
#include "astra-sim/common/AstraNetworkAPI.hh"
#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "remote_memory_backend/analytical/AnalyticalRemoteMemory.hh"

#include "astra_network.hh"

#include "analytical_network.hh"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <unistd.h> // unlink

namespace
{

using rocesim::Dimensions;
using rocesim::Planes;

typedef std::map<std::string, std::string> Words;

[[noreturn]] void refuse(const std::string &text)
{
    std::fprintf(stderr, "astra_sim: %s\n", text.c_str());
    std::exit(2);
}

// Reads "--name=value" and "--name value".
Words read_options(int argc, char **argv)
{
    Words options = {{"comm-group-configuration", "empty"},
                     {"logging-configuration", "empty"},
                     {"logging-folder", "log"},
                     {"num-queues-per-dim", "1"},
                     {"comm-scale", "1"},
                     {"injection-scale", "1"},
                     {"rendezvous-protocol", "false"}};
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        const size_t equals = word.find('=');
        if (word.compare(0, 2, "--") != 0 || (equals == std::string::npos && i + 1 == argc)) {
            refuse(word + ": expected --NAME=VALUE");
        }
        if (equals == std::string::npos) {
            options[word.substr(2)] = argv[++i];
        } else {
            options[word.substr(2, equals - 2)] = word.substr(equals + 1);
        }
    }
    for (const char *needed : {"workload-configuration", "system-configuration",
                               "remote-memory-configuration", "network-configuration"}) {
        if (options.find(needed) == options.end()) {
            refuse(std::string("--") + needed + " is missing");
        }
    }
    return options;
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        refuse(path + " cannot be read");
    }
    return text.str();
}

Dimensions read_dimensions(const Words &options, const std::string &network)
{
    Dimensions made = rocesim::dimensions_of(network);
    const auto logical = options.find("logical-topology-configuration");
    if (made.counts.empty() && logical != options.end()) {
        made.counts = rocesim::values_in<int>(read_file(logical->second), "logical-dims");
    }
    if (made.counts.empty() || made.ranks() < 1) {
        refuse("a scenario needs --logical-topology-configuration with logical-dims");
    }
    return made;
}

void run(const Words &options)
{
    const std::string path = options.at("network-configuration");
    const std::string network = read_file(path);
    const Dimensions dimensions = read_dimensions(options, network);
    Planes planes(dimensions);
    std::string scenario = path;
    rocesim::AstraOptions made;
    if (!dimensions.kinds.empty()) {
        scenario = planes.write();
        made.nics = [&planes](int from, int to) { return planes.nics(from, to); };
    }
    rocesim::AstraFabric fabric(scenario, dimensions.ranks(), made);
    if (scenario != path) {
        (void)unlink(scenario.c_str());
    }
    Analytical::AnalyticalRemoteMemory memory(options.at("remote-memory-configuration"));
    std::vector<std::unique_ptr<rocesim::AstraNetwork>> networks;
    std::vector<std::unique_ptr<AstraSim::Sys>> systems;
    for (int rank = 0; rank < dimensions.ranks(); rank++) {
        networks.emplace_back(new rocesim::AstraNetwork(fabric, rank));
        systems.emplace_back(new AstraSim::Sys(
            rank, options.at("workload-configuration"), options.at("comm-group-configuration"),
            options.at("system-configuration"), &memory, networks.back().get(), dimensions.counts,
            std::vector<int>(dimensions.counts.size(), std::stoi(options.at("num-queues-per-dim"))),
            std::stod(options.at("injection-scale")), std::stod(options.at("comm-scale")),
            options.at("rendezvous-protocol") == "true"));
    }
    for (const auto &system : systems) {
        system->workload->fire();
    }
    fabric.run();
    std::printf("rocesim: %llu messages, %llu ps, %zu unmatched\n",
                static_cast<unsigned long long>(fabric.messages()),
                static_cast<unsigned long long>(fabric.now_ps()), fabric.unmatched());
}

} // namespace

int main(int argc, char **argv)
{
    const Words options = read_options(argc, argv);
    AstraSim::LoggerFactory::init(options.at("logging-configuration"),
                                  options.at("logging-folder"));
    int status = 0;
    try {
        run(options);
    } catch (const rocesim::SessionError &error) {
        std::fprintf(stderr, "astra_sim: %s\n", error.what());
        status = 1;
    }
    AstraSim::LoggerFactory::shutdown();
    return status;
}

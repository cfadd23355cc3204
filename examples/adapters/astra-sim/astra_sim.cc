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

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <unistd.h>

namespace
{

typedef std::map<std::string, std::string> Words;

// The dimensions of the network as ASTRA-sim sees them.
struct Dimensions {
    std::vector<std::string> kinds; // Ring, Switch or FullyConnected
    std::vector<int> counts;
    std::vector<double> gib_per_s;
    std::vector<double> latency_ns;

    int ranks() const
    {
        int product = 1;
        for (const int count : counts) {
            product *= count;
        }
        return product;
    }
};

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

// Returns what stands between the brackets after a name, without quotes and commas, or "".
std::string list_in(const std::string &text, const std::string &name)
{
    const size_t at = text.find(name);
    const size_t begin = at == std::string::npos ? at : text.find('[', at);
    const size_t end = begin == std::string::npos ? begin : text.find(']', begin);
    std::string list = end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
    for (char &letter : list) {
        letter = letter == ',' || letter == '"' ? ' ' : letter;
    }
    return list;
}

template <typename T> std::vector<T> values_in(const std::string &text, const std::string &name)
{
    std::istringstream words(list_in(text, name));
    std::vector<T> values;
    for (T value; words >> value;) {
        values.push_back(value);
    }
    return values;
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

// A network of the analytical back end as a scenario: every dimension is a network of its own, with
// a NIC of each rank. A ring or a switch becomes a switch, a full connection a cable between each
// two ranks of it.
class Planes
{
  public:
    explicit Planes(const Dimensions &given) : dimensions(given)
    {
    }

    std::string scenario()
    {
        std::ostringstream nodes, links;
        for (int rank = 0; rank < dimensions.ranks(); rank++) {
            nodes << (rank == 0 ? "" : ", ") << "npu" << rank;
        }
        std::string switches;
        for (size_t at = 0; at < dimensions.counts.size(); at++) {
            add_dimension(at, switches, links);
        }
        return "name: astra-sim\nnic: {congestion-control: none, mtu: 4096}\n"
               "switch: {buffer: 64MB, pfc: {priorities: [3]}}\ntopology:\n  graph:\n    nodes:\n" +
               (switches.empty() ? "" : "      - switch: [" + switches + "]\n") +
               "      - host: [" + nodes.str() + "]\n    links:\n" + links.str();
    }

    // Returns the NICs by which two ranks talk: those of the first dimension in which they differ.
    std::pair<std::string, std::string> nics(int source, int destination) const
    {
        int stride = 1;
        for (size_t at = 0; at < dimensions.counts.size(); at++) {
            const int from = source / stride % dimensions.counts[at];
            const int to = destination / stride % dimensions.counts[at];
            if (from != to) {
                return {nic(source, at, to), nic(destination, at, from)};
            }
            stride *= dimensions.counts[at];
        }
        return {nic(source, 0, 0), nic(destination, 0, 0)};
    }

  private:
    // Returns the name of a rank's NIC in a dimension; in a full connection, towards a peer.
    std::string nic(int rank, size_t dimension, int peer) const
    {
        const std::string host = "npu" + std::to_string(rank);
        const int number = numbers.at(std::make_tuple(rank, dimension, full(dimension) ? peer : 0));
        return nic_counts.at(rank) == 1 ? host : host + "/nic" + std::to_string(number);
    }
    bool full(size_t dimension) const
    {
        return dimensions.kinds[dimension] == "FullyConnected";
    }

    void add_nic(int rank, size_t dimension, int peer)
    {
        numbers[std::make_tuple(rank, dimension, peer)] = nic_counts[rank]++;
    }
    void add_dimension(size_t at, std::string &switches, std::ostringstream &links)
    {
        int stride = 1;
        for (size_t i = 0; i < at; i++) {
            stride *= dimensions.counts[i];
        }
        // A ring has one link between neighbours, a switch two, each with the whole latency.
        const double links_between = dimensions.kinds[at] == "Ring" ? 2 : 1;
        std::ostringstream values;
        values << ", rate: " << static_cast<uint64_t>(dimensions.gib_per_s[at] * 8 * 1073741824.0)
               << "bps, delay: "
               << static_cast<uint64_t>(dimensions.latency_ns[at] * 1000 / links_between)
               << "ps}\n";
        for (int rank = 0; rank < dimensions.ranks(); rank++) {
            const int place = rank / stride % dimensions.counts[at];
            const int first = rank - place * stride;
            const std::string hub = "dim" + std::to_string(at) + "-" + std::to_string(first);
            if (!full(at)) {
                switches += place > 0 ? "" : (switches.empty() ? "" : ", ") + hub;
                add_nic(rank, at, 0);
                links << "      - {between: npu" << rank << "--" << hub << values.str();
                continue;
            }
            for (int peer = 0; peer < place; peer++) {
                const int other = first + peer * stride;
                add_nic(other, at, place);
                add_nic(rank, at, peer);
                links << "      - {between: npu" << other << "--npu" << rank << values.str();
            }
        }
    }

    Dimensions dimensions;
    std::map<int, int> nic_counts;
    std::map<std::tuple<int, size_t, int>, int> numbers; // of NICs, by rank, dimension and peer
};

Dimensions read_dimensions(const Words &options, const std::string &network)
{
    Dimensions made;
    const auto logical = options.find("logical-topology-configuration");
    made.counts = values_in<int>(network, "npus_count");
    if (!made.counts.empty()) {
        made.kinds = values_in<std::string>(network, "topology");
        made.gib_per_s = values_in<double>(network, "bandwidth");
        made.latency_ns = values_in<double>(network, "latency");
        const size_t size = made.counts.size();
        if (made.kinds.size() != size || made.gib_per_s.size() != size ||
            made.latency_ns.size() != size) {
            refuse("the network's lists differ in length");
        }
    } else if (logical != options.end()) {
        made.counts = values_in<int>(read_file(logical->second), "logical-dims");
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
        scenario = (std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") +
                   std::string("/astra-sim-") + std::to_string(getpid()) + ".yaml";
        std::ofstream(scenario) << planes.scenario();
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

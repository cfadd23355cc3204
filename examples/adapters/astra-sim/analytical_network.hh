// SPDX-License-Identifier: Apache-2.0
// examples/adapters/astra-sim/analytical_network.hh - a network of ASTRA-sim's analytical back end (a
// .yml with npus_count) as a scenario of rocesim.
#ifndef ROCESIM_ANALYTICAL_NETWORK_HH
#define ROCESIM_ANALYTICAL_NETWORK_HH

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace rocesim
{

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

// Returns what stands between the brackets after a name, without quotes and commas, or "".
inline std::string list_in(const std::string &text, const std::string &name)
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

// Reads the dimensions of a network; none if the text is no network of the analytical back end.
inline Dimensions dimensions_of(const std::string &network)
{
    Dimensions made;
    made.counts = values_in<int>(network, "npus_count");
    if (made.counts.empty()) {
        return made;
    }
    made.kinds = values_in<std::string>(network, "topology");
    made.gib_per_s = values_in<double>(network, "bandwidth");
    made.latency_ns = values_in<double>(network, "latency");
    const size_t size = made.counts.size();
    if (made.kinds.size() != size || made.gib_per_s.size() != size ||
        made.latency_ns.size() != size) {
        throw SessionError("the network's lists differ in length");
    }
    return made;
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

    // Writes the scenario into a file, and returns its name. The caller removes it.
    std::string write()
    {
        const char *const folder = std::getenv("TMPDIR");
        const std::string name = (folder != nullptr ? folder : "/tmp") +
                                 std::string("/astra-sim-") + std::to_string(getpid()) + ".yaml";
        std::ofstream(name) << scenario();
        return name;
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

} // namespace rocesim

#endif // ROCESIM_ANALYTICAL_NETWORK_HH

// SPDX-License-Identifier: Apache-2.0
// bench/ns3/fat_tree_ns3.cc - the permutation of bench/ in plain ns-3: the same fat-tree, as many
// packets of the same size on the wire, an ACK for each, per-flow ECMP.
//
//     bench_ns3 [--k K] [--bytes N] [--seed N] [--perm FILE] [--ack-every N] [--scheduler NAME]
//
// Fair to ns-3: no traces, no queue discs, no IPv6, no packet metadata, no checksums; routes are
// found by arithmetic on the destination's index instead of a table, and made before the run; no
// congestion control, no retransmission and no PFC, which rocesim runs with. Not fair to ns-3: it
// carries real IP and UDP headers as bytes, which is what a plain ns-3 program does.
//
// Prints one JSON object. A packet-hop is a packet received by a node over a link.
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace
{

constexpr uint64_t kRateBps = 100000000000;
constexpr uint32_t kPayloadBytes = 4096;
// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, preamble and gap 20.
constexpr uint32_t kDataWireBytes = kPayloadBytes + 82;
// The same without payload, with an AETH of 4.
constexpr uint32_t kAckWireBytes = 86;
// What ns-3 adds to a UDP payload on a point-to-point link: PPP 2, IPv4 20, UDP 8.
constexpr uint32_t kNs3HeaderBytes = 30;
constexpr uint16_t kPort = 4791;
constexpr uint32_t kFirstAddress = 0x0a000001; // of host 0

uint32_t g_k = 8;
uint64_t g_packetHops = 0;
uint64_t g_delivered = 0;
uint64_t g_acked = 0;
ns3::Time g_lastAck;

uint32_t Hosts()
{
    return g_k * g_k * g_k / 4;
}

uint32_t Mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    x ^= x >> 16;
    return x;
}

enum class Role { kHost, kEdge, kAggregation, kCore };

// Interfaces: 0 is loopback; a host's uplink is 1; a switch's ports down are 1..k/2 and up
// k/2+1..k; a core's port to pod p is 1+p. Links are made in an order that gives these numbers.
class FatTreeRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    FatTreeRouting(Role role, uint32_t index, uint32_t seed)
        : m_role(role), m_index(index), m_seed(Mix(seed))
    {
    }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno &error) override
    {
        error = ns3::Socket::ERROR_NOTERROR;
        return m_routes[1];
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
                    ns3::Ptr<const ns3::NetDevice>, UnicastForwardCallback forward,
                    MulticastForwardCallback, LocalDeliverCallback deliver, ErrorCallback) override
    {
        ++g_packetHops;
        uint32_t destination = header.GetDestination().Get() - kFirstAddress;
        if (m_role == Role::kHost) {
            deliver(packet, header, 1);
        } else {
            forward(m_routes[Out(header.GetSource().Get(), destination)], packet, header);
        }
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t interface, ns3::Ipv4InterfaceAddress address) override
    {
        if (interface >= m_routes.size()) {
            m_routes.resize(interface + 1);
        }
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
        route->SetGateway(ns3::Ipv4Address::GetAny());
        route->SetSource(address.GetLocal());
        m_routes[interface] = route;
    }

    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override
    {
    }

  protected:
    void DoDispose() override
    {
        m_routes.clear();
        m_ipv4 = nullptr;
        ns3::Ipv4RoutingProtocol::DoDispose();
    }

  private:
    // There is one flow between two hosts, so its addresses are the flow.
    uint32_t Out(uint32_t source, uint32_t destination) const
    {
        uint32_t half = g_k / 2;
        uint32_t edge = destination / half;
        uint32_t pod = edge / half;
        if (m_role == Role::kCore) {
            return 1 + pod;
        }
        if (m_role == Role::kEdge && edge == m_index) {
            return 1 + destination % half;
        }
        if (m_role == Role::kAggregation && pod == m_index / half) {
            return 1 + edge % half;
        }
        return 1 + half + Mix(Mix(source ^ m_seed) + destination) % half;
    }

    Role m_role;
    uint32_t m_index;
    uint32_t m_seed;
    ns3::Ptr<ns3::Ipv4> m_ipv4;
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_routes;
};

// Gives each node its routing protocol in the order nodes are made.
class FatTreeRoutingHelper : public ns3::Ipv4RoutingHelper
{
  public:
    FatTreeRoutingHelper(Role role, uint32_t seed) : m_role(role), m_seed(seed)
    {
    }

    FatTreeRoutingHelper *Copy() const override
    {
        return new FatTreeRoutingHelper(*this);
    }

    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override
    {
        return ns3::CreateObject<FatTreeRouting>(m_role, m_next++, m_seed + node->GetId());
    }

  private:
    Role m_role;
    uint32_t m_seed;
    mutable uint32_t m_next = 0;
};

// Sends its bytes at line rate, and an ACK for every so many packets it receives.
class Endpoint : public ns3::Application
{
  public:
    void Set(uint32_t index, uint32_t peer, uint64_t packets, uint32_t ackEvery)
    {
        m_index = index;
        m_peer = peer;
        m_packets = packets;
        m_ackEvery = ackEvery;
    }

  private:
    void StartApplication() override
    {
        m_receive = MakeSocket(kPort);
        m_receive->SetRecvCallback(ns3::MakeCallback(&Endpoint::Receive, this));
        m_send = MakeSocket(0xc000);
        m_send->SetRecvCallback(ns3::MakeCallback(&Endpoint::ReceiveAck, this));
        ns3::Ipv4Address address(kFirstAddress + m_peer);
        m_send->Connect(ns3::InetSocketAddress(address, kPort));
        m_gap = ns3::PicoSeconds(kDataWireBytes * 8 * (1000000000000 / kRateBps));
        Send();
    }

    ns3::Ptr<ns3::Socket> MakeSocket(uint16_t port)
    {
        auto socket = ns3::Socket::CreateSocket(GetNode(), ns3::UdpSocketFactory::GetTypeId());
        socket->SetAttribute("RcvBufSize", ns3::UintegerValue(1u << 30));
        socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
        return socket;
    }

    void Send()
    {
        m_send->Send(ns3::Create<ns3::Packet>(kDataWireBytes - kNs3HeaderBytes));
        if (++m_sent < m_packets) {
            ns3::Simulator::Schedule(m_gap, &Endpoint::Send, this);
        }
    }

    void Receive(ns3::Ptr<ns3::Socket> socket)
    {
        ns3::Address from;
        while (socket->RecvFrom(from)) {
            ++g_delivered;
            if (++m_received % m_ackEvery == 0) {
                auto ack = ns3::Create<ns3::Packet>(kAckWireBytes - kNs3HeaderBytes);
                socket->SendTo(ack, 0, from);
            }
        }
    }

    void ReceiveAck(ns3::Ptr<ns3::Socket> socket)
    {
        while (socket->Recv()) {
            ++g_acked;
            g_lastAck = ns3::Simulator::Now();
        }
    }

    uint32_t m_index = 0;
    uint32_t m_peer = 0;
    uint32_t m_ackEvery = 1;
    uint64_t m_packets = 0;
    uint64_t m_sent = 0;
    uint64_t m_received = 0;
    ns3::Time m_gap;
    ns3::Ptr<ns3::Socket> m_send;
    ns3::Ptr<ns3::Socket> m_receive;
};

struct FatTree {
    ns3::NodeContainer hosts;
    ns3::NodeContainer edges;
    ns3::NodeContainer aggregations;
    ns3::NodeContainer cores;
};

void InstallStack(const ns3::NodeContainer &nodes, Role role, uint32_t seed)
{
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    FatTreeRoutingHelper routing(role, seed);
    stack.SetRoutingHelper(routing);
    stack.Install(nodes);
}

void AddInterface(ns3::Ptr<ns3::NetDevice> device, uint32_t address)
{
    auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
    uint32_t interface = ipv4->AddInterface(device);
    ns3::Ipv4InterfaceAddress local{ns3::Ipv4Address(address), ns3::Ipv4Mask("255.255.255.255")};
    ipv4->AddAddress(interface, local);
    ipv4->SetMetric(interface, 1);
    ipv4->SetUp(interface);
}

class Linker
{
  public:
    Linker()
    {
        m_links.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(kRateBps)));
        m_links.SetDeviceAttribute("Mtu", ns3::UintegerValue(9000));
        m_links.SetChannelAttribute("Delay", ns3::TimeValue(ns3::MicroSeconds(1)));
        m_links.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("1000000p"));
    }

    void Link(ns3::Ptr<ns3::Node> below, ns3::Ptr<ns3::Node> above, uint32_t addressBelow = 0)
    {
        auto devices = m_links.Install(below, above);
        AddInterface(devices.Get(0), addressBelow != 0 ? addressBelow : m_switchAddress++);
        AddInterface(devices.Get(1), m_switchAddress++);
    }

  private:
    ns3::PointToPointHelper m_links;
    uint32_t m_switchAddress = 0x0b000001; // of interfaces nobody addresses
};

FatTree Build(uint32_t seed)
{
    uint32_t half = g_k / 2;
    FatTree tree;
    tree.hosts.Create(Hosts());
    tree.edges.Create(g_k * half);
    tree.aggregations.Create(g_k * half);
    tree.cores.Create(half * half);
    InstallStack(tree.hosts, Role::kHost, seed);
    InstallStack(tree.edges, Role::kEdge, seed);
    InstallStack(tree.aggregations, Role::kAggregation, seed);
    InstallStack(tree.cores, Role::kCore, seed);

    Linker linker;
    for (uint32_t host = 0; host < Hosts(); ++host) {
        linker.Link(tree.hosts.Get(host), tree.edges.Get(host / half), kFirstAddress + host);
    }
    for (uint32_t edge = 0; edge < g_k * half; ++edge) {
        for (uint32_t up = 0; up < half; ++up) {
            linker.Link(tree.edges.Get(edge), tree.aggregations.Get(edge / half * half + up));
        }
    }
    for (uint32_t aggregation = 0; aggregation < g_k * half; ++aggregation) {
        for (uint32_t up = 0; up < half; ++up) {
            uint32_t core = aggregation % half * half + up;
            linker.Link(tree.aggregations.Get(aggregation), tree.cores.Get(core));
        }
    }
    return tree;
}

// Lines `source destination`; without a file, half the fabric away.
std::vector<uint32_t> ReadPermutation(const std::string &path)
{
    uint32_t hosts = Hosts();
    std::vector<uint32_t> peers(hosts, hosts);
    if (path.empty()) {
        for (uint32_t host = 0; host < hosts; ++host) {
            peers[host] = (host + hosts / 2) % hosts;
        }
        return peers;
    }
    std::ifstream file(path);
    uint32_t source = 0;
    uint32_t destination = 0;
    while (file >> source >> destination) {
        if (source >= hosts || destination >= hosts || source == destination) {
            std::cerr << path << ": no pair of two of " << hosts << " hosts: " << source << " "
                      << destination << "\n";
            std::exit(2);
        }
        peers[source] = destination;
    }
    if (!file.eof()) {
        std::cerr << path << ": cannot be read, or a line is not two numbers\n";
        std::exit(2);
    }
    return peers;
}

double SecondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

uint64_t InstallTraffic(const FatTree &tree, const std::vector<uint32_t> &peers, uint64_t bytes,
                        uint32_t ackEvery)
{
    uint64_t packets = (bytes + kPayloadBytes - 1) / kPayloadBytes;
    uint64_t total = 0;
    for (uint32_t host = 0; host < Hosts(); ++host) {
        // A host that sends nothing still receives; a permutation has no such host.
        if (peers[host] >= Hosts()) {
            std::cerr << "host " << host << " has no destination\n";
            std::exit(2);
        }
        auto endpoint = ns3::CreateObject<Endpoint>();
        endpoint->Set(host, peers[host], packets, ackEvery);
        tree.hosts.Get(host)->AddApplication(endpoint);
        endpoint->SetStartTime(ns3::Seconds(0));
        total += packets;
    }
    return total;
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t bytes = 1000000;
    uint32_t seed = 1;
    uint32_t ackEvery = 1;
    std::string permutation;
    std::string scheduler = "ns3::PriorityQueueScheduler";
    ns3::CommandLine command;
    command.AddValue("k", "ports of a switch", g_k);
    command.AddValue("bytes", "bytes each host sends", bytes);
    command.AddValue("seed", "of the ECMP hash", seed);
    command.AddValue("perm", "file of lines: source destination", permutation);
    command.AddValue("ack-every", "packets acknowledged by one ACK", ackEvery);
    command.AddValue("scheduler", "ns-3's event scheduler", scheduler);
    command.Parse(argc, argv);
    if (g_k < 2 || g_k % 2 != 0 || bytes == 0 || ackEvery == 0) {
        std::cerr << "k is even and at least 2; bytes and ack-every are at least 1\n";
        return 2;
    }

    auto start = std::chrono::steady_clock::now();
    ns3::Time::SetResolution(ns3::Time::PS);
    ns3::GlobalValue::Bind("SchedulerType", ns3::StringValue(scheduler));
    FatTree tree = Build(seed);
    uint64_t packets = InstallTraffic(tree, ReadPermutation(permutation), bytes, ackEvery);
    double setupSeconds = SecondsSince(start);

    start = std::chrono::steady_clock::now();
    ns3::Simulator::Run();
    double seconds = SecondsSince(start);

    std::printf(
        "{\"simulator\": \"ns-3.37\", \"k\": %u, \"hosts\": %u, \"bytes_per_host\": %llu, "
        "\"packets\": %llu, \"delivered\": %llu, \"acks\": %llu, \"sim_time_ns\": %lld, "
        "\"setup_s\": %.3f, \"wall_s\": %.3f, \"events\": %llu, \"packet_hops\": %llu, "
        "\"packet_hops_per_s\": %.0f, \"events_per_packet_hop\": %.3f}\n",
        g_k, Hosts(), static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(packets), static_cast<unsigned long long>(g_delivered),
        static_cast<unsigned long long>(g_acked),
        static_cast<long long>(g_lastAck.GetNanoSeconds()), setupSeconds, seconds,
        static_cast<unsigned long long>(ns3::Simulator::GetEventCount()),
        static_cast<unsigned long long>(g_packetHops), static_cast<double>(g_packetHops) / seconds,
        static_cast<double>(ns3::Simulator::GetEventCount()) / static_cast<double>(g_packetHops));
    ns3::Simulator::Destroy();
    return g_delivered == packets ? 0 : 1;
}

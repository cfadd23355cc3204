// SPDX-License-Identifier: Apache-2.0
// Chooses where the nodes of a network stand: hosts at the bottom, switches above them in tiers by their distance
// from a host, each tier in an order that crosses few links. Hosts of one switch stand together, in rows if there
// are many. Parallel links are one bundle. The server folds large networks, and knows their tiers.
import type { Topology, TopologyLink, TopologyNode } from "../core/types";

export interface PlacedNode extends TopologyNode {
    tier: number;
    x: number;
    y: number;
    size: number;
    links: number;
}

export interface Bundle {
    a: number;
    b: number;
    links: TopologyLink[];
    bend: number; // curvature, so that a link within a tier passes beside the nodes between its ends
}

export interface Layout {
    nodes: PlacedNode[];
    bundles: Bundle[];
    by_name: Map<string, number>;
    width: number;
    height: number;
    gaps: number[]; // by tier: the smallest distance of two of its nodes along x
    folded: boolean; // by the server, to stay small
}

const collator = new Intl.Collator("en", { numeric: true });

const gap = 16; // between two hosts, in units of the layout
const switch_gap = 32; // between two nodes of an upper tier
const rows_from_hosts = 40; // larger networks put the hosts of a switch in rows

interface Graph {
    nodes: PlacedNode[];
    bundles: Bundle[];
    by_name: Map<string, number>;
    beside: Set<number>[]; // by node: its neighbours
    folded: boolean; // nodes stand in the order of the server
}

// Returns the node at the end of a link. A host with several NICs has a port per NIC, HOST/nicN: its links are the
// host's.
export function node_of(by_name: Map<string, number>, name: string): number | undefined {
    return by_name.get(name) ?? by_name.get(name.split("/")[0]!);
}

export function count_links(bundle: Bundle): number {
    return bundle.links.reduce((sum, link) => sum + (link.count ?? 1), 0);
}

function graph_of(topology: Topology): Graph {
    const by_name = new Map(topology.nodes.map((node, index) => [node.name, index]));
    const nodes: PlacedNode[] = topology.nodes.map((node) => ({
        tier: node.kind === "host" ? 0 : -1,
        ...node,
        x: 0,
        y: 0,
        size: 0,
        links: 0,
    }));
    const bundle_of = new Map<string, Bundle>();
    const beside: Set<number>[] = nodes.map(() => new Set());
    for (const link of topology.links) {
        const a = node_of(by_name, link.a);
        const b = node_of(by_name, link.b);
        if (a === undefined || b === undefined || a === b) {
            continue;
        }
        const name = a < b ? `${a} ${b}` : `${b} ${a}`;
        const bundle = bundle_of.get(name) ?? { a, b, links: [], bend: 0 };
        bundle_of.set(name, bundle);
        bundle.links.push(link);
        nodes[a]!.links += link.count ?? 1;
        nodes[b]!.links += link.count ?? 1;
        beside[a]!.add(b);
        beside[b]!.add(a);
    }
    return { nodes, bundles: [...bundle_of.values()], by_name, beside, folded: topology.folded === true };
}

function by_name_of({ nodes, folded }: Graph): (one: number, other: number) => number {
    return (one, other) => (folded ? one - other : collator.compare(nodes[one]!.name, nodes[other]!.name));
}

// Gives each node its tier, which is the number of links to the nearest host, and returns the tiers in order of names.
// Some nodes reach no host, such as the accelerators of a rack: those with the fewest links stand at the bottom.
function tiers_of(graph: Graph): number[][] {
    const { nodes, beside } = graph;
    let front = nodes.flatMap((node, index) => (node.tier === 0 ? [index] : []));
    let rest = nodes.flatMap((node, index) => (node.tier < 0 ? [index] : []));
    while (front.length + rest.length > 0) {
        if (front.length === 0) {
            const least = Math.min(...rest.map((index) => nodes[index]!.links));
            front = rest.filter((index) => nodes[index]!.links === least);
            for (const index of front) {
                nodes[index]!.tier = 0;
            }
        }
        const next: number[] = [];
        for (const index of front) {
            for (const other of beside[index]!) {
                if (nodes[other]!.tier < 0) {
                    nodes[other]!.tier = nodes[index]!.tier + 1;
                    next.push(other);
                }
            }
        }
        front = next;
        rest = rest.filter((index) => nodes[index]!.tier < 0);
    }
    // A folded network may have no node of a tier.
    const used = [...new Set(nodes.map((node) => Math.max(node.tier, 0)))].sort((one, other) => one - other);
    const tiers: number[][] = used.map(() => []);
    for (const [index, node] of nodes.entries()) {
        node.tier = used.indexOf(Math.max(node.tier, 0));
        tiers[node.tier]!.push(index);
    }
    for (const tier of tiers) {
        tier.sort(by_name_of(graph));
    }
    return tiers;
}

// Places the hosts, those with the same switches together, and the switches of the first tier above their hosts.
// Returns the width of all and the greatest y.
function place_hosts(graph: Graph, hosts: number[], first_tier: number[]): { width: number; deepest: number } {
    const { nodes, beside } = graph;
    const order = by_name_of(graph);
    const groups = new Map<string, { leaves: number[]; hosts: number[] }>();
    const taken = new Set<number>();
    const add = (name: string, above: number[], host: number[]) => {
        const group = groups.get(name) ?? { leaves: above.filter((leaf) => !taken.has(leaf)), hosts: [] };
        groups.set(name, group);
        group.hosts.push(...host);
        for (const leaf of above) {
            taken.add(leaf);
        }
    };
    for (const host of hosts) {
        const leaves = [...beside[host]!].filter((other) => nodes[other]!.tier === 1).sort(order);
        add(nodes[host]!.fold ? `fold ${host}` : leaves.join(" "), nodes[host]!.fold ? [] : leaves, [host]);
    }
    for (const leaf of graph.folded ? [] : first_tier.filter((one) => !taken.has(one))) {
        add(String(leaf), [leaf], []);
    }
    const sorted = [...groups.values()].sort((one, other) =>
        one.leaves.length > 0 && other.leaves.length > 0 ? order(one.leaves[0]!, other.leaves[0]!) : 0,
    );
    let x = 0;
    let deepest = 0;
    for (const { leaves, hosts: group } of sorted) {
        const in_rows = hosts.length > rows_from_hosts && group.length > 4;
        const columns = Math.max(in_rows ? Math.ceil(Math.sqrt(group.length * 1.6)) : group.length, 1);
        const least = leaves.length > 1 ? leaves.length * switch_gap : group.length === 0 ? 28 : 36;
        const width = Math.max(columns * gap, least);
        for (const [position, host] of group.entries()) {
            const row = Math.floor(position / columns);
            const in_row = Math.min(columns, group.length - row * columns);
            const placed = nodes[host]!;
            placed.x = x + width / 2 + ((position % columns) - (in_row - 1) / 2) * gap;
            placed.y = row * gap;
            placed.size = placed.fold ? 10 : 5;
            deepest = Math.max(deepest, placed.y);
        }
        for (const [position, leaf] of leaves.entries()) {
            nodes[leaf]!.x = x + (width * (position + 0.5)) / leaves.length;
        }
        x += width + 20;
    }
    return { width: Math.max(x - 20, 120), deepest };
}

// Orders a tier by the middle of the neighbours below, which crosses few links, and spreads it over the width, or over
// the neighbours where these are a small part of it.
function spread(graph: Graph, row: number[], tier: number, width: number): void {
    const { nodes, beside } = graph;
    const below = (index: number) => [...beside[index]!].filter((other) => nodes[other]!.tier < tier);
    const mean = (places: number[]) => places.reduce((sum, x) => sum + x, 0) / Math.max(places.length, 1);
    const x_of = (index: number) => nodes[index]!.x;
    const middle = new Map(row.map((index) => [index, mean(below(index).map(x_of))]));
    row.sort((one, other) => middle.get(one)! - middle.get(other)! || by_name_of(graph)(one, other));
    const [low, high] = row
        .flatMap(below)
        .reduce(([least, most], index) => [Math.min(least, x_of(index)), Math.max(most, x_of(index))], [width, 0]) as [
        number,
        number,
    ];
    const [left, room] = high - low < width / 2 && high > low ? [low, high - low] : [0, width];
    for (const [position, index] of row.entries()) {
        nodes[index]!.x = row.length === 1 ? middle.get(index)! : left + ((position + 0.5) / row.length) * room;
    }
}

function bend_of({ nodes }: Graph, bundle: Bundle): number {
    const a = nodes[bundle.a]!;
    const b = nodes[bundle.b]!;
    const [low, high] = [Math.min(a.x, b.x), Math.max(a.x, b.x)];
    const between = (node: PlacedNode) =>
        node.tier === a.tier && node !== a && node !== b && node.x > low && node.x < high;
    return a.tier === b.tier && nodes.some(between) ? -0.22 : 0;
}

function gap_of(places: number[]): number {
    const sorted = [...new Set(places)].sort((one, other) => one - other);
    return Math.min(...sorted.slice(1).map((x, at) => x - sorted[at]!));
}

export function lay_out(topology: Topology): Layout {
    const graph = graph_of(topology);
    const { nodes, bundles, by_name } = graph;
    const tiers = tiers_of(graph);
    const hosts = place_hosts(graph, tiers[0] ?? [], tiers[1] ?? []);
    // A tier with more nodes than the hosts below have room for draws the hosts apart.
    const width = Math.max(hosts.width, ...tiers.slice(graph.folded ? 1 : 2).map((row) => row.length * switch_gap));
    for (const node of nodes) {
        node.x *= width / hosts.width;
    }
    const rise = Math.max(70, width < 1200 ? Math.min(width / 5, 240) : width / (tiers.length * 2.4));
    const top = -rise * (tiers.length - 1) + 20;
    for (const [tier, row] of tiers.entries()) {
        if (tier > (graph.folded ? 0 : 1)) {
            spread(graph, row, tier, width);
        }
        const room = width / row.length / 6;
        for (const index of tier > 0 ? row : []) {
            nodes[index]!.y = -rise * tier + 20;
            nodes[index]!.size =
                width < 1200 ? Math.min(11, Math.max(6, room)) : Math.max(6, Math.min(room, width / 90));
        }
    }
    for (const bundle of bundles) {
        bundle.bend = bend_of(graph, bundle);
    }
    for (const node of nodes) {
        node.y -= top;
    }
    const gaps = tiers.map((row) => gap_of(row.map((index) => nodes[index]!.x)));
    return { nodes, bundles, by_name, width, height: hosts.deepest - top, gaps, folded: graph.folded };
}

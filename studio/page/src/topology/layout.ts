// SPDX-License-Identifier: Apache-2.0
// Where nodes stand: hosts below, then switches by how far they are from a host, each tier in an order that crosses
// few links. Hosts of one switch stand together, in rows when there are many. Parallel links are one bundle.
import type { Topology, TopologyLink } from "../core/types";

export interface PlacedNode {
    name: string;
    kind: "host" | "switch";
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
    bend: number; // links between nodes of one tier pass beside those between them
}

export interface Layout {
    nodes: PlacedNode[];
    bundles: Bundle[];
    by_name: Map<string, number>;
    width: number;
    height: number;
    tiers: number;
}

const collator = new Intl.Collator("en", { numeric: true });

export function lay_out(topology: Topology): Layout {
    const by_name = new Map(topology.nodes.map((node, index) => [node.name, index]));
    const nodes: PlacedNode[] = topology.nodes.map((node) => ({
        name: node.name,
        kind: node.kind,
        tier: node.kind === "host" ? 0 : -1,
        x: 0,
        y: 0,
        size: 0,
        links: 0,
    }));
    // A host with several NICs has a port per NIC, HOST/nicN: its links are the host's.
    const node_of = (name: string) => by_name.get(name) ?? by_name.get(name.split("/")[0]!);
    const bundle_of = new Map<string, Bundle>();
    const bundles: Bundle[] = [];
    const beside: Set<number>[] = nodes.map(() => new Set());
    for (const link of topology.links) {
        const a = node_of(link.a);
        const b = node_of(link.b);
        if (a === undefined || b === undefined) {
            continue;
        }
        const name = a < b ? `${a} ${b}` : `${b} ${a}`;
        let bundle = bundle_of.get(name);
        if (!bundle) {
            bundle = { a, b, links: [], bend: 0 };
            bundle_of.set(name, bundle);
            bundles.push(bundle);
        }
        bundle.links.push(link);
        nodes[a]!.links++;
        nodes[b]!.links++;
        beside[a]!.add(b);
        beside[b]!.add(a);
    }
    // Tiers: steps from the nearest host.
    let front = nodes.flatMap((node, index) => (node.tier === 0 ? [index] : []));
    if (front.length === 0 && nodes.length > 0) {
        front = [0];
        nodes[0]!.tier = 1;
    }
    const order: number[][] = [];
    while (front.length > 0) {
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
    }
    for (const [index, node] of nodes.entries()) {
        node.tier = Math.max(node.tier, 0);
        order[node.tier] ??= [];
        order[node.tier]!.push(index);
    }
    for (let tier = 0; tier < order.length; tier++) {
        order[tier] ??= [];
        order[tier]!.sort((one, other) => collator.compare(nodes[one]!.name, nodes[other]!.name));
    }
    const hosts = order[0] ?? [];
    const columns_of = (count: number) =>
        hosts.length <= 40 ? count : count <= 4 ? count : Math.ceil(Math.sqrt(count * 1.6));
    const gap = 16;
    // Each switch above hosts has them below it; hosts of no switch, and those of several, stand under the first.
    const under = new Map<number, number[]>();
    for (const host of hosts) {
        const above =
            [...beside[host]!]
                .filter((other) => nodes[other]!.tier === 1)
                .sort((one, other) => collator.compare(nodes[one]!.name, nodes[other]!.name))[0] ?? -1;
        let group = under.get(above);
        if (!group) {
            group = [];
            under.set(above, group);
        }
        group.push(host);
    }
    const leaves = (order[1] ?? []).slice();
    for (const above of under.keys()) {
        if (!leaves.includes(above)) {
            leaves.push(above);
        }
    }
    let x = 0;
    let deepest = 0;
    for (const leaf of leaves) {
        const group = under.get(leaf) ?? [];
        const columns = Math.max(columns_of(group.length), 1);
        const width = Math.max(columns * gap, group.length === 0 ? 28 : 36);
        for (const [position, host] of group.entries()) {
            const row = Math.floor(position / columns);
            const in_row = Math.min(columns, group.length - row * columns);
            const placed = nodes[host]!;
            placed.x = x + width / 2 + ((position % columns) - (in_row - 1) / 2) * gap;
            placed.y = row * gap;
            placed.size = 5;
            deepest = Math.max(deepest, placed.y);
        }
        if (leaf >= 0) {
            nodes[leaf]!.x = x + width / 2;
        }
        x += width + 20;
    }
    const width = Math.max(x - 20, 120);
    const rise = Math.max(70, width < 1200 ? Math.min(width / 5, 240) : width / (order.length * 2.4));
    for (let tier = 1; tier < order.length; tier++) {
        const row = order[tier]!;
        if (tier > 1) {
            const middle = new Map(
                row.map((index) => {
                    const below = [...beside[index]!].filter((other) => nodes[other]!.tier < tier);
                    return [index, below.reduce((sum, other) => sum + nodes[other]!.x, 0) / Math.max(below.length, 1)];
                }),
            );
            row.sort(
                (one, other) =>
                    middle.get(one)! - middle.get(other)! || collator.compare(nodes[one]!.name, nodes[other]!.name),
            );
            for (const [position, index] of row.entries()) {
                nodes[index]!.x = ((position + 0.5) / row.length) * width;
            }
        }
        for (const index of row) {
            nodes[index]!.y = -rise * tier + 20;
            nodes[index]!.size =
                width < 1200
                    ? Math.min(11, Math.max(6, width / row.length / 6))
                    : Math.max(6, Math.min(width / row.length / 6, width / 90));
        }
    }
    for (const bundle of bundles) {
        const a = nodes[bundle.a]!;
        const b = nodes[bundle.b]!;
        if (a.tier === b.tier) {
            const between = nodes.some(
                (node) =>
                    node.tier === a.tier &&
                    node !== a &&
                    node !== b &&
                    node.x > Math.min(a.x, b.x) &&
                    node.x < Math.max(a.x, b.x),
            );
            bundle.bend = between ? -0.22 : 0;
        }
    }
    const top = -rise * (order.length - 1) + 20;
    for (const node of nodes) {
        node.y -= top;
    }
    return { nodes, bundles, by_name, width, height: deepest - top, tiers: order.length };
}

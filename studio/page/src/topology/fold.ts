// SPDX-License-Identifier: Apache-2.0
// Folds a large network: nodes that stand alike in it become one, so that a drawing has about as many nodes as a person
// can look at. First the hosts of one switch, then in each round the nodes of one kind that have the same neighbours,
// their own hosts left out: the switches of a pod, then pods.
import type { Topology } from "../core/types";

const nodes_max = 3000; // of a drawing
const rounds_max = 12;

// Returns the group of each node, as numbers from 0. In a small network each node is a group of its own.
export function groups_of({ nodes }: Topology, ends: [number, number][]): number[] {
    let groups = nodes.map((_, index) => index);
    let count = nodes.length;
    const kinds = nodes.map((node) => node.kind);
    for (let round = 0; round < rounds_max && count > nodes_max; round++) {
        const beside = Array.from({ length: count }, () => new Set<number>());
        const kind_of: string[] = [];
        for (const [index, group] of groups.entries()) {
            kind_of[group] = kinds[index]!;
        }
        for (const [a, b] of ends) {
            beside[groups[a]!]!.add(groups[b]!);
            beside[groups[b]!]!.add(groups[a]!);
        }
        const known = new Map<string, number>();
        const next = beside.map((near, group) => {
            const of_others = [...near].filter((other) => other !== group && (round === 0 || beside[other]!.size > 1));
            const alike = kind_of[group] === "host" || round > 0;
            const place = alike ? `${kind_of[group]} ${of_others.sort((a, b) => a - b).join(" ")}` : `# ${group}`;
            const number = known.get(place) ?? known.size;
            known.set(place, number);
            return number;
        });
        if (known.size === count) {
            break;
        }
        groups = groups.map((group) => next[group]!);
        count = known.size;
    }
    return groups;
}

// Returns the name of a group: "host0 … host31 (32)".
export function group_name(members: string[]): string {
    return members.length === 1 ? members[0]! : `${members[0]} … ${members[members.length - 1]} (${members.length})`;
}

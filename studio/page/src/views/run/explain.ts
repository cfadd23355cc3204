// SPDX-License-Identifier: Apache-2.0
// Shows why a run was slow, as `rocesim explain` found it: causes, trees of pauses, victims and what may help.
import { api, or_else } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, number } from "../../core/format";
import type { Run } from "../../core/types";
import { t, told } from "../../i18n/text";
import { card, later, note } from "../../ui/parts";
import { plain_table } from "../../ui/table";
import { remedy_row } from "./page/remedy";

const victims_max = 20;
const pairs_max = 20;
const branches_max = 40; // of one port

export interface Stop {
    port: string;
    paused_ps: number;
    stops: Stop[];
}

interface QueuePair {
    host: string;
    qp?: number;
    peer: string;
    peer_qp?: number;
    flows: number;
    bytes: number;
    retransmitted_packets: number;
}

export interface Cause {
    kind: string;
    place: string;
    sentence?: string;
    minor?: boolean;
    evidence: string[];
    pauses: { root: string; paused_ps: number; ports: number; stops: Stop[] }[];
    victims: { src: string; dst: string; lost_ps: number; goodput_gbps: number; possible_gbps: number }[];
    queue_pairs?: QueuePair[];
    remedies: { set: string; why: string }[];
}

export interface Explained {
    verdict?: string; // a run of an older rocesim has none of these three
    verdict_text?: string;
    notes?: string[];
    causes: Cause[];
}

function branches(stops: Stop[]): HTMLElement | null {
    const words = t().explain;
    if (stops.length === 0) {
        return null;
    }
    const rows = stops.slice(0, branches_max).map((stop) => {
        const text = words.stopped(nanoseconds(stop.paused_ps / 1000));
        return h("li", h("code", stop.port), " ", text, branches(stop.stops));
    });
    return h("ul", rows);
}

function victims_table(cause: Cause): HTMLElement | null {
    const words = t().explain;
    if (cause.victims.length === 0) {
        return null;
    }
    const rows = cause.victims
        .slice(0, victims_max)
        .map((one) => [
            `${one.src} → ${one.dst}`,
            nanoseconds(one.lost_ps / 1000),
            `${number(one.goodput_gbps, 4)} Gbps`,
            `${number(one.possible_gbps, 4)} Gbps`,
        ]);
    const head = [words.flow, words.lost, words.had, words.could];
    return h("details", h("summary", words.victims(cause.victims.length)), plain_table(head, rows));
}

// Names one end of a queue pair.
function end_of(host: string, qp: number | undefined): string {
    return qp === undefined ? host : `${host} QP ${qp}`;
}

function pairs_table(cause: Cause): HTMLElement | null {
    const words = t().explain;
    const pairs = cause.queue_pairs ?? []; // a run of an older rocesim has none
    if (pairs.length === 0) {
        return null;
    }
    const rows = pairs
        .slice(0, pairs_max)
        .map((one) => [
            end_of(one.host, one.qp),
            end_of(one.peer, one.peer_qp),
            count(one.flows),
            bytes(one.bytes),
            count(one.retransmitted_packets),
        ]);
    const head = [words.sender, words.receiver, words.flows, words.data, words.again];
    return h("details", h("summary", words.pairs(pairs.length)), plain_table(head, rows));
}

function cause_card(scope: Scope, run: Run | null, cause: Cause, place: number): HTMLElement {
    const words = t().explain;
    const kind = words.kinds[cause.kind] ?? cause.kind;
    const title = `${place + 1}. ${kind}: ${cause.place}${cause.minor ? ` (${words.minor})` : ""}`;
    const trees = cause.pauses.map((tree) =>
        h(
            "details",
            h("summary", words.tree(tree.root, tree.ports, nanoseconds(tree.paused_ps / 1000))),
            branches(tree.stops),
        ),
    );
    const evidence = cause.evidence.map((text) => h("li", told(text)));
    const remedies = run ? cause.remedies.map((remedy) => remedy_row(scope, run, remedy)) : [];
    return card(
        title,
        null,
        h(
            "div.stack",
            h("p", told(cause.sentence ?? "")),
            h("ul", evidence),
            pairs_table(cause),
            ...trees,
            victims_table(cause),
            remedies.length > 0 ? h("p", words.remedies) : null,
            remedies.length > 0 ? h("ul.remedies", remedies) : null,
        ),
    );
}

// Shows what rocesim found in a run, or in counters of a real network.
export function causes_of(scope: Scope, run: Run | null, found: Explained): Child {
    return [
        found.verdict_text && note(found.verdict === "unexplained" ? "warn" : "", told(found.verdict_text)),
        (found.notes ?? []).map((text) => note("", told(text))),
        found.causes.map((cause, place) => cause_card(scope, run, cause, place)),
    ];
}

export function explain_tab(scope: Scope, run: Run): Child {
    const words = t().explain;
    return later(scope, async (signal) => {
        const address = `runs/${run.id}/files/result/explain.json`;
        const found = await or_else(api.get<Explained>(address, undefined, signal), null);
        return found ? causes_of(scope, run, found) : note("", words.none);
    });
}

// SPDX-License-Identifier: Apache-2.0
// One packet hop by hop: the frames that ports sent and received of it, for each time that its host sent it.
import { api } from "../../core/api";
import { h, type Child } from "../../core/dom";
import { count, nanoseconds } from "../../core/format";
import { link, with_query } from "../../core/router";
import type { Packet } from "../../core/types";
import { t, told } from "../../i18n/text";
import { button } from "../../ui/parts";
import { plain_table } from "../../ui/table";

// Splits the frames, which are sorted by time, where the first sender sends the packet again.
function journeys_of(frames: Packet[]): Packet[][] {
    const journeys: Packet[][] = [];
    const first = frames.find((one) => one.way === "sent")?.port;
    for (const frame of frames) {
        if (!journeys.length || (frame.way === "sent" && frame.port === first && journeys.at(-1)!.length)) {
            journeys.push([]);
        }
        journeys.at(-1)!.push(frame);
    }
    return journeys;
}

// Asks for the hops of a packet, and shows them as a table for each journey. `open` shows a frame.
export async function packet_hops(
    base: string,
    run: number,
    packet: number,
    open: (packet: number) => void,
    signal: AbortSignal,
): Promise<Child> {
    const words = t().captures;
    const query = { n: packet, hops: 1 };
    const { packets } = await api.get<{ packets: Packet[] }>(`${base}/follow`, query, signal);
    const journeys = journeys_of(packets);
    const right = (text: string) => h("td.right.nowrap", text);
    const head = (text: string) => h("th.right", { scope: "col" }, text);
    const row = (frames: Packet[]) => (one: Packet, at: number) => {
        const since = one.time_ns - frames[Math.max(at - 1, 0)]!.time_ns;
        const show = button(`#${one.n}`, () => open(one.n), { small: true, kind: "quiet" });
        const did = one.way ? words.ways[one.way] : "";
        const time = right(nanoseconds(one.time_ns, 7));
        return [show, time, at === 0 ? "" : right(`+${nanoseconds(since)}`), one.port, did, told(one.note ?? "")];
    };
    const rows = journeys.flatMap((frames, index) => {
        const lasts = frames.at(-1)!.time_ns - frames[0]!.time_ns;
        const title = words.journey(index + 1, count(frames.length), nanoseconds(lasts));
        return [[h("td", { colspan: 6 }, h("b", title))], ...frames.map(row(frames))];
    });
    const titles = ["#", head(words.time), head(words.since), words.at_port, words.did, words.note];
    const from = Math.floor(packets[0]?.time_ns ?? 0);
    const to = Math.ceil(packets.at(-1)?.time_ns ?? 0) + 1;
    const animate = with_query(link("run", run), { tab: "packets", from, to });
    return h(
        "section.card",
        { "aria-label": words.hops },
        h("header", h("h2", words.hops), h("a.button.small", { href: animate }, words.animate)),
        plain_table(titles, rows),
    );
}

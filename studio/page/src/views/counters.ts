// SPDX-License-Identifier: Apache-2.0
// Causes that counters of a real network show: `rocesim explain` reads them from the user's own files.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { own_files } from "../core/own_files";
import { go, kept_json, link, with_query, type Place } from "../core/router";
import { t } from "../i18n/text";
import { choices, choose_names, field, later, link_button, select, view_head } from "../ui/parts";
import { causes_of, type Cause, type Explained, type Stop } from "./run/explain";

interface MeasuredStop {
    port: string;
    stopped_us: number;
    stops: MeasuredStop[];
}

interface Measured {
    causes: (Pick<Cause, "kind" | "place" | "sentence"> & { stops?: MeasuredStop[] })[];
    limits: string;
    notes: string[];
}

// Lets the user choose the files of the network and, in the order of their times, those of the counters.
export async function choose_counters(): Promise<void> {
    const words = t().counters;
    const paths = (await own_files()).files.map(({ path }) => path);
    const folders = paths.flatMap((path) => path.split("/").map((_, end, all) => all.slice(0, end).join("/")));
    const names = [...new Set([...folders.filter(Boolean).sort(), ...paths])];
    const network = select(
        choices(names),
        names.find((name) => /configs?$|links|topology/.test(name)) ?? "",
        () => undefined,
    );
    const done = (counters: string[]) =>
        go(with_query(link("counters"), { network: network.value, counters: JSON.stringify(counters) }));
    const lead = [h("p.muted", words.choose_text), field(words.network, network)];
    await choose_names({ title: words.title, find: words.find, lead, show: words.explain }, names, [], done);
}

function paused(stops: MeasuredStop[]): Stop[] {
    return stops.map((one) => ({ port: one.port, paused_ps: one.stopped_us * 1e6, stops: paused(one.stops) }));
}

// Returns the causes in the form of those of a run.
function explained({ causes, limits, notes }: Measured): Explained {
    const tree_of = (root: string, stops: MeasuredStop[]) => {
        const paused_ps = stops.reduce((sum, one) => sum + one.stopped_us * 1e6, 0);
        return { root, paused_ps, ports: stops.length, stops: paused(stops) };
    };
    const none = { evidence: [], victims: [], remedies: [] };
    const found = causes.map(({ stops = [], ...cause }): Cause => {
        return { ...none, ...cause, pauses: stops.length > 0 ? [tree_of(cause.place, stops)] : [] };
    });
    return { causes: found, notes: [...notes, limits] };
}

export function counters_view(scope: Scope, place: Place): Child {
    const words = t().counters;
    const counters = kept_json<string[]>(place, "counters", []);
    const path = place.query.get("network") ?? "";
    const lead = [path, counters.join(", ")].join(" · ");
    const causes = later(scope, async (signal) =>
        causes_of(scope, null, explained(await api.post<Measured>("files/explain", { path, counters }, signal))),
    );
    return [view_head(words.title, lead, link_button(t().files.title, link("files"), { icon: "back" })), causes];
}

// SPDX-License-Identifier: Apache-2.0
// The origin of a scenario's text, and the text that was typed but not saved.
import { api, call } from "../../core/api";
import { file_address } from "../../core/own_files";
import type { Place } from "../../core/router";
import { session } from "../../core/session";
import type { LibraryItem, SavedDocument } from "../../core/types";
import { t } from "../../i18n/text";
import { question_of } from "../library";
import { library_path } from "../run/study";

const blank = `# What do you want to know?
name: my-scenario
description: what does a 4-to-1 incast do to the queue of the receiver's port?
seed: 1

topology:
  star: {hosts: 5, rate: 100Gbps, delay: 1us}

traffic:
  - incast: {to: host0, from: "host[1-4]", bytes: 1MB}

observe:
  - {series: "port[switch0->host0].queue_bytes", every: 10us}
`;

// Entries of the library that read a file of the user, and where their text names it.
const readers: Record<string, [string, RegExp]> = {
    workload: ["training/workload", /(\n {2}file: \{default: )[^,]*/],
    requests: ["serving/serving", /(\n {2}trace:\n {4}default: ).*/],
};

export interface Source {
    text: string;
    title: string;
    lead: string;
    document: SavedDocument<SavedScenario> | null;
    start: Start;
}

// The folder in which a scenario's file names start: beside an entry of the library, then in the user's own files; or a
// folder of these.
export interface Start {
    library?: string;
    folder?: string;
}

export type SavedScenario = { yaml: string } & Start;

function start_of({ library, folder }: { library?: string | null; folder?: string | null }): Start {
    return library ? { library } : folder ? { folder } : {};
}

export async function source_of(place: Place, signal: AbortSignal): Promise<Source> {
    const [, kind, name] = place.words;
    const words = t().editor;
    if (kind === "library" && name) {
        const item = await api.get<LibraryItem>(`library/${library_path(name)}`, undefined, signal);
        return {
            text: item.yaml ?? "",
            title: item.name,
            lead: question_of(item),
            document: null,
            start: { library: item.name },
        };
    }
    if (kind === "document" && name) {
        const document = await api.get<SavedDocument<SavedScenario>>(`documents/${name}`, undefined, signal);
        const { body, name: title } = document;
        return { text: body.yaml, title, lead: words.saved_scenario, document, start: start_of(body) };
    }
    if (kind === "file" && name) {
        const text = await (await call("GET", file_address(name), { signal })).text();
        const folder = name.slice(0, Math.max(name.lastIndexOf("/"), 0));
        return { text, title: name, lead: t().files.own_scenario, document: null, start: start_of({ folder }) };
    }
    const reader = readers[kind ?? ""];
    if (reader && name) {
        const item = await api.get<LibraryItem>(`library/${reader[0]}`, undefined, signal);
        const text = (item.yaml ?? "").replace(reader[1], (_, head) => head + JSON.stringify(name));
        return { text, title: name, lead: t().files.own_workload, document: null, start: { library: item.name } };
    }
    if (kind === "run" && name) {
        const address = `runs/${encodeURIComponent(name)}`;
        const [text, run] = await Promise.all([
            call("GET", `${address}/files/scenario.yaml`, { signal }).then((answer) => answer.text()),
            api.get<Start>(address, undefined, signal),
        ]);
        return { text, title: words.of_run(name), lead: "", document: null, start: start_of(run) };
    }
    if (kind === "draft") {
        const text = sessionStorage.getItem("studio.draft") ?? blank;
        return { text, title: words.draft, lead: "", document: null, start: {} };
    }
    return { text: blank, title: words.new_scenario, lead: words.new_lead, document: null, start: {} };
}

// Keeps what was typed and neither saved nor run, for this user in this browser tab. It is there again after another
// view, another language, or a reload.
export class Unsaved {
    private readonly key: string;

    constructor(place: Place) {
        this.key = `studio.unsaved.${session.user?.id}.${place.words.slice(1).join("/")}`;
    }

    get(): { text: string; version?: number } | null {
        return JSON.parse(sessionStorage.getItem(this.key) ?? "null") as { text: string; version?: number } | null;
    }

    set(text: string, version: number | undefined): void {
        try {
            sessionStorage.setItem(this.key, JSON.stringify({ text, version }));
        } catch {
            this.drop(); // the browser has no room for it
        }
    }

    drop(): void {
        sessionStorage.removeItem(this.key);
    }
}

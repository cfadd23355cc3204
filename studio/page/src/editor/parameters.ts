// SPDX-License-Identifier: Apache-2.0
// The attributes of scenarios: their paths, with type, range, default and help, as the server lists them.
import { api } from "../core/api";
import type { Parameter } from "../core/types";

export class Parameters {
    private readonly by_path = new Map<string, Parameter>();
    private readonly inner = new Map<string, Set<string>>();

    constructor(readonly all: Parameter[]) {
        for (const parameter of all) {
            this.by_path.set(parameter.path, parameter);
            const words = parameter.path.split(".");
            for (let length = 0; length < words.length; length++) {
                const prefix = words.slice(0, length).join(".");
                let names = this.inner.get(prefix);
                if (!names) {
                    names = new Set();
                    this.inner.set(prefix, names);
                }
                names.add(words[length]!);
            }
        }
    }

    get(path: string): Parameter | undefined {
        return this.by_path.get(path);
    }

    names_in(path: string): string[] {
        return [...(this.inner.get(path) ?? [])];
    }

    count_in(path: string): number {
        return this.all.reduce((sum, one) => sum + (one.path.startsWith(`${path}.`) ? 1 : 0), 0);
    }
}

let loaded: Promise<Parameters> | null = null;

export function parameters(): Promise<Parameters> {
    loaded ??= api.get<{ items?: Parameter[]; parameters?: Parameter[] }>("parameters").then(
        (answer) => new Parameters(answer.items ?? answer.parameters ?? []),
        (error: unknown) => {
            loaded = null;
            throw error;
        },
    );
    return loaded;
}

// Returns the range and the default of an attribute: "1ns to 1s; default 10us".
export function range_text(
    parameter: Parameter,
    words: { to: string; from: string; upto: string; default: string },
): string {
    const { min = "", max = "", choices, default: usual } = parameter;
    const both = min && max ? `${min} ${words.to} ${max}` : "";
    const one = min ? `${words.from} ${min}` : max && `${words.upto} ${max}`;
    const range = choices?.join(" | ") ?? (both || one);
    return [range, usual && `${words.default} ${usual}`].filter(Boolean).join("; ");
}

const suffixes: Record<string, string[]> = {
    time: ["ns", "us", "ms", "s"],
    bytes: ["B", "KB", "KiB", "MB", "MiB", "GB"],
    rate: ["Mbps", "Gbps", "Tbps"],
};

// Returns the units that may follow a number of this type.
export function units_of(type: string): string[] {
    return suffixes[type] ?? [];
}

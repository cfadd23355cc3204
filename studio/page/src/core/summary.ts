// SPDX-License-Identifier: Apache-2.0
// The fields of summary.json that the page uses in sentences or in tables of its own. The schema describes the others
// (schema.ts, docs/formats/outputs.md).

export interface Distribution {
    count?: number;
    mean: number | null;
    p50: number | null;
    p90: number | null;
    p99: number | null;
    p999?: number | null;
    max: number | null;
}

export interface FlowNumbers {
    count: number;
    completed: number;
    failed: number;
    left_out?: number;
    goodput_gbps?: Distribution | null;
    fct_us: Distribution | null;
    slowdown: Distribution | null;
    by_size: { size: string; count: number; completed: number; fct_us: Distribution; slowdown: Distribution }[];
}

// Messages within hosts, over NVLink or in memory.
export type LocalNumbers = Pick<FlowNumbers, "count" | "completed" | "failed" | "fct_us">;

export interface AppNumbers {
    kind: string;
    transfers_done?: number;
    transfers_planned?: number;
    flows?: FlowNumbers;
    local_flows?: LocalNumbers;
    [field: string]: unknown;
}

export type NicNumbers = { name: string } & Record<string, unknown>;

export interface Summary {
    version: string;
    seed: number;
    digest: string;
    sim_time_ps: number;
    warnings?: { kind: string; text: string }[];
    notes?: string[];
    packets: { dropped: number };
    flows: FlowNumbers;
    local_flows?: LocalNumbers;
    pfc: {
        pauses: number;
        roots?: {
            port: string;
            first_ps: number;
            pauses: number;
            paused_ps: number;
            ports: number;
        }[];
    };
    trimmed?: number;
    story?: string[]; // a run of an older rocesim has none
    hottest_ports: {
        port: string;
        queue_bytes_max: number;
        utilisation: number;
        paused_ps: number;
    }[];
    conservation: { ok?: boolean; message?: string } | string;
    apps: AppNumbers[];
    nics: NicNumbers[];
    wall_s: number;
    wall_packet_hops_per_s: number;
}

// SPDX-License-Identifier: Apache-2.0
// The fields of summary.json that the page uses in sentences or in tables of its own. The schema describes the others
// (schema.ts, docs/formats/outputs.md).

export interface Distribution {
    count?: number;
    mean: number | null;
    min?: number | null;
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
    delivered_bytes?: number;
    goodput_gbps?: Distribution | null;
    fairness?: number | null;
    fct_us: Distribution | null;
    slowdown: Distribution | null;
    by_size: { size: string; count: number; completed: number; fct_us: Distribution; slowdown: Distribution }[];
}

// Messages within hosts, over NVLink or in memory.
export type LocalNumbers = Pick<FlowNumbers, "count" | "completed" | "failed" | "delivered_bytes" | "fct_us">;

export interface AppNumbers {
    kind: string;
    transfers_done?: number;
    transfers_planned?: number;
    units?: Record<string, string>;
    flows?: FlowNumbers;
    local_flows?: LocalNumbers;
    [field: string]: unknown;
}

export type NicNumbers = { name: string } & Record<string, unknown>;

export interface Summary {
    version: string;
    scenario: string;
    description?: string;
    seed: number;
    digest: string;
    ended: "done" | "until" | "interrupted" | "stalled";
    sim_time_ps: number;
    warnings?: { kind: string; text: string }[];
    notes?: string[];
    network: { nodes: number; hosts: number; links: number };
    congestion_control: string;
    events: number;
    packet_hops: number;
    packets: { created: number; delivered: number; dropped: number; in_flight: number };
    bytes_delivered: number;
    flows: FlowNumbers;
    local_flows?: LocalNumbers;
    ecn_marked: number;
    cnp_sent: number;
    cnp_handled: number;
    pfc: {
        pauses: number;
        resume_frames: number;
        paused_ps: number;
        roots?: {
            port: string;
            first_ps: number;
            pauses: number;
            paused_ps: number;
            ports: number;
            hosts: number;
            links_away: number;
        }[];
    };
    drops: Record<string, number>;
    trimmed?: number;
    story?: string[]; // a run of an older rocesim has none
    retransmitted_packets: number;
    hottest_ports: {
        port: string;
        queue_bytes_max: number;
        tx_bytes: number;
        utilisation: number;
        ecn_marked: number;
        rx_pause: number;
        paused_ps: number;
    }[];
    conservation: { ok?: boolean; message?: string } | string;
    nic_counters: Record<string, number>;
    apps: AppNumbers[];
    nics: NicNumbers[];
    events_csv: { rows: number; left_out: number };
    series_csv: { rows: number; left_out: number };
    wall_s: number;
    wall_packet_hops_per_s: number;
    wall_memory_bytes?: number;
}

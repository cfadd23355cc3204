// SPDX-License-Identifier: Apache-2.0
// Types of the answers of the server, which docs/studio.md and /api/v1/openapi.json describe.

export interface SessionRow {
    created_ms: number;
    seen_ms: number;
    address: string;
    agent: string;
    current: boolean;
}

export interface TokenRow {
    id: number;
    name: string;
    created_ms: number;
    used_ms: number | null;
    expires_ms: number | null;
}

export interface UserRow {
    id: number;
    name: string;
    role: "administrator" | "user" | "viewer";
    seen_ms: number | null;
    disabled: boolean;
    has_password: boolean;
}

export interface AuditRow {
    id: number;
    at_ms: number;
    name: string | null;
    action: string;
    object: string | null;
    address: string | null;
}

export interface Status {
    version: string;
    runs: { queued?: number; running?: number };
    jobs: number;
    blocked: boolean | string | null;
    disk: { free_bytes: number; whole_bytes: number; needed_bytes: number; trash_bytes: number };
}

export type RunState = "queued" | "running" | "done" | "failed" | "cancelled";

// The progress and the totals of a run that is not over.
export interface Live {
    sim_ns: number;
    done: number;
    planned: number;
    events_per_s: number;
    share: number;
    left_s: number;
    sent_bytes: number;
    queued_bytes: number;
    drops: number;
    paused_ports: number;
    longest: { port: string; bytes: number };
}

export interface Run {
    id: number;
    group: number;
    name: string;
    owner: { id: number; name: string };
    shared: boolean;
    state: RunState;
    cancelling: boolean;
    ended: string | null;
    message: string | null;
    notes: string;
    seed: string | null;
    set: string[];
    library: string | null;
    has_result: boolean;
    created_ms: number;
    started_ms: number | null;
    ended_ms: number | null;
    trashed_ms: number | null;
    size_bytes: number;
    study: string | null; // name of the study in the library whose script the run runs
    progress?: number | null;
    eta_s?: number | null;
    live?: Live | null;
    values?: Record<string, number>; // of the columns that were asked for
}

export interface Runs {
    runs: Run[];
    total: number;
    used_bytes: number; // of the user's runs
    quota_bytes: number;
}

// Returns a setting with the last two words of its path: "l1.entries=256".
export function short_setting(setting: string): string {
    const [path = "", ...value] = setting.split("=");
    return value.length > 0 ? `${path.split(".").slice(-2).join(".")}=${value.join("=")}` : setting;
}

// Returns the settings that distinguish a run from others with the same name.
export function settings_of(run: Run): string[] {
    // The records of a run change no result.
    const set = run.set.filter((one) => !/^(seed|outputs\.hops-max)=/.test(one));
    return run.seed === null ? set : [...set, `seed ${run.seed}`];
}

// Returns the name of a run without the settings behind it, where these are shown beside it.
export function plain_name(run: Run): string {
    const at = run.name.lastIndexOf(": ");
    const settings = run.name.slice(at + 2).split(", ");
    return at > 0 && settings.every((one) => run.set.includes(one)) ? run.name.slice(0, at) : run.name;
}

export interface LibraryEntry {
    name: string;
    kind: string;
    group: string;
    question: string;
    command?: string; // of a scenario that runs on the command line only
}

export interface StudyParameter {
    name: string;
    quick: string; // its values in the short form
    all: string;
}

export interface LibraryItem extends LibraryEntry {
    yaml?: string; // of a scenario
    script?: string; // of a study
    parameters?: StudyParameter[];
}

export interface SavedDocument<Body = unknown> {
    id: number;
    name: string;
    shared: boolean;
    changed_ms: number;
    version: number;
    body: Body;
}

export interface Documents<Body = unknown> {
    documents: SavedDocument<Body>[];
}

export interface Parameter {
    path: string;
    type:
        | "count"
        | "time"
        | "bytes"
        | "enum"
        | "bool"
        | "string"
        | "rate"
        | "ratio"
        | "name"
        | "priorities"
        | "profiles"
        | "weights";
    default: string;
    min?: string;
    max?: string;
    auto?: boolean;
    choices?: string[];
    help: string;
}

export interface CheckAnswer {
    // after: found once the earlier errors had been left out
    errors: { line?: number; column?: number; message: string; expected?: string; after?: boolean }[];
    all?: boolean; // whether these are all errors; others may hide behind them
    warnings: { line?: number; message: string }[];
    refusal?: string; // why a scenario without errors cannot be run here
    estimate?: {
        transfers?: number;
        until_ns?: number | null;
        packet_hops?: number | null;
        cpu_s?: number | null; // of the processor
        cpu_s_min?: number;
        cpu_s_max?: number;
        memory_bytes?: number | null;
        result_bytes?: number | null;
        seed?: number;
    } | null;
    limits?: {
        wall_s?: number | null;
        memory_bytes?: number | null;
        result_bytes?: number | null;
        runs?: number | null;
    } | null;
}

export interface TopologyNode {
    name: string;
    kind: "host" | "switch";
    // The server folds a large network:
    tier?: number;
    hosts?: number;
    switches?: number;
    in?: string; // path of the open fold that contains it; "": of none
    fold?: string; // its path, if it is a fold
}

export interface TopologyLink {
    a: string;
    b: string;
    a_port: string;
    b_port: string;
    rate_bps: number;
    delay_ps: number;
    count?: number; // of the links that it stands for
}

export interface Topology {
    nodes: TopologyNode[];
    links: TopologyLink[];
    folded?: boolean;
    hosts?: number; // of a folded network, as the two below: in all
    switches?: number;
    all_links?: number;
}

export interface Column {
    name: string;
    type?: "number" | "text" | "bool";
    unit?: string;
    help?: string;
    values?: string[];
}

export interface Table {
    name: string;
    help: string;
    rows: number;
    left_out: number; // rows that the run did not write, because the table was full
    columns: Column[];
}

export interface Metric {
    metric: string;
    kind: string;
    of: string[];
}

export interface Tables {
    tables: Table[];
    metrics: Metric[];
}

export type Cell = string | number | boolean | null;

export interface Rows {
    columns: Column[];
    rows: Cell[][];
}

export interface QueryAnswer extends Rows {
    matched: number;
    scanned: number;
    seconds: number;
}

export interface Curve {
    of: string;
    time_ns: number[];
    min: number[];
    max: number[];
    last: number[];
}

export interface SeriesAnswer {
    unit: string;
    curves: Curve[];
}

export interface MapAnswer {
    source: "series" | "events" | "capture" | "totals";
    from_ns: number;
    to_ns: number;
    time_ns: number[];
    most: number;
    ports: Record<string, number[]>;
    note?: string;
}

export interface Packet {
    n: number;
    time_ns: number;
    port: string; // that captured the frame; in pcap files, the sender of the frame on the link
    way: "sent" | "received" | null; // null: the file does not say
    note: string | null; // of comments on the frame: "dropped: shared buffer full"
    source: string;
    destination: string;
    kind: string;
    qp: number | string | null;
    psn: number | null;
    bytes: number;
    ecn?: string | number;
    info: string;
    // Only where a queue pair is followed:
    direction?: ">" | "<";
    again?: boolean; // a packet with this or a later number was seen before: a retransmission
    gap?: number; // packets with smaller numbers that were not seen
}

export interface PacketField {
    name: string;
    value: string | number;
    text?: string;
    from: number;
    to: number;
}

export interface PacketDetail {
    n: number;
    way: Packet["way"];
    time_ns: number;
    bytes: number;
    captured: number;
    hex: string;
    layers: { name: string; from: number; to: number; fields: PacketField[] }[];
    message?: string;
    flow_id?: number;
    previous?: number | null;
    next?: number | null;
}

export interface FigureCurve {
    name: string;
    style: "lines" | "steps" | "linespoints" | "points" | "boxes";
    columns: number[][];
}

export interface FigurePanel {
    title: string;
    x_label: string;
    y_label: string;
    x_log?: boolean;
    y_log?: boolean;
    x_range?: [number | null, number | null] | null;
    y_range?: [number | null, number | null] | null;
    x_tics?: [string, number][];
    y_tics?: [string, number][];
    palette?: [number, string][];
    color_label?: string;
    color_range?: [number | null, number | null];
    curves: FigureCurve[];
}

export interface FigureAnswer {
    note: string; // what is not shown
    missing?: string; // runs that are not shown
    panels: FigurePanel[];
}

export interface Step {
    do: string;
    [option: string]: unknown;
}

export interface StepAnswer extends Rows {
    words: string;
    count: number;
    seconds: number;
    curves?: { name: string; x: number[]; y: number[] }[];
}

export interface SearchHit {
    run: number;
    table: string;
    time_ns?: number;
    text: string;
    columns: Record<string, Cell>;
    marks: [number, number][];
}

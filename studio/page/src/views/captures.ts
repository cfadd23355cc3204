// SPDX-License-Identifier: Apache-2.0
// Captures: packets with a filter, each packet's layers beside its bytes, and the talk of a queue pair followed.
import { api } from "../core/api";
import { debounce, fill, h, type Scope, type Child } from "../core/dom";
import { bytes, count, nanoseconds } from "../core/format";
import { go, keep_query, link, type Place } from "../core/router";
import { enter_range, on_range, range_query, time_range } from "../core/time_range";
import type { Packet, PacketDetail } from "../core/types";
import { t } from "../i18n/text";
import { grid, type GridColumn } from "../ui/grid";
import { badge, button, empty, input, loading, problem, select, view_head } from "../ui/parts";
import { range_bar } from "../ui/range_bar";
import { run_picker } from "../ui/run_picker";
import { when_imported } from "./run_import";

interface CaptureFile {
    file: string;
    packets: number;
    bytes: number;
    from_ns: number;
    to_ns: number;
    cut?: boolean;
    message?: string;
}

const ecn_names = ["–", "ECT(1)", "ECT(0)", "CE"];

function columns_of(): GridColumn<Packet>[] {
    const words = t().captures;
    return [
        { name: "n", title: "#", width: 70, right: true, cell: (row) => row.n },
        { name: "time", title: words.time, width: 130, right: true, cell: (row) => nanoseconds(row.time_ns, 7) },
        {
            name: "source",
            title: words.source,
            width: 110,
            cell: (row) =>
                row.direction === "<" ? `← ${row.source}` : row.direction === ">" ? `→ ${row.source}` : row.source,
        },
        { name: "destination", title: words.destination, width: 110, cell: (row) => row.destination },
        {
            name: "kind",
            title: words.kind,
            width: 170,
            cell: (row) =>
                row.lost
                    ? [badge(words.lost, "bad"), " ", row.kind]
                    : row.ok || row.captured < row.bytes
                      ? row.kind
                      : [row.kind, " ", badge(words.refused, "warn")],
        },
        { name: "qp", title: "QP", width: 80, cell: (row) => row.qp ?? "" },
        { name: "psn", title: "PSN", width: 90, right: true, cell: (row) => row.psn ?? "" },
        { name: "bytes", title: words.length, width: 80, right: true, cell: (row) => row.bytes },
        { name: "ecn", title: "ECN", width: 60, cell: (row) => ecn_names[Number(row.ecn)] ?? String(row.ecn ?? "") },
        { name: "info", title: words.info, width: 340, cell: (row) => row.info },
    ];
}

// The bytes of a packet, sixteen a line; those of the field one points at stand out.
function byte_view(hex: string): { element: HTMLElement; mark: (from: number, to: number) => void } {
    const octets = hex.match(/../g) ?? [];
    const cells: HTMLElement[] = [];
    const letters: HTMLElement[] = [];
    const lines: HTMLElement[] = [];
    for (let at = 0; at < octets.length; at += 16) {
        const line = octets.slice(at, at + 16);
        const left = line.map((octet) => h("span", { class: "octet" }, octet));
        const right = line.map((octet) => {
            const code = parseInt(octet, 16);
            return h("span", { class: "letter" }, code >= 32 && code < 127 ? String.fromCharCode(code) : "·");
        });
        cells.push(...left);
        letters.push(...right);
        lines.push(
            h(
                "div",
                { class: "octet-line" },
                h("span", { class: "octet-at" }, at.toString(16).padStart(4, "0")),
                h("span", { class: "octets" }, left),
                h("span", { class: "letters", "aria-hidden": "true" }, right),
            ),
        );
    }
    return {
        element: h("div", { class: "bytes", tabindex: 0, role: "group", "aria-label": t().captures.bytes }, lines),
        mark: (from, to) => {
            for (const list of [cells, letters]) {
                for (const [index, cell] of list.entries()) {
                    cell.classList.toggle("on", index >= from && index < to);
                }
            }
            cells[from]?.scrollIntoView({ block: "nearest" });
        },
    };
}

function packet_detail(detail: PacketDetail, actions: Child): HTMLElement {
    const words = t().captures;
    const view = byte_view(detail.hex);
    let fixed: [number, number] | null = null;
    const field_row = (name: string, text: string, from: number, to: number, strong = false): HTMLElement => {
        const row: HTMLElement = h(
            "button",
            {
                type: "button",
                class: `layer-field ${strong ? "strong" : ""}`,
                on: {
                    click: () => {
                        fixed = [from, to];
                        view.mark(from, to);
                    },
                    focus: () => view.mark(from, to),
                    mouseenter: () => view.mark(from, to),
                    mouseleave: () => view.mark(fixed?.[0] ?? 0, fixed?.[1] ?? 0),
                },
            },
            h("span", { class: "field-name" }, name),
            h("span", { class: "mono" }, text),
        );
        return row;
    };
    return h(
        "section",
        { class: "card packet", "aria-label": words.packet(detail.n) },
        h(
            "header",
            null,
            h("h2", null, words.packet(detail.n)),
            h(
                "span",
                { class: "muted small number" },
                `${nanoseconds(detail.time_ns, 9)} · ${words.of_bytes(detail.captured, detail.bytes)}`,
            ),
            h("span", { class: "grow" }),
            actions,
        ),
        detail.message
            ? h(
                  "p",
                  { class: "small muted" },
                  detail.captured < detail.bytes ? null : [badge(words.refused, "warn"), " "],
                  detail.message,
              )
            : null,
        h(
            "div",
            { class: "packet-parts" },
            h(
                "div",
                { class: "layers" },
                detail.layers.map((layer) =>
                    h(
                        "details",
                        { open: true },
                        h(
                            "summary",
                            null,
                            layer.name,
                            h("span", { class: "muted small" }, ` ${words.bytes_from(layer.from, layer.to)}`),
                        ),
                        layer.fields.map((one) =>
                            field_row(
                                one.name,
                                one.text && one.text !== String(one.value)
                                    ? `${one.value}  ${one.text}`
                                    : String(one.value),
                                one.from,
                                one.to,
                            ),
                        ),
                    ),
                ),
            ),
            view.element,
        ),
    );
}

export async function captures_view(scope: Scope, place: Place): Promise<Child> {
    const words = t().captures;
    const wanted = Number(place.words[1]);
    const body = h("div", { class: "stack wide" });
    let inner = scope.child();
    let file = place.words[2] ?? "";
    let filter = place.query.get("filter") ?? "";
    let first_packet = Number(place.query.get("packet") ?? 0);
    const picker = await run_picker(
        scope,
        wanted ? [wanted] : (place.query.get("runs") ?? "").split(",").map(Number).filter(Boolean),
        (ids) => ids[0] && go(link("captures", ids[0])),
        1,
    );

    const draw = () => {
        inner.end();
        inner = scope.child();
        const here = inner;
        const run = picker.ids()[0];
        if (run) {
            enter_range(run, place);
        }
        if (!run) {
            fill(
                body,
                empty(
                    t().query.no_runs,
                    words.none_text,
                    h("a", { class: "button main-action", href: link("simulate") }, t().nav.simulate),
                ),
            );
            return;
        }
        fill(
            body,
            when_imported(here, run, async (signal) => {
                const { captures } = await api.get<{ captures: CaptureFile[] }>(
                    `runs/${run}/captures`,
                    undefined,
                    signal,
                );
                if (captures.length === 0) {
                    return empty(
                        words.none,
                        words.none_text,
                        h("a", { class: "button", href: link("edit", "run", run) }, t().run.edit_again),
                    );
                }
                const chosen = captures.find((one) => one.file === file) ?? captures[0]!;
                file = chosen.file;
                const base = `runs/${run}/captures/${encodeURIComponent(file)}`;
                const detail = h("div", null, h("p", { class: "muted" }, words.choose_packet));
                const faults = h("div", { "aria-live": "polite" });
                const told = h("span", { class: "muted small number" });
                let following = 0;
                let detail_scope = here.child();
                const open = (packet: number) => {
                    detail_scope.end();
                    detail_scope = here.child();
                    keep_query({ packet: String(packet) });
                    fill(detail, loading());
                    api.get<PacketDetail>(`${base}/${packet}`, undefined, detail_scope.signal).then(
                        (answer) => {
                            const show = (to: number | null | undefined) => {
                                if (to) {
                                    mark(to);
                                    open(to);
                                }
                            };
                            const step = (to: number | null | undefined, text: string, icon: "back" | "next") =>
                                button("", () => show(to), {
                                    small: true,
                                    icon,
                                    label: text,
                                    title: text,
                                    disabled: !to,
                                });
                            fill(
                                detail,
                                packet_detail(answer, [
                                    step(answer.previous, words.previous, "back"),
                                    step(answer.next, words.next, "next"),
                                    button(words.follow, () => follow(packet), { small: true }),
                                    answer.flow_id !== undefined
                                        ? h(
                                              "a",
                                              {
                                                  class: "button small",
                                                  href: `${link("query")}?runs=${run}&table=flows&where=${encodeURIComponent(`flow_id = ${answer.flow_id}`)}`,
                                              },
                                              words.flow(answer.flow_id),
                                          )
                                        : null,
                                ]),
                            );
                        },
                        (error: unknown) =>
                            !here.ended && (error as Error).name !== "AbortError" && fill(detail, problem(error)),
                    );
                };
                // Where all packets are shown one stands at its number.
                const mark = (packet: number) => !filter && !following && !time_range() && list.select(packet - 1);
                const list = grid<Packet>(here, {
                    label: file,
                    height: "40vh",
                    columns: columns_of(),
                    open: (row) => open(row.n),
                    empty: words.no_packets,
                    fetch: async (offset, limit, page_signal) => {
                        try {
                            if (following) {
                                const answer = await api.get<{ a: string; b: string; packets: Packet[] }>(
                                    `${base}/follow`,
                                    { n: following },
                                    page_signal,
                                );
                                told.textContent = words.between(answer.a, answer.b, count(answer.packets.length));
                                return {
                                    rows: answer.packets.slice(offset, offset + limit),
                                    total: answer.packets.length,
                                };
                            }
                            const answer = await api.get<{ matched: number; packets: Packet[] }>(
                                base,
                                { filter, offset, limit, ...range_query() },
                                page_signal,
                            );
                            fill(faults);
                            box.removeAttribute("aria-invalid");
                            told.textContent = words.packets(count(answer.matched));
                            return { rows: answer.packets, total: answer.matched };
                        } catch (error) {
                            if (filter && (error as Error).name !== "AbortError") {
                                box.setAttribute("aria-invalid", "true");
                                fill(faults, problem(error));
                                return { rows: [], total: 0 };
                            }
                            throw error;
                        }
                    },
                });
                const follow = (packet: number) => {
                    following = packet;
                    all.hidden = packet === 0;
                    list.reload();
                };
                const all = button(words.all_packets, () => follow(0), { small: true, icon: "back" });
                all.hidden = true;
                const box = input({
                    type: "search",
                    class: "search mono wide",
                    value: filter,
                    placeholder: words.filter_example,
                    "aria-label": words.filter,
                });
                const apply = debounce(here, 300, () => {
                    filter = box.value.trim();
                    following = 0;
                    all.hidden = true;
                    keep_query({ filter });
                    list.reload();
                });
                box.addEventListener("input", apply);
                if (first_packet > 0) {
                    const goal = first_packet;
                    first_packet = 0;
                    open(goal);
                    window.setTimeout(() => !here.ended && mark(goal), 250);
                }
                on_range(here, () => list.reload());
                return [
                    range_bar(here, run, "captures"),
                    h(
                        "div",
                        { class: "row" },
                        h(
                            "div",
                            { class: "narrow" },
                            select(
                                captures.map((one): [string, string] => [
                                    one.file,
                                    `${one.file} (${count(one.packets)})`,
                                ]),
                                file,
                                (one) => go(link("captures", run, one)),
                                { "aria-label": words.file },
                            ),
                        ),
                        box,
                        told,
                        all,
                        h("span", { class: "grow" }),
                        h(
                            "a",
                            {
                                class: "button",
                                href: `api/v1/runs/${run}/files/result/captures/${encodeURIComponent(file)}`,
                                download: file,
                            },
                            words.download,
                            ` (${bytes(chosen.bytes)})`,
                        ),
                    ),
                    faults,
                    chosen.cut || chosen.message
                        ? h("p", { class: "small" }, badge(words.cut, "warn"), " ", chosen.message ?? "")
                        : null,
                    h("section", { class: "card flush" }, list.element),
                    detail,
                ];
            }),
        );
    };
    draw();
    return [
        view_head(words.title, words.lead),
        h("div", { class: "row" }, h("span", { class: "label-text" }, t().picker.run), picker.element),
        body,
    ];
}

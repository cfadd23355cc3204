// SPDX-License-Identifier: Apache-2.0
// One packet: its layers and fields beside its bytes.
import { h, type Child } from "../../core/dom";
import { nanoseconds } from "../../core/format";
import type { PacketDetail, PacketField } from "../../core/types";
import { t, told } from "../../i18n/text";
import { badge } from "../../ui/parts";

type Mark = (from: number, to: number) => void;

// Shows the bytes of a packet, sixteen a line; `mark` makes those of a field stand out.
function byte_view(hex: string): { element: HTMLElement; mark: (from: number, to: number) => void } {
    const octets = hex.match(/../g) ?? [];
    const cells: HTMLElement[] = [];
    const letters: HTMLElement[] = [];
    const lines: HTMLElement[] = [];
    for (let at = 0; at < octets.length; at += 16) {
        const line = octets.slice(at, at + 16);
        const left = line.map((octet) => h("span.octet", octet));
        const right = line.map((octet) => {
            const code = parseInt(octet, 16);
            return h("span.letter", code >= 32 && code < 127 ? String.fromCharCode(code) : "·");
        });
        cells.push(...left);
        letters.push(...right);
        lines.push(
            h(
                "div.octet-line",
                h("span.octet-at", at.toString(16).padStart(4, "0")),
                h("span.octets", left),
                h("span.letters", { "aria-hidden": "true" }, right),
            ),
        );
    }
    return {
        element: h("div.bytes", { tabindex: 0, role: "group", "aria-label": t().captures.bytes }, lines),
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

// Returns a row for each field of a layer. The row that was clicked keeps its bytes marked.
function layer_rows(mark: Mark): (field: PacketField) => HTMLElement {
    let fixed: [number, number] = [0, 0];
    return ({ name, value, text, from, to }) => {
        const on = {
            click: () => {
                fixed = [from, to];
                mark(from, to);
            },
            focus: () => mark(from, to),
            mouseenter: () => mark(from, to),
            mouseleave: () => mark(...fixed),
        };
        const shown = text && text !== String(value) ? `${value}  ${text}` : String(value);
        return h("button.layer-field", { type: "button", on }, h("span.field-name", name), h("span.mono", shown));
    };
}

export function packet_detail(detail: PacketDetail, actions: Child): HTMLElement {
    const words = t().captures;
    const view = byte_view(detail.hex);
    const row = layer_rows(view.mark);
    const layers = detail.layers.map((layer) => {
        const place = h("span.muted.small", ` ${words.bytes_from(layer.from, layer.to)}`);
        return h("details", { open: true }, h("summary", layer.name, place), layer.fields.map(row));
    });
    const cut = detail.captured < detail.bytes;
    const about = `${nanoseconds(detail.time_ns, 9)} · ${words.of_bytes(detail.captured, detail.bytes)}`;
    const refused = cut ? null : [badge(words.refused, "warn"), " "];
    return h(
        "section.card.packet",
        { "aria-label": words.packet(detail.n) },
        h("header", h("h2", words.packet(detail.n)), h("span.muted.small.number", about), h("span.grow"), actions),
        detail.message ? h("p.small.muted", refused, told(detail.message)) : null,
        h("div.packet-parts", h("div.layers", layers), view.element),
    );
}

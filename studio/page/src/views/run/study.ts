// SPDX-License-Identifier: Apache-2.0
// A study of the library: its script, its order, its output while it runs, and its results.
import { api, call } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { number } from "../../core/format";
import { column_title } from "../../core/names";
import { go, link } from "../../core/router";
import { session } from "../../core/session";
import type { LibraryItem, Run, Runs } from "../../core/types";
import { t } from "../../i18n/text";
import { grid } from "../../ui/grid";
import { button, card, checkbox, empty, field, input, later, link_button, note, view_head } from "../../ui/parts";
import { question_of } from "../library";
import { study_figure, type StudyFigure } from "./study_figure";
import { study_form } from "./study_form";

// Returns the path of an entry. Slashes in its name separate parts of the path, so they are not escaped.
export function library_path(name: string): string {
    return name.split("/").map(encodeURIComponent).join("/");
}

export async function study_view(name: string, signal: AbortSignal): Promise<Child> {
    const words = t().study;
    const item = await api.get<LibraryItem>(`library/${library_path(name)}`, { kind: "study" }, signal);
    const short = item.name.replace(/\/run$/, "");
    const [group, ...rest] = short.split("/");
    const command = `scenarios/${group}/run ${rest.join("/")}`;
    let quick = true;
    let shared = false;
    const run_name = input({ placeholder: short, "aria-label": t().editor.run_name });
    const form = study_form(item.parameters ?? []);
    form.show_defaults(quick);
    const order = async () => {
        const answer = await api.post<{ runs: Run[] }>("runs", {
            study: item.name,
            name: run_name.value.trim() || short,
            quick,
            set: form.set(),
            shared,
        });
        go(link("run", answer.runs[0]!.id));
    };
    return [
        view_head(
            question_of(item),
            h("span", h("a", { href: link("simulate") }, t().shelf.title), " · ", h("code", short)),
        ),
        card(
            words.run_it,
            null,
            h(
                "div.stack",
                h("p.muted", words.lead),
                session.may_run ? form.element : null,
                session.may_run
                    ? h(
                          "div.row.end",
                          h("div.narrow", field(t().editor.run_name, run_name)),
                          checkbox(words.quick, quick, (on) => {
                              quick = on;
                              form.show_defaults(on);
                          }),
                          checkbox(t().common.share_with_all, shared, (on) => {
                              shared = on;
                          }),
                          h("span.grow"),
                          button(words.run, order, { kind: "main-action" }),
                      )
                    : note("warn", t().editor.viewer),
            ),
        ),
        h("p.muted.small", words.same_as, " ", h("code", command)),
        h("pre.code-block.tall", { tabindex: 0, "aria-label": short }, item.script ?? item.yaml ?? ""),
    ];
}

// Shows the output of the script while it runs.
export function study_live(scope: Scope, run: Run): Child {
    const words = t().study;
    const text = h("pre.code-block.tall", { tabindex: 0, "aria-label": t().run.log, "aria-live": "off" });
    const waits = empty(t().run.waits, t().run.waits_text);
    const load = async () => {
        const said = await (
            await call("GET", `runs/${run.id}/log`, { query: { tail: 60000 }, signal: scope.signal })
        ).text();
        const at_end = text.scrollTop + text.clientHeight >= text.scrollHeight - 8;
        waits.hidden = said !== "";
        text.hidden = said === "";
        if (text.textContent !== said) {
            text.textContent = said;
            if (at_end) {
                text.scrollTop = text.scrollHeight;
            }
        }
    };
    const look = () => void load().catch(() => undefined);
    scope.every(1500, look);
    look();
    return [waits, text, h("p.muted.small", words.live_hint)];
}

function csv_rows(text: string): string[][] {
    return text
        .trimEnd()
        .split("\n")
        .map((line) => line.split(","));
}

async function text_of(run: Run, path: string, signal: AbortSignal): Promise<string> {
    return (await call("GET", `runs/${run.id}/files/${library_path(path)}`, { signal })).text();
}

async function table_of(scope: Scope, run: Run, path: string): Promise<Child> {
    const text = await text_of(run, path, scope.signal);
    const name = path.replace(/^result\//, "");
    if (!path.endsWith(".csv")) {
        return card(name, null, h("pre.code-block", { tabindex: 0, "aria-label": name }, text));
    }
    const [head = [], ...rows] = csv_rows(text);
    const is_number = (cell: string) => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell);
    const columns = head.map((title, index) => {
        const numeric = rows.every((row) => row[index] === "-" || is_number(row[index] ?? ""));
        const value = (row: string[]) => (numeric ? Number(row[index]) : (row[index] ?? ""));
        const text_at = (row: string[]) => {
            const cell = row[index] ?? "";
            return numeric && is_number(cell) ? number(Number(cell), 6) : cell;
        };
        return { name: String(index), title: column_title(title), help: title, right: numeric, cell: text_at, value };
    });
    return h(
        "section.card.flush",
        h("header", h("h2", name)),
        grid(scope, { label: name, height: "50vh", columns, rows }).element,
    );
}

// Shows the figure of a folder of the study: the page's own where figure.json describes it, and the script's.
async function figure_of(scope: Scope, run: Run, path: string, files: string[]): Promise<Child> {
    const folder = path.replace(/[^/]*$/, "");
    const words = t().study;
    const [about, data] = [`${folder}figure.json`, `${folder}data.csv`];
    const name = path.replace(/^result\//, "");
    const own = path.endsWith("/figure.svg") && files.includes(about) && files.includes(data);
    if (!own) {
        return drawn_by_script(scope, run, path, name);
    }
    const texts = await Promise.all([text_of(run, about, scope.signal), text_of(run, data, scope.signal)]);
    const short = folder.replace(/^result\/|\/$/g, "");
    const made = study_figure(scope, JSON.parse(texts[0]) as StudyFigure, csv_rows(texts[1]), short.replace("/", "-"));
    const script = await drawn_by_script(scope, run, path, words.as_drawn);
    if (!made) {
        return script;
    }
    return [card(words.figure_of(short), null, made), h("details", h("summary", words.as_drawn), script)];
}

async function drawn_by_script(scope: Scope, run: Run, path: string, name: string): Promise<Child> {
    const bytes = await (
        await call("GET", `runs/${run.id}/files/${library_path(path)}`, { signal: scope.signal })
    ).arrayBuffer();
    // An SVG that is shown as an image runs no scripts.
    const address = URL.createObjectURL(new Blob([bytes], { type: "image/svg+xml" }));
    scope.on_end(() => URL.revokeObjectURL(address));
    return card(
        name,
        h("a.button.small.quiet", { href: address, download: path.split("/").pop() }, "SVG"),
        h("div.scroll-x", { tabindex: 0 }, h("img.study-figure", { src: address, alt: name })),
    );
}

// Shows the figures and tables that the study wrote, and links to its runs.
export function study_tab(scope: Scope, run: Run): Child {
    const words = t().study;
    return later(scope, async (signal) => {
        const [{ files }, made] = await Promise.all([
            api.get<{ files: { path: string; size_bytes: number }[] }>(`runs/${run.id}/files`, undefined, signal),
            api.get<Runs>("runs", { group: run.group, limit: 0 }, signal),
        ]);
        const folders = new Set(
            files
                .filter((file) => file.path.endsWith("/summary.json"))
                .map((file) => file.path.slice(0, -"summary.json".length)),
        );
        const own = files
            .filter((file) => ![...folders].some((folder) => file.path.startsWith(folder)))
            .map((file) => file.path)
            .sort();
        const figures = await Promise.all(
            own.filter((path) => path.endsWith(".svg")).map((path) => figure_of(scope, run, path, own)),
        );
        const tables = await Promise.all(
            own
                .filter((path) => /table\.txt$|\.csv$/.test(path))
                // The points of a sweep are in data.csv, too, and its runs in the list of runs.
                .filter(
                    (path) =>
                        !/\/(points|runs)\.csv$/.test(path) || !own.includes(path.replace(/\w+\.csv$/, "data.csv")),
                )
                .slice(0, 12)
                .map((path) => table_of(scope, run, path)),
        );
        const count = made.total - 1;
        const links = h(
            "div.row",
            h("span", words.made(count)),
            count > 0
                ? [
                      link_button(words.see_runs, `${link("runs")}?group=${run.group}`, { icon: "runs" }),
                      link_button(words.compare, `${link("process")}?group=${run.group}`, {
                          icon: "process",
                          kind: "main-action",
                      }),
                  ]
                : null,
        );
        if (figures.length + tables.length === 0) {
            return [links, empty(words.nothing, words.nothing_text)];
        }
        const place = h("div.stack.wide");
        fill(place, links, figures, tables);
        return place;
    });
}

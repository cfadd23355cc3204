// SPDX-License-Identifier: Apache-2.0
// A study of the library: its script, its order, its output while it runs, and its results.
import { api, call } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import { number } from "../../core/format";
import { column_title } from "../../core/names";
import { go, link, with_query } from "../../core/router";
import { session } from "../../core/session";
import type { LibraryItem, Run, Runs } from "../../core/types";
import { t } from "../../i18n/text";
import { grid } from "../../ui/grid";
import { button, card, checkbox, empty, field, flush_card, input, is_checked } from "../../ui/parts";
import { later, link_button, note, view_head } from "../../ui/parts";
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
    const share = checkbox(t().common.share_with_all);
    const quick = checkbox(words.quick, true, (on) => form.show_defaults(on));
    const run_name = input({ placeholder: short, "aria-label": t().editor.run_name });
    const form = study_form(item.parameters ?? []);
    form.show_defaults(true);
    const order = async () => {
        const answer = await api.post<{ runs: Run[] }>("runs", {
            study: item.name,
            name: run_name.value.trim() || short,
            quick: is_checked(quick),
            set: form.set(),
            shared: is_checked(share),
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
                          quick,
                          share,
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
        const options = { query: { tail: 60000 }, signal: scope.signal };
        const said = await (await call("GET", `runs/${run.id}/log`, options)).text();
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
    return flush_card(name, null, grid(scope, { label: name, height: "50vh", columns, rows }).element);
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
    // An SVG that is shown as an image runs no scripts.
    const drawing = new Blob([await text_of(run, path, scope.signal)], { type: "image/svg+xml" });
    const address = URL.createObjectURL(drawing);
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
        const paths = files.map((file) => file.path).sort();
        const folders = paths
            .filter((path) => path.endsWith("/summary.json"))
            .map((path) => path.replace(/[^/]*$/, ""));
        const own = paths.filter((path) => !folders.some((folder) => path.startsWith(folder)));
        const figures = await Promise.all(
            own.filter((path) => path.endsWith(".svg")).map((path) => figure_of(scope, run, path, own)),
        );
        // The points of a sweep are in data.csv, too, and its runs in the list of runs.
        const is_shown = (path: string) =>
            /table\.txt$|\.csv$/.test(path) &&
            !(/\/(points|runs)\.csv$/.test(path) && own.includes(path.replace(/\w+\.csv$/, "data.csv")));
        const shown = own.filter(is_shown).slice(0, 12);
        const tables = await Promise.all(shown.map((path) => table_of(scope, run, path)));
        const count = made.total - 1;
        const { group } = run;
        const tools = [
            link_button(words.see_runs, with_query(link("runs"), { group }), { icon: "runs" }),
            link_button(words.compare, with_query(link("process"), { group }), {
                icon: "process",
                kind: "main-action",
            }),
        ];
        const links = h("div.row", h("span", words.made(count)), count > 0 ? tools : null);
        if (figures.length + tables.length === 0) {
            return [links, empty(words.nothing, words.nothing_text)];
        }
        return h("div.stack.wide", links, figures, tables);
    });
}

// SPDX-License-Identifier: Apache-2.0
// The user's own files: uploads by drag and drop, several at once and whole folders, and the list of what is there.
import { api, api_url, was_aborted } from "../core/api";
import { fill, h, type Child, type Scope } from "../core/dom";
import { bytes, moment } from "../core/format";
import { chosen_of, dropped_of, file_address, own_files, upload } from "../core/own_files";
import type { Chosen, FileCheck, OwnFile, OwnFiles } from "../core/own_files";
import { go, link } from "../core/router";
import { session } from "../core/session";
import { t } from "../i18n/text";
import { badge, bar, button, confirm_sheet, empty, link_button, note } from "../ui/parts";
import { problem_text, tell_problem, view_head } from "../ui/parts";
import { plain_table } from "../ui/table";
import { choose_counters } from "./counters";

const checks_max = 8; // of files that were uploaded together; others are checked when the user asks for it
const at_once = 3; // uploads at the same time

class Files {
    private readonly list = h("div.stack.wide");
    private readonly state = h("div.stack", { "aria-live": "polite" });
    private readonly checks = new Map<string, FileCheck>();
    private readonly redraw = new Map<string, () => void>(); // by path: shows what a check found
    private uploading: AbortController | null = null;

    constructor(private readonly scope: Scope) {
        scope.on_end(() => this.uploading?.abort());
    }

    async show(): Promise<Child> {
        const words = t().files;
        await this.load();
        const pick = (folder: boolean) => {
            const chooser = h("input", { type: "file", multiple: true, webkitdirectory: folder });
            chooser.addEventListener("change", () => void this.send(chosen_of(chooser.files)));
            chooser.click();
        };
        const tools = [
            button(t().counters.title, choose_counters, { title: t().counters.lead }),
            button(words.choose_folder, () => pick(true)),
            button(words.choose, () => pick(false), { kind: "main-action", icon: "share" }),
        ];
        const zone = h("div.card.drop-zone", h("p.muted", words.drop), this.state);
        this.accept_drops(zone);
        return [view_head(words.title, words.lead, session.may_run ? tools : null), zone, this.list];
    }

    private accept_drops(zone: HTMLElement): void {
        const mark = (on: boolean) => zone.classList.toggle("over", on);
        // The whole page takes drops; a browser would open a file that is dropped beside the zone.
        this.scope.listen(document, "dragover", (event: DragEvent) => {
            event.preventDefault();
            mark(true);
        });
        this.scope.listen(document, "dragleave", (event: DragEvent) => mark(event.relatedTarget !== null));
        this.scope.listen(document, "drop", (event: DragEvent) => {
            event.preventDefault();
            mark(false);
            if (event.dataTransfer) {
                void dropped_of(event.dataTransfer).then((chosen) => this.send(chosen));
            }
        });
    }

    private async load(): Promise<void> {
        this.draw(await own_files(this.scope.signal));
    }

    // Sends files, a few at a time. What the server refuses is listed, and the others go on.
    private async send(chosen: Chosen[]): Promise<void> {
        if (chosen.length === 0 || this.uploading) {
            return;
        }
        const control = new AbortController();
        const waiting = [...chosen];
        const refused: string[] = [];
        const sent = new Map<string, number>();
        const total = chosen.reduce((sum, one) => sum + one.file.size, 0) || 1;
        let done = 0;
        const show = () =>
            this.draw_progress(done, chosen.length, [...sent.values()].reduce((a, b) => a + b, 0) / total);
        const work = async () => {
            for (let one = waiting.shift(); one; one = waiting.shift()) {
                const { path, file } = one;
                const count = (part: number) => {
                    sent.set(path, Math.min(part, file.size));
                    show();
                };
                try {
                    await upload(one, count, control.signal);
                } catch (error) {
                    if (was_aborted(error)) {
                        return;
                    }
                    refused.push(`${path}: ${problem_text(error)}`);
                }
                this.checks.delete(path);
                done++;
                count(file.size);
            }
        };
        this.uploading = control;
        show();
        await Promise.all(Array.from({ length: at_once }, work));
        this.uploading = null;
        if (!this.scope.ended) {
            this.draw_result(done - refused.length, refused);
            await this.load();
            for (const { path } of chosen.filter((one) => this.redraw.has(one.path)).slice(0, checks_max)) {
                await this.check(path).catch(tell_problem); // the user may have left the view
            }
        }
    }

    private draw_progress(done: number, all: number, share: number): void {
        const words = t().files;
        const text = words.sending(Math.min(done + 1, all), all);
        const stop = button(words.stop, () => this.uploading?.abort(), { small: true });
        fill(this.state, h("div.row", h("span", text), stop), bar(share, text));
    }

    private draw_result(sent: number, refused: string[]): void {
        const words = t().files;
        const lines = refused.map((text) => h("li", text));
        fill(
            this.state,
            sent > 0 ? note("good", words.sent(sent)) : null,
            lines.length > 0 ? note("bad", h("div", words.not_sent(lines.length), h("ul", lines))) : null,
        );
    }

    private draw({ files, used_bytes, quota_bytes, count, count_max }: OwnFiles): void {
        const words = t().files;
        const rows = [...files].sort((one, other) => one.path.localeCompare(other.path)).map((one) => this.row(one));
        fill(
            this.list,
            h("p.muted.small", words.used(bytes(used_bytes), bytes(quota_bytes), count, count_max)),
            bar(quota_bytes > 0 ? used_bytes / quota_bytes : 0, words.share_used),
            rows.length > 0
                ? plain_table([words.name, words.size, words.changed, words.what, ""], rows)
                : empty(words.none, words.drop),
        );
    }

    private row(file: OwnFile): Child[] {
        const words = t().files;
        const { path } = file;
        const verdict = h("td", this.verdict(path));
        const uses = h("span", this.uses(path));
        this.redraw.set(path, () => {
            fill(verdict, this.verdict(path));
            fill(uses, this.uses(path));
        });
        const remove = () =>
            confirm_sheet(words.remove, words.remove_text(path), words.remove, async () => {
                await api.remove(file_address(path));
                await this.load();
            });
        return [
            h("td", h("code", path)),
            h("td.right.number.nowrap", bytes(file.size_bytes)),
            h("td.nowrap", moment(file.changed_ms)),
            verdict,
            h(
                "td.right.nowrap",
                uses,
                " ",
                button(words.check, () => this.check(path), { small: true, label: words.check_label(path) }),
                " ",
                h("a.button.small", { href: api_url(file_address(path)), download: "" }, words.download),
                " ",
                button("", remove, { small: true, kind: "quiet", icon: "trash", label: `${words.remove}: ${path}` }),
            ),
        ];
    }

    private async check(path: string): Promise<void> {
        this.checks.set(path, await api.post<FileCheck>("files/check", { path }, this.scope.signal));
        this.redraw.get(path)?.();
    }

    // Returns what can be done with a file of this kind, which a check says.
    private uses(path: string): Child {
        const words = t().files;
        const kind = /\.ya?ml$/.test(path) ? "scenario" : this.checks.get(path)?.kind;
        const open_capture = async () => {
            const { id } = await api.post<{ id: number }>("files/capture", { path });
            go(link("captures", id));
        };
        const make_scenario = async () => {
            const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
            const { yaml } = await api.post<{ yaml: string }>("files/import", { path: folder || path });
            sessionStorage.setItem("studio.draft", yaml);
            go(link("edit", "draft"));
        };
        switch (kind) {
            case "scenario":
                return link_button(words.open, link("edit", "file", path), { small: true });
            case "workload":
            case "requests":
                return link_button(words.open, link("edit", kind, path), { small: true });
            case "capture":
                return button(words.open_capture, open_capture, { small: true });
            case "fabric":
                return button(words.make_scenario, make_scenario, { small: true, title: words.make_scenario_hint });
            default:
                return null;
        }
    }

    // Shows what the last check found, with the program's own words.
    private verdict(path: string): Child {
        const found = this.checks.get(path);
        if (!found) {
            return null;
        }
        const style = found.good === null ? "" : found.good ? "good" : "bad";
        return h(
            "details",
            { open: found.good === false },
            h("summary", badge(t().files.kinds[found.kind], style)),
            h("pre.code-block", { tabindex: 0 }, found.text),
        );
    }
}

export async function files_view(scope: Scope): Promise<Child> {
    return await new Files(scope).show();
}

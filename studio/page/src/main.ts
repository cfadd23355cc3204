// SPDX-License-Identifier: Apache-2.0
// The shell of the page: the log-in, the menu, and the view that the address names.
import { api, ApiError, is_offline } from "./core/api";
import { debounce, fill, h, Scope, type Child, type Props } from "./core/dom";
import { listen_events } from "./core/events";
import { all_shortcuts, shortcut } from "./core/keys";
import { go, link, the_place, type Place } from "./core/router";
import { session, type Me } from "./core/session";
import { apply_theme, set_theme, the_theme, type Theme } from "./core/settings";
import { load_catalogue, set_language, t, the_language } from "./i18n/text";
import { icon, type IconName } from "./ui/icons";
import { link_button, loading, problem, sheet, tell_problem, toast, view_head } from "./ui/parts";
import { plain_table } from "./ui/table";
import { login_view, once_view } from "./views/login";

type View = (scope: Scope, place: Place) => Child | Promise<Child>;

// Views are loaded when they are first opened.
const views: Record<string, () => Promise<View>> = {
    simulate: async () => (await import("./views/library")).show_library,
    edit: async () => (await import("./views/workbench/workbench")).workbench_view,
    files: async () => (await import("./views/files")).files_view,
    counters: async () => (await import("./views/counters")).counters_view,
    runs: async () => (await import("./views/runs")).runs_view,
    run: async () => (await import("./views/run/run")).run_view,
    query: async () => (await import("./views/query/query")).query_view,
    captures: async () => (await import("./views/captures/captures")).captures_view,
    process: async () => (await import("./views/process/process")).process_view,
    account: async () => (await import("./views/account")).account_view,
    users: async () => (await import("./views/admin")).admin_view,
};

interface Destination {
    name: string;
    icon: IconName;
    keys: string;
    text: () => string;
    also?: string[];
    shown?: () => boolean;
}

const destinations: Destination[] = [
    { name: "simulate", icon: "simulate", keys: "g s", text: () => t().nav.simulate, also: ["edit"] },
    {
        name: "files",
        icon: "files",
        keys: "g f",
        text: () => t().files.title,
        also: ["counters"],
        shown: () => session.may_run,
    },
    { name: "runs", icon: "runs", keys: "g r", text: () => t().nav.runs, also: ["run"] },
    { name: "query", icon: "query", keys: "g q", text: () => t().nav.query },
    { name: "captures", icon: "captures", keys: "g c", text: () => t().nav.captures },
    { name: "process", icon: "process", keys: "g p", text: () => t().nav.process },
    { name: "account", icon: "account", keys: "g a", text: () => t().nav.account },
    { name: "users", icon: "admin", keys: "g u", text: () => t().nav.users, shown: () => session.administrates },
];

let shell_scope = new Scope();
let view_scope = new Scope();
let main: HTMLElement | null = null;
let rail: HTMLElement | null = null;
let busy_runs = 0;

async function switch_language(): Promise<void> {
    await set_language(the_language() === "en" ? "zh" : "en");
    show_shell();
}

function next_theme(): void {
    const order: Theme[] = ["auto", "light", "dark"];
    set_theme(order[(order.indexOf(the_theme()) + 1) % order.length]!);
    draw_rail();
}

function place_button(name: IconName, text: string, work: () => unknown, props: Props): HTMLElement {
    const click = () => void work();
    return h("button.place", { type: "button", ...props, on: { click } }, icon(name), h("span.label.clip", text));
}

function language_and_theme(): HTMLElement[] {
    const words = t().nav;
    const theme_names = { auto: words.theme_auto, light: words.theme_light, dark: words.theme_dark };
    const theme = theme_names[the_theme()];
    const [other, lang] = the_language() === "en" ? ["中文", "zh"] : ["English", "en"];
    return [
        place_button("language", other, switch_language, { lang, title: words.language }),
        place_button("theme", theme, next_theme, { title: words.theme, "aria-label": `${words.theme}: ${theme}` }),
    ];
}

function show_help(): void {
    const words = t().help;
    const rows = all_shortcuts().map(({ keys, meaning }) => [
        h(
            "td",
            keys.split(" ").map((key, index) => [index > 0 && " ", h("kbd", key)]),
        ),
        meaning(),
    ]);
    const table = plain_table([words.key, words.does], rows);
    void sheet(words.title, [table, h("p.muted", words.more)], { text: t().common.close });
}

async function log_out(): Promise<void> {
    await api.post("logout").catch(() => undefined);
    sessionStorage.clear(); // the next user of this browser does not see unsaved work
    session.clear();
    go("#/");
    show_shell();
}

function draw_rail(): void {
    if (!rail) {
        return;
    }
    const [word = "simulate"] = the_place().words;
    const items = destinations
        .filter((one) => one.shown?.() ?? true)
        .map((one) =>
            h(
                "li",
                h(
                    "a.place",
                    {
                        href: link(one.name),
                        title: `${one.text()} (${one.keys})`,
                        "aria-current": word === one.name || one.also?.includes(word) ? "page" : undefined,
                    },
                    icon(one.icon),
                    h("span.label", one.text()),
                    one.name === "runs" && busy_runs > 0
                        ? h("span.tally", { "aria-label": t().nav.busy(busy_runs) }, busy_runs)
                        : null,
                ),
            ),
        );
    fill(
        rail,
        h(
            "a.brand",
            { href: link("simulate"), "aria-label": "rocesim studio" },
            h("img", { src: "assets/icon.svg", alt: "" }),
            h("span", "rocesim"),
        ),
        h("nav", { "aria-label": t().nav.label }, h("ul", items)),
        h(
            "div.foot",
            place_button("help", t().nav.help, show_help, { title: `${t().nav.help} (?)` }),
            language_and_theme(),
            place_button("logout", `${t().nav.log_out} (${session.user?.name ?? ""})`, log_out, {
                title: t().nav.log_out,
            }),
        ),
    );
}

let shown_words = "";
async function show_view(): Promise<void> {
    if (!main || !session.user) {
        return;
    }
    const place = the_place();
    const name = place.words[0] ?? "simulate";
    view_scope.end();
    for (const dialog of document.querySelectorAll("dialog")) {
        dialog.close(); // a dialog belongs to its view
    }
    view_scope = shell_scope.child();
    const scope = view_scope;
    draw_rail();
    const where = h("div.view", loading());
    main.replaceChildren(offline_bar(scope), where);
    if (shown_words !== place.words.join("/")) {
        shown_words = place.words.join("/");
        main.scrollTop = 0;
        main.focus({ preventScroll: true });
    }
    try {
        const load = views[name];
        if (!load) {
            const simulate = link_button(t().nav.simulate, link("simulate"));
            fill(where, view_head(t().errors.no_such_view, t().errors.no_such_view_text, simulate));
            return;
        }
        const view = await load();
        if (scope.ended) {
            return;
        }
        const made = await view(scope, place);
        if (!scope.ended) {
            fill(where, made);
            document.title = `${where.querySelector("h1")?.textContent ?? name} · rocesim studio`;
        }
    } catch (error) {
        if (!scope.ended) {
            fill(where, view_head(t().errors.no_view, null), problem(error, show_view));
        }
    }
}

function offline_bar(scope: Scope): HTMLElement {
    const place = h("div", { "aria-live": "assertive" });
    const draw = () => fill(place, is_offline() && h("div.offline", h("span.spinner"), t().errors.offline));
    scope.listen(window, "studio-connection", draw);
    draw();
    return place;
}

// Shows at the menu how many runs wait or run, and passes events of runs on to the views.
function watch_runs(scope: Scope): void {
    const count = () =>
        void Promise.all(
            ["running", "queued"].map((state) => api.get<{ total: number }>("runs", { state, limit: 0 }, scope.signal)),
        ).then(
            (answers) => {
                const now = answers.reduce((sum, answer) => sum + answer.total, 0);
                if (busy_runs !== now) {
                    busy_runs = now;
                    draw_rail();
                }
            },
            () => undefined,
        );
    count();
    // An order of a thousand runs sends a thousand events at once.
    const count_soon = debounce(scope, 300, count);
    listen_events(scope.signal, (name, data) => {
        window.dispatchEvent(new CustomEvent("studio-run", { detail: data }));
        if (name !== "progress") {
            count_soon();
        }
    });
}

function show_shell(): void {
    view_scope.end();
    shell_scope.end();
    shell_scope = new Scope();
    const scope = shell_scope;
    document.documentElement.lang = the_language() === "zh" ? "zh-CN" : "en";
    if (!session.user) {
        main = rail = null;
        const once = /^#once=([^&]+)/.exec(location.hash);
        const place = h("div");
        fill(document.body, place);
        fill(place, once ? once_view(scope, once[1]!, entered) : login_view(scope, entered));
        return;
    }
    main = h("main.main", { tabindex: -1, id: "main" });
    rail = h("aside.rail");
    const skip = (event: Event) => {
        event.preventDefault();
        main?.focus();
    };
    const link_to_main = h("a.skip", { href: "#main", on: { click: skip } }, t().nav.skip);
    fill(document.body, link_to_main, h("div.shell", rail, main));
    for (const one of destinations) {
        if (one.shown?.() ?? true) {
            shortcut(scope, one.keys, one.text, () => go(link(one.name)));
        }
    }
    shortcut(scope, "?", () => t().nav.help, show_help);
    shortcut(scope, "t", () => t().nav.theme, next_theme);
    shortcut(scope, "l", () => t().nav.language, switch_language);
    shortcut(
        scope,
        "/",
        () => t().help.search,
        () => main?.querySelector<HTMLElement>("input[type=search], .input.search")?.focus(),
    );
    watch_runs(scope);
    shown_words = "?";
    void show_view();
}

function entered(me: Me): void {
    session.set(me);
    if (location.hash.startsWith("#once=")) {
        history.replaceState(null, "", "#/");
    }
    show_shell();
}

window.addEventListener("hashchange", () => (session.user ? void show_view() : show_shell()));
window.addEventListener("studio-language-and-theme", show_shell);
window.addEventListener("studio-session", () => {
    toast(t().login.ended);
    show_shell();
});
window.addEventListener("unhandledrejection", (event) => tell_problem(event.reason));

async function begin(): Promise<void> {
    apply_theme();
    await load_catalogue();
    if (location.hash.startsWith("#once=")) {
        show_shell(); // a one-time link logs in anew, whoever was logged in
        return;
    }
    document.body.replaceChildren(h("main.view", loading()));
    try {
        session.set(await api.get<Me>("me"));
    } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 401) {
            fill(document.body, h("main.view", problem(error, begin)));
            window.setTimeout(() => void begin(), 3000);
            return;
        }
    }
    show_shell();
}

void begin();

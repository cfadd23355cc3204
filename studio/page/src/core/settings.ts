// SPDX-License-Identifier: Apache-2.0
// Settings that this browser remembers: the language, the theme and choices of views. They hold no secrets.

export type Language = "en" | "zh";
export type Theme = "auto" | "light" | "dark";

export function recall<T>(name: string, fallback: T): T {
    try {
        const text = localStorage.getItem(`studio.${name}`);
        return text === null ? fallback : (JSON.parse(text) as T);
    } catch {
        return fallback;
    }
}

export function remember(name: string, value: unknown): void {
    try {
        localStorage.setItem(`studio.${name}`, JSON.stringify(value));
    } catch {
        // A browser without storage forgets the setting when the page is closed.
    }
}

let theme = recall<Theme>("theme", "auto");
const dark_by_system = window.matchMedia("(prefers-color-scheme: dark)");

export function the_theme(): Theme {
    return theme;
}

export function is_dark(): boolean {
    return theme === "dark" || (theme === "auto" && dark_by_system.matches);
}

export function set_theme(chosen: Theme): void {
    theme = chosen;
    remember("theme", chosen);
    apply_theme();
}

export function apply_theme(): void {
    document.documentElement.dataset.theme = is_dark() ? "dark" : "light";
    window.dispatchEvent(new Event("studio-theme"));
}

dark_by_system.addEventListener("change", apply_theme);

export function the_color(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

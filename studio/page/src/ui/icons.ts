// SPDX-License-Identifier: Apache-2.0
// Line icons of 24 x 24 units, as SVG paths.
import { svg } from "../core/dom";

const paths = {
    simulate: "M6 4v16l13-8z",
    files: "M4 6h6l2 2h8v11H4z",
    runs: "M4 6h16M4 12h16M4 18h10",
    query: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5",
    process: "M4 20V10M10 20V4M16 20v-8M21 20H3",
    captures: "M4 5h16v4H4zM4 11h16v4H4zM4 17h9v3H4z",
    account: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 21c1-5 15-5 16 0",
    admin: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
    help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.5",
    theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
    language: "M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18",
    logout: "M14 4h5v16h-5M3 12h11M10 8l4 4-4 4",
    plus: "M12 5v14M5 12h14",
    close: "M6 6l12 12M18 6 6 18",
    download: "M12 4v11M7 11l5 5 5-5M5 20h14",
    save: "M5 4h11l3 3v13H5zM8 4v5h7M8 20v-6h8v6",
    play: "M7 5v14l11-7z",
    pause: "M8 5v14M16 5v14",
    trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
    up: "M6 15l6-6 6 6",
    down: "M6 9l6 6 6-6",
    back: "M15 5l-7 7 7 7",
    next: "M9 5l7 7-7 7",
    share: "M12 15V4M8 7l4-4 4 4M5 12v8h14v-8",
    copy: "M8 8h11v12H8zM5 16V4h10",
    stop: "M7 7h10v10H7z",
    again: "M20 12a8 8 0 1 1-3-6M20 3v5h-5",
    fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
} as const;

export type IconName = keyof typeof paths;

export function icon(name: IconName): SVGElement {
    return svg(
        "svg",
        {
            viewBox: "0 0 24 24",
            fill: "none",
            stroke: "currentColor",
            "stroke-width": "1.8",
            "stroke-linecap": "round",
            "stroke-linejoin": "round",
            "aria-hidden": "true",
        },
        svg("path", { d: paths[name] }),
    );
}

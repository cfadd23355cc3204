// SPDX-License-Identifier: Apache-2.0
// Makes elements. All text enters the page here, as text and never as HTML.

export type Child = Node | string | number | null | undefined | false | Child[];

export interface Props {
    class?: string;
    style?: Partial<Record<string, string>>;
    on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
    [attribute: string]: unknown;
}

function add(parent: Node, child: Child): void {
    if (Array.isArray(child)) {
        for (const one of child) {
            add(parent, one);
        }
    } else if (child instanceof Node) {
        parent.appendChild(child);
    } else if (child !== null && child !== undefined && child !== false) {
        parent.appendChild(document.createTextNode(String(child)));
    }
}

// Sets attributes, listeners and styles. Styles go through the object model: the content security policy forbids
// inline styles.
function decorate(element: HTMLElement | SVGElement, props: Props): void {
    for (const [name, value] of Object.entries(props)) {
        if (value === undefined || value === null || value === false) {
            continue;
        }
        if (name === "on") {
            for (const [event, listener] of Object.entries(value as Record<string, EventListener>)) {
                element.addEventListener(event, listener);
            }
        } else if (name === "style") {
            for (const [property, set] of Object.entries(value as Record<string, string>)) {
                element.style.setProperty(property, set);
            }
        } else if (name === "value" && "value" in element) {
            (element as HTMLInputElement).value = String(value);
        } else if (name.startsWith("on") || name === "srcdoc") {
            throw new Error(`not an attribute: ${name}`);
        } else {
            element.setAttribute(name, value === true ? "" : String(value));
        }
    }
}

type Tag<Selector extends string> = Selector extends `${infer Name}.${string}` ? Name : Selector;
type Made<Selector extends string> =
    Tag<Selector> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag<Selector>] : never;

// Makes an element: "div.row.tight" is a <div> of two classes. Attributes and listeners may stand before the children.
export function h<Selector extends string>(
    selector: Selector,
    first?: Props | Child,
    ...others: Child[]
): Made<Selector> {
    const [tag, ...classes] = selector.split(".") as [string, ...string[]];
    const element = document.createElement(tag);
    const props = typeof first === "object" && first !== null && !(first instanceof Node) && !Array.isArray(first);
    add(element, props ? others : [first as Child, ...others]);
    if (classes.length > 0) {
        element.className = classes.join(" ");
    }
    if (props) {
        decorate(element, first);
    }
    return element as Made<Selector>;
}

export function svg(tag: string, props?: Props | null, ...children: Child[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    add(element, children);
    if (props) {
        decorate(element, props);
    }
    return element;
}

export function fill(parent: Element, ...children: Child[]): void {
    const made = document.createDocumentFragment();
    add(made, children);
    parent.replaceChildren(made);
}

let made_ids = 0;
export function new_id(prefix: string): string {
    return `${prefix}-${++made_ids}`;
}

// The lifetime of a view: when it ends, its requests, timers and listeners end, too.
export class Scope {
    private readonly control = new AbortController();
    private readonly ends: (() => void)[] = [];
    readonly signal = this.control.signal;

    get ended(): boolean {
        return this.signal.aborted;
    }

    on_end(end: () => void): void {
        if (this.ended) {
            end();
        } else {
            this.ends.push(end);
        }
    }

    listen<T extends EventTarget>(
        target: T,
        event: string,
        listener: (event: never) => void,
        options?: AddEventListenerOptions,
    ): void {
        target.addEventListener(event, listener as EventListener, { ...options, signal: this.signal });
    }

    every(milliseconds: number, work: () => void): void {
        const timer = window.setInterval(work, milliseconds);
        this.on_end(() => window.clearInterval(timer));
    }

    child(): Scope {
        const scope = new Scope();
        this.on_end(() => scope.end());
        return scope;
    }

    end(): void {
        if (!this.ended) {
            this.control.abort();
            for (const end of this.ends.splice(0)) {
                end();
            }
        }
    }
}

// Returns a function that calls `work` once it has not been called for the given time. Each call of `work` aborts the
// signal of the one before.
export function debounce(scope: Scope, milliseconds: number, work: (signal: AbortSignal) => void): () => void {
    let timer = 0;
    let control: AbortController | null = null;
    scope.on_end(() => {
        window.clearTimeout(timer);
        control?.abort();
    });
    return () => {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => {
            control?.abort();
            control = new AbortController();
            if (!scope.ended) {
                work(control.signal);
            }
        }, milliseconds);
    };
}

// Calls `work` when the size of an element has changed, at most once per frame.
export function on_resize(scope: Scope, element: Element, work: (width: number, height: number) => void): void {
    let frame = 0;
    const observer = new ResizeObserver((entries) => {
        const box = entries[entries.length - 1]!.contentRect;
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => work(Math.floor(box.width), Math.floor(box.height)));
    });
    observer.observe(element);
    scope.on_end(() => {
        observer.disconnect();
        cancelAnimationFrame(frame);
    });
}

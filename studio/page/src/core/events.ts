// SPDX-License-Identifier: Apache-2.0
// One stream of the server's events for all tabs of a browser, which may open only six connections to a server.
//
// The tab that holds the lock reads the stream and passes events to the others. Only visible tabs ask for the lock.
// A tab that was hidden has missed events, so its listeners get "resync" when it is shown again.
import { api, api_url, set_offline } from "./api";

export type EventName = "state" | "progress" | "resync";
type Listener = (name: EventName, data: Record<string, unknown>) => void;

const names: EventName[] = ["state", "progress", "resync"];
const lock_name = "studio-events";
const listeners = new Set<Listener>();
const channel = new BroadcastChannel(lock_name);
let holding: AbortController | null = null;

function tell(name: EventName, data: Record<string, unknown>): void {
    for (const listener of [...listeners]) {
        listener(name, data);
    }
}

function is_wanted(): boolean {
    return listeners.size > 0 && document.visibilityState === "visible";
}

// Reads the stream until the signal is aborted, and reconnects after a lost connection.
function read_stream(signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
        let wait_ms = 500;
        let timer = 0;
        let source: EventSource | null = null;
        const pass_on = (name: EventName, data: Record<string, unknown>) => {
            if (navigator.locks) {
                channel.postMessage({ name, data });
            }
            tell(name, data);
        };
        const begin = () => {
            source = new EventSource(api_url("events"), { withCredentials: true });
            source.onopen = () => {
                wait_ms = 500;
                set_offline(false);
                pass_on("resync", {}); // nobody has read the events since the last stream ended
            };
            source.onerror = () => {
                // The browser reconnects slowly by itself, so the page closes the source and tries again sooner.
                source?.close();
                if (!signal.aborted) {
                    void api.get("me").catch(() => undefined);
                    timer = window.setTimeout(begin, wait_ms);
                    wait_ms = Math.min(wait_ms * 2, 5000);
                }
            };
            for (const name of names) {
                source.addEventListener(name, (event) => {
                    const text = (event as MessageEvent<string>).data;
                    pass_on(name, (text ? JSON.parse(text) : {}) as Record<string, unknown>);
                });
            }
        };
        const end = () => {
            window.clearTimeout(timer);
            source?.close();
            done();
        };
        if (signal.aborted) {
            end();
        } else {
            signal.addEventListener("abort", end);
            begin();
        }
    });
}

// Takes the stream if this tab wants it, and gives it up if not.
function update(): void {
    if (!is_wanted()) {
        holding?.abort();
        holding = null;
        return;
    }
    if (holding) {
        return;
    }
    holding = new AbortController();
    const { signal } = holding;
    // Browsers have locks on secure origins only; elsewhere each visible tab reads a stream of its own.
    if (navigator.locks) {
        navigator.locks.request(lock_name, { signal }, () => read_stream(signal)).catch(() => undefined);
    } else {
        void read_stream(signal);
    }
}

channel.addEventListener("message", (event: MessageEvent<{ name: EventName; data: Record<string, unknown> }>) => {
    if (is_wanted()) {
        tell(event.data.name, event.data.data);
    }
});
document.addEventListener("visibilitychange", () => {
    update();
    if (is_wanted()) {
        tell("resync", {});
    }
});

// Calls the listener for each event of a run that the user may see, until the signal is aborted.
export function listen_events(signal: AbortSignal, listener: Listener): void {
    listeners.add(listener);
    signal.addEventListener("abort", () => {
        listeners.delete(listener);
        update();
    });
    update();
}

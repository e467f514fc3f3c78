import type { CancelTimer, Timers } from "@drover/timers";
import { EventEmitter } from "node:events";
import type { PubSubConnection } from "../../packages/queue/src/redis/subscribe.ts";

/** How a connection that listens ends: ioredis opens one to a server again, and one to a cluster's node never. */
export type Ending = "breaks" | "ends" | "vanishes";

export interface ConnectionParts {
  readonly timers: Timers;
  /** Sends a command: it fails where Redis refuses it, and takes as long as the answer does. */
  readonly send: (what: string) => Promise<unknown>;
  /** After how long a connection that broke is open again, ms. */
  readonly reopenedAfter: () => number;
  /** A connection that leaves a command unanswered for this long is given up, ms. */
  readonly socketTimeout: number;
}

/** Messages of the scripts for workers, on their way to the subscribed connections. */
export class SimulatedChannels {
  readonly #open = new Set<SimulatedConnection>();

  connect(parts: ConnectionParts): SimulatedConnection {
    const connection = new SimulatedConnection(parts, () => this.#open.delete(connection));
    this.#open.add(connection);
    return connection;
  }

  /** True if a connection receives it: a message goes to those that are subscribed when it is published. */
  publish(channel: string, message: string): boolean {
    const listening = [...this.#open].filter((each) => each.listensTo(channel));
    for (const each of listening) each.underWay.push([channel, message]);
    return listening.length > 0;
  }

  /** Everything that is on its way gets lost. */
  lose(): void {
    for (const { underWay } of this.#open) underWay.splice(0);
  }

  /** Messages on their way. */
  get size(): number {
    return [...this.#open].reduce((sum, { underWay }) => sum + underWay.length, 0);
  }
}

/** A connection that listens, as ioredis has it: what is asked of it while it is away is sent when it is back. */
export class SimulatedConnection extends EventEmitter implements PubSubConnection {
  readonly underWay: [channel: string, message: string][] = [];
  readonly #parts: ConnectionParts;
  readonly #onEnd: () => void;
  readonly #channels = new Set<string>();
  #state: "open" | "away" | "vanished" | "ended" = "open";
  /** Which of the connections to the server it is: what was subscribed to on one is not on the next. */
  #generation = 0;
  readonly #unanswered: (() => void)[] = [];
  readonly #waits = new Set<CancelTimer>();

  constructor(parts: ConnectionParts, onEnd: () => void) {
    super();
    this.#parts = parts;
    this.#onEnd = onEnd;
  }

  listensTo(channel: string): boolean {
    return this.#state === "open" && this.#channels.has(channel);
  }

  get listens(): boolean {
    return this.#state === "open" && this.#channels.size > 0;
  }

  async subscribe(channel: string): Promise<unknown> {
    return this.#ask("subscribes", () => void this.#channels.add(channel));
  }

  async ping(): Promise<unknown> {
    if (this.#state === "vanished") {
      const vanished = this.#generation;
      this.#after(this.#parts.socketTimeout, "a connection that is silent", () => {
        if (this.#generation === vanished) this.end("breaks");
      });
    }
    return this.#ask(undefined, () => undefined);
  }

  disconnect(): void {
    if (this.#state === "ended") return;
    this.#forget();
    this.#state = "ended";
    for (const cancel of this.#waits) cancel();
    for (const fail of this.#unanswered.splice(0)) fail();
    this.#onEnd();
  }

  /** Emits the messages that arrived since the last call. */
  receive(): void {
    for (const [channel, message] of this.underWay.splice(0)) this.emit("message", channel, message);
  }

  /** A frozen process notices it when it goes on. */
  end(how: Ending): void {
    if (this.#state === "ended" || this.#state === "away") return;
    this.#forget();
    if (how === "vanishes") {
      this.#state = "vanished";
      return;
    }
    this.#state = "away";
    this.#after(0, "a connection that breaks", () => {
      if (how === "ends") {
        this.disconnect();
        this.emit("end");
        return;
      }
      this.#after(this.#parts.reopenedAfter(), "a connection that is opened again", () => this.#reopen());
      this.emit("reconnecting");
    });
  }

  #after(span: number, what: string, callback: () => void): void {
    const cancel = this.#parts.timers.after(span, what, () => {
      this.#waits.delete(cancel);
      callback();
    });
    this.#waits.add(cancel);
  }

  #reopen(): void {
    this.#state = "open";
    for (const send of this.#unanswered.splice(0)) send();
  }

  #forget(): void {
    this.#generation++;
    this.#channels.clear();
    this.underWay.splice(0);
  }

  /** Sends it, again and again where the connection ends before it is answered. */
  async #ask(what: string | undefined, onAnswer: () => void): Promise<void> {
    for (;;) {
      if (this.#state === "ended") throw new Error("Connection is closed.");
      if (this.#state !== "open") await new Promise<void>((resolve) => void this.#unanswered.push(resolve));
      const asked = this.#generation;
      if (what !== undefined) await this.#parts.send(what);
      if (asked !== this.#generation) continue;
      onAnswer();
      return;
    }
  }
}

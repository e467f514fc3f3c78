import { ApiError } from "../errors.ts";
import { type KubeObject, kubeObjectSchema } from "../kube-object.ts";
import type { Failure } from "../reflector/failure.ts";
import { type Action, step, type Step, type StreamInput } from "../reflector/stream.ts";
import { type Beginning, newStream, type StreamState } from "../reflector/stream-state.ts";
import type { ObjectList } from "../reply.ts";
import type { WatchFrame } from "../watch-frames.ts";
import { bucketObject } from "./objects.ts";

export const object = (name: string, resourceVersion: string): KubeObject =>
  kubeObjectSchema.parse(bucketObject(name, { resourceVersion }));
export const page = (
  resourceVersion: string,
  items: readonly KubeObject[] = [],
  token?: string,
): StreamInput => {
  const list: ObjectList = { resourceVersion, items, continue: token, remaining: undefined };
  return { type: "page", page: list };
};
export const frame = (one: WatchFrame): StreamInput => ({ type: "frames", frames: [one] });
export const modified = (name: string, version: string) =>
  frame({ type: "MODIFIED", object: object(name, version) });
export const added = (name: string, version: string) =>
  frame({ type: "ADDED", object: object(name, version) });
export const deleted = (name: string, version: string) =>
  frame({ type: "DELETED", object: object(name, version) });
export const bookmark = (resourceVersion: string, initialEventsEnd = false) =>
  frame({ type: "BOOKMARK", resourceVersion, initialEventsEnd });
export const errorFrame = (kind: ApiError["kind"], status: number) =>
  frame({
    type: "ERROR",
    error: new ApiError({ kind, status, reason: kind, serverMessage: "", request: "WATCH" }),
  });
export const failed = (kind: Failure["kind"], retryAfter?: number): StreamInput => ({
  type: "failed",
  failure: { kind, reason: "Because", message: "", retryAfter },
});

/** A stream whose server does not stream listings. */
export const paged = (beginning: Beginning = {}): StreamState =>
  newStream({ ...beginning, streamsLists: false });

/** Takes steps on a clock of its own. Waits are sat out, and remembered. */
export class Run {
  state: StreamState;
  last: Step;
  now = 0;
  random = 0;
  readonly waits: number[] = [];
  constructor(state: StreamState = paged()) {
    this.state = state;
    this.last = this.give({ type: "started" });
  }
  give(input: StreamInput): Step {
    this.last = step(this.state, input, { now: this.now, random: this.random });
    this.state = this.last.state;
    return this.last;
  }
  /** Gives inputs; sits out the wait that follows each, if one does. */
  then(...inputs: readonly StreamInput[]): Action {
    for (const input of inputs) {
      this.give(input);
      this.sitOut();
    }
    return this.last.action;
  }
  after(span: number, ...inputs: readonly StreamInput[]): Action {
    this.now += span;
    return this.then(...inputs);
  }
  private sitOut(): void {
    const { action } = this.last;
    if (action.do !== "wait") return;
    this.waits.push(action.span);
    this.now += action.span;
    this.give({ type: "waited" });
  }
  get told(): readonly string[] {
    return this.last.tell.map(({ tell }) => tell);
  }
}
export const watching = (version = "100"): Run => {
  const run = new Run();
  run.then(page(version), { type: "opened" });
  return run;
};
export const opened: StreamInput = { type: "opened" };
export const closed: StreamInput = { type: "closed" };
export const silent: StreamInput = { type: "silent" };

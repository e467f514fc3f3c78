import { ApiError } from "../errors.ts";
import { type KubeObject, kubeObjectSchema } from "../objects/kube-object.ts";
import type { Failure } from "../reflector/failure.ts";
import { type StreamAction, step, type StreamStep, type StreamInput } from "../reflector/stream.ts";
import { type StreamStart, newStream, type StreamState } from "../reflector/stream-state.ts";
import type { ObjectList } from "../client/reply.ts";
import type { WatchFrame } from "../client/watch-frames.ts";
import { bucketObject } from "./objects.ts";

export const bucketOf = (name: string, resourceVersion: string): KubeObject =>
  kubeObjectSchema.parse(bucketObject(name, { resourceVersion }));
export const pageInput = (
  resourceVersion: string,
  items: readonly KubeObject[] = [],
  token?: string,
): StreamInput => {
  const list: ObjectList = { resourceVersion, items, continue: token, remaining: undefined };
  return { type: "page", page: list };
};
export const frameInput = (one: WatchFrame): StreamInput => ({ type: "frames", frames: [one] });
export const modifiedInput = (name: string, version: string) =>
  frameInput({ type: "MODIFIED", object: bucketOf(name, version) });
export const addedInput = (name: string, version: string) =>
  frameInput({ type: "ADDED", object: bucketOf(name, version) });
export const deletedInput = (name: string, version: string) =>
  frameInput({ type: "DELETED", object: bucketOf(name, version) });
export const bookmarkInput = (resourceVersion: string, initialEventsEnd = false) =>
  frameInput({ type: "BOOKMARK", resourceVersion, initialEventsEnd });
export const errorFrame = (kind: ApiError["kind"], status: number) =>
  frameInput({
    type: "ERROR",
    error: new ApiError({ kind, status, reason: kind, serverMessage: "", request: "WATCH" }),
  });
export const failedInput = (kind: Failure["kind"], retryAfter?: number): StreamInput => ({
  type: "failed",
  failure: { kind, reason: "Because", message: "", retryAfter },
});

/** A stream of a server that does not stream lists. */
export const paged = (beginning: StreamStart = {}): StreamState =>
  newStream({ ...beginning, streamsLists: false });

/** Steps a stream on a virtual clock. `waits` records the waits, ms, which end at once. */
export class StreamRun {
  state: StreamState;
  last: StreamStep;
  now = 0;
  random = 0;
  readonly waits: number[] = [];
  constructor(state: StreamState = paged()) {
    this.state = state;
    this.last = this.take({ type: "started" });
  }
  take(input: StreamInput): StreamStep {
    this.last = step(this.state, input, { now: this.now, random: this.random });
    this.state = this.last.state;
    return this.last;
  }
  /** Takes inputs, and ends the wait after each, if there is one. */
  then(...inputs: readonly StreamInput[]): StreamAction {
    for (const input of inputs) {
      this.take(input);
      this.sitOut();
    }
    return this.last.action;
  }
  after(span: number, ...inputs: readonly StreamInput[]): StreamAction {
    this.now += span;
    return this.then(...inputs);
  }
  private sitOut(): void {
    const { action } = this.last;
    if (action.do !== "wait") return;
    this.waits.push(action.span);
    this.now += action.span;
    this.take({ type: "waited" });
  }
  get observed(): readonly string[] {
    return this.last.observations.map(({ type }) => type);
  }
}
export const watching = (version = "100"): StreamRun => {
  const run = new StreamRun();
  run.then(pageInput(version), { type: "opened" });
  return run;
};
export const opened: StreamInput = { type: "opened" };
export const closed: StreamInput = { type: "closed" };
export const silent: StreamInput = { type: "silent" };

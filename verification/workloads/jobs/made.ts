import type { JsonObject } from "../../../packages/sandbox/src/json.ts";

/** A Job that the sequence has made, as far as the next action is chosen by it. */
export interface Made {
  readonly name: string;
  object: JsonObject;
  /** It was deleted since. */
  gone: boolean;
  suspended: boolean;
  /** Failures of pods that may still come: after each, the next pod comes later. */
  failures: number;
}

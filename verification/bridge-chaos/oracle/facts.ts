import type { Milliseconds } from "@drover/controller";
import type { Timed } from "../../harness/event-log.ts";
import type { FaultKind } from "../schedules/schedule.ts";

/** A version of the one kind that a schedule is about. They come from etcd: integers that grow. */
export type Version = number;

/** An event, as a part of the suite observed it. `key` is an object's `namespace/name`. */
export type Observation =
  | Changed
  | Ran
  | Asked
  | Answered
  /** A fault stands ready, has met a request or an event, or is taken away after so many of them. */
  | {
      readonly fact: "fault";
      readonly kind: FaultKind;
      readonly phase: "armed" | "bites" | "over";
      readonly bites: number;
    }
  | { readonly fact: "bridge"; readonly what: "started" | "killed" | "ended"; readonly how: string }
  /** From here on nothing breaks any more. */
  | { readonly fact: "faults over" }
  /** Whatever had to be seen was seen. After it, some objects change once more. */
  | { readonly fact: "at rest" };

/** The recorder observed that a change was committed. */
export interface Changed {
  readonly fact: "changed";
  readonly key: string;
  readonly version: Version;
  /** A controller must look at the object again: not when its status alone is another one. */
  readonly matters: boolean;
  /** The object as it is since. */
  readonly now: ObservedVersion;
  /** The object that it refers to since, whose changes must be looked at, too. */
  readonly refers?: string | undefined;
}

/** A run has looked at its object. */
export interface Ran {
  readonly fact: "ran";
  readonly key: string;
  readonly startedAt: Milliseconds;
  /** The version of the world that was read: everything committed up to it, and nothing after it. */
  readonly read: Version;
  readonly observed: ObservedVersion;
  /** The reasons of the run, by the queue. */
  readonly reasons: readonly string[];
  /** The uid that the queue holds for the object's, and the uid that it replaced. */
  readonly uid?: string | undefined;
  readonly replaced?: string | undefined;
}

/** An object as it was seen. */
export type ObservedVersion = { readonly uid: string; readonly version: Version } | "gone";

/** The bridge has asked for something. */
export interface Asked {
  readonly fact: "asked";
  readonly id: number;
  /** Which bridge: they are killed, and know nothing of each other. */
  readonly life: number;
  readonly verb: Verb;
  /** The collection: the path without its query. */
  readonly path: string;
  readonly query: string;
}

/** `page` goes on with a list, `stream` is a list that comes as a watch. */
export type Verb = "list" | "page" | "watch" | "stream" | "other";

/** The proxy began to answer. */
export interface Answered {
  readonly fact: "answered";
  readonly id: number;
  /** 0: none, the connection was broken or is left hanging. */
  readonly status: number;
  /** Until when, on the clock of the facts, the bridge was asked to leave the server alone. */
  readonly closedUntil?: Milliseconds | undefined;
  /** The fault that it came from; without one it is the API server's own. */
  readonly fault?: FaultKind | undefined;
}

/** An entry of the log that the oracle reads. Neither bridge nor queue write anything into it. */
export type Fact = Timed<Observation>;

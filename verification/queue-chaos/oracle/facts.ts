import type { Milliseconds } from "@drover/controller";
import type { RunOutcome } from "@drover/queue";
import type { Timed } from "../../harness/event-log.ts";
import type { ProcessFact } from "../processes/messages.ts";
import type { FaultKind } from "../schedules/schedule.ts";

/** The kind of a run's outcome. */
export type OutcomeKind = RunOutcome["kind"];

/** An event, as a part of the suite observed it. `key` is an object's name, `token` one run's fencing epoch. */
export type Observation =
  | (ProcessFact & { readonly process: string })
  /** A change is in the world; its version is one more than the last. */
  | { readonly fact: "committed"; readonly key: string; readonly version: number }
  /** A producer has to wake these keys, with the versions that it has seen. Repeated, it is the same batch. */
  | {
      readonly fact: "requested";
      readonly batch: number;
      readonly process: string;
      readonly wakes: Readonly<Record<string, number>>;
    }
  /** Redis may have lost data: a producer wakes every key once more. */
  | { readonly fact: "relisted"; readonly process: string; readonly why: string }
  /** A handler was called, and has read `version`. `sent` is when it asked. */
  | {
      readonly fact: "started";
      readonly key: string;
      readonly token: string;
      readonly process: string;
      readonly version: number;
      /** Failures in a row, as the queue counts them. */
      readonly fails: number;
      readonly sent: Milliseconds;
    }
  /** A process is no more: as the schedule wanted it, or not. */
  | { readonly fact: "exited"; readonly process: string; readonly wanted: boolean; readonly how: string }
  /** A fault begins or is over. `loses`: data of Redis may be gone with it. */
  | {
      readonly fact: "fault";
      readonly kind: FaultKind;
      readonly phase: "begins" | "over";
      readonly loses: Loss;
      readonly detail: string;
    }
  /** How many BullMQ jobs there are, by state. */
  | { readonly fact: "jobs"; readonly waiting: number; readonly active: number; readonly failed: number }
  /** From here on nothing breaks any more, and every run succeeds. */
  | { readonly fact: "faults over" }
  /** A run has seen every change so far, and nothing is left to do. Then every key is changed once more. */
  | { readonly fact: "at rest" };

/** The data that a fault may take from the ledger: nothing; what came last, or all of it; any of its keys, without a trace. */
export type Loss = "nothing" | "data" | "integrity";

/** An entry of the log that the oracle reads. The queue writes nothing into it. */
export type Fact = Timed<Observation>;

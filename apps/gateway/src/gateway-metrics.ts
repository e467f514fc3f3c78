import {
  ConflictError,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { Counter, Histogram, type Registry } from "prom-client";

/** Seconds; from a no-op to the default timeout. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of calls. */
export interface CallMetrics {
  /** @param error the error that was thrown; undefined for a success. */
  called(fn: string, seconds: number, error: unknown): void;
  completed(outcome: string): void;
}

export function callMetrics(registry: Registry): CallMetrics {
  const calls = new Counter({
    name: "drover_gateway_calls_total",
    help: "Calls of functions, by outcome.",
    labelNames: ["function", "outcome"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "drover_gateway_call_seconds",
    help: "Time from the start of a call until its answer or its completion was taken, in seconds.",
    labelNames: ["function"],
    buckets,
    registers: [registry],
  });
  const completions = new Counter({
    name: "drover_gateway_completions_total",
    help: "Completions received, by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return {
    called(fn, duration, error) {
      calls.inc({ function: fn, outcome: outcomeLabel(error) });
      seconds.observe({ function: fn }, duration);
    },
    completed: (outcome) => completions.inc({ outcome }),
  };
}

/** The value of the label `outcome`: one of six words, never one that a function chooses. */
function outcomeLabel(error: unknown): string {
  if (error === undefined) return "done";
  if (error instanceof RetryAfterError || error instanceof ThrottledError) return "wait";
  if (error instanceof ConflictError) return "conflict";
  if (error instanceof TerminalError) return "terminal";
  return error instanceof RetryError ? "retry" : "stopped";
}

import {
  ConflictError,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { openRegistry } from "@drover/runtime";
import { expect, it } from "vitest";
import { callMetrics } from "./gateway-metrics.ts";

it.each([
  ["done", undefined],
  ["wait", new RetryAfterError("later", { after: "1s" })],
  ["wait", new ThrottledError("later", { account: "a", after: "1s" })],
  ["conflict", new ConflictError("another")],
  ["terminal", new TerminalError("never")],
  ["retry", new RetryError("again")],
  ["stopped", new Error("aborted")],
])("counts a call as %s, with its time", async (outcome, error) => {
  const registry = openRegistry();
  callMetrics(registry).called("web/greetings", 0.25, error);
  const text = await registry.metrics();
  expect(text.match(/^drover_gateway_calls_total\{.*$/gm)).toEqual([
    `drover_gateway_calls_total{function="web/greetings",outcome="${outcome}"} 1`,
  ]);
  expect(text).toContain('drover_gateway_call_seconds_sum{function="web/greetings"} 0.25');
});

it("counts completions by what came of them", async () => {
  const registry = openRegistry();
  callMetrics(registry).completed("not held");
  expect(await registry.metrics()).toContain('drover_gateway_completions_total{outcome="not held"} 1');
});

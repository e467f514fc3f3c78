import { defineController, RetryAfterError, TerminalError } from "@drover/controller";
import { functionSettings, readSettings, runFunction, servedSettings, serveFunction } from "@drover/runtime";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";

const kindOf = (kind: string) => exampleKind(kind, { spec: { way: z.string() } });

/** Objects of a function that takes its keys itself, and of one that is called. */
export const Leak = kindOf("Leak");
export const Drip = kindOf("Drip");

/** What comes from outside, and so cannot be known from here. */
type Ask = (command: string, ...args: string[]) => Promise<unknown>;

/** The ways in which errors carry secrets. Each text contains the name of its way, so that a test can find it. */
export const ways: Readonly<Record<string, (canary: string, ask: Ask) => unknown>> = {
  "http-client": (canary) =>
    Object.assign(new Error("http-client failed: GET https://me:" + canary + "@api.example.com/"), {
      name: "AxiosError",
      code: "ERR_BAD_REQUEST",
      isAxiosError: true,
      config: { headers: { Authorization: `Bearer ${canary}` }, auth: { password: canary }, data: canary },
      request: { _header: `Authorization: Bearer ${canary}` },
      response: { status: 401, data: canary, headers: { "set-cookie": [canary] } },
      toJSON: () => ({ canary }),
    }),
  fetch: (canary) =>
    new TypeError("fetch failed", {
      cause: Object.assign(new Error(`connect ECONNREFUSED of https://${canary}@10.0.0.1`), {
        code: "ECONNREFUSED",
        headers: [["authorization", `Bearer ${canary}`]],
      }),
    }),
  causes: (canary) => {
    const cause = new Error("b", {
      cause: Object.assign(new Error(`Authorization: Basic ${canary}`), { body: canary }),
    });
    return new Error("causes failed", { cause });
  },
  several: (canary) =>
    new AggregateError([Object.assign(new Error("a"), { token: canary })], "several failed"),
  getter: (canary) =>
    Object.defineProperty(new Error("getter failed"), "cause", {
      enumerable: true,
      get: () => {
        throw new Error(canary);
      },
    }),
  cyclic: (canary) => {
    const error = Object.assign(new Error("cyclic failed"), { password: canary });
    return Object.assign(error, { cause: new AggregateError([error], "again", { cause: error }) });
  },
  "no-error": (canary) => ({ message: "no-error failed", body: canary }),
  text: (canary) => `text failed: password=${canary}`,
  json: (canary) => {
    try {
      return JSON.parse(`{"json failed": ${canary}`) as unknown;
    } catch (error) {
      return error;
    }
  },
  terminal: (canary) =>
    new TerminalError(`terminal failed: {"headers":{"x-api-key":"${canary}"}}`, { cause: { canary } }),
  waits: (canary) => new RetryAfterError(`waits failed: Bearer ${canary}`, { after: "1h" }),
  redis: (canary, ask) => ask("NOSUCHCOMMAND", canary).catch((error: unknown) => error),
  "redis-arguments": (canary, ask) => ask("HSET", "k", canary).catch((error: unknown) => error),
  timeout: (canary) => new DOMException(`timeout failed: https://me:${canary}@host/`, "TimeoutError"),
};

/** @param secret where the canaries come from, as a setting of the function. */
const controllerOf = (kind: typeof Leak, secret: string, ask: Ask) =>
  defineController({
    for: kind,
    name: kind.plural,
    retry: { first: "1m" },
    async reconcile({ spec, log, key, announce }) {
      const { way } = spec;
      const canary = `${secret}-${way}`;
      log.info(
        { key, headers: { authorization: `Bearer ${canary}` }, url: new URL(`http://me:${canary}@host`) },
        "It leaks",
      );
      announce({
        type: "Warning",
        reason: "Leaks",
        action: "Leak",
        note: `${way} noted: redis://me:${canary}@host`,
      });
      if (way === "condition") {
        const message = `condition failed: Authorization: Bearer ${canary}`;
        return { conditions: [{ type: "Ready", status: "False", reason: "Leaks", message }] };
      }
      if (way === "uncaught") {
        setTimeout(() => {
          throw Object.assign(new Error("uncaught failed"), {
            config: { headers: { Authorization: `Bearer ${canary}` } },
          });
        });
        await delay(60_000);
      }
      throw await ways[way]?.(canary, ask);
    },
  });

if (import.meta.main) {
  const secret = z.string().regex(/^CANARY/, { error: "give one that begins as it should" });
  const none: Ask = () => Promise.resolve(new Error("There is no Redis."));
  if (process.env["DROVER_WEBHOOK_AUDIENCE"] === undefined) {
    await runFunction({
      name: "leaky",
      settings: () => readSettings(functionSettings.extend({ leakySecret: secret }), process.env),
      controller: ({ leakySecret }, { redis }) => ({
        controller: controllerOf(Leak, leakySecret, (...words) => redis.call(...words)),
      }),
    });
  } else {
    await serveFunction({
      name: "dripping",
      settings: () => readSettings(servedSettings.extend({ leakySecret: secret }), process.env),
      controller: ({ leakySecret }) => ({ controller: controllerOf(Drip, leakySecret, none) }),
    });
  }
}

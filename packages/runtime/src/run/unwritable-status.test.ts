import {
  type Announcement,
  type Controller,
  type ControllerDefinition,
  controllerFrom,
  objectKey,
  type ObjectKey,
  type Resource,
  RetryAfterError,
  silentLog,
} from "@drover/controller";
import { ApiError, builtin, type KubeObject, refOf } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { checkedResult } from "../schema/checked-result.ts";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { Cup, installStricterCups } from "./cups.fixture.ts";
import { runOf as firstRunOf } from "./widgets.fixture.ts";
import { reconcileOnce } from "./reconcile-once.ts";

const ref = refOf(Cup);

const { sandbox, client } = await sandboxOfFile();
let key: ObjectKey;
let serial = 0;
let clock = Date.parse("2026-01-01T00:00:00Z");
const announced: Announcement[] = [];
const written: string[] = [];

await installStricterCups(client);
sandbox.faults.respond(({ method, path }) => {
  if (method !== "GET") written.push(`${method} ${path.replace(/.*cups\//, "")}`);
  return undefined;
});
beforeEach(async () => {
  const name = `c${serial++}`;
  key = objectKey({ namespace: "default", name });
  await client.create(ref, { metadata: { namespace: "default", name }, spec: {} });
  for (const log of [announced, written]) log.splice(0);
});

type Definition = Partial<ControllerDefinition<typeof Cup>>;

/** Runs the object. Returns the outcome without the observed version. */
const run = (definition: Definition, fails = 0): Promise<Omit<RunOutcome, "observed">> =>
  runOf(controllerFrom({ for: Cup, reconcile: () => Promise.resolve(undefined), ...definition }), fails);

async function runOf<R extends Resource>(
  controller: Controller<R>,
  fails = 0,
): Promise<Omit<RunOutcome, "observed">> {
  const first = firstRunOf(key.slice(8));
  const one: Run = { ...first, claim: { ...first.claim, fails } };
  const announce = (_: KubeObject, announcement: Announcement) => void announced.push(announcement);
  const now = () => new Date((clock += 60_000));
  const { observed: _, ...outcome } = await reconcileOnce(
    { controller, client, log: silentLog, announce, random: () => 1, now },
    one,
  );
  return outcome;
}
/** A controller that returns a result of a wrong type. */
const returning = (result: unknown): Definition => ({ reconcile: () => Promise.resolve(result as never) });
const inStatus = (status: unknown): Definition => returning({ status });

const statusSchema = z.looseObject({ conditions: z.array(z.looseObject({ type: z.string() })).default([]) });
async function look() {
  const status = statusSchema.parse((await client.get(ref, key))?.["status"] ?? {});
  const { conditions, observedGeneration: _, ...fields } = status;
  return { fields, condition: (type: string) => conditions.find((one) => one.type === type) };
}

const circular: Record<string, unknown> = { text: "a" };
circular["inner"] = circular;
const within: unknown[] = [];
within.push({ within });
const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as unknown;

describe("a result that cannot be written is refused, with the path:", () => {
  it.each<[string, unknown, string]>([
    ["NaN", { n: 0 / 0 }, "status.n: JSON has no NaN"],
    ["Infinity", { n: 1 / 0 }, "status.n: JSON has no Infinity"],
    ["NaN far inside", { inner: { deep: { n: NaN } } }, "status.inner.deep.n: JSON has no NaN"],
    ["NaN in any JSON", { any: [{ a: NaN }] }, "status.any.0.a: JSON has no NaN"],
    ["a bigint for a number", { n: 2n ** 53n + 1n }, "status.n: a JavaScript number cannot hold an integer"],
    ["a bigint of 65 bits", { any: { big: 2n ** 63n } }, "status.any.big: it has more than 64 bits"],
    ["a bigint of 65 bits below 0", { any: [-(2n ** 63n) - 1n] }, "status.any.0: it has more than 64 bits"],
    ["a circle", circular, "status.inner: it contains itself"],
    ["a circle in any JSON", { any: within }, "status.any.0.within: it contains itself"],
    ["deep nesting", { any: deep }, "is nested deeper than 100"],
    ["a function", { text: () => 1 }, "status.text: JSON has no function"],
    ["a symbol", { any: Symbol("a") }, "status.any: JSON has no symbol"],
    ["a Date", { text: new Date(0) }, "status.text: a Date is not the same in JSON"],
    ["an Error", { text: new Error("x") }, "status.text: an Error is not the same in JSON"],
    ["a Map", { counts: new Map([["a", 1]]) }, "status.counts: a Map is not the same in JSON"],
    ["a promise", { any: Promise.resolve(1) }, "status.any: a Promise is not the same in JSON"],
    ["an object with toJSON", { any: { toJSON: () => 1 } }, "status.any: an Object is not the same in JSON"],
    ["undefined in a list", { list: [undefined, "x"] }, "status.list.0: JSON has no undefined"],
    ["half a character", { text: "a\ud800" }, "status.text: half of a surrogate pair"],
    ["a number for a string", { text: 5 }, "status.text: Invalid input: expected string"],
    ["null", { text: null }, "status.text: Invalid input: expected string"],
    ["a string for a number", { counts: { a: "1" } }, "status.counts.a: Invalid input"],
    ["an unknown field", { text: "a", extra: 1 }, "status.extra: the kind's status schema has no such field"],
    ["an unknown field inside", { inner: { depe: 1 } }, "status.inner.depe: the kind's status schema has"],
    ["an unknown field in a list", { items: [{}, { m: 1 }] }, "status.items.1.m: the kind's status schema"],
    ["a field __proto__", JSON.parse('{"__proto__":{"x":1}}'), "status.__proto__: the kind's status schema"],
    ["conditions", { conditions: [] }, "status.conditions: return conditions next to status, not in it"],
    ["observedGeneration", { observedGeneration: 99 }, "status.observedGeneration: the runtime writes it"],
    [
      "a value that the schema's refinement refuses",
      { list: ["a", "b", "c", "d"] },
      "status: Three are enough.",
    ],
    ["a string", "hello", "status: Invalid input: expected object"],
    ["a list", [1], "status: Invalid input: expected object"],
    ["more than a mebibyte", { text: "x".repeat(2 ** 20) }, "status: it has more than 1048576 bytes"],
  ])("%s", async (_, status, problem) => {
    expect(await run(inStatus({ text: "before" }))).toMatchObject({ kind: "done" });
    expect(await run(inStatus(status))).toMatchObject({ kind: "retry" });
    const { fields, condition } = await look();
    expect(fields).toEqual({ text: "before" });
    expect(condition("Ready")).toMatchObject({ status: "False", reason: "InvalidResult" });
    expect(condition("Ready")?.["message"]).toContain(problem);
    expect(announced.at(-1)).toMatchObject({ type: "Warning", reason: "InvalidResult" });

    written.splice(0);
    await run(inStatus(status));
    expect(written, "an unchanged status is not written again").toEqual([]);
    await run(inStatus({ text: "after" }));
    expect((await look()).condition("Ready")).toMatchObject({ status: "True" });
  });

  const condition = { type: "Full", status: "True", reason: "Poured", message: "It is." };
  it.each<[string, unknown, string]>([
    ["a result that is not an object", 5, "the result: Invalid input: expected object"],
    ["an unknown field", { requeAfter: "5s" }, 'the result: Unrecognized key: "requeAfter"'],
    ["an invalid duration", { requeueAfter: "5" }, "requeueAfter: "],
    ["a number for a duration", { requeueAfter: 5 }, "requeueAfter: Invalid input: expected string"],
    ["a condition's type", { conditions: [{ ...condition, type: "not a word" }] }, "conditions.0.type: "],
    ["a condition's status", { conditions: [{ ...condition, status: true }] }, "conditions.0.status: "],
    ["a condition twice", { conditions: [condition, condition] }, "conditions: Give each type once."],
    ["an account", { account: 5 }, "account: "],
  ])("%s", async (_, result, problem) => {
    expect(await run(returning(result))).toMatchObject({ kind: "retry" });
    const ready = (await look()).condition("Ready");
    expect(ready).toMatchObject({ status: "False", reason: "InvalidResult" });
    expect(ready?.["message"]).toContain(problem);
  });

  it.each<[string, unknown]>([
    ["fields that are undefined", { text: undefined, inner: undefined }],
    [
      "nested names that the status itself may not have",
      { counts: { conditions: 1, observedGeneration: 2 } },
    ],
    ["an object twice", { any: [condition, condition] }],
    ["an object of a class", { inner: Object.create({ inherited: 1 }) as object }],
    ["NUL, and any character", { text: "a\u0000\u{1f4a7}\u2028" }],
    ["an empty status", {}],
    ["minus zero", { n: -0 }],
  ])("%s is valid, and is written once", async (_, status) => {
    expect(await run(inStatus(status))).toMatchObject({ kind: "done" });
    expect((await look()).condition("Ready")).toMatchObject({ status: "True" });
    written.splice(0);
    await run(inStatus(status));
    expect(written).toEqual([]);
  });
});

it("a status is written as the output of its schema, with the defaults of its CRD", () => {
  const status = z.object({ n: z.number().default(3), text: z.string().optional() });
  const given = { status: { text: "a" }, requeueAfter: "5s", account: "b" };
  expect(checkedResult({ ...Cup, status }, given)).toEqual({ ...given, status: { n: 3, text: "a" } });
  expect(checkedResult({ ...Cup, status }, undefined)).toEqual({});
});

describe("a write that the API server refuses", () => {
  /** The first or all writes of the status from now on. */
  const refuse = (status: number, most = Infinity): (() => void) => {
    let count = 0;
    return sandbox.faults.respond(({ method, path }) => {
      const isStatus = method === "PUT" && path.endsWith(`${key.slice(8)}/status`);
      return isStatus && count++ < most ? { status, message: "status.text: Too long" } : undefined;
    });
  };

  it("because its schema is stricter is reported in the conditions and an Event, and retried with backoff", async () => {
    await run(inStatus({ text: "before", n: 1 }));
    expect(await run(inStatus({ text: "too long by far" }))).toMatchObject({ kind: "retry" });
    const { fields, condition } = await look();
    expect(fields).toEqual({ text: "before", n: 1 });
    expect(condition("Ready")).toMatchObject({ status: "False", reason: "WriteRefused" });
    expect(condition("Ready")?.["message"]).toMatch(/status\.text: .* Correct what reconcile returns, or/);
    expect(announced.at(-1)).toMatchObject({ type: "Warning", reason: "WriteRefused" });
    written.splice(0);
    await run(inStatus({ text: "too long by far" }));
    expect(written, "one write, of the refused status").toHaveLength(1);
    await run(inStatus({ text: "short" }));
    expect((await look()).condition("Ready")).toMatchObject({ status: "True" });
  });

  it("of a called function, which has only the CRD's schema, is reported there, too", async () => {
    const anything = z.looseObject({});
    const called = { ...Cup, spec: anything, status: anything };
    const returned = { status: { n: "five" } };
    const controller = controllerFrom({ for: called, reconcile: () => Promise.resolve(returned) });
    expect(await runOf(controller)).toMatchObject({ kind: "retry" });
    const ready = (await look()).condition("Ready");
    expect(ready).toMatchObject({ status: "False", reason: "WriteRefused" });
    expect(ready?.["message"]).toContain("status.n");
  });

  it.each([400, 413])("with %d is reported in the conditions", async (code) => {
    const healed = refuse(code, 1);
    expect(await run(inStatus({ text: "a" }))).toMatchObject({ kind: "retry" });
    healed();
    expect((await look()).condition("Ready")).toMatchObject({ status: "False", reason: "WriteRefused" });
  });

  it("because of existing fields is reported with only conditions", async () => {
    await run(inStatus({ text: "stands" }));
    const healed = refuse(422, 1);
    await run({ reconcile: () => Promise.reject(new Error("no")) });
    healed();
    const { fields, condition } = await look();
    expect(fields).toEqual({});
    expect(condition("Ready")).toMatchObject({ status: "False", message: "no" });
  });

  it.each([403, 422])("of every status is reported in an Event: %d", async (code) => {
    const healed = refuse(code);
    expect(await run(inStatus({ text: "a" }))).toMatchObject({ kind: "retry" });
    healed();
    expect((await look()).condition("Ready")).toBeUndefined();
    expect(announced).toHaveLength(1);
    expect(announced[0]).toMatchObject({ type: "Warning" });
    expect(announced[0]?.note).toContain("Too long");
  });

  it("of a finalizer is reported in the conditions", async () => {
    const healed = sandbox.faults.respond(({ method }) => (method === "PATCH" ? { status: 403 } : undefined));
    expect(await run({ finalize: () => Promise.resolve() })).toMatchObject({ kind: "retry" });
    healed();
    expect((await look()).condition("Ready")).toMatchObject({ status: "False", reason: "Forbidden" });
  });

  it("because of a conflict is not announced", async () => {
    const healed = refuse(409);
    expect(await run(inStatus({ text: "a" }))).toEqual({ kind: "conflict" });
    healed();
    expect(announced).toEqual([]);
  });
});

describe("a run that is requeued at once", () => {
  const again = (message: string): Definition => ({
    reconcile: () => Promise.reject(new RetryAfterError(message, { after: "1ms", reason: "Working" })),
  });

  it("with the same message is retried with backoff, and Stalled after some retries", async () => {
    expect(await run(again("One by one."))).toEqual({ kind: "wait", after: 1 });
    expect(await run(again("One by one."), 0)).toMatchObject({ kind: "retry" });
    expect(await run(again("One by one."), 1)).toMatchObject({ kind: "retry" });
    expect((await look()).condition("Stalled")).toBeUndefined();
    for (const fails of [2, 3]) {
      written.splice(0);
      expect(await run(again("One by one."), fails)).toMatchObject({ kind: "retry" });
      expect(written).toHaveLength(fails === 2 ? 1 : 0);
    }
    const { condition } = await look();
    expect(condition("Stalled")).toMatchObject({ status: "True", reason: "NoProgress" });
    expect(condition("Ready")).toMatchObject({ reason: "Working", message: "One by one." });
    expect(announced.at(-1)).toMatchObject({ type: "Warning", reason: "NoProgress" });

    expect(await run(again("Two."), 4), "progress").toEqual({ kind: "wait", after: 1 });
    expect((await look()).condition("Stalled")).toBeUndefined();
  });

  it("with the same status is retried with backoff, and then Stalled", async () => {
    const result = returning({ status: { n: 1 }, requeueAfter: "999ms", account: "a" });
    expect(await run(result)).toEqual({ kind: "done", after: 999, account: "a" });
    expect(await run(result)).toMatchObject({ kind: "retry", account: "a" });
    await run(result, 2);
    expect((await look()).condition("Stalled")).toMatchObject({ reason: "NoProgress" });
    await run(returning({ status: { n: 1 } }), 3);
    expect((await look()).condition("Stalled"), "it is not requeued").toBeUndefined();
  });

  it("is not delayed if it has written an object", async () => {
    let made = 0;
    const making: Definition = {
      async reconcile(context) {
        const metadata = { namespace: "default", name: `made-${serial}-${made++}` };
        await context.client.create(builtin.configMap, { metadata });
        // A second create is refused, which is not progress, but does not undo it.
        await context.client.create(builtin.configMap, { metadata }).catch(() => undefined);
        throw new RetryAfterError("Making.", { after: "1ms" });
      },
    };
    for (let runs = 0; runs < 3; runs++) expect(await run(making)).toEqual({ kind: "wait", after: 1 });
  });

  it("is retried with backoff if its write was refused", async () => {
    const refused: Definition = {
      async reconcile(context) {
        const body = { metadata: { resourceVersion: "1", labels: { a: "b" } } };
        await context.client.patch(ref, key, { type: "merge", body }).catch(() => undefined);
        throw new RetryAfterError("Labelling.", { after: "1ms" });
      },
    };
    await run(refused);
    expect(await run(refused)).toMatchObject({ kind: "retry" });
  });

  it("after at least its resync or a second is not delayed", async () => {
    const result = returning({ requeueAfter: "1s" });
    for (let runs = 0; runs < 3; runs++) expect(await run(result)).toEqual({ kind: "done", after: 1_000 });
    const often: Definition = { resyncEvery: "100ms" };
    for (let runs = 0; runs < 3; runs++) expect(await run(often)).toEqual({ kind: "done", after: 100 });
  });

  it("by the Retry-After of a server keeps that time and message", async () => {
    const detail = { status: 429, reason: "", serverMessage: "busy", request: "GET /", retryAfter: 500 };
    const error = new ApiError({ kind: "TooManyRequests", ...detail });
    const busy: Definition = { reconcile: () => Promise.reject(error) };
    for (let runs = 0; runs < 3; runs++)
      expect(await run(busy)).toEqual({ kind: "retry", error: error.message, after: 500 });
  });

  it("in finalize is retried with backoff", async () => {
    const definition = (message: string): Definition => ({
      finalize: () => Promise.reject(new RetryAfterError(message, { after: "1ms" })),
    });
    await run(definition(""));
    await client.delete(ref, key);
    expect(await run(definition("Emptying."))).toMatchObject({ kind: "wait" });
    expect(await run(definition("Emptying."))).toMatchObject({ kind: "retry" });
  });
});

it("a run without an error is announced as Normal, unless it is stalled", async () => {
  const announcing = (...types: readonly string[]) =>
    run({
      reconcile: () =>
        Promise.resolve({
          conditions: types.map((type) => ({
            type,
            status: type === "Ready" ? "False" : "True",
            reason: "RollingOut",
            message: "2 of 3",
          })),
        }),
    });
  await announcing("Ready");
  await announcing("Ready", "Stalled");
  expect(announced.map(({ type, reason }) => [type, reason])).toEqual([
    ["Normal", "RollingOut"],
    ["Warning", "RollingOut"],
  ]);
});

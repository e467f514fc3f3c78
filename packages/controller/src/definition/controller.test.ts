import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { StatusCondition } from "../resource/condition.ts";
import { controllerFrom, type ControllerDefinition, defineController } from "./controller.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { saucers } from "../function/cups.fixture.ts";
import { InvalidControllerError } from "./invalid-controller.ts";
import { reconcileFunctionOf } from "../function/reconcile-function-of.ts";
import {
  defineResource,
  type Resource,
  type SpecOf,
  type ObjectStatus,
  type StatusOf,
} from "../resource/resource.ts";

const Bucket = defineResource({
  group: "s3.example.com",
  version: "v1",
  kind: "Bucket",
  scope: "Namespaced",
  spec: z.object({ region: z.string(), versions: z.int().default(1), owner: z.string().optional() }),
  status: z.object({
    arn: z.string(),
    region: z.string().optional(),
    phase: z.enum(["Making", "Made"]).optional(),
    rules: z.array(z.object({ id: z.string() })).optional(),
    size: z.object({ bytes: z.number() }).optional(),
    byZone: z.record(z.string(), z.object({ up: z.boolean() })).optional(),
    source: z
      .discriminatedUnion("type", [
        z.object({ type: z.literal("copy"), from: z.string() }),
        z.object({ type: z.literal("new") }),
      ])
      .optional(),
    anything: z.unknown().optional(),
  }),
});
type Context = ReconcileContext<typeof Bucket>;
const nothing = () => Promise.resolve(undefined);

describe("a controller", () => {
  it("has defaults", async () => {
    const controller = defineController({ for: Bucket, reconcile: nothing });
    expect(controller).toMatchObject({
      name: "buckets.s3.example.com",
      copies: false,
      copiesFor: 10_000,
      concurrency: 8,
      resyncEvery: 36_000_000,
      timeout: 60_000,
      retry: { first: 500, longest: 300_000 },
      limits: {},
      finalizer: undefined,
    });
    await expect(controller.finalize({} as Context)).resolves.toBeUndefined();
  });

  it("has its declared settings", () => {
    const accounts = { aws: { perSecond: 5, burst: 10 } };
    const controller = defineController({
      for: Bucket,
      reconcile: nothing,
      copies: true,
      concurrency: 3,
      resyncEvery: "1h",
      timeout: "9s",
      retry: { first: "2s", longest: "2s", attempts: 4 },
      limits: { runs: { perSecond: 0.5, burst: 1 }, accounts },
    });
    expect(controller).toMatchObject({
      copies: true,
      concurrency: 3,
      resyncEvery: 3_600_000,
      timeout: 9_000,
      retry: { first: 2_000, longest: 2_000, attempts: 4 },
      limits: { runs: { perSecond: 0.5, burst: 1 }, accounts },
    });
  });

  it("needs its finalizer on every object, or as `needsFinalizer` decides", () => {
    const object = { metadata: {}, spec: {} } as Pick<Context, "metadata" | "spec">;
    const needs = (more: Partial<ControllerDefinition<typeof Bucket>>) =>
      controllerFrom({ for: Bucket, reconcile: nothing, finalize: nothing, ...more }).needsFinalizer(object);
    expect(needs({})).toBe(true);
    expect(needs({ needsFinalizer: () => false })).toBe(false);
  });

  it("has a finalizer with its name if it defines `finalize`", () => {
    const controller = defineController({ for: Bucket, name: "b", reconcile: nothing, finalize: nothing });
    expect(controller.finalizer).toBe("drover.dev/b");
  });

  it("is registered with what it owns and watches", () => {
    const secret = { ...saucers, kind: "Secret", plural: "secrets" } as const;
    const map = { ...secret, kind: "ConfigMap", plural: "configmaps" };
    const controller = defineController({
      for: Bucket,
      only: { namespaces: ["a"] },
      owns: [{ kind: secret, changed: ["data"] }],
      watches: [
        { kind: secret, names: { referencedBy: "spec.secret" } },
        { kind: map, names: () => Promise.resolve([]) },
      ],
      reconcile: nothing,
    });
    const { group, version, kind, plural, scope } = Bucket;
    expect(reconcileFunctionOf(controller)).toMatchObject({
      metadata: { name: "buckets.s3.example.com" },
      spec: {
        for: { group, version, kind, plural, scope, namespaces: ["a"] },
        owns: [{ ...secret, changed: ["data"] }],
        watches: [
          { ...secret, names: { referencedBy: "spec.secret" } },
          { ...map, names: { code: true } },
        ],
      },
    });
  });

  it("refuses two mapping functions for one kind", () => {
    const watched = { kind: saucers, names: () => Promise.resolve([]) };
    const namesake = { ...watched, kind: { ...saucers, group: "metrics.k8s.io" } };
    const watches = [watched, namesake];
    expect(defineController({ for: Bucket, watches, reconcile: nothing }).watches).toEqual(watches);
    expect(() => defineController({ for: Bucket, watches: [watched, watched], reconcile: nothing })).toThrow(
      /watches .*two functions for one kind/,
    );
  });

  it("is refused with two entries in owns for one kind, also in two versions", () => {
    const other = { ...saucers, version: "v2" };
    const owns = [{ kind: saucers }, { kind: { ...saucers, group: "b.example" } }];
    expect(defineController({ for: Bucket, owns, reconcile: nothing }).owns).toHaveLength(2);
    expect(() =>
      defineController({ for: Bucket, owns: [...owns, { kind: other }], reconcile: nothing }),
    ).toThrow(/owns has two entries for one kind\. Make them one/);
  });

  it("calls functions with the definition as `this`", async () => {
    const definition = {
      for: Bucket,
      arn: "arn:x",
      reconcile() {
        return Promise.resolve({ status: { arn: this.arn } });
      },
    };
    expect(await defineController(definition).reconcile({} as Context)).toEqual({ status: { arn: "arn:x" } });
  });

  it.each<[Partial<ControllerDefinition<typeof Bucket>>, string]>([
    [{ concurrency: 0 }, "concurrency is 0; give a whole number from 1 to 10000"],
    [{ concurrency: NaN }, "concurrency is NaN; give a whole number"],
    [{ concurrency: 1.5 }, "concurrency is 1.5; give a whole number"],
    [{ concurrency: -1 }, "concurrency is -1; give a whole number"],
    [{ concurrency: Infinity }, "concurrency is Infinity; give a whole number"],
    [{ concurrency: 1e308 }, "give a whole number"],
    [{ resyncEvery: "0s" }, "resyncEvery is zero; give a duration above it"],
    [{ copiesFor: "0s" }, "copiesFor is zero; give a duration above it"],
    [{ copiesFor: "25h" }, "copiesFor is 25h; at most 24h is possible"],
    [{ resyncEvery: "0.4ms" }, "resyncEvery is zero"],
    [{ resyncEvery: "5" }, 'resyncEvery is wrong: "5" has no unit. Write "5s"'],
    [{ resyncEvery: "25d" }, "longer than 24 days"],
    [{ retry: { first: "0s" } }, "retry.first is zero"],
    [{ retry: { longest: "soon" } }, "retry.longest is wrong"],
    [{ retry: { first: "10m" } }, "retry.longest (5m) is below retry.first (10m)"],
    [{ retry: { attempts: 0 } }, "retry.attempts is 0; give a whole number from 1"],
    [
      { limits: { runs: { perSecond: 0, burst: 1 } } },
      "limits.runs.perSecond is 0; give a number from 0.001",
    ],
    [{ limits: { runs: { perSecond: 1, burst: 1.5 } } }, "limits.runs.burst is 1.5; give a whole number"],
    [{ limits: { accounts: { aws: { perSecond: NaN, burst: 1 } } } }, "limits.accounts.aws.perSecond is NaN"],
    [{ limits: { accounts: { "": { perSecond: 1, burst: 1 } } } }, "limits.accounts has an empty name"],
    [{ timeout: "NaN" }, "timeout is wrong"],
    [{ name: "Upper" }, "name must be lower-case"],
    [{ name: "" }, "name must be lower-case"],
    [{ name: "a:b" }, "name must be lower-case"],
    [{ name: "{a}" }, "name must be lower-case"],
    [{ name: "a".repeat(64) }, "63 at most"],
  ])("is refused with %j", (part, advice) => {
    const definition = { for: Bucket, reconcile: nothing, ...part };
    expect(() => defineController(definition)).toThrow(InvalidControllerError);
    expect(() => defineController(definition)).toThrow(advice);
  });
});

describe("the compiler", () => {
  it("infers spec and status from the schemas", () => {
    expectTypeOf<SpecOf<typeof Bucket>["region"]>().toEqualTypeOf<string>();
    expectTypeOf<SpecOf<typeof Bucket>["versions"]>().toEqualTypeOf<number>();
    expectTypeOf<SpecOf<typeof Bucket>["owner"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<StatusOf<typeof Bucket>["phase"]>().toEqualTypeOf<"Making" | "Made" | undefined>();
    expectTypeOf<ObjectStatus<typeof Bucket>["arn"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<ObjectStatus<typeof Bucket>["conditions"]>().toEqualTypeOf<
      readonly StatusCondition[] | undefined
    >();
  });

  it("accepts every valid result of reconcile", () => {
    defineController({ for: Bucket, async reconcile() {} });
    defineController({ for: Bucket, reconcile: nothing });
    defineController({ for: Bucket, reconcile: () => Promise.reject(new Error("down")) });
    defineController({ for: Bucket, reconcile: () => Promise.resolve({ requeueAfter: "1s" }) });
    defineController({
      for: Bucket,
      async reconcile({ spec, status }) {
        if (spec.region === "") return undefined;
        if (status.phase === "Made") return { requeueAfter: "10m" };
        await Promise.resolve();
        return {
          status: {
            arn: spec.region,
            phase: "Making",
            rules: [{ id: "a" }],
            byZone: { a: { up: true } },
            source: { type: "copy", from: "b" },
            anything: { at: ["all"] },
          },
          conditions: [{ type: "Ready", status: "False", reason: "Making", message: "Wait." }],
        };
      },
    });
    defineController({
      for: Bucket,
      reconcile({ spec }) {
        const status: StatusOf<typeof Bucket> = { arn: spec.region };
        return Promise.resolve({ status });
      },
    });
  });

  it("accepts a controller of a generic resource", () => {
    const idle = <R extends Resource>(resource: R) => controllerFrom({ for: resource, reconcile: nothing });
    expect(idle(Bucket).for).toBe(Bucket);
  });

  it("refuses a status field that does not exist", () => {
    // @ts-expect-error regiom is not a field of this status
    defineController({ for: Bucket, reconcile: () => Promise.resolve({ status: { arn: "", regiom: "" } }) });
    // @ts-expect-error also if other results are right
    defineController({
      for: Bucket,
      async reconcile({ spec }) {
        await Promise.resolve();
        return spec.region === "" ? { requeueAfter: "1s" } : { status: { arn: "", regiom: "" } };
      },
    });
    // @ts-expect-error size has no kilobytes
    defineController({
      for: Bucket,
      reconcile: () => Promise.resolve({ status: { arn: "", size: { bytes: 1, kilobytes: 1 } } }),
    });
    // @ts-expect-error a value of byZone has no upp
    defineController({
      for: Bucket,
      reconcile: () => Promise.resolve({ status: { arn: "", byZone: { a: { up: true, upp: true } } } }),
    });
    // @ts-expect-error a result has no statos
    defineController({ for: Bucket, reconcile: () => Promise.resolve({ statos: { arn: "" } }) });
  });

  it("refuses a status of the wrong type", () => {
    // @ts-expect-error an arn is a string
    defineController({ for: Bucket, reconcile: () => Promise.resolve({ status: { arn: 5 } }) });
    // @ts-expect-error an arn is required
    defineController({ for: Bucket, reconcile: () => Promise.resolve({ status: { region: "" } }) });
    defineController({
      for: Bucket,
      // @ts-expect-error there is no phase Broken
      async reconcile() {
        await Promise.resolve();
        return { status: { arn: "", phase: "Broken" } };
      },
    });
    defineController({
      for: Bucket,
      reconcile: () =>
        // @ts-expect-error a condition's status is a string
        Promise.resolve({ conditions: [{ type: "Ready", status: true, reason: "A", message: "" }] }),
    });
  });

  it("refuses an unknown spec field, and an assignment of the spec", () => {
    defineController({
      for: Bucket,
      reconcile(context) {
        // @ts-expect-error there is no such field
        const unknown: unknown = context.spec.unknown;
        // @ts-expect-error every field of an observed status is optional
        const length = context.status.arn.length;
        // @ts-expect-error the context is read-only
        context.spec = { region: "", versions: 1 };
        return Promise.reject(new Error(`${String(unknown)} ${length}`));
      },
    });
  });

  it("refuses a definition with a missing field or a wrong type", () => {
    // @ts-expect-error concurrency is a number
    expect(() => defineController({ for: Bucket, concurrency: "8", reconcile: nothing })).toThrow("8");
    // @ts-expect-error `for` is missing
    expect(() => defineController({ reconcile: nothing })).toThrow(TypeError);
    // @ts-expect-error a resource, not its name
    defineController({ for: "Bucket", reconcile: nothing });
    // @ts-expect-error `reconcile` is missing
    defineController({ for: Bucket });
    // @ts-expect-error a duration is a string
    expect(() => defineController({ for: Bucket, resyncEvery: 600, reconcile: nothing })).toThrow("600s");
  });
});

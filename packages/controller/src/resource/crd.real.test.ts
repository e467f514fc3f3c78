import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { parseJson, writeJson } from "@drover/json";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { pseudoRandom } from "@drover/random";
import { type CustomResourceDefinition, customResourceDefinition } from "./crd.ts";
import { durationSchema } from "../duration.ts";
import { kitchenSink } from "../structural/kitchen-sink.fixture.ts";
import { ReconcileFunction } from "../function/reconcile-function.ts";
import { defineResource, type Resource } from "./resource.ts";
import { immutable } from "../structural/kubernetes-meta.ts";
import { randomObject } from "../structural/random-schema.fixture.ts";

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster();
}, 3_600_000);
afterAll(() => cluster.stop());

/** Runs a command of kubectl with objects on its standard input. `args` are added to the words of the command. */
async function kubectl(input: readonly unknown[], command: string, ...args: readonly string[]) {
  const process = spawn(cluster.kubectl, [...command.split(" "), ...args], { stdio: "pipe" });
  process.stdin.end(input.map((object) => writeJson(object)).join("\n---\n"));
  const [stdout, stderr] = await Promise.all([
    text(process.stdout),
    text(process.stderr),
    once(process, "close"),
  ]);
  return { code: process.exitCode, stdout, stderr };
}

const condition = z.object({ type: z.string(), status: z.string(), message: z.string().optional() });
const stored = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.unknown(),
  status: z.object({ conditions: z.array(condition).optional() }).optional(),
});
const answer = z.union([z.object({ items: z.array(stored) }), stored]);

/** The objects in kubectl's output: a list, or one after the other. */
const storedOnes = (printed: string) =>
  printed
    .split(/(?<=^\})\n/m)
    .filter((json) => json !== "")
    .map((json) => answer.parse(parseJson(json)))
    .flatMap((one) => ("items" in one ? one.items : [one]));

// Not `--for=condition=...`: that fails at once on a definition which has no conditions yet (kubernetes#66439).
const established = '--for=jsonpath={.status.conditions[?(@.type=="Established")].status}=True';

/** Installs kinds, and expects that the API server reports no problems. */
async function install(crds: readonly CustomResourceDefinition[]) {
  const names = crds.map(({ metadata }) => `crd/${metadata.name}`);
  expect(await kubectl(crds, "create -f -")).toMatchObject({ code: 0, stderr: "" });
  expect(await kubectl([], "wait", established, ...names)).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await kubectl([], "get", ...names, "-o", "json");
  const conditions = storedOnes(stdout).flatMap(({ status }) => status?.conditions ?? []);
  expect(conditions.filter(({ type }) => /NonStructural|Terminating/.test(type))).toEqual([]);
  expect(conditions.filter(({ type, status }) => type === "Established" && status === "True")).toHaveLength(
    crds.length,
  );
}

const objectOf = ({ apiVersion, kind }: Resource, name: string, spec: unknown) => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

/** The objects as the API server would store them, without those that it refuses. */
async function accepted(objects: readonly unknown[]) {
  const { stdout, stderr } = await kubectl(objects, "create --dry-run=server --validate=ignore -o json -f -");
  return { stored: new Map(storedOnes(stdout).map((one) => [one.metadata.name, one.spec])), stderr };
}

describe("a real API server", () => {
  it("accepts every construct, the values that zod accepts, and none that zod refuses", async () => {
    const Sink = defineResource({
      group: "test.example.com",
      version: "v1",
      kind: "Sink",
      scope: "Namespaced",
      shortNames: ["snk"],
      categories: ["kitchen"],
      spec: z.object(
        Object.fromEntries(
          Object.entries(kitchenSink).map(([name, { schema }]) => [name, schema.optional()]),
        ),
      ),
      status: z.object(
        Object.fromEntries(Object.entries(kitchenSink).map(([name, { schema }]) => [name, schema])),
      ),
      printerColumns: [{ name: "Text", type: "string", jsonPath: ".spec.text", description: "Some text." }],
    });
    await install([customResourceDefinition(Sink), customResourceDefinition(ReconcileFunction)]);
    const cases = Object.entries(kitchenSink).flatMap(([field, construct]) =>
      (["good", "bad"] as const).flatMap((which) =>
        construct[which].map((value, at) => ({
          name: `${field.toLowerCase()}-${which}-${at}`,
          spec: { [field]: value },
          fits: which === "good",
        })),
      ),
    );
    for (const { spec, fits, name } of cases)
      expect([name, Sink.spec.safeParse(spec).success]).toEqual([name, fits]);
    const { stored: taken } = await accepted(cases.map(({ name, spec }) => objectOf(Sink, name, spec)));
    expect([...taken.keys()].sort()).toEqual(cases.flatMap(({ name, fits }) => (fits ? [name] : [])).sort());
  });

  it("sets defaults, refuses changes of immutable fields, and writes the status separately", async () => {
    const Bucket = defineResource({
      group: "test.example.com",
      version: "v1",
      kind: "Bucket",
      scope: "Namespaced",
      spec: z.object({
        region: z.string().max(20).default("eu").meta({ kubernetes: immutable }),
        every: durationSchema.default("10m"),
        retention: z
          .object({ days: z.int().default(30), mode: z.enum(["Keep", "Drop"]).optional() })
          .prefault({}),
        rules: z.array(z.object({ id: z.string(), on: z.boolean().default(true) })).default([]),
        owner: z.string().nullable().default(null),
      }),
      status: z.object({ arn: z.string(), region: z.string() }),
    });
    await install([customResourceDefinition(Bucket)]);
    const object = (spec: unknown) => objectOf(Bucket, "a", spec);

    const unpruned = object({ rules: [{ id: "x", extra: 1 }] });
    const created = await kubectl([unpruned], "create --validate=ignore -o json -f -");
    const [first] = storedOnes(created.stdout);
    expect(first?.spec).toEqual({
      region: "eu",
      every: "10m",
      retention: { days: 30 },
      rules: [{ id: "x", on: true }],
    });
    expect(Bucket.spec.parse(first?.spec)).toEqual(Bucket.spec.parse({ rules: [{ id: "x" }] }));

    const moved = await kubectl([object({ region: "us" })], "apply -f -");
    expect(moved.stderr).toContain("cannot be changed");
    const minutes = await kubectl([object({ every: "10" })], "apply -f -");
    expect(minutes.stderr).toContain("spec.every");
    const unknown = await kubectl([object({ regoin: "eu" })], "apply -f -");
    expect(unknown.stderr).toContain('unknown field "spec.regoin"');
    const none = await kubectl([object(undefined)], "create --dry-run=server -f -");
    expect(none.stderr).toContain("spec: Required value");

    const ready = {
      type: "Ready",
      status: "True",
      reason: "Reconciled",
      message: "",
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const patch = (status: object) =>
      kubectl([], "patch bucket a --subresource=status --type=merge -o json -p", JSON.stringify({ status }));
    const written = await patch({ arn: "arn:a", observedGeneration: 1, conditions: [ready] });
    expect(written).toMatchObject({ code: 0 });
    const problemOf = async (...conditions: readonly object[]) => (await patch({ conditions })).stderr;
    expect(await problemOf({ ...ready, reason: "no word" })).toContain("reason");
    expect(await problemOf({ ...ready, message: "m".repeat(32_769) })).toContain("message");
    expect(await problemOf(ready, ready)).toContain("Duplicate");
    const { stdout: row } = await kubectl([], "get buckets -o wide");
    expect(row).toMatch(/NAME\s+READY\s+REASON\s+AGE\s+a\s+True\s+Reconciled\s+\d+s/);
  });

  // DROVER_TEST_SEED selects other schemas and values.
  it("agrees with zod about random values of random schemas", async () => {
    const random = pseudoRandom(Number(process.env["DROVER_TEST_SEED"] ?? 7)).fraction;
    const kinds = Array.from({ length: 24 }, (_, at) => {
      const { schema, value } = randomObject(random, 3);
      const resource = defineResource({
        group: "random.example.com",
        version: "v1",
        kind: `Random${at}`,
        scope: "Cluster",
        spec: z.object({ it: schema }),
        status: z.object({}),
      });
      return { resource, schema, values: Array.from({ length: 15 }, value) };
    });
    await install(kinds.map(({ resource }) => customResourceDefinition(resource)));
    const cases = kinds.flatMap(({ resource, values }) =>
      values.map((value, at) => ({ resource, name: `${resource.singular}-${at}`, spec: { it: value } })),
    );
    const objects = cases.map(({ resource, name, spec }) => objectOf(resource, name, spec));
    const { stored: taken, stderr } = await accepted(objects);
    const verdicts = cases.map(({ resource, name, spec }) => {
      const parsed = resource.spec.safeParse(spec);
      // The API server may prune unknown fields that zod refuses.
      const free = parsed.error?.issues.every(({ code }) => code === "unrecognized_keys") === true;
      return { resource, name, spec, parsed, free, taken: taken.has(name), server: taken.get(name) };
    });
    const wrong = verdicts.filter((each) => !each.free && each.parsed.success !== each.taken);
    const why = wrong.map(({ name, spec, parsed }) => [
      ...[name, JSON.stringify(spec), parsed.error?.message ?? "zod accepts it"],
      stderr.split("\n").find((refusal) => refusal.includes(`"${name}"`)) ?? "the API server accepts it",
    ]);
    expect(why).toEqual([]);
    for (const { resource, parsed, server } of verdicts) {
      if (parsed.success) expect(resource.spec.parse(server)).toEqual(parsed.data);
    }
    const share = verdicts.filter(({ parsed }) => parsed.success).length / verdicts.length;
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.85);
  }, 300_000);
});

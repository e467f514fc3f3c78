import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { testCluster } from "@drover/testing";
import { readScenarios } from "./read-scenarios.ts";

const cups = {
  group: "example.com",
  version: "v1",
  kind: "Cup",
  plural: "cups",
  scope: "Namespaced",
} as const;
const deployments = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
} as const;

function read(text: string, files: Readonly<Record<string, string>> = {}) {
  const folder = folderOfTest();
  for (const [name, content] of Object.entries({ ...files, "cups.faults.yaml": text }))
    writeFileSync(join(folder, name), content);
  return readScenarios(join(folder, "cups.faults.yaml"), "cups.faults.yaml", [cups, deployments]);
}

const cup =
  "{ apiVersion: example.com/v1, kind: Cup, metadata: { name: a }, spec: { tea: green, size: 9007199254740993 } }";

describe("a scenario in YAML", () => {
  it("applies objects and files, changes what it has applied, and deletes", () => {
    const [scenario] = read(
      `
name: a cup
given:
  - { apiVersion: v1, kind: Secret, metadata: { name: s, namespace: web } }
steps:
  - apply: example.yaml
  - change: cup/a
    to: { spec: { tea: null, milk: { much: true } } }
  - change: CUPS.example.com/default/a
    to: { spec: { milk: 1 } }
  - delete: cups/a
  - delete: secret/web/s
  - change: cup/a
    to: { spec: {} }
except: { "crash": "it is known" }
`,
      { "example.yaml": `${cup}\n---\n${cup.replace("name: a", "name: b")}\n---\n` },
    );
    const applied = (spec: object, name = "a") => ({
      apply: { apiVersion: "example.com/v1", kind: "Cup", metadata: { name }, spec },
    });
    const size = 9007199254740993n;
    expect(scenario?.given).toMatchObject([{ kind: "Secret" }]);
    expect(scenario?.except).toEqual({ crash: "it is known" });
    expect(scenario?.steps).toEqual([
      { ...applied({ tea: "green", size }), at: "example.yaml:1" },
      { ...applied({ tea: "green", size }, "b"), at: "example.yaml:3" },
      { ...applied({ size, milk: { much: true } }), at: "cups.faults.yaml:7" },
      { ...applied({ size, milk: 1 }), at: "cups.faults.yaml:9" },
      { delete: { apiVersion: "example.com/v1", kind: "Cup", name: "a" }, at: "cups.faults.yaml:11" },
      { delete: { apiVersion: "v1", kind: "Secret", name: "web/s" }, at: "cups.faults.yaml:12" },
      expect.objectContaining({ title: "a user changes Cup a", at: "cups.faults.yaml:13" }),
    ]);
  });

  it("changes what it has not applied, where that exists", async () => {
    const to =
      "to: { metadata: { labels: { tea: black } }, spec: { replicas: 3 }, status: { readyReplicas: 2 } }";
    const [scenario] = read(`name: a cup\nsteps:\n  - change: deployment/web/a\n    ${to}\n`);
    const [step] = scenario?.steps ?? [];
    if (step === undefined || !("act" in step)) throw new Error("It is no step in code.");
    expect(step.title).toBe("a user changes Deployment web/a");
    await using cluster = await testCluster(() => ({ controllers: [] }));
    await expect(step.act(cluster, undefined)).rejects.toThrow(
      "there is no Deployment web/a to change at this step",
    );
    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } });
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
    const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment" };
    await cluster.apply({ ...deployment, metadata: { name: "a", namespace: "web" }, spec });
    await step.act(cluster, undefined);
    const changed = {
      metadata: { labels: { tea: "black" } },
      spec: { replicas: 3 },
      status: { readyReplicas: 2 },
    };
    expect(await cluster.get(deployment, "web/a")).toMatchObject(changed);
    await cluster.delete(deployment, "web/a");
    await step.act(cluster, undefined);
  });

  it("is one of several documents", () => {
    const one = `name: one\nsteps:\n  - apply: ${cup}\n`;
    expect(read(`${one}---\n${one.replace("one", "two")}`).map(({ name }) => name)).toEqual(["one", "two"]);
  });

  const steps = (...lines: readonly string[]): string => ["name: a cup", "steps:", ...lines].join("\n");
  it.each<[string, string, string]>([
    ["is no YAML", "name: [\n", ":2: this is not YAML: "],
    ["is empty", "# nothing\n", " is empty. docs/testing.md"],
    ["has no steps", "name: a cup\n", ":1: steps: is missing: expected array"],
    [
      "has an unknown field",
      "name: a cup\nstepz: []\nsteps: [1]\n",
      ":2: stepz: there is no such field. Did you mean steps?",
    ],
    [
      "has an unknown field in a step",
      steps(`  - aply: ${cup}`),
      ":3: steps[0].aply: there is no such field. Did you mean apply?",
    ],
    [
      "has a step that does nothing",
      steps(`  - apply: ${cup}`, "  - {}"),
      ":4: steps[1]: a step has one of `apply`",
    ],
    [
      "does two things in one step",
      steps(`  - apply: ${cup}`, "    delete: cup/a"),
      ":3: steps[0]: a step has one of",
    ],
    ["changes nothing", steps(`  - apply: ${cup}`, "  - change: cup/a"), ":4: steps[1]: a step has one of"],
    [
      "applies what is no object",
      steps("  - apply:", "      kind: Cup"),
      ":4: steps[0].apply.apiVersion: is missing: expected string",
    ],
    [
      "applies one in a list that is none",
      steps(`  - apply:`, `      - ${cup}`, "      - 1"),
      ":5: steps[0].apply[1]: ",
    ],
    [
      "applies a file that is absent",
      steps("  - apply: absent.yaml"),
      ":3: absent.yaml cannot be read. Correct its path.",
    ],
    [
      "names no object",
      steps("  - delete: cup"),
      ':3: steps[0].delete: "cup" names no object. Write KIND/NAME',
    ],
    [
      "names an unknown kind",
      steps("  - delete: cpu/a"),
      ':3: steps[0].delete: no kind is called "cpu" here. Did you mean cups?',
    ],
    [
      "removes a name",
      steps(`  - apply: ${cup}`, "  - change: cup/a", "    to: { metadata: { name: null } }"),
      ":5: steps[1].to.metadata.name: is missing: expected string",
    ],
    ["has an alias without an anchor", steps("  - *a"), ": an alias cannot be resolved: Unresolved alias"],
    [
      "has an alias in its own anchor",
      steps("  - apply: &a { spec: *a }"),
      ": an alias cannot be resolved: ",
    ],
    [
      "has aliases without end",
      steps(
        "  - &a0 [1]",
        ...Array.from({ length: 9 }, (_, i) => `  - &a${i + 1} [${`*a${i}, `.repeat(9)}]`),
      ),
      ": an alias cannot be resolved: Excessive alias count",
    ],
  ])("that %s is refused", (_, text, message) => {
    expect(() => read(text)).toThrow(`cups.faults.yaml${message}`);
  });

  it("names the place in a file that it applies", () => {
    const files = { "bad.yaml": `${cup}\n---\nkind: Cup\n` };
    expect(() => read(steps("  - apply: bad.yaml"), files)).toThrow("bad.yaml:3: apiVersion: is missing");
  });
});

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { expectError, spawnDrover } from "../testing/run-command.ts";

let cwd: string;
beforeEach(() => {
  cwd = folderOfTest();
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  symlinkSync(repositoryPath("node_modules"), join(cwd, "node_modules"));
});

/** A function that makes a ConfigMap of this name for each Cup. */
const scenario = (name: string) => `
import { defineController, defineResource } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { faultScenario } from "@drover/testing";
import { z } from "zod";
const Cup = defineResource({
  group: "example.com", version: "v1", kind: "Cup", scope: "Namespaced",
  spec: z.object({ size: z.int() }), status: z.object({ saucer: z.string() }),
});
const cups = (client) => defineController({
  for: Cup,
  owns: [{ kind: kindOf(builtin.configMap) }],
  async reconcile({ metadata, status }) {
    if (status.saucer !== undefined) return { status: { saucer: status.saucer } };
    const name = ${name};
    const object = { metadata: { name, namespace: metadata.namespace } };
    if (await client.get(builtin.configMap, \`\${metadata.namespace}/\${name}\`) === undefined)
      await client.create(builtin.configMap, object);
    return { status: { saucer: name } };
  },
});
export default faultScenario({
  name: "a cup comes",
  start: ({ client }) => cups(client),
  steps: [{ apply: { apiVersion: "example.com/v1", kind: "Cup", metadata: { name: "a" }, spec: { size: 1 } } }],
});
`;
const write = (text: string): void => writeFileSync(join(cwd, "src/cups.faults.ts"), text);

describe("drover test", () => {
  it("lives through every scenario below the folder, and with --faults through its plans", async () => {
    write(scenario("`${metadata.name}-saucer`"));
    const without = await spawnDrover(["test"], { cwd });
    expect(without).toMatchObject({ code: 0 });
    expect(without.stdout).toContain("a cup comes: 2 writes without faults");
    const { code, stdout } = await spawnDrover(["test", "--faults", "--plan", "crash"], { cwd });
    expect(stdout).toContain("4 plans derived: crash before 2, crash after 2");
    expect(stdout).toContain("4 executed, 4 with the same final state");
    expect(code).toBe(0);
  });

  it("prints the steps of a scenario that ends differently", async () => {
    write(scenario("`${metadata.name}-${crypto.randomUUID()}`"));
    const { code, stdout } = await spawnDrover(["test", "--faults", "--plan", "crash after write 1"], {
      cwd,
    });
    expect(code).toBe(1);
    const [story = ""] = /✗[^]*?\n\n/.exec(stdout) ?? [];
    expect(story.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UUID")).toMatchInlineSnapshot(`
      "✗ crash after write 1 (create configmaps default/*)
            a user applies Cup a
              run 1 of default/a, for Added:
                create configmaps default/a-UUID   <-- killed after it
                is killed
              run 2 of default/a:
                create configmaps default/a-UUID
                update cups.example.com/status default/a
          => there are 2 of configmaps default/*, and without the fault 1
          => configmaps default/* was created 2 times, and without the fault once

      "
    `);
  });

  it("names a missing file, and a file that is not a scenario", async () => {
    const expectRefusal = (problem: string) => expectError(spawnDrover(["test"], { cwd }), problem);
    await expectRefusal("docs/testing.md");
    write("export default 1;");
    await expectRefusal("src/cups.faults.ts has no scenario as its default export");
    write("throw new Error('broken');");
    await expectRefusal("src/cups.faults.ts cannot be loaded: Error: broken");
  });
});

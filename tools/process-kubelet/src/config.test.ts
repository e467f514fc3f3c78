import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { nodeConfig } from "./config.ts";
import { folderOfTest } from "../../../packages/testing/src/folder.fixture.ts";

afterEach(() => vi.unstubAllEnvs());

async function given(images: string): Promise<void> {
  const file = join(folderOfTest(), "images.yaml");
  await writeFile(file, images);
  for (const name of Object.keys(process.env)) if (name.startsWith("DROVER_")) vi.stubEnv(name, undefined);
  vi.stubEnv("DROVER_KUBECONFIG", "kubeconfig");
  vi.stubEnv("DROVER_NODE_IMAGES", file);
}

it("reads images from YAML", async () => {
  await given("shell: { command: [/bin/sh, -c], env: { A: b } }\nsleep: { command: sleep, args: ['1'] }");
  expect(nodeConfig().nodeImages).toEqual({
    shell: { command: ["/bin/sh", "-c"], args: [], env: { A: "b" } },
    sleep: { command: ["sleep"], args: ["1"], env: {} },
  });
});

it.each([
  ["shell: { comand: sh }", "comand"],
  ["shell: [", "no JSON or YAML"],
])("rejects %j with the problem", async (images, problem) => {
  await given(images);
  expect(() => nodeConfig()).toThrow(problem);
});

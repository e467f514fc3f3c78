import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { expectError, spawnDrover } from "../testing/run-command.ts";

let cwd: string;
beforeEach(() => {
  cwd = folderOfTest();
  mkdirSync(join(cwd, "src"));
  symlinkSync(repositoryPath("node_modules"), join(cwd, "node_modules"));
});

const code = (more = "") => `
import { defineController, defineFunction, defineResource } from "@drover/controller";
import { z } from "zod";
const Cup = defineResource({
  group: "example.com", version: "v1", kind: "Cup", scope: "Namespaced",
  spec: z.object({ size: z.int() }), status: z.object({}),
});
const controller = defineController({ for: Cup, reconcile: async () => undefined });
export default defineFunction({ controller, deployment: { container: { image: "cups:1", port: 9000 }${more} } });
`;
const define = (text: string): void => writeFileSync(join(cwd, "src/function.ts"), text);
const read = (name: string): string => readFileSync(join(cwd, name), "utf8");

it("drover generate writes the CRD, the ReconcileFunction and the Dockerfile, and then nothing more", async () => {
  define(code());
  expect(await spawnDrover(["generate"], { cwd })).toMatchObject({
    code: 0,
    stdout: "Written: deploy/crd.yaml, deploy/function.yaml, Dockerfile\n",
  });
  expect(read("deploy/crd.yaml")).toContain("name: cups.example.com");
  expect(read("deploy/function.yaml")).toContain("image: cups:1");
  expect(read("Dockerfile")).toContain("EXPOSE 9000");
  expect((await spawnDrover(["generate"], { cwd })).stdout).toBe("Up to date.\n");
  expect((await spawnDrover(["generate", "--check"], { cwd })).code).toBe(0);
});

it("drover generate --embedded writes what kubectl applies in place of a ReconcileFunction", async () => {
  define(code());
  expect(await spawnDrover(["generate", "--embedded"], { cwd })).toMatchObject({
    code: 0,
    stdout: "Written: deploy/crd.yaml, deploy/embedded.yaml, Dockerfile\n",
  });
  const kinds = [...read("deploy/embedded.yaml").matchAll(/^kind: (.*)$/gm)].map(([, kind]) => kind);
  expect(kinds).toEqual(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]);
  define(code(", concurrency: 3"));
  expect((await spawnDrover(["generate", "--embedded", "--check"], { cwd })).stderr).toBe(
    "error: deploy/embedded.yaml: out of date. Run: npx drover generate --embedded\n",
  );
  define(code().replace('container: { image: "cups:1", port: 9000 }', "concurrency: 3"));
  expect((await spawnDrover(["generate", "--embedded"], { cwd })).stderr).toContain(
    "deployment.container: name the image",
  );
});

it("drover generate --check names the files that are not as the code has them, and the command that writes them", async () => {
  define(code());
  await spawnDrover(["generate"], { cwd });
  define(code(", scaling: { max: 3 }"));
  const before = read("deploy/function.yaml");
  expect(await spawnDrover(["generate", "--check"], { cwd })).toMatchObject({
    code: 1,
    stderr: "error: deploy/function.yaml: out of date. Run: npx drover generate\n",
  });
  expect(read("deploy/function.yaml")).toBe(before);
  appendFileSync(join(cwd, "Dockerfile"), "# mine\n");
  expect((await spawnDrover(["generate", "--check"], { cwd })).stderr).toContain(
    "deploy/function.yaml, Dockerfile: out of date.",
  );
});

it.each([
  ["no module", undefined, /There is no .*src\/function\.ts\. Create it, with/],
  ["another export", "export default { name: 'cups' };", /has no function as its default export\. Write/],
  ["an exception", "throw new Error('no cups');", /cannot be loaded: Error: no cups/],
  [
    "a function that throws",
    "export default () => { throw new Error('no settings'); };",
    /The function that .*src\/function\.ts exports threw: Error: no settings/,
  ],
  [
    "a deployment that is none",
    code(", sclaing: { max: 3 }"),
    /cannot be used:[^]*Unrecognized key: "sclaing"/,
  ],
])("drover generate refuses %s, with what to do", async (_what, text, problem) => {
  if (text !== undefined) define(text);
  await expectError(spawnDrover(["generate"], { cwd }), problem);
});

it("a command and an option that there is not are refused with the one that was meant", async () => {
  await expectError(spawnDrover(["generat"], { cwd }), "(Did you mean generate?)");
  expect((await spawnDrover(["generate", "--chek"], { cwd })).stderr).toContain("(Did you mean --check?)");
});

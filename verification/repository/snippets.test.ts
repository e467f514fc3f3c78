import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const snippets = documents.flatMap((name) =>
  [...readFileSync(join(root, name), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""], i) => ({
    name: `${name.replace(/\W/g, "-")}-${i}.ts`,
    code,
  })),
);

// Inside the checkout, so that packages are found by their names.
let folder: string;
beforeAll(() => {
  mkdirSync(join(root, ".cache"), { recursive: true });
  folder = mkdtempSync(join(root, ".cache/snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("every TypeScript snippet of the documentation compiles", async () => {
  expect(snippets.length).toBeGreaterThan(0);
  for (const { name, code } of snippets) writeFileSync(join(folder, name), code);
  const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder];
  const output = await new Promise((resolve) => {
    execFile(process.execPath, tsc, (_error, stdout) => resolve(stdout));
  });
  expect(output).toBe("");
});

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { linkModules } from "../testing/link-modules.ts";
import { runDrover, runNpm } from "../testing/run-command.ts";
import { kindFor } from "./init.ts";

let cwd: string;
beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), "drover-init-"))));
afterEach(() => rmSync(cwd, { recursive: true }));

it(
  "drover init makes a function whose tests pass, that compiles, and that is built",
  { timeout: 180_000 },
  async () => {
    const { code, stdout } = await runDrover(["init", "guest-books", "--group", "inn.example.org"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("npm install");
    const folder = join(cwd, "guest-books");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort();
    expect(files).toEqual([
      ...[
        ".gitignore",
        ".npmrc",
        "Dockerfile",
        "README.md",
        "deploy/crd.yaml",
        "deploy/function.yaml",
        "example.yaml",
      ],
      ...["package.json", "src/config.ts", "src/controller.test.ts", "src/controller.ts", "src/function.ts"],
      ...["src/guestbook.faults.ts", "src/guestbook.ts", "src/main.ts", "tsconfig.json"],
    ]);
    const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    expect(text).not.toMatch(/greeter|greeting|REPOSITORY|example\.com/i);
    expect(text).toContain("name: guestbooks.inn.example.org");

    linkModules(folder);
    const [tested] = await Promise.all([runNpm(folder, "test"), runNpm(folder, "run", "check")]);
    expect(tested).toMatch(/3 passed[^]*?(\d+) executed, \1 with the same end/);
    await runNpm(folder, "run", "build");
    expect(statSync(join(folder, "dist/main.mjs")).size).toBeGreaterThan(100_000);
  },
);

it.each([
  ["a folder that has something in it", ["taken"], /taken is there, and not empty/],
  ["a name that is none", ["Taken!"], /"Taken!" is no name for a function: write lower-case/],
  ["a kind that is none", ["cups", "--kind", "cup"], /a kind is one CamelCase word/],
  ["a group that is none", ["cups", "--group", "cups"], /group "cups" is not a DNS name/],
  ["no name", [], /missing required argument 'name'/],
])("drover init refuses %s, and makes nothing", async (_what, words, said) => {
  mkdirSync(join(cwd, "taken"));
  writeFileSync(join(cwd, "taken/file"), "");
  const { code, stderr } = await runDrover(["init", ...words], { cwd });
  expect(stderr).toMatch(said);
  expect(code).toBe(1);
  expect(readdirSync(cwd)).toEqual(["taken"]);
});

it.each([
  ["guest-books", "GuestBook"],
  ["cache", "Cache"],
  ["glass", "Glass"],
])("the kind of %s is %s", (name, kind) => {
  expect(kindFor(name)).toBe(kind);
});

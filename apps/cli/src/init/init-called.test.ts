import { customResourceDefinition, webhookProblem } from "@drover/controller";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { Greeting } from "../../../../examples/typescript/greeting.ts";
import { Website } from "../../../../examples/typescript/website.ts";
import { isThere } from "../../../../packages/webhook/conformance/languages.ts";
import { readManifests } from "../deploy/read-manifests.ts";
import { runCommand, spawnDrover } from "../testing/run-command.ts";
import { calledLanguages, testCommands } from "./called-scaffold.ts";

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile() && !name.includes("__pycache__"))
    .sort();

for (const language of calledLanguages) {
  const [program, ...args] = testCommands[language];
  const name = `drover init --language ${language} makes a function whose tests pass, and fail when it is wrong`;
  it.skipIf(!isThere(program))(
    isThere(program) ? name : `${name} (skipped: no ${program} on this machine)`,
    { timeout: 240_000 },
    async () => {
      const cwd = folderOfTest();
      const { code, stdout, stderr } = await spawnDrover(
        ["init", "guest-books", "--group", "inn.example.org", "--language", language],
        { cwd },
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`cd guest-books\n  ${[program, ...args].join(" ")}\n`);
      const folder = join(cwd, "guest-books");
      const files = filesOf(folder);
      expect(files).toEqual(
        expect.arrayContaining(["Dockerfile", "README.md", "deploy/crd.yaml", "example.yaml"]),
      );
      const own = files.filter((path) => !path.startsWith("drover/"));
      const text = own.map((path) => readFileSync(join(folder, path), "utf8")).join("");
      expect(text).not.toMatch(/website|publisher|\bexample\.com|DROVER_VERSION|\.\.\/sdk/i);
      expect(text).toContain("kind: GuestBook");

      await runCommand(folder, program, ...args);
      const readme = readFileSync(join(folder, "README.md"), "utf8");
      const [, build = "true", run = ""] =
        /^(?:(go build .*) && )?drover test --faults --run (".*?"|\S+) #/m.exec(readme) ?? [];
      await runCommand(folder, "sh", "-c", build);
      const words = ["test", "--plan", "write 1 (POST /)", "--run", run.replaceAll('"', "")];
      const tested = await spawnDrover(words, { cwd: folder });
      expect({ code: tested.code, stderr: tested.stderr }).toEqual({ code: 0, stderr: "" });
      expect(tested.stdout).toContain("7 executed, 7 with the same final state");
      const main = join(folder, language === "go" ? "function.go" : "function.py");
      writeFileSync(main, readFileSync(main, "utf8").replace("index.html", "index.htm"));
      await expect(runCommand(folder, program, ...args)).rejects.toThrow(/index\.htm/);
    },
  );
}

it.each([
  ["website", Website, { composes: true }],
  ["greetings", Greeting, { finalizes: true }],
] as const)(
  "the manifests of the called function %s can be deployed, with the kind that the example in TypeScript has",
  async (example, resource, webhook) => {
    const folder = join(import.meta.dirname, "../../../../examples", example, "deploy");
    const { functions } = readManifests(folder);
    expect(functions).toMatchObject([{ spec: { delivery: "webhook", webhook } }]);
    expect(functions.map(({ spec }) => webhookProblem(spec))).toEqual([undefined]);
    const crd = stringify(customResourceDefinition(resource), { lineWidth: 110 });
    const header = `# The kind ${resource.kind}: the fields that users set (spec) and those that they see (status).\n`;
    await expect(header + crd).toMatchFileSnapshot(join(folder, "crd.yaml"));
  },
);

it("an image that is built by the Dockerfile in Python has all that the function needs", async () => {
  const cwd = folderOfTest();
  await spawnDrover(["init", "cups", "--language", "python"], { cwd });
  const dockerfile = readFileSync(join(cwd, "cups/Dockerfile"), "utf8");
  const image = join(cwd, "image");
  mkdirSync(image);
  for (const [, from = "", to = ""] of dockerfile.matchAll(/^COPY (\S+) (\S+)$/gm))
    cpSync(join(cwd, "cups", from), join(image, to.endsWith("/") ? join(to, from) : to), { recursive: true });
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const [program = "", ...args] = JSON.parse(entrypoint) as string[];
  // It gets as far as its settings.
  await expect(runCommand(image, program, ...args)).rejects.toThrow(/Set DROVER_WEBHOOK_AUDIENCE/);
});

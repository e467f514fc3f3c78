import { freePort, spawnTied, thisMachine, type TiedProcess } from "@drover/local-servers";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderOfFile } from "../../testing/src/folder.fixture.ts";
import { checks, type Subject } from "./checks.ts";

const root = new URL("../../..", import.meta.url).pathname;
const examples = join(root, "examples");
const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const audience = { name: "web/greetings", uid: "f-1" };

const folder = folderOfFile();
beforeAll(() => {
  mkdirSync(join(folder, "secrets"));
  writeFileSync(join(folder, "secrets/current"), secret, { mode: 0o600 });
  writeFileSync(join(folder, "secrets/previous"), `whsec_${Buffer.alloc(64, 9).toString("base64")}`, {
    mode: 0o600,
  });
});

const isThere = (command: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`]);
    return true;
  } catch {
    return false;
  }
};

/** How each is started, what it needs, and how many mutants it gets: some start a process for each. */
const languages = [
  {
    name: "typescript",
    needs: ["node"],
    mutants: 1_000,
    start: () => [process.execPath, join(examples, "typescript/main.ts")],
  },
  {
    name: "python",
    needs: ["python3"],
    mutants: 1_000,
    start: () => ["python3", join(examples, "python/greetings.py")],
  },
  {
    name: "go",
    needs: ["go"],
    mutants: 1_000,
    start: () => {
      const built = join(folder, "greetings");
      execFileSync("go", ["build", "-o", built, "."], { cwd: join(examples, "go") });
      return [built];
    },
  },
  {
    name: "shell",
    needs: ["bash", "openssl", "jq", "perl", "flock"],
    mutants: 100,
    start: () => [join(examples, "shell/serve.pl")],
  },
];

for (const { name, needs, mutants, start } of languages) {
  describe.skipIf(!needs.every(isThere))(`the example in ${name}`, () => {
    let subject: Subject;
    let running: TiedProcess;
    beforeAll(async () => {
      const port = await freePort();
      const [command = "", ...args] = start();
      const ready = Promise.withResolvers<undefined>();
      running = await spawnTied({
        // The gateway is this process, and signs with its time.
        command,
        args,
        name,
        machine: thisMachine,
        logFile: join(folder, `${name}.log`),
        env: {
          DROVER_HTTP_PORT: String(port),
          DROVER_WEBHOOK_AUDIENCE: audience.name,
          DROVER_WEBHOOK_UID: audience.uid,
          DROVER_WEBHOOK_SECRETS: join(folder, "secrets"),
          ...(name === "shell" && { DROVER_STATE: join(folder, "state") }),
        },
        onLine: (line) => line.includes("Answering calls") && ready.resolve(undefined),
      });
      const died = running.exited.then(() => {
        throw new Error(`${name} ended:\n${readFileSync(running.logFile, "utf8")}`);
      });
      await Promise.race([ready.promise, died]);
      subject = { url: `http://127.0.0.1:${port}/`, secret, audience, mutants, seed: 7 };
    });
    afterAll(() => running.stop());

    it.each(checks)("$name", ({ run }) => expect(run(subject)).resolves.toBeUndefined(), 300_000);
  });
}

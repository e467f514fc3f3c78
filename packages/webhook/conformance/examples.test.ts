import { freePort, spawnTied, thisMachine, type TiedProcess } from "@drover/local-servers";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderOfFile } from "../../testing/src/folder.fixture.ts";
import { callAt } from "../src/testing/call-mutants.ts";
import { checks } from "./checks.ts";
import { composeChecks } from "./compose-checks.ts";
import { type Example, isThere, languages } from "./languages.ts";
import { sendCall, signersOf, type Subject } from "./subject.ts";

const audience = { name: "web/greetings", uid: "f-1" };
const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;

const folder = folderOfFile();

/** A folder with these files, like a mounted Secret: `mount` replaces all of them at once, as the kubelet does. */
function mountedSecret(name: string) {
  const path = join(folder, name);
  let versions = 0;
  return {
    path,
    mount: (files: Readonly<Record<string, string>>): void => {
      const version = `${path}-${++versions}`;
      mkdirSync(version);
      for (const [file, text] of Object.entries(files))
        writeFileSync(join(version, file), text, { mode: 0o600 });
      symlinkSync(version, `${path}-next`);
      renameSync(`${path}-next`, path);
    },
  };
}

interface StartOptions {
  readonly language: (typeof languages)[number];
  readonly example: Example;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onReady?: () => void;
}
const start = ({
  language: { name, command },
  example,
  env,
  onReady,
}: StartOptions): Promise<TiedProcess> => {
  const [program = "", ...args] = command(example, folder);
  return spawnTied({
    command: program,
    args,
    name: `${name}-${example}`,
    // The gateway is this process, and signs with its time.
    machine: thisMachine,
    logFile: join(folder, `${name}-${example}.log`),
    env: { DROVER_WEBHOOK_AUDIENCE: audience.name, ...env },
    onLine: (line) => line.includes("Answering calls") && onReady?.(),
  });
};

for (const language of languages) {
  const missing = language.needs.filter((command) => !isThere(command));
  const title = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", ")} on this machine)`;
  for (const example of ["greetings", "website"] as const) {
    describe.skipIf(missing.length > 0)(`${example} in ${language.name}${title}`, () => {
      const { path, mount } = mountedSecret(`${language.name}-${example}`);
      let subject: Subject;
      let running: TiedProcess;
      beforeAll(async () => {
        mount({ current: secretOf(1), previous: secretOf(9) });
        language.build?.(example, folder);
        const port = await freePort();
        const ready = Promise.withResolvers<undefined>();
        const env = {
          DROVER_HTTP_PORT: String(port),
          DROVER_WEBHOOK_UID: audience.uid,
          DROVER_WEBHOOK_SECRETS: path,
        };
        running = await start({ language, example, env, onReady: () => ready.resolve(undefined) });
        const died = running.exited.then(() => {
          throw new Error(`${language.name} ended:\n${readFileSync(running.logFile, "utf8")}`);
        });
        await Promise.race([ready.promise, died]);
        const { mutants } = language;
        subject = { url: `http://127.0.0.1:${port}/`, secret: secretOf(1), audience, mutants, seed: 7 };
      }, 300_000);
      afterAll(() => running.stop());

      for (const { name, needs, run } of example === "greetings" ? checks : composeChecks) {
        const lacks = needs === undefined ? undefined : language.lacks?.[needs];
        it.skipIf(lacks !== undefined)(
          lacks === undefined ? name : `${name} (skipped: ${lacks})`,
          () => expect(run(subject)).resolves.toBeUndefined(),
          300_000,
        );
      }

      it.skipIf(!language.rereads.includes("at once"))(
        "uses changed secrets at once, and signs with both",
        async () => {
          mount({ current: secretOf(2), previous: secretOf(1) });
          const signedBy = async (secret: string) => {
            const call = callAt(Date.now(), { audience, token: crypto.randomUUID() });
            return signersOf(await sendCall({ ...subject, secret }, call), call, [9, 1, 2].map(secretOf));
          };
          expect(await signedBy(secretOf(2))).toEqual([secretOf(1), secretOf(2)]);
          expect(await signedBy(secretOf(1))).toEqual([secretOf(1), secretOf(2)]);
          expect(await signedBy(secretOf(9))).toEqual([]);
          if (language.rereads === "at once") {
            mount({ current: "whsec_", previous: "" });
            expect(await signedBy(secretOf(2))).toEqual([secretOf(1), secretOf(2)]);
          }
          mount({ current: secretOf(2) });
          expect(await signedBy(secretOf(1))).toEqual([]);
        },
      );

      it("ends with 0 on SIGTERM", async () => {
        expect(await running.stop()).toEqual({ code: 0, signal: null });
      });
    });
  }

  it.skipIf(missing.length > 0).each([
    ["its audience", { DROVER_WEBHOOK_AUDIENCE: "" }, "DROVER_WEBHOOK_AUDIENCE"],
    ["its secrets", { DROVER_WEBHOOK_SECRETS: "/nowhere" }, "/nowhere"],
  ])(
    `a function in ${language.name} that lacks %s says so, and ends with an error`,
    async (_, env, named) => {
      const { path, mount } = mountedSecret(`${language.name}-${named.slice(1)}`);
      mount({ current: secretOf(1) });
      const { exited, logFile } = await start({
        language,
        example: "greetings",
        env: { DROVER_HTTP_PORT: "0", DROVER_WEBHOOK_SECRETS: path, ...env },
      });
      expect((await exited).code).toBeGreaterThan(0);
      expect(readFileSync(logFile, "utf8")).toContain(named);
    },
  );
}

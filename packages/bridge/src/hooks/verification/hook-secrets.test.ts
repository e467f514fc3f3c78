import { builtin } from "@drover/kube";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../../../../testing/src/folder.fixture.ts";
import { sandboxOfFile } from "../../../../testing/src/sandbox.fixture.ts";
import { hookOf, otherWhsec, whsec } from "../hook.fixture.ts";
import { hookSecretReader } from "./hook-secrets.ts";

const folder = folderOfFile();
const { client } = await sandboxOfFile();
mkdirSync(join(folder, "hooks"));

const file = (text: string, mode = 0o600): void => {
  const path = join(folder, "hooks", "s3");
  writeFileSync(path, text);
  chmodSync(path, mode);
};
const ofFile = (from: string | undefined = folder) =>
  hookSecretReader(client, from)(hookOf({}, { home: null }));

it("reads files in the layout of a mounted Secret, one secret per line", async () => {
  file(`${whsec}\n\n ${otherWhsec}\r\n`);
  expect(await ofFile()).toEqual([whsec, otherWhsec]);
});

it("refuses a file that every user may read, with what to do, and never shows its content", async () => {
  file(whsec, 0o644);
  await expect(ofFile()).rejects.toThrow(/every user on this machine may read .*Run: chmod 600/);
  await expect(ofFile()).rejects.not.toThrow(whsec);
});

it.each<[string, string, RegExp]>([
  ["an empty file", "\n", /hooks\/s3 has 0 lines. Give 1 to 10/],
  ["too many secrets", `${whsec}\n`.repeat(11), /has 11 lines/],
  [
    "a secret in a wrong format",
    `${whsec}\ncanary-canary-canary`,
    /Line 2 of hooks\/s3 is not written as whsec_/,
  ],
])("refuses %s", async (_what, text, message) => {
  file(text);
  await expect(ofFile()).rejects.toThrow(message);
  await expect(ofFile()).rejects.not.toThrow("canary");
});

it("names the missing file, or the missing setting of the folder", async () => {
  await expect(ofFile(join(folder, "none"))).rejects.toThrow(/none\/hooks\/s3 does not exist. Create it/);
  await expect(hookSecretReader(client, undefined)(hookOf({}, { home: null }))).rejects.toThrow(
    /Set DROVER_HOOK_SECRETS/,
  );
});

it("reads Secrets in the function's own namespace, live, and no file", async () => {
  const read = hookSecretReader(client, folder);
  const hook = hookOf();
  file(whsec);
  await expect(read(hook)).rejects.toThrow(/The Secret web\/hooks has no key s3. Add it/);
  await client.create(builtin.namespace, { metadata: { name: "web" } });
  const data = { s3: Buffer.from(otherWhsec).toString("base64") };
  await client.create(builtin.secret, { metadata: { name: "hooks", namespace: "web" }, data });
  expect(await read(hook)).toEqual([otherWhsec]);
});

import { connect, type KubeClient } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hookOf, otherWhsec, whsec } from "../hook.fixture.ts";
import { hookSecretReader } from "./hook-secrets.ts";

let folder: string;
let sandbox: Sandbox;
let client: KubeClient;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "drover-hook-secrets-"));
  mkdirSync(join(folder, "hooks"));
  sandbox = await startSandbox({});
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  client = await connect({ kubeconfig });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const file = (text: string, mode = 0o600): void => {
  const path = join(folder, "hooks", "s3");
  writeFileSync(path, text);
  chmodSync(path, mode);
};
const ofFile = (from: string | undefined = folder) =>
  hookSecretReader(client, from)(hookOf({}, { home: null }));

it("reads files laid out as a mounted Secret, each line a secret", async () => {
  file(`${whsec}\n\n ${otherWhsec}\r\n`);
  expect(await ofFile()).toEqual([whsec, otherWhsec]);
});

it("refuses a file that everybody may read, and says what to do; never what is in it", async () => {
  file(whsec, 0o644);
  await expect(ofFile()).rejects.toThrow(/every user on this machine may read .*Run: chmod 600/);
  await expect(ofFile()).rejects.not.toThrow(whsec);
});

it.each<[string, string, RegExp]>([
  ["an empty one", "\n", /hooks\/s3 has 0 lines. Give 1 to 10/],
  ["too many", `${whsec}\n`.repeat(11), /has 11 lines/],
  [
    "one that is not written as it must",
    `${whsec}\ncanary-canary-canary`,
    /Line 2 of hooks\/s3 is not written as whsec_/,
  ],
])("refuses %s", async (_what, text, message) => {
  file(text);
  await expect(ofFile()).rejects.toThrow(message);
  await expect(ofFile()).rejects.not.toThrow("canary");
});

it("says where a file is missing, and where no folder is known", async () => {
  await expect(ofFile(join(folder, "none"))).rejects.toThrow(/none\/hooks\/s3 does not exist. Create it/);
  await expect(hookSecretReader(client, undefined)(hookOf({}, { home: null }))).rejects.toThrow(
    /Set DROVER_HOOK_SECRETS/,
  );
});

it("reads Secrets in the function's own namespace, live, and no file", async () => {
  const read = hookSecretReader(client, folder);
  const post = async (path: string, body: object) => {
    const sent = {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${sandbox.token}` },
      body: JSON.stringify(body),
    };
    expect((await fetch(sandbox.url + path, sent)).status).toBe(201);
  };
  const hook = hookOf();
  file(whsec);
  await expect(read(hook)).rejects.toThrow(/The Secret web\/hooks has no key s3. Add it/);
  await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } });
  const data = { s3: Buffer.from(otherWhsec).toString("base64") };
  await post("/api/v1/namespaces/web/secrets", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "hooks" },
    data,
  });
  expect(await read(hook)).toEqual([otherWhsec]);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";

const folder = folderOfFile();

const start = (env: Record<string, string>) =>
  spawn(process.execPath, [join(import.meta.dirname, "main.ts")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });

it("serves at the address in its kubeconfig until SIGTERM, and ends at once with watches open", async () => {
  const child = start({ DROVER_KUBECONFIG_OUT: join(folder, "kubeconfig") });
  const exited = once(child, "exit");
  for await (const line of createInterface(child.stdout))
    if (line.includes("Serving the Kubernetes API")) break;
  const written = await readFile(join(folder, "kubeconfig"), "utf8");
  const [, url] = /server: (http:\S+)/.exec(written) ?? [];
  const [, token] = /token: "(\w{64})"/.exec(written) ?? [];
  const watched = `${new URL(url ?? "").origin}/api/v1/namespaces?watch=true`;
  expect((await fetch(watched)).status).toBe(401);
  const response = await fetch(watched, { headers: { authorization: `Bearer ${token ?? ""}` } });
  expect(response.status).toBe(200);
  const ended = response.text();
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(await ended).toContain('"name":"default"');
});

it("refuses a setting that it does not know", async () => {
  const child = start({ DROVER_SANDBOX_PRT: "0" });
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  expect(String(printed)).toContain("DROVER_SANDBOX_PORT");
  expect(await once(child, "exit")).toEqual([1, null]);
});

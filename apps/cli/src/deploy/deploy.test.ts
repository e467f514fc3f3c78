import { connect, builtin, type KubeClient, listAll } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inRepository } from "../repository.ts";
import { runDrover } from "../testing/run-command.ts";

let folder: string;
let sandbox: Sandbox;
let client: KubeClient;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "drover-deploy-"));
  sandbox = await startSandbox({});
  writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig());
  client = await connect({ kubeconfig: join(folder, "kubeconfig") });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const deploy = (kubeconfig: string) =>
  runDrover(["deploy", "--dir", inRepository("functions/s3-bucket/deploy")], {
    env: { KUBECONFIG: join(folder, kubeconfig) },
  });

it("writes nothing into a cluster in which Drover is not installed", async () => {
  const { stderr, code } = await deploy("kubeconfig");
  expect(stderr).toMatch(
    /^error: This cluster knows no ReconcileFunctions: Drover is not installed in it\. Apply /,
  );
  expect(code).toBe(1);
  expect(await listAll(client, builtin.crd, {})).toEqual([]);
});

it("says of credentials that are not taken that they may have expired, and what to do", async () => {
  const wrong = sandbox.kubeconfig().replaceAll(sandbox.token, "expired");
  writeFileSync(join(folder, "expired"), wrong);
  const { stderr, code } = await deploy("expired");
  expect(stderr).toMatch(
    /^error: The API server answered 401 .*have expired.*log in again or renew the token/,
  );
  expect(code).toBe(1);
});

it("names the files of KUBECONFIG where none of them exists", async () => {
  const { stderr, code } = await runDrover(["status"], { env: { KUBECONFIG: "/absent/a:/absent/b" } });
  expect(stderr).toBe(
    "error: There is no kubeconfig: /absent/a, /absent/b do not exist. Set KUBECONFIG to a file that does, or give its path.\n",
  );
  expect(code).toBe(1);
});

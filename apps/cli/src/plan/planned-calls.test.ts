import { customResourceDefinition } from "@drover/controller";
import { connect, installCrd, refOf } from "@drover/kube";
import { startSandbox } from "@drover/sandbox";
import { readSignatureHeaders, receiveCall, signMessage } from "@drover/webhook";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { configMaps, Cup, cups as kind } from "../testing/cups.fixture.ts";
import { expectError, spawnDrover } from "../testing/run-command.ts";

const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const audience = { name: "default/cups" };
const configMap = (tea: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a" },
  data: { tea },
});
const objectSchema = z.looseObject({ spec: z.object({ tea: z.string() }) });

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/** A function that verifies calls as the gateway signs them. */
const composing: Serve = async (request, response) => {
  const headers = readSignatureHeaders((name) => [request.headers[name]].flat()[0]);
  const body = await buffer(request);
  const { call } = receiveCall({ headers, body, secrets: [secret], audience, now: Date.now() });
  const children = [configMap(objectSchema.parse(call.object).spec.tea)];
  const answer = JSON.stringify({ outcome: "composed", children, status: { filled: true } });
  response
    .writeHead(200, { ...signMessage([secret], { id: call.token, at: Date.now() }, answer) })
    .end(answer);
};

/** A cluster with a cup, and a folder with the ReconcileFunction of a function that runs here. */
async function openWorld(serve: Serve, webhook: object) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    serve(request, response).catch(() => response.writeHead(401).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const cwd = folderOfTest();
  const kubeconfig = join(cwd, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const client = await connect({ kubeconfig });
  onTestFinished(() => client.close());
  await installCrd(client, { ...customResourceDefinition(Cup) });
  await client.create(refOf(Cup), { metadata: { name: "a", namespace: "default" }, spec: { tea: "green" } });
  mkdirSync(join(cwd, "deploy"));
  const spec = { for: kind, owns: [configMaps], delivery: "webhook", webhook };
  const manifest = {
    apiVersion: "drover.dev/v1alpha1",
    kind: "ReconcileFunction",
    metadata: { name: "cups" },
    spec,
  };
  writeFileSync(join(cwd, "deploy/function.yaml"), stringify(manifest));
  writeFileSync(join(cwd, "secret"), `${secret}\n`);
  writeFileSync(join(cwd, "other"), `whsec_${Buffer.alloc(24, 2).toString("base64")}`);
  const { port } = server.address() as AddressInfo;
  const plan = (...words: readonly string[]) =>
    spawnDrover(
      ["plan", "cup/a", "--url", `http://localhost:${port}/`, ...words, "--kubeconfig", kubeconfig],
      { cwd },
    );
  return { plan, sandbox, asked };
}

const created = `
  + ConfigMap default/a would be created
      + metadata.ownerReferences["Cup a"]: "controller"
      + data.tea: "green"
`.slice(1);

it("plans with a function that is called, where it runs, and stores nothing", async () => {
  const { plan, sandbox } = await openWorld(composing, { composes: true });
  const before = sandbox.resourceVersion;
  const { code, stdout, stderr } = await plan("--secret-file", "secret");
  expect(stderr).toBe("");
  expect(stdout).toContain(created);
  expect(stdout).toContain("+ status.filled: true");
  expect(code).toBe(2);
  expect(sandbox.resourceVersion).toBe(before);
});

it("plans with hooks of Metacontroller, which need no secret", async () => {
  const hook: Serve = async (request, response) => {
    const { parent } = z
      .looseObject({ parent: objectSchema })
      .parse(JSON.parse(String(await buffer(request))));
    response.writeHead(200).end(JSON.stringify({ children: [configMap(parent.spec.tea)] }));
  };
  const { plan, asked } = await openWorld(hook, {
    metacontroller: { controller: "Composite", sync: "/sync" },
  });
  const { code, stdout } = await plan();
  expect([code, stdout]).toEqual([2, expect.stringContaining(created)]);
  expect(asked).toEqual(["/sync"]);
});

it("does not call a function that may write outside of the cluster", async () => {
  const { plan, asked } = await openWorld(composing, {});
  const { stdout } = await plan("--secret-file", "secret");
  expect(stdout).toContain("The plan ends here. The run would then write outside of the cluster.");
  expect(asked).toEqual([]);
});

it("names what is wrong", async () => {
  const { plan } = await openWorld(composing, { composes: true });
  const withOther = await plan("--secret-file", "other");
  expect([withOther.code, withOther.stdout]).toEqual([
    1,
    expect.stringMatching(/The run would fail: .*HTTP 401, is not signed.*compare the secrets/),
  ]);
  await expectError(plan(), "--secret-file secrets/current");
  await expectError(plan("--secret-file", "absent"), "absent cannot be read");
  await expectError(plan("--secret-file", "secret", "--url", "localhost"), "is no http or https URL");
  await expectError(plan("--secret-file", "secret", "--dir", "absent"), "There is no folder absent");
  const unknown = await plan("--secret-file", "secret", "--url", "http://absent.invalid/");
  expect(unknown.stdout).toContain("The run would fail: The host absent.invalid of --url cannot be resolved");
  const unreachable = await plan("--secret-file", "secret", "--url", "http://127.0.0.1:1/");
  expect(unreachable.stdout).toContain("The run would fail: The function at 127.0.0.1:1 did not answer");
});

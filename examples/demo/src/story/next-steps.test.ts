import { startSandbox } from "@drover/sandbox";
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { type NextStepsOptions, nextSteps } from "./next-steps.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let folder: string;
beforeEach(() => (folder = folderOfTest()));

const here: NextStepsOptions = {
  servers: {
    kubeconfig: "/here/kubeconfig",
    context: undefined,
    sandboxUrl: "http://127.0.0.1:1",
    redisUrl: "redis://127.0.0.1:2",
    s3: { url: "http://127.0.0.1:3", isOwn: true, settings: {}, credentials: {} },
  },
  namespace: "default",
  name: "hello",
  bucket: "hello-drover",
  logs: "/here/logs",
  path: "",
  functionPid: 7,
};
const text = (steps: NextStepsOptions) => nextSteps(steps).join("\n");
const withKubectl = (): string => {
  const kubectl = join(folder, "kubectl");
  writeFileSync(kubectl, "");
  chmodSync(kubectl, 0o755);
  return ["/no/such/folder", folder].join(delimiter);
};

it("names kubectl's commands where there is a kubectl", () => {
  const shown = text({ ...here, path: withKubectl() });
  expect(shown).toContain("kubectl -n default edit bucket hello");
  expect(shown).not.toContain("/apis/");
});

it("names the same requests to the sandbox where there is none, with the token of its kubeconfig", () => {
  const shown = text(here);
  expect(shown).not.toContain("kubectl");
  expect(shown).toContain(
    'curl -H "Authorization: Bearer $TOKEN" -X DELETE http://127.0.0.1:1/apis/s3.drover.dev/v1alpha1/namespaces/default/buckets/hello',
  );
});

it("the command for the token reads the kubeconfig that the sandbox writes", async () => {
  const sandbox = await startSandbox();
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const [command = ""] = /TOKEN=.*/.exec(text({ ...here, servers: { ...here.servers, kubeconfig } })) ?? [];
  expect(execFileSync("/bin/sh", ["-c", `${command}; echo "$TOKEN"`], { encoding: "utf8" })).toBe(
    `${sandbox.token}\n`,
  );
  await sandbox.close();
});

it("names the context that was given, and nothing that only our own servers answer", () => {
  const { servers } = here;
  const s3 = { url: "https://s3.example.com", isOwn: false, settings: {}, credentials: {} };
  const given = { ...servers, context: "home", sandboxUrl: undefined, s3 };
  const shown = text({ ...here, servers: given, path: withKubectl() });
  expect(shown).toContain("kubectl --context home -n default get buckets");
  expect(shown).not.toContain("curl");
  expect(text({ ...here, servers: given })).not.toMatch(/kubectl|curl/);
});

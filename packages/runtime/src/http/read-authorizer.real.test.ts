import { silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { type ProcessServer, serveProcess } from "./process-server.ts";
import { kubernetesAuthorizer } from "./read-authorizer.ts";

const root = new URL("../../../..", import.meta.url).pathname;
const run = promisify(execFile);
const parts = ["bridge", "deployer", "gateway"];
let cluster: RealCluster;
const folder = folderOfFile();
const closing: (() => Promise<unknown>)[] = [];
const kubectl = async (...args: readonly string[]) => (await run(cluster.kubectl, args)).stdout.trim();
const tokenOf = (name: string) => cluster.tokenOf("default", name);

/** A client with the token of a ServiceAccount. */
async function clientOf(namespace: string, name: string): Promise<KubeClient> {
  const kubeconfig = await cluster.kubeconfigOfAccount(namespace, name);
  const client = await connect({ kubeconfig, userAgent: "test", log: silentLog });
  closing.push(() => client.close());
  return client;
}

/** The server of a part of Drover, which reviews requests with the ServiceAccount of its manifest. */
async function serve(namespace: string, name: string): Promise<ProcessServer> {
  const scale = { group: "drover.dev", resource: "reconcilefunctions", subresource: "scale" };
  const server = await serveProcess({
    host: "127.0.0.1",
    port: 0,
    registry: new Registry(),
    ready: new Map(),
    log: silentLog,
    access: kubernetesAuthorizer(await clientOf(namespace, name)),
    endpoints: new Map([
      [
        "/scaling/",
        {
          accessFor: (rest) => {
            const [of = "", function_ = ""] = rest.split("/");
            return { resourceAttributes: { ...scale, namespace: of, name: function_, verb: "get" } };
          },
          respond: () => Promise.resolve({ wanted: 1 }),
        },
      ],
    ]),
  });
  closing.push(() => server.close());
  return server;
}
const status = async ({ url }: ProcessServer, path: string, token?: string): Promise<number> => {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  return (await fetch(url + path, { headers })).status;
};

beforeAll(async () => {
  cluster = await startRealCluster();
  await kubectl("create", "namespace", "drover");
  for (const name of ["prometheus", "stranger", "scaler"]) await kubectl("create", "serviceaccount", name);
  await kubectl("apply", ...parts.flatMap((part) => ["-f", join(root, `apps/${part}/deploy/rbac.yaml`)]));
  // No controller manager runs here: aggregated ClusterRoles are bound as they are.
  for (const part of ["bridge", "gateway"]) {
    const binding = ["create", "clusterrolebinding", part, `--clusterrole=drover-${part}:functions`];
    await kubectl(...binding, `--serviceaccount=drover:${part}`);
  }
  const reader = ["create", "clusterrolebinding", "prometheus", "--clusterrole=drover-metrics-reader"];
  await kubectl(...reader, "--serviceaccount=default:prometheus");
  const scale = {
    apiGroups: ["drover.dev"],
    resources: ["reconcilefunctions/scale"],
    resourceNames: ["tasks"],
    verbs: ["get"],
  };
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" };
  // `kubectl create role` would look for the resource: a Role may name one that is not served.
  const file = join(folder, "scaler.json");
  await writeFile(file, JSON.stringify({ ...role, metadata: { name: "scaler" }, rules: [scale] }));
  await kubectl("apply", "-f", file);
  await kubectl("create", "rolebinding", "scaler", "--role=scaler", "--serviceaccount=default:scaler");
}, 600_000);
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await cluster.stop();
});

describe.each(parts)("%s, with the permissions of its manifest", (part) => {
  it("shows metrics to accounts with drover-metrics-reader, and to no others", async () => {
    const server = await serve("drover", part);
    const prometheus = await tokenOf("prometheus");
    // The API server notices a new ClusterRoleBinding a moment later; refusals hold for 10 s.
    await vi.waitFor(async () => expect(await status(server, "/metrics", prometheus)).toBe(200), {
      timeout: 30_000,
      interval: 500,
    });
    expect(await status(server, "/metrics", await tokenOf("stranger"))).toBe(403);
    expect(await status(server, "/metrics")).toBe(401);
    expect(await status(server, "/metrics", "eyJhbGciOiJub25lIn0.e30.")).toBe(401);
    const [header, body, signature = ""] = prometheus.split(".");
    const turned = [header, body, signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))].join(".");
    expect(await status(server, "/metrics", turned)).toBe(401);
    expect(await status(server, "/healthz")).toBe(200);
  });
});

it("a scaler that may get the scale of one function reads its figure, and no other", async () => {
  const server = await serve("drover", "deployer");
  const token = await tokenOf("scaler");
  await vi.waitFor(async () => expect(await status(server, "/scaling/default/tasks", token)).toBe(200), {
    timeout: 30_000,
    interval: 500,
  });
  expect(await status(server, "/scaling/default/others", token)).toBe(403);
  expect(await status(server, "/scaling/drover/tasks", token)).toBe(403);
  expect(await status(server, "/metrics", token)).toBe(403);
  expect(await status(server, "/scaling/default/tasks", await tokenOf("prometheus"))).toBe(403);
});

it("a token for another audience is refused, so that its recipients cannot use it here", async () => {
  const server = await serve("drover", "deployer");
  const elsewhere = await kubectl("create", "token", "prometheus", "--audience=elsewhere");
  expect(await status(server, "/metrics", elsewhere)).toBe(401);
});

it("a process without permission to review reports that, and shows no metrics", async () => {
  const server = await serve("default", "stranger");
  const answer = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${await tokenOf("prometheus")}` },
  });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toMatch(/may not create TokenReviews and SubjectAccessReviews/);
});

import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import {
  eventually,
  nodeImage,
  podSchema,
  scriptContainer,
  scriptPod,
  startPodCluster,
} from "./pod-cluster.ts";
import { core } from "../harness/manifests.ts";
import { boundRole } from "../harness/rbac.ts";
import { deployment, locked, service } from "./workloads.ts";

const images = [{ of: "node", as: nodeImage } as const, { of: "sandbox", as: "drover/sandbox:1" } as const];
const cluster = await startPodCluster(...images);
afterAll(() => cluster.stop());

const containerOf = async (pod: string) => {
  const [container] = (await cluster.get(`pod/${pod}`, podSchema)).status.containerStatuses;
  if (container === undefined) throw new Error(`${pod} has no container yet`);
  return container;
};
const exitCodeOf = async (pod: string) => (await containerOf(pod)).state.terminated?.exitCode;

it("a Deployment of an image of ours becomes Available, locked down, from the cluster's registry", async () => {
  const sandbox = {
    name: "sandbox",
    image: "drover/sandbox:1",
    env: [
      { name: "DROVER_SANDBOX_HOST", value: "0.0.0.0" },
      { name: "DROVER_SANDBOX_PORT", value: "8080" },
    ],
    readinessProbe: { httpGet: { path: "/readyz", port: 8080 }, periodSeconds: 1 },
    securityContext: locked,
  };
  await cluster.apply(deployment("sandbox", 2, { containers: [sandbox] }));
  await cluster.wait("condition=Available", "deployment/sandbox");
  const pulled = ["get", "events", "--field-selector=reason=Pulled", "-o", "jsonpath={.items[*].message}"];
  expect(await cluster.kubectl(pulled)).toContain('Successfully pulled image "drover/sandbox:1"');
});

it("an image that was not pushed is refused at once, and requested from no other registry", async () => {
  const missing = { ...scriptContainer(""), image: "elsewhere.example/missing:1" };
  await cluster.apply(scriptPod("missing", "", { containers: [missing] }));
  await eventually(async () => {
    const { waiting } = (await containerOf("missing")).state;
    expect(waiting?.reason).toMatch(/ErrImagePull|ImagePullBackOff/);
    expect(waiting?.message).toContain("elsewhere.example/missing:1");
    expect(waiting?.message).toContain("not found");
  });
});

it("a pod that is deleted gets SIGTERM and its grace; one that is deaf is killed after it", async () => {
  const listens = `process.on("SIGTERM", () => setTimeout(() => process.exit(7), 500)); setInterval(() => {}, 1e6);`;
  const deaf = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6);`;
  await cluster.apply(scriptPod("listens", listens, { terminationGracePeriodSeconds: 60 }));
  await cluster.apply(scriptPod("deaf", deaf));
  await cluster.wait("condition=Ready", "pod/listens", "pod/deaf");
  // Held, so that how they ended can be read afterwards.
  await cluster.kubectl([
    ...["patch", "pod/listens", "pod/deaf"],
    ...["-p", JSON.stringify({ metadata: { finalizers: ["tests.drover.dev/hold"] } })],
  ]);
  await cluster.kubectl(["delete", "--wait=false", "pod/listens", "pod/deaf"]);
  await eventually(async () => {
    expect([await exitCodeOf("listens"), await exitCodeOf("deaf")]).toEqual([7, 137]);
  });
  const release = JSON.stringify({ metadata: { finalizers: null } });
  await cluster.kubectl(["patch", "pod/listens", "pod/deaf", "-p", release]);
  await cluster.wait("delete", "pod/listens", "pod/deaf");
});

it("in a Pod, a ServiceAccount has the permissions of its Role and no others", async () => {
  const metadata = { name: "reader", namespace: "default" };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
  await cluster.apply(
    core("ServiceAccount", "reader"),
    ...boundRole(metadata, rules, { kind: "ServiceAccount", name: "reader" }),
  );
  const asks = `
    import { readFileSync } from "node:fs";
    import { get } from "node:https";
    const folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
    const headers = { authorization: "Bearer " + readFileSync(folder + "token", "utf8") };
    const status = (resource) => new Promise((resolve, reject) =>
      get({ host, port, ca: readFileSync(folder + "ca.crt"), headers, path: "/api/v1/namespaces/default/" + resource },
        (answer) => resolve(answer.resume().statusCode)).on("error", reject));
    console.log(await status("configmaps"), await status("secrets"));`;
  await cluster.apply(scriptPod("asks", asks, { serviceAccountName: "reader", restartPolicy: "Never" }));
  await eventually(async () => expect(await exitCodeOf("asks")).toBe(0));
  expect((await cluster.kubectl(["logs", "asks"])).trim()).toBe("200 403");
});

it("a Service leads a pod, by its name, to each of the pods behind it, and is reached from outside the cluster", async () => {
  const answers = `
    import { createServer } from "node:http";
    import { hostname } from "node:os";
    createServer((_, response) => response.end(hostname())).listen(8080);`;
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
  await cluster.apply(
    service("answers", 8080),
    deployment("answers", 2, { containers: [{ ...scriptContainer(answers), readinessProbe }] }),
  );
  await cluster.wait("condition=Available", "deployment/answers");
  const asks = `
    const heard = new Set();
    while (heard.size < 2) heard.add(await (await fetch("http://answers:8080",
      { headers: { connection: "close" } })).text());
    console.log([...heard].sort().join(" "));`;
  await cluster.apply(scriptPod("asks-service", asks, { restartPolicy: "Never" }));
  await eventually(async () => expect(await exitCodeOf("asks-service")).toBe(0));
  const names = await cluster.kubectl([
    ...["get", "pods", "-l", "app=answers", "-o", "jsonpath={.items[*].metadata.name}"],
  ]);
  expect((await cluster.kubectl(["logs", "asks-service"])).trim()).toBe(names.split(" ").sort().join(" "));

  const { spec } = await cluster.get(
    "service/answers",
    z.object({ spec: z.object({ clusterIP: z.string() }) }),
  );
  const { port } = await cluster.reach(spec.clusterIP, 8080);
  expect(names.split(" ")).toContain(await (await fetch(`http://127.0.0.1:${port}`)).text());
});

it("a container that is killed is started again, in the same pod", async () => {
  await cluster.apply(scriptPod("killed", `const marked = "to-be-killed"; setInterval(() => {}, 1e6);`));
  await cluster.wait("condition=Ready", "pod/killed");
  const { metadata } = await cluster.get("pod/killed", podSchema);
  await cluster.exec(["pkill", "-KILL", "-f", "to-be-killed"]);
  await eventually(async () => {
    const container = await containerOf("killed");
    expect([container.restartCount, container.ready]).toEqual([1, true]);
  });
  expect((await cluster.get("pod/killed", podSchema)).metadata.uid).toBe(metadata.uid);
});

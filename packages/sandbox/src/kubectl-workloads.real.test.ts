import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { uidOf } from "./kube-object.ts";
import { startClient, widget, widgets } from "./testing/client.ts";
import type { Client } from "./testing/client.ts";
import { defineWidgets } from "./testing/contract-kinds.ts";
import { kubectlFor } from "./testing/kubectl.ts";
import type { Kubectl } from "./testing/kubectl.ts";

let api: Client;
let tool: Kubectl;
let kubectl: Kubectl["run"];

beforeAll(async () => {
  api = await startClient();
  tool = await kubectlFor(api);
  kubectl = tool.run;
  await defineWidgets(api);
});
afterAll(async () => {
  await api.close();
  await tool.close();
});

const apps = "/apis/apps/v1/namespaces/default";
const template = (name: string, image: string): JsonObject => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: "main", image }] },
});
const workload = (kind: string, name: string, replicas = 1, image = "i:1"): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, labels: { app: name } },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, image) },
});
const deployment = (name: string, replicas?: number, image?: string): JsonObject =>
  workload("Deployment", name, replicas, image);
const get = async (path: string): Promise<JsonObject> => (await api.call("GET", path)).body;
const apply = async (object: JsonObject, ...flags: string[]): Promise<string> =>
  kubectl("apply", "-f", await tool.file(object), ...flags);

/** What a deployment controller would say of a Deployment that is as it should be. */
async function rollOut(name: string): Promise<void> {
  const made = await get(`${apps}/deployments/${name}`);
  const replicas = field(made, "spec", "replicas") ?? 1;
  const status = {
    observedGeneration: field(made, "metadata", "generation") ?? 0,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    conditions: [{ type: "Available", status: "True" }],
  };
  await api.patch(`${apps}/deployments/${name}/status`, { status });
}

const revisionKey = "deployment.kubernetes.io/revision";

/** The ReplicaSet that it would make for a revision, and its mark on the Deployment. */
async function revise(name: string, revision: number, image: string, cause: string): Promise<void> {
  const mark = { metadata: { annotations: { [revisionKey]: String(revision) } } };
  const { body: owner } = await api.patch(`${apps}/deployments/${name}`, mark);
  const set = workload("ReplicaSet", name, 0, image);
  await api.call("POST", `${apps}/replicasets`, {
    ...set,
    metadata: {
      name: `${name}-${revision}`,
      labels: { app: name },
      annotations: {
        [revisionKey]: String(revision),
        "kubernetes.io/change-cause": cause,
      },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "Deployment", name, uid: uidOf(owner), controller: true },
      ],
    },
  });
}

describe("kubectl applies", () => {
  it("on the server, tells conflicts, and forces them", async () => {
    const file = await tool.file(deployment("ssa"));
    expect(await kubectl("apply", "--server-side", "-f", file)).toBe(
      "deployment.apps/ssa serverside-applied\n",
    );
    const { resourceVersion } = objectAt(await get(`${apps}/deployments/ssa`), "metadata");
    await kubectl("apply", "--server-side", "-f", file);
    expect(objectAt(await get(`${apps}/deployments/ssa`), "metadata")).toMatchObject({ resourceVersion });
    const other = await tool.file(deployment("ssa", 3));
    const flags = ["apply", "--server-side", "--field-manager=other", "-f", other];
    await expect(kubectl(...flags)).rejects.toThrow(
      'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas',
    );
    await kubectl(...flags, "--force-conflicts");
    expect(await kubectl("get", "deploy", "ssa", "-o", "jsonpath={.spec.replicas}")).toBe("3");
  });

  it("on the server what it applied as a client, without a conflict", async () => {
    await apply(deployment("moved"));
    await apply(deployment("moved", 2, "i:2"), "--server-side");
    const moved = await get(`${apps}/deployments/moved`);
    expect(moved).toMatchObject({ spec: { replicas: 2 } });
    const managers = listAt(moved, "metadata", "managedFields").map((one) => textAt(one, "manager"));
    expect(managers).not.toContain("kubectl-client-side-apply");
  });

  it("and shows the difference first, in both ways", async () => {
    for (const flags of [[], ["--server-side"]]) {
      const name = `differ${flags.length}`;
      const same = await tool.file(deployment(name));
      await kubectl("apply", ...flags, "-f", same);
      expect((await tool.exit("diff", ...flags, "-f", same)).code).toBe(0);
      const { code, said } = await tool.exit("diff", ...flags, "-f", await tool.file(deployment(name, 4)));
      expect(code).toBe(1);
      expect(said).toMatch(/^-\s+replicas: 1$[^]*^\+\s+replicas: 4$/m);
      expect(await get(`${apps}/deployments/${name}`)).toMatchObject({ spec: { replicas: 1 } });
    }
  });
});

describe("kubectl changes", () => {
  it("with an editor", async () => {
    await apply(deployment("edited"));
    expect(await tool.edit(`sed -i 's/replicas: 1/replicas: 7/' "$1"`, "edit", "deploy", "edited")).toBe(
      "deployment.apps/edited edited\n",
    );
    const edited = await get(`${apps}/deployments/edited`);
    expect(edited).toMatchObject({ spec: { replicas: 7 } });
    expect(await tool.edit("true", "edit", "deploy", "edited")).toBe("");
    expect(await get(`${apps}/deployments/edited`)).toEqual(edited);
  });

  it("by patches of three kinds, containers by name", async () => {
    await apply(deployment("patched"));
    const patch = (type: string, body: Json) =>
      kubectl("patch", "deploy", "patched", `--type=${type}`, "-p", JSON.stringify(body));
    const env = [{ name: "A", value: "1" }];
    const containers = [
      { name: "main", env },
      { name: "more", image: "m" },
    ];
    await patch("strategic", { spec: { template: { spec: { containers } } } });
    await patch("merge", { spec: { minReadySeconds: 3 } });
    await patch("json", [{ op: "replace", path: "/spec/replicas", value: 2 }]);
    const { spec = {} } = await get(`${apps}/deployments/patched`);
    expect(spec).toMatchObject({ replicas: 2, minReadySeconds: 3 });
    const patched = listAt(spec, "template", "spec", "containers");
    expect(patched).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "main", image: "i:1", env }),
        expect.objectContaining({ name: "more" }),
      ]),
    );
  });

  it("images, labels, annotations, variables and resources", async () => {
    await apply(deployment("set"));
    await kubectl("set", "image", "deploy/set", "main=i:2");
    await kubectl("set", "env", "deploy/set", "A=1");
    await kubectl("set", "resources", "deploy/set", "--limits=cpu=1");
    await kubectl("label", "deploy", "set", "tier=web");
    await kubectl("annotate", "deploy", "set", "note=x");
    expect(await get(`${apps}/deployments/set`)).toMatchObject({
      metadata: { labels: { tier: "web" }, annotations: { note: "x" } },
      spec: {
        template: {
          spec: { containers: [{ image: "i:2", env: [{ name: "A" }], resources: { limits: { cpu: "1" } } }] },
        },
      },
    });
  });
});

describe("kubectl scales", () => {
  it.each(["Deployment", "ReplicaSet", "StatefulSet"])("a %s", async (kind) => {
    const name = `scaled-${kind.toLowerCase()}`;
    await apply(workload(kind, name));
    const scale = (...flags: string[]) => kubectl("scale", `${kind.toLowerCase()}/${name}`, ...flags);
    await scale("--replicas=3");
    await scale("--current-replicas=3", "--replicas=4");
    await expect(scale("--current-replicas=3", "--replicas=5")).rejects.toThrow("Expected replicas to be 3");
    const version = await kubectl("get", kind, name, "-o", "jsonpath={.metadata.resourceVersion}");
    await scale(`--resource-version=${version}`, "--replicas=6");
    expect(await get(`${apps}/${kind.toLowerCase()}s/${name}`)).toMatchObject({ spec: { replicas: 6 } });
  });

  it("a custom resource, and reads its scale", async () => {
    await apply(widget("scaled", { size: 1 }));
    await kubectl("scale", "widget/scaled", "--replicas=3");
    expect(await get(`${widgets}/scaled`)).toMatchObject({ spec: { size: 3 } });
    expect(
      await kubectl("get", "widget", "scaled", "--subresource=scale", "-o", "jsonpath={.spec.replicas}"),
    ).toBe("3");
    await kubectl(
      "patch",
      "wd",
      "scaled",
      "--subresource=scale",
      "--type=merge",
      "-p",
      '{"spec":{"replicas":4}}',
    );
    expect(await get(`${widgets}/scaled`)).toMatchObject({ spec: { size: 4 } });
  });
});

describe("kubectl rolls out", () => {
  it("and waits until it is", async () => {
    await apply(deployment("awaited", 2));
    const done = kubectl("rollout", "status", "deploy/awaited", "--timeout=30s");
    const available = kubectl("wait", "deploy/awaited", "--for=condition=Available", "--timeout=30s");
    await rollOut("awaited");
    expect(await done).toContain("successfully rolled out");
    expect(await available).toContain("condition met");
  });

  it("again, pauses and resumes", async () => {
    await apply(deployment("paused"));
    await kubectl("rollout", "pause", "deploy/paused");
    expect(await get(`${apps}/deployments/paused`)).toMatchObject({ spec: { paused: true } });
    await expect(kubectl("rollout", "restart", "deploy/paused")).rejects.toThrow("can't restart paused");
    await kubectl("rollout", "resume", "deploy/paused");
    await kubectl("rollout", "restart", "deploy/paused");
    const restarted = await get(`${apps}/deployments/paused`);
    const annotations = objectAt(restarted, "spec", "template", "metadata", "annotations");
    expect(Object.keys(annotations)).toEqual(["kubectl.kubernetes.io/restartedAt"]);
  });

  it("back to what ReplicaSets remember", async () => {
    await kubectl("create", "-f", await tool.file(deployment("undone", 1, "i:2")));
    await revise("undone", 1, "i:1", "first");
    await revise("undone", 2, "i:2", "second");
    const history = await kubectl("rollout", "history", "deploy/undone");
    expect(history).toMatch(/^1 +first\n2 +second$/m);
    expect(await kubectl("rollout", "history", "deploy/undone", "--revision=1")).toContain("i:1");
    await kubectl("rollout", "undo", "deploy/undone");
    expect(await kubectl("get", "deploy", "undone", "-o", "jsonpath={..image}")).toBe("i:1");
  });
});

describe("kubectl shows", () => {
  it("workloads in their columns, and all of them", async () => {
    await kubectl("create", "namespace", "shown");
    const here = (...args: string[]) => kubectl(...args, "-n", "shown");
    await here("create", "deployment", "d", "--image=x", "--replicas=2", "--port=80");
    await here("create", "service", "clusterip", "s", "--tcp=80:8080");
    await here("run", "p", "--image=y", "--labels=a=b");
    const rows = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((row) => row.split(/ {2,}/));
    expect(rows(await here("get", "deploy", "-o", "wide"))).toEqual([
      ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"],
      ["d", "0/2", "0", "0", expect.any(String), "x", "x", "app=d"],
    ]);
    expect(rows(await here("get", "pods", "-l", "a=b"))).toEqual([
      ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
      ["p", "0/1", "Pending", "0", expect.any(String)],
    ]);
    const all = await here("get", "all");
    for (const one of ["pod/p", "service/s", "deployment.apps/d"]) expect(all).toContain(one);
    expect(all).toContain("80/TCP");
    expect(await here("get", "deploy", "d", "-o", "yaml")).not.toContain("managedFields");
    expect(await here("get", "deploy", "d", "-o", "yaml", "--show-managed-fields")).toContain("f:replicas");
  });

  it("a Deployment with its ReplicaSets and a Pod with its containers", async () => {
    await kubectl("create", "-f", await tool.file(deployment("described")));
    await revise("described", 1, "i:1", "made");
    expect(await kubectl("describe", "deploy", "described")).toMatch(
      /OldReplicaSets:|NewReplicaSet: +described-1/,
    );
    await kubectl("run", "described", "--image=y", "--env=A=1");
    expect(await kubectl("describe", "pod", "described")).toMatch(/Image: +y[^]*A: +1/);
  });
});

describe("kubectl waits", () => {
  it("for what is created, and for a value", async () => {
    const created = kubectl("wait", "--for=create", "deploy/late", "--timeout=30s");
    await apply(deployment("late"));
    expect(await created).toContain("condition met");
    const value = kubectl("wait", "deploy/late", "--for=jsonpath={.status.readyReplicas}=1", "--timeout=30s");
    await rollOut("late");
    expect(await value).toContain("condition met");
  });
});

describe("kubectl deletes", () => {
  it("at once, or waits for what holds it", async () => {
    await kubectl(
      "run",
      "held",
      "--image=x",
      "--overrides",
      '{"metadata":{"finalizers":["example.com/hold"]}}',
    );
    expect(await kubectl("delete", "pod", "held", "--wait=false", "--grace-period=1")).toContain("deleted");
    expect((await tool.exit("delete", "pod", "held", "--timeout=1s")).code).toBe(1);
    await kubectl("delete", "pod", "held", "--force", "--grace-period=0", "--wait=false");
    const gone = kubectl("wait", "--for=delete", "pod/held", "--timeout=30s");
    await kubectl("patch", "pod", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    await gone;
    await expect(kubectl("get", "pod", "held")).rejects.toThrow("NotFound");
  });

  it("what a Deployment owns, before it, with it, or not at all", async () => {
    for (const cascade of ["foreground", "background", "orphan"]) {
      await kubectl("create", "-f", await tool.file(deployment(cascade)));
      await revise(cascade, 1, "i:1", "made");
      expect(await kubectl("delete", "deploy", cascade, `--cascade=${cascade}`)).toContain("deleted");
      const { code } = await api.call("GET", `${apps}/replicasets/${cascade}-1`);
      expect(code).toBe(cascade === "orphan" ? 200 : 404);
    }
  });
});

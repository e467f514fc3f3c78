import {
  customResourceDefinition,
  defineController,
  type DeployableFunction,
  functionManifestOf,
  type PermissionRule,
  permittedAccess,
  resourceAttributesOf,
} from "@drover/controller";
import { parseCall } from "@drover/testing/fault-proxy";
import { builtin, connect, createOrReplace, installCrd, kindOf } from "@drover/kube";
import { readKubeconfig, startRealCluster } from "@drover/real-cluster";
import { request } from "node:https";
import { afterAll, describe, expect, it } from "vitest";
import { exampleKind } from "../harness/example-kind.ts";
import { functionObjects } from "../../apps/deployer/src/objects/function-objects.ts";
import { rightsOf } from "../../packages/testing/src/rights.ts";

/**
 * Each request is made with the token of a function's ServiceAccount, with the roles that the deployer writes for it, and
 * the same is asked of the kit: both must refuse the same, in the same words.
 */
const cluster = await startRealCluster();
afterAll(() => cluster.stop());
const admin = await connect({ kubeconfig: cluster.kubeconfig });
afterAll(() => admin.close());
const Cup = exampleKind("Cup");
await installCrd(admin, { ...customResourceDefinition(Cup) });
for (const name of ["home", "other"]) await createOrReplace(admin, builtin.namespace, { metadata: { name } });
const anything = (only: { readonly namespaces?: string[] }, name: string) =>
  defineController({
    for: Cup,
    name,
    only,
    owns: [{ kind: kindOf(builtin.configMap) }, { kind: kindOf(builtin.namespace) }],
    watches: [{ kind: kindOf(builtin.node), names: () => Promise.resolve([]) }],
    reconcile: () => Promise.resolve(undefined),
    finalize: () => Promise.resolve(),
  });
const container = { image: "cups:1" };
const rule = (
  group: string,
  resources: string[],
  verbs: string[],
  resourceNames?: string[],
): PermissionRule => ({ apiGroups: [group], resources, verbs, ...(resourceNames && { resourceNames }) });

const definitions: Readonly<Record<string, DeployableFunction<typeof Cup>>> = {
  "what follows from the code, anywhere": { controller: anything({}, "anywhere"), readsSecrets: ["a"] },
  "what follows from the code, at home": {
    controller: anything({ namespaces: ["home"] }, "at-home"),
    namespace: "home",
    readsSecrets: true,
  },
  "rules of every form": {
    controller: anything({ namespaces: ["home"] }, "forms"),
    namespace: "home",
    deployment: {
      permissions: {
        namespace: [
          rule("", ["pods", "pods/log"], ["get", "list"]),
          rule("apps", ["deployments"], ["*"], ["a"]),
          rule(
            "",
            ["services"],
            ["get", "list", "watch", "delete", "deletecollection", "create"],
            ["a", "b"],
          ),
          rule("*", ["replicasets"], ["list"]),
        ],
        cluster: [
          rule("apps", ["*/scale"], ["get", "update", "patch"]),
          rule("rbac.authorization.k8s.io", ["*"], ["get"]),
          rule("", ["pods/", "pods/binding"], ["create"]),
          rule("", ["namespaces"], ["get"], ["other"]),
        ],
      },
    },
  },
  "everything, at home": {
    controller: anything({ namespaces: ["home"] }, "everything"),
    namespace: "home",
    deployment: { permissions: { namespace: [rule("*", ["*"], ["*"])] } },
  },
};

const collections = [
  "/api/v1/configmaps",
  "/api/v1/secrets",
  "/api/v1/pods",
  "/api/v1/services",
  "/api/v1/nodes",
  "/api/v1/namespaces",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/replicasets",
  "/apis/example.com/v1/cups",
  "/apis/rbac.authorization.k8s.io/v1/roles",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/events.k8s.io/v1/events",
];
const subresources: Readonly<Record<string, readonly string[]>> = {
  pods: ["log", "exec", "binding", "status"],
  deployments: ["scale", "status"],
  replicasets: ["scale", "finalizers"],
  cups: ["status", "finalizers", "scale"],
  namespaces: ["finalize", "status"],
  nodes: ["proxy"],
};

interface Asked {
  readonly method: string;
  readonly url: string;
}
const ask = (method: string, url: string): Asked => ({ method, url });

function requestsAt(collection: string): readonly Asked[] {
  const plural = collection.split("/").at(-1) ?? "";
  const isNamespaced = !["nodes", "namespaces", "clusterroles"].includes(plural);
  const inside = (namespace: string): string =>
    collection.replace(new RegExp(`/${plural}$`), `/namespaces/${namespace}/${plural}`);
  const places = isNamespaced ? ["home", "other"].map(inside) : [collection];
  return [
    ...(isNamespaced ? [ask("GET", collection), ask("GET", `${collection}?watch=true`)] : []),
    ...places.flatMap((place) => [
      ask("GET", place),
      ask("GET", `${place}?watch=1&timeoutSeconds=1`),
      ask("GET", `${place}?fieldSelector=metadata.name%3Da`),
      ask("GET", `${place}?watch=1&fieldSelector=metadata.name=z`),
      ask("POST", `${place}?dryRun=All`),
      ask("DELETE", `${place}?dryRun=All`),
      ...["a", "z", "other"].flatMap((name) => [
        ...["GET", "PUT", "PATCH", "DELETE"].map((method) => ask(method, `${place}/${name}?dryRun=All`)),
        ...(subresources[plural] ?? []).flatMap((sub) =>
          ["GET", "PUT", "PATCH", "POST"].map((method) => ask(method, `${place}/${name}/${sub}?dryRun=All`)),
        ),
      ]),
    ]),
  ];
}

const others = [
  ...[
    "/api",
    "/apis",
    "/apis/apps",
    "/apis/apps/v1",
    "/api/v1",
    "/version",
    "/healthz",
    "/livez",
    "/readyz",
  ].map((url) => ask("GET", url)),
  ...["/openapi/v2", "/metrics", "/logs/", "/debug/pprof/", "/", "/apiserver"].map((url) => ask("GET", url)),
  ...["selfsubjectaccessreviews", "subjectaccessreviews", "selfsubjectrulesreviews"].map((review) =>
    ask("POST", `/apis/authorization.k8s.io/v1/${review}`),
  ),
  ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
  ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
  ask("POST", "/api/v1/namespaces/home/serviceaccounts/a/token"),
];

const part = { namespace: "drover", name: "part" };
const surroundings = {
  redisUrl: "redis://redis:6379",
  redisCa: undefined,
  bridge: part,
  gateway: part,
  keda: { scalingUrl: undefined },
  network: { namespace: "drover", monitoring: [], egress: { pods: true, networks: [], except: [] } },
};

/** As the deployer deploys it; until the API server follows. */
async function deploy(definition: DeployableFunction<typeof Cup>): Promise<string> {
  const { metadata, spec } = functionManifestOf({
    ...definition,
    deployment: { ...definition.deployment, container },
  });
  const { name, namespace = "default" } = metadata;
  const home = { name, namespace, uid: "11111111-1111-1111-1111-111111111111" };
  for (const { ref, object, wanted } of functionObjects(home, spec, surroundings)) {
    const isRight = [
      builtin.serviceAccount,
      builtin.role,
      builtin.roleBinding,
      builtin.clusterRole,
      builtin.clusterRoleBinding,
    ].some((one) => one === ref);
    if (wanted && isRight)
      await createOrReplace(admin, ref, { ...object, metadata: { ...object.metadata, ownerReferences: [] } });
  }
  const user = `system:serviceaccount:${namespace}:${name}`;
  for (const access of permittedAccess(spec.permissions ?? {}, namespace)) {
    // `pods/` is a resource of no request.
    if (access.subresource === "") continue;
    const asked = { user, resourceAttributes: resourceAttributesOf(access) };
    await expect
      .poll(() => admin.review(builtin.subjectAccessReview, asked), { timeout: 30_000 })
      .toMatchObject({ allowed: true });
  }
  return cluster.tokenOf(namespace, name);
}

/** The Status of a refusal; undefined for whatever else is answered. */
function refusal(token: string, { method, url }: Asked): Promise<unknown> {
  const { url: server, ca } = readKubeconfig(cluster.kubeconfig);
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { authorization: `Bearer ${token}`, "content-type": type, accept: "application/json" };
  const body = method === "GET" || method === "DELETE" ? "" : "{}";
  return new Promise((resolve, reject) => {
    const sent = request(server + url, { method, ca, headers, agent: false }, (response) => {
      if (response.statusCode !== 403) {
        response.destroy();
        resolve(undefined);
        return;
      }
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(parts).toString())));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe.each(Object.entries(definitions))("a function with %s", (_, definition) => {
  it("is refused in the kit what the API server refuses", { timeout: 300_000 }, async () => {
    const token = await deploy(definition);
    const { controller } = definition;
    const kit = rightsOf({
      controllers: [controller],
      deployedAs: definition,
      running: () => controller.name,
    });
    const all = [...collections.flatMap(requestsAt), ...others];
    let refused = 0;
    for (const [i, asked] of all.entries()) {
      const theirs = await refusal(token, asked);
      const ours = kit.refusalOf(parseCall({ id: i, life: 2, ...asked }));
      expect(ours, `${asked.method} ${asked.url}`).toEqual(theirs);
      if (theirs !== undefined) refused++;
    }
    console.log(`${controller.name}: ${refused} of ${all.length} refused`);
    expect(refused).toBeGreaterThan(20);
    expect(all.length - refused).toBeGreaterThan(20);
    expect(kit.missing().length).toBeGreaterThan(10);
  });
});

// How the lists of built-in kinds merge when two apply them: sentences that hold of the sandbox and of a real API server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, isArray, isObject, listAt, objectAt, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { AnyServer } from "./testing/real-client.ts";

const inDefault = (api: string, plural: string, name: string): string =>
  `/${api}/namespaces/default/${plural}/${name}`;
const apps = "apis/apps/v1";

const template = (container: JsonObject, spec: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: "i:1", ...container }], ...spec },
});
const deployment = (name: string, container: JsonObject, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: { selector: { matchLabels: { app: "x" } }, template: template(container, spec) },
});
const core = (kind: string, name: string, more: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name },
  ...more,
});

type Case = readonly [
  list: string,
  path: string,
  mine: JsonObject,
  yours: JsonObject,
  at: readonly (string | number)[],
  both: readonly Json[],
];
const podAt = ["spec", "template", "spec"] as const;
const deployed = (
  list: string,
  mine: readonly Json[],
  yours: readonly Json[],
  both: readonly Json[],
  inContainer = true,
): Case => {
  const name = `by-${list.toLowerCase()}`;
  const made = (items: readonly Json[]) =>
    inContainer ? deployment(name, { [list]: items }) : deployment(name, {}, { [list]: items });
  const at = inContainer ? [...podAt, "containers", 0, list] : [...podAt, list];
  return [list, inDefault(apps, "deployments", name), made(mine), made(yours), at, both];
};
const named = (...names: string[]): Json[] => names.map((name) => ({ name }));
const tcp = { protocol: "TCP" };

const cases: readonly Case[] = [
  deployed(...(["env", [{ name: "A", value: "1" }], [{ name: "B", value: "2" }]] as const), [
    { name: "A", value: "1" },
    { name: "B", value: "2" },
  ]),
  deployed(...(["ports", [{ containerPort: 80 }], [{ containerPort: 80, protocol: "UDP" }]] as const), [
    { containerPort: 80, ...tcp },
    { containerPort: 80, protocol: "UDP" },
  ]),
  deployed("imagePullSecrets", named("a"), named("b"), named("a", "b"), false),
  deployed(
    "hostAliases",
    [{ ip: "1.1.1.1" }],
    [{ ip: "1.1.1.2" }],
    [{ ip: "1.1.1.1" }, { ip: "1.1.1.2" }],
    false,
  ),
  deployed(
    ...(["volumes", [{ name: "a", emptyDir: {} }], [{ name: "b", emptyDir: {} }]] as const),
    [
      { name: "a", emptyDir: {} },
      { name: "b", emptyDir: {} },
    ],
    false,
  ),
  [
    "ports of services",
    inDefault("api/v1", "services", "ports"),
    core("Service", "ports", { spec: { ports: [{ name: "a", port: 80 }] } }),
    core("Service", "ports", { spec: { ports: [{ name: "b", port: 81 }] } }),
    ["spec", "ports"],
    [
      { name: "a", port: 80, targetPort: 80, ...tcp },
      { name: "b", port: 81, targetPort: 81, ...tcp },
    ],
  ],
  [
    "secrets of accounts",
    inDefault("api/v1", "serviceaccounts", "secrets"),
    core("ServiceAccount", "secrets", { secrets: named("a") }),
    core("ServiceAccount", "secrets", { secrets: named("b") }),
    ["secrets"],
    named("a", "b"),
  ],
];

const dig = (object: Json | undefined, path: readonly (string | number)[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (at, key) => (isArray(at) ? at[Number(key)] : isObject(at) ? field(at, String(key)) : undefined),
    object,
  );

/** The sentences, for a server that `start` brings. */
export function builtInListsContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => void (api = await start()), 900_000);
  afterAll(() => api.close());

  const apply = async (manager: string, path: string, body: JsonObject): Promise<JsonObject> => {
    const type = { "content-type": "application/apply-patch+yaml" };
    const reply = await api.call("PATCH", `${path}?fieldManager=${manager}`, body, type);
    expect(reply.code, JSON.stringify(reply.body)).toBeLessThan(300);
    return reply.body;
  };

  describe("two appliers of", () => {
    it.each(cases)("%s have their items each", async (_, path, mine, yours, at, both) => {
      await apply("a", path, mine);
      const shared = await apply("b", path, yours);
      expect(dig(shared, at)).toEqual(both);
      expect(dig(await apply("a", path, mine), at)).toEqual(both);
    });

    it("a Deployment conflict where they differ, and nowhere else", async () => {
      const path = inDefault(apps, "deployments", "differ");
      await apply("a", path, deployment("differ", { args: ["1"], resources: { limits: { cpu: "1" } } }));
      const type = { "content-type": "application/apply-patch+yaml" };
      const other = deployment("differ", {
        image: "i:2",
        args: ["2"],
        resources: { limits: { memory: "1Gi" } },
      });
      const { body } = await api.call("PATCH", `${path}?fieldManager=b`, other, type);
      expect(listAt(body, "details", "causes").map((cause) => field(cause, "field"))).toEqual([
        '.spec.template.spec.containers[name="main"].args',
        '.spec.template.spec.containers[name="main"].image',
      ]);
    });
  });

  describe("a created", () => {
    const fieldsOf = (object: JsonObject): JsonObject =>
      objectAt(listAt(object, "metadata", "managedFields")[0], "fieldsV1", "f:spec");

    it("Deployment is owned with its defaults, by item", async () => {
      const { body } = await api.call(
        "POST",
        "/apis/apps/v1/namespaces/default/deployments",
        deployment("owned", { ports: [{ containerPort: 80 }] }),
      );
      expect(fieldsOf(body)).toEqual(
        parseJson(
          '{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"main\\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}',
        ),
      );
    });

    it("Service is owned without what the server allots", async () => {
      const spec = { ports: [{ port: 80 }], selector: { a: "b" } };
      const body = core("Service", "owned", { spec });
      const made = await api.call("POST", "/api/v1/namespaces/default/services", body);
      expect(Object.keys(fieldsOf(made.body)).sort()).toEqual(
        ["internalTrafficPolicy", "ports", "selector", "sessionAffinity", "type"].map((key) => `f:${key}`),
      );
    });
  });
}

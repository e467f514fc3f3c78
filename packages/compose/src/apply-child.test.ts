import { type Child, objectKey, type ObjectClient } from "@drover/controller";
import {
  ApiError,
  type ApiErrorKind,
  builtin,
  controllerReference,
  kindOf,
  type KubeObject,
  managedFieldsOf,
  type NewObject,
} from "@drover/kube";
import { afterEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../testing/src/sandbox.fixture.ts";
import { applyChild } from "./apply-child.ts";
import { checkedChildren } from "./checked-children.ts";
import type { DesiredChild, ObservedChild } from "./child.ts";
import { childLabels } from "./marks.ts";
import { observeChildren } from "./observed/observe-children.ts";
import { openComparison } from "./satisfied.ts";

const { client } = await sandboxOfFile();
const others = client.guarded({ beforeWrite: () => undefined, fieldManager: "others" });
const kind = builtin.configMap;
const key = objectKey({ namespace: "default", name: "a" });
const configMap = (data: object): NewObject => ({ metadata: { name: "a", namespace: "default" }, data });
const declared = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } };

const { metadata } = await client.create(builtin.secret, {
  metadata: { name: "parent", namespace: "default" },
});
const labels = childLabels("websites", metadata);
const fieldManager = "drover.dev/websites";
const owns = [kind, builtin.deployment].map((ref) => ({ kind: kindOf(ref) }));
const parent = {
  ref: builtin.secret,
  key: objectKey({ namespace: "default", name: "parent" }),
  recorded: new Set<string>(),
  metadata,
  owns,
  labels,
  parent: "Website.example.com/a",
  parentElsewhere: "Website.example.com/default/a",
};
const run: ObjectClient = client.guarded({
  beforeWrite: () => undefined,
  fieldManager,
  owner: { reference: controllerReference({ ref: builtin.secret, metadata }), namespace: "default" },
});

/** The memory of one process. */
const comparison = openComparison();
const contextWith = (more: Partial<ObjectClient>) => ({
  client: { ...run, ...more },
  ...parent,
  fieldManager,
  comparison,
  now: () => new Date(),
  signal: new AbortController().signal,
});
const apply = (child: Child, observed?: ObservedChild, more: Partial<ObjectClient> = {}) =>
  applyChild(contextWith(more), checked(child), observed);
const checked = (child: Child): DesiredChild => checkedChildren(parent, [child])[0] ?? expect.fail();
/** A client's `get`, after which others act before the caller goes on. */
const getThen = (act: () => Promise<unknown>): Pick<ObjectClient, "get"> => ({
  async get(...asked) {
    const found = await run.get(...asked);
    await act();
    return found;
  },
});
const live = async (): Promise<KubeObject> => (await client.get(kind, key)) ?? expect.fail();

afterEach(async () => {
  await client.delete(kind, key);
  await client.delete(builtin.deployment, key);
});

it.each([{ theirs: "t" }, { a: "theirs" }])(
  "an object with %j that others have created is left as it is",
  async (data) => {
    await others.create(kind, configMap(data));
    expect(await apply(declared)).toMatchObject({ did: "failed", reason: "ChildNameTaken" });
    const left = await live();
    expect(left).toMatchObject({ data });
    expect(managedFieldsOf(left).map(({ manager }) => manager)).toEqual(["others"]);
  },
);

it("a child that does not exist is created without a read", async () => {
  const get = () => expect.fail("It was read.");
  expect(await apply(declared, undefined, { get })).toMatchObject({ did: "created" });
});

it("a child of a name that becomes free is created by the next run", async () => {
  await others.create(kind, configMap({ theirs: "t" }));
  const get = async () => {
    await others.delete(kind, key);
    return undefined;
  };
  await expect(apply(declared, undefined, { get })).rejects.toMatchObject({ kind: "Conflict" });
  expect(await apply(declared)).toMatchObject({ did: "created" });
});

it("an object that another controller takes while it is adopted is left as it is", async () => {
  const owner = await others.create(kind, { metadata: { name: "owner", namespace: "default" } });
  const taken = { ownerReferences: [controllerReference({ ref: kind, metadata: owner.metadata })] };
  await others.create(kind, configMap({ a: "old" }));
  const meanwhile = getThen(() => others.patch(kind, key, { type: "merge", body: { metadata: taken } }));
  await expect(apply({ object: declared, adopt: true }, undefined, meanwhile)).rejects.toMatchObject({
    kind: "Conflict",
  });
  expect(await live()).toMatchObject({ metadata: taken, data: { a: "old" } });
});

it("an object that is created again while it is adopted is not adopted", async () => {
  await others.create(kind, configMap({ a: "old" }));
  const again = getThen(async () => {
    await others.delete(kind, key);
    await others.create(kind, configMap({ a: "new" }));
  });
  await expect(apply({ object: declared, adopt: true }, undefined, again)).rejects.toMatchObject({
    kind: "Conflict",
  });
  expect(await live()).toMatchObject({ data: { a: "new" } });
});

it.each<[string, ApiErrorKind, string, string]>([
  ["a permission that is missing", "Forbidden", "no", "ChildForbidden"],
  ["a quota that is used up", "Forbidden", "exceeded quota: few, requested: 1", "ChildOverQuota"],
  ["a namespace that does not exist", "NotFound", 'namespaces "a" not found', "ChildNamespaceNotFound"],
])("%s may be there later: the failure is not final", async (_, kind, serverMessage, reason) => {
  const refused = new ApiError({ kind, status: 403, reason: kind, serverMessage, request: "PATCH /" });
  const report = await apply(declared, undefined, { apply: () => Promise.reject(refused) });
  expect(report).toMatchObject({ did: "failed", reason, isFinal: false });
});

it("a child whose list others have made longer is compared on the server once, and then by memory", async () => {
  const container = { name: "web", image: "web:1" };
  const template = (containers: readonly object[]) => ({
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers } },
  });
  const child = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a" },
    spec: template([container]),
  };
  await apply(child);
  const sidecar = { name: "sidecar", image: "sidecar:1" };
  const object = await others.patch(builtin.deployment, key, {
    type: "merge",
    body: { spec: template([container, sidecar]) },
  });
  const observed = { ref: builtin.deployment, key, object };
  expect(await apply(child, observed)).toMatchObject({ did: "nothing" });
  const unused = () => Promise.reject(new Error("no request is needed"));
  expect(await apply(child, observed, { get: unused, apply: unused })).toMatchObject({ did: "nothing" });
});

it("children are listed in the namespace of their parent only", async () => {
  const asked: unknown[] = [];
  const find: ObjectClient["find"] = (_ref, options) => (asked.push(options?.namespace), Promise.resolve([]));
  await observeChildren(contextWith({ find }));
  expect(asked).toEqual(["default", "default"]);
});

it("an object that looks like a child, with a name that no child can have, is ignored", async () => {
  const named = { ...metadata, labels, name: "a b" };
  const find: ObjectClient["find"] = ({ kind }) =>
    Promise.resolve([{ apiVersion: "v1", kind, metadata: named }]);
  expect((await observeChildren(contextWith({ find }))).children.size).toBe(0);
});

it("any number of objects elsewhere that look like children do not keep the recorded ones from being found", async () => {
  const recorded = new Set(["configmaps/theirs/child"]);
  const looking = (name: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, labels, name, namespace: "theirs" },
  });
  let pages = 0;
  const context = contextWith({
    list: (_ref, { namespace } = {}) => {
      pages++;
      const items =
        namespace === undefined ? Array.from({ length: 50 }, (_, i) => looking(`forged-${i}`)) : [];
      const more = namespace === undefined && pages < 100 ? "more" : undefined;
      return Promise.resolve({ resourceVersion: "1", continue: more, remaining: undefined, items });
    },
    get: () => Promise.resolve(looking("child")),
  });
  const elsewhere = { ...context, recorded, owns: [{ kind: kindOf(kind), acrossNamespaces: true }] };
  const { children } = await observeChildren(elsewhere, { isLive: true });
  expect([...children.keys()]).toEqual([...recorded]);
  expect(pages).toBeLessThan(30);
});

import { objectKey, RetryAfterError } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import { boundRole } from "./roles/bound-role.ts";
import type { FunctionContext } from "./objects/function-object.ts";
import {
  type FunctionRef,
  ownedMetadata,
  ownedMetadataElsewhere,
  ownedClusterMetadata,
} from "./function-ref.ts";
import { observePods } from "./pods/observe-pods.ts";
import type { DeployRunContext } from "./run-context.ts";
import { takeDown, removePods } from "./take-down.ts";
import { cupSpec, functionRef } from "./testing/cups.ts";

const { sandbox, client } = await sandboxOfFile({
  controllers: false,
  namespaces: ["tea", "coffee", "milk"],
});

const namesake: FunctionRef = { namespace: "milk", name: "cups", uid: "2" };
const { signal } = new AbortController();
let heal: () => void;
/** What was taken away, in turn. */
let taken: string[];
beforeEach(() => {
  taken = [];
  heal = sandbox.faults.respond(({ method, path }) => {
    if (method === "DELETE") taken.push(decodeURIComponent(path).split("/").slice(-2).join(" "));
    return undefined;
  });
});
afterEach(() => heal());

/** A run context whose Redis and permits are lists of what was done to them. */
function runContextOf(status: FunctionContext["status"] = {}): DeployRunContext {
  const noting = (word: string) => (): Promise<void> => {
    taken.push(word);
    return Promise.resolve();
  };
  return {
    client,
    functionRef,
    cleanedGenerations: new Map([[functionRef.uid, 1]]),
    context: { signal, spec: cupSpec(), status } as FunctionContext,
    functionUsers: { revoke: noting("user") } as Partial<DeployRunContext["functionUsers"]>,
    queues: { closeQueuesOf: noting("queues") } as Partial<DeployRunContext["queues"]>,
    keys: { deleteAll: noting("keys") },
    permits: { records: { drop: noting("permit") } },
  } as unknown as DeployRunContext;
}
const addPod = (name: string) =>
  client.create(builtin.pod, {
    metadata: { name, ...ownedMetadata(functionRef) },
    spec: { containers: [{ name: "a", image: "a" }] },
  });
const podsLeft = () => observePods(client, functionRef, signal);
/** Roles in the function's namespace, in another and in none. */
async function addRoles(of: FunctionRef): Promise<void> {
  const name = `drover:${of.namespace}:cups`;
  const places = [
    { ...ownedClusterMetadata(of, name), namespace: of.namespace },
    ownedClusterMetadata(of, name),
  ];
  for (const metadata of [...places, ownedMetadataElsewhere(of, "coffee", name)])
    for (const { ref, object } of boundRole(metadata, [], of, { wanted: true }))
      await client.create(ref, object);
}
const waitOf = (error: unknown): unknown =>
  error instanceof RetryAfterError ? [error.reason, error.after, error.message] : error;

it("a function that goes loses its Pods first, then every role, its user and its permit, and its keys last", async () => {
  await addPod("cups-r1-a");
  await addRoles(functionRef);
  await addRoles(namesake);
  const runContext = runContextOf();
  expect(await takeDown(runContext).catch(waitOf)).toEqual([
    "PodsLeft",
    "1s",
    "Waiting for 1 Pods to end their runs.",
  ]);
  expect(taken).toEqual(["pods cups-r1-a"]);
  taken = [];
  await takeDown(runContext);
  const binding = "rolebindings drover:tea:cups";
  const role = "roles drover:tea:cups";
  expect(taken).toEqual([
    ...["clusterrolebindings drover:tea:cups", binding, binding, "clusterroles drover:tea:cups", role, role],
    ...["user", "permit", "queues", "keys"],
  ]);
  expect(runContext.cleanedGenerations.has(functionRef.uid)).toBe(false);
});

it("while a role cannot be deleted, nothing that comes later is taken", async () => {
  await addRoles(functionRef);
  const mend = sandbox.faults.respond(({ method }) => (method === "DELETE" ? { status: 403 } : undefined));
  await expect(takeDown(runContextOf())).rejects.toThrow();
  mend();
  expect(taken).toEqual(["clusterrolebindings drover:tea:cups"]);
  await takeDown(runContextOf());
  expect(taken.slice(-4)).toEqual(["user", "permit", "queues", "keys"]);
});

it("a container that is taken out of the spec is forgotten when its Pods have gone, and its revision is not", async () => {
  const rollout = { revision: 7, template: "t", tried: "c", complete: 7 };
  await addPod("cups-r7-a");
  expect(await removePods(runContextOf({ rollout }), await podsLeft())).toEqual(rollout);
  expect(await podsLeft()).toEqual([]);
  const left = { ...rollout, template: "" };
  expect(await removePods(runContextOf({ rollout }), [])).toEqual(left);
  expect(await removePods(runContextOf({ rollout: left }), [])).toEqual(left);
  expect(await removePods(runContextOf(), [])).toBeUndefined();
});

it("a Secret is not deleted that took the place of the function's since it was looked at", async () => {
  const metadata = { name: "cups-redis", ...ownedMetadata(functionRef) };
  const at = objectKey(metadata);
  await client.create(builtin.secret, { metadata });
  const get: KubeClient["get"] = async (...asked) => {
    const found = await client.get(...asked);
    if (asked[1] === at) {
      await client.delete(builtin.secret, at);
      await client.create(builtin.secret, { metadata: { name: metadata.name, namespace: "tea" } });
    }
    return found;
  };
  await takeDown({ ...runContextOf(), client: { ...client, get } }).catch(() => undefined);
  expect(await client.get(builtin.secret, at)).toBeDefined();
});

it("a Pod is not deleted that took the name of the function's since it was listed", async () => {
  await addPod("cups-r1-z");
  const listed = await podsLeft();
  const at = objectKey({ namespace: "tea", name: "cups-r1-z" });
  await client.delete(builtin.pod, at);
  await addPod("cups-r1-z");
  await removePods(runContextOf(), listed).catch(() => undefined);
  expect(await client.get(builtin.pod, at)).toBeDefined();
  await client.delete(builtin.pod, at);
});

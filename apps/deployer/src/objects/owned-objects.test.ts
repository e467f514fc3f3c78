import { objectKey, RetryAfterError, silentLog } from "@drover/controller";
import { ApiError, builtin, isApiError, keyOf, type KubeClient, type NewObject } from "@drover/kube";
import { beforeAll, describe, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { boundRole } from "../roles/bound-role.ts";
import type { FunctionObject } from "./function-object.ts";
import { ownedMetadata, ownedMetadataElsewhere, ownedClusterMetadata } from "../function-ref.ts";
import { adoptBindings, type Installation, installationOf, ownedByInstallation } from "./installation.ts";
import { deleteOwnedObject, applyObject } from "./apply-object.ts";
import { ownerAnnotation } from "../names.ts";
import { functionRef as former } from "../testing/cups.ts";

const { sandbox, client } = await sandboxOfFile({ namespaces: ["tea", "coffee", "milk", "drover"] });

const functionRef = { ...former, uid: "2" };
const namesake = { ...functionRef, namespace: "milk", uid: "3" };
const { signal } = new AbortController();
let installation: Installation;
beforeAll(async () => {
  const found = await installationOf(client, "drover");
  if (found === undefined) throw new Error("There is no namespace drover.");
  installation = found;
});

const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const rolesOf = (of: typeof functionRef): readonly FunctionObject[] =>
  ownedByInstallation(
    [
      ...boundRole({ name: "cups", ...ownedMetadata(of) }, rules, of, { wanted: true }),
      ...boundRole(ownedClusterMetadata(of, `drover:${of.namespace}:cups`), rules, of, { wanted: true }),
      ...boundRole(ownedMetadataElsewhere(of, "coffee", `drover-bridge:${of.namespace}:cups`), rules, of, {
        wanted: true,
        elsewhere: true,
      }),
    ],
    of,
    installation,
  );
const keep = (of: typeof functionRef, { ref, object }: Pick<FunctionObject, "ref" | "object">) =>
  applyObject({ client, signal, owner: of }, ref, object);
const secret = (metadata: NewObject["metadata"]) => ({
  ref: builtin.secret,
  object: { metadata: { namespace: "tea", ...metadata } },
});
/** The methods of the writes that it does. */
async function writesOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  const writes: string[] = [];
  const end = sandbox.faults.respond(({ method }) => {
    if (method !== "GET") writes.push(method);
    return undefined;
  });
  await act();
  end();
  return writes;
}
const reasonOf = (error: unknown): unknown => (error instanceof RetryAfterError ? error.reason : error);

describe("with Drover's namespace goes", () => {
  const part = { "app.kubernetes.io/part-of": "drover" };
  const subject = (namespace: string) => ({ kind: "ServiceAccount", name: "bridge", namespace });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "a" };
  const make = (name: string, labels: Record<string, string>, subjects: readonly object[]) =>
    client.create(builtin.clusterRoleBinding, { metadata: { name, labels }, roleRef, subjects });
  it("every binding, and all that is outside of the function's namespace; nothing else", () => {
    for (const { ref, object } of rolesOf(functionRef)) {
      const owners = object.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]);
      const isHere = ref.kind === "Role" && object.metadata.namespace === "tea";
      expect([ref.kind, object.metadata.namespace, owners]).toEqual([
        ref.kind,
        object.metadata.namespace,
        isHere ? [["ReconcileFunction", "2"]] : [["Namespace", installation.uid]],
      ]);
    }
  });
  it("the bindings of Drover's own accounts, and none that others have made", async () => {
    await make("ours", part, [subject("drover")]);
    await make("unlabelled", {}, [subject("drover")]);
    await make("shared", part, [subject("drover"), subject("tea")]);
    await make("empty", part, []);
    await adoptBindings(client, installation, silentLog);
    await adoptBindings(client, installation, silentLog);
    const ownersOf = async (name: string) =>
      (await client.get(builtin.clusterRoleBinding, objectKey({ name })))?.metadata.ownerReferences ?? [];
    expect(await ownersOf("ours")).toEqual([installation]);
    for (const name of ["unlabelled", "shared", "empty"]) expect(await ownersOf(name)).toEqual([]);
  });
  it("a binding that has its owner is not written again, and one that cannot be written is an error", async () => {
    await make("late", part, [subject("drover")]);
    const refuse = sandbox.faults.respond(({ method }) => (method === "PATCH" ? { status: 403 } : undefined));
    const refused = await adoptBindings(client, installation, silentLog).catch((error: unknown) => error);
    refuse();
    expect(refused).toBeInstanceOf(ApiError);
    await adoptBindings(client, installation, silentLog);
    expect(await writesOf(() => adoptBindings(client, installation, silentLog))).toEqual([]);
  });
});

describe("what a function of the same name has left that is gone", () => {
  it("in Roles and bindings is taken over, and written whole", async () => {
    for (const one of rolesOf(former).filter(({ object }) => object.metadata.annotations !== undefined)) {
      const left = { ...one.object, ...(one.object["rules"] !== undefined && { rules: [] }) };
      await client.create(one.ref, left);
      const now = await keep(
        functionRef,
        rolesOf(functionRef).find(
          ({ ref, object }) => ref === one.ref && object.metadata.name === one.object.metadata.name,
        ) ?? one,
      );
      expect(now.metadata.annotations?.[ownerAnnotation]).toBe("2");
      expect(now["rules"]).toEqual(one.object["rules"]);
    }
  });
  it("in Secrets is waited for", async () => {
    await client.create(builtin.secret, secret({ name: "cups-redis", ...ownedMetadata(former) }).object);
    const wanted = secret({ name: "cups-redis", ...ownedMetadata(functionRef) });
    expect(await keep(functionRef, wanted).catch(reasonOf)).toBe("OldObjectExists");
    await client.delete(builtin.secret, objectKey({ namespace: "tea", name: "cups-redis" }));
    expect(await keep(functionRef, wanted)).toMatchObject({ metadata: { name: "cups-redis" } });
  });
});

describe("what is another's", () => {
  const taken = (name: string) => objectKey({ namespace: "tea", name });
  it.each([
    ["without labels", {}],
    ["with the labels alone", { labels: ownedMetadata(functionRef).labels }],
    ["of a function of that name elsewhere", { ...ownedClusterMetadata(namesake, "x") }],
  ])("is left alone, and the function heals when it is gone: a Role %s", async (_, others) => {
    const name = `taken-${Object.keys(others).join("-")}`;
    await client.create(builtin.role, { metadata: { ...others, name, namespace: "tea" }, rules: [] });
    const [wanted] = rolesOf(functionRef);
    const ours = {
      ref: builtin.role,
      object: { ...wanted?.object, metadata: { ...ownedMetadata(functionRef), name } },
    };
    expect(await keep(functionRef, ours).catch(reasonOf)).toBe("NameTaken");
    await deleteOwnedObject({ client, signal, owner: functionRef }, builtin.role, ours.object);
    expect(await client.get(builtin.role, taken(name))).not.toMatchObject({ rules });
    await client.delete(builtin.role, taken(name));
    expect(await keep(functionRef, ours)).toMatchObject({ metadata: { name } });
    await client.delete(builtin.role, taken(name));
  });
  it("a forged Secret of a former function does not set the password", async () => {
    const forged = secret({ ...ownedClusterMetadata(former, "forged-redis"), namespace: "tea" });
    await client.create(builtin.secret, { ...forged.object, data: { password: "bWFsbG9yeQ==" } });
    const wanted = secret({ name: "forged-redis", ...ownedMetadata(functionRef) });
    expect(await keep(functionRef, wanted).catch(reasonOf)).toBe("OldObjectExists");
    await deleteOwnedObject({ client, signal, owner: functionRef }, builtin.secret, wanted.object);
    expect(await client.get(builtin.secret, taken("forged-redis"))).toBeDefined();
  });
});

describe("an object of a function", () => {
  const settings = (value: string) => ({
    ref: builtin.configMap,
    object: { metadata: { name: "settings", ...ownedMetadata(functionRef) }, data: { value } },
  });
  it("is written when it is another than it is to be, and not again", async () => {
    const writes = await writesOf(async () => {
      for (const value of ["a", "a", "b", "b"]) await keep(functionRef, settings(value));
    });
    expect(writes).toEqual(["POST", "PATCH"]);
  });
  it("is not written over what another has changed since it was read", async () => {
    await keep(functionRef, settings("a"));
    const { object } = settings("b");
    const get: KubeClient["get"] = async (...asked) => {
      const found = await client.get(...asked);
      const body = { data: { theirs: "x" } };
      await client.patch(builtin.configMap, keyOf(object), { type: "merge", body });
      return found;
    };
    const racing = { client: { ...client, get }, signal, owner: functionRef };
    const refused: unknown = await applyObject(racing, builtin.configMap, object).catch(
      (error: unknown) => error,
    );
    expect(isApiError(refused, "Conflict")).toBe(true);
  });
});

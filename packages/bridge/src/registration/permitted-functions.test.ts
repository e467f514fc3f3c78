import { objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, keyOf, refOf } from "@drover/kube";
import { requestedUse } from "@drover/runtime";
import { expect, it, vi } from "vitest";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { cupKind, permitOf } from "../../../runtime/src/functions/permit.fixture.ts";
import { followFunctions } from "./registered-functions.ts";

const own = "drover";
const { client } = await sandboxOfFile({ kinds: [ReconcileFunction], namespaces: [own] });

const ref = refOf(ReconcileFunction);
const cups = { namespace: "default", name: "cups" };
const change = (body: object, subresource?: "status") =>
  client.patch(ref, objectKey(cups), { type: "merge", body }, { ...(subresource && { subresource }) });
const found = async () => (await client.get(ref, objectKey(cups))) ?? expect.fail("The function is gone.");
/** Writes a permit as the deployer does. */
const grant = async (namespace = own): Promise<void> => {
  const permit = permitOf(await found(), namespace);
  await client.delete(builtin.configMap, keyOf(permit));
  await client.create(builtin.configMap, permit);
};
const withdraw = async (): Promise<void> => {
  await client.delete(builtin.configMap, keyOf(permitOf(await found())));
};

it("a function is followed for the request of its permit, and only while it has one", async () => {
  const stopping = new AbortController();
  const registrations: (readonly number[])[] = [];
  const functions = followFunctions({
    client,
    log: silentLog,
    signal: stopping.signal,
    authors: "checked",
    namespace: own,
    onChange: (all) => registrations.push(all.map(({ follows }) => follows.length)),
  });
  const followed = () =>
    functions.all().map(({ registration }) => registration?.follows.map(({ ref: { plural } }) => plural));
  const becomes = (...kinds: readonly (string[] | undefined)[]) =>
    vi.waitFor(() => expect(followed()).toEqual(kinds), { timeout: 20_000 });
  const marked = async (mark: string): Promise<void> => {
    await change({ metadata: { labels: { mark } } });
    await expect.poll(() => functions.all()[0]?.object.metadata.labels?.["mark"]).toBe(mark);
  };

  await client.create(ref, { metadata: cups, spec: { for: cupKind() } });
  await becomes(undefined);
  // A status and a ConfigMap elsewhere are not permits: others than the deployer can write them.
  const { metadata } = await found();
  const asked = requestedUse(metadata, ReconcileFunction.spec.parse({ for: cupKind() }));
  await change({ status: { permitted: { asked: "x", ...asked } } }, "status");
  await grant("default");
  await marked("forged");
  expect(followed()).toEqual([undefined]);
  await grant();
  await becomes(["cups"]);
  // Until another request is permitted, the former one is followed.
  await change({ spec: { for: cupKind("saucers") } });
  await marked("changed");
  expect(followed()).toEqual([["cups"]]);
  await grant();
  await becomes(["saucers"]);
  await withdraw();
  await becomes(undefined);
  await grant();
  await becomes(["saucers"]);
  // A change of a label or a status does not change the registration.
  const before = registrations.length;
  await marked("last");
  expect(registrations).toHaveLength(before);
  expect(registrations.at(-1)).toEqual([1]);
  await client.delete(ref, objectKey(cups));
  await becomes();
  stopping.abort();
  await functions.reflector.done;
});

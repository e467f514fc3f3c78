import { describe, expect, test } from "vitest";
import { connect } from "./connect.ts";
import { createOrReplace, CrdRefusedError, waitEstablished } from "./install-crd.ts";
import { bucketRef, bucketList, bucketObject } from "../testing/objects.ts";
import { bucketDefinition } from "../testing/sandbox-client.ts";
import { jsonReply, raw, refuses, type ReplyScript, scriptedServer } from "../testing/scripted-server.ts";
import { VirtualTimers } from "@drover/timers";
import { z } from "zod";

const crd = (...conditions: readonly object[]): ReplyScript => crdOf(bucketDefinition["spec"], ...conditions);
const crdOf = (spec: unknown, ...conditions: readonly object[]): ReplyScript =>
  jsonReply({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { ...bucketDefinition.metadata, uid: "u", resourceVersion: "1" },
    spec,
    status: { conditions },
  });
const named = { type: "NamesAccepted", status: "True" };
const established = { type: "Established", status: "True" };

async function against(...scripts: readonly ReplyScript[]) {
  const owned = new AsyncDisposableStack();
  const server = owned.use(await scriptedServer(...scripts));
  const client = await connect({ kubeconfig: server.kubeconfig });
  owned.defer(() => client.close());
  return { server, client, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe("a kind is there", () => {
  test("when its definition is established and its objects can be listed, not before", async () => {
    await using api = await against(
      crd(),
      crd(named),
      crd(named, established),
      raw("404 page not found", 404),
      crd(named, established),
      jsonReply(bucketList([])),
    );
    const timers = new VirtualTimers();
    const there = waitEstablished(api.client, bucketDefinition.metadata.name, { timers });
    for (let look = 0; look < 3; look++) timers.advance(await timers.waitFor("CRD to be established"));
    expect(await there).toEqual(bucketRef);
    expect(api.server.requests).toHaveLength(6);
  });

  test("in the version that is stored, wherever that stands among those that are served", async () => {
    const { spec } = z
      .object({ spec: z.looseObject({ versions: z.array(z.looseObject({})) }) })
      .parse(bucketDefinition);
    const older = { name: "v1alpha1", served: true, storage: false };
    const several = { ...spec, versions: [older, ...spec.versions] };
    await using api = await against(crdOf(several, established), jsonReply(bucketList([])));
    expect(await waitEstablished(api.client, bucketDefinition.metadata.name)).toEqual(bucketRef);
  });

  test("also for who may not list it", async () => {
    await using api = await against(crd(established), refuses(403, "Forbidden"));
    expect(await waitEstablished(api.client, bucketDefinition.metadata.name)).toEqual(bucketRef);
  });

  test("never, when its names belong to another one", async () => {
    await using api = await against(crd({ type: "NamesAccepted", status: "False", message: "taken" }));
    const there = waitEstablished(api.client, bucketDefinition.metadata.name);
    await expect(there).rejects.toBeInstanceOf(CrdRefusedError);
    await expect(there).rejects.toThrow(/taken/);
  });

  test("or its caller gives up", async () => {
    await using api = await against(crd());
    const timers = new VirtualTimers();
    const giving = new AbortController();
    const there = waitEstablished(api.client, bucketDefinition.metadata.name, {
      timers,
      signal: giving.signal,
    });
    await timers.waitFor("CRD to be established");
    giving.abort(new Error("enough"));
    await expect(there).rejects.toThrow("enough");
  });
});

describe("what is created or replaced", () => {
  const absent = refuses(404, "NotFound", { name: "a" });
  const present = (resourceVersion: string): ReplyScript => jsonReply(bucketObject("a", { resourceVersion }));
  const object = { metadata: { name: "a", namespace: "default" } };

  test("may appear, change and vanish meanwhile", async () => {
    await using api = await against(
      ...[absent, refuses(409, "AlreadyExists")],
      ...[present("1"), refuses(409, "Conflict")],
      ...[present("2"), absent],
      ...[absent, present("3")],
    );
    expect((await createOrReplace(api.client, bucketRef, object)).metadata.resourceVersion).toBe("3");
    expect(api.server.requests.map(({ method }) => method)).toEqual([
      ...["GET", "POST", "GET", "PUT", "GET", "PUT", "GET", "POST"],
    ]);
    expect(api.server.requests[5]?.body).toContain('"resourceVersion":"2"');
  });

  test("needs its namespace", async () => {
    await using api = await against(
      absent,
      refuses(404, "NotFound", { name: "default", kind: "namespaces" }),
    );
    await expect(createOrReplace(api.client, bucketRef, object)).rejects.toMatchObject({ kind: "NotFound" });
  });
});

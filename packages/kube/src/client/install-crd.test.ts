import { describe, expect, test } from "vitest";
import { createOrReplace, CrdRefusedError, waitEstablished } from "./install-crd.ts";
import { bucketRef, bucketList, bucketObject } from "../testing/objects.ts";
import { bucketDefinition } from "../testing/sandbox-client.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { jsonReply, raw, refuses, type ReplyScript } from "../testing/scripted-server.ts";
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

const against = (...scripts: readonly ReplyScript[]) => scriptedClient(scripts);

describe("a kind is established", () => {
  test("once its definition is established and its objects can be listed, not before", async () => {
    const api = await against(
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

  test("in its storage version, in any order of the served versions", async () => {
    const { spec } = z
      .object({ spec: z.looseObject({ versions: z.array(z.looseObject({})) }) })
      .parse(bucketDefinition);
    const older = { name: "v1alpha1", served: true, storage: false };
    const several = { ...spec, versions: [older, ...spec.versions] };
    const api = await against(crdOf(several, established), jsonReply(bucketList([])));
    expect(await waitEstablished(api.client, bucketDefinition.metadata.name)).toEqual(bucketRef);
  });

  test("also for a client that may not list it", async () => {
    const api = await against(crd(established), refuses(403, "Forbidden"));
    expect(await waitEstablished(api.client, bucketDefinition.metadata.name)).toEqual(bucketRef);
  });

  test("never, if its names belong to another definition", async () => {
    const api = await against(crd({ type: "NamesAccepted", status: "False", message: "taken" }));
    const there = waitEstablished(api.client, bucketDefinition.metadata.name);
    await expect(there).rejects.toBeInstanceOf(CrdRefusedError);
    await expect(there).rejects.toThrow(/taken/);
  });

  test("or its caller aborts", async () => {
    const api = await against(crd());
    const timers = new VirtualTimers();
    const giving = new AbortController();
    const { signal } = giving;
    const there = waitEstablished(api.client, bucketDefinition.metadata.name, { timers, signal });
    await timers.waitFor("CRD to be established");
    giving.abort(new Error("enough"));
    await expect(there).rejects.toThrow("enough");
  });
});

describe("an object that is created or replaced", () => {
  const absent = refuses(404, "NotFound", { name: "a" });
  const present = (resourceVersion: string): ReplyScript => jsonReply(bucketObject("a", { resourceVersion }));
  const object = { metadata: { name: "a", namespace: "default" } };

  test("may be created, changed and deleted by others meanwhile", async () => {
    const api = await against(
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
    const api = await against(absent, refuses(404, "NotFound", { name: "default", kind: "namespaces" }));
    await expect(createOrReplace(api.client, bucketRef, object)).rejects.toMatchObject({ kind: "NotFound" });
  });
});

import { ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, refOf } from "@drover/kube";
import { expect, it, onTestFinished } from "vitest";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { followPermittedFunctions, listingProblem } from "./permitted-functions.ts";
import { cupKind, permitOf } from "./permit.fixture.ts";

const { sandbox, client } = await sandboxOfFile({ kinds: [ReconcileFunction], namespaces: ["drover"] });

it("functions are reported once all permits are listed, and each permit allows one use only", async () => {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  for (const name of ["followed", "called"] as const) {
    const object = await client.create(refOf(ReconcileFunction), {
      metadata: { name, namespace: "default" },
      spec: { for: cupKind() },
    });
    await client.create(builtin.configMap, permitOf(object, "drover", [name]));
  }
  let isFollowed = false;
  sandbox.faults.respond(({ path, query }) => {
    if (path.includes("reconcilefunctions") && query.get("watch") !== null) isFollowed = true;
    return path.includes("configmaps") && !isFollowed ? { status: 503 } : undefined;
  });
  const reported: Readonly<Record<string, object>>[] = [];
  followPermittedFunctions({
    client,
    log: silentLog,
    signal: stopping.signal,
    authors: "checked",
    namespace: "drover",
    onChange(functions, permits) {
      const uses = functions.map(({ object, spec = expect.fail("The spec is invalid.") }) => {
        const allows = (use: "followed" | "called") => permits?.allows(object, spec, use);
        return [object.metadata.name, { followed: allows("followed"), called: allows("called") }];
      });
      reported.push(Object.fromEntries(uses) as Record<string, object>);
    },
  });
  await expect.poll(() => reported.length).toBeGreaterThan(0);
  expect(reported[0]).toEqual({
    followed: { followed: true, called: false },
    called: { followed: false, called: true },
  });
});

it.each([
  [{ synced: true }, undefined],
  [{ synced: false }, "ReconcileFunctions and their permits are not listed yet: waiting for the API server"],
  [
    { synced: false, lastFailure: { message: "no permission" } },
    "ReconcileFunctions and their permits are not listed yet: no permission",
  ],
])("the reason why functions are not listed yet: %j", (status, why) => {
  expect(listingProblem({ status: () => status } as unknown as Parameters<typeof listingProblem>[0])).toBe(
    why,
  );
});

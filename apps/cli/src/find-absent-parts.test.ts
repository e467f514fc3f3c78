import { objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, createOrReplace, refOf } from "@drover/kube";
import { beforeEach, describe, expect, it } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import { describeAbsentParts, findAbsentParts } from "./find-absent-parts.ts";
import { deployedFunctions } from "./deployed-functions.ts";

const { sandbox, client } = await sandboxOfFile({
  kinds: [ReconcileFunction],
  namespaces: ["drover", "bare"],
});

const ref = refOf(ReconcileFunction);
const namespace = "drover";

const hour = 3_600_000;
const leaseFor = (name: string, renewed: number, leaseDurationSeconds = 40) =>
  createOrReplace(client, builtin.lease, {
    metadata: { name, namespace },
    spec: { renewTime: new Date(renewed).toISOString().replace("Z", "000Z"), leaseDurationSeconds },
  });
beforeEach(async () => {
  for (const part of ["bridge", "deployer", "gateway"]) await leaseFor(part, Date.now());
});

describe("a part", () => {
  /** Judges the bridge's Lease, and counts the seconds waited; `renewAt` is the second in which the Lease is renewed. */
  const look = async (renewAt = Infinity): Promise<readonly [absent: boolean, seconds: number]> => {
    let seconds = 0;
    const wait = async (span: number): Promise<void> => {
      seconds += span / 1_000;
      if (seconds === renewAt) await leaseFor("bridge", 1);
    };
    const absent = await findAbsentParts(client, { namespace, parts: ["bridge"], wait });
    return [absent?.length === 1, seconds];
  };
  it("runs whose Lease is fresh, without a wait", async () => {
    expect(await look()).toEqual([false, 0]);
  });
  it.each([
    ["long ago", -hour],
    ["in the future", hour],
  ])("with a time %s is looked at for as long as a renewal may take", async (_, apart) => {
    await leaseFor("bridge", Date.now() + apart);
    const [absent, seconds] = await look();
    expect(absent).toBe(true);
    // It is renewed four times in 40 s.
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThan(15);
    await leaseFor("bridge", Date.now() + apart);
    expect(await look(10)).toEqual([false, 10]);
  });
  it("is not there whose Lease is deleted while it is looked at", async () => {
    await leaseFor("bridge", 1, 4);
    const wait = () => client.delete(builtin.lease, objectKey({ namespace, name: "bridge" }));
    expect(await findAbsentParts(client, { namespace, parts: ["bridge"], wait })).toHaveLength(1);
  });
});

describe("what functions need", () => {
  const functionWith = async (name: string, more: object = {}) => {
    const kind = { group: "a.b", version: "v1", kind: "Cup", plural: "cups", scope: "Namespaced" };
    await client.create(ref, { metadata: { name, namespace: "default" }, spec: { for: kind, ...more } });
    const all = await deployedFunctions(client, "default");
    return all.filter((one) => one.name === name);
  };
  it("is the gateway only where one is called over HTTP, and nothing where none is deployed", async () => {
    const pulled = await functionWith("pulled");
    const called = await functionWith("called", { delivery: "webhook" });
    const parts = (words: readonly string[]) => words.map((word) => word.split(" ")[1]);
    expect(parts(await describeAbsentParts(client, pulled, "bare"))).toEqual(["bridge", "deployer"]);
    expect(parts(await describeAbsentParts(client, called, "bare"))).toEqual([
      "bridge",
      "deployer",
      "gateway",
    ]);
    expect(parts(await describeAbsentParts(client, [...pulled, ...called], "bare"))).toContain("gateway");
    expect(await describeAbsentParts(client, [], "bare")).toEqual([]);
    expect(await describeAbsentParts(client, called, namespace)).toEqual([]);
  });
  it("is read from the functions' conditions, each sentence once, where Leases may not be read", async () => {
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const condition = (type: string, status: string, message: string) => ({
      type,
      status,
      reason: "LeaseNotRenewed",
      message,
      lastTransitionTime,
    });
    const conditions = [
      condition("BridgeNotRunning", "True", "No bridge."),
      condition("DeployerNotRunning", "False", "Not so."),
      condition("Ready", "True", "Well."),
    ];
    const both = [...(await functionWith("one")), ...(await functionWith("two"))];
    const functions = both.map((one) => ({ ...one, object: { ...one.object, status: { conditions } } }));
    const forbid = sandbox.faults.respond(({ path }) =>
      path.includes("/leases/") ? { status: 403 } : undefined,
    );
    const absent = await describeAbsentParts(client, functions, namespace);
    forbid();
    expect(absent).toEqual(["No bridge."]);
  });
});

import { type Announcement, objectKey, type ObjectKey } from "@drover/controller";
import { describeCall } from "./fault-proxy/index.ts";
import { type KubeObject, resourceNameOf, refOf } from "@drover/kube";
import type { RunOutcome } from "@drover/queue";
import { changesBetween } from "./changes.ts";
import { snapshotCluster } from "./faults/cluster-snapshot.ts";
import type { FunctionUnderTest } from "./function-under-test.ts";
import { throwIfMissing } from "./rights.ts";
import type { TestClusterOptions } from "./test-cluster.ts";
import { openSimulation } from "./simulation/simulation.ts";
import { sandboxServers } from "./test-server.ts";
import { touchedKinds } from "./simulation/touched-kinds.ts";
import { installKinds, type Manifest, openUser } from "./kubectl/user.ts";
import { steppedClock } from "./simulation/stepped-clock.ts";

/** The object to reconcile, and the state of the cluster. */
export interface DescribedWorld extends Pick<TestClusterOptions, "crds" | "outside" | "deployedAs" | "at"> {
  /** An object of the controller's kind; its `status` is written, too. */
  readonly object: Manifest;
  /** Other objects in the cluster. */
  readonly others?: readonly Manifest[];
}

/** The result of one reconcile. */
export interface Reconciled {
  readonly outcome: RunOutcome;
  /** The object as it is now; undefined when it is gone. */
  readonly object: KubeObject | undefined;
  /**
   * The changes in the cluster, and the writes to servers outside, as deterministic text, for snapshots.
   */
  readonly changes: string;
  /** The Events. */
  readonly announcements: readonly Announcement[];
}

/**
 * Reconciles one object once, in a new cluster:
 *
 * ```ts
 * const { outcome, changes } = await testReconcile(({ client }) => siteController(client), { object: site });
 * expect(changes).toMatchInlineSnapshot();
 * ```
 *
 * @throws MissingPermissionError for a call without a permission.
 */
export async function testReconcile(
  start: FunctionUnderTest,
  { object, others = [], crds = [], outside = {}, deployedAs, at }: DescribedWorld,
): Promise<Reconciled> {
  const clock = steppedClock(at);
  await using stack = new AsyncDisposableStack();
  const simulation = await openSimulation({
    start,
    outside,
    deployedAs,
    server: await sandboxServers(clock),
    clock,
  });
  stack.defer(() => simulation.close());
  const { client, server, controllers, calls, announcements } = simulation;
  await installKinds(client, controllers, crds);
  const user = openUser(client, server);
  for (const other of others) await user.apply(other);
  const made = await user.apply(object);
  const key: ObjectKey = objectKey(made.metadata);
  const controller = controllers.find((one) => one.for.kind === object.kind);
  if (controller === undefined) throw new Error(`No controller of the function is for ${object.kind}.`);
  if (object["status"] !== undefined) await user.writeStatus(object);
  const look = async () => {
    const touched = await touchedKinds(simulation, (kind) => user.kind(kind));
    const theirs = await Promise.all(others.map((other) => user.kind(other)));
    const kinds = new Map([...touched, ...theirs].map((ref) => [resourceNameOf(ref), ref]));
    return snapshotCluster(simulation.lister, [...kinds.values()], undefined);
  };
  const before = await look();
  const { outcome } = await simulation.runOnce(controller.name, key);
  if (outcome.kind === "killed") throw new Error("The function was killed.");
  throwIfMissing(simulation.missingPermissions());
  const after = await look();
  const asked = calls
    .filter(({ call }) => call.resource === "" && call.isWrite)
    .map(({ call }) => `> ${describeCall(call)}`);
  return {
    outcome,
    object: await client.get(refOf(controller.for), key),
    changes: [...changesBetween(before, after), ...asked].join("\n"),
    announcements: [...announcements],
  };
}

import type { Announcement, Duration, Log } from "@drover/controller";
import type { NewObject } from "@drover/kube";
import type { ApiAddress } from "./kubectl/api-address.ts";
import type { FunctionUnderTest } from "./function-under-test.ts";
import { type DeployedAs, throwIfMissing } from "./rights.ts";
import type { SteppedRun } from "./simulation/stepped-run.ts";
import { advanceBy, runUntilIdle } from "./simulation/run-until-idle.ts";
import { openSimulation } from "./simulation/simulation.ts";
import { sandboxServers, type TestServerFactory } from "./test-server.ts";
import { installKinds, openUser, type User } from "./kubectl/user.ts";
import { steppedClock } from "./simulation/stepped-clock.ts";

export interface TestClusterOptions {
  /** CRDs of kinds that are neither Kubernetes' own nor the function's. */
  readonly crds?: readonly NewObject[];
  /** URLs of servers outside of the cluster, by the names under which the function finds them. */
  readonly outside?: Readonly<Record<string, string>>;
  /** When the clock begins, ISO 8601. */
  readonly at?: string;
  readonly log?: Log;
  /**
   * How the function is deployed: the exports of `src/function.ts`, one for each controller. Calls without a permission get
   * 403. Default: the permissions that follow from the controllers (for, owns, watches).
   */
  readonly deployedAs?: DeployedAs;
  /** The API server: a new sandbox (the default), or `sharedServer` for a real one. */
  readonly servers?: TestServerFactory;
}

/** A cluster, a queue and a function in one process, with a clock that only the test advances. */
export interface TestCluster extends User, AsyncDisposable {
  /**
   * Runs all due keys, through backoff and `requeueAfter`, until none is left.
   *
   * @throws NeverIdleError for a function that never stops changing objects.
   * @throws MissingPermissionError for a call without a permission: the message names it, and the place to add it.
   */
  runUntilIdle(): Promise<void>;
  /** Advances the clock, and runs the keys that become due. */
  advance(time: Duration): Promise<void>;
  /** Kills the function's process between two runs, and starts another one: its memory is lost. */
  restart(): void;
  /** The test's clock. */
  readonly now: () => Date;
  /** Every run so far. */
  readonly runs: readonly SteppedRun[];
  /** The Events so far. */
  readonly announcements: readonly Announcement[];
  /** The API server's URL and bearer token, for other programs. */
  readonly server: ApiAddress;
  close(): Promise<void>;
}

/**
 * Starts a cluster for one test:
 *
 * ```ts
 * await using cluster = await testCluster(({ client }) => siteController(client));
 * await cluster.apply({ apiVersion: "example.com/v1", kind: "Site", metadata: { name: "a" }, spec: { title: "Hi" } });
 * await cluster.runUntilIdle();
 * ```
 */
export async function testCluster(
  start: FunctionUnderTest,
  { crds, outside = {}, at, log, deployedAs, servers = sandboxServers }: TestClusterOptions = {},
): Promise<TestCluster> {
  const clock = steppedClock(at);
  const simulation = await openSimulation({
    start,
    outside,
    deployedAs,
    server: await servers(clock),
    clock,
    ...(log && { log }),
  });
  await installKinds(simulation.client, simulation.controllers, crds).catch(async (error: unknown) => {
    // Its listener would keep the process from ending.
    await simulation.close();
    throw error;
  });
  const { client, server, runs, announcements } = simulation;
  const close = (): Promise<void> => simulation.close();
  return {
    ...openUser(client, server),
    now: clock.date,
    runs,
    announcements,
    server,
    close,
    async runUntilIdle() {
      await runUntilIdle(simulation, clock);
      throwIfMissing(simulation.missingPermissions());
    },
    async advance(time) {
      await advanceBy(simulation, clock, time);
      throwIfMissing(simulation.missingPermissions());
    },
    restart: () => simulation.kill(),
    [Symbol.asyncDispose]: close,
  };
}

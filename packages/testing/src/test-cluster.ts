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
  /** Definitions of kinds that are neither Kubernetes' own nor the function's. */
  readonly crds?: readonly NewObject[];
  /** The function's way to servers outside of the cluster: URLs by name. */
  readonly outside?: Readonly<Record<string, string>>;
  /** When the clock begins, ISO 8601. */
  readonly at?: string;
  readonly log?: Log;
  /**
   * How the function is deployed: what `src/function.ts` exports, of several controllers each. It may do what that grants its
   * ServiceAccount, and meets 403 at all else. Left out: what follows from the controllers (for, owns, watches).
   */
  readonly deployedAs?: DeployedAs;
  /** Where its API server comes from: a sandbox of its own, or `sharedServer`, a real one. */
  readonly servers?: TestServerFactory;
}

/** A cluster, a queue and a function in one process, on a clock that stands still until the test lets it go on. */
export interface TestCluster extends User, AsyncDisposable {
  /**
   * Runs whatever is due, through backoff and `requeueAfter`, until nothing would happen any more.
   *
   * @throws NeverSettledError for a function that goes on changing things.
   * @throws MissingPermissionError when it asked the API server for what it may not do in a cluster: which permission is
   * missing, and where to add it.
   */
  runUntilIdle(): Promise<void>;
  /** Lets a time pass, and runs what is due in it. */
  advance(time: Duration): Promise<void>;
  /** Kills the function's process between two runs, and begins another one: what it kept in memory is gone. */
  restart(): void;
  /** The test's clock. */
  readonly now: () => Date;
  /** Every run so far. */
  readonly runs: readonly SteppedRun[];
  /** What was said in Events so far. */
  readonly announcements: readonly Announcement[];
  /** The API server, for programs of another sort: its URL, and the bearer token that it wants. */
  readonly server: ApiAddress;
  close(): Promise<void>;
}

/**
 * Starts a cluster for one test:
 *
 * ```ts
 * await using cluster = await testCluster(({ client }) => siteController(client));
 * await cluster.apply({ apiVersion: "example.com/v1", kind: "Site", metadata: { name: "a" }, spec: { title: "Hi" } });
 * await cluster.settled();
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

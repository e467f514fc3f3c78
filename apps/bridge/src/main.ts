/**
 * # The bridge
 *
 * Watches the API server and turns every change into wakes of keys. To the cluster it writes only the status of
 * ReconcileFunctions and its own Lease.
 *
 * The parts are described by @drover/bridge; this process adds the ReconcileFunctions of the cluster or of files, the
 * Leases of Drover's parts, and the listener for hooks.
 */
import { sleepUnlessAborted } from "@drover/timers";
import type { Milliseconds } from "@drover/controller";
import {
  keepPartLease,
  listingProblem,
  type Process,
  queueMetrics,
  runProcess,
  serveTenants,
  watchParts,
} from "@drover/runtime";
import {
  type Bridge,
  followFunctions,
  type Hooks,
  openHooks,
  type Registration,
  readRegistrations,
  serveBridge,
  writeFollowStatus,
} from "@drover/bridge";
import { bridgeConfig, type BridgeSettings } from "./config.ts";
import droverPackage from "drover/package.json" with { type: "json" };

const { version } = droverPackage;
const scripts = { loadsScripts: true, recordScriptsAs: version };

/** How often the status of functions is updated. */
const statusInterval: Milliseconds = 1_000;

const serve = async (process: Process<BridgeSettings>): Promise<void> => {
  const { settings, registry } = process;
  const registrations = settings.functions === undefined ? undefined : readRegistrations(settings.functions);
  const tenants = serveTenants(process, { name: "bridge", own: [settings.namespace], ...scripts });
  const bridge = serveBridge(process, tenants);
  const hooks = await hooksOf(process, bridge);
  const register = (all: readonly Registration[]): void => {
    bridge.register(all);
    hooks?.register(all);
  };
  if (registrations === undefined) followCluster(process, bridge, register);
  else {
    await hooks?.checkFiles(registrations);
    register(registrations);
  }
  queueMetrics(registry, () => bridge.queues());
};

await runProcess("bridge", bridgeConfig, serve, scripts);

async function hooksOf(
  { settings, client, redis, registry, log, closing }: Process<BridgeSettings>,
  bridge: Bridge,
): Promise<Hooks | undefined> {
  const { hooksPort: port, hooksHost: host, hookSecrets: secrets } = settings;
  if (port === undefined) return undefined;
  const hooks = await openHooks({ host, port, secrets, bridge, client, redis, registry, log });
  closing("hooks", () => hooks.close());
  return hooks;
}

function followCluster(
  {
    settings: { authors, namespace, partLease: holds },
    client,
    log,
    stopping,
    readiness,
    closing,
  }: Process<BridgeSettings>,
  bridge: Bridge,
  onChange: (registrations: readonly Registration[]) => void,
): void {
  const functions = followFunctions({ client, log, signal: stopping, authors, namespace, onChange });
  closing("functions", () => functions.reflector.done);
  readiness("functions", () => listingProblem(functions.reflector));
  const leases = { client, namespace, version, holds, log, signal: stopping };
  const renewed = keepPartLease({ ...leases, part: "bridge" });
  closing("lease", () => renewed);
  // The bridge checks only the deployer: the deployer reports an absent bridge or gateway.
  const { all: absent, runs, done } = watchParts({ ...leases, parts: ["deployer"] });
  closing("leases", () => done);
  const statusLoop = (async () => {
    while (!stopping.aborted) {
      const deployer = absent().at(0) ?? (runs("deployer") ? "runs" : undefined);
      await writeFollowStatus({ client, log, functions: functions.all(), bridge, deployer });
      await sleepUnlessAborted(statusInterval, stopping);
    }
  })();
  closing("status", () => statusLoop);
}

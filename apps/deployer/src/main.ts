import {
  type Log,
  type Milliseconds,
  namespaceOfQueue,
  type ObjectKey,
  queueOf,
  ReconcileFunction,
} from "@drover/controller";
import { type KubeClient, resourceNameOf, refOf } from "@drover/kube";
import {
  keepPartLease,
  type Process,
  runFunction,
  serveTenants,
  type Tenant,
  type TenantRedis,
  watchParts,
} from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { functionUsers } from "./redis/function-users.ts";
import { functionController } from "./function-controller.ts";
import { functionKeys } from "./redis/function-keys.ts";
import { openFunctionQueues } from "./redis/function-queues.ts";
import { accessReviews } from "./permits/access-reviews.ts";
import { adoptBindings, installationOf } from "./objects/installation.ts";
import { maintainEpoch, openAuthorGuards } from "./permits/author-guards.ts";
import { permitRecords } from "./permits/permit-records.ts";
import { keepRedisSetUp, type RedisSetupOptions, setUpRedis } from "./setup/set-up-redis.ts";
import { registerDeployer } from "./setup/register-deployer.ts";
import { reviewPermits } from "./permits/review-permits.ts";
import type { DeployEnvironment } from "./pods/pod-template.ts";
import { type Scaler, startScaler } from "./scaling/scaler.ts";
import { scalingEndpoint } from "./scaling/scaling-endpoint.ts";
import { runSweeper } from "./redis/sweep.ts";
import type { PermitServices } from "./run-context.ts";
import droverPackage from "drover/package.json" with { type: "json" };

const { version } = droverPackage;
const scripts = { loadsScripts: true, recordScriptsAs: version };

/** Between two steps of a sweep: at most about 20,000 keys a second are checked. */
const sweepPace: Milliseconds = 50;

const kind = resourceNameOf(refOf(ReconcileFunction));
/** How often the admission policies are checked. */
const epochEvery: Milliseconds = 3_000;

await runFunction(
  {
    name: "deployer",
    settings: functionConfig,
    controller: async (settings, process, identified) => {
      const { client, log, stopping, readiness, addEndpoint } = process;
      keepSetUp(process);
      const { functionsRedisUrl: functionsUrl } = settings;
      const { namespace = settings.namespace } = settings.function ?? {};
      const tenants = serveTenants(process, {
        name: "deployer",
        own: [settings.namespace, namespace],
        functionsUrl,
        ...scripts,
      });
      const permits = permitServicesOf(client, settings);
      // Started before the deployer's own ReconcileFunction exists: without an epoch the API server would reject it.
      const epoch = permits && maintainEpoch(permits.guards, { every: epochEvery, log, signal: stopping });
      const registered = register(process);
      const ownQueue = queueOf((await identified()) ?? { name: kind });
      const wake = (key: ObjectKey): Promise<void> =>
        queues.open(ownQueue).wake([{ key, kind, resourceVersion: "0", reason: "Scale", class: "change" }]);
      const queues = openFunctionQueues({
        redisFor: tenants.redisFor,
        ownQueue,
        log,
        // That Redis may have lost the users of its functions.
        onIncarnation(queue) {
          const tenant = tenants.tenantOf(namespaceOfQueue(queue));
          scaler.wakeAll((namespace) => tenants.tenantOf(namespace) === tenant);
        },
      });
      const living = { client, log, signal: stopping };
      const scaler: Scaler = startScaler({ ...living, queues, wake, ownQueue, every: settings.scaleEvery });
      const swept = runSweeper({ ...living, tenants, every: settings.sweepEvery, pace: sweepPace });
      const { namespace: home, partLease: holds } = settings;
      const leases = { ...living, namespace: home, version, holds };
      const renewed = keepPartLease({ ...leases, part: "deployer" });
      const onChange = (): void => scaler.wakeAll(() => true);
      const { all: absentParts, done } = watchParts({ ...leases, parts: ["bridge", "gateway"], onChange });
      addEndpoint("/scaling/", scalingEndpoint(scaler));
      readiness("scaler", () => (scaler.synced() ? undefined : "ReconcileFunctions are not listed yet"));
      const parts = redisParts(tenants, log);
      const reviewed = { client, functionUsers: parts.functionUsers, every: settings.reviewEvery, wake, log };
      const reviewing = permits && reviewPermits({ ...permits, ...reviewed, signal: stopping });
      const installation = await installationOf(client, home);
      if (installation !== undefined) await adoptBindings(client, installation, log);
      return {
        controller: functionController({
          client,
          queues,
          ownQueue,
          permits,
          rotateEvery: settings.rotateEvery,
          absentParts,
          installation,
          ...parts,
          environment: deployEnvironmentOf(settings),
        }),
        // Otherwise its Service would lead KEDA nowhere, which takes some of these errors for zero.
        answersWithoutRedis: true,
        close: async () => {
          await Promise.all([scaler.done, epoch, reviewing, registered, swept, renewed, done]);
          await queues.close();
        },
      };
    },
  },
  {
    ...scripts,
    complete: async (settings, process) =>
      settings.redisSecrets === "given"
        ? settings
        : { ...settings, ...(await setUpRedis(setupOf({ settings, ...process }))) },
  },
);

type Settings = ReturnType<typeof functionConfig>;
type SetupProcess = Pick<Process<Settings>, "settings" | "client" | "log" | "stopping">;

function setupOf({ settings, client, log, stopping: signal }: SetupProcess): RedisSetupOptions {
  const { namespace, redisUrl, functionsRedisUrl } = settings;
  return { client, log, signal, namespace, redisUrl, functionsRedisUrl };
}

/** An object of another namespace would need more permissions: there, a user applies it. */
async function register({ settings, client, log, stopping: signal }: SetupProcess): Promise<void> {
  const { namespace, function: own } = settings;
  if (own?.namespace !== namespace || own.uid !== undefined || own.name !== kind) return;
  await registerDeployer({ client, namespace, log, signal, every: epochEvery });
}

/** Keeps what `complete` has made. */
function keepSetUp(process: Process<Settings>): void {
  const {
    redisSecrets,
    redisSecretsEvery: every,
    redisPasswordFile = "",
    redisCaFile = "",
  } = process.settings;
  if (redisSecrets === "given") return;
  const started = { redisPasswordFile, redisCaFile };
  const kept = keepRedisSetUp({ ...setupOf(process), every, started }, process.fail);
  process.closing("setup", () => kept);
}

/** A positive review is reused for half the time between reviews, so that not every run sends reviews of its own. */
function permitServicesOf(
  client: KubeClient,
  { authors, namespace, reviewEvery }: Settings,
): PermitServices | undefined {
  if (authors === "trusted") return undefined;
  const now = (): number => performance.now();
  return {
    records: permitRecords(client, namespace),
    reviews: accessReviews(client, { remembered: reviewEvery / 2, now }),
    guards: openAuthorGuards(client, now),
    namespace,
  };
}

/** The parts of the controller that use the Redis of each function. */
function redisParts(tenants: TenantRedis, log: Log) {
  return {
    // Keys of hooks are in Drover's own Redis.
    keys: functionKeys((queue) => {
      const tenant = tenants.tenantOf(namespaceOfQueue(queue));
      return tenants.servers().flatMap((one) => ([undefined, tenant].includes(one.tenant) ? one.redis : []));
    }),
    functionUsers: functionUsers(tenants, log),
    redisOf(namespace: string) {
      const tenant = tenants.tenantOf(namespace);
      return tenant && redisForPods(tenant);
    },
  };
}

/** The settings that the objects of all functions share. */
function deployEnvironmentOf(settings: Settings): DeployEnvironment {
  const { redisUrl: url, functionsRedisUrl: functionsUrl, redisCaFile: ca } = settings;
  return {
    ...redisForPods({ url, functionsUrl, ca }),
    bridge: settings.bridgeAccount,
    gateway: settings.gatewayAccount,
    network: {
      namespace: settings.namespace,
      monitoring: settings.monitoringNamespaces,
      egress: { ...settings.functionsEgress, except: settings.functionsEgressExcept },
    },
    keda: { scalingUrl: settings.scalingUrl },
  };
}

/** The URL of a Redis for Pods, and its CA certificates. */
function redisForPods({ url, functionsUrl = withoutUser(url), ca }: Omit<Tenant, "namespaces">) {
  return { redisUrl: functionsUrl, redisCa: functionsUrl.startsWith("rediss:") ? ca : undefined };
}

function withoutUser(text: string): string {
  const url = new URL(text);
  url.username = url.password = "";
  return url.href;
}

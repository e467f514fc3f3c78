/**
 * # The gateway
 *
 * Takes the keys of functions with `delivery: webhook`, and calls these functions over HTTP. The rest is done for them
 * as for functions that pull: the object is read, finalizers are added and removed, status and Events are written.
 *
 * - `webhook-function.ts` reads a ReconcileFunction; `gateway.ts` starts and stops workers; `work-function.ts`
 *   processes the keys of one function, with the runtime's own `reconcileOnce`.
 * - `calls/` makes a call: `call-function.ts` has the order of the steps, `post.ts` the HTTP, `interpret.ts` the
 *   outcome of an answer.
 * - `targets/` finds the address: that of a Service, or a URL that the operator allows and that leads out of the
 *   cluster.
 * - `completions/` takes the results of functions that have answered `accepted`.
 */
import {
  type Admission,
  followPermittedFunctions,
  keepPartLease,
  listingProblem,
  openAdmission,
  type Process,
  queueMetrics,
  queueTimes,
  runMetrics,
  runProcess,
  servePublicly,
  serveTenants,
  throttledWarnings,
} from "@drover/runtime";
import { completionApp } from "./completions/completion-app.ts";
import { pendingRuns } from "@drover/calls";
import { gatewayConfig, type GatewaySettings } from "./config.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { type CallMetrics, callMetrics } from "./gateway-metrics.ts";
import { checkQueues } from "./check-queues.ts";
import { selectWebhookFunctions } from "./select-webhook-functions.ts";
import droverPackage from "drover/package.json" with { type: "json" };

const { version } = droverPackage;

const pingTimeout = 1_000;
const warningInterval = 10_000;

type GatewayProcess = Process<GatewaySettings>;

await runProcess("gateway", gatewayConfig, async (process) => {
  const { settings, log, client, registry, closing, readiness } = process;
  const tenants = serveTenants(process, { name: "gateway", own: [settings.namespace], loadsScripts: false });
  const pending = pendingRuns();
  const calls = callMetrics(registry);
  // Opened before the gateway, and so closed after it: calls that wait for completions may come to their end.
  const admission = openAdmission(() => performance.now());
  const app = completionApp({
    admission,
    now: Date.now,
    complete: pending.complete,
    secretsOf: (audience) => gateway.secretsOf(audience),
    onOutcome: completionReporter(process, calls),
  });
  const complete = await serveCompletions(process, app, admission);
  const gateway: Gateway = openGateway({
    client,
    redisFor: tenants.redisFor,
    log,
    grace: settings.stopGrace,
    pending,
    calls,
    complete,
    times: queueTimes(settings),
    rules: {
      client,
      allowed: settings.webhookAllow,
      networks: settings.webhookNetworks,
      unselected: settings.webhookUnselected,
    },
    runs: runMetrics(registry),
  });
  followFunctions(process, gateway);
  // The last to be opened, and so the first to be closed: no key is taken once the process is asked to stop.
  closing("gateway", () => gateway.close());
  readiness("redis", () => checkQueues(gateway, tenants, pingTimeout));
  queueMetrics(registry, () => gateway.queues());
});

/** The base URL below which completions are sent; undefined if none are taken. */
async function serveCompletions(
  { settings, log, closing }: GatewayProcess,
  app: ReturnType<typeof completionApp>,
  admission: Admission,
): Promise<string | undefined> {
  const { completionsPort: port, completionsHost: host, completionsUrl } = settings;
  if (port === undefined) return undefined;
  const server = await servePublicly({
    app,
    admission,
    host,
    port,
    settings: "DROVER_COMPLETIONS_PORT and DROVER_COMPLETIONS_HOST",
  });
  closing("completions", () => server.close());
  const base = `${(completionsUrl ?? server.url).replace(/\/$/, "")}/`;
  log.info({ completions: base }, "Taking completions");
  return base;
}

function completionReporter({ log }: GatewayProcess, calls: CallMetrics) {
  const warn = throttledWarnings(log, warningInterval, () => performance.now());
  return (outcome: string, why?: string): void => {
    calls.completed(outcome);
    if (why !== undefined) warn(outcome, { outcome, why }, "A completion was refused");
  };
}

function followFunctions(
  {
    settings: { authors, namespace, partLease: holds },
    client,
    log,
    stopping,
    readiness,
    closing,
  }: GatewayProcess,
  gateway: Gateway,
): void {
  let logged = new Map<string, string>();
  const reflector = followPermittedFunctions({
    client,
    log,
    signal: stopping,
    authors,
    namespace,
    onChange(declared, permits) {
      if (stopping.aborted) return;
      const { functions, problems } = selectWebhookFunctions(declared, permits);
      gateway.register(functions);
      for (const [key, problem] of problems) {
        if (logged.get(key) !== problem) log.warn({ function: key, problem }, "Cannot call a function");
      }
      logged = new Map(problems);
    },
  });
  closing("functions", () => reflector.done);
  const renewed = keepPartLease({
    client,
    namespace,
    part: "gateway",
    version,
    holds,
    log,
    signal: stopping,
  });
  closing("lease", () => renewed);
  readiness("functions", () => listingProblem(reflector));
}

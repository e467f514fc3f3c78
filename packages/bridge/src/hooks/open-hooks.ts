/**
 * # Hooks
 *
 * Events from outside the cluster that wake keys: `POST /hooks/<namespace>/<function>/<name>`, on a separate listener.
 * Every bridge accepts the events of all hooks.
 *
 * - `hook.ts`: the declaration.
 * - `hook-app.ts`: the HTTP interface; its error responses are those of @drover/webhook.
 * - `take-event.ts`: the order of steps: `verify-event.ts` (with `standard-webhooks.ts`, `hmac.ts` or `bearer.ts`, and
 *   `hook-secrets.ts`), `event-body.ts`, `named-keys.ts`, the queue, and `event-ids.ts`.
 */
import { type Log, messageOf } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";
import { openEventIds } from "./event-ids.ts";
import { openAdmission, type PublicServer, servePublicly, throttledWarnings } from "@drover/runtime";
import { unavailable } from "@drover/webhook";
import { Counter, type Registry } from "prom-client";
import type { Bridge } from "../bridge.ts";
import type { Registration } from "../registration/registration.ts";
import { hookApp } from "./hook-app.ts";
import { hookSecretReader } from "./verification/hook-secrets.ts";
import { openHooksInUse, usualLimits } from "./hooks-in-use.ts";
import { findByName, type FindKeys } from "./named-keys.ts";
import { eventTaker } from "./take-event.ts";

export interface HooksOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The folder with the secrets of hooks that files register. */
  readonly secrets: string | undefined;
  readonly bridge: Pick<Bridge, "queueOf" | "findByValue">;
  readonly client: Pick<KubeClient, "get">;
  readonly redis: RedisConnection;
  readonly registry: Registry;
  readonly log: Log;
}

/** This bridge's listener for hook events. */
export interface Hooks extends PublicServer {
  /** Replaces the registrations. */
  register(registrations: readonly Registration[]): void;
  /** @throws SecretError if a secret in a file cannot be used. Secrets in a cluster may be created later. */
  checkFiles(registrations: readonly Registration[]): Promise<void>;
}

const warnEvery = 10_000;

export async function openHooks(options: HooksOptions): Promise<Hooks> {
  const { host, port, bridge, client, redis, registry, log } = options;
  const clock = (): number => performance.now();
  const readSecrets = hookSecretReader(client, options.secrets);
  const hooks = openHooksInUse(readSecrets, usualLimits, clock);
  const warn = throttledWarnings(log, warnEvery, clock);
  const events = new Counter({
    name: "drover_hook_events_total",
    help: "Events received, by hook and outcome.",
    labelNames: ["hook", "outcome"],
    registers: [registry],
  });
  const admission = openAdmission(clock);
  const app = hookApp({
    hooks,
    admission,
    take: eventTaker({
      queueOf: bridge.queueOf,
      find: keyFinder(bridge),
      now: Date.now,
      onIdsFailed: (hook, error) =>
        warn(
          `${hook} ids`,
          { hook, err: error },
          "Event ids cannot be stored: repeated events wake their keys again",
        ),
      idsOf: ({ controller: queue, name }) => openEventIds(redis, { queue, hook: name }),
    }),
    onTaken(hook, { outcome, keys }) {
      events.inc({ hook, outcome });
      log.info({ hook, outcome, keys }, "An event was accepted");
    },
    onRefused(hook = "", { refusal, why }) {
      events.inc({ hook, outcome: refusal });
      warn(`${hook} ${refusal}`, { hook, refusal, why }, "An event was refused");
    },
    onError: (error) => warn("error", { err: error }, "An event could not be processed"),
  });
  const server = await servePublicly({
    app,
    admission,
    host,
    port,
    settings: "DROVER_HOOKS_PORT and DROVER_HOOKS_HOST",
  });
  log.info({ hooks: server.url }, "Accepting events at /hooks/<namespace>/<function>/<hook>");
  return {
    ...server,
    register: (registrations) => hooks.want(hooksIn(registrations)),
    async checkFiles(registrations) {
      for (const hook of hooksIn(registrations))
        if (hook.functionNamespace === undefined) await readSecrets(hook);
    },
  };
}

/** Finds objects by their name, or by a value that they hold. */
const keyFinder =
  (bridge: Pick<Bridge, "findByValue">): FindKeys =>
  (hook, value) =>
    hook.heldBy === undefined
      ? findByName(hook, value)
      : bridge.findByValue(hook.controller, hook.heldBy, value).catch((error: unknown) => {
          throw unavailable(messageOf(error));
        });

const hooksIn = (registrations: readonly Registration[]) => registrations.flatMap(({ hooks }) => hooks);

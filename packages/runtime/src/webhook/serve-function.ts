import { type Log, messageOf, type Resource } from "@drover/controller";
import { callHistory, MessageRefusedError, type SentAnswer, readSignatureHeaders } from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { once } from "node:events";
import type { Logger } from "pino";
import { z } from "zod";
import { webhookHandler, type WebhookHandlerOptions, type WebhookRequest } from "./webhook-handler.ts";
import { folderSecrets } from "./folder-secrets.ts";
import { openLog } from "../process/log.ts";
import { logUncaught, stopOnSignals } from "../process/process-lifecycle.ts";
import { type Admission, openAdmission } from "../http/admission.ts";
import { servePublicly } from "../http/public-server.ts";
import { receiveMessage, refusalResponse, refuseForm } from "../http/receive-message.ts";
import type { OpenedController } from "../worker/function-definition.ts";
import { processSettings } from "../process/function-settings.ts";
import { nonSecret, wholeNumber } from "../process/settings.ts";

/**
 * The settings of every function that is called over HTTP. Such a function has no access to Redis or the API server.
 */
export const servedSettings = processSettings
  .pick({ logLevel: true, httpHost: true, stopGrace: true })
  .extend({
    /** The port that is called. 0: any free port. */
    httpPort: nonSecret(wholeNumber({ least: 0, most: 65_535 }).default(8_080)),
    /** `namespace/name` of its ReconcileFunction: calls that are meant for other functions are refused. */
    webhookAudience: nonSecret(
      z.string().regex(/^[^/\s]+\/[^/\s]+$/, "give namespace/name of the ReconcileFunction"),
    ),
    /** The ReconcileFunction's uid: calls for an earlier object of the same name are refused, too. */
    webhookUid: nonSecret(z.string().optional()),
    /** The folder where the Secret `<name>-webhook` is mounted. */
    webhookSecrets: z.string(),
  });
export type ServedSettings = z.output<typeof servedSettings>;

/** A function that is called over HTTP, and its controller. */
export interface ServedFunction<Settings extends ServedSettings, R extends Resource> {
  /** Names the process in logs. */
  readonly name: string;
  /** Reads the settings: `readSettings(servedSettings.extend({ ... }), process.env)` in the function's config.ts. */
  readonly settings: () => Settings;
  readonly controller: (settings: Settings) => OpenedController<R> | Promise<OpenedController<R>>;
}

/** Maximum size of a call in bytes: an object may have 1.5 MiB. */
const maxCallBytes = 2 * 2 ** 20;
/** Maximum number of verified calls in progress. */
const maxCalls = 1_000;

/**
 * Answers the gateway's calls until SIGTERM, then lets the calls in progress end within the grace. `reconcile` and
 * `finalize` are those of a function that pulls, except that `client` and `readSecret` fail: the function has no access
 * to the cluster.
 */
export const serveFunction = <Settings extends ServedSettings, R extends Resource>(
  definition: ServedFunction<Settings, R>,
): Promise<void> => serveCalls({ ...definition, handler: webhookHandler });

/** The parts of the process with which a controller is opened, in addition to its settings. */
export interface ServingProcess {
  readonly log: Logger;
  /** Fires when the process is asked to stop; aborting it asks so. */
  readonly stop: AbortController;
}

/** A process that answers signed messages by a controller. */
interface ServedCalls<Settings extends ServedSettings, R extends Resource> {
  readonly name: string;
  readonly settings: () => Settings;
  readonly controller: (
    settings: Settings,
    process: ServingProcess,
  ) => OpenedController<R> | Promise<OpenedController<R>>;
  readonly handler: (parts: WebhookHandlerOptions<R>) => (request: ServedRequest) => Promise<SentAnswer>;
}

/** A request, and its path, which no signature covers. */
export type ServedRequest = WebhookRequest & { readonly path: string };

/** Answers messages until SIGTERM, as `serveFunction`. */
export async function serveCalls<Settings extends ServedSettings, R extends Resource>(
  definition: ServedCalls<Settings, R>,
): Promise<void> {
  let log = openLog({ process: definition.name });
  logUncaught(() => log);
  try {
    const settings = definition.settings();
    log = openLog({ process: definition.name, level: settings.logLevel });
    await serveUntilStopped(definition, settings, { log, stop: stopOnSignals(log) });
  } catch (error) {
    log.fatal({ err: error }, messageOf(error));
    process.exitCode = 1;
  }
  log.info("Stopped");
  process.exit();
}

async function serveUntilStopped<Settings extends ServedSettings, R extends Resource>(
  definition: ServedCalls<Settings, R>,
  settings: Settings,
  { log, stop }: ServingProcess,
): Promise<void> {
  const { controller, ...parts } = await definition.controller(settings, { log, stop });
  const { httpHost: host, httpPort: port, stopGrace, webhookAudience: name, webhookUid: uid } = settings;
  const over = new AbortController();
  const secrets = folderSecrets(
    settings.webhookSecrets,
    () => performance.now(),
    (error) =>
      log.warn({ err: error }, "Could not read the secrets again; those that were read before stay in use"),
  );
  const answer = definition.handler({
    controller,
    log,
    secrets,
    audience: { name, uid },
    stopping: over.signal,
    history: callHistory(Date.now),
  });
  const admission = openAdmission(() => performance.now());
  const app = webhookApp(answer, log, admission);
  // The deadline of a call limits the run; the server limits how long the request may take to arrive.
  const server = await servePublicly({
    app,
    admission,
    host,
    port,
    settings: "DROVER_HTTP_PORT and DROVER_HTTP_HOST",
  });
  log.info({ url: server.url, controller: controller.name }, "Answering calls");
  await (stop.signal.aborted ? undefined : once(stop.signal, "abort"));
  const late = setTimeout(() => over.abort(new Error("The process is stopping.")), stopGrace);
  await server.close(stopGrace + replyTimeout);
  clearTimeout(late);
  await parts.close?.();
}

/** Time in ms for runs that were stopped to send their answers. */
const replyTimeout = 1_000;

type Env = { Bindings: HttpBindings };

/** A `POST` to any path is a call, because the ReconcileFunction chooses the path. */
export function webhookApp(
  answer: (request: ServedRequest) => Promise<SentAnswer>,
  log: Pick<Log, "error">,
  admission: Admission,
): Hono<Env> {
  let underWay = 0;
  const app = new Hono<Env>();
  app
    .get("/healthz", (c) => c.text("ok\n"))
    .get("/readyz", (c) => c.text("ok\n"))
    .post("*", async (c) => {
      if (underWay >= maxCalls) return c.json({ error: "Too many calls at once." }, 503);
      let verified = 0;
      const onVerified = (): void => {
        underWay++;
        verified++;
      };
      try {
        return await handleCall(c, answer, admission, onVerified);
      } finally {
        underWay -= verified;
      }
    })
    .onError((error, c) => {
      log.error({ err: error }, "A call could not be answered");
      return c.json({ error: "The call could not be answered." }, 500);
    });
  return app;
}

async function handleCall(
  c: Context<Env>,
  answer: (request: ServedRequest) => Promise<SentAnswer>,
  admission: Admission,
  onVerified: () => void,
): Promise<Response> {
  const { incoming } = c.env;
  try {
    refuseForm(incoming, maxCallBytes);
    return await receiveMessage(
      incoming,
      { admission, most: maxCallBytes, group: "calls" },
      async (received) => {
        const verified = (): void => {
          received.verified();
          onVerified();
        };
        const headers = readSignatureHeaders((header) => c.req.header(header));
        const body = await received.read();
        const response = await answer({ headers, body, onVerified: verified, path: c.req.path });
        return new Response(response.body, { status: response.status, headers: response.headers });
      },
    );
  } catch (error) {
    if (!(error instanceof MessageRefusedError)) throw error;
    return refusalResponse(incoming, error);
  }
}

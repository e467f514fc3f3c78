/** The shipped listeners and the shipped caller, each with one function or hook. */
import { openAdmission, type PublicServer, servePublicly } from "@drover/runtime";
import { completionUrl, cacheSecrets, signMessage } from "@drover/webhook";
import { hookApp } from "../../../packages/bridge/src/hooks/hook-app.ts";
import {
  hookOf,
  signedHeaders as signedEvent,
  whsec,
} from "../../../packages/bridge/src/hooks/hook.fixture.ts";
import { openHooksInUse, usualLimits } from "../../../packages/bridge/src/hooks/hooks-in-use.ts";
import { findByName } from "../../../packages/bridge/src/hooks/named-keys.ts";
import { eventTaker } from "../../../packages/bridge/src/hooks/take-event.ts";
import { calling, secret } from "../../../packages/calls/src/calling.fixture.ts";
import { completionApp } from "../../../apps/gateway/src/completions/completion-app.ts";

export { secret };
export const audience = { name: "web/greetings", uid: "f-1" };
const clock = (): number => performance.now();

/** A message for a listener: a head and a body as they are written on the connection. */
export interface Listener extends PublicServer {
  /** The path that messages are sent to. */
  readonly path: string;
  /** A genuine message and its headers. */
  readonly genuine: () => { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** The status of a message that was taken. */
  readonly taken: number;
}

const json = { "content-type": "application/json" };

/** The bridge's listener, with one hook. */
export async function startHooks(): Promise<Listener> {
  const hooks = openHooksInUse(() => Promise.resolve([whsec]), usualLimits, clock);
  const hook = hookOf();
  hooks.want([hook]);
  const admission = openAdmission(clock);
  const take = eventTaker({
    queueOf: () => ({ wake: () => Promise.resolve() }),
    idsOf: () => ({ has: () => Promise.resolve(false), record: () => Promise.resolve() }),
    find: findByName,
    onIdsFailed: () => undefined,
    now: Date.now,
  });
  const nothing = (): void => undefined;
  const app = hookApp({ hooks, take, admission, onTaken: nothing, onRefused: nothing, onError: nothing });
  const server = await servePublicly({ app, admission, host: "127.0.0.1", port: 0, settings: "" });
  const body = '{"Records":[{"name":"web/a"}]}';
  const genuine = () => ({ headers: { ...json, ...signedEvent(body) }, body });
  return { ...server, path: `/hooks/${hook.address}`, genuine, taken: 204 };
}

/** The gateway's listener, with one function that has no run: a genuine completion is answered 409. */
export async function startCompletions(): Promise<Listener> {
  const secrets = cacheSecrets(() => Promise.resolve([secret]), clock, 60_000);
  const admission = openAdmission(clock);
  const app = completionApp({
    admission,
    secretsOf: () => secrets,
    complete: () => "not held",
    now: Date.now,
    onOutcome: () => undefined,
  });
  const server = await servePublicly({ app, admission, host: "127.0.0.1", port: 0, settings: "" });
  const body = JSON.stringify({ audience, key: "web/a", token: "t", result: { outcome: "done" } });
  const genuine = () => ({
    headers: { ...json, ...signMessage([secret], { id: "c", at: Date.now() }, body) },
    body,
  });
  return { ...server, path: new URL(completionUrl("http://a/", audience)).pathname, genuine, taken: 409 };
}

/** A completion with an endless duration. */
export const endlessCompletion = (letters: string): string =>
  JSON.stringify({ audience, key: "web/a", token: "t", result: { outcome: "done", requeueAfter: letters } });
/** An answer with an endless duration. */
export const endlessAnswer = (letters: string): string =>
  JSON.stringify({ outcome: "done", requeueAfter: letters });
/** An answer by which the run failed, and the status that a function may send it with. */
export const failure = { body: '{"outcome":"failed","message":"no"}', status: 500 };

/** The result of the gateway's call of a function: the answer, or the error that the runtime handles. */
export async function callAt(port: number): Promise<unknown> {
  const { call, parts } = calling(port);
  try {
    return await call();
  } catch (error) {
    return error;
  } finally {
    parts.agent.destroy();
  }
}

import { defineController, silentLog } from "@drover/controller";
import { webhookHandler, webhookApp } from "@drover/runtime";
import { type Call, callHistory, completionUrl, MessageRefusedError } from "@drover/webhook";
import { Greeting } from "../../examples/typescript/greeting.ts";
import { receiveAnswer } from "../../packages/calls/src/receive-answer.ts";
import { completionApp } from "../../apps/gateway/src/completions/completion-app.ts";
import { pendingRuns } from "../../packages/calls/src/pending-runs.ts";
import { receiveCompletion } from "../../apps/gateway/src/completions/received-completion.ts";
import { callAt } from "../../packages/webhook/src/testing/call-mutants.ts";
import { listen, replyOf } from "./over-http.ts";
import {
  audience,
  claimed,
  longAgo,
  neighbour,
  now,
  othersSecret,
  remembered,
  secret,
  send,
  standard,
} from "./scene.ts";
import { once, type OpenSubject, type Sent } from "./sent.ts";

/** A served function: accepted is a call that was run, or answered. */
export async function calls(isOverHttp: boolean): Promise<OpenSubject> {
  let runs = 0;
  const controller = defineController({
    for: Greeting,
    reconcile: () => (runs++, Promise.resolve(undefined)),
  });
  const history = callHistory(() => now, { calls: 1_000, bytes: 1e6 });
  const answer = webhookHandler({
    controller,
    audience,
    history,
    log: silentLog,
    now: () => now,
    secrets: () => [secret],
  });
  const call = (more: Partial<Call> = {}): Call => callAt(now, { audience, ...more });
  const sent = (one: Call, by = secret, at = now): Sent => send(one, one.token, by, at);
  const line = isOverHttp
    ? await listen("/", (admission) => webhookApp(answer, silentLog, admission))
    : undefined;
  return {
    name: "calls",
    close: async () => line?.close(),
    make: () => ({
      ...standard,
      sent: sent(call()),
      others: once(() => [
        sent(call({ audience: neighbour }), othersSecret),
        sent(call({ audience: neighbour })),
        sent(call({ audience: { ...audience, uid: "f-0" } })),
        sent(call(), othersSecret),
        sent(call(), secret, longAgo),
        sent(call({ deadline: new Date(now - 1).toISOString() })),
        send({ outcome: "done" }, call().token),
      ]),
      async accepts(one) {
        const before = runs;
        const answered = async () => (await answer({ headers: claimed(one), body: one.body })).status;
        const status = await (line?.send(one) ?? answered());
        return runs > before || (status >= 200 && status < 300);
      },
    }),
  };
}

/** The gateway, which reads the answer to its call: accepted is one that it believes. */
export const answers = (isOverHttp: boolean): OpenSubject => ({
  name: "answers",
  close: () => Promise.resolve(),
  make(i) {
    const id = `t-${i}`;
    const body = { outcome: "done", status: { text: `Hello, ${i}!`, i } };
    return {
      ...standard,
      sent: send(body, id),
      others: once(() => [
        send(body, `t-${i - 1}`),
        send({ outcome: "parked", message: "no" }, `t-${i + 1}`),
        send(body, id, othersSecret),
        send(body, id, secret, longAgo),
        send(callAt(now, { audience, token: id }), id),
        send({ audience, key: "web/ada", token: id, result: body }, id),
        send({ status: { text: "version 1" } }, id),
      ]),
      async accepts(one) {
        const reply = isOverHttp ? await replyOf(one) : { status: 200, ...one };
        const secrets = remembered(secret);
        const parts = { id, reply, secrets, used: await secrets.current(), now: () => now };
        return receiveAnswer(parts).then(
          () => true,
          (error: unknown) => expected(error, "RetryError"),
        );
      },
    };
  },
});

const secrets = new Map([
  ["web/greetings f-1", remembered(secret)],
  ["web/others f-2", remembered(othersSecret)],
]);

/** The gateway's listener: accepted is a result that a run takes. */
export async function completions(isOverHttp: boolean): Promise<OpenSubject> {
  const pending = pendingRuns();
  const secretsOf = ({ name, uid }: Call["audience"]) => secrets.get(`${name} ${uid}`);
  const { signal } = new AbortController();
  const line = isOverHttp
    ? await listen(new URL(completionUrl("http://a/", audience)).pathname, (admission) =>
        completionApp({
          admission,
          secretsOf,
          complete: pending.complete,
          now: () => now,
          onOutcome: () => undefined,
        }),
      )
    : undefined;
  return {
    name: "completions",
    close: async () => line?.close(),
    make(i) {
      const [token, key] = [`t-${i}`, `web/ada-${i}`];
      const completion = { audience, key, token, result: { outcome: "done", status: { i } } };
      const sent = (more: object, by = secret, at = now): Sent =>
        send({ ...completion, ...more }, `c_${i}`, by, at);
      return {
        ...standard,
        sent: sent({}),
        others: once(() => [
          sent({ audience: neighbour }, othersSecret),
          sent({ audience: neighbour }),
          sent({}, othersSecret),
          sent({}, secret, longAgo),
          sent({ token: `t-${i - 1}` }),
          sent({ key: "web/eve" }),
          sent({ result: { outcome: "accepted" } }),
          sent({ code: 200, result: {} }),
          send(callAt(now, { audience, key, token }), token),
          send({ outcome: "done" }, token),
        ]),
        async accepts({ headers, body }) {
          const run = pending.expect(token, { audience, key, held: () => true });
          try {
            if (line !== undefined) return (await line.send({ headers, body })) === 204;
            const read = () => Promise.resolve(body);
            const one = await receiveCompletion({
              named: audience,
              headers: claimed({ headers, body }),
              now,
              body: { read, signal, verified: () => undefined },
              secretsOf,
            });
            return pending.complete(one) === "taken";
          } catch (error) {
            if (error instanceof MessageRefusedError) return false;
            throw error;
          } finally {
            run.forget();
          }
        },
      };
    },
  };
}

function expected(error: unknown, name: string): false {
  if (error instanceof Error && error.name === name) return false;
  throw error;
}

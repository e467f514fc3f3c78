import { z } from "zod";
/**
 * # Does a function keep the contract?
 *
 * Whatever it is written in. It must be one that greets, as those in examples/ do: `spec.name` is a name,
 * `status.text` is `Hello, <name>!`; `spec.refuse`, `fail`, `wait` and `hold` have it refuse, fail, ask for a wait, and not
 * let go; with `spec.count`, `status.runs` counts its runs.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { isDeepStrictEqual } from "node:util";
import {
  type Answer,
  type Call,
  callSchema,
  readAnswer,
  readSignatureHeaders,
  signatureProblem,
} from "../src/index.ts";
import { callAt, callMutant } from "../src/testing/call-mutants.ts";
import { type SigningContext, signedMessage, type SignedMessage } from "../src/testing/mutants.ts";
import { pseudoRandom } from "@drover/random";

/** Where the function is, and what it shares with its gateway. */
export interface Subject {
  readonly url: string;
  readonly secret: string;
  readonly audience: Call["audience"];
  readonly mutants: number;
  readonly seed: number;
}

/** One thing that is to be so. Throws when it is not. */
export interface Check {
  readonly name: string;
  readonly run: (subject: Subject) => Promise<void>;
}

interface HttpReply {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

const otherSecret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const signingContextOf = ({ secret }: Subject): SigningContext => ({ secret, otherSecret, now: Date.now() });
const callOf = (
  { audience }: Subject,
  spec: object = { name: "Ada", count: true },
  more: Partial<Call> = {},
): Call => {
  const call = callAt(Date.now(), { audience, ...more });
  return callSchema.parse({ ...call, object: { ...call.object, spec } });
};

/** Each over a connection of its own: some functions close it as they like. */
async function deliver(
  { url }: Subject,
  { headers, body }: SignedMessage,
  more: Record<string, string> = {},
): Promise<HttpReply> {
  const signature = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[`webhook-${name}`, String(value)] as const],
  );
  const bytes = Buffer.from(body);
  const own = { "content-type": "application/json", "content-length": String(bytes.byteLength) };
  const sent = request(url, {
    method: "POST",
    agent: false,
    headers: { ...own, ...Object.fromEntries(signature), ...more },
  }).end(bytes);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
  });
  const pieces = await Array.fromAsync<Buffer>(reply);
  const given = Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return { status: reply.statusCode ?? 0, body: Buffer.concat(pieces), headers: new Headers(given) };
}

/** Sends a call, signed as the gateway signs it. */
export const sendCall = (subject: Subject, call: Call, at = Date.now()): Promise<HttpReply> =>
  deliver(subject, signedMessage(call, call.token, signingContextOf(subject), at));

function expectEqual(found: unknown, wanted: unknown, what: string): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

/** The answer, signed under the call's id. */
function answerIn({ secret }: Subject, { token: id }: Call, reply: HttpReply): Answer {
  expectSigned(secret, id, reply);
  const read = readAnswer(reply.body);
  if (!read.ok) throw new Error(`${read.problem}: ${Buffer.from(reply.body).toString()}`);
  return read.message;
}

/** The answer with this outcome. */
function outcomeIn<Outcome extends Answer["outcome"]>(
  subject: Subject,
  call: Call,
  reply: HttpReply,
  outcome: Outcome,
): Extract<Answer, { outcome: Outcome }> {
  const answer = answerIn(subject, call, reply);
  if (hasOutcome(answer, outcome)) return answer;
  throw new Error(`its outcome is ${answer.outcome}, not ${outcome}: ${Buffer.from(reply.body).toString()}`);
}

const hasOutcome = <Outcome extends Answer["outcome"]>(
  answer: Answer,
  outcome: Outcome,
): answer is Extract<Answer, { outcome: Outcome }> => answer.outcome === outcome;

function expectSigned(secret: string, id: string, reply: HttpReply): void {
  const problem = problemOf(secret, id, reply);
  if (problem !== undefined) throw new Error(`its answer, ${reply.status}, is not signed: ${problem}`);
}

function problemOf(secret: string, id: string, { body, headers }: HttpReply): string | undefined {
  const sent = readSignatureHeaders((name) => headers.get(name) ?? undefined);
  return signatureProblem({ headers: sent, body, secrets: [secret], id, now: Date.now() });
}

/** Those of the secrets with which an answer is signed. */
export const signersOf = (reply: HttpReply, { token }: Call, secrets: readonly string[]) =>
  secrets.filter((secret) => problemOf(secret, token, reply) === undefined);

const runsOf = async (subject: Subject): Promise<number> => {
  const call = callOf(subject);
  return Number(outcomeIn(subject, call, await sendCall(subject, call), "done").status?.["runs"]);
};

/** What was done about what is not to be run. */
async function expectNoRun(subject: Subject, act: () => Promise<unknown>): Promise<void> {
  const before = await runsOf(subject);
  await act();
  expectEqual(await runsOf(subject), before + 1, "the number of runs");
}

/** Sends mutants of a call. Each must be refused, without a signature. */
async function expectRefused(subject: Subject, call: () => Call): Promise<void> {
  const random = pseudoRandom(subject.seed);
  for (let i = 0; i < subject.mutants; i++) {
    const { what, sent } = callMutant(random, call(), signingContextOf(subject));
    // What HTTP cannot carry, or cuts off, is tried in process.
    const { id, timestamp, signature } = sent.headers;
    if ([id, timestamp, signature].some((value = "") => !/^(\S([ -~]{0,8000}\S)?)?$/.test(value))) continue;
    const { status, headers } = await deliver(subject, sent);
    if (status < 400 || status >= 500 || headers.has("webhook-signature"))
      throw new Error(`${what}: it answered ${status} to ${JSON.stringify(sent)}`);
  }
}

const resultChecks: readonly Check[] = [
  {
    name: "answers a call with a status, signed under the call's id",
    run: async (subject) => {
      const call = callOf(subject, { name: "Grace" });
      const { status } = outcomeIn(subject, call, await sendCall(subject, call), "done");
      expectEqual(status?.["text"], "Hello, Grace!", "status.text");
    },
  },
  {
    name: "takes text in every script, and blanks in the JSON",
    run: async (subject) => {
      const call = callOf(subject, { name: 'Zoë 日本 😀 "quoted" \\ \' $(id)' });
      const sent = signedMessage(JSON.stringify(call, null, 2), call.token, signingContextOf(subject));
      const { status } = outcomeIn(subject, call, await deliver(subject, sent), "done");
      expectEqual(status?.["text"], 'Hello, Zoë 日本 😀 "quoted" \\ \' $(id)!', "status.text");
    },
  },
  {
    name: "believes one good signature among several",
    run: async (subject) => {
      const call = callOf(subject);
      const { headers, body } = signedMessage(call, call.token, signingContextOf(subject));
      const signature = `v1,${"A".repeat(43)}= v1a,xyz ${headers.signature ?? ""}`;
      answerIn(subject, call, await deliver(subject, { headers: { ...headers, signature }, body }));
    },
  },
  {
    name: "lets an object go when it is finalized, and holds it until then",
    run: async (subject) => {
      for (const hold of [true, false]) {
        const call = callOf(subject, { name: "Ada", hold }, { type: "dev.drover.finalize.v2" });
        outcomeIn(subject, call, await sendCall(subject, call), hold ? "again" : "finalized");
      }
    },
  },
  ...(
    [
      ["parks what it refuses", { name: "Ada", refuse: true }, "parked", { reason: "NoGreeting" }],
      ["parks a spec that it cannot read", { name: 1 }, "parked", { reason: "InvalidSpec" }],
      ["fails", { name: "Ada", fail: true }, "failed", {}],
      ["asks for a wait", { name: "Ada", wait: 7 }, "again", { after: "7s", reason: "TooEarly" }],
    ] as const
  ).map(([name, spec, outcome, fields]): Check => ({
    name: `${name} with the outcome ${outcome}, signed`,
    run: async (subject) => {
      const call = callOf(subject, spec);
      const { message = "", ...answer } = outcomeIn(subject, call, await sendCall(subject, call), outcome);
      expectEqual({ reason: undefined, ...answer }, { reason: undefined, outcome, ...fields }, "the answer");
      if (message === "") throw new Error("it has no message");
    },
  })),
];

const refusalChecks: readonly Check[] = [
  {
    name: "answers a call that comes again as before, and does not run it again",
    run: async (subject) => {
      const call = callOf(subject);
      const sent = signedMessage(call, call.token, signingContextOf(subject));
      const before = await runsOf(subject);
      const atOnce = await Promise.all([1, 2, 3].map(() => deliver(subject, sent)));
      const answers = [...atOnce, await deliver(subject, sent)].map((one) => answerIn(subject, call, one));
      const done = answers.filter((answer) => answer.outcome === "done");
      if (done.length === 0) throw new Error("it never answered");
      for (const { status } of done) expectEqual(status?.["runs"], before + 1, "status.runs");
      const others = answers.filter(({ outcome }) => outcome !== "done" && outcome !== "conflict");
      expectEqual(others, [], "the other answers");
      expectEqual(await runsOf(subject), before + 2, "the number of runs");
    },
  },
  {
    name: "runs nothing that was made before the newest run of its key",
    run: async (subject) => {
      const call = callOf(subject);
      answerIn(subject, call, await sendCall(subject, call));
      const older = { ...call.object, metadata: { ...call.object.metadata, resourceVersion: "999" } };
      await expectNoRun(subject, async () => {
        const late = { ...call, token: randomUUID(), object: older };
        outcomeIn(subject, late, await sendCall(subject, late), "conflict");
        const earlier = { ...call, token: randomUUID() };
        outcomeIn(subject, earlier, await sendCall(subject, earlier, Date.now() - 10_000), "conflict");
      });
    },
  },
  {
    name: "runs no other call under an id that was used",
    run: async (subject) => {
      const call = callOf(subject);
      outcomeIn(subject, call, await sendCall(subject, call), "done");
      await expectNoRun(subject, async () => {
        outcomeIn(subject, call, await sendCall(subject, { ...call, reasons: ["Other"] }), "conflict");
      });
    },
  },
  {
    name: "takes no signature that came twice, no compressed body, and nothing but POST",
    run: async (subject) => {
      const call = callOf(subject);
      const sent = signedMessage(call, call.token, signingContextOf(subject));
      await expectNoRun(subject, async () => {
        const packed = await deliver(subject, sent, { "content-encoding": "gzip" });
        const got = await fetch(subject.url);
        const twice = { ...sent.headers, signature: `${sent.headers.signature ?? ""}, v1,x` };
        const doubled = await deliver(subject, { ...sent, headers: twice });
        for (const { status } of [packed, doubled]) {
          if (status < 400 || status >= 500) throw new Error(`it answered ${status}`);
        }
        if (got.headers.has("webhook-signature")) throw new Error("it signs what it was not asked");
      });
    },
  },
  {
    name: "refuses a call of more than 2 MiB before its body comes",
    run: async ({ url }) => {
      const headers = { "content-length": String(3 * 2 ** 20) };
      const sent = request(url, { method: "POST", agent: false, headers });
      sent.flushHeaders();
      const [reply] = (await once(sent, "response")) as [IncomingMessage];
      sent.on("error", () => undefined).destroy();
      expectEqual(reply.statusCode, 413, "the status");
    },
  },
  {
    name: "runs none of the mutants: forged, misdirected, expired, malformed",
    run: (subject) => expectNoRun(subject, () => expectRefused(subject, () => callOf(subject))),
  },
];

/** The checks of a function that greets. */
export const checks: readonly Check[] = [...resultChecks, ...refusalChecks];

const website = { html: '<h1>Zoë & 日本</h1>\n"quoted" \\ $(id)', image: "web:1", replicas: 2 };
const deploymentWith = (status: object): NonNullable<Call["children"]>[number] => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "ada", namespace: "web", uid: "d", resourceVersion: "7" },
  spec: { replicas: 2 },
  status,
});
const secretNamed = (name: string): NonNullable<Call["related"]>[number] => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "web", uid: "s", resourceVersion: "8" },
});
/** A call to declare the children of the object web/ada. */
function composeCall(subject: Subject, more: Partial<Call> = {}, spec: object = {}): Call {
  const call = callOf(
    subject,
    { ...website, ...spec },
    { type: "dev.drover.compose.v2", children: [], ...more },
  );
  const { metadata } = call.object;
  return { ...call, object: { ...call.object, metadata: { ...metadata, name: "ada" } } };
}
const composedIn = async (subject: Subject, call: Call) =>
  outcomeIn(subject, call, await sendCall(subject, call), "composed");

const templateSchema = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ containers: z.array(z.looseObject({ envFrom: z.unknown() })) }),
});

const labels = { "app.kubernetes.io/name": "website", "app.kubernetes.io/instance": "ada" };
const websiteChildren = [
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ada" }, data: { "index.html": website.html } },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "ada" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image: "web:1",
              ports: [{ name: "http", containerPort: 8080 }],
              readinessProbe: { httpGet: { path: "/", port: "http" } },
              volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
            },
          ],
          volumes: [{ name: "page", configMap: { name: "ada" } }],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "ada" },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  },
];

/** The checks of a function that declares the children of a Website. It needs no count of runs: they have no effects. */
export const composeChecks: readonly Check[] = [
  {
    name: "declares all children, and a status, signed under the call's id",
    run: async (subject) => {
      const { children, status } = await composedIn(subject, composeCall(subject));
      expectEqual(children, websiteChildren, "children");
      expectEqual(status, { address: "http://ada.web.svc", readyReplicas: 0 }, "status");
    },
  },
  {
    name: "reads the children that exist, beside others and fields that it does not have",
    run: async (subject) => {
      const other = { ...deploymentWith({ readyReplicas: 1 }), kind: "StatefulSet" };
      const children = [other, deploymentWith({ readyReplicas: 2, nice: [null, 1.5] })];
      const call = { ...composeCall(subject, { children }), related: [secretNamed("theme")], later: null };
      expectEqual((await composedIn(subject, call)).status?.["readyReplicas"], 2, "status.readyReplicas");
    },
  },
  {
    name: "waits for the Secret that the object references, and gives it to the web server",
    run: async (subject) => {
      const spec = { secretName: "theme" };
      const waiting = composeCall(subject, { related: [secretNamed("other")] }, spec);
      const { reason, message } = outcomeIn(subject, waiting, await sendCall(subject, waiting), "again");
      expectEqual([reason, message], ["NoSecret", "Create the Secret theme."], "reason and message");
      const call = composeCall(subject, { related: [secretNamed("other"), secretNamed("theme")] }, spec);
      const { children } = await composedIn(subject, call);
      const template = z.looseObject({ spec: z.looseObject({ template: templateSchema }) }).parse(children[1])
        .spec.template;
      expectEqual(template.metadata.annotations, { "example.com/secret-version": "8" }, "annotations");
      expectEqual(template.spec.containers[0]?.envFrom, [{ secretRef: { name: "theme" } }], "envFrom");
    },
  },
  {
    name: "answers a call to compose that comes again as before",
    run: async (subject) => {
      const call = composeCall(subject);
      const sent = signedMessage(call, call.token, signingContextOf(subject));
      const [first, second] = [await deliver(subject, sent), await deliver(subject, sent)];
      outcomeIn(subject, call, first, "composed");
      expectEqual(
        Buffer.from(second.body).toString(),
        Buffer.from(first.body).toString(),
        "the second answer",
      );
    },
  },
  {
    name: "answers a conflict to a call to compose that is older than the newest of its key, or reuses an id",
    run: async (subject) => {
      const call = composeCall(subject);
      await composedIn(subject, call);
      const metadata = { ...call.object.metadata, resourceVersion: "999" };
      const older = { ...call, token: randomUUID(), object: { ...call.object, metadata } };
      const reused = { ...call, children: [deploymentWith({ readyReplicas: 2 })] };
      for (const late of [older, reused]) outcomeIn(subject, late, await sendCall(subject, late), "conflict");
      const newer = { ...call, token: randomUUID() };
      await composedIn(subject, newer);
    },
  },
  {
    name: "parks a call to reconcile, and lets an object go that is finalized",
    run: async (subject) => {
      for (const [verb, outcome] of [
        ["reconcile", "parked"],
        ["finalize", "finalized"],
      ] as const) {
        const call = composeCall(subject, { type: `dev.drover.${verb}.v2` });
        outcomeIn(subject, call, await sendCall(subject, call), outcome);
      }
    },
  },
  {
    name: "signs no answer to mutants of a call to compose: forged, misdirected, expired, malformed",
    run: async (subject) => expectRefused(subject, () => composeCall(subject)),
  },
];

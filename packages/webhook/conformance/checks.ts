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
import { connect } from "node:net";
import { signedMessage } from "../src/testing/mutants.ts";
import {
  answerIn,
  callOf,
  type Check,
  deliver,
  expectEqual,
  expectRefused,
  outcomeIn,
  sendCall,
  signingContextOf,
  type Subject,
} from "./subject.ts";

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
    name: "answers a call while strangers hold 300 connections with half a request, or with none",
    needs: "many strangers",
    run: async (subject) => {
      const { hostname, port } = new URL(subject.url);
      const head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000\r\n";
      const texts = ["", head.slice(0, 30), head, `${head}\r\n`, `${head}\r\n{`];
      const strangers = Array.from({ length: 300 }, (_, i) => {
        const socket = connect({ port: Number(port), host: hostname }).on("error", () => undefined);
        socket.write(texts[i % texts.length] ?? "");
        return { socket, connected: once(socket, "connect") };
      });
      try {
        await Promise.all(strangers.map(({ connected }) => connected));
        const call = callOf(subject);
        outcomeIn(subject, call, await sendCall(subject, call), "done");
      } finally {
        for (const { socket } of strangers) socket.destroy();
      }
    },
  },
  {
    name: "runs none of the mutants: forged, misdirected, expired, malformed",
    run: (subject) => expectNoRun(subject, () => expectRefused(subject, () => callOf(subject))),
  },
];

/** The checks of a function that greets. */
export const checks: readonly Check[] = [...resultChecks, ...refusalChecks];

import { composeController } from "@drover/compose";
import { defineController, silentLog } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { pseudoRandom } from "@drover/random";
import { planPath, type SentAnswer, signMessage } from "@drover/webhook";
import { beforeEach, describe, expect, it } from "vitest";
import { callAt } from "../../../webhook/src/testing/call-mutants.ts";
import { forgedMessage, signedMessage, type SignedMessage } from "../../../webhook/src/testing/mutants.ts";
import type { ServedRequest } from "../webhook/serve-function.ts";
import { planHandler } from "./plan-handler.ts";
import { Greeting, otherSecret, secret } from "../webhook/greeting.fixture.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const scene = { secret, otherSecret, now };

let ran: string[];
beforeEach(() => (ran = []));
const greetings = composeController({
  for: Greeting,
  owns: [{ kind: kindOf(builtin.configMap) }],
  related: [
    {
      kind: kindOf(builtin.secret),
      names: ({ spec }) => {
        if (spec.name === "Nemo") throw new Error("has no name");
        return [`${spec.name}-key`];
      },
    },
    { kind: kindOf(builtin.configMap), names: { referencedBy: "spec.name" } },
  ],
  needsFinalizer: ({ spec }) => spec.name === "Grace",
  finalize: () => (ran.push("finalize"), Promise.resolve()),
  compose: () => (ran.push("compose"), { children: [] }),
});
const plain = defineController({
  for: Greeting,
  reconcile: () => (ran.push("reconcile"), Promise.resolve(undefined)),
});

const handle = (
  controller: typeof greetings,
  { headers, body }: SignedMessage,
  path: string,
): Promise<SentAnswer> =>
  planHandler({
    controller,
    audience: { name: "web/greetings", uid: "f-1" },
    secrets: () => [secret],
    log: silentLog,
    now: () => now,
  })({ headers, body: Buffer.from(body), path } satisfies ServedRequest);

const { audience, token, deadline, object } = callAt(now);
const questionOf = (spec: object, metadata: object = {}) => ({
  type: "dev.drover.plan.v1",
  audience,
  token,
  deadline,
  object: { ...object, metadata: { ...object.metadata, ...metadata }, spec },
});
async function ask(spec: object, metadata: object = {}, controller = greetings): Promise<unknown> {
  const question = questionOf(spec, metadata);
  const { status, headers, body } = await handle(controller, signedMessage(question, token, scene), planPath);
  expect(status).toBe(200);
  expect(headers).toMatchObject({ ...signMessage([secret], { id: token, at: now }, body) });
  return JSON.parse(body);
}

describe("the question about an object", () => {
  const answered = {
    type: "dev.drover.plan.v1",
    controller: "greetings.examples.drover.dev",
    composes: true,
  };
  const key = (name: string) => ({ group: "", plural: "secrets", names: [`${name}-key`] });

  it("is answered with what the code decides: that it composes, finalizers, and names", async () => {
    expect(await ask({ name: "Ada" })).toEqual({ ...answered, finalizes: false, related: [key("Ada")] });
    expect(await ask({ name: "Grace" })).toEqual({ ...answered, finalizes: true, related: [key("Grace")] });
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(await ask({ name: "Ada" }, { deletionTimestamp })).toMatchObject({ finalizes: true });
    expect(await ask({ name: "Ada" }, {}, plain)).toMatchObject({ composes: false, finalizes: false });
    expect(ran).toEqual([]);
  });

  it("is answered with the error of the code; an invalid object is left to the call", async () => {
    expect(await ask({ name: "Nemo" })).toMatchObject({ failure: "has no name", related: [] });
    expect(await ask({ name: 7 })).toEqual({ ...answered, finalizes: false, related: [] });
  });

  it("is refused if it is forged, in hundreds of ways, or for another function", async () => {
    const random = pseudoRandom(1);
    const question = signedMessage(questionOf({ name: "Ada" }), token, scene);
    for (let i = 0; i < 500; i++) {
      const { what, sent } = forgedMessage(random, question, scene);
      const { status, headers } = await handle(greetings, sent, planPath);
      expect([status, headers["webhook-signature"]], what).toEqual([401, undefined]);
    }
    const astray = { ...questionOf({ name: "Ada" }), audience: { ...audience, uid: "f-0" } };
    expect(await handle(greetings, signedMessage(astray, token, scene), planPath)).toMatchObject({
      status: 421,
    });
  });

  it("and a call are not mistaken for each other", async () => {
    const call = callAt(now, { type: "dev.drover.compose.v2", children: [] });
    expect(await handle(greetings, signedMessage(call, call.token, scene), planPath)).toMatchObject({
      status: 400,
    });
    const question = signedMessage(questionOf({ name: "Ada" }), token, scene);
    expect(await handle(greetings, question, "/")).toMatchObject({ status: 400 });
    expect(ran).toEqual([]);
  });
});

it.each([
  ["dev.drover.compose.v2", "composed", ["compose"]],
  ["dev.drover.reconcile.v2", "parked", []],
  ["dev.drover.finalize.v2", "parked", []],
] as const)("a call of type %s is answered with %s", async (type, outcome, expected) => {
  for (const controller of [greetings, plain]) {
    const call = callAt(now, { type, ...(type === "dev.drover.compose.v2" && { children: [] }) });
    const { body } = await handle(controller, signedMessage(call, call.token, scene), "/");
    expect(JSON.parse(body)).toMatchObject({ outcome: controller === greetings ? outcome : "parked" });
  }
  expect(ran).toEqual(expected);
});

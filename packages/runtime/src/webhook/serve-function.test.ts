import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { silentLog } from "@drover/controller";
import type { SentAnswer } from "@drover/webhook";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Admission, openAdmission } from "../http/admission.ts";
import type { WebhookRequest } from "./webhook-handler.ts";
import { here, loggedProcess } from "../process/logged-process.fixture.ts";
import { type PublicServer, servePublicly } from "../http/public-server.ts";
import { webhookApp } from "./serve-function.ts";

it("a process with invalid settings exits with 1, and logs every problem", async () => {
  const { code, logged } = await loggedProcess(`
    import { serveFunction, servedSettings } from "${here}../webhook/serve-function.ts";
    import { readSettings } from "${here}settings.ts";
    const settings = () => readSettings(servedSettings, { DROVER_HTTP_PORT: "x" });
    await serveFunction({ name: "test", settings, controller: () => process.exit(0) });`);
  expect(code).toBe(1);
  const all = /HTTP_PORT="x" cannot.*\n.*AUDIENCE is not set.*\n.*SECRETS is not set/;
  expect(logged).toHaveLength(2);
  // In any order: a line that is written at the exit may overtake an earlier one.
  for (const line of [
    { level: "fatal", process: "test", msg: expect.stringMatching(all) as unknown },
    { msg: "Stopped" },
  ]) {
    expect(logged).toContainEqual(expect.objectContaining(line));
  }
});

describe("a call", () => {
  let admission: Admission;
  let server: PublicServer;
  let answer: (request: WebhookRequest) => Promise<SentAnswer>;
  let errors: unknown[];
  const good = { status: 200, headers: {}, body: "good" };
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  beforeEach(async () => {
    errors = [];
    admission = openAdmission(() => performance.now());
    const log = { ...silentLog, error: (fields: object) => void errors.push(fields) };
    const app = webhookApp((taken) => answer(taken), log, admission);
    server = await servePublicly({ app, admission, host: "127.0.0.1", port: 0, settings: "" });
  });
  afterEach(async () => {
    agent.destroy();
    await server.close();
  });

  async function post(body: string | Buffer) {
    const options = { method: "POST", agent, headers: { "content-length": body.length } };
    const sent = request(server.url, options).end(body);
    const [reply] = (await once(sent, "response")) as [IncomingMessage];
    const { statusCode: status, headers } = reply;
    return { status, connection: headers.connection, body: await text(reply) };
  }

  it("that fails is answered with 500 without the reason, which is logged, and frees its place", async () => {
    answer = ({ onVerified }) => {
      onVerified?.();
      return Promise.reject(new Error("the reason"));
    };
    // The most calls that are answered at once.
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => post("{}")));
    for (const { status, body } of replies)
      expect([status, body]).toEqual([500, '{"error":"The call could not be answered."}']);
    expect(errors).toHaveLength(1_000);
    expect(errors[0]).toEqual({ err: new Error("the reason") });
    answer = () => Promise.resolve(good);
    expect(await post("{}")).toMatchObject({ status: 200, body: "good" });
    agent.destroy();
    await expect.poll(() => admission.held()).toEqual({ unverified: 0, verified: 0 });
  });

  it("that is too large is refused with the reason, not run, and closes its connection", async () => {
    const taken: number[] = [];
    answer = ({ body }) => {
      taken.push(body.length);
      return Promise.resolve(good);
    };
    const most = 2 * 2 ** 20;
    expect(await post(Buffer.alloc(most))).toMatchObject({ status: 200 });
    expect(await post(Buffer.alloc(most + 1))).toEqual({
      status: 413,
      connection: "close",
      body: `{"error":"The body may have at most ${most} bytes. Send a smaller one."}`,
    });
    expect(taken).toEqual([most]);
    expect(errors).toEqual([]);
    expect(admission.held()).toEqual({ unverified: 0, verified: 0 });
  });
});

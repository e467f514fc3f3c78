import { queueOf, silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import { audienceOf } from "./calls/call-function.ts";
import { greetings } from "./calls/calling.fixture.ts";
import { openGateway } from "./gateway.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import type { FunctionWorker, WorkingParts } from "./work-function.ts";

const functionOf = (name: string, revision: number): WebhookFunction => ({
  ...greetings,
  ...{ controller: name, queue: queueOf({ namespace: "web", name, uid: "u" }), revision },
});

it("a worker that does not stop keeps none from starting or stopping, and is not kept", async () => {
  const happened: string[] = [];
  const warnings: object[] = [];
  const work = (fn: WebhookFunction): FunctionWorker => {
    const words = `${fn.controller} ${fn.revision}`;
    happened.push(`${words} starts`);
    return {
      ...{
        fn,
        queue: { controller: fn.queue } as unknown as FunctionWorker["queue"],
        gone: new AbortController().signal,
      },
      secrets: {} as FunctionWorker["secrets"],
      async stop() {
        await Promise.resolve();
        if (words === "bad 1") throw new Error("closed");
        happened.push(`${words} has stopped`);
      },
    };
  };
  const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
  const gateway = openGateway({ ...({ log } as unknown as WorkingParts), grace: 1, work });
  const [bad, good] = [functionOf("bad", 1), functionOf("good", 1)];
  gateway.register([bad, good]);
  gateway.register([functionOf("bad", 2), functionOf("good", 2)]);
  await expect.poll(() => happened).toContain("good 1 has stopped");
  expect(warnings).toEqual([{ function: bad.queue, err: new Error("closed") }]);
  expect(gateway.queues().map(({ controller }) => controller)).toEqual([bad.queue, good.queue]);
  gateway.register([]);
  await gateway.close();
  expect(gateway.secretsOf(audienceOf(bad))).toBeUndefined();
  expect(happened).toEqual([
    ...["bad 1 starts", "good 1 starts", "bad 2 starts", "good 2 starts"],
    ...["good 1 has stopped", "bad 2 has stopped", "good 2 has stopped"],
  ]);
});

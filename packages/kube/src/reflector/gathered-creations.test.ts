import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { eventLog } from "../testing/event-log.ts";
import {
  bucketAt,
  pageReply,
  rawAdded,
  rawFrame,
  reflectorUnderTest,
} from "../testing/reflector-under-test.ts";
import { type ReplyScript, streams } from "../testing/scripted-server.ts";

/** A reflector that gathers creations for 50 ms; it has listed at version 7, and watches. */
async function gatheringReflector(...later: readonly ReplyScript[]) {
  const batches = eventLog();
  let batch = 0;
  const opened = Promise.withResolvers<ServerResponse>();
  const watch: ReplyScript = (request, response) => {
    streams()(request, response);
    opened.resolve(response);
  };
  const under = await reflectorUnderTest([pageReply("7", []), watch, ...later], {
    gatherCreated: 50,
    onEvents(events) {
      const number = ++batch;
      const one = eventLog();
      one.onEvents(events);
      batches.add(one.lines.map((line) => `${number}: ${line}`));
    },
  });
  const response = await opened.promise;
  const send = (frame: object): boolean => response.write(`${JSON.stringify(frame)}\n`);
  await batches.emitted("1: synced 7");
  return { ...under, batches, response, send };
}

it("creations in a burst are emitted together, up to the first other change", async () => {
  const { clock, batches, send } = await gatheringReflector();
  send(rawAdded("a", "8"));
  await batches.emitted("2: added a@8");
  send(rawAdded("b", "9"));
  await clock.waitFor("gathering");
  send(rawAdded("c", "10"));
  send(rawFrame("MODIFIED", bucketAt("a", "11")));
  await batches.emitted("3: modified a@11");
  expect(batches.lines.slice(2)).toEqual(["3: added b@9", "3: added c@10", "3: modified a@11"]);
});

it("a creation waits for others no longer than that time, and not at all after a pause", async () => {
  const { clock, batches, send } = await gatheringReflector();
  send(rawAdded("a", "8"));
  await batches.emitted("2: added a@8");
  send(rawAdded("b", "9"));
  await clock.waitFor("gathering");
  clock.advance(50);
  await batches.emitted("3: added b@9");
  clock.advance(51);
  send(rawAdded("c", "10"));
  await batches.emitted("4: added c@10");
});

it("what was gathered is emitted when the watch ends, and the next one continues after it", async () => {
  const { clock, batches, send, response, server, sitOut } = await gatheringReflector(
    streams(rawAdded("c", "10")),
  );
  send(rawAdded("a", "8"));
  await batches.emitted("2: added a@8");
  send(rawAdded("b", "9"));
  await clock.waitFor("gathering");
  response.end();
  await batches.emitted("3: added b@9");
  await sitOut();
  await batches.emitted("4: added c@10");
  expect(server.requests.at(-1)?.query.get("resourceVersion")).toBe("9");
});

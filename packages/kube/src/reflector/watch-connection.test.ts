import { VirtualTimers } from "@drover/timers";
import { expect, test } from "vitest";
import { bucketAt, rawFrame } from "../testing/reflector-under-test.ts";
import { bucketRef } from "../testing/objects.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { streams } from "../testing/scripted-server.ts";
import { watchConnection } from "./watch-connection.ts";

test("closing a watch with unread frames ends its connection to the server", async () => {
  const ended = Promise.withResolvers<undefined>();
  const { client } = await scriptedClient((request, response) => {
    response.once("close", () => ended.resolve(undefined));
    // More than the socket buffers: the server blocks.
    const unread = Array.from({ length: 20 }, (_, i) =>
      rawFrame("ADDED", { ...bucketAt(`b${i}`, `${9 + i}`), spec: "x".repeat(2 ** 20) }),
    );
    streams(rawFrame("ADDED", bucketAt("a", "8")), ...unread)(request, response);
  });
  const watch = { resourceVersion: "7", signal: new AbortController().signal };
  const connection = watchConnection({
    client,
    ref: bucketRef,
    watch,
    timers: new VirtualTimers(),
    silence: 60_000,
    onActivity: () => undefined,
  });
  expect(await connection.open()).toMatchObject({ type: "opened" });
  expect(await connection.read()).toMatchObject({ type: "frames" });
  connection.close();
  await ended.promise;
});

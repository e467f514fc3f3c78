import { VirtualTimers } from "@drover/timers";
import { expect, test } from "vitest";
import { connect } from "../client/connect.ts";
import { bucketAt, rawFrame } from "../testing/reflector-under-test.ts";
import { bucketRef } from "../testing/objects.ts";
import { scriptedServer, streams } from "../testing/scripted-server.ts";
import { watchConnection } from "./watch-connection.ts";

test("closing a watch of which frames are unread ends its connection to the server", async () => {
  const ended = Promise.withResolvers<undefined>();
  await using server = await scriptedServer((heard, response) => {
    response.once("close", () => ended.resolve(undefined));
    // More than sockets hold: the server waits to be read.
    const unread = Array.from({ length: 20 }, (_, i) =>
      rawFrame("ADDED", { ...bucketAt(`b${i}`, `${9 + i}`), spec: "x".repeat(2 ** 20) }),
    );
    streams(rawFrame("ADDED", bucketAt("a", "8")), ...unread)(heard, response);
  });
  const client = await connect({ kubeconfig: server.kubeconfig });
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
  await client.close();
});

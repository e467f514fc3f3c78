import { VirtualTimers } from "@drover/timers";
import { expect, it } from "vitest";
import { clusterReconnectOptions, reconnectOptions } from "./reconnect-options.ts";

const connection = { clientName: "test", socketTimeout: 1_000 };
const replyError = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });
const readOnly = replyError("READONLY You can't write against a read only replica.");

it.each([
  ["one server", (attempt: number) => reconnectOptions(connection).retryStrategy(attempt)],
  ["a cluster", (attempt: number) => clusterReconnectOptions(connection).clusterRetryStrategy(attempt)],
])("%s that is away is asked for soon, and then twice a second, for ever", (_, after) => {
  const pauses = [1, 2, 5, 10, 100, 100_000].map((attempt) => after(attempt));
  expect(pauses).toEqual([50, 100, 250, 500, 500, 500]);
});

it("an address that does not answer is given up long before ioredis does by default, after 10 s", () => {
  const { redisOptions } = clusterReconnectOptions(connection);
  expect([reconnectOptions(connection).connectTimeout, redisOptions.connectTimeout]).toEqual([3_000, 3_000]);
});

it("a server that was demoted is asked less and less often, and soon again once it takes writes", () => {
  const clock = new VirtualTimers();
  const options = reconnectOptions(connection, clock);
  const pauses: number[] = [];
  for (let i = 0; i < 15; i++) {
    expect(options.reconnectOnError(readOnly)).toBe(2);
    pauses.push(options.retryStrategy(1)); // a replica takes connections: each is the first attempt
    clock.advance(pauses.at(-1) ?? 0);
  }
  expect(pauses.slice(0, 4)).toEqual([50, 100, 150, 200]);
  expect(Math.max(...pauses)).toBe(500);
  clock.advance(2_000);
  expect(options.retryStrategy(1)).toBe(50);
});

it.each([
  ["READONLY You can't write against a read only replica.", 2],
  ["LOADING Redis is loading the dataset in memory", 2],
  ["MASTERDOWN Link with MASTER is down", 2],
  ["UNBLOCKED force unblock from blocking operation", 2],
  ["OOM command not allowed when used memory > 'maxmemory'.", false],
  ["NOPERM this user has no permissions", false],
  ["ERR unknown command 'x'", false],
])("a command that met %j is sent again over a new connection, or refused: %s", (message, outcome) => {
  expect(reconnectOptions(connection).reconnectOnError(replyError(message))).toBe(outcome);
  const { redisOptions } = clusterReconnectOptions(connection);
  expect(redisOptions.reconnectOnError(replyError(message))).toBe(outcome);
});

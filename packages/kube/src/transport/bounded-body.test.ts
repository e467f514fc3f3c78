import { expect, it } from "vitest";
import { readBounded } from "./bounded-body.ts";
import { ConnectionError, MalformedReplyError } from "../errors.ts";
import type { StreamReply } from "./transport.ts";

/** A reply whose body comes in these parts, and breaks off where one is an error. */
function replyOf(...parts: readonly (string | Error)[]) {
  let isDestroyed = false;
  async function* body() {
    for (const part of parts) {
      if (part instanceof Error) throw part;
      yield await Promise.resolve(Buffer.from(part));
    }
  }
  const reply = {
    request: "GET /x",
    body: Object.assign(body(), { destroy: () => (isDestroyed = true) }),
  } as unknown as StreamReply;
  return { reply, isDestroyed: () => isDestroyed };
}

it("reads a body that has as many bytes as it may have", async () => {
  const { reply, isDestroyed } = replyOf("ab", "", "cd");
  expect(Buffer.from(await readBounded(reply, 4)).toString()).toBe("abcd");
  expect(isDestroyed()).toBe(false);
});

it("reads no more of a body with a byte more", async () => {
  const { reply, isDestroyed } = replyOf("ab", "cde", "never read");
  const error: unknown = await readBounded(reply, 4).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(MalformedReplyError);
  expect(String(error)).toContain("more than 4 bytes");
  expect(isDestroyed()).toBe(true);
});

it("a body that breaks off is an error of the connection", async () => {
  const { reply, isDestroyed } = replyOf("ab", new Error("reset"));
  await expect(readBounded(reply, 4)).rejects.toBeInstanceOf(ConnectionError);
  expect(isDestroyed()).toBe(true);
});

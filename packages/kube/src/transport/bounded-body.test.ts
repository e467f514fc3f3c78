import { expect, it } from "vitest";
import { readBounded } from "./bounded-body.ts";
import { ConnectionError, MalformedReplyError } from "../errors.ts";
import type { StreamReply } from "./transport.ts";

/** A reply with a body of these parts, which fails at an error. */
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

it("reads a body of exactly the limit", async () => {
  const { reply, isDestroyed } = replyOf("ab", "", "cd");
  expect(Buffer.from(await readBounded(reply, 4)).toString()).toBe("abcd");
  expect(isDestroyed()).toBe(false);
});

it("stops reading a body that is one byte larger", async () => {
  const { reply, isDestroyed } = replyOf("ab", "cde", "never read");
  const error: unknown = await readBounded(reply, 4).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(MalformedReplyError);
  expect(String(error)).toContain("more than 4 bytes");
  expect(isDestroyed()).toBe(true);
});

it("an interrupted body is a connection error", async () => {
  const { reply, isDestroyed } = replyOf("ab", new Error("reset"));
  await expect(readBounded(reply, 4)).rejects.toBeInstanceOf(ConnectionError);
  expect(isDestroyed()).toBe(true);
});

import { signMessage } from "@drover/webhook";
import { expect, it, vi } from "vitest";
import { otherSecret, secret } from "./calling.fixture.ts";
import { receiveAnswer } from "./receive-answer.ts";

const now = 1_800_000_000_000;
const text = '{"outcome":"done","account":"a"}';

function receive(headers: Readonly<Record<string, string | string[]>>, newer: readonly string[] | undefined) {
  const newerThan = vi.fn(() => Promise.resolve(newer));
  const answer = receiveAnswer({
    id: "call-1",
    used: [secret],
    now: () => now,
    reply: { status: 200, headers, body: Buffer.from(text) },
    secrets: { current: () => Promise.resolve([secret]), newerThan },
  });
  return { answer, newerThan };
}
const signedWith = (by: string) => ({ ...signMessage([by], { id: "call-1", at: now }, text) });

it("takes an answer that is signed as the call was, without reading the Secret again", async () => {
  const { answer, newerThan } = receive(signedWith(secret), undefined);
  expect(await answer).toMatchObject({ outcome: "done", account: "a" });
  expect(newerThan).not.toHaveBeenCalled();
});

it("reads the Secret again for an answer that another one has signed", async () => {
  const { answer, newerThan } = receive(signedWith(otherSecret), [otherSecret]);
  expect(await answer).toMatchObject({ outcome: "done", account: "a" });
  expect(newerThan).toHaveBeenCalledExactlyOnceWith([secret]);
});

it.each([
  ["which has none that fits", [secret]],
  ["which has been read a moment ago", undefined],
])("refuses what another one has signed after a look into the Secret, %s", async (_, newer) => {
  const { answer, newerThan } = receive(signedWith(otherSecret), newer);
  await expect(answer).rejects.toMatchObject({ name: "RetryError", reason: "Unsigned" });
  expect(newerThan).toHaveBeenCalledTimes(1);
});

it("does not read the Secret for an answer without a signature: a stranger could have it read at will", async () => {
  const { "webhook-signature": _, ...headers } = signedWith(secret) as Record<string, string>;
  const { answer, newerThan } = receive(headers, [otherSecret]);
  await expect(answer).rejects.toMatchObject({ name: "RetryError" });
  expect(newerThan).not.toHaveBeenCalled();
});

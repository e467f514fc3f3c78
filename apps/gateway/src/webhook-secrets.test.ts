import { RetryError } from "@drover/controller";
import { expect, it } from "vitest";
import { greetings } from "../../../packages/calls/src/calling.fixture.ts";
import { readWebhookSecrets } from "./webhook-secrets.ts";

const secret = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString("base64")}`;

it("the current secret comes first, and the one of before while there is one", async () => {
  const [current, previous] = [1, 2].map((byte) => Buffer.from(`${secret(byte)}\n`).toString("base64"));
  const asked: string[] = [];
  const read = (data: object) =>
    readWebhookSecrets(
      { get: (_ref, key) => (asked.push(key), Promise.resolve({ data } as never)) },
      greetings,
    );
  expect(await read({ previous, current })).toEqual([secret(1), secret(2)]);
  expect(await read({ current, other: previous })).toEqual([secret(1)]);
  expect(asked).toEqual(["web/greetings-webhook", "web/greetings-webhook"]);
});

it.each([
  ["is not there", undefined, /has no key current\. Create it/],
  [
    "has a key that is no secret",
    { data: { current: "YWJj" } },
    /The key current of the Secret web\/.* Give another/,
  ],
  [
    "has only the secret of before",
    { data: { previous: Buffer.from(secret(1)).toString("base64") } },
    /has no key current\. Create it/,
  ],
])("a Secret that %s is a reason to try again, by name and without its value", async (_, secret, problem) => {
  const client = { get: () => Promise.resolve(secret as never) };
  const error: unknown = await readWebhookSecrets(client, greetings).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RetryError);
  expect(error).toMatchObject({ reason: "NoSecret", message: expect.stringMatching(problem) as string });
  expect(String(error)).not.toMatch(/abc|YWJj/);
});

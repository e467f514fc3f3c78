import { RetryError } from "@drover/controller";
import { expect, it } from "vitest";
import { webhookSecrets } from "./webhook-secrets.ts";

it.each([
  ["is not there", undefined, /has no key current\. Create it/],
  [
    "has a key that is no secret",
    { data: { current: "YWJj" } },
    /The key current of the Secret web\/.* Give another/,
  ],
])("a Secret that %s is a reason to try again, by name and without its value", async (_, secret, says) => {
  const client = { get: () => Promise.resolve(secret as never) };
  const error: unknown = await webhookSecrets(client, { namespace: "web", controller: "greetings" }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RetryError);
  expect(error).toMatchObject({ reason: "NoSecret", message: expect.stringMatching(says) as string });
  expect(String(error)).not.toMatch(/abc|YWJj/);
});

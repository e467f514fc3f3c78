import { expect, it } from "vitest";
import { unsignedError } from "./interpret.ts";

it.each([
  [400, /it may be of version 1 of the contract/],
  [401, /compare the secrets and the clocks/],
  [421, /compare its audience with the function's namespace, name and uid/],
])("the error for an unsigned answer %d names what to look at", (status, advice) => {
  const { message, reason } = unsignedError(status, "it has no webhook-signature");
  expect([reason, message]).toEqual(["Unsigned", expect.stringMatching(advice)]);
});

it.each([200, 404, 500])("the error for an unsigned answer %d names what to sign", (status) => {
  expect(unsignedError(status, "it has no webhook-signature").message).toBe(
    `The function's answer, HTTP ${status}, is not signed: it has no webhook-signature. Sign its body with the secret of ` +
      "the call, under the call's webhook-id.",
  );
});

it("a redirect is not followed, and is reported", () => {
  expect(unsignedError(302, "it has no webhook-signature")).toMatchObject({
    reason: "Redirected",
    message: expect.stringContaining("Name the address itself in spec.webhook") as string,
  });
});

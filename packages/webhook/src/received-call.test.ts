import { expect, it } from "vitest";
import { receiveCall } from "./received-call.ts";
import { readSignatureHeaders, signMessage } from "./standard-webhooks.ts";

const [secret = "", other = ""] = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`);
const audience = { name: "web/greetings", uid: "f-1" };

/** Receives a body that is not a call, signed with a secret. */
function receive(signedWith: string): unknown {
  const body = Buffer.from("{ not JSON");
  const signed: Readonly<Record<string, string>> = signMessage([signedWith], { id: "t", at: 0 }, body);
  const headers = readSignatureHeaders((name) => signed[name]);
  return receiveCall({ headers, body, secrets: [secret], audience, now: 0 });
}

it("a call is verified before it is parsed", () => {
  expect(() => receive(other)).toThrow(expect.objectContaining({ refusal: "unverified" }));
  expect(() => receive(secret)).toThrow(expect.objectContaining({ refusal: "malformed" }));
});

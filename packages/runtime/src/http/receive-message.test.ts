import { MessageRefusedError, parseSignatureClaim, readSignatureHeaders, signMessage } from "@drover/webhook";
import { expect, it } from "vitest";
import { refusalResponse, refuseForm, verifyMessage } from "./receive-message.ts";

it.each([
  [{ "content-encoding": "gzip" }, /compressed/],
  [{ "content-encoding": "br" }, /compressed/],
  [{ "content-encoding": "identity, gzip" }, /compressed/],
  [{ "content-length": "101" }, /at most 100 bytes/],
])("a message with the headers %j is refused before its body is read", (headers, message) => {
  expect(() => refuseForm({ headers: { ...headers } }, 100)).toThrow(message);
});

it.each([{}, { "content-encoding": "Identity" }, { "content-length": "100" }])(
  "a message with the headers %j is read",
  (headers) => {
    expect(() => refuseForm({ headers: { ...headers } }, 100)).not.toThrow();
  },
);

it.each([
  ["unverified", 401, { "www-authenticate": "Webhook" }],
  ["malformed", 400, {}],
  ["expired", 408, {}],
  ["not held", 409, {}],
  ["too large", 413, {}],
  ["unsupported", 415, {}],
  ["misdirected", 421, {}],
  ["too many keys", 422, {}],
  ["throttled", 429, { "retry-after": "1" }],
  ["unavailable", 503, { "retry-after": "5" }],
] as const)(
  "the refusal %s is answered with %i and the message, without the reason",
  async (refusal, status, headers) => {
    const refused = new MessageRefusedError(refusal, "Send another.", "the reason");
    const response = refusalResponse({ complete: true }, refused);
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "application/json", ...headers });
    expect(await response.json()).toEqual({ error: "Send another." });
  },
);

it("a refusal ends the connection if the body was not read to its end", () => {
  const refused = new MessageRefusedError("unavailable", "Send it again.");
  const { headers } = refusalResponse({ complete: false }, refused, { unavailable: 1 });
  expect([headers.get("connection"), headers.get("retry-after")]).toEqual(["close", "1"]);
});

it("the wait for newer secrets ends when the connection closes, and the body is released", async () => {
  const [used, other] = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`);
  const headers: Readonly<Record<string, string>> = signMessage([other ?? ""], { id: "m", at: 0 }, "{}");
  const connection = new AbortController();
  const verified = verifyMessage({
    claim: parseSignatureClaim(
      readSignatureHeaders((name) => headers[name]),
      0,
    ),
    secrets: {
      current: () => Promise.resolve([used ?? ""]),
      newerThan: () => (connection.abort(new Error("closed")), new Promise(() => undefined)),
    },
    body: {
      read: () => Promise.resolve(Buffer.from("{}")),
      signal: connection.signal,
      verified: () => expect.unreachable("The message is not verified."),
    },
  });
  await expect(verified).rejects.toMatchObject({ refusal: "unavailable" });
});

import { cacheSecrets, signMessage } from "@drover/webhook";
import type { Sent } from "./sent.ts";

export const now = Date.parse("2026-01-01T00:00:00Z");
export const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
export const othersSecret = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;
export const audience = { name: "web/greetings", uid: "f-1" };
export const neighbour = { name: "web/others", uid: "f-2" };
export const longAgo = now - 301_000;

export const remembered = (one: string) =>
  cacheSecrets(
    () => Promise.resolve([one]),
    () => 0,
    60_000,
  );
export const send = (body: object, id: string, by = secret, at = now): Sent => {
  const text = Buffer.from(JSON.stringify(body));
  return { headers: signMessage([by], { id, at }, text), body: text };
};
export const claimed = ({ headers }: Sent) => ({
  id: headers["webhook-id"],
  timestamp: headers["webhook-timestamp"],
  signature: headers["webhook-signature"],
});

/** By Standard Webhooks several signatures may stand beside each other, with blanks between. */
export const standard = {
  signedHeaders: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  isBodySigned: true,
  canonical({ headers, body }: Sent): string {
    const signatures = (headers["webhook-signature"] ?? "").split(" ").filter((one) => one !== "");
    return JSON.stringify([
      ...[headers["webhook-id"], headers["webhook-timestamp"]],
      ...[signatures.toSorted()[0], body.toString("latin1")],
    ]);
  },
} as const;

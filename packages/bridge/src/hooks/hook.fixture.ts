import { type HookDeclaration, ReconcileFunction } from "@drover/controller";
import { createHmac } from "node:crypto";
import { type Hook, hooksOf } from "./hook.ts";
import { sentHeaders } from "./verification/sent-headers.ts";

/** The secret of the specification's example: 24 bytes. */
export const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const otherWhsec = `whsec_${Buffer.from("another secret of 24 bytes and more").toString("base64")}`;

export const secretRef = { name: "hooks", key: "s3" };
const kind = { group: "example.com", version: "v1", kind: "Site", plural: "sites", scope: "Namespaced" };
/** A hook as a function in the namespace `web` would declare it. */
export const declaredHook: object = {
  name: "s3",
  verify: { standardWebhooks: { secretRef } },
  names: { field: "Records[].name" },
};

/** The hooks that a spec declares. If `home` is null, the spec is from a file. */
export function hooksIn(
  hooks: readonly object[],
  { home = "web", own = {} }: { home?: string | null; own?: object } = {},
): readonly Hook[] {
  const spec = ReconcileFunction.spec.parse({ for: { ...kind, ...own }, hooks });
  return hooksOf(spec, home === null ? { name: "sites" } : { namespace: home, name: "sites", uid: "u" });
}

export const hookOf = (
  more: Partial<HookDeclaration> | object = {},
  where: Parameters<typeof hooksIn>[1] = {},
): Hook => {
  const [hook] = hooksIn([{ ...declaredHook, ...more }], where);
  if (hook === undefined) throw new Error("No hook is declared.");
  return hook;
};

export const headersOf = (headers: Readonly<Record<string, string>>) =>
  sentHeaders(Object.entries(headers).flat());

/** The headers of a signed event; default time: now. */
export function signedHeaders(
  body: string,
  { secret = whsec, id = "msg_1", at = Date.now() }: { secret?: string; id?: string; at?: number } = {},
) {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${id}.${timestamp}.${body}`)
    .digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

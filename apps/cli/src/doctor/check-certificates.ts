import { objectKey } from "@drover/controller";
import { builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { X509Certificate } from "node:crypto";
import { z } from "zod";
import type { Finding } from "./finding.ts";

const help = "See the deployer's log, and docs/operating-redis.md, The Redis of an installation.";

/** The objects with the certificates of an installation's Redis, as the deployer makes them, or its user. */
const holders = [
  { ref: builtin.secret, name: "valkey-tls", key: "tls.crt", what: "the server's certificate" },
  { ref: builtin.configMap, name: "redis-ca", key: "ca.crt", what: "the authority's certificate" },
] as const;

/** The certificates of an installation's Redis that end soon, or have ended. None if it has a Redis elsewhere. */
export async function checkCertificates(
  client: KubeClient,
  namespace: string,
  now: number,
): Promise<readonly Finding[]> {
  const checks = holders.map(async ({ ref, name, key, what }) => {
    const pem = await valueIn(client, ref, { namespace, name, key });
    return pem === undefined
      ? []
      : [checkCertificate(pem, { subject: `${ref.kind} ${namespace}/${name}`, what, now })];
  });
  return (await Promise.all(checks)).flat();
}

interface CertificateToCheck {
  readonly subject: string;
  readonly what: string;
  /** Wall clock, ms. */
  readonly now: number;
}

/**
 * A certificate should have been renewed at two thirds of its life. A warning when a quarter of it is left.
 *
 * @param pem of several certificates, the first one counts: the deployer writes that of the present authority first.
 */
function checkCertificate(pem: string, { subject, what, now }: CertificateToCheck): Finding {
  const certificate = readCertificate(pem);
  if (certificate === undefined)
    return { level: "problem", subject, message: `${what} cannot be read.`, next: help };
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const end = certificate.validToDate.toISOString().slice(0, 10);
  if (now > to) return { level: "problem", subject, message: `${what} ended on ${end}.`, next: help };
  if (now > to - (to - from) / 4) {
    const message = `${what} ends on ${end}, and should have been renewed by now.`;
    return { level: "warning", subject, message, next: help };
  }
  return { level: "ok", subject, message: `${what} is valid until ${end}` };
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such object; empty if it lacks the key. */
async function valueIn(
  client: KubeClient,
  ref: ResourceRef,
  { namespace, name, key }: { readonly namespace: string; readonly name: string; readonly key: string },
): Promise<string | undefined> {
  const object = await client.get(ref, objectKey({ namespace, name }));
  if (object === undefined) return undefined;
  const value = z.looseObject({ data: z.looseObject({ [key]: z.string() }) }).safeParse(object).data?.data[
    key
  ];
  return ref.kind === "Secret" ? Buffer.from(value ?? "", "base64").toString() : (value ?? "");
}

import { objectKey } from "@drover/controller";
import { builtin, type KubeClient, readSecret } from "@drover/kube";
import { X509Certificate } from "node:crypto";
import { z } from "zod";
import type { Finding } from "./finding.ts";

/** The certificates of an installation's Redis that end soon, or have ended. None if it has a Redis elsewhere. */
export async function checkCertificates(
  client: KubeClient,
  namespace: string,
  now: number,
): Promise<readonly Finding[]> {
  const secret = await readSecret(client, objectKey({ namespace, name: "valkey-tls" }), {});
  const configMap = await client.get(builtin.configMap, objectKey({ namespace, name: "redis-ca" }));
  const server = { subject: `Secret ${namespace}/valkey-tls`, what: "the server's certificate" };
  const authority = { subject: `ConfigMap ${namespace}/redis-ca`, what: "the authority's certificate" };
  return [
    ...(secret === undefined ? [] : [checkCertificate(secret["tls.crt"], { ...server, now })]),
    ...(configMap === undefined ? [] : [checkCertificate(authorityIn(configMap), { ...authority, now })]),
  ];
}

const configMapSchema = z.looseObject({ data: z.record(z.string(), z.string()).default({}) });
const authorityIn = (configMap: unknown): string | undefined =>
  configMapSchema.parse(configMap).data["ca.crt"];

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
function checkCertificate(pem = "", { subject, what, now }: CertificateToCheck): Finding {
  const next = "See the deployer's log, and docs/operating-redis.md, The Redis of an installation.";
  const certificate = readCertificate(pem);
  if (certificate === undefined)
    return { level: "problem", subject, message: `${what} cannot be read.`, next };
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const end = certificate.validToDate.toISOString().slice(0, 10);
  if (now > to) return { level: "problem", subject, message: `${what} ended on ${end}.`, next };
  if (now <= to - (to - from) / 4) return { level: "ok", subject, message: `${what} is valid until ${end}` };
  const message = `${what} ends on ${end}, and should have been renewed by now.`;
  return { level: "warning", subject, message, next };
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

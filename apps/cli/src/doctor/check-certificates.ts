import { objectKey } from "@drover/controller";
import { builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { type Finding, unlessForbidden } from "./finding.ts";

/**
 * The certificates that the deployer has made for the Redis of an installation, and that end soon or have ended. None if there
 * are others: their owner renews them.
 */
export async function checkCertificates(
  client: KubeClient,
  namespace: string,
  now: number,
): Promise<readonly Finding[]> {
  const subjectOf = ({ ref, name }: CertificateObject): string => `${ref.kind} ${namespace}/${name}`;
  const checked = async (one: CertificateObject): Promise<readonly Finding[]> => {
    const { ref, name, key, what } = one;
    const object = await client.get(ref, objectKey({ namespace, name }));
    if (object?.metadata.labels?.["app.kubernetes.io/managed-by"] !== "drover-deployer") return [];
    const { [key]: value = "" } = dataSchema.parse(object).data;
    const pem = ref.kind === "Secret" ? Buffer.from(value, "base64").toString() : value;
    return [checkCertificate(pem, { subject: subjectOf(one), what, now })];
  };
  const findings = certificates.map((one) => unlessForbidden(subjectOf(one), () => checked(one)));
  return (await Promise.all(findings)).flat();
}

interface CertificateObject {
  readonly ref: ResourceRef;
  readonly name: string;
  readonly key: string;
  readonly what: string;
}

const certificates: readonly CertificateObject[] = [
  { ref: builtin.secret, name: "valkey-tls", key: "tls.crt", what: "the server's certificate" },
  { ref: builtin.configMap, name: "redis-ca", key: "ca.crt", what: "the authority's certificate" },
];
const dataSchema = z.looseObject({ data: z.record(z.string(), z.string()).default({}) });

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
  const next =
    "See the deployer's log, and docs/operating-redis.md, The Redis of an installation. If the installation has another Redis by " +
    "now, delete this object.";
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

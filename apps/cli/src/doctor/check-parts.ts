import type { KubeClient } from "@drover/kube";
import { absenceMessage, leaseOf, type Part, versionOf } from "@drover/runtime";
import { findAbsentParts } from "../find-absent-parts.ts";
import { version as ownVersion } from "../package/version.ts";
import { type Finding, permissionAdvice } from "./finding.ts";

const subject = "parts";

export interface PartsToCheck {
  /** The namespace in which Drover is installed. */
  readonly namespace: string;
  /** True if a function is called over HTTP, and so needs the gateway. */
  readonly isCalled: boolean;
}

/** Which of the parts that functions need do not run, or run in another version than the rest. */
export async function checkParts(
  client: KubeClient,
  { namespace, isCalled }: PartsToCheck,
): Promise<readonly Finding[]> {
  const parts: readonly Part[] = ["bridge", "deployer", ...(isCalled ? (["gateway"] as const) : [])];
  const absent = await findAbsentParts(client, { namespace, parts });
  if (absent === undefined) {
    const message = `You may not read Leases in the namespace ${namespace}, so it is not known which parts run.`;
    return [{ level: "unknown", subject, message, next: permissionAdvice }];
  }
  const versions = new Map<Part, string>();
  for (const part of parts) {
    const lease = await leaseOf(client, { namespace, part });
    if (lease !== undefined && !absent.some((one) => one.part === part))
      versions.set(part, versionOf(lease) ?? "a version that does not state itself");
  }
  return [
    ...absent.map((one): Finding => ({ level: "problem", subject, message: absenceMessage(one) })),
    ...(versions.size === 0 ? [] : [compareVersions(versions)]),
  ];
}

/** Compares the versions of the parts with each other, and with that of this command. */
function compareVersions(versions: ReadonlyMap<Part, string>): Finding {
  const [common, ...others] = new Set(versions.values());
  const named = [...versions].map(([part, version]) => `${part} ${version}`).join(", ");
  if (others.length > 0) {
    const message = `They run in different versions: ${named}.`;
    const next = "If no upgrade is in progress: helm upgrade. See docs/versioning.md.";
    return { level: "warning", subject, message, next };
  }
  if (common !== ownVersion) {
    const message = `They run in ${common}, and this command is ${ownVersion}.`;
    return { level: "warning", subject, message, next: "Install the version of drover that the parts have." };
  }
  return { level: "ok", subject, message: `${[...versions.keys()].join(", ")} run in ${common}` };
}

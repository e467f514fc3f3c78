import type { KubeClient } from "@drover/kube";
import { absenceMessage } from "@drover/runtime";
import { version as ownVersion } from "../package/version.ts";
import { type PartVersion, partVersions } from "../part-versions.ts";
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
  const found = await partVersions(client, { namespace, isCalled });
  if (found === undefined) {
    const message = `You may not read Leases in the namespace ${namespace}, so it is not known which parts run.`;
    return [{ level: "unknown", subject, message, next: permissionAdvice }];
  }
  const { absent, running } = found;
  return [
    ...absent.map((one): Finding => ({ level: "problem", subject, message: absenceMessage(one) })),
    ...(running.length === 0 ? [] : [compareVersions(running)]),
  ];
}

/** Compares the versions of the parts with each other, and with that of this command. */
function compareVersions(versions: readonly PartVersion[]): Finding {
  const [common, ...others] = new Set(versions.map(({ version }) => version));
  if (others.length > 0) {
    const named = versions.map(({ part, version }) => `${part} ${version}`).join(", ");
    const message = `They run in different versions: ${named}.`;
    const next = "If no upgrade is in progress: helm upgrade. See docs/versioning.md.";
    return { level: "warning", subject, message, next };
  }
  if (common !== ownVersion) {
    const message = `They run in ${common}, and this command is ${ownVersion}.`;
    return { level: "warning", subject, message, next: "Install the version of drover that the parts have." };
  }
  return { level: "ok", subject, message: `${versions.map(({ part }) => part).join(", ")} run in ${common}` };
}

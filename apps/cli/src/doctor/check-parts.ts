import type { KubeClient } from "@drover/kube";
import { absenceMessage, type Part } from "@drover/runtime";
import { findAbsentParts } from "../find-absent-parts.ts";
import { type Finding, permissionAdvice } from "./finding.ts";

export interface PartsToCheck {
  /** The namespace in which Drover is installed. */
  readonly namespace: string;
  /** True if a function is called over HTTP, and so needs the gateway. */
  readonly isCalled: boolean;
}

/** Which of the parts that functions need do not run. */
export async function checkParts(
  client: KubeClient,
  { namespace, isCalled }: PartsToCheck,
): Promise<readonly Finding[]> {
  const subject = "parts";
  const parts: readonly Part[] = ["bridge", "deployer", ...(isCalled ? (["gateway"] as const) : [])];
  const absent = await findAbsentParts(client, { namespace, parts });
  if (absent === undefined) {
    const message = `You may not read Leases in the namespace ${namespace}, so it is not known which parts run.`;
    return [{ level: "unknown", subject, message, next: permissionAdvice }];
  }
  if (absent.length === 0) return [{ level: "ok", subject, message: `${parts.join(", ")} run` }];
  return absent.map((one) => ({ level: "problem", subject, message: absenceMessage(one) }));
}

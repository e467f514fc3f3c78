import type { KubeClient } from "@drover/kube";
import { absenceMessage, type Part } from "@drover/runtime";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { findAbsentParts } from "../find-absent-parts.ts";
import { checkApiServer, checkPolicies, isInstalled } from "./check-api-server.ts";
import { checkFinalizers } from "./check-finalizers.ts";
import { checkFunction } from "./check-functions.ts";
import { checkRedis } from "./check-redis.ts";
import { type Finding, permissionAdvice, unlessForbidden } from "./finding.ts";

export interface DoctorOptions {
  /** Undefined: Redis is not checked. */
  readonly redis: string | undefined;
  /** The namespace in which Drover is installed. */
  readonly droverNamespace: string;
  /** Wall clock, ms. Default: now. */
  readonly now?: number;
}

/** All checks of an installation, in the order in which faults should be repaired. */
export async function examine(
  client: KubeClient,
  { redis, droverNamespace, now = Date.now() }: DoctorOptions,
): Promise<readonly Finding[]> {
  const server = await unlessForbidden("API server", () => checkApiServer(client));
  if (!(await isInstalled(client))) {
    const next = "Install it: docs/deploying-functions.md.";
    return [
      ...server,
      { level: "problem", subject: "Drover", message: "It is not installed in this cluster.", next },
    ];
  }
  let functions: readonly DeployedFunction[] = [];
  const reading = await unlessForbidden("functions", async () => {
    functions = await deployedFunctions(client, undefined);
    return [];
  });
  const checks: Readonly<Record<string, () => Promise<readonly Finding[]>>> = {
    "admission policies": () => checkPolicies(client),
    parts: () => checkParts(client, functions, droverNamespace),
    Redis: async () => (redis === undefined ? [] : checkRedis(redis)),
    functions: () => Promise.resolve(functions.flatMap((one) => checkFunction(one, now))),
    finalizers: () => checkFinalizers(client, functions, now),
  };
  const found = [...server, ...reading];
  for (const [subject, check] of Object.entries(checks))
    found.push(...(await unlessForbidden(subject, check)));
  return found;
}

async function checkParts(
  client: KubeClient,
  functions: readonly DeployedFunction[],
  namespace: string,
): Promise<readonly Finding[]> {
  const subject = "parts";
  const isCalled = functions.some(({ spec }) => spec?.delivery === "webhook");
  const parts: readonly Part[] = ["bridge", "deployer", ...(isCalled ? (["gateway"] as const) : [])];
  const absent = await findAbsentParts(client, { namespace, parts });
  if (absent === undefined) {
    const message = `You may not read Leases in the namespace ${namespace}, so it is not known which parts run.`;
    return [{ level: "unknown", subject, message, next: permissionAdvice }];
  }
  if (absent.length === 0) return [{ level: "ok", subject, message: `${parts.join(", ")} run` }];
  return absent.map((one) => ({ level: "problem", subject, message: absenceMessage(one) }));
}

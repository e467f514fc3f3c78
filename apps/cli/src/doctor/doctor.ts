import type { KubeClient } from "@drover/kube";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { checkApiServer, checkPolicies, isInstalled } from "./check-api-server.ts";
import { checkCertificates } from "./check-certificates.ts";
import { checkFinalizers } from "./check-finalizers.ts";
import { checkFunction } from "./check-functions.ts";
import { checkParts } from "./check-parts.ts";
import { checkRedis } from "./check-redis.ts";
import { type Finding, unlessForbidden } from "./finding.ts";

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
    parts: () => {
      const isCalled = functions.some(({ spec }) => spec?.delivery === "webhook");
      return checkParts(client, { namespace: droverNamespace, isCalled });
    },
    Redis: async () => (redis === undefined ? [] : checkRedis(redis)),
    certificates: () => checkCertificates(client, droverNamespace, now),
    functions: () => Promise.resolve(functions.flatMap((one) => checkFunction(one, now))),
    finalizers: () => checkFinalizers(client, functions, now),
  };
  const found = [...server, ...reading];
  for (const [subject, check] of Object.entries(checks))
    found.push(...(await unlessForbidden(subject, check)));
  return found;
}

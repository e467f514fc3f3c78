import type { ProcessSettings } from "../process/function-settings.ts";
import type { PartSettings } from "../parts/part-settings.ts";
import type { Process } from "../process/run-process.ts";
import { openTenantRedis, tenantMetrics, type TenantRedis } from "./tenant-redis.ts";
import { type ReservedForDrover, refuseReserved } from "./tenants-file.ts";

export interface ServeTenantsOptions extends Omit<ReservedForDrover, "redisUrl"> {
  /** The client's name in `CLIENT LIST`. */
  readonly name: string;
  readonly loadsScripts: boolean;
  readonly recordScriptsAs?: string;
}

/**
 * Opens the Redis of each tenant as a part of a process. A server that cannot be used is only a note in `/readyz`: it
 * must not make the process unready for other tenants.
 *
 * @throws InvalidSettingsError if a tenant has a namespace or a server of Drover's own.
 */
export function serveTenants(
  {
    settings,
    redis: main,
    registry,
    log,
    closing,
    readiness,
  }: Process<ProcessSettings & Pick<PartSettings, "tenantsFile">>,
  { name, loadsScripts, recordScriptsAs, ...reserved }: ServeTenantsOptions,
): TenantRedis {
  const { tenantsFile: tenants, redisUrl } = settings;
  refuseReserved(tenants, { ...reserved, redisUrl });
  const redis = openTenantRedis({ tenants, main, clientName: name, loadsScripts, recordScriptsAs, log });
  closing("tenants", () => redis.close());
  readiness("tenants", () => {
    const problems = redis.problems();
    return problems.length === 0 ? undefined : { note: problems.join("; ") };
  });
  tenantMetrics(registry, tenants, redis);
  return redis;
}

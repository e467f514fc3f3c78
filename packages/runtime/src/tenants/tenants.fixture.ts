import { silentLog } from "@drover/controller";
import type { RedisConnection } from "@drover/queue";
import { openTenantRedis, type TenantRedis } from "./tenant-redis.ts";
import type { Tenant } from "./tenants-file.ts";

export const tenantOf = (namespace: string, { url }: { readonly url: string }): Tenant => ({
  namespaces: [namespace],
  url,
});

/** The Redis servers of these tenants, checked every 20 ms. */
export const openTestTenants = (main: RedisConnection, tenants: readonly Tenant[]): TenantRedis =>
  openTenantRedis({
    tenants,
    main,
    clientName: "test",
    loadsScripts: true,
    log: silentLog,
    times: { checkInterval: 20, checkTimeout: 500, connectTimeout: 500 },
  });

/**
 * The lowest patch of each release line that has no known vulnerability by which a script may leave the Lua sandbox, or
 * that a script or a blocking read can trigger: CVE-2024-31449, CVE-2024-46981, CVE-2025-46817, CVE-2025-46818,
 * CVE-2025-46819 and CVE-2025-49844; in Valkey and Redis 8.6 also CVE-2026-23479, in Valkey also CVE-2026-23631. A line
 * that is not listed had the fixes from its first release, or is unknown.
 */
const leastPatch: Readonly<Record<"Redis" | "Valkey", Readonly<Record<string, number>>>> = {
  // Redis 7.0 gets no more patches.
  Redis: { "7.0": Infinity, "7.2": 11, "7.4": 6, "8.0": 4, "8.2": 2, "8.6": 3 },
  Valkey: { "7.2": 13, "8.0": 9, "8.1": 7, "9.0": 4 },
};

/**
 * Why a server should be upgraded; undefined if none of these vulnerabilities is known in it.
 *
 * @param field reads a field of INFO; empty if it is missing.
 */
export function patchAdvice(field: (name: string) => string): string | undefined {
  const valkey = field("valkey_version");
  const [product, version] =
    valkey === "" ? (["Redis", field("redis_version")] as const) : (["Valkey", valkey] as const);
  const [, line = "", patch = ""] = /^(\d+\.\d+)\.(\d+)/.exec(version) ?? [];
  const least = leastPatch[product][line];
  if (least === undefined || Number(patch) >= least) return undefined;
  const better =
    least === Infinity
      ? "a later release line, since this one gets no more patches"
      : `${line}.${least} or later`;
  return (
    `${product} ${version} has known faults that let a script leave its sandbox. Use ${better}. ` +
    "docs/operating-redis.md lists the faults."
  );
}

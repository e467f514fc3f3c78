/**
 * The least patch of each release line whose Lua engine has no known way out of its sandbox, and that has no known fault
 * which a script or a blocking read reaches: CVE-2024-31449, CVE-2024-46981, CVE-2025-46817, CVE-2025-46818,
 * CVE-2025-46819 and CVE-2025-49844, and of Valkey and Redis 8.6 CVE-2026-23479, of Valkey CVE-2026-23631. A line that is not
 * here began with them mended, or is unknown.
 */
const leastPatch: Readonly<Record<"Redis" | "Valkey", Readonly<Record<string, number>>>> = {
  // Redis 7.0 gets no patches any more.
  Redis: { "7.0": Infinity, "7.2": 11, "7.4": 6, "8.0": 4, "8.2": 2, "8.6": 3 },
  Valkey: { "7.2": 13, "8.0": 9, "8.1": 7, "9.0": 4 },
};

/**
 * Why a server should be brought up to date; undefined where nothing is known against it.
 *
 * @param field reads a field of INFO; empty where there is none.
 */
export function patchAdvice(field: (name: string) => string): string | undefined {
  const valkey = field("valkey_version");
  const [product, version] =
    valkey === "" ? (["Redis", field("redis_version")] as const) : (["Valkey", valkey] as const);
  const [, line = "", patch = ""] = /^(\d+\.\d+)\.(\d+)/.exec(version) ?? [];
  const least = leastPatch[product][line];
  if (least === undefined || Number(patch) >= least) return undefined;
  const better = least === Infinity ? "a later line: this one gets no patches" : `${line}.${least} or later`;
  return (
    `${product} ${version} has known faults by which a script may leave its sandbox. Use ${better}; ` +
    "docs/operating-redis.md names them."
  );
}

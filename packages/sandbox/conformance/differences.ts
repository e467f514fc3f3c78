import { isArray, isObject } from "../src/json.ts";
import type { Json } from "../src/json.ts";

/** A place in which two answers differ; undefined for a side without a value there. */
export interface Difference {
  readonly path: string;
  readonly real: Json | undefined;
  readonly sandbox: Json | undefined;
}

/** All places in which two values differ. The order of lists matters, the order of keys does not. */
export function differences(real: Json | undefined, sandbox: Json | undefined, path = ""): Difference[] {
  if (real === sandbox) return [];
  if (isArray(real) && isArray(sandbox)) {
    const length = Math.max(real.length, sandbox.length);
    return Array.from({ length }, (_, i) => differences(real[i], sandbox[i], `${path}[${i}]`)).flat();
  }
  if (isObject(real) && isObject(sandbox)) {
    const keys = new Set([...Object.keys(real), ...Object.keys(sandbox)]);
    const own = (of: typeof real, key: string): Json | undefined =>
      Object.hasOwn(of, key) ? of[key] : undefined;
    return [...keys].flatMap((key) =>
      differences(own(real, key), own(sandbox, key), path === "" ? key : `${path}.${key}`),
    );
  }
  return [{ path, real, sandbox }];
}

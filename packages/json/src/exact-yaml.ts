import { exactInteger } from "./exact-json.ts";

/** Options and reviver for the package `yaml`, which make it return integers as `parseJson` does. */
export const exactYaml = {
  options: { intAsBigInt: true },
  reviver: (_name: unknown, value: unknown): unknown =>
    typeof value === "bigint" ? exactInteger(value) : value,
} as const;

import { z } from "zod";
import { type Setting, SettingRefusal } from "./settings/setting.ts";

/** A reference to another object of the namespace: `bucketRef` in place of `bucket`. */
export const reference = z.object({ name: z.string().min(1).max(253) });

/** A spec after its references were resolved: `bucket` is there, and `bucketRef` is not. */
export type Resolved<Value> = Value extends readonly (infer Item)[]
  ? Resolved<Item>[]
  : Value extends object
    ? {
        [
          Field in keyof Value as Field extends `${string}Ref`
            ? never
            : `${Field & string}Ref` extends keyof Value
              ? never
              : Field
        ]: Resolved<Value[Field]>;
      } & {
        [Field in keyof Value as `${Field & string}Ref` extends keyof Value ? Field : never]-?: Resolved<
          NonNullable<Value[Field]>
        >;
      }
    : Value;

/** A reference in a spec. */
export interface Reference {
  /** The field that it stands for, such as `bucket`. */
  readonly field: string;
  /** The name of the object. */
  readonly name: string;
}

export interface ResolvedReferences<Spec extends object> {
  /** A reference to an object that is not ready yet is the empty text. */
  readonly spec: Resolved<Spec>;
  /** The settings with: those that have such a reference wait for it, and hold up no other. */
  readonly waiting: (settings: readonly Setting[]) => readonly Setting[];
}

/**
 * Replaces the references of a spec, each field `...Ref` of which is one, by what the other objects have in their status.
 *
 * @param find the value for a reference; undefined if the object does not exist or has none yet.
 */
export async function resolveReferences<Spec extends object>(
  spec: Spec,
  find: (reference: Reference) => Promise<string | undefined>,
): Promise<ResolvedReferences<Spec>> {
  const refusals = new Map<string, SettingRefusal>();
  const resolved = async (value: unknown, path: readonly string[]): Promise<unknown> => {
    if (Array.isArray(value)) {
      return Promise.all(value.map((item, index) => resolved(item, [...path, String(index)])));
    }
    if (typeof value !== "object" || value === null) return value;
    const fields = await Promise.all(
      Object.entries(value).map(async ([field, part]: [string, unknown]) => {
        const target = reference.safeParse(part).data;
        const of = /^(.+)Ref$/.exec(field)?.[1];
        if (of === undefined || target === undefined) {
          return [field, await resolved(part, [...path, field])] as const;
        }
        const found = await find({ field: of, name: target.name });
        if (found === undefined) refusals.set(path[0] ?? field, notReady([...path, field], target.name));
        return [of, found ?? ""] as const;
      }),
    );
    return Object.fromEntries(fields);
  };
  return {
    // The type follows from the names of the fields; the compiler cannot follow a walk over them.
    spec: (await resolved(spec, [])) as Resolved<Spec>,
    waiting: (settings) =>
      settings.map((setting) => {
        const refusal = refusals.get(setting.name);
        return refusal === undefined ? setting : { ...setting, read: () => Promise.resolve(refusal) };
      }),
  };
}

const notReady = (path: readonly string[], name: string): SettingRefusal =>
  new SettingRefusal(
    "ReferenceNotReady",
    `spec.${path.join(".")} refers to ${name}, which does not exist or is not ready yet. It is waited for.`,
  );

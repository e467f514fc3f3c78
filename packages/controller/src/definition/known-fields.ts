/** A deeply read-only JSON value, so that a reconcile may return constants. */
export type Immutable<T> = unknown extends T
  ? T
  : T extends Scalar
    ? T
    : { readonly [Key in keyof T]: Immutable<T[Key]> };

/**
 * `unknown` if every field of `Given` is one of `Known`, at any depth. Otherwise an object type that no argument has,
 * with the paths in its one member: `{ unknownField: "status.regiom" }`.
 *
 * TypeScript looks for excess properties only in literals that are assigned directly, never in a function's return
 * value. A misspelt field of a status would compile, and the API server would drop it.
 */
export type NoUnknownFields<Known, Given> = [UnknownField<Known, Given>] extends [never]
  ? unknown
  : { readonly unknownField: UnknownField<Known, Given> };

type Scalar = string | number | boolean | bigint | symbol | null | undefined;

type UnknownField<Known, Given> = unknown extends Known
  ? never
  : Given extends Scalar | readonly unknown[]
    ? never
    : { [Key in keyof Given & string]: PathOfUnknown<Known, Key, Given[Key]> }[keyof Given & string];

type PathOfUnknown<Known, Key extends string, Value> =
  Key extends KeyOfAny<Known> ? Below<Key, UnknownField<MemberOfAny<Known, Key>, Value>> : Key;
type Below<Key extends string, Path> = Path extends string ? `${Key}.${Path}` : never;

// `keyof` a union has only the keys that all its members share; a field of a single member is known too.
type KeyOfAny<Union> = Union extends unknown ? keyof Union : never;
type MemberOfAny<Union, Key> = Union extends unknown ? (Key extends keyof Union ? Union[Key] : never) : never;

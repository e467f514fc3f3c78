/** A value as JSON has it. */
export type SettingValue =
  | string
  | number
  | boolean
  | readonly SettingValue[]
  | { readonly [field: string]: SettingValue | undefined };

/** The items of a setting by id. A setting that is not a list has at most one item, with the id "". */
export type SettingItems = ReadonlyMap<string, SettingValue>;

/**
 * The server refuses to read or write a setting, and trying again at once is useless: it does not support it, the
 * credentials may not, or the value is not valid. The other settings are still written.
 */
export class SettingRefusal {
  /** CamelCase, such as `NotSupported`. */
  readonly reason: string;
  /** A sentence, with what to do. */
  readonly message: string;
  /** The ids of the items that the server took all the same, if it takes them one by one. */
  readonly written: readonly string[];
  constructor(reason: string, message: string, written: readonly string[] = []) {
    this.reason = reason;
    this.message = message;
    this.written = written;
  }
}

export interface SettingChange {
  /** The items as they should be, with those of others: for servers that replace a complete list. */
  readonly all: SettingItems;
  /** The items to create or to change. */
  readonly set: SettingItems;
  /** The ids of the items to remove. */
  readonly removed: readonly string[];
}

/**
 * One setting of a resource, such as a bucket's versioning or its lifecycle rules, with what the spec asks for.
 *
 * Rules, which the kit keeps: a setting that the spec does not name is neither read nor written. Of an item only the
 * fields that the spec names are compared; others may be the server's defaults. Items of others are left alone. An item
 * that the spec no longer names is removed only if Drover has written it (`ExternalStatus.written`).
 *
 * Values are canonical on both sides, `wanted` and the result of `read`: lists whose order does not matter are sorted,
 * and different spellings of one value are the same.
 */
export interface Setting {
  /** Its field of the spec, such as `versioning`. */
  readonly name: string;
  /** Empty if the spec does not name it. */
  readonly wanted: SettingItems;
  /** The value of an item that was removed, if the server returns one: the default that it has without it. */
  readonly removedAs?: SettingValue | undefined;
  /**
   * True if its items are things of their own that the resource uses, such as the target groups of a load balancer. They
   * are written in their place and removed after all other settings, also after the deletion of the resource, and if the
   * resource is gone already. `read` returns those that the spec names or the status records, and none of another owner.
   */
  readonly areParts?: true;
  /**
   * True if the values follow other objects of the cluster and change with them. Then a difference is neither reported as
   * drift nor recorded, but corrected at once, and nothing is removed that the spec no longer names.
   */
  readonly followsObjects?: true;
  read(): Promise<SettingItems | SettingRefusal>;
  write(change: SettingChange): Promise<SettingRefusal | undefined>;
}

/** A setting that is one value. `undefined` is the state without it. */
export interface SingleSetting {
  readonly name: string;
  readonly wanted: SettingValue | undefined;
  readonly removedAs?: SettingValue | undefined;
  read(): Promise<SettingValue | SettingRefusal | undefined>;
  write(value: SettingValue): Promise<SettingRefusal | undefined>;
  remove(): Promise<SettingRefusal | undefined>;
}

const onlyItem = "";

export const singleSetting = (single: SingleSetting): Setting => ({
  name: single.name,
  wanted: itemsOf(single.wanted),
  removedAs: single.removedAs,
  async read() {
    const value = await single.read();
    return value instanceof SettingRefusal ? value : itemsOf(value);
  },
  write({ all }) {
    const value = all.get(onlyItem);
    return value === undefined ? single.remove() : single.write(value);
  },
});

const itemsOf = (value: SettingValue | undefined): SettingItems =>
  new Map(value === undefined ? [] : [[onlyItem, value]]);

/** The path of an item in messages and in the status: `versioning`, or `lifecycle/keep-a-year`. */
export const itemPath = (setting: string, id: string): string =>
  id === onlyItem ? setting : `${setting}/${id}`;

/** The ids of a setting's items in a list of paths. */
export const idsIn = (setting: string, paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) =>
    path === setting ? [onlyItem] : path.startsWith(`${setting}/`) ? [path.slice(setting.length + 1)] : [],
  );

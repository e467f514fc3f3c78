import { settingCalls } from "@drover/aws";
import {
  type Setting,
  type SettingItems,
  SettingRefusal,
  singleSetting,
  type SettingValue,
} from "@drover/external";
import type { BucketCall } from "../bucket-call.ts";
import { errorAfter, responseOrRefusal } from "../s3-errors.ts";
import { fromApi } from "./api-shape.ts";

type Sent = Promise<unknown>;
type Read<Api> = (call: BucketCall) => Promise<Api | undefined>;

/** How S3 reads and writes a setting that is one value. */
interface ValueSetting<Value extends SettingValue> {
  /** Its field of the spec. */
  readonly name: string;
  /** Undefined if the spec does not name it. */
  readonly wanted: Value | undefined;
  /** Sends the request that reads it, and takes the value out of the answer. */
  readonly read: Read<unknown>;
  /** The error code of the answer if the bucket does not have the setting. */
  readonly absent?: string;
  readonly write: (call: BucketCall, value: Value) => Sent;
  readonly remove: (call: BucketCall) => Sent;
  /** The value that S3 returns after `remove`, if it returns one. */
  readonly removedAs?: Value;
  /** Makes two spellings of one value the same. Default: none needed. */
  readonly canonical?: (value: SettingValue) => SettingValue;
}

/** A setting that is one value in the shape of the S3 API, such as the website configuration. */
export function valueSetting<Value extends SettingValue>(
  call: BucketCall,
  { name, wanted, read, absent, write, remove, removedAs, canonical = (value) => value }: ValueSetting<Value>,
): Setting {
  return singleSetting({
    name,
    wanted: wanted === undefined ? undefined : canonical(wanted),
    removedAs,
    async read() {
      const answer = await answered(read(call), { doing: "read", name, absent });
      const value = answer instanceof SettingRefusal ? answer : fromApi(answer);
      return value === undefined || value instanceof SettingRefusal ? value : canonical(value);
    },
    write: () => refusalOf(wanted === undefined ? remove(call) : write(call, wanted), name),
    remove: () => refusalOf(remove(call), name),
  });
}

/** How S3 reads and writes a setting that is a list of items with ids. */
interface ListSetting<Item extends { readonly id: string } & SettingValue, Api> {
  readonly name: string;
  readonly wanted: readonly Item[] | undefined;
  readonly read: Read<readonly Api[]>;
  readonly absent?: string;
  readonly idOf: (api: Api) => string | undefined;
  readonly toApi: (item: Item) => Api;
  readonly write: (call: BucketCall, change: ListChange<Api>) => Sent;
  readonly canonical?: (item: SettingValue) => SettingValue;
  /** What applies to all items, as the item "". `current` is called after `read`. */
  readonly general?: {
    readonly wanted: SettingValue | undefined;
    readonly current: () => SettingValue | undefined;
  };
}

/** The complete list as it should be, and what differs from the current one. */
export interface ListChange<Api> {
  readonly all: readonly Api[];
  readonly set: readonly Api[];
  /** Ids. */
  readonly removed: readonly string[];
}

/**
 * A setting that is a list of items with ids, such as lifecycle rules. Items of others are written back as they were
 * read.
 */
export function listSetting<Item extends { readonly id: string } & SettingValue, Api>(
  call: BucketCall,
  list: ListSetting<Item, Api>,
): Setting {
  const {
    name,
    wanted = [],
    read,
    absent,
    idOf,
    toApi,
    write,
    canonical = (item: SettingValue) => item,
    general,
  } = list;
  let current: readonly Api[] = [];
  const withGeneral = (
    items: readonly (readonly [string, SettingValue])[],
    value: SettingValue | undefined,
  ): SettingItems => new Map([...items, ...(value === undefined ? [] : [["", value] as const])]);
  return {
    name,
    wanted: withGeneral(
      wanted.map((item) => [item.id, canonical(item)]),
      general?.wanted,
    ),
    async read(): Promise<SettingItems | SettingRefusal> {
      const answer = await answered(read(call), { doing: "read", name, absent });
      if (answer instanceof SettingRefusal) return answer;
      current = answer ?? [];
      const items = current.flatMap((api) => {
        const value = fromApi(api);
        return value === undefined ? [] : [[idOf(api) ?? "", canonical(value)] as const];
      });
      return withGeneral(items, general?.current());
    },
    write({ set: changed, removed }) {
      const set = wanted.filter(({ id }) => changed.has(id)).map(toApi);
      const others = current.filter((api) => {
        const id = idOf(api) ?? "";
        return !changed.has(id) && !removed.includes(id);
      });
      return refusalOf(write(call, { all: [...others, ...set], set, removed }), name);
    },
  };
}

/** The codes with which S3 refuses a configuration: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const invalid: ReadonlySet<string> = new Set([
  "AccessControlListNotSupported",
  "InvalidArgument",
  "InvalidBucketAclWithObjectOwnership",
  "InvalidBucketState",
  "InvalidPolicyDocument",
  "InvalidRequest",
  "InvalidS3DestinationBucket",
  "InvalidTargetBucketForLogging",
  "KMS.NotFoundException",
  "MalformedACLError",
  "MalformedPolicy",
  "MalformedXML",
  "TooManyConfigurations",
]);

export const { answered, refusalOf } = settingCalls(
  { responseOrRefusal, errorAfter },
  { service: "S3", noun: "bucket" },
  invalid,
);

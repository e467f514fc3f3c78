import {
  DescribeLoadBalancerAttributesCommand,
  ModifyLoadBalancerAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Setting, SettingRefusal, singleSetting, type SettingValue } from "drover/external";
import type { AccessLogs } from "../../load-balancer.ts";
import { answered, refusalOf } from "../elb-errors.ts";
import type { SettingsContext } from "../settings-context.ts";

type Attributes = ReadonlyMap<string, string>;

/** A field of the spec that is one or more attributes of the load balancer. */
interface AttributeSetting<Value extends SettingValue> {
  readonly name: string;
  readonly wanted: Value | undefined;
  readonly removedAs?: Value;
  readonly toAttributes: (value: Value) => Readonly<Record<string, string>>;
  /** The attributes without the setting. */
  readonly without: Readonly<Record<string, string>>;
  readonly ofAttributes: (all: Attributes) => Value | undefined;
}

/** The settings that are attributes in the API. One request reads all of them. */
export function attributes({ call: { client, http }, spec, seen }: SettingsContext): readonly Setting[] {
  const LoadBalancerArn = seen?.arn ?? "";
  let known: Attributes | undefined;
  const read = async (name: string): Promise<Attributes | SettingRefusal> => {
    if (known !== undefined) return known;
    const command = new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn });
    const answer = await answered(client.send(command, http), { doing: "read", name });
    if (answer instanceof SettingRefusal) return answer;
    known = new Map((answer?.Attributes ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
    return known;
  };
  const write = (
    name: string,
    values: Readonly<Record<string, string>>,
  ): Promise<SettingRefusal | undefined> => {
    known = undefined;
    const Attributes = Object.entries(values).map(([Key, Value]) => ({ Key, Value }));
    const command = new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes });
    return refusalOf(client.send(command, http), name);
  };
  const setting = <Value extends SettingValue>(of: AttributeSetting<Value>): Setting =>
    singleSetting({
      name: of.name,
      wanted: of.wanted,
      removedAs: of.removedAs,
      async read() {
        const all = await read(of.name);
        return all instanceof SettingRefusal ? all : of.ofAttributes(all);
      },
      write: () => write(of.name, of.wanted === undefined ? of.without : of.toAttributes(of.wanted)),
      remove: () => write(of.name, of.without),
    });
  const flag = (name: string, key: string, wanted: boolean | undefined): Setting =>
    setting<boolean>({
      name,
      wanted,
      removedAs: false,
      toAttributes: (on) => ({ [key]: String(on) }),
      without: { [key]: "false" },
      ofAttributes: (all) => all.get(key) === "true",
    });
  return [
    flag("crossZone", "load_balancing.cross_zone.enabled", spec.crossZone),
    flag("deletionProtection", "deletion_protection.enabled", spec.deletionProtection),
    setting(accessLogs(spec.accessLogs)),
  ];
}

const accessLogs = (wanted: AccessLogs | undefined): AttributeSetting<AccessLogs> => ({
  name: "accessLogs",
  wanted,
  toAttributes: ({ bucket, prefix }) => ({
    "access_logs.s3.enabled": "true",
    "access_logs.s3.bucket": bucket,
    "access_logs.s3.prefix": prefix,
  }),
  without: { "access_logs.s3.enabled": "false" },
  ofAttributes: (all) =>
    all.get("access_logs.s3.enabled") === "true"
      ? { bucket: all.get("access_logs.s3.bucket") ?? "", prefix: all.get("access_logs.s3.prefix") ?? "" }
      : undefined,
});

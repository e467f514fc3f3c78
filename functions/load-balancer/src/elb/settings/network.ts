import {
  DescribeLoadBalancersCommand,
  type LoadBalancer,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Setting, SettingRefusal, singleSetting, type SettingValue } from "drover/external";
import { answered, refusalOf } from "../elb-errors.ts";
import type { SettingsContext } from "../settings-context.ts";

/** The subnets, the security groups and the type of the addresses. */
export function network({ call: { client, http }, spec, seen }: SettingsContext): readonly Setting[] {
  const LoadBalancerArn = seen?.arn ?? "";
  // The observation has the first answer. After a write, the load balancer is read again.
  let known: LoadBalancer | undefined = seen?.found;
  const read =
    (name: string, pick: (found: LoadBalancer) => SettingValue | undefined) =>
    async (): Promise<SettingValue | SettingRefusal | undefined> => {
      if (known === undefined) {
        const command = new DescribeLoadBalancersCommand({ LoadBalancerArns: [LoadBalancerArn] });
        const answer = await answered(client.send(command, http), { doing: "read", name });
        if (answer instanceof SettingRefusal) return answer;
        known = answer?.LoadBalancers?.[0];
      }
      return known && pick(known);
    };
  const write = (name: string, sent: Promise<unknown>): Promise<SettingRefusal | undefined> => {
    known = undefined;
    return refusalOf(sent, name);
  };
  const setSubnets = (): Promise<unknown> =>
    client.send(new SetSubnetsCommand({ LoadBalancerArn, Subnets: [...spec.subnets] }), http);
  const setAddresses = (IpAddressType: "ipv4" | "dualstack"): Promise<unknown> =>
    client.send(new SetIpAddressTypeCommand({ LoadBalancerArn, IpAddressType }), http);
  const setGroups = (SecurityGroups: string[]): Promise<unknown> =>
    client.send(new SetSecurityGroupsCommand({ LoadBalancerArn, SecurityGroups }), http);
  return [
    singleSetting({
      name: "subnets",
      wanted: [...new Set(spec.subnets)].sort(),
      read: read("subnets", ({ AvailabilityZones = [] }) =>
        AvailabilityZones.map(({ SubnetId = "" }) => SubnetId).sort(),
      ),
      write: () => write("subnets", setSubnets()),
      remove: () => Promise.resolve(undefined),
    }),
    singleSetting({
      name: "securityGroups",
      wanted: spec.securityGroups && [...new Set(spec.securityGroups)].sort(),
      read: read("securityGroups", ({ SecurityGroups = [] }) =>
        SecurityGroups.length === 0 ? undefined : [...SecurityGroups].sort(),
      ),
      write: () => write("securityGroups", setGroups([...(spec.securityGroups ?? [])])),
      remove: () => write("securityGroups", setGroups([])),
    }),
    singleSetting({
      name: "ipAddressType",
      wanted: spec.ipAddressType,
      removedAs: "ipv4",
      read: read("ipAddressType", ({ IpAddressType }) => IpAddressType),
      write: () => write("ipAddressType", setAddresses(spec.ipAddressType ?? "ipv4")),
      remove: () => write("ipAddressType", setAddresses("ipv4")),
    }),
  ];
}

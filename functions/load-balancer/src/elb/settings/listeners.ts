import {
  CreateListenerCommand,
  DeleteListenerCommand,
  DescribeListenersCommand,
  type Listener,
  ModifyListenerCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Setting, SettingRefusal, type SettingValue } from "drover/external";
import { pages } from "../balancer-call.ts";
import { answered, refusalOf } from "../elb-errors.ts";
import type { SettingsContext } from "../settings-context.ts";
import type { TargetGroups } from "./target-groups.ts";

const name = "listeners";

/** The listeners by port. Those of other ports are left alone, for example in a load balancer that was adopted. */
export function listeners({ call: { client, http }, seen }: SettingsContext, groups: TargetGroups): Setting {
  const LoadBalancerArn = seen?.arn ?? "";
  const arns = new Map<string, string>();
  const byPort = new Map([...groups.ports].map(([id, port]) => [String(port.port), { id, port }] as const));
  const put = (item: string): Promise<unknown> | undefined => {
    const { id = "", port } = byPort.get(item) ?? {};
    const TargetGroupArn = groups.arns.get(id);
    if (port === undefined || TargetGroupArn === undefined) return undefined;
    const settings = {
      Protocol: port.protocol,
      Port: port.port,
      DefaultActions: [{ Type: "forward" as const, TargetGroupArn }],
    };
    const ListenerArn = arns.get(item);
    return ListenerArn === undefined
      ? client.send(new CreateListenerCommand({ LoadBalancerArn, ...settings }), http)
      : client.send(new ModifyListenerCommand({ ListenerArn, ...settings }), http);
  };
  return {
    name,
    wanted: new Map(
      [...byPort].map(([item, { id, port }]) => [item, valueOf(port.protocol, groups.nameOf(id))]),
    ),
    async read() {
      const sent = pages((Marker) =>
        client.send(new DescribeListenersCommand({ LoadBalancerArn, Marker }), http),
      );
      const answer = await answered(sent, { doing: "read", name });
      if (answer instanceof SettingRefusal) return answer;
      const found = (answer ?? []).flatMap(({ Listeners = [] }) => Listeners);
      arns.clear();
      for (const { Port, ListenerArn = "" } of found) arns.set(String(Port), ListenerArn);
      return new Map(found.map((each) => [String(each.Port), ofApi(each)]));
    },
    async write({ set, removed }) {
      const written: string[] = [];
      for (const item of set.keys()) {
        const sent = put(item);
        const refusal =
          sent === undefined
            ? new SettingRefusal("NoTargetGroup", "A listener is created once its target group exists.")
            : await refusalOf(sent, name);
        if (refusal !== undefined) return new SettingRefusal(refusal.reason, refusal.message, written);
        written.push(item);
      }
      for (const item of removed) {
        const ListenerArn = arns.get(item);
        if (ListenerArn === undefined) continue;
        const refusal = await refusalOf(client.send(new DeleteListenerCommand({ ListenerArn }), http), name);
        if (refusal !== undefined) return new SettingRefusal(refusal.reason, refusal.message, written);
      }
      return undefined;
    },
  };
}

const valueOf = (protocol: string, targetGroup: string): SettingValue => ({ protocol, targetGroup });

/** A listener with several actions, which others have made, has no target group of ours. */
const ofApi = ({ Protocol = "HTTP", DefaultActions = [] }: Listener): SettingValue => {
  const [only, ...more] = DefaultActions;
  const group = more.length === 0 ? (only?.TargetGroupArn?.split("/")[1] ?? "") : "";
  return valueOf(Protocol, group);
};

import {
  DeregisterTargetsCommand,
  DescribeTargetHealthCommand,
  RegisterTargetsCommand,
  type TargetDescription,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Setting, type SettingItems, SettingRefusal } from "drover/external";
import { answered, refusalOf } from "../elb-errors.ts";
import type { SettingsContext } from "../settings-context.ts";
import type { TargetGroups } from "./target-groups.ts";

const name = "targets";
/** The targets of one request. */
const maxTargets = 100;

/** The targets of each target group. They follow the nodes or Pods, and are the object's alone. */
export function targets(
  { call: { client, http }, balanced }: SettingsContext,
  groups: TargetGroups,
): Setting {
  let registered = new Map<string, readonly string[]>();
  const wanted = new Map(
    [...groups.ports].map(
      // The same endpoint may be in several EndpointSlices at once.
      ([id, port]) => [id, [...new Set(balanced?.targets(port).map(textOf))].sort()] as const,
    ),
  );
  return {
    name,
    followsObjects: true,
    wanted,
    async read(): Promise<SettingItems | SettingRefusal> {
      const found = new Map<string, readonly string[]>();
      for (const id of wanted.keys()) {
        const TargetGroupArn = groups.arns.get(id);
        if (TargetGroupArn === undefined) continue;
        const answer = await answered(
          client.send(new DescribeTargetHealthCommand({ TargetGroupArn }), http),
          { doing: "read", name },
        );
        if (answer instanceof SettingRefusal) return answer;
        const active = (answer?.TargetHealthDescriptions ?? []).filter(
          ({ TargetHealth }) => TargetHealth?.State !== "draining",
        );
        found.set(id, active.flatMap(({ Target }) => (Target ? [textOfApi(Target)] : [])).sort());
      }
      registered = found;
      return found;
    },
    async write({ set }) {
      for (const id of set.keys()) {
        const TargetGroupArn = groups.arns.get(id);
        if (TargetGroupArn === undefined) {
          return new SettingRefusal(
            "NoTargetGroup",
            "Targets are registered once their target group exists.",
          );
        }
        const [before, after] = [registered.get(id) ?? [], wanted.get(id) ?? []];
        const requests = [
          ...batches(difference(after, before)).map(
            (Targets) => () => client.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }), http),
          ),
          ...batches(difference(before, after)).map(
            (Targets) => () => client.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets }), http),
          ),
        ];
        for (const send of requests) {
          const refusal = await refusalOf(send(), name);
          if (refusal !== undefined) return refusal;
        }
      }
      return undefined;
    },
  };
}

const textOf = ({ id, port }: { readonly id: string; readonly port: number }): string => `${id}:${port}`;
const textOfApi = ({ Id = "", Port = 0 }: TargetDescription): string => textOf({ id: Id, port: Port });

const difference = (all: readonly string[], without: readonly string[]): readonly string[] =>
  all.filter((each) => !without.includes(each));

const batches = (texts: readonly string[]): readonly TargetDescription[][] =>
  Array.from({ length: Math.ceil(texts.length / maxTargets) }, (_, batch) =>
    texts.slice(batch * maxTargets, (batch + 1) * maxTargets).map((text) => {
      const colon = text.lastIndexOf(":");
      return { Id: text.slice(0, colon), Port: Number(text.slice(colon + 1)) };
    }),
  );

import type { Setting } from "drover/external";
import type { SettingsContext } from "../settings-context.ts";
import { attributes } from "./attributes.ts";
import { listeners } from "./listeners.ts";
import { network } from "./network.ts";
import { TargetGroups, targetGroups } from "./target-groups.ts";
import { targets } from "./targets.ts";

/** The settings of a load balancer in the order of their writing: a target group has its targets before it gets connections. */
export function settingsOf(context: SettingsContext): readonly Setting[] {
  const groups = new TargetGroups(context);
  return [
    ...network(context),
    ...attributes(context),
    targetGroups(context, groups),
    targets(context, groups),
    listeners(context, groups),
  ];
}

import type { OutsidePlan } from "@drover/controller";
import type { ExternalPort, PresentResource } from "./external-port.ts";
import { sameTags, type Tags } from "./ownership/tags.ts";
import { itemPath, type Setting, type SettingChange, type SettingItems } from "./settings/setting.ts";

/**
 * A port for a run that is planned: it observes the resource, and records each change in place of making it. Recorded
 * changes are returned as observed afterwards, so that the run goes on as it would. The plan ends with a creation, since
 * nothing can be observed of a resource that does not exist.
 */
export function plannedPort<Seen extends PresentResource, Details extends object>(
  port: ExternalPort<Seen, Details>,
  plan: OutsidePlan,
): ExternalPort<Seen, Details> {
  const resource = (name: string): string => `${port.words.noun} ${name}`;
  const written = new Map<string, SettingItems>();
  let tags: Tags | undefined;
  let isDeleted = false;
  return {
    ...port,
    async observe(name) {
      if (isDeleted) return { state: "absent", at: new Date() };
      const seen = await port.observe(name);
      return seen.state === "present" && tags !== undefined ? { ...seen, tags } : seen;
    },
    create(wanted) {
      const target = resource(port.name);
      plan.record({ does: "create", target, value: { tags: Object.fromEntries(wanted) } });
      for (const setting of port.settings(undefined))
        recordChange(plan, target, setting, { set: setting.wanted, removed: [] });
      return plan.stop(`What follows is not known before ${target} exists.`);
    },
    retag({ name, tags: current }, change) {
      tags = change(current);
      if (!sameTags(tags, current))
        plan.record({ does: "set", target: `tags of ${resource(name)}`, value: Object.fromEntries(tags) });
      return Promise.resolve();
    },
    settings: (seen) => {
      const target = resource(seen?.name ?? port.name);
      return port.settings(seen).map((setting) => plannedSetting(setting, { plan, target, written }));
    },
    ...(port.clear !== undefined && {
      clear({ name }: Seen) {
        plan.record({ does: "delete", target: `contents of ${resource(name)}` });
        return Promise.resolve();
      },
    }),
    delete({ name }) {
      plan.record({ does: "delete", target: resource(name) });
      isDeleted = true;
      return Promise.resolve("deleted" as const);
    },
  };
}

interface SettingParts {
  readonly plan: OutsidePlan;
  /** The resource, for the record. */
  readonly target: string;
  /** By setting: its items after the recorded changes. */
  readonly written: Map<string, SettingItems>;
}

const plannedSetting = (setting: Setting, { plan, target, written }: SettingParts): Setting => ({
  ...setting,
  read: async () => written.get(setting.name) ?? setting.read(),
  write(change) {
    recordChange(plan, target, setting, change);
    written.set(setting.name, change.all);
    return Promise.resolve(undefined);
  },
});

function recordChange(
  plan: OutsidePlan,
  resource: string,
  { name }: Setting,
  { set, removed }: Pick<SettingChange, "set" | "removed">,
): void {
  const target = (id: string): string => `${itemPath(name, id)} of ${resource}`;
  for (const [id, value] of set) plan.record({ does: "set", target: target(id), value });
  for (const id of removed) plan.record({ does: "remove", target: target(id) });
}

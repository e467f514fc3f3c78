import type { KubeObject } from "@drover/kube";
import { type ApplyContext, applyChild, type ChildReport } from "./apply-child.ts";
import { childId, type DesiredChild, type ObservedChild } from "./child.ts";
import { notReadyReason } from "./readiness.ts";

/** A declared child, and what the run did to it. `notReady` says what it lacks, also if nothing could be done. */
export interface AppliedChild {
  readonly child: DesiredChild;
  readonly report: ChildReport;
  readonly notReady: string | undefined;
}

export interface AppliedWaves {
  readonly children: readonly AppliedChild[];
  /** The children of waves that have not begun, because a lower one is not ready. */
  readonly later: readonly DesiredChild[];
}

/**
 * Applies the children in the order of their waves, and as declared within a wave. A wave begins when all children of
 * the lower ones are ready.
 */
export async function applyWaves(
  context: ApplyContext,
  desired: readonly DesiredChild[],
  observed: ReadonlyMap<string, ObservedChild>,
): Promise<AppliedWaves> {
  const waves = [...new Set(desired.map(({ wave }) => wave))].sort((a, b) => a - b);
  const children: AppliedChild[] = [];
  // Each rolling child depends on the readiness of all others, so it is computed once for each.
  const unready = new Map(
    desired
      .filter(({ update }) => update === "Rolling")
      .map((child) => {
        const before = observed.get(childId(child))?.object;
        return [child, before === undefined || notReadyReason(before) !== undefined];
      }),
  );
  for (const wave of waves) {
    if (children.some(({ notReady }) => notReady !== undefined)) {
      return { children, later: desired.filter((child) => child.wave >= wave) };
    }
    for (const child of desired) {
      if (child.wave !== wave) continue;
      const live = observed.get(childId(child));
      const report =
        mustWait(context, child, live?.object, unready) ?? (await applyChild(context, child, live));
      const notReady = lackOf(report);
      children.push({ child, report, notReady });
      if (child.update === "Rolling") unready.set(child, notReady !== undefined);
    }
  }
  return { children, later: [] };
}

/** True if no child waits for others, so that the same run with the objects that it has made would change nothing. */
export const waitsForNothing = ({ children, later }: AppliedWaves): boolean =>
  later.length === 0 && children.every(({ report: { did } }) => reportsOfNoWait.has(did));

const reportsOfNoWait: ReadonlySet<ChildReport["did"]> = new Set([
  "nothing",
  "created",
  "changed",
  "adopted",
]);

function lackOf(report: ChildReport): string | undefined {
  if (report.did === "contested") return "others have changed it";
  return "object" in report ? notReadyReason(report.object) : report.why;
}

/**
 * The report of a rolling child that is not changed yet: as many of its siblings as possible are not ready.
 *
 * @param unready whether each rolling child is not ready by now.
 */
function mustWait(
  { comparison, metadata }: ApplyContext,
  child: DesiredChild,
  live: KubeObject | undefined,
  unready: ReadonlyMap<DesiredChild, boolean>,
): ChildReport | undefined {
  if (live === undefined || unready.get(child) !== false) return undefined;
  if (comparison.compare(child, live, metadata) === "none") return undefined;
  const { kind, group } = child.ref;
  const unavailable = [...unready].filter(
    ([one, isUnready]) =>
      isUnready && one.wave <= child.wave && one.ref.kind === kind && one.ref.group === group,
  ).length;
  if (unavailable < child.maxUnavailable) return undefined;
  return {
    did: "waits",
    why: `it is changed when fewer than ${child.maxUnavailable} of its kind are not ready`,
  };
}

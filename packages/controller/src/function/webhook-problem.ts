import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** True for core Secrets, in any version. */
export const isSecretKind = ({
  group,
  plural,
}: Pick<ReconcileFunctionSpec["for"], "group" | "plural">): boolean => group === "" && plural === "secrets";

/** True if a called function declares children. */
export const declaresChildren = (webhook: ReconcileFunctionSpec["webhook"]): boolean =>
  webhook?.composes === true || webhook?.metacontroller !== undefined;

/** Why a function with `delivery: webhook` cannot be called, and what to do about it; undefined if it can. */
export function webhookProblem(spec: ReconcileFunctionSpec): string | undefined {
  const { for: kind, owns = [], watches = [], webhook } = spec;
  if (isSecretKind(kind)) {
    return "spec.for: Secrets are never sent over HTTP. Use delivery: pull, with a permission for them.";
  }
  const hooks = webhook?.metacontroller;
  const inCode = watches.filter(({ names }) => names.code === true);
  const namedByHook = hooks?.customize === undefined ? [] : inCode.filter(({ related }) => related === true);
  if (inCode.length > namedByHook.length) {
    return "spec.watches: only functions that pull can use names.code. Use another field of names, or delivery: pull.";
  }
  if (webhook?.composes === true && owns.length === 0) {
    return "spec.webhook.composes: list the kinds of the children in spec.owns.";
  }
  const related = watches.filter((watched) => watched.related === true);
  if (related.length > 0 && !declaresChildren(webhook)) {
    return "spec.watches: only functions that declare children get related objects. Set spec.webhook.composes, or leave out related.";
  }
  if (related.some(isSecretKind) && webhook?.url?.startsWith("http:") === true) {
    return "spec.webhook.url: Secrets are not sent over http. Give an https URL, or leave out related for Secrets.";
  }
  return hooks && hooksProblem(spec, hooks, namedByHook.length);
}

type Hooks = NonNullable<NonNullable<ReconcileFunctionSpec["webhook"]>["metacontroller"]>;

function hooksProblem(
  { owns = [], webhook }: ReconcileFunctionSpec,
  { controller, customize, updates = [] }: Hooks,
  namedByHook: number,
): string | undefined {
  if (webhook?.composes !== undefined || webhook?.finalizes === true) {
    return "spec.webhook: leave out composes and finalizes. With metacontroller, the hooks say both.";
  }
  if (webhook?.path !== undefined && webhook.path !== "/") {
    return "spec.webhook.path: leave it out. metacontroller has the path of each hook.";
  }
  if (webhook?.url?.startsWith("http:") === true) {
    return "spec.webhook.url: the answers of Metacontroller's hooks are not signed. Give an https URL, or a Service.";
  }
  if (controller === "Composite" && owns.length === 0) {
    return "spec.webhook.metacontroller: list the kinds of the children in spec.owns.";
  }
  if (customize !== undefined && namedByHook === 0) {
    return "spec.webhook.metacontroller.customize: list the kinds that it may name in spec.watches, with related: true and names: { code: true }.";
  }
  const unknown = updates.find(
    ({ group, kind }) => !owns.some((owned) => owned.group === group && owned.kind === kind),
  );
  return unknown && `spec.webhook.metacontroller.updates: ${unknown.kind} is not in spec.owns. Add it there.`;
}

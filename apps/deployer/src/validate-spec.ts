import {
  controllerNamePattern,
  type ObjectName,
  type ReconcileFunctionSpec,
  TerminalError,
  webhookProblem,
} from "@drover/controller";

/**
 * @throws TerminalError for a spec that is contradictory or incomplete, and for a name that a controller cannot have.
 */
export function validateSpec({
  metadata: { name },
  spec,
}: {
  readonly metadata: ObjectName;
  readonly spec: ReconcileFunctionSpec;
}): void {
  const { delivery, webhook, container } = spec;
  const refuse = (problem: string) => new TerminalError(problem, { reason: "InvalidSpec" });
  if (!controllerNamePattern.test(name)) {
    throw refuse(
      `The name of a function has 63 characters at most, not ${name.length}. Give it another name.`,
    );
  }
  if (delivery !== "webhook") {
    if (webhook === undefined) return;
    throw refuse("spec.webhook goes with delivery: webhook. Set this delivery, or leave out spec.webhook.");
  }
  const problem = webhookProblem(spec);
  if (problem !== undefined) throw refuse(problem);
  const { service, url } = webhook ?? {};
  if (service !== undefined && url !== undefined) {
    throw refuse("spec.webhook: give service or url, not both.");
  }
  if (container === undefined && service === undefined && url === undefined) {
    throw refuse("spec.webhook: the address is missing. Give service, url, or a container.");
  }
}

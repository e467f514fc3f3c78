import { oneLine } from "@drover/controller";
import { isApiError } from "@drover/kube";

/** The result of one check. */
export interface Finding {
  /** `unknown`: the user may not read what the check needs. */
  readonly level: "ok" | "warning" | "problem" | "unknown";
  /** The part or the object that was checked, such as `deployer` or `function web/buckets`. */
  readonly subject: string;
  readonly message: string;
  /** The next step, for what is not ok. */
  readonly next?: string;
}

export const permissionAdvice =
  "Get the permission that the message names, or let a user who has it run drover doctor.";

/** The findings of a check; `unknown` with the API server's refusal if the user may not read what it needs. */
export async function unlessForbidden(
  subject: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (!isApiError(error, "Forbidden")) throw error;
    return [{ level: "unknown", subject, message: error.message, next: permissionAdvice }];
  }
}

/** The findings as lines. */
export const describeFindings = (findings: readonly Finding[]): readonly string[] =>
  findings.flatMap(({ level, subject, message, next }) => [
    oneLine(`${level.padEnd(8)} ${subject}: ${message}`),
    ...(next === undefined ? [] : [oneLine(`${" ".repeat(9)}next: ${next}`)]),
  ]);

/** How many findings are not ok. */
export function countFindings(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]): number => findings.filter((one) => one.level === level).length;
  return `${count("problem")} problems, ${count("warning")} warnings, ${count("unknown")} unknown`;
}

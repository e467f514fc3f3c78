import { SettingRefusal } from "@drover/external";
import { type AwsErrors, AwsRefusal } from "./aws-errors.ts";

/** Sends the requests that read and write the settings of one kind of resource. */
export interface SettingCalls {
  /**
   * The answer to a request, undefined if the resource does not have the setting (the error code `absent`), or the
   * refusal if it concerns this setting only.
   *
   * @throws the error that defines what happens next, after any other refusal.
   */
  readonly answered: <Answer>(
    sent: Promise<Answer>,
    request: {
      readonly doing: "read" | "write";
      readonly name: string;
      readonly absent?: string | undefined;
    },
  ) => Promise<Answer | SettingRefusal | undefined>;
  /** Sends a write. */
  readonly refusalOf: (sent: Promise<unknown>, name: string) => Promise<SettingRefusal | undefined>;
}

/** @param invalid the codes with which the service refuses a value. */
export function settingCalls(
  { responseOrRefusal, errorAfter }: Pick<AwsErrors, "responseOrRefusal" | "errorAfter">,
  words: { readonly service: string; readonly noun: string },
  invalid: ReadonlySet<string>,
): SettingCalls {
  const { service, noun } = words;
  const answered: SettingCalls["answered"] = async (sent, { doing, name, absent }) => {
    const answer = await responseOrRefusal(sent);
    if (!(answer instanceof AwsRefusal)) return answer;
    if (answer.code === absent) return undefined;
    if (answer.notSupported) {
      const message = `This ${service} server does not support ${name}. Remove spec.${name}, or use another server.`;
      return new SettingRefusal("NotSupported", message);
    }
    const problem = `${service} refused to ${doing} ${name} of the ${noun} (${answer.message}).`;
    if (answer.code === "AccessDenied") {
      return new SettingRefusal("AccessDenied", `${problem} Allow it for the credentials in use.`);
    }
    if (answer.status === 400 && invalid.has(answer.code)) {
      return new SettingRefusal("InvalidSetting", `${problem} Correct spec.${name}.`);
    }
    throw errorAfter(answer, `${doing} ${name} of the ${noun}`);
  };
  return {
    answered,
    async refusalOf(sent, name) {
      const answer = await answered(sent, { doing: "write", name });
      return answer instanceof SettingRefusal ? answer : undefined;
    },
  };
}

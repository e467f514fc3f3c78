/**
 * # @drover/aws
 *
 * The parts that functions for AWS services share: credentials by Secret, by the Pod's role and by assumed role; one
 * pool of connections; what follows each error; the rules for tags. What controllers of all external resources share is
 * in `@drover/external`.
 *
 * Guarantees:
 *
 * - Keys, signatures and session tokens never reach a log, a message or the `cause` of an error.
 * - No request is repeated by the SDK, and none lasts longer than its timeout.
 */
export { accountOf, type AwsClients, awsClients, type ClientOptions } from "./aws-clients.ts";
export {
  type AwsErrors,
  awsErrors,
  AwsRefusal,
  type NextAction,
  slowDown,
  stop,
  wait,
} from "./aws-errors.ts";
export { type AwsServer, awsSettings, isRequestTime } from "./aws-settings.ts";
export { maxSpecTags, splitTags, tagLimits, tagList, tagProblem, type TagSet, tagsSpec } from "./aws-tags.ts";
export { type AwsCredentials, credentialsSpec, readCredentials } from "./credentials.ts";
export { type SettingCalls, settingCalls } from "./setting-calls.ts";

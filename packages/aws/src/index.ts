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
export { accountOf, type AwsClients, awsClients } from "./aws-clients.ts";
export { awsErrors, AwsRefusal, type NextAction, stop, wait } from "./aws-errors.ts";
export { awsSettings, isRequestTime, regionSpec } from "./aws-settings.ts";
export { maxSpecTags, splitTags, tagLimits, tagList, tagProblem, type TagSet, tagsSpec } from "./aws-tags.ts";
export { credentialsSpec, readCredentials } from "./credentials.ts";
export { settingCalls } from "./setting-calls.ts";

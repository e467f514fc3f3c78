/** The rules of the users of Redis, one user per component. */
export { redisUserRules } from "@drover/queue";

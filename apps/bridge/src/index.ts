/**
 * # @drover/bridge
 *
 * The bridge as a part of another process. `main.ts` runs it as a process of its own, and describes it.
 */
export { followSettings, type FollowSettings } from "./follow-settings.ts";
export { registrationOf } from "./registration.ts";
export { serveBridge } from "./serve-bridge.ts";

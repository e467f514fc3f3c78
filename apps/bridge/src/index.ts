/**
 * # @drover/bridge
 *
 * The bridge as a part of another process; its story is told in `main.ts`, which is the bridge as a process of its own.
 */
export { followSettings, type FollowSettings } from "./follow-settings.ts";
export { registrationOf } from "./registration.ts";
export { serveBridge } from "./serve-bridge.ts";

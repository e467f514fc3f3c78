/**
 * # @drover/listener
 *
 * A web page that a developer opens can send requests to every port of the developer's machine, and read the answers by
 * DNS rebinding. So every HTTP listener of Drover checks the headers of a request before anything else, and refuses it
 * before its body is read:
 *
 * - `page-guard.ts` refuses requests of web pages: a `Host` that is not the listener's own address, an `Origin`, a
 *   `Sec-Fetch-Site` of another site.
 * - `bearer.ts` compares a bearer token in constant time, for listeners that have one.
 * - `loopback.ts` recognises loopback addresses.
 *
 * docs/listeners.md lists the checks of each listener.
 */
export { bearerTokenOf, newToken, serverWithToken, verifyToken } from "./bearer.ts";
export { isLoopback } from "./loopback.ts";
export { withPageGuard, refusalMessage } from "./page-guard.ts";

/**
 * # @drover/listener
 *
 * A web page that a developer opens can send requests to every port of the developer's machine, and by DNS rebinding read
 * the answers. So every HTTP listener of Drover checks the headers of a request before anything else, and refuses it
 * before its body is read:
 *
 * - `page-guard.ts` refuses what a web page sends: a `Host` that is not the listener's own address, an `Origin`, a
 *   `Sec-Fetch-Site` that names another site.
 * - `bearer.ts` compares a bearer token in constant time, for listeners that have one.
 * - `loopback.ts` knows which addresses are the machine's own.
 *
 * docs/listeners.md says which listener checks what.
 */
export { bearerOf, isSameToken, newToken, serverWithToken, takeToken } from "./bearer.ts";
export { isLoopback } from "./loopback.ts";
export { guarded, type PageGuard, pageProblem, refusalOf } from "./page-guard.ts";

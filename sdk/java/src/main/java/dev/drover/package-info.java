/**
 * Functions for Drover that are called over HTTP.
 *
 * <p>A function is one or two handlers. Each takes a {@link dev.drover.Call} and returns an {@link
 * dev.drover.Answer}:
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *   new Function().compose(call -> new Composed(List.of(page(call.name())))).serve();
 * }
 * }</pre>
 *
 * <p>{@code compose} declares the children that should exist for an object. {@code reconcile} is
 * for everything else: it looks at the world and moves it one step towards the spec. {@code
 * finalize} undoes that before the object is deleted.
 *
 * <p>{@link dev.drover.Function#serve()} verifies each call, answers a repeated call as before,
 * keeps the order of the calls of a key, and signs the answers, as Drover's
 * docs/webhook-functions.md requires. These classes do the work:
 *
 * <ul>
 *   <li>{@code FunctionServer} accepts connections, until SIGTERM; {@code Waiting} closes those of
 *       strangers;
 *   <li>{@code Receiver} takes a request through verification, history and handler;
 *   <li>{@code Signatures} and {@code FolderSecrets} have the signatures and the shared secrets;
 *   <li>{@code History} remembers the calls of the last ten minutes; a {@code Run} is one of them.
 * </ul>
 */
package dev.drover;

/**
 * A signal that fires on Ctrl-C, SIGTERM, the end of the terminal, or a closed output. A second one ends this process at
 * once; the processes that it has started end with it. To stop because something is broken, abort the controller with the
 * error as its reason.
 */
export function stopOnRequest(): AbortController {
  const stop = new AbortController();
  const asked = (code: number) => (): void => {
    if (stop.signal.aborted) process.exit(code);
    stop.abort();
  };
  process.on("SIGINT", asked(130)).on("SIGTERM", asked(143)).on("SIGHUP", asked(129));
  process.stdout.on("error", () => stop.abort());
  return stop;
}

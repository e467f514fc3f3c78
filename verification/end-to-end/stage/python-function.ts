const root = new URL("../../../", import.meta.url).pathname;

/**
 * The image of an example in Python, with its package. The search path that it has stays, because it brings the clock of the node.
 */
export const pythonFunction = (example: string) => ({
  command: [
    ...["sh", "-c", 'PYTHONPATH="$0:$PYTHONPATH" exec python3 "$1"'],
    ...[`${root}sdk/python`, `${root}examples/python/${example}`],
  ],
});

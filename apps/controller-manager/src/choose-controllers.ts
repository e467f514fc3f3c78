import { suggest } from "@drover/controller";

/** A value of `--controllers` that chooses no controllers, or unknown ones. The message has the remedy. */
export class InvalidControllersError extends Error {
  override readonly name = "InvalidControllersError";
}

/**
 * The names that a value of `--controllers` chooses, in the order of `known`, by the rules of kube-controller-manager: `*`
 * chooses all, `job` chooses one, `-job` leaves one out. A name counts more than `*`, and its first mention more than the
 * others.
 *
 * @see https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/controller-manager/app/helper.go
 * @throws InvalidControllersError for an unknown name, and if no controller is left.
 */
export function chooseControllers(words: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = words.filter((word) => word !== "*" && !known.includes(word.replace(/^-/, "")));
  const all = `Known are: ${known.join(", ")}.`;
  if (unknown.length > 0) {
    const problems = unknown.map(
      (word) => `${JSON.stringify(word)} is not a controller. ${hint(word, known)}`,
    );
    throw new InvalidControllersError(`--controllers: ${problems.join(" ")}${all}`);
  }
  const chosen = known.filter((name) => {
    const mention = words.find((word) => word === name || word === `-${name}`);
    return mention === undefined ? words.includes("*") : mention === name;
  });
  if (chosen.length > 0) return chosen;
  throw new InvalidControllersError(
    `--controllers=${words.join(",")} leaves no controller to run. Name one, or write * for all. ${all}`,
  );
}

/** The known name that was meant, if one is similar. */
function hint(word: string, known: readonly string[]): string {
  const text = suggest(word.replace(/^-/, ""), known);
  return text.startsWith("Known") ? "" : `${text} `;
}

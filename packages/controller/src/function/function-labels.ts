/** The label of everything that belongs to a function; its value is the function's name. */
export const functionLabel = "drover.dev/function";
/**
 * The label with the namespace of the function that an object belongs to: the object may be in another one, or in none.
 */
export const namespaceLabel = "drover.dev/function-namespace";

/** Namespace and name of a function. */
export interface FunctionName {
  readonly namespace: string;
  readonly name: string;
}

/** The labels of all that the deployer makes for a function. */
export const functionLabels = ({ namespace, name }: FunctionName) => ({
  [functionLabel]: name,
  [namespaceLabel]: namespace,
});

/** The label selector of all objects of a function, in any namespace. */
export const functionSelector = (name: FunctionName): string =>
  Object.entries(functionLabels(name))
    .map(([label, value]) => `${label}=${value}`)
    .join(",");

/**
 * Kubernetes' `$(NAME)`: the value where there is one, as it stands where there is none; `$$` is a `$` that begins no
 * reference (k8s.io/kubernetes, third_party/forked/golang/expansion).
 */
export const expandReferences = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? "$" : (values.get(name) ?? whole),
  );

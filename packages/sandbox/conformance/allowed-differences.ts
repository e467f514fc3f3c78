/** A difference that is allowed. */
export interface Allowed {
  /** The requests, as `METHOD /path?query`. */
  readonly request: RegExp;
  /** The place in the answer. */
  readonly path: RegExp;
  /** The value of the real server. */
  readonly real?: RegExp;
  readonly reason: string;
}

/** All allowed differences. The suite fails if no case meets one of them. */
export const allowedDifferences: readonly Allowed[] = [
  {
    request: /./,
    path: /message$/,
    real: /json: cannot unmarshal|invalid character|unexpected end of JSON|json parse error|unknown conversion|illegal base64|\(\*(core|unstructured)\.|parsing time|declared merge key|failed to create typed patch object .*: expected|error converting YAML|list element types|cannot restore slice|unknown patch type/,
    reason:
      "Go's error for JSON that it cannot decode names Go's types and its parser's states: code and reason are the same.",
  },
  {
    request: /^PATCH /,
    path: /message$/,
    real: /(patch: )?Invalid value: \\"(\{|map\[)|patch: Invalid value/,
    reason:
      "A patch that leaves nothing readable is answered with the whole object, as Go writes it, in the message.",
  },
  {
    request: /^(PUT|PATCH) [^?]*\/pods\//,
    path: /message$/,
    real: /pod updates may not change fields other than/,
    reason: "To what may not change of a pod the real server adds the difference between two Go structs.",
  },
  {
    request: /^P(UT|OST) /,
    path: /message$/,
    real: /StorageError: invalid object/,
    reason: "The real server names the key in etcd of an object that has another uid.",
  },
  {
    request: /^GET \/versio/,
    path: /^body\.(git\w+|buildDate|goVersion|compiler|platform)$/,
    reason: "Which build answers is what these fields of /version are for.",
  },
  {
    request: /customresourcedefinitions/,
    path: /message$/,
    real: /spec\.versions: Invalid value|Invalid value: \[\{|Invalid value: \{\\"(ID|Rule)\\"/,
    reason:
      "What is wrong with versions, schemas or rules as a whole is answered with all of them, as Go prints its structs.",
  },
  {
    request: /\(application\/yaml\)$/,
    path: /./,
    reason: "The sandbox reads no YAML: clients send JSON.",
  },
  {
    request: /\/pods/,
    path: /\bspec\.(?!(nodeName|restartPolicy|terminationGracePeriodSeconds)$)|qosClass/,
    reason: "The sandbox fills in few defaults of pods: those that controllers and nodes read.",
  },
  {
    request: /\/events/,
    path: /(imestamp|ource|eventTime|reporting\w+)$/,
    real: /^(null|\{\}|"")$/,
    reason: "The real server writes fields of Events that have no value.",
  },
  {
    request: /\/services/,
    path: /\bspec\.(f:)?(ports(\[\d+\]\.|.*f:)(protocol|targetPort)|sessionAffinity|internalTrafficPolicy|ipFamil\w+)/,
    reason: "The sandbox fills in no defaults of Services that no caller reads.",
  },
  {
    request: /^GET \/(api\/v1|apis\/[^/]*k8s\.io)\//,
    path: /columnDefinitions|cells/,
    reason: "Tables of built-in kinds have an age only: people read them, programs do not.",
  },
];

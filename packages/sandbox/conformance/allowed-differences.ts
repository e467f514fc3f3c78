/** A difference that is meant to be there. */
export interface Allowed {
  /** Which requests, as `METHOD /path?query`. */
  readonly request: RegExp;
  /** Where in the answer. */
  readonly path: RegExp;
  /** What the real server says there. */
  readonly real?: RegExp;
  readonly reason: string;
}

/** All of them. One that no case meets any more fails the suite. */
export const allowedDifferences: readonly Allowed[] = [
  {
    request: /./,
    path: /message$/,
    real: /json: cannot unmarshal|invalid character|unexpected end of JSON|json parse error|unknown conversion|illegal base64|\(\*(core|unstructured)\.|parsing time|declared merge key|list element types|cannot restore slice|unknown patch type/,
    reason:
      "What Go says of JSON that it cannot decode names Go's types and its parser's states: code and reason are the same.",
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
    reason: "Bodies in YAML are taken by server-side apply alone: clients send JSON.",
  },
  {
    request: /\/services\//,
    path: /nodePort$/,
    reason: "Services get no port on nodes: nothing would be behind it.",
  },
  {
    request: /^GET \/(api\/v1|apis\/[^/]*(apps|k8s\.io|policy))\//,
    path: /columnDefinitions|cells/,
    reason: "Tables of built-in kinds have the sandbox's own columns: people read them, programs do not.",
  },
];

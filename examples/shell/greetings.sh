#!/usr/bin/env bash
# A function that greets: it writes a greeting for spec.name into status.text. Start it with
#   ../../sdk/shell/serve.pl ./greetings.sh

reconcile() {
  # For tests of the contract. Not an example to follow: calls do not depend on the calls before them.
  local runs=$(($(cat "$DROVER_STATE/runs" 2>/dev/null || echo 0) + 1))
  echo "$runs" >"$DROVER_STATE/runs"
  jq -c --argjson runs "$runs" '.object.spec |
    if (.name | type) != "string" then {outcome: "parked", reason: "InvalidSpec", message: "spec.name: give a name"}
    elif .refuse then {outcome: "parked", reason: "NoGreeting", message: "no greeting for that"}
    elif .fail then {outcome: "failed", message: "this one always fails"}
    elif .wait then {outcome: "again", after: "\(.wait)s", reason: "TooEarly", message: "not yet"}
    else {outcome: "done", status: ({text: "Hello, \(.name)!"} + if .count then {runs: $runs} else {} end)} end'
}
finalize() {
  jq -c 'if .object.spec.hold == true then {outcome: "again", after: "1s", reason: "TooEarly", message: "not yet"}
    else {outcome: "finalized"} end'
}

source "$(dirname "${BASH_SOURCE[0]}")/../../sdk/shell/drover.sh"

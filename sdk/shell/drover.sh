# A function for Drover in bash, with openssl, jq, flock and coreutils. Source it at the end of a script that defines
# reconcile, compose or finalize: each gets the call on its standard input, and writes an answer of one line.
#
# The script answers one call, on its standard input and output, as inetd would have it; serve.pl listens, and so does
#   socat TCP-LISTEN:8080,bind=127.0.0.1,reuseaddr,fork EXEC:./greetings.sh
# It needs DROVER_WEBHOOK_AUDIENCE, DROVER_WEBHOOK_SECRETS, and folders to write to: DROVER_STATE, in which it remembers
# calls, and TMPDIR (/tmp).
set -uo pipefail
export LC_ALL=C
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
id=''

# HMAC-SHA256 (RFC 2104) of standard input, base64. By hand: a key given to openssl can be seen by all, in its arguments.
hmac() {
  local hex=$1 inner='' outer='' i byte
  for ((i = 0; i < 64; i++)); do
    byte=$((16#${hex:$((2 * i)):2}0 / 16))
    printf -v inner '%s\\x%02x' "$inner" $((byte ^ 0x36))
    printf -v outer '%s\\x%02x' "$outer" $((byte ^ 0x5c))
  done
  { printf "$inner" && cat; } | openssl dgst -sha256 -binary >"$work/inner"
  { printf "$outer" && cat "$work/inner"; } | openssl dgst -sha256 -binary | base64 -w0
}
digest() { openssl dgst -sha256 -r | cut -d' ' -f1; }

# The signatures of a file ($3) under an id and a time, one with each secret. Read for each call: they may have changed.
signatures() {
  local name secret
  for name in current previous; do
    [[ -r $DROVER_WEBHOOK_SECRETS/$name ]] || continue
    secret=$(<"$DROVER_WEBHOOK_SECRETS/$name")
    secret=$(printf '%s' "${secret#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
    ((${#secret} >= 48)) || continue # an empty file is no secret: everybody could sign with that
    printf 'v1,%s ' "$({ printf '%s.%s.' "$1" "$2" && cat "$3"; } | hmac "$secret")"
  done
}

answer() { # status body
  local now
  printf '%s' "$2" >"$work/answer"
  printf 'HTTP/1.1 %s Answer\r\ncontent-type: application/json\r\nconnection: close\r\n' "$1"
  printf 'content-length: %s\r\n' "$(stat -c %s "$work/answer")"
  if [[ -n $id ]]; then
    now=$(date +%s)
    printf 'webhook-id: %s\r\nwebhook-timestamp: %s\r\n' "$id" "$now"
    printf 'webhook-signature: %s\r\n' "$(signatures "$id" "$now" "$work/answer" | sed 's/ $//')"
  fi
  printf '\r\n' && cat "$work/answer"
  exit
}
# The call is not genuine, not ours, or late. As long as id is empty the answer is not signed, and so decides nothing.
refuse() { answer "$1" "$(jq -cn --arg message "$2" '{message: $message}')"; }
conflict() { answer 200 "$(jq -cn --arg message "$1" '{outcome: "conflict", message: $message}')"; }

# The answer of the handler for a call of this type ($1).
run() {
  local said
  if declare -F "$1" >/dev/null; then
    said=$("$1" <"$work/body") && [[ $said == "{"*"}" && $said != *$'\n'* ]] ||
      said='{"outcome":"failed","message":"the function wrote no answer of one line: see its log"}'
  elif [[ $1 == finalize ]]; then
    said='{"outcome":"finalized"}'
  else
    said='{"outcome":"parked","message":"This function has no '$1': see spec.webhook.composes."}'
  fi
  printf '%s' "$said"
}

declare -A header
IFS=' ' read -r -t 10 method _path _version || exit 1
for ((i = 0; ; i++)); do
  IFS= read -r -t 10 line || exit 1
  line=${line%$'\r'}
  [[ -n $line ]] || break
  name=${line%%:*} && name=${name,,} && value=${line#*:} && value=${value# }
  # One that came twice is no header.
  [[ -z ${header[$name]+there} ]] && header[$name]=$value || header[$name]='twice, twice'
  ((i < 100)) || refuse 431 'too many headers'
done
[[ $method == POST ]] || refuse 405 'calls are sent with POST'
[[ ${header[content-encoding]:-identity} == identity ]] || refuse 415 'not compressed, please'
length=${header[content-length]:-0}
[[ $length =~ ^[0-9]{1,7}$ ]] && ((10#$length <= 2 * 1024 * 1024)) || refuse 413 'too large'
timeout 10 head -c "$((10#$length))" >"$work/body"

# Is it the gateway's?
claimed=${header[webhook-id]:-} time=${header[webhook-timestamp]:-} given=${header[webhook-signature]:-}
[[ $claimed =~ ^[!-~]{1,256}$ && $claimed != *.* && $time =~ ^[1-9][0-9]{0,11}$ ]] || refuse 401 'not signed'
off=$(($(date +%s) - time))
((off <= 300 && off >= -300)) || refuse 401 'not signed within five minutes; compare the clocks'
good=no
for expected in $(signatures "$claimed" "$time" "$work/body"); do
  # Of their digests: by the time it takes nobody learns how much of a signature is right.
  expected=$(digest <<<"$expected")
  for one in $(printf '%s' "$given" | cut -c1-2400 | tr -c 'A-Za-z0-9+/=, \n' '?'); do
    [[ $(digest <<<"$one") == "$expected" ]] && good=yes
  done
done
[[ $good == yes && $given != *', '* ]] || refuse 401 'no secret fits'

# Is it a call, meant for us, and in time?
jq -e 'type == "object" and ([.. | objects | has("__proto__")] | any | not)' "$work/body" >"$work/is" 2>/dev/null &&
  [[ $(wc -l <"$work/is") == 1 ]] || refuse 400 'not a call'
jq -e --arg name "$DROVER_WEBHOOK_AUDIENCE" --arg uid "${DROVER_WEBHOOK_UID:-}" '
  (.audience | type) == "object" and .audience.name == $name and ($uid == "" or .audience.uid == $uid)' \
  "$work/body" >/dev/null || refuse 421 'the call is meant for another function'
jq -e --arg id "$claimed" '(.type | IN("dev.drover.reconcile.v2", "dev.drover.finalize.v2", "dev.drover.compose.v2"))
  and .token == $id and (.key | type) == "string" and .key != "" and (.object.spec | type) == "object"
  and (.object.metadata.resourceVersion | type) == "string"
  and (.deadline | sub("\\.[0-9]+Z$"; "Z") | fromdateiso8601 | type) == "number"' \
  "$work/body" >/dev/null 2>&1 || refuse 400 'not a call'
jq -e '(.deadline | sub("\\.[0-9]+Z$"; "Z") | fromdateiso8601) > now - 1' "$work/body" >/dev/null ||
  refuse 408 'the deadline is over'
id=$claimed

# The answer to the same call before, or that of a run; nothing old runs after something newer. One at a time: long runs
# want a lock per key.
mkdir -p "$DROVER_STATE/calls" "$DROVER_STATE/keys"
exec 9>"$DROVER_STATE/lock" && flock 9
find "$DROVER_STATE/calls" "$DROVER_STATE/keys" -type f -mmin +20 -delete
call=$DROVER_STATE/calls/$(printf '%s' "$id" | digest)
key=$DROVER_STATE/keys/$(jq -j .key "$work/body" | digest)
body=$(digest <"$work/body")
if [[ -e $call ]]; then
  { read -r before && read -r said; } <"$call"
  [[ $before == "$body" ]] || conflict 'another call came with this id'
else
  version=$(jq -r .object.metadata.resourceVersion "$work/body")
  [[ $version =~ ^[1-9][0-9]{0,17}$ ]] || version=0
  if [[ -e $key ]]; then
    read -r newest at <"$key"
    ((version > newest || (version == newest && time >= at))) || conflict 'a newer run of this key has begun'
  fi
  echo "$version $time" >"$key"
  verb=$(jq -r '.type | split(".")[2]' "$work/body")
  said=$(run "$verb")
  printf '%s\n%s\n' "$body" "$said" >"$call"
fi
answer 200 "$said"

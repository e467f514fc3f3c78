// A function for Drover in Go, without any library.
//
//	DROVER_WEBHOOK_AUDIENCE=web/greetings DROVER_WEBHOOK_SECRETS=/secrets DROVER_HTTP_PORT=8080 go run .
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance = 300 * time.Second
	largest   = 2 << 20
)

type call struct {
	Type     string `json:"type"`
	Audience struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"audience"`
	Key      string    `json:"key"`
	Token    string    `json:"token"`
	Deadline time.Time `json:"deadline"`
	Object   struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec *struct {
			Name                      any
			Refuse, Fail, Hold, Count bool
			Wait                      int
		} `json:"spec"`
	} `json:"object"`
}

// The body of an answer. It is written once: a repeated answer is the same.
type answer []byte

func say(outcome string, fields map[string]any) answer {
	body := map[string]any{"outcome": outcome}
	for name, value := range fields {
		body[name] = value
	}
	text, _ := json.Marshal(body)
	return text
}

var runs int

// The work of this function: from a spec to an answer that states its outcome.
func reconcile(c call) answer {
	runs++
	spec := c.Object.Spec
	name, isText := spec.Name.(string)
	switch {
	case !isText:
		return say("parked", map[string]any{"reason": "InvalidSpec", "message": "spec.name: give a name"})
	case spec.Refuse:
		return say("parked", map[string]any{"reason": "NoGreeting", "message": "no greeting for that"})
	case spec.Fail:
		return say("failed", map[string]any{"message": "this one always fails"})
	case spec.Wait > 0:
		return wait(spec.Wait)
	}
	status := map[string]any{"text": "Hello, " + name + "!"}
	if spec.Count {
		status["runs"] = runs
	}
	return say("done", map[string]any{"status": status})
}

func finalize(c call) answer {
	if c.Object.Spec.Hold {
		return wait(1)
	}
	return say("finalized", nil)
}

func wait(seconds int) answer {
	after := strconv.Itoa(seconds) + "s"
	return say("again", map[string]any{"after": after, "reason": "TooEarly", "message": "not yet"})
}

func conflict(message string) answer {
	return say("conflict", map[string]any{"message": message})
}

type known struct {
	at     time.Time
	digest [32]byte
	said   answer
}
type newest struct {
	at      time.Time
	version uint64
}

var (
	lock    sync.Mutex // one at a time: what runs long wants a lock per key
	answers = map[string]known{}
	latest  = map[string]newest{}
)

// The answer to the same call before, or that of a run; nothing old runs after something newer.
func perform(c call, at time.Time, body []byte) answer {
	lock.Lock()
	defer lock.Unlock()
	forget := time.Now().Add(-2 * tolerance)
	for id, one := range answers {
		if one.at.Before(forget) {
			delete(answers, id)
		}
	}
	for key, one := range latest {
		if one.at.Before(forget) {
			delete(latest, key)
		}
	}
	digest := sha256.Sum256(body)
	if one, ok := answers[c.Token]; ok {
		if one.digest != digest {
			return conflict("another call came with this id")
		}
		return one.said
	}
	version, _ := strconv.ParseUint(c.Object.Metadata.ResourceVersion, 10, 64)
	if one, ok := latest[c.Key]; ok && (version < one.version || version == one.version && at.Before(one.at)) {
		return conflict("a newer run of this key has begun")
	}
	latest[c.Key] = newest{at, version}
	said := finalize
	if c.Type == "dev.drover.reconcile.v2" {
		said = reconcile
	}
	one := known{at, digest, said(c)}
	answers[c.Token] = one
	return one.said
}

// A file that is empty is no secret: everybody could sign with that.
const leastSecret = 24

// Read for each call: they may have been changed.
func secrets() (all [][]byte) {
	for _, name := range []string{"current", "previous"} {
		text, err := os.ReadFile(filepath.Join(os.Getenv("DROVER_WEBHOOK_SECRETS"), name))
		if err != nil {
			continue
		}
		if secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(text)), "whsec_")); err == nil && len(secret) >= leastSecret {
			all = append(all, secret)
		}
	}
	return all
}

func signatures(id, timestamp string, body []byte) (all []string) {
	for _, secret := range secrets() {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.", id, timestamp)
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return all
}

var (
	goodID   = regexp.MustCompile(`^[!-\-/-~]{1,256}$`)
	goodTime = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// A call that is not genuine, not ours, or late. This answer is not signed, and so decides nothing.
type refusal struct {
	status  int
	message string
}

// The call, if it is the gateway's, meant for us, and in time; else why it is refused.
func verify(header http.Header, body []byte) (c call, at time.Time, refused *refusal) {
	no := func(status int, message string) (call, time.Time, *refusal) {
		return c, at, &refusal{status, message}
	}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		// One that came twice is no header, also where a proxy has made one of them.
		if len(header.Values(name)) != 1 || strings.Contains(header.Get(name), ", ") {
			return no(401, "not signed")
		}
	}
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if !goodID.MatchString(id) || !goodTime.MatchString(timestamp) {
		return no(401, "not signed")
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	at = time.Unix(seconds, 0)
	if time.Since(at).Abs() > tolerance {
		return no(401, "not signed within five minutes; compare the clocks")
	}
	good := false
	for i, given := range strings.Split(header.Get("Webhook-Signature"), " ") {
		for _, one := range signatures(id, timestamp, body) {
			good = hmac.Equal([]byte(given), []byte(one)) || good
		}
		if i == 50 {
			break
		}
	}
	if !good {
		return no(401, "no secret fits")
	}
	if err := json.Unmarshal(body, &c); err != nil || bytes.Contains(body, []byte(`"__proto__"`)) {
		return no(400, "not a call")
	}
	uid := os.Getenv("DROVER_WEBHOOK_UID")
	if c.Audience.Name != os.Getenv("DROVER_WEBHOOK_AUDIENCE") || uid != "" && c.Audience.UID != uid {
		return no(421, "the call is meant for another function")
	}
	known := c.Type == "dev.drover.reconcile.v2" || c.Type == "dev.drover.finalize.v2"
	if !known || c.Token != id || c.Key == "" || c.Object.Spec == nil || c.Object.Metadata.ResourceVersion == "" {
		return no(400, "not a call")
	}
	if !c.Deadline.After(time.Now()) {
		return no(408, "the deadline is over")
	}
	return c, at, nil
}

func handle(w http.ResponseWriter, r *http.Request) {
	if encoding := r.Header.Get("Content-Encoding"); r.Method != "POST" || encoding != "" && encoding != "identity" {
		http.Error(w, "calls are sent with POST, and not compressed", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		http.Error(w, "too large, or cut off", http.StatusRequestEntityTooLarge)
		return
	}
	c, at, refused := verify(r.Header, body)
	if refused != nil {
		http.Error(w, refused.message, refused.status)
		return
	}
	said := perform(c, at, body)
	now := strconv.FormatInt(time.Now().Unix(), 10)
	w.Header().Set("Webhook-Id", c.Token)
	w.Header().Set("Webhook-Timestamp", now)
	w.Header().Set("Webhook-Signature", strings.Join(signatures(c.Token, now, said), " "))
	w.Header().Set("Content-Type", "application/json")
	w.Write(said)
}

func main() {
	port := os.Getenv("DROVER_HTTP_PORT")
	if port == "" {
		port = "8080"
	}
	host := os.Getenv("DROVER_HTTP_HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		panic(err)
	}
	fmt.Println("Answering calls at", listener.Addr())
	server := http.Server{Handler: http.HandlerFunc(handle), ReadTimeout: 10 * time.Second}
	panic(server.Serve(listener))
}

package drover

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
	// tolerance is the greatest difference between the time of a message and our clock: an older message may be a replay.
	tolerance      = 300 * time.Second
	maxSignatures  = 50
	minSecretBytes = 24
)

// folderSecrets are the files current and, during a change of the secret, previous of a folder in which a Secret is
// mounted. They are read for each request, so that a changed Secret counts at once. If reading fails, the secrets that
// were read before stay valid.
type folderSecrets struct {
	folder string
	mutex  sync.Mutex
	last   [][]byte
}

func openSecrets(folder string) (*folderSecrets, error) {
	last, err := readSecrets(folder)
	return &folderSecrets{folder: folder, last: last}, err
}

func (s *folderSecrets) current() [][]byte {
	read, err := readSecrets(s.folder)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err != nil {
		slog.Warn("The secrets cannot be read; those that were read before stay in use", "error", err)
		return s.last
	}
	s.last = read
	return read
}

func readSecrets(folder string) ([][]byte, error) {
	var all [][]byte
	for _, name := range []string{"current", "previous"} {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("the secret in %s cannot be read: %w", path, err)
		}
		encoded, hasPrefix := strings.CutPrefix(strings.TrimSpace(string(text)), "whsec_")
		secret, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		// An empty secret is none: everybody could sign with it.
		if !hasPrefix || err != nil || len(secret) < minSecretBytes {
			return nil, fmt.Errorf("the secret in %s is not whsec_ with %d bytes or more in base64", path, minSecretBytes)
		}
		if name == "previous" && len(all) == 0 {
			break
		}
		all = append(all, secret)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no file current in %s: mount the Secret <name>-webhook of the ReconcileFunction "+
			"there (DROVER_WEBHOOK_SECRETS)", folder)
	}
	return all, nil
}

// signatures returns the signatures of a message after https://www.standardwebhooks.com, one with each secret.
func signatures(secrets [][]byte, id, timestamp string, body []byte) []string {
	var all []string
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.", id, timestamp)
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return all
}

var (
	validID   = regexp.MustCompile(`^[!-\-/-~]{1,256}$`)
	validTime = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// refusal is the response to a request that is not a genuine call, not meant for this function, or late. It is not
// signed, so it decides nothing, and it has no part of the request.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

// verify returns the id and the time of a message that was signed with one of the secrets.
func verify(secrets [][]byte, header http.Header, body []byte, now time.Time) (id string, at time.Time, err error) {
	unsigned := &refusal{http.StatusUnauthorized, "the call is not signed"}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		// A header that came twice, also joined by a proxy, counts as missing.
		if len(header.Values(name)) != 1 || strings.Contains(header.Get(name), ", ") {
			return "", at, unsigned
		}
	}
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if !validID.MatchString(id) || !validTime.MatchString(timestamp) {
		return "", at, unsigned
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	at = time.Unix(seconds, 0)
	if now.Sub(at).Abs() > tolerance {
		return "", at, &refusal{http.StatusUnauthorized, "the call was not signed within five minutes: compare the clocks"}
	}
	given := strings.SplitN(header.Get("Webhook-Signature"), " ", maxSignatures+1)
	isGenuine := false
	for _, ours := range signatures(secrets, id, timestamp, body) {
		for _, theirs := range given[:min(len(given), maxSignatures)] {
			// All are compared, so that the time does not reveal which one fits.
			isGenuine = hmac.Equal([]byte(ours), []byte(theirs)) || isGenuine
		}
	}
	if !isGenuine {
		return "", at, &refusal{http.StatusUnauthorized, "the call is not signed with a secret of this function"}
	}
	return id, at, nil
}

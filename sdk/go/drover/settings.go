package drover

import (
	"errors"
	"regexp"
	"strconv"
	"time"
)

// settings are the environment variables that Drover's deployer sets.
type settings struct {
	// audience is DROVER_WEBHOOK_AUDIENCE: namespace/name of the ReconcileFunction.
	audience string
	// uid is DROVER_WEBHOOK_UID. Without it, calls for an earlier object of the same name are answered, too.
	uid string
	// secrets is DROVER_WEBHOOK_SECRETS: the folder in which the Secret <name>-webhook is mounted.
	secrets string
	// host and port are DROVER_HTTP_HOST, by default 127.0.0.1, and DROVER_HTTP_PORT, by default 8080.
	host, port string
	// stopGrace is DROVER_STOP_GRACE: the time for calls in progress to end after SIGTERM, by default 20s.
	stopGrace time.Duration
}

var validAudience = regexp.MustCompile(`^[^/\s]+/[^/\s]+$`)

func settingsFrom(getenv func(string) string) (settings, error) {
	or := func(name, other string) string {
		if value := getenv(name); value != "" {
			return value
		}
		return other
	}
	s := settings{
		audience: getenv("DROVER_WEBHOOK_AUDIENCE"),
		uid:      getenv("DROVER_WEBHOOK_UID"),
		secrets:  getenv("DROVER_WEBHOOK_SECRETS"),
		host:     or("DROVER_HTTP_HOST", "127.0.0.1"),
		port:     or("DROVER_HTTP_PORT", "8080"),
	}
	grace, isValid := duration(or("DROVER_STOP_GRACE", "20s"))
	s.stopGrace = grace
	switch {
	case !validAudience.MatchString(s.audience):
		return s, errors.New("set DROVER_WEBHOOK_AUDIENCE to namespace/name of the ReconcileFunction")
	case s.secrets == "":
		return s, errors.New("set DROVER_WEBHOOK_SECRETS to the folder in which the Secret <name>-webhook is mounted")
	case !isValid:
		return s, errors.New("set DROVER_STOP_GRACE to a duration such as 20s")
	}
	if _, err := strconv.ParseUint(s.port, 10, 16); err != nil {
		return s, errors.New("set DROVER_HTTP_PORT to a port from 0 to 65535")
	}
	return s, nil
}

var (
	validDuration = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$`)
	durationPart  = regexp.MustCompile(`([0-9.]+)(ms|s|m|h|d)`)
	units         = map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
)

// duration parses a duration as Drover writes it: other than in Go, there are days.
func duration(text string) (total time.Duration, isValid bool) {
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.ParseFloat(part[1], 64)
		total += time.Duration(number * float64(units[part[2]]))
	}
	return total, validDuration.MatchString(text)
}

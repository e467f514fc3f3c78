package drover

import (
	"bytes"
	"encoding/json"
)

// Answer is the outcome of a call: one of the types below. An error in place of an answer counts as [Failed].
type Answer interface{ outcome() string }

// Done answers a reconcile call: the object is reconciled.
type Done struct {
	// Status becomes the object's status. Nil leaves it as it is.
	Status     any         `json:"status,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	// RequeueAfter is a duration such as 30s: call again after it, even if nothing has changed.
	RequeueAfter string `json:"requeueAfter,omitempty"`
	// Account is the external account that was used.
	Account string `json:"account,omitempty"`
}

// Composed answers a compose call with all children that should exist. Each is an object as in a manifest, of any type
// that becomes one in JSON, or a [Child].
type Composed struct {
	Children     []any       `json:"children"`
	Status       any         `json:"status,omitempty"`
	Conditions   []Condition `json:"conditions,omitempty"`
	RequeueAfter string      `json:"requeueAfter,omitempty"`
}

// Child is a child with settings. A setting that is left out has its default.
type Child struct {
	Object any `json:"object"`
	// Wave orders children: those of a higher wave are applied when all of lower waves are ready.
	Wave int `json:"wave,omitempty"`
	// Update is Apply (default), Recreate, OnDelete or Rolling.
	Update         string `json:"update,omitempty"`
	MaxUnavailable int    `json:"maxUnavailable,omitempty"`
	// Deletion is Delete (default), Orphan or Retain.
	Deletion string `json:"deletion,omitempty"`
	Adopt    bool   `json:"adopt,omitempty"`
}

// Condition is a condition of the status. If none is Ready, Drover adds that.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Finalized answers a finalize call: everything is undone, and the object may be deleted.
type Finalized struct{}

// Again asks to be called again after a duration such as 30s. It counts as a wait, not as a failure.
type Again struct {
	After   string `json:"after"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Account is an external account that accepts no calls until then: all keys that use it wait.
	Account string `json:"account,omitempty"`
}

// Conflict means that another writer came first: the function is called again almost at once.
type Conflict struct {
	Message string `json:"message,omitempty"`
}

// Failed means that the run failed: the function is called again, with backoff.
type Failed struct {
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
}

// Parked means that another call cannot help: the key is parked until the object changes.
type Parked struct {
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
}

func (Done) outcome() string      { return "done" }
func (Composed) outcome() string  { return "composed" }
func (Finalized) outcome() string { return "finalized" }
func (Again) outcome() string     { return "again" }
func (Conflict) outcome() string  { return "conflict" }
func (Failed) outcome() string    { return "failed" }
func (Parked) outcome() string    { return "parked" }

// MarshalJSON writes no children as an empty list, since the field is required.
func (c Composed) MarshalJSON() ([]byte, error) {
	type plain Composed
	if c.Children == nil {
		c.Children = []any{}
	}
	return json.Marshal(plain(c))
}

// render returns the answer as the JSON object that is sent.
func render(answer Answer) ([]byte, error) {
	fields, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	body := []byte(`{"outcome":"` + answer.outcome() + `"`)
	if !bytes.Equal(fields, []byte("{}")) {
		body = append(body, ',')
	}
	return append(body, fields[1:]...), nil
}

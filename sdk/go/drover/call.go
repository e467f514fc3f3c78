package drover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The types of calls.
const (
	TypeReconcile = "dev.drover.reconcile.v2"
	TypeFinalize  = "dev.drover.finalize.v2"
	TypeCompose   = "dev.drover.compose.v2"
)

// Call is a call for one object.
type Call struct {
	Type string `json:"type"`
	// Key is namespace/name of the object, or its name if the kind is cluster-scoped.
	Key string `json:"key"`
	// Token is of the run, and never used twice: the same token is the same call.
	Token string `json:"token"`
	// Deadline is also that of the handler's context: after it, another run may begin.
	Deadline time.Time `json:"deadline"`
	// Reasons say why the function is called, for people.
	Reasons []string `json:"reasons"`
	// Fails is the number of failed runs of this key in a row.
	Fails int `json:"fails"`
	// Object is as the run read it.
	Object Object `json:"object"`
	// Children are those that exist, for a compose call. Secrets have only their metadata.
	Children Objects `json:"children"`
	// Related are the related objects that exist, for a compose call.
	Related Objects `json:"related"`
	// Body is the whole call: it may have fields that this version of the package does not know.
	Body json.RawMessage `json:"-"`

	audience struct{ Name, UID string }
}

// Object is a Kubernetes object.
type Object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// JSON is the whole object.
	JSON json.RawMessage `json:"-"`
}

// Objects are Kubernetes objects.
type Objects []Object

// Get returns an object, such as call.Children.Get("apps/v1", "Deployment", "web"), or nil.
func (o Objects) Get(apiVersion, kind, name string) *Object {
	for i, one := range o {
		if one.APIVersion == apiVersion && one.Kind == kind && one.Metadata.Name == name {
			return &o[i]
		}
	}
	return nil
}

// Metadata has the commonest fields of an object's metadata.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int64             `json:"generation"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
}

// UnmarshalJSON keeps the whole object beside its common fields.
func (o *Object) UnmarshalJSON(text []byte) error {
	type plain Object
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	o.JSON = bytes.Clone(text)
	return nil
}

// Decode decodes the whole object. Numbers in fields of type any become json.Number, so that integers keep their digits.
func (o *Object) Decode(into any) error { return decode(o.JSON, into) }

// SpecError is a spec that could not be decoded. A handler that returns it parks the object, with the reason InvalidSpec.
type SpecError struct{ problem string }

func (e *SpecError) Error() string { return e.problem }

// Spec decodes the object's spec. Return its error as it is.
func (c *Call) Spec(into any) error {
	object := struct{ Spec json.RawMessage }{}
	if err := c.Object.Decode(&object); err != nil {
		return err
	}
	err := decode(object.Spec, into)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return &SpecError{fmt.Sprintf("spec.%s: give a %s, not a %s", mismatch.Field, mismatch.Type, mismatch.Value)}
	} else if err != nil {
		return &SpecError{"the spec cannot be read"}
	}
	return nil
}

// Status decodes the object's status, if it has one.
func (c *Call) Status(into any) error {
	return c.Object.Decode(&struct {
		Status any `json:"status"`
	}{into})
}

// Name returns the name of the object.
func (c *Call) Name() string { return c.Object.Metadata.Name }

// Namespace returns the namespace of the object.
func (c *Call) Namespace() string { return c.Object.Metadata.Namespace }

// ParseCall parses the body of a call. Its signature must have been verified.
func ParseCall(body []byte) (*Call, error) {
	wire := struct {
		*Call
		Audience struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"audience"`
	}{Call: &Call{Body: body}}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, errors.New("the call is not JSON of version 2 of the contract")
	}
	call := wire.Call
	call.audience.Name, call.audience.UID = wire.Audience.Name, wire.Audience.UID
	var object struct{ Spec map[string]json.RawMessage }
	known := call.Type == TypeReconcile || call.Type == TypeFinalize || call.Type == TypeCompose
	if !known || call.Key == "" || call.Name() == "" || call.Object.Metadata.ResourceVersion == "" ||
		call.Object.Decode(&object) != nil || object.Spec == nil {
		return nil, errors.New("this is not a call of version 2 of the contract: update the module or the gateway")
	}
	if hasProto(body) {
		return nil, errors.New("a field has the name __proto__")
	}
	return call, nil
}

func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// hasProto reports a field __proto__. No Kubernetes object has one, and code in JavaScript that handles it later would
// lose it.
func hasProto(text []byte) bool {
	if !bytes.Contains(text, []byte(`"__proto__"`)) {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return err != io.EOF
		}
		if token != "__proto__" {
			continue
		}
		// A name is followed by a colon, which only the rest of the input has.
		rest := bytes.TrimLeft(text[decoder.InputOffset():], " \t\r\n")
		if bytes.HasPrefix(rest, []byte(":")) {
			return true
		}
	}
}

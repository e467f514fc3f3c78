// Package drovertest makes calls for tests of handlers.
package drovertest

import (
	"encoding/json"
	"time"

	"drover.dev/sdk/go/drover"
)

// Call returns a call for the object default/name with this spec, and these children that exist.
func Call(name string, spec any, children ...any) *drover.Call {
	body, err := json.Marshal(map[string]any{
		"type": drover.TypeReconcile, "key": "default/" + name, "token": "token",
		"deadline": time.Now().Add(time.Minute).UTC(),
		"object": map[string]any{
			"apiVersion": "example.com/v1", "kind": "Example", "spec": spec,
			"metadata": map[string]any{"name": name, "namespace": "default", "uid": "1", "resourceVersion": "1"},
		},
		"children": children,
	})
	if err != nil {
		panic(err)
	}
	call, err := drover.ParseCall(body)
	if err != nil {
		panic(err)
	}
	return call
}

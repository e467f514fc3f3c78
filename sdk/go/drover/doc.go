// Package drover serves functions that Drover calls over HTTP.
//
// A function is one or two handlers. Each takes a [Call] and returns an [Answer]:
//
//	func compose(ctx context.Context, call *drover.Call) (drover.Answer, error) {
//		page := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": call.Name()}}
//		return drover.Composed{Children: []any{page}}, nil
//	}
//
//	func main() {
//		if err := drover.Serve(context.Background(), drover.Function{Compose: compose}); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// Compose declares the children that should exist for an object. Reconcile is for everything else: it looks at the world
// and moves it one step towards the spec. Finalize undoes that before the object is deleted.
//
// [Serve] verifies each call, answers a repeated call as before, keeps the order of the calls of a key, and signs the
// answers, as Drover's docs/webhook-functions.md requires. It needs no other module.
package drover

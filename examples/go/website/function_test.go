package main

import (
	"context"
	"reflect"
	"testing"

	"drover.dev/sdk/go/drover"
	"drover.dev/sdk/go/drover/drovertest"
)

var spec = Spec{HTML: "Hi", Image: "web:1", Replicas: 2}

func composed(t *testing.T, children ...any) drover.Composed {
	answer, err := compose(context.Background(), drovertest.Call("a", spec, children...))
	if err != nil {
		t.Fatal(err)
	}
	return answer.(drover.Composed)
}

func TestDeclaresAPageThatIsServed(t *testing.T) {
	children := composed(t).Children
	page, deployment, service := children[0].(object), children[1].(object), children[2].(object)
	if want := (object{"index.html": "Hi"}); !reflect.DeepEqual(page["data"], want) {
		t.Errorf("the data is %v, not %v", page["data"], want)
	}
	pods := deployment["spec"].(object)
	if pods["replicas"] != 2 {
		t.Errorf("there are %v replicas", pods["replicas"])
	}
	labels := pods["template"].(object)["metadata"].(object)["labels"]
	if selector := service["spec"].(object)["selector"]; !reflect.DeepEqual(selector, labels) {
		t.Errorf("the Service selects %v, not %v", selector, labels)
	}
}

func TestReportsTheReplicasThatAreReady(t *testing.T) {
	running := object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "a"}, "status": object{"readyReplicas": 1},
	}
	if want, got := (Status{"http://a.default.svc", 1}), composed(t, running).Status; got != want {
		t.Errorf("the status is %v, not %v", got, want)
	}
}

// A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and a Service.
// It only declares these children. Drover creates them, keeps them as they are declared, and deletes them.
package main

import (
	"context"
	"fmt"

	"drover.dev/sdk/go/drover"
)

// Spec has the fields that users set.
type Spec struct {
	HTML     string `json:"html"`
	Image    string `json:"image"`
	Replicas int    `json:"replicas"`
	// SecretName is a Secret with environment variables of the web server.
	SecretName string `json:"secretName,omitempty"`
}

// Status has the fields that users see.
type Status struct {
	Address       string `json:"address"`
	ReadyReplicas int    `json:"readyReplicas"`
}

// object is a part of a manifest.
type object = map[string]any

func compose(_ context.Context, call *drover.Call) (drover.Answer, error) {
	var spec Spec
	if err := call.Spec(&spec); err != nil {
		return nil, err
	}
	secret := call.Related.Get("v1", "Secret", spec.SecretName)
	if secret == nil && spec.SecretName != "" {
		return drover.Again{After: "10m", Reason: "NoSecret", Message: "Create the Secret " + spec.SecretName + "."}, nil
	}
	var running struct{ Status Status }
	if child := call.Children.Get("apps/v1", "Deployment", call.Name()); child != nil {
		if err := child.Decode(&running); err != nil {
			return nil, err
		}
	}
	name := call.Name()
	labels := object{"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name}
	metadata := object{"labels": labels}
	if secret != nil { // A new version of it replaces the Pods.
		metadata["annotations"] = object{"example.com/secret-version": secret.Metadata.ResourceVersion}
	}
	return drover.Composed{
		Children: []any{configMap(name, spec), deployment(name, spec, metadata, labels), service(name, labels)},
		Status: Status{
			Address:       fmt.Sprintf("http://%s.%s.svc", name, call.Namespace()),
			ReadyReplicas: running.Status.ReadyReplicas,
		},
	}, nil
}

func configMap(name string, spec Spec) object {
	return object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}, "data": object{"index.html": spec.HTML},
	}
}

func deployment(name string, spec Spec, metadata, labels object) object {
	container := object{
		"name":           "web",
		"image":          spec.Image,
		"ports":          []object{{"name": "http", "containerPort": 8080}},
		"readinessProbe": object{"httpGet": object{"path": "/", "port": "http"}},
		"volumeMounts":   []object{{"name": "page", "mountPath": "/usr/share/nginx/html", "readOnly": true}},
	}
	if spec.SecretName != "" {
		container["envFrom"] = []object{{"secretRef": object{"name": spec.SecretName}}}
	}
	pod := object{
		"containers": []object{container},
		"volumes":    []object{{"name": "page", "configMap": object{"name": name}}},
	}
	return object{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   object{"name": name},
		"spec": object{
			"replicas": spec.Replicas,
			"selector": object{"matchLabels": labels},
			"template": object{"metadata": metadata, "spec": pod},
		},
	}
}

func service(name string, labels object) object {
	return object{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   object{"name": name},
		"spec":       object{"selector": labels, "ports": []object{{"name": "http", "port": 80, "targetPort": "http"}}},
	}
}

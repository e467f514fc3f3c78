package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var gauges = schema.GroupVersionResource{Group: "peers.drover.dev", Version: "v1", Resource: "gauges"}

// As a kubebuilder project has it: a Go type for each kind.
type gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              gaugeSpec   `json:"spec,omitempty"`
	Status            gaugeStatus `json:"status,omitempty"`
}

type gaugeSpec struct {
	Turn  int    `json:"turn"`
	Notes string `json:"notes,omitempty"`
	Fails bool   `json:"fails,omitempty"`
}

type gaugeStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type gaugeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []gauge `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) {
	gv := gauges.GroupVersion()
	scheme.AddKnownTypeWithName(gv.WithKind("Gauge"), &gauge{})
	scheme.AddKnownTypeWithName(gv.WithKind("GaugeList"), &gaugeList{})
	metav1.AddToGroupVersion(scheme, gv)
}

func (g *gauge) DeepCopyObject() runtime.Object { return g.deepCopy() }

func (g *gauge) deepCopy() *gauge {
	copied := *g
	g.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), g.Status.Conditions...)
	return &copied
}

func (l *gaugeList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]gauge, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].deepCopy()
	}
	return &copied
}

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionResource{Group: "bench.drover.dev", Version: "v1", Resource: "widgets"}

// As a kubebuilder project has it: a Go type for each kind.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec   `json:"spec,omitempty"`
	Status            widgetStatus `json:"status,omitempty"`
}

type widgetSpec struct {
	Size  int               `json:"size"`
	Turn  int               `json:"turn"`
	Notes string            `json:"notes,omitempty"`
	Parts []part            `json:"parts,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

type part struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type widgetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []widget `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) {
	gv := widgets.GroupVersion()
	scheme.AddKnownTypeWithName(gv.WithKind("Widget"), &widget{})
	scheme.AddKnownTypeWithName(gv.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(scheme, gv)
}

func (w *widget) DeepCopyObject() runtime.Object { return w.deepCopy() }

func (w *widget) deepCopy() *widget {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.Parts = append([]part(nil), w.Spec.Parts...)
	copied.Spec.Tags = make(map[string]string, len(w.Spec.Tags))
	for name, value := range w.Spec.Tags {
		copied.Spec.Tags[name] = value
	}
	copied.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &copied
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]widget, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].deepCopy()
	}
	return &copied
}

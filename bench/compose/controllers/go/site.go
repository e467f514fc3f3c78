package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var sites = schema.GroupVersion{Group: "compose.drover.dev", Version: "v1"}

// A Go type for the kind, as a kubebuilder project has it.
type site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              siteSpec   `json:"spec,omitempty"`
	Status            siteStatus `json:"status,omitempty"`
}

type siteSpec struct {
	Turn int    `json:"turn"`
	Text string `json:"text"`
}

type siteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type siteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []site `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypeWithName(sites.WithKind("Site"), &site{})
	scheme.AddKnownTypeWithName(sites.WithKind("SiteList"), &siteList{})
	metav1.AddToGroupVersion(scheme, sites)
}

func (s *site) DeepCopyObject() runtime.Object { return s.deepCopy() }

func (s *site) deepCopy() *site {
	copied := *s
	s.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &copied
}

func (l *siteList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]site, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].deepCopy()
	}
	return &copied
}

// Command rbac answers what Kubernetes' own RBAC evaluation allows. It reads one JSON object a line from standard input:
//
//	{"granted": [rule...], "held": [rule...], "reviews": [attributes...], "requests": [attributes...]}
//
// and writes one a line:
//
//	granted   for each request, whether the granted rules allow it
//	held      for each request, whether the held rules allow it
//	reviewed  for each review, whether the held rules allow it
//	covered   for each request, whether a rule made of one review alone allows it
//
// Attributes are those of a SubjectAccessReview. Here rather than in Node, whose evaluation would be our own.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

type attributes struct {
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Name        string `json:"name"`
	Everywhere  bool   `json:"everyName"`
}

type question struct {
	Granted  []rbacv1.PolicyRule `json:"granted"`
	Held     []rbacv1.PolicyRule `json:"held"`
	Reviews  []attributes        `json:"reviews"`
	Requests []attributes        `json:"requests"`
}

type answer struct {
	Granted  []bool `json:"granted"`
	Held     []bool `json:"held"`
	Reviewed []bool `json:"reviewed"`
	Covered  []bool `json:"covered"`
}

func main() {
	log.SetFlags(0)
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	decoder, encoder := json.NewDecoder(input), json.NewEncoder(output)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			log.Fatal("rbac: ", err)
		}
		if err := encoder.Encode(answered(asked)); err != nil {
			log.Fatal("rbac: ", err)
		}
		if err := output.Flush(); err != nil {
			log.Fatal("rbac: ", err)
		}
	}
}

func answered(asked question) answer {
	granted, held := allowed(asked.Requests, asked.Granted), allowed(asked.Requests, asked.Held)
	covered := make([]bool, len(asked.Requests))
	for _, review := range asked.Reviews {
		for i, is := range allowed(asked.Requests, []rbacv1.PolicyRule{ruleOf(review)}) {
			covered[i] = covered[i] || is
		}
	}
	return answer{granted, held, allowed(asked.Reviews, asked.Held), covered}
}

func allowed(requests []attributes, rules []rbacv1.PolicyRule) []bool {
	answers := make([]bool, len(requests))
	for i, one := range requests {
		answers[i] = rbac.RulesAllow(authorizer.AttributesRecord{
			Verb: one.Verb, APIGroup: one.Group, Resource: one.Resource, Subresource: one.Subresource, Name: one.Name,
			ResourceRequest: true,
		}, rules...)
	}
	return answers
}

// ruleOf is the least rule that allows what was reviewed.
func ruleOf(one attributes) rbacv1.PolicyRule {
	resource := one.Resource
	if one.Subresource != "" {
		resource += "/" + one.Subresource
	}
	rule := rbacv1.PolicyRule{Verbs: []string{one.Verb}, APIGroups: []string{one.Group}, Resources: []string{resource}}
	if !one.Everywhere {
		rule.ResourceNames = []string{one.Name}
	}
	return rule
}

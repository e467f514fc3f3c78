// Command client-go-queue prints what client-go's own work queue does: every scenario, and what was observed after
// each of its steps. All times are milliseconds of a clock that only the step `advance` moves, so that the same
// client-go always prints the same bytes.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	var out strings.Builder
	out.WriteString("[\n")
	all := scenarios()
	for i, scenario := range all {
		out.WriteString(scenario.print())
		out.WriteString(comma(i, len(all)))
	}
	out.WriteString("]\n")
	if _, err := os.Stdout.WriteString(out.String()); err != nil {
		log.Fatal(err)
	}
}

func scenarios() []scenario {
	return slices.Concat(order(), timers(), failures(), shutdown())
}

// print lays a scenario out as prettier leaves it, with one line per step, so that a change of behaviour is a short
// difference in the committed file.
func (s scenario) print() string {
	var out strings.Builder
	out.WriteString("  {\n")
	out.WriteString("    \"name\": " + line(s.name) + ",\n")
	out.WriteString("    \"sentence\": " + line(s.sentence) + ",\n")
	out.WriteString("    \"base\": " + line(s.base.Milliseconds()) + ",\n")
	out.WriteString("    \"max\": " + line(s.max.Milliseconds()) + ",\n")
	out.WriteString("    \"steps\": [\n")
	for i := range s.steps {
		out.WriteString("      " + line(observe(s, i+1)) + comma(i, len(s.steps)))
	}
	out.WriteString("    ]\n  }")
	return out.String()
}

// line is JSON on one line, with spaces.
func line(value any) string {
	text, err := json.MarshalIndent(value, "", "")
	if err != nil {
		log.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\n", " ")
}

func comma(index, count int) string {
	if index == count-1 {
		return "\n"
	}
	return ",\n"
}

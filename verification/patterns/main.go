// Reads lines of JSON {"pattern": "...", "texts": ["..."]} and answers each with {"error": "..."} or {"matches": [...]}.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var asked struct {
			Pattern string
			Texts   []string
		}
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer := map[string]any{}
		if compiled, err := regexp.Compile(asked.Pattern); err != nil {
			answer["error"] = err.Error()
		} else {
			matches := []bool{}
			for _, text := range asked.Texts {
				matches = append(matches, compiled.MatchString(text))
			}
			answer["matches"] = matches
		}
		line, _ := json.Marshal(answer)
		out.Write(append(line, '\n'))
	}
}

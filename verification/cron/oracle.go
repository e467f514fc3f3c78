// Answers by robfig/cron: a JSON object on each line of the input, `{"schedule", "zone", "after", "count"}`, and on each of the
// output the next times, in seconds since 1970, or why the schedule cannot be read. With `offsetsAt`, the offsets of the zone at
// these times, by which one sees if both have the same edition of the time zone database.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

type question struct {
	Schedule string `json:"schedule"`
	Zone     string `json:"zone"`
	After    int64  `json:"after"`
	Count    int    `json:"count"`
	// Times at which to tell how many seconds the clocks of the zone are ahead of UTC.
	OffsetsAt []int64 `json:"offsetsAt"`
}

type answer struct {
	Times   []int64 `json:"times,omitempty"`
	Offsets []int   `json:"offsets,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func ask(q question) answer {
	location, err := time.LoadLocation(q.Zone)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if q.OffsetsAt != nil {
		result := answer{}
		for _, at := range q.OffsetsAt {
			_, offset := time.Unix(at, 0).In(location).Zone()
			result.Offsets = append(result.Offsets, offset)
		}
		return result
	}
	schedule, err := cron.ParseStandard(q.Schedule)
	if err != nil {
		return answer{Error: err.Error()}
	}
	result := answer{Times: []int64{}}
	at := time.Unix(q.After, 0).In(location)
	for i := 0; i < q.Count; i++ {
		at = schedule.Next(at)
		if at.IsZero() {
			break
		}
		result.Times = append(result.Times, at.Unix())
	}
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			panic(err)
		}
		if err := out.Encode(ask(q)); err != nil {
			panic(err)
		}
	}
}

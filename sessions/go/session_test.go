// SPDX-License-Identifier: Apache-2.0
package session

// Goal: every call does what docs/sessions.md says, what is refused says why and leaves the session
// usable, and the structs have the members that the schema has.
// Method: a star of four hosts, whose times are known in closed form; the schema of the protocol.
// tests/sessions/test_session_clients.sh runs it, and checks all lines against the schema.

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
)

const star = "topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}\n" +
	"nic: {congestion-control: none, mtu: 4096}\n"

var one = Transfer{Src: 0, Dst: "host1", Bytes: 4096}

func open(t *testing.T, options Options) *Session {
	t.Helper()
	file := filepath.Join(t.TempDir(), "star.yaml")
	must(t, os.WriteFile(file, []byte(star), 0o600))
	s, err := Open(file, options)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, fact bool, values ...interface{}) {
	t.Helper()
	if !fact {
		t.Fatal(values...)
	}
}

// refused checks that a call was refused with a code.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	refusal := &Error{}
	check(t, errors.As(err, &refusal) && refusal.Code == code && refusal.Message != "", code, err)
}

func TestTransfersEndWhenTheyShould(t *testing.T) {
	s, other := open(t, Options{}), open(t, Options{})
	check(t, len(s.Hosts) == 4 && s.Hosts[2] == "host2" && s.Version != "", s.Hosts)
	number, err := s.Submit(one)
	must(t, err)
	check(t, number == 0, number)
	estimate, err := other.Estimate(one)
	must(t, err)
	progress, err := s.NextCompletion(Never)
	must(t, err)
	check(t, len(progress.Completions) == 1 && !progress.Stalled && progress.Open == 0, progress)
	done := progress.Completions[0]
	check(t, done.EndPs == estimate.TookPs && done.Outcome == Done && done.Rank == nil, done, estimate)
	check(t, progress.NowPs == done.EndPs+1, progress)
	// Two links there and back of 1 us, the frame twice, and the acknowledgement twice.
	check(t, done.EndPs > 4000000+2*334800 && done.EndPs < 4000000+3*334800, done)
	back := done.EndPs - *done.DeliveredPs // the acknowledgement
	check(t, back > 2000000 && back < 2020000 && *estimate.DeliveredPs == *done.DeliveredPs, done, estimate)
}

func TestDeliveriesAreCompletions(t *testing.T) {
	s, told := open(t, Options{}), one
	told.Delivery = true
	estimate, err := s.Estimate(told)
	must(t, err)
	_, err = s.Submit(told)
	must(t, err)
	progress, err := s.NextCompletion(Never)
	must(t, err)
	at := progress.Completions[0]
	check(t, len(progress.Completions) == 1 && progress.Open == 1 && at.Outcome == Delivered, progress)
	check(t, at.EndPs == *at.DeliveredPs && at.EndPs == *estimate.DeliveredPs, at, estimate)
	progress, err = s.NextCompletion(Never)
	must(t, err)
	check(t, len(progress.Completions) == 1 && progress.Completions[0].Outcome == Done, progress)
}

func TestMarksCancelsAndRefusals(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	s := open(t, Options{Folder: folder, Settings: []string{"nic.mtu=1024"}})
	late, class := one, 3
	late.At, late.Tag, late.Verb, late.Priority = 50000000, "late", "read", &class
	numbers, err := s.SubmitMany([]Transfer{one, {Src: 2, Dst: 1, Bytes: 4096, Reuse: true}, late})
	must(t, err)
	check(t, len(numbers) == 3 && numbers[2] == 2, numbers)
	_, err = s.Submit(Transfer{Src: 3, Dst: 0, Bytes: 1, After: numbers[:2], SourcePort: 50000})
	must(t, err)
	must(t, s.Mark())
	progress, err := s.Advance(90000000)
	must(t, err)
	check(t, len(progress.Completions) == 4, progress)
	check(t, string(progress.Completions[3].Tag) == `"late"`, progress)
	must(t, s.Back())
	now, err := s.Now()
	must(t, err)
	check(t, now == 0, now)
	must(t, s.Cancel(numbers[2]))
	refused(t, s.Cancel(numbers[2]), "transfer")
	progress, err = s.Advance(90000000)
	must(t, err)
	check(t, progress.Completions[0].Outcome == Cancelled, progress)
	_, err = s.Advance(5)
	refused(t, err, "past")
	_, err = s.Submit(Transfer{Src: 0, Dst: 44, Bytes: 1})
	refused(t, err, "argument")
	refused(t, s.Back(), "mark")
	must(t, s.Mark())
	must(t, s.Drop())
	refused(t, s.Call("jump", nil, nil), "call")
	summary, err := s.Finish()
	must(t, err)
	check(t, json.Valid(summary) && strings.Contains(string(summary), `"completed":`), string(summary))
	_, err = os.Stat(filepath.Join(folder, "summary.json"))
	must(t, err)
	_, err = s.Submit(one)
	check(t, err != nil)
}

func TestProgramsAndEstimates(t *testing.T) {
	s := open(t, Options{})
	ring := Program{Collective: map[string]interface{}{"kind": "all-reduce", "bytes": "64KiB", "ranks": 4},
		PerRank: true, Tag: 7}
	estimate, err := s.EstimateProgram(ring)
	must(t, err)
	_, err = s.SubmitProgram(ring)
	must(t, err)
	ranks := 0
	for ended := false; !ended; {
		progress, err := s.NextCompletion(Never)
		must(t, err)
		for _, done := range progress.Completions {
			if done.Rank != nil {
				ranks++
				continue
			}
			ended = true
			check(t, done.EndPs == estimate.EndPs && string(done.Tag) == "7", done, estimate)
		}
	}
	check(t, ranks == 4, ranks)
	pair := []Transfer{one, {Src: 2, Dst: 1, Bytes: 4096}}
	together, err := s.EstimateMany(pair, false)
	must(t, err)
	alone, err := s.EstimateMany(pair, true)
	must(t, err)
	check(t, alone[0].TookPs == alone[1].TookPs, alone)
	check(t, together[0].TookPs+together[1].TookPs > 2*alone[0].TookPs, together, alone)
}

func TestErrorsOfOpening(t *testing.T) {
	_, err := Open("/nonexistent.yaml", Options{})
	check(t, err != nil)
	_, err = Open("x", Options{Program: "/nonexistent"})
	check(t, err != nil && strings.Contains(err.Error(), "cannot be started"), err)
	_, err = Open("", Options{Server: "unix:/nonexistent"})
	check(t, err != nil)
	if server := os.Getenv("ROCESIM_TEST_SERVER"); server != "" {
		_, err = Open("", Options{Server: server})
		refused(t, err, "token")
		s, err := Open("", Options{Server: server, Token: os.Getenv("ROCESIM_TEST_TOKEN")})
		must(t, err)
		_, err = s.Estimate(one)
		must(t, err)
		must(t, s.Close())
		_, err = s.Now()
		check(t, err != nil)
	}
}

// members returns the names of a struct's members in JSON.
func members(value interface{}) []string {
	names := []string{}
	kind := reflect.TypeOf(value)
	for i := 0; i < kind.NumField(); i++ {
		names = append(names, strings.Split(kind.Field(i).Tag.Get("json"), ",")[0])
	}
	sort.Strings(names)
	return names
}

func TestMembersAreTheSchemas(t *testing.T) {
	schema := struct {
		Definitions map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"definitions"`
	}{}
	text, err := os.ReadFile("../protocol.schema.json")
	must(t, err)
	must(t, json.Unmarshal(text, &schema))
	for name, value := range map[string]interface{}{
		"transfer": Transfer{}, "program": Program{}, "completion": Completion{}, "estimate": Estimate{},
	} {
		expected := []string{}
		for member := range schema.Definitions[name].Properties {
			if member != "call" && member != "id" {
				expected = append(expected, member)
			}
		}
		sort.Strings(expected)
		check(t, reflect.DeepEqual(members(value), expected), name, members(value), expected)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package session drives a simulation of rocesim from Go (docs/sessions.md).
//
//	s, err := session.Open("fabric.yaml", session.Options{})
//	...
//	defer s.Close()
//	number, err := s.Submit(session.Transfer{Src: 0, Dst: 5, Bytes: 1000000})
//	progress, err := s.NextCompletion(session.Never)
//
// Times are picoseconds, sizes bytes. A Session is used by one goroutine at a time. The package needs
// nothing but Go's standard library.
package session

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
)

// Never is the limit of a NextCompletion that runs as long as it takes.
const Never = math.MaxInt64

// Options says how a session is opened. Its zero value starts the program rocesim.
type Options struct {
	Program  string   // "": the environment's ROCESIM, or "rocesim" in the PATH
	Server   string   // "unix:PATH" or "127.0.0.1:PORT" of a running `rocesim serve`; "": start a program
	Token    string   // that the server asks for
	Folder   string   // where Finish writes the results
	Settings []string // "PATH=VALUE", as for --set
}

// Host is the name of a host (a string), or its number in Session.Hosts (an int).
type Host interface{}

// Transfer describes bytes that a host sends or reads.
type Transfer struct {
	Src        Host        `json:"src"`
	Dst        Host        `json:"dst"`
	Bytes      uint64      `json:"bytes"`
	At         uint64      `json:"at,omitempty"`    // its start; 0: now
	After      []uint64    `json:"after,omitempty"` // transfers that have to end before
	Verb       string      `json:"verb,omitempty"`  // "write", "send" or "read"; "": write
	Priority   *int        `json:"priority,omitempty"`
	SourcePort uint16      `json:"source_port,omitempty"` // decides on the path; 0: derived
	Reuse      bool        `json:"reuse,omitempty"`       // transfers between two NICs share a queue pair
	Delivery   bool        `json:"delivery,omitempty"`    // its delivery is a completion, too (Delivered)
	Tag        interface{} `json:"tag,omitempty"`         // its completion repeats it
}

// Program describes ranks that run together. One of Collective, Workload and Training has the
// attributes that `rocesim params traffic.KIND` lists.
type Program struct {
	Collective map[string]interface{} `json:"collective,omitempty"`
	Workload   map[string]interface{} `json:"workload,omitempty"`
	Training   map[string]interface{} `json:"training,omitempty"`
	At         uint64                 `json:"at,omitempty"`
	PerRank    bool                   `json:"per_rank,omitempty"` // each rank is a completion, too
	Tag        interface{}            `json:"tag,omitempty"`
}

// Outcomes of transfers. After Delivered (all bytes have arrived), another completion follows.
const (
	Delivered = "delivered"
	Done      = "done"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Completion says how a transfer, or a rank of a program, ended.
type Completion struct {
	Transfer uint64          `json:"transfer"`
	Rank     *uint32         `json:"rank"` // nil: a transfer, or all ranks of a program
	StartPs  uint64          `json:"start_ps"`
	EndPs    uint64          `json:"end_ps"` // of a delivery: DeliveredPs
	Outcome  string          `json:"outcome"`
	Status   string          `json:"status"` // of a failed transfer
	// When the last byte has arrived; nil: neither a transfer that is done nor a delivery.
	DeliveredPs *uint64 `json:"delivered_ps"`

	Tag      json.RawMessage `json:"tag"`
}

// Progress holds the completions of a call, and how the session stands after it.
type Progress struct {
	Completions []Completion `json:"completions"`
	NowPs       uint64       `json:"now_ps"`  // everything before it has happened
	Open        uint64       `json:"open"`    // number of transfers that wait or run
	Stalled     bool         `json:"stalled"` // nothing useful happens any more although some are open
}

// Estimate says how a transfer would end.
type Estimate struct {
	StartPs uint64 `json:"start_ps"`
	EndPs   uint64 `json:"end_ps"`
	TookPs  uint64 `json:"took_ps"`
	Outcome string `json:"outcome"`
	Status  string `json:"status"`

	DeliveredPs *uint64 `json:"delivered_ps"`
}

// Error is the refusal of a call. The session goes on.
type Error struct {
	Code    string `json:"error"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Session is a network in memory, to which transfers are submitted.
type Session struct {
	Hosts   []string // names, in the order of their numbers
	Version string   // of rocesim

	command *exec.Cmd
	out     io.WriteCloser
	in      *bufio.Reader
	closed  bool
}

// Open opens a session of a scenario's file, or at a server.
func Open(scenario string, options Options) (*Session, error) {
	s := &Session{}
	err := s.connect(scenario, options)
	if err != nil {
		return nil, err
	}
	hello := map[string]interface{}{}
	if options.Token != "" {
		hello["token"] = options.Token
	}
	answer := struct {
		Hosts   []string `json:"hosts"`
		Version string   `json:"version"`
	}{}
	if err := s.Call("hello", hello, &answer); err != nil {
		s.Close()
		return nil, err
	}
	s.Hosts, s.Version = answer.Hosts, answer.Version
	return s, nil
}

func (s *Session) connect(scenario string, options Options) error {
	if path := strings.TrimPrefix(options.Server, "unix:"); options.Server != "" {
		network := "tcp"
		if path != options.Server {
			network = "unix"
		}
		made, err := net.Dial(network, path)
		if err != nil {
			return err
		}
		s.out, s.in = made, bufio.NewReader(made)
		return nil
	}
	program := options.Program
	if program == "" {
		program = os.Getenv("ROCESIM")
	}
	if program == "" {
		program = "rocesim"
	}
	words := []string{"serve"}
	if options.Folder != "" {
		words = append(words, "-o", options.Folder)
	}
	for _, setting := range options.Settings {
		words = append(words, "--set", setting)
	}
	s.command = exec.Command(program, append(words, "--", scenario)...)
	s.command.Stderr = os.Stderr
	in, err := s.command.StdoutPipe()
	if err != nil {
		return err
	}
	if s.out, err = s.command.StdinPipe(); err != nil {
		return err
	}
	s.in = bufio.NewReader(in)
	if err = s.command.Start(); err != nil {
		return fmt.Errorf("%s cannot be started: %w", program, err)
	}
	return nil
}

// Call makes any call of the protocol. arguments: nil, or a value that JSON writes as an object.
// answer: nil, or where the members of the answer go. A refused call is an *Error.
func (s *Session) Call(name string, arguments, answer interface{}) error {
	if s.closed {
		return errors.New("the session has ended")
	}
	line := []byte("{}")
	var err error
	if arguments != nil {
		if line, err = json.Marshal(arguments); err != nil {
			return err
		}
	}
	comma := ","
	if string(line) == "{}" {
		comma = ""
	}
	call := fmt.Sprintf("{\"call\":%q%s%s\n", name, comma, line[1:])
	_, _ = io.WriteString(s.out, call) // a program that refused the scenario has said why
	said, err := s.in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the session has ended without an answer: %w", err)
	}
	refusal := struct {
		Ok bool `json:"ok"`
		Error
	}{}
	if err = json.Unmarshal(said, &refusal); err != nil {
		return err
	}
	if !refusal.Ok {
		return &refusal.Error
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(said, answer)
}

type many struct {
	Transfers []Transfer `json:"transfers"`
	Alone     bool       `json:"alone,omitempty"`
}

type number struct {
	Transfer uint64 `json:"transfer"`
}

// Submit submits a transfer and returns its number.
func (s *Session) Submit(transfer Transfer) (uint64, error) {
	answer := number{}
	err := s.Call("submit", transfer, &answer)
	return answer.Transfer, err
}

// SubmitMany submits a list in one call and returns the numbers of its transfers. After an error some
// of them may have been submitted.
func (s *Session) SubmitMany(transfers []Transfer) ([]uint64, error) {
	answer := struct {
		Transfers []uint64 `json:"transfers"`
	}{}
	err := s.Call("submit", many{Transfers: append([]Transfer{}, transfers...)}, &answer)
	return answer.Transfers, err
}

// SubmitProgram submits a program and returns its number among those of transfers.
func (s *Session) SubmitProgram(program Program) (uint64, error) {
	answer := number{}
	err := s.Call("submit", program, &answer)
	return answer.Transfer, err
}

// Advance runs everything before a time, and returns what has ended since the last call.
func (s *Session) Advance(untilPs uint64) (Progress, error) {
	answer := Progress{}
	err := s.Call("advance", map[string]uint64{"until_ps": untilPs}, &answer)
	return answer, err
}

// NextCompletion runs until a transfer ends, or up to a time. The time is then 1 ps after the
// completion, so that a transfer which answers it can begin.
func (s *Session) NextCompletion(untilPs uint64) (Progress, error) {
	answer := Progress{}
	limit := map[string]uint64{"until_ps": untilPs}
	if untilPs >= Never {
		limit = map[string]uint64{}
	}
	err := s.Call("next_completion", limit, &answer)
	return answer, err
}

// Now returns the time up to which everything has happened.
func (s *Session) Now() (uint64, error) {
	answer := Progress{}
	err := s.Call("now", nil, &answer)
	return answer.NowPs, err
}

// Cancel cancels a transfer: one that has not begun never does, one that runs ends now.
func (s *Session) Cancel(transfer uint64) error {
	return s.Call("cancel", map[string]uint64{"transfer": transfer}, nil)
}

// Estimate returns how a transfer would end, without changing anything.
func (s *Session) Estimate(transfer Transfer) (Estimate, error) {
	answer := Estimate{}
	err := s.Call("estimate", transfer, &answer)
	return answer, err
}

// EstimateProgram returns how a program would end, without changing anything.
func (s *Session) EstimateProgram(program Program) (Estimate, error) {
	answer := Estimate{}
	err := s.Call("estimate", program, &answer)
	return answer, err
}

// EstimateMany estimates transfers together or, if alone, each as if the others were not there.
func (s *Session) EstimateMany(transfers []Transfer, alone bool) ([]Estimate, error) {
	answer := struct {
		Estimates []Estimate `json:"estimates"`
	}{}
	err := s.Call("estimate", many{append([]Transfer{}, transfers...), alone}, &answer)
	return answer.Estimates, err
}

// Mark keeps the present state.
func (s *Session) Mark() error { return s.Call("mark", nil, nil) }

// Back comes back to the state that was kept last.
func (s *Session) Back() error { return s.Call("back", nil, nil) }

// Drop drops the state that was kept last. The session goes on.
func (s *Session) Drop() error { return s.Call("drop", nil, nil) }

// Finish lets everything end, writes the results, and returns summary.json. Only Close may follow.
func (s *Session) Finish() (json.RawMessage, error) {
	answer := struct {
		Summary json.RawMessage `json:"summary"`
	}{}
	err := s.Call("finish", nil, &answer)
	return answer.Summary, err
}

// Close ends the session, and waits for the program that it started.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.out.Close()
	if s.command != nil {
		err = s.command.Wait()
	}
	return err
}

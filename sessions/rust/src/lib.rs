// SPDX-License-Identifier: Apache-2.0
//! Drives a simulation of rocesim from Rust (docs/sessions.md).
//!
//! ```no_run
//! use rocesim_session::{Options, Session, Transfer};
//! let mut session = Session::open("fabric.yaml", &Options::default())?;
//! session.submit(&Transfer::new(0, "host5", 1_000_000))?;
//! for done in session.next_completion(None)?.completions {
//!     println!("{} {}", done.transfer, done.end_ps);
//! }
//! # Ok::<(), rocesim_session::Error>(())
//! ```
//!
//! Times are picoseconds, sizes bytes. The crate needs nothing but Rust's standard library.

mod json;
pub use json::Json;

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// The refusal of a call, after which the session goes on, or, with an empty `code`, the end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: String,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}
impl std::error::Error for Error {}

fn ended<T>(why: impl fmt::Display) -> Result<T, Error> {
    Err(Error { code: String::new(), message: why.to_string() })
}

/// Says how a session is opened. The default starts the program rocesim.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The program; without it, the environment's ROCESIM, or "rocesim" in the PATH.
    pub program: Option<String>,
    /// "unix:PATH" or "127.0.0.1:PORT" of a running `rocesim serve`; without it, a program is started.
    pub server: Option<String>,
    /// The token that the server asks for.
    pub token: Option<String>,
    /// The folder into which `finish` writes the results.
    pub folder: Option<String>,
    /// "PATH=VALUE", as for --set.
    pub settings: Vec<String>,
}

/// A host: its name, or its number in `Session::hosts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    Name(String),
    Number(u32),
}

impl From<&str> for Host {
    fn from(name: &str) -> Host {
        Host::Name(name.to_string())
    }
}
impl From<u32> for Host {
    fn from(number: u32) -> Host {
        Host::Number(number)
    }
}
impl From<&Host> for Json {
    fn from(host: &Host) -> Json {
        match host {
            Host::Name(name) => name.as_str().into(),
            Host::Number(number) => u64::from(*number).into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Write,
    Send,
    Read,
}

/// Bytes that a host sends or reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    pub src: Host,
    pub dst: Host,
    pub bytes: u64,
    /// Its start; without it, now.
    pub at_ps: Option<u64>,
    /// Transfers that have to end before.
    pub after: Vec<u64>,
    pub verb: Verb,
    pub priority: Option<u8>,
    /// The UDP source port, which decides on the path.
    pub source_port: Option<u16>,
    /// Whether transfers between two NICs share a queue pair.
    pub reuse: bool,
    /// Whether its delivery is a completion, too (`Outcome::Delivered`).
    pub delivery: bool,
    /// Any value, which the completion repeats.
    pub tag: Option<Json>,
}

impl Transfer {
    pub fn new(src: impl Into<Host>, dst: impl Into<Host>, bytes: u64) -> Transfer {
        Transfer {
            src: src.into(),
            dst: dst.into(),
            bytes,
            at_ps: None,
            after: Vec::new(),
            verb: Verb::Write,
            priority: None,
            source_port: None,
            reuse: false,
            delivery: false,
            tag: None,
        }
    }
}

type Members = Vec<(String, Json)>;

fn add(members: &mut Members, name: &str, value: impl Into<Json>) {
    members.push((name.to_string(), value.into()));
}
fn add_some(members: &mut Members, name: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        add(members, name, value);
    }
}

impl From<&Transfer> for Json {
    fn from(transfer: &Transfer) -> Json {
        let mut object = Vec::new();
        add(&mut object, "src", &transfer.src);
        add(&mut object, "dst", &transfer.dst);
        add(&mut object, "bytes", transfer.bytes);
        add_some(&mut object, "at", transfer.at_ps);
        if !transfer.after.is_empty() {
            add(&mut object, "after", transfer.after.clone());
        }
        match transfer.verb {
            Verb::Write => {}
            Verb::Send => add(&mut object, "verb", "send"),
            Verb::Read => add(&mut object, "verb", "read"),
        }
        add_some(&mut object, "priority", transfer.priority.map(u64::from));
        add_some(&mut object, "source_port", transfer.source_port.map(u64::from));
        add_some(&mut object, "reuse", transfer.reuse.then_some(true));
        add_some(&mut object, "delivery", transfer.delivery.then_some(true));
        add_some(&mut object, "tag", transfer.tag.clone());
        Json::Object(object)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Collective,
    Workload,
    Training,
}

/// Ranks that run together. `attributes`: what `rocesim params traffic.KIND` lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub kind: Kind,
    pub attributes: Vec<(String, Json)>,
    pub at_ps: Option<u64>,
    /// Whether each rank is a completion, too.
    pub per_rank: bool,
    pub tag: Option<Json>,
}

impl From<&Program> for Json {
    fn from(program: &Program) -> Json {
        let name = match program.kind {
            Kind::Collective => "collective",
            Kind::Workload => "workload",
            Kind::Training => "training",
        };
        let mut object = vec![(name.to_string(), Json::Object(program.attributes.clone()))];
        add_some(&mut object, "at", program.at_ps);
        add_some(&mut object, "per_rank", program.per_rank.then_some(true));
        add_some(&mut object, "tag", program.tag.clone());
        Json::Object(object)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes have arrived; another completion of the transfer follows.
    Delivered,
    Done,
    Failed,
    Cancelled,
}

fn outcome_of(object: &Json) -> Outcome {
    match object.text("outcome") {
        "delivered" => Outcome::Delivered,
        "failed" => Outcome::Failed,
        "cancelled" => Outcome::Cancelled,
        _ => Outcome::Done,
    }
}

/// How a transfer, or a rank of a program, ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    pub transfer: u64,
    /// The rank of a program; None: a transfer, or all ranks.
    pub rank: Option<u64>,
    pub start_ps: u64,
    /// Of a delivery: `delivered_ps`.
    pub end_ps: u64,
    /// When the last byte has arrived; None: neither a transfer that is done nor a delivery.
    pub delivered_ps: Option<u64>,
    pub outcome: Outcome,
    /// Of a failed transfer: the error of its work request.
    pub status: String,
    pub tag: Option<Json>,
}

/// The completions of a call, and how the session stands after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub completions: Vec<Completion>,
    /// Everything before it has happened.
    pub now_ps: u64,
    /// Number of transfers that wait or run.
    pub open: u64,
    /// Nothing useful happens any more although transfers are open.
    pub stalled: bool,
}

/// How a transfer would end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub start_ps: u64,
    pub end_ps: u64,
    pub took_ps: u64,
    /// As in `Completion`.
    pub delivered_ps: Option<u64>,
    pub outcome: Outcome,
    pub status: String,
}

fn progress_of(answer: &Json) -> Progress {
    let one = |at: &Json| Completion {
        transfer: at.integer("transfer"),
        rank: at.get("rank").map(|_| at.integer("rank")),
        start_ps: at.integer("start_ps"),
        end_ps: at.integer("end_ps"),
        delivered_ps: at.get("delivered_ps").map(|_| at.integer("delivered_ps")),
        outcome: outcome_of(at),
        status: at.text("status").to_string(),
        tag: at.get("tag").cloned(),
    };
    Progress {
        completions: answer.list("completions").iter().map(one).collect(),
        now_ps: answer.integer("now_ps"),
        open: answer.integer("open"),
        stalled: answer.truth("stalled"),
    }
}

fn estimate_of(answer: &Json) -> Estimate {
    Estimate {
        start_ps: answer.integer("start_ps"),
        end_ps: answer.integer("end_ps"),
        took_ps: answer.integer("took_ps"),
        delivered_ps: answer.get("delivered_ps").map(|_| answer.integer("delivered_ps")),
        outcome: outcome_of(answer),
        status: answer.text("status").to_string(),
    }
}

fn describe_all(transfers: &[Transfer]) -> Json {
    Json::List(transfers.iter().map(Json::from).collect())
}

fn numbers_of(answer: &Json) -> Vec<u64> {
    let number = |at: &Json| if let Json::Integer(value) = at { *value } else { 0 };
    answer.list("transfers").iter().map(number).collect()
}

/// A network in memory, to which transfers are submitted. It ends when it is dropped.
pub struct Session {
    /// Names of the hosts, in the order of their numbers.
    pub hosts: Vec<String>,
    /// The version of rocesim.
    pub version: String,
    out: Option<Box<dyn Write + Send>>,
    input: BufReader<Box<dyn Read + Send>>,
    child: Option<Child>,
}

type Ends = (Box<dyn Write + Send>, Box<dyn Read + Send>, Option<Child>);

fn connect(server: &str) -> std::io::Result<Ends> {
    if let Some(path) = server.strip_prefix("unix:") {
        let made = UnixStream::connect(path)?;
        return Ok((Box::new(made.try_clone()?), Box::new(made), None));
    }
    let made = TcpStream::connect(server)?;
    made.set_nodelay(true)?;
    Ok((Box::new(made.try_clone()?), Box::new(made), None))
}

fn start(scenario: &str, options: &Options) -> Result<Ends, Error> {
    let own = options.program.clone().or_else(|| std::env::var("ROCESIM").ok());
    let program = own.filter(|name| !name.is_empty()).unwrap_or_else(|| "rocesim".to_string());
    let mut command = Command::new(&program);
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
    if let Some(folder) = &options.folder {
        command.args(["-o", folder]);
    }
    for setting in &options.settings {
        command.args(["--set", setting]);
    }
    match command.args(["--", scenario]).spawn() {
        Ok(mut child) => match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => Ok((Box::new(to), Box::new(from), Some(child))),
            _ => ended("the program has no pipes"),
        },
        Err(error) => ended(format!("{program} cannot be started: {error}")),
    }
}

impl Session {
    /// Opens a session of a scenario's file, or at a server.
    pub fn open(scenario: &str, options: &Options) -> Result<Session, Error> {
        let (out, input, child) = match &options.server {
            Some(server) => connect(server).or_else(ended)?,
            None => start(scenario, options)?,
        };
        let mut session = Session {
            hosts: Vec::new(),
            version: String::new(),
            out: Some(out),
            input: BufReader::new(input),
            child,
        };
        let mut hello = Vec::new();
        add_some(&mut hello, "token", options.token.as_deref());
        let answer = session.call("hello", Json::Object(hello))?;
        let name = |at: &Json| if let Json::Text(name) = at { name.clone() } else { String::new() };
        session.hosts = answer.list("hosts").iter().map(name).collect();
        session.version = answer.text("version").to_string();
        Ok(session)
    }

    /// Makes any call of the protocol. `arguments`: an object. Returns the answer.
    pub fn call(&mut self, name: &str, arguments: Json) -> Result<Json, Error> {
        let mut members = vec![("call".to_string(), name.into())];
        if let Json::Object(others) = arguments {
            members.extend(others);
        }
        let line = format!("{}\n", Json::Object(members));
        if let Some(out) = &mut self.out {
            // A program that refused the scenario has said why.
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
        let mut said = String::new();
        if let Err(error) = self.input.read_line(&mut said) {
            return ended(format!("the session has ended: {error}"));
        }
        match Json::parse(&said) {
            Some(answer) if answer.truth("ok") => Ok(answer),
            Some(answer) => Err(Error {
                code: answer.text("error").to_string(),
                message: answer.text("message").to_string(),
            }),
            None => ended("the session has ended without an answer"),
        }
    }

    fn call_with(
        &mut self,
        name: &str,
        member: &str,
        value: impl Into<Json>,
    ) -> Result<Json, Error> {
        self.call(name, Json::Object(vec![(member.to_string(), value.into())]))
    }

    /// Submits a transfer and returns its number.
    pub fn submit(&mut self, transfer: &Transfer) -> Result<u64, Error> {
        Ok(self.call("submit", transfer.into())?.integer("transfer"))
    }
    /// Submits a list in one call and returns the numbers of its transfers. After an error some of
    /// them may have been submitted.
    pub fn submit_many(&mut self, transfers: &[Transfer]) -> Result<Vec<u64>, Error> {
        Ok(numbers_of(&self.call_with("submit", "transfers", describe_all(transfers))?))
    }
    /// Submits a program and returns its number among those of transfers.
    pub fn submit_program(&mut self, program: &Program) -> Result<u64, Error> {
        Ok(self.call("submit", program.into())?.integer("transfer"))
    }
    /// Runs everything before a time, and returns what has ended since the last call.
    pub fn advance(&mut self, until_ps: u64) -> Result<Progress, Error> {
        Ok(progress_of(&self.call_with("advance", "until_ps", until_ps)?))
    }
    /// Runs until a transfer ends, or up to a time. The time is then 1 ps after the completion, so
    /// that a transfer which answers it can begin.
    pub fn next_completion(&mut self, until_ps: Option<u64>) -> Result<Progress, Error> {
        let mut limit = Vec::new();
        add_some(&mut limit, "until_ps", until_ps);
        Ok(progress_of(&self.call("next_completion", Json::Object(limit))?))
    }
    /// Returns the time up to which everything has happened.
    pub fn now(&mut self) -> Result<u64, Error> {
        Ok(self.call("now", Json::Null)?.integer("now_ps"))
    }
    /// Cancels a transfer: one that has not begun never does, one that runs ends now.
    pub fn cancel(&mut self, transfer: u64) -> Result<(), Error> {
        self.call_with("cancel", "transfer", transfer).map(|_| ())
    }
    /// Returns how a transfer would end, without changing anything.
    pub fn estimate(&mut self, transfer: &Transfer) -> Result<Estimate, Error> {
        Ok(estimate_of(&self.call("estimate", transfer.into())?))
    }
    /// Returns how a program would end, without changing anything.
    pub fn estimate_program(&mut self, program: &Program) -> Result<Estimate, Error> {
        Ok(estimate_of(&self.call("estimate", program.into())?))
    }
    /// Returns how transfers would end together or, if `alone`, each as if the others were not there.
    pub fn estimate_many(
        &mut self,
        transfers: &[Transfer],
        alone: bool,
    ) -> Result<Vec<Estimate>, Error> {
        let mut members = vec![("transfers".to_string(), describe_all(transfers))];
        add_some(&mut members, "alone", alone.then_some(true));
        let answer = self.call("estimate", Json::Object(members))?;
        Ok(answer.list("estimates").iter().map(estimate_of).collect())
    }
    /// Keeps the present state.
    pub fn mark(&mut self) -> Result<(), Error> {
        self.call("mark", Json::Null).map(|_| ())
    }
    /// Comes back to the state that was kept last.
    pub fn back(&mut self) -> Result<(), Error> {
        self.call("back", Json::Null).map(|_| ())
    }
    /// Drops the state that was kept last. The session goes on.
    pub fn drop_mark(&mut self) -> Result<(), Error> {
        self.call("drop", Json::Null).map(|_| ())
    }
    /// Lets everything end, writes the results, and returns summary.json. The session is over.
    pub fn finish(&mut self) -> Result<Json, Error> {
        let answer = self.call("finish", Json::Null)?;
        Ok(answer.get("summary").cloned().unwrap_or(Json::Null))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.out = None; // the program ends when nothing can come any more
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

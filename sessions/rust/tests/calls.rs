// SPDX-License-Identifier: Apache-2.0
//! Goal: every call does what docs/sessions.md says, what is refused says why and leaves the session
//! usable, requests have the members that the schema has, and JSON is read as it is written.
//! Method: a star of four hosts, whose times are known in closed form; the schema of the protocol.
//! tests/sessions/test_session_clients.sh runs it, and checks all lines against the schema.

use rocesim_session::{
    Error, Host, Json, Kind, Options, Outcome, Program, Session, Transfer, Verb,
};
use std::path::PathBuf;

const STAR: &str = "topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}\n\
                    nic: {congestion-control: none, mtu: 4096}\n";

// A folder of a test, which is gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rocesim-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("star.yaml"), STAR).unwrap();
        Folder(path)
    }
    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
    fn open(&self) -> Session {
        Session::open(&self.file("star.yaml"), &Options::default()).unwrap()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn one() -> Transfer {
    Transfer::new(0, "host1", 4096)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, code: &str) {
    let error = result.unwrap_err();
    assert!(error.code == code && !error.message.is_empty(), "{code}: {error:?}");
}

#[test]
fn transfers_end_when_they_should() {
    let folder = Folder::new("times");
    let (mut session, mut other) = (folder.open(), folder.open());
    assert!(session.hosts.len() == 4 && session.hosts[2] == "host2" && !session.version.is_empty());
    assert_eq!(session.submit(&one()).unwrap(), 0);
    let estimate = other.estimate(&one()).unwrap();
    let progress = session.next_completion(None).unwrap();
    assert!(progress.completions.len() == 1 && !progress.stalled && progress.open == 0);
    let done = &progress.completions[0];
    assert!(
        done.end_ps == estimate.took_ps && done.outcome == Outcome::Done && done.rank.is_none()
    );
    assert_eq!(progress.now_ps, done.end_ps + 1);
    // Two links there and back of 1 us, the frame twice, and the acknowledgement twice.
    assert!(done.end_ps > 4_000_000 + 2 * 334_800 && done.end_ps < 4_000_000 + 3 * 334_800);
    let back = done.end_ps - done.delivered_ps.unwrap(); // the acknowledgement
    assert!(back > 2_000_000 && back < 2_020_000 && estimate.delivered_ps == done.delivered_ps);
}

#[test]
fn deliveries_are_completions() {
    let folder = Folder::new("deliveries");
    let mut session = folder.open();
    let told = Transfer { delivery: true, ..one() };
    let estimate = session.estimate(&told).unwrap();
    session.submit(&told).unwrap();
    let progress = session.next_completion(None).unwrap();
    assert!(progress.completions.len() == 1 && progress.open == 1);
    let at = &progress.completions[0];
    assert!(at.outcome == Outcome::Delivered && Some(at.end_ps) == at.delivered_ps);
    assert_eq!(at.delivered_ps, estimate.delivered_ps);
    let progress = session.next_completion(None).unwrap();
    assert!(progress.completions.len() == 1 && progress.completions[0].outcome == Outcome::Done);
}

#[test]
fn marks_cancels_and_refusals() {
    let folder = Folder::new("marks");
    let options = Options {
        folder: Some(folder.file("results")),
        settings: vec!["nic.mtu=1024".to_string()],
        ..Options::default()
    };
    let mut session = Session::open(&folder.file("star.yaml"), &options).unwrap();
    let late = Transfer {
        at_ps: Some(50_000_000),
        tag: Some("la\"te\n\u{1f600}".into()),
        verb: Verb::Read,
        priority: Some(3),
        ..one()
    };
    let second = Transfer { reuse: true, ..Transfer::new(2, 1, 4096) };
    let numbers = session.submit_many(&[one(), second, late.clone()]).unwrap();
    assert_eq!(numbers, [0, 1, 2]);
    let last = Transfer {
        after: numbers[..2].to_vec(),
        source_port: Some(50000),
        ..Transfer::new(3, 0, 1)
    };
    session.submit(&last).unwrap();
    session.mark().unwrap();
    let progress = session.advance(90_000_000).unwrap();
    assert_eq!(progress.completions.len(), 4);
    assert_eq!(progress.completions[3].tag, late.tag);
    session.back().unwrap();
    assert_eq!(session.now().unwrap(), 0);
    session.cancel(numbers[2]).unwrap();
    refused(session.cancel(numbers[2]), "transfer");
    let progress = session.advance(90_000_000).unwrap();
    assert_eq!(progress.completions[0].outcome, Outcome::Cancelled);
    refused(session.advance(5), "past");
    refused(session.submit(&Transfer::new(0, 44, 1)), "argument");
    refused(session.back(), "mark");
    session.mark().unwrap();
    session.drop_mark().unwrap();
    refused(session.call("jump", Json::Null), "call");
    let summary = session.finish().unwrap();
    assert!(summary.to_string().contains("\"completed\":"));
    assert!(folder.0.join("results/summary.json").exists());
    assert!(session.submit(&one()).is_err());
}

#[test]
fn programs_and_estimates() {
    let folder = Folder::new("programs");
    let mut session = folder.open();
    let ring = Program {
        kind: Kind::Collective,
        attributes: vec![
            ("kind".to_string(), "all-reduce".into()),
            ("bytes".to_string(), "64KiB".into()),
            ("ranks".to_string(), 4.into()),
        ],
        at_ps: None,
        per_rank: true,
        tag: Some(7.into()),
    };
    let estimate = session.estimate_program(&ring).unwrap();
    session.submit_program(&ring).unwrap();
    let mut ranks = 0;
    let end = loop {
        let progress = session.next_completion(None).unwrap();
        ranks += progress.completions.iter().filter(|at| at.rank.is_some()).count();
        if let Some(done) = progress.completions.iter().find(|at| at.rank.is_none()) {
            break done.clone();
        }
    };
    assert!(ranks == 4 && end.end_ps == estimate.end_ps && end.tag == Some(7.into()));
    let pair = [one(), Transfer::new(2, 1, 4096)];
    let together = session.estimate_many(&pair, false).unwrap();
    let alone = session.estimate_many(&pair, true).unwrap();
    assert_eq!(alone[0].took_ps, alone[1].took_ps);
    assert!(together[0].took_ps + together[1].took_ps > 2 * alone[0].took_ps);
}

#[test]
fn errors_of_opening() {
    assert!(Session::open("/nonexistent.yaml", &Options::default()).is_err());
    let missing = Options { program: Some("/nonexistent".to_string()), ..Options::default() };
    let error = Session::open("x", &missing).err().unwrap();
    assert!(error.message.contains("cannot be started"), "{error}");
    let nobody = Options { server: Some("unix:/nonexistent".to_string()), ..Options::default() };
    assert!(Session::open("", &nobody).is_err());
    if let Ok(server) = std::env::var("ROCESIM_TEST_SERVER") {
        let mut options = Options { server: Some(server), ..Options::default() };
        refused(Session::open("", &options).map(|_| ()), "token");
        options.token = std::env::var("ROCESIM_TEST_TOKEN").ok();
        Session::open("", &options).unwrap().estimate(&one()).unwrap();
    }
}

fn names(object: &Json) -> Vec<String> {
    let mut list = match object {
        Json::Object(members) => members.iter().map(|at| at.0.clone()).collect(),
        _ => Vec::new(),
    };
    list.retain(|name| name != "call" && name != "id");
    list.sort();
    list
}

#[test]
fn members_are_the_schemas() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../protocol.schema.json");
    let text = std::fs::read_to_string(path).unwrap();
    let schema = Json::parse(&text).unwrap();
    let definitions = schema.get("definitions").unwrap();
    let members = |name: &str| names(definitions.get(name).unwrap().get("properties").unwrap());
    let transfer = Transfer {
        src: Host::Number(0),
        at_ps: Some(1),
        after: vec![0],
        verb: Verb::Send,
        priority: Some(0),
        source_port: Some(1),
        reuse: true,
        delivery: true,
        tag: Some(true.into()),
        ..one()
    };
    assert_eq!(names(&Json::from(&transfer)), members("transfer"));
    let mut all = Vec::new();
    for kind in [Kind::Collective, Kind::Workload, Kind::Training] {
        let (at_ps, tag) = (Some(1), Some(Json::Null));
        let program = Program { kind, attributes: Vec::new(), at_ps, per_rank: true, tag };
        all.extend(names(&Json::from(&program)));
    }
    all.sort();
    all.dedup();
    assert_eq!(all, members("program"));
    // What a Completion and an Estimate read; a struct has no names at run time.
    let completion = ["delivered_ps", "end_ps", "outcome", "rank", "start_ps", "status", "tag", "transfer"];
    assert_eq!(completion[..], members("completion"));
    assert_eq!(["delivered_ps", "end_ps", "outcome", "start_ps", "status", "took_ps"][..], members("estimate"));
}

#[test]
fn json_is_read_as_it_is_written() {
    for text in [
        "{\"a\":[1,-2.5,true,null,\"\\u0001\\\"\\\\\"],\"b\":{}}",
        "[]",
        "18446744073709551615",
        "[[],{\"\":0}]",
    ] {
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Json::parse(" \"\\ud83d\\ude00\\n\\/\" "), Some("\u{1f600}\n/".into()));
    for wrong in
        ["", "{", "[1,]x", "{\"a\"}", "\"\\x\"", "\"\\ud83d\"", "nul", "1 2", "[,1]", "--1"]
    {
        assert_eq!(Json::parse(wrong), None, "{wrong}");
    }
    assert_eq!(Json::parse(&"[".repeat(100_000)), None);
}

// SPDX-License-Identifier: Apache-2.0
//! JSON values: the lines of the protocol, read and written.

use std::fmt;

/// A JSON value. Members of objects keep their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(u64),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns the member of an object, if it is there.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|at| at.0 == name).map(|at| &at.1),
            _ => None,
        }
    }
    /// Returns the whole number of a member; 0 if it is missing.
    pub fn integer(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Json::Integer(value)) => *value,
            _ => 0,
        }
    }
    /// Returns the text of a member; "" if it is missing.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Json::Text(value)) => value,
            _ => "",
        }
    }
    /// Returns the list of a member; an empty one if it is missing.
    pub fn list(&self, name: &str) -> &[Json] {
        match self.get(name) {
            Some(Json::List(values)) => values,
            _ => &[],
        }
    }
    /// Returns whether a member is true.
    pub fn truth(&self, name: &str) -> bool {
        self.get(name) == Some(&Json::Bool(true))
    }

    /// Reads a JSON text. Returns None if it is none, or nested deeper than 128 values.
    pub fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.blanks();
        (reader.at == text.len()).then_some(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Integer(value)
    }
}
impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}
impl From<&str> for Json {
    fn from(value: &str) -> Json {
        Json::Text(value.to_string())
    }
}
impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Json {
        Json::List(values.into_iter().map(Into::into).collect())
    }
}

fn write_text(to: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    to.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(to, "\\{letter}")?,
            '\u{0}'..='\u{1f}' => write!(to, "\\u{:04x}", letter as u32)?,
            _ => write!(to, "{letter}")?,
        }
    }
    to.write_str("\"")
}

impl fmt::Display for Json {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => to.write_str("null"),
            Json::Bool(value) => write!(to, "{value}"),
            Json::Integer(value) => write!(to, "{value}"),
            Json::Number(value) => write!(to, "{value:?}"),
            Json::Text(text) => write_text(to, text),
            Json::List(values) => {
                for (i, value) in values.iter().enumerate() {
                    write!(to, "{}{value}", if i == 0 { "[" } else { "," })?;
                }
                to.write_str(if values.is_empty() { "[]" } else { "]" })
            }
            Json::Object(members) => {
                for (i, (name, value)) in members.iter().enumerate() {
                    to.write_str(if i == 0 { "{" } else { "," })?;
                    write_text(to, name)?;
                    write!(to, ":{value}")?;
                }
                to.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

const DEPTH_MAX: usize = 128;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        *self.text.get(self.at).unwrap_or(&0)
    }
    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }
    // Goes over a word, if it is there.
    fn word(&mut self, word: &str) -> Option<()> {
        self.text[self.at..].starts_with(word.as_bytes()).then(|| self.at += word.len())
    }
    fn value(&mut self, depth: usize) -> Option<Json> {
        self.blanks();
        match self.peek() {
            _ if depth > DEPTH_MAX => None,
            b'n' => self.word("null").map(|()| Json::Null),
            b't' => self.word("true").map(|()| Json::Bool(true)),
            b'f' => self.word("false").map(|()| Json::Bool(false)),
            b'"' => self.string().map(Json::Text),
            b'[' => self.items(b']', |reader| reader.value(depth + 1)).map(Json::List),
            b'{' => self.items(b'}', |reader| reader.member(depth + 1)).map(Json::Object),
            _ => self.number(),
        }
    }
    fn member(&mut self, depth: usize) -> Option<(String, Json)> {
        self.blanks();
        let name = self.string()?;
        self.blanks();
        self.word(":")?;
        Some((name, self.value(depth)?))
    }
    // Reads what stands between commas, from an opening sign to the closing one.
    fn items<T>(&mut self, end: u8, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut list = Vec::new();
        self.at += 1;
        self.blanks();
        while self.peek() != end {
            if !list.is_empty() {
                self.word(",")?;
            }
            list.push(read(self)?);
            self.blanks();
        }
        self.at += 1;
        Some(list)
    }
    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).ok()?;
        let whole = text.parse().map(Json::Integer).ok();
        whole.or_else(|| text.parse().map(Json::Number).ok())
    }
    fn string(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        self.word("\"")?;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).ok(),
                b'\\' => {
                    let letter = self.escape()?;
                    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => bytes.push(byte),
            }
        }
    }
    // Reads what follows a backslash.
    fn escape(&mut self) -> Option<char> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        match byte {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'u' => {
                let high = self.four_digits()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high);
                }
                self.word("\\u")?;
                let low = self.four_digits()?.checked_sub(0xdc00)?;
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
            }
            b'"' | b'\\' | b'/' => Some(byte as char),
            _ => None,
        }
    }
    fn four_digits(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

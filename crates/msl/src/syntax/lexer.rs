//! Text to tokens. Finds where tokens begin and end; does not report errors (what is no token
//! becomes a [`TokenKind::Bad`], since it may stand in text that `#if` skips) and does not read
//! the values of literals (see [`super::literal`]).

use super::token::{BadToken, Flags, Interner, Punct, Token, TokenKind};
use crate::diag::Span;

/// The tokens of a text whose first byte is at offset `base`.
pub fn tokenize(text: &str, base: u32, interner: &mut Interner) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        position: 0,
    };
    // The tokens of ordinary code are four to five bytes long.
    let mut tokens = Vec::with_capacity(text.len() / 5 + 8);
    let mut flags = Flags::LINE_START;
    loop {
        flags = match lexer.skip_blanks(flags) {
            Ok(flags) => flags,
            Err(start) => {
                tokens.push(Token {
                    kind: TokenKind::Bad(BadToken::UnterminatedComment),
                    span: Span::new(base + start as u32, base + start as u32 + 2),
                    flags,
                });
                break;
            }
        };
        let start = lexer.position;
        let Some(kind) = lexer.token(interner) else {
            break;
        };
        tokens.push(Token {
            kind,
            span: Span::new(base + start as u32, base + lexer.position as u32),
            flags,
        });
        flags = Flags::default();
    }
    tokens
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl Lexer<'_> {
    /// The length of a backslash and line break at `at`; 0 if there is none.
    fn splice(&self, at: usize) -> usize {
        if self.bytes.get(at) != Some(&b'\\') {
            return 0;
        }
        let mut end = at + 1;
        while matches!(self.bytes.get(end), Some(b' ' | b'\t')) {
            end += 1;
        }
        match (self.bytes.get(end), self.bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => end + 2 - at,
            (Some(b'\n' | b'\r'), _) => end + 1 - at,
            _ => 0,
        }
    }

    /// The next byte, line continuations left out; 0 at the end.
    fn peek(&mut self) -> u8 {
        loop {
            match self.bytes.get(self.position) {
                Some(b'\\') => match self.splice(self.position) {
                    0 => return b'\\',
                    length => self.position += length,
                },
                Some(&byte) => return byte,
                None => return 0,
            }
        }
    }

    /// The byte after the next, line continuations left out; 0 at the end.
    fn peek_second(&mut self) -> u8 {
        if self.at_end() {
            return 0;
        }
        let here = self.position;
        self.position += 1;
        let byte = self.peek();
        self.position = here;
        byte
    }

    fn at_end(&mut self) -> bool {
        self.peek() == 0 && self.position >= self.bytes.len()
    }

    /// Goes to the next token; fails with the start of a comment that does not end.
    fn skip_blanks(&mut self, mut flags: Flags) -> Result<Flags, usize> {
        loop {
            match self.peek() {
                b'\n' | b'\r' => {
                    self.position += 1;
                    flags = flags.with(Flags::LINE_START);
                }
                b' ' | b'\t' | 0x0b | 0x0c => {
                    self.position += 1;
                    flags = flags.with(Flags::SPACE);
                }
                b'/' => match self.peek_second() {
                    b'/' => {
                        while !self.at_end() && !matches!(self.peek(), b'\n' | b'\r') {
                            self.position += 1;
                        }
                        flags = flags.with(Flags::SPACE);
                    }
                    b'*' => {
                        self.skip_block_comment()?;
                        flags = flags.with(Flags::SPACE);
                    }
                    _ => return Ok(flags),
                },
                // A byte order mark at the very start.
                0xef if self.position == 0 && self.text.starts_with('\u{feff}') => {
                    self.position += 3;
                }
                _ => return Ok(flags),
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), usize> {
        let start = self.position;
        self.position += 1;
        self.peek();
        self.position += 1;
        let mut last = 0;
        while !self.at_end() {
            let byte = self.peek();
            self.position += 1;
            if last == b'*' && byte == b'/' {
                return Ok(());
            }
            last = byte;
        }
        Err(start)
    }

    fn token(&mut self, interner: &mut Interner) -> Option<TokenKind> {
        if self.at_end() {
            return None;
        }
        let start = self.position;
        let first = self.peek();
        if starts_word(first) {
            while continues_word(self.peek()) {
                self.position += 1;
            }
            return Some(TokenKind::Word(self.intern(start, interner)));
        }
        if first.is_ascii_digit() || (first == b'.' && self.peek_second().is_ascii_digit()) {
            self.skip_number();
            return Some(TokenKind::Number(self.intern(start, interner)));
        }
        if first == b'"' || first == b'\'' {
            let kind = match (self.skip_quoted(first), first) {
                (true, b'"') => TokenKind::String(self.intern(start, interner)),
                (true, _) => TokenKind::Char(self.intern(start, interner)),
                (false, b'"') => TokenKind::Bad(BadToken::UnterminatedString),
                (false, _) => TokenKind::Bad(BadToken::UnterminatedChar),
            };
            return Some(kind);
        }
        if let Some(punct) = self.punct(first) {
            return Some(TokenKind::Punct(punct));
        }
        let stray = self.text.get(start..).and_then(|t| t.chars().next());
        let stray = stray.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.position = start + stray.len_utf8().min(self.bytes.len() - start);
        Some(TokenKind::Bad(BadToken::Stray(stray)))
    }

    /// Interns the text from `start` to here, line continuations left out.
    fn intern(&self, start: usize, interner: &mut Interner) -> super::token::Symbol {
        let text = self.text.get(start..self.position).unwrap_or("");
        if !text.contains('\\') {
            return interner.intern(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut kept = start;
        let mut at = start;
        while at < self.position {
            match self.splice(at) {
                0 => at += 1,
                length => {
                    clean.push_str(self.text.get(kept..at).unwrap_or(""));
                    at += length;
                    kept = at;
                }
            }
        }
        clean.push_str(self.text.get(kept..self.position).unwrap_or(""));
        interner.intern(&clean)
    }

    /// A number in the wide sense of the preprocessor: digits, letters, `.`, `'`, signed exponents.
    fn skip_number(&mut self) {
        let hexadecimal = self.peek() == b'0' && matches!(self.peek_second(), b'x' | b'X');
        let mut last = 0;
        loop {
            let byte = self.peek();
            let exponent =
                matches!(last, b'p' | b'P') || (!hexadecimal && matches!(last, b'e' | b'E'));
            let part = continues_word(byte)
                || byte == b'.'
                || (byte == b'\'' && self.peek_second().is_ascii_alphanumeric())
                || (matches!(byte, b'+' | b'-') && exponent);
            if !part {
                return;
            }
            last = byte;
            self.position += 1;
        }
    }

    /// Goes past a quoted text; false if the line ends before it does.
    fn skip_quoted(&mut self, quote: u8) -> bool {
        self.position += 1;
        loop {
            if self.at_end() {
                return false;
            }
            match self.peek() {
                b'\n' | b'\r' => return false,
                b'\\' => {
                    self.position += 1;
                    if !self.at_end() && !matches!(self.peek(), b'\n' | b'\r') {
                        self.position += 1;
                    }
                }
                byte => {
                    self.position += 1;
                    if byte == quote {
                        return true;
                    }
                }
            }
        }
    }

    fn punct(&mut self, first: u8) -> Option<Punct> {
        let single = Punct::from_byte(first)?;
        let start = self.position;
        self.position += 1;
        let joins = |byte| {
            matches!(
                byte,
                b'=' | b':' | b'.' | b'>' | b'<' | b'&' | b'|' | b'+' | b'-' | b'#' | b'*'
            )
        };
        // Most operators are one byte long, and brackets all are.
        if !joins(self.peek()) {
            return Some(single);
        }
        let mut text = [first, 0, 0];
        let mut ends = [self.position; 3];
        for (byte, end) in text.iter_mut().zip(ends.iter_mut()).skip(1) {
            if !joins(self.peek()) {
                break;
            }
            *byte = self.peek();
            self.position += 1;
            *end = self.position;
        }
        for length in [3, 2] {
            let candidate = text.get(..length).and_then(Punct::from_text);
            if let (Some(punct), Some(&end)) = (candidate, ends.get(length - 1)) {
                self.position = end;
                return Some(punct);
            }
        }
        self.position = start + 1;
        Some(single)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut interner = Interner::new();
        tokenize(text, 0, &mut interner)
            .iter()
            .map(|token| match token.kind {
                TokenKind::Word(s)
                | TokenKind::Number(s)
                | TokenKind::String(s)
                | TokenKind::Char(s) => interner.text(s).to_string(),
                TokenKind::Punct(p) => p.text().to_string(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn splits_at_the_longest_token() {
        assert_eq!(
            words("a<<=b>>c->d...x.*y.5e-3f 1'000u 0x1p+3"),
            [
                "a", "<<=", "b", ">>", "c", "->", "d", "...", "x", ".*", "y", ".5e-3f", "1'000u",
                "0x1p+3"
            ]
        );
    }

    #[test]
    fn leaves_line_continuations_out() {
        assert_eq!(
            words("ab\\\ncd +\\\r\n= \"x\\\ny\""),
            ["abcd", "+=", "\"xy\""]
        );
    }

    #[test]
    fn comments_are_space() {
        assert_eq!(words("a/* x\n */b // c \\\n d\n/"), ["a", "b", "/"]);
        assert_eq!(words("a /* b"), ["a", "Bad(UnterminatedComment)"]);
    }

    #[test]
    fn quotes_end_with_their_line() {
        assert_eq!(words("\"a\\\"b\" 'x'"), ["\"a\\\"b\"", "'x'"]);
        assert_eq!(words("'a\nb"), ["Bad(UnterminatedChar)", "b"]);
        assert_eq!(words("\"a\\"), ["Bad(UnterminatedString)"]);
    }

    #[test]
    fn takes_any_character() {
        assert_eq!(
            words("é \u{0} @"),
            ["Bad(Stray('é'))", "Bad(Stray('\\0'))", "Bad(Stray('@'))"]
        );
    }

    #[test]
    fn spans_count_from_the_base() {
        let tokens = tokenize("a bc", 100, &mut Interner::new());
        assert_eq!(tokens[1].span, Span::new(102, 104));
        assert!(tokens[0].flags.has(Flags::LINE_START) && tokens[1].flags.has(Flags::SPACE));
    }
}

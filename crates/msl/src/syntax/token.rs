//! Tokens, and the table of the words in them. How text becomes tokens is the lexer's business.

use std::collections::HashMap;

use super::ast::Name;
use crate::diag::Span;

/// A word, number or quoted text as written, by its place in an [`Interner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The place in the interner's table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Every different spelling once.
#[derive(Debug)]
pub struct Interner {
    names: Vec<Name>,
    symbols: HashMap<Name, Symbol>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// A table that already has the words of [`word`], at their fixed places.
    pub fn new() -> Self {
        let mut interner = Self {
            names: Vec::new(),
            symbols: HashMap::new(),
        };
        for text in KNOWN_WORDS {
            interner.intern(text);
        }
        interner
    }

    /// The symbol of a spelling.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.names.len() as u32);
        let name = Name::from(text);
        self.names.push(name.clone());
        self.symbols.insert(name, symbol);
        symbol
    }

    /// The symbol of a spelling that was seen before.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// The spelling of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.index()).map_or("", |name| name)
    }

    /// The spelling of a word, or nothing for other tokens.
    pub fn name_at(&self, token: Token) -> &str {
        token.word().map_or("", |symbol| self.text(symbol))
    }

    /// The spelling of a symbol, shared.
    pub fn name(&self, symbol: Symbol) -> Name {
        self.names
            .get(symbol.index())
            .cloned()
            .unwrap_or_else(|| Name::from(""))
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name or a keyword.
    Word(Symbol),
    /// A number, not yet read: `1.5h`, `0xffu`.
    Number(Symbol),
    /// `"text"`, with its quotes and escapes.
    String(Symbol),
    /// `'c'`, with its quotes and escapes.
    Char(Symbol),
    /// An operator or bracket.
    Punct(Punct),
    /// Text that is no token; an error only if it is not skipped by `#if`.
    Bad(BadToken),
    /// The end of the text.
    End,
}

/// Text that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadToken {
    /// A `/*` without its `*/`.
    UnterminatedComment,
    /// A `"` without its partner on the line.
    UnterminatedString,
    /// A `'` without its partner on the line.
    UnterminatedChar,
    /// A character that MSL does not use.
    Stray(char),
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
    /// What stands around it.
    pub flags: Flags,
}

impl Token {
    /// Whether it is this operator or bracket.
    pub fn is(self, punct: Punct) -> bool {
        self.kind == TokenKind::Punct(punct)
    }

    /// Whether it is this word.
    pub fn is_word(self, symbol: Symbol) -> bool {
        self.kind == TokenKind::Word(symbol)
    }

    /// The word that it is.
    pub fn word(self) -> Option<Symbol> {
        match self.kind {
            TokenKind::Word(symbol) => Some(symbol),
            _ => None,
        }
    }
}

/// What stands around a token, and what the preprocessor has decided about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// The first token of its line.
    pub const LINE_START: Flags = Flags(1);
    /// White space or a comment stands before it.
    pub const SPACE: Flags = Flags(2);
    /// Nothing stands between it and the next token (set on the first half of a split `>>`).
    pub const JOINT: Flags = Flags(4);
    /// The name of a macro inside its own expansion: never expanded again.
    pub const NO_EXPANSION: Flags = Flags(8);

    /// Whether a flag is set.
    pub fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    /// With a flag set.
    #[must_use]
    pub fn with(self, flag: Flags) -> Self {
        Flags(self.0 | flag.0)
    }

    /// With a flag cleared.
    #[must_use]
    pub fn without(self, flag: Flags) -> Self {
        Flags(self.0 & !flag.0)
    }
}

macro_rules! puncts {
    ($($name:ident $text:literal)*) => {
        /// Operators and brackets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Punct { $($name),* }

        impl Punct {
            /// All of them.
            pub const ALL: &[Punct] = &[$(Punct::$name),*];

            /// The spelling.
            pub const fn text(self) -> &'static str {
                match self { $(Punct::$name => $text),* }
            }

            /// The one with exactly this spelling.
            pub fn from_text(text: &[u8]) -> Option<Punct> {
                $(if text == $text.as_bytes() { return Some(Punct::$name); })*
                None
            }

            /// The one whose spelling is this one byte.
            pub fn from_byte(byte: u8) -> Option<Punct> {
                SINGLE.get(byte as usize).copied().flatten()
            }
        }
    };
}

/// The operators and brackets of one byte, by that byte.
static SINGLE: [Option<Punct>; 128] = {
    let mut table = [None; 128];
    let mut index = 0;
    while index < Punct::ALL.len() {
        let text = Punct::ALL[index].text().as_bytes();
        if text.len() == 1 {
            table[text[0] as usize] = Some(Punct::ALL[index]);
        }
        index += 1;
    }
    table
};

puncts! {
    LeftParen "(" RightParen ")" LeftBracket "[" RightBracket "]" LeftBrace "{" RightBrace "}"
    Semicolon ";" Comma "," Colon ":" ColonColon "::" Question "?" Dot "." DotStar ".*"
    Ellipsis "..." Arrow "->" ArrowStar "->*" Hash "#" HashHash "##"
    Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Amp "&" Pipe "|" Caret "^" Tilde "~"
    Bang "!" Less "<" Greater ">" Equal "="
    PlusPlus "++" MinusMinus "--" AmpAmp "&&" PipePipe "||"
    EqualEqual "==" BangEqual "!=" LessEqual "<=" GreaterEqual ">="
    LessLess "<<" GreaterGreater ">>"
    PlusEqual "+=" MinusEqual "-=" StarEqual "*=" SlashEqual "/=" PercentEqual "%="
    AmpEqual "&=" PipeEqual "|=" CaretEqual "^=" LessLessEqual "<<=" GreaterGreaterEqual ">>="
}

macro_rules! words {
    ($($name:ident $text:literal)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum WordIndex { $($name),* }

        /// The words that the preprocessor and the parser know by themselves.
        #[allow(missing_docs)]
        pub mod word {
            use super::{Symbol, WordIndex};
            $(pub const $name: Symbol = Symbol(WordIndex::$name as u32);)*
        }

        const KNOWN_WORDS: &[&str] = &[$($text),*];
    };
}

// The reserved words come first, so that `is_reserved` is one comparison.
words! {
    // The first of all: no other word comes before it.
    ALIGNAS "alignas" ALIGNOF "alignof" ASM "asm" AUTO "auto" BOOL "bool" BREAK "break"
    CASE "case" CATCH "catch" CHAR "char" CLASS "class" CONST "const" CONST_CAST "const_cast"
    CONSTANT "constant" CONSTEXPR "constexpr" CONTINUE "continue" DECLTYPE "decltype"
    DEFAULT "default" DELETE "delete" DEVICE "device" DO "do" DOUBLE "double"
    DYNAMIC_CAST "dynamic_cast" ELSE "else" ENUM "enum" EXPLICIT "explicit" EXTERN "extern"
    FALSE "false" FLOAT "float" FOR "for" FRAGMENT "fragment" FRIEND "friend" GOTO "goto"
    HALF "half" IF "if" INLINE "inline" INT "int" KERNEL "kernel" LONG "long" MUTABLE "mutable"
    NAMESPACE "namespace" NEW "new" NOEXCEPT "noexcept" NULLPTR "nullptr" OPERATOR "operator"
    PRIVATE "private" PROTECTED "protected" PUBLIC "public" REGISTER "register"
    REINTERPRET_CAST "reinterpret_cast" RETURN "return" SHORT "short" SIGNED "signed"
    SIZEOF "sizeof" STATIC "static" STATIC_ASSERT "static_assert" STATIC_CAST "static_cast"
    STRUCT "struct" SWITCH "switch" TEMPLATE "template" THIS "this" THREAD "thread"
    THREADGROUP "threadgroup" THREAD_LOCAL "thread_local" THROW "throw" TRUE "true" TRY "try"
    TYPEDEF "typedef" TYPEID "typeid" TYPENAME "typename" UNION "union" UNSIGNED "unsigned"
    USING "using" VERTEX "vertex" VIRTUAL "virtual" VOID "void" VOLATILE "volatile"
    WHILE "while" RESTRICT "restrict" DOUBLE_UNDERSCORE_RESTRICT "__restrict"
    DOUBLE_UNDERSCORE_RESTRICT_DOUBLE_UNDERSCORE "__restrict__"
    ATTRIBUTE "__attribute__" UNDERSCORE_ASM "__asm" UNDERSCORE_ASM_UNDERSCORE "__asm__"
    // The last reserved word: `is_reserved` compares with it.
    EXTENSION "__extension__"

    // Words for operators.
    AND "and" OR "or" NOT "not" XOR "xor" BITAND "bitand" BITOR "bitor" COMPL "compl"
    AND_EQ "and_eq" OR_EQ "or_eq" XOR_EQ "xor_eq" NOT_EQ "not_eq"

    // Directives and macros.
    DEFINE "define" UNDEF "undef" INCLUDE "include" IMPORT "import" IFDEF "ifdef"
    IFNDEF "ifndef" ELIF "elif" ENDIF "endif" ERROR "error" WARNING "warning" PRAGMA "pragma"
    LINE "line" ONCE "once" DEFINED "defined" HAS_INCLUDE "__has_include"
    HAS_ATTRIBUTE "__has_attribute" HAS_BUILTIN "__has_builtin" HAS_FEATURE "__has_feature"
    HAS_EXTENSION "__has_extension" VA_ARGS "__VA_ARGS__" PRAGMA_OPERATOR "_Pragma"
    FILE_MACRO "__FILE__" LINE_MACRO "__LINE__" COUNTER_MACRO "__COUNTER__"

    // Names with a meaning in some place only.
    METAL "metal" OVERRIDE "override" FINAL "final"
}

/// Whether a word can never be a name.
pub fn is_reserved(symbol: Symbol) -> bool {
    symbol <= word::EXTENSION
}

/// The reserved words, for spelling suggestions.
pub fn reserved_words() -> &'static [&'static str] {
    KNOWN_WORDS
        .get(..=word::EXTENSION.index())
        .unwrap_or_default()
}

/// The operator that a word such as `and` stands for.
pub fn operator_word(symbol: Symbol) -> Option<Punct> {
    if symbol < word::AND || symbol > word::NOT_EQ {
        return None;
    }
    Some(match symbol {
        word::AND => Punct::AmpAmp,
        word::OR => Punct::PipePipe,
        word::NOT => Punct::Bang,
        word::XOR => Punct::Caret,
        word::BITAND => Punct::Amp,
        word::BITOR => Punct::Pipe,
        word::COMPL => Punct::Tilde,
        word::AND_EQ => Punct::AmpEqual,
        word::OR_EQ => Punct::PipeEqual,
        word::XOR_EQ => Punct::CaretEqual,
        _ => Punct::BangEqual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_words_are_where_their_constants_say() {
        let interner = Interner::new();
        assert_eq!(interner.text(word::ALIGNAS), "alignas");
        assert_eq!(interner.text(word::EXTENSION), "__extension__");
        assert_eq!(interner.text(word::FINAL), "final");
        assert!(is_reserved(word::WHILE) && !is_reserved(word::AND));
    }

    #[test]
    fn puncts_round_trip() {
        for &punct in Punct::ALL {
            assert_eq!(Punct::from_text(punct.text().as_bytes()), Some(punct));
        }
    }
}

//! Tokens to operations, by precedence climbing; names are resolved to memory slots.

use support::suggest;

use super::{
    Input, MAX_DEPTH, MAX_OPERATIONS, MAX_TEXT, MAX_VARIABLES, ScriptError, ScriptErrorKind, Vocabulary,
    lex::{Lexer, TextPosition, Token},
    run::{BinaryOp, Code, Op, UnaryOp},
};

/// Names that cannot be variables.
const RESERVED: [&str; 19] = [
    "and", "or", "not", "if", "pi", "min", "max", "mean", "abs", "sqrt", "exp", "ln", "sin", "cos", "atan2", "hypot",
    "clamp", "floor", "sign",
];

/// Binding powers. Unary minus binds tighter than `*` and looser than `^`.
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const NEGATIVE: u8 = 7;
const POWER: u8 = 8;

type ParseResult<T> = Result<T, (TextPosition, ScriptErrorKind)>;

/// Compiles the sections of one script, which share their variables.
#[derive(Debug)]
pub(super) struct Compiler<'a> {
    vocabulary: &'a Vocabulary,
    variables: Vec<(String, u16)>,
    inputs: Vec<(u16, Input)>,
    slots: u16,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary) -> Self {
        Self { vocabulary, variables: Vec::new(), inputs: Vec::new(), slots: 0 }
    }

    /// Declares the variables that a section sets, so that earlier sections can read them too.
    pub(super) fn declare(&mut self, section: &'static str, text: &str) -> Result<(), ScriptError> {
        self.find_names(text).map_err(|(position, kind)| error(section, position, kind))
    }

    fn find_names(&mut self, text: &str) -> ParseResult<()> {
        if text.len() > MAX_TEXT {
            return Err((
                TextPosition { line: 1, column: 1 },
                ScriptErrorKind::TooMuch { what: "many bytes", max: MAX_TEXT },
            ));
        }
        let mut lexer = Lexer::new(text);
        let (mut before, mut last) = (Token::Newline, (TextPosition { line: 1, column: 1 }, Token::Newline));
        loop {
            let (position, token) = lexer.next()?;
            match (before, last, token) {
                (_, _, Token::End) => return Ok(()),
                (Token::Newline, (position, Token::Name(name)), Token::Symbol("=")) => {
                    self.declare_name(position, name)?
                }
                _ => {}
            }
            (before, last) = (last.1, (position, token));
        }
    }

    fn declare_name(&mut self, position: TextPosition, name: &str) -> ParseResult<()> {
        let taken = RESERVED.contains(&name) || self.vocabulary.input(name).is_some();
        if taken || self.vocabulary.group(name).is_some() {
            return Err((position, ScriptErrorKind::Taken { name: name.to_owned() }));
        }
        if self.variable(name).is_none() {
            if self.variables.len() == MAX_VARIABLES {
                return Err((position, ScriptErrorKind::TooMuch { what: "many variables", max: MAX_VARIABLES }));
            }
            self.variables.push((name.to_owned(), self.slots));
            self.slots += 1;
        }
        Ok(())
    }

    /// The memory slot of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<u16> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, slot)| *slot)
    }

    /// Compiles lines of `name = expression`.
    pub(super) fn lines(&mut self, section: &'static str, text: &str) -> Result<Code, ScriptError> {
        Parser::new(self, text).and_then(Parser::lines).map_err(|(position, kind)| error(section, position, kind))
    }

    /// Compiles one expression. `line` is its number, for errors.
    pub(super) fn expression(&mut self, section: &'static str, line: usize, text: &str) -> Result<Code, ScriptError> {
        let at = |position: TextPosition| TextPosition { line, ..position };
        if text.len() > MAX_TEXT {
            let kind = ScriptErrorKind::TooMuch { what: "many bytes", max: MAX_TEXT };
            return Err(error(section, TextPosition { line, column: 1 }, kind));
        }
        Parser::new(self, text).and_then(Parser::single).map_err(|(position, kind)| error(section, at(position), kind))
    }

    /// The inputs that the script reads, and the number of memory slots.
    pub(super) fn finish(self) -> (Vec<(u16, Input)>, usize) {
        (self.inputs, usize::from(self.slots))
    }

    fn input_slot(&mut self, input: Input) -> u16 {
        if let Some((position, _)) = self.inputs.iter().find(|(_, known)| *known == input) {
            return *position;
        }
        let position = self.slots;
        self.inputs.push((position, input));
        self.slots += 1;
        position
    }

    fn is_known(&self, name: &str) -> bool {
        name == "pi" || self.variable(name).is_some() || self.vocabulary.input(name).is_some()
    }

    fn unknown_group(&self, name: &str) -> ScriptErrorKind {
        match suggest::nearest(name, self.vocabulary.groups()) {
            Some(near) => ScriptErrorKind::Unknown { name: name.to_owned(), near: Some(near.to_owned()) },
            None => ScriptErrorKind::NoSensors { group: name.to_owned() },
        }
    }

    fn unknown(&self, name: &str) -> ScriptErrorKind {
        let variables = self.variables.iter().map(|(name, _)| name.as_str());
        let near = suggest::nearest(name, variables.chain(self.vocabulary.names()).chain(RESERVED));
        ScriptErrorKind::Unknown { name: name.to_owned(), near: near.map(str::to_owned) }
    }
}

fn error(section: &'static str, position: TextPosition, kind: ScriptErrorKind) -> ScriptError {
    ScriptError { section, line: position.line, column: position.column, kind }
}

/// Parses one text.
struct Parser<'c, 'v, 't> {
    compiler: &'c mut Compiler<'v>,
    lexer: Lexer<'t>,
    position: TextPosition,
    token: Token<'t>,
    ops: Vec<Op>,
    depth: usize,
}

impl<'c, 'v, 't> Parser<'c, 'v, 't> {
    fn new(compiler: &'c mut Compiler<'v>, text: &'t str) -> ParseResult<Self> {
        let mut lexer = Lexer::new(text);
        let (position, token) = lexer.next()?;
        Ok(Self { compiler, lexer, position, token, ops: Vec::new(), depth: 0 })
    }

    fn lines(mut self) -> ParseResult<Code> {
        loop {
            match self.token {
                Token::End => return Ok(Code { ops: self.ops }),
                Token::Newline => self.advance()?,
                Token::Name(name) => self.line(name)?,
                _ => return self.expected("a variable name"),
            }
        }
    }

    fn line(&mut self, name: &str) -> ParseResult<()> {
        let position = self.position;
        self.advance()?;
        self.expect_symbol("=", "`=`")?;
        let Some(variable) = self.compiler.variable(name) else {
            return Err((position, self.compiler.unknown(name)));
        };
        self.expression(0)?;
        self.push(Op::Store(variable))?;
        match self.token {
            Token::End | Token::Newline => Ok(()),
            _ => self.expected("an operator or the end of the line"),
        }
    }

    fn single(mut self) -> ParseResult<Code> {
        self.expression(0)?;
        while self.token == Token::Newline {
            self.advance()?;
        }
        if self.token == Token::End { Ok(Code { ops: self.ops }) } else { self.expected("an operator or the end") }
    }

    /// Parses an expression whose operators bind at least as tightly as `min_binding`.
    fn expression(&mut self, min_binding: u8) -> ParseResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.position, ScriptErrorKind::TooMuch { what: "deep; levels", max: MAX_DEPTH }));
        }
        self.operand()?;
        let mut compared = false;
        while let Some((binding, two)) = infix(self.token) {
            if binding < min_binding {
                break;
            }
            let position = self.position;
            self.advance()?;
            match two {
                Infix::Binary(two) => {
                    if binding == COMPARE && std::mem::replace(&mut compared, true) {
                        return Err((position, ScriptErrorKind::Chained));
                    }
                    // `^` is right-associative, the others are left-associative
                    self.expression(if binding == POWER { NEGATIVE } else { binding + 1 })?;
                    self.push(Op::Binary(two))?;
                }
                Infix::And => self.choice(|parser| parser.truth(binding + 1), |parser| parser.push(Op::Number(0.0)))?,
                Infix::Or => self.choice(|parser| parser.push(Op::Number(1.0)), |parser| parser.truth(binding + 1))?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn truth(&mut self, min_binding: u8) -> ParseResult<()> {
        self.expression(min_binding)?;
        self.push(Op::Unary(UnaryOp::ToBool))
    }

    /// Pops a condition and runs one of two branches.
    fn choice(
        &mut self,
        then: impl FnOnce(&mut Self) -> ParseResult<()>,
        otherwise: impl FnOnce(&mut Self) -> ParseResult<()>,
    ) -> ParseResult<()> {
        let unless = self.ops.len();
        self.push(Op::SkipUnless(0))?;
        then(self)?;
        let skip = self.ops.len();
        self.push(Op::Skip(0))?;
        otherwise(self)?;
        // at most MAX_OPERATIONS
        self.ops[unless] = Op::SkipUnless((skip - unless) as u32);
        self.ops[skip] = Op::Skip((self.ops.len() - skip - 1) as u32);
        Ok(())
    }

    fn operand(&mut self) -> ParseResult<()> {
        let (position, token) = (self.position, self.token);
        match token {
            Token::Number(number) => {
                self.advance()?;
                self.push(Op::Number(number))
            }
            Token::Symbol("(") => {
                self.advance()?;
                self.expression(0)?;
                self.expect_symbol(")", "`)`")
            }
            Token::Symbol("-") => self.prefix(NEGATIVE, UnaryOp::Negative),
            Token::Name("not") => self.prefix(NOT, UnaryOp::Not),
            Token::Name(name) => {
                self.advance()?;
                if self.token == Token::Symbol("(") { self.call(position, name) } else { self.name(position, name) }
            }
            _ => self.expected("a number or a name"),
        }
    }

    fn prefix(&mut self, min_binding: u8, one: UnaryOp) -> ParseResult<()> {
        self.advance()?;
        self.expression(min_binding)?;
        self.push(Op::Unary(one))
    }

    fn name(&mut self, position: TextPosition, name: &str) -> ParseResult<()> {
        if name == "pi" {
            return self.push(Op::Number(std::f64::consts::PI));
        }
        if let Some(variable) = self.compiler.variable(name) {
            return self.push(Op::Load(variable));
        }
        match self.compiler.vocabulary.input(name) {
            Some(input) => {
                let position = self.compiler.input_slot(input);
                self.push(Op::Load(position))
            }
            None => Err((position, self.compiler.unknown(name))),
        }
    }

    /// Parses the arguments of a function; the current token is the opening parenthesis.
    fn call(&mut self, position: TextPosition, name: &str) -> ParseResult<()> {
        self.advance()?;
        if let Some(group) = self.group(name)? {
            let input = match name {
                "max" => Input::GroupMax(group),
                "min" => Input::GroupMin(group),
                "mean" => Input::GroupMean(group),
                _ => return Err((position, self.compiler.unknown(name))),
            };
            let feed = self.compiler.input_slot(input);
            return self.push(Op::Load(feed));
        }
        if name == "if" {
            return self.call_if();
        }
        let Some((function, operation, takes)) = function(name) else {
            return Err((position, self.compiler.unknown(name)));
        };
        let mut found = 0;
        while self.token != Token::Symbol(")") {
            if found > 0 {
                self.expect_symbol(",", "`,` or `)`")?;
            }
            self.expression(0)?;
            found += 1;
            // fold two or more arguments from left to right
            if found > 1 && takes == MANY {
                self.push(operation)?;
            }
        }
        let fits = match takes {
            MANY => found >= 2,
            ONE => found == 1,
            TWO => found == 2,
            _ => found == 3,
        };
        if !fits {
            return Err((position, ScriptErrorKind::Arguments { function, takes, found }));
        }
        self.advance()?;
        if takes == MANY { Ok(()) } else { self.push(operation) }
    }

    fn call_if(&mut self) -> ParseResult<()> {
        self.expression(0)?;
        self.expect_symbol(",", "`,`")?;
        self.choice(
            |parser| {
                parser.expression(0)?;
                parser.expect_symbol(",", "`,`")
            },
            |parser| parser.expression(0),
        )?;
        self.expect_symbol(")", "`)`")
    }

    /// Parses a group name as the only argument.
    fn group(&mut self, function: &str) -> ParseResult<Option<u16>> {
        let Token::Name(name) = self.token else { return Ok(None) };
        // a sensor may have the name of a group
        let mut ahead = self.lexer.clone();
        if ahead.next()?.1 != Token::Symbol(")") {
            return Ok(None);
        }
        let Some(group) = self.compiler.vocabulary.group(name) else {
            let is_unknown = !self.compiler.is_known(name) && ["max", "min", "mean"].contains(&function);
            return if is_unknown { Err((self.position, self.compiler.unknown_group(name))) } else { Ok(None) };
        };
        self.advance()?;
        self.advance()?;
        Ok(Some(group))
    }

    fn advance(&mut self) -> ParseResult<()> {
        (self.position, self.token) = self.lexer.next()?;
        Ok(())
    }

    fn expect_symbol(&mut self, sign: &'static str, expected: &'static str) -> ParseResult<()> {
        if self.token == Token::Symbol(sign) { self.advance() } else { self.expected(expected) }
    }

    fn expected<T>(&self, expected: &'static str) -> ParseResult<T> {
        Err((self.position, ScriptErrorKind::Expected { expected, found: self.token.text() }))
    }

    fn push(&mut self, op: Op) -> ParseResult<()> {
        if self.ops.len() == MAX_OPERATIONS {
            return Err((self.position, ScriptErrorKind::TooMuch { what: "many operations", max: MAX_OPERATIONS }));
        }
        self.ops.push(op);
        Ok(())
    }
}

enum Infix {
    Binary(BinaryOp),
    And,
    Or,
}

fn infix(token: Token<'_>) -> Option<(u8, Infix)> {
    let two = |binding, two| Some((binding, Infix::Binary(two)));
    match token {
        Token::Name("or") => Some((1, Infix::Or)),
        Token::Name("and") => Some((2, Infix::And)),
        Token::Symbol("==") => two(COMPARE, BinaryOp::Equal),
        Token::Symbol("!=") => two(COMPARE, BinaryOp::Unequal),
        Token::Symbol("<") => two(COMPARE, BinaryOp::Less),
        Token::Symbol("<=") => two(COMPARE, BinaryOp::AtMost),
        Token::Symbol(">") => two(COMPARE, BinaryOp::Greater),
        Token::Symbol(">=") => two(COMPARE, BinaryOp::AtLeast),
        Token::Symbol("+") => two(5, BinaryOp::Add),
        Token::Symbol("-") => two(5, BinaryOp::Subtract),
        Token::Symbol("*") => two(6, BinaryOp::Multiply),
        Token::Symbol("/") => two(6, BinaryOp::Divide),
        Token::Symbol("%") => two(6, BinaryOp::Remainder),
        Token::Symbol("^") => two(POWER, BinaryOp::Power),
        _ => None,
    }
}

const ONE: &str = "one value";
const TWO: &str = "two values";
const THREE: &str = "three values";
const MANY: &str = "two or more values or the name of a group";

fn function(name: &str) -> Option<(&'static str, Op, &'static str)> {
    Some(match name {
        "abs" => ("abs", Op::Unary(UnaryOp::Abs), ONE),
        "sqrt" => ("sqrt", Op::Unary(UnaryOp::Sqrt), ONE),
        "exp" => ("exp", Op::Unary(UnaryOp::Exp), ONE),
        "ln" => ("ln", Op::Unary(UnaryOp::Ln), ONE),
        "sin" => ("sin", Op::Unary(UnaryOp::Sin), ONE),
        "cos" => ("cos", Op::Unary(UnaryOp::Cos), ONE),
        "floor" => ("floor", Op::Unary(UnaryOp::Floor), ONE),
        "sign" => ("sign", Op::Unary(UnaryOp::Sign), ONE),
        "atan2" => ("atan2", Op::Binary(BinaryOp::Atan2), TWO),
        "hypot" => ("hypot", Op::Binary(BinaryOp::Hypot), TWO),
        "clamp" => ("clamp", Op::Clamp, THREE),
        "min" => ("min", Op::Binary(BinaryOp::Min), MANY),
        "max" => ("max", Op::Binary(BinaryOp::Max), MANY),
        _ => return None,
    })
}

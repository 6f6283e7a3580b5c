//! Words to operations: precedence climbing, with every name resolved to its place.

use support::suggest;

use super::{
    Input, MAX_DEPTH, MAX_OPERATIONS, MAX_TEXT, MAX_VARIABLES, ScriptError, ScriptFault, Vocabulary,
    lex::{Lexer, Place, Token},
    run::{Code, One, Op, Two},
};

/// Names that are not for variables.
const WORDS: [&str; 19] = [
    "and", "or", "not", "if", "pi", "min", "max", "mean", "abs", "sqrt", "exp", "ln", "sin", "cos", "atan2", "hypot",
    "clamp", "floor", "sign",
];

/// How tightly signs bind; the sign of a number binds tighter than `*`, and less than `^`.
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const NEGATIVE: u8 = 7;
const POWER: u8 = 8;

type Faulty<T> = Result<T, (Place, ScriptFault)>;

/// Reads the parts of one script; what they know of each other is the names.
#[derive(Debug)]
pub(super) struct Compiler<'a> {
    vocabulary: &'a Vocabulary,
    variables: Vec<(String, u16)>,
    feeds: Vec<(u16, Input)>,
    places: u16,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary) -> Self {
        Self { vocabulary, variables: Vec::new(), feeds: Vec::new(), places: 0 }
    }

    /// Notes which variables a part sets, so that those before it can read them too.
    pub(super) fn declare(&mut self, part: &'static str, text: &str) -> Result<(), ScriptError> {
        self.find_names(text).map_err(|(place, fault)| error(part, place, fault))
    }

    fn find_names(&mut self, text: &str) -> Faulty<()> {
        if text.len() > MAX_TEXT {
            return Err((Place { line: 1, column: 1 }, ScriptFault::TooMuch { what: "many bytes", max: MAX_TEXT }));
        }
        let mut lexer = Lexer::new(text);
        let (mut before, mut last) = (Token::Line, (Place { line: 1, column: 1 }, Token::Line));
        loop {
            let (place, token) = lexer.next()?;
            match (before, last, token) {
                (_, _, Token::End) => return Ok(()),
                (Token::Line, (place, Token::Name(name)), Token::Sign("=")) => self.declare_name(place, name)?,
                _ => {}
            }
            (before, last) = (last.1, (place, token));
        }
    }

    fn declare_name(&mut self, place: Place, name: &str) -> Faulty<()> {
        let taken = WORDS.contains(&name) || self.vocabulary.input(name).is_some();
        if taken || self.vocabulary.group(name).is_some() {
            return Err((place, ScriptFault::Taken { name: name.to_owned() }));
        }
        if self.variable(name).is_none() {
            if self.variables.len() == MAX_VARIABLES {
                return Err((place, ScriptFault::TooMuch { what: "many variables", max: MAX_VARIABLES }));
            }
            self.variables.push((name.to_owned(), self.places));
            self.places += 1;
        }
        Ok(())
    }

    /// The place of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<u16> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, place)| *place)
    }

    /// Reads lines of `name = expression`.
    pub(super) fn lines(&mut self, part: &'static str, text: &str) -> Result<Code, ScriptError> {
        Parser::new(self, text).and_then(Parser::lines).map_err(|(place, fault)| error(part, place, fault))
    }

    /// Reads one expression, which is a line of its own.
    pub(super) fn expression(&mut self, part: &'static str, line: usize, text: &str) -> Result<Code, ScriptError> {
        let at = |place: Place| Place { line, ..place };
        if text.len() > MAX_TEXT {
            let fault = ScriptFault::TooMuch { what: "many bytes", max: MAX_TEXT };
            return Err(error(part, Place { line, column: 1 }, fault));
        }
        Parser::new(self, text).and_then(Parser::single).map_err(|(place, fault)| error(part, at(place), fault))
    }

    /// The inputs that were read, and how many places there are.
    pub(super) fn finish(self) -> (Vec<(u16, Input)>, usize) {
        (self.feeds, usize::from(self.places))
    }

    fn feed(&mut self, input: Input) -> u16 {
        if let Some((place, _)) = self.feeds.iter().find(|(_, known)| *known == input) {
            return *place;
        }
        let place = self.places;
        self.feeds.push((place, input));
        self.places += 1;
        place
    }

    fn unknown(&self, name: &str) -> ScriptFault {
        let variables = self.variables.iter().map(|(name, _)| name.as_str());
        let near = suggest::nearest(name, variables.chain(self.vocabulary.names()).chain(WORDS));
        ScriptFault::Unknown { name: name.to_owned(), near: near.map(str::to_owned) }
    }
}

fn error(part: &'static str, place: Place, fault: ScriptFault) -> ScriptError {
    ScriptError { part, line: place.line, column: place.column, fault }
}

/// Reads one text.
struct Parser<'c, 'v, 't> {
    compiler: &'c mut Compiler<'v>,
    lexer: Lexer<'t>,
    place: Place,
    token: Token<'t>,
    ops: Vec<Op>,
    depth: usize,
}

impl<'c, 'v, 't> Parser<'c, 'v, 't> {
    fn new(compiler: &'c mut Compiler<'v>, text: &'t str) -> Faulty<Self> {
        let mut lexer = Lexer::new(text);
        let (place, token) = lexer.next()?;
        Ok(Self { compiler, lexer, place, token, ops: Vec::new(), depth: 0 })
    }

    fn lines(mut self) -> Faulty<Code> {
        loop {
            match self.token {
                Token::End => return Ok(Code { ops: self.ops }),
                Token::Line => self.advance()?,
                Token::Name(name) => self.line(name)?,
                _ => return self.expected("a name to be set"),
            }
        }
    }

    fn line(&mut self, name: &str) -> Faulty<()> {
        let place = self.place;
        self.advance()?;
        self.sign("=", "`=`")?;
        let Some(variable) = self.compiler.variable(name) else {
            return Err((place, self.compiler.unknown(name)));
        };
        self.expression(0)?;
        self.push(Op::Store(variable))?;
        match self.token {
            Token::End | Token::Line => Ok(()),
            _ => self.expected("an operator or the end of the line"),
        }
    }

    fn single(mut self) -> Faulty<Code> {
        self.expression(0)?;
        while self.token == Token::Line {
            self.advance()?;
        }
        if self.token == Token::End { Ok(Code { ops: self.ops }) } else { self.expected("an operator or the end") }
    }

    /// An expression of operators that bind at least so tightly.
    fn expression(&mut self, least: u8) -> Faulty<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.place, ScriptFault::TooMuch { what: "deep; levels", max: MAX_DEPTH }));
        }
        self.operand()?;
        let mut compared = false;
        while let Some((binding, two)) = infix(self.token) {
            if binding < least {
                break;
            }
            let place = self.place;
            self.advance()?;
            match two {
                Infix::Two(two) => {
                    if binding == COMPARE && std::mem::replace(&mut compared, true) {
                        return Err((place, ScriptFault::Chained));
                    }
                    // `^` groups to the right, the others to the left
                    self.expression(if binding == POWER { NEGATIVE } else { binding + 1 })?;
                    self.push(Op::Two(two))?;
                }
                Infix::And => self.choice(|parser| parser.truth(binding + 1), |parser| parser.push(Op::Number(0.0)))?,
                Infix::Or => self.choice(|parser| parser.push(Op::Number(1.0)), |parser| parser.truth(binding + 1))?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn truth(&mut self, least: u8) -> Faulty<()> {
        self.expression(least)?;
        self.push(Op::One(One::Truth))
    }

    /// Takes the value on the stack; runs one branch or the other.
    fn choice(
        &mut self,
        then: impl FnOnce(&mut Self) -> Faulty<()>,
        otherwise: impl FnOnce(&mut Self) -> Faulty<()>,
    ) -> Faulty<()> {
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

    fn operand(&mut self) -> Faulty<()> {
        let (place, token) = (self.place, self.token);
        match token {
            Token::Number(number) => {
                self.advance()?;
                self.push(Op::Number(number))
            }
            Token::Sign("(") => {
                self.advance()?;
                self.expression(0)?;
                self.sign(")", "`)`")
            }
            Token::Sign("-") => self.prefix(NEGATIVE, One::Negative),
            Token::Name("not") => self.prefix(NOT, One::Not),
            Token::Name(name) => {
                self.advance()?;
                if self.token == Token::Sign("(") { self.call(place, name) } else { self.name(place, name) }
            }
            _ => self.expected("a number or a name"),
        }
    }

    fn prefix(&mut self, least: u8, one: One) -> Faulty<()> {
        self.advance()?;
        self.expression(least)?;
        self.push(Op::One(one))
    }

    fn name(&mut self, place: Place, name: &str) -> Faulty<()> {
        if name == "pi" {
            return self.push(Op::Number(std::f64::consts::PI));
        }
        if let Some(variable) = self.compiler.variable(name) {
            return self.push(Op::Load(variable));
        }
        match self.compiler.vocabulary.input(name) {
            Some(input) => {
                let place = self.compiler.feed(input);
                self.push(Op::Load(place))
            }
            None => Err((place, self.compiler.unknown(name))),
        }
    }

    /// A function and its values; the word is the opening parenthesis.
    fn call(&mut self, place: Place, name: &str) -> Faulty<()> {
        self.advance()?;
        if let Some(group) = self.group()? {
            let input = match name {
                "max" => Input::GroupMax(group),
                "min" => Input::GroupMin(group),
                "mean" => Input::GroupMean(group),
                _ => return Err((place, self.compiler.unknown(name))),
            };
            let feed = self.compiler.feed(input);
            return self.push(Op::Load(feed));
        }
        if name == "if" {
            return self.call_if();
        }
        let Some((function, operation, takes)) = function(name) else {
            return Err((place, self.compiler.unknown(name)));
        };
        let mut found = 0;
        while self.token != Token::Sign(")") {
            if found > 0 {
                self.sign(",", "`,` or `)`")?;
            }
            self.expression(0)?;
            found += 1;
            // two or more: fold as they come
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
            return Err((place, ScriptFault::Arguments { function, takes, found }));
        }
        self.advance()?;
        if takes == MANY { Ok(()) } else { self.push(operation) }
    }

    fn call_if(&mut self) -> Faulty<()> {
        self.expression(0)?;
        self.sign(",", "`,`")?;
        self.choice(
            |parser| {
                parser.expression(0)?;
                parser.sign(",", "`,`")
            },
            |parser| parser.expression(0),
        )?;
        self.sign(")", "`)`")
    }

    /// The name of a group and nothing else in the parentheses.
    fn group(&mut self) -> Faulty<Option<u16>> {
        let Token::Name(name) = self.token else { return Ok(None) };
        let Some(group) = self.compiler.vocabulary.group(name) else { return Ok(None) };
        // a sensor may be called like a group
        let mut ahead = self.lexer.clone();
        if ahead.next()?.1 != Token::Sign(")") {
            return Ok(None);
        }
        self.advance()?;
        self.advance()?;
        Ok(Some(group))
    }

    fn advance(&mut self) -> Faulty<()> {
        (self.place, self.token) = self.lexer.next()?;
        Ok(())
    }

    fn sign(&mut self, sign: &'static str, expected: &'static str) -> Faulty<()> {
        if self.token == Token::Sign(sign) { self.advance() } else { self.expected(expected) }
    }

    fn expected<T>(&self, expected: &'static str) -> Faulty<T> {
        Err((self.place, ScriptFault::Expected { expected, found: self.token.text() }))
    }

    fn push(&mut self, op: Op) -> Faulty<()> {
        if self.ops.len() == MAX_OPERATIONS {
            return Err((self.place, ScriptFault::TooMuch { what: "many operations", max: MAX_OPERATIONS }));
        }
        self.ops.push(op);
        Ok(())
    }
}

enum Infix {
    Two(Two),
    And,
    Or,
}

fn infix(token: Token<'_>) -> Option<(u8, Infix)> {
    let two = |binding, two| Some((binding, Infix::Two(two)));
    match token {
        Token::Name("or") => Some((1, Infix::Or)),
        Token::Name("and") => Some((2, Infix::And)),
        Token::Sign("==") => two(COMPARE, Two::Equal),
        Token::Sign("!=") => two(COMPARE, Two::Unequal),
        Token::Sign("<") => two(COMPARE, Two::Less),
        Token::Sign("<=") => two(COMPARE, Two::AtMost),
        Token::Sign(">") => two(COMPARE, Two::Greater),
        Token::Sign(">=") => two(COMPARE, Two::AtLeast),
        Token::Sign("+") => two(5, Two::Add),
        Token::Sign("-") => two(5, Two::Subtract),
        Token::Sign("*") => two(6, Two::Multiply),
        Token::Sign("/") => two(6, Two::Divide),
        Token::Sign("%") => two(6, Two::Rest),
        Token::Sign("^") => two(POWER, Two::Power),
        _ => None,
    }
}

const ONE: &str = "one value";
const TWO: &str = "two values";
const THREE: &str = "three values";
const MANY: &str = "two or more values or the name of a group";

fn function(name: &str) -> Option<(&'static str, Op, &'static str)> {
    Some(match name {
        "abs" => ("abs", Op::One(One::Abs), ONE),
        "sqrt" => ("sqrt", Op::One(One::Sqrt), ONE),
        "exp" => ("exp", Op::One(One::Exp), ONE),
        "ln" => ("ln", Op::One(One::Ln), ONE),
        "sin" => ("sin", Op::One(One::Sin), ONE),
        "cos" => ("cos", Op::One(One::Cos), ONE),
        "floor" => ("floor", Op::One(One::Floor), ONE),
        "sign" => ("sign", Op::One(One::Sign), ONE),
        "atan2" => ("atan2", Op::Two(Two::Atan2), TWO),
        "hypot" => ("hypot", Op::Two(Two::Hypot), TWO),
        "clamp" => ("clamp", Op::Clamp, THREE),
        "min" => ("min", Op::Two(Two::Min), MANY),
        "max" => ("max", Op::Two(Two::Max), MANY),
        _ => return None,
    })
}

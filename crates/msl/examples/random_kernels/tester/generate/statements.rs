//! Random statements: control flow, declarations, and where threads meet.

use super::places::Purpose;
use super::{Generator, Mode};
use crate::tester::program::*;

/// Where a statement stands.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// Whether all threads of the threadgroup come here together.
    pub(super) uniform: bool,
    /// Whether a break leaves something, and whether all threads must leave it together.
    breaks: Option<bool>,
    /// The same of the loop that a continue goes on with.
    continues: Option<bool>,
    nesting: u32,
}

impl Site {
    pub(super) const fn function() -> Self {
        Self {
            uniform: false,
            breaks: None,
            continues: None,
            nesting: 0,
        }
    }

    pub(super) const fn kernel() -> Self {
        Self {
            uniform: true,
            ..Self::function()
        }
    }

    pub(super) const fn nested(self, uniform: bool) -> Self {
        Self {
            uniform: self.uniform && uniform,
            nesting: self.nesting + 1,
            ..self
        }
    }

    /// The inside of a loop that stands here.
    pub(super) const fn inside_loop(self, together: bool) -> Self {
        Self {
            breaks: Some(together),
            continues: Some(together),
            ..self.nested(together)
        }
    }

    /// Whether an exit to such a target may stand here.
    fn may_leave(self, target: Option<bool>) -> bool {
        target.is_some_and(|together| !together || self.uniform)
    }
}

/// The most rounds of all loops around a place together.
pub(super) const MOST_ROUNDS: u64 = 100;

const DEPTH: u32 = 3;

impl Generator {
    /// The statements of a whole function.
    pub(super) fn statements(&mut self, site: Site) -> Block {
        let mut block = Vec::new();
        while self.lines > 0 {
            self.statement(site, &mut block);
            if ends(&block) {
                break;
            }
        }
        block
    }

    pub(super) fn block(&mut self, site: Site) -> Block {
        self.scopes.push(Vec::new());
        let mut block = Vec::new();
        for _ in 0..self.random.between(1, 4) {
            self.statement(site, &mut block);
            if ends(&block) || self.lines <= 0 {
                break;
            }
        }
        if self.result.is_none() && !ends(&block) && self.random.percent(30) {
            block.extend(self.local_output());
        }
        if !ends(&block) && self.random.percent(8) {
            block.extend(self.exit(site));
        }
        self.scopes.pop();
        block
    }

    fn statement(&mut self, site: Site, block: &mut Block) {
        self.lines -= 1;
        self.cost += self.rounds;
        let in_kernel = self.result.is_none();
        if in_kernel && self.meets && site.uniform && self.random.percent(20) {
            block.extend(self.meeting());
            return;
        }
        let deep = site.nesting > 3;
        let statement = match self.random.below(100) {
            0..22 => self.evaluated(),
            22..30 => Some(self.declaration()),
            30..45 if !deep => Some(self.branch(site)),
            45..58 if !deep && self.rounds * ROUNDS <= MOST_ROUNDS => Some(self.looped(site)),
            58..63 if !deep => Some(self.switch(site)),
            63..69 if !deep => self.flag(site),
            69..75 => {
                self.saved(block);
                None
            }
            75..79 => self.reference(),
            79..81 if !deep && self.rounds * 3 <= MOST_ROUNDS => self.late(site),
            79..84 => self.new_pointer(),
            84..88 => self.moved_pointer(),
            88..93 => self.exit(site).map(|exit| {
                let condition = self.expression(&BOOL, 2, self.mode_for(site));
                Statement::If(condition, vec![exit], Vec::new())
            }),
            93..96 if in_kernel => Some(self.output()),
            96 if in_kernel => Some(self.count()),
            97 if !deep => Some(Statement::Block(self.block(site.nested(true)))),
            _ => self.evaluated(),
        };
        block.extend(statement);
    }

    /// What a condition may do so that threads that come together stay together.
    fn mode_for(&self, site: Site) -> Mode {
        match self.meets && self.result.is_none() && site.uniform {
            true => Mode::UNIFORM,
            false => Mode::ALL,
        }
    }

    /// A condition or selector, and whether it is the same for all threads.
    fn deciding(&mut self, ty: &Type) -> (Expression, bool) {
        let uniform = self.result.is_none() && self.random.percent(30);
        let mode = match (uniform, self.random.percent(50)) {
            (true, _) => Mode::UNIFORM,
            (false, true) => Mode::ALL,
            (false, false) => Mode::READ,
        };
        (self.expression(ty, 2, mode), uniform)
    }

    fn evaluated(&mut self) -> Option<Statement> {
        let ty = self.known_type();
        if self.random.percent(15)
            && let Some(call) = self.call(&ty, 2, Mode::ALL)
        {
            return Some(Statement::Evaluate(call));
        }
        self.effect(&ty, DEPTH, Mode::ALL).map(Statement::Evaluate)
    }

    /// The type of some variable in scope or of a part of it, not a pointer or an array.
    pub(super) fn known_type(&mut self) -> Type {
        let variables: Vec<usize> = self.scopes.iter().flatten().map(|v| v.variable).collect();
        if variables.is_empty() {
            return UINT;
        }
        let mut ty = self.program.variables[*self.random.pick(&variables)].clone();
        loop {
            ty = match ty {
                Type::Array(part, _) | Type::Pointer(part, _) => *part,
                Type::Struct(index) if self.random.percent(60) => {
                    let fields = self.program.structs[index].clone();
                    self.random.pick(&fields).clone()
                }
                other => return other,
            };
        }
    }

    pub(super) fn declaration(&mut self) -> Statement {
        let ty = self.variable_type();
        self.declared(ty)
    }

    pub(super) fn declared(&mut self, ty: Type) -> Statement {
        let initializer = self.initializer(&ty);
        let variable = self.new_variable(ty);
        self.show(variable, true, false);
        Statement::Declare(variable, initializer)
    }

    fn initializer(&mut self, ty: &Type) -> Initializer {
        let fields = match ty {
            Type::Array(element, length) => vec![(**element).clone(); usize::from(*length)],
            Type::Struct(index) if self.random.percent(70) => self.program.structs[*index].clone(),
            _ => return Initializer::Value(self.expression(ty, 2, Mode::ALL)),
        };
        Initializer::Braced(fields.iter().map(|f| self.initializer(f)).collect())
    }

    fn branch(&mut self, site: Site) -> Statement {
        let (condition, uniform) = self.deciding(&BOOL);
        let site = site.nested(uniform);
        let accept = self.block(site);
        let reject = match self.random.percent(50) {
            true => self.block(site),
            false => Vec::new(),
        };
        Statement::If(condition, accept, reject)
    }

    fn looped(&mut self, site: Site) -> Statement {
        let together = site.uniform && self.random.percent(60);
        let mode = match together {
            true => Mode::UNIFORM,
            false => Mode::READ,
        };
        let bound = match self.random.percent(50) {
            true => Expression::Literal(Scalar::Uint, self.random.between(1, 5) as i64),
            false => self.expression(&UINT, 2, mode),
        };
        let rounds = match bound {
            Expression::Literal(_, rounds) => (rounds as u64 % (ROUNDS + 1)).max(1),
            _ => ROUNDS,
        };
        let kinds = [
            LoopKind::For,
            LoopKind::For,
            LoopKind::While,
            LoopKind::DoWhile,
            LoopKind::Endless,
        ];
        let kind = *self.random.pick(&kinds);
        let counter = self.new_variable(UINT);
        self.rounds *= rounds;
        self.scopes.push(Vec::new());
        self.show(counter, false, together);
        let condition = self.random.percent(30).then(|| {
            let mode = if together { mode } else { Mode::ALL };
            self.expression(&BOOL, 2, mode)
        });
        let body = self.block(site.inside_loop(together));
        self.scopes.pop();
        self.rounds /= rounds;
        Statement::Loop(Loop {
            kind,
            counter,
            bound,
            condition,
            body,
        })
    }

    fn switch(&mut self, site: Site) -> Statement {
        let (value, together) = self.deciding(&UINT);
        let values = self.random.between(2, 5);
        let count = Box::new(Expression::Literal(Scalar::Uint, values as i64));
        let selector = Expression::Binary(Binary::Remainder, Box::new(value), count);
        let together = together && site.uniform;
        let site = Site {
            breaks: Some(together),
            ..site.nested(together)
        };
        let mut left: Vec<u8> = (0..values as u8).collect();
        let count = self.random.between(1, 4);
        let default = self.random.below(count + 1);
        let mut arms = Vec::new();
        for index in 0..count {
            let mut values = Vec::new();
            for _ in 0..self.random.between(1, 2) {
                if !left.is_empty() {
                    values.push(left.remove(self.random.below(left.len())));
                }
            }
            if values.is_empty() && index != default {
                continue;
            }
            arms.push(Arm {
                values,
                is_default: index == default,
                body: self.block(site),
                breaks: self.random.percent(60),
            });
        }
        Statement::Switch(selector, arms)
    }

    /// A break, continue or return, if one may stand here.
    fn exit(&mut self, site: Site) -> Option<Statement> {
        match self.random.below(4) {
            0 | 1 if site.may_leave(site.breaks) => Some(Statement::Break),
            2 if site.may_leave(site.continues) => Some(Statement::Continue),
            _ => match self.result.clone() {
                Some(result) => Some(Statement::Return(Some(self.returned(&result)))),
                None if site.nesting > 0 && !self.meets && self.random.percent(40) => {
                    Some(Statement::Return(None))
                }
                None => None,
            },
        }
    }

    /// What a function returns.
    pub(super) fn returned(&mut self, result: &Type) -> Expression {
        if !matches!(result, Type::Pointer(..)) {
            return self.expression(result, DEPTH, Mode::ALL);
        }
        let parameters = self.scopes[0].iter().map(|v| v.variable);
        let pointers: Vec<usize> = parameters
            .filter(|v| self.program.variables[*v] == *result)
            .collect();
        let mut one = || Expression::Load(Place::Variable(*self.random.pick(&pointers)));
        let (accept, reject) = (one(), one());
        match self.random.percent(50) {
            true => accept,
            false => {
                let condition = self.expression(&BOOL, 2, Mode::ALL);
                Expression::Choose(Box::new(condition), Box::new(accept), Box::new(reject))
            }
        }
    }

    fn output(&mut self) -> Statement {
        let ty = loop {
            let ty = self.value_type();
            if !matches!(ty, Type::Struct(_)) {
                break ty;
            }
        };
        Statement::Output {
            slot: self.random.below(OUTPUTS),
            value: self.expression(&ty, 2, Mode::READ),
            mix: self.random.percent(70),
        }
    }

    fn count(&mut self) -> Statement {
        Statement::Count {
            device: !self.meets || self.random.percent(50),
            counter: self.random.below(COUNTERS),
            value: self.expression(&UINT, 2, Mode::READ),
        }
    }

    /// A statement in which the threads of the group meet.
    fn meeting(&mut self) -> Option<Statement> {
        let into = self.place(&UINT, Purpose::Write, 1, Mode::READ, true)?;
        let value = self.expression(&UINT, 2, Mode::READ);
        Some(match self.random.below(10) {
            0..3 => Statement::Exchange {
                into,
                value,
                distance: self.expression(&UINT, 1, Mode::READ),
            },
            3 => Statement::ReadCounter {
                into,
                counter: self.random.below(COUNTERS),
            },
            4 => Statement::Count {
                device: false,
                counter: self.random.below(COUNTERS),
                value,
            },
            5 | 6 => Statement::Shuffle {
                into,
                how: Shuffle::From,
                value,
                lane: self.expression(&UINT, 1, Mode::READ),
            },
            _ => {
                let how = [Shuffle::Xor, Shuffle::Up, Shuffle::Down, Shuffle::Broadcast];
                Statement::Shuffle {
                    into,
                    how: *self.random.pick(&how),
                    value,
                    lane: self.expression(&UINT, 1, Mode::UNIFORM),
                }
            }
        })
    }

    /// Outputs of parts of the kernel's outermost variables.
    pub(super) fn last_outputs(&mut self) -> Block {
        let variables: Vec<usize> = self.scopes[0].iter().map(|v| v.variable).collect();
        let mut leaves = Vec::new();
        for variable in variables {
            self.leaves(Place::Variable(variable), &mut leaves);
        }
        let mut outputs = Vec::new();
        while !leaves.is_empty() && outputs.len() < 10 {
            let leaf = leaves.remove(self.random.below(leaves.len()));
            outputs.push(Statement::Output {
                slot: outputs.len() % OUTPUTS,
                value: Expression::Load(leaf),
                mix: true,
            });
        }
        outputs
    }

    /// An output of a part of a variable of the innermost scope.
    fn local_output(&mut self) -> Option<Statement> {
        let variables: Vec<usize> = self.scopes.last()?.iter().map(|v| v.variable).collect();
        let mut leaves = Vec::new();
        for variable in variables {
            self.leaves(Place::Variable(variable), &mut leaves);
        }
        if leaves.is_empty() {
            return None;
        }
        Some(Statement::Output {
            slot: self.random.below(OUTPUTS),
            value: Expression::Load(self.random.pick(&leaves).clone()),
            mix: true,
        })
    }

    fn leaves(&self, place: Place, leaves: &mut Vec<Place>) {
        let literal = |index: u8| Box::new(Expression::Literal(Scalar::Uint, i64::from(index)));
        match self.program.type_of_place(&place) {
            Type::Scalar(_) | Type::Vector(..) => leaves.push(place),
            Type::Array(_, length) => {
                for index in 0..length {
                    let element = Place::Element(Box::new(place.clone()), literal(index));
                    self.leaves(element, leaves);
                }
            }
            Type::Struct(index) => {
                for field in 0..self.program.structs[index].len() {
                    self.leaves(Place::Member(Box::new(place.clone()), field), leaves);
                }
            }
            Type::Pointer(..) => {
                let load = Box::new(Expression::Load(place));
                self.leaves(Place::Pointee(load, literal(0)), leaves);
            }
        }
    }
}

fn ends(block: &Block) -> bool {
    matches!(
        block.last(),
        Some(Statement::Break | Statement::Continue | Statement::Return(_))
    )
}
